/* SPDX-License-Identifier: MIT */
/* A small printf: error messages need no more. */
#include "core/base/format.h"

#include <stdint.h>
#include <string.h>

#include "core/base/utf8_step.h"

typedef struct out {
    char *buf;
    size_t cap, len; /* len counts also what did not fit */
} out;

typedef struct spec {
    int left, zero;
    size_t width, precision; /* precision SIZE_MAX: none */
    char size;               /* 'H' char, 'h', 'l', 'L' long long, 'z', 'j' or 0 */
} spec;

static void put(out *o, char c)
{
    if (o->len + 1 < o->cap)
        o->buf[o->len] = c;
    o->len++;
}

static void put_hex_escape(out *o, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    put(o, '\\');
    put(o, 'x');
    put(o, digits[c >> 4]);
    put(o, digits[c & 15]);
}

/* One character; a sequence that would be cut by the end of the buffer is left out whole. */
static size_t put_escaped_char(out *o, const char *s, size_t n)
{
    size_t step = ald__utf8_step((const uint8_t *)s, n);
    unsigned char c = (unsigned char)*s;
    if (step == 0 || c < 0x20 || c == 0x7f) {
        put_hex_escape(o, c);
        return 1;
    }
    for (size_t i = 0; i < step; i++)
        put(o, s[i]);
    return step;
}

static void put_padded(out *o, const char *s, size_t n, const spec *sp, int escape)
{
    size_t fill = sp->width > n ? sp->width - n : 0;
    for (size_t i = 0; !sp->left && i < fill; i++)
        put(o, ' ');
    for (size_t i = 0; i < n;) {
        if (escape) {
            i += put_escaped_char(o, s + i, n - i);
        } else {
            put(o, s[i++]);
        }
    }
    for (size_t i = 0; sp->left && i < fill; i++)
        put(o, ' ');
}

static void put_number(out *o, uint64_t v, int negative, unsigned base, const spec *sp)
{
    char digits[24];
    size_t n = 0;
    do {
        digits[sizeof digits - ++n] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v != 0);
    if (sp->zero && !sp->left) {
        while (n + (negative ? 1 : 0) < sp->width && n < sizeof digits - 1)
            digits[sizeof digits - ++n] = '0';
    }
    if (negative)
        digits[sizeof digits - ++n] = '-';
    put_padded(o, digits + sizeof digits - n, n, sp, 0);
}

static size_t read_count(const char **fmt)
{
    size_t n = 0;
    while (**fmt >= '0' && **fmt <= '9' && n < 10000)
        n = n * 10 + (size_t)(*(*fmt)++ - '0');
    return n;
}

/* va_list travels by pointer in a struct: it may be an array type. */
typedef struct arg_list {
    va_list va;
} arg_list;

static spec read_spec(const char **fmt, arg_list *args)
{
    spec sp = {0, 0, 0, SIZE_MAX, 0};
    for (; **fmt == '-' || **fmt == '0'; (*fmt)++) {
        sp.left |= **fmt == '-';
        sp.zero |= **fmt == '0';
    }
    sp.width = read_count(fmt);
    if (**fmt == '.') {
        (*fmt)++;
        if (**fmt == '*') {
            int n = va_arg(args->va, int);
            sp.precision = n < 0 ? SIZE_MAX : (size_t)n;
            (*fmt)++;
        } else {
            sp.precision = read_count(fmt);
        }
    }
    while (**fmt == 'h' || **fmt == 'l' || **fmt == 'z' || **fmt == 'j') {
        char c = *(*fmt)++;
        sp.size = (char)(c == 'h' && sp.size == 'h' ? 'H' : c == 'l' && sp.size == 'l' ? 'L' : c);
    }
    return sp;
}

static int64_t read_signed(const spec *sp, arg_list *args)
{
    switch (sp->size) {
    case 'l':
        return va_arg(args->va, long); /* NOLINT: the caller's type */
    case 'L':
        return va_arg(args->va, long long);
    case 'z':
        return (int64_t)va_arg(args->va, ptrdiff_t);
    case 'j':
        return va_arg(args->va, intmax_t);
    default:
        return va_arg(args->va, int);
    }
}

static uint64_t read_unsigned(const spec *sp, arg_list *args)
{
    switch (sp->size) {
    case 'l':
        return va_arg(args->va, unsigned long); /* NOLINT: the caller's type */
    case 'L':
        return va_arg(args->va, unsigned long long);
    case 'z':
        return va_arg(args->va, size_t);
    case 'j':
        return va_arg(args->va, uintmax_t);
    default:
        return va_arg(args->va, unsigned);
    }
}

static void put_string(out *o, const spec *sp, const char *s, int escape)
{
    size_t n = 0;
    if (s == NULL)
        s = "(null)";
    while (n < sp->precision && s[n] != '\0')
        n++;
    put_padded(o, s, n, sp, escape);
}

static void put_conversion(out *o, char c, const spec *sp, arg_list *args, int escape)
{
    switch (c) {
    case 'd':
    case 'i': {
        int64_t v = read_signed(sp, args);
        put_number(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0, 10, sp);
        break;
    }
    case 'u':
        put_number(o, read_unsigned(sp, args), 0, 10, sp);
        break;
    case 'x':
        put_number(o, read_unsigned(sp, args), 0, 16, sp);
        break;
    case 'c': {
        char ch = (char)va_arg(args->va, int);
        put_padded(o, &ch, 1, sp, escape);
        break;
    }
    case 's':
        put_string(o, sp, va_arg(args->va, const char *), escape);
        break;
    case 'f':
    case 'g':
    case 'e':
        (void)va_arg(args->va, double);
        put(o, '?');
        break;
    default:
        put(o, c);
        break;
    }
}

size_t ald__vformat(char *buf, size_t cap, int escape, const char *fmt, va_list args)
{
    out o = {buf, cap, 0};
    arg_list list;
    va_copy(list.va, args);
    while (*fmt != '\0') {
        if (*fmt != '%') {
            put(&o, *fmt++);
            continue;
        }
        fmt++;
        spec sp = read_spec(&fmt, &list);
        if (*fmt == '\0')
            break;
        put_conversion(&o, *fmt++, &sp, &list, escape);
    }
    va_end(list.va);
    if (cap > 0)
        buf[o.len < cap ? o.len : cap - 1] = '\0';
    return o.len;
}

size_t ald__format(char *buf, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t n = ald__vformat(buf, cap, 0, fmt, args);
    va_end(args);
    return n;
}

int ald__vsnprintf(char *buf, size_t cap, const char *fmt, va_list args)
{
    return (int)ald__vformat(buf, cap, 0, fmt, args);
}

int ald__snprintf(char *buf, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    size_t n = ald__vformat(buf, cap, 0, fmt, args);
    va_end(args);
    return (int)n;
}
