/* SPDX-License-Identifier: MIT */
/* Looking for marks without a key: clean data pass, marked data and bits written into data do not. */
#include "ald/native.h"
#include "ald/piracy.h"
#include "core/watermark/mark_tests.h"
#include "core/watermark/row_bits.h"
#include "watermark_tables.h"

#define ROWS 4000

static ald_error err;

static ald_column_entropy column_of(struct ArrowArrayStream *s, ald_detection *verdict)
{
    ald_column_entropy c = {0};
    ald_entropy *e = NULL;
    if (!CHECK_OK(ald_piracy_analyze_entropy(s, 0, &mark_host, &e, &err), &err))
        return c;
    CHECK_UINT(ald_entropy_count(e), 1);
    c = *ald_entropy_get(e, 0);
    *verdict = ald_entropy_verdict(e);
    ald_entropy_free(e);
    return c;
}

static void mark_stream(struct ArrowArrayStream *s, float strength, uint32_t flags,
                        ald_watermark **w)
{
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    options.strength = strength;
    options.flags = flags;
    if (CHECK_OK(ald_watermark_new(&options, mark_test_seller, &mark_host, w, &err), &err))
        CHECK_OK(ald_watermark_embed(*w, s, &err), &err);
}

static void test_clean(void)
{
    static const uint8_t classes[MARK_KINDS] = {
        [MARK_DOUBLES] = ALD_ENTROPY_FULL,   [MARK_FLOATS] = ALD_ENTROPY_FULL,
        [MARK_PRICES] = ALD_ENTROPY_DECIMAL, [MARK_DECIMALS] = ALD_ENTROPY_DECIMAL,
        [MARK_INTS] = ALD_ENTROPY_DECIMAL,   [MARK_TIMES] = ALD_ENTROPY_DECIMAL,
        [MARK_DAYS] = ALD_ENTROPY_DECIMAL,   [MARK_VECTORS] = ALD_ENTROPY_FULL,
        [MARK_LISTS] = ALD_ENTROPY_FULL,     [MARK_RECORDS] = ALD_ENTROPY_FULL,
        [MARK_CODED] = ALD_ENTROPY_FULL,     [MARK_RUNS] = ALD_ENTROPY_FULL};
    for (unsigned kind = 0; kind < MARK_TEXT; kind++) {
        ald_detection verdict = {0};
        struct ArrowArrayStream s;
        ald_column_entropy c;
        mark_table(1u << kind, ROWS, 300, &s);
        c = column_of(&s, &verdict);
        CHECK_INT(c.entropy_class, classes[kind]);
        CHECK_INT(c.signs, 0);
        CHECK_INT(verdict.likely_watermarked, 0);
        CHECK(verdict.confidence == 0);
        if (c.entropy_class == ALD_ENTROPY_FULL)
            CHECK(c.lsb_entropy > 0.97 && c.shannon_entropy > 7.5);
    }
}

static void test_marked(void)
{
    static const unsigned kinds[] = {MARK_DOUBLES, MARK_FLOATS, MARK_RECORDS, MARK_VECTORS};
    for (size_t i = 0; i < 4; i++) {
        for (uint32_t flags = 0; flags <= ALD_WATERMARK_HIDDEN; flags += ALD_WATERMARK_HIDDEN) {
            ald_detection verdict = {0};
            struct ArrowArrayStream s;
            ald_watermark *w = NULL;
            ald_column_entropy c;
            mark_table(1u << kinds[i], ROWS, 300, &s);
            mark_stream(&s, i % 2 ? 1e-3f : 1e-4f, flags, &w);
            c = column_of(&s, &verdict);
            CHECK_INT(c.signs & ALD_SIGN_LSB, flags ? 0 : ALD_SIGN_LSB);
            CHECK_INT(c.signs & ALD_SIGN_PHASE, ALD_SIGN_PHASE);
            CHECK(verdict.likely_watermarked && verdict.confidence > 0.999);
            CHECK_UINT(verdict.suspicious_count, 1);
            if (!flags)
                CHECK(c.lsb_ones > 0.7 && c.lsb_entropy < 0.9 && (c.raw & ALD_RAW_LSB_ENTROPY));
            ald_watermark_free(w);
        }
    }
}

static void stream_of(const double *values, size_t count, struct ArrowArrayStream *out)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    REQUIRE_OK(ald__schema_new(&mark_host.alloc, 1, 0, &schema, &err), &err);
    REQUIRE_OK(ald__schema_set_format(&schema, "+s", 2, &err), &err);
    REQUIRE_OK(ald_type_parse(&mark_host, "double", 6, "x", 0, schema.children[0], &err), &err);
    mark_new(&batch, 1, 1, 0, (int64_t)count);
    mark_new(batch.children[0], 2, 0, 0, (int64_t)count);
    memcpy(mark_buffer(batch.children[0], 1, count * sizeof(double)), values,
           count * sizeof(double));
    REQUIRE_OK(ald_stream_from_batches(&schema, &batch, 1, &mark_host, out, &err), &err);
}

