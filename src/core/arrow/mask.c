/* SPDX-License-Identifier: MIT */
/* Columns with scattered nulls are common, so the usual widths are handled without a branch for each value. */
#include "core/arrow/mask.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/base/endian.h"

uint64_t ald__mask_word(const uint8_t *mask, uint64_t at, uint64_t count)
{
    uint8_t bytes[8];
    uint64_t left = count - at;
    if (left >= 64)
        return ald__load_le64(mask + at / 8);
    memset(bytes, 0xFF, sizeof bytes);
    memcpy(bytes, mask + at / 8, ald__bits_bytes(left));
    return ald__load_le64(bytes) | (UINT64_MAX << left);
}

/* Inlined with a constant width; the compiler then drops the memcpy calls. Returns the bits found under zeros. */
static inline uint64_t mask_scan(const uint8_t *values, size_t width, uint64_t word, size_t n)
{
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        memcpy(&v, values + i * width, width);
        found |= v & (((word >> i) & 1) - 1);
    }
    return found;
}

static inline void mask_block(uint8_t *values, size_t width, uint64_t word, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        memcpy(&v, values + i * width, width);
        v &= 0 - ((word >> i) & 1);
        memcpy(values + i * width, &v, width);
    }
}

static int mask_any(const uint8_t *p, size_t size)
{
    uint8_t found = 0;
    for (size_t i = 0; i < size; i++)
        found |= p[i];
    return found != 0;
}

static int mask_wide_is_dirty(const uint8_t *values, size_t width, const uint8_t *mask,
                              uint64_t count)
{
    for (uint64_t i = ald__bits_find(mask, 0, count, 0); i < count;
         i = ald__bits_find(mask, i + 1, count, 0)) {
        if (mask_any(values + (size_t)i * width, width))
            return 1;
    }
    return 0;
}

int ald__mask_is_dirty(const uint8_t *values, size_t width, const uint8_t *mask, uint64_t count)
{
    uint64_t found = 0;
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return mask_wide_is_dirty(values, width, mask, count);
    for (uint64_t i = 0; i < count && found == 0; i += 64) {
        uint64_t word = ald__mask_word(mask, i, count);
        size_t n = count - i < 64 ? (size_t)(count - i) : 64;
        const uint8_t *p = values + (size_t)i * width;
        if (word == UINT64_MAX)
            continue;
        switch (width) {
        case 1:
            found = mask_scan(p, 1, word, n);
            break;
        case 2:
            found = mask_scan(p, 2, word, n);
            break;
        case 4:
            found = mask_scan(p, 4, word, n);
            break;
        default:
            found = mask_scan(p, 8, word, n);
        }
    }
    return found != 0;
}

void ald__mask_clean(uint8_t *values, size_t width, const uint8_t *mask, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 64) {
        uint64_t word = ald__mask_word(mask, i, count);
        size_t n = count - i < 64 ? (size_t)(count - i) : 64;
        uint8_t *p = values + (size_t)i * width;
        if (word == UINT64_MAX)
            continue;
        switch (width) {
        case 1:
            mask_block(p, 1, word, n);
            break;
        case 2:
            mask_block(p, 2, word, n);
            break;
        case 4:
            mask_block(p, 4, word, n);
            break;
        case 8:
            mask_block(p, 8, word, n);
            break;
        default:
            for (size_t k = 0; k < n; k++) {
                if (((word >> k) & 1) == 0)
                    memset(p + k * width, 0, width);
            }
        }
    }
}
