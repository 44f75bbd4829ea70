/* SPDX-License-Identifier: MIT */
/* Eight digits at a time. For little-endian hosts; 16 bytes behind p must be readable. */
#ifndef INTERCHANGE_CSV_SWAR_H
#define INTERCHANGE_CSV_SWAR_H

#include <stdint.h>
#include <string.h>

static inline uint64_t ald__csv_load8(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* The top bit of each byte that is no digit. */
static inline uint64_t ald__csv_nondigits(uint64_t v)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Full;
    uint64_t t = v ^ 0x3030303030303030ull;
    return (((t & low7) + 0x7676767676767676ull) | t) & ~low7;
}

/* The bytes below `count` (at most 8). */
static inline uint64_t ald__csv_low_bytes(uint32_t count)
{
    return count >= 8 ? ~0ull : (1ull << (8 * count)) - 1;
}

/* The value of the first `count` (0 to 8) of eight characters, which are digits. */
static inline uint32_t ald__csv_digits8(uint64_t v, uint32_t count)
{
    if (count == 0)
        return 0;
    v = (v << (64 - 8 * count)) & 0x0F0F0F0F0F0F0F0Full; /* zeros in front */
    v = (v * 10 + (v >> 8)) & 0x00FF00FF00FF00FFull;
    v = (v * 100 + (v >> 16)) & 0x0000FFFF0000FFFFull;
    return (uint32_t)(v * 10000 + (v >> 32));
}

/* The value of `count` (0 to 16) digits at p. */
static inline uint64_t ald__csv_digits16(const uint8_t *p, uint32_t count)
{
    static const uint32_t powers[9] = {1,      10,      100,      1000,     10000,
                                       100000, 1000000, 10000000, 100000000};
    if (count <= 8)
        return ald__csv_digits8(ald__csv_load8(p), count);
    return (uint64_t)ald__csv_digits8(ald__csv_load8(p), 8) * powers[count - 8] +
           ald__csv_digits8(ald__csv_load8(p + 8), count - 8);
}

/* What up to 16 bytes at p are: digits alone (point = size), or digits and one point. */
typedef struct ald__csv_shape {
    uint8_t plain; /* 0: something else */
    uint8_t point; /* its place */
} ald__csv_shape;

static inline ald__csv_shape ald__csv_shape16(const uint8_t *p, uint32_t size)
{
    ald__csv_shape s = {1, (uint8_t)size};
    uint64_t a = ald__csv_nondigits(ald__csv_load8(p)) & ald__csv_low_bytes(size);
    uint64_t b = 0;
    if (size > 8)
        b = ald__csv_nondigits(ald__csv_load8(p + 8)) & ald__csv_low_bytes(size - 8);
    if ((a | b) == 0)
        return s;
    s.point = (uint8_t)(a != 0 ? __builtin_ctzll(a) >> 3 : 8 + (__builtin_ctzll(b) >> 3));
    s.plain = p[s.point] == '.' && (a != 0 ? ((a & (a - 1)) | b) == 0 : (b & (b - 1)) == 0);
    return s;
}

#endif
