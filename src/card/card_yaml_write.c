/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "card/card_scalar.h"
#include "card/card_yaml.h"

typedef struct yaml_writing {
    yaml_emitter_t emitter;
    ald_sink sink;
    ald_status status; /* of the sink */
    ald_error *err;
} yaml_writing;

static int write_part(void *ctx, unsigned char *data, size_t size)
{
    yaml_writing *w = ctx;
    w->status = size > 0 ? w->sink.write(w->sink.ctx, data, size, w->err) : ALD_OK;
    return w->status == ALD_OK;
}

static ald_status emit(yaml_writing *w, yaml_event_t *event, int is_made)
{
    if (is_made && yaml_emitter_emit(&w->emitter, event)) {
        return ALD_OK;
    }
    if (w->status != ALD_OK) {
        return w->status;
    }
    if (!is_made || w->emitter.error == YAML_MEMORY_ERROR) {
        return ald_error_set(w->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for YAML");
    }
    return ald_error_set(w->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "cannot be written as YAML: %s",
                         w->emitter.problem != NULL ? w->emitter.problem : "a value");
}

/* ---- scalars */

/* Lines that a literal block keeps as they are: printable, no other breaks than \n, no blank at either end of a line. */
static int is_block_text(const char *text, size_t size)
{
    int breaks = 0;
    if (size == 0 || text[0] == ' ' || text[0] == '\n' || text[size - 1] == ' ') {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n') {
            breaks = 1;
            if (text[i - 1] == ' ' || text[i - 1] == '\n' || (i + 1 < size && text[i + 1] == ' ')) {
                return 0;
            }
        } else if (c < ' ' || c >= 0x7F) {
            return 0;
        }
    }
    return breaks;
}

static int has_breaks(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < ' ' || c == 0x7F || c == 0xC2 || c == 0xE2) { /* NEL, and the separators U+2028 */
            return 1;
        }
    }
    return 0;
}

static ald_status put_scalar(yaml_writing *w, const char *tag, const char *text, size_t size,
                             int is_plain, yaml_scalar_style_t style)
{
    yaml_event_t event;
    if (size > INT32_MAX) {
        return ald_error_set(w->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "a text is too long for YAML");
    }
    int made = yaml_scalar_event_initialize(&event, NULL, (const yaml_char_t *)tag,
                                            (const yaml_char_t *)text, (int)size,
                                            tag == NULL && is_plain, tag == NULL, style);
    return emit(w, &event, made);
}

static ald_status put_text(yaml_writing *w, const char *text, size_t size, int is_key)
{
    if (!is_key && is_block_text(text, size)) {
        return put_scalar(w, NULL, text, size, 0, YAML_LITERAL_SCALAR_STYLE);
    }
    if (has_breaks(text, size)) {
        return put_scalar(w, NULL, text, size, 0, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
    }
    int is_plain = card_scalar_is_plain(text, size);
    return put_scalar(w, NULL, text, size, is_plain,
                      is_plain ? YAML_PLAIN_SCALAR_STYLE : YAML_SINGLE_QUOTED_SCALAR_STYLE);
}

static ald_status put_plain(yaml_writing *w, const char *text)
{
    return put_scalar(w, NULL, text, strlen(text), 1, YAML_PLAIN_SCALAR_STYLE);
}

static ald_status put_binary(yaml_writing *w, const uint8_t *data, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t used = 0;
    char *text = malloc(size / 3 * 4 + 5);
    if (text == NULL) {
        return ald_error_set(w->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for YAML");
    }
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? (uint32_t)data[i + 2] : 0);
        text[used++] = letters[bits >> 18];
        text[used++] = letters[bits >> 12 & 63];
        text[used++] = left > 1 ? letters[bits >> 6 & 63] : '=';
        text[used++] = left > 2 ? letters[bits & 63] : '=';
    }
    ald_status status =
        put_scalar(w, "tag:yaml.org,2002:binary", text, used, 0, YAML_SINGLE_QUOTED_SCALAR_STYLE);
    free(text);
    return status;
}

