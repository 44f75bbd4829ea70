/* SPDX-License-Identifier: MIT */
/* Numbers into planes: the parameters that make them small, then their bits. Both go over the values in blocks, sign-extended
 * to 64 bits; what wraps there wraps as the reader's narrower sums do. */
#include <string.h>

#include "core/base/endian.h"
#include "core/codec/packed/pack.h"
#include "core/codec/packed/packed_lanes.h"

#define BLOCK 256u

/* ---- Values as they are coded, before base and factor */

typedef struct number_source {
    const ald__numbers *v;
    uint32_t stride; /* 0: none */
    int delta;
    uint64_t before; /* the value before, for delta */
} number_source;

static int64_t narrow(uint64_t v, uint32_t width)
{
    uint32_t shift = 64 - 8 * width;
    return (int64_t)(v << shift) >> shift;
}

#define LOAD(T)                                                                                    \
    do {                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            T value;                                                                               \
            memcpy(&value, v->values + (at + i) * sizeof value, sizeof value);                     \
            out[i] = (uint64_t)(int64_t)value;                                                     \
        }                                                                                          \
    } while (0)

static void load_block(const ald__numbers *v, size_t at, size_t count, uint64_t *out)
{
    switch (v->width) {
    case 1:
        LOAD(int8_t);
        break;
    case 2:
        LOAD(int16_t);
        break;
    case 4:
        LOAD(int32_t);
        break;
    default:
        memcpy(out, v->values + at * 8, count * 8);
    }
}

/* Steps from one piece of a sample to the next are what a neighbour is. */
static void mend_borders(const ald__numbers *v, size_t at, size_t count, uint64_t *block)
{
    size_t i = (v->run - at % v->run) % v->run;
    for (; v->run > 1 && count > 1 && i < count; i += v->run) {
        if (at + i > 0)
            block[i] = i + 1 < count ? block[i + 1] : block[i - 1];
    }
}

static void subtract_before(number_source *s, size_t count, uint64_t *block)
{
    uint64_t last = block[count - 1];
    for (size_t i = count - 1; i > 0; i--)
        block[i] -= block[i - 1];
    block[0] -= s->before;
    s->before = last;
}

static void subtract_stride(const number_source *s, size_t at, size_t count, uint64_t *block)
{
    uint64_t past[BLOCK];
    size_t first = at < s->stride ? s->stride - at : 0; /* of the block's that has one before */
    if (first >= count)
        return;
    load_block(s->v, at + first - s->stride, count - first, past);
    for (size_t i = first; i < count; i++)
        block[i] -= past[i - first];
}

/* Numbers at … of the series, sign-extended. */
static size_t next_block(number_source *s, size_t at, uint64_t *block)
{
    size_t count = s->v->n - at < BLOCK ? s->v->n - at : BLOCK;
    load_block(s->v, at, count, block);
    if (s->delta) {
        subtract_before(s, count, block);
        if (s->v->run > 0)
            mend_borders(s->v, at, count, block);
    } else if (s->stride > 0) {
        subtract_stride(s, at, count, block);
    }
    if ((s->delta || s->stride > 0) && s->v->width < 8) {
        for (size_t i = 0; i < count; i++)
            block[i] = (uint64_t)narrow(block[i], s->v->width);
    }
    return count;
}

static uint64_t first_value(const ald__numbers *v)
{
    uint64_t first = 0;
    if (v->n > 0)
        load_block(v, 0, 1, &first);
    return first;
}

/* ---- Factors: a common divisor, and exact division by it through the inverse of its odd part modulo 2^64 */

typedef struct divisor {
    uint64_t factor, inverse, most; /* most: the largest quotient by the odd part */
    uint32_t shift;
} divisor;

static void divisor_set(divisor *d, uint64_t factor)
{
    uint64_t odd, x;
    d->factor = factor;
    d->shift = (uint32_t)__builtin_ctzll(factor);
    odd = factor >> d->shift;
    x = odd; /* right in 3 bits; each step doubles them */
    for (int i = 0; i < 5; i++)
        x *= 2 - odd * x;
    d->inverse = x;
    d->most = UINT64_MAX / odd;
}

static int divides(const divisor *d, uint64_t v)
{
    return (v & (((uint64_t)1 << d->shift) - 1)) == 0 && v * d->inverse <= d->most;
}

