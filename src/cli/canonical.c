/* SPDX-License-Identifier: MIT */
#include "cli/canonical.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 16
#define KEYS_MOST 4096

static ald_status put(ald_buffer *out, const char *data, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    return sink.write(sink.ctx, data, size, err);
}

static ald_status put_text(ald_buffer *out, const char *text, ald_error *err)
{
    return put(out, text, strlen(text), err);
}

static ald_status put_string(ald_buffer *out, const char *text, size_t size, ald_error *err)
{
    static const char shorts[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    ald_status status = put_text(out, "\"", err);
    for (size_t i = 0; i < size && status == ALD_OK; i++) {
        unsigned char c = (unsigned char)text[i];
        const char *at = NULL;
        char escaped[8];
        for (size_t s = 0; shorts[s] != '\0' && at == NULL; s += 2) {
            at = (unsigned char)shorts[s] == c ? &shorts[s + 1] : NULL;
        }
        if (at != NULL) {
            snprintf(escaped, sizeof(escaped), "\\%c", *at);
            status = put_text(out, escaped, err);
        } else if (c < 0x20) {
            snprintf(escaped, sizeof(escaped), "\\u%04x", c);
            status = put_text(out, escaped, err);
        } else {
            status = put(out, text + i, 1, err);
        }
    }
    return status == ALD_OK ? put_text(out, "\"", err) : status;
}

static int by_key(const void *a, const void *b)
{
    return strcmp(unsafe_yyjson_get_str(*(yyjson_val *const *)a),
                  unsafe_yyjson_get_str(*(yyjson_val *const *)b));
}

static ald_status put_value(yyjson_val *v, ald_buffer *out, unsigned depth, ald_error *err);

/* Keys of ASCII sort by bytes as they do by UTF-16 units, which the RFC asks for. */
static ald_status put_object(yyjson_val *v, ald_buffer *out, unsigned depth, ald_error *err)
{
    size_t count = yyjson_obj_size(v), at, max, n = 0;
    yyjson_val *key, *value, **keys = calloc(count + 1, sizeof(yyjson_val *));
    ald_status status = put_text(out, "{", err);
    if (keys == NULL || count > KEYS_MOST) {
        free(keys);
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "too many keys");
    }
    yyjson_obj_foreach(v, at, max, key, value)
    {
        keys[n++] = key;
    }
    qsort(keys, n, sizeof(*keys), by_key);
    for (size_t i = 0; i < n && status == ALD_OK; i++) {
        if (i > 0 && by_key(&keys[i - 1], &keys[i]) == 0) {
            status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "a key occurs twice");
        }
        if (status == ALD_OK && i > 0) {
            status = put_text(out, ",", err);
        }
        if (status == ALD_OK) {
            status = put_string(out, yyjson_get_str(keys[i]), yyjson_get_len(keys[i]), err);
        }
        if (status == ALD_OK) {
            status = put_text(out, ":", err);
        }
        if (status == ALD_OK) {
            status = put_value(yyjson_obj_iter_get_val(keys[i]), out, depth, err);
        }
    }
    free(keys);
    return status == ALD_OK ? put_text(out, "}", err) : status;
}

static ald_status put_array(yyjson_val *v, ald_buffer *out, unsigned depth, ald_error *err)
{
    size_t at, max;
    yyjson_val *item;
    ald_status status = put_text(out, "[", err);
    yyjson_arr_foreach(v, at, max, item)
    {
        if (status == ALD_OK && at > 0) {
            status = put_text(out, ",", err);
        }
        if (status == ALD_OK) {
            status = put_value(item, out, depth, err);
        }
    }
    return status == ALD_OK ? put_text(out, "]", err) : status;
}

static ald_status put_value(yyjson_val *v, ald_buffer *out, unsigned depth, ald_error *err)
{
    char digits[24];
    if (depth == 0) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "JSON nests too deep");
    }
    if (yyjson_is_obj(v)) {
        return put_object(v, out, depth - 1, err);
    }
    if (yyjson_is_arr(v)) {
        return put_array(v, out, depth - 1, err);
    }
    if (yyjson_is_str(v)) {
        return put_string(out, yyjson_get_str(v), yyjson_get_len(v), err);
    }
    if (yyjson_is_uint(v) && yyjson_get_uint(v) <= UINT64_C(9007199254740991)) {
        snprintf(digits, sizeof(digits), "%" PRIu64, yyjson_get_uint(v));
        return put_text(out, digits, err);
    }
    if (yyjson_is_bool(v) || yyjson_is_null(v)) {
        return put_text(out,
                        yyjson_is_null(v)    ? "null"
                        : yyjson_get_bool(v) ? "true"
                                             : "false",
                        err);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "a number that is not a small whole one");
}

ald_status canonical_json(yyjson_val *value, ald_buffer *out, ald_error *err)
{
    return put_value(value, out, DEPTH_MOST, err);
}

ald_status canonical_evidence(yyjson_val *evidence, ald_buffer *out, ald_error *err)
{
    static const char label[] = "ald-v1-evidence";
    ald_status status = put(out, label, sizeof(label), err);
    return status == ALD_OK ? canonical_json(evidence, out, err) : status;
}
