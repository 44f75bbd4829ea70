/* SPDX-License-Identifier: MIT */
#include "core/watermark/mark_tally.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/watermark/mark_math.h"

#define FIRST_CAPACITY 4096
#define FEW 256
#define TRUSTED 64
#define LANES 4
#define SKIPPED 8
#define TESTED_VALUES 20000
#define FEW_TESTED 1200 /* more than 5 % of them */
#define DECIMALS_MOST 12
#define FLOAT_DECIMALS_MOST 6

void ald__mark_tally_init(ald__mark_tally *tally, const ald_allocator *alloc, size_t limit)
{
    memset(tally, 0, sizeof *tally);
    tally->alloc = alloc;
    tally->limit = limit;
    tally->rises = tally->falls = tally->is_f32 = 1;
}

void ald__mark_tally_clear(ald__mark_tally *tally)
{
    if (tally->value != NULL)
        ald__release(tally->alloc, tally->value, tally->capacity * sizeof(double));
    if (tally->weight != NULL)
        ald__release(tally->alloc, tally->weight, tally->weight_capacity * sizeof(uint64_t));
    tally->value = NULL;
    tally->weight = NULL;
    tally->count = tally->capacity = tally->weight_capacity = 0;
}

/* How often an entry is kept: while fewer than this many thinnings were needed. */
static unsigned rarity(uint64_t index)
{
    uint64_t x = (index ^ index >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x == 0 ? 64 : (unsigned)__builtin_ctzll(x);
}

/* Keeps half of the entries: those that would have been kept had it been so from the start. */
static void make_thin(ald__mark_tally *t)
{
    size_t from = 0, to = 0;
    for (uint64_t i = 0; i < t->seen && from < t->count; i++) {
        unsigned r = rarity(i);
        if (r < t->thin)
            continue;
        if (r > t->thin) {
            t->value[to] = t->value[from];
            if (t->weight != NULL)
                t->weight[to] = t->weight[from];
            to++;
        }
        from++;
    }
    t->count = to;
    t->thin++;
}

/* `block` with room for `count` numbers; NULL with err set, the block then stays. */
static void *resized(const ald_allocator *alloc, void *block, size_t old_count, size_t count,
                     ald_error *err)
{
    void *moved = block == NULL ? alloc->alloc(alloc->ctx, count * sizeof(uint64_t))
                                : alloc->resize(alloc->ctx, block, old_count * sizeof(uint64_t),
                                                count * sizeof(uint64_t));
    if (moved == NULL)
        (void)ald__no_memory(err, count * sizeof(uint64_t));
    return moved;
}

static ald_status resize_values(ald__mark_tally *t, size_t capacity, ald_error *err)
{
    double *moved = resized(t->alloc, t->value, t->capacity, capacity, err);
    if (moved == NULL)
        return ALD_E_NOMEM;
    t->value = moved;
    t->capacity = capacity;
    return ALD_OK;
}

static ald_status resize_weights(ald__mark_tally *t, size_t capacity, ald_error *err)
{
    uint64_t *moved = resized(t->alloc, t->weight, t->weight_capacity, capacity, err);
    if (moved == NULL)
        return ALD_E_NOMEM;
    t->weight = moved;
    t->weight_capacity = capacity;
    return ALD_OK;
}

/* Twice as much until `count` values fit, or as much as is expected: what is there vouches for up to TRUSTED times as much. */
static size_t grown_capacity(const ald__mark_tally *t, size_t count)
{
    size_t capacity = t->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : t->capacity;
    size_t most = count < t->limit / TRUSTED ? count * TRUSTED : t->limit;
    while (capacity < count)
        capacity = capacity < t->limit / 2 ? capacity * 2 : t->limit;
    most = most < t->expected ? most : t->expected;
    capacity = capacity < most ? most : capacity;
    return capacity < t->limit ? capacity : t->limit;
}

/* Room for one more. */
static ald_status make_room(ald__mark_tally *t, ald_error *err)
{
    size_t capacity;
    while (t->count >= t->limit)
        make_thin(t);
    if (t->count < t->capacity)
        return ALD_OK;
    capacity = grown_capacity(t, t->count + 1);
    if (t->weight != NULL)
        ALD_TRY(resize_weights(t, capacity, err));
    return resize_values(t, capacity, err);
}

/* In lanes that do not wait for each other. */
static void note_range(ald__mark_tally *t, const double *values, size_t count)
{
    double least[LANES], greatest[LANES];
    for (size_t k = 0; k < LANES; k++) {
        least[k] = t->seen > 0 ? t->least : values[0];
        greatest[k] = t->seen > 0 ? t->greatest : values[0];
    }
    for (size_t i = 0; i < count; i += LANES) {
        for (size_t k = 0; k < LANES; k++) {
            const double v = values[i + k < count ? i + k : count - 1];
            least[k] = v < least[k] ? v : least[k];
            greatest[k] = v > greatest[k] ? v : greatest[k];
        }
    }
    for (size_t k = 1; k < LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
        greatest[0] = greatest[k] > greatest[0] ? greatest[k] : greatest[0];
    }
    t->least = least[0];
    t->greatest = greatest[0];
}

static int all_floats(const double *values, size_t count)
{
    uint64_t different = 0;
    for (size_t i = 0; i < count; i++)
        different |= ald__mark_bits(values[i]) ^ ald__mark_bits((double)(float)values[i]);
    return different == 0;
}

/* What is said about all values, with those of values[] in it. */
static void note_values(ald__mark_tally *t, const double *values, size_t count)
{
    unsigned not_rising = t->seen > 0 && !(values[0] > t->last);
    unsigned not_falling = t->seen > 0 && !(values[0] < t->last);
    note_range(t, values, count);
    t->is_f32 = t->is_f32 && all_floats(values, count);
    for (size_t i = 1; i < count && ((t->rises && !not_rising) || (t->falls && !not_falling));
         i++) {
        not_rising |= !(values[i] > values[i - 1]);
        not_falling |= !(values[i] < values[i - 1]);
    }
    t->rises = t->rises && !not_rising;
    t->falls = t->falls && !not_falling;
    t->last = values[count - 1];
}

static ald_status add_usable(ald__mark_tally *t, double v, uint64_t rows, ald_error *err)
{
    if (t->thin == 0 || rarity(t->seen) >= t->thin) {
        if (t->count >= t->limit || t->count == t->capacity)
            ALD_TRY(make_room(t, err));
        if (t->thin == 0 || rarity(t->seen) >= t->thin) {
            if (t->weight != NULL)
                t->weight[t->count] = rows;
            t->value[t->count++] = v;
        }
    }
    t->seen++;
    t->total += rows;
    return ALD_OK;
}

static ald_status add_few(ald__mark_tally *t, const double *values, size_t count, ald_error *err)
{
    if (count == 0)
        return ALD_OK;
    note_values(t, values, count);
    if (t->thin == 0 && t->weight == NULL && t->capacity - t->count >= count) {
        memcpy(t->value + t->count, values, count * sizeof *values);
        t->count += count;
        t->seen += count;
        t->total += count;
        return ALD_OK;
    }
    for (size_t i = 0; i < count; i++)
        ALD_TRY(add_usable(t, values[i], 1, err));
    return ALD_OK;
}

/* As ald__mark_usable, for vectors: bit 63 is set by what is not. */
static int all_usable(const double *values, size_t count)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t magnitude = ald__mark_bits(values[i]) & (UINT64_MAX >> 1);
        bad |= (magnitude - 1) | (magnitude + (UINT64_C(1) << 52));
    }
    return bad >> 63 == 0;
}

