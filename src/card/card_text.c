/* SPDX-License-Identifier: MIT */
#include "card/card_text.h"

#include <string.h>

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- semver */

/* A number without leading zeros, from `at`; 0: there is none. */
static size_t read_number(const char *text, size_t size, size_t at)
{
    size_t end = at;
    while (end < size && is_digit(text[end])) {
        end++;
    }
    return end > at && (text[at] != '0' || end == at + 1) ? end : 0;
}

/* Identifiers with dots between them, up to a plus; 0: one is empty, or has other characters. */
static size_t read_identifiers(const char *text, size_t size, size_t at)
{
    size_t run = 0;
    for (; at < size && text[at] != '+'; at++) {
        char c = text[at];
        if (c == '.') {
            if (run == 0) {
                return 0;
            }
            run = 0;
        } else if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-') {
            run++;
        } else {
            return 0;
        }
    }
    return run > 0 ? at : 0;
}

int card_text_is_semver(const char *text, size_t size)
{
    size_t at = 0;
    for (int part = 0; part < 3; part++) {
        at = read_number(text, size, at);
        if (at == 0 || (part < 2 && (at >= size || text[at++] != '.'))) {
            return 0;
        }
    }
    if (at < size && text[at] == '-') {
        at = read_identifiers(text, size, at + 1);
        if (at == 0) {
            return 0;
        }
    }
    if (at < size && text[at] == '+') {
        at = read_identifiers(text, size, at + 1);
    }
    return at == size;
}

/* ---- times */

/* In `form`, 0 is a digit and all else itself. */
static int has_form(const char *text, const char *form)
{
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == '0' ? !is_digit(text[i]) : text[i] != form[i]) {
            return 0;
        }
    }
    return 1;
}

static int two(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

static int is_date(const char *text)
{
    static const uint8_t days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!has_form(text, "0000-00-00")) {
        return 0;
    }
    int year = two(text) * 100 + two(text + 2);
    int month = two(text + 5);
    int day = two(text + 8);
    int is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day < 29 || is_leap);
}

int card_text_is_time(const char *text, size_t size)
{
    size_t at = 19;
    if (size < 10 || !is_date(text) || size == 10) {
        return size == 10 && is_date(text);
    }
    if (size < 20 || (text[10] != 'T' && text[10] != 't' && text[10] != ' ') ||
        !has_form(text + 11, "00:00:00") || two(text + 11) > 23 || two(text + 14) > 59 ||
        two(text + 17) > 60) {
        return 0;
    }
    if (text[at] == '.') {
        size_t start = ++at;
        while (at < size && is_digit(text[at])) {
            at++;
        }
        if (at == start) {
            return 0;
        }
    }
    if (at + 1 == size) {
        return text[at] == 'Z' || text[at] == 'z';
    }
    return at + 6 == size && (text[at] == '+' || text[at] == '-') &&
           has_form(text + at + 1, "00:00") && two(text + at + 1) < 24 && two(text + at + 4) < 60;
}

/* ---- Markdown */

ald_status card_text_put(ald_buffer *out, const char *text, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    return sink.write(sink.ctx, text, strlen(text), err);
}

/* What stands for a byte; NULL: itself. */
static const char *escape(char c, char room[3])
{
    static const char marks[] = "\\`*_{}[]()#+-.!|~>$";
    switch (c) {
    case '<':
        return "&lt;";
    case '&':
        return "&amp;";
    case '\n':
    case '\r':
        return " ";
    default:
        if (c == '\0' || strchr(marks, c) == NULL) {
            return NULL;
        }
        room[0] = '\\';
        room[1] = c;
        room[2] = '\0';
        return room;
    }
}

static int is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* In the middle of a word or a number these mark nothing. */
static int is_inside(const char *text, size_t size, size_t i)
{
    return text[i] != '\0' && strchr("-.+_", text[i]) != NULL && i > 0 && is_word(text[i - 1]) &&
           i + 1 < size && is_word(text[i + 1]);
}

ald_status card_text_markdown(ald_buffer *out, const char *text, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    size_t done = 0;
    ald_status status = ALD_OK;
    for (size_t i = 0; i < size && status == ALD_OK; i++) {
        char room[3];
        const char *instead = is_inside(text, size, i) ? NULL : escape(text[i], room);
        if (instead == NULL) {
            continue;
        }
        if (i > done) {
            status = sink.write(sink.ctx, text + done, i - done, err);
        }
        done = i + 1;
        status = status == ALD_OK ? card_text_put(out, instead, err) : status;
    }
    return status == ALD_OK && size > done ? sink.write(sink.ctx, text + done, size - done, err)
                                           : status;
}

ald_status card_text_quote(ald_buffer *out, const char *text, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    ald_status status = card_text_put(out, "> ", err);
    size_t done = 0;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r')) {
        size--;
    }
    for (size_t i = 0; i < size && status == ALD_OK; i++) {
        int is_break = text[i] == '\n' || text[i] == '\r';
        if (!is_break && text[i] != '<') {
            continue;
        }
        if (i > done) {
            status = sink.write(sink.ctx, text + done, i - done, err);
        }
        if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n') {
            i++;
        }
        done = i + 1;
        status = status == ALD_OK ? card_text_put(out, is_break ? "\n> " : "&lt;", err) : status;
    }
    if (status == ALD_OK && size > done) {
        status = sink.write(sink.ctx, text + done, size - done, err);
    }
    return status == ALD_OK ? card_text_put(out, "\n", err) : status;
}
