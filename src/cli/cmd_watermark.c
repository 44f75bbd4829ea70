/* SPDX-License-Identifier: MIT */
/* alimentar watermark FILE OUT */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/marking.h"
#include "cli/table_print.h"
#include "cli/transfer.h"

typedef struct watermark_args {
    cli_common common;
    const char *in, *out;
    const char *buyers; /* a file of names */
    read_options read;
    write_options write;
    describe_options describe; /* none */
    keep_options keep;
    mark_options mark;
    uint8_t json;
} watermark_args;

/* ---- what was done */

static const char *unit_text(uint8_t unit)
{
    static const char *const units[] = {NULL, "days", "s", "ms", "us", "ns"};
    return unit < sizeof(units) / sizeof(units[0]) ? units[unit] : NULL;
}

static void json_report(const marking *m, const char *out)
{
    const ald_watermark_report *report = ald_watermark_get_report(m->mark);
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", out);
    json_hex(&j, "buyer_hash", m->watermark.buyer_hash, sizeof(m->watermark.buyer_hash));
    json_double(&j, "strength", (double)m->watermark.strength);
    json_uint(&j, "capacity", report->capacity);
    json_bool(&j, "capacity_is_low", report->capacity_is_low);
    json_open(&j, "columns", '[');
    for (size_t i = 0; i < report->column_count; i++) {
        const ald_watermark_column *c = &report->columns[i];
        json_open(&j, NULL, '{');
        json_text(&j, "name", c->name);
        json_uint(&j, "column", c->column);
        json_text(&j, "mode", ald_watermark_mode_text(c->mode));
        json_text(&j, "reason",
                  c->mode == ALD_WATERMARK_SKIPPED ? ald_watermark_reason_text(c->reason) : NULL);
        json_uint(&j, "values", c->value_count);
        json_uint(&j, "marked", c->marked_count);
        json_uint(&j, "planes", c->planes);
        json_uint(&j, "carriers", c->carrier_count);
        json_double(&j, "largest_change", c->largest_change);
        json_double(&j, "mean_change", c->mean_change);
        json_double(&j, "mean_shift", c->mean_shift);
        json_double(&j, "deviation_shift", c->deviation_shift);
        json_bool(&j, "is_estimate", c->is_estimate);
        json_double(&j, "largest_move", c->largest_move);
        json_text(&j, "unit", unit_text(c->unit));
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}

static void number_cell(cli_table *t, const char *format, double v)
{
    char text[40] = "";
    if (v > 0) {
        if (format[0] == 'u') {
            snprintf(text, sizeof(text), "%.0f", v);
        } else {
            snprintf(text, sizeof(text), "%.2g", v);
        }
    }
    cli_table_text(t, text);
}

static ald_status table_report(const marking *m, ald_error *err)
{
    static const char *const titles[] = {"marked", "planes", "carriers", "largest change",
                                         "mean change"};
    const ald_watermark_report *report = ald_watermark_get_report(m->mark);
    cli_table table;
    memset(&table, 0, sizeof(table));
    cli_table_column(&table, "column", 0);
    cli_table_column(&table, "mode", 0);
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        cli_table_column(&table, titles[i], 1);
    }
    for (size_t i = 0; i < report->column_count; i++) {
        const ald_watermark_column *c = &report->columns[i];
        cli_table_text(&table, c->name);
        cli_table_text(&table, c->mode == ALD_WATERMARK_SKIPPED
                                   ? ald_watermark_reason_text(c->reason)
                                   : ald_watermark_mode_text(c->mode));
        number_cell(&table, "u", (double)c->marked_count);
        number_cell(&table, "u", c->planes);
        number_cell(&table, "u", (double)c->carrier_count);
        number_cell(&table, "g", c->largest_change);
        number_cell(&table, "g", c->mean_change);
    }
    cli_table_print(&table, 0);
    ald_status status = cli_table_check(&table, err);
    cli_table_clear(&table);
    cli_printf("capacity: %" PRIu64 " carriers\n", report->capacity);
    return status;
}

/* The report also where nothing could be marked: it tells why. The error is passed on. */
static ald_status with_reasons(const watermark_args *args, const marking *m, const char *out,
                               ald_status status)
{
    const ald_watermark_report *report =
        status != ALD_OK && m->mark != NULL ? ald_watermark_get_report(m->mark) : NULL;
    if (report == NULL || report->column_count == 0 || report->capacity > 0) {
        return status;
    }
    if (args->json) {
        json_report(m, out);
    } else {
        (void)table_report(m, NULL);
    }
    return status;
}

/* ---- one copy, or one for each buyer */

