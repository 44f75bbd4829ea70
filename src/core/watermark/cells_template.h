/* SPDX-License-Identifier: MIT */
/* The steps of a plane that are the same arithmetic for every value, on vectors of CELLS_WIDTH bytes. Included by cells.c for
 * each width, with names that CELLS(name) makes and functions that CELLS_TARGET marks. Counts are rounded up to whole
 * vectors: what lies behind the values is computed and never looked at. */

typedef double CELLS(reals) __attribute__((vector_size(CELLS_WIDTH)));
typedef int64_t CELLS(masks) __attribute__((vector_size(CELLS_WIDTH)));
typedef uint64_t CELLS(words) __attribute__((vector_size(CELLS_WIDTH)));

#define CELLS_STEP (CELLS_WIDTH / 8)
#define LOAD(type, from) (*(const CELLS(type) *)(const void *)(from))
#define STORE(type, to, v) (*(CELLS(type) *)(void *)(to) = (v))
#define SELECT(mask, a, b)                                                                         \
    ((CELLS(reals))(((mask) & (CELLS(masks))(a)) | (~(mask) & (CELLS(masks))(b))))

#define PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))

/* From values with their signs in v: all that their exponent tells. `side` is -1 where a value can be marked at all. */
CELLS_TARGET static void CELLS(classify)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n)
{
    const int decimal = plan->mode == ALD_WATERMARK_DECIMALS;
    const int64_t cap = plan->cap + 1023, least = plan->least_exponent + 1023;
    const uint64_t domain = (uint64_t)plan->domain << 16;
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(words) bits = LOAD(words, s->v + i);
        CELLS(reals) v = (CELLS(reals))(bits & (UINT64_MAX >> 1));
        CELLS(masks) ex, below, e, finest, limit, zero = {0}, fits;
        if (decimal)
            v = (v * plan->power + ALD__MARK_2P52) - ALD__MARK_2P52;
        ex = (CELLS(masks))((CELLS(words))v >> 52);
        below = ex < cap;
        e = PICK(below, ex, zero + cap);
        finest = decimal ? e - (1023 + 4) : e - ex + plan->depth;
        limit = decimal ? finest : e - (1023 + plan->round_limit);
        finest = PICK(finest < limit, finest, limit);
        finest = PICK(finest < ALD__MARK_FINEST, finest, zero + ALD__MARK_FINEST);
        fits = decimal ? (e >= least) & (v < plan->high) : finest >= plan->first_plane;
        STORE(reals, s->v + i, v);
        STORE(masks, s->side + i, fits);
        /* a small integer as a double: 1.5 * 2^52 more, as bits, and less again */
        STORE(reals, s->finest + i,
              (CELLS(reals))(finest + INT64_C(0x4338000000000000)) - 6755399441055744.0);
        STORE(words, s->head + i, (bits >> 63 << 8) | domain | (CELLS(words))(e - 1023) << 32);
        STORE(masks, s->scale + i, (2046 - e) << 52);
        STORE(masks, s->low + i, e << 52);
        STORE(masks, s->high + i, PICK(below, e + 1, zero + 2046) << 52);
        STORE(masks, s->planes + i, zero);
        STORE(masks, s->slow + i, zero);
    }
}

#undef PICK

/* t, cell, and the hash's message of each value for plane k. */
CELLS_TARGET static void CELLS(locate)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n,
                                       int k)
{
    const double power = ald__mark_pow2(k);
    const int decimal = plan->mode == ALD_WATERMARK_DECIMALS;
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(reals) v = LOAD(reals, s->v + i), scale = LOAD(reals, s->scale + i);
        CELLS(reals) origin = LOAD(reals, s->origin + i), t, near;
        if (decimal)
            t = (v + origin + 0.5) * scale * power;
        else
            t = (v * scale + origin) * power;
        near = (t + ALD__MARK_2P52) - ALD__MARK_2P52;
        near = near - SELECT(near > t, near - near + 1.0, near - near);
        STORE(reals, s->t + i, t);
        STORE(reals, s->cell + i, near);
        /* the number is in the low bits: below 2^52, as all that count */
        STORE(words, s->number + i,
              (CELLS(words))(near + ALD__MARK_2P52) & ((UINT64_C(1) << 52) - 1));
        STORE(words, s->message + i, LOAD(words, s->head + i) | (uint64_t)(unsigned)k);
    }
}

