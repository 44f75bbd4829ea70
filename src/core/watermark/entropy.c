/* SPDX-License-Identifier: MIT */
#include "core/watermark/entropy.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/watermark/mark_tests.h"

#define LEAST_VALUES 16
#define LEAST_MAGNITUDE 1e-300 /* a bit written into a zero gives a number below that */
#define FEW 100
#define NEAR_DECIMALS 9
#define RAW_ENTROPY 0.97
#define RAW_P_KS 0.05
#define RAW_P_CHI 0.01
#define RAW_R 0.05

/* What is counted over the distinct values of a column. */
typedef struct counts {
    uint64_t n, ones, clear_bits, clear_byte, near_decimal[NEAR_DECIMALS + 1];
    uint64_t bytes[256];
    uint32_t *bins; /* of the reversed low bits */
    unsigned width; /* of those */
} counts;

static uint64_t pattern_of(double v, int is_f32)
{
    float f = (float)v;
    uint32_t half;
    if (!is_f32)
        return ald__mark_bits(v);
    memcpy(&half, &f, sizeof half);
    return half;
}

static uint32_t reversed(uint64_t bits, unsigned width)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < width; i++)
        out |= (uint32_t)(bits >> i & 1) << (width - 1 - i);
    return out;
}

/* Whether v is within two steps (of a double: every float is close to some decimal) of a decimal. */
static int is_near_decimal(double v, int decimals)
{
    double power = ald__mark_pow10(decimals), scaled = v * power, near;
    int64_t distance;
    if (!(scaled < 0x1p36))
        return 0;
    near = ald__mark_round(scaled) / power;
    distance = (int64_t)(ald__mark_bits(near) - ald__mark_bits(v));
    return distance >= -2 && distance <= 2;
}

static void count_value(counts *c, double v, int is_f32)
{
    uint64_t bits = pattern_of(v, is_f32);
    c->n++;
    c->ones += bits & 1;
    c->clear_bits += (bits & 0x1fe) == 0;
    c->clear_byte += (bits & 0xff) == 0;
    c->bytes[bits & 0xff]++;
    c->bins[reversed(bits, c->width)]++;
    for (int d = 0; d <= NEAR_DECIMALS; d++)
        c->near_decimal[d] += (uint64_t)is_near_decimal(ald__mark_abs(v), d);
}

/* Numbers that went through text of 16 digits have a lowest bit alone, too, but in a tenth of them: a message has as many
 * ones as zeros. */
static uint8_t class_of(const counts *c, int decimals, uint64_t values)
{
    const double n = (double)c->n;
    if (c->n == 0 || values < LEAST_VALUES)
        return ALD_ENTROPY_NONE;
    if ((double)c->clear_bits >= 0.95 * n && (double)c->ones >= 0.2 * n &&
        (double)c->ones <= 0.8 * n)
        return ALD_ENTROPY_ISLAND;
    if (decimals >= 0)
        return ALD_ENTROPY_DECIMAL;
    for (int d = 0; d <= NEAR_DECIMALS; d++) {
        if ((double)c->near_decimal[d] >= 0.95 * n)
            return ALD_ENTROPY_NEAR_DECIMAL;
    }
    if (c->n < FEW)
        return ALD_ENTROPY_FEW;
    return (double)c->clear_byte > 0.05 * n ? ALD_ENTROPY_TRUNCATED : ALD_ENTROPY_FULL;
}

static void set_bytes(const counts *c, ald_column_entropy *out)
{
    for (size_t i = 0; i < 256; i++) {
        double share = (double)c->bytes[i] / (double)c->n;
        out->low_bytes[i] = c->bytes[i];
        if (c->bytes[i] > 0)
            out->shannon_entropy -= share * ald__mark_log2_about(share);
    }
}

