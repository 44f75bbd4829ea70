/* SPDX-License-Identifier: MIT */
/* Which filter for numbers: what each of them would take is found on a sample, and what is close is built and measured. */
#include <string.h>

#include "core/codec/packed/pack.h"

#define RUNS 8u
#define RUN_MIN 96u
#define RUN_MAX 512u
#define DELTA_GAIN 0.97 /* sums cost time: they must win something */
#define DELTA_GAIN_BYTES 0.90
#define DICT_CLOSE 1.05
#define RAW_GAIN 0.98
#define RAW_TIE 1.015  /* as it is where a filter gains next to nothing: that is read fastest */
#define SURE_GAIN 0.90 /* closer to the raw buffer than that, both are made */
#define SURE_PART 0.97
#define NEW_VALUES 4000u
#define NEW_PART 98u /* of a hundred */
#define PART 4u
#define PART_VALUES 8192u
#define PART_VALUES_MAX 65536u
#define EXCEPTIONS_PART 5u
#define E_TRIED_MAX 15
#define E_TRIED_MAX_FLOAT 8
#define E_VALUES 256u
#define STRIDES_MAX 8u

/* ---- Samples and modes */

ald_status ald__numbers_sample(ald__pack *pack, const ald__numbers *v, uint32_t whole_rows,
                               ald_buffer *buffer, ald__numbers *out)
{
    size_t run = v->n / 32 < RUN_MIN ? RUN_MIN : v->n / 32 > RUN_MAX ? RUN_MAX : v->n / 32;
    uint8_t *to;
    *out = *v;
    if (v->n <= run * RUNS)
        return ALD_OK;
    if (whole_rows > 0) { /* one run: what lies a row apart must stay there */
        size_t rows = (run * RUNS + whole_rows - 1) / whole_rows;
        out->n = rows * whole_rows < v->n ? rows * whole_rows : v->n;
        out->values += (v->n - out->n) / 2 / whole_rows * whole_rows * v->width;
        return ALD_OK;
    }
    to = ald__pack_room(pack, buffer, run * RUNS * v->width);
    if (to == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < RUNS; i++)
        memcpy(to + i * run * v->width, v->values + (v->n - run) / (RUNS - 1) * i * v->width,
               run * v->width);
    out->values = to;
    out->n = run * RUNS;
    out->run = (uint32_t)run;
    return ALD_OK;
}

ald_status ald__ints_choose(ald__pack *pack, const ald__numbers *sample, uint32_t modes,
                            uint32_t stride, ald__ints_mode *mode, double *cost)
{
    double gain = sample->width == 1 ? DELTA_GAIN_BYTES : DELTA_GAIN;
    double best = 0;
    *mode = ALD__MODE_PLAIN;
    for (uint32_t m = 0; m < ALD__MODE_COUNT; m++) {
        ald__packed_ints p;
        double c;
        if (!(modes & (1u << m)))
            continue;
        ald__ints_fit(pack, sample, (ald__ints_mode)m, stride, &p);
        ald__streams_reset(&pack->probe);
        ALD_TRY(ald__ints_put(pack, sample, &p, &pack->probe));
        c = ald__pack_cost(pack, &pack->probe);
        if (m == ALD__MODE_PLAIN || c < best * (*mode == ALD__MODE_PLAIN ? gain : 1.0)) {
            best = c;
            *mode = (ald__ints_mode)m;
        }
    }
    *cost = best;
    return ALD_OK;
}

ald_status ald__ints_put_best(ald__pack *pack, const ald__numbers *v, uint32_t modes,
                              ald__packed_ints *p, ald__streams *out)
{
    ald__ints_mode mode = ALD__MODE_PLAIN;
    ald__numbers sample;
    double cost;
    if (pack->forced_mode > 0) {
        mode = (ald__ints_mode)(pack->forced_mode - 1);
    } else if (modes != ALD__MODES_PLAIN) {
        ALD_TRY(ald__numbers_sample(pack, v, 0, &pack->probed, &sample));
        ALD_TRY(ald__ints_choose(pack, &sample, modes, 0, &mode, &cost));
    }
    ald__ints_fit(pack, v, mode, 1, p);
    return ald__ints_put(pack, v, p, out);
}

