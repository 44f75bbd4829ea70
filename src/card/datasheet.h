/* SPDX-License-Identifier: MIT */
/* A datasheet (Gebru et al., "Datasheets for Datasets", 2021) in Markdown: what metadata, schema and statistics say is filled
 * in, and every other question is marked as open. */
#ifndef CARD_DATASHEET_H
#define CARD_DATASHEET_H

#include "ald/stats.h"
#include "card/croissant.h"

/* Appends it. `stats` may be NULL. */
ALD_NODISCARD ald_status card_datasheet_write(const ald_value *metadata, const card_file *file,
                                              const ald_stats *stats, ald_buffer *out,
                                              ald_error *err);

#endif
