/* SPDX-License-Identifier: MIT */
/* From the text of a condition to tests: a sum of products, so that a list with marks where a product begins is enough. */
#include "ald/schema.h"
#include "interchange/filter/filter.h"
#include "interchange/text/mem.h"

#define TEXT_BYTES_MAX ((size_t)64 << 10)
#define TESTS_MAX 1024u

typedef struct condition {
    const char *text;
    size_t size, pos;
    ald__filter_word word; /* the next one */
    const ald_host *host;
    ald_filter *filter;
    char *plain; /* a quoted word without its doubled quotes; as long as the text */
    ald_error *err;
} condition;

static int printable(size_t size)
{
    return (int)(size < 80 ? size : 80);
}

static ald_status advance(condition *c)
{
    return ald__filter_next(c->text, c->size, &c->pos, &c->word, c->err);
}

static ald_status expected(const condition *c, const char *what)
{
    if (c->word.kind == ALD__WORD_END)
        return ald_error_set(c->err, ALD_E_INVALID_ARG, c->word.offset,
                             "condition: expected %s, found its end", what);
    return ald_error_set(c->err, ALD_E_INVALID_ARG, c->word.offset,
                         "condition: expected %s, found '%.*s'", what, printable(c->word.size),
                         c->word.text);
}

/* `key` is in lower case. */
static int is_key_word(const ald__filter_word *word, const char *key)
{
    size_t size = strlen(key);
    if (word->kind != ALD__WORD_PLAIN || word->size != size)
        return 0;
    for (size_t i = 0; i < size; i++) {
        char c = word->text[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != key[i])
            return 0;
    }
    return 1;
}

static int is_any_key_word(const ald__filter_word *word)
{
    return is_key_word(word, "and") || is_key_word(word, "or") || is_key_word(word, "is") ||
           is_key_word(word, "not") || is_key_word(word, "null");
}

/* A column or a value: the word as it is meant. */
static ald_status take_name(condition *c, const char *what, const char **text, size_t *size,
                            size_t *offset)
{
    const ald__filter_word *w = &c->word;
    int is_name =
        w->kind == ALD__WORD_QUOTED || (w->kind == ALD__WORD_PLAIN && !is_any_key_word(w));
    if (!is_name && is_key_word(w, "null"))
        return ald_error_set(
            c->err, ALD_E_INVALID_ARG, w->offset,
            "condition: nothing compares with null; test `is null` or `is not null`");
    if (!is_name)
        return expected(c, what);
    *text = w->text;
    *size = w->size;
    *offset = w->offset;
    if (w->kind == ALD__WORD_QUOTED) {
        size_t used = 0;
        for (size_t i = 0; i < w->size; i++) {
            c->plain[used++] = w->text[i];
            i += w->text[i] == w->quote;
        }
        *text = c->plain;
        *size = used;
    }
    return advance(c);
}

static ald_status find_column(condition *c, ald__filter_test *test)
{
    const char *name = NULL;
    size_t size = 0, offset = 0;
    int64_t found = -1;
    const struct ArrowSchema *schema = &c->filter->schema;
    ald_status status = take_name(c, "a column", &name, &size, &offset);
    if (status != ALD_OK)
        return status;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *other = schema->children[i]->name;
        if (other == NULL || strlen(other) != size || memcmp(other, name, size) != 0)
            continue;
        if (found >= 0)
            return ald_error_set(c->err, ALD_E_INVALID_ARG, offset,
                                 "condition: several columns are named '%s'", other);
        found = i;
    }
    if (found < 0 && size > 0 && name[0] == '(')
        return ald_error_set(c->err, ALD_E_INVALID_ARG, offset,
                             "condition: brackets are not known; `and` binds tighter than `or`");
    if (found < 0)
        return ald_error_set(c->err, ALD_E_INVALID_ARG, offset,
                             "condition: there is no column '%.*s'", printable(size), name);
    test->column = (size_t)found;
    return ald__view_init(&test->view, schema->children[found], &c->filter->alloc, c->err);
}

static ald_status take_is(condition *c, ald__filter_test *test)
{
    test->op = ALD__FILTER_NULL;
    ald_status status = advance(c);
    if (status == ALD_OK && is_key_word(&c->word, "not")) {
        test->op = ALD__FILTER_NOT_NULL;
        status = advance(c);
    }
    if (status == ALD_OK && !is_key_word(&c->word, "null"))
        status = expected(c, "null");
    return status == ALD_OK ? advance(c) : status;
}

