/* SPDX-License-Identifier: MIT */
#include "cli/hash_list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/input.h"

#define DIGITS ((size_t)2 * ALD_CONTENT_HASH_BYTES)

void hash_list_clear(hash_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].path);
    }
    free(list->items);
    memset(list, 0, sizeof(*list));
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_digest(const char *text, uint8_t *digest)
{
    for (size_t i = 0; i < ALD_CONTENT_HASH_BYTES; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        digest[i] = (uint8_t)(high * 16 + low);
    }
    return 1;
}

/* In place; 0: a backslash before anything else. */
static int unescape(char *text)
{
    char *to = text;
    for (const char *p = text; *p != '\0'; p++) {
        if (*p != '\\') {
            *to++ = *p;
            continue;
        }
        p++;
        if (*p != '\\' && *p != 'n' && *p != 'r') {
            return 0;
        }
        *to++ = *p == 'n' ? '\n' : *p == 'r' ? '\r' : '\\';
    }
    *to = '\0';
    return 1;
}

/* 1: an entry; 0: no line of a list; -1: no memory. */
static int read_line(const char *line, size_t size, hash_entry *entry)
{
    int escaped = size > 0 && line[0] == '\\';
    line += escaped;
    size -= (size_t)escaped;
    if (size < DIGITS + 3 || memchr(line, '\0', size) != NULL ||
        !read_digest(line, entry->digest) || line[DIGITS] != ' ' ||
        (line[DIGITS + 1] != ' ' && line[DIGITS + 1] != '*')) {
        return 0;
    }
    entry->path = strndup(line + DIGITS + 2, size - DIGITS - 2);
    if (entry->path == NULL) {
        return -1;
    }
    if (escaped && !unescape(entry->path)) {
        free(entry->path);
        return 0;
    }
    return 1;
}

static ald_status add_line(hash_list *list, const char *line, size_t size, size_t number,
                           ald_error *err)
{
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 16 : 2 * list->cap;
        hash_entry *items = realloc(list->items, cap * sizeof(*items));
        if (items == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the list");
        }
        list->items = items;
        list->cap = cap;
    }
    int found = read_line(line, size, &list->items[list->count]);
    if (found < 0) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the list");
    }
    if (found == 0) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "line %zu is not a hash of 64 hexadecimal digits, two spaces and the "
                             "name of a file",
                             number);
    }
    list->count++;
    return ALD_OK;
}

ald_status hash_list_read(cli_env *env, const char *path, hash_list *out, ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    memset(out, 0, sizeof(*out));
    ald_status status = cli_read_file(env, path, &text, err);
    size_t number = 0;
    for (size_t at = 0; status == ALD_OK && at < text.size;) {
        const char *line = (const char *)text.data + at;
        const char *end = memchr(line, '\n', text.size - at);
        size_t size = end != NULL ? (size_t)(end - line) : text.size - at;
        at += size + 1;
        number++;
        size -= size > 0 && line[size - 1] == '\r';
        if (size > 0) {
            status = add_line(out, line, size, number, err);
        }
    }
    ald_buffer_clear(&text);
    if (status == ALD_OK && out->count == 0) {
        status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the list is empty");
    }
    return status;
}

void hash_list_print(const uint8_t digest[ALD_CONTENT_HASH_BYTES], const char *path)
{
    if (strpbrk(path, "\\\n\r") != NULL) {
        cli_print("\\", 1);
    }
    for (size_t i = 0; i < ALD_CONTENT_HASH_BYTES; i++) {
        cli_printf("%02x", digest[i]);
    }
    cli_print("  ", 2);
    for (const char *p = path; *p != '\0'; p++) {
        const char *text = *p == '\n' ? "\\n" : *p == '\r' ? "\\r" : *p == '\\' ? "\\\\" : NULL;
        cli_print(text != NULL ? text : p, text != NULL ? 2 : 1);
    }
    cli_print("\n", 1);
}
