/* SPDX-License-Identifier: MIT */
/* The loops of csv_numbers.h for one way to read digits: NUMBERS(x) names what is made here, NUMBERS_DECIMAL16 and
 * NUMBERS_QUICK read, NUMBERS_FN is how functions are declared. What most fields of a column look like is done in the loop,
 * with a branch only where columns differ, not values. */

/* Integers of 16 to 18 digits, too. 0: look closer. */
NUMBERS_FN ALD__NOINLINE int NUMBERS(odd_int)(const uint8_t *p, uint32_t n, ald__csv_tally *t,
                                              uint64_t where, uint64_t *bits)
{
    uint32_t negative = *p == '-';
    uint64_t m;
    p += negative;
    n -= negative;
    if (n - 16 > 2 || *p == '0' || NUMBERS_DECIMAL16(p, 16, &m) != 16)
        return 0;
    for (uint32_t i = 16; i < n; i++) {
        if (p[i] < '0' || p[i] > '9')
            return 0;
        m = m * 10 + (uint64_t)(p[i] - '0');
    }
    ald__csv_tally_int(t, n, negative, where);
    ald__csv_tally_large(t, m, where);
    *bits = negative ? 0 - m : m;
    return 1;
}

/* Whatever ald__quick_number takes. */
NUMBERS_FN ALD__NOINLINE int NUMBERS(odd_float)(const uint8_t *p, uint32_t n, ald__csv_tally *t,
                                                uint64_t where, uint64_t *bits)
{
    ald__quick q;
    if (!NUMBERS_QUICK(p, n, &q) || !ald__csv_tally_quick(t, &q, *p == '-', where))
        return 0;
    memcpy(bits, &q.value, 8);
    return 1;
}

NUMBERS_FN size_t NUMBERS(int64)(const ald__csv_stretch *s, ald__csv_tally *tally, size_t row)
{
    ald__csv_tally t = ALD__CSV_TALLY_INIT;
    numbers_column c = numbers_begin(s, row);
    for (; c.left > 0; numbers_next(&c)) {
        uint32_t begin = *c.begin + c.behind, size = *c.end - begin;
        const uint8_t *p = c.slab + begin;
        uint32_t negative = *p == '-', n = size - negative;
        uint64_t m, where = c.slab_at + begin;
        p += negative;
        if (n - 1 < 15 && NUMBERS_DECIMAL16(p, n, &m) == n && (*p != '0' || size == 1)) {
            ald__csv_tally_int(&t, n - (*p == '0'), negative, where);
            numbers_put(&c, (m ^ (0 - (uint64_t)negative)) + negative);
        } else if (size == 0 && c.nulls) {
            ald__csv_tally_null(&t, where);
            numbers_null(&c);
        } else if (NUMBERS(odd_int)(p - negative, size, tally, where, &m)) {
            numbers_put(&c, m);
        } else {
            break;
        }
    }
    ald__csv_tally_add(tally, &t);
    return numbers_end(s, &c);
}

NUMBERS_FN size_t NUMBERS(float64)(const ald__csv_stretch *s, ald__csv_tally *tally, size_t row)
{
    ald__csv_tally t = ALD__CSV_TALLY_INIT;
    numbers_column c = numbers_begin(s, row);
    for (; c.left > 0; numbers_next(&c)) {
        uint32_t begin = *c.begin + c.behind, size = *c.end - begin, point, zero, whole;
        const uint8_t *p = c.slab + begin;
        uint32_t negative = *p == '-', n = size - negative;
        uint64_t m = 0, where = c.slab_at + begin;
        p += negative;
        zero = *p == '0';
        point = n - 1 < 16 ? NUMBERS_DECIMAL16(p, n, &m) : ALD__SWAR_NONE;
        whole = point - zero;
        /* 15 digits at most, so that the division is of exact operands; no minus zero, no leading zeros */
        if (n - 2 < 15 && point < n && (((whole != 0) & zero) | ((m == 0) & negative)) == 0) {
            numbers_put(&c, numbers_float(m, n - 1 - point, negative));
            ald__csv_tally_float(&t, whole, n - 1 - point, where);
        } else if (n - 1 < 15 && point == n && (((n != 1) & zero) | ((m == 0) & negative)) == 0) {
            numbers_put(&c, numbers_float(m, 0, negative));
            ald__csv_tally_int(&t, whole, negative, where);
        } else if (size == 0 && c.nulls) {
            ald__csv_tally_null(&t, where);
            numbers_null(&c);
        } else if (NUMBERS(odd_float)(p - negative, size, tally, where, &m)) {
            numbers_put(&c, m);
        } else {
            break;
        }
    }
    ald__csv_tally_add(tally, &t);
    return numbers_end(s, &c);
}

static const ald__csv_numbers NUMBERS(loops) = {NUMBERS(int64), NUMBERS(float64)};

#undef NUMBERS
#undef NUMBERS_FN
#undef NUMBERS_DECIMAL16
#undef NUMBERS_QUICK
