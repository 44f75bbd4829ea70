/* SPDX-License-Identifier: MIT */
/* Rows of a database as batches. */
#include <stddef.h>
#include <string.h>

#include "ald/schema.h"
#include "ald/sqlite.h"
#include "ald/stream.h"
#include "interchange/format/number_text.h"
#include "interchange/format/options.h"
#include "interchange/sqlite/sqlite_types.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#ifndef ALD__HAVE_SQLITE

static ald_status not_here(ald_error *err)
{
    return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "this build reads no databases\ninstall libsqlite3-dev and build again");
}

ald_status ald_sqlite_open(const char *path, const ald_sqlite_options *options,
                           const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    (void)path;
    (void)options;
    (void)host;
    memset(out, 0, sizeof *out);
    return not_here(err);
}

ald_status ald_sqlite_columns(const char *path, const ald_sqlite_options *options,
                              const ald_host *host, struct ArrowSchema *out, ald_error *err)
{
    (void)path;
    (void)options;
    (void)host;
    memset(out, 0, sizeof *out);
    return not_here(err);
}

#else

#define BATCH_ROWS 65536u
#define BATCH_BYTES ((uint64_t)16 << 20)

typedef struct sqlite_stream {
    ald_host host;
    ald__sqlite_db db;
    struct ArrowSchema schema;
    ald__column *columns;
    size_t column_count;
    uint64_t row, bytes; /* so far */
    size_t batch_rows;
    int is_over;
} sqlite_stream;

/* ---- values */

static ald_status bad_value(const sqlite_stream *s, size_t column, const char *what, ald_error *err)
{
    ald_buffer type = {NULL, 0, 0, &s->host.alloc};
    const struct ArrowSchema *field = s->schema.children[column];
    ald_status status = ald_type_format(field, &type, err);
    if (status == ALD_OK)
        status = ald_error_set(
            err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
            "row %llu, column '%.60s': %s is not %.*s\npass --types %.40s:string",
            (unsigned long long)s->row, field->name, what, type.size < 60 ? (int)type.size : 60,
            (const char *)type.data, field->name);
    ald_buffer_clear(&type);
    return status;
}

static ald_status add_number_text(ald__column *c, const uint8_t *text, const uint8_t *end,
                                  ald_error *err)
{
    return ald__column_add_bytes(c, text, (size_t)(end - text), err);
}

static ald_status add_integer(sqlite_stream *s, size_t i, ald_error *err)
{
    ald__column *c = &s->columns[i];
    int64_t value = s->db.lib->sqlite3_column_int64(s->db.rows, (int)i);
    uint8_t text[ALD__NUMBER_BYTES];
    ald_status status = ALD_E_SCHEMA_MISMATCH;
    if (c->store == ALD__STORE_TEXT)
        return add_number_text(c, text, ald__put_i64(text, value), err);
    if (c->store == ALD__STORE_BOOL && (value == 0 || value == 1))
        status = ald__column_add_bool(c, value != 0, err);
    else if (c->store == ALD__STORE_INT || c->store == ALD__STORE_UINT ||
             c->store == ALD__STORE_FLOAT || c->store == ALD__STORE_DECIMAL)
        status = ald__column_add_int64(c, value, err);
    if (status == ALD_E_SCHEMA_MISMATCH) {
        *ald__put_i64(text, value) = '\0';
        return bad_value(s, i, (const char *)text, err);
    }
    return status;
}

static ald_status add_float(sqlite_stream *s, size_t i, ald_error *err)
{
    ald__column *c = &s->columns[i];
    double value = s->db.lib->sqlite3_column_double(s->db.rows, (int)i);
    uint8_t text[ALD__NUMBER_BYTES], *end = ald__put_f64(text, value);
    ald_status status = ALD_E_SCHEMA_MISMATCH;
    if (c->store == ALD__STORE_TEXT)
        return add_number_text(c, text, end, err);
    if (c->store == ALD__STORE_FLOAT)
        status = ald__column_add_double(c, value, err);
    else if (c->store == ALD__STORE_DECIMAL)
        status = ald__column_add_text(c, (const char *)text, (size_t)(end - text), err);
    if (status == ALD_E_SCHEMA_MISMATCH) {
        *end = '\0';
        return bad_value(s, i, (const char *)text, err);
    }
    return status;
}

