/* SPDX-License-Identifier: MIT */
/* Builders of one scalar Arrow column each, on the host's allocator.
 *
 * A column is initialised from an Arrow format string, filled value by value, and finished into an ArrowArray that owns
 * its buffers; it is then empty and can be filled again. Not thread-safe; different columns are independent. */
#ifndef INTERCHANGE_TEXT_COLUMN_H
#define INTERCHANGE_TEXT_COLUMN_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"

typedef enum ald__store {
    ALD__STORE_NULL = 0,
    ALD__STORE_BOOL,
    ALD__STORE_INT, /* 1, 2, 4 or 8 bytes */
    ALD__STORE_UINT,
    ALD__STORE_FLOAT,   /* 4 or 8 bytes */
    ALD__STORE_DECIMAL, /* 4, 8, 16 or 32 bytes */
    ALD__STORE_DATE,    /* 4 bytes of days or 8 of milliseconds */
    ALD__STORE_TIME,    /* of day */
    ALD__STORE_STAMP,
    ALD__STORE_DURATION,
    ALD__STORE_TEXT, /* UTF-8 */
    ALD__STORE_BINARY
} ald__store;

typedef struct ald__column {
    ald_allocator alloc;
    uint8_t store;  /* an ald__store */
    uint8_t width;  /* bytes of a value, or of an offset */
    uint8_t digits; /* TIME, STAMP, DURATION: decimals of a second: 0, 3, 6, 9 */
    uint8_t zoned;  /* STAMP */
    int16_t precision, scale;
    int64_t length, null_count;
    size_t row_capacity; /* rows that `values` (and `valid`, when there) have room for */
    uint8_t *valid;      /* bitmap; NULL until the first null */
    size_t valid_capacity;
    uint8_t *values; /* values, bits of BOOL, or length + 1 offsets */
    size_t values_capacity;
    uint8_t *bytes; /* of TEXT and BINARY */
    size_t bytes_size, bytes_capacity;
} ald__column;

/* Zeroed storage is an empty column that ald__column_clear accepts. ALD_E_UNSUPPORTED: a format that is not a scalar of
 * the list above (dictionaries, views, half floats, intervals, fixed-size binary). */
ALD_NODISCARD ald_status ald__column_init(ald__column *column, const char *format,
                                          const ald_allocator *alloc, ald_error *err);
void ald__column_clear(ald__column *column);
/* Room for `rows` more values, so that the next that many fixed-width appends cannot fail. */
ALD_NODISCARD ald_status ald__column_reserve(ald__column *column, size_t rows, ald_error *err);
/* Room for `size` more bytes of TEXT or BINARY. */
ALD_NODISCARD ald_status ald__column_reserve_bytes(ald__column *column, size_t size,
                                                   ald_error *err);

ALD_NODISCARD ald_status ald__column_add_null(ald__column *column, ald_error *err);
/* Parses by the column's type. ALD_E_SCHEMA_MISMATCH (err untouched: the caller knows line and name) when the text does
 * not fit; TEXT takes anything (its UTF-8 is the caller's to check), BINARY takes base64. */
ALD_NODISCARD ald_status ald__column_add_text(ald__column *column, const char *text, size_t size,
                                              ald_error *err);
/* Values as they are, into the stores of their kind; ALD_E_SCHEMA_MISMATCH (err untouched) when they do not fit exactly.
 * int64 and uint64 go into INT, UINT, FLOAT (rounded) and DECIMAL; double into FLOAT. */
ALD_NODISCARD ald_status ald__column_add_bool(ald__column *column, int value, ald_error *err);
ALD_NODISCARD ald_status ald__column_add_int64(ald__column *column, int64_t value, ald_error *err);
ALD_NODISCARD ald_status ald__column_add_uint64(ald__column *column, uint64_t value,
                                                ald_error *err);
ALD_NODISCARD ald_status ald__column_add_double(ald__column *column, double value, ald_error *err);
/* Bytes into TEXT or BINARY, uninterpreted. */
ALD_NODISCARD ald_status ald__column_add_bytes(ald__column *column, const void *data, size_t size,
                                               ald_error *err);

/* Moves what was collected into *out. */
ALD_NODISCARD ald_status ald__column_finish(ald__column *column, struct ArrowArray *out,
                                            ald_error *err);

/* An array that owns `n_buffers` blocks (sizes as allocated; NULL blocks have size 0) and room for children, which the
 * caller fills (zeroed until then; a child with `release` NULL is not released). On failure the blocks stay the caller's. */
ALD_NODISCARD ald_status ald__text_array_new(const ald_allocator *alloc, int64_t length,
                                             int64_t null_count, size_t n_buffers,
                                             void *const *blocks, const size_t *sizes,
                                             size_t n_children, struct ArrowArray *out,
                                             ald_error *err);

/* A field named by name_size bytes (a NUL inside is the caller's to refuse), nullable unless told, with room for
 * children, which the caller fills. */
ALD_NODISCARD ald_status ald__field_new(const ald_allocator *alloc, const char *name,
                                        size_t name_size, const char *format, int nullable,
                                        size_t n_children, struct ArrowSchema *out, ald_error *err);

#endif
