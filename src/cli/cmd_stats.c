/* SPDX-License-Identifier: MIT */
/* alimentar stats FILE */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/schema.h"
#include "ald/stats.h"
#include "ald/stream.h"
#include "cli/ald_facts.h"
#include "cli/column_sizes.h"
#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/rows.h"
#include "cli/table_print.h"

typedef struct stats_args {
    cli_common common;
    opt_list in;
    read_options read;
    choose_options choose;
    uint8_t json;
} stats_args;

typedef struct stats_page {
    cli_env *env;
    const cli_input *in;
    const struct ArrowSchema *schema;
    const ald_stats *stats;
    const ald_column_storage *storage; /* of each column, or NULL: not one .ald */
} stats_page;

/* ---- a table */

/* Counts of the bins as blocks of eight heights; an empty bin is a space, so that rare values are seen. */
static void histogram_cell(cli_table *table, const ald_column_stats *c)
{
    char text[ALD_STATS_BINS * 3 + 1] = "";
    size_t used = 0;
    uint64_t highest = 0;
    uint32_t step =
        c->bin_count > ALD_STATS_BINS / 2 ? 2 : 1; /* two bins a block: half the width */
    for (uint32_t i = 0; i < c->bin_count; i += step) {
        uint64_t count = c->bins[i] + (i + 1 < c->bin_count && step == 2 ? c->bins[i + 1] : 0);
        highest = count > highest ? count : highest;
    }
    for (uint32_t i = 0; i < c->bin_count; i += step) {
        uint64_t count = c->bins[i] + (i + 1 < c->bin_count && step == 2 ? c->bins[i + 1] : 0);
        unsigned level = (unsigned)((double)count / (double)highest * 7.0);
        if (count == 0) {
            text[used++] = ' ';
        } else { /* U+2581 and the seven that follow */
            text[used++] = '\xE2';
            text[used++] = '\x96';
            text[used++] = (char)(0x81 + level);
        }
    }
    cli_table_cell(table, text, used);
}

#define SHOWN_BYTES 80u  /* of a least or greatest value: every number fits */
#define COMMON_BYTES 32u /* of a frequent value */

/* A value into `out` of at least `most` + 4 bytes; a longer one is cut between characters and ends in an ellipsis. */
static size_t clip_text(const char *text, size_t size, size_t most, char *out)
{
    static const char ellipsis[] = "\xE2\x80\xA6";
    size_t kept = size;
    if (size > most) {
        for (kept = most; kept > 0 && ((unsigned char)text[kept] & 0xC0u) == 0x80;) {
            kept--;
        }
        memcpy(out + kept, ellipsis, sizeof(ellipsis) - 1);
    }
    memcpy(out, text, kept);
    return size > most ? kept + sizeof(ellipsis) - 1 : kept;
}

static void range_cell(cli_table *table, int present, const char *text, size_t size)
{
    char shown[SHOWN_BYTES + 4];
    cli_table_cell(table, shown, present ? clip_text(text, size, SHOWN_BYTES, shown) : 0);
}

/* "male 168, female 165" */
static void common_cell(cli_table *table, const ald_column_stats *c)
{
    char text[3 * (COMMON_BYTES + 30)];
    size_t used = 0;
    for (uint32_t i = 0; i < c->common_count && i < 3; i++) {
        const ald_stats_value *v = &c->common[i];
        if (i > 0) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        used += v->size > 0 ? clip_text(v->text, v->size, COMMON_BYTES, text + used)
                            : clip_text("\"\"", 2, COMMON_BYTES, text + used);
        used += (size_t)snprintf(text + used, 22, " %" PRIu64, v->count);
    }
    cli_table_cell(table, text, used);
}

static void number_cell(cli_table *table, int present, double value)
{
    char text[40] = "";
    if (present) {
        snprintf(text, sizeof(text), "%.6g", value);
    }
    cli_table_text(table, text);
}

static void add_row(cli_table *table, const ald_column_stats *c, const char *type, size_t type_size,
                    const ald_column_storage *storage)
{
    char text[40];
    cli_table_text(table, c->name);
    cli_table_cell(table, type, type_size);
    snprintf(text, sizeof(text), "%" PRIu64, c->null_count);
    cli_table_text(table, text);
    snprintf(text, sizeof(text), "%s%" PRIu64, c->distinct_is_estimate ? "~" : "",
             c->distinct_count);
    cli_table_text(table, text);
    if (storage != NULL) {
        cli_table_text(table, ald_facts_grouped(storage->stored_bytes, text, sizeof(text)));
    }
    range_cell(table, c->has_range, c->min, c->min_size);
    range_cell(table, c->has_range, c->max, c->max_size);
    number_cell(table, c->has_mean, c->mean);
    number_cell(table, c->has_mean, c->stddev);
    if (c->has_common && c->common_count > 0) {
        common_cell(table, c);
    } else {
        histogram_cell(table, c);
    }
}

