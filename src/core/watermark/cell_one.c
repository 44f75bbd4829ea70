/* SPDX-License-Identifier: MIT */
/* One value at a time. A value carries one bit in each plane: it is moved so that it lies in the lower or the upper half of
 * its cell. The cell's number is hashed with its class and plane, so the bit depends on what the value was, no more. */
#include "core/watermark/cells.h"

#include "core/watermark/mark_math.h"

static unsigned bit_of(const ald__mark_plan *plan, uint64_t head, double cell)
{
    uint64_t h = ald__sip16(&plan->keys->carrier, head, (uint64_t)cell);
    return plan->bits[h % ALD__MARK_HASHES];
}

static int is_in_class(const ald__mark_plan *plan, double v, int e)
{
    int ex = v > 0 ? ald__mark_exponent(v) : -4096;
    return (ex < plan->cap ? ex : plan->cap) == e;
}

/* One plane of a value v of class e; the result is v itself where no target can be reached. */
static double move_binary(const ald__mark_plan *plan, double v, unsigned negative, int e, int k)
{
    double origin = ald__mark_plan_origin(plan, e), best = v, best_distance = 1;
    double t = (v * ald__mark_pow2(-e) + origin) * ald__mark_pow2(k);
    double c0 = ald__mark_floor(t);
    uint64_t head = ald__mark_head((unsigned)k, negative, plan->domain, e);
    for (int side = -1; side <= 1; side++) {
        double c = c0 + side, target, distance, moved;
        if (c < 0)
            continue;
        target = c + 0.25 + 0.5 * bit_of(plan, head, c);
        distance = ald__mark_abs(target - t);
        moved = ((target + (t - target) / 8) * ald__mark_pow2(-k) - origin) * ald__mark_pow2(e);
        if (distance <= 0.75 && distance < best_distance && is_in_class(plan, moved, e)) {
            best = moved;
            best_distance = distance;
        }
    }
    return best_distance < 1 ? best : -1;
}

static double finish_binary(const ald__mark_plan *plan, double v)
{
    if (plan->decimals >= 0)
        v = ald__mark_round(v * plan->power) / plan->power;
    if (plan->is_f32)
        v = (double)(float)v;
    if (plan->has_lsb && plan->is_f32) {
        float f = (float)v;
        uint32_t bits;
        memcpy(&bits, &f, sizeof bits);
        bits = (bits & ~1u) | ((ald__sip8(&plan->keys->lsb, bits >> 1) & 3) != 0);
        memcpy(&f, &bits, sizeof f);
        v = (double)f;
    } else if (plan->has_lsb) {
        uint64_t bits = ald__mark_bits(v);
        bits = (bits & ~UINT64_C(1)) | ((ald__sip8(&plan->keys->lsb, bits >> 1) & 3) != 0);
        v = ald__mark_double(bits);
    }
    return v;
}

static double mark_binary(const ald__mark_plan *plan, double v, unsigned negative, unsigned *planes)
{
    int ex = ald__mark_exponent(v), e = ex < plan->cap ? ex : plan->cap;
    for (int k = plan->first_plane;
         k < plan->first_plane + plan->plane_count * ALD__MARK_PLANE_STEP;
         k += ALD__MARK_PLANE_STEP) {
        double moved;
        if (k > ALD__MARK_FINEST || k > e - ex + plan->depth || k > e - plan->round_limit)
            break;
        moved = move_binary(plan, v, negative, e, k);
        if (moved > 0) {
            v = moved;
            ++*planes;
        }
    }
    return *planes > 0 ? finish_binary(plan, v) : v;
}

static double move_decimal(const ald__mark_plan *plan, double n, unsigned negative, int e, int k)
{
    double origin = ald__mark_plan_origin(plan, e), width = ald__mark_pow2(e - k);
    double at = n + origin, c0 = ald__mark_floor(at / width), best = -1, best_distance = width;
    uint64_t head = ald__mark_head((unsigned)k, negative, plan->domain, e);
    for (int side = -1; side <= 1; side++) {
        double c = c0 + side, target, distance, moved;
        if (c < 0)
            continue;
        target = (c + 0.25 + 0.5 * bit_of(plan, head, c)) * width - 0.5;
        distance = ald__mark_abs(target - at);
        moved = ald__mark_round(target + (at - target) / 8) - origin;
        if (distance <= 0.75 * width && distance < best_distance && moved >= 1 &&
            is_in_class(plan, moved, e)) {
            best = moved;
            best_distance = distance;
        }
    }
    return best;
}

static double mark_decimal(const ald__mark_plan *plan, double v, unsigned negative,
                           unsigned *planes)
{
    double n = ald__mark_round(v * plan->power);
    int ex = n >= 1 ? ald__mark_exponent(n) : -1, e = ex < plan->cap ? ex : plan->cap;
    if (e < plan->least_exponent || n >= plan->high)
        return v;
    for (int k = plan->first_plane;
         k < plan->first_plane + plan->plane_count * ALD__MARK_PLANE_STEP &&
         k <= ALD__MARK_FINEST && e - k >= 4;
         k += ALD__MARK_PLANE_STEP) {
        double moved = move_decimal(plan, n, negative, e, k);
        if (moved > 0) {
            n = moved;
            ++*planes;
        }
    }
    if (e >= plan->parity_exponent) {
        uint64_t t = (uint64_t)n + plan->parity;
        uint64_t head = ald__mark_head(0, negative, plan->domain, 0);
        if ((t & 1) != bit_of(plan, head, (double)(t >> 1)))
            t ^= 1;
        n = (double)(t - plan->parity);
        ++*planes;
    }
    if (*planes == 0)
        return v;
    v = n / plan->power;
    return plan->is_f32 ? (double)(float)v : v;
}

int ald__mark_is_on_grid(const ald__mark_plan *plan, double v)
{
    double near = ald__mark_round(v * plan->power) / plan->power;
    return plan->of_floats ? (float)near == (float)v : near == v;
}

double ald__mark_cell(const ald__mark_plan *plan, double value, unsigned *planes)
{
    double v = ald__mark_abs(value);
    unsigned negative = (unsigned)(ald__mark_bits(value) >> 63);
    *planes = 0;
    if (!ald__mark_usable(value) || v < plan->low || v > plan->high ||
        ald__mark_plan_is_frequent(plan, value) ||
        (plan->decimals >= 0 && !ald__mark_is_on_grid(plan, v)))
        return value;
    v = plan->mode == ALD_WATERMARK_DECIMALS ? mark_decimal(plan, v, negative, planes)
                                             : mark_binary(plan, v, negative, planes);
    return negative ? -v : v;
}