/* The distance of the reversed low bits from a uniform distribution. */
static void set_ks(const counts *c, ald_column_entropy *out)
{
    const size_t bins = (size_t)1 << c->width;
    const double n = (double)c->n;
    uint64_t below = 0;
    for (size_t i = 0; i < bins; i++) {
        double u = ((double)i + 0.5) / (double)bins, low, high;
        if (c->bins[i] == 0)
            continue;
        low = u - (double)below / n;
        below += c->bins[i];
        high = (double)below / n - u;
        out->ks_distance = low > out->ks_distance ? low : out->ks_distance;
        out->ks_distance = high > out->ks_distance ? high : out->ks_distance;
    }
    out->ks_p = ald__mark_kolmogorov_p(out->ks_distance, n);
}

static void set_lsb(const counts *c, ald_column_entropy *out)
{
    double n = (double)c->n, more = 2 * (double)c->ones - n;
    out->lsb_ones = (double)c->ones / n;
    out->lsb_entropy = ald__mark_coin_entropy(out->lsb_ones);
    out->chi_square = more * more / n;
    out->chi_square_p = ald__mark_normal_p(ald__mark_sqrt_about(out->chi_square));
}

static void set_correlation(const ald__row_bits *rows, int pattern, ald_column_entropy *out)
{
    double best_z = -1;
    unsigned lags = 0;
    out->centered_correlation_p = 1;
    for (size_t i = 0; i < ALD__LAGS_SCORED; i++) {
        uint64_t pairs, full;
        double plain = ald__row_bits_plain(rows, i, pattern, &pairs);
        double centered = ald__row_bits_centered(rows, i, pattern, &full);
        double z = ald__mark_abs(centered) * ald__mark_sqrt_about((double)full);
        if (pairs > 0 && ald__mark_abs(plain) > ald__mark_abs(out->bit_correlation)) {
            out->bit_correlation = plain;
            out->bit_correlation_distance = ald__row_bits_lag(i);
        }
        lags += full > 0;
        if (full > 0 && z > best_z) {
            best_z = z;
            out->centered_correlation = centered;
        }
    }
    if (best_z > 0) {
        double p = ald__mark_normal_p(best_z) * lags;
        out->centered_correlation_p = p < 1 ? p : 1;
    }
    out->peak_256 = ald__row_bits_peak(rows, pattern);
}

static void set_map(const ald__row_bits *rows, int pattern, ald_column_entropy *out)
{
    for (size_t i = 0; i < ALD_LSB_MAP_WORDS; i++) {
        out->lsb_map[i] = rows->first[i][pattern];
        out->lsb_known[i] = rows->first[i][2];
    }
}

static void set_raw(ald_column_entropy *out)
{
    if (out->lsb_entropy < RAW_ENTROPY)
        out->raw |= ALD_RAW_LSB_ENTROPY;
    if (out->ks_p < RAW_P_KS)
        out->raw |= ALD_RAW_KS;
    if (out->chi_square_p < RAW_P_CHI)
        out->raw |= ALD_RAW_CHI_SQUARE;
    if (ald__mark_abs(out->bit_correlation) > RAW_R)
        out->raw |= ALD_RAW_CORRELATION;
}

static void add_sign(ald_column_entropy *out, uint8_t sign, double p)
{
    out->signs |= sign;
    out->p = p < out->p ? p : out->p;
}

static void judge_bits(ald_column_entropy *c, uint64_t rows)
{
    const uint8_t class = c->entropy_class;
    const int full = class == ALD_ENTROPY_FULL;
    if (class == ALD_ENTROPY_ISLAND)
        add_sign(c, ALD_SIGN_ISLAND,
                 ald__mark_exp2_about(-c->lsb_ones * (double)c->distinct_count));
    if (full && c->lsb_ones > 0.5 && c->lsb_entropy < RAW_ENTROPY && c->chi_square_p < 1e-6 &&
        c->ks_p < RAW_P_KS)
        add_sign(c, ALD_SIGN_LSB, c->chi_square_p);
    if (full && (double)c->distinct_count >= 0.9 * (double)rows &&
        ald__mark_abs(c->centered_correlation) > RAW_R && c->centered_correlation_p < 1e-6)
        add_sign(c, ALD_SIGN_CORRELATION, c->centered_correlation_p);
    if (((full || class == ALD_ENTROPY_NEAR_DECIMAL) && c->peak_256 > 0.3) ||
        ((class == ALD_ENTROPY_TRUNCATED || class == ALD_ENTROPY_FEW) && c->peak_256 > 0.6))
        add_sign(c, ALD_SIGN_PERIOD,
                 ald__mark_normal_p(c->peak_256 * ald__mark_sqrt_about((double)c->row_count)));
}

