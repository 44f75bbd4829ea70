/* SPDX-License-Identifier: MIT */
/* Sums of bytes that lie some places apart: rows of pictures, and their colours. */
#include <string.h>

#include "core/codec/packed/packed_ints.h"
#include "core/codec/packed/packed_lanes.h"

/* Lanes moved up by so many places, zeros below. */
#define UP_3(x)                                                                                    \
    __builtin_shufflevector((ald__lanes){0}, x, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,    \
                            25, 26, 27, 28)
#define UP_6(x)                                                                                    \
    __builtin_shufflevector((ald__lanes){0}, x, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,    \
                            22, 23, 24, 25)
#define UP_12(x)                                                                                   \
    __builtin_shufflevector((ald__lanes){0}, x, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,  \
                            18, 19)

static size_t add_up_threes(size_t n, uint8_t *v, ald__lanes all)
{
    const ald__lanes three = {255, 255, 255}, none = {0};
    ald__lanes x, next;
    size_t i = 0;
    uint8_t kept = 0; /* the byte behind the fifteen: the store goes over it */
    if (n < 32)
        return 0;
    memcpy(&next, v, sizeof next);
    for (; i + 31 <= n; i += 15) {
        ald__lanes last;
        x = next;
        memcpy(&next, v + i + 15, sizeof next);
        kept = next[0];
        x += UP_3(x);
        x += UP_6(x);
        x += UP_12(x);
        /* lanes 12 to 14, five times */
        last = __builtin_shufflevector(x, none, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
                                       25, 26, 27) &
               three;
        last |= UP_3(last);
        last |= UP_6(last);
        last |= UP_12(last);
        x += all;
        all += last;
        memcpy(v + i, &x, sizeof x);
    }
    v[i] = kept;
    return i;
}

static size_t add_up_fours(size_t n, uint8_t *v, ald__lanes all)
{
    const ald__lanes none = {0};
    size_t i = 0;
    for (; i + sizeof all <= n; i += sizeof all) {
        ald__lanes x;
        ald__lanes32 words;
        memcpy(&x, v + i, sizeof x);
        x += __builtin_shufflevector(none, x, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
                                     25, 26, 27);
        x += __builtin_shufflevector(none, x, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                     22, 23);
        words = (ald__lanes32)x;
        x += all;
        all += (ald__lanes)__builtin_shufflevector(words, words, 3, 3, 3, 3);
        memcpy(v + i, &x, sizeof x);
    }
    return i;
}

/* Colours of pictures: the sums of bytes that lie 3 or 4 apart, fifteen or sixteen at a time. `before`: v[−stride] … are
 * sums already. */
static size_t add_up_colours(size_t n, uint8_t *v, size_t stride, int before)
{
    uint8_t sums[sizeof(ald__lanes)] = {0};
    ald__lanes all;
    for (size_t i = 0; before && i < sizeof sums; i++)
        sums[i] = v[(ptrdiff_t)(i % stride) - (ptrdiff_t)stride];
    memcpy(&all, sums, sizeof all);
    return stride == 3 ? add_up_threes(n, v, all) : add_up_fours(n, v, all);
}

void ald__bytes_sum_past(uint8_t *v, size_t at, size_t n, size_t stride)
{
    size_t i = at < stride ? stride : at, end = at + n;
    if (i >= end)
        return;
    if (stride == 3 || stride == 4)
        i = at + add_up_colours(n, v + at, stride, at > 0);
    for (; stride >= sizeof(ald__lanes) && i + sizeof(ald__lanes) <= end; i += sizeof(ald__lanes)) {
        ald__lanes x, past;
        memcpy(&x, v + i, sizeof x);
        memcpy(&past, v + i - stride, sizeof past);
        x += past;
        memcpy(v + i, &x, sizeof x);
    }
    for (i = i < stride ? stride : i; i < end; i++)
        v[i] = (uint8_t)(v[i] + v[i - stride]);
}
