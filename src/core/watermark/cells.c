/* SPDX-License-Identifier: MIT */
/* Values in batches: each step is a loop over all of them, and hashes come many at a time.
 *
 * Of the three cells that a value may be moved to, its own nearly always is the nearest target. The lower neighbour can only be
 * as near where the phase is at most a quarter of the bit, the upper one only where the bit is 0 and the phase above 3/4: so
 * a second hash is needed for every fourth value, and a third never. What leaves its class on the way (values next to a power
 * of two) is done again, one at a time. */
#include "core/watermark/cells_scratch.h"
#include "core/watermark/mark_math.h"

#define CELLS(name) name##_of_two
#define CELLS_WIDTH 16
#define CELLS_TARGET
#include "core/watermark/cells_template.h"
#undef CELLS
#undef CELLS_WIDTH
#undef CELLS_TARGET

#if defined(__x86_64__) && defined(__GNUC__)
#define CELLS(name) name##_of_four
#define CELLS_WIDTH 32
#define CELLS_TARGET __attribute__((target("avx2")))
#include "core/watermark/cells_template.h"
#else
#define steps_of_four steps_of_two
#endif

const ald__mark_steps *ald__mark_steps_of(int level)
{
    return level > 0 ? &steps_of_four : &steps_of_two;
}

size_t ald__mark_scratch_bytes(void)
{
    return sizeof(ald__mark_scratch) + ALD__MARK_LINE;
}

ald__mark_scratch *ald__mark_scratch_at(void *memory)
{
    return (void *)(((uintptr_t)memory + ALD__MARK_LINE - 1) & ~(uintptr_t)(ALD__MARK_LINE - 1));
}

/* The rows that are to be marked, as far as that is seen from their magnitude. */
static size_t choose_rows(const ald__mark_plan *plan, ald__mark_scratch *s, const double *in,
                          size_t count)
{
    /* magnitudes sort as their bits do; the first limit also leaves out 0, the second NaN */
    uint64_t low = ald__mark_bits(plan->low > 0 ? plan->low : 0x1p-1000);
    uint64_t span = ald__mark_bits(plan->high) - low;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t magnitude = ald__mark_bits(in[i]) & (UINT64_MAX >> 1);
        s->row[n] = (uint16_t)i;
        n += magnitude - low <= span;
    }
    return n;
}

/* What classify cannot tell. */
static int fits_too(const ald__mark_plan *plan, double value)
{
    if (plan->decimals >= 0 && !ald__mark_is_on_grid(plan, ald__mark_abs(value)))
        return 0;
    return plan->frequent_count == 0 || !ald__mark_plan_is_frequent(plan, value);
}

/* Takes in the rows, and drops more of them. */
static size_t gather(const ald__mark_plan *plan, const ald__mark_steps *steps, ald__mark_scratch *s,
                     const double *in, size_t chosen)
{
    const int plain = plan->decimals < 0 && plan->frequent_count == 0;
    int64_t all = -1;
    size_t n = 0;
    for (size_t j = 0; j < chosen; j++)
        s->v[j] = in[s->row[j]];
    steps->classify(plan, s, chosen);
    for (size_t j = 0; j < chosen && !plain; j++)
        s->side[j] &= -(int64_t)fits_too(plan, in[s->row[j]]);
    for (size_t j = 0; j < chosen; j++)
        all &= s->side[j];
    for (size_t j = 0; j < chosen && !all; j++) {
        s->v[n] = s->v[j];
        s->scale[n] = s->scale[j];
        s->low[n] = s->low[j];
        s->high[n] = s->high[j];
        s->finest[n] = s->finest[j];
        s->head[n] = s->head[j];
        s->row[n] = s->row[j];
        n += (size_t)(s->side[j] & 1);
    }
    return all ? chosen : n;
}

static int exponent_of(uint64_t head)
{
    return (int)(int32_t)(uint32_t)(head >> 32);
}

static void find_origins(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->origin[i] = ald__mark_plan_origin(plan, exponent_of(s->head[i]));
}

void ald__mark_set_classes(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int e = exponent_of(s->head[i]);
        int end = e < plan->cap ? e + 1 : 1023;
        s->scale[i] = ald__mark_pow2(-e);
        s->low[i] = ald__mark_pow2(e);
        s->high[i] = ald__mark_pow2(end);
        s->origin[i] = ald__mark_plan_origin(plan, e);
        s->planes[i] = s->slow[i] = 0;
    }
}

static unsigned bit_of_hash(const ald__mark_plan *plan, uint64_t hash)
{
    return plan->bits[hash % ALD__MARK_HASHES];
}

/* The target in the own cell. */
static void aim(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    static const double phases[2] = {0.25, 0.75};
    ald__sip16_many(&plan->keys->carrier, s->message, s->number, n, s->hash);
    for (size_t i = 0; i < n; i++)
        s->target[i] = s->cell[i] + phases[bit_of_hash(plan, s->hash[i])];
}

/* The target in a neighbour where that is nearer; the lower one also when it is as near. No branch: half of them would be
 * foreseen wrongly. */
