/* SPDX-License-Identifier: MIT */
/* ald__quick_number for one way to read digits. QUICK(x) names what is made here, QUICK_DIGITS(x) what reads digits, QUICK_FN
 * is how functions are declared. Branches depend on what most numbers of a column have in common, never on a sign. */

/* 0: no decimal of up to 19 significant digits, with an exponent or without. */
QUICK_FN int QUICK(parts)(const uint8_t *p, uint32_t n, ald__swar_decimal *out, int32_t *e,
                          uint8_t *has_exponent)
{
    uint32_t exponent, point = ALD__SWAR_NONE;
    *e = 0;
    *has_exponent = 0;
    if (n > 16 && QUICK_DIGITS(decimal24)(p, n, out))
        return 1;
    exponent = ald__quick_exponent(p, n, e);
    *has_exponent = exponent > 0;
    if (exponent == 0)
        return 0;
    n -= exponent;
    if (n > 16)
        return QUICK_DIGITS(decimal24)(p, n, out);
    if (n >= 2)
        point = QUICK_DIGITS(decimal16)(p, n, &out->mantissa);
    if (point > n || (*p == '0' && point > 1))
        return 0;
    out->whole = *p == '0' ? 0 : point;
    out->decimals = point == n ? 0 : n - 1 - point;
    return 1;
}

/* With an exponent, or of 17 bytes and more. No sign. */
QUICK_FN int QUICK(long)(const uint8_t *p, uint32_t n, ald__quick *out)
{
    ald__swar_decimal d;
    int32_t e;
    int faithful;
    if (!QUICK(parts)(p, n, &d, &e, &out->has_exponent))
        return 0;
    e = (int32_t)d.decimals - e;
    if (e < 0 || !ald__number_nearest(d.mantissa, (uint32_t)e, &out->value, &faithful))
        return 0;
    out->whole = d.whole;
    out->decimals = d.decimals;
    out->is_int = 0;
    out->is_faithful = faithful != 0;
    return 1;
}

/* 0: look closer (also minus zero). Digits with a point among them, 15 at most: both operands of the division are exact, so
 * its result is the nearest double. */
QUICK_FN int QUICK(number)(const uint8_t *p, uint32_t n, ald__quick *out)
{
    uint32_t negative = *p == '-', point = ALD__SWAR_NONE;
    uint64_t m = 0;
    p += negative;
    n -= negative;
    if (n - 1 <= 15)
        point = QUICK_DIGITS(decimal16)(p, n, &m);
    if (point != ALD__SWAR_NONE) {
        out->is_int = point == n;
        out->decimals = out->is_int ? 0 : n - 1 - point;
        out->whole = *p == '0' ? 0 : point;
        out->has_exponent = 0;
        out->is_faithful = 1;
        /* leading zeros; minus zero; 16 digits; a point alone */
        if (((point > 1) & (*p == '0')) | ((m == 0) & negative) | (point == 16) |
            ((n == 1) & (point == 0)))
            return 0;
        out->value = (double)m / ald__quick_powers[out->decimals];
    } else if (n - 1 > 31 || !QUICK(long)(p, n, out)) {
        return 0;
    }
    out->value = ald__quick_signed(out->value, negative);
    return 1;
}

#undef QUICK
#undef QUICK_DIGITS
#undef QUICK_FN
