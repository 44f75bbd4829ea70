/* SPDX-License-Identifier: MIT */
/* Reading JSON in one pass, where types come from samples, against two passes: types, values, notes, errors and batches must
 * be the same, whatever surprise the input has and wherever it stands. */
#include "unit/jsonl_fixture.h"

#include "interchange/jsonl/jsonl_open.h"

#define MOST_KEYS 5

static uint64_t seed_state;

static uint32_t pick(uint32_t n)
{
    seed_state = seed_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed_state >> 33) % n;
}

static char *text;
static size_t text_size, text_capacity;

static void put(const char *part)
{
    size_t n = strlen(part);
    if (text_size + n + 1 > text_capacity) {
        text_capacity = 2 * (text_size + n) + 1024;
        text = realloc(text, text_capacity);
    }
    memcpy(text + text_size, part, n + 1);
    text_size += n;
}

/* Values by kind; each kind is a surprise behind another one. */
static const char *const values[][6] = {
    {"null", "null", "null", "null", "null", "null"},
    {"1", "0", "-7", "42", "123456789012345", "7"},
    {"1", "999999999999999", "-1234567890123456", "9223372036854775807", "-9223372036854775808",
     "9007199254740993"},
    {"18446744073709551615", "9223372036854775808", "1", "2", "3", "4"},
    {"18446744073709551616", "-18446744073709551616", "123456789012345678901234567890", "1", "2",
     "0"},
    {"0.5", "1.25", "-0.125", "2.0", "100000.000001", "7"},
    {"0.30000000000000004", "1.000000000000000056e-01", "6.978861717952905e-08",
     "0.00001225655096738716", "-1e5", "2E+3"},
    {"-0", "-0.0", "0.0", "4.9e-324", "0e0", "1"},
    {"0.1234567890123456789", "1.5", "-99.99", "12345678901234567890.5", "0.1", "3"},
    {"0.100000000000000006", "0.299999999999999989", "0.5", "-0.699999999999999956", "2.5", "0"},
    {"0.100000000000000007", "0.299999999999999988", "0.5", "0.1", "-0.699999999999999955", "3"},
    {"1e400", "1.5", "2", "-1e400", "3", "4"},
    {"true", "false", "true", "false", "null", "true"},
    {"\"x\"", "\"\"", "\"a\\nb\"", "\"\xC3\xA9\"", "\"17\"", "null"},
    {"[]", "[]", "null", "[]", "[]", "[]"},
    {"[1,2]", "[]", "null", "[3]", "[null]", "[4,5,6]"},
    {"[1.5,2]", "[]", "[\"x\"]", "[3]", "[[1]]", "[4,5,6]"},
    {"{}", "{}", "null", "{}", "{}", "{}"},
    {"{\"p\":1}", "{}", "{\"q\":\"x\"}", "null", "{\"p\":2,\"q\":null}", "{\"q\":\"y\",\"p\":3}"},
    {"{\"p\":[{\"z\":1}]}", "{\"p\":[]}", "{\"p\":[{\"y\":2},{}]}", "{\"p\":null}", "{\"r\":1.5}",
     "{\"p\":1}"},
};
#define KINDS ((uint32_t)(sizeof values / sizeof values[0]))

typedef struct key_plan {
    uint32_t kind, later; /* later: behind row `turn`, for `stays` rows in a hundred */
    uint32_t turn, stays, missing, from;
} key_plan;

typedef struct plan {
    key_plan keys[MOST_KEYS];
    uint32_t count, rows, shuffled, broken, array;
} plan;

static void put_row(const plan *p, uint32_t row)
{
    static const char *const names[MOST_KEYS] = {
        "\"a\":", "\"b\":", "\"c\":", "\"long key\":", "\"e\":"};
    uint32_t first = p->shuffled && pick(4) == 0 ? pick(p->count) : 0, put_count = 0;
    put("{");
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t k = (first + i) % p->count;
        const key_plan *key = &p->keys[k];
        uint32_t kind = row >= key->turn && pick(100) < key->stays ? key->later : key->kind;
        if (row < key->from || pick(100) < key->missing)
            continue;
        put(put_count++ > 0 ? "," : "");
        put(names[k]);
        put(values[kind][pick(6)]);
    }
    if (p->broken != 0 && pick(p->broken) == 0)
        put(pick(2) ? ",\"a\":1,\"a\":2" : "\"");
    put("}");
}

