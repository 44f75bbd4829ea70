/* SPDX-License-Identifier: MIT */
/* Dates, times and intervals as ISO 8601 text. Every function stores at p without a NUL and returns the end; nothing fails.
 *
 * Decimals of a second follow the unit, so that a column reads back with it: nanoseconds always have nine, microseconds
 * and milliseconds none, three or six, as many as the value needs. Years beyond 0 to 9999 have a sign: -0001, +12345. */
#ifndef INTERCHANGE_FORMAT_TIME_TEXT_H
#define INTERCHANGE_FORMAT_TIME_TEXT_H

#include <stdint.h>

#define ALD__TIME_BYTES 96 /* room for any of them */

typedef enum ald__unit { ALD__UNIT_S, ALD__UNIT_MS, ALD__UNIT_US, ALD__UNIT_NS } ald__unit;

typedef enum ald__zone_kind {
    ALD__ZONE_NONE, /* no zone: wall-clock time */
    ALD__ZONE_UTC, /* written in UTC with Z; also zones known by name only, for there is no time zone database here */
    ALD__ZONE_OFFSET /* written as that local time with its offset */
} ald__zone_kind;

typedef struct ald__zone {
    uint8_t kind;
    int16_t minutes; /* east of UTC */
} ald__zone;

/* Of the zone text of a timestamp type; "" is none. */
ald__zone ald__zone_parse(const char *text);

uint8_t *ald__put_date(uint8_t *p, int64_t days);
/* A date64: a date, or date and time where it is not midnight. */
uint8_t *ald__put_date64(uint8_t *p, int64_t ms);
uint8_t *ald__put_time(uint8_t *p, int64_t v, ald__unit unit);
uint8_t *ald__put_timestamp(uint8_t *p, int64_t v, ald__unit unit, ald__zone zone);
/* P14M, P-3DT4.5S, P1M2DT-0.000000001S; PT0S for nothing. */
uint8_t *ald__put_interval(uint8_t *p, int32_t months, int32_t days, int64_t nanos);

#endif
