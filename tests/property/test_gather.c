/* SPDX-License-Identifier: MIT */
/* Gathering rows: random arrays of every type against rows rendered one by one, and the limits of each layout. */
#include "check_alloc.h"
#include "core/arrow/array.h"
#include "core/arrow/gather.h"
#include "core/arrow/validate.h"
#include "property/random_table.h"

#define SEEDS 1500
#define MAX_SOURCES 4
#define MAX_RUNS 40

static check_heap heap;
static ald_allocator heap_alloc;

typedef struct table {
    struct ArrowSchema schema;
    struct ArrowArray arrays[MAX_SOURCES];
    const struct ArrowArray *sources[MAX_SOURCES];
    size_t count;
} table;

/* A batch as gathering wants it: made by ald__array_new, here as a copy of a foreign one; now and then a slice. */
static void make_source(table *t, uint64_t value, uint64_t noise, struct ArrowArray *out)
{
    ald__array_holder *holder = NULL;
    struct ArrowArray batch;
    uint64_t r = noise;
    rt_batch(value, noise, &t->schema, &batch);
    rt_must(ald__array_holder_new(&heap_alloc, &batch, &holder, NULL));
    rt_must(ald__array_holder_share(holder, out, NULL));
    ald__array_holder_free(holder);
    if (rt_below(&r, 3) == 0 && out->length > 2) {
        int64_t cut = rt_below(&r, out->length);
        out->offset += cut;
        out->length -= cut;
    }
}

static void make_table(uint64_t seed, table *t)
{
    uint64_t r = seed * 31, value = seed;
    memset(t, 0, sizeof *t);
    rt_schema(seed, &heap_alloc, &t->schema);
    t->count = (size_t)rt_below(&r, MAX_SOURCES + 1);
    for (size_t i = 0; i < t->count; i++) {
        if (rt_below(&r, 3) > 0) /* else the values of the one before, in other places */
            value = rt_next(&r);
        make_source(t, value, rt_next(&r), &t->arrays[i]);
        t->sources[i] = &t->arrays[i];
    }
}

static void clear_sources(table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->arrays[i].release != NULL)
            t->arrays[i].release(&t->arrays[i]);
    }
}

static size_t random_runs(uint64_t *r, const table *t, ald__run *runs)
{
    size_t count = 0, wanted = (size_t)rt_below(r, MAX_RUNS);
    while (t->count > 0 && wanted-- > 0) {
        size_t source = (size_t)rt_below(r, (int64_t)t->count);
        int64_t length = t->arrays[source].length, begin, size;
        if (length == 0)
            continue;
        begin = rt_below(r, length);
        size = rt_below(r, 2) ? 1 : 1 + rt_below(r, length - begin);
        runs[count++] = (ald__run){begin, size, source};
    }
    return count;
}

static void render_runs(const table *t, const ald__run *runs, size_t count, rt_out *out)
{
    for (size_t i = 0; i < count; i++) {
        for (int64_t k = 0; k < runs[i].count; k++) {
            rt_render(&t->schema, &t->arrays[runs[i].source], runs[i].begin + k, out);
            rt_put(out, "\n", 1);
        }
    }
}

static void check_text(const rt_out *got, const rt_out *want)
{
    if (CHECK_UINT(got->size, want->size) && want->size > 0)
        CHECK_STR(got->data, want->data);
}

/* Random list views have anything under nulls, which a dictionary that is kept as it is keeps. */
static int are_valid(const table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (ald__array_validate(&heap_alloc, &t->schema, t->sources[i], NULL, NULL) != ALD_OK)
            return 0;
    }
    return 1;
}

static void check_seed(uint64_t seed)
{
    uint64_t r = seed * 17 + 5;
    uint32_t flags = (uint32_t)rt_below(&r, 2);
    ald__run runs[MAX_RUNS];
    struct ArrowArray out;
    rt_out want = {0}, got = {0};
    ald_error err = {0};
    size_t count;
    int valid;
    table t;
    make_table(seed, &t);
    count = random_runs(&r, &t, runs);
    render_runs(&t, runs, count, &want);
    valid = are_valid(&t);
    if (CHECK_OK(ald__array_gather(&heap_alloc, &t.schema, t.sources, t.count, runs, count, flags,
                                   &out, &err),
                 &err)) {
        clear_sources(&t); /* what was gathered stands alone */
        if (valid || (flags & ALD__GATHER_OWN))
            CHECK_OK(ald__array_validate(&heap_alloc, &t.schema, &out, NULL, &err), &err);
        rt_render_batch(&t.schema, &out, &got);
        check_text(&got, &want);
        out.release(&out);
    }
    clear_sources(&t);
    t.schema.release(&t.schema);
    free(want.data);
    free(got.data);
}

