/* SPDX-License-Identifier: MIT */
/* Writing puts a line break before the text and one behind it, reading takes one off each end: so the text of a card that
 * a person wrote begins with its first line, and any description comes back as it was. */
#include "card/card_readme.h"

#include <stdio.h>
#include <string.h>

#include "card/card_license.h"
#include "card/card_value.h"
#include "card/card_yaml.h"
#include "interchange/text/text_utf8.h"

typedef struct readme_parts {
    const char *front, *body;
    size_t front_size, body_size;
    size_t front_line; /* the number of its first line; 0: there is no front matter */
    uint8_t has_crlf;
} readme_parts;

typedef struct readme_reading {
    const card_notes *notes;
    const ald_value *front; /* what its YAML says */
    ald_value *metadata;
    ald_error *err;
} readme_reading;

static const char *const text_keys[] = {"name",
                                        "pretty_name",
                                        "version",
                                        "description",
                                        "citation",
                                        "created_at",
                                        "license",
                                        "license_name",
                                        "license_link",
                                        "license_details",
                                        "language",
                                        "language_details",
                                        "tags",
                                        "intended_uses",
                                        "limitations",
                                        "sources",
                                        "task_ids",
                                        "task_categories",
                                        "size_categories",
                                        "annotations_creators",
                                        "source_datasets",
                                        "language_creators",
                                        "multilinguality",
                                        "paperswithcode_id",
                                        NULL};
static const char *const list_keys[] = {"tags", "intended_uses", "limitations", NULL};
static const char *const string_keys[] = {"version", "citation", "created_at", NULL};
static const char *const fact_keys[] = {"sha256", "ald", "query_pub_key", "query_protocol", NULL};

static int is_key(const char *const *keys, const char *key)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (strcmp(keys[i], key) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_text_key(const char *key)
{
    return is_key(text_keys, key);
}

int card_is_fact(const char *key)
{
    return is_key(fact_keys, key);
}

static void say(const card_notes *notes, const char *text)
{
    if (notes != NULL && notes->say != NULL) {
        notes->say(notes->ctx, text);
    }
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a card");
}

/* ---- the two parts */

static size_t line_end(const char *text, size_t size, size_t at)
{
    const char *found = at < size ? memchr(text + at, '\n', size - at) : NULL;
    return found != NULL ? (size_t)(found - text) + 1 : size;
}

/* Whether the line at `at`, which ends at `end`, is three hyphens and blanks. */
static int is_fence(const char *text, size_t at, size_t end)
{
    if (end - at < 3 || memcmp(text + at, "---", 3) != 0) {
        return 0;
    }
    for (size_t i = at + 3; i < end; i++) {
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') {
            return 0;
        }
    }
    return 1;
}

static int is_blank(const char *text, size_t at, size_t end)
{
    while (at < end &&
           (text[at] == ' ' || text[at] == '\t' || text[at] == '\r' || text[at] == '\n')) {
        at++;
    }
    return at == end;
}

/* Nothing but the breaks of lines is taken off. */
static void trim_body(readme_parts *p)
{
    size_t first = p->body_size > 0 && p->body[0] == '\n' ? 1 : 0;
    if (p->has_crlf && p->body_size > 1 && memcmp(p->body, "\r\n", 2) == 0) {
        first = 2;
    }
    p->body += first;
    p->body_size -= first;
    if (p->body_size == 0) {
        p->body = NULL;
        return;
    }
    if (p->body[p->body_size - 1] == '\n') {
        p->body_size--;
        p->body_size -= p->has_crlf && p->body_size > 0 && p->body[p->body_size - 1] == '\r';
    }
}

static ald_status split(const char *text, size_t size, readme_parts *out, ald_error *err)
{
    size_t at = size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    size_t start = at;
    size_t line = 1;
    memset(out, 0, sizeof(*out));
    while (at < size && is_blank(text, at, line_end(text, size, at))) {
        at = line_end(text, size, at);
        line++;
    }
    size_t end = line_end(text, size, at);
    if (at >= size || !is_fence(text, at, end)) {
        out->body = text + start;
        out->body_size = size - start;
        trim_body(out);
        return ALD_OK;
    }
    out->has_crlf = end - at > 1 && text[end - 2] == '\r';
    out->front = text + end;
    out->front_line = line + 1;
    for (at = end; at < size; at = end) {
        end = line_end(text, size, at);
        if (is_fence(text, at, end)) {
            out->front_size = (size_t)(text + at - out->front);
            out->body = text + end;
            out->body_size = size - end;
            trim_body(out);
            return ALD_OK;
        }
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "front matter begins in line %zu and does not end\na line of --- ends it",
                         line);
}

static ald_status check_text(const char *text, size_t size, ald_error *err)
{
    size_t bad = ald__text_utf8_check((const uint8_t *)text, size);
    const char *nul = size > 0 ? memchr(text, '\0', size) : NULL;
    if (bad < size) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, bad, "a card is UTF-8, this is not");
    }
    if (nul != NULL) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, (uint64_t)(nul - text),
                             "a card is text, and has no NUL");
    }
    return ALD_OK;
}

