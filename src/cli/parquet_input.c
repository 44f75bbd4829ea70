/* SPDX-License-Identifier: MIT */
/* Which columns are read is known only when the names of all of them are: a name may hold a comma. So the file is opened
 * twice when some are chosen; opening reads its footer alone. */
#include "cli/parquet_input.h"

#include <stdlib.h>
#include <string.h>

#include "ald/parquet.h"
#include "ald/stream.h"
#include "cli/select.h"

static ald_status open_columns(cli_input *in, const char *const *names, size_t count,
                               struct ArrowArrayStream *out, ald_error *err)
{
    ald_parquet_options options = ALD_PARQUET_OPTIONS_INIT;
    options.columns = names;
    options.column_count = (uint32_t)count;
    return ald_parquet_open(&in->source, &options, &in->env->host, out, err);
}

/* The names of the columns that are needed; 0: all, or one of them has a name that others have, too. */
static size_t names_of(const struct ArrowSchema *schema, const uint8_t *keep, const char **names)
{
    size_t count = 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;
        for (int64_t k = 0; keep[i] && k < schema->n_children; k++) {
            const char *other = schema->children[k]->name;
            if (name == NULL || (k != i && other != NULL && strcmp(name, other) == 0)) {
                return 0;
            }
        }
        if (keep[i]) {
            names[count++] = name;
        }
    }
    return count;
}

static ald_status choose(cli_input *in, const struct ArrowSchema *schema, ald_error *err)
{
    size_t columns = (size_t)schema->n_children, count = 0;
    const char **names = malloc((columns + 1) * sizeof(*names));
    uint8_t *keep = malloc(columns + 1);
    struct ArrowArrayStream chosen;
    ald_status status = ALD_OK;
    if (names == NULL || keep == NULL) {
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    } else if (cli_select_needs(in->env, schema, in->columns, in->where, keep)) {
        count = names_of(schema, keep, names);
    }
    if (count > 0) {
        status = open_columns(in, names, count, &chosen, err);
        if (status == ALD_OK) {
            in->stream.release(&in->stream);
            in->stream = chosen;
        }
    }
    free(keep);
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
