/* SPDX-License-Identifier: MIT */
/* Random arrangements of quotes, delimiters and line ends, against a reader that goes byte by byte; and with blocks, slabs,
 * threads and processors' variants of every kind, which must not change anything, messages included. */
#include "unit/csv_fixture.h"

#define MOST 600
#define COLUMNS 3

static uint64_t seed_state;

static uint32_t pick(uint32_t n)
{
    seed_state = seed_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed_state >> 33) % n;
}

/* ---- the slow reader */

typedef struct expected {
    char *rows;
    size_t size, capacity;
    const char *error; /* a word of the message; NULL: none */
    uint64_t line;
} expected;

static void put(expected *e, const char *text, size_t size)
{
    if (e->size + size + 1 > e->capacity) {
        e->capacity = 2 * (e->size + size) + 64;
        e->rows = realloc(e->rows, e->capacity);
    }
    memcpy(e->rows + e->size, text, size);
    e->size += size;
    e->rows[e->size] = '\0';
}

static void put_json(expected *e, const char *text, size_t size)
{
    char part[8];
    put(e, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '"')
            put(e, "\\\"", 2);
        else if (text[i] == '\n')
            put(e, "\\n", 2);
        else if (text[i] == '\r')
            put(e, "\\r", 2);
        else {
            part[0] = text[i];
            put(e, part, 1);
        }
    }
    put(e, "\"", 1);
}

typedef struct field {
    char text[MOST];
    size_t size;
    int is_null;
} field;

typedef struct record {
    field fields[COLUMNS];
    size_t count; /* may be more than COLUMNS */
    size_t begin, next;
    int fault; /* 1: text after a quote, 2: never closed */
    size_t fault_at;
} record;

static int is_end(const char *p, size_t i, size_t n)
{
    return i == n || p[i] == '\n' || p[i] == '\r';
}

/* One field at i; returns where it ends. */
static size_t slow_field(const char *p, size_t i, size_t n, record *r)
{
    field unwanted, *f = r->count < COLUMNS ? &r->fields[r->count] : &unwanted;
    f->size = 0;
    f->is_null = 0;
    if (i < n && p[i] == '"') {
        size_t opened = i++;
        for (;; i++) {
            if (i == n) {
                r->fault = 2;
                r->fault_at = opened;
                return i;
            }
            if (p[i] == '"' && (i + 1 == n || p[i + 1] != '"'))
                break;
            if (p[i] == '"')
                i++;
            f->text[f->size++] = p[i];
        }
        i++;
        if (!is_end(p, i, n) && p[i] != ',') {
            r->fault = 1;
            r->fault_at = i;
        }
        return i;
    }
    while (!is_end(p, i, n) && p[i] != ',')
        f->text[f->size++] = p[i++];
    f->is_null = f->size == 0;
    return i;
}

static void slow_record(const char *p, size_t n, record *r)
{
    size_t i = r->begin;
    r->count = 0;
    r->fault = 0;
    for (;;) {
        i = slow_field(p, i, n, r);
        if (r->fault)
            return;
        r->count++;
        if (is_end(p, i, n))
            break;
        i++;
    }
    r->next = i;
    if (i < n)
        r->next = i + 1 + (p[i] == '\r' && i + 1 < n && p[i + 1] == '\n');
}

static uint64_t line_of(const char *p, size_t at)
{
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += p[i] == '\n' ? (i == 0 || p[i - 1] != '\r') : p[i] == '\r';
    return line;
}

static size_t bad_byte(const char *p, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (p[i] == '\0' || (uint8_t)p[i] == 0xA9)
            return i;
        if ((uint8_t)p[i] == 0xC3) {
            if (i + 1 == end || (uint8_t)p[i + 1] != 0xA9)
                return i;
            i++;
        }
    }
    return end;
}

static void fail(expected *e, const char *p, const char *word, size_t at)
{
    e->error = word;
    e->line = line_of(p, at);
}

