/* SPDX-License-Identifier: MIT */
/* A schema from {"fields": [...]} or from `name:type,name:type`. What is not understood is an error: a typing mistake in
 * a key must not pass for its default. */
#include <string.h>

#include "ald/schema.h"
#include "ald/text.h"
#include "interchange/text/column.h"
#include "interchange/text/json_alc.h"
#include "interchange/text/text_utf8.h"

#define SHOWN 60 /* bytes of a text that a message shows */

static int shown(size_t size)
{
    return size < SHOWN ? (int)size : SHOWN;
}

static ald_status bad(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "schema: %s", what);
}

static int key_is(yyjson_val *key, const char *name)
{
    return yyjson_equals_str(key, name);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* {"hex": "00ff"}: a value that is no text. */
static ald_status set_hex(const ald_host *host, struct ArrowSchema *schema, const char *key,
                          yyjson_val *value, ald_error *err)
{
    yyjson_val *hex = yyjson_obj_size(value) == 1 ? yyjson_obj_get(value, "hex") : NULL;
    const char *text = yyjson_get_str(hex);
    size_t size = yyjson_get_len(hex) / 2;
    ald_status status = ALD_OK;
    char *bytes;
    if (!text || yyjson_get_len(hex) % 2 != 0)
        return bad(err, "a metadata value must be a string or {\"hex\": \"...\"}");
    bytes = host->alloc.alloc(host->alloc.ctx, size + 1);
    if (!bytes)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes",
                             size + 1);
    for (size_t i = 0; i < size && status == ALD_OK; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            status = bad(err, "a metadata value's hex has other characters");
        else
            bytes[i] = (char)((high << 4) | low);
    }
    if (status == ALD_OK)
        status = ald_schema_set_metadata(host, schema, key, bytes, size, err);
    host->alloc.release(host->alloc.ctx, bytes, size + 1);
    return status;
}

static ald_status set_metadata(const ald_host *host, struct ArrowSchema *schema, yyjson_val *object,
                               ald_error *err)
{
    yyjson_obj_iter iter;
    yyjson_val *key;
    if (yyjson_is_null(object))
        return ALD_OK;
    if (!yyjson_obj_iter_init(object, &iter))
        return bad(err, "\"metadata\" must be an object");
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        const char *name = yyjson_get_str(key);
        ald_status status;
        if (strlen(name) != yyjson_get_len(key))
            return bad(err, "a metadata key has U+0000 in it");
        status = yyjson_is_str(value)
                     ? ald_schema_set_metadata(host, schema, name, yyjson_get_str(value),
                                               yyjson_get_len(value), err)
                     : set_hex(host, schema, name, value, err);
        if (status != ALD_OK)
            return status;
    }
    return ALD_OK;
}

/* One entry of "fields". */
static ald_status read_field(const ald_host *host, yyjson_val *field, struct ArrowSchema *out,
                             ald_error *err)
{
    yyjson_val *key, *name = NULL, *type = NULL, *nullable = NULL, *metadata = NULL;
    yyjson_obj_iter iter;
    ald_status status;
    if (!yyjson_obj_iter_init(field, &iter))
        return bad(err, "each of \"fields\" must be an object with \"name\" and \"type\"");
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val **slot = key_is(key, "name")       ? &name
                            : key_is(key, "type")     ? &type
                            : key_is(key, "nullable") ? &nullable
                            : key_is(key, "metadata") ? &metadata
                                                      : NULL;
        if (!slot || *slot)
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "schema: %s key of a field: %.*s", slot ? "repeated" : "unknown",
                                 shown(yyjson_get_len(key)), yyjson_get_str(key));
        *slot = yyjson_obj_iter_get_val(key);
    }
    if (!yyjson_is_str(name) || !yyjson_is_str(type))
        return bad(err, "a field needs \"name\" and \"type\", both strings");
    if (strlen(yyjson_get_str(name)) != yyjson_get_len(name))
        return bad(err, "a field's name has U+0000 in it");
    if (nullable && !yyjson_is_bool(nullable))
        return bad(err, "\"nullable\" must be true or false");
    status = ald_type_parse(host, yyjson_get_str(type), yyjson_get_len(type), yyjson_get_str(name),
                            !nullable || yyjson_get_bool(nullable), out, err);
    return status == ALD_OK && metadata ? set_metadata(host, out, metadata, err) : status;
}

/* The root of a copy by the library's own hand, so that its metadata can be set. */
static ald_status finish(const ald_host *host, struct ArrowSchema *root, yyjson_val *metadata,
                         struct ArrowSchema *out, ald_error *err)
{
    ald_status status = ald_schema_copy(host, root, out, err);
    if (status == ALD_OK && metadata)
        status = set_metadata(host, out, metadata, err);
    return status;
}

