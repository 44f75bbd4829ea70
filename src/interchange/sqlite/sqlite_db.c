/* SPDX-License-Identifier: MIT */
/* Opening a database that may be hostile, as https://sqlite.org/security.html advises: nothing in its schema is trusted, and
 * an authorizer lets statements read, nothing else. */
#include "interchange/sqlite/sqlite_db.h"

#ifdef ALD__HAVE_SQLITE

#include <string.h>

#include "interchange/text/mem.h"

#define BUSY_MILLISECONDS 5000
#define STEPS_BETWEEN_LOOKS 100000
#define DEFAULT_STEPS 4000000000u
#define DEFAULT_VALUE_BYTES ((uint64_t)256 << 20)
#define LEAST_ROW_BYTES 4 /* of a table's page that a row takes */
#define LIST_BYTES 120    /* of names that a message shows */

ald_status ald__sqlite_failed(const ald__sqlite_db *d, ald_error *err)
{
    int code = d->db != NULL ? d->lib->sqlite3_extended_errcode(d->db) : SQLITE_NOMEM;
    const char *text = d->db != NULL ? d->lib->sqlite3_errmsg(d->db) : "no memory";
    switch (code & 0xFF) {
    case SQLITE_NOMEM:
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the database");
    case SQLITE_INTERRUPT:
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the view or query takes too many steps for a row");
    case SQLITE_TOOBIG:
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a value is too large: %s",
                             text);
    case SQLITE_NOTADB:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "this is no SQLite database (or an encrypted one)");
    case SQLITE_CORRUPT:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the database is broken: %s",
                             text);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                             "another program is writing to the database");
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                             "cannot open: %s\nif a program left it with a journal, let that "
                             "program open it once, or copy it together with its -journal or -wal",
                             text);
    case SQLITE_IOERR:
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read: %s", text);
    case SQLITE_AUTH:
        return ald_error_set(err, d->is_query ? ALD_E_INVALID_ARG : ALD_E_UNSUPPORTED,
                             ALD_NO_OFFSET, "more than reading tables is not allowed: %s", text);
    default:
        return ald_error_set(err, d->is_query ? ALD_E_INVALID_ARG : ALD_E_INVALID_FORMAT,
                             ALD_NO_OFFSET, "%s", text);
    }
}

/* ---- guards */

/* What a statement may do; a view of the database less than a query of the caller. */
static int authorize(void *ctx, int action, const char *a, const char *b, const char *database,
                     const char *view)
{
    static const char *const refused[] = {"load_extension", "fts3_tokenizer", "edit", "readfile",
                                          "writefile"};
    const ald__sqlite_db *d = ctx;
    (void)a;
    (void)database;
    (void)view;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
        return SQLITE_OK;
    case SQLITE_RECURSIVE:
        return d->is_query ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
        for (size_t i = 0; b != NULL && i < sizeof refused / sizeof refused[0]; i++) {
            if (strcmp(b, refused[i]) == 0)
                return SQLITE_DENY;
        }
        return SQLITE_OK;
    default:
        return SQLITE_DENY;
    }
}

static int look_at_steps(void *ctx)
{
    ald__sqlite_db *d = ctx;
    d->steps += STEPS_BETWEEN_LOOKS;
    return d->steps > d->max_steps;
}

static void set_limits(const ald__sqlite_db *d)
{
    static const int limits[][2] = {
        {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},       {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 100},      {SQLITE_LIMIT_VDBE_OP, 250000},
        {SQLITE_LIMIT_FUNCTION_ARG, 32},          {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},          {SQLITE_LIMIT_WORKER_THREADS, 0}};
    uint64_t most = d->max_value_bytes < 1000000000 ? d->max_value_bytes : 1000000000;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        (void)d->lib->sqlite3_limit(d->db, limits[i][0], limits[i][1]);
    /* Of a whole row, too. SQL and names are no longer than this, either. */
    (void)d->lib->sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH,
                                (int)(most > (1 << 20) ? most : (1 << 20)));
}

static ald_status guard(ald__sqlite_db *d, ald_error *err)
{
    static const int switches[][2] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},  {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 1},     {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0},
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1}};
    (void)d->lib->sqlite3_extended_result_codes(d->db, 1);
    (void)d->lib->sqlite3_busy_timeout(d->db, BUSY_MILLISECONDS);
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (d->lib->sqlite3_db_config(d->db, switches[i][0], switches[i][1], (int *)NULL) !=
            SQLITE_OK)
            return ald__sqlite_failed(d, err);
    }
    set_limits(d);
    /* Code for virtual tables is the part of SQLite that hostile databases aim at. */
    if (d->lib->sqlite3_drop_modules(d->db, NULL) != SQLITE_OK)
        return ald__sqlite_failed(d, err);
    d->lib->sqlite3_progress_handler(d->db, STEPS_BETWEEN_LOOKS, look_at_steps, d);
    /* One transaction: both passes see the same rows. */
    if (d->lib->sqlite3_exec(d->db,
                             "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON; "
                             "BEGIN",
                             NULL, NULL, NULL) != SQLITE_OK)
        return ald__sqlite_failed(d, err);
    return ALD_OK;
}