static void make_plan(plan *p)
{
    memset(p, 0, sizeof *p);
    p->count = 1 + pick(MOST_KEYS);
    p->rows = pick(4) == 0 ? pick(700) : pick(60);
    p->shuffled = pick(2);
    p->broken = pick(30) == 0 ? 1 + pick(2 * p->rows + 10) : 0;
    p->array = pick(4) == 0;
    for (uint32_t k = 0; k < p->count; k++) {
        key_plan *key = &p->keys[k];
        key->kind = pick(KINDS);
        key->later = pick(3) ? key->kind : pick(KINDS);
        key->turn = pick(p->rows + 1);
        key->stays = pick(2) ? 100 : pick(14);
        key->missing = pick(3) == 0 ? pick(100) : 0;
        key->from = pick(4) == 0 ? pick(p->rows + 1) : 0;
    }
}

static void make_text(const plan *p)
{
    text_size = 0;
    put(p->array ? "[" : "");
    for (uint32_t row = 0; row < p->rows; row++) {
        put_row(p, row);
        if (p->array && row + 1 < p->rows)
            put(",");
        if (!p->array || pick(2))
            put(pick(20) ? "\n" : "\n \n");
    }
    put(p->array ? "]" : "");
}

static void read_stream(reading *r, struct ArrowArrayStream *stream, const ald_host *host)
{
    r->status = fixture_schema(stream, host, r);
    if (r->status == ALD_OK)
        r->status = fixture_rows(stream, host, r);
    else
        stream->release(stream);
}

static void read_tuned(reading *r, const ald_source *source, ald_jsonl_options *options,
                       const ald_host *host, size_t records)
{
    const ald__jsonl_tuning tuning = {1, records};
    struct ArrowArrayStream stream;
    memset(r, 0, sizeof *r);
    options->text.note = fixture_note;
    options->text.note_ctx = r;
    r->status = ald__jsonl_open_tuned(source, options, host, &tuning, &stream, &r->err);
    if (r->status == ALD_OK)
        read_stream(r, &stream, host);
}

static void forget(reading *r)
{
    free(r->schema);
    free(r->rows);
    r->schema = r->rows = NULL;
}

/* What failed in one pass is read from the stream that starts over. */
static int read_again(reading *r, struct ArrowArrayStream *again, const ald_host *host)
{
    if (again->release == NULL)
        return 0;
    CHECK_INT(r->status, ALD_E_SCHEMA_MISMATCH);
    forget(r);
    memset(&r->err, 0, sizeof r->err);
    r->row_count = 0;
    r->batch_count = 0;
    memset(r->batch_rows, 0, sizeof r->batch_rows);
    read_stream(r, again, host);
    return 1;
}

