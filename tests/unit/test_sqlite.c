/* SPDX-License-Identifier: MIT */
/* Limits, options and failed allocations of reading a database. Values are compared with Python's sqlite3 in
 * tests/interop/test_sqlite.py. */
#include <unistd.h>

#include "ald/ald.h"
#include "check.h"
#include "check_alloc.h"
#include "interchange/sqlite/sqlite_library.h"

#define PATH "test_sqlite.db"

#ifdef ALD__HAVE_SQLITE

static check_heap heap;
static ald_host host;

static int make_database(void)
{
    const ald__sqlite_library *lib = NULL;
    sqlite3 *db = NULL;
    if (ald__sqlite_library_get(&lib, NULL) != ALD_OK)
        return 0;
    (void)unlink(PATH);
    CHECK_INT(lib->sqlite3_open_v2(PATH, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL),
              SQLITE_OK);
    CHECK_INT(
        lib->sqlite3_exec(
            db,
            "CREATE TABLE t(i INTEGER, r REAL, s TEXT, b BLOB);"
            "INSERT INTO t VALUES(1, 0.5, 'text of a row', x'00'), (2, NULL, '', x'');"
            "CREATE VIEW many AS SELECT count(*) AS n FROM t a, t b, t c, t d, t e, t f, t g, "
            "t h, t i, t j, t k, t l, t m, t n, t o, t p, t q, t r, t s, t u, t v, t w;",
            NULL, NULL, NULL),
        SQLITE_OK);
    CHECK_INT(lib->sqlite3_close_v2(db), SQLITE_OK);
    return 1;
}

static ald_status read_rows(const ald_sqlite_options *options, int64_t *rows, ald_error *err)
{
    struct ArrowArrayStream stream;
    *rows = 0;
    memset(err, 0, sizeof *err);
    ald_status status = ald_sqlite_open(PATH, options, &host, &stream, err);
    if (status != ALD_OK) {
        CHECK(stream.release == NULL);
        return status;
    }
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof batch);
        status = ald_stream_next(&stream, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        *rows += batch.length;
        batch.release(&batch);
    }
    stream.release(&stream);
    return status;
}

static void expect(const ald_sqlite_options *options, ald_status want, const char *text)
{
    ald_error err;
    int64_t rows = 0;
    host.alloc = check_heap_init(&heap, -1);
    CHECK_INT(read_rows(options, &rows, &err), want);
    if (!CHECK(strstr(err.msg, text) != NULL))
        printf("'%s', wanted '%s'\n", err.msg, text);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_columns(void)
{
    static const char *const some[] = {"b", "i"}, *const none[] = {"s", "x"};
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ald_error err = {0};
    options.table = "t";
    host.alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald_sqlite_columns(PATH, &options, &host, &schema, &err), &err);
    CHECK_INT(schema.n_children, 4);
    CHECK_STR(schema.children[1]->name, "r");
    CHECK_STR(schema.children[1]->format, "g");
    schema.release(&schema);
    options.columns = some;
    options.column_count = 2;
    REQUIRE_OK(ald_sqlite_open(PATH, &options, &host, &stream, &err), &err);
    REQUIRE_OK(ald_stream_schema(&stream, &schema, &err), &err);
    CHECK_INT(schema.n_children, 2);
    CHECK_STR(schema.children[0]->name, "b");
    CHECK_STR(schema.children[1]->name, "i");
    schema.release(&schema);
    stream.release(&stream);
    CHECK_HEAP_EMPTY(&heap);
    options.columns = none; /* not the text 'x' */
    expect(&options, ALD_E_INVALID_FORMAT, "no such column");
    options.columns = some;
    options.table = NULL;
    options.query = "SELECT * FROM t";
    expect(&options, ALD_E_INVALID_ARG, "chooses its columns itself");
    options.struct_size = 8;
    expect(&options, ALD_E_INVALID_ARG, "struct_size");
}

static void test_options(void)
{
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    expect(NULL, ALD_E_INVALID_ARG, "2 tables");
    options.table = "t";
    expect(&options, ALD_OK, "");
    options.query = "SELECT 1";
    expect(&options, ALD_E_INVALID_ARG, "exclude each other");
    options.table = NULL;
    expect(&options, ALD_OK, "");
    options.query = "INSERT INTO t VALUES(1, 2, 3, 4)";
    expect(&options, ALD_E_INVALID_ARG, "not allowed");
    options.struct_size = 8;
    expect(&options, ALD_E_INVALID_ARG, "struct_size");
}

static void test_limits(void)
{
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    options.table = "many"; /* 4 million combinations */
    options.max_steps = 1000000;
    expect(&options, ALD_E_LIMIT_EXCEEDED, "too many steps");
    options.table = "t"; /* the limit is of one row */
    options.max_steps = 1;
    expect(&options, ALD_OK, "");
    options.max_value_bytes = 12;
    expect(&options, ALD_E_LIMIT_EXCEEDED, "13 bytes");
    options.max_value_bytes = 13;
    expect(&options, ALD_OK, "");
}

static void test_no_memory(void)
{
    ald_sqlite_options options = ALD_SQLITE_OPTIONS_INIT;
    options.table = "t";
    for (int64_t n = 0;; n++) {
        ald_error err;
        int64_t rows = 0;
        host.alloc = check_heap_init(&heap, n);
        ald_status status = read_rows(&options, &rows, &err);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK) {
            CHECK_INT(rows, 2);
            break;
        }
        CHECK_INT(status, ALD_E_NOMEM);
        REQUIRE(n < 1000);
    }
}

#endif

/* Where there is no SQLite, reading says so. */
static void test_absent(void)
{
    ald_host plain = ald_native_host(1);
    struct ArrowArrayStream stream;
    ald_error err;
    CHECK_INT(ald_sqlite_open(PATH, NULL, &plain, &stream, &err), ALD_E_UNSUPPORTED);
    CHECK(stream.release == NULL);
}

int main(void)
{
#ifdef ALD__HAVE_SQLITE
    host = ald_native_host(1);
    if (make_database()) {
        RUN(test_columns);
        RUN(test_options);
        RUN(test_limits);
        RUN(test_no_memory);
        (void)unlink(PATH);
        return check_done();
    }
#endif
    RUN(test_absent);
    return check_done();
}
