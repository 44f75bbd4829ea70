/* SPDX-License-Identifier: MIT */
#include "core/watermark/plan.h"

#include <string.h>

#include "core/watermark/mark_math.h"

#define LEAST_VALUES 16
#define DOMAIN_DECIMALS_MOST 8
#define DOMAIN_SPREAD_BITS 20
#define DEPTH_DOUBLE 46
#define DEPTH_FLOAT 19
#define FEW 16

void ald__mark_bits_init(uint8_t bits[ALD__MARK_HASHES], const uint64_t *codeword)
{
    for (unsigned i = 0; i < ALD__MARK_HASHES; i++) {
        unsigned j = i % ALD__POLAR_BITS;
        bits[i] = (uint8_t)((codeword[j / 64] >> (j % 64) & 1) ^ i / ALD__POLAR_BITS);
    }
}

/* The smallest n with 2^n >= x. */
static int ceil_log2(double x)
{
    int n = ald__mark_exponent(x);
    return ald__mark_pow2(n) < x ? n + 1 : n;
}

static int clamp(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}

/* The identifier guard: integers that are all distinct, and in order or close together. */
static int looks_like_key(const ald__mark_tally *t, int decimals)
{
    if (decimals != 0 || t->kept != t->count)
        return 0;
    return t->rises || t->falls || t->greatest - t->least + 1 <= 4 * (double)t->total;
}

/* The coarse-quantum guard: 90 of 100 distinct values are multiples of 2, or of 5, of their last digit. */
static int is_coarse_grid(const ald__mark_tally *t, double power)
{
    const size_t most = t->count / 10; /* that are not */
    size_t twos = 0, fives = 0;
    for (size_t i = 0; i < t->count && (twos <= most || fives <= most); i++) {
        double n = ald__mark_round(ald__mark_abs(t->value[i]) * power);
        uint64_t whole = n < 9223372036854775808.0 ? (uint64_t)n : 0;
        twos += whole % 2 != 0;
        fives += whole % 5 != 0;
    }
    return twos <= most || fives <= most;
}

static size_t frequent_slot(uint64_t bits)
{
    return (size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 56) % ALD__MARK_SLOTS;
}

int ald__mark_plan_is_frequent(const ald__mark_plan *plan, double value)
{
    uint64_t bits = ald__mark_bits(value);
    for (size_t i = frequent_slot(bits); plan->frequent[i] != 0; i = (i + 1) % ALD__MARK_SLOTS) {
        if (plan->frequent[i] == bits)
            return 1;
    }
    return 0;
}

static int no_more_than(uint64_t limit, const uint64_t weight[FEW])
{
    uint64_t below = 0; /* bit 63: a difference was below 0 */
    for (size_t i = 0; i < FEW; i++)
        below |= limit - weight[i];
    return below >> 63 == 0;
}

/* Values of more than 1 % of the rows: there are fewer than 100. */
static void find_frequent(ald__mark_plan *plan, const ald__mark_tally *t)
{
    uint64_t limit = t->kept / 100 > 8 ? t->kept / 100 : 8;
    if (t->kept == t->count)
        return;
    for (size_t i = 0; i < t->count && plan->frequent_count < ALD__MARK_FREQUENT; i++) {
        uint64_t bits;
        size_t slot;
        while (i + FEW <= t->count && no_more_than(limit, t->weight + i))
            i += FEW;
        if (i == t->count || t->weight[i] <= limit)
            continue;
        bits = ald__mark_bits(t->value[i]);
        slot = frequent_slot(bits);
        while (plan->frequent[slot] != 0)
            slot = (slot + 1) % ALD__MARK_SLOTS;
        plan->frequent[slot] = bits;
        plan->frequent_count++;
    }
}

static double origin_of(const ald__mark_plan *plan, int e)
{
    uint64_t h = ald__mark_origin(plan->keys, plan->domain, e);
    if (plan->domain == ALD__MARK_CODE_BINARY)
        return (double)(h >> 12) * 0x1p-52;
    return (double)(h >> 44);
}

double ald__mark_plan_origin(const ald__mark_plan *plan, int e)
{
    int class = plan->cap - e;
    return class < ALD__MARK_CLASSES ? plan->origin[class] : origin_of(plan, e);
}

void ald__mark_plan_set_lattice(ald__mark_plan *plan)
{
    for (int class = 0; class < ALD__MARK_CLASSES; class ++)
        plan->origin[class] = origin_of(plan, plan->cap - class);
    if (plan->domain != ALD__MARK_CODE_BINARY)
        plan->parity =
            (unsigned)(ald__mark_origin(plan->keys, plan->domain, ALD__MARK_CODE_PARITY) & 1);
}