static void judge(const ald__mark_tally *tally, int is_f32, int decimals, ald_column_entropy *out)
{
    const int full = out->entropy_class == ALD_ENTROPY_FULL;
    double p;
    uint8_t sign = 0;
    out->p = 1;
    judge_bits(out, tally->kept);
    if ((full || out->entropy_class == ALD_ENTROPY_DECIMAL) && out->distinct_count >= FEW &&
        out->distinct_count >= tally->kept / 2)
        sign = ald__entropy_phase(tally, is_f32, full ? -1 : decimals, out, &p);
    if (sign != 0)
        add_sign(out, sign, p);
}

static size_t bytes_of_bins(const counts *c)
{
    return sizeof *c->bins << c->width;
}

static ald_status count_all(const ald__mark_tally *tally, int is_f32, counts *c, ald_error *err)
{
    memset(c, 0, sizeof *c);
    c->width = is_f32 ? 12 : 16;
    c->bins = ald__alloc_zero(tally->alloc, bytes_of_bins(c), err);
    if (c->bins == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < tally->count; i++) {
        if (ald__mark_abs(tally->value[i]) > LEAST_MAGNITUDE)
            count_value(c, tally->value[i], is_f32);
    }
    return ALD_OK;
}

ald_status ald__entropy_lsb(const ald__mark_tally *tally, int is_float, double *lsb_entropy,
                            uint8_t *entropy_class, ald_error *err)
{
    const int is_f32 = is_float || tally->is_f32;
    int of_floats, decimals = ald__mark_tally_decimals(tally, is_f32, &of_floats);
    counts c;
    ALD_TRY(count_all(tally, is_f32, &c, err));
    *entropy_class = class_of(&c, tally->kept > 0 ? decimals : -1, tally->total);
    *lsb_entropy = c.n > 0 ? ald__mark_coin_entropy((double)c.ones / (double)c.n) : 0;
    ald__release(tally->alloc, c.bins, bytes_of_bins(&c));
    return ALD_OK;
}

ald_status ald__entropy_column(const ald__mark_tally *tally, const ald__row_bits *rows,
                               int is_float, ald_column_entropy *out, ald_error *err)
{
    const int is_f32 = is_float || tally->is_f32;
    int of_floats, decimals = ald__mark_tally_decimals(tally, is_f32, &of_floats);
    counts c;
    ALD_TRY(count_all(tally, is_f32, &c, err));
    out->bits = is_f32 ? 32 : 64;
    out->value_count = tally->total;
    out->row_count = rows->rows;
    out->distinct_count = c.n;
    out->lsb_entropy = out->ks_p = out->chi_square_p = out->p = 1;
    out->entropy_class = class_of(&c, tally->kept > 0 ? decimals : -1, tally->total);
    for (size_t i = 0; i < ALD_ENTROPY_PLANES; i++)
        out->phase_p[i] = 1;
    if (out->entropy_class != ALD_ENTROPY_NONE) {
        set_lsb(&c, out);
        set_bytes(&c, out);
        set_ks(&c, out);
        set_correlation(rows, is_f32, out);
        set_map(rows, is_f32, out);
        set_raw(out);
        judge(tally, is_f32, decimals, out);
    }
    ald__release(tally->alloc, c.bins, bytes_of_bins(&c));
    return ALD_OK;
}