static void slow_read(const char *p, size_t n, size_t begin, int ragged, char comment, expected *e)
{
    record r = {.next = begin};
    memset(e, 0, sizeof *e);
    put(e, "", 0);
    /* A NUL near the beginning is told before all else: the file is no text. */
    for (size_t i = 0; i < n; i++) {
        if (p[i] == '\0') {
            fail(e, p, "NUL", i);
            return;
        }
    }
    while (r.next < n) {
        size_t bad;
        r.begin = r.next;
        if (comment && p[r.begin] == comment) {
            for (r.next = r.begin; !is_end(p, r.next, n); r.next++)
                ;
            if (r.next < n)
                r.next +=
                    1 + (size_t)(p[r.next] == '\r' && r.next + 1 < n && p[r.next + 1] == '\n');
            r.count = COLUMNS + 1;
            bad = bad_byte(p, r.begin, r.next);
            if (bad < r.next) {
                fail(e, p, p[bad] == '\0' ? "NUL" : "UTF-8", bad);
                return;
            }
            continue;
        }
        slow_record(p, n, &r);
        if (r.fault) {
            fail(e, p, r.fault == 1 ? "after a closing quote" : "never closes", r.fault_at);
            return;
        }
        if (r.count == 1 && r.fields[0].is_null)
            continue;
        if (r.count != COLUMNS && ragged == ALD_CSV_RAGGED_ERROR) {
            fail(e, p, "but the header has 3", r.begin);
            return;
        }
        bad = bad_byte(p, r.begin, r.next);
        if (bad < r.next) {
            fail(e, p, p[bad] == '\0' ? "NUL" : "UTF-8", bad);
            return;
        }
        if (r.count != COLUMNS && ragged == ALD_CSV_RAGGED_SKIP)
            continue;
        for (size_t c = 0; c < COLUMNS; c++) {
            put(e, c == 0 ? "[" : ",", 1);
            if (c >= r.count || r.fields[c].is_null)
                put(e, "null", 4);
            else
                put_json(e, r.fields[c].text, r.fields[c].size);
        }
        put(e, "]\n", 2);
    }
}

/* ---- inputs */

static size_t random_text(char *out, size_t begin, size_t size)
{
    static const char common[] = ",,,\n\n\"\"\"aa1 ,\r#";
    uint32_t bytes = pick(4); /* how wild it is */
    size_t n = begin;
    while (n < size) {
        uint32_t k = pick(40);
        if (bytes == 0 && k == 0 && pick(8) == 0)
            out[n++] = '\0';
        else if (bytes <= 1 && k == 1) {
            out[n++] = (char)0xC3;
            if (n < size && pick(20) != 0)
                out[n++] = (char)0xA9;
        } else if (k < 12) {
            /* A whole good record, so that errors do not end every text at once. */
            static const char good[] = "x,\"a\"\"b\n,c\",7\n";
            for (size_t i = 0; i + 1 < sizeof good && n < size; i++)
                out[n++] = good[i];
        } else if (bytes == 3) {
            out[n++] = "a,\n"[pick(3)];
        } else {
            out[n++] = common[pick(sizeof common - 1)];
        }
    }
    return n;
}

static const void *exact_view(void *ctx, uint64_t offset, size_t size)
{
    (void)size;
    return (const char *)ctx + offset;
}

typedef struct bytes_source {
    const char *data;
    size_t size;
} bytes_source;

static ald_status read_bytes(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const bytes_source *b = ctx;
    if (offset > b->size || size > b->size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "beyond the end");
    memcpy(buf, b->data + offset, size);
    return ALD_OK;
}

static ald_status read_plain(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    (void)err;
    memcpy(buf, (const char *)ctx + offset, size);
    return ALD_OK;
}

static void vary(ald__csv_tuning *tuning, ald_csv_options *options, uint32_t *threads, size_t size)
{
    size_t variants = 0;
    while (ald__csv_masks_variant(variants) != NULL)
        variants++;
    tuning->masks = ald__csv_masks_variant(pick((uint32_t)variants));
    tuning->block_bytes = 1 + pick(pick(2) ? 90 : (uint32_t)size + 10);
    tuning->slab_bytes = 1 + pick(pick(2) ? 90 : (uint32_t)size + 10);
    *threads = 1 + pick(4);
    options->text.batch_rows = pick(3) == 0 ? 0 : 1 + pick(9);
}

