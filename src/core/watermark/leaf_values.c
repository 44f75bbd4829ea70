/* SPDX-License-Identifier: MIT */
#include "core/watermark/leaf_values.h"

#include <string.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/watermark/cells.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/wide_decimal.h"

#define TOO_LARGE 9007199254740992.0 /* 2^53 */
#define DAY_MILLIS 86400000
#define NAN_BITS UINT64_C(0x7ff8000000000000)

ald__mark_type ald__mark_leaf_type(const ald__mark_leaf *leaf)
{
    ald__mark_type type = {0, 0, -1};
    type.is_float = leaf->type.id == ALD__FLOAT32;
    type.is_integer = leaf->type.id != ALD__FLOAT32 && leaf->type.id != ALD__FLOAT64 &&
                      leaf->type.id != ALD__DECIMAL;
    if (leaf->type.id == ALD__DECIMAL)
        type.scale = leaf->type.scale;
    return type;
}

/* ---- reading */

#define READ_ALL(type)                                                                             \
    do {                                                                                           \
        for (size_t i = 0; i < count; i++) {                                                       \
            type v_;                                                                               \
            memcpy(&v_, from + i * sizeof v_, sizeof v_);                                          \
            out[i] = (double)v_;                                                                   \
        }                                                                                          \
    } while (0)

/* Two's complement of 4 to 32 bytes; NaN for magnitudes of 2^53 and more. */
static double read_decimal(const uint8_t *from, int width)
{
    int64_t low = width == 4 ? (int32_t)ald__load_le32(from) : (int64_t)ald__load_le64(from);
    for (int i = 8; i < width; i += 8) {
        if ((int64_t)ald__load_le64(from + i) != (low < 0 ? -1 : 0))
            return ald__mark_double(NAN_BITS);
    }
    if (low >= (INT64_C(1) << 53) || low <= -(INT64_C(1) << 53))
        return ald__mark_double(NAN_BITS);
    return (double)low;
}

static void read_decimals(const ald__mark_leaf *leaf, const uint8_t *from, size_t count,
                          double *out)
{
    double power;
    if (leaf->is_suspect) {
        for (size_t i = 0; i < count; i++)
            out[i] = ald__wide_decimal(from + i * (size_t)leaf->type.byte_width,
                                       leaf->type.byte_width, leaf->type.scale);
        return;
    }
    power = ald__mark_pow10(leaf->type.scale);
    for (size_t i = 0; i < count; i++)
        out[i] =
            read_decimal(from + i * (size_t)leaf->type.byte_width, leaf->type.byte_width) / power;
}

/* Days, as the same dates have in other types; NaN for what is no day. */
static void read_days(const uint8_t *from, size_t count, double *out)
{
    for (size_t i = 0; i < count; i++) {
        int64_t millis = (int64_t)ald__load_le64(from + i * 8);
        if (millis % DAY_MILLIS != 0) {
            out[i] = ald__mark_double(NAN_BITS);
            continue;
        }
        millis /= DAY_MILLIS;
        out[i] = (double)millis;
    }
}

/* Slots [at, at + count) of a values buffer, whatever they hold. */
static void read_values(const ald__mark_leaf *leaf, const void *buffer, int64_t at, size_t count,
                        double *out)
{
    const uint8_t *from = (const uint8_t *)buffer + (size_t)at * (leaf->type.bit_width / 8);
    switch (leaf->type.id) {
    case ALD__FLOAT64:
        memcpy(out, from, count * sizeof *out);
        break;
    case ALD__FLOAT32:
        READ_ALL(float);
        break;
    case ALD__INT8:
        READ_ALL(int8_t);
        break;
    case ALD__UINT8:
        READ_ALL(uint8_t);
        break;
    case ALD__INT16:
        READ_ALL(int16_t);
        break;
    case ALD__UINT16:
        READ_ALL(uint16_t);
        break;
    case ALD__INT32:
    case ALD__DATE32:
    case ALD__TIME32:
        READ_ALL(int32_t);
        break;
    case ALD__UINT32:
        READ_ALL(uint32_t);
        break;
    case ALD__UINT64:
        READ_ALL(uint64_t);
        break;
    case ALD__DECIMAL:
        read_decimals(leaf, from, count, out);
        break;
    case ALD__DATE64:
        read_days(from, count, out);
        break;
    default:
        READ_ALL(int64_t);
        break;
    }
}

static const uint8_t *nulls_of(const struct ArrowArray *array)
{
    return array->null_count != 0 ? array->buffers[0] : NULL;
}