/* Text of a database is UTF-8 by its own word only. */
static ald_status add_text(sqlite_stream *s, size_t i, ald_error *err)
{
    ald__column *c = &s->columns[i];
    const uint8_t *text = NULL;
    size_t size = 0;
    ald_status status = ald__sqlite_db_bytes(&s->db, (int)i, &text, &size, err);
    if (status != ALD_OK)
        return status;
    if (c->store == ALD__STORE_BINARY)
        return ald__column_add_bytes(c, text, size, err);
    if (ald__text_utf8_check(text, size) < size)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "row %llu, column '%.60s': the text is not UTF-8\npass --types "
                             "%.40s:binary",
                             (unsigned long long)s->row, s->schema.children[i]->name,
                             s->schema.children[i]->name);
    if (c->store == ALD__STORE_TEXT)
        return ald__column_add_bytes(c, text, size, err);
    status = ald__column_add_text(c, (const char *)text, size, err);
    if (status == ALD_E_SCHEMA_MISMATCH) {
        char shown[44] = "'";
        size_t most = size < 40 ? size : 40;
        while (most < size && most > 0 && (text[most] & 0xC0) == 0x80)
            most--;
        memcpy(shown + 1, text, most);
        shown[most + 1] = '\'';
        return bad_value(s, i, shown, err);
    }
    return status;
}

static ald_status add_blob(sqlite_stream *s, size_t i, ald_error *err)
{
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (s->columns[i].store != ALD__STORE_BINARY)
        return bad_value(s, i, "a blob", err);
    ald_status status = ald__sqlite_db_bytes(&s->db, (int)i, &bytes, &size, err);
    return status == ALD_OK ? ald__column_add_bytes(&s->columns[i], bytes, size, err) : status;
}

static ald_status add_value(sqlite_stream *s, size_t i, ald_error *err)
{
    switch (s->db.lib->sqlite3_column_type(s->db.rows, (int)i)) {
    case SQLITE_INTEGER:
        return add_integer(s, i, err);
    case SQLITE_FLOAT:
        return add_float(s, i, err);
    case SQLITE_TEXT:
        return add_text(s, i, err);
    case SQLITE_BLOB:
        return add_blob(s, i, err);
    default:
        if ((s->schema.children[i]->flags & ARROW_FLAG_NULLABLE) == 0)
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "row %llu, column '%.60s': null, in a column declared not null",
                                 (unsigned long long)s->row, s->schema.children[i]->name);
        return ald__column_add_null(&s->columns[i], err);
    }
}

/* ---- batches */

static uint64_t bytes_held(const sqlite_stream *s, size_t rows)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->column_count; i++)
        bytes += s->columns[i].bytes_size + rows * s->columns[i].width;
    return bytes;
}

static ald_status fill_rows(sqlite_stream *s, size_t *rows, ald_error *err)
{
    ald_status status = ALD_OK;
    *rows = 0;
    while (*rows < s->batch_rows && bytes_held(s, *rows) < BATCH_BYTES) {
        int more = 0;
        status = ald__sqlite_db_step(&s->db, &more, err);
        if (status != ALD_OK || !more) {
            s->is_over = 1;
            return status;
        }
        s->row++;
        status = ald__sqlite_count(&s->db, s->row, &s->bytes, err);
        for (size_t i = 0; status == ALD_OK && i < s->column_count; i++)
            status = add_value(s, i, err);
        if (status != ALD_OK)
            return status;
        ++*rows;
    }
    return ALD_OK;
}