/* Printed with nine digits, marked numbers are decimals, on the lattice that they had as doubles. */
static void test_printed(void)
{
    static double v[ROWS];
    for (int is_marked = 0; is_marked < 2; is_marked++) {
        ald_watermark *w = NULL;
        ald_detection verdict = {0};
        struct ArrowArrayStream s;
        ald_column_entropy c;
        for (size_t i = 0; i < ROWS; i++)
            v[i] = mark_number(MARK_RECORDS, (int64_t)i);
        stream_of(v, ROWS, &s);
        if (is_marked) {
            struct ArrowArray batch;
            mark_stream(&s, 1e-3f, 0, &w);
            REQUIRE_OK(ald_stream_next(&s, &batch, &err), &err);
            memcpy(v, batch.children[0]->buffers[1], sizeof v);
            batch.release(&batch);
        }
        s.release(&s);
        for (size_t i = 0; i < ROWS; i++) {
            char text[40];
            (void)snprintf(text, sizeof text, "%.9g", v[i]);
            v[i] = strtod(text, NULL);
        }
        stream_of(v, ROWS, &s);
        c = column_of(&s, &verdict);
        CHECK_INT(c.entropy_class, ALD_ENTROPY_DECIMAL);
        CHECK_INT(c.signs, is_marked ? ALD_SIGN_PHASE : 0);
        ald_watermark_free(w);
    }
}

/* One column of doubles made from `kind`, with bit i % 256 of a pattern as the lowest. */
static void test_written_bits(void)
{
    static const mark_kind kinds[] = {MARK_DOUBLES, MARK_INTS, MARK_PRICES};
    static double v[ROWS];
    uint8_t pattern[256];
    mark_random r = {9};
    for (size_t i = 0; i < 256; i++)
        pattern[i] = (uint8_t)(mark_random_next(&r) >> 40 & 1);
    for (size_t k = 0; k < 3; k++) {
        struct ArrowArrayStream s;
        ald_detection verdict = {0};
        ald_column_entropy c;
        for (size_t i = 0; i < ROWS; i++) {
            uint64_t bits = ald__mark_bits(mark_number(kinds[k], (int64_t)i));
            v[i] = ald__mark_double((bits & ~UINT64_C(1)) | pattern[i % 256]);
        }
        stream_of(v, ROWS, &s);
        c = column_of(&s, &verdict);
        CHECK(verdict.likely_watermarked);
        CHECK(c.signs & (kinds[k] == MARK_INTS ? ALD_SIGN_ISLAND : ALD_SIGN_PERIOD));
        if (kinds[k] != MARK_INTS)
            CHECK(c.peak_256 > 0.6);
        for (size_t i = 0; i < (size_t)ALD_LSB_MAP_WORDS * 64; i++) {
            CHECK_UINT(c.lsb_known[i / 64] >> i % 64 & 1, i < ROWS);
            CHECK_UINT(c.lsb_map[i / 64] >> i % 64 & 1, i < ROWS ? pattern[i % 256] : 0);
        }
    }
}

/* Correlations against the definition, pair by pair. */
static void test_row_bits(void)
{
    static double v[3000];
    static ald__row_bits rows;
    mark_random r = {21};
    for (size_t i = 0; i < 3000; i++) {
        v[i] = i > 10 && mark_random_unit(&r) < 0.3 ? v[i - 7] : mark_random_unit(&r);
        if (i % 50 == 9)
            v[i] = 0;
        if (i % 77 == 5)
            v[i] = ald__mark_double(UINT64_C(0x7ff8000000000000));
    }
    for (size_t i = 0; i < 3000; i += 111)
        ald__row_bits_add(&rows, v + i, 3000 - i < 111 ? 3000 - i : 111);
    ald__row_bits_end(&rows);
    CHECK_UINT(rows.rows, 3000);
    for (size_t index = 0; index < ALD__LAGS; index++) {
        unsigned lag = ald__row_bits_lag(index);
        int64_t sum = 0, count = 0;
        uint64_t pairs;
        double got = ald__row_bits_plain(&rows, index, 0, &pairs);
        for (size_t i = 0; i + lag < 3000; i++) {
            if (v[i] != v[i] || v[i + lag] != v[i + lag])
                continue;
            sum += (ald__mark_bits(v[i]) & 1) == (ald__mark_bits(v[i + lag]) & 1) ? 1 : -1;
            count++;
        }
        CHECK_UINT(pairs, count);
        CHECK(ald__mark_abs(got - (double)sum / (double)count) < 1e-12);
    }
    uint64_t pairs;
    CHECK(ald__row_bits_centered(&rows, 6, 0, &pairs) > 0.15); /* lag 7 */
    CHECK(ald__mark_abs(ald__row_bits_centered(&rows, 20, 0, &pairs)) < 0.1);
}