/* ---- keys of the front matter */

/* The entry of `key` in the metadata, made if need be; NULL: no memory. */
static ald_value *entry(const readme_reading *r, const char *key)
{
    return ald_value_put(r->metadata, key, strlen(key));
}

static ald_status set_text(const readme_reading *r, const char *key, const char *text, size_t size)
{
    ald_value *to = entry(r, key);
    return to != NULL ? ald_value_set_string(to, text, size, r->err) : no_memory(r->err);
}

/* Text stays, nothing drops the key, and all else is refused. */
static ald_status take_string(const readme_reading *r, const char *key, const ald_value *value)
{
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (ald_value_get_type(value) == ALD_VALUE_NIL) {
        ald_value_remove(r->metadata, key);
        return ALD_OK;
    }
    return card_is_string(value) ? set_text(r, key, text, size)
                                 : ald_error_set(r->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                                 "'%s' of the front matter must be a text", key);
}

/* `tags: birds` is a list of one. */
static ald_status take_list(const readme_reading *r, const char *key, const ald_value *value)
{
    ald_value *to = entry(r, key);
    if (to == NULL) {
        return no_memory(r->err);
    }
    if (!card_is_string(value)) {
        return ald_value_assign(to, value, r->err); /* whoever writes it checks the items */
    }
    ald_value_set_array(to);
    ald_value *item = ald_value_append(to);
    return item != NULL ? ald_value_assign(item, value, r->err) : no_memory(r->err);
}

static ald_status take_source(const readme_reading *r, ald_value *to, const ald_value *source)
{
    size_t size = 0;
    const char *text = card_string(source, &size);
    if (!card_is_string(source)) {
        return ald_value_assign(to, source, r->err);
    }
    int is_url = size > 7 && (memcmp(text, "http://", 7) == 0 || memcmp(text, "https:/", 7) == 0);
    const char *key = is_url ? "url" : "name";
    ald_value_set_map(to);
    ald_value *only = ald_value_put(to, key, strlen(key));
    return only != NULL ? ald_value_set_string(only, text, size, r->err) : no_memory(r->err);
}

/* A source that is only a text is a source's name, or its address. */
static ald_status take_sources(const readme_reading *r, const ald_value *value)
{
    ald_value *to = entry(r, "sources");
    if (to == NULL) {
        return no_memory(r->err);
    }
    ald_status status = ALD_OK;
    if (!card_is_array(value) && !card_is_string(value)) {
        return ald_value_assign(to, value, r->err);
    }
    size_t count = card_is_string(value) ? 1 : ald_value_get_count(value);
    ald_value_set_array(to);
    for (size_t i = 0; i < count && status == ALD_OK; i++) {
        ald_value *item = ald_value_append(to);
        status = item == NULL
                     ? no_memory(r->err)
                     : take_source(r, item,
                                   card_is_string(value) ? value : ald_value_get_item(value, i));
    }
    return status;
}

/* ---- the license */

typedef struct license_list {
    char text[2 * CARD_SPDX_BYTES];
    size_t size;
    int uses_name; /* license_name is in it */
} license_list;

static void note_license(const readme_reading *r, const char *slug, size_t size,
                         const card_spdx *made)
{
    char text[240];
    snprintf(text, sizeof(text), "the license '%.*s' is no SPDX expression, and becomes %.100s",
             size < 80 ? (int)size : 80, slug, made->text);
    say(r->notes, text);
}

/* `license: other` is what license_name says. */
static int license_of(const readme_reading *r, const ald_value *slug, license_list *list,
                      card_spdx *out)
{
    size_t size = 0;
    size_t name_size = 0;
    const char *text = card_string(slug, &size);
    const char *name = card_find_string(r->front, "license_name", &name_size);
    if (name_size > 0 && card_is_text(text, size, "other")) {
        if (card_spdx_read(name, name_size, out, NULL) == ALD_OK) {
            list->uses_name = 1;
            return 1;
        }
        card_license_reference(name, name_size, out);
        return 1;
    }
    if (!card_license_from_slug(text, size, out)) {
        note_license(r, text, size, out);
    }
    return 1;
}

static int has_operator(const card_spdx *license)
{
    return strstr(license->text, " OR ") != NULL || strstr(license->text, " AND ") != NULL;
}

/* Several licenses all hold. */
static ald_status add_license(const readme_reading *r, const ald_value *slug, size_t count,
                              license_list *list)
{
    card_spdx found;
    if (!card_is_string(slug)) {
        return ald_error_set(r->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "'license' of the front matter must be a text, or a list of texts");
    }
    (void)license_of(r, slug, list, &found);
    int is_nested = count > 1 && has_operator(&found);
    int n = snprintf(list->text + list->size, sizeof(list->text) - list->size, "%s%s%s%s",
                     list->size > 0 ? " AND " : "", is_nested ? "(" : "", found.text,
                     is_nested ? ")" : "");
    if (n < 0 || list->size + (size_t)n >= CARD_SPDX_BYTES) {
        return ald_error_set(r->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "'license' of the front matter is too long");
    }
    list->size += (size_t)n;
    return ALD_OK;
}

