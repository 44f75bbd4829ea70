/* SPDX-License-Identifier: MIT */
/* The block-wise check against one written from the definition: decode, and see whether encoding gives the same bytes. */
#include "check.h"
#include "core/arrow/utf8.h"

/* Bytes of the first character, 0 when there is none that is well-formed. */
static size_t one_character(const uint8_t *p, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = p[0] < 0x80         ? 1
                  : (p[0] >> 5) == 6  ? 2
                  : (p[0] >> 4) == 14 ? 3
                  : (p[0] >> 3) == 30 ? 4
                                      : 0;
    uint32_t c;
    if (size == 0 || size > n)
        return 0;
    c = size == 1 ? p[0] : p[0] & (0xFFu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((p[i] >> 6) != 2)
            return 0;
        c = c << 6 | (p[i] & 0x3Fu);
    }
    return c < least[size] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) ? 0 : size;
}

static size_t by_definition(const uint8_t *p, size_t n)
{
    size_t pos = 0;
    while (pos < n) {
        size_t size = one_character(p + pos, n - pos);
        if (size == 0)
            break;
        pos += size;
    }
    return pos;
}

/* In memory of exactly this size, so that a sanitizer sees every read outside. */
static void check_exact(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n > 0 ? n : 1);
    int ascii = -1, is_ascii = 1;
    size_t want = by_definition(p, n), got;
    if (n > 0)
        memcpy(copy, p, n);
    got = ald__utf8_valid_prefix(copy, n, &ascii);
    CHECK_UINT(got, want);
    for (size_t i = 0; i < n; i++)
        is_ascii &= p[i] < 0x80;
    if (want == n)
        CHECK_INT(ascii, is_ascii);
    else
        CHECK_INT(ascii, 0);
    free(copy);
}

static void test_short_and_empty(void)
{
    check_exact((const uint8_t *)"", 0);
    CHECK_UINT(ald__utf8_valid_prefix(NULL, 0, NULL), 0);
    CHECK_UINT(ald__utf8_valid_prefix((const uint8_t *)"ab\xFFz", 4, NULL), 2);
}

/* All sequences of the bytes at which the rules change, at places around the edges of blocks. */
static void test_edges(void)
{
    static const uint8_t edge[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF,
                                   0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED,
                                   0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF};
    static const size_t places[] = {0, 61, 62, 63, 64, 94, 124, 128, 189, 190, 191, 192, 254, 316};
    uint8_t text[320];
    size_t m = sizeof edge;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < m * m * m * m; i++) {
        size_t place = places[i % (sizeof places / sizeof places[0])];
        text[place] = edge[i % m];
        text[place + 1] = edge[i / m % m];
        text[place + 2] = edge[i / m / m % m];
        text[place + 3] = edge[i / m / m / m];
        if (ald__utf8_valid_prefix(text, sizeof text, NULL) != by_definition(text, sizeof text))
            check_exact(text, sizeof text);
        if (i % 97 == 0) /* the same cut behind the last of them */
            check_exact(text, place + 1 + i % 4);
        memset(text + place, 'a', 4);
    }
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static size_t put_character(uint8_t *p, uint32_t c)
{
    if (c < 0x80)
        return *p = (uint8_t)c, 1;
    if (c < 0x800)
        return p[0] = (uint8_t)(0xC0 | c >> 6), p[1] = (uint8_t)(0x80 | (c & 0x3F)), 2;
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        return p[2] = (uint8_t)(0x80 | (c & 0x3F)), 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    return p[3] = (uint8_t)(0x80 | (c & 0x3F)), 4;
}

static void test_random_text(void)
{
    uint32_t state = 7;
    for (int round = 0; round < 4000; round++) {
        uint8_t text[700];
        size_t size = 0, target = next_random(&state) % 680;
        while (size < target) {
            uint32_t kind = next_random(&state) % 5, c = next_random(&state);
            c %= kind < 2 ? 0x80 : kind == 2 ? 0x800 : kind == 3 ? 0xD800 : 0x110000;
            if (c >= 0xD800 && c < 0xE000)
                c = 'x';
            size += put_character(text + size, c);
        }
        check_exact(text, size);
        CHECK_UINT(by_definition(text, size), size);
        if (size == 0)
            continue;
        text[next_random(&state) % size] ^= (uint8_t)(1u << next_random(&state) % 8);
        check_exact(text, size);
        check_exact(text, next_random(&state) % size);
    }
}

int main(void)
{
    RUN(test_short_and_empty);
    RUN(test_edges);
    RUN(test_random_text);
    return check_done();
}
