/* SPDX-License-Identifier: MIT */
/* Finding out the delimiter, and naming files that are not CSV at all. */
#ifndef INTERCHANGE_CSV_SNIFF_H
#define INTERCHANGE_CSV_SNIFF_H

#include "ald/alloc.h"
#include "interchange/csv/dialect.h"

#define ALD__CSV_SAMPLE_BYTES (1u << 20)

/* The delimiter of the sample, which begins at a record; `whole`: the sample is the whole input. 0 with err set: no memory.
 * A file without any delimiter is of commas. */
uint8_t ald__csv_sniff(const uint8_t *sample, size_t size, int whole,
                       const ald__csv_dialect *dialect, const ald_allocator *alloc, ald_error *err);

/* What a file that begins so is ("a gzip file" …), or NULL: it may be CSV. */
const char *ald__csv_foreign(const uint8_t *head, size_t size);
/* "utf-16" when the beginning looks like that encoding, else NULL. */
const char *ald__csv_other_encoding(const uint8_t *head, size_t size);

#endif
