/* SPDX-License-Identifier: MIT */
/* The rows of a slab into column builders. */
#ifndef INTERCHANGE_CSV_PARSE_H
#define INTERCHANGE_CSV_PARSE_H

#include "interchange/csv/reader.h"
#include "interchange/text/column.h"

typedef struct ald__csv_parser {
    const ald__csv_reader *reader;
    ald__column *columns;
    uint8_t *scratch; /* for fields with doubled quotes */
    size_t scratch_capacity;
    ald__csv_fault fault; /* the first value, by place, that its column does not take */
} ald__csv_parser;

/* Appends all rows of the walk's slab. With parser->fault set, what the columns hold is of no use. */
ALD_NODISCARD ald_status ald__csv_parse_slab(ald__csv_parser *parser, const ald__csv_walk *walk,
                                             ald_error *err);

#endif
