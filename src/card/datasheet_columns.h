/* SPDX-License-Identifier: MIT */
/* The table of columns in a datasheet. */
#ifndef CARD_DATASHEET_COLUMNS_H
#define CARD_DATASHEET_COLUMNS_H

#include "ald/stats.h"

/* Appends it; without `stats` (NULL) there are names, types and documentation alone. */
ALD_NODISCARD ald_status card_datasheet_columns(const struct ArrowSchema *schema,
                                                const ald_stats *stats, ald_buffer *out,
                                                ald_error *err);

#endif