static void aim_aside(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    static const double phases[2] = {0.25, 0.75};
    size_t near = 0;
    for (size_t i = 0; i < n; i++) {
        s->near[near] = (uint16_t)i;
        near += (size_t)(s->side[i] & 1);
    }
    for (size_t j = 0; j < near; j++) {
        size_t i = s->near[j];
        s->message[j] = s->message[i];
        s->number[j] = s->number[i] + (uint64_t)s->side[i];
    }
    ald__sip16_many(&plan->keys->carrier, s->message, s->number, near, s->hash);
    for (size_t j = 0; j < near; j++) {
        size_t i = s->near[j];
        double other = s->cell[i] + (double)s->side[i] + phases[bit_of_hash(plan, s->hash[j])];
        uint64_t distance = ald__mark_bits(ald__mark_abs(other - s->t[i])); /* sorts as it does */
        uint64_t own = ald__mark_bits(ald__mark_abs(s->target[i] - s->t[i]));
        uint64_t nearer = 0 - (uint64_t)(distance < own + (uint64_t)(s->side[i] < 0));
        s->target[i] = ald__mark_double((ald__mark_bits(other) & nearer) |
                                        (ald__mark_bits(s->target[i]) & ~nearer));
    }
}

static double finest_of_all(const ald__mark_scratch *s, size_t n)
{
    double finest = 0;
    for (size_t i = 0; i < n; i++)
        finest = s->finest[i] > finest ? s->finest[i] : finest;
    return finest;
}

/* The last digit of decimals. */
static void set_parity(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->message[i] = s->head[i] & UINT64_C(0xffffffff); /* no class */
        s->number[i] = ((uint64_t)(int64_t)s->v[i] + plan->parity) >> 1;
    }
    ald__sip16_many(&plan->keys->carrier, s->message, s->number, n, s->hash);
    for (size_t i = 0; i < n; i++) {
        uint64_t moved = (s->number[i] << 1 | bit_of_hash(plan, s->hash[i])) - plan->parity;
        int due = exponent_of(s->head[i]) >= plan->parity_exponent;
        s->v[i] = due ? (double)(int64_t)moved : s->v[i];
        s->planes[i] += due;
    }
}

/* The plane that shows the mark: three of four hashes set the lowest bit. */
static void set_lsb(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (plan->is_f32) {
            float f = (float)s->v[i];
            uint32_t bits;
            memcpy(&bits, &f, sizeof bits);
            s->number[i] = bits >> 1;
        } else {
            s->number[i] = ald__mark_bits(s->v[i]) >> 1;
        }
    }
    ald__sip8_many(&plan->keys->lsb, s->number, n, s->hash);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = s->number[i] << 1 | ((s->hash[i] & 3) != 0);
        if (plan->is_f32) {
            uint32_t half = (uint32_t)bits;
            float f;
            memcpy(&f, &half, sizeof f);
            s->v[i] = (double)f;
        } else {
            s->v[i] = ald__mark_double(bits);
        }
    }
}

static void finish(const ald__mark_plan *plan, const ald__mark_steps *steps, ald__mark_scratch *s,
                   size_t n)
{
    if (plan->decimals >= 0)
        steps->divide(s, n, plan->power, plan->mode != ALD_WATERMARK_DECIMALS);
    for (size_t i = 0; i < n && plan->is_f32; i++)
        s->v[i] = (double)(float)s->v[i];
    if (plan->has_lsb)
        set_lsb(plan, s, n);
}

static void write_back(const ald__mark_plan *plan, const ald__mark_scratch *s, size_t n,
                       const double *in, double *out, uint8_t *planes)
{
    const uint64_t sign = UINT64_C(1) << 63;
    for (size_t i = 0; i < n; i++) {
        size_t row = s->row[i];
        double marked =
            ald__mark_double(ald__mark_bits(s->v[i]) | (ald__mark_bits(in[row]) & sign));
        planes[row] = (uint8_t)s->planes[i];
        if (s->slow[i]) {
            unsigned bits;
            marked = ald__mark_cell(plan, in[row], &bits);
            planes[row] = (uint8_t)bits;
        }
        out[row] = planes[row] > 0 ? marked : in[row];
    }
}

void ald__mark_cells(const ald__mark_plan *plan, ald__mark_scratch *s, const double *in,
                     size_t count, double *out, uint8_t *planes)
{
    const ald__mark_steps *steps = ald__mark_steps_of(plan->keys->carrier.level);
    size_t n = gather(plan, steps, s, in, choose_rows(plan, s, in, count));
    double finest = finest_of_all(s, n);
    find_origins(plan, s, n);
    for (int p = 0; p < plan->plane_count; p++) {
        int k = plan->first_plane + p * ALD__MARK_PLANE_STEP;
        if (k > finest)
            break;
        steps->locate(plan, s, n, k);
        aim(plan, s, n);
        steps->look_aside(s, n);
        aim_aside(plan, s, n);
        steps->move(plan, s, n, k);
    }
    if (plan->mode == ALD_WATERMARK_DECIMALS)
        set_parity(plan, s, n);
    finish(plan, steps, s, n);
    if (out != in)
        memmove(out, in, count * sizeof *out);
    memset(planes, 0, count);
    write_back(plan, s, n, in, out, planes);
}
