/* SPDX-License-Identifier: MIT */
/* Which columns are read is known only when the names of all of them are: a name may hold a comma. So the file is opened
 * twice when some are chosen; opening reads its footer alone. */
#include "cli/parquet_input.h"

#include <stdlib.h>
#include <string.h>

#include "ald/parquet.h"
#include "ald/stream.h"

static ald_status open_columns(cli_input *in, const char *const *names, size_t count,
                               struct ArrowArrayStream *out, ald_error *err)
{
    ald_parquet_options options = ALD_PARQUET_OPTIONS_INIT;
    options.columns = names;
    options.column_count = (uint32_t)count;
    return ald_parquet_open(&in->source, &options, &in->env->host, out, err);
}

/* The column of this name; NULL: none, or several. */
static const char *only_column(const struct ArrowSchema *schema, const char *name, size_t size)
{
    const char *found = NULL;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *other = schema->children[i]->name;
        if (other != NULL && strlen(other) == size && memcmp(other, name, size) == 0) {
            if (found != NULL) {
                return NULL;
            }
            found = other;
        }
    }
    return found;
}

/* Adds the columns that an item of --columns names: one, or several with commas. 0: not all of them are there once. */
static int add_item(const struct ArrowSchema *schema, const char *item, const char **names,
                    size_t *count)
{
    const char *name = only_column(schema, item, strlen(item));
    if (name != NULL) {
        names[(*count)++] = name;
        return 1;
    }
    while (item != NULL) {
        size_t size = strcspn(item, ",");
        name = only_column(schema, item, size);
        if (name == NULL) {
            return 0;
        }
        names[(*count)++] = name;
        item = item[size] == ',' ? item + size + 1 : NULL;
    }
    return 1;
}

static size_t most_names(const opt_list *list)
{
    size_t count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        for (const char *p = list->items[i]; *p != '\0'; p++) {
            count += *p == ',';
        }
    }
    return count;
}

static ald_status choose(cli_input *in, const struct ArrowSchema *schema, ald_error *err)
{
    const opt_list *list = in->columns;
    const char **names = malloc(most_names(list) * sizeof(*names));
    struct ArrowArrayStream chosen;
    size_t count = 0;
    int known = 1;
    ald_status status = ALD_OK;
    if (names == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    }
    for (size_t i = 0; known && i < list->count; i++) {
        known = add_item(schema, list->items[i], names, &count);
    }
    if (known) {
        status = open_columns(in, names, count, &chosen, err);
        if (status == ALD_OK) {
            in->stream.release(&in->stream);
            in->stream = chosen;
        }
    }
    free(names);
    return status;
}

ald_status cli_parquet_open(cli_input *in, ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    ald_status status = open_columns(in, NULL, 0, &in->stream, err);
    if (status != ALD_OK || in->columns == NULL || in->columns->count == 0) {
        return status;
    }
    status = ald_stream_schema(&in->stream, &schema, err);
    if (status == ALD_OK) {
        status = choose(in, &schema, err);
        schema.release(&schema);
    }
    return status;
}
