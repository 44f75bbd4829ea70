/* SPDX-License-Identifier: MIT */
/* Knows how a run of values goes into a column, the portable loops, and which of the others may run here. */
#include "interchange/csv/csv_numbers.h"

/* A column of 8 bytes a value while a loop has it, with copies of all that stores into it cannot change. */
typedef struct numbers_column {
    const uint32_t *begin, *end; /* of the field; it begins `behind` behind *begin */
    size_t begin_step, end_step, left;
    uint32_t behind;
    int nulls; /* an empty field is null, and there is a bitmap */
    const uint8_t *slab;
    uint64_t slab_at;
    uint8_t *next, *valid;
    size_t length, null_count;
} numbers_column;

static inline numbers_column numbers_begin(const ald__csv_stretch *s, size_t row)
{
    const ald__csv_rows *r = &s->walk->rows;
    const ald__column *column = s->column;
    numbers_column c = {.slab = s->walk->slab, .slab_at = s->walk->slab_at};
    c.end = r->ends + row * r->columns + s->index;
    c.end_step = r->columns;
    c.behind = s->index != 0;
    c.begin = c.behind ? c.end - 1 : r->starts + row;
    c.begin_step = c.behind ? r->columns : 1;
    c.left = r->rows - row;
    c.nulls = s->quick_nulls && column->valid != NULL;
    c.length = (size_t)column->length;
    c.next = column->values + c.length * 8;
    c.valid = column->valid;
    return c;
}

static inline void numbers_next(numbers_column *c)
{
    c->begin += c->begin_step;
    c->end += c->end_step;
    c->left--;
}

/* The row that it stopped at. */
static inline size_t numbers_end(const ald__csv_stretch *s, const numbers_column *c)
{
    s->column->length = (int64_t)c->length;
    s->column->null_count += (int64_t)c->null_count;
    return s->walk->rows.rows - c->left;
}

static inline void numbers_append(numbers_column *c, uint64_t bits, uint32_t valid)
{
    size_t i = c->length++;
    memcpy(c->next, &bits, 8);
    c->next += 8;
    if (c->valid != NULL) {
        uint8_t *byte = &c->valid[i / 8];
        *byte = (uint8_t)((i % 8 == 0 ? 0u : *byte & ~(1u << (i % 8))) | valid << (i % 8));
    }
}

static inline void numbers_put(numbers_column *c, uint64_t bits)
{
    numbers_append(c, bits, 1);
}

static inline void numbers_null(numbers_column *c)
{
    numbers_append(c, 0, 0);
    c->null_count++;
}

/* The bits of ±m × 10^-decimals, both exact doubles. */
static inline uint64_t numbers_float(uint64_t m, uint32_t decimals, uint32_t negative)
{
    double value = ald__quick_signed((double)m / ald__quick_powers[decimals], negative);
    memcpy(&m, &value, 8);
    return m;
}

#define NUMBERS(name) portable_##name
#define NUMBERS_FN static
#define NUMBERS_DECIMAL16 ald__swar_decimal16
#define NUMBERS_QUICK ald__quick_number
#include "interchange/csv/csv_numbers_template.h"

#if defined(__x86_64__)
#include "interchange/csv/x86/csv_numbers_impl.h"
#else
static size_t numbers_list(const ald__csv_numbers *list[2])
{
    (void)list;
    return 0;
}
#endif

const ald__csv_numbers *ald__csv_numbers_variant(size_t index)
{
    const ald__csv_numbers *list[2];
    size_t count = numbers_list(list);
    list[count++] = &portable_loops;
    return index < count ? list[index] : NULL;
}

const ald__csv_numbers *ald__csv_numbers_best(void)
{
    return ald__csv_numbers_variant(0);
}