static ald_status make_copy(cli_env *env, watermark_args *args, marking *m, const char *buyer,
                            const char *out, ald_error *err)
{
    const int to_stdout = out != NULL && strcmp(out, "-") == 0;
    transfer t = {.in = args->in,
                  .out = out,
                  .read = &args->read,
                  .write = &args->write,
                  .describe = &args->describe,
                  .keep = &args->keep,
                  .keep_layout = 1,
                  .mark = &m->hook};
    ald_status status = marking_begin(m, buyer, err);
    if (status == ALD_OK) {
        status = cli_transfer(env, &t, err);
        if (!to_stdout) {
            status = with_reasons(args, m, out != NULL ? out : args->in, status);
        }
    }
    if (status == ALD_OK) {
        status = marking_note(m, out != NULL ? out : args->in, err);
    }
    if (status != ALD_OK || to_stdout) {
        return status;
    }
    if (args->json) {
        json_report(m, out != NULL ? out : args->in);
        return ALD_OK;
    }
    if (args->buyers != NULL) {
        cli_printf("%s\n", out);
        return ALD_OK;
    }
    return table_report(m, err);
}

/* The format of all copies: that of --to, else the input's, where it can be written. */
static ald_status copies_format(cli_env *env, const watermark_args *args, const char *folder,
                                const char **out, ald_error *err)
{
    file_format format = file_format_of_path(args->in);
    if (args->write.to != NULL) {
        ald_status status = file_format_find(env, folder, args->write.to, "--to", &format, err);
        *out = status == ALD_OK ? file_format_name(format) : NULL;
        return status;
    }
    if (args->read.from != NULL) {
        format = file_format_of_name(args->read.from);
    }
    *out = format != FORMAT_UNKNOWN && file_format_scope_out(format) != 0 ? file_format_name(format)
                                                                          : "ald";
    return ALD_OK;
}

/* A file name of a buyer's name. */
static ald_status copy_path(const char *folder, const char *buyer, const char *format, char **out,
                            ald_error *err)
{
    if (strchr(buyer, '/') != NULL || buyer[0] == '.') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "no file can be named after the buyer '%s'", buyer);
    }
    if (asprintf(out, "%s/%s.%s", folder, buyer, format) < 0) {
        *out = NULL;
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a file name");
    }
    return ALD_OK;
}

/* The next line of the list, from *at on, as a name to be freed; empty for an empty line. */
static ald_status next_name(const ald_buffer *list, size_t *at, char **out, ald_error *err)
{
    const char *line = (const char *)list->data + *at;
    const char *end = memchr(line, '\n', list->size - *at);
    const size_t size = end != NULL ? (size_t)(end - line) : list->size - *at;
    *at += size + 1;
    *out = strndup(line, size > 0 && line[size - 1] == '\r' ? size - 1 : size);
    return *out != NULL ? ALD_OK
                        : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a name");
}

typedef struct copy_list {
    watermark_args *args;
    marking *mark; /* NULL: the names are only looked at */
    const char *folder, *format;
    char **names; /* in the first round: those that were seen */
    size_t count, cap;
} copy_list;

static ald_status keep_name(copy_list *copies, const char *name, ald_error *err)
{
    if (copies->count == copies->cap) {
        const size_t cap = copies->cap == 0 ? 64 : 2 * copies->cap;
        char **names = realloc(copies->names, cap * sizeof(*names));
        if (names == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the names");
        }
        copies->names = names;
        copies->cap = cap;
    }
    copies->names[copies->count] = strdup(name);
    if (copies->names[copies->count] == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the names");
    }
    copies->count++;
    return ALD_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The second copy of one name would be written over the first. Frees the names. */
static ald_status check_list(copy_list *copies, ald_error *err)
{
    ald_status status = ALD_OK;
    if (copies->count == 0) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the list names no buyer");
    } else {
        qsort(copies->names, copies->count, sizeof(*copies->names), by_name);
    }
    for (size_t i = 1; i < copies->count && status == ALD_OK; i++) {
        if (strcmp(copies->names[i - 1], copies->names[i]) == 0) {
            status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                   "the list names '%s' more than once", copies->names[i]);
        }
    }
    return status;
}

static void free_names(copy_list *copies)
{
    for (size_t i = 0; i < copies->count; i++) {
        free(copies->names[i]);
    }
    free(copies->names);
}

static ald_status one_of_list(cli_env *env, copy_list *copies, const char *name, ald_error *err)
{
    static char shown[4096]; /* an error's subject outlives the loop */
    char *path = NULL;
    ald_status status;
    if (name[0] == '\0') {
        return ALD_OK;
    }
    status = copy_path(copies->folder, name, copies->format, &path, err);
    if (status == ALD_OK && copies->mark == NULL) {
        status = keep_name(copies, name, err);
    } else if (status == ALD_OK) {
        status = make_copy(env, copies->args, copies->mark, name, path, err);
    }
    if (status != ALD_OK && env->subject == path && path != NULL) {
        snprintf(shown, sizeof(shown), "%s", path);
        env->subject = shown;
    }
    free(path);
    return status;
}

static ald_status each_name(cli_env *env, const ald_buffer *list, copy_list *copies, ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t at = 0; status == ALD_OK && at < list->size;) {
        char *name = NULL;
        status = next_name(list, &at, &name, err);
        if (status == ALD_OK) {
            status = one_of_list(env, copies, name, err);
        }
        free(name);
    }
    return status;
}

