/* SPDX-License-Identifier: MIT */
/* A column's declared type says little in SQLite: any value may stand in it. So its values decide, and the declared type does
 * where there are none. A column of integers and floats is float64 if no integer loses a digit; other mixtures are refused,
 * or text. In STRICT tables the declared types hold. */
#include "interchange/sqlite/sqlite_types.h"

#ifdef ALD__HAVE_SQLITE

#include <string.h>

#include "ald/schema.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#define NAME_BYTES 60 /* that a message shows */
#define EXACT ((int64_t)1 << 53)

static const char *const kinds[6] = {"", "an integer", "a float", "text", "a blob", "null"};
static const char *const plurals[6] = {"", "integers", "floats", "text", "blobs", "null"};

/* ---- declared types */

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static int has_word(const char *text, const char *word)
{
    for (; *text != '\0'; text++) {
        size_t i = 0;
        while (word[i] != '\0' && upper(text[i]) == word[i])
            i++;
        if (word[i] == '\0')
            return 1;
    }
    return 0;
}

/* SQLite's rules for the affinity of a declared type, in their order; dates, which have none, are written as text. */
static const char *declared_format(const char *type)
{
    if (type == NULL || type[0] == '\0')
        return "n";
    if (has_word(type, "INT"))
        return "l";
    if (has_word(type, "CHAR") || has_word(type, "CLOB") || has_word(type, "TEXT"))
        return "u";
    if (has_word(type, "BLOB"))
        return "z";
    if (has_word(type, "REAL") || has_word(type, "FLOA") || has_word(type, "DOUB"))
        return "g";
    if (has_word(type, "DATE") || has_word(type, "TIME"))
        return "u";
    return has_word(type, "BOOL") ? "l" : "g";
}

/* ---- values */

static void note_value(const ald__sqlite_db *d, int column, uint64_t row, ald__sqlite_survey *s)
{
    int type = d->lib->sqlite3_column_type(d->rows, column);
    if (type < 1 || type > 5)
        return;
    if (s->counts[type]++ == 0)
        s->first[type] = row;
    if (type == SQLITE_INTEGER && s->inexact == 0) {
        int64_t value = d->lib->sqlite3_column_int64(d->rows, column);
        if (value < -EXACT || value > EXACT)
            s->inexact = row;
    }
}

ald_status ald__sqlite_count(const ald__sqlite_db *d, uint64_t row, uint64_t *bytes, ald_error *err)
{
    int count = d->lib->sqlite3_column_count(d->rows);
    for (int i = 0; d->max_bytes != UINT64_MAX && i < count; i++) {
        int type = d->lib->sqlite3_column_type(d->rows, i);
        if (type == SQLITE_BLOB || type == SQLITE_TEXT)
            *bytes += (uint64_t)(unsigned)d->lib->sqlite3_column_bytes(d->rows, i);
    }
    if (row > d->max_rows || *bytes > d->max_bytes)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the table gives more than the database's pages can hold");
    return ALD_OK;
}

static ald_status survey_rows(ald__sqlite_db *d, ald__sqlite_survey *surveys, int count,
                              ald_error *err)
{
    uint64_t bytes = 0;
    int more = 1;
    ald_status status = ALD_OK;
    for (uint64_t row = 1; status == ALD_OK && more; row++) {
        status = ald__sqlite_db_step(d, &more, err);
        if (status != ALD_OK || !more)
            break;
        for (int i = 0; i < count; i++)
            note_value(d, i, row, &surveys[i]);
        status = ald__sqlite_count(d, row, &bytes, err);
    }
    (void)d->lib->sqlite3_reset(d->rows);
    return status;
}

/* Two kinds of values: the rarer one is named, since it is the surprise. */
static ald_status refuse_mixture(const ald__sqlite_survey *s, const char *name, ald_error *err)
{
    int usual = 0, rare = 0;
    for (int kind = 1; kind < 5; kind++) {
        if (s->counts[kind] > 0 && (usual == 0 || s->counts[kind] > s->counts[usual]))
            usual = kind;
    }
    for (int kind = 1; kind < 5; kind++) {
        if (kind != usual && s->counts[kind] > 0 &&
            (rare == 0 || s->counts[kind] < s->counts[rare]))
            rare = kind;
    }
    if (s->counts[SQLITE_TEXT] == 0 && s->counts[SQLITE_BLOB] == 0)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "row %llu, column '%.*s': an integer that no float64 is, among "
                             "floats\npass --mixed string, or --types %.*s:string",
                             (unsigned long long)s->inexact, NAME_BYTES, name, 30, name);
    if (s->counts[SQLITE_BLOB] > 0)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "row %llu, column '%.*s': %s among %s\n--query "
                             "'SELECT CAST(... AS BLOB)' makes them alike",
                             (unsigned long long)s->first[rare], NAME_BYTES, name, kinds[rare],
                             plurals[usual]);
    return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "row %llu, column '%.*s': %s among %s\npass --mixed "
                         "string, or --types %.*s:string",
                         (unsigned long long)s->first[rare], NAME_BYTES, name, kinds[rare],
                         plurals[usual], 30, name);
}

static ald_status format_of_values(const ald__sqlite_survey *s, const char *declared,
                                   const char *name, int mixed_text, const char **out,
                                   ald_error *err)
{
    int ints = s->counts[SQLITE_INTEGER] > 0, floats = s->counts[SQLITE_FLOAT] > 0,
        texts = s->counts[SQLITE_TEXT] > 0, blobs = s->counts[SQLITE_BLOB] > 0;
    if (ints + floats + texts + blobs == 0)
        *out = declared_format(declared);
    else if (ints + floats + texts + blobs == 1)
        *out = ints ? "l" : floats ? "g" : texts ? "u" : "z";
    else if (ints && floats && !texts && !blobs && s->inexact == 0)
        *out = "g";
    else if (mixed_text && !blobs)
        *out = "u";
    else
        return refuse_mixture(s, name, err);
    return ALD_OK;
}