ald_status ald__mark_tally_add(ald__mark_tally *tally, const double *values, size_t count,
                               ald_error *err)
{
    double usable[FEW];
    for (size_t at = 0; at < count; at += FEW) {
        size_t n = count - at < FEW ? count - at : FEW, kept = 0;
        if (all_usable(values + at, n)) {
            ALD_TRY(add_few(tally, values + at, n, err));
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            usable[kept] = values[at + i];
            kept += (size_t)ald__mark_usable(values[at + i]);
        }
        tally->zeros += n - kept;
        ALD_TRY(add_few(tally, usable, kept, err));
    }
    return ALD_OK;
}

ald_status ald__mark_tally_add_run(ald__mark_tally *tally, double value, uint64_t rows,
                                   ald_error *err)
{
    if (!ald__mark_usable(value)) {
        tally->zeros += rows;
        return ALD_OK;
    }
    if (rows > 1 && tally->weight == NULL) {
        if (tally->capacity == 0)
            ALD_TRY(make_room(tally, err));
        ALD_TRY(resize_weights(tally, tally->capacity, err));
        for (size_t i = 0; i < tally->count; i++)
            tally->weight[i] = 1;
    }
    note_values(tally, &value, 1);
    if (rows > 1) /* the next of this value does not rise or fall */
        tally->rises = tally->falls = 0;
    return add_usable(tally, value, rows, err);
}

/* ---- side by side */

ald_status ald__mark_tally_reserve(ald__mark_tally *tally, size_t count, int *is_there,
                                   ald_error *err)
{
    *is_there = tally->thin == 0 && tally->weight == NULL && count <= tally->limit - tally->count;
    if (!*is_there || tally->capacity - tally->count >= count)
        return ALD_OK;
    return resize_values(tally, grown_capacity(tally, tally->count + count), err);
}

void ald__mark_tally_part(const ald__mark_tally *tally, size_t begin, size_t count,
                          ald__mark_tally *part)
{
    ald__mark_tally_init(part, tally->alloc, count);
    part->value = tally->value + tally->count + begin;
    part->capacity = count;
}

