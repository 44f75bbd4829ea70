/* SPDX-License-Identifier: MIT */
/* Whether the sizes that a Hugging Face card tells are those of the file. Each returns 1, or 0 and says why. */
#ifndef CARD_SIZES_H
#define CARD_SIZES_H

#include "card/card_check.h"

/* `size_categories`: one of them fits the rows. An edge is in both of its categories. */
int card_sizes_category(const ald_value *value, const card_facts *facts, char *why,
                        size_t why_size);
/* `dataset_info` of one configuration: the rows are those of all splits, or of one. */
int card_sizes_rows(const ald_value *value, const card_facts *facts, char *why, size_t why_size);
/* Its features are the columns, in any order. */
int card_sizes_columns(const ald_value *value, const card_facts *facts, char *why, size_t why_size);

#endif
