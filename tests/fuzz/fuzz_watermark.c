/* SPDX-License-Identifier: MIT */
/* Tables of numbers made of the input, marked and read again. What marking promises holds for every value; how the table is cut
 * does not matter; nobody but the buyer is ever named.
 *
 *     u8 flags, u8 strength, u8 rows, u8 columns; then for each column u8 type, u8 kind of numbers, u8 exponent or decimals, u8
 *     nulls; then the numbers' bytes, and random ones behind them */
#include <math.h>

#include "ald/native.h"
#include "ald/piracy.h"
#include "ald/watermark.h"
#include "fuzz/fuzz_host.h"

#define COLUMNS_MAX 3
#define ROWS_MAX 600

typedef struct bytes {
    const uint8_t *data;
    size_t left;
    uint64_t state; /* of what comes behind */
} bytes;

static uint64_t take(bytes *b, int count)
{
    uint64_t v = 0;
    for (; count > 0; count--) {
        uint8_t byte;
        b->state ^= b->state << 13;
        b->state ^= b->state >> 7;
        b->state ^= b->state << 17;
        byte = (uint8_t)(b->state >> 32);
        if (b->left > 0) {
            byte = *b->data++;
            b->left--;
        }
        v = v << 8 | byte;
    }
    return v;
}

/* ---- columns */

static const struct {
    const char *format;
    int width;
    int scale; /* of decimals; -1: integers; -2: floats */
} types[] = {{"g", 8, -2},        {"f", 4, -2},
             {"l", 8, -1},        {"i", 4, -1},
             {"s", 2, -1},        {"C", 1, -1},
             {"L", 8, -1},        {"tdD", 4, -1},
             {"tsu:", 8, -1},     {"tts", 4, -1},
             {"tdm", 8, -1},      {"d:18,2", 16, 2},
             {"d:38,12", 16, 12}, {"d:76,20,256", 32, 20},
             {"d:9,3,32", 4, 3},  {"d:20,0", 16, 0}};
#define TYPES (sizeof types / sizeof *types)

typedef struct column {
    int type;
    uint8_t valid[ROWS_MAX / 8 + 1];
    _Alignas(64) uint8_t values[ROWS_MAX * 32];
} column;

typedef struct table {
    size_t rows, columns;
    column column[COLUMNS_MAX];
} table;

static table start, marked, again;

static double real_of(bytes *b, uint8_t kind, uint8_t exponent)
{
    double unit = (double)(take(b, 4) + 1) * 0x1p-32, power = ldexp(1, exponent % 64 - 32), x;
    uint64_t bits;
    switch (kind % 6) {
    case 0:
        bits = take(b, 8);
        memcpy(&x, &bits, sizeof x);
        return x;
    case 1:
        return (unit - 0.5) * power;
    case 2: /* of every size */
        return pow(unit, 8) * power;
    case 3: /* next to powers of two */
        return ldexp(1 + (unit - 0.5) * 1e-3, (int)(take(b, 1) % 40) - 20);
    case 4:
        return round(unit * 50000) / pow(10, exponent % 12);
    default: /* few different ones */
        return (double)(take(b, 1) % 40) * power;
    }
}

static void set_value(column *c, size_t row, double x)
{
    const int width = types[c->type].width, scale = types[c->type].scale;
    uint8_t *to = c->values + row * (size_t)width;
    float f = (float)x;
    double scaled = scale > 0 ? x * pow(10, scale) : x;
    int64_t whole = scaled > -9e18 && scaled < 9e18 ? (int64_t)scaled : 0;
    if (scale == -2) {
        memcpy(to, width == 8 ? (const void *)&x : (const void *)&f, (size_t)width);
        return;
    }
    if (width < 8) { /* as many bytes as there are: any integer fits */
        if (types[c->type].format[0] == 't' && types[c->type].format[1] == 't')
            whole = (int64_t)((uint64_t)whole % 86400);
        if (scale > 0)
            whole %= 1000000000;
        memcpy(to, &whole, (size_t)width);
        return;
    }
    if (types[c->type].format[0] == 't' && types[c->type].format[2] == 'm')
        whole = whole % 100000 * 86400000;
    if (scale > 0 && width == 16 && scale == 2)
        whole %= 1000000000000000000;
    memset(to, whole < 0 ? 0xff : 0, (size_t)width);
    memcpy(to, &whole, 8);
}