/* ---- values */

static ald_status put_value(yaml_writing *w, const ald_value *value);

static ald_status put_array(yaml_writing *w, const ald_value *value)
{
    yaml_event_t event;
    int made =
        yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    ald_status status = emit(w, &event, made);
    for (size_t i = 0; i < ald_value_get_count(value) && status == ALD_OK; i++) {
        status = put_value(w, ald_value_get_item(value, i));
    }
    return status == ALD_OK ? emit(w, &event, yaml_sequence_end_event_initialize(&event)) : status;
}

static ald_status put_map(yaml_writing *w, const ald_value *value)
{
    yaml_event_t event;
    int made = yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_MAPPING_STYLE);
    ald_status status = emit(w, &event, made);
    for (size_t i = 0; i < ald_value_get_count(value) && status == ALD_OK; i++) {
        size_t size = 0;
        const char *key = ald_value_get_key(value, i, &size);
        status = put_text(w, key, size, 1);
        if (status == ALD_OK) {
            status = put_value(w, ald_value_get_item(value, i));
        }
    }
    return status == ALD_OK ? emit(w, &event, yaml_mapping_end_event_initialize(&event)) : status;
}

/* The depth of a tree is bounded by whoever made it (F-053). */
static ald_status put_value(yaml_writing *w, const ald_value *value)
{
    char text[CARD_SCALAR_BYTES];
    size_t size = 0;
    const char *bytes = ald_value_get_bytes(value, &size);
    switch (ald_value_get_type(value)) {
    case ALD_VALUE_BOOL:
        return put_plain(w, ald_value_get_bool(value) ? "true" : "false");
    case ALD_VALUE_INT:
        snprintf(text, sizeof(text), "%" PRId64, ald_value_get_int(value));
        return put_plain(w, text);
    case ALD_VALUE_UINT:
        snprintf(text, sizeof(text), "%" PRIu64, ald_value_get_uint(value));
        return put_plain(w, text);
    case ALD_VALUE_FLOAT:
        card_scalar_double(ald_value_get_float(value), text);
        return put_plain(w, text);
    case ALD_VALUE_STRING:
        return put_text(w, bytes, size, 0);
    case ALD_VALUE_BIN:
        return put_binary(w, (const uint8_t *)bytes, size);
    case ALD_VALUE_ARRAY:
        return put_array(w, value);
    case ALD_VALUE_MAP:
        return put_map(w, value);
    case ALD_VALUE_EXT:
        return ald_error_set(w->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "a MessagePack extension cannot be written as YAML");
    case ALD_VALUE_NIL:
    default:
        return put_plain(w, "null");
    }
}

static ald_status put_document(yaml_writing *w, const ald_value *map)
{
    yaml_event_t event;
    ald_status status =
        emit(w, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    if (status == ALD_OK) {
        status = emit(w, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    }
    if (status == ALD_OK) {
        status = put_map(w, map);
    }
    if (status == ALD_OK) {
        status = emit(w, &event, yaml_document_end_event_initialize(&event, 1));
    }
    return status == ALD_OK ? emit(w, &event, yaml_stream_end_event_initialize(&event)) : status;
}

ald_status card_yaml_write(const ald_value *map, ald_buffer *out, ald_error *err)
{
    yaml_writing *w = calloc(1, sizeof(*w));
    if (w == NULL || !yaml_emitter_initialize(&w->emitter)) {
        free(w);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for YAML");
    }
    w->sink = ald_buffer_sink(out);
    w->err = err;
    yaml_emitter_set_output(&w->emitter, write_part, w);
    yaml_emitter_set_unicode(&w->emitter, 1);
    yaml_emitter_set_width(&w->emitter, -1);
    ald_status status = put_document(w, map);
    yaml_emitter_delete(&w->emitter);
    free(w);
    return status;
}
