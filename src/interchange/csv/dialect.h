/* SPDX-License-Identifier: MIT */
/* How a CSV file is written, and what can be wrong with it. */
#ifndef INTERCHANGE_CSV_DIALECT_H
#define INTERCHANGE_CSV_DIALECT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"
#include "interchange/csv/masks.h"

typedef struct ald__csv_numbers ald__csv_numbers;

typedef struct ald__csv_dialect {
    uint8_t delimiter, quote;
    uint8_t comment; /* 0: none */
    uint8_t ragged;  /* an ald_csv_ragged */
    uint64_t max_field_bytes;
    ald__csv_masks_fn masks;
    size_t
        block_bytes; /* pass one goes through the file in such blocks, whatever the number of threads */
    size_t slab_bytes; /* cut and parsed at once */
    size_t samples;    /* slabs that types are guessed from */
    const ald__csv_numbers *numbers;
} ald__csv_dialect;

typedef enum ald__csv_fault_kind {
    ALD__CSV_FINE = 0,
    ALD__CSV_FAULT_RAGGED,      /* at the record */
    ALD__CSV_FAULT_AFTER_QUOTE, /* at the byte behind a closing quote */
    ALD__CSV_FAULT_UNCLOSED,    /* at the opening quote */
    ALD__CSV_FAULT_UTF8,        /* at the byte */
    ALD__CSV_FAULT_NUL,         /* at the byte */
    ALD__CSV_FAULT_FIELD_SIZE,  /* at the field */
    ALD__CSV_FAULT_RECORD_SIZE, /* at the record */
    ALD__CSV_FAULT_VALUE,       /* at the field: the text is not of the column's type */
    ALD__CSV_FAULT_NULL         /* at the field: null in a column that has none */
} ald__csv_fault_kind;

/* Where and what; the message is made once it is known that no other fault stands before this one. */
typedef struct ald__csv_fault {
    uint64_t offset;
    size_t fields; /* RAGGED: found; VALUE, NULL: the column */
    uint32_t size; /* VALUE: bytes of the field */
    uint8_t kind;  /* an ald__csv_fault_kind */
} ald__csv_fault;

#endif
