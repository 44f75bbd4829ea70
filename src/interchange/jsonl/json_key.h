/* SPDX-License-Identifier: MIT */
/* Keys compared: mostly short, mostly equal. */
#ifndef INTERCHANGE_JSONL_JSON_KEY_H
#define INTERCHANGE_JSONL_JSON_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether n bytes are the same. Up to 16 are two loads that may overlap, without a call. */
static inline int ald__json_same(const char *a, const char *b, size_t n)
{
    uint64_t a8, b8, a8_end, b8_end;
    uint32_t a4, b4, a4_end, b4_end;
    if (n > 16)
        return memcmp(a, b, n) == 0;
    if (n >= 8) {
        memcpy(&a8, a, 8);
        memcpy(&b8, b, 8);
        memcpy(&a8_end, a + n - 8, 8);
        memcpy(&b8_end, b + n - 8, 8);
        return ((a8 ^ b8) | (a8_end ^ b8_end)) == 0;
    }
    if (n >= 4) {
        memcpy(&a4, a, 4);
        memcpy(&b4, b, 4);
        memcpy(&a4_end, a + n - 4, 4);
        memcpy(&b4_end, b + n - 4, 4);
        return ((a4 ^ b4) | (a4_end ^ b4_end)) == 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return 0;
    }
    return 1;
}

#endif
