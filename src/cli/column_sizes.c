/* SPDX-License-Identifier: MIT */
/* Stored and plain bytes of columns. The file is opened as what is left of a damaged one: facts need neither signature nor
 * license, and no checksum over everything. */
#include "cli/column_sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/streaming.h"
#include "cli/ald_facts.h"
#include "cli/table_print.h"

static double ratio_of(const ald_column_storage *c)
{
    return c->plain_bytes > 0 ? (double)c->stored_bytes / (double)c->plain_bytes : 1.0;
}

void cli_filters_text(const ald_column_storage *c, char *out, size_t size)
{
    size_t used = 0, kinds = 0;
    out[0] = '\0';
    for (uint32_t f = 0; f < ALD_PACKING_COUNT; f++)
        kinds += c->packing_chunks[f] > 0;
    for (uint32_t f = 0; f < ALD_PACKING_COUNT && used < size; f++) {
        int n = 0;
        if (c->packing_chunks[f] == 0)
            continue;
        if (kinds == 1)
            n = snprintf(out, size, "%s", ald_packing_name(f));
        else
            n = snprintf(out + used, size - used, "%s%s %" PRIu64, used > 0 ? ", " : "",
                         ald_packing_name(f), c->packing_chunks[f]);
        used += n > 0 ? (size_t)n : 0;
    }
}

void cli_column_storage_json(json_print *j, const ald_column_storage *c)
{
    json_uint(j, "stored_bytes", c->stored_bytes);
    json_uint(j, "plain_bytes", c->plain_bytes);
    json_double(j, "ratio", ratio_of(c));
    json_open(j, "filters", '{');
    for (uint32_t f = 0; f < ALD_PACKING_COUNT; f++) {
        if (c->packing_chunks[f] > 0)
            json_uint(j, ald_packing_name(f), c->packing_chunks[f]);
    }
    json_close(j, '}');
}

static void print_json(json_print *j, const struct ArrowSchema *schema,
                       const ald_column_storage *sizes)
{
    json_open(j, "column_sizes", '[');
    for (int64_t i = 0; i < schema->n_children; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", schema->children[i]->name);
        cli_column_storage_json(j, &sizes[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_row(cli_table *t, const char *name, const char *filters,
                    const ald_column_storage *c)
{
    char number[32], ratio[32];
    cli_table_text(t, name);
    cli_table_text(t, filters);
    cli_table_text(t, ald_facts_grouped(c->stored_bytes, number, sizeof(number)));
    cli_table_text(t, ald_facts_grouped(c->plain_bytes, number, sizeof(number)));
    snprintf(ratio, sizeof(ratio), "%.3f", ratio_of(c));
    cli_table_text(t, ratio);
}

static ald_status print_table(const struct ArrowSchema *schema, const ald_column_storage *sizes,
                              ald_error *err)
{
    cli_table t = {0};
    ald_column_storage all = {0};
    cli_table_column(&t, "column", 0);
    cli_table_column(&t, "filter", 0);
    cli_table_column(&t, "stored", 1);
    cli_table_column(&t, "plain", 1);
    cli_table_column(&t, "ratio", 1);
    for (int64_t i = 0; i < schema->n_children; i++) {
        char filters[256];
        const char *name = schema->children[i]->name;
        cli_filters_text(&sizes[i], filters, sizeof(filters));
        put_row(&t, name != NULL ? name : "", filters, &sizes[i]);
        all.stored_bytes += sizes[i].stored_bytes;
        all.plain_bytes += sizes[i].plain_bytes;
    }
    put_row(&t, "(all)", "", &all);
    cli_printf("\n");
    cli_table_print(&t, 0);
    ald_status status = cli_table_check(&t, err);
    cli_table_clear(&t);
    return status;
}

static ald_status print(const struct ArrowSchema *schema, const ald_column_storage *sizes,
                        json_print *json, ald_error *err)
{
    if (json == NULL)
        return print_table(schema, sizes, err);
    print_json(json, schema, sizes);
    return ALD_OK;
}

static ald_column_storage *room_for(const struct ArrowSchema *schema, ald_error *err)
{
    ald_column_storage *sizes = calloc((size_t)schema->n_children + 1, sizeof(*sizes));
    if (sizes == NULL)
        (void)ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory");
    return sizes;
}

static ald_status sizes_of_chunks(cli_input *in, json_print *json, ald_error *err)
{
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    ald_streaming *s = NULL;
    if (in->has_trust)
        cli_trust_load(&in->trust, &options);
    ald_status status = ald_streaming_salvage(&in->source, &options, &in->env->host, &s, err);
    if (status != ALD_OK) {
        cli_trust_explain(in->env, &in->trust, &in->source, status);
        return status;
    }
    ald_column_storage *sizes = room_for(ald_streaming_schema(s), err);
    status = sizes != NULL ? ald_streaming_column_storage(s, sizes, err) : ALD_E_NOMEM;
    if (status == ALD_OK)
        status = print(ald_streaming_schema(s), sizes, json, err);
    free(sizes);
    ald_streaming_close(s);
    return status;
}

static ald_status sizes_of_whole(cli_input *in, const read_options *read, json_print *json,
                                 ald_error *err)
{
    ald_status status = cli_input_stream(in, read, NULL, err);
    if (status != ALD_OK)
        return status;
    const struct ArrowSchema *schema = ald_dataset_schema(in->dataset);
    ald_column_storage *sizes = room_for(schema, err);
    status = sizes != NULL ? ald_dataset_column_storage(in->dataset, sizes, err) : ALD_E_NOMEM;
    cli_progress_end(&in->progress);
    if (status == ALD_OK)
        status = print(schema, sizes, json, err);
    free(sizes);
    return status;
}

ald_status cli_column_sizes(cli_input *in, const read_options *read, json_print *json,
                            ald_error *err)
{
    return cli_input_has_chunks(in) ? sizes_of_chunks(in, json, err)
                                    : sizes_of_whole(in, read, json, err);
}
