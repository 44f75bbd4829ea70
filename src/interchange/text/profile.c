/* SPDX-License-Identifier: MIT */
/* Knows how the classes of a column's values join into its type. */
#include <string.h>

#include "interchange/text/classify.h"
#include "interchange/text/number.h"

#define KIND_BIT(k) (1u << (k))
#define NUMBER_KINDS                                                                               \
    (KIND_BIT(ALD__TOKEN_INT) | KIND_BIT(ALD__TOKEN_FLOAT) | KIND_BIT(ALD__TOKEN_DECIMAL))

void ald__profile_init(ald__profile *profile)
{
    *profile = (ald__profile){.flags = 0};
    for (int i = 0; i < ALD__TOKEN_KINDS; i++)
        profile->first_kind[i] = ALD__NEVER;
    for (int i = 0; i < ALD__TOKEN_FLAGS; i++)
        profile->first_flag[i] = ALD__NEVER;
}

static void profile_flag(ald__profile *profile, uint32_t flag, uint64_t where)
{
    uint64_t *first = &profile->first_flag[__builtin_ctz(flag)];
    profile->flags |= flag;
    if (where < *first)
        *first = where;
}

void ald__profile_add(ald__profile *profile, const ald__token *token, uint64_t where)
{
    profile->count[token->kind]++;
    if (where < profile->first_kind[token->kind])
        profile->first_kind[token->kind] = where;
    if (token->int_digits > profile->int_digits)
        profile->int_digits = token->int_digits;
    if (token->frac_digits > profile->frac_digits)
        profile->frac_digits = token->frac_digits;
    if (token->flags == 0)
        return;
    if (token->flags & ALD__TOKEN_OFFSET) {
        if (!(profile->flags & ALD__TOKEN_OFFSET))
            profile->offset_min = token->offset_min;
        else if (profile->offset_min != token->offset_min)
            profile_flag(profile, ALD__TOKEN_OFFSETS, where);
    }
    for (uint32_t left = token->flags; left != 0; left &= left - 1)
        profile_flag(profile, left & (0u - left), where);
}

void ald__profile_merge(ald__profile *into, const ald__profile *from)
{
    uint32_t both = into->flags & from->flags;
    int from_first = from->first_flag[__builtin_ctz(ALD__TOKEN_OFFSET)] <
                     into->first_flag[__builtin_ctz(ALD__TOKEN_OFFSET)];
    const ald__profile *later = from_first ? into : from;
    uint64_t second = later->first_flag[__builtin_ctz(ALD__TOKEN_OFFSET)];
    int differ = (both & ALD__TOKEN_OFFSET) && into->offset_min != from->offset_min;
    for (int i = 0; i < ALD__TOKEN_KINDS; i++) {
        into->count[i] += from->count[i];
        if (from->first_kind[i] < into->first_kind[i])
            into->first_kind[i] = from->first_kind[i];
    }
    if (from_first)
        into->offset_min = from->offset_min;
    into->flags |= from->flags;
    for (int i = 0; i < ALD__TOKEN_FLAGS; i++) {
        if (from->first_flag[i] < into->first_flag[i])
            into->first_flag[i] = from->first_flag[i];
    }
    if (differ)
        profile_flag(into, ALD__TOKEN_OFFSETS, second);
    if (from->int_digits > into->int_digits)
        into->int_digits = from->int_digits;
    if (from->frac_digits > into->frac_digits)
        into->frac_digits = from->frac_digits;
}

static uint32_t profile_kinds(const ald__profile *p)
{
    uint32_t kinds = 0;
    for (int i = ALD__TOKEN_TEXT; i < ALD__TOKEN_KINDS; i++) {
        if (p->count[i] != 0)
            kinds |= KIND_BIT(i);
    }
    return kinds;
}

static uint64_t profile_values(const ald__profile *p)
{
    uint64_t total = 0;
    for (int i = ALD__TOKEN_TEXT; i < ALD__TOKEN_KINDS; i++)
        total += p->count[i];
    return total;
}