static void fill(bytes *b, table *t)
{
    uint8_t head[COLUMNS_MAX][4];
    for (size_t c = 0; c < t->columns; c++) {
        for (int i = 0; i < 4; i++)
            head[c][i] = (uint8_t)take(b, 1);
    }
    for (size_t c = 0; c < t->columns; c++) {
        column *to = &t->column[c];
        to->type = (int)(head[c][0] % TYPES);
        memset(to->valid, 0, sizeof to->valid);
        memset(to->values, 0, sizeof to->values);
        for (size_t i = 0; i < t->rows; i++) {
            if (head[c][3] > 200 && i % 7 == head[c][3] % 7)
                continue;
            to->valid[i / 8] = (uint8_t)(to->valid[i / 8] | 1u << (i % 8));
            set_value(to, i, real_of(b, head[c][1], head[c][2]));
        }
    }
}

/* ---- streams over them; nothing is copied */

typedef struct batch {
    struct ArrowSchema schema, fields[COLUMNS_MAX], *field_list[COLUMNS_MAX];
    struct ArrowArray array, children[COLUMNS_MAX], *child_list[COLUMNS_MAX];
    const void *buffers[COLUMNS_MAX][2], *none[1];
} batch;

static void drop_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void drop_array(struct ArrowArray *a)
{
    a->release = NULL;
}

typedef struct reader {
    const table *t;
    size_t at, step;
    batch b;
} reader;

static ald_status give_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    reader *r = ctx;
    (void)err;
    for (size_t c = 0; c < r->t->columns; c++) {
        r->b.fields[c] = (struct ArrowSchema){.format = types[r->t->column[c].type].format,
                                              .name = "x",
                                              .flags = ARROW_FLAG_NULLABLE,
                                              .release = drop_schema};
        r->b.field_list[c] = &r->b.fields[c];
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = (int64_t)r->t->columns,
                                .children = r->b.field_list,
                                .release = drop_schema};
    return ALD_OK;
}

static ald_status give_batch(void *ctx, struct ArrowArray *out, ald_error *err)
{
    reader *r = ctx;
    size_t n = r->t->rows - r->at < r->step ? r->t->rows - r->at : r->step;
    (void)err;
    if (n == 0)
        return ALD_OK;
    for (size_t c = 0; c < r->t->columns; c++) {
        r->b.buffers[c][0] = r->t->column[c].valid;
        r->b.buffers[c][1] = r->t->column[c].values;
        r->b.children[c] = (struct ArrowArray){.length = (int64_t)n,
                                               .offset = (int64_t)r->at,
                                               .null_count = -1,
                                               .n_buffers = 2,
                                               .buffers = r->b.buffers[c],
                                               .release = drop_array};
        r->b.child_list[c] = &r->b.children[c];
    }
    *out = (struct ArrowArray){.length = (int64_t)n,
                               .n_buffers = 1,
                               .buffers = r->b.none,
                               .n_children = (int64_t)r->t->columns,
                               .children = r->b.child_list,
                               .release = drop_array};
    r->at += n;
    return ALD_OK;
}

static void no_free(void *ctx)
{
    (void)ctx;
}

static struct ArrowArrayStream stream_of(const ald_host *host, reader *r, const table *t,
                                         size_t step)
{
    struct ArrowArrayStream s;
    ald_stream_impl impl = {give_schema, give_batch, no_free, r, 0};
    ald_error err = {0};
    memset(r, 0, sizeof *r);
    r->t = t;
    r->step = step;
    FUZZ_CHECK(ald_stream_new(&impl, &host->alloc, &s, &err) == ALD_OK);
    return s;
}

/* ---- marking */