static ald_status open_file(ald__sqlite_db *d, const char *path, ald_error *err)
{
    ald_status status = ald__sqlite_file_look(&d->file, path, &d->alloc, err);
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (status != ALD_OK)
        return status;
    if (d->file.path != NULL)
        flags |= SQLITE_OPEN_URI;
    return d->lib->sqlite3_open_v2(d->file.name, &d->db, flags, NULL) == SQLITE_OK
               ? guard(d, err)
               : ald__sqlite_failed(d, err);
}

/* ---- statements of our own */

static ald_status prepare(ald__sqlite_db *d, const char *sql, sqlite3_stmt **out, ald_error *err)
{
    return d->lib->sqlite3_prepare_v2(d->db, sql, -1, out, NULL) == SQLITE_OK
               ? ALD_OK
               : ald__sqlite_failed(d, err);
}

/* Text into memory that is there, or, where `text` is NULL, its size alone. */
typedef struct sql_text {
    char *text;
    size_t size;
} sql_text;

static void put_sql(sql_text *sql, const char *text)
{
    size_t size = strlen(text);
    if (sql->text != NULL)
        memcpy(sql->text + sql->size, text, size);
    sql->size += size;
}

/* In double quotes. */
static void put_name(sql_text *sql, const char *name)
{
    char one[3] = "";
    put_sql(sql, "\"");
    for (; *name != '\0'; name++) {
        one[0] = *name;
        one[1] = *name == '"' ? '"' : '\0';
        put_sql(sql, one);
    }
    put_sql(sql, "\"");
}

/* `before`, the name, `after`. */
static ald_status prepare_name(ald__sqlite_db *d, const char *before, const char *name,
                               const char *after, sqlite3_stmt **out, ald_error *err)
{
    size_t size = strlen(before) + 2 * strlen(name) + strlen(after) + 3;
    sql_text sql = {ald__text_alloc(&d->alloc, size, 1, err), 0}; /* zeros */
    if (sql.text == NULL)
        return ALD_E_NOMEM;
    put_sql(&sql, before);
    put_name(&sql, name);
    put_sql(&sql, after);
    ald_status status = prepare(d, sql.text, out, err);
    ald__text_free(&d->alloc, sql.text, size, 1);
    return status;
}

/* A column that is not there must be an error: SQLite takes a lone "x" for a text then. */
static void put_select(sql_text *sql, const char *table, const ald_sqlite_options *options)
{
    put_sql(sql, "SELECT ");
    for (uint32_t i = 0; i < options->column_count; i++) {
        put_sql(sql, i > 0 ? ", " : "");
        put_name(sql, table);
        put_sql(sql, ".");
        put_name(sql, options->columns[i]);
        put_sql(sql, " AS ");
        put_name(sql, options->columns[i]);
    }
    put_sql(sql, options->column_count == 0 ? "* FROM main." : " FROM main.");
    put_name(sql, table);
}

static ald_status prepare_rows(ald__sqlite_db *d, const char *table,
                               const ald_sqlite_options *options, ald_error *err)
{
    sql_text sql = {NULL, 0};
    put_select(&sql, table, options);
    size_t size = sql.size + 1;
    sql.text = ald__text_alloc(&d->alloc, size, 1, err);
    sql.size = 0;
    if (sql.text == NULL)
        return ALD_E_NOMEM;
    put_select(&sql, table, options);
    ald_status status = prepare(d, sql.text, &d->rows, err);
    ald__text_free(&d->alloc, sql.text, size, 1);
    return status;
}

/* The number in a column of the first row; 0 where there is none. */
static ald_status read_number(ald__sqlite_db *d, const char *sql, uint64_t *out, ald_error *err)
{
    sqlite3_stmt *stmt = NULL;
    ald_status status = prepare(d, sql, &stmt, err);
    int code = status == ALD_OK ? d->lib->sqlite3_step(stmt) : SQLITE_DONE;
    int64_t number = code == SQLITE_ROW ? d->lib->sqlite3_column_int64(stmt, 0) : 0;
    *out = number > 0 ? (uint64_t)number : 0;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = ald__sqlite_failed(d, err);
    (void)d->lib->sqlite3_finalize(stmt);
    return status;
}

/* ---- which table */

