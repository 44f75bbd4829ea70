/* SPDX-License-Identifier: MIT */
/* A file must not be able to move the cursor, set a title or turn the reading direction. */
#include "cli/escape.h"

#include <stdio.h>
#include <string.h>

size_t cli_utf8_next(const unsigned char *s, const unsigned char *end, uint32_t *code)
{
    size_t left = (size_t)(end - s);
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    size_t size = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
    if (s[0] < 0xC2 || s[0] > 0xF4 || left < size) {
        return 0;
    }
    uint32_t c = s[0] & (0x7Fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if ((size == 3 && c < 0x800) || (size == 4 && (c < 0x10000 || c > 0x10FFFF)) ||
        (c >= 0xD800 && c <= 0xDFFF)) {
        return 0;
    }
    *code = c;
    return size;
}

int cli_is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text, *end = at + strlen(text);
    uint32_t code;
    size_t step = 1;
    while (at < end && step > 0) {
        step = cli_utf8_next(at, end, &code);
        at += step;
    }
    return step > 0;
}

int cli_is_printable(uint32_t c)
{
    return c >= 0x20 && !(c >= 0x7F && c <= 0x9F) && c != 0x061C && c != 0x200E && c != 0x200F &&
           !(c >= 0x2028 && c <= 0x202E) && !(c >= 0x2066 && c <= 0x2069) && c != 0xFEFF;
}

unsigned cli_code_width(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        unsigned width;
    } ranges[] = {
        {0x0300, 0x036F, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05BD, 0},   {0x064B, 0x065F, 0},
        {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},   {0x200B, 0x200F, 0},
        {0x20D0, 0x20FF, 0},   {0x2E80, 0x303E, 2},   {0x3041, 0xA4CF, 2},   {0xAC00, 0xD7A3, 2},
        {0xF900, 0xFAFF, 2},   {0xFE00, 0xFE0F, 0},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2},
        {0x1F900, 0x1F9FF, 2}, {0x20000, 0x3FFFD, 2},
    };
    for (size_t i = 0; c >= 0x0300 && i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (c >= ranges[i].first && c <= ranges[i].last) {
            return ranges[i].width;
        }
    }
    return 1;
}

/* The escape of what cannot be shown; `size` bytes of it were read (0: one bad byte). */
static size_t spell(char *out, unsigned char byte, uint32_t code, size_t size)
{
    int n;
    if (size == 0) {
        n = snprintf(out, 16, "\\x%02x", (unsigned)byte);
    } else if (code == '\n' || code == '\r' || code == '\t') {
        n = snprintf(out, 16, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    } else if (code < 0x80) {
        n = snprintf(out, 16, "\\x%02x", (unsigned)code);
    } else {
        n = snprintf(out, 16, "\\u{%04X}", (unsigned)code);
    }
    return (size_t)n;
}

size_t cli_escape(char *out, size_t out_size, const char *text, size_t text_size)
{
    const unsigned char *s = (const unsigned char *)text;
    const unsigned char *end = s + text_size;
    size_t used = 0;
    while (s < end) {
        char piece[16];
        uint32_t code = 0;
        size_t size = cli_utf8_next(s, end, &code);
        size_t length = size;
        if (size == 0 || !cli_is_printable(code)) {
            length = spell(piece, *s, code, size);
        } else {
            memcpy(piece, s, size);
        }
        if (length >= out_size - used) {
            break;
        }
        memcpy(out + used, piece, length);
        used += length;
        s += size > 0 ? size : 1;
    }
    out[used] = '\0';
    return used;
}