ald_status ald__pack_real_cost(ald__pack *pack, const ald__streams *streams, size_t *bytes)
{
    pack->squeezed.size = 0;
    ALD_TRY(ald__squeezer_frame(pack->squeezer, streams, &pack->squeezed, pack->err));
    *bytes = pack->squeezed.size;
    return ALD_OK;
}

/* ---- Building a filter over a column, or over a sample of it */

typedef struct number_choice {
    uint8_t filter;
    ald__ints_mode mode;
    uint8_t e;
    uint32_t stride;
    double cost; /* of the sample */
} number_choice;

typedef struct number_column {
    ald__pack *pack;
    const ald__numbers *v;
    ald__numbers sample;
    int is_float;
    uint32_t stride;
} number_column;

static ald_status build_raw(number_column *c, const ald__numbers *v, ald__streams *out)
{
    return ald__streams_put(out, v->values, v->n * v->width, 1, c->pack->err);
}

static ald_status build_dict(number_column *c, const ald__numbers *v, ald__packed_entry *entry,
                             ald__streams *out, int *done)
{
    ald__pack *pack = c->pack;
    size_t limit = v->n / 2 < ALD__PACKED_WORDS_MAX - 1 ? v->n / 2 : ALD__PACKED_WORDS_MAX - 1;
    ald__numbers values = {NULL, 0, v->width, 0};
    uint8_t *dense;
    size_t count;
    *done = 0;
    if (pack->forced > 0)
        limit = v->n < ALD__PACKED_WORDS_MAX ? v->n : ALD__PACKED_WORDS_MAX;
    ALD_TRY(ald__pack_distinct(pack, v, limit, &count));
    if (count == 0 && v->n > 0)
        return ALD_OK;
    dense = ald__pack_room(pack, &pack->more, count * v->width);
    if (dense == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < count; i++) /* little-endian: the low bytes come first */
        memcpy(dense + i * v->width, pack->words.data + i * sizeof(uint64_t), v->width);
    values.values = dense;
    values.n = count;
    entry->count = (uint32_t)count;
    entry->index_bits = ald__pack_bits(pack, count > 0 ? count - 1 : 0);
    ALD_TRY(ald__ints_put_best(pack, &values, ALD__MODES_ALL, &entry->ints, out));
    ALD_TRY(ald__indices_put(pack, (const uint16_t *)(const void *)pack->indices.data, v->n,
                             entry->index_bits, out));
    *done = 1;
    return ALD_OK;
}

/* ---- Decimals */

static const double decimal_powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

#define K_LIMIT 2251799813685248.0 /* 2^51 */
#define K_LIMIT_FLOAT 2147483648.0 /* 2^31 */
#define ROUNDER 6755399441055744.0 /* 1.5 × 2^52: adding it rounds */
#define ROUNDER_BITS 0x4338000000000000ull

