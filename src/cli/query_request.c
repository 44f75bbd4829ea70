/* SPDX-License-Identifier: MIT */
#include "cli/query_request.h"

#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "interchange/format/string_text.h"
#include "interchange/text/base64.h"

#define KEY_NAME "query_pub_key"
#define PROTOCOL_NAME "query_protocol"
#define KEY_TEXT_BYTES 44u /* of 32 bytes in base64 */

#define AT(member) .offset = offsetof(query_options, member)
static const opt_spec query_specs[] = {
    {.name = "columns",
     .letter = 'c',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     AT(columns),
     .help = "these columns, in this order; default: all. May be repeated"},
    {.name = "rows",
     .arg = "A:B",
     .kind = OPT_TEXT,
     AT(rows),
     .help = "only rows from number A on and before number B, counted from 0; either may be left "
             "out"},
    {.name = "where",
     .arg = "CONDITION",
     .kind = OPT_TEXT,
     AT(where),
     .help = "only rows for which this holds: `column op value`, joined by and and or (and binds "
             "tighter); op is one of = != < <= > >=, or `is null`, `is not null`. Names and "
             "values that are not plain words are quoted"},
    {.name = "limit", .arg = "N", .kind = OPT_COUNT, AT(limit), .help = "not more rows than this"},
};
const opt_group cli_group_query = OPT_GROUP("Query", query_specs);

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the query");
}

/* ---- writing */

/* Digits at *text; nothing there: `otherwise`. */
static int take_row(const char **text, uint64_t otherwise, uint64_t *out)
{
    const char *p = *text;
    *out = *p >= '0' && *p <= '9' ? 0 : otherwise;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (*out > (INT64_MAX - digit) / 10) {
            return 0;
        }
        *out = *out * 10 + digit;
    }
    *text = p;
    return 1;
}

static ald_status write_rows(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *text,
                             ald_error *err)
{
    uint64_t begin = 0, end = 0;
    const char *p = text;
    int ok = take_row(&p, 0, &begin) && *p++ == ':';
    int is_open = ok && *p == '\0';
    ok = ok && take_row(&p, 0, &end) && *p == '\0' && (is_open || end >= begin);
    if (!ok) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--rows: expected A:B with A not above B, found '%s'", text);
    }
    yyjson_mut_val *rows = yyjson_mut_obj_add_arr(doc, root, "rows");
    ok = rows != NULL && yyjson_mut_arr_add_uint(doc, rows, begin) &&
         (is_open ? yyjson_mut_arr_add_null(doc, rows) : yyjson_mut_arr_add_uint(doc, rows, end));
    return ok ? ALD_OK : no_memory(err);
}

static ald_status write_columns(yyjson_mut_doc *doc, yyjson_mut_val *root, const opt_list *names,
                                ald_error *err)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, root, "columns");
    for (size_t i = 0; i < names->count; i++) {
        const char *p = names->items[i];
        for (;;) {
            size_t size = strcspn(p, ",");
            if (size == 0) {
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "--columns: an empty name");
            }
            if (list == NULL || !yyjson_mut_arr_add_strncpy(doc, list, p, size)) {
                return no_memory(err);
            }
            if (p[size] == '\0') {
                break;
            }
            p += size + 1;
        }
    }
    return ALD_OK;
}

static ald_status write_members(cli_env *env, const query_options *o, yyjson_mut_doc *doc,
                                yyjson_mut_val *root, ald_error *err)
{
    ald_status status = ALD_OK;
    if (o->where != NULL && o->where[0] == '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--where: an empty condition");
    }
    if (o->columns.count > 0) {
        status = write_columns(doc, root, &o->columns, err);
    }
    if (status == ALD_OK && o->rows != NULL) {
        status = write_rows(doc, root, o->rows, err);
    }
    if (status == ALD_OK && o->where != NULL &&
        !yyjson_mut_obj_add_str(doc, root, "where", o->where)) {
        status = no_memory(err);
    }
    if (status == ALD_OK && cli_option_given(env, "limit") &&
        !yyjson_mut_obj_add_uint(doc, root, "limit", o->limit)) {
        status = no_memory(err);
    }
    return status;
}

ald_status cli_query_write(cli_env *env, const query_options *options, ald_buffer *out,
                           ald_error *err)
{
    size_t size = 0;
    char *text = NULL;
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc != NULL ? yyjson_mut_obj(doc) : NULL;
    ald_status status = root != NULL ? write_members(env, options, doc, root, err) : no_memory(err);
    if (status == ALD_OK) {
        yyjson_write_err bad;
        yyjson_mut_doc_set_root(doc, root);
        text = yyjson_mut_write_opts(doc, 0, NULL, &size, &bad);
        if (text == NULL && bad.code == YYJSON_WRITE_ERROR_INVALID_STRING) {
            status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the query is not UTF-8");
        } else if (text == NULL) {
            status = no_memory(err);
        }
    }
    if (status == ALD_OK) {
        ald_sink sink = ald_buffer_sink(out);
        status = sink.write(sink.ctx, text, size, err);
    }
    free(text);
    yyjson_mut_doc_free(doc);
    return status;
}

/* ---- reading */

static ald_status bad_member(const char *name, const char *wanted, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the query's '%s' is not %s",
                         name, wanted);
}

static ald_status read_columns(yyjson_val *value, query_request *out, ald_error *err)
{
    size_t count = yyjson_arr_size(value);
    if (!yyjson_is_arr(value) || count == 0) {
        return bad_member("columns", "a list of names", err);
    }
    out->columns = calloc(count, sizeof(*out->columns));
    if (out->columns == NULL) {
        return no_memory(err);
    }
    yyjson_arr_iter iter = yyjson_arr_iter_with(value);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *item = yyjson_arr_iter_next(&iter);
        out->columns[i] = yyjson_get_str(item);
        if (out->columns[i] == NULL || strlen(out->columns[i]) != yyjson_get_len(item)) {
            return bad_member("columns", "a list of names", err);
        }
    }
    out->select.columns = out->columns;
    out->select.column_count = count;
    return ALD_OK;
}

