/* SPDX-License-Identifier: MIT */
/* Bits at any offset, 64 at a time where whole bytes are at hand. */
#include "core/arrow/bits.h"

#include <string.h>

#include "core/base/endian.h"

void ald__bits_copy(uint8_t *dst, uint64_t dst_at, const uint8_t *src, uint64_t src_at,
                    uint64_t count)
{
    unsigned shift;
    size_t bytes, i = 0;
    for (; count > 0 && dst_at % 8 != 0; count--, dst_at++, src_at++) {
        if (ald__bit_get(src, src_at))
            ald__bit_set(dst, dst_at);
    }
    dst += dst_at / 8;
    src += src_at / 8;
    shift = (unsigned)(src_at % 8);
    bytes = (size_t)(count / 8);
    if (shift == 0) {
        if (bytes > 0)
            memcpy(dst, src, bytes);
    } else {
        for (; i + 8 <= bytes; i += 8)
            ald__store_le64(dst + i, (ald__load_le64(src + i) >> shift) |
                                         ((uint64_t)src[i + 8] << (64 - shift)));
        for (; i < bytes; i++)
            dst[i] = (uint8_t)((src[i] >> shift) | (src[i + 1] << (8 - shift)));
    }
    for (uint64_t bit = (uint64_t)bytes * 8; bit < count; bit++) {
        if (ald__bit_get(src, bit + shift))
            ald__bit_set(dst, bit);
    }
}

void ald__bits_fill(uint8_t *bits, uint64_t at, uint64_t count)
{
    uint64_t end = at + count;
    for (; at < end && at % 8 != 0; at++)
        ald__bit_set(bits, at);
    if (end - at >= 8)
        memset(bits + at / 8, 0xFF, (size_t)((end - at) / 8));
    for (at += (end - at) & ~(uint64_t)7; at < end; at++)
        ald__bit_set(bits, at);
}

/* Without a population count instruction, which x86-64 alone does not promise, the builtin is a call. */
static uint64_t bits_ones(uint64_t v)
{
    v -= (v >> 1) & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + ((v >> 2) & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
    return (v * 0x0101010101010101u) >> 56;
}

uint64_t ald__bits_count(const uint8_t *bits, uint64_t at, uint64_t count)
{
    uint64_t ones = 0, end = at + count;
    for (; at < end && at % 8 != 0; at++)
        ones += (uint64_t)ald__bit_get(bits, at);
    for (; end - at >= 64; at += 64)
        ones += bits_ones(ald__load_le64(bits + at / 8));
    for (; at < end; at++)
        ones += (uint64_t)ald__bit_get(bits, at);
    return ones;
}

uint64_t ald__bits_find(const uint8_t *bits, uint64_t at, uint64_t end, int value)
{
    uint64_t skip = value ? 0 : UINT64_MAX;
    for (; at < end && at % 8 != 0; at++) {
        if (ald__bit_get(bits, at) == value)
            return at;
    }
    for (; end - at >= 64; at += 64) {
        uint64_t word = ald__load_le64(bits + at / 8);
        if (word != skip)
            return at + (uint64_t)__builtin_ctzll(word ^ skip);
    }
    for (; at < end; at++) {
        if (ald__bit_get(bits, at) == value)
            return at;
    }
    return end;
}
