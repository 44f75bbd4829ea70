/* SPDX-License-Identifier: MIT */
/* Fixed width: numbers, dictionaries of values, planes of bytes, decimals. Values come out packed at the front of their
 * buffer and are then moved to their slots, from the back, where some slots have none. */
#include <string.h>

#include "core/base/cpu.h"
#include "core/base/endian.h"
#include "core/codec/packed/rebuild.h"

#define WIDE 16u /* two halves: the value, its sign */

/* Each slot from the back gets the next value, or zero: which, no branch could guess. */
#define SPREAD(T)                                                                                  \
    do {                                                                                           \
        T *v = (T *)(void *)r->values;                                                             \
        for (size_t i = end; i > begin; i--) {                                                     \
            T has = (T)ald__rebuild_is_valid(r, i - 1), value = v[k - (k > 0)];                    \
            v[i - 1] = (T)(value & (T)(0u - has));                                                 \
            k -= has;                                                                              \
        }                                                                                          \
    } while (0)

/* Slots [begin, end) of which some have no value; `k` values are left. Returns how many are left then. */
static size_t spread_some(const ald__rebuild *r, size_t width, size_t begin, size_t end, size_t k)
{
    if (width == 8) {
        SPREAD(uint64_t);
        return k;
    }
    if (width == 4) {
        SPREAD(uint32_t);
        return k;
    }
    for (size_t i = end; i > begin; i--) {
        uint8_t *to = r->values + (i - 1) * width;
        if (ald__rebuild_is_valid(r, i - 1))
            memmove(to, r->values + --k * width, width);
        else
            memset(to, 0, width);
    }
    return k;
}

void ald__rebuild_spread(const ald__rebuild *r, size_t width)
{
    size_t k = r->valid, end = r->n;
    if (r->valid == r->n)
        return;
    while (end > 0) {
        size_t begin = (end - 1) & ~(size_t)63;
        uint64_t word = 1;
        if (end - begin == 64)
            word = ald__load_le64(r->validity + begin / 8);
        if (word == UINT64_MAX) {
            k -= 64;
            memmove(r->values + begin * width, r->values + k * width, 64 * width);
        } else if (word == 0) {
            memset(r->values + begin * width, 0, 64 * width);
        } else {
            k = spread_some(r, width, begin, end, k);
        }
        end = begin;
    }
}

/* 8-byte values at the front become 16-byte ones in their slots. */
static void spread_wide(const ald__rebuild *r)
{
    size_t k = r->valid;
    for (size_t i = r->n; i > 0; i--) {
        uint64_t low = 0, high;
        if (ald__rebuild_is_valid(r, i - 1))
            memcpy(&low, r->values + --k * 8, 8);
        high = (uint64_t)0 - (low >> 63);
        memcpy(r->values + (i - 1) * WIDE, &low, 8);
        memcpy(r->values + (i - 1) * WIDE + 8, &high, 8);
    }
}

static void spread_values(const ald__rebuild *r)
{
    if (r->node->width == WIDE)
        spread_wide(r);
    else
        ald__rebuild_spread(r, r->node->width);
}

ald_status ald__rebuild_ints(ald__rebuild *r)
{
    ald_status st = ALD_OK;
    const uint8_t *planes = ald__rebuild_planes(r, r->valid, r->entry->ints.bits, &st);
    if (planes == NULL)
        return st;
    ald__ints_restore(&r->entry->ints, planes, r->valid, r->values);
    spread_values(r);
    return ALD_OK;
}

/* ---- Dictionaries */

#define GATHER(T)                                                                                  \
    do {                                                                                           \
        const T *from = dict;                                                                      \
        T *to = (T *)(void *)(r->values) + at;                                                     \
        for (size_t i = 0; i < count; i++)                                                         \
            to[i] = from[indices[i]];                                                              \
    } while (0)

static void gather_dict(const ald__rebuild *r, const void *dict, size_t width, size_t at,
                        const uint16_t *indices, size_t count)
{
    if (width == 2)
        GATHER(uint16_t);
    else if (width == 4)
        GATHER(uint32_t);
    else
        GATHER(uint64_t);
}

static ald_status look_up(ald__rebuild *r, const void *dict)
{
    const ald__packed_entry *e = r->entry;
    uint16_t indices[ALD__INTS_BLOCK], largest;
    ald_status st = ALD_OK;
    const uint8_t *planes = ald__rebuild_planes(r, r->valid, e->index_bits, &st);
    if (planes == NULL)
        return st;
    for (size_t at = 0; at < r->valid; at += ALD__INTS_BLOCK) {
        size_t count = r->valid - at < ALD__INTS_BLOCK ? r->valid - at : ALD__INTS_BLOCK;
        ald__indices_restore(planes, r->valid, e->index_bits, at, count, indices, &largest);
        if (largest >= e->count)
            return ald__packed_bad(r->at, "past the dictionary: an index", largest);
        gather_dict(r, dict, e->ints.width, at, indices, count);
    }
    return ALD_OK;
}