unsigned ald__mark_plan_planes(const ald__mark_plan *plan, double value)
{
    int ex = ald__mark_exponent(ald__mark_abs(value)), e = ex < plan->cap ? ex : plan->cap;
    int finest = e - ex + plan->depth;
    finest = finest < e - plan->round_limit ? finest : e - plan->round_limit;
    finest = finest < ALD__MARK_FINEST ? finest : ALD__MARK_FINEST;
    finest = (finest - plan->first_plane) / ALD__MARK_PLANE_STEP + 1;
    return (unsigned)(finest < ALD__MARK_PLANES_MOST ? finest : ALD__MARK_PLANES_MOST);
}

static void set_decimal(ald__mark_plan *plan, int cap, float strength, uint32_t flags)
{
    double s = (double)strength;
    plan->mode = ALD_WATERMARK_DECIMALS;
    plan->domain = (unsigned)plan->decimals;
    plan->cap = cap;
    plan->least_exponent = s < 0.002 ? 10 : s < 0.004 ? 9 : 8;
    plan->parity_exponent = flags & ALD_WATERMARK_STRICT ? ceil_log2(1 / s) : plan->least_exponent;
    plan->low = 0;
    plan->high = ALD__MARK_2P52 / 2;
}

static void set_binary(ald__mark_plan *plan, int cap, uint32_t flags)
{
    plan->domain = ALD__MARK_CODE_BINARY;
    plan->cap = cap;
    plan->mode = plan->decimals >= 0 ? ALD_WATERMARK_ROUNDED
                 : plan->is_f32      ? ALD_WATERMARK_FLOATS
                                     : ALD_WATERMARK_DOUBLES;
    plan->depth = plan->is_f32 ? DEPTH_FLOAT : DEPTH_DOUBLE;
    /* 2^(e - k) is 16 * 10^-d or more */
    plan->round_limit = plan->decimals < 0 ? -4096 : ceil_log2(16 / plan->power);
    plan->has_lsb = plan->decimals < 0 && !(flags & ALD_WATERMARK_HIDDEN);
    plan->low = plan->is_f32 ? 0x1p-110 : 0x1p-1000;
    plan->high = plan->is_f32 ? 0x1.fffffffffffffp120 : 0x1p1000;
}

/* The number of decimals, limited to what the type can say. */
static void set_decimals(ald__mark_plan *plan, const ald__mark_tally *tally, ald__mark_type type)
{
    int of_floats;
    plan->decimals = ald__mark_tally_decimals(tally, plan->is_f32, &of_floats);
    plan->of_floats = (uint8_t)of_floats;
    if (type.is_integer)
        plan->decimals = plan->decimals < 0 ? -1 : 0;
    if (type.scale >= 0 && plan->decimals > type.scale)
        plan->decimals = type.scale;
}

void ald__mark_plan_init(ald__mark_plan *plan, const ald__mark_keys *keys, const uint8_t *bits,
                         const ald__mark_tally *tally, ald__mark_type type, float strength,
                         uint32_t flags)
{
    double spread;
    int found, cap;
    memset(plan, 0, sizeof *plan);
    plan->keys = keys;
    plan->bits = bits;
    plan->decimals = -1;
    plan->plane_count = ALD__MARK_PLANES_MOST;
    plan->is_f32 = type.is_float || tally->is_f32;
    plan->first_plane = clamp(ceil_log2(0.75 / (double)strength), 8, 16);
    if (tally->total < LEAST_VALUES || tally->kept == 0) {
        plan->reason = ALD_WATERMARK_TOO_FEW;
        return;
    }
    set_decimals(plan, tally, type);
    found = plan->decimals >= 0;
    if (!found && (type.is_integer || type.scale >= 0)) /* what can be written back */
        plan->decimals = type.is_integer ? 0 : type.scale;
    plan->power = plan->decimals >= 0 ? ald__mark_pow10(plan->decimals) : 1;
    spread = ald__mark_tally_spread(tally);
    if (!(spread > 0) || !(spread < 0x1p1000) || spread < 0x1p-1000) {
        plan->reason = ALD_WATERMARK_NO_SPREAD;
        return;
    }
    if (looks_like_key(tally, found ? plan->decimals : -1) && !(flags & ALD_WATERMARK_KEYS)) {
        plan->reason = ALD_WATERMARK_KEY;
        return;
    }
    cap = ald__mark_exponent(spread * plan->power);
    if (found && plan->decimals <= DOMAIN_DECIMALS_MOST && cap < DOMAIN_SPREAD_BITS) {
        if (is_coarse_grid(tally, plan->power)) {
            plan->reason = ALD_WATERMARK_GRID;
            return;
        }
        set_decimal(plan, cap, strength, flags);
    } else {
        set_binary(plan, ald__mark_exponent(spread), flags);
    }
    find_frequent(plan, tally);
    ald__mark_plan_set_lattice(plan);
}