static uint64_t first_of_flag(const ald__profile *p, uint32_t flag)
{
    return p->first_flag[__builtin_ctz(flag)];
}

/* A text column: the rarest kind is what a person should look at. */
static ald__text_type resolve_string(const ald__profile *p)
{
    ald__text_type t = {.kind = ALD__KIND_STRING, .culprit = ALD__NEVER};
    int rarest = -1, kinds = 0;
    for (int i = ALD__TOKEN_TEXT; i < ALD__TOKEN_KINDS; i++) {
        if (p->count[i] == 0)
            continue;
        kinds++;
        if (rarest < 0 || p->count[i] < p->count[rarest])
            rarest = i;
    }
    /* Text is what makes a column text, however rare another kind is in it. */
    if (p->count[ALD__TOKEN_TEXT] != 0)
        rarest = ALD__TOKEN_TEXT;
    if (kinds > 1) {
        t.culprit = p->first_kind[rarest];
        t.few = p->count[rarest] <= profile_values(p) / 10 ||
                (p->count[rarest] <= 3 && p->count[rarest] < profile_values(p) - p->count[rarest]);
    }
    return t;
}

static ald__text_type resolve_decimal(const ald__profile *p, uint64_t culprit)
{
    uint64_t digits = (uint64_t)p->int_digits + p->frac_digits;
    ald__text_type t = {.kind = ALD__KIND_DECIMAL, .culprit = culprit, .few = 1};
    uint32_t scale = p->frac_digits;
    /* `5.` has no decimals, yet it is no integer: without a decimal it would be one when it is written and read again. */
    if (scale == 0 && digits < ALD__DECIMAL_DIGITS &&
        (p->count[ALD__TOKEN_FLOAT] != 0 || p->count[ALD__TOKEN_DECIMAL] != 0)) {
        scale = 1;
        digits++;
    }
    if (digits > ALD__DECIMAL_DIGITS || p->count[ALD__TOKEN_SPECIAL] != 0 ||
        (p->flags & (ALD__TOKEN_EXPONENT | ALD__TOKEN_NEG_ZERO))) {
        t.kind = ALD__KIND_STRING;
        return t;
    }
    t.precision = (uint8_t)(digits == 0 ? 1 : digits);
    t.scale = (uint8_t)scale;
    return t;
}

static ald__text_type resolve_number(const ald__profile *p)
{
    ald__text_type t = {.kind = ALD__KIND_INT64, .culprit = ALD__NEVER};
    if (p->count[ALD__TOKEN_DECIMAL] != 0)
        return resolve_decimal(p, p->first_kind[ALD__TOKEN_DECIMAL]);
    if (p->count[ALD__TOKEN_FLOAT] != 0 || p->count[ALD__TOKEN_SPECIAL] != 0) {
        if (p->flags & ALD__TOKEN_INEXACT)
            return resolve_decimal(p, first_of_flag(p, ALD__TOKEN_INEXACT));
        t.kind = ALD__KIND_FLOAT64;
        return t;
    }
    if (p->flags & ALD__TOKEN_HUGE)
        return resolve_decimal(p, first_of_flag(p, ALD__TOKEN_HUGE));
    if (p->flags & ALD__TOKEN_BIG) {
        if (p->flags & ALD__TOKEN_NEGATIVE)
            return resolve_decimal(p, first_of_flag(p, ALD__TOKEN_BIG));
        t.kind = ALD__KIND_UINT64;
    }
    return t;
}

/* "+05:30" */
static void zone_text(int offset_min, char out[8])
{
    int v = offset_min < 0 ? -offset_min : offset_min;
    out[0] = offset_min < 0 ? '-' : '+';
    out[1] = (char)('0' + v / 600);
    out[2] = (char)('0' + v / 60 % 10);
    out[3] = ':';
    out[4] = (char)('0' + v % 60 / 10);
    out[5] = (char)('0' + v % 10);
    out[6] = '\0';
}

