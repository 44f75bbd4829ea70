/* SPDX-License-Identifier: MIT */
/* Reading in one pass, where types come from samples, against two passes: types, values, notes, errors and batches must be the
 * same, whatever surprise the file has and wherever it stands. */
#include "interchange/csv/csv_numbers.h"
#include "unit/csv_fixture.h"

#define MOST_COLUMNS 4

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
    {"", "", "", "", "", ""},
    {"1", "0", "-7", "42", "123456789012345", "7"},
    {"1", "999999999999999", "-1234567890123456", "9223372036854775807", "-9223372036854775808",
     "9007199254740993"},
    {"18446744073709551615", "9223372036854775808", "1", "2", "3", "4"},
    {"18446744073709551616", "-18446744073709551616", "123456789012345678901234567890", "1", "2",
     "0"},
    {"0.5", "1.25", "-0.125", ".5", "5.", "100000.000001"},
    {"0.30000000000000004", "1.000000000000000056e-01", "6.978861717952905e-08",
     "0.00001225655096738716", "-1e5", "2E+3"},
    {"-0", "-0.0", "0.0", "1e400", "4.9e-324", "0e0"},
    {"0.1234567890123456789", "1.5", "-99.99", "12345678901234567890.5", "0.1", "3"},
    {"NaN", "inf", "-inf", "1.5", "nan", "Infinity"},
    {"true", "false", "True", "FALSE", "true", "false"},
    {"2024-01-31", "1999-12-31", "0001-01-01", "2024-02-29", "9999-12-31", "1970-01-01"},
    {"12:30:00", "00:00:00.5", "23:59:59.123456", "12:30:00", "12:30:01", "12:30:02"},
    {"12:30:00.123456789", "00:00:00", "01:02:03", "12:30:00", "12:30:01", "12:30:02"},
    {"2024-01-31 12:30:00", "2024-01-31T12:30", "2024-01-31 12:30:00.5", "1970-01-01 00:00",
     "2024-02-29T23:59:59.999999", "2000-01-01 00:00:00"},
    {"2024-01-31 12:30:00.123456789", "9999-12-31 00:00:00", "2024-01-31", "2024-01-31 00:00",
     "1677-09-21 00:12:44", "2024-01-31T12:30"},
    {"2024-01-31T12:30:00Z", "2024-01-31 12:30Z", "2024-01-31T12:30:00.5Z", "1970-01-01T00:00Z",
     "2024-01-31T12:30:00Z", "2024-01-31T12:30:00Z"},
    {"2024-01-31T12:30:00+05:30", "2024-01-31 12:30+0530", "2024-01-31T12:30:00+05:30",
     "1970-01-01T00:00+05:30", "2024-01-31T12:30:00+05:30", "2024-01-31T12:30:00+05:30"},
    {"2024-01-31T12:30:00-08", "2024-01-31 12:30Z", "2024-01-31T12:30:00+01", "2024-01-31T12:30",
     "2024-01-31", "x"},
    {"x", "NA", "007", "1,5", "+5", "\xC3\xA9"},
    {"\"17\"", "\"x\"", "\"\"", "\"say \"\"hi\"\"\"", "\"a\nb\"", "\"1.5\""},
    {"NA", "-", "1900-01-01", "0", "NA", "-"},
};
#define KINDS ((uint32_t)(sizeof values / sizeof values[0]))

typedef struct column_plan {
    uint32_t kind, later; /* later: behind row `turn`, for `stays` rows in a hundred */
    uint32_t turn, stays, nulls;
} column_plan;

typedef struct plan {
    column_plan columns[MOST_COLUMNS];
    uint32_t count, rows, all_quoted, bare_from, ragged, blank, broken;
} plan;

static void put_value(const plan *p, const column_plan *c, uint32_t row)
{
    uint32_t kind = row >= c->turn && pick(100) < c->stays ? c->later : c->kind;
    const char *value = pick(100) < c->nulls ? "" : values[kind][pick(6)];
    int quote = p->all_quoted && row < p->bare_from;
    if (quote || strchr(value, ',') != NULL) {
        if (value[0] == '"') {
            put(value);
            return;
        }
        put("\"");
        put(value);
        put("\"");
        return;
    }
    put(value);
}

static void put_row(const plan *p, uint32_t row)
{
    uint32_t count = p->count;
    if (p->ragged != 0 && pick(p->ragged) == 0)
        count = 1 + pick(MOST_COLUMNS + 1);
    for (uint32_t c = 0; c < count; c++) {
        if (c > 0)
            put(",");
        put_value(p, &p->columns[c < p->count ? c : 0], row);
    }
    put(pick(30) == 0 ? "\r\n" : "\n");
    if (p->blank != 0 && pick(p->blank) == 0)
        put(pick(2) ? "\n" : "#,,no row\n");
    if (p->broken != 0 && pick(p->broken) == 0)
        put(pick(2) ? "\xFF\n" : "\"a\"b,1\n");
}

