/* SPDX-License-Identifier: MIT */
/* What a piece of text looks like, and which type a column of such pieces gets (docs/TEXT.md).
 *
 * A token is classified by itself; a column's profile collects tokens in any order and from any number of threads
 * (profiles merge), and is resolved to a type at the end. Nothing here allocates or fails. */
#ifndef INTERCHANGE_TEXT_CLASSIFY_H
#define INTERCHANGE_TEXT_CLASSIFY_H

#include <stddef.h>
#include <stdint.h>

typedef enum ald__token_kind {
    ALD__TOKEN_NULL = 0,
    ALD__TOKEN_TEXT,
    ALD__TOKEN_BOOL,
    ALD__TOKEN_INT,     /* up to 76 digits */
    ALD__TOKEN_FLOAT,   /* point, exponent or -0; a double gives the text's digits back */
    ALD__TOKEN_DECIMAL, /* point, no exponent, up to 76 digits; a double does not give them back */
    ALD__TOKEN_SPECIAL, /* NaN, inf … */
    ALD__TOKEN_DATE,
    ALD__TOKEN_TIME,
    ALD__TOKEN_STAMP, /* date and time without a zone */
    ALD__TOKEN_ZONED, /* with Z or an offset */
    ALD__TOKEN_KINDS
} ald__token_kind;

/* Facts beside the kind; a profile ORs them. */
#define ALD__TOKEN_NEGATIVE 0x001u /* an integer below 0 */
#define ALD__TOKEN_BIG 0x002u      /* an integer above INT64_MAX */
#define ALD__TOKEN_HUGE 0x004u     /* an integer beyond 64 bits */
#define ALD__TOKEN_INEXACT 0x008u  /* an integer that no double equals */
#define ALD__TOKEN_EXPONENT 0x010u
#define ALD__TOKEN_NEG_ZERO 0x020u
#define ALD__TOKEN_NANO 0x040u    /* more than 6 decimals of a second */
#define ALD__TOKEN_FAR 0x080u     /* a date or timestamp that 64 bits of nanoseconds do not reach */
#define ALD__TOKEN_Z 0x100u       /* the zone is Z */
#define ALD__TOKEN_OFFSET 0x200u  /* the zone is an offset, in offset_min */
#define ALD__TOKEN_OFFSETS 0x400u /* profiles only: several different offsets */
#define ALD__TOKEN_FLAGS 11

typedef struct ald__token {
    uint8_t kind; /* an ald__token_kind */
    int16_t offset_min;
    uint32_t flags;
    uint32_t int_digits, frac_digits; /* of a number without exponent; leading zeros do not count */
} ald__token;

/* A number by the table's rules (also JSON's numbers), else ALD__TOKEN_TEXT. */
void ald__token_number(const char *text, size_t size, ald__token *out);
/* Anything but null: which texts are null is the reader's business. An empty text is ALD__TOKEN_TEXT. */
void ald__token_classify(const char *text, size_t size, ald__token *out);

#define ALD__NEVER UINT64_MAX

typedef struct ald__profile {
    uint64_t count[ALD__TOKEN_KINDS];
    /* Where each kind and each flag first stood (ALD__NEVER: not seen): any number that grows along the input. */
    uint64_t first_kind[ALD__TOKEN_KINDS];
    uint64_t first_flag[ALD__TOKEN_FLAGS];
    uint32_t flags;
    uint32_t int_digits, frac_digits; /* the most of any */
    int16_t offset_min;               /* the first offset, if flags has OFFSET */
} ald__profile;

void ald__profile_init(ald__profile *profile);
void ald__profile_add(ald__profile *profile, const ald__token *token, uint64_t where);
/* `from` may stand before or after `into` in the input. */
void ald__profile_merge(ald__profile *into, const ald__profile *from);

typedef enum ald__text_kind {
    ALD__KIND_NULL = 0,
    ALD__KIND_BOOL,
    ALD__KIND_INT64,
    ALD__KIND_UINT64,
    ALD__KIND_FLOAT64,
    ALD__KIND_DECIMAL,
    ALD__KIND_DATE,
    ALD__KIND_TIME,
    ALD__KIND_STAMP,
    ALD__KIND_STRING
} ald__text_kind;

typedef struct ald__text_type {
    uint8_t kind;      /* an ald__text_kind */
    uint8_t nano;      /* TIME, STAMP: ns instead of us */
    uint8_t precision; /* DECIMAL: 1 to 76 */
    uint8_t scale;
    char zone[8]; /* STAMP: "", "UTC" or "+05:30" */
    /* Why the column is not of the type that most values have: where the first value stands that made it DECIMAL or
     * STRING, or that brought a second offset (zone "UTC"); ALD__NEVER when nothing is to be said. */
    uint64_t culprit;
    uint8_t few; /* the values like the culprit are few: a tenth of all, or 3 and less than half */
} ald__text_type;

ald__text_type ald__profile_resolve(const ald__profile *profile);

#define ALD__FORMAT_BYTES 24
/* The Arrow format string ("l", "d:38,2,128", "tsu:UTC" …) of a type. */
void ald__text_type_format(const ald__text_type *type, char out[ALD__FORMAT_BYTES]);
/* "int64", "decimal", "timestamp" …, for messages. Static storage. */
const char *ald__text_kind_name(uint8_t kind);

/* Conversions. Each follows the table's grammar strictly and returns 0 when the text does not fit. */
int ald__text_to_bool(const char *text, size_t size, int *out);
int ald__text_to_int64(const char *text, size_t size, int64_t *out);
int ald__text_to_uint64(const char *text, size_t size, uint64_t *out);
/* The nearest double (float) of any number, also NaN and infinity by name; 0 also when it is beyond the range. */
int ald__text_to_double(const char *text, size_t size, double *out);
int ald__text_to_float(const char *text, size_t size, float *out);
/* value × 10^scale as two's complement of `limbs` (1, 2 or 4) 64-bit words, lowest first; 0 when digits would be lost or
 * `precision` is exceeded. An exponent is allowed where the value fits exactly. scale may be negative. */
int ald__text_to_decimal(const char *text, size_t size, int precision, int scale, int limbs,
                         uint64_t *out);

/* A date, time or timestamp taken apart. */
typedef struct ald__moment {
    int32_t days;        /* since 1970-01-01 */
    int64_t nanos;       /* of the day */
    uint8_t kind;        /* ALD__TOKEN_DATE, _TIME, _STAMP or _ZONED */
    uint8_t frac_digits; /* as written */
    uint8_t is_z;
    int16_t offset_min; /* east of UTC; days and nanos are as written */
} ald__moment;

int ald__text_to_moment(const char *text, size_t size, ald__moment *out);
/* The token of a text that is this moment. */
void ald__token_moment(const ald__moment *moment, ald__token *out);
/* days·86,400·per_second + the time of day − the offset, in units of 10^-digits seconds (digits 0, 3, 6, 9); 0 when
 * decimals would be lost or 64 bits do not reach. */
int ald__moment_to_ticks(const ald__moment *moment, int digits, int64_t *out);

#endif