static int same(const csv_reading *got, const csv_reading *want)
{
    return got->status == want->status && strcmp(got->rows, want->rows) == 0 &&
           (got->status == ALD_OK || strcmp(got->err.msg, want->err.msg) == 0) &&
           strcmp(got->notes, want->notes) == 0 &&
           (got->schema == NULL ? want->schema == NULL
                                : want->schema != NULL && strcmp(got->schema, want->schema) == 0);
}

static void report(const char *text, size_t size, const csv_reading *got, const char *rows,
                   const char *message)
{
    printf("input (%zu bytes):\n", size);
    for (size_t i = 0; i < size; i++)
        printf(text[i] >= ' ' && text[i] < 127 ? "%c" : "\\x%02x", (uint8_t)text[i]);
    printf("\ngot status %d %s\n%s\nwanted %s\n%s\n", (int)got->status, got->err.msg, got->rows,
           message, rows);
}

/* One text, read in all ways. */
static int try_text(const char *text, size_t size, size_t begin, const ald_csv_options *base,
                    int compare_slow)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    bytes_source bytes = {text, size};
    ald_source plain = {.size_bytes = size, .read_at = read_bytes, .ctx = &bytes, .name = "t.csv"};
    csv_reading first;
    ald_host host = csv_host(&alloc, 1);
    int ok = 1;
    csv_read(&first, &plain, base, &host, NULL);
    if (compare_slow) {
        expected e;
        char line[32];
        slow_read(text, size, begin, base->ragged, base->comment, &e);
        snprintf(line, sizeof line, "line %" PRIu64 ":", e.line);
        ok = e.error == NULL ? first.status == ALD_OK && strcmp(first.rows, e.rows) == 0
                             : first.status != ALD_OK && strstr(first.err.msg, e.error) != NULL &&
                                   strstr(first.err.msg, line) != NULL;
        if (!ok) {
            report(text, size, &first, e.rows, e.error ? e.error : "");
            printf("%s\n", line);
        }
        free(e.rows);
    }
    for (int k = 0; k < 6 && ok; k++) {
        ald__csv_tuning tuning;
        ald_csv_options options = *base;
        char *copy =
            malloc(size); /* of exactly this size, so that a sanitizer sees what is read beyond */
        uint32_t threads;
        csv_reading again;
        memcpy(copy, text, size);
        vary(&tuning, &options, &threads, size);
        host = csv_host(&alloc, threads);
        ald_source source = {
            .size_bytes = size, .read_at = read_plain, .ctx = copy, .name = "t.csv"};
        source.view = pick(2) ? exact_view : NULL;
        csv_read(&again, &source, &options, &host, &tuning);
        ok = same(&again, &first);
        if (!ok) {
            report(text, size, &again, first.rows, first.err.msg);
            printf("block %zu slab %zu threads %u batch %u view %d\nnotes %s| %s\n",
                   tuning.block_bytes, tuning.slab_bytes, threads, options.text.batch_rows,
                   source.view != NULL, again.notes, first.notes);
        }
        csv_reading_free(&again);
        free(copy);
    }
    csv_reading_free(&first);
    CHECK_HEAP_EMPTY(&heap);
    return ok;
}

static void test_structure(void)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = csv_host(&alloc, 1);
    struct ArrowSchema types;
    ald_error err;
    static const char header[] = "a,b,c\n";
    static const char declared[] = "a:string,b:string,c:string";
    REQUIRE_OK(ald_schema_from_json(declared, sizeof declared - 1, &host, &types, &err), &err);
    for (int i = 0; i < 6000; i++) {
        char text[MOST];
        ald_csv_options options = ALD_CSV_OPTIONS_INIT;
        size_t begin = sizeof header - 1, size;
        memcpy(text, header, begin);
        size = random_text(text, begin, begin + pick(pick(4) == 0 ? MOST - 20 : 150));
        options.delimiter = ',';
        options.ragged = (uint8_t)pick(3);
        options.comment = pick(4) == 0 ? '#' : 0;
        options.text.types = &types;
        seed_state += (uint64_t)i;
        if (!CHECK(try_text(text, size, begin, &options, 1)))
            break;
    }
    types.release(&types);
}

