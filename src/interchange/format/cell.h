/* SPDX-License-Identifier: MIT */
/* One value as text: JSON, or the plain content of a field.
 *
 * What was decided, because it must read back:
 *  - decimals are JSON numbers with all their digits: a string would come back as text, and a reader that keeps numbers
 *    exact (ours does) gets the decimal;
 *  - a duration is its count, in the unit of its type: it comes back as an integer, or as the duration when declared;
 *  - NaN and infinities have no JSON number: the strings "NaN", "Infinity", "-Infinity", or null if so wanted;
 *  - dates, times, intervals are ISO 8601 strings; binary is base64 or hex; a map with text keys is an object, any other
 *    an array of pairs; dictionaries, run-end encoding and unions are the plain value. */
#ifndef INTERCHANGE_FORMAT_CELL_H
#define INTERCHANGE_FORMAT_CELL_H

#include "ald/text.h"
#include "interchange/format/column_view.h"
#include "interchange/format/pen.h"

typedef struct ald__style {
    uint8_t hex;        /* binary as hex instead of base64 */
    uint8_t plain_json; /* NaN and infinities are null */
} ald__style;

ald__style ald__style_of(const ald_text_write_options *options);

/* `row` counts from 0 in the array that the view is bound to. */
ALD_NODISCARD ald_status ald__put_cell_json(ald__pen *pen, const ald__view *view, int64_t row,
                                            const ald__style *style);

/* A resolved cell that is not null, as the content of a field: strings as they are, nested values as JSON. */
ALD_NODISCARD ald_status ald__put_value_text(ald__pen *pen, const ald__view *view, int64_t row,
                                             const ald__style *style);

/* A resolved cell of a type before ALD__CELL_BINARY, not null, without quotes. Room for ALD__PEN_SCALAR was asked for. */
void ald__put_scalar(ald__pen *pen, const ald__view *view, int64_t row);

#endif
