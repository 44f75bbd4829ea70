/* SPDX-License-Identifier: MIT */
/* Short ways of one value into a column that has room for it. What they do not take goes the long way.
 *
 * Numbers come as text whose grammar yyjson has checked; 32 bytes from their first on are readable where they are looked
 * at, and 16 behind any string. */
#ifndef INTERCHANGE_JSONL_JSON_STORE_H
#define INTERCHANGE_JSONL_JSON_STORE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <yyjson.h>

#include "interchange/text/column.h"
#include "interchange/text/quick.h"

static inline int ald__store_has_room(const ald__column *c)
{
    return (size_t)c->length < c->row_capacity;
}

/* Ends a row whose value is in place. */
static inline void ald__store_done(ald__column *c)
{
    if (c->valid) {
        size_t i = (size_t)c->length;
        if (i % 8 == 0)
            c->valid[i / 8] = 0;
        c->valid[i / 8] |= (uint8_t)(1u << (i % 8));
    }
    c->length++;
}

/* An int64 or a double. */
static inline void ald__store_eight(ald__column *c, const void *value)
{
    memcpy(c->values + (size_t)c->length * 8, value, 8);
    ald__store_done(c);
}

/* A string into a column of 32-bit offsets: 1 if there was room for its bytes. Most are short: two moves that may overlap
 * are less than a call. */
static inline int ald__store_string(ald__column *c, const yyjson_val *value)
{
    const char *text = unsafe_yyjson_get_str(value);
    size_t size = unsafe_yyjson_get_len(value), end = c->bytes_size + size;
    uint8_t *to = c->bytes + c->bytes_size;
    int32_t offset = (int32_t)end;
    if (size + 16 > c->bytes_capacity - c->bytes_size || end > INT32_MAX)
        return 0;
    if (size <= 16) {
        memcpy(to, text, 16);
    } else if (size <= 32) {
        memcpy(to, text, 16);
        memcpy(to + size - 16, text + size - 16, 16);
    } else {
        memcpy(to, text, size);
    }
    c->bytes_size = end;
    memcpy(c->values + ((size_t)c->length + 1) * 4, &offset, 4);
    ald__store_done(c);
    return 1;
}

/* An integer of up to 15 digits. 0: something else (also minus zero). */
static inline int ald__store_read_int(const yyjson_val *value, int64_t *out, uint32_t *digits)
{
    const uint8_t *p = (const uint8_t *)unsafe_yyjson_get_raw(value);
    uint32_t negative = *p == '-';
    size_t n = unsafe_yyjson_get_len(value) - negative;
    int64_t number;
    p += negative;
    if (n - 1 < 8) {
        uint64_t v = ald__swar_load8(p);
        if (ald__swar_nondigits(v) & ald__swar_low_bytes((uint32_t)n))
            return 0;
        number = (int64_t)ald__swar_digits8(v, (uint32_t)n);
    } else {
        ald__swar_shape shape;
        if (n - 1 >= 15)
            return 0;
        shape = ald__swar_shape16(p, (uint32_t)n);
        if (!shape.plain || shape.point != n)
            return 0;
        number = (int64_t)ald__swar_digits16(p, (uint32_t)n);
    }
    if (negative && number == 0)
        return 0;
    *digits = *p == '0' ? 0 : (uint32_t)n;
    *out = negative ? -number : number;
    return 1;
}

/* A number of at most 8 bytes without its sign, which has no exponent: its digits without the point are read at once. */
static inline int ald__store_read_short(const uint8_t *p, uint32_t n, uint32_t negative,
                                        ald__quick *out)
{
    uint64_t v = ald__swar_load8(p), low;
    uint64_t others = ald__swar_nondigits(v) & ald__swar_low_bytes(n);
    uint32_t m, point = n;
    if (others) {
        point = (uint32_t)__builtin_ctzll(others) >> 3;
        if ((others & (others - 1)) || p[point] != '.')
            return 0;
        low = ald__swar_low_bytes(point);
        v = (v & low) | ((v >> 8) & ~low);
        n--;
    }
    m = ald__swar_digits8(v, n);
    if (negative && m == 0)
        return 0;
    out->is_int = !others;
    out->decimals = n - point;
    out->whole = *p == '0' ? 0 : point;
    out->has_exponent = 0;
    out->is_faithful = 1;
    out->value = ald__quick_signed((double)m / ald__quick_powers[n - point], negative);
    return 1;
}

/* A number as a double. 0: look closer (also minus zero). */
static inline int ald__store_read_double(const yyjson_val *value, ald__quick *out)
{
    const uint8_t *p = (const uint8_t *)unsafe_yyjson_get_raw(value);
    size_t size = unsafe_yyjson_get_len(value);
    uint32_t negative = *p == '-';
    if (size - negative - 1 < 8 &&
        ald__store_read_short(p + negative, (uint32_t)size - negative, negative, out))
        return 1;
    return size <= 32 && ald__quick_number(p, (uint32_t)size, out);
}

#endif
