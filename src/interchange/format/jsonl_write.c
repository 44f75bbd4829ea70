/* SPDX-License-Identifier: MIT */
/* JSON lines, or one JSON array, out. Columns of one name are keys of one name: nothing is dropped. */
#include "ald/jsonl.h"

#include "interchange/format/cell.h"
#include "interchange/format/options.h"
#include "interchange/format/row_writer.h"

typedef struct jsonl_writer {
    ald_jsonl_write_options opts;
    ald__style style;
} jsonl_writer;

static ald_status jsonl_row(const jsonl_writer *w, const ald__view *table, int64_t row,
                            ald__pen *pen)
{
    ALD__PEN_TRY(ald__pen_append(pen, "{", 1));
    for (int32_t i = 0; i < table->child_count; i++) {
        const ald__view *column = table->children + i;
        ALD__PEN_TRY(ald__pen_need(pen, column->key.size + 2));
        if (i > 0)
            ald__pen_byte(pen, ',');
        ald__pen_bytes(pen, column->key.data, column->key.size);
        ALD__PEN_TRY(ald__put_cell_json(pen, column, row, &w->style));
    }
    return ald__pen_append(pen, "}\n", w->opts.array ? 1 : 2);
}

static ald_status jsonl_rows(const void *ctx, const ald__view *table, int64_t first, int64_t count,
                             uint64_t before, ald__pen *pen)
{
    const jsonl_writer *w = ctx;
    first += table->offset;
    for (int64_t row = first; row < first + count; row++, before++) {
        if (w->opts.array)
            ALD__PEN_TRY(ald__pen_text(pen, before > 0 ? ",\n" : "\n"));
        ALD__PEN_TRY(jsonl_row(w, table, row, pen));
    }
    return ALD_OK;
}

static ald_status open_array(const void *ctx, const ald__view *table, ald__pen *pen)
{
    (void)ctx;
    (void)table;
    return ald__pen_append(pen, "[", 1);
}

static ald_status close_array(const void *ctx, uint64_t rows, ald__pen *pen)
{
    (void)ctx;
    return ald__pen_text(pen, rows > 0 ? "\n]\n" : "]\n");
}

ald_status ald_jsonl_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                           const ald_jsonl_write_options *options, const ald_host *host,
                           ald_error *err)
{
    jsonl_writer w = {ALD_JSONL_WRITE_OPTIONS_INIT, {0, 0}};
    ald__row_form form = {NULL, jsonl_rows, NULL, &w};
    ald_status status;
    status = ald__options_copy(&w.opts, sizeof w.opts, sizeof w.opts, options, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    w.style = ald__style_of(&w.opts.text);
    if (w.opts.array) {
        form.open = open_array;
        form.close = close_array;
    }
    return ald__rows_write(batches, sink, &form, host, err);
}