/* The positions, below `count`, of slots from `at` on that are reached and not null. */
static size_t live_slots(const ald__mark_slots *s, int64_t at, size_t count, uint16_t *live)
{
    const uint8_t *validity = nulls_of(s->array);
    uint64_t physical = (uint64_t)(s->array->offset + s->begin + at);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        live[n] = (uint16_t)i;
        n += (s->mask == NULL || ald__bit_get(s->mask, (uint64_t)at + i)) &&
             (validity == NULL || ald__bit_get(validity, physical + i));
    }
    return n;
}

static int all_live(const ald__mark_slots *s)
{
    return s->mask == NULL && nulls_of(s->array) == NULL;
}

/* The value of one slot of an array of numbers, or of a dictionary of them. *is_null tells whether it has none. */
static double read_one(const ald__mark_leaf *leaf, const struct ArrowArray *array, int64_t slot,
                       int *is_null)
{
    int64_t at = array->offset + slot;
    const uint8_t *validity = nulls_of(array);
    double v = 0;
    *is_null = validity != NULL && !ald__bit_get(validity, (uint64_t)at);
    if (*is_null)
        return 0;
    if (leaf->index_width > 0 && array->dictionary != NULL) {
        int64_t index =
            leaf->index_is_signed
                ? ald__layout_signed(array->buffers[1], leaf->index_width, at)
                : (int64_t)ald__layout_unsigned(array->buffers[1], leaf->index_width, at);
        return read_one(leaf, array->dictionary, index, is_null);
    }
    read_values(leaf, array->buffers[1], at, 1, &v);
    return v;
}

typedef ald_status (*take_rows)(void *ctx, const double *values, size_t count, ald_error *err);

static ald_status plain_rows(const ald__mark_leaf *leaf, const ald__mark_slots *s, take_rows take,
                             void *ctx, ald_error *err)
{
    double values[ALD__MARK_CHUNK];
    uint16_t live[ALD__MARK_CHUNK] = {0};
    const int all = all_live(s);
    for (int64_t at = 0; at < s->count; at += ALD__MARK_CHUNK) {
        size_t n = s->count - at < ALD__MARK_CHUNK ? (size_t)(s->count - at) : ALD__MARK_CHUNK;
        read_values(leaf, s->array->buffers[1], s->array->offset + s->begin + at, n, values);
        if (!all) {
            n = live_slots(s, at, n, live);
            for (size_t i = 0; i < n; i++)
                values[i] = values[live[i]];
        }
        ALD_TRY(take(ctx, values, n, err));
    }
    return ALD_OK;
}

static ald_status dictionary_rows(const ald__mark_leaf *leaf, const ald__mark_slots *s,
                                  take_rows take, void *ctx, ald_error *err)
{
    double values[ALD__MARK_CHUNK];
    uint16_t live[ALD__MARK_CHUNK] = {0};
    for (int64_t at = 0; at < s->count; at += ALD__MARK_CHUNK) {
        size_t n = s->count - at < ALD__MARK_CHUNK ? (size_t)(s->count - at) : ALD__MARK_CHUNK;
        size_t kept = 0;
        n = live_slots(s, at, n, live);
        for (size_t i = 0; i < n; i++) {
            int is_null;
            values[kept] = read_one(leaf, s->array, s->begin + at + live[i], &is_null);
            kept += !is_null;
        }
        ALD_TRY(take(ctx, values, kept, err));
    }
    return ALD_OK;
}

typedef ald_status (*take_run)(void *ctx, double value, uint64_t rows, ald_error *err);

/* Each run with the number of its rows that are reached. */
static ald_status each_run(const ald__mark_leaf *leaf, const ald__mark_slots *s, take_run take,
                           void *ctx, ald_error *err)
{
    const struct ArrowArray *ends = s->array->children[0], *values = s->array->children[1];
    int64_t row = s->begin, last = s->begin + s->count, run;
    if (s->count == 0)
        return ALD_OK;
    run = ald__layout_run(s->array, leaf->has_runs, row);
    for (; row < last; run++) {
        int64_t end = ald__layout_signed(ends->buffers[1], leaf->has_runs, ends->offset + run) -
                      s->array->offset;
        int is_null;
        double v = read_one(leaf, values, run, &is_null);
        uint64_t rows;
        end = end < last ? end : last;
        rows = (uint64_t)(end - row);
        if (s->mask != NULL)
            rows = ald__bits_count(s->mask, (uint64_t)(row - s->begin), rows);
        if (!is_null && rows > 0)
            ALD_TRY(take(ctx, v, rows, err));
        row = end;
    }
    return ALD_OK;
}

/* ---- adding to a tally */

typedef struct adder {
    const ald__mark_leaf *leaf;
    ald__mark_tally *tally;
    uint8_t *reason;
} adder;

