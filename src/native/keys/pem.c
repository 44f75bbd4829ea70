/* SPDX-License-Identifier: MIT */
/* The digits of base64 are computed, not looked up, so that a private key leaves no trace in the cache. */
#include "native/keys/pem.h"

#include <string.h>

#define LINE_DIGITS 64

/* All ones when lo <= c <= hi. */
static unsigned within(unsigned c, unsigned lo, unsigned hi)
{
    return 0u - (((lo - 1u - c) & (c - hi - 1u)) >> 31);
}

/* 0 … 63, or 255. */
static unsigned digit_value(unsigned c)
{
    unsigned upper = within(c, 'A', 'Z'), lower = within(c, 'a', 'z'), digit = within(c, '0', '9');
    unsigned plus = within(c, '+', '+'), slash = within(c, '/', '/');
    unsigned any = upper | lower | digit | plus | slash;
    return (upper & (c - 'A')) | (lower & (c - 'a' + 26u)) | (digit & (c - '0' + 52u)) |
           (plus & 62u) | (slash & 63u) | (~any & 255u);
}

static char digit_char(unsigned v)
{
    return (char)((within(v, 0, 25) & (v + 'A')) | (within(v, 26, 51) & (v - 26u + 'a')) |
                  (within(v, 52, 61) & (v - 52u + '0')) | (within(v, 62, 62) & '+') |
                  (within(v, 63, 63) & '/'));
}

static ald_status broken(ald_error *err, size_t at, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, at, "not a key file in PEM form: %s", what);
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int starts_with(const char *text, size_t size, const char *word)
{
    return size >= strlen(word) && memcmp(text, word, strlen(word)) == 0;
}

/* "-----BEGIN label-----" (or END) at *at. */
static int read_boundary(const char *text, size_t size, size_t *at, const char *begin, char *label)
{
    size_t start = *at + strlen(begin), end = start;
    if (!starts_with(text + *at, size - *at, begin))
        return 0;
    while (end < size && text[end] != '-' && text[end] >= ' ' && text[end] <= 'Z')
        end++;
    if (end - start >= PEM_LABEL_BYTES || !starts_with(text + end, size - end, "-----"))
        return 0;
    memcpy(label, text + start, end - start);
    label[end - start] = '\0';
    *at = end + 5;
    return 1;
}

/* Base64 up to the next '-'. */
static ald_status read_base64(const char *text, size_t size, size_t *at, pem_block *out,
                              ald_error *err)
{
    uint32_t group = 0;
    unsigned digits = 0, padding = 0;
    size_t i = *at;
    out->size = 0;
    for (; i < size && text[i] != '-'; i++) {
        unsigned value;
        if (is_blank(text[i]))
            continue;
        value = digit_value((unsigned char)text[i]);
        if (text[i] == '=' && digits >= 2) {
            padding++;
            value = 0;
        } else if (value > 63 || padding > 0) {
            return broken(err, i, "there is something else than base64 between its lines");
        }
        group = group << 6 | value;
        if (++digits < 4)
            continue;
        if (out->size + 3 > sizeof out->data)
            return broken(err, i, "it is too long for a key");
        out->data[out->size++] = (uint8_t)(group >> 16);
        if (padding < 2)
            out->data[out->size++] = (uint8_t)(group >> 8);
        if (padding < 1)
            out->data[out->size++] = (uint8_t)group;
        digits = 0;
        group = 0;
    }
    *at = i;
    return digits == 0 ? ALD_OK : broken(err, i, "its base64 is cut off");
}

ald_status ald__pem_next(const char *text, size_t size, size_t *at, pem_block *out, int *found,
                         ald_error *err)
{
    char label[PEM_LABEL_BYTES];
    ald_status st;
    *found = 0;
    while (*at < size && is_blank(text[*at]))
        (*at)++;
    if (*at == size)
        return ALD_OK;
    if (!read_boundary(text, size, at, "-----BEGIN ", out->label))
        return broken(err, *at, "there is other text before, between or after its blocks");
    st = read_base64(text, size, at, out, err);
    if (st != ALD_OK)
        return st;
    if (!read_boundary(text, size, at, "-----END ", label) || strcmp(label, out->label) != 0)
        return broken(err, *at, "a block has no end");
    *found = 1;
    return ALD_OK;
}

static int append(const char *data, size_t size, char *text, size_t capacity, size_t *used)
{
    if (size > capacity - *used)
        return 0;
    memcpy(text + *used, data, size);
    *used += size;
    return 1;
}

static int append_boundary(const char *word, const char *label, char *text, size_t capacity,
                           size_t *used)
{
    return append("-----", 5, text, capacity, used) &&
           append(word, strlen(word), text, capacity, used) &&
           append(label, strlen(label), text, capacity, used) &&
           append("-----\n", 6, text, capacity, used);
}

int ald__pem_append(const char *label, const uint8_t *data, size_t size, char *text,
                    size_t capacity, size_t *used)
{
    if (!append_boundary("BEGIN ", label, text, capacity, used))
        return 0;
    for (size_t i = 0, column = 0; i < size; i += 3) {
        uint32_t group = (uint32_t)data[i] << 16;
        char digits[5];
        group |= i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0;
        group |= i + 2 < size ? data[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            digits[k] = digit_char(group >> (18 - 6 * k) & 63u);
        if (i + 1 >= size)
            digits[2] = '=';
        if (i + 2 >= size)
            digits[3] = '=';
        column += 4;
        digits[4] = '\n';
        if (!append(digits, column % LINE_DIGITS == 0 || i + 3 >= size ? 5 : 4, text, capacity,
                    used))
            return 0;
    }
    return append_boundary("END ", label, text, capacity, used);
}
