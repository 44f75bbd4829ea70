/* SPDX-License-Identifier: MIT */
/* Names of the columns, and which of them are declared. */
#ifndef INTERCHANGE_CSV_HEADER_H
#define INTERCHANGE_CSV_HEADER_H

#include "interchange/csv/reader.h"

/* Reads the header (or counts the first record's fields) at data_begin, behind blank and comment lines. Sets names, columns
 * and data_begin. Names of a file without a header come from `schema`, else they are f0, f1, … */
ALD_NODISCARD ald_status ald__csv_read_header(ald__csv_reader *reader, ald__csv_walk *walk,
                                              const struct ArrowSchema *schema, ald_error *err);

/* Makes reader->fields and puts the declared ones into it. */
ALD_NODISCARD ald_status ald__csv_declare(ald__csv_reader *reader, const struct ArrowSchema *schema,
                                          const struct ArrowSchema *types, ald_error *err);

#endif