static void test_random_rows(void)
{
    heap_alloc = check_heap_init(&heap, -1);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        int before = check_failures;
        check_seed(seed);
        if (check_failures > before)
            printf("    seed %llu\n", (unsigned long long)seed);
        if (check_failures > 20)
            break;
    }
    CHECK_HEAP_EMPTY(&heap);
}

static void test_no_memory(void)
{
    for (uint64_t seed = 1; seed <= 150; seed++) {
        uint64_t r = seed * 17 + 5;
        ald__run runs[MAX_RUNS];
        ald_status st = ALD_E_NOMEM;
        size_t count, live;
        table t;
        heap_alloc = check_heap_init(&heap, -1);
        make_table(seed, &t);
        count = random_runs(&r, &t, runs);
        live = heap.live_blocks;
        for (int64_t n = 0; st != ALD_OK && check_failures == 0; n++) {
            struct ArrowArray out;
            ald_error err = {0};
            heap.calls_left = n;
            st = ald__array_gather(&heap_alloc, &t.schema, t.sources, t.count, runs, count,
                                   (uint32_t)seed % 2, &out, &err);
            if (st == ALD_OK)
                out.release(&out);
            else if (CHECK_INT(st, ALD_E_NOMEM))
                CHECK(out.release == NULL);
            CHECK_UINT(heap.live_blocks, live);
        }
        heap.calls_left = -1;
        clear_sources(&t);
        t.schema.release(&t.schema);
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* ---- limits. Columns are made by hand over static bytes. */

static void column_schema(const char *format, const char *name, size_t children, int dictionary,
                          struct ArrowSchema *out)
{
    rt_must(ald__schema_new(&heap_alloc, children, dictionary, out, NULL));
    rt_set(out, format, name, ARROW_FLAG_NULLABLE);
}

static void column(int64_t length, size_t buffers, size_t children, int dictionary,
                   struct ArrowArray *out)
{
    rt_must(ald__array_new(&heap_alloc, buffers, children, dictionary, out, NULL));
    out->length = length;
}

/* Gathers and says how it ended; a result is handed back. */
static ald_status gather(const struct ArrowSchema *s, const struct ArrowArray *const *sources,
                         size_t count, const ald__run *runs, size_t run_count,
                         struct ArrowArray *out, ald_error *err)
{
    ald_status st;
    memset(err, 0, sizeof *err);
    st = ald__array_gather(&heap_alloc, s, sources, count, runs, run_count, 0, out, err);
    CHECK((st == ALD_OK) == (out->release != NULL));
    if (st == ALD_OK)
        CHECK_OK(ald__array_validate(&heap_alloc, s, out, NULL, err), err);
    return st;
}

static void test_dictionaries_beyond_their_index(void)
{
    static const int8_t indices[2] = {99, 0};
    static int32_t values[2][100];
    struct ArrowSchema s;
    struct ArrowArray a[2], out;
    const struct ArrowArray *sources[2] = {&a[0], &a[1]};
    const ald__run runs[2] = {{0, 2, 0}, {0, 2, 1}};
    ald_error err;
    heap_alloc = check_heap_init(&heap, -1);
    column_schema("c", "kind", 0, 1, &s);
    rt_must(ald__schema_new(&heap_alloc, 0, 0, s.dictionary, NULL));
    rt_set(s.dictionary, "i", "", ARROW_FLAG_NULLABLE);
    for (int i = 0; i < 2; i++) {
        column(2, 2, 0, 1, &a[i]);
        a[i].buffers[1] = indices;
        column(100, 2, 0, 0, a[i].dictionary);
        a[i].dictionary->buffers[1] = values[i];
    }
    /* equal bytes in two places: one dictionary */
    CHECK_INT(gather(&s, sources, 2, runs, 2, &out, &err), ALD_OK);
    if (out.release != NULL) {
        CHECK_INT(out.dictionary->length, 100);
        out.release(&out);
    }
    /* 200 values, of which an int8 reaches 128 */
    values[1][0] = 1;
    CHECK_INT(gather(&s, sources, 2, runs, 2, &out, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK_CONTAINS(err.msg, "column 'kind'");
    /* a source without rows does not count */
    CHECK_INT(gather(&s, sources, 2, runs + 1, 1, &out, &err), ALD_OK);
    if (out.release != NULL)
        out.release(&out);
    a[0].dictionary->length = 28;
    CHECK_INT(gather(&s, sources, 2, runs + 1, 1, &out, &err), ALD_OK);
    if (out.release != NULL)
        out.release(&out);
    for (int i = 0; i < 2; i++)
        a[i].release(&a[i]);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_strings_beyond_32_bits(void)
{
    static char text[1 << 20];
    static const int32_t offsets[2] = {0, sizeof text};
    enum { TIMES = 2050 };
    static ald__run runs[TIMES];
    struct ArrowSchema s;
    struct ArrowArray a, out;
    const struct ArrowArray *sources[1] = {&a};
    ald_error err;
    heap_alloc = check_heap_init(&heap, -1);
    memset(text, 'x', sizeof text);
    column_schema("u", "text", 0, 0, &s);
    column(1, 3, 0, 0, &a);
    a.buffers[1] = offsets;
    a.buffers[2] = text;
    for (size_t i = 0; i < TIMES; i++)
        runs[i] = (ald__run){0, 1, 0};
    CHECK_INT(gather(&s, sources, 1, runs, TIMES, &out, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK_CONTAINS(err.msg, "column 'text'");
    CHECK(heap.peak_bytes < sizeof text); /* nothing was copied before it was counted */
    CHECK_INT(gather(&s, sources, 1, runs, 3, &out, &err), ALD_OK);
    if (out.release != NULL)
        out.release(&out);
    a.release(&a);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_run_ends_beyond_16_bits(void)
{
    static const int16_t ends[1] = {20000};
    static const int32_t values[1] = {7};
    struct ArrowSchema s;
    struct ArrowArray a, out;
    const struct ArrowArray *sources[1] = {&a};
    const ald__run runs[2] = {{0, 20000, 0}, {0, 12767, 0}},
                   more[2] = {{0, 20000, 0}, {0, 12768, 0}};
    ald_error err;
    heap_alloc = check_heap_init(&heap, -1);
    column_schema("+r", "runs", 2, 0, &s);
    rt_must(ald__schema_new(&heap_alloc, 0, 0, s.children[0], NULL));
    rt_set(s.children[0], "s", "run_ends", 0);
    rt_must(ald__schema_new(&heap_alloc, 0, 0, s.children[1], NULL));
    rt_set(s.children[1], "i", "values", ARROW_FLAG_NULLABLE);
    column(20000, 0, 2, 0, &a);
    column(1, 2, 0, 0, a.children[0]);
    column(1, 2, 0, 0, a.children[1]);
    a.children[0]->buffers[1] = ends;
    a.children[1]->buffers[1] = values;
    CHECK_INT(gather(&s, sources, 1, runs, 2, &out, &err), ALD_OK);
    if (out.release != NULL) {
        CHECK_INT(out.length, 32767);
        CHECK_INT(out.children[0]->length, 1); /* pieces of one run are one run */
        out.release(&out);
    }
    CHECK_INT(gather(&s, sources, 1, more, 2, &out, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK_CONTAINS(err.msg, "column 'runs'");
    a.release(&a);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

/* Rows that take no bytes may be claimed by the billion; a bitmap for them is not made. */
static void test_claimed_rows(void)
{
    static const uint8_t bits[1] = {2};
    struct ArrowSchema s;
    struct ArrowArray a[2], out;
    const struct ArrowArray *sources[2] = {&a[0], &a[1]};
    const ald__run runs[2] = {{0, 2, 0}, {5, INT64_C(1) << 50, 1}}, few[2] = {{0, 2, 0}, {5, 3, 1}};
    const ald__run more[2] = {{0, INT64_MAX, 1}, {0, 1, 1}};
    ald_error err;
    heap_alloc = check_heap_init(&heap, -1);
    column_schema("+s", "", 0, 0, &s);
    column(2, 1, 0, 0, &a[0]);
    a[0].buffers[0] = bits;
    a[0].null_count = 1;
    column(INT64_MAX, 1, 0, 0, &a[1]);
    CHECK_INT(gather(&s, sources, 2, runs, 2, &out, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK_INT(gather(&s, sources, 2, more, 2, &out, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK_INT(gather(&s, sources, 2, few, 2, &out, &err), ALD_OK);
    if (out.release != NULL) {
        CHECK_INT(out.null_count, 1);
        out.release(&out);
    }
    CHECK_INT(gather(&s, sources + 1, 1, &(ald__run){5, INT64_C(1) << 50, 0}, 1, &out, &err),
              ALD_OK);
    if (out.release != NULL) {
        CHECK(out.length == INT64_C(1) << 50);
        out.release(&out);
    }
    a[0].release(&a[0]);
    a[1].release(&a[1]);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

/* ---- values that many slots share are not multiplied */

enum { SHARERS = 1000, SHARED = 5000 };

static void gather_shared(const struct ArrowSchema *s, const struct ArrowArray *a,
                          struct ArrowArray *out)
{
    static const ald__run both[4] = {{500, 500, 0}, {0, 500, 0}, {0, 500, 1}, {500, 500, 1}};
    const struct ArrowArray *sources[2] = {a, a};
    rt_out want = {0}, got = {0};
    ald_error err;
    out->release = NULL;
    REQUIRE_OK(gather(s, sources, 2, both, 4, out, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        for (int64_t k = 0; k < both[i].count; k++)
            rt_render(s, a, both[i].begin + k, &want);
    }
    for (int64_t k = 0; k < out->length; k++)
        rt_render(s, out, k, &got);
    check_text(&got, &want);
    free(want.data);
    free(got.data);
}

static void test_shared_list_views(void)
{
    static int32_t offsets[SHARERS], sizes[SHARERS], values[SHARED];
    struct ArrowSchema s;
    struct ArrowArray a, out;
    heap_alloc = check_heap_init(&heap, -1);
    column_schema("+vl", "views", 1, 0, &s);
    rt_must(ald__schema_new(&heap_alloc, 0, 0, s.children[0], NULL));
    rt_set(s.children[0], "i", "item", ARROW_FLAG_NULLABLE);
    column(SHARERS, 3, 1, 0, &a);
    column(SHARED, 2, 0, 0, a.children[0]);
    for (int i = 0; i < SHARED; i++)
        values[i] = i;
    for (int i = 0; i < SHARERS; i++) {
        offsets[i] = i % 2;
        sizes[i] = SHARED - 1;
    }
    a.buffers[1] = offsets;
    a.buffers[2] = sizes;
    a.children[0]->buffers[1] = values;
    gather_shared(&s, &a, &out);
    if (out.release != NULL) {
        CHECK_INT(out.children[0]->length, 2 * SHARED);
        out.release(&out);
    }
    a.release(&a);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_shared_view_bytes(void)
{
    static int32_t views[SHARERS][4];
    static char text[SHARED];
    static const int64_t sizes[1] = {SHARED};
    struct ArrowSchema s;
    struct ArrowArray a, out;
    heap_alloc = check_heap_init(&heap, -1);
    column_schema("vu", "views", 0, 0, &s);
    column(SHARERS, 4, 0, 0, &a);
    for (int i = 0; i < SHARED; i++)
        text[i] = (char)('a' + i % 26);
    for (int i = 0; i < SHARERS; i++) {
        views[i][0] = i % 3 == 0 ? 4 : SHARED - 100;
        memcpy(&views[i][1], text + i % 100, 4);
        views[i][3] = i % 3 == 0 ? 0 : i % 100;
    }
    a.buffers[1] = views;
    a.buffers[2] = text;
    a.buffers[3] = sizes;
    gather_shared(&s, &a, &out);
    if (out.release != NULL) {
        CHECK_INT(out.n_buffers, 5);
        out.release(&out);
    }
    a.release(&a);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_shared_union_slots(void)
{
    static int8_t codes[SHARERS];
    static int32_t slots[SHARERS], offsets[4] = {0, SHARED, SHARED, SHARED + 1};
    static char text[SHARED + 1];
    struct ArrowSchema s;
    struct ArrowArray a, out;
    heap_alloc = check_heap_init(&heap, -1);
    memset(text, 'y', sizeof text);
    column_schema("+ud:7", "either", 1, 0, &s);
    rt_must(ald__schema_new(&heap_alloc, 0, 0, s.children[0], NULL));
    rt_set(s.children[0], "u", "text", ARROW_FLAG_NULLABLE);
    column(SHARERS, 2, 1, 0, &a);
    column(3, 3, 0, 0, a.children[0]);
    for (int i = 0; i < SHARERS; i++) {
        codes[i] = 7;
        slots[i] = i % 3;
    }
    a.buffers[0] = codes;
    a.buffers[1] = slots;
    a.children[0]->buffers[1] = offsets;
    a.children[0]->buffers[2] = text;
    gather_shared(&s, &a, &out);
    if (out.release != NULL) {
        CHECK_INT(out.children[0]->length, 6);
        out.release(&out);
    }
    a.release(&a);
    s.release(&s);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_random_rows);
    RUN(test_no_memory);
    RUN(test_dictionaries_beyond_their_index);
    RUN(test_strings_beyond_32_bits);
    RUN(test_run_ends_beyond_16_bits);
    RUN(test_claimed_rows);
    RUN(test_shared_list_views);
    RUN(test_shared_view_bytes);
    RUN(test_shared_union_slots);
    return check_done();
}
