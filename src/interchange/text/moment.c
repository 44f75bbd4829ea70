/* SPDX-License-Identifier: MIT */
/* Knows the spellings of dates, times and timestamps, and the calendar. */
#include <string.h>

#include "interchange/text/classify.h"

#define SECOND_NS 1000000000ll
#define DAY_S 86400ll

/* `count` digits at p as a number; -1: something else. */
static int fixed_digits(const char *p, int count)
{
    int v = 0;
    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9')
            return -1;
        v = v * 10 + (p[i] - '0');
    }
    return v;
}

/* Eight characters that should be digits ('0' in the pattern) and separators (themselves), at once: what remains of each
 * byte is its digit, and 0 for a separator. 0: something else. For little-endian hosts. */
static int match_eight(const char *p, uint64_t pattern, uint64_t *digits)
{
    const uint64_t low7 = 0x7F7F7F7F7F7F7F7Full;
    uint64_t v, zeros, limit;
    memcpy(&v, p, 8);
    v ^= pattern;
    /* All digits: up to 9 pass; separators: only 0. */
    zeros = pattern ^ 0x3030303030303030ull;
    zeros = (((zeros & low7) + low7) | zeros) & ~low7; /* top bit of each separator */
    limit = 0x7676767676767676ull + (zeros >> 7) * 9;
    *digits = v;
    return ((((v & low7) + limit) | v) & ~low7) == 0;
}

static int digit_at(uint64_t digits, int i)
{
    return (int)(digits >> (8 * i) & 0xFF);
}

static int days_in_month(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01 in the Gregorian calendar. The year is taken to begin in March, so that the leap day is its last;
 * an era is 400 years of 146,097 days. */
static int32_t days_of_date(int year, int month, int day)
{
    int y = year - (month <= 2);
    int era = y / 400; /* year ≥ 1: y ≥ 0 */
    int yoe = y - era * 400;
    int doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

/* YYYY-MM-DD at p, which has 10 characters or more. */
static int moment_date(const char *p, int32_t *out)
{
    uint64_t d;
    int year, month, day = fixed_digits(p + 8, 2);
    if (!match_eight(p, 0x2D30302D30303030ull, &d)) /* "0000-00-" */
        return 0;
    year = digit_at(d, 0) * 1000 + digit_at(d, 1) * 100 + digit_at(d, 2) * 10 + digit_at(d, 3);
    month = digit_at(d, 5) * 10 + digit_at(d, 6);
    if (year < 1 || month < 1 || month > 12 || day < 1)
        return 0;
    if (day > 28 && day > days_in_month(year, month))
        return 0;
    *out = days_of_date(year, month, day);
    return 1;
}

/* Decimals behind the point at *pp, as nanoseconds. 0: none. */
static int moment_decimals(const char **pp, const char *end, ald__moment *out)
{
    const char *p = *pp;
    int64_t frac = 0;
    int digits = 0;
    for (; p < end && *p >= '0' && *p <= '9' && digits < 9; p++, digits++)
        frac = frac * 10 + (*p - '0');
    for (int i = digits; i < 9; i++)
        frac *= 10;
    out->nanos += frac;
    out->frac_digits = (uint8_t)digits;
    *pp = p;
    return digits > 0;
}

/* HH:MM[:SS[.f{1,9}]] at *pp; leaves *pp behind it. */
static int moment_time(const char **pp, const char *end, int need_seconds, ald__moment *out)
{
    const char *p = *pp;
    uint64_t d;
    int hour, minute, second = 0;
    if (end - p >= 8 && match_eight(p, 0x30303A30303A3030ull, &d)) { /* "00:00:00" */
        hour = digit_at(d, 0) * 10 + digit_at(d, 1);
        minute = digit_at(d, 3) * 10 + digit_at(d, 4);
        second = digit_at(d, 6) * 10 + digit_at(d, 7);
        p += 8;
    } else {
        if (end - p < 5 || p[2] != ':' || need_seconds || (end - p > 5 && p[5] == ':'))
            return 0;
        hour = fixed_digits(p, 2);
        minute = fixed_digits(p + 3, 2);
        p += 5;
        need_seconds = -1;
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second > 59)
        return 0;
    out->nanos = ((int64_t)hour * 3600 + minute * 60 + second) * SECOND_NS;
    *pp = p;
    if (need_seconds < 0 || p == end || *p != '.')
        return 1;
    ++*pp;
    return moment_decimals(pp, end, out);
}

/* Z, +HH:MM, +HHMM or +HH, up to the end. "-00:00" says that the zone is unknown: no zone. */
static int moment_zone(const char *p, const char *end, ald__moment *out)
{
    int hours, minutes = 0, sign;
    if (end - p == 1 && *p == 'Z') {
        out->is_z = 1;
        return 1;
    }
    if (*p != '+' && *p != '-')
        return 0;
    sign = *p++ == '-' ? -1 : 1;
    if (end - p != 2 && end - p != 4 && end - p != 5)
        return 0;
    hours = fixed_digits(p, 2);
    if (end - p == 5 && p[2] != ':')
        return 0;
    if (end - p > 2)
        minutes = fixed_digits(end - 2, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
        return 0;
    out->offset_min = (int16_t)(sign * (hours * 60 + minutes));
    return sign > 0 || out->offset_min != 0;
}

int ald__text_to_moment(const char *text, size_t size, ald__moment *out)
{
    const char *p = text, *end = text + size;
    *out = (ald__moment){0};
    if (size >= 8 && text[2] == ':') {
        out->kind = ALD__TOKEN_TIME;
        return moment_time(&p, end, 1, out) && p == end;
    }
    if (size < 10 || !moment_date(text, &out->days))
        return 0;
    out->kind = ALD__TOKEN_DATE;
    if (size == 10)
        return 1;
    if (text[10] != 'T' && text[10] != ' ')
        return 0;
    p += 11;
    out->kind = ALD__TOKEN_STAMP;
    if (!moment_time(&p, end, 0, out))
        return 0;
    if (p == end)
        return 1;
    out->kind = ALD__TOKEN_ZONED;
    return moment_zone(p, end, out);
}

/* The part of a second in units of 10^-digits; -1: decimals would be lost. The divisors are constants. */
static int64_t part_ticks(int64_t nanos, int digits)
{
    switch (digits) {
    case 9:
        return nanos;
    case 6:
        return nanos % 1000 == 0 ? nanos / 1000 : -1;
    case 3:
        return nanos % 1000000 == 0 ? nanos / 1000000 : -1;
    default:
        return nanos == 0 ? 0 : -1;
    }
}

int ald__moment_to_ticks(const ald__moment *moment, int digits, int64_t *out)
{
    const int64_t per_second = digits == 9   ? SECOND_NS
                               : digits == 6 ? 1000000
                               : digits == 3 ? 1000
                                             : 1;
    int64_t whole = moment->nanos / SECOND_NS;
    int64_t ticks = part_ticks(moment->nanos - whole * SECOND_NS, digits);
    int64_t seconds = moment->days * DAY_S - moment->offset_min * 60ll + whole;
    if (ticks < 0)
        return 0;
    /* Just above INT64_MIN the product alone would overflow. */
    if (seconds < 0 && ticks > 0) {
        seconds++;
        ticks -= per_second;
    }
    return !__builtin_mul_overflow(seconds, per_second, out) &&
           !__builtin_add_overflow(*out, ticks, out);
}
