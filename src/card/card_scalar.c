/* SPDX-License-Identifier: MIT */
#include "card/card_scalar.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 80 /* of a number without its underscores; longer ones are text */

static int is_one_of(const char *text, size_t size, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == size && memcmp(words[i], text, size) == 0) {
            return 1;
        }
    }
    return 0;
}

int card_scalar_is_null(const char *text, size_t size)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL", NULL};
    return is_one_of(text, size, words);
}

/* 1, 0, or -1 for no truth value. */
static int truth(const char *text, size_t size)
{
    static const char *const yes[] = {"true", "True", "TRUE", "yes", "Yes",
                                      "YES",  "on",   "On",   "ON",  NULL};
    static const char *const no[] = {"false", "False", "FALSE", "no",  "No",
                                     "NO",    "off",   "Off",   "OFF", NULL};
    return is_one_of(text, size, yes) ? 1 : is_one_of(text, size, no) ? 0 : -1;
}

/* The text without underscores, NUL-terminated; 0 when it does not fit. */
static size_t without_underscores(const char *text, size_t size, char out[NUMBER_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '_') {
            continue;
        }
        if (used + 1 >= NUMBER_BYTES) {
            return 0;
        }
        out[used++] = text[i];
    }
    out[used] = '\0';
    return used;
}

static size_t digits(const char *text, size_t at, const char *set)
{
    while (text[at] != '\0' && strchr(set, text[at]) != NULL) {
        at++;
    }
    return at;
}

/* The base of an integer, and where its digits begin; 0: it is none. */
static int integer_base(const char *text, size_t *start)
{
    size_t at = text[0] == '+' || text[0] == '-';
    int base = 10;
    *start = at;
    if (text[at] == '0' && (text[at + 1] == 'x' || text[at + 1] == 'b')) {
        base = text[at + 1] == 'x' ? 16 : 2;
        at += 2;
    } else if (text[at] == '0' && text[at + 1] != '\0') {
        base = 8;
        at += 1;
    }
    size_t end = digits(text, at,
                        base == 16  ? "0123456789abcdefABCDEF"
                        : base == 2 ? "01"
                        : base == 8 ? "01234567"
                                    : "0123456789");
    *start = at;
    return end > at && text[end] == '\0' ? base : 0;
}

static int is_float(const char *text)
{
    size_t at = text[0] == '+' || text[0] == '-';
    size_t whole = digits(text, at, "0123456789");
    if (text[whole] != '.') {
        return 0;
    }
    size_t end = digits(text, whole + 1, "0123456789");
    if (whole == at && (at > 0 || end == whole + 1)) {
        return 0;
    }
    if (text[end] == 'e' || text[end] == 'E') {
        size_t exponent = end + 1;
        if (text[exponent] != '+' && text[exponent] != '-') {
            return 0;
        }
        end = digits(text, exponent + 1, "0123456789");
        if (end == exponent + 1) {
            return 0;
        }
    }
    return text[end] == '\0';
}

/* .inf and .nan; 0: neither. */
static int special(const char *text, size_t size, double *out)
{
    static const char *const inf[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                      "+.INF", "-.inf", "-.Inf", "-.INF", NULL};
    static const char *const nan[] = {".nan", ".NaN", ".NAN", NULL};
    if (is_one_of(text, size, inf)) {
        *out = text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return 1;
    }
    *out = (double)NAN;
    return is_one_of(text, size, nan);
}

/* 0: it is no number, or does not fit. */
static int set_number(ald_value *out, const char *text, size_t size)
{
    char number[NUMBER_BYTES];
    double real;
    size_t start;
    if (special(text, size, &real)) {
        ald_value_set_float(out, real);
        return 1;
    }
    if (size == 0 || text[0] == '_' || memchr(text, '\0', size) != NULL ||
        without_underscores(text, size, number) == 0) {
        return 0;
    }
    int base = integer_base(number, &start);
    if (base != 0) {
        errno = 0;
        unsigned long long value = strtoull(number + start, NULL, base);
        if (errno != 0 || (number[0] == '-' && value > (unsigned long long)INT64_MAX + 1)) {
            return 0;
        }
        if (number[0] == '-' && value > 0) {
            ald_value_set_int(out, -(int64_t)(value - 1) - 1);
        } else {
            ald_value_set_uint(out, value);
        }
        return 1;
    }
    if (!is_float(number)) {
        return 0;
    }
    ald_value_set_float(out, strtod(number, NULL));
    return 1;
}

ald_status card_scalar_set(ald_value *out, const char *text, size_t size, ald_error *err)
{
    int is_true = truth(text, size);
    if (card_scalar_is_null(text, size)) {
        ald_value_set_nil(out);
    } else if (is_true >= 0) {
        ald_value_set_bool(out, is_true);
    } else if (!set_number(out, text, size)) {
        return ald_value_set_string(out, text, size, err);
    }
    return ALD_OK;
}

/* Any of the words that one of the schemas reads as something else, in any case. */
static int is_reserved(const char *text, size_t size)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off",
                                        "y",    "n",    "~",     "=",   "<<", NULL};
    char small[8];
    if (size >= sizeof(small)) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        small[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    }
    return is_one_of(small, size, words);
}

int card_scalar_is_plain(const char *text, size_t size)
{
    static const char numeric[] = "0123456789abcdefABCDEFxXoO_.:+-TtZz iInNaAuU";
    if (size == 0 || is_reserved(text, size)) {
        return 0;
    }
    if (strchr("0123456789+-.", text[0]) == NULL) {
        return 1;
    }
    for (size_t i = 0; i < size; i++) { /* 10K<n<100K is no number, 2024-01-01 may be a date */
        if (text[i] == '\0' || strchr(numeric, text[i]) == NULL) {
            return text[i] != '\0';
        }
    }
    return 0;
}

void card_scalar_double(double value, char out[CARD_SCALAR_BYTES])
{
    char text[32];
    if (isnan(value) || isinf(value)) {
        snprintf(out, CARD_SCALAR_BYTES, "%s",
                 isnan(value) ? ".nan"
                 : value > 0  ? ".inf"
                              : "-.inf");
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    size_t mantissa = strcspn(text, "e");
    int has_dot = memchr(text, '.', mantissa) != NULL;
    snprintf(out, CARD_SCALAR_BYTES, "%.*s%s%s", (int)mantissa, text, has_dot ? "" : ".0",
             text + mantissa);
}
