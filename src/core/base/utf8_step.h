/* SPDX-License-Identifier: MIT */
/* One UTF-8 sequence at a time, as the Unicode Standard's table 3-7 says. Whole buffers: arrow/utf8.h. */
#ifndef CORE_BASE_UTF8_STEP_H
#define CORE_BASE_UTF8_STEP_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence at p (1 to 4), or 0: ill-formed or cut by the end. n > 0. */
static inline size_t ald__utf8_step(const uint8_t *p, size_t n)
{
    uint8_t c = p[0], low = 0x80, high = 0xBF;
    size_t size;
    if (c < 0x80)
        return 1;
    if (c < 0xC2 || c > 0xF4)
        return 0;
    size = c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (n < size)
        return 0;
    if (c == 0xE0)
        low = 0xA0;
    else if (c == 0xED)
        high = 0x9F; /* surrogates */
    else if (c == 0xF0)
        low = 0x90;
    else if (c == 0xF4)
        high = 0x8F;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    }
    return size;
}

static inline int ald__utf8_is_valid(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t step = ald__utf8_step(p + i, n - i);
        if (step == 0)
            return 0;
        i += step;
    }
    return 1;
}

#endif