static ald_status take_operator(condition *c, ald__filter_test *test)
{
    static const struct {
        char text[4];
        ald__filter_op op;
    } operators[] = {{"=", ALD__FILTER_EQUAL},      {"==", ALD__FILTER_EQUAL},
                     {"!=", ALD__FILTER_NOT_EQUAL}, {"<>", ALD__FILTER_NOT_EQUAL},
                     {"<", ALD__FILTER_LESS},       {"<=", ALD__FILTER_LESS_EQUAL},
                     {">", ALD__FILTER_GREATER},    {">=", ALD__FILTER_GREATER_EQUAL}};
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        if (c->word.kind == ALD__WORD_OPERATOR && c->word.size == strlen(operators[i].text) &&
            memcmp(c->word.text, operators[i].text, c->word.size) == 0) {
            test->op = operators[i].op;
            return advance(c);
        }
    }
    return expected(c, "one of = != < <= > >= or `is null`");
}

static ald_status take_value(condition *c, ald__filter_test *test)
{
    const char *text = NULL;
    size_t size = 0, offset = 0;
    ald_status status = take_name(c, "a value", &text, &size, &offset);
    if (status != ALD_OK)
        return status;
    return ald__filter_value(test, c->filter->schema.children[test->column], &c->filter->alloc,
                             text, size, offset, c->err);
}

static ald_status add_test(condition *c, int starts_term, ald__filter_test **out)
{
    ald_filter *f = c->filter;
    void *tests = f->tests;
    size_t bytes = f->test_capacity * sizeof *f->tests;
    if (f->test_count == TESTS_MAX)
        return ald_error_set(c->err, ALD_E_LIMIT_EXCEEDED, c->word.offset,
                             "condition: more than %u tests", TESTS_MAX);
    if (f->test_count == f->test_capacity) {
        size_t capacity = f->test_capacity == 0 ? 4 : 2 * f->test_capacity;
        size_t want = capacity * sizeof *f->tests;
        void *grown = tests == NULL ? f->alloc.alloc(f->alloc.ctx, want)
                                    : f->alloc.resize(f->alloc.ctx, tests, bytes, want);
        if (grown == NULL)
            return ald__text_no_memory(c->err, want);
        f->tests = grown;
        f->test_capacity = capacity;
    }
    *out = &f->tests[f->test_count++];
    **out = (ald__filter_test){.starts_term = (uint8_t)starts_term};
    return ALD_OK;
}

static ald_status take_test(condition *c, int starts_term)
{
    ald__filter_test *test = NULL;
    ald_status status = add_test(c, starts_term, &test);
    if (status == ALD_OK)
        status = find_column(c, test);
    if (status == ALD_OK && is_key_word(&c->word, "is"))
        return take_is(c, test);
    if (status == ALD_OK)
        status = take_operator(c, test);
    return status == ALD_OK ? take_value(c, test) : status;
}

static ald_status take_all(condition *c)
{
    ald_status status = advance(c);
    int starts_term = 1;
    while (status == ALD_OK) {
        status = take_test(c, starts_term);
        if (status != ALD_OK || c->word.kind == ALD__WORD_END)
            return status;
        starts_term = is_key_word(&c->word, "or");
        if (!starts_term && !is_key_word(&c->word, "and"))
            return expected(c, "`and` or `or`");
        status = advance(c);
    }
    return status;
}

ald_status ald_filter_new(const char *text, size_t size, const struct ArrowSchema *schema,
                          const ald_host *host, ald_filter **out, ald_error *err)
{
    condition c = {.text = text, .size = size, .host = host, .err = err};
    *out = NULL;
    if (size > TEXT_BYTES_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "condition: more than 64 KiB of text");
    c.filter = ald__text_alloc(&host->alloc, 1, sizeof *c.filter, err);
    c.plain = ald__text_alloc(&host->alloc, size, 1, err);
    ald_status status = c.filter == NULL || c.plain == NULL ? ALD_E_NOMEM : ALD_OK;
    if (status == ALD_OK) {
        c.filter->alloc = host->alloc;
        status = ald_schema_copy(host, schema, &c.filter->schema, err);
    }
    if (status == ALD_OK)
        status = take_all(&c);
    ald__text_free(&host->alloc, c.plain, size, 1);
    if (status != ALD_OK && c.filter != NULL && c.filter->schema.release == NULL) {
        ald__text_free(&host->alloc, c.filter, 1, sizeof *c.filter);
    } else if (status != ALD_OK) {
        ald_filter_free(c.filter);
    } else {
        *out = c.filter;
    }
    return status;
}

void ald_filter_columns(const ald_filter *filter, uint8_t *columns)
{
    for (size_t i = 0; i < filter->test_count; i++)
        columns[filter->tests[i].column] = 1;
}

void ald_filter_free(ald_filter *filter)
{
    if (filter == NULL)
        return;
    ald_allocator alloc = filter->alloc;
    for (size_t i = 0; i < filter->test_count; i++) {
        ald__view_clear(&filter->tests[i].view, &alloc);
        ald__column_clear(&filter->tests[i].value);
    }
    if (filter->tests != NULL)
        alloc.release(alloc.ctx, filter->tests, filter->test_capacity * sizeof *filter->tests);
    if (filter->schema.release != NULL)
        filter->schema.release(&filter->schema);
    ald__text_free(&alloc, filter, 1, sizeof *filter);
}
