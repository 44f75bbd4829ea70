/* SPDX-License-Identifier: MIT */
/* Numbers from planes. A block of 512 is put together plane by plane, in place and in the first-level cache, then unfolded:
 * zigzag, factor and base, sums. The bits above the last whole byte come first as a plane of their own, so that all planes
 * are bytes. Everything is modulo 2^(8 w): the types are unsigned and as wide as the values. */
#include "core/codec/packed/packed_ints.h"

#include <string.h>

#include "core/base/cpu.h"
#include "core/codec/packed/packed_lanes.h"

#define PLANES_MAX 8u

uint64_t ald__planes_bytes(uint64_t n, uint32_t bits)
{
    uint64_t bytes = n * (bits / 8);
    for (uint32_t k = 4; k > 0; k /= 2) {
        if (bits & k)
            bytes += (n * k + 7) / 8;
    }
    return bytes;
}

int ald__planes_are_clean(const uint8_t *planes, size_t n, uint32_t bits)
{
    const uint8_t *end = planes + n * (bits / 8);
    for (uint32_t k = 4; k > 0; k /= 2) {
        uint32_t used = (uint32_t)(n % 8) * k % 8; /* bits of the last byte; 0: all */
        if (!(bits & k))
            continue;
        end += (uint64_t)n * k / 8 + (used > 0);
        if (used > 0 && (uint32_t)end[-1] >> used != 0)
            return 0;
    }
    return 1;
}

/* ---- Interleaving bytes, pairs and fours. */

/* Sixteen values of w = 2, 4 or 8 bytes from their bytes; inlined with a constant w. Stage by stage v[2 i] and v[2 i + 1]
 * become the lower and the upper half of pairs of what was. */
ALD__BODY void join_lanes(const ald__lanes *planes, uint32_t w, uint8_t *dst)
{
    ald__lanes pairs[8], fours[8], eights[8];
    for (uint32_t i = 0; i < w / 2; i++) {
        pairs[2 * i] = ALD__ZIP_8(planes[2 * i], planes[2 * i + 1], 0);
        pairs[2 * i + 1] = ALD__ZIP_8(planes[2 * i], planes[2 * i + 1], 8);
    }
    if (w == 2) {
        memcpy(dst, pairs, 32);
        return;
    }
    for (uint32_t i = 0; i < w / 4; i++) {
        for (uint32_t h = 0; h < 2; h++) {
            fours[4 * i + 2 * h] = ALD__ZIP_16(pairs[4 * i + h], pairs[4 * i + 2 + h], 0);
            fours[4 * i + 2 * h + 1] = ALD__ZIP_16(pairs[4 * i + h], pairs[4 * i + 2 + h], 8);
        }
    }
    if (w == 4) {
        memcpy(dst, fours, 64);
        return;
    }
    for (uint32_t q = 0; q < 4; q++) {
        eights[2 * q] = ALD__ZIP_32(fours[q], fours[4 + q], 0);
        eights[2 * q + 1] = ALD__ZIP_32(fours[q], fours[4 + q], 8);
    }
    memcpy(dst, eights, 128);
}

/* ---- Sub-planes: sixteen bytes of 8 / k values each become as many vectors of one value a byte. Values of a byte lie k bits
 * apart: the same bits of all bytes make a vector, and interleaving puts the vectors in order. */

static inline ald__lanes bits_at(ald__lanes x, uint32_t at, uint8_t mask)
{
    ald__lanes64 moved = (ald__lanes64)x >> at; /* what comes in from the next byte is masked */
    return (ald__lanes)moved & (ald__lanes){mask, mask, mask, mask, mask, mask, mask, mask,
                                            mask, mask, mask, mask, mask, mask, mask, mask};
}

/* 16 k values of 8 / k bits from sixteen bytes; inlined with a constant k. */
static inline void spread(const uint8_t *src, uint32_t k, uint8_t *dst)
{
    ald__lanes x, v[8];
    memcpy(&x, src, sizeof x);
    for (uint32_t i = 0; i < 8 / k; i++)
        v[i] = bits_at(x, i * k, (uint8_t)((1u << k) - 1));
    join_lanes(v, 8 / k, dst);
}