/* Types, notes and values of fields that are numbers, times, nulls and words in all mixtures. */
static void test_types(void)
{
    static const char *const values[] = {"1",
                                         "0",
                                         "-5",
                                         "12345678901234567890",
                                         "1.5",
                                         "-0.25",
                                         "",
                                         "",
                                         "true",
                                         "2024-01-31",
                                         "12:30:00",
                                         "2024-01-31 10:00:00",
                                         "2024-01-31T10:00:00Z",
                                         "2024-01-31T10:00:00+02:00",
                                         "abc",
                                         "\"17\"",
                                         "\"x\"\"y\"",
                                         "0.1234567890123456789",
                                         "1e5",
                                         "nan",
                                         "007",
                                         "0.30000000000000004",
                                         "9007199254740993",
                                         "-0",
                                         "\"\"",
                                         "NA",
                                         "99999999999999999999999999999999999999999999",
                                         "2024-01-31T10:00:00.123456789",
                                         "0001-01-01",
                                         "\"2.5\""};
    for (int i = 0; i < 4000; i++) {
        static char text[20000];
        size_t n = 0, columns = 1 + pick(4), rows = pick(3) == 0 ? 300 : pick(40);
        uint32_t kinds = 1 + pick(pick(2) ? 3 : 12), from = pick(sizeof values / sizeof *values);
        int quoted = pick(4) == 0;
        ald_csv_options options = ALD_CSV_OPTIONS_INIT;
        static const char *const nulls[] = {"NA", "1"};
        options.delimiter = ',';
        if (pick(4) == 0) {
            options.null_count = 1 + pick(2);
            options.nulls = nulls;
        }
        for (size_t c = 0; c < columns; c++)
            n += (size_t)snprintf(text + n, 10, quoted ? "%s\"c%zu\"" : "%sc%zu", c ? "," : "", c);
        text[n++] = '\n';
        for (size_t r = 0; r < rows && n < sizeof text - 400; r++) {
            for (size_t c = 0; c < columns; c++) {
                const char *v = values[(from + pick(kinds) + c) % (sizeof values / sizeof *values)];
                int wrap = quoted && v[0] != '"' && pick(200) != 0;
                n += (size_t)snprintf(text + n, 80, wrap ? "%s\"%s\"" : "%s%s", c ? "," : "", v);
            }
            text[n++] = '\n';
        }
        if (!CHECK(try_text(text, n, 0, &options, 0)))
            break;
    }
}

static void test_masks(void)
{
    static uint8_t data[64 * 9];
    ald__csv_word want[9], got[9];
    size_t variants = 0;
    while (ald__csv_masks_variant(variants) != NULL)
        variants++;
    REQUIRE(variants >= 1);
    for (int i = 0; i < 20000; i++) {
        ald__csv_chars chars = {(uint8_t)(pick(2) ? '"' : pick(256)),
                                (uint8_t)(pick(2) ? ',' : pick(256))};
        size_t words = 1 + pick(9);
        unsigned flags;
        for (size_t k = 0; k < sizeof data; k++) {
            uint32_t kind = pick(8);
            data[k] = (uint8_t)(kind == 0    ? chars.quote
                                : kind == 1  ? chars.delimiter
                                : kind == 2  ? '\r'
                                : kind == 3  ? '\n'
                                : i % 3 == 0 ? pick(256)
                                             : 'a' + pick(26));
        }
        if (i % 2)
            data[pick(sizeof data)] = (uint8_t)(pick(2) ? 0 : 0x80 + pick(128));
        flags = ald__csv_masks_variant(variants - 1)(data, words, chars, want);
        for (size_t w = 0; w < words; w++) {
            for (size_t k = 0; k < 64; k++) {
                uint8_t c = data[w * 64 + k];
                CHECK_INT(want[w].quote >> k & 1, c == chars.quote);
                CHECK_INT(want[w].delimiter >> k & 1, c == chars.delimiter);
                CHECK_INT(want[w].cr >> k & 1, c == '\r');
                CHECK_INT(want[w].lf >> k & 1, c == '\n');
            }
        }
        for (size_t v = 0; v + 1 < variants; v++) {
            CHECK_UINT(ald__csv_masks_variant(v)(data, words, chars, got), flags);
            if (!CHECK_MEM(got, want, words * sizeof *got))
                return;
        }
    }
}

int main(int argc, char **argv)
{
    seed_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 20240131;
    RUN(test_masks);
    RUN(test_structure);
    RUN(test_types);
    return check_done();
}