static int same_text(const char *a, const char *b)
{
    return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

static int same(const reading *a, const reading *b)
{
    if (a->status != b->status || !same_text(a->notes, b->notes))
        return 0;
    /* What stands before an error differs only in that two passes may find it before the first row. */
    if (a->status != ALD_OK)
        return same_text(a->err.msg, b->err.msg) && a->err.offset == b->err.offset;
    return same_text(a->schema, b->schema) && same_text(a->rows, b->rows) &&
           a->row_count == b->row_count && a->batch_count == b->batch_count &&
           memcmp(a->batch_rows, b->batch_rows, sizeof a->batch_rows) == 0;
}

static int run_case(uint64_t seed, int *restarts)
{
    static const char *const declared[] = {"a:int64", "a:string", "b:float64", "zz:int32",
                                           "a:list<int64>"};
    ald_jsonl_options o = ALD_JSONL_OPTIONS_INIT;
    struct ArrowArrayStream again;
    struct ArrowSchema types;
    reading one, two;
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host;
    ald_source source;
    plan p;
    size_t records;
    int equal;
    memset(&again, 0, sizeof again);
    memset(&types, 0, sizeof types);
    seed_state = seed;
    make_plan(&p);
    make_text(&p);
    host = fixture_host(&alloc, 1 + pick(3));
    records = 1 + pick(pick(2) ? 4 : 100);
    o.mixed = (uint8_t)pick(3);
    o.text.batch_rows = pick(3) ? 1 + pick(pick(2) ? 10 : 300) : 0;
    if (pick(5) == 0) {
        const char *d = declared[pick(5)];
        CHECK_INT(ald_schema_from_json(d, strlen(d), &host, &types, NULL), ALD_OK);
        o.text.types = &types;
    }
    source = ald_source_memory(text, text_size);
    read_tuned(&two, &source, &o, &host, records);
    o.text.restart = &again;
    read_tuned(&one, &source, &o, &host, records);
    if (types.release != NULL)
        types.release(&types);
    *restarts += read_again(&one, &again, &host);
    equal = same(&one, &two);
    if (!CHECK(equal))
        printf("    seed %" PRIu64 ": %d %d\n%s|%s\n%s|%s\n%s|%s\n%s|%s\n", seed, (int)one.status,
               (int)two.status, one.err.msg, two.err.msg, one.schema, two.schema, one.notes,
               two.notes, one.rows, two.rows);
    forget(&one);
    forget(&two);
    CHECK_HEAP_EMPTY(&heap);
    return equal;
}

static uint64_t first_seed = 1;
static int case_count = 6000;

static void test_surprises(void)
{
    int restarts = 0, done = 0;
    while (done < case_count && run_case(first_seed + (uint64_t)done, &restarts))
        done++;
    printf("    %d of %d started over\n", restarts, done);
    CHECK(case_count < 1000 || (restarts > done / 20 && restarts < done - done / 20));
    free(text);
}

/* Every allocation fails once: with types that hold, and with one that does not. */
static void test_no_memory(void)
{
    static const char *const texts[] = {
        "{\"a\":1,\"b\":[1,2]}\n{\"a\":2,\"b\":[]}\n{\"a\":3}\n{\"a\":null}\n",
        "{\"a\":1,\"b\":[1,2]}\n{\"a\":2,\"b\":[]}\n{\"a\":3,\"c\":{\"d\":1}}\n{\"a\":1.5}\n"};
    const char *declared = "b:list<int64>";
    for (size_t i = 0; i < 4; i++) {
        const char *lines = texts[i / 2];
        ald_source source = ald_source_memory(lines, strlen(lines));
        ald_status status = ALD_E_NOMEM;
        for (int64_t calls = 0; status == ALD_E_NOMEM && calls < 3000; calls++) {
            check_heap heap, own;
            ald_allocator alloc = check_heap_init(&heap, calls),
                          types_alloc = check_heap_init(&own, -1);
            ald_host host = fixture_host(&alloc, 2), types_host = fixture_host(&types_alloc, 1);
            ald_jsonl_options o = ALD_JSONL_OPTIONS_INIT;
            struct ArrowArrayStream again;
            struct ArrowSchema types;
            reading r;
            memset(&again, 0, sizeof again);
            CHECK_INT(ald_schema_from_json(declared, strlen(declared), &types_host, &types, NULL),
                      ALD_OK);
            o.text.types = i % 2 ? &types : NULL;
            o.text.restart = &again;
            o.text.batch_rows = 1;
            read_tuned(&r, &source, &o, &host, 1);
            (void)read_again(&r, &again, &host);
            status = r.status;
            forget(&r);
            types.release(&types);
            CHECK_HEAP_EMPTY(&heap);
            CHECK_HEAP_EMPTY(&own);
        }
        CHECK_INT(status, ALD_OK);
    }
}

int main(int argc, char **argv)
{
    first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    case_count = argc > 2 ? atoi(argv[2]) : case_count;
    RUN(test_no_memory);
    RUN(test_surprises);
    return check_done();
}
