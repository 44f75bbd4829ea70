/* SPDX-License-Identifier: MIT */
/* Knows which byte sequences are UTF-8. */
#include "interchange/text/text_utf8.h"

#include <string.h>

static uint64_t eight_bytes(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Bytes of the sequence at p (2 to 4), or 0. p[0] ≥ 0x80. */
static size_t utf8_sequence(const uint8_t *p, size_t left)
{
    uint8_t c = p[0];
    if (c < 0xC2 || c > 0xF4 || left < 2)
        return 0;
    if (c < 0xE0)
        return (p[1] & 0xC0) == 0x80 ? 2 : 0;
    if ((p[1] & 0xC0) != 0x80 || left < 3 || (p[2] & 0xC0) != 0x80)
        return 0;
    if (c < 0xF0) {
        if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F))
            return 0; /* overlong, surrogate */
        return 3;
    }
    if ((c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F))
        return 0;
    return left >= 4 && (p[3] & 0xC0) == 0x80 ? 4 : 0;
}

size_t ald__text_utf8_check(const uint8_t *data, size_t size)
{
    const uint64_t tops = 0x8080808080808080ull;
    size_t i = 0;
    while (i < size) {
        size_t n;
        while (size - i >= 16 && ((eight_bytes(data + i) | eight_bytes(data + i + 8)) & tops) == 0)
            i += 16;
        while (i < size && data[i] < 0x80)
            i++;
        while (i < size && data[i] >= 0x80) {
            n = utf8_sequence(data + i, size - i);
            if (n == 0)
                return i;
            i += n;
        }
    }
    return size;
}

size_t ald__text_nul_check(const uint8_t *data, size_t size)
{
    const uint64_t low = 0x7F7F7F7F7F7F7F7Full;
    size_t i = 0;
    for (; size - i >= 8; i += 8) {
        uint64_t v = eight_bytes(data + i);
        if ((((v & low) + low) | v | low) != ~0ull)
            break;
    }
    while (i < size && data[i] != 0)
        i++;
    return i;
}

uint64_t ald__text_count_lines(const uint8_t *data, size_t size, int *cr)
{
    uint64_t count = 0;
    int last = *cr;
    for (size_t i = 0; i < size;) {
        size_t stop = size - i > 4096 ? i + 4096 : size;
        uint32_t ends = 0;
        if (last && data[i] == '\n')
            i++; /* its CR was counted */
        last = 0;
        if (i >= stop)
            continue;
        for (size_t j = i; j + 1 < stop; j++)
            ends += (data[j] == '\n') | ((data[j] == '\r') & (data[j + 1] != '\n'));
        last = data[stop - 1] == '\r';
        ends += (data[stop - 1] == '\n') | (uint32_t)last;
        count += ends;
        i = stop;
    }
    *cr = last;
    return count;
}
