/* SPDX-License-Identifier: MIT */
/* RFC 4648 base64, the standard alphabet. */
#ifndef INTERCHANGE_TEXT_BASE64_H
#define INTERCHANGE_TEXT_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Padded, without line breaks, the unused bits zero: else 0 is returned. `out` has room for size / 4 * 3 bytes. */
static inline int ald__base64_decode(const char *text, size_t size, uint8_t *out, size_t *written)
{
    uint32_t bits = 0;
    size_t pad = 0, n = 0;
    *written = 0;
    if (size % 4 != 0)
        return 0;
    while (pad < 2 && pad < size && text[size - 1 - pad] == '=')
        pad++;
    for (size_t i = 0; i < size; i++) {
        char c = i < size - pad ? text[i] : 'A';
        uint32_t v;
        if (c >= 'A' && c <= 'Z')
            v = (uint32_t)(c - 'A');
        else if (c >= 'a' && c <= 'z')
            v = (uint32_t)(c - 'a' + 26);
        else if (c >= '0' && c <= '9')
            v = (uint32_t)(c - '0' + 52);
        else if (c == '+' || c == '/')
            v = c == '+' ? 62 : 63;
        else
            return 0;
        bits = bits << 6 | v;
        if (i % 4 == 3) {
            out[n++] = (uint8_t)(bits >> 16);
            out[n++] = (uint8_t)(bits >> 8);
            out[n++] = (uint8_t)bits;
        }
    }
    for (size_t i = 0; i < pad; i++) {
        if (out[--n] != 0)
            return 0;
    }
    *written = n;
    return 1;
}

#endif