/* Which neighbour may be nearer than the target in the own cell: -1, 1, or 0 for none. */
CELLS_TARGET static void CELLS(look_aside)(ald__mark_scratch *s, size_t n)
{
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(reals) cell = LOAD(reals, s->cell + i), phase = LOAD(reals, s->t + i) - cell;
        CELLS(reals) zero = {0}, one = zero + 1.0;
        CELLS(masks) bit = LOAD(reals, s->target + i) - cell > 0.5;
        CELLS(masks) lower = phase <= SELECT(bit, one * 0.25, zero);
        CELLS(masks) upper = ~bit & (phase > 0.75);
        lower &= cell >= 1.0;
        STORE(masks, s->side + i, lower - upper); /* true is -1 */
    }
}

/* Moves every value towards its target, where it stays in its class. */
CELLS_TARGET static void CELLS(move)(const ald__mark_plan *plan, ald__mark_scratch *s, size_t n,
                                     int k)
{
    const double width = ald__mark_pow2(-k), finest = k;
    const int decimal = plan->mode == ALD_WATERMARK_DECIMALS;
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(reals) v = LOAD(reals, s->v + i), low = LOAD(reals, s->low + i), moved;
        CELLS(reals) target = LOAD(reals, s->target + i), origin = LOAD(reals, s->origin + i);
        CELLS(masks) due = LOAD(reals, s->finest + i) >= finest, stays;
        if (decimal) {
            target = target * (low * width) - 0.5;
            moved = target + (v + origin - target) * 0.125;
            moved = (moved + ALD__MARK_2P52) - ALD__MARK_2P52 - origin;
        } else {
            moved = target + (LOAD(reals, s->t + i) - target) * 0.125;
            moved = (moved * width - origin) * low;
        }
        stays = (moved >= low) & (moved < LOAD(reals, s->high + i));
        STORE(reals, s->v + i, SELECT(due & stays, moved, v));
        STORE(masks, s->planes + i, LOAD(masks, s->planes + i) - (due & stays)); /* true is -1 */
        STORE(masks, s->slow + i, LOAD(masks, s->slow + i) | (due & ~stays));
    }
}

/* v = round(v * power) / power, or without `rounds` v / power. */
CELLS_TARGET static void CELLS(divide)(ald__mark_scratch *s, size_t n, double power, int rounds)
{
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(reals) v = LOAD(reals, s->v + i);
        if (rounds) {
            v = v * power;
            v = SELECT(v < ALD__MARK_2P52, (v + ALD__MARK_2P52) - ALD__MARK_2P52, v);
        }
        STORE(reals, s->v + i, v / power);
    }
}

/* As ald__mark_sin_phase, which tells where the polynomial comes from. */
CELLS_TARGET static void CELLS(wave)(ald__mark_scratch *s, size_t n, int twice)
{
    for (size_t i = 0; i < n; i += CELLS_STEP) {
        CELLS(reals) y = LOAD(reals, s->t + i) - LOAD(reals, s->cell + i), zero = {0}, x, v;
        CELLS(masks) size = (CELLS(masks))(zero) | INT64_MAX;
        if (twice) { /* - cos(2 a) is sin(2 a - pi / 2) */
            y = y + y + 0.75;
            y = y - SELECT(y >= 1.0, zero + 1.0, zero);
            y = y - SELECT(y >= 1.0, zero + 1.0, zero);
        }
        y = y - 0.5;
        x = (CELLS(reals))((CELLS(masks))(y)&size) - 0.25;
        x = 6.283185307179586 * (0.25 - (CELLS(reals))((CELLS(masks))(x)&size));
        v = x * x;
        v = x * (1.0 + v * (-1.0 / 6 + v * (1.0 / 120 + v * (-1.0 / 5040 + v * (1.0 / 362880)))));
        STORE(reals, s->wave + i, SELECT(y < 0.0, v, -v));
    }
}

static const ald__mark_steps CELLS(steps) = {CELLS(classify), CELLS(locate), CELLS(look_aside),
                                             CELLS(move),     CELLS(wave),   CELLS(divide)};

#undef CELLS_STEP
#undef LOAD
#undef STORE
#undef SELECT
