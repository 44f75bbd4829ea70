/* SPDX-License-Identifier: MIT */
#include "core/watermark/phases.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_math.h"

#define DEPTH_READ_DOUBLE 46
#define DEPTH_READ_FLOAT 20
#define LEAST_UNITS 16
#define GRID_UNITS 2.5
#define SOFT_ENOUGH 0.3

double ald__mark_run_weight(uint32_t count)
{
    static const double roots[9] = {0,
                                    1,
                                    1.4142135623730951,
                                    1.7320508075688772,
                                    2,
                                    2.23606797749979,
                                    2.449489742783178,
                                    2.6457513110645907,
                                    2.8284271247461903};
    return count < 9 ? roots[count] : 3;
}

ald__mark_pass *ald__mark_pass_new(const ald__mark_suspect *s, size_t most, ald_error *err)
{
    uint8_t *memory = ald__alloc_zero(s->alloc, sizeof(ald__mark_pass) + ALD__MARK_LINE, err);
    ald__mark_pass *pass;
    size_t shift;
    if (memory == NULL)
        return NULL;
    shift =
        ALD__MARK_LINE - (uintptr_t)memory % ALD__MARK_LINE; /* 16 or more: room for the way back */
    pass = (ald__mark_pass *)(void *)(memory + shift);
    memory[shift - 1] = (uint8_t)shift;
    pass->suspect = s;
    pass->step = most > 0 && s->count > most ? (s->count + most - 1) / most : 1;
    return pass;
}

void ald__mark_pass_free(ald__mark_pass *pass)
{
    uint8_t *memory = (uint8_t *)pass;
    const ald_allocator *alloc = pass->suspect->alloc;
    memory -= memory[-1];
    ald__wipe(pass, sizeof *pass);
    ald__release(alloc, memory, sizeof *pass + ALD__MARK_LINE);
}

/* log2 of the narrowest cell that a natural grid of the data does not show through, rounded up. */
static int limit_of_width(const ald__mark_suspect *s, int decimals)
{
    double least = 0;
    int grid = s->decimals >= 0 ? s->decimals : s->softness > SOFT_ENOUGH ? s->soft : -1;
    int n;
    if (decimals < 0 && grid >= 0) {
        least = GRID_UNITS / ald__mark_pow10(grid);
    } else if (decimals >= 0) {
        least = LEAST_UNITS;
        if (s->decimals >= 0 && decimals > s->decimals) {
            double units = GRID_UNITS * ald__mark_pow10(decimals - s->decimals);
            least = units > least ? units : least;
        }
    }
    if (least == 0)
        return -4096;
    n = ald__mark_exponent(least);
    return ald__mark_pow2(n) < least ? n + 1 : n;
}

void ald__mark_pass_aim(ald__mark_pass *pass, const ald__mark_guess *guess)
{
    ald__mark_plan *lattice = &pass->lattice;
    lattice->keys = pass->suspect->keys;
    lattice->decimals = guess->decimals;
    lattice->mode = guess->decimals >= 0 ? ALD_WATERMARK_DECIMALS : ALD_WATERMARK_DOUBLES;
    lattice->domain = guess->decimals >= 0 ? (unsigned)guess->decimals : ALD__MARK_CODE_BINARY;
    lattice->power = guess->decimals >= 0 ? ald__mark_pow10(guess->decimals) : 1;
    lattice->cap = guess->cap;
    lattice->depth = pass->suspect->is_f32 ? DEPTH_READ_FLOAT : DEPTH_READ_DOUBLE;
    pass->width_limit = limit_of_width(pass->suspect, guess->decimals);
    ald__mark_plan_set_lattice(lattice);
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* The next values, from *at on, that have a plane at all. */
static size_t take_values(ald__mark_pass *pass, size_t *at)
{
    const ald__mark_plan *lattice = &pass->lattice;
    const ald__mark_suspect *suspect = pass->suspect;
    ald__mark_scratch *s = &pass->scratch;
    const int least = pass->only_capped ? lattice->cap : -4096;
    size_t n = 0, i = *at;
    for (; i < suspect->count && n < ALD__MARK_BATCH; i += pass->step) {
        double value = suspect->value[i], v = ald__mark_abs(value) * lattice->power;
        int ex = (int)(ald__mark_bits(v) >> 52) - 1023, e = least_of(ex, lattice->cap);
        int finest =
            least_of(ALD__MARK_FINEST, least_of(e - ex + lattice->depth, e - pass->width_limit));
        s->v[n] = v;
        s->finest[n] = finest;
        s->head[n] = ald__mark_head(0, (unsigned)(ald__mark_bits(value) >> 63), lattice->domain, e);
        n += (finest >= ALD__MARK_LEAST_PLANE) & (v >= 0x1p-1000) & (v <= 0x1p1000) & (e >= least);
    }
    *at = i;
    return n;
}

static void start_run(ald__mark_run *run, const ald__mark_scratch *s, size_t i)
{
    run->head = s->head[i];
    run->number = s->number[i];
    run->sum = s->wave[i];
    run->count = 1;
}

/* Values [begin, end) one after the other. */
static void find_runs(ald__mark_pass *pass, int plane, size_t begin, size_t end)
{
    const ald__mark_scratch *s = &pass->scratch;
    ald__mark_run run = pass->open[plane - ALD__MARK_LEAST_PLANE];
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        if (s->finest[i] < plane)
            continue;
        if (run.count > 0 && s->number[i] == run.number && s->head[i] == run.head) {
            run.sum += s->wave[i];
            run.count++;
            continue;
        }
        pass->runs[count] = run;
        count += run.count > 0;
        start_run(&run, s, i);
    }
    pass->open[plane - ALD__MARK_LEAST_PLANE] = run;
    pass->take(pass->ctx, plane, pass->runs, count);
}

