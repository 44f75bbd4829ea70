/* SPDX-License-Identifier: MIT */
#include "cli/rows.h"

#include <string.h>
#include <unistd.h>

#include "ald/jsonl.h"
#include "ald/native.h"
#include "ald/stream.h"
#include "cli/same_names.h"
#include "cli/table_print.h"
#include "interchange/format/cell.h"

#define SETTLE_ROWS 1000 /* rows that decide the widths of a table that is not held in memory */

#define AT(member) .offset = offsetof(rows_options, member)
static const opt_spec show_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     AT(json),
     .help = "one JSON object a line, keys in the order of the columns"},
    {.name = "rows",
     .letter = 'n',
     .arg = "N",
     .kind = OPT_COUNT,
     AT(rows),
     .help = "how many rows; default: 10"},
};
static const opt_group group_some = OPT_GROUP("Output", show_specs);
static const opt_group group_all = {"Output", show_specs, 1};

const opt_operand cli_rows_operands[] = {
    {"FILE", CLI_FILES_TEXT, offsetof(rows_args, in), OPT_OPERAND_MANY},
    {0},
};

#define ROWS_OPTIONS(show_group)                                                                   \
    {                                                                                              \
        {&cli_group_choose, offsetof(rows_args, show.choose)},                                     \
        {&(show_group), offsetof(rows_args, show)},                                                \
        {&cli_group_read, offsetof(rows_args, read)},                                              \
        {&cli_group_read_schema, offsetof(rows_args, read)},                                       \
        {&cli_group_trust, offsetof(rows_args, read.trust)},                                       \
        {&cli_group_threads, 0},                                                                   \
        {&cli_group_common, 0},                                                                    \
        {0},                                                                                       \
    }
const opt_use cli_rows_options[] = ROWS_OPTIONS(group_some);
const opt_use cli_rows_all_options[] = ROWS_OPTIONS(group_all);

/* ---- JSON lines */

static ald_status print_json(cli_env *env, struct ArrowArrayStream *batches, ald_error *err)
{
    ald_fd_sink *sink = NULL;
    ald_status status = ald_fd_sink_new(STDOUT_FILENO, "standard output", &sink, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    cli_note_same_names(env, batches);
    status = ald_jsonl_write(batches, ald_fd_sink_get(sink), NULL, &env->host, err);
    /* Rows that came before an error are whole rows: they are shown. */
    ald_status flushed = ald_fd_sink_flush(sink, status == ALD_OK ? err : NULL);
    ald_fd_sink_free(sink);
    return status != ALD_OK ? status : flushed;
}

/* ---- tables */

typedef struct row_printer {
    cli_table table;
    ald__view view; /* of the struct of columns */
    ald_buffer text;
    size_t max_width;
    uint64_t rows_held;
} row_printer;

int cli_field_is_number(const struct ArrowSchema *field)
{
    const char *format = field->format;
    return field->dictionary == NULL &&
           ((format[1] == '\0' && strchr("cCsSiIlLefg", format[0]) != NULL) ||
            strncmp(format, "d:", 2) == 0);
}

static ald_status add_cell(row_printer *p, const ald__view *column, int64_t row, ald_error *err)
{
    static const ald__style style = {0};
    ald__cell_ref at;
    ald_status status = ald__view_resolve(column, row, &at, err);
    if (status != ALD_OK || at.column == NULL) {
        cli_table_text(&p->table, "null");
        return status;
    }
    ald__pen pen;
    p->text.size = 0;
    ald__pen_open(&pen, &p->text, err);
    status = ald__put_value_text(&pen, at.column, at.row, &style);
    ald__pen_close(&pen);
    if (status == ALD_OK) {
        cli_table_cell(&p->table, (const char *)p->text.data, p->text.size);
    }
    return status;
}

static ald_status add_batch(row_printer *p, const struct ArrowArray *batch, ald_error *err)
{
    ald_status status = ald__view_bind(&p->view, batch, err);
    for (int64_t row = 0; status == ALD_OK && row < batch->length; row++) {
        for (int32_t i = 0; status == ALD_OK && i < p->view.child_count; i++) {
            status = add_cell(p, p->view.children + i, row + p->view.offset, err);
        }
        if (++p->rows_held >= SETTLE_ROWS) {
            cli_table_print(&p->table, p->max_width);
            p->rows_held = 0;
        }
    }
    return status;
}

static ald_status print_batches(row_printer *p, struct ArrowArrayStream *batches, ald_error *err)
{
    ald_status status = ALD_OK;
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        status = ald_stream_next(batches, &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            break;
        }
        status = add_batch(p, &batch, err);
        batch.release(&batch);
        if (status != ALD_OK) {
            break;
        }
    }
    if (status == ALD_OK || p->rows_held > 0) {
        cli_table_print(&p->table, p->max_width);
    }
    return status == ALD_OK ? cli_table_check(&p->table, err) : status;
}