/* Values of tables. */
static void test_probabilities(void)
{
    CHECK(ald__mark_abs(ald__mark_normal_p(1.959963985) - 0.05) < 1e-6);
    CHECK(ald__mark_abs(ald__mark_normal_p(6.0) / 1.973175e-9 - 1) < 1e-5);
    CHECK(ald__mark_abs(ald__mark_kolmogorov_p(1.358 / 1000, 1e6) - 0.05) < 2e-3);
    CHECK(ald__mark_abs(ald__mark_gamma_p(3, 1) - 0.049787068) < 1e-8);
    CHECK(ald__mark_abs(ald__mark_gamma_p(10, 6) - 0.067085963) < 1e-8);
    CHECK(ald__mark_abs(ald__mark_coin_entropy(0.75) - 0.811278124) < 1e-8);
    CHECK(ald__mark_coin_entropy(0) == 0 && ald__mark_coin_entropy(1) == 0);
}

/* Nearly all bits of a marked column are those of the buyer's code, half of them those of another's. */
static void check_bits(ald_watermark_reading *r, const uint8_t *buyer, size_t column)
{
    uint8_t code[2][ALD_WATERMARK_CODE_BYTES];
    ald_column_bits bits;
    unsigned read = 0, equal[2] = {0, 0};
    REQUIRE_OK(ald_piracy_buyer_code(r, buyer, code[0], &err), &err);
    REQUIRE_OK(ald_piracy_buyer_code(r, mark_test_buyer, code[1], &err), &err);
    REQUIRE_OK(ald_piracy_evidence_bits(r, column, &bits, &err), &err);
    for (size_t i = 0; i < ALD_WATERMARK_CODE_BYTES; i++) {
        CHECK_INT(bits.bits[i] & ~bits.known[i], 0);
        read += (unsigned)__builtin_popcount(bits.known[i]);
        for (size_t k = 0; k < 2; k++)
            equal[k] += (unsigned)__builtin_popcount(~(unsigned)(code[k][i] ^ bits.bits[i]) &
                                                     bits.known[i]);
    }
    CHECK(read > 1000 && equal[0] > read * 9 / 10 && equal[1] > read * 4 / 10 &&
          equal[1] < read * 6 / 10);
    CHECK(bits.expected_entropy == 1 && ald__mark_abs(bits.lsb_entropy - 0.811) < 0.03);
    CHECK_INT(ald_piracy_evidence_bits(r, 2, &bits, &err), ALD_E_INVALID_ARG);
}

static void test_evidence(void)
{
    ald_watermark_reading *r = NULL;
    ald_column_evidence columns[4];
    ald_watermark *w = NULL;
    struct ArrowArrayStream s;
    ald_proof proof;
    size_t count;
    static const uint8_t zeros[32];
    mark_table(1u << MARK_DOUBLES | 1u << MARK_PRICES | 1u << MARK_TEXT, ROWS, 300, &s);
    mark_stream(&s, 1e-3f, 0, &w);
    REQUIRE_OK(ald_watermark_read(&s, mark_test_seller, NULL, &mark_host, &r, &err), &err);
    REQUIRE_OK(ald_piracy_prove_buyer(r, zeros, &proof, &err), &err);
    CHECK(proof.match_confirmed && proof.is_blind && proof.finding.log2_p < -200);
    REQUIRE_OK(ald_piracy_evidence(r, zeros, columns, 4, &count, &err), &err);
    REQUIRE_INT(count, 2);
    CHECK(columns[0].column == 0 && columns[0].log2_p < -100 && columns[0].agreement > 0.3);
    CHECK(columns[1].column == 1 && columns[1].log2_p < -40);
    check_bits(r, zeros, 0);
    REQUIRE_OK(ald_piracy_prove_buyer(r, mark_test_buyer, &proof, &err), &err);
    CHECK(!proof.match_confirmed && !proof.is_blind && proof.finding.log2_p > -20);
    ald_watermark_reading_free(r);
    ald_watermark_free(w);
}

static void test_nothing(void)
{
    ald_detection verdict;
    struct ArrowArrayStream s;
    mark_table(1u << MARK_TEXT, 10, 10, &s);
    REQUIRE_OK(ald_piracy_detect(&s, 0, &mark_host, &verdict, &err), &err);
    CHECK(!verdict.likely_watermarked && verdict.confidence == 0);
    mark_table(1u << MARK_DOUBLES, 0, 10, &s);
    REQUIRE_OK(ald_piracy_detect(&s, 0, &mark_host, &verdict, &err), &err);
    CHECK(!verdict.likely_watermarked);
}

int main(void)
{
    mark_host = ald_native_host(1);
    mark_test_init();
    RUN(test_clean);
    RUN(test_marked);
    RUN(test_printed);
    RUN(test_written_bits);
    RUN(test_row_bits);
    RUN(test_probabilities);
    RUN(test_evidence);
    RUN(test_nothing);
    return check_done();
}