static ald_status read_rows(yyjson_val *value, query_request *out, ald_error *err)
{
    yyjson_val *begin = yyjson_arr_get_first(value), *end = yyjson_arr_get_last(value);
    int ok = yyjson_arr_size(value) == 2 && yyjson_is_uint(begin) &&
             (yyjson_is_null(end) ||
              (yyjson_is_uint(end) && yyjson_get_uint(end) >= yyjson_get_uint(begin)));
    if (!ok) {
        return bad_member("rows", "[first, end] or [first, null]", err);
    }
    out->select.row_begin = yyjson_get_uint(begin);
    out->select.row_end = yyjson_is_null(end) ? 0 : yyjson_get_uint(end);
    if (yyjson_is_uint(end) && out->select.row_end == 0) {
        out->select.limit = 0; /* the option's 0 means no end */
    }
    return ALD_OK;
}

static ald_status read_member(const char *name, yyjson_val *value, query_request *out,
                              ald_error *err)
{
    if (strcmp(name, "columns") == 0) {
        return read_columns(value, out, err);
    }
    if (strcmp(name, "rows") == 0) {
        return read_rows(value, out, err);
    }
    if (strcmp(name, "where") == 0) {
        out->select.where = yyjson_get_str(value);
        out->select.where_size = yyjson_get_len(value);
        return yyjson_is_str(value) && out->select.where_size > 0
                   ? ALD_OK
                   : bad_member("where", "a condition", err);
    }
    if (strcmp(name, "limit") == 0) {
        uint64_t limit = yyjson_get_uint(value);
        out->select.limit = limit < out->select.limit ? limit : out->select.limit;
        return yyjson_is_uint(value) ? ALD_OK : bad_member("limit", "a number of rows", err);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the query asks for '%s', which is not known here", name);
}

ald_status cli_query_read(const void *json, size_t size, query_request *out, ald_error *err)
{
    static const ald_select_options defaults = ALD_SELECT_OPTIONS_INIT;
    memset(out, 0, sizeof(*out));
    out->select = defaults;
    /* Without YYJSON_READ_INSITU the text is only read. */
    out->doc = yyjson_read_opts((char *)(uintptr_t)json, size, 0, NULL, NULL);
    yyjson_val *root = yyjson_doc_get_root(out->doc);
    if (!yyjson_is_obj(root)) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the query is no JSON object");
    }
    ald_status status = ALD_OK;
    yyjson_obj_iter iter = yyjson_obj_iter_with(root);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key != NULL && status == ALD_OK;
         key = yyjson_obj_iter_next(&iter)) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (yyjson_obj_getn(root, yyjson_get_str(key), yyjson_get_len(key)) != value) {
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "the query has '%s' twice", yyjson_get_str(key));
        }
        status = read_member(yyjson_get_str(key), value, out, err);
    }
    return status;
}

void cli_query_clear(query_request *request)
{
    free(request->columns);
    yyjson_doc_free(request->doc);
    memset(request, 0, sizeof(*request));
}

/* ---- the published key */

/* The text under a key, or NULL. */
static const char *find_text(const ald_value *metadata, const char *name, size_t *size)
{
    const ald_value *value = ald_value_find(metadata, name);
    return value != NULL ? ald_value_get_bytes(value, size) : NULL;
}

ald_status cli_query_key(cli_env *env, const ald_info *info, uint8_t out[ALD_QUERY_KEY_BYTES],
                         ald_error *err)
{
    uint8_t bytes[KEY_TEXT_BYTES];
    size_t size = 0, written = 0;
    const char *text = find_text(info->metadata, KEY_NAME, &size);
    if (text == NULL) {
        cli_hint(env, "its owner publishes one with `alimentar query publish`");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the file publishes no key for questions");
    }
    if (size != KEY_TEXT_BYTES || !ald__base64_decode(text, size, bytes, &written) ||
        written != ALD_QUERY_KEY_BYTES) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the metadata's " KEY_NAME " is no key of 32 bytes in base64");
    }
    text = find_text(info->metadata, PROTOCOL_NAME, &size);
    if (text == NULL || strcmp(text, ALD_QUERY_PROTOCOL) != 0) {
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "questions are answered by the protocol '%s', which is not known here",
                             text != NULL ? text : "");
    }
    memcpy(out, bytes, ALD_QUERY_KEY_BYTES);
    return ALD_OK;
}

static ald_status put_text(ald_value *map, const char *name, const char *text, size_t size,
                           ald_error *err)
{
    ald_value *entry = ald_value_put(map, name, strlen(name));
    return entry != NULL ? ald_value_set_string(entry, text, size, err) : no_memory(err);
}

ald_status cli_query_publish(cli_env *env, ald_value *metadata,
                             const uint8_t key[ALD_QUERY_KEY_BYTES], ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    ald__pen pen;
    ald__pen_open(&pen, &text, err);
    ald_status status = ald__put_base64(&pen, key, ALD_QUERY_KEY_BYTES);
    ald__pen_close(&pen);
    if (status == ALD_OK) {
        status = put_text(metadata, KEY_NAME, (const char *)text.data, text.size, err);
    }
    if (status == ALD_OK) {
        status =
            put_text(metadata, PROTOCOL_NAME, ALD_QUERY_PROTOCOL, strlen(ALD_QUERY_PROTOCOL), err);
    }
    ald_buffer_clear(&text);
    return status;
}
