/* SPDX-License-Identifier: MIT */
/* One field's type, parsed from the C data interface's format string: what every reader and writer switches on. */
#ifndef CORE_ARROW_TYPE_H
#define CORE_ARROW_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"

typedef enum ald__type_id {
    ALD__NULL,
    ALD__BOOL,
    ALD__INT8,
    ALD__INT16,
    ALD__INT32,
    ALD__INT64,
    ALD__UINT8,
    ALD__UINT16,
    ALD__UINT32,
    ALD__UINT64,
    ALD__FLOAT16,
    ALD__FLOAT32,
    ALD__FLOAT64,
    ALD__DECIMAL, /* byte_width 4, 8, 16, 32; precision, scale */
    ALD__DATE32,
    ALD__DATE64,
    ALD__TIME32,    /* unit s, ms */
    ALD__TIME64,    /* unit us, ns */
    ALD__TIMESTAMP, /* unit, zone */
    ALD__DURATION,  /* unit */
    ALD__INTERVAL_MONTHS,
    ALD__INTERVAL_DAY_TIME,
    ALD__INTERVAL_MONTH_DAY_NANO,
    ALD__BINARY,
    ALD__LARGE_BINARY,
    ALD__BINARY_VIEW,
    ALD__UTF8,
    ALD__LARGE_UTF8,
    ALD__UTF8_VIEW,
    ALD__FIXED_BINARY, /* byte_width */
    ALD__LIST,
    ALD__LARGE_LIST,
    ALD__LIST_VIEW,
    ALD__LARGE_LIST_VIEW,
    ALD__FIXED_LIST, /* list_size */
    ALD__STRUCT,
    ALD__MAP,          /* keys_sorted is a schema flag */
    ALD__SPARSE_UNION, /* type_ids */
    ALD__DENSE_UNION,
    ALD__RUN_END
} ald__type_id;

typedef enum ald__time_unit { ALD__SECOND, ALD__MILLI, ALD__MICRO, ALD__NANO } ald__time_unit;

typedef struct ald__type {
    ald__type_id id;    /* of the storage: for a dictionary-encoded field, of the indices */
    uint32_t bit_width; /* of one value in the values buffer; 1 for bool; 0: no fixed width */
    int32_t byte_width; /* FIXED_BINARY, DECIMAL */
    int32_t list_size;  /* FIXED_LIST */
    int32_t precision, scale;
    ald__time_unit unit;
    const char *zone;     /* TIMESTAMP: borrowed from the format string, "" when none */
    const char *type_ids; /* unions: the text behind "+us:", comma-separated; borrowed */
    uint8_t
        buffer_count; /* buffers of the IPC layout (validity included; views: validity and views) */
    uint8_t has_validity;
} ald__type;

/* ALD_E_INVALID_ARG for a format string that is none, or wrong children for it. */
ALD_NODISCARD ald_status ald__type_of(const struct ArrowSchema *field, ald__type *out,
                                      ald_error *err);

/* Type codes of a union in order of its children: ids[0 .. n_children), n_children ≤ 127. */
ALD_NODISCARD ald_status ald__type_union_ids(const struct ArrowSchema *field, int8_t ids[128],
                                             ald_error *err);

#endif