/* The sub-plane of `count` values of k bits, one a byte; dst has room for a block. */
static void spread_plane(const uint8_t *src, uint32_t k, size_t count, uint8_t *dst)
{
    uint8_t padded[ALD__INTS_BLOCK / 2];
    size_t size = (count * k + 7) / 8;
    if (size % sizeof(ald__lanes) != 0) { /* the last block */
        memcpy(padded, src, size);
        memset(padded + size, 0, sizeof(ald__lanes) - size % sizeof(ald__lanes));
        src = padded;
    }
    for (size_t i = 0; i < size; i += sizeof(ald__lanes)) {
        if (k == 4)
            spread(src + i, 4, dst + i * 2);
        else if (k == 2)
            spread(src + i, 2, dst + i * 4);
        else
            spread(src + i, 1, dst + i * 8);
    }
}

/* The bits above the last whole byte, as bytes. */
static void spread_top(const uint8_t *planes, size_t n, uint32_t bits, size_t at, size_t count,
                       uint8_t top[ALD__INTS_BLOCK])
{
    uint8_t more[ALD__INTS_BLOCK];
    uint32_t shift = 0;
    for (uint32_t k = 4; k > 0; k /= 2) {
        if (!(bits & k))
            continue;
        spread_plane(planes + at / 8 * k, k, count, shift > 0 ? more : top);
        for (size_t i = 0; shift > 0 && i < count; i++)
            top[i] = (uint8_t)(top[i] | more[i] << shift);
        planes += (n * k + 7) / 8;
        shift += k;
    }
}

/* Where the bytes of numbers at … at + count are: `width` planes, of which those above the bits are zero. `at` is a multiple
 * of ALD__INTS_BLOCK's eights. */
static void find_planes(const uint8_t *planes, size_t n, uint32_t bits, size_t at, size_t count,
                        uint32_t width, uint8_t top[ALD__INTS_BLOCK],
                        const uint8_t *out[PLANES_MAX])
{
    static const uint8_t none[ALD__INTS_BLOCK];
    uint32_t j = 0;
    for (; j < bits / 8; j++, planes += n)
        out[j] = planes + at;
    if (bits % 8 != 0) {
        spread_top(planes, n, bits, at, count, top);
        out[j++] = top;
    }
    for (; j < width; j++)
        out[j] = none;
}

/* ---- Joining planes: sixteen values at a time. */

/* Inlined with a constant w. */
ALD__BODY void join_width(const uint8_t *const *planes, size_t n, uint32_t w, uint8_t *dst)
{
    size_t i = 0;
    for (; i + sizeof(ald__lanes) <= n; i += sizeof(ald__lanes)) {
        ald__lanes v[PLANES_MAX];
        for (uint32_t j = 0; j < w; j++)
            memcpy(&v[j], planes[j] + i, sizeof(ald__lanes));
        join_lanes(v, w, dst + i * w);
    }
    for (; i < n; i++) {
        for (uint32_t j = 0; j < w; j++)
            dst[i * w + j] = planes[j][i];
    }
}

ALD__BODY void join_planes_body(const uint8_t *const *planes, size_t n, uint32_t w, void *dst)
{
    if (w == 8)
        join_width(planes, n, 8, dst);
    else if (w == 4)
        join_width(planes, n, 4, dst);
    else if (w == 2)
        join_width(planes, n, 2, dst);
    else if (dst != planes[0])
        memcpy(dst, planes[0], n);
}

ALD__VARIANTS(static, join_planes, (const uint8_t *const *planes, size_t n, uint32_t w, void *dst),
              (planes, n, w, dst))

#define JOIN_VALUES 64u /* a cache line of each plane */

/* k bytes each, side by side, to values that are `width` bytes apart. */
static void scatter(const uint8_t *joined, size_t n, uint32_t k, size_t width, uint8_t *dst)
{
    for (size_t i = 0; i < n; i++, dst += width) {
        if (k == 8)
            memcpy(dst, joined + i * 8, 8);
        else if (k == 4)
            memcpy(dst, joined + i * 4, 4);
        else
            memcpy(dst, joined + i * 2, 2);
    }
}

