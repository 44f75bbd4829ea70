/* SPDX-License-Identifier: MIT */
/* Reads FlatBuffers that nobody has verified: every access is checked, at any address, with no pass over the whole.
 *
 * Offsets can make a table reach itself or be shared by many, so work is bounded twice: tables visited by the bytes / 8
 * (a table and the offset to it take 8), text by a small multiple of the bytes. Both end in ALD_E_LIMIT_EXCEEDED; all
 * other faults are ALD_E_INVALID_FORMAT. */
#ifndef CORE_ARROW_FLATBUF_READ_H
#define CORE_ARROW_FLATBUF_READ_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

typedef struct ald__flat {
    const uint8_t *data; /* borrowed */
    size_t size;
    uint64_t base; /* file offset of data[0], for messages */
    size_t visits_left;
    size_t text_left;
} ald__flat;

typedef struct ald__flat_table {
    size_t pos;
    size_t vtable;
    uint16_t field_count;
    uint16_t size;
} ald__flat_table;

/* `pos` is that of the first item; count 0 for a vector that is absent. */
typedef struct ald__flat_vector {
    size_t pos;
    size_t count;
    int present;
} ald__flat_vector;

typedef struct ald__flat_text {
    const char *data; /* borrowed, no NUL is promised; "" when absent */
    size_t size;
    int present;
} ald__flat_text;

void ald__flat_init(ald__flat *flat, const uint8_t *data, size_t size, uint64_t base);
/* The root table, and a table at a known position. Each counts as a visit. */
ALD_NODISCARD ald_status ald__flat_root(ald__flat *flat, ald__flat_table *out, ald_error *err);
ALD_NODISCARD ald_status ald__flat_table_at(ald__flat *flat, size_t pos, ald__flat_table *out,
                                            ald_error *err);

/* Field `field` (counted from 0) of a table, or the default when it is absent. */
ALD_NODISCARD ald_status ald__flat_u8(const ald__flat *flat, const ald__flat_table *table,
                                      unsigned field, uint8_t absent, uint8_t *out, ald_error *err);
ALD_NODISCARD ald_status ald__flat_i16(const ald__flat *flat, const ald__flat_table *table,
                                       unsigned field, int16_t absent, int16_t *out,
                                       ald_error *err);
ALD_NODISCARD ald_status ald__flat_i32(const ald__flat *flat, const ald__flat_table *table,
                                       unsigned field, int32_t absent, int32_t *out,
                                       ald_error *err);
ALD_NODISCARD ald_status ald__flat_i64(const ald__flat *flat, const ald__flat_table *table,
                                       unsigned field, int64_t absent, int64_t *out,
                                       ald_error *err);
/* A table that the field points to; *present 0 when there is none. Also the value of a union. */
ALD_NODISCARD ald_status ald__flat_child(ald__flat *flat, const ald__flat_table *table,
                                         unsigned field, ald__flat_table *out, int *present,
                                         ald_error *err);
/* A vector of items of `item_size` bytes, which all lie inside the buffer. */
ALD_NODISCARD ald_status ald__flat_items(const ald__flat *flat, const ald__flat_table *table,
                                         unsigned field, size_t item_size, ald__flat_vector *out,
                                         ald_error *err);
/* A vector of tables: fails when it has more items than visits are left, so that memory for `count` may be taken. */
ALD_NODISCARD ald_status ald__flat_tables(const ald__flat *flat, const ald__flat_table *table,
                                          unsigned field, ald__flat_vector *out, ald_error *err);
/* Item `index` < count of a vector of tables. */
ALD_NODISCARD ald_status ald__flat_item(ald__flat *flat, const ald__flat_vector *vector,
                                        size_t index, ald__flat_table *out, ald_error *err);
ALD_NODISCARD ald_status ald__flat_string(ald__flat *flat, const ald__flat_table *table,
                                          unsigned field, ald__flat_text *out, ald_error *err);

#endif