/* All names are looked at before the first copy is made. */
static ald_status make_copies(cli_env *env, watermark_args *args, marking *m, const char *folder,
                              ald_error *err)
{
    ald_buffer list = {NULL, 0, 0, &env->host.alloc};
    copy_list copies = {.args = args, .folder = folder};
    ald_status status = copies_format(env, args, folder, &copies.format, err);
    if (status == ALD_OK) {
        status = cli_read_file(env, args->buyers, &list, err);
    }
    if (status == ALD_OK) {
        status = each_name(env, &list, &copies, err);
    }
    if (status == ALD_OK) {
        status = check_list(&copies, err);
    }
    if (status == ALD_OK && mkdir(folder, 0777) != 0 && errno != EEXIST) {
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot make the folder '%s': %s",
                               folder, strerror(errno));
    }
    if (status == ALD_OK) {
        copies.mark = m;
        status = each_name(env, &list, &copies, err);
    }
    free_names(&copies);
    ald_buffer_clear(&list);
    return status;
}

static ald_status check_args(cli_env *env, const watermark_args *args, const char **out,
                             ald_error *err)
{
    ald_status status = cli_output_path(args->out, args->write.out, out, err);
    if (status == ALD_OK && (args->mark.buyer == NULL) == (args->buyers == NULL)) {
        cli_hint(env, "--buyer NAME makes one copy, --buyers FILE one for each line");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "watermark: exactly one of --buyer and --buyers");
    }
    if (status == ALD_OK && *out == NULL) {
        cli_hint(env, "the unmarked data are worth keeping: every buyer's copy is made from them");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "watermark: OUT is missing");
    }
    return status;
}

static ald_status run_watermark(cli_env *env, void *raw, ald_error *err)
{
    watermark_args *args = raw;
    const char *out = NULL;
    marking m;
    memset(&m, 0, sizeof(m));
    ald_status status = check_args(env, args, &out, err);
    if (status == ALD_OK) {
        status = marking_open(env, &args->mark, &args->read.trust.key_passphrase, &m, err);
    }
    if (status == ALD_OK) {
        status = args->buyers != NULL ? make_copies(env, args, &m, out, err)
                                      : make_copy(env, args, &m, args->mark.buyer, out, err);
    }
    marking_close(&m);
    return status;
}

static const opt_operand operands[] = {
    {"FILE", "the data, in any format that `convert` reads", offsetof(watermark_args, in), 0},
    {"OUT",
     "the marked copy, in any format that `convert` writes; - is standard output (with --to). With "
     "--buyers a folder",
     offsetof(watermark_args, out), OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_spec list_specs[] = {
    {.name = "buyers",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(watermark_args, buyers),
     .help = "a copy for each line of FILE, a buyer's name, in the folder OUT; each is named after "
             "its buyer and its format, which is that of --to, else that of the data"},
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(watermark_args, json),
     .help = "what was marked as JSON"},
};
static const opt_group group_list = OPT_GROUP("Copies", list_specs);

static const opt_use options[] = {
    {&cli_group_mark, offsetof(watermark_args, mark)},
    {&group_list, 0},
    {&cli_group_seller, offsetof(watermark_args, mark.seller)},
    {&cli_group_sign, offsetof(watermark_args, keep.sign)},
    {&cli_group_keep, offsetof(watermark_args, keep)},
    {&cli_group_write, offsetof(watermark_args, write)},
    {&cli_group_read, offsetof(watermark_args, read)},
    {&cli_group_read_schema, offsetof(watermark_args, read)},
    {&cli_group_trust, offsetof(watermark_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "a copy for ACME",
    "alimentar watermark sales.ald acme.ald --buyer 'ACME Inc.' --seller-key seller.key",
    "who leaked it?",
    "alimentar piracy extract leaked.csv --seller-key seller.key --buyers buyers.jsonl",
    NULL,
};

const cli_command cli_cmd_watermark = {
    .verb = "watermark",
    .brief = "a copy whose numbers tell which buyer it was made for",
    .details =
        "Moves numbers a little, as the buyer and your key say: by less than the strength times "
        "their size, or by one unit of their last decimal, which is at most 1/1024 of them. What "
        "is left of the mark after sampling, shuffling, other formats or rounding still names the "
        "buyer (`alimentar piracy extract`). Keep your data as they are: a mark cannot be taken "
        "off. Nulls, zeros, types and the number of decimals stay; mean and deviation of a column "
        "move by less than 0.01 %. Columns that cannot be marked are listed with the reason. A "
        "license says from then on that the rows are marked.\n"
        "Equal values stay equal, but different ones may become equal: numbers that lie close "
        "together move to the same place, or, rarely, change places. Where ids, codes, post codes "
        "or account numbers must stay, name the columns to mark with --columns: keys are "
        "recognised only when they are whole numbers, all different, and in order or close "
        "together.\n"
        "Dates and times are numbers too: times of a year move by up to 48 minutes, of ten years "
        "by 13 hours, dates by days, and whole seconds get fractions where the type has them. A "
        "note says how far.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(watermark_args),
    .run = run_watermark,
};
