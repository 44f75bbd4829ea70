/* SPDX-License-Identifier: MIT */
/* The proleptic Gregorian calendar, in 64 bits, and the ISO 8601 forms. */
#include "interchange/format/time_text.h"

#include <string.h>

#include "interchange/format/number_text.h"

#define DAY_SECONDS 86400
#define DAY_MS INT64_C(86400000)

static const uint32_t per_second[4] = {1, 1000, 1000000, 1000000000};

/* Quotient towards minus infinity; *rest is 0 … by - 1. */
static inline int64_t floor_div(int64_t v, int64_t by, int64_t *rest)
{
    int64_t q = v / by, r = v % by;
    if (r < 0) {
        r += by;
        q--;
    }
    *rest = r;
    return q;
}

static uint8_t *put_year(uint8_t *p, int64_t year)
{
    uint64_t size = year < 0 ? 0 - (uint64_t)year : (uint64_t)year;
    if (year < 0)
        *p++ = '-';
    else if (year > 9999)
        *p++ = '+';
    return size > 9999 ? ald__put_u64(p, size) : ald__put_padded(p, (uint32_t)size, 4);
}

/* Years are counted from March, so that the leap day ends one: eras of 400 years have 146,097 days, and within one a year
 * has 365 days plus those that 4, 100 and 400 give; months from March have (153 m + 2) / 5 days before them. */
uint8_t *ald__put_date(uint8_t *p, int64_t days)
{
    int64_t of_era, era = floor_div(days + 719468, 146097, &of_era);
    uint32_t doe = (uint32_t)of_era;
    uint32_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    uint32_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    uint32_t from_march = (5 * doy + 2) / 153;
    uint32_t day = doy - (153 * from_march + 2) / 5 + 1;
    uint32_t month = from_march < 10 ? from_march + 3 : from_march - 9;
    p = put_year(p, (int64_t)yoe + era * 400 + (month <= 2));
    *p++ = '-';
    p = ald__put_padded(p, month, 2);
    *p++ = '-';
    return ald__put_padded(p, day, 2);
}

/* `part` of a second in units; see the header for how many decimals. */
static uint8_t *put_decimals(uint8_t *p, uint32_t part, ald__unit unit)
{
    if (unit == ALD__UNIT_NS) {
        *p++ = '.';
        return ald__put_padded(p, part, 9);
    }
    if (part == 0)
        return p;
    *p++ = '.';
    if (unit == ALD__UNIT_MS)
        return ald__put_padded(p, part, 3);
    return part % 1000 == 0 ? ald__put_padded(p, part / 1000, 3) : ald__put_padded(p, part, 6);
}

static uint8_t *put_clock(uint8_t *p, uint64_t seconds, uint32_t part, ald__unit unit)
{
    uint64_t hours = seconds / 3600;
    uint32_t rest = (uint32_t)(seconds % 3600);
    p = hours < 100 ? ald__put_padded(p, (uint32_t)hours, 2) : ald__put_u64(p, hours);
    *p++ = ':';
    p = ald__put_padded(p, rest / 60, 2);
    *p++ = ':';
    p = ald__put_padded(p, rest % 60, 2);
    return put_decimals(p, part, unit);
}

uint8_t *ald__put_time(uint8_t *p, int64_t v, ald__unit unit)
{
    uint64_t size = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    uint32_t by = per_second[unit];
    if (v < 0) /* no time of day, but a file may hold it */
        *p++ = '-';
    return put_clock(p, size / by, (uint32_t)(size % by), unit);
}

static uint8_t *put_offset(uint8_t *p, int minutes)
{
    uint32_t size = (uint32_t)(minutes < 0 ? -minutes : minutes);
    *p++ = minutes < 0 ? '-' : '+';
    p = ald__put_padded(p, size / 60, 2);
    *p++ = ':';
    return ald__put_padded(p, size % 60, 2);
}