typedef struct table_list {
    char *only; /* the name of the last one */
    size_t only_size;
    size_t count;
    char names[LIST_BYTES + 8];
    size_t used;
    int is_found, is_view, is_virtual; /* of the table that is wanted, or of the last one */
} table_list;

static const char tables_sql[] =
    "SELECT name, CASE WHEN sql LIKE 'CREATE VIRTUAL%' THEN 'virtual' ELSE type END FROM "
    "sqlite_master WHERE type IN ('table','view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER "
    "BY name";

static void show_name(table_list *list, const char *name)
{
    size_t size = strlen(name);
    if (list->used + size + 2 > LIST_BYTES) {
        if (list->used < LIST_BYTES)
            memcpy(list->names + list->used, ", ...", 6);
        list->used = LIST_BYTES;
        return;
    }
    if (list->used > 0) {
        memcpy(list->names + list->used, ", ", 2);
        list->used += 2;
    }
    memcpy(list->names + list->used, name, size);
    list->used += size;
    list->names[list->used] = '\0';
}

static ald_status take_table(ald__sqlite_db *d, sqlite3_stmt *stmt, const char *wanted,
                             table_list *list, ald_error *err)
{
    const char *name = (const char *)d->lib->sqlite3_column_text(stmt, 0);
    const char *type = (const char *)d->lib->sqlite3_column_text(stmt, 1);
    int is_view = type != NULL && strcmp(type, "view") == 0;
    int is_virtual = type != NULL && strcmp(type, "virtual") == 0;
    if (name == NULL || (is_virtual && wanted == NULL))
        return ALD_OK;
    list->count++;
    show_name(list, name);
    if (wanted != NULL) {
        int is_it = strcmp(name, wanted) == 0;
        list->is_found |= is_it;
        list->is_view |= is_it && is_view;
        list->is_virtual |= is_it && is_virtual;
        return ALD_OK;
    }
    ald__text_free(&d->alloc, list->only, list->only_size, 1);
    list->only_size = strlen(name) + 1;
    list->only = ald__text_alloc(&d->alloc, list->only_size, 1, err);
    if (list->only == NULL)
        return ALD_E_NOMEM;
    memcpy(list->only, name, list->only_size);
    list->is_view = is_view;
    return ALD_OK;
}

static ald_status list_tables(ald__sqlite_db *d, const char *wanted, table_list *list,
                              ald_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = SQLITE_DONE;
    ald_status status = prepare(d, tables_sql, &stmt, err);
    while (status == ALD_OK && (code = d->lib->sqlite3_step(stmt)) == SQLITE_ROW)
        status = take_table(d, stmt, wanted, list, err);
    if (status == ALD_OK && code != SQLITE_DONE)
        status = ald__sqlite_failed(d, err);
    (void)d->lib->sqlite3_finalize(stmt);
    if (status != ALD_OK)
        return status;
    if (list->is_virtual)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "'%.60s' is a virtual table, which is not read", wanted);
    if (list->count == 0)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the database has no table");
    if (wanted != NULL && !list->is_found)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "there is no table '%.60s'\nthe tables: %s", wanted, list->names);
    if (wanted == NULL && list->count > 1)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the database has %zu tables\nchoose with --table: %s", list->count,
                             list->names);
    return ALD_OK;
}

/* Whether the table has columns that are computed, whose values no page holds. */
static ald_status is_computed(ald__sqlite_db *d, const char *table, int *out, ald_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = SQLITE_DONE;
    ald_status status = prepare_name(d, "PRAGMA table_xinfo(", table, ")", &stmt, err);
    while (status == ALD_OK && (code = d->lib->sqlite3_step(stmt)) == SQLITE_ROW)
        *out |= d->lib->sqlite3_column_int64(stmt, 6) > 1;
    if (status == ALD_OK && code != SQLITE_DONE)
        status = ald__sqlite_failed(d, err);
    (void)d->lib->sqlite3_finalize(stmt);
    return status;
}

static ald_status is_strict(ald__sqlite_db *d, const char *table, ald_error *err)
{
    sqlite3_stmt *stmt = NULL;
    ald_status status = prepare_name(d, "PRAGMA table_list(", table, ")", &stmt, err);
    if (status == ALD_OK && d->lib->sqlite3_step(stmt) == SQLITE_ROW &&
        d->lib->sqlite3_column_count(stmt) > 5)
        d->is_strict = d->lib->sqlite3_column_int64(stmt, 5) == 1;
    (void)d->lib->sqlite3_finalize(stmt);
    return status;
}