static ald__text_type resolve_moment(const ald__profile *p, uint32_t kinds)
{
    ald__text_type t = {.culprit = ALD__NEVER};
    t.nano = (p->flags & ALD__TOKEN_NANO) != 0;
    if (kinds == KIND_BIT(ALD__TOKEN_DATE)) {
        t.kind = ALD__KIND_DATE;
        return t;
    }
    if (kinds == KIND_BIT(ALD__TOKEN_TIME)) {
        t.kind = ALD__KIND_TIME;
        return t;
    }
    t.kind = ALD__KIND_STAMP;
    if (t.nano && (p->flags & ALD__TOKEN_FAR)) {
        t.kind = ALD__KIND_STRING;
        t.culprit = first_of_flag(p, ALD__TOKEN_FAR);
        t.few = 1;
        return t;
    }
    if (!(kinds & KIND_BIT(ALD__TOKEN_ZONED)))
        return t;
    if (p->flags & ALD__TOKEN_OFFSETS)
        t.culprit = first_of_flag(p, ALD__TOKEN_OFFSETS);
    else if ((p->flags & (ALD__TOKEN_OFFSET | ALD__TOKEN_Z)) == (ALD__TOKEN_OFFSET | ALD__TOKEN_Z))
        t.culprit = first_of_flag(p, ALD__TOKEN_OFFSET) > first_of_flag(p, ALD__TOKEN_Z)
                        ? first_of_flag(p, ALD__TOKEN_OFFSET)
                        : first_of_flag(p, ALD__TOKEN_Z);
    if (t.culprit != ALD__NEVER || (p->flags & ALD__TOKEN_Z))
        memcpy(t.zone, "UTC", 4);
    else
        zone_text(p->offset_min, t.zone);
    return t;
}

ald__text_type ald__profile_resolve(const ald__profile *profile)
{
    uint32_t kinds = profile_kinds(profile);
    uint32_t stamps = KIND_BIT(ALD__TOKEN_DATE) | KIND_BIT(ALD__TOKEN_STAMP);
    ald__text_type t = {.kind = ALD__KIND_NULL, .culprit = ALD__NEVER};
    if (kinds == 0)
        return t;
    if ((kinds & NUMBER_KINDS) && !(kinds & ~(NUMBER_KINDS | KIND_BIT(ALD__TOKEN_SPECIAL))))
        return resolve_number(profile);
    if (kinds == KIND_BIT(ALD__TOKEN_BOOL)) {
        t.kind = ALD__KIND_BOOL;
        return t;
    }
    if (!(kinds & ~stamps) || kinds == KIND_BIT(ALD__TOKEN_TIME) ||
        kinds == KIND_BIT(ALD__TOKEN_ZONED))
        return resolve_moment(profile, kinds);
    return resolve_string(profile);
}

static char *put_text(char *p, const char *text)
{
    size_t n = strlen(text);
    memcpy(p, text, n + 1);
    return p + n;
}

static char *put_digits2(char *p, unsigned v)
{
    if (v >= 10)
        *p++ = (char)('0' + v / 10);
    *p++ = (char)('0' + v % 10);
    *p = '\0';
    return p;
}

void ald__text_type_format(const ald__text_type *type, char out[ALD__FORMAT_BYTES])
{
    static const char *const plain[] = {"n", "b", "l", "L", "g", "", "tdD", "", "", "u"};
    char *p = put_text(out, plain[type->kind]);
    if (type->kind == ALD__KIND_TIME) {
        (void)put_text(p, type->nano ? "ttn" : "ttu");
    } else if (type->kind == ALD__KIND_STAMP) {
        p = put_text(p, type->nano ? "tsn:" : "tsu:");
        (void)put_text(p, type->zone);
    } else if (type->kind == ALD__KIND_DECIMAL) {
        p = put_digits2(put_text(p, "d:"), type->precision);
        p = put_digits2(put_text(p, ","), type->scale);
        if (type->precision > 38)
            (void)put_text(p, ",256");
    }
}

const char *ald__text_kind_name(uint8_t kind)
{
    static const char *const names[] = {"null",    "bool", "int64", "uint64",    "float64",
                                        "decimal", "date", "time",  "timestamp", "string"};
    return names[kind];
}
