/* SPDX-License-Identifier: MIT */
/* What a card lacks, what in it is wrong, and where it does not agree with the file. */
#ifndef CARD_CHECK_H
#define CARD_CHECK_H

#include "ald/arrow.h"
#include "ald/value.h"

typedef enum card_level {
    CARD_WRONG = 0,   /* it cannot be as the card says */
    CARD_MISSING = 1, /* nobody can use the dataset without it */
    CARD_ADVICE = 2   /* it would help */
} card_level;

typedef struct card_facts {
    uint64_t row_count;
    const struct ArrowSchema *schema;
} card_facts;

/* Called for each finding; both texts are gone afterwards. `key` is the key of the metadata it is about. */
typedef void (*card_finding)(void *ctx, card_level level, const char *key, const char *text);

void card_check(const ald_value *metadata, const card_facts *facts, card_finding found, void *ctx);

#endif
