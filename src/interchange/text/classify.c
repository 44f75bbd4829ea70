/* SPDX-License-Identifier: MIT */
/* Knows which class a single token has. */
#include "interchange/text/classify.h"

#include <string.h>

#include "interchange/text/number.h"

static int token_is(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(text, word, size) == 0;
}

static int token_is_bool(const char *text, size_t size, int *value)
{
    if (size == 4 && (token_is(text, size, "true") || token_is(text, size, "True") ||
                      token_is(text, size, "TRUE"))) {
        *value = 1;
        return 1;
    }
    *value = 0;
    return size == 5 && (token_is(text, size, "false") || token_is(text, size, "False") ||
                         token_is(text, size, "FALSE"));
}

/* NaN, or an infinity with or without minus: the words that Python, C, R, JavaScript and Java print. */
static int token_is_special(const char *text, size_t size, double *value)
{
    static const char *const infinities[] = {"inf",      "Inf",      "INF",
                                             "infinity", "Infinity", "INFINITY"};
    int negative = size > 0 && text[0] == '-';
    if (token_is(text, size, "NaN") || token_is(text, size, "nan") || token_is(text, size, "NAN")) {
        *value = __builtin_nan("");
        return 1;
    }
    for (size_t i = 0; i < sizeof infinities / sizeof infinities[0]; i++) {
        if (token_is(text + negative, size - (size_t)negative, infinities[i])) {
            *value = negative ? -__builtin_inf() : __builtin_inf();
            return 1;
        }
    }
    return 0;
}

static void classify_integer(const ald__number *n, ald__token *out)
{
    /* The largest of 64 bits have 19 and 20 digits. */
    static const char max_uint64[] = "18446744073709551615";
    int beyond_int64 = n->sig_digits == 19 && n->mantissa > (uint64_t)INT64_MAX + n->negative;
    int huge = n->sig_digits > 20 || (n->sig_digits == 20 && memcmp(n->sig, max_uint64, 20) > 0);
    out->kind = n->sig_digits <= ALD__DECIMAL_DIGITS ? ALD__TOKEN_INT : ALD__TOKEN_TEXT;
    out->int_digits = (uint32_t)n->int_digits;
    if (n->negative)
        out->flags |= ALD__TOKEN_NEGATIVE;
    if (huge || (n->negative && (beyond_int64 || n->sig_digits == 20)))
        out->flags |= ALD__TOKEN_HUGE;
    else if (beyond_int64 || n->sig_digits == 20)
        out->flags |= ALD__TOKEN_BIG;
    if (!ald__number_is_exact(n))
        out->flags |= ALD__TOKEN_INEXACT;
}

static uint32_t count32(size_t n)
{
    return n > UINT32_MAX / 4 ? UINT32_MAX / 4 : (uint32_t)n;
}

static void classify_fraction(const ald__number *n, ald__token *out)
{
    double d = 0;
    int faithful = ald__number_to_double(n, &d) && ald__number_is_faithful(n, d);
    out->int_digits = count32(n->int_digits);
    out->frac_digits = count32(n->frac_digits);
    if (n->has_exponent)
        out->flags |= ALD__TOKEN_EXPONENT;
    if (n->negative && n->sig_digits == 0)
        out->flags |= ALD__TOKEN_NEG_ZERO;
    if (faithful)
        out->kind = ALD__TOKEN_FLOAT;
    else if (!n->has_exponent && n->int_digits + n->frac_digits <= ALD__DECIMAL_DIGITS)
        out->kind = ALD__TOKEN_DECIMAL;
}

void ald__token_number(const char *text, size_t size, ald__token *out)
{
    ald__number n;
    *out = (ald__token){.kind = ALD__TOKEN_TEXT};
    if (!ald__number_scan(text, size, &n))
        return;
    if (n.has_point || n.has_exponent || (n.negative && n.sig_digits == 0))
        classify_fraction(&n, out);
    else
        classify_integer(&n, out);
}

void ald__token_moment(const ald__moment *m, ald__token *out)
{
    int64_t ticks;
    *out = (ald__token){.kind = m->kind};
    if (m->frac_digits > 6)
        out->flags |= ALD__TOKEN_NANO;
    /* 106,751 days are what 64 bits of nanoseconds hold. */
    if (m->kind != ALD__TOKEN_TIME && (m->days < -106000 || m->days > 106000) &&
        !ald__moment_to_ticks(m, 9, &ticks))
        out->flags |= ALD__TOKEN_FAR;
    if (m->kind == ALD__TOKEN_ZONED) {
        out->flags |= m->is_z ? ALD__TOKEN_Z : ALD__TOKEN_OFFSET;
        out->offset_min = m->offset_min;
    }
}

/* Everything but text begins with one of these. */
static int token_may_be_special(char c)
{
    return c == '-' || c == 'N' || c == 'n' || c == 'I' || c == 'i';
}

void ald__token_classify(const char *text, size_t size, ald__token *out)
{
    char c = size > 0 ? text[0] : ' ';
    ald__moment m;
    double d;
    int b;
    *out = (ald__token){.kind = ALD__TOKEN_TEXT};
    if ((c >= '0' && c <= '9') || c == '-' || c == '.') {
        if (size >= 8 && (text[4] == '-' || text[2] == ':')) {
            if (ald__text_to_moment(text, size, &m)) {
                ald__token_moment(&m, out);
                return;
            }
        }
        ald__token_number(text, size, out);
        if (out->kind != ALD__TOKEN_TEXT)
            return;
    }
    if (token_is_bool(text, size, &b))
        out->kind = ALD__TOKEN_BOOL;
    else if (token_may_be_special(c) && token_is_special(text, size, &d))
        out->kind = ALD__TOKEN_SPECIAL;
}

int ald__text_to_bool(const char *text, size_t size, int *out)
{
    return token_is_bool(text, size, out);
}

int ald__text_to_double(const char *text, size_t size, double *out)
{
    ald__number n;
    if (ald__number_scan(text, size, &n))
        return ald__number_to_double(&n, out);
    return size > 0 && token_may_be_special(text[0]) && token_is_special(text, size, out);
}