static void make_plan(plan *p)
{
    memset(p, 0, sizeof *p);
    p->count = 1 + pick(MOST_COLUMNS);
    p->rows = pick(4) == 0 ? pick(1500) : pick(120);
    p->all_quoted = pick(5) == 0;
    p->bare_from = pick(2) ? UINT32_MAX : pick(p->rows + 1);
    p->ragged = pick(8) == 0 ? 1 + pick(p->rows + 10) : 0;
    p->blank = pick(8) == 0 ? 1 + pick(40) : 0;
    p->broken = pick(40) == 0 ? 1 + pick(2 * p->rows + 10) : 0;
    for (uint32_t c = 0; c < p->count; c++) {
        column_plan *k = &p->columns[c];
        k->kind = pick(KINDS);
        k->later = pick(2) ? k->kind : pick(KINDS);
        k->turn = pick(p->rows + 1);
        k->stays = pick(2) ? 100 : pick(14);
        k->nulls = pick(3) == 0 ? pick(100) : 0;
    }
}

static void make_text(const plan *p)
{
    text_size = 0;
    for (uint32_t c = 0; c < p->count; c++) {
        char name[16];
        snprintf(name, sizeof name, p->all_quoted ? "%s\"c%u\"" : "%sc%u", c ? "," : "", c);
        put(name);
    }
    put("\n");
    for (uint32_t row = 0; row < p->rows; row++)
        put_row(p, row);
}

/* What failed in one pass is read from the stream that starts over. */
static int read_again(csv_reading *r, struct ArrowArrayStream *again, const ald_host *host)
{
    ald_buffer buffer = {NULL, 0, 0, &host->alloc};
    if (again->release == NULL)
        return 0;
    CHECK_INT(r->status, ALD_E_SCHEMA_MISMATCH);
    free(r->schema);
    r->schema = NULL;
    r->rows_size = 0;
    csv_show(r, "", 0);
    r->batch_count = r->most_rows = 0;
    r->row_count = 0;
    memset(&r->err, 0, sizeof r->err);
    r->status = csv_show_all(r, again, &buffer);
    again->release(again);
    ald_buffer_clear(&buffer);
    return 1;
}

static int same(const csv_reading *a, const csv_reading *b)
{
    int equal = a->status == b->status && a->row_count == b->row_count &&
                a->batch_count == b->batch_count && a->most_rows == b->most_rows &&
                strcmp(a->notes, b->notes) == 0 && a->rows_size == b->rows_size &&
                memcmp(a->rows, b->rows, a->rows_size) == 0;
    if (a->status != ALD_OK)
        return equal && strcmp(a->err.msg, b->err.msg) == 0 && a->err.offset == b->err.offset;
    return equal && strcmp(a->schema, b->schema) == 0;
}

static void make_options(const plan *p, ald_csv_options *o, ald__csv_tuning *tuning,
                         uint32_t *threads)
{
    static const char *const nulls[] = {"NA", "-", "", "1900-01-01", "0"};
    memset(tuning, 0, sizeof *tuning);
    tuning->block_bytes = 1 + pick(pick(2) ? 300 : 6000);
    tuning->slab_bytes = 1 + pick(pick(2) ? 100 : 4000);
    tuning->one_pass_bytes = 1;
    tuning->samples = 1 + pick(8);
    *threads = 1 + pick(3);
    o->text.batch_rows = pick(2) ? 0 : 1 + pick(pick(2) ? 10 : 400);
    o->ragged = (uint8_t)(p->ragged != 0 && pick(4) ? 1 + pick(2) : 0);
    o->comment = pick(2) ? '#' : 0;
    o->no_header = pick(6) == 0;
    if (pick(4) == 0) {
        o->nulls = nulls + pick(2);
        o->null_count = 1 + pick(4);
    }
}