/* Years 1 to 9999. */
static int has_plain_year(int64_t seconds)
{
    return seconds >= -62135596800 && seconds <= 253402300799;
}

uint8_t *ald__put_timestamp(uint8_t *p, int64_t v, ald__unit unit, ald__zone zone)
{
    int64_t part, clock, days, local;
    int64_t seconds = floor_div(v, per_second[unit], &part);
    if (zone.kind == ALD__ZONE_OFFSET) {
        /* At the edges of 64 bits, and of the years that ISO 8601 writes with four digits, the same instant without
         * the shift. */
        if (__builtin_add_overflow(seconds, (int64_t)zone.minutes * 60, &local) ||
            (has_plain_year(seconds) && !has_plain_year(local)))
            zone.kind = ALD__ZONE_UTC;
        else
            seconds = local;
    }
    days = floor_div(seconds, DAY_SECONDS, &clock);
    p = ald__put_date(p, days);
    *p++ = 'T';
    p = put_clock(p, (uint64_t)clock, (uint32_t)part, unit);
    if (zone.kind == ALD__ZONE_UTC)
        *p++ = 'Z';
    return zone.kind == ALD__ZONE_OFFSET ? put_offset(p, zone.minutes) : p;
}

uint8_t *ald__put_date64(uint8_t *p, int64_t ms)
{
    static const ald__zone none = {ALD__ZONE_NONE, 0};
    if (ms % DAY_MS == 0)
        return ald__put_date(p, ms / DAY_MS);
    return ald__put_timestamp(p, ms, ALD__UNIT_MS, none);
}

static uint8_t *put_interval_part(uint8_t *p, int64_t v, char letter)
{
    if (v == 0)
        return p;
    p = ald__put_i64(p, v);
    *p++ = (uint8_t)letter;
    return p;
}

uint8_t *ald__put_interval(uint8_t *p, int32_t months, int32_t days, int64_t nanos)
{
    uint64_t size = nanos < 0 ? 0 - (uint64_t)nanos : (uint64_t)nanos;
    *p++ = 'P';
    p = put_interval_part(p, months, 'M');
    p = put_interval_part(p, days, 'D');
    if (nanos == 0 && (months != 0 || days != 0))
        return p;
    *p++ = 'T';
    if (nanos < 0)
        *p++ = '-';
    p = ald__put_u64(p, size / 1000000000);
    if (size % 1000000000 != 0) {
        *p++ = '.';
        p = ald__put_padded(p, (uint32_t)(size % 1000000000), 9);
        while (p[-1] == '0')
            p--;
    }
    *p++ = 'S';
    return p;
}

/* Two digits at text, or -1. */
static int two_digits(const char *text)
{
    if (text[0] < '0' || text[0] > '9' || text[1] < '0' || text[1] > '9')
        return -1;
    return (text[0] - '0') * 10 + (text[1] - '0');
}

/* +HH:MM, +HHMM, +HH */
static int parse_offset(const char *text, int *minutes)
{
    size_t n = strlen(text);
    int hours, rest = 0;
    if ((text[0] != '+' && text[0] != '-') || n < 3 || (hours = two_digits(text + 1)) < 0)
        return 0;
    if (n == 6 && text[3] == ':')
        rest = two_digits(text + 4);
    else if (n == 5)
        rest = two_digits(text + 3);
    else if (n != 3)
        return 0;
    if (rest < 0 || rest > 59)
        return 0;
    *minutes = (hours * 60 + rest) * (text[0] == '-' ? -1 : 1);
    return 1;
}

ald__zone ald__zone_parse(const char *text)
{
    ald__zone zone = {ALD__ZONE_NONE, 0};
    int minutes;
    if (text[0] == '\0')
        return zone;
    zone.kind = ALD__ZONE_UTC;
    if (parse_offset(text, &minutes)) {
        zone.kind = ALD__ZONE_OFFSET;
        zone.minutes = (int16_t)minutes;
    }
    return zone;
}