ald_status ald__rebuild_dict(ald__rebuild *r)
{
    ald_status st = ALD_OK;
    void *dict = ald__rebuild_numbers(r, r->entry->count, &r->entry->ints, &st);
    if (dict == NULL)
        return st;
    st = look_up(r, dict);
    ald__release(r->alloc, dict, (size_t)r->entry->count * r->entry->ints.width);
    if (st == ALD_OK)
        spread_values(r);
    return st;
}

/* ---- Planes of bytes */

ald_status ald__rebuild_planes_of_bytes(ald__rebuild *r)
{
    int text = r->node->type == ALD__PACKED_TEXT;
    size_t width = text ? r->entry->small : r->node->width;
    uint8_t *dst = text ? r->data : r->values;
    ald_status st = ALD_OK;
    const uint8_t *planes = ald__rebuild_bytes(r, r->valid * width, &st);
    if (planes == NULL)
        return st;
    if (r->valid > 0)
        ald__bytes_join(planes, r->valid, width, dst);
    if (!text)
        ald__rebuild_spread(r, width);
    return ALD_OK;
}

/* ---- Decimals: k / 10^e, one division, rounded once (and once more to a float), as F-414 says. */

static const double divisors[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

#define K_LIMIT (1ull << 51)

/* 1.5 × 2^52 and its bits: with k in the low bits it is that much more, exactly, and a vector can do it. */
#define ROUND 6755399441055744.0
#define ROUND_BITS 0x4338000000000000ull

/* *bad is not 0 when a k is not between −2^51 and 2^51: moved up by 2^51 − 1 such a one, or the number behind it, has a high bit. */
ALD__BODY void divide_doubles_body(uint8_t *values, size_t n, double power, uint64_t *bad)
{
    uint64_t high = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t k, moved;
        double d;
        memcpy(&k, values + i * 8, 8);
        moved = k + (K_LIMIT - 1);
        high |= moved | (moved + 1);
        moved = k + ROUND_BITS;
        memcpy(&d, &moved, 8);
        d = (d - ROUND) / power;
        memcpy(values + i * 8, &d, 8);
    }
    *bad = high & ~(2 * K_LIMIT - 1);
}

ALD__VARIANTS(static, divide_doubles, (uint8_t *values, size_t n, double power, uint64_t *bad),
              (values, n, power, bad))

ALD__BODY void divide_floats_body(uint8_t *values, size_t n, double power)
{
    for (size_t i = 0; i < n; i++) {
        int32_t k;
        float f;
        memcpy(&k, values + i * 4, 4);
        f = (float)((double)k / power);
        memcpy(values + i * 4, &f, 4);
    }
}

ALD__VARIANTS(static, divide_floats, (uint8_t *values, size_t n, double power), (values, n, power))

/* Exceptions take their places; positions rise. */
static ald_status place_exceptions(ald__rebuild *r, const uint32_t *positions, const uint8_t *raw)
{
    size_t w = r->node->width;
    for (size_t j = 0; j < r->entry->count; j++) {
        uint32_t p = positions[j];
        if (p >= r->valid || (j > 0 && p <= positions[j - 1]))
            return ald__packed_bad(r->at, "not behind the last, or past the values: a position", p);
        memcpy(r->values + p * w, raw + j * w, w);
    }
    return ALD_OK;
}

static ald_status divide_all(ald__rebuild *r)
{
    const ald__packed_entry *e = r->entry;
    double power = divisors[e->small];
    uint64_t bad = 0;
    ald_status st = ALD_OK;
    const uint8_t *planes = ald__rebuild_planes(r, r->valid, e->ints.bits, &st);
    if (planes == NULL)
        return st;
    ald__ints_restore(&e->ints, planes, r->valid, r->values);
    if (r->node->width == 4)
        divide_floats(r->values, r->valid, power);
    else
        divide_doubles(r->values, r->valid, power, &bad);
    if (bad != 0)
        return ald__packed_bad(r->at, "not below 2^51: a decimal's integer, of bits", 52);
    return ALD_OK;
}

ald_status ald__rebuild_decimal(ald__rebuild *r)
{
    const ald__packed_entry *e = r->entry;
    uint32_t *positions = NULL;
    uint8_t *raw = NULL;
    ald_status st = ALD_OK;
    if (e->count > 0) {
        positions = ald__rebuild_numbers(r, e->count, &e->extra, &st);
        raw = positions != NULL ? ald__rebuild_numbers(r, e->count, &e->raw, &st) : NULL;
    }
    if (st == ALD_OK)
        st = divide_all(r);
    if (st == ALD_OK && e->count > 0)
        st = place_exceptions(r, positions, raw);
    ald__release(r->alloc, positions, (size_t)e->count * e->extra.width);
    ald__release(r->alloc, raw, (size_t)e->count * e->raw.width);
    if (st == ALD_OK)
        ald__rebuild_spread(r, r->node->width);
    return st;
}
