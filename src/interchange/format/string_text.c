/* SPDX-License-Identifier: MIT */
/* JSON escapes, base64, hex. */
#include "interchange/format/string_text.h"

static const char hex_digits[] = "0123456789abcdef";

static inline int json_special(ald__v16 v)
{
    return ald__v16_any((ald__v16)((v < ald__v16_splat(0x20)) | (v == ald__v16_splat('"')) |
                                   (v == ald__v16_splat('\\'))));
}

/* Bytes from s on that JSON takes as they are. */
static size_t json_clean_run(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (n - i >= 16 && !json_special(ald__v16_load(s + i)))
        i += 16;
    while (i < n && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\')
        i++;
    return i;
}

static void put_escape(ald__pen *pen, uint8_t c)
{
    static const char letters[] = "btn\0fr"; /* 0x08 … 0x0D */
    ald__pen_byte(pen, '\\');
    if (c >= 0x20) {
        ald__pen_byte(pen, (char)c);
    } else if (c >= 0x08 && c <= 0x0D && c != 0x0B) {
        ald__pen_byte(pen, letters[c - 0x08]);
    } else {
        ald__pen_bytes(pen, "u00", 3);
        ald__pen_byte(pen, hex_digits[c >> 4]);
        ald__pen_byte(pen, hex_digits[c & 15]);
    }
}

ald_status ald__put_json_string(ald__pen *pen, const uint8_t *s, size_t n)
{
    size_t i = 0;
    ALD__PEN_TRY(ald__pen_need(pen, n + 16));
    ald__pen_byte(pen, '"');
    if (n > 0 && n <= 16 && !json_special(ald__v16_load_short(s, n))) {
        ald__copy(pen->at, s, n);
        pen->at += n;
        i = n;
    }
    while (i < n) {
        size_t run = json_clean_run(s + i, n - i);
        ald__pen_bytes(pen, s + i, run);
        i += run;
        if (i == n)
            break;
        ALD__PEN_TRY(ald__pen_need(pen, n - i + 16));
        put_escape(pen, s[i++]);
    }
    ALD__PEN_TRY(ald__pen_need(pen, 16));
    ald__pen_byte(pen, '"');
    return ALD_OK;
}

ald_status ald__put_base64(ald__pen *pen, const uint8_t *data, size_t n)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *p;
    size_t i = 0;
    ALD__PEN_TRY(ald__pen_need(pen, n / 3 * 4 + 8));
    p = pen->at;
    for (; n - i >= 3; i += 3, p += 4) {
        uint32_t v = (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];
        p[0] = (uint8_t)alphabet[v >> 18];
        p[1] = (uint8_t)alphabet[v >> 12 & 63];
        p[2] = (uint8_t)alphabet[v >> 6 & 63];
        p[3] = (uint8_t)alphabet[v & 63];
    }
    if (i < n) {
        uint32_t v = (uint32_t)data[i] << 16 | (n - i == 2 ? (uint32_t)data[i + 1] << 8 : 0);
        p[0] = (uint8_t)alphabet[v >> 18];
        p[1] = (uint8_t)alphabet[v >> 12 & 63];
        p[2] = n - i == 2 ? (uint8_t)alphabet[v >> 6 & 63] : '=';
        p[3] = '=';
        p += 4;
    }
    pen->at = p;
    return ALD_OK;
}

ald_status ald__put_hex(ald__pen *pen, const uint8_t *data, size_t n)
{
    ALD__PEN_TRY(ald__pen_need(pen, n > SIZE_MAX / 8 ? n : n * 2));
    for (size_t i = 0; i < n; i++) {
        ald__pen_byte(pen, hex_digits[data[i] >> 4]);
        ald__pen_byte(pen, hex_digits[data[i] & 15]);
    }
    return ALD_OK;
}