/* ---- fields */

static ald_status column_name(const ald__sqlite_db *d, int column, const char **out, ald_error *err)
{
    *out = d->lib->sqlite3_column_name(d->rows, column);
    if (*out == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for names");
    if (ald__text_utf8_check((const uint8_t *)*out, strlen(*out)) < strlen(*out))
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the name of column %d is not UTF-8", column + 1);
    return ALD_OK;
}

/* The declared field of this name; NULL: none. */
static const struct ArrowSchema *find_type(const struct ArrowSchema *types, const char *name)
{
    for (int64_t i = 0; types != NULL && i < types->n_children; i++) {
        if (strcmp(types->children[i]->name, name) == 0)
            return types->children[i];
    }
    return NULL;
}

static ald_status check_types(const ald__sqlite_db *d, const struct ArrowSchema *types,
                              ald_error *err)
{
    int count = d->lib->sqlite3_column_count(d->rows);
    for (int64_t i = 0; types != NULL && i < types->n_children; i++) {
        int found = 0;
        for (int k = 0; k < count && !found; k++) {
            const char *name = d->lib->sqlite3_column_name(d->rows, k);
            found = name != NULL && strcmp(name, types->children[i]->name) == 0;
        }
        if (!found)
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "--types: there is no column '%.*s'", NAME_BYTES,
                                 types->children[i]->name);
    }
    return ALD_OK;
}

/* All columns, by name and in order. */
static ald_status check_schema(const ald__sqlite_db *d, const struct ArrowSchema *schema,
                               ald_error *err)
{
    int count = d->lib->sqlite3_column_count(d->rows);
    if (schema->n_children != count)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             "expected %lld columns, found %d", (long long)schema->n_children,
                             count);
    for (int i = 0; i < count; i++) {
        const char *name = d->lib->sqlite3_column_name(d->rows, i);
        if (name == NULL || strcmp(name, schema->children[i]->name) != 0)
            return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                                 "column %d: expected '%.*s', found '%.*s'", i + 1, NAME_BYTES,
                                 schema->children[i]->name, NAME_BYTES, name != NULL ? name : "");
    }
    return ALD_OK;
}

static ald_status make_field(const ald__sqlite_db *d, const ald_sqlite_options *options,
                             const ald__sqlite_survey *surveys, int column, const ald_host *host,
                             struct ArrowSchema *out, ald_error *err)
{
    const char *name = NULL, *format = NULL;
    const char *declared = d->lib->sqlite3_column_decltype(d->rows, column);
    ald_status status = column_name(d, column, &name, err);
    if (status != ALD_OK)
        return status;
    const struct ArrowSchema *type = find_type(options->types, name);
    if (type != NULL)
        return ald_schema_copy(host, type, out, err);
    if (surveys == NULL)
        format = declared_format(declared);
    else
        status =
            format_of_values(&surveys[column], declared, name, options->mixed_text, &format, err);
    return status == ALD_OK
               ? ald__field_new(&host->alloc, name, strlen(name), format, 1, 0, out, err)
               : status;
}

/* Whether the declared types are known to be those of the values. */
static int is_declared(const ald__sqlite_db *d)
{
    int count = d->lib->sqlite3_column_count(d->rows);
    for (int i = 0; i < count; i++) {
        const char *type = d->lib->sqlite3_column_decltype(d->rows, i);
        if (!d->is_strict || type == NULL || has_word(type, "ANY"))
            return 0;
    }
    return 1;
}

static ald_status make_fields(ald__sqlite_db *d, const ald_sqlite_options *options,
                              const ald__sqlite_survey *surveys, int count, const ald_host *host,
                              struct ArrowSchema *out, ald_error *err)
{
    struct ArrowSchema root;
    ald_status status = ald__field_new(&host->alloc, "", 0, "+s", 0, (size_t)count, &root, err);
    for (int i = 0; status == ALD_OK && i < count; i++)
        status = make_field(d, options, surveys, i, host, root.children[i], err);
    if (status == ALD_OK)
        *out = root;
    else if (root.release != NULL)
        root.release(&root);
    return status;
}

ald_status ald__sqlite_types(ald__sqlite_db *d, const ald_sqlite_options *options,
                             const ald_host *host, struct ArrowSchema *out, ald_error *err)
{
    int count = d->lib->sqlite3_column_count(d->rows);
    ald__sqlite_survey *surveys = NULL;
    ald_status status;
    if (options->schema != NULL) {
        status = check_schema(d, options->schema, err);
        return status == ALD_OK ? ald_schema_copy(host, options->schema, out, err) : status;
    }
    status = check_types(d, options->types, err);
    if (status == ALD_OK && !is_declared(d)) {
        surveys = ald__text_alloc(&host->alloc, (size_t)count, sizeof *surveys, err);
        status = surveys != NULL ? survey_rows(d, surveys, count, err) : ALD_E_NOMEM;
    }
    if (status == ALD_OK)
        status = make_fields(d, options, surveys, count, host, out, err);
    ald__text_free(&host->alloc, surveys, (size_t)count, sizeof *surveys);
    return status;
}

ald_status ald__sqlite_declared_types(ald__sqlite_db *d, const ald_host *host,
                                      struct ArrowSchema *out, ald_error *err)
{
    static const ald_sqlite_options no_types = ALD_SQLITE_OPTIONS_INIT;
    return make_fields(d, &no_types, NULL, d->lib->sqlite3_column_count(d->rows), host, out, err);
}

#endif