static ald_status sqlite_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    sqlite_stream *s = ctx;
    void *blocks[1] = {NULL};
    size_t sizes[1] = {0}, rows = 0;
    if (s->is_over)
        return ALD_OK;
    ald_status status = fill_rows(s, &rows, err);
    if (status != ALD_OK || rows == 0)
        return status;
    status = ald__text_array_new(&s->host.alloc, (int64_t)rows, 0, 1, blocks, sizes,
                                 s->column_count, out, err);
    for (size_t i = 0; status == ALD_OK && i < s->column_count; i++)
        status = ald__column_finish(&s->columns[i], out->children[i], err);
    if (status != ALD_OK && out->release != NULL)
        out->release(out);
    return status;
}

static ald_status sqlite_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    sqlite_stream *s = ctx;
    return ald_schema_copy(&s->host, &s->schema, out, err);
}

static void sqlite_free(void *ctx)
{
    sqlite_stream *s = ctx;
    ald_allocator alloc = s->host.alloc;
    for (size_t i = 0; s->columns != NULL && i < s->column_count; i++)
        ald__column_clear(&s->columns[i]);
    ald__text_free(&alloc, s->columns, s->column_count, sizeof *s->columns);
    if (s->schema.release != NULL)
        s->schema.release(&s->schema);
    ald__sqlite_db_close(&s->db);
    alloc.release(alloc.ctx, s, sizeof *s);
}

static ald_status open_columns(sqlite_stream *s, ald_error *err)
{
    size_t count = (size_t)s->schema.n_children;
    s->columns = ald__text_alloc(&s->host.alloc, count, sizeof *s->columns, err);
    if (s->columns == NULL)
        return ALD_E_NOMEM;
    s->column_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct ArrowSchema *field = s->schema.children[i];
        ald_status status =
            field->dictionary == NULL
                ? ald__column_init(&s->columns[i], field->format, &s->host.alloc, err)
                : ALD_E_UNSUPPORTED;
        if (status == ALD_E_UNSUPPORTED)
            return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                                 "column '%.60s': values of a database are not read as this type",
                                 field->name);
        if (status != ALD_OK)
            return status;
    }
    return ALD_OK;
}

static ald_status copy_options(const ald_sqlite_options *options, ald_sqlite_options *out,
                               ald_error *err)
{
    static const ald_sqlite_options usual = ALD_SQLITE_OPTIONS_INIT;
    *out = usual;
    return ald__options_copy(out, sizeof *out, offsetof(ald_sqlite_options, columns), options, err);
}

ald_status ald_sqlite_columns(const char *path, const ald_sqlite_options *options,
                              const ald_host *host, struct ArrowSchema *out, ald_error *err)
{
    ald_sqlite_options complete;
    ald__sqlite_db db;
    memset(out, 0, sizeof *out);
    ald_status status = copy_options(options, &complete, err);
    if (status != ALD_OK)
        return status;
    status = ald__sqlite_db_open(&db, path, &complete, host, err);
    if (status == ALD_OK)
        status = ald__sqlite_declared_types(&db, host, out, err);
    ald__sqlite_db_close(&db);
    return status;
}

ald_status ald_sqlite_open(const char *path, const ald_sqlite_options *options,
                           const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald_sqlite_options complete;
    memset(out, 0, sizeof *out);
    ald_status status = copy_options(options, &complete, err);
    sqlite_stream *s = status == ALD_OK ? ald__text_alloc(&host->alloc, 1, sizeof *s, err) : NULL;
    if (s == NULL)
        return status != ALD_OK ? status : ALD_E_NOMEM;
    s->host = *host;
    s->batch_rows = complete.batch_rows > 0 ? complete.batch_rows : BATCH_ROWS;
    status = ald__sqlite_db_open(&s->db, path, &complete, host, err);
    if (status == ALD_OK)
        status = ald__sqlite_types(&s->db, &complete, host, &s->schema, err);
    if (status == ALD_OK)
        status = open_columns(s, err);
    if (status != ALD_OK) {
        sqlite_free(s);
        return status;
    }
    ald_stream_impl impl = {sqlite_schema, sqlite_next, sqlite_free, s, 0};
    return ald_stream_new(&impl, &host->alloc, out, err);
}

#endif