static ald_status print_table(const stats_page *page, ald_error *err)
{
    cli_table table;
    ald_buffer type = {NULL, 0, 0, &page->env->host.alloc};
    ald_status status = ALD_OK;
    memset(&table, 0, sizeof(table));
    cli_printf("%" PRIu64 " rows\n", page->stats->row_count);
    static const char *const left[] = {"column", "type"};
    static const char *const right[] = {"nulls", "distinct", "stored bytes", "min",
                                        "max",   "mean",     "stddev"};
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
        cli_table_column(&table, left[i], 0);
    }
    for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
        if (i != 2 || page->storage != NULL) {
            cli_table_column(&table, right[i], 1);
        }
    }
    cli_table_column(&table, "values", 0);
    for (size_t i = 0; i < page->stats->column_count && status == ALD_OK; i++) {
        type.size = 0;
        status = ald_type_format(page->schema->children[i], &type, err);
        if (status == ALD_OK) {
            add_row(&table, &page->stats->columns[i], (const char *)type.data, type.size,
                    page->storage != NULL ? &page->storage[i] : NULL);
        }
    }
    if (status == ALD_OK) {
        cli_table_print(&table, isatty(STDOUT_FILENO) ? cli_terminal_width() : 0);
        status = cli_table_check(&table, err);
    }
    if (status == ALD_OK && table.shown_count < table.column_count) {
        cli_note(page->env, "the table is cut to the terminal; --json shows everything");
    }
    cli_table_clear(&table);
    ald_buffer_clear(&type);
    return status;
}

/* ---- JSON */

/* The edges of a number column are numbers, unless they are infinite. */
static void edge_json(json_print *j, const char *key, int is_number, const char *text, size_t size)
{
    if (is_number && size > 0 && text[size - 1] >= '0' && text[size - 1] <= '9') {
        json_number(j, key, text, size);
    } else {
        json_bytes(j, key, text, size);
    }
}

