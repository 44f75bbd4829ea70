/* SPDX-License-Identifier: MIT */
/* Rows and marks of a whole file, at several times the speed of the survey. */
#ifndef INTERCHANGE_CSV_CSV_SHAPE_H
#define INTERCHANGE_CSV_CSV_SHAPE_H

#include "interchange/csv/reader.h"

/* Fills reader->rows and the marks, as the survey would. *known is 0 where it cannot, and what it filled is of no use: the file
 * is not as the dialect says, or has comments or rows of other sizes. That all records are well is not said. */
ALD_NODISCARD ald_status ald__csv_shape(ald__csv_reader *reader, int *known, ald_error *err);

#endif