static uint64_t bits_of_double(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint32_t bits_of_float(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* Not 0 where k / 10^e is not v, bit for bit. −0.0, infinities and NaN are never. k is right where it is 0: it stands in the
 * low bits of a number around 1.5 × 2^52. */
static uint64_t misses_double(double v, double power, int64_t *k)
{
    double moved = v * power + ROUNDER, whole = moved - ROUNDER;
    *k = (int64_t)(bits_of_double(moved) - ROUNDER_BITS);
    return (bits_of_double(whole / power) ^ bits_of_double(v)) |
           (uint64_t)!(whole > -K_LIMIT && whole < K_LIMIT);
}

static uint64_t misses_float(float v, double power, int64_t *k)
{
    double moved = (double)v * power + ROUNDER, whole = moved - ROUNDER;
    *k = (int64_t)(bits_of_double(moved) - ROUNDER_BITS);
    return (bits_of_float((float)(whole / power)) ^ bits_of_float(v)) |
           (uint64_t)!(whole > -K_LIMIT_FLOAT && whole < K_LIMIT_FLOAT);
}

static uint64_t misses_decimal(const uint8_t *bits, uint32_t width, double power, int64_t *k)
{
    double d;
    float f;
    if (width == 8) {
        memcpy(&d, bits, 8);
        return misses_double(d, power, k);
    }
    memcpy(&f, bits, 4);
    return misses_float(f, power, k);
}

/* The same of a block of values, all together. */
#define DECIMAL_BLOCK 64u
static uint64_t misses_block(const uint8_t *values, uint32_t width, size_t n, double power,
                             uint8_t *ks)
{
    uint64_t misses = 0;
    int64_t k;
    if (width == 8) {
        for (size_t i = 0; i < n; i++) {
            double d;
            memcpy(&d, values + i * 8, 8);
            misses |= misses_double(d, power, &k);
            memcpy(ks + i * 8, &k, 8);
        }
        return misses;
    }
    for (size_t i = 0; i < n; i++) {
        float f;
        memcpy(&f, values + i * 4, 4);
        misses |= misses_float(f, power, &k);
        memcpy(ks + i * 4, &k, 4);
    }
    return misses;
}

/* The smallest e that most values have, or −1. */
static int find_exponent(const ald__numbers *v)
{
    int max = v->width == 8 ? E_TRIED_MAX : E_TRIED_MAX_FLOAT;
    size_t step = v->n > E_VALUES ? v->n / E_VALUES : 1;
    for (int e = 0; e <= max; e++) {
        size_t fits = 0, tried = 0, misses = 0;
        int64_t k;
        for (size_t i = 0; i < v->n && tried < E_VALUES; i += step, tried++) {
            int good =
                misses_decimal(v->values + i * v->width, v->width, decimal_powers[e], &k) == 0;
            fits += (size_t)good;
            misses += (size_t)!good;
            if (misses * 10 > E_VALUES)
                break;
        }
        if (fits > 0 && fits * 10 >= tried * 9)
            return e;
    }
    return -1;
}

/* k of every value in pack->numbers, exceptions in pack->more: positions, then bits. SIZE_MAX: too many. */
static size_t find_decimals(ald__pack *pack, const ald__numbers *v, double power, uint8_t *ks,
                            uint32_t *positions, uint8_t *raw)
{
    size_t most = pack->forced > 0 ? v->n : v->n / EXCEPTIONS_PART, count = 0;
    uint32_t w = v->width;
    int64_t k = 0, before = 0;
    for (size_t at = 0; at < v->n; at += DECIMAL_BLOCK) {
        size_t end = v->n - at < DECIMAL_BLOCK ? v->n : at + DECIMAL_BLOCK;
        const uint8_t *values = v->values + at * w;
        if (misses_block(values, w, end - at, power, ks + at * w) == 0)
            continue;
        if (at > 0)
            memcpy(&before, ks + (at - 1) * w, w);
        for (size_t i = at; i < end; i++, values += w) {
            if (misses_decimal(values, w, power, &k) != 0) {
                if (count >= most)
                    return SIZE_MAX;
                positions[count] = (uint32_t)i;
                memcpy(raw + count++ * w, values, w);
                k = before; /* costs nothing where values repeat or steps are coded */
            }
            memcpy(ks + i * w, &k, w);
            before = k;
        }
    }
    return count;
}

static ald_status build_decimal(number_column *c, const ald__numbers *v, int e,
                                ald__packed_entry *entry, ald__streams *out, int *done)
{
    ald__pack *pack = c->pack;
    uint8_t *ks = ald__pack_room(pack, &pack->numbers, v->n * v->width);
    uint8_t *more = ald__pack_room(pack, &pack->more, v->n * (v->width + 4));
    ald__numbers series = {ks, v->n, v->width, v->run};
    size_t count;
    *done = 0;
    if (ks == NULL || more == NULL)
        return ALD_E_NOMEM;
    count =
        find_decimals(pack, v, decimal_powers[e], ks, (uint32_t *)(void *)more, more + v->n * 4);
    if (count == SIZE_MAX)
        return ALD_OK;
    entry->small = (uint8_t)e;
    entry->count = (uint32_t)count;
    if (count > 0) {
        ald__numbers positions = {more, count, 4, 0};
        ald__numbers raw = {more + v->n * 4, count, v->width, 0};
        ALD_TRY(ald__ints_put_best(pack, &positions, ALD__MODES_ALL, &entry->extra, out));
        ALD_TRY(ald__ints_put_best(pack, &raw, ALD__MODES_PLAIN, &entry->raw, out));
    }
    ALD_TRY(ald__ints_put_best(pack, &series, ALD__MODES_ALL, &entry->ints, out));
    *done = 1;
    return ALD_OK;
}

/* ---- The choice */

static ald_status build_number_filter(number_column *c, const number_choice *choice,
                                      const ald__numbers *v, ald__packed_entry *entry,
                                      ald__streams *out, int *done)
{
    memset(entry, 0, offsetof(ald__packed_entry, slots));
    ald__streams_reset(out);
    entry->filter = choice->filter;
    *done = 1;
    switch (choice->filter) {
    case ALD__FILTER_INTS:
        ald__ints_fit(c->pack, v, choice->mode, choice->stride, &entry->ints);
        return ald__ints_put(c->pack, v, &entry->ints, out);
    case ALD__FILTER_DICT:
        return build_dict(c, v, entry, out, done);
    case ALD__FILTER_DECIMAL:
        return build_decimal(c, v, choice->e, entry, out, done);
    default:
        return build_raw(c, v, out);
    }
}

/* The sample's streams in pack->trial, and their cost; *done = 0: not possible. */
static ald_status try_sample(number_column *c, number_choice *choice, int *done)
{
    ald__packed_entry entry;
    ALD_TRY(build_number_filter(c, choice, &c->sample, &entry, &c->pack->trial, done));
    choice->cost = ald__pack_cost(c->pack, &c->pack->trial);
    return ALD_OK;
}

/* A dictionary's values are stored once for the column, not once for the sample. */
static ald_status try_sample_dict(number_column *c, size_t distinct, number_choice *out, int *done)
{
    ald__packed_entry entry;
    double values, part = (double)c->sample.n / (double)c->v->n;
    *done = 0;
    out->filter = ALD__FILTER_DICT;
    if (c->v->width == 1 || distinct * 2 > c->sample.n || distinct == 0)
        return ALD_OK;
    ALD_TRY(build_number_filter(c, out, &c->sample, &entry, &c->pack->trial, done));
    if (!*done)
        return ALD_OK;
    values = (double)ald__planes_bytes(entry.count, entry.ints.bits);
    out->cost = ald__pack_cost(c->pack, &c->pack->trial);
    out->cost -= values < out->cost ? values * (1 - part) : 0;
    return ALD_OK;
}

/* What matches add to symbols: zstd-1 over the sample's streams. */
static double refined_cost(number_column *c, const number_choice *choice)
{
    const ald_buffer *b = &c->pack->trial.bytes;
    double matched = (double)ald__squeezer_estimate(c->pack->squeezer, b->data, b->size);
    return matched < choice->cost ? matched : choice->cost;
}

/* The whole column, really compressed; takes the place of what is in pack->best when smaller (*bytes; SIZE_MAX: none). */
static ald_status try_whole(number_column *c, const number_choice *choice, size_t *bytes,
                            ald__packed_entry *entry)
{
    ald__packed_entry tried;
    size_t got;
    int done;
    ALD_TRY(build_number_filter(c, choice, c->v, &tried, &c->pack->trial, &done));
    if (!done)
        return ALD_OK;
    ALD_TRY(ald__pack_real_cost(c->pack, &c->pack->trial, &got));
    if (got >= *bytes)
        return ALD_OK;
    *bytes = got;
    memcpy(entry, &tried, offsetof(ald__packed_entry, slots));
    ald__streams_swap(&c->pack->best, &c->pack->trial);
    return ALD_OK;
}

/* How far apart values of a fixed-size list may be alike: colours side by side, rows of a square picture, the list before.
 * Returns how many of `out` are worth a try. */
static size_t list_strides(uint32_t list, uint32_t out[STRIDES_MAX])
{
    static const uint32_t colours[] = {3, 4, 1};
    size_t count = 0;
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++) {
        uint32_t side = 1, pixels = list / colours[i];
        if (list % colours[i] != 0)
            continue;
        if (colours[i] > 1)
            out[count++] = colours[i];
        while (side * side < pixels && side < 65535)
            side++;
        if (side * side == pixels && side > 4)
            out[count++] = side * colours[i];
    }
    out[count++] = list;
    return count;
}

static ald_status pack_numbers_best(number_column *c, ald__packed_entry *entry)
{
    number_choice choice = {.filter = ALD__FILTER_RAW};
    uint32_t list[STRIDES_MAX];
    size_t bytes = SIZE_MAX, strides = c->stride > 0 ? list_strides(c->stride, list) : 0;
    int e = c->is_float ? find_exponent(&c->sample) : -1;
    ALD_TRY(try_whole(c, &choice, &bytes, entry));
    choice.filter = ALD__FILTER_INTS;
    for (uint32_t m = 0; m < ALD__MODE_STRIDE; m++) {
        choice.mode = (ald__ints_mode)m;
        ALD_TRY(try_whole(c, &choice, &bytes, entry));
    }
    choice.mode = ALD__MODE_STRIDE;
    for (size_t i = 0; i < strides; i++) {
        choice.stride = list[i];
        ALD_TRY(try_whole(c, &choice, &bytes, entry));
    }
    if (e >= 0) {
        choice.filter = ALD__FILTER_DECIMAL;
        choice.e = (uint8_t)e;
        ALD_TRY(try_whole(c, &choice, &bytes, entry));
    }
    choice.filter = ALD__FILTER_DICT;
    return c->v->width > 1 ? try_whole(c, &choice, &bytes, entry) : ALD_OK;
}

static ald_status choose_stride(number_column *c, number_choice *best)
{
    uint32_t strides[STRIDES_MAX];
    size_t count = list_strides(c->stride, strides);
    double gain = best->mode != ALD__MODE_PLAIN ? 1
                  : c->v->width == 1            ? DELTA_GAIN_BYTES
                                                : DELTA_GAIN;
    for (size_t i = 0; i < count; i++) {
        ald__packed_ints p;
        double cost;
        if (strides[i] >= c->sample.n)
            continue;
        ald__ints_fit(c->pack, &c->sample, ALD__MODE_STRIDE, strides[i], &p);
        ald__streams_reset(&c->pack->probe);
        ALD_TRY(ald__ints_put(c->pack, &c->sample, &p, &c->pack->probe));
        cost = ald__pack_cost(c->pack, &c->pack->probe);
        if (cost >= best->cost * gain)
            continue;
        best->mode = ALD__MODE_STRIDE;
        best->stride = strides[i];
        best->cost = cost;
        gain = 1;
    }
    return ALD_OK;
}

/* The cheapest of numbers and decimals on the sample; `second`: what to take where that fails. */
static ald_status choose_series(number_column *c, number_choice *out, number_choice *second)
{
    number_choice decimal = {.filter = ALD__FILTER_DECIMAL};
    uint32_t modes = ALD__MODES_ALL;
    int e = c->is_float ? find_exponent(&c->sample) : -1, done = 0;
    if (c->pack->effort == ALD__PACK_FAST && c->v->width == 1)
        modes = ALD__MODES_PLAIN; /* sums of single bytes are slow to restore */
    memset(second, 0, sizeof *second);
    second->filter = ALD__FILTER_INTS;
    ALD_TRY(ald__ints_choose(c->pack, &c->sample, modes, 0, &second->mode, &second->cost));
    if (c->stride > 0 && c->pack->effort != ALD__PACK_FAST)
        ALD_TRY(choose_stride(c, second));
    *out = *second;
    if (e < 0)
        return ALD_OK;
    decimal.e = (uint8_t)e;
    ALD_TRY(try_sample(c, &decimal, &done));
    if (done && decimal.cost < second->cost)
        *out = decimal;
    return ALD_OK;
}

/* A dictionary over the whole column against what the sample promises of another filter: *won says whether it is built. */
static ald_status weigh_dict(number_column *c, double other, ald__packed_entry *entry, int *won)
{
    number_choice dict = {.filter = ALD__FILTER_DICT};
    double cost, matched, scale = (double)c->v->n / (double)c->sample.n;
    const ald_buffer *b = &c->pack->best.bytes;
    size_t values, piece = 512, pieces = 8;
    ALD_TRY(build_number_filter(c, &dict, c->v, entry, &c->pack->best, won));
    if (!*won)
        return ALD_OK;
    values = (size_t)ald__planes_bytes(entry->count, entry->ints.bits);
    cost = ald__pack_plane_cost(b->data + values, b->size - values);
    if (b->size - values > piece * pieces) {
        uint8_t *parts = ald__pack_room(c->pack, &c->pack->squeezed, piece * pieces);
        if (parts == NULL)
            return ALD_E_NOMEM;
        for (size_t i = 0; i < pieces; i++)
            memcpy(parts + i * piece,
                   b->data + values + (b->size - values - piece) / (pieces - 1) * i, piece);
        matched = (double)ald__squeezer_estimate(c->pack->squeezer, parts, piece * pieces);
        matched *= (double)(b->size - values) / (double)(piece * pieces);
        cost = matched < cost ? matched : cost;
    }
    *won = cost + (double)values < other * scale;
    return ALD_OK;
}

/* Hardly a value comes twice in a part of the column: as it is, zstd will find nothing that the sample did not show. */
static ald_status has_no_repeats(number_column *c, int *none)
{
    ald__numbers part = *c->v;
    size_t distinct, most = NEW_VALUES / 100 * NEW_PART;
    *none = 0;
    if (part.width < 4 || part.n < NEW_VALUES)
        return ALD_OK;
    part.values += (part.n - NEW_VALUES) / 2 * part.width;
    part.n = NEW_VALUES;
    ALD_TRY(ald__pack_distinct(c->pack, &part, NEW_VALUES, &distinct));
    *none = distinct >= most;
    return ALD_OK;
}

/* Part of the column in one piece, as it is and filtered: matches that a scattered sample does not have show here. 1: the
 * filter wins so clearly that the whole need not be tried; −1: it loses; 0: it is close. */
static ald_status compare_part(number_column *c, const number_choice *choice, int *verdict)
{
    ald__numbers part = *c->v;
    number_choice raw = {.filter = ALD__FILTER_RAW};
    ald__packed_entry entry;
    size_t filtered, plain;
    int done;
    *verdict = 0;
    if (part.n < PART_VALUES * PART)
        return ALD_OK;
    part.n = part.n / PART < PART_VALUES_MAX ? part.n / PART : PART_VALUES_MAX;
    ALD_TRY(build_number_filter(c, &raw, &part, &entry, &c->pack->trial, &done));
    ALD_TRY(ald__pack_real_cost(c->pack, &c->pack->trial, &plain));
    ALD_TRY(build_number_filter(c, choice, &part, &entry, &c->pack->trial, &done));
    if (!done)
        return ALD_OK;
    ALD_TRY(ald__pack_real_cost(c->pack, &c->pack->trial, &filtered));
    *verdict = (double)filtered < SURE_PART * (double)plain   ? 1
               : (double)plain < SURE_PART * (double)filtered ? -1
                                                              : 0;
    return ALD_OK;
}

/* No column may take more than it does as it is: where the choice is close, both are made. */
static ald_status guard_raw(number_column *c, const number_choice *choice, ald__packed_entry *entry)
{
    number_choice raw = {.filter = ALD__FILTER_RAW};
    size_t bytes;
    int verdict, done;
    ALD_TRY(has_no_repeats(c, &verdict));
    if (verdict == 0)
        ALD_TRY(compare_part(c, choice, &verdict));
    if (verdict > 0)
        return ALD_OK;
    if (verdict < 0)
        return build_number_filter(c, &raw, c->v, entry, &c->pack->best, &done);
    ALD_TRY(ald__pack_real_cost(c->pack, &c->pack->best, &bytes));
    return try_whole(c, &raw, &bytes, entry);
}

static ald_status pack_numbers_default(number_column *c, ald__packed_entry *entry)
{
    number_choice best, second, dict = {.filter = ALD__FILTER_DICT};
    number_choice raw = {.filter = ALD__FILTER_RAW};
    size_t distinct;
    int done, won = 0, repeats;
    ALD_TRY(choose_series(c, &best, &second));
    ALD_TRY(try_sample(c, &best, &done));
    best.cost = refined_cost(c, &best);
    ALD_TRY(ald__pack_distinct(c->pack, &c->sample, c->sample.n, &distinct));
    repeats = distinct > 0 && distinct * 2 < c->sample.n;
    ALD_TRY(try_sample_dict(c, distinct, &dict, &done));
    if (done && dict.cost <= DICT_CLOSE * best.cost) {
        ALD_TRY(weigh_dict(c, best.cost, entry, &won));
        if (won && dict.cost < best.cost)
            best.cost = dict.cost;
    }
    raw.cost = (double)ald__squeezer_estimate(c->pack->squeezer, c->sample.values,
                                              c->sample.n * c->sample.width);
    if (raw.cost < (repeats ? RAW_GAIN : RAW_TIE) * best.cost)
        return build_number_filter(c, &raw, c->v, entry, &c->pack->best, &done);
    if (!won) {
        ALD_TRY(build_number_filter(c, &best, c->v, entry, &c->pack->best, &done));
        if (!done)
            ALD_TRY(build_number_filter(c, &second, c->v, entry, &c->pack->best, &done));
    }
    return best.cost < SURE_GAIN * raw.cost ? ALD_OK : guard_raw(c, won ? &dict : &best, entry);
}

static ald_status pack_forced(number_column *c, ald__packed_entry *entry)
{
    number_choice choice = {.filter = (uint8_t)(c->pack->forced - 1)};
    number_choice raw = {.filter = ALD__FILTER_RAW};
    int done = 0, e = c->is_float ? find_exponent(c->v) : -1;
    if (c->pack->forced_mode > 0)
        choice.mode = (ald__ints_mode)(c->pack->forced_mode - 1);
    choice.stride = c->stride == 0 ? 3 : c->stride;
    choice.e = e < 0 ? 2 : (uint8_t)e;
    if ((choice.filter != ALD__FILTER_DECIMAL || c->is_float) &&
        (choice.filter != ALD__FILTER_DICT || c->v->width > 1) &&
        choice.filter <= ALD__FILTER_DECIMAL)
        ALD_TRY(build_number_filter(c, &choice, c->v, entry, &c->pack->best, &done));
    return done ? ALD_OK : build_number_filter(c, &raw, c->v, entry, &c->pack->best, &done);
}

ald_status ald__pack_numbers(ald__pack *pack, const ald__numbers *v, int is_float, uint32_t stride,
                             ald__packed_entry *entry)
{
    number_column c = {pack, v, {NULL, 0, 0, 0}, is_float, stride};
    if (pack->forced > 0)
        return pack_forced(&c, entry);
    ALD_TRY(ald__numbers_sample(pack, v, stride, &pack->sample, &c.sample));
    return pack->effort == ALD__PACK_BEST ? pack_numbers_best(&c, entry)
                                          : pack_numbers_default(&c, entry);
}