/* Eight, four or two planes at a time; the last ones with some that were done before. */
void ald__bytes_join(const uint8_t *planes, size_t n, size_t width, uint8_t *dst)
{
    uint32_t k = width >= 8 ? 8 : width >= 4 ? 4 : 2;
    if (width == 1) {
        memcpy(dst, planes, n);
        return;
    }
    for (size_t at = 0; at < n; at += JOIN_VALUES) {
        size_t count = n - at < JOIN_VALUES ? n - at : JOIN_VALUES;
        for (size_t j = 0; j < width; j += k) {
            size_t first = width - j < k ? width - k : j;
            const uint8_t *some[PLANES_MAX];
            uint8_t joined[JOIN_VALUES * PLANES_MAX];
            for (uint32_t i = 0; i < k; i++)
                some[i] = planes + (first + i) * n + at;
            join_planes(some, count, k, joined);
            scatter(joined, count, k, width, dst + at * width + first);
        }
    }
}

/* ---- Sums: inside of a vector in log2 steps, then what came before is added to all of it. */

ALD__BODY ald__lanes sums_in_uint8_t(ald__lanes x)
{
    const ald__lanes none = {0};
    x += __builtin_shufflevector(none, x, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                                 29, 30);
    x += __builtin_shufflevector(none, x, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
                                 28, 29);
    x += __builtin_shufflevector(none, x, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                 26, 27);
    return x + __builtin_shufflevector(none, x, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                       21, 22, 23);
}

ALD__BODY ald__lanes32 sums_in_uint32_t(ald__lanes32 x)
{
    const ald__lanes32 none = {0};
    x += __builtin_shufflevector(none, x, 3, 4, 5, 6);
    return x + __builtin_shufflevector(none, x, 2, 3, 4, 5);
}

static uint8_t add_up_uint8_t(size_t n, uint8_t *v, uint8_t before)
{
    ald__lanes all = (ald__lanes){0} + before;
    size_t i = 0;
    for (; i + sizeof all <= n; i += sizeof all) {
        ald__lanes x, last;
        memcpy(&x, v + i, sizeof x);
        x = sums_in_uint8_t(x);
        last = __builtin_shufflevector(x, x, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
                                       15, 15);
        x += all;
        all += last;
        memcpy(v + i, &x, sizeof x);
    }
    for (before = all[0]; i < n; i++)
        v[i] = before = (uint8_t)(before + v[i]);
    return before;
}

ALD__BODY uint32_t add_up_uint32_t(size_t n, uint32_t *v, uint32_t before)
{
    ald__lanes32 all = (ald__lanes32){0} + before;
    size_t i = 0;
    for (; ALD__FOR_SPEED && i + 4 <= n; i += 4) {
        ald__lanes32 x, last;
        memcpy(&x, v + i, sizeof x);
        x = sums_in_uint32_t(x);
        last = __builtin_shufflevector(x, x, 3, 3, 3, 3);
        x += all;
        all += last;
        memcpy(v + i, &x, sizeof x);
    }
    for (before = all[0]; i < n; i++)
        v[i] = before = before + v[i];
    return before;
}

static uint16_t add_up_uint16_t(size_t n, uint16_t *v, uint16_t before)
{
    for (size_t i = 0; i < n; i++)
        v[i] = before = (uint16_t)(before + v[i]);
    return before;
}

/* Two at once are no faster than one after the other. */
ALD__BODY uint64_t add_up_uint64_t(size_t n, uint64_t *v, uint64_t before)
{
    for (size_t i = 0; i < n; i++)
        v[i] = before = before + v[i];
    return before;
}

/* By blocks: the sums of 4 bytes may run over, the total does not. */
ALD__BODY void ald__lengths_sum_body(const uint8_t *lengths, size_t n, uint8_t *sums, size_t width,
                                     uint64_t *total)
{
    uint64_t all = 0;
    for (size_t at = 0; at < n; at += ALD__INTS_BLOCK) {
        size_t count = n - at < ALD__INTS_BLOCK ? n - at : ALD__INTS_BLOCK;
        uint32_t v[ALD__INTS_BLOCK], before = (uint32_t)all;
        memcpy(v, lengths + at * 4, count * 4);
        if (width == 4) {
            for (size_t i = 0; i < count; i++)
                all += v[i];
            (void)add_up_uint32_t(count, v, before);
            memcpy(sums + at * 4, v, count * 4);
        } else {
            for (size_t i = 0; i < count; i++) {
                all += v[i];
                memcpy(sums + (at + i) * 8, &all, 8);
            }
        }
    }
    *total = all;
}

ALD__VARIANTS(, ald__lengths_sum,
              (const uint8_t *lengths, size_t n, uint8_t *sums, size_t width, uint64_t *total),
              (lengths, n, sums, width, total))

/* ---- Unfolding */