static ald_status print_table(cli_env *env, struct ArrowArrayStream *batches, int whole,
                              ald_error *err)
{
    row_printer p;
    struct ArrowSchema schema;
    memset(&p, 0, sizeof(p));
    memset(&schema, 0, sizeof(schema));
    p.text.alloc = &env->host.alloc;
    p.max_width = whole ? 0 : cli_terminal_width();
    ald_status status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK) {
        status = ald__view_init(&p.view, &schema, &env->host.alloc, err);
    }
    if (status == ALD_OK) {
        for (int64_t i = 0; i < schema.n_children; i++) {
            const struct ArrowSchema *field = schema.children[i];
            cli_table_column(&p.table, field->name != NULL ? field->name : "",
                             cli_field_is_number(field));
        }
        status = print_batches(&p, batches, err);
        if (status == ALD_OK && p.table.shown_count < p.table.column_count) {
            cli_note(env, "%zu more columns do not fit; --columns chooses",
                     p.table.column_count - p.table.shown_count);
        }
        ald__view_clear(&p.view, &env->host.alloc);
    }
    cli_table_clear(&p.table);
    ald_buffer_clear(&p.text);
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    batches->release(batches);
    return status;
}

/* Takes the stream. */
static ald_status print_rows(cli_env *env, const rows_args *args, cli_input *in,
                             struct ArrowArrayStream *chosen, int whole, ald_error *err)
{
    cli_progress_end(&in->progress); /* rows and a progress line do not mix */
    return args->show.json ? print_json(env, chosen, err) : print_table(env, chosen, whole, err);
}

static ald_status open_rows(cli_env *env, const rows_args *args, cli_input *in, ald_error *err)
{
    ald_status status = cli_input_open_all(env, &args->in, args->read.from, in, err);
    if (status == ALD_OK) {
        env->subject = NULL;
        status = file_format_check_options(env, file_format_scope_in(in->format), err);
    }
    return status;
}

ald_status cli_rows_print(cli_env *env, const rows_args *args, const cli_selection *what, int whole,
                          ald_error *err)
{
    cli_input in;
    struct ArrowArrayStream chosen;
    memset(&chosen, 0, sizeof(chosen));
    ald_status status = open_rows(env, args, &in, err);
    if (status == ALD_OK) {
        in.columns = what->columns;
        in.where = what->where;
        in.last_rows = what->last_rows != UINT64_MAX && what->where == NULL ? what->last_rows : 0;
        in.some_rows = what->first_rows != UINT64_MAX || in.last_rows > 0;
        status = cli_input_stream(&in, &args->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = cli_select(env, &in.stream, in.name, what, &chosen, err);
    }
    if (status == ALD_OK) {
        status = print_rows(env, args, &in, &chosen, whole, err);
    }
    cli_input_close(&in);
    return status;
}

ald_status cli_rows_print_part(cli_env *env, const rows_args *args, const cli_selection *what,
                               division *d, ald_error *err)
{
    cli_input in;
    struct ArrowArrayStream chosen;
    ald_status status = open_rows(env, args, &in, err);
    if (status == ALD_OK) {
        status = cli_input_stream(&in, &args->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = division_count(env, d, &in, &args->read, what->where, err);
    }
    if (status == ALD_OK) {
        status = division_choose(env, d, 0, &in.stream, in.name, what, &chosen, err);
    }
    if (status == ALD_OK) {
        status = print_rows(env, args, &in, &chosen, 1, err);
    }
    cli_input_close(&in);
    return status;
}