/* Whether values that cannot be marked are among these. NaN stands for such in types that have none. */
static int has_bad(const ald__mark_leaf *leaf, const double *values, size_t count)
{
    int bad = 0;
    if (leaf->type.id == ALD__FLOAT32 || leaf->type.id == ALD__FLOAT64)
        return 0;
    if (leaf->type.id == ALD__DECIMAL) {
        for (size_t i = 0; i < count; i++)
            bad |= values[i] != values[i];
        return bad;
    }
    for (size_t i = 0; i < count; i++)
        bad |= !(ald__mark_abs(values[i]) < TOO_LARGE);
    return bad;
}

static int note_bad(const adder *a, const double *values, size_t count)
{
    if (*a->reason == ALD_WATERMARK_NONE && has_bad(a->leaf, values, count))
        *a->reason = a->leaf->type.id == ALD__DATE64 ? ALD_WATERMARK_DAYS : ALD_WATERMARK_TOO_LARGE;
    return *a->reason != ALD_WATERMARK_NONE;
}

static ald_status add_rows(void *ctx, const double *values, size_t count, ald_error *err)
{
    const adder *a = ctx;
    return note_bad(a, values, count) ? ALD_OK : ald__mark_tally_add(a->tally, values, count, err);
}

static ald_status add_run(void *ctx, double value, uint64_t rows, ald_error *err)
{
    const adder *a = ctx;
    return note_bad(a, &value, 1) ? ALD_OK : ald__mark_tally_add_run(a->tally, value, rows, err);
}

ald_status ald__mark_leaf_add(const ald__mark_leaf *leaf, const ald__mark_slots *slots,
                              ald__mark_tally *tally, uint8_t *reason, ald_error *err)
{
    adder a = {leaf, tally, reason};
    if (*reason != ALD_WATERMARK_NONE)
        return ALD_OK;
    if (leaf->has_runs)
        return each_run(leaf, slots, add_run, &a, err);
    return ald__mark_leaf_rows(leaf, slots, add_rows, &a, err);
}

typedef struct repeater {
    take_rows take;
    void *ctx;
} repeater;

/* The rows of a run, as many as a statistic over rows can make use of. */
static ald_status repeat_run(void *ctx, double value, uint64_t rows, ald_error *err)
{
    const repeater *r = ctx;
    double values[ALD__MARK_CHUNK];
    for (size_t i = 0; i < ALD__MARK_CHUNK; i++)
        values[i] = value;
    rows = rows < 16 * ALD__MARK_CHUNK ? rows : 16 * ALD__MARK_CHUNK;
    while (rows > 0) {
        size_t n = rows < ALD__MARK_CHUNK ? (size_t)rows : ALD__MARK_CHUNK;
        ALD_TRY(r->take(r->ctx, values, n, err));
        rows -= n;
    }
    return ALD_OK;
}

ald_status ald__mark_leaf_rows(const ald__mark_leaf *leaf, const ald__mark_slots *slots,
                               ald_status (*take)(void *ctx, const double *values, size_t count,
                                                  ald_error *err),
                               void *ctx, ald_error *err)
{
    repeater r = {take, ctx};
    if (leaf->has_runs)
        return each_run(leaf, slots, repeat_run, &r, err);
    if (leaf->index_width > 0)
        return dictionary_rows(leaf, slots, take, ctx, err);
    return plain_rows(leaf, slots, take, ctx, err);
}

/* ---- writing */

/* The most that an integer type holds, or a time of day may be; its least is 0 or the negative of that, or one below. */
static double greatest_of(const ald__type *type, double *least)
{
    static const double seconds[4] = {86399, 86399999, 86399999999, 86399999999999};
    *least = 0;
    switch (type->id) {
    case ALD__INT8:
    case ALD__INT16:
    case ALD__INT32:
    case ALD__DATE32:
        *least = -ald__mark_pow2((int)type->bit_width - 1);
        return ald__mark_pow2((int)type->bit_width - 1) - 1;
    case ALD__UINT8:
    case ALD__UINT16:
    case ALD__UINT32:
        return ald__mark_pow2((int)type->bit_width) - 1;
    case ALD__UINT64:
        return 2 * TOO_LARGE;
    case ALD__TIME32:
    case ALD__TIME64:
        return seconds[type->unit];
    default:
        *least = -2 * TOO_LARGE;
        return 2 * TOO_LARGE;
    }
}