/* Numbers of few bits are put together as narrow ones, and widened as they are unfolded. */
static uint32_t joined_width(uint32_t bits, uint32_t width)
{
    uint32_t w = bits > 32 ? 8 : bits > 16 ? 4 : bits > 8 ? 2 : 1;
    return ALD__FOR_SPEED && width >= 4 && w < width ? w : width;
}

/* A block at work. */
typedef struct ints_block {
    uint8_t top[ALD__INTS_BLOCK];
    uint32_t joined[ALD__INTS_BLOCK];
} ints_block;

/* Numbers at … at + count of n as w bytes each: in dst if that is their width; else the result says where. */
static const void *join_block(const uint8_t *src, size_t n, uint32_t bits, size_t at, size_t count,
                              uint32_t w, uint32_t width, ints_block *block, void *dst)
{
    const uint8_t *planes[PLANES_MAX];
    find_planes(src, n, bits, at, count, w, block->top, planes);
    if (w == width)
        join_planes(planes, count, width, dst);
    else if (w == 4)
        join_planes(planes, count, 4, block->joined);
    else if (w == 2)
        join_planes(planes, count, 2, block->joined);
    else
        return planes[0];
    return block->joined;
}

/* Zigzag, factor and base of numbers in their own width. */
#define DEFINE_UNFOLD(T)                                                                           \
    ALD__BODY void unfold_##T##_body(const ald__packed_ints *p, size_t n, T *dst)                  \
    {                                                                                              \
        T factor = (T)p->factor, base = (T)p->base;                                                \
        if (p->flags & ALD__INTS_ZIGZAG) {                                                         \
            for (size_t i = 0; i < n; i++)                                                         \
                dst[i] = (T)((T)(dst[i] >> 1) ^ (T)(0u - (dst[i] & 1u)));                          \
        }                                                                                          \
        if (factor != 1) {                                                                         \
            for (size_t i = 0; i < n; i++)                                                         \
                dst[i] = (T)(1u * dst[i] * factor + base);                                         \
        } else if (base != 0) {                                                                    \
            for (size_t i = 0; i < n; i++)                                                         \
                dst[i] = (T)(dst[i] + base);                                                       \
        }                                                                                          \
    }                                                                                              \
    ALD__VARIANTS(static, unfold_##T, (const ald__packed_ints *p, size_t n, T *dst), (p, n, dst))

DEFINE_UNFOLD(uint8_t)
DEFINE_UNFOLD(uint16_t)
DEFINE_UNFOLD(uint32_t)
DEFINE_UNFOLD(uint64_t)

/* The same of narrower ones, without a branch: an odd z stands for −(z + 1) / 2, whose product is the complement of
 * z / 2 · factor, and 1 − factor more. z / 2 has 32 bits, so that two products of 32 bits are enough. */
#define WIDEN_FROM(T, N)                                                                           \
    do {                                                                                           \
        const N *from = narrow;                                                                    \
        for (size_t i = 0; i < n && factor == 1; i++)                                              \
            dst[i] = ((T)(from[i] >> zigzag) ^ (0 - (T)(from[i] & zigzag))) + base;                \
        for (size_t i = 0; i < n && factor != 1; i++) {                                            \
            uint32_t half = (uint32_t)(from[i] >> zigzag);                                         \
            T odd = 0 - (T)(from[i] & zigzag), product = (T)half * (uint32_t)factor;               \
            if (sizeof(T) == 8)                                                                    \
                product += (T)((uint64_t)half * (uint32_t)(factor >> 32) << 32);                   \
            dst[i] = (product ^ odd) + (odd & (T)(1 - factor)) + base;                             \
        }                                                                                          \
    } while (0)

#define DEFINE_WIDEN(T)                                                                            \
    ALD__BODY void widen_##T##_body(const ald__packed_ints *p, const void *narrow, uint32_t w,     \
                                    size_t n, T *dst)                                              \
    {                                                                                              \
        uint32_t zigzag = (p->flags & ALD__INTS_ZIGZAG) != 0;                                      \
        uint64_t factor = (T)p->factor;                                                            \
        T base = (T)p->base;                                                                       \
        if (w == 1)                                                                                \
            WIDEN_FROM(T, uint8_t);                                                                \
        else if (w == 2)                                                                           \
            WIDEN_FROM(T, uint16_t);                                                               \
        else                                                                                       \
            WIDEN_FROM(T, uint32_t);                                                               \
    }                                                                                              \
    ALD__VARIANTS(static, widen_##T,                                                               \
                  (const ald__packed_ints *p, const void *narrow, uint32_t w, size_t n, T *dst),   \
                  (p, narrow, w, n, dst))

