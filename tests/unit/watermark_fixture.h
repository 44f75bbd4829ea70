/* SPDX-License-Identifier: MIT */
/* Keys, random numbers and columns for tests of watermarks. */
#ifndef WATERMARK_FIXTURE_H
#define WATERMARK_FIXTURE_H

#include <stdint.h>

static uint8_t mark_test_seller[32]; /* 00 01 ... 1f */
static uint8_t mark_test_buyer[32];  /* 80 81 ... 9f */

static inline void mark_test_init(void)
{
    for (unsigned i = 0; i < 32; i++) {
        mark_test_seller[i] = (uint8_t)i;
        mark_test_buyer[i] = (uint8_t)(0x80 + i);
    }
}

/* xorshift64, shifts 13, 7, 17 */
typedef struct mark_random {
    uint64_t state;
} mark_random;

static inline uint64_t mark_random_next(mark_random *r)
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state;
}

/* In [0, 1). */
static inline double mark_random_unit(mark_random *r)
{
    return (double)(mark_random_next(r) >> 11) * 0x1p-53;
}

#endif