/* A table cannot have more rows and bytes than its pages: where it gives more, pages are used over and over. */
static ald_status bound_table(ald__sqlite_db *d, const char *table, ald_error *err)
{
    uint64_t pages = 0, page_size = 0, bytes;
    int computed = 0;
    ald_status status = read_number(d, "PRAGMA page_count", &pages, err);
    if (status == ALD_OK)
        status = read_number(d, "PRAGMA page_size", &page_size, err);
    if (status == ALD_OK)
        status = is_computed(d, table, &computed, err);
    if (status == ALD_OK)
        status = is_strict(d, table, err);
    bytes = pages * page_size; /* 2^32 pages of 2^16 bytes at most */
    d->max_rows = bytes / LEAST_ROW_BYTES;
    /* Text of UTF-16 takes up to half as much again in UTF-8. */
    d->max_bytes = computed ? UINT64_MAX : bytes * 2;
    return status;
}

static ald_status choose_table(ald__sqlite_db *d, const ald_sqlite_options *options, ald_error *err)
{
    const char *wanted = options->table;
    table_list list;
    memset(&list, 0, sizeof list);
    ald_status status = list_tables(d, wanted, &list, err);
    const char *name = wanted != NULL ? wanted : list.only;
    if (status == ALD_OK && !list.is_view)
        status = bound_table(d, name, err);
    if (status == ALD_OK) {
        (void)d->lib->sqlite3_set_authorizer(d->db, authorize, d);
        status = prepare_rows(d, name, options, err);
    }
    ald__text_free(&d->alloc, list.only, list.only_size, 1);
    return status;
}

static ald_status choose_query(ald__sqlite_db *d, const char *query, ald_error *err)
{
    const char *tail = NULL;
    d->is_query = 1;
    (void)d->lib->sqlite3_set_authorizer(d->db, authorize, d);
    if (d->lib->sqlite3_prepare_v2(d->db, query, -1, &d->rows, &tail) != SQLITE_OK)
        return ald__sqlite_failed(d, err);
    while (*tail == ' ' || *tail == '\n' || *tail == '\t' || *tail == '\r' || *tail == ';')
        tail++;
    if (d->rows == NULL || *tail != '\0' || !d->lib->sqlite3_stmt_readonly(d->rows) ||
        d->lib->sqlite3_column_count(d->rows) == 0)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the query is not one SELECT");
    return ALD_OK;
}

ald_status ald__sqlite_db_open(ald__sqlite_db *d, const char *path,
                               const ald_sqlite_options *options, const ald_host *host,
                               ald_error *err)
{
    memset(d, 0, sizeof *d);
    d->alloc = host->alloc;
    d->max_steps = options->max_steps > 0 ? options->max_steps : DEFAULT_STEPS;
    d->max_value_bytes =
        options->max_value_bytes > 0 ? options->max_value_bytes : DEFAULT_VALUE_BYTES;
    d->max_rows = d->max_bytes = UINT64_MAX;
    if (options->table != NULL && options->query != NULL)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a table and a query exclude each other");
    if (options->column_count > 0 && options->query != NULL)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a query chooses its columns itself");
    ald_status status = ald__sqlite_library_get(&d->lib, err);
    if (status == ALD_OK)
        status = open_file(d, path, err);
    if (status != ALD_OK)
        return status;
    return options->query != NULL ? choose_query(d, options->query, err)
                                  : choose_table(d, options, err);
}

void ald__sqlite_db_close(ald__sqlite_db *d)
{
    if (d->lib == NULL)
        return;
    (void)d->lib->sqlite3_finalize(d->rows);
    (void)d->lib->sqlite3_close_v2(d->db);
    ald__sqlite_file_clear(&d->file, &d->alloc);
    memset(d, 0, sizeof *d);
}

ald_status ald__sqlite_db_step(ald__sqlite_db *d, int *more, ald_error *err)
{
    d->steps = 0;
    int code = d->lib->sqlite3_step(d->rows);
    *more = code == SQLITE_ROW;
    if (code == SQLITE_ROW)
        return ALD_OK;
    /* What looks like damage may be a change. */
    ald_status status = ald__sqlite_file_check(&d->file, err);
    return status != ALD_OK || code == SQLITE_DONE ? status : ald__sqlite_failed(d, err);
}

ald_status ald__sqlite_db_bytes(const ald__sqlite_db *d, int column, const uint8_t **out,
                                size_t *size, ald_error *err)
{
    int is_text = d->lib->sqlite3_column_type(d->rows, column) == SQLITE_TEXT;
    const void *bytes = is_text ? (const void *)d->lib->sqlite3_column_text(d->rows, column)
                                : d->lib->sqlite3_column_blob(d->rows, column);
    int count = d->lib->sqlite3_column_bytes(d->rows, column);
    *out = bytes;
    *size = count > 0 ? (size_t)count : 0;
    if (bytes == NULL && (is_text || count > 0))
        return ald__sqlite_failed(d, err);
    if (*size > d->max_value_bytes)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "a value of %zu bytes is too large", *size);
    return ALD_OK;
}

#endif
