/* SPDX-License-Identifier: MIT */
/* How many of the bits that a column has are those of a buyer's code. */
#ifndef CLI_CODE_BITS_H
#define CLI_CODE_BITS_H

#include <stdint.h>

#include "ald/piracy.h"

typedef struct code_bits {
    unsigned read, agreeing;
} code_bits;

/* Each of ALD_WATERMARK_CODE_BYTES. Bits outside of `known` do not count. */
code_bits code_bits_count(const uint8_t *code, const uint8_t *bits, const uint8_t *known);

/* The bits of several columns together. A bit of the code counts once, with how many more columns agree with it than do not: so the
 * bound holds whatever columns have in common. */
typedef struct code_votes {
    int32_t of[8 * ALD_WATERMARK_CODE_BYTES];
    code_bits sum;
} code_votes;

void code_votes_add(code_votes *votes, const uint8_t *code, const uint8_t *bits,
                    const uint8_t *known);
/* log2 of the chance that a code which had no part in it agrees so well; at most 0 (Hoeffding). */
double code_votes_log2_p(const code_votes *votes);

#endif
