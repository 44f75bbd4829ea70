/* SPDX-License-Identifier: MIT */
/* Names are sorted to find those that occur twice; there may be very many. */
#include "cli/same_names.h"

#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"

static const char *name_of(const struct ArrowSchema *field)
{
    return field->name != NULL ? field->name : "";
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void look(const cli_env *env, const struct ArrowSchema *schema)
{
    size_t count = (size_t)schema->n_children;
    const char **names = count > 1 ? malloc(count * sizeof(*names)) : NULL;
    if (names == NULL) { /* a note can be missed */
        return;
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = name_of(schema->children[i]);
    }
    qsort(names, count, sizeof(*names), compare);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            cli_note(env, "two columns are named '%.200s': most JSON readers keep only the last",
                     names[i]);
            break;
        }
    }
    free(names);
}

void cli_note_same_names(const cli_env *env, struct ArrowArrayStream *batches)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    if (ald_stream_schema(batches, &schema, NULL) != ALD_OK) {
        return; /* whoever reads the stream meets the error again */
    }
    look(env, &schema);
    schema.release(&schema);
}