static void bins_json(json_print *j, const ald_column_stats *c)
{
    json_open(j, "histogram", '{');
    json_double(j, "start", c->bin_start);
    json_double(j, "width", c->bin_width);
    json_open(j, "counts", '[');
    for (uint32_t i = 0; i < c->bin_count; i++) {
        json_uint(j, NULL, c->bins[i]);
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void common_json(json_print *j, const ald_column_stats *c)
{
    json_open(j, "common", '[');
    for (uint32_t i = 0; i < c->common_count; i++) {
        json_open(j, NULL, '{');
        json_bytes(j, "value", c->common[i].text, c->common[i].size);
        json_uint(j, "count", c->common[i].count);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void column_json(json_print *j, const ald_column_stats *c, const struct ArrowSchema *field,
                        const ald_buffer *type, const ald_column_storage *storage)
{
    int is_number = cli_field_is_number(field);
    json_open(j, NULL, '{');
    json_text(j, "name", c->name);
    json_bytes(j, "type", (const char *)type->data, type->size);
    json_uint(j, "null_count", c->null_count);
    json_uint(j, "distinct_count", c->distinct_count);
    json_bool(j, "distinct_is_estimate", c->distinct_is_estimate);
    if (c->nan_count > 0 || c->infinite_count > 0) {
        json_uint(j, "nan_count", c->nan_count);
        json_uint(j, "infinite_count", c->infinite_count);
    }
    if (c->has_range) {
        edge_json(j, "min", is_number, c->min, c->min_size);
        edge_json(j, "max", is_number, c->max, c->max_size);
    }
    if (c->has_mean) {
        json_double(j, "mean", c->mean);
        json_double(j, "stddev", c->stddev);
    }
    if (c->has_size) {
        json_uint(j, "shortest", c->shortest);
        json_uint(j, "longest", c->longest);
    }
    if (c->bin_count > 0) {
        bins_json(j, c);
    }
    if (c->has_common) {
        common_json(j, c);
    }
    if (storage != NULL) {
        cli_column_storage_json(j, storage);
    }
    json_close(j, '}');
}

static ald_status print_json(const stats_page *page, ald_error *err)
{
    json_print j = {0};
    ald_buffer type = {NULL, 0, 0, &page->env->host.alloc};
    ald_status status = ALD_OK;
    json_open(&j, NULL, '{');
    json_text(&j, "file", page->in->name);
    json_uint(&j, "num_rows", page->stats->row_count);
    json_open(&j, "columns", '[');
    for (size_t i = 0; i < page->stats->column_count && status == ALD_OK; i++) {
        type.size = 0;
        status = ald_type_format(page->schema->children[i], &type, err);
        if (status == ALD_OK) {
            column_json(&j, &page->stats->columns[i], page->schema->children[i], &type,
                        page->storage != NULL ? &page->storage[i] : NULL);
        }
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
    ald_buffer_clear(&type);
    return status;
}

/* ---- the command */

/* From column *at on, and then from the first: mostly the next one is meant. */
static int find_column(const struct ArrowSchema *schema, const char *name, int64_t *at)
{
    for (int64_t i = 0; i < schema->n_children; i++, (*at)++) {
        if (*at == schema->n_children)
            *at = 0;
        if (strcmp(schema->children[*at]->name, name) == 0)
            return 1;
    }
    return 0;
}

/* What the chosen columns take in the file, whichever rows were chosen. *out stays NULL where the input is not one .ald, or
 * a column is none of its. The caller frees it. */
static ald_status find_storage(const cli_input *in, const struct ArrowSchema *chosen,
                               ald_column_storage **out, ald_error *err)
{
    const struct ArrowSchema *schema = in->streaming != NULL ? ald_streaming_schema(in->streaming)
                                       : in->dataset != NULL ? ald_dataset_schema(in->dataset)
                                                             : NULL;
    if (schema == NULL || in->many != NULL)
        return ALD_OK;
    ald_column_storage *all = calloc((size_t)schema->n_children + 1, sizeof(*all));
    ald_column_storage *some = calloc((size_t)chosen->n_children + 1, sizeof(*some));
    int found = all != NULL && some != NULL;
    ald_status status = !found ? ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory")
                        : in->streaming != NULL
                            ? ald_streaming_column_storage(in->streaming, all, err)
                            : ald_dataset_column_storage(in->dataset, all, err);
    for (int64_t i = 0, k = 0; status == ALD_OK && found && i < chosen->n_children; i++) {
        found = find_column(schema, chosen->children[i]->name, &k);
        if (found)
            some[i] = all[k++];
    }
    free(all);
    if (status == ALD_OK && found) {
        *out = some;
    } else {
        free(some);
    }
    return status;
}

static ald_status compute(cli_env *env, const stats_args *args, cli_input *in,
                          struct ArrowArrayStream *chosen, ald_error *err)
{
    struct ArrowSchema schema;
    ald_stats *stats = NULL;
    ald_column_storage *storage = NULL;
    memset(&schema, 0, sizeof(schema));
    ald_status status = ald_stream_schema(chosen, &schema, err);
    if (status != ALD_OK) {
        chosen->release(chosen);
        return status;
    }
    status = ald_stats_compute(chosen, NULL, &env->host, &stats, err);
    cli_progress_end(&in->progress);
    if (status == ALD_OK) {
        status = find_storage(in, &schema, &storage, err);
    }
    if (status == ALD_OK) {
        stats_page page = {env, in, &schema, stats, storage};
        status = args->json ? print_json(&page, err) : print_table(&page, err);
    }
    free(storage);
    ald_stats_free(stats);
    schema.release(&schema);
    return status;
}

static ald_status run_stats(cli_env *env, void *raw, ald_error *err)
{
    const stats_args *args = raw;
    cli_selection what;
    struct ArrowArrayStream chosen;
    cli_input in;
    memset(&chosen, 0, sizeof(chosen));
    ald_status status = cli_choose(&args->choose, &what, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_input_open_all(env, &args->in, args->read.from, &in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in.format), err);
    }
    if (status == ALD_OK) {
        in.columns = what.columns;
        in.where = what.where;
        status = cli_input_stream(&in, &args->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = cli_select(env, &in.stream, in.name, &what, &chosen, err);
    }
    if (status == ALD_OK) {
        status = compute(env, args, &in, &chosen, err);
    }
    cli_input_close(&in);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", CLI_FILES_TEXT, offsetof(stats_args, in), OPT_OPERAND_MANY},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(stats_args, json),
     .help = "everything as JSON, with the bins of the histograms"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&cli_group_choose, offsetof(stats_args, choose)},
    {&group_output, 0},
    {&cli_group_read, offsetof(stats_args, read)},
    {&cli_group_read_schema, offsetof(stats_args, read)},
    {&cli_group_trust, offsetof(stats_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "all columns",
    "alimentar stats data.ald",
    "the bins of one column",
    "alimentar stats data.csv --columns age --json | jq '.columns[0].histogram'",
    NULL,
};

const cli_command cli_cmd_stats = {
    .verb = "stats",
    .brief = "nulls, distinct values, range, mean and distribution of each column",
    .details =
        "One pass over the file. A count of distinct values with a ~ before it is an estimate, "
        "within about 1 %. Numbers, dates and times have a histogram; of text and other values the "
        "most frequent are listed, while they are few.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(stats_args),
    .run = run_stats,
};
