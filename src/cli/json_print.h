/* SPDX-License-Identifier: MIT */
/* JSON facts on stdout, indented by two. Commas and nesting are kept here; the caller gives keys and values in order. */
#ifndef CLI_JSON_PRINT_H
#define CLI_JSON_PRINT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/value.h"

#define JSON_DEPTH 48 /* metadata may nest 32 deep, in a few levels of ours */

typedef struct json_print {
    size_t longest_hex; /* binary values of json_value above it are {"size": N}; 0: none */
    unsigned depth;
    uint8_t has_items[JSON_DEPTH];
} json_print;

/* `key` is NULL inside an array and at the top. */
void json_open(json_print *j, const char *key, char bracket);      /* '{' or '[' */
void json_close(json_print *j, char bracket);                      /* '}' or ']' */
void json_text(json_print *j, const char *key, const char *value); /* NULL: null */
void json_bytes(json_print *j, const char *key, const char *data, size_t size);
void json_uint(json_print *j, const char *key, uint64_t value);
void json_bool(json_print *j, const char *key, int value);
void json_double(json_print *j, const char *key, double value); /* NaN and infinities as strings */
void json_number(json_print *j, const char *key, const char *digits, size_t size); /* as it is */
void json_null(json_print *j, const char *key);
/* "error": {"name", "message", "offset"} */
void json_error(json_print *j, const ald_error *err);
void json_hex(json_print *j, const char *key, const uint8_t *data, size_t size);
/* An ald_value tree; binary values as hex, or as their size (longest_hex). */
void json_value(json_print *j, const char *key, const ald_value *value);
/* The last newline. */
void json_end(json_print *j);

#endif
