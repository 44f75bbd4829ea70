/* SPDX-License-Identifier: MIT */
/* The scanner keeps a depth and whether it is in a string; kinds of brackets need not match, since the element is parsed
 * later and the error is then named where it stands. */
#include "interchange/jsonl/json_element.h"

enum state {
    FIRST,
    BEHIND,
    BEFORE,
    ENDED
}; /* the search stands …; BEFORE: at the start of an element */

/* The byte at pos + ahead, or -1 at the end of the source. */
static ald_status peek(ald__json_records *r, size_t ahead, int *byte, ald_error *err)
{
    int grew = 1;
    while (r->pos + ahead >= r->size && grew) {
        ald_status status = ald__json_records_more(r, &grew, err);
        if (status != ALD_OK)
            return status;
    }
    *byte = grew ? r->data[r->pos + ahead] : -1;
    return ALD_OK;
}

static int is_space(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Moves to the next byte that is no white space, and gives it. */
static ald_status skip_space(ald__json_records *r, int *byte, ald_error *err)
{
    for (;;) {
        ald_status status = peek(r, 0, byte, err);
        if (status != ALD_OK || !is_space(*byte))
            return status;
        r->pos++;
    }
}

static ald_status broken(const ald__json_records *r, const char *what, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, r->start + r->pos, "%s", what);
}

static ald_status end_array(ald__json_records *r, ald_error *err)
{
    int c;
    ald_status status;
    r->pos++;
    r->state = ENDED;
    status = skip_space(r, &c, err);
    if (status == ALD_OK && c >= 0)
        return broken(r, "a value after the end of the array", err);
    return status;
}

/* From wherever the search stands to the start of the next element, or to the array's end. */
static ald_status find_start(ald__json_records *r, ald_error *err)
{
    int c = 0;
    ald_status status = ALD_OK;
    if (r->state == ENDED || r->state == BEFORE)
        return ALD_OK;
    status = skip_space(r, &c, err);
    if (status != ALD_OK)
        return status;
    if (c < 0)
        return broken(r, "the array does not end: ']' is missing", err);
    if (c == ']')
        return end_array(r, err);
    if (r->state == BEHIND) {
        if (c != ',')
            return broken(r, "expected ',' or ']' after an element of the array", err);
        r->pos++;
        status = skip_space(r, &c, err);
        if (status != ALD_OK)
            return status;
    }
    if (c < 0)
        return broken(r, "the array does not end: ']' is missing", err);
    if (c == ',' || c == ']')
        return broken(r, "a comma without an element", err);
    r->state = BEFORE;
    return ALD_OK;
}

/* Classes of bytes for the loop below. */
enum { PLAIN, QUOTE, ESCAPE, OPEN, CLOSE };
static const uint8_t byte_class[256] = {
    ['"'] = QUOTE, ['\\'] = ESCAPE, ['{'] = OPEN, ['['] = OPEN, ['}'] = CLOSE, [']'] = CLOSE};

typedef struct scan {
    size_t at; /* behind pos */
    size_t depth;
    int in_string, done;
} scan;

static void scan_window(const uint8_t *p, size_t n, scan *s)
{
    size_t i = s->at;
    while (i < n) {
        uint8_t kind = byte_class[p[i]];
        if (s->in_string) {
            if (kind == ESCAPE && i + 1 >= n)
                break; /* the escaped byte is not here yet */
            i += kind == ESCAPE ? 2 : 1;
            if (kind != QUOTE)
                continue;
            s->in_string = 0;
        } else {
            i++;
            if (kind == PLAIN || kind == ESCAPE)
                continue;
            if (kind == QUOTE)
                s->in_string = 1;
            else if (kind == OPEN)
                s->depth++;
            else
                s->depth -= s->depth > 0;
        }
        if (!s->in_string && s->depth == 0) {
            s->done = 1;
            break;
        }
    }
    s->at = i;
}

/* A number or a word: up to what cannot be in one. */
static ald_status scan_word(ald__json_records *r, size_t *size, ald_error *err)
{
    for (*size = 0;; (*size)++) {
        int c;
        ald_status status = peek(r, *size, &c, err);
        if (status != ALD_OK)
            return status;
        if (c < 0 || is_space(c) || c == ',' || byte_class[c] != PLAIN)
            break;
    }
    if (*size == 0)
        *size = 1; /* a stray bracket: handed on, to be refused */
    return ALD_OK;
}

static ald_status scan_element(ald__json_records *r, size_t *size, ald_error *err)
{
    scan s = {0, 0, 0, 0};
    int c, grew;
    ald_status status = peek(r, 0, &c, err);
    if (status != ALD_OK)
        return status;
    if (c != '{' && c != '[' && c != '"')
        return scan_word(r, size, err);
    for (;;) {
        scan_window(r->data + r->pos, r->size - r->pos, &s);
        if (s.done)
            break;
        status = ald__json_records_more(r, &grew, err);
        if (status != ALD_OK)
            return status;
        if (!grew)
            return broken(r,
                          s.in_string ? "a string in this element does not end"
                                      : "this element does not end",
                          err);
    }
    *size = s.at;
    return ALD_OK;
}

ald_status ald__json_element_next(ald__json_records *r, uint64_t limit, ald__json_record *out,
                                  ald_error *err)
{
    size_t size = 0;
    ald_status status = find_start(r, err);
    out->data = NULL;
    out->offset = r->start + r->pos;
    if (status != ALD_OK || r->state == ENDED || out->offset >= limit)
        return status;
    status = scan_element(r, &size, err);
    if (status != ALD_OK)
        return status;
    if (size > r->max_bytes)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, out->offset, "longer than %llu bytes",
                             (unsigned long long)r->max_bytes);
    out->data = r->data + r->pos;
    out->size = size;
    r->pos += size;
    r->state = BEHIND;
    return ALD_OK;
}
