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
    int year = fixed_digits(p, 4), month = fixed_digits(p + 5, 2), day = fixed_digits(p + 8, 2);
    if (year < 1 || p[4] != '-' || p[7] != '-' || month < 1 || month > 12 || day < 1)
        return 0;
    if (day > days_in_month(year, month))
        return 0;
    *out = days_of_date(year, month, day);
    return 1;
}

/* HH:MM[:SS[.f{1,9}]] at *pp; leaves *pp behind it. */
static int moment_time(const char **pp, const char *end, int need_seconds, ald__moment *out)
{
    const char *p = *pp;
    int64_t frac = 0;
    int hour, minute, second = 0, digits = 0;
    if (end - p < 5 || p[2] != ':')
        return 0;
    hour = fixed_digits(p, 2);
    minute = fixed_digits(p + 3, 2);
    p += 5;
    if (end - p >= 3 && *p == ':') {
        second = fixed_digits(p + 1, 2);
        p += 3;
        if (p < end && *p == '.') {
            for (p++; p < end && *p >= '0' && *p <= '9' && digits < 9; p++, digits++)
                frac = frac * 10 + (*p - '0');
            if (digits == 0)
                return 0;
        }
    } else if (need_seconds) {
        return 0;
    }
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return 0;
    for (int i = digits; i < 9; i++)
        frac *= 10;
    out->nanos = ((int64_t)hour * 3600 + minute * 60 + second) * SECOND_NS + frac;
    out->frac_digits = (uint8_t)digits;
    *pp = p;
    return 1;
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

int ald__moment_to_ticks(const ald__moment *moment, int digits, int64_t *out)
{
    int64_t per_second = 1, step = SECOND_NS, seconds, ticks;
    for (int i = 0; i < digits; i++) {
        per_second *= 10;
        step /= 10;
    }
    if (moment->nanos % step != 0)
        return 0;
    seconds = moment->days * DAY_S - moment->offset_min * 60ll + moment->nanos / SECOND_NS;
    ticks = moment->nanos % SECOND_NS / step;
    /* Just above INT64_MIN the product alone would overflow. */
    if (seconds < 0 && ticks > 0) {
        seconds++;
        ticks -= per_second;
    }
    return !__builtin_mul_overflow(seconds, per_second, out) &&
           !__builtin_add_overflow(*out, ticks, out);
}