static void write_integer(const ald__mark_leaf *leaf, uint8_t *to, int64_t v)
{
    switch (leaf->type.bit_width) {
    case 8:
        *to = (uint8_t)v;
        break;
    case 16:
        ald__store_le16(to, (uint16_t)v);
        break;
    case 32:
        ald__store_le32(to, (uint32_t)v);
        break;
    default:
        ald__store_le64(to, (uint64_t)v);
        break;
    }
}

/* A multiple of the last digit that values are marked with. More digits than the type has are not written. */
static void write_decimal(const ald__mark_leaf *leaf, const ald__mark_plan *plan, uint8_t *to,
                          double v)
{
    double units = ald__mark_round(ald__mark_abs(v) * plan->power);
    int64_t whole;
    if (!(units < TOO_LARGE))
        return;
    whole = (int64_t)units;
    for (int d = plan->decimals; d < leaf->type.scale; d++) {
        if (whole > INT64_MAX / 10)
            return;
        whole *= 10;
    }
    if (leaf->type.precision <= 18 &&
        (double)whole >= ald__mark_pow10(leaf->type.precision < 0 ? 0 : leaf->type.precision))
        return;
    whole = v < 0 ? -whole : whole;
    if (leaf->type.byte_width == 4) {
        ald__store_le32(to, (uint32_t)whole);
        return;
    }
    ald__store_le64(to, (uint64_t)whole);
    memset(to + 8, v < 0 ? 0xff : 0, (size_t)leaf->type.byte_width - 8);
}

typedef struct range {
    double least, greatest;
} range;

static void write_value(const ald__mark_leaf *leaf, const ald__mark_plan *plan, range r,
                        uint8_t *to, double v)
{
    float f = (float)v;
    switch (leaf->type.id) {
    case ALD__FLOAT64:
        memcpy(to, &v, sizeof v);
        break;
    case ALD__FLOAT32:
        memcpy(to, &f, sizeof f);
        break;
    case ALD__DECIMAL:
        write_decimal(leaf, plan, to, v);
        break;
    case ALD__DATE64:
        ald__store_le64(to, (uint64_t)((int64_t)v * DAY_MILLIS));
        break;
    default:
        if (v >= r.least && v <= r.greatest)
            write_integer(leaf, to, (int64_t)v);
        break;
    }
}

/* The values of all slots are doubles and there: nothing to pick and to convert. */
static void mark_doubles(const ald__mark_slots *slots, const ald__mark_plan *plan,
                         ald__mark_scratch *scratch, uint8_t *to)
{
    double values[ALD__MARK_CHUNK];
    uint8_t planes[ALD__MARK_CHUNK];
    const uint8_t *from = slots->array->buffers[1];
    from += (size_t)(slots->array->offset + slots->begin) * sizeof(double);
    for (int64_t at = 0; at < slots->count; at += ALD__MARK_CHUNK) {
        size_t n =
            slots->count - at < ALD__MARK_CHUNK ? (size_t)(slots->count - at) : ALD__MARK_CHUNK;
        memcpy(values, from + (size_t)at * sizeof(double), n * sizeof(double));
        ald__mark_cells(plan, scratch, values, n, values, planes);
        memcpy(to + (size_t)at * sizeof(double), values, n * sizeof(double));
    }
}

void ald__mark_leaf_mark(const ald__mark_leaf *leaf, const ald__mark_slots *slots,
                         const ald__mark_plan *plan, void *scratch, uint8_t *to, int64_t to_at)
{
    double values[ALD__MARK_CHUNK];
    uint16_t live[ALD__MARK_CHUNK] = {0};
    uint8_t planes[ALD__MARK_CHUNK];
    const size_t width = leaf->type.bit_width / 8;
    range r;
    if (leaf->type.id == ALD__FLOAT64 && all_live(slots)) {
        mark_doubles(slots, plan, ald__mark_scratch_at(scratch), to + (size_t)to_at * width);
        return;
    }
    r.greatest = greatest_of(&leaf->type, &r.least);
    for (int64_t at = 0; at < slots->count; at += ALD__MARK_CHUNK) {
        size_t n =
            slots->count - at < ALD__MARK_CHUNK ? (size_t)(slots->count - at) : ALD__MARK_CHUNK;
        uint8_t *place = to + (size_t)(to_at + at) * width;
        read_values(leaf, slots->array->buffers[1], slots->array->offset + slots->begin + at, n,
                    values);
        n = live_slots(slots, at, n, live);
        for (size_t i = 0; i < n; i++)
            values[i] = values[live[i]];
        ald__mark_cells(plan, ald__mark_scratch_at(scratch), values, n, values, planes);
        for (size_t i = 0; i < n; i++) {
            if (planes[i] > 0)
                write_value(leaf, plan, r, place + live[i] * width, values[i]);
        }
    }
}
