/* SPDX-License-Identifier: MIT */
/* Strings in JSON, base64 and hex; and the search for bytes that need care, 16 at a time.
 *
 * The search uses the compilers' generic vectors: SSE2, NEON, WASM SIMD128, or plain words where there is none. */
#ifndef INTERCHANGE_FORMAT_STRING_TEXT_H
#define INTERCHANGE_FORMAT_STRING_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interchange/format/pen.h"

typedef uint8_t ald__v16 __attribute__((vector_size(16)));

static inline ald__v16 ald__v16_splat(uint8_t c)
{
    ald__v16 v;
    memset(&v, c, 16);
    return v;
}

static inline ald__v16 ald__v16_load(const uint8_t *p)
{
    ald__v16 v;
    memcpy(&v, p, 16);
    return v;
}

static inline int ald__v16_any(ald__v16 v)
{
    uint64_t half[2];
    memcpy(half, &v, 16);
    return (half[0] | half[1]) != 0;
}

/* All of 1 to 16 bytes, some twice: nothing beyond them is read. */
static inline ald__v16 ald__v16_load_short(const uint8_t *p, size_t n)
{
    uint64_t half[2];
    uint32_t low, high;
    ald__v16 v;
    if (n >= 8) {
        memcpy(half, p, 8);
        memcpy(half + 1, p + n - 8, 8);
    } else if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        half[0] = half[1] = low | (uint64_t)high << 32;
    } else {
        low = p[0] | (uint32_t)p[n / 2] << 8 | (uint32_t)p[n - 1] << 16 | (uint32_t)p[0] << 24;
        half[0] = half[1] = low | (uint64_t)low << 32;
    }
    memcpy(&v, half, 16);
    return v;
}

/* memcpy for sizes that are mostly small and never known to the compiler. */
static inline void ald__copy(uint8_t *to, const uint8_t *from, size_t n)
{
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t a, b;
        memcpy(&a, from, 8);
        memcpy(&b, from + n - 8, 8);
        memcpy(to, &a, 8);
        memcpy(to + n - 8, &b, 8);
    } else if (n >= 4) {
        uint32_t a, b;
        memcpy(&a, from, 4);
        memcpy(&b, from + n - 4, 4);
        memcpy(to, &a, 4);
        memcpy(to + n - 4, &b, 4);
    } else if (n > 0) {
        uint8_t a = from[0], b = from[n / 2], c = from[n - 1];
        to[0] = a;
        to[n / 2] = b;
        to[n - 1] = c;
    }
}

/* A JSON string with its quotes: `"`, `\` and control characters escaped, all else as it is. */
ALD_NODISCARD ald_status ald__put_json_string(ald__pen *pen, const uint8_t *s, size_t n);

/* RFC 4648 base64 with padding; hex in lower case. */
ALD_NODISCARD ald_status ald__put_base64(ald__pen *pen, const uint8_t *data, size_t n);
ALD_NODISCARD ald_status ald__put_hex(ald__pen *pen, const uint8_t *data, size_t n);

#endif