/* NULL with *to as `from`: nothing can be marked. */
static ald_watermark *mark(const ald_host *host, const table *from, size_t step,
                           const ald_watermark_options *options, const uint8_t *key, table *to)
{
    static reader one, two;
    ald_watermark *w = NULL;
    ald_error err = {0};
    struct ArrowArrayStream s = stream_of(host, &one, from, step);
    ald_status st;
    size_t at = 0;
    *to = *from;
    FUZZ_CHECK(ald_watermark_new(options, key, host, &w, &err) == ALD_OK);
    st = ald_watermark_survey(w, &s, &err);
    fuzz_check_error(st, &err);
    if (st != ALD_OK) {
        if (st != ALD_E_UNSUPPORTED)
            fprintf(stderr, "%s\n", err.msg);
        FUZZ_CHECK(st == ALD_E_UNSUPPORTED);
        ald_watermark_free(w);
        return NULL;
    }
    s = stream_of(host, &two, from, step);
    FUZZ_CHECK(ald_watermark_apply(w, &s, &err) == ALD_OK);
    for (;;) {
        struct ArrowArray b;
        FUZZ_CHECK(ald_stream_next(&s, &b, &err) == ALD_OK);
        if (b.release == NULL)
            break;
        for (size_t c = 0; c < from->columns; c++) {
            const size_t width = (size_t)types[from->column[c].type].width;
            const uint8_t *v = b.children[c]->buffers[1];
            memcpy(to->column[c].values + at * width, v + (size_t)b.children[c]->offset * width,
                   (size_t)b.length * width);
        }
        at += (size_t)b.length;
        b.release(&b);
    }
    s.release(&s);
    FUZZ_CHECK(at == from->rows);
    return w;
}

static long double number_of(const column *c, size_t row)
{
    const int width = types[c->type].width, scale = types[c->type].scale;
    const uint8_t *from = c->values + row * (size_t)width;
    double d = 0;
    float f = 0;
    int64_t whole = 0;
    if (scale == -2) {
        memcpy(width == 8 ? (void *)&d : (void *)&f, from, (size_t)width);
        return width == 8 ? (long double)d : (long double)f;
    }
    memcpy(&whole, from, width < 8 ? (size_t)width : 8);
    if (types[c->type].format[0] != 'C' && types[c->type].format[0] != 'L' && width < 8)
        whole = (int64_t)((uint64_t)whole << (64 - 8 * width)) >> (64 - 8 * width);
    return types[c->type].format[0] == 'L' ? (long double)(uint64_t)whole : (long double)whole;
}

static void check_column(const column *a, const column *b, const ald_watermark_column *report,
                         size_t rows, float strength)
{
    const size_t width = (size_t)types[a->type].width;
    long double unit = strength < 0.002f ? 0x1p-10L : strength < 0.004f ? 0x1p-9L : 0x1p-8L;
    long double bound = (long double)strength > unit ? (long double)strength : unit;
    bound = (bound > 0.7L * 0x1p-8L ? bound : bound) * (1 + 1e-6L);
    for (size_t i = 0; i < rows; i++) {
        const uint8_t *x = a->values + i * width, *y = b->values + i * width;
        long double before = number_of(a, i), after = number_of(b, i);
        if (!(a->valid[i / 8] >> (i % 8) & 1) || report->mode == ALD_WATERMARK_SKIPPED ||
            before == 0 || !isfinite(before)) {
            FUZZ_CHECK(memcmp(x, y, width) == 0);
            continue;
        }
        FUZZ_CHECK(isfinite(after) && (after > 0) == (before > 0));
        FUZZ_CHECK(fabsl(after - before) <= bound * fabsl(before));
        for (size_t j = 0; j < i; j += 1 + i / 16) { /* where it goes depends on the value alone */
            if ((a->valid[j / 8] >> (j % 8) & 1) && memcmp(x, a->values + j * width, width) == 0)
                FUZZ_CHECK(memcmp(y, b->values + j * width, width) == 0);
        }
    }
}

/* ---- reading */

