/* SPDX-License-Identifier: MIT */
/* The grammar of SPDX 2.3, annex D, by recursive descent; the lists of ids are generated (tools/card_tables). */
#include "card/spdx.h"

#include <card_tables.h>
#include <string.h>

#define DEPTH_LIMIT 16   /* of parentheses */
#define NEAREST_BYTES 48 /* of a word that a nearest id is looked for */

typedef struct expression {
    const char *at, *end;
    const char *word; /* the token in hand … */
    size_t word_size; /* … 0 at the end */
    card_spdx *out;
    int id_count;
    ald_error *err;
} expression;

const char *card_spdx_version(void)
{
    return SPDX_LIST_VERSION;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static int is_id_char(char c)
{
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.';
}

/* Below, equal to or above 0, without regard to case. */
static int compare(const char *word, size_t size, const char *id)
{
    for (size_t i = 0; i < size; i++) {
        int difference = (unsigned char)lower(word[i]) - (unsigned char)lower(id[i]);
        if (difference != 0 || id[i] == '\0') {
            return difference;
        }
    }
    return id[size] == '\0' ? 0 : -1;
}

static const spdx_row *find(const spdx_row *rows, size_t count, const char *word, size_t size)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        int order = compare(word, size, rows[middle].id);
        if (order == 0) {
            return &rows[middle];
        }
        if (order < 0) {
            count = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

#define FIND(rows, word, size) find(rows, sizeof(rows) / sizeof((rows)[0]), word, size)

/* ---- the nearest id */

/* Letters and digits alone, in lower case: what people forget are hyphens. */
static size_t squeeze(const char *text, size_t size, char out[NEAREST_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < size && used < NEAREST_BYTES; i++) {
        char c = lower(text[i]);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            out[used++] = c;
        }
    }
    return used;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

static size_t distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
    size_t row[NEAREST_BYTES + 1];
    for (size_t j = 0; j <= b_size; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t above = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[b_size];
}

static const char *nearest(const spdx_row *rows, size_t count, const char *word, size_t size)
{
    char wanted[NEAREST_BYTES];
    char found[NEAREST_BYTES];
    size_t wanted_size = squeeze(word, size, wanted);
    size_t best = wanted_size / 3 + 1;
    const char *id = NULL;
    for (size_t i = 0; i < count && wanted_size > 1; i++) {
        size_t d =
            distance(wanted, wanted_size, found, squeeze(rows[i].id, strlen(rows[i].id), found));
        if (d < best && !rows[i].is_deprecated) {
            best = d;
            id = rows[i].id;
        }
    }
    return id;
}

/* ---- tokens */

static void next(expression *e)
{
    while (e->at < e->end && (*e->at == ' ' || *e->at == '\t')) {
        e->at++;
    }
    e->word = e->at;
    if (e->at < e->end && (*e->at == '(' || *e->at == ')')) {
        e->at++;
    } else {
        while (e->at < e->end && *e->at != ' ' && *e->at != '\t' && *e->at != '(' &&
               *e->at != ')') {
            e->at++;
        }
    }
    e->word_size = (size_t)(e->at - e->word);
}

/* An operator is in capitals, or all in small letters. */
static int is_operator(const expression *e, const char *name)
{
    size_t size = strlen(name);
    if (e->word_size != size || compare(e->word, size, name) != 0) {
        return 0;
    }
    for (size_t i = 1; i < size; i++) {
        if ((e->word[i] >= 'a') != (e->word[0] >= 'a')) {
            return 0;
        }
    }
    return 1;
}

static int is_any_operator(const expression *e)
{
    return is_operator(e, "AND") || is_operator(e, "OR") || is_operator(e, "WITH");
}

static ald_status put(expression *e, const char *text, size_t size)
{
    card_spdx *out = e->out;
    if (size >= sizeof(out->text) - out->size) {
        return ald_error_set(e->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "a license expression is longer than %d bytes", CARD_SPDX_BYTES - 1);
    }
    memcpy(out->text + out->size, text, size);
    out->size += size;
    out->text[out->size] = '\0';
    return ALD_OK;
}

static ald_status put_text(expression *e, const char *text)
{
    return put(e, text, strlen(text));
}

/* ---- words */

static int shown(size_t size)
{
    return size < 60 ? (int)size : 60;
}

static ald_status unknown(const expression *e, const char *what, const spdx_row *rows, size_t count)
{
    const char *near = e->err != NULL ? nearest(rows, count, e->word, e->word_size) : NULL;
    if (near != NULL) {
        return ald_error_set(e->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "'%.*s' is no SPDX %s\nthe nearest is %s; a license that is not in "
                             "the list is LicenseRef-NAME",
                             shown(e->word_size), e->word, what, near);
    }
    return ald_error_set(e->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "'%.*s' is no SPDX %s\nspdx.org/licenses has them; a license that is not "
                         "in the list is LicenseRef-NAME",
                         shown(e->word_size), e->word, what);
}

static ald_status missing(const expression *e, const char *what)
{
    if (e->word_size == 0) {
        return ald_error_set(e->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "a license expression ends where %s is expected", what);
    }
    return ald_error_set(e->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "a license expression has '%.*s' where %s is expected",
                         shown(e->word_size), e->word, what);
}

/* LicenseRef-NAME or DocumentRef-NAME:LicenseRef-NAME, spelled exactly. */
static int is_reference(const char *word, size_t size, const char *kind)
{
    static const char document[] = "DocumentRef-";
    size_t kind_size = strlen(kind);
    if (size > sizeof(document) && memcmp(word, document, sizeof(document) - 1) == 0) {
        size_t i = sizeof(document) - 1;
        while (i < size && is_id_char(word[i])) {
            i++;
        }
        if (i == sizeof(document) - 1 || i == size || word[i] != ':') {
            return 0;
        }
        word += i + 1;
        size -= i + 1;
    }
    if (size <= kind_size || memcmp(word, kind, kind_size) != 0) {
        return 0;
    }
    for (size_t i = kind_size; i < size; i++) {
        if (!is_id_char(word[i])) {
            return 0;
        }
    }
    return 1;
}

static ald_status note_listed(expression *e, const spdx_row *row, int has_plus)
{
    if (row->is_deprecated && e->out->deprecated == NULL) {
        e->out->deprecated = row->id;
    }
    ald_status status = put_text(e, row->id);
    return status == ALD_OK && has_plus ? put_text(e, "+") : status;
}

static ald_status read_license(expression *e)
{
    const spdx_row *row;
    size_t size = e->word_size;
    if (size == 0 || is_any_operator(e) || *e->word == '(' || *e->word == ')') {
        return missing(e, "a license id");
    }
    e->id_count++;
    if (is_reference(e->word, size, "LicenseRef-")) {
        e->id_count++; /* no id of the list */
        return put(e, e->word, size);
    }
    row = FIND(spdx_licenses, e->word, size); /* some ids end in a plus */
    if (row == NULL && e->word[size - 1] == '+') {
        row = FIND(spdx_licenses, e->word, size - 1);
        e->id_count += row != NULL;
        size--;
    }
    return row != NULL ? note_listed(e, row, size < e->word_size)
                       : unknown(e, "license id", spdx_licenses,
                                 sizeof(spdx_licenses) / sizeof(spdx_licenses[0]));
}

static ald_status read_exception(expression *e)
{
    const spdx_row *row = FIND(spdx_exceptions, e->word, e->word_size);
    e->id_count++;
    if (row != NULL) {
        return note_listed(e, row, 0);
    }
    if (is_reference(e->word, e->word_size, "AdditionRef-")) {
        return put(e, e->word, e->word_size);
    }
    return e->word_size == 0 || is_any_operator(e) || *e->word == '(' || *e->word == ')'
               ? missing(e, "an exception id")
               : unknown(e, "exception id", spdx_exceptions,
                         sizeof(spdx_exceptions) / sizeof(spdx_exceptions[0]));
}

/* ---- grammar */

static ald_status read_any(expression *e, int depth);

/* ( … ), or a license and what is WITH it. */
static ald_status read_term(expression *e, int depth)
{
    ald_status status;
    if (e->word_size == 1 && *e->word == '(') {
        if (depth >= DEPTH_LIMIT) {
            return ald_error_set(e->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                 "a license expression nests deeper than %d", DEPTH_LIMIT);
        }
        next(e);
        status = put_text(e, "(");
        if (status == ALD_OK) {
            status = read_any(e, depth + 1);
        }
        if (status == ALD_OK && (e->word_size != 1 || *e->word != ')')) {
            status = missing(e, "a closing parenthesis");
        }
        next(e);
        return status == ALD_OK ? put_text(e, ")") : status;
    }
    status = read_license(e);
    next(e);
    if (status == ALD_OK && is_operator(e, "WITH")) {
        next(e);
        status = put_text(e, " WITH ");
        if (status == ALD_OK) {
            status = read_exception(e);
        }
        next(e);
    }
    return status;
}

static ald_status read_any(expression *e, int depth)
{
    ald_status status = read_term(e, depth);
    while (status == ALD_OK && (is_operator(e, "AND") || is_operator(e, "OR"))) {
        status = put_text(e, is_operator(e, "AND") ? " AND " : " OR ");
        next(e);
        if (status == ALD_OK) {
            status = read_term(e, depth);
        }
    }
    return status;
}

ald_status card_spdx_read(const char *text, size_t size, card_spdx *out, ald_error *err)
{
    expression e = {text, text + size, NULL, 0, out, 0, err};
    memset(out, 0, sizeof(*out));
    next(&e);
    if ((e.word_size == 4 && memcmp(e.word, "NONE", 4) == 0) ||
        (e.word_size == 11 && memcmp(e.word, "NOASSERTION", 11) == 0)) {
        ald_status status = put(&e, e.word, e.word_size);
        next(&e);
        return status == ALD_OK && e.word_size > 0 ? missing(&e, "the end") : status;
    }
    ald_status status = read_any(&e, 0);
    if (status == ALD_OK && e.word_size > 0) {
        status = missing(&e, "AND, OR or the end");
    }
    out->is_listed_id = status == ALD_OK && e.id_count == 1;
    return status;
}