static ald_status take_license(const readme_reading *r, const ald_value *value)
{
    license_list list;
    memset(&list, 0, sizeof(list));
    size_t count = card_is_array(value) ? ald_value_get_count(value) : 1;
    ald_status status = ALD_OK;
    if (count == 0 || ald_value_get_type(value) == ALD_VALUE_NIL) {
        ald_value_remove(r->metadata, "license");
        return ALD_OK;
    }
    for (size_t i = 0; i < count && status == ALD_OK; i++) {
        status = add_license(r, card_is_array(value) ? ald_value_get_item(value, i) : value, count,
                             &list);
    }
    if (status == ALD_OK) {
        status = set_text(r, "license", list.text, list.size);
    }
    if (status == ALD_OK && list.uses_name) {
        ald_value_remove(r->metadata, "license_name");
    }
    return status;
}

/* Whether license_name says nothing that `license` does not. */
static int is_name_used(const readme_reading *r)
{
    card_spdx found;
    size_t size = 0;
    size_t name_size = 0;
    const ald_value *license = ald_value_find(r->front, "license");
    const char *name = card_find_string(r->front, "license_name", &name_size);
    int is_other = 0;
    for (size_t i = 0; card_is_array(license) && i < card_count(license); i++) {
        const char *item = card_string(ald_value_get_item(license, i), &size);
        is_other |= card_is_text(item, size, "other");
    }
    const char *text = card_string(license, &size);
    is_other |= card_is_text(text, size, "other");
    return is_other && name_size > 0 && card_spdx_read(name, name_size, &found, NULL) == ALD_OK;
}

/* ---- reading */

/* A card with both means each of them; else pretty_name is the name. */
static int is_literal(const ald_value *front)
{
    return ald_value_find(front, "name") != NULL && ald_value_find(front, "pretty_name") != NULL;
}

static ald_status take_key(const readme_reading *r, const char *key, const ald_value *value,
                           int has_body)
{
    char text[160];
    if (card_is_fact(key)) {
        snprintf(text, sizeof(text), "'%s' of the front matter is left out: it speaks of a file",
                 key);
        say(r->notes, text);
        return ALD_OK;
    }
    if (strcmp(key, "description") == 0 && has_body) {
        say(r->notes, "'description' of the front matter is left out: the text below it is the "
                      "description");
        return ALD_OK;
    }
    if (strcmp(key, "pretty_name") == 0 && !is_literal(r->front)) {
        return take_string(r, "name", value);
    }
    if (strcmp(key, "name") == 0 || strcmp(key, "description") == 0 || is_key(string_keys, key)) {
        return take_string(r, key, value);
    }
    if (is_key(list_keys, key)) {
        return take_list(r, key, value);
    }
    if (strcmp(key, "sources") == 0) {
        return take_sources(r, value);
    }
    if (strcmp(key, "license") == 0) {
        return take_license(r, value);
    }
    if (strcmp(key, "license_name") == 0 && is_name_used(r)) {
        return ALD_OK;
    }
    ald_value *to = entry(r, key);
    return to != NULL ? ald_value_assign(to, value, r->err) : no_memory(r->err);
}

static ald_status take_keys(const readme_reading *r, const readme_parts *parts)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; i < ald_value_get_count(r->front) && status == ALD_OK; i++) {
        size_t size = 0;
        const char *key = ald_value_get_key(r->front, i, &size);
        if (strlen(key) != size) {
            status = ald_error_set(r->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                   "a key of the front matter has a NUL");
        } else {
            status = take_key(r, key, ald_value_get_item(r->front, i), parts->body != NULL);
        }
    }
    return status == ALD_OK && parts->body != NULL
               ? set_text(r, "description", parts->body, parts->body_size)
               : status;
}

ald_status card_readme_read(const char *text, size_t size, const ald_host *host,
                            const card_notes *notes, ald_value *metadata, ald_error *err)
{
    readme_parts parts;
    ald_value *front = NULL;
    ald_status status = check_text(text, size, err);
    if (status == ALD_OK) {
        status = split(text, size, &parts, err);
    }
    if (status == ALD_OK) {
        status = ald_value_new(&host->alloc, &front, err);
    }
    if (status == ALD_OK) {
        const card_yaml_options options = {parts.front_line, is_text_key};
        ald_value_set_map(front);
        if (parts.front_size > 0) {
            status = card_yaml_read(parts.front, parts.front_size, &options, front, err);
        }
    }
    if (status == ALD_OK) {
        const readme_reading r = {notes, front, metadata, err};
        status = take_keys(&r, &parts);
    }
    ald_value_free(front);
    return status;
}
