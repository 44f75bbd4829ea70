/* SPDX-License-Identifier: MIT */
/* Eight digits at a time. For little-endian hosts; 32 bytes from p on must be readable. */
#ifndef INTERCHANGE_TEXT_SWAR_H
#define INTERCHANGE_TEXT_SWAR_H

#include <stdint.h>
#include <string.h>

static inline uint64_t ald__swar_load8(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The top bit of each byte that is no digit. */
static inline uint64_t ald__swar_nondigits(uint64_t v)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Full;
    uint64_t t = v ^ 0x3030303030303030ull;
    return (((t & low7) + 0x7676767676767676ull) | t) & ~low7;
}

/* The bytes below `count` (at most 8). */
static inline uint64_t ald__swar_low_bytes(uint32_t count)
{
    return count >= 8 ? ~0ull : (1ull << (8 * count)) - 1;
}

/* The value of the first `count` (0 to 8) of eight characters, which are digits. */
static inline uint32_t ald__swar_digits8(uint64_t v, uint32_t count)
{
    if (count == 0)
        return 0;
    v = (v << (64 - 8 * count)) & 0x0F0F0F0F0F0F0F0Full; /* zeros in front */
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FFull;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFFull;
    return (uint32_t)(v * 10000 + (v >> 32));
}

/* The same for 0 to 7 of them, without a branch. */
static inline uint32_t ald__swar_digits7(uint64_t v, uint32_t count)
{
    v = ((v << 8) << (56 - 8 * count)) & 0x0F0F0F0F0F0F0F0Full;
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FFull;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFFull;
    return (uint32_t)(v * 10000 + (v >> 32));
}

/* The value of `count` (0 to 16) digits at p. */
static inline uint64_t ald__swar_digits16(const uint8_t *p, uint32_t count)
{
    static const uint32_t powers[9] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
    if (count <= 8)
        return ald__swar_digits8(ald__swar_load8(p), count);
    return (uint64_t)ald__swar_digits8(ald__swar_load8(p), 8) * powers[count - 8] +
           ald__swar_digits8(ald__swar_load8(p + 8), count - 8);
}

/* What up to 16 bytes at p are: digits alone (point = size), or digits and one point. */
typedef struct ald__swar_shape {
    uint8_t plain; /* 0: something else */
    uint8_t point; /* its place */
} ald__swar_shape;

static inline ald__swar_shape ald__swar_shape16(const uint8_t *p, uint32_t size)
{
    ald__swar_shape s = {1, (uint8_t)size};
    uint64_t a = ald__swar_nondigits(ald__swar_load8(p)) & ald__swar_low_bytes(size);
    uint64_t b = 0;
    if (size > 8)
        b = ald__swar_nondigits(ald__swar_load8(p + 8)) & ald__swar_low_bytes(size - 8);
    if ((a | b) == 0)
        return s;
    s.point = (uint8_t)(a != 0 ? __builtin_ctzll(a) >> 3 : 8 + (__builtin_ctzll(b) >> 3));
    s.plain = p[s.point] == '.' && (a != 0 ? ((a & (a - 1)) | b) == 0 : (b & (b - 1)) == 0);
    return s;
}

static const uint64_t ald__swar_powers[20] = {1ull,
                                              10ull,
                                              100ull,
                                              1000ull,
                                              10000ull,
                                              100000ull,
                                              1000000ull,
                                              10000000ull,
                                              100000000ull,
                                              1000000000ull,
                                              10000000000ull,
                                              100000000000ull,
                                              1000000000000ull,
                                              10000000000000ull,
                                              100000000000000ull,
                                              1000000000000000ull,
                                              10000000000000000ull,
                                              100000000000000000ull,
                                              1000000000000000000ull,
                                              10000000000000000000ull};

#define ALD__SWAR_NONE 255u

/* The value of 1 to 16 bytes at p, and where their point stands (size: they are digits alone). ALD__SWAR_NONE: something
 * else. */
static inline uint32_t ald__swar_decimal16(const uint8_t *p, uint32_t size, uint64_t *mantissa)
{
    ald__swar_shape shape = ald__swar_shape16(p, size);
    uint32_t point = shape.point, decimals;
    if (!shape.plain)
        return ALD__SWAR_NONE;
    *mantissa = ald__swar_digits16(p, point);
    if (point < size) {
        decimals = size - 1 - point;
        *mantissa =
            *mantissa * ald__swar_powers[decimals] + ald__swar_digits16(p + point + 1, decimals);
    }
    return point;
}

/* Digits with one point, 17 to 24 bytes in all. 0: something else; else the point's place + 1. 24 bytes behind p must be
 * readable. */
static inline uint32_t ald__swar_point24(const uint8_t *p, uint32_t size)
{
    uint64_t a = ald__swar_nondigits(ald__swar_load8(p));
    uint64_t b = ald__swar_nondigits(ald__swar_load8(p + 8));
    uint64_t c = ald__swar_nondigits(ald__swar_load8(p + 16)) & ald__swar_low_bytes(size - 16);
    uint64_t any = a != 0 ? a : b != 0 ? b : c;
    uint32_t place;
    if (any == 0 || (any & (any - 1)) != 0 || (a != 0) + (b != 0) + (c != 0) != 1)
        return 0;
    place = ((uint32_t)__builtin_ctzll(any) >> 3) + (a != 0 ? 0 : b != 0 ? 8 : 16);
    return p[place] == '.' ? place + 1 : 0;
}

/* A decimal number of 17 to 24 bytes without sign, as digits and how many of them are decimals. */
typedef struct ald__swar_decimal {
    uint64_t mantissa;
    uint32_t decimals, whole; /* digits of each part; whole is 0 for "0." and "." */
} ald__swar_decimal;

/* 0: not of that form, or more than 19 significant digits. */
static inline int ald__swar_decimal24(const uint8_t *p, uint32_t size, ald__swar_decimal *out)
{
    uint32_t point = size - 17 <= 7 ? ald__swar_point24(p, size) : 0, decimals;
    const uint8_t *frac;
    if (point == 0)
        return 0;
    decimals = size - point;
    frac = p + point--;
    if (*p == '0') {
        if (point > 1)
            return 0;
        point = 0;
    }
    if (point > 16 || (point > 0 && point + decimals > 19))
        return 0;
    if (decimals <= 16) {
        out->mantissa = ald__swar_digits16(frac, decimals);
    } else {
        out->mantissa = ald__swar_digits16(frac, 16);
        /* Zeros behind the point make room for more decimals. */
        if (decimals > 19 && out->mantissa >= ald__swar_powers[35 - decimals])
            return 0;
        out->mantissa = out->mantissa * ald__swar_powers[decimals - 16] +
                        ald__swar_digits16(frac + 16, decimals - 16);
    }
    if (point > 0)
        out->mantissa += ald__swar_digits16(p, point) * ald__swar_powers[decimals];
    out->decimals = decimals;
    out->whole = point;
    return 1;
}

#endif