/* Runs that begin at near[0 .. count): moves their numbers up to the first one, with the weighted means of their waves. No branch
 * depends on how long runs are. t[i] is the sum of the waves before i. Returns the sum of the weights. */
static double close_up(ald__mark_scratch *s, size_t count)
{
    const size_t first = s->near[0];
    double weights = 0;
    for (size_t j = 0; j < count; j++) {
        size_t at = s->near[j], next = s->near[j + 1], length = next - at;
        double weight = ald__mark_run_weight((uint32_t)length);
        double sum = s->t[next] - s->t[at];
        weights += weight;
        s->number[first + j] = s->number[at];
        s->wave[first + j] = sum * weight / (double)length;
    }
    return weights;
}

/* The same for values of one class that all have the plane; the first run may go on from before, the last one stays open. */
static void find_group(ald__mark_pass *pass, int plane, size_t begin, size_t end)
{
    ald__mark_scratch *s = &pass->scratch;
    size_t count = 0, first, last;
    double sum = 0;
    for (size_t i = begin + 1; i < end; i++) {
        s->near[count] = (uint16_t)i;
        count += s->number[i] != s->number[i - 1];
    }
    if (count < 2) {
        find_runs(pass, plane, begin, end);
        return;
    }
    first = s->near[0];
    last = s->near[count - 1];
    find_runs(pass, plane, begin, first + 1); /* opens the first whole run */
    pass->open[plane - ALD__MARK_LEAST_PLANE].count = 0;
    if (count - 1 == last - first) {
        pass->take_group(pass->ctx, plane, s, first, count - 1, (double)(count - 1));
    } else {
        for (size_t i = first; i < last; i++) {
            s->t[i] = sum;
            sum += s->wave[i];
        }
        s->t[last] = sum;
        pass->take_group(pass->ctx, plane, s, first, count - 1, close_up(s, count - 1));
    }
    find_runs(pass, plane, last, end);
}

/* The values are in order, so a class is in one piece, and the finest plane rises or falls in it. */
static void find_all(ald__mark_pass *pass, int plane, size_t n)
{
    const ald__mark_scratch *s = &pass->scratch;
    for (size_t begin = 0, end; begin < n; begin = end) {
        const uint64_t head = s->head[begin];
        end = begin + 1;
        if (s->head[n - 1] == head)
            end = n;
        while (end < n && s->head[end] == head)
            end++;
        if (s->finest[begin] >= plane && s->finest[end - 1] >= plane)
            find_group(pass, plane, begin, end);
        else
            find_runs(pass, plane, begin, end);
    }
}

static int finest_of(const ald__mark_scratch *s, size_t n)
{
    double finest = 0;
    for (size_t i = 0; i < n; i++)
        finest = s->finest[i] > finest ? s->finest[i] : finest;
    return (int)finest;
}

void ald__mark_pass_run(ald__mark_pass *pass)
{
    const ald__mark_steps *steps = ald__mark_steps_of(pass->lattice.keys->carrier.level);
    memset(pass->open, 0, sizeof pass->open);
    for (size_t at = 0; at < pass->suspect->count;) {
        size_t n = take_values(pass, &at);
        int finest = finest_of(&pass->scratch, n);
        if (n == 0)
            continue;
        ald__mark_set_classes(&pass->lattice, &pass->scratch, n);
        for (int k = ALD__MARK_LEAST_PLANE; k <= finest; k++) {
            if (!(pass->planes >> (k - ALD__MARK_LEAST_PLANE) & 1))
                continue;
            steps->locate(&pass->lattice, &pass->scratch, n, k);
            steps->wave(&pass->scratch, n, pass->twice);
            find_all(pass, k, n);
        }
    }
    for (int i = 0; i < ALD__MARK_PLANES; i++) {
        if (pass->open[i].count > 0)
            pass->take(pass->ctx, i + ALD__MARK_LEAST_PLANE, &pass->open[i], 1);
    }
}