static void look_for(const ald_host *host, const table *t, const uint8_t *key, const uint8_t *buyer,
                     int is_buyers)
{
    static reader r;
    uint8_t list[3][32] = {{1}, {2}, {3}};
    struct ArrowArrayStream s = stream_of(host, &r, t, 97);
    ald_watermark_affine affine = {-2.5, 3};
    ald_watermark_read_options options = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_watermark_reading *reading = NULL;
    ald_watermark_finding f;
    ald_watermark_rank ranks[3];
    ald_error err = {0};
    size_t count;
    options.affine = &affine;
    options.affine_count = t->rows % 8 == 1;
    memcpy(list[1], buyer, 32);
    FUZZ_CHECK(ald_watermark_read(&s, key, &options, host, &reading, &err) == ALD_OK);
    FUZZ_CHECK(ald_watermark_extract(reading, &f, &err) == ALD_OK);
    FUZZ_CHECK(!f.found || (is_buyers && memcmp(f.buyer_hash, buyer, 32) == 0));
    FUZZ_CHECK(f.confidence >= 0 && f.confidence <= 1 && f.log2_p <= 0 && f.log2_p >= -256);
    FUZZ_CHECK(ald_watermark_verify(reading, buyer, &f, &err) == ALD_OK);
    FUZZ_CHECK(!f.found || is_buyers);
    FUZZ_CHECK(ald_watermark_list(reading, list[0], 3, ranks, 3, &count, &err) == ALD_OK);
    for (size_t i = 0; i < count; i++)
        FUZZ_CHECK(ranks[i].log2_p > -40 || (is_buyers && ranks[i].buyer == 1));
    ald_watermark_reading_free(reading);
}

static void look_without_key(const ald_host *host, const table *t)
{
    static reader r;
    struct ArrowArrayStream s = stream_of(host, &r, t, 97);
    ald_detection verdict;
    ald_error err = {0};
    FUZZ_CHECK(ald_piracy_detect(&s, 0, host, &verdict, &err) == ALD_OK);
    FUZZ_CHECK(verdict.confidence >= 0 && verdict.confidence <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const float strengths[6] = {1e-5f, 1e-4f, 5e-4f, 1e-3f, 2e-3f, 4e-3f};
    static const uint8_t key[32] = {1, 2, 3}, other_key[32] = {4, 5, 6};
    ald_watermark_options options = ALD_WATERMARK_OPTIONS_INIT;
    ald_host host = fuzz_host();
    bytes b = {data, size, UINT64_C(88172645463325252)};
    ald_watermark *w, *w2;
    host.crypto = ald_native_host(1).crypto;
    options.flags = (uint32_t)take(&b, 1) % 8;
    options.strength = strengths[take(&b, 1) % 6];
    options.buyer_hash[0] = 77;
    start.rows = (size_t)take(&b, 1);
    if (start.rows > 100) /* most are small, to be quick */
        start.rows = start.rows < 240 ? start.rows / 4 : (start.rows - 239) * (ROWS_MAX / 16);
    start.columns = 1 + (size_t)take(&b, 1) % COLUMNS_MAX;
    fill(&b, &start);
    w = mark(&host, &start, 97, &options, key, &marked);
    w2 = mark(&host, &start, ROWS_MAX, &options, key, &again);
    FUZZ_CHECK((w == NULL) == (w2 == NULL));
    for (size_t c = 0; c < start.columns; c++)
        FUZZ_CHECK(memcmp(marked.column[c].values, again.column[c].values,
                          sizeof marked.column[c].values) == 0);
    if (w != NULL) {
        const ald_watermark_report *report = ald_watermark_get_report(w);
        FUZZ_CHECK(report->column_count == start.columns);
        for (size_t c = 0; c < start.columns; c++)
            check_column(&start.column[c], &marked.column[c], &report->columns[c], start.rows,
                         options.strength);
    }
    look_for(&host, &marked, key, options.buyer_hash, w != NULL);
    if (start.rows % 4 == 0)
        look_for(&host, &marked, other_key, options.buyer_hash, 0);
    look_without_key(&host, &marked);
    ald_watermark_free(w);
    ald_watermark_free(w2);
    FUZZ_CHECK_EMPTY();
    return 0;
}