void ald__mark_tally_join(ald__mark_tally *tally, const ald__mark_tally *part)
{
    const int follows = tally->seen > 0;
    tally->zeros += part->zeros;
    if (part->count == 0)
        return;
    tally->rises = tally->rises && part->rises && !(follows && !(part->value[0] > tally->last));
    tally->falls = tally->falls && part->falls && !(follows && !(part->value[0] < tally->last));
    tally->is_f32 = tally->is_f32 && part->is_f32;
    tally->least = follows && tally->least < part->least ? tally->least : part->least;
    tally->greatest =
        follows && tally->greatest > part->greatest ? tally->greatest : part->greatest;
    tally->last = part->last;
    if (part->value != tally->value + tally->count)
        memmove(tally->value + tally->count, part->value, part->count * sizeof *part->value);
    tally->count += part->count;
    tally->seen += part->count;
    tally->total += part->count;
}

/* ---- statistics */

/* The first value that may stand for row `row`, from value i on, which begins at row *end: whole blocks are left behind. */
static size_t skip_rows(const ald__mark_tally *t, size_t i, uint64_t *end, uint64_t row)
{
    for (; i + SKIPPED <= t->count; i += SKIPPED) {
        uint64_t rows = 0;
        for (size_t k = 0; k < SKIPPED; k++)
            rows += t->weight[i + k];
        if (*end + rows > row)
            break;
        *end += rows;
    }
    return i;
}

double ald__mark_tally_at(const ald__mark_tally *tally, uint64_t rank)
{
    uint64_t below = 0;
    size_t i;
    if (tally->kept == tally->count) /* all different */
        return tally->value[rank < tally->count ? rank : tally->count - 1];
    for (i = skip_rows(tally, 0, &below, rank); i + 1 < tally->count; i++) {
        below += tally->weight[i];
        if (rank < below)
            break;
    }
    return tally->value[i];
}

/* floor(m * num / den), also where the product does not fit. */
static uint64_t share(uint64_t m, uint64_t num, uint64_t den)
{
    return m / den * num + m % den * num / den;
}

double ald__mark_tally_spread(const ald__mark_tally *tally)
{
    uint64_t m = tally->kept;
    double spread;
    if (m == 0)
        return 0;
    spread = ald__mark_tally_at(tally, share(m, 3, 4)) - ald__mark_tally_at(tally, m / 4);
    if (spread == 0)
        spread = ald__mark_tally_at(tally, share(m, 9, 10)) - ald__mark_tally_at(tally, m / 10);
    return spread;
}

static int is_decimal(double a, double power)
{
    double scaled = a * power;
    return scaled < 8796093022208.0 && ald__mark_round(scaled) / power == a;
}

static int is_float_decimal(double a, double power)
{
    double scaled = a * power;
    return scaled < 1048576.0 && (float)(ald__mark_round(scaled) / power) == (float)a;
}

/* Which of some numbers of decimals (bit d: d of them) 95 of 100 values pass, of every `step`-th row, at the first `most` of which
 * is looked. When it is more than one, or not all rows: which may yet. */
static unsigned decimals_of_most(const ald__mark_tally *t, uint64_t step, uint64_t most,
                                 unsigned decimals, int (*passes)(double a, double power))
{
    const uint64_t tested = t->kept / step + (t->kept % step != 0);
    uint64_t end = 0, next = 0, failed[DECIMALS_MOST + 1] = {0};
    for (size_t i = 0; i < t->count && decimals != 0 && next / step < most; i++) {
        uint64_t hits;
        if (t->kept == t->count) { /* all different: right to the next one */
            if (next >= t->count)
                break;
            i = (size_t)next;
            end = next;
        }
        end += t->weight[i];
        if (next >= end)
            continue;
        hits = (end - 1 - next) / step + 1;
        next += hits * step;
        for (unsigned left = decimals; left != 0; left &= left - 1) {
            const int d = __builtin_ctz(left);
            if (passes(ald__mark_abs(t->value[i]), ald__mark_pow10(d)))
                break; /* more decimals mostly do, too */
            failed[d] += hits;
            if (failed[d] > tested / 20)
                decimals &= ~(1u << d);
        }
    }
    return decimals;
}

/* The least of them that 95 of 100 values pass; -1: none. A few values tell most of those that do not. */
static int least_decimals(const ald__mark_tally *t, unsigned most,
                          int (*passes)(double a, double power))
{
    const uint64_t rows = t->kept / TESTED_VALUES + (t->kept % TESTED_VALUES != 0);
    const uint64_t step = rows > 0 ? rows : 1;
    unsigned left = decimals_of_most(t, step, FEW_TESTED, (2u << most) - 1, passes);
    for (; left != 0; left &= left - 1) {
        if (decimals_of_most(t, step, UINT64_MAX, left & (0 - left), passes) != 0)
            return __builtin_ctz(left);
    }
    return -1;
}

int ald__mark_tally_decimals(const ald__mark_tally *tally, int is_f32, int *of_floats)
{
    int decimals = least_decimals(tally, DECIMALS_MOST, is_decimal);
    *of_floats = 0;
    if (decimals >= 0 || !is_f32)
        return decimals;
    decimals = least_decimals(tally, FLOAT_DECIMALS_MOST, is_float_decimal);
    *of_floats = decimals >= 0;
    return decimals;
}
