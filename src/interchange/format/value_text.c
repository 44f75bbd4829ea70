/* SPDX-License-Identifier: MIT */
/* A single value as text, for callers that have an array and no stream. */
#include "interchange/format/cell.h"
#include "interchange/format/options.h"

static ald_status put_one(const ald__view *view, int64_t row, int json,
                          const ald_text_write_options *options, ald__pen *pen)
{
    ald__style style = ald__style_of(options);
    ald__cell_ref at;
    if (json)
        return ald__put_cell_json(pen, view, row, &style);
    ALD__PEN_TRY(ald__view_resolve(view, row, &at, pen->err));
    if (at.column == NULL)
        return ald__pen_text(pen, options->null_text != NULL ? options->null_text : "");
    return ald__put_value_text(pen, at.column, at.row, &style);
}

ald_status ald_value_to_text(const struct ArrowSchema *field, const struct ArrowArray *array,
                             int64_t row, int json, const ald_text_write_options *options,
                             ald_buffer *out, ald_error *err)
{
    ald_text_write_options opts = ALD_TEXT_WRITE_OPTIONS_INIT;
    size_t size_before;
    ald__view view;
    ald__pen pen;
    ald_status status;
    if (field == NULL || array == NULL || out == NULL || out->alloc == NULL)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "ald_value_to_text: an argument is NULL");
    if (row < 0 || row >= array->length)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "row %lld of %lld",
                             (long long)row, (long long)array->length);
    ALD__PEN_TRY(ald__options_copy(&opts, sizeof opts, sizeof opts, options, err));
    size_before = out->size;
    ALD__PEN_TRY(ald__view_init(&view, field, out->alloc, err));
    ald__pen_open(&pen, out, err);
    status = ald__view_bind(&view, array, err);
    if (status == ALD_OK)
        status = put_one(&view, row, json, &opts, &pen);
    ald__pen_close(&pen);
    if (status != ALD_OK)
        out->size = size_before;
    ald__view_clear(&view, out->alloc);
    return status;
}
