/* SPDX-License-Identifier: MIT */
/* Numbers from planes. A block of 512 is put together plane by plane, in place and in the first-level cache, then unfolded:
 * zigzag, factor and base, sums. The bits above the last whole byte come first as a plane of their own, so that all planes
 * are bytes. Everything is modulo 2^(8 w): the types are unsigned and as wide as the values. */
#include "core/codec/packed/packed_ints.h"

#include <string.h>

#include "core/base/endian.h"

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

/* Eight values of k bits, as bytes. */
static uint64_t spread(uint32_t packed, uint32_t k)
{
    uint64_t x = packed;
    if (k == 4) {
        x = (x | x << 16) & 0x0000FFFF0000FFFFull;
        x = (x | x << 8) & 0x00FF00FF00FF00FFull;
        return (x | x << 4) & 0x0F0F0F0F0F0F0F0Full;
    }
    if (k == 2) {
        x = (x | x << 24) & 0x000000FF000000FFull;
        x = (x | x << 12) & 0x000F000F000F000Full;
        return (x | x << 6) & 0x0303030303030303ull;
    }
    x = (x * 0x0101010101010101ull) & 0x8040201008040201ull;
    return ((x + 0x7F7F7F7F7F7F7F7Full) >> 7) & 0x0101010101010101ull;
}

/* Sub-planes go eight values at a time. */
static inline void add_eight(uint32_t packed, uint32_t k, uint32_t shift, uint8_t *top)
{
    uint64_t x;
    memcpy(&x, top, 8); /* byte i is value i: what a little-endian word says on any machine */
    x = ald__load_le64(&x) | spread(packed, k) << shift;
    ald__store_le64(top, x);
}

/* Inlined with a constant k. */
static inline void add_sub_plane_of(const uint8_t *src, uint32_t k, uint32_t shift, size_t count,
                                    uint8_t *top)
{
    size_t size = (count * k + 7) / 8, i = 0;
    uint8_t last[4] = {0};
    for (; i + 4 <= size; i += k, top += 8)
        add_eight(ald__load_le32(src + i) & (uint32_t)(((uint64_t)1 << (8 * k)) - 1), k, shift,
                  top);
    for (; i < size; i += k, top += 8) {
        memset(last, 0, sizeof last);
        memcpy(last, src + i, size - i < k ? size - i : k);
        add_eight(ald__load_le32(last), k, shift, top);
    }
}

/* One sub-plane of k bits, shifted to its place, into bytes; `top` has room for a multiple of 8. */
static void add_sub_plane(const uint8_t *src, uint32_t k, uint32_t shift, size_t count,
                          uint8_t *top)
{
    if (k == 4)
        add_sub_plane_of(src, 4, shift, count, top);
    else if (k == 2)
        add_sub_plane_of(src, 2, shift, count, top);
    else
        add_sub_plane_of(src, 1, shift, count, top);
}

/* Where the planes of numbers at … at + count are; how many. `at` is a multiple of 8. */
static uint32_t find_planes(const uint8_t *planes, size_t n, uint32_t bits, size_t at, size_t count,
                            uint8_t top[ALD__INTS_BLOCK], const uint8_t *out[PLANES_MAX])
{
    uint32_t j = 0, shift = 0;
    for (; j < bits / 8; j++, planes += n)
        out[j] = planes + at;
    if (bits % 8 == 0)
        return j;
    memset(top, 0, ALD__INTS_BLOCK);
    for (uint32_t k = 4; k > 0; k /= 2) {
        if (!(bits & k))
            continue;
        add_sub_plane(planes + at / 8 * k, k, shift, count, top);
        planes += (n * k + 7) / 8;
        shift += k;
    }
    out[j] = top;
    return j + 1;
}

/* ---- Joining planes: sixteen values at a time, by interleaving bytes, pairs and fours. Vector types of the compiler: where a
 * machine has no vectors the same code is lowered to what it has. */

typedef uint8_t lanes __attribute__((vector_size(16)));

#define ZIP_8(a, b, at)                                                                            \
    __builtin_shufflevector(a, b, (at), (at) + 16, (at) + 1, (at) + 17, (at) + 2, (at) + 18,       \
                            (at) + 3, (at) + 19, (at) + 4, (at) + 20, (at) + 5, (at) + 21,         \
                            (at) + 6, (at) + 22, (at) + 7, (at) + 23)
#define ZIP_16(a, b, at)                                                                           \
    __builtin_shufflevector(a, b, (at), (at) + 1, (at) + 16, (at) + 17, (at) + 2, (at) + 3,        \
                            (at) + 18, (at) + 19, (at) + 4, (at) + 5, (at) + 20, (at) + 21,        \
                            (at) + 6, (at) + 7, (at) + 22, (at) + 23)
#define ZIP_32(a, b, at)                                                                           \
    __builtin_shufflevector(a, b, (at), (at) + 1, (at) + 2, (at) + 3, (at) + 16, (at) + 17,        \
                            (at) + 18, (at) + 19, (at) + 4, (at) + 5, (at) + 6, (at) + 7,          \
                            (at) + 20, (at) + 21, (at) + 22, (at) + 23)

/* Sixteen values of w = 2, 4 or 8 bytes from their bytes; inlined with a constant w. Stage by stage v[2 i] and v[2 i + 1]
 * become the lower and the upper half of pairs of what was. */