static uint64_t common(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void divisor_add(divisor *d, uint64_t v)
{
    if (v == 0 || d->factor == 1)
        return;
    if (d->factor == 0)
        divisor_set(d, v);
    else if (!divides(d, v))
        divisor_set(d, common(d->factor, v));
}

/* ---- Fitting */

typedef struct number_range {
    int64_t min, max;
    divisor d;
} number_range;

/* As it is, also where it does not fit a signed number. */
static uint64_t distance(int64_t a, int64_t b)
{
    return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

/* Of all numbers but a delta's first: that one is its start. `zigzag`: a factor of the numbers, else of their distances. */
static void scan_range(number_source *s, int zigzag, number_range *r)
{
    uint64_t block[BLOCK];
    int64_t first = 0;
    int seen = 0;
    memset(r, 0, sizeof *r);
    for (size_t at = 0; at < s->v->n;) {
        size_t count = next_block(s, at, block), i = at == 0 && s->delta ? 1 : 0;
        int64_t min = r->min, max = r->max;
        if (!seen && i < count) {
            first = min = max = (int64_t)block[i];
            seen = 1;
        }
        for (size_t k = i; k < count; k++) {
            min = (int64_t)block[k] < min ? (int64_t)block[k] : min;
            max = (int64_t)block[k] > max ? (int64_t)block[k] : max;
        }
        r->min = min;
        r->max = max;
        for (size_t k = i; k < count && r->d.factor != 1; k++)
            divisor_add(&r->d, distance((int64_t)block[k], zigzag ? 0 : first));
        at += count;
    }
    if (r->d.factor == 0)
        r->d.factor = 1;
}

static uint8_t bit_length(uint64_t v)
{
    return v == 0 ? 0 : (uint8_t)(64 - __builtin_clzll(v));
}

uint8_t ald__pack_bits(const ald__pack *pack, uint64_t largest)
{
    static const uint8_t up[8] = {0, 1, 2, 4, 4, 8, 8, 8};
    uint8_t bits = bit_length(largest);
    return pack->compression == ALD__PACKED_LZ4 ? bits : (uint8_t)(bits / 8 * 8 + up[bits % 8]);
}

static uint64_t zigzag_of(int64_t v)
{
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

/* The largest number that planes hold, with base and factor settled. */
static uint64_t settle_range(number_range *r, int zigzag, int wraps, uint64_t mask)
{
    uint64_t low, high;
    if (wraps) { /* a byte's differences: all of them come, whatever their sign */
        r->min = 0;
        r->d.factor = 1;
        return mask;
    }
    if (!zigzag)
        return ((uint64_t)r->max - (uint64_t)r->min) / r->d.factor;
    if (r->d.factor > INT64_MAX) /* 2^63: no signed number */
        r->d.factor = 1;
    low = zigzag_of(r->min / (int64_t)r->d.factor);
    high = zigzag_of(r->max / (int64_t)r->d.factor);
    r->min = 0;
    return low > high ? low : high;
}

void ald__ints_fit(const ald__pack *pack, const ald__numbers *v, ald__ints_mode mode,
                   uint32_t stride, ald__packed_ints *out)
{
    number_source s = {v, mode == ALD__MODE_STRIDE ? stride : 0,
                       mode == ALD__MODE_DELTA || mode == ALD__MODE_ZIGZAG, 0};
    int zigzag = mode == ALD__MODE_ZIGZAG || (mode == ALD__MODE_STRIDE && v->width > 1);
    uint64_t mask = UINT64_MAX >> (64 - 8 * v->width), largest;
    number_range r;
    scan_range(&s, zigzag, &r);
    largest = settle_range(&r, zigzag, s.stride > 0 && !zigzag, mask);
    memset(out, 0, sizeof *out);
    out->width = (uint8_t)v->width;
    out->stride = s.stride > 0 ? stride : 1;
    out->base = (uint64_t)r.min & mask;
    out->factor = r.d.factor;
    out->start = s.delta ? (first_value(v) - (uint64_t)r.min) & mask : 0;
    out->bits = ald__pack_bits(pack, largest & mask);
    out->flags =
        (uint8_t)((s.delta ? ALD__INTS_DELTA : 0) | (zigzag ? ALD__INTS_ZIGZAG : 0) |
                  (s.stride > 0 ? ALD__INTS_STRIDE : 0) | (out->base != 0 ? ALD__INTS_BASE : 0) |
                  (out->factor != 1 ? ALD__INTS_FACTOR : 0) |
                  (out->start != 0 ? ALD__INTS_START : 0));
}

/* ---- Bits */

/* x = (number − base) / factor, folded: the inverse of what a reader does. */
static void fold_block(const ald__packed_ints *p, const divisor *d, int first, size_t count,
                       uint64_t *block)
{
    uint64_t mask = UINT64_MAX >> (64 - 8 * p->width), base = (uint64_t)narrow(p->base, p->width);
    int zigzag = (p->flags & ALD__INTS_ZIGZAG) != 0;
    if (first && (p->flags & ALD__INTS_DELTA)) /* v₋₁ = start: counted from there, not from 0 */
        block[0] = (uint64_t)narrow(block[0] - p->start, p->width);
    if (base != 0) {
        for (size_t i = 0; i < count; i++)
            block[i] -= base;
    }
    if (!zigzag && p->width < 8) {
        for (size_t i = 0; i < count; i++)
            block[i] &= mask;
    }
    if (d->factor != 1 && zigzag) {
        for (size_t i = 0; i < count; i++)
            block[i] = (uint64_t)((int64_t)block[i] >> d->shift) * d->inverse;
    } else if (d->factor != 1) {
        for (size_t i = 0; i < count; i++)
            block[i] = (block[i] >> d->shift) * d->inverse;
    }
    if (zigzag) {
        for (size_t i = 0; i < count; i++)
            block[i] = zigzag_of(narrow(block[i], p->width)) & mask;
    }
}

/* The low k bits of eight bytes, side by side. */
static uint32_t gather(uint64_t x, uint32_t k)
{
    if (k == 4) {
        x = (x | x >> 4) & 0x00FF00FF00FF00FFull;
        x = (x | x >> 8) & 0x0000FFFF0000FFFFull;
        return (uint32_t)(x | x >> 16);
    }
    if (k == 2) {
        x = (x | x >> 6) & 0x000F000F000F000Full;
        x = (x | x >> 12) & 0x000000FF000000FFull;
        return (uint32_t)(x | x >> 24) & 0xFFFFu;
    }
    x = (x | x >> 7) & 0x0003000300030003ull;
    x = (x | x >> 14) & 0x0000000F0000000Full;
    return (uint32_t)(x | x >> 28) & 0xFFu;
}

/* k bits of each byte into a sub-plane; behind the bytes there are zeros up to a multiple of 8. */
static void put_sub_plane(const uint8_t *bytes, size_t count, uint32_t k, uint32_t shift,
                          uint8_t *dst)
{
    uint64_t mask = 0x0101010101010101ull * ((1u << k) - 1);
    for (size_t i = 0; i < count; i += 8, dst += k) {
        size_t size = count - i < 8 ? ((count - i) * k + 7) / 8 : k;
        uint8_t packed[4];
        ald__store_le32(packed, gather(ald__load_le64(bytes + i) >> shift & mask, k));
        memcpy(dst, packed, size);
    }
}

/* Sixteen numbers of w = 8 or 4 bytes into as many planes of sixteen bytes; inlined with a constant w. Interleaving the
 * halves moves the top bit of a byte's place to the bottom; four times, and the number's place is where the byte's was. */
static inline void split_lanes(const uint8_t *src, uint32_t w, ald__lanes planes[8])
{
    ald__lanes moved[8];
    memcpy(planes, src, (size_t)w * sizeof(ald__lanes));
    for (int stage = 0; stage < 4; stage++) {
        for (uint32_t i = 0; i < w / 2; i++) {
            moved[2 * i] = ALD__ZIP_8(planes[i], planes[i + w / 2], 0);
            moved[2 * i + 1] = ALD__ZIP_8(planes[i], planes[i + w / 2], 8);
        }
        memcpy(planes, moved, (size_t)w * sizeof(ald__lanes));
    }
}

/* Bytes 0 … used − 1 of each number to out[0 …]; all of a block are written, whatever `count`. */
static void split_bytes(const uint64_t *block, uint32_t used, size_t count, uint8_t *const *out)
{
    uint32_t narrow[BLOCK];
    ald__lanes planes[8];
    if (used == 1) {
        for (size_t i = 0; i < count; i++)
            out[0][i] = (uint8_t)block[i];
        return;
    }
    for (size_t i = 0; used <= 4 && i < count; i++)
        narrow[i] = (uint32_t)block[i];
    for (size_t i = 0; i < count; i += sizeof(ald__lanes)) {
        size_t size = count - i < sizeof(ald__lanes) ? count - i : sizeof(ald__lanes);
        if (used <= 4)
            split_lanes((const uint8_t *)(narrow + i), 4, planes);
        else
            split_lanes((const uint8_t *)(block + i), 8, planes);
        for (uint32_t j = 0; j < used; j++)
            memcpy(out[j] + i, &planes[j], size);
    }
}

void ald__bytes_split(const uint8_t *values, size_t n, size_t width, uint8_t *planes)
{
    for (size_t at = 0; at < n; at += sizeof(ald__lanes)) {
        size_t count = n - at < sizeof(ald__lanes) ? n - at : sizeof(ald__lanes);
        for (size_t j = 0; j < width; j += 8) {
            size_t used = width - j < 8 ? width - j : 8;
            uint8_t some[8 * sizeof(ald__lanes)] = {0};
            ald__lanes split[8];
            for (size_t i = 0; i < count; i++) {
                if (used == 8)
                    memcpy(some + i * 8, values + (at + i) * width + j, 8);
                else
                    memcpy(some + i * 8, values + (at + i) * width + j, used);
            }
            split_lanes(some, 8, split);
            for (size_t k = 0; k < used; k++)
                memcpy(planes + (j + k) * n + at, &split[k], count);
        }
    }
}

/* All planes of the block's numbers, from number `at` of n. */
static void split_block(const uint64_t *block, size_t count, size_t n, size_t at, uint32_t bits,
                        uint8_t *planes)
{
    uint8_t top[BLOCK] = {0}, *out[8];
    uint32_t used = 0, shift = 0;
    for (; used < bits / 8; used++, planes += n)
        out[used] = planes + at;
    if (bits % 8 != 0)
        out[used++] = top;
    split_bytes(block, used, count, out);
    for (uint32_t k = 4; k > 0; k /= 2) {
        if (!(bits & k))
            continue;
        put_sub_plane(top, count, k, shift, planes + at / 8 * k);
        planes += (n * k + 7) / 8;
        shift += k;
    }
}

/* Ends of n numbers' planes, as streams. */
static ald_status end_planes(ald__pack *pack, size_t n, uint32_t bits, ald__streams *out)
{
    for (uint32_t j = 0; j < bits / 8; j++)
        ALD_TRY(ald__streams_end(out, n, 0, pack->err));
    for (uint32_t k = 4; k > 0; k /= 2) {
        if (bits & k)
            ALD_TRY(ald__streams_end(out, (n * k + 7) / 8, 0, pack->err));
    }
    return ALD_OK;
}

ald_status ald__ints_put(ald__pack *pack, const ald__numbers *v, const ald__packed_ints *p,
                         ald__streams *out)
{
    number_source s = {v, p->flags & ALD__INTS_STRIDE ? p->stride : 0,
                       (p->flags & ALD__INTS_DELTA) != 0, 0};
    uint8_t *planes = ald__streams_room(out, (size_t)ald__planes_bytes(v->n, p->bits), pack->err);
    uint64_t block[BLOCK] = {0};
    divisor d;
    if (planes == NULL)
        return ALD_E_NOMEM;
    divisor_set(&d, p->factor);
    for (size_t at = 0; p->bits > 0 && at < v->n;) {
        size_t count = next_block(&s, at, block);
        fold_block(p, &d, at == 0, count, block);
        split_block(block, count, v->n, at, p->bits, planes);
        at += count;
    }
    return end_planes(pack, v->n, p->bits, out);
}

ald_status ald__indices_put(ald__pack *pack, const uint16_t *indices, size_t n, uint32_t bits,
                            ald__streams *out)
{
    uint8_t *planes = ald__streams_room(out, (size_t)ald__planes_bytes(n, bits), pack->err);
    uint64_t block[BLOCK] = {0};
    if (planes == NULL)
        return ALD_E_NOMEM;
    for (size_t at = 0; bits > 0 && at < n; at += BLOCK) {
        size_t count = n - at < BLOCK ? n - at : BLOCK;
        for (size_t i = 0; i < count; i++)
            block[i] = indices[at + i];
        split_block(block, count, n, at, bits, planes);
    }
    return end_planes(pack, n, bits, out);
}
