/* SPDX-License-Identifier: MIT */
#include "cli/json_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/escape.h"

static void put(const char *text)
{
    cli_print(text, strlen(text));
}

static void put_string(const char *data, size_t size)
{
    const unsigned char *s = (const unsigned char *)data;
    const unsigned char *end = s + size;
    put("\"");
    while (s < end) {
        uint32_t code = 0;
        size_t step = cli_utf8_next(s, end, &code);
        if (step == 0) {
            put("\\ufffd"); /* strings of files are UTF-8; file names need not be */
            step = 1;
        } else if (code == '"' || code == '\\') {
            cli_printf("\\%c", (int)code);
        } else if (code == '\n') {
            put("\\n");
        } else if (code < 0x20 || code == 0x7F) {
            cli_printf("\\u%04x", (unsigned)code);
        } else {
            cli_print((const char *)s, step);
        }
        s += step;
    }
    put("\"");
}

/* Comma, new line and indent before an item, and its key. */
static void begin(json_print *j, const char *key, size_t key_size)
{
    if (j->depth > 0) {
        cli_printf("%s\n%*s", j->has_items[j->depth] ? "," : "", (int)(2 * j->depth), "");
        j->has_items[j->depth] = 1;
    }
    if (key != NULL) {
        put_string(key, key_size);
        put(": ");
    }
}

static void begin_text(json_print *j, const char *key)
{
    begin(j, key, key != NULL ? strlen(key) : 0);
}

static void open_bracket(json_print *j, char bracket)
{
    cli_print(&bracket, 1);
    if (j->depth + 1 < JSON_DEPTH) {
        j->depth++;
    }
    j->has_items[j->depth] = 0;
}

void json_open(json_print *j, const char *key, char bracket)
{
    begin_text(j, key);
    open_bracket(j, bracket);
}

void json_close(json_print *j, char bracket)
{
    int had_items = j->has_items[j->depth];
    j->depth--;
    if (had_items) {
        cli_printf("\n%*s", (int)(2 * j->depth), "");
    }
    cli_print(&bracket, 1);
}

void json_text(json_print *j, const char *key, const char *value)
{
    if (value == NULL) {
        json_null(j, key);
    } else {
        json_bytes(j, key, value, strlen(value));
    }
}

void json_bytes(json_print *j, const char *key, const char *data, size_t size)
{
    begin_text(j, key);
    put_string(data, size);
}

void json_uint(json_print *j, const char *key, uint64_t value)
{
    begin_text(j, key);
    cli_printf("%" PRIu64, value);
}

void json_bool(json_print *j, const char *key, int value)
{
    begin_text(j, key);
    put(value ? "true" : "false");
}

void json_null(json_print *j, const char *key)
{
    begin_text(j, key);
    put("null");
}

static void put_hex(const uint8_t *data, size_t size)
{
    put("\"");
    for (size_t i = 0; i < size; i++) {
        cli_printf("%02x", (unsigned)data[i]);
    }
    put("\"");
}

void json_error(json_print *j, const ald_error *err)
{
    json_open(j, "error", '{');
    json_text(j, "name", ald_status_name((ald_status)err->status));
    json_bytes(j, "message", err->msg, strcspn(err->msg, "\n"));
    if (err->offset != ALD_NO_OFFSET) {
        json_uint(j, "offset", err->offset);
    }
    json_close(j, '}');
}

void json_hex(json_print *j, const char *key, const uint8_t *data, size_t size)
{
    begin_text(j, key);
    put_hex(data, size);
}

/* The shortest text that gives the double back. */
static void put_double(double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        put(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    put(text);
    put(strpbrk(text, ".e") == NULL ? ".0" : "");
}

void json_double(json_print *j, const char *key, double value)
{
    begin_text(j, key);
    put_double(value);
}

void json_number(json_print *j, const char *key, const char *digits, size_t size)
{
    begin_text(j, key);
    cli_print(digits, size);
}

static void put_binary(json_print *j, const char *bytes, size_t size)
{
    if (j->longest_hex == 0 || size <= j->longest_hex) {
        put_hex((const uint8_t *)bytes, size);
        return;
    }
    open_bracket(j, '{');
    json_uint(j, "size", size);
    json_close(j, '}');
}

static void put_value(json_print *j, const ald_value *value)
{
    size_t size = 0;
    const char *bytes = ald_value_get_bytes(value, &size);
    switch (ald_value_get_type(value)) {
    case ALD_VALUE_BOOL:
        put(ald_value_get_bool(value) ? "true" : "false");
        break;
    case ALD_VALUE_INT:
        cli_printf("%" PRId64, ald_value_get_int(value));
        break;
    case ALD_VALUE_UINT:
        cli_printf("%" PRIu64, ald_value_get_uint(value));
        break;
    case ALD_VALUE_FLOAT:
        put_double(ald_value_get_float(value));
        break;
    case ALD_VALUE_STRING:
        put_string(bytes, size);
        break;
    case ALD_VALUE_BIN:
    case ALD_VALUE_EXT:
        put_binary(j, bytes, size);
        break;
    case ALD_VALUE_ARRAY:
        open_bracket(j, '[');
        for (size_t i = 0; i < ald_value_get_count(value); i++) {
            begin(j, NULL, 0);
            put_value(j, ald_value_get_item(value, i));
        }
        json_close(j, ']');
        break;
    case ALD_VALUE_MAP:
        open_bracket(j, '{');
        for (size_t i = 0; i < ald_value_get_count(value); i++) {
            size_t key_size = 0;
            const char *key = ald_value_get_key(value, i, &key_size);
            begin(j, key, key_size);
            put_value(j, ald_value_get_item(value, i));
        }
        json_close(j, '}');
        break;
    case ALD_VALUE_NIL:
    default:
        put("null");
    }
}

void json_value(json_print *j, const char *key, const ald_value *value)
{
    begin_text(j, key);
    if (value == NULL) {
        put("null");
    } else {
        put_value(j, value);
    }
}

void json_end(json_print *j)
{
    (void)j;
    put("\n");
}
