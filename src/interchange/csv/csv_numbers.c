/* SPDX-License-Identifier: MIT */
/* Knows how a run of values goes into a column, the portable loops, and which of the others may run here. */
#include "interchange/csv/csv_numbers.h"

/* A column of 8 bytes a value while a loop has it. */
typedef struct numbers_column {
    uint8_t *next, *valid;
    size_t length, null_count;
    int nulls; /* an empty field is null, and there is a bitmap */
} numbers_column;

static inline numbers_column numbers_begin(const ald__csv_stretch *s)
{
    const ald__column *c = s->column;
    size_t length = (size_t)c->length;
    return (numbers_column){c->values + length * 8, c->valid, length, 0,
                            s->quick_nulls && c->valid != NULL};
}

static inline void numbers_end(const ald__csv_stretch *s, const numbers_column *c)
{
    s->column->length = (int64_t)c->length;
    s->column->null_count += (int64_t)c->null_count;
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