static ald_status read_object(const ald_host *host, yyjson_val *object, struct ArrowSchema *out,
                              ald_error *err)
{
    struct ArrowSchema root;
    yyjson_val *key, *fields = NULL, *metadata = NULL, *field;
    yyjson_obj_iter iter;
    yyjson_arr_iter items;
    ald_status status;
    size_t i = 0;
    if (!yyjson_obj_iter_init(object, &iter))
        return bad(err, "must be an object with \"fields\"");
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        if (key_is(key, "fields") && !fields)
            fields = yyjson_obj_iter_get_val(key);
        else if (key_is(key, "metadata") && !metadata)
            metadata = yyjson_obj_iter_get_val(key);
        else
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "schema: unknown or repeated key %.*s", shown(yyjson_get_len(key)),
                                 yyjson_get_str(key));
    }
    if (!yyjson_arr_iter_init(fields, &items))
        return bad(err, "needs \"fields\", an array");
    status = ald__field_new(&host->alloc, "", 0, "+s", 0, yyjson_arr_size(fields), &root, err);
    while (status == ALD_OK && (field = yyjson_arr_iter_next(&items)) != NULL)
        status = read_field(host, field, root.children[i++], err);
    if (status == ALD_OK)
        status = finish(host, &root, metadata, out, err);
    if (root.release)
        root.release(&root);
    return status;
}

static ald_status from_json(const char *text, size_t size, const ald_host *host,
                            struct ArrowSchema *out, ald_error *err)
{
    yyjson_alc alc = ald__json_alc(&host->alloc);
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text, size, 0, &alc, &why);
    ald_status status;
    if (!doc) {
        if (why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the schema");
        return ald_error_set(err, ALD_E_INVALID_ARG, why.pos, "schema: not JSON at byte %zu: %s",
                             why.pos, why.msg);
    }
    status = read_object(host, yyjson_doc_get_root(doc), out, err);
    yyjson_doc_free(doc);
    return status;
}

/* The `name:type` list. Commas inside brackets belong to a type. */

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void trim(const char **text, size_t *size)
{
    while (*size && is_space((*text)[*size - 1]))
        (*size)--;
    while (*size && is_space(**text)) {
        (*text)++;
        (*size)--;
    }
}

/* Bytes up to the comma that ends the entry, or to the end. */
static size_t entry_size(const char *text, size_t size)
{
    size_t depth = 0, i;
    for (i = 0; i < size; i++) {
        char c = text[i];
        if (c == '<' || c == '[' || c == '(')
            depth++;
        else if (depth && (c == '>' || c == ']' || c == ')'))
            depth--;
        else if (c == ',' && depth == 0)
            break;
    }
    return i;
}

static ald_status read_entry(const ald_host *host, const char *text, size_t size,
                             struct ArrowSchema *out, ald_error *err)
{
    size_t colon = 0, name_size, type_size;
    const char *name = text, *type;
    char *copy;
    ald_status status;
    while (colon < size && text[colon] != ':')
        colon++;
    name_size = colon;
    trim(&name, &name_size);
    type = text + colon + (colon < size);
    type_size = colon < size ? size - colon - 1 : 0;
    trim(&type, &type_size);
    if (!name_size || !type_size)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "schema: '%.*s' is not name:type", shown(size), text);
    copy = host->alloc.alloc(host->alloc.ctx, name_size + 1);
    if (!copy)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes",
                             name_size + 1);
    memcpy(copy, name, name_size);
    copy[name_size] = 0;
    status = strlen(copy) == name_size ? ald_type_parse(host, type, type_size, copy, 1, out, err)
                                       : bad(err, "a name has a NUL byte in it");
    host->alloc.release(host->alloc.ctx, copy, name_size + 1);
    return status;
}

static ald_status from_list(const char *text, size_t size, const ald_host *host,
                            struct ArrowSchema *out, ald_error *err)
{
    struct ArrowSchema root;
    size_t count = 1, i = 0;
    ald_status status;
    for (size_t at = entry_size(text, size); at < size; count++)
        at += 1 + entry_size(text + at + 1, size - at - 1);
    status = ald__field_new(&host->alloc, "", 0, "+s", 0, count, &root, err);
    while (status == ALD_OK && i < count) {
        size_t n = entry_size(text, size), step = n < size ? n + 1 : n;
        status = read_entry(host, text, n, root.children[i++], err);
        text += step;
        size -= step;
    }
    if (status == ALD_OK)
        status = finish(host, &root, NULL, out, err);
    if (root.release)
        root.release(&root);
    return status;
}

ald_status ald_schema_from_json(const char *text, size_t size, const ald_host *host,
                                struct ArrowSchema *out, ald_error *err)
{
    ald_status status;
    if (out)
        memset(out, 0, sizeof *out);
    if (!text || !host || !out)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "schema: no text");
    trim(&text, &size);
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
        trim(&text, &size);
    }
    if (!size)
        return bad(err, "the text is empty");
    if (ald__text_utf8_check((const uint8_t *)text, size) < size)
        return bad(err, "the text is not UTF-8");
    if (ald__text_nul_check((const uint8_t *)text, size) < size)
        return bad(err, "the text has a NUL byte");
    status = *text == '{' ? from_json(text, size, host, out, err)
                          : from_list(text, size, host, out, err);
    if (status != ALD_OK && out->release) {
        out->release(out);
        memset(out, 0, sizeof *out);
    }
    return status;
}