static int run_case(uint64_t seed, int *restarts)
{
    static const char *const declared[] = {"c0:int64", "c0:string", "c0:float64",
                                           "c0:decimal128(20, 5)", "c0:date32"};
    ald_csv_options o = ALD_CSV_OPTIONS_INIT;
    ald__csv_tuning tuning;
    struct ArrowArrayStream again;
    struct ArrowSchema types;
    csv_reading one, two;
    uint32_t threads;
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host;
    ald_source source;
    plan p;
    int equal;
    memset(&again, 0, sizeof again);
    memset(&types, 0, sizeof types);
    seed_state = seed;
    make_plan(&p);
    make_text(&p);
    make_options(&p, &o, &tuning, &threads);
    host = csv_host(&alloc, threads);
    if (pick(6) == 0) {
        const char *d = declared[pick(5)];
        CHECK_INT(ald_schema_from_json(d, strlen(d), &host, &types, NULL), ALD_OK);
        o.text.types = &types;
    }
    source = ald_source_memory(text, text_size);
    tuning.numbers = ald__csv_numbers_variant(pick(2));
    csv_read(&two, &source, &o, &host, &tuning);
    o.text.restart = &again;
    tuning.numbers = ald__csv_numbers_variant(pick(2));
    csv_read(&one, &source, &o, &host, &tuning);
    *restarts += read_again(&one, &again, &host);
    equal = same(&one, &two);
    if (!CHECK(equal))
        printf("    seed %" PRIu64 ": %d %d %s|%s\n%s|%s\n%s|%s\n%s|%s\n", seed, (int)one.status,
               (int)two.status, one.err.msg, two.err.msg, one.schema, two.schema, one.notes,
               two.notes, one.rows_size < 2000 ? one.rows : "",
               two.rows_size < 2000 ? two.rows : "");
    csv_reading_free(&one);
    csv_reading_free(&two);
    if (types.release != NULL)
        types.release(&types);
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

/* Several thousand rows to a block, of one column and of two, with blank lines and line ends of all kinds; the batches begin at
 * the same rows. */
static void test_short_rows(void)
{
    static const char *const ends[] = {"\n", "\r\n", "\r", "\n\n", "\r\r\n", "\n\r"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ald__csv_tuning tuning = {.one_pass_bytes = 1, .samples = 4};
        ald_csv_options o = ALD_CSV_OPTIONS_INIT;
        struct ArrowArrayStream again;
        csv_reading one, two;
        check_heap heap;
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host;
        ald_source source;
        uint32_t odd, columns;
        memset(&again, 0, sizeof again);
        seed_state = seed;
        odd = 1 + pick(60);
        columns = 1 + pick(2);
        text_size = 0;
        put(columns == 1 ? "a\n" : "a,b\n");
        for (int row = 0; row < 9000; row++) {
            put(pick(2) ? "1" : "22");
            put(columns == 1 ? "" : pick(odd) == 0 ? ",\"x\n\"\"\r\"" : ",x");
            put(ends[pick(odd) == 0 ? pick(6) : 0]);
        }
        host = csv_host(&alloc, 1 + pick(3));
        source = ald_source_memory(text, text_size);
        tuning.block_bytes = 3000 + pick(20000);
        o.text.batch_rows = 1 + pick(3000);
        csv_read(&two, &source, &o, &host, &tuning);
        o.text.restart = &again;
        csv_read(&one, &source, &o, &host, &tuning);
        CHECK_INT(read_again(&one, &again, &host), 0); /* the rows were counted right */
        if (!CHECK(one.status == ALD_OK && same(&one, &two)))
            printf("    seed %" PRIu64 ": %" PRId64 " rows, %" PRId64 "\n", seed, one.row_count,
                   two.row_count);
        csv_reading_free(&one);
        csv_reading_free(&two);
        CHECK_HEAP_EMPTY(&heap);
    }
}

/* Every allocation fails once: with types that hold, and with one that does not. */
static void test_no_memory(void)
{
    static const char *const texts[] = {"a,b,c\n1,x,0.5\n2,y,\n,z,1.5\n4,w,2\n",
                                        "a,b,c\n1,x,0.5\n2,y,\n,z,1.5\n4.5,\"w\"\"\",x\n",
                                        "\"a\"\n\"1\"\n\"2\"\n\"\"\n\"x\"\n"};
    const ald__csv_tuning tuning = {10, 8, NULL, 1, 1, NULL};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ald_source source = ald_source_memory(texts[i], strlen(texts[i]));
        ald_status status = ALD_E_NOMEM;
        for (int64_t calls = 0; status == ALD_E_NOMEM && calls < 3000; calls++) {
            check_heap heap;
            ald_allocator alloc = check_heap_init(&heap, calls);
            ald_host host = csv_host(&alloc, 2);
            ald_csv_options o = ALD_CSV_OPTIONS_INIT;
            struct ArrowArrayStream again;
            csv_reading r;
            memset(&again, 0, sizeof again);
            o.text.restart = &again;
            o.text.batch_rows = 2;
            csv_read(&r, &source, &o, &host, &tuning);
            (void)read_again(&r, &again, &host);
            status = r.status;
            csv_reading_free(&r);
            CHECK_HEAP_EMPTY(&heap);
        }
        CHECK_INT(status, ALD_OK);
    }
}

int main(int argc, char **argv)
{
    first_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : first_seed;
    case_count = argc > 2 ? atoi(argv[2]) : case_count;
    RUN(test_no_memory);
    RUN(test_short_rows);
    RUN(test_surprises);
    return check_done();
}