static inline void join_lanes(const lanes *planes, uint32_t w, uint8_t *dst)
{
    lanes pairs[8], fours[8], eights[8];
    for (uint32_t i = 0; i < w / 2; i++) {
        pairs[2 * i] = ZIP_8(planes[2 * i], planes[2 * i + 1], 0);
        pairs[2 * i + 1] = ZIP_8(planes[2 * i], planes[2 * i + 1], 8);
    }
    if (w == 2) {
        memcpy(dst, pairs, 32);
        return;
    }
    for (uint32_t i = 0; i < w / 4; i++) {
        for (uint32_t h = 0; h < 2; h++) {
            fours[4 * i + 2 * h] = ZIP_16(pairs[4 * i + h], pairs[4 * i + 2 + h], 0);
            fours[4 * i + 2 * h + 1] = ZIP_16(pairs[4 * i + h], pairs[4 * i + 2 + h], 8);
        }
    }
    if (w == 4) {
        memcpy(dst, fours, 64);
        return;
    }
    for (uint32_t q = 0; q < 4; q++) {
        eights[2 * q] = ZIP_32(fours[q], fours[4 + q], 0);
        eights[2 * q + 1] = ZIP_32(fours[q], fours[4 + q], 8);
    }
    memcpy(dst, eights, 128);
}

/* Inlined with a constant w; `count` ≤ w planes, at least 1. */
static inline void join_width(const uint8_t *const *planes, uint32_t count, size_t n, uint32_t w,
                              uint8_t *dst)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        lanes v[8] = {{0}};
        for (uint32_t j = 0; j < count; j++)
            memcpy(&v[j], planes[j] + i, 16);
        join_lanes(v, w, dst + i * w);
    }
    for (; i < n; i++) {
        memset(dst + i * w, 0, w);
        for (uint32_t j = 0; j < count; j++)
            dst[i * w + j] = planes[j][i];
    }
}

static void join_planes(const uint8_t *const *planes, uint32_t count, size_t n, uint32_t w,
                        void *dst)
{
    if (count == 0)
        memset(dst, 0, n * w);
    else if (w == 1)
        memcpy(dst, planes[0], n);
    else if (w == 2)
        join_width(planes, count, n, 2, dst);
    else if (w == 4)
        join_width(planes, count, n, 4, dst);
    else
        join_width(planes, count, n, 8, dst);
}

/* What one width needs. */
#define DEFINE_WIDTH(T)                                                                            \
    static T unfold_##T(const ald__packed_ints *p, size_t n, T *dst, T carry)                      \
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
        if (p->flags & ALD__INTS_DELTA) {                                                          \
            for (size_t i = 0; i < n; i++)                                                         \
                dst[i] = carry = (T)(carry + dst[i]);                                              \
        }                                                                                          \
        return carry;                                                                              \
    }                                                                                              \
    static void restore_##T(const ald__packed_ints *p, const uint8_t *src, size_t n, T *dst)       \
    {                                                                                              \
        const uint8_t *planes[PLANES_MAX];                                                         \
        uint8_t top[ALD__INTS_BLOCK];                                                              \
        T carry = (T)p->start;                                                                     \
        for (size_t at = 0; at < n; at += ALD__INTS_BLOCK) {                                       \
            size_t count = n - at < ALD__INTS_BLOCK ? n - at : ALD__INTS_BLOCK;                    \
            uint32_t j = find_planes(src, n, p->bits, at, count, top, planes);                     \
            join_planes(planes, j, count, sizeof *dst, dst + at);                                  \
            carry = unfold_##T(p, count, dst + at, carry);                                         \
        }                                                                                          \
        if (p->flags & ALD__INTS_STRIDE) {                                                         \
            for (size_t i = p->stride; i < n; i++)                                                 \
                dst[i] = (T)(dst[i] + dst[i - p->stride]);                                         \
        }                                                                                          \
    }

DEFINE_WIDTH(uint8_t)
DEFINE_WIDTH(uint16_t)
DEFINE_WIDTH(uint32_t)
DEFINE_WIDTH(uint64_t)

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
                          uint16_t *dst)
{
    const uint8_t *at_planes[PLANES_MAX];
    uint8_t top[ALD__INTS_BLOCK];
    uint32_t j = find_planes(planes, n, bits, at, count, top, at_planes);
    join_planes(at_planes, j, count, sizeof *dst, dst);
}

void ald__ints_run_next(ald__ints_run *run, size_t count, uint64_t *dst)
{
    const ald__packed_ints *p = run->p;
    const uint8_t *planes[PLANES_MAX];
    uint8_t top[ALD__INTS_BLOCK];
    uint32_t j = find_planes(run->planes, run->n, p->bits, run->at, count, top, planes);
    join_planes(planes, j, count, sizeof *dst, dst);
    run->carry = unfold_uint64_t(p, count, dst, run->carry);
    for (size_t i = 0; run->ring != NULL && i < count; i++) {
        if (run->at + i >= p->stride)
            dst[i] += run->ring[run->ring_at];
        run->ring[run->ring_at] = dst[i];
        run->ring_at =
            run->ring_at + 1 < p->stride && run->ring_at + 1 < run->n ? run->ring_at + 1 : 0;
    }
    run->at += count;
}