DEFINE_WIDEN(uint32_t)
DEFINE_WIDEN(uint64_t)
#define widen_uint8_t(p, narrow, w, n, dst) ((void)(narrow)) /* none is narrower */
#define widen_uint16_t(p, narrow, w, n, dst) ((void)(narrow))

/* A block of numbers at … at + count of n. */
#define DEFINE_RESTORE(T)                                                                          \
    static T restore_block_##T(const ald__packed_ints *p, const uint8_t *src, size_t n, size_t at, \
                               size_t count, T *dst, T carry)                                      \
    {                                                                                              \
        ints_block block;                                                                          \
        uint32_t w = joined_width(p->bits, sizeof(T));                                             \
        const void *narrow = join_block(src, n, p->bits, at, count, w, sizeof(T), &block, dst);    \
        if (w < sizeof(T))                                                                         \
            widen_##T(p, narrow, w, count, dst);                                                   \
        else                                                                                       \
            unfold_##T(p, count, dst);                                                             \
        return p->flags & ALD__INTS_DELTA ? add_up_##T(count, dst, carry) : carry;                 \
    }                                                                                              \
    static void add_past_##T(T *v, size_t at, size_t n, size_t stride)                             \
    {                                                                                              \
        for (size_t i = at < stride ? stride : at; i < at + n; i++)                                \
            v[i] = (T)(v[i] + v[i - stride]);                                                      \
    }                                                                                              \
    static void restore_##T(const ald__packed_ints *p, const uint8_t *src, size_t n, T *dst)       \
    {                                                                                              \
        T carry = (T)p->start;                                                                     \
        for (size_t at = 0; at < n; at += ALD__INTS_BLOCK) {                                       \
            size_t count = n - at < ALD__INTS_BLOCK ? n - at : ALD__INTS_BLOCK;                    \
            carry = restore_block_##T(p, src, n, at, count, dst + at, carry);                      \
            if (!(p->flags & ALD__INTS_STRIDE))                                                    \
                continue;                                                                          \
            if (ALD__FOR_SPEED && sizeof(T) == 1)                                                  \
                ald__bytes_sum_past((uint8_t *)dst, at, count, p->stride);                         \
            else                                                                                   \
                add_past_##T(dst, at, count, p->stride);                                           \
        }                                                                                          \
    }

DEFINE_RESTORE(uint8_t)
DEFINE_RESTORE(uint16_t)
DEFINE_RESTORE(uint32_t)
DEFINE_RESTORE(uint64_t)

void ald__ints_restore(const ald__packed_ints *p, const uint8_t *planes, size_t n, void *dst)
{
    switch (p->width) {
    case 1:
        restore_uint8_t(p, planes, n, dst);
        break;
    case 2:
        restore_uint16_t(p, planes, n, dst);
        break;
    case 4:
        restore_uint32_t(p, planes, n, dst);
        break;
    default:
        restore_uint64_t(p, planes, n, dst);
    }
}

void ald__indices_restore(const uint8_t *planes, size_t n, uint32_t bits, size_t at, size_t count,
                          uint16_t *dst, uint16_t *largest)
{
    uint16_t max = 0;
    const uint8_t *at_planes[PLANES_MAX];
    uint8_t top[ALD__INTS_BLOCK];
    find_planes(planes, n, bits, at, count, sizeof *dst, top, at_planes);
    join_planes(at_planes, count, sizeof *dst, dst);
    for (size_t i = 0; i < count; i++)
        max = dst[i] > max ? dst[i] : max;
    *largest = max;
}

void ald__ints_run_next(ald__ints_run *run, size_t count, uint64_t *dst)
{
    const ald__packed_ints *p = run->p;
    run->carry = restore_block_uint64_t(p, run->planes, run->n, run->at, count, dst, run->carry);
    for (size_t i = 0; run->ring != NULL && i < count; i++) {
        if (run->at + i >= p->stride)
            dst[i] += run->ring[run->ring_at];
        run->ring[run->ring_at] = dst[i];
        run->ring_at =
            run->ring_at + 1 < p->stride && run->ring_at + 1 < run->n ? run->ring_at + 1 : 0;
    }
    run->at += count;
}
