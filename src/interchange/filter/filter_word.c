/* SPDX-License-Identifier: MIT */
/* Words of a condition. Operators need no space around them, so a plain word ends before one. */
#include "interchange/filter/filter.h"

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int is_operator(char c)
{
    return c == '=' || c == '!' || c == '<' || c == '>';
}

static int is_quote(char c)
{
    return c == '\'' || c == '"';
}

static ald_status quoted(const char *text, size_t size, size_t *pos, ald__filter_word *out,
                         ald_error *err)
{
    char quote = text[*pos];
    size_t at = *pos + 1;
    out->kind = ALD__WORD_QUOTED;
    out->quote = quote;
    out->text = text + at;
    while (at < size) {
        if (text[at] != quote) {
            at++;
        } else if (at + 1 < size && text[at + 1] == quote) {
            at += 2;
        } else {
            out->size = (size_t)(text + at - out->text);
            *pos = at + 1;
            return ALD_OK;
        }
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, *pos, "condition: a quote is not closed");
}

ald_status ald__filter_next(const char *text, size_t size, size_t *pos, ald__filter_word *out,
                            ald_error *err)
{
    size_t at = *pos;
    while (at < size && is_space(text[at]))
        at++;
    *pos = at;
    *out = (ald__filter_word){ALD__WORD_END, text + at, 0, at, 0};
    if (at == size)
        return ALD_OK;
    if (is_quote(text[at]))
        return quoted(text, size, pos, out, err);
    if (is_operator(text[at])) {
        out->kind = ALD__WORD_OPERATOR;
        at += at + 1 < size && is_operator(text[at + 1]) ? 2 : 1;
    } else {
        out->kind = ALD__WORD_PLAIN;
        while (at < size && !is_space(text[at]) && !is_operator(text[at]) && !is_quote(text[at]))
            at++;
    }
    out->size = at - *pos;
    *pos = at;
    return ALD_OK;
}
