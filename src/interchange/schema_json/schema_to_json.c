/* SPDX-License-Identifier: MIT */
/* A schema as JSON: names, types in words, nullability and metadata. Metadata values that are no text become
 * {"hex": "..."}; pairs keep their order and repeated keys. */
#include <string.h>

#include "ald/schema.h"
#include "ald/text.h"
#include "interchange/text/json_alc.h"
#include "interchange/text/text_utf8.h"

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the schema as JSON");
}

/* A 32-bit length and its bytes of the C data interface's metadata blob (native byte order). */
static const char *blob_take(const char **cursor, size_t *size)
{
    int32_t n;
    const char *data;
    memcpy(&n, *cursor, sizeof n);
    data = *cursor + sizeof n;
    *size = n > 0 ? (size_t)n : 0;
    *cursor = data + *size;
    return data;
}

static int is_text(const char *data, size_t size)
{
    return ald__text_utf8_check((const uint8_t *)data, size) == size;
}

static yyjson_mut_val *hex_value(yyjson_mut_doc *doc, const char *data, size_t size,
                                 const yyjson_alc *alc)
{
    static const char digits[] = "0123456789abcdef";
    yyjson_mut_val *object = yyjson_mut_obj(doc), *text;
    char *hex = size < SIZE_MAX / 2 ? alc->malloc(alc->ctx, size * 2 + 1) : NULL;
    if (!hex)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        hex[2 * i] = digits[(unsigned char)data[i] >> 4];
        hex[2 * i + 1] = digits[(unsigned char)data[i] & 15];
    }
    text = yyjson_mut_strncpy(doc, hex, size * 2);
    alc->free(alc->ctx, hex);
    return object && text && yyjson_mut_obj_add_val(doc, object, "hex", text) ? object : NULL;
}

static ald_status metadata_value(yyjson_mut_doc *doc, const char *blob, const yyjson_alc *alc,
                                 yyjson_mut_val *parent, ald_error *err)
{
    yyjson_mut_val *object;
    int32_t pairs;
    if (!blob)
        return ALD_OK;
    memcpy(&pairs, blob, sizeof pairs);
    blob += sizeof pairs;
    if (pairs <= 0)
        return ALD_OK;
    object = yyjson_mut_obj(doc);
    for (int32_t i = 0; i < pairs; i++) {
        size_t key_size, size;
        const char *key = blob_take(&blob, &key_size);
        const char *data = blob_take(&blob, &size);
        yyjson_mut_val *value;
        if (!is_text(key, key_size))
            return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                                 "a metadata key is not UTF-8 text");
        value = is_text(data, size) ? yyjson_mut_strn(doc, data, size)
                                    : hex_value(doc, data, size, alc);
        if (!value || !yyjson_mut_obj_add(object, yyjson_mut_strn(doc, key, key_size), value))
            return no_memory(err);
    }
    return yyjson_mut_obj_add_val(doc, parent, "metadata", object) ? ALD_OK : no_memory(err);
}

static ald_status field_value(yyjson_mut_doc *doc, const struct ArrowSchema *field,
                              const ald_allocator *alloc, const yyjson_alc *alc,
                              yyjson_mut_val *fields, ald_error *err)
{
    ald_buffer type = {NULL, 0, 0, NULL};
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    const char *name = field->name ? field->name : "";
    ald_status status;
    type.alloc = alloc;
    status = ald_type_format(field, &type, err);
    if (status != ALD_OK)
        goto done;
    if (!object || !yyjson_mut_arr_append(fields, object) ||
        !yyjson_mut_obj_add_strcpy(doc, object, "name", name) ||
        !yyjson_mut_obj_add_strncpy(doc, object, "type", (const char *)type.data, type.size) ||
        !yyjson_mut_obj_add_bool(doc, object, "nullable",
                                 (field->flags & ARROW_FLAG_NULLABLE) != 0)) {
        status = no_memory(err);
        goto done;
    }
    status = metadata_value(doc, field->metadata, alc, object, err);
done:
    ald_buffer_clear(&type);
    return status;
}

static ald_status write_out(yyjson_mut_doc *doc, const yyjson_alc *alc, ald_buffer *out,
                            ald_error *err)
{
    yyjson_write_err why;
    ald_sink sink = ald_buffer_sink(out);
    size_t size;
    char *json = yyjson_mut_write_opts(doc, 0, alc, &size, &why);
    ald_status status;
    if (!json) {
        if (why.code == YYJSON_WRITE_ERROR_MEMORY_ALLOCATION)
            return no_memory(err);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the schema is no JSON text: %s (a name that is not UTF-8?)", why.msg);
    }
    status = sink.write(sink.ctx, json, size, err);
    alc->free(alc->ctx, json);
    return status;
}

ald_status ald_schema_to_json(const struct ArrowSchema *schema, ald_buffer *out, ald_error *err)
{
    yyjson_alc alc;
    yyjson_mut_doc *doc = NULL;
    yyjson_mut_val *root, *fields;
    ald_status status;
    if (!schema || !schema->format || !out || !out->alloc || strlen(schema->format) != 2 ||
        memcmp(schema->format, "+s", 2) != 0)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "not the schema of a table");
    alc = ald__json_alc(out->alloc);
    doc = yyjson_mut_doc_new(&alc);
    if (!doc)
        return no_memory(err);
    root = yyjson_mut_obj(doc);
    fields = yyjson_mut_arr(doc);
    yyjson_mut_doc_set_root(doc, root);
    status = yyjson_mut_obj_add_val(doc, root, "fields", fields) ? ALD_OK : no_memory(err);
    for (int64_t i = 0; status == ALD_OK && i < schema->n_children; i++)
        status = field_value(doc, schema->children[i], out->alloc, &alc, fields, err);
    if (status == ALD_OK)
        status = metadata_value(doc, schema->metadata, &alc, root, err);
    if (status == ALD_OK)
        status = write_out(doc, &alc, out, err);
    yyjson_mut_doc_free(doc);
    return status;
}
