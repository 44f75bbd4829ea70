/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "card/card_scalar.h"
#include "card/card_yaml.h"
#include "interchange/text/base64.h"

#define ANCHOR_LIMIT 1024

typedef struct anchor {
    struct anchor *older;
    const ald_value *value;
    size_t value_count, byte_count; /* what an alias adds */
    unsigned height;                /* levels below it */
    char name[];
} anchor;

typedef struct yaml_reading {
    yaml_parser_t parser;
    yaml_event_t event; /* in hand */
    const card_yaml_options *options;
    anchor *anchors; /* the newest first: a name may be given again */
    size_t anchor_count, value_count, byte_count;
    unsigned deepest; /* level that was reached in the node at hand */
    ald_error *err;
} yaml_reading;

/* ---- errors */

static ald_status fail_at(const yaml_reading *r, ald_status status, const yaml_mark_t *mark,
                          const char *what)
{
    return ald_error_set(r->err, status, ALD_NO_OFFSET, "YAML: %s in line %zu, column %zu", what,
                         mark->line + r->options->first_line, mark->column + 1);
}

static ald_status fail_here(const yaml_reading *r, ald_status status, const char *what)
{
    return fail_at(r, status, &r->event.start_mark, what);
}

static ald_status no_memory(const yaml_reading *r)
{
    return ald_error_set(r->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for YAML");
}

static ald_status fail_parser(const yaml_reading *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_MEMORY_ERROR) {
        return no_memory(r);
    }
    return fail_at(r, ALD_E_INVALID_FORMAT,
                   p->error == YAML_READER_ERROR ? &p->mark : &p->problem_mark,
                   p->problem != NULL ? p->problem : "a syntax error");
}

/* ---- limits */

static ald_status count_values(yaml_reading *r, size_t values, size_t bytes)
{
    if (values > CARD_YAML_VALUES - r->value_count) {
        return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 65,536 values");
    }
    if (bytes > CARD_YAML_BYTES - r->byte_count) {
        return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 8 MiB of text");
    }
    r->value_count += values;
    r->byte_count += bytes;
    return ALD_OK;
}

/* ---- events */

static ald_status pull(yaml_reading *r)
{
    yaml_event_delete(&r->event);
    memset(&r->event, 0, sizeof(r->event));
    return yaml_parser_parse(&r->parser, &r->event) ? ALD_OK : fail_parser(r);
}

static ald_status keep_anchor(yaml_reading *r, const char *name, const ald_value *value,
                              size_t value_count, size_t byte_count, unsigned height)
{
    size_t size = strlen(name) + 1;
    if (++r->anchor_count > ANCHOR_LIMIT) {
        return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 1,024 anchors");
    }
    anchor *a = malloc(sizeof(*a) + size);
    if (a == NULL) {
        return no_memory(r);
    }
    a->older = r->anchors;
    a->value = value;
    a->value_count = value_count;
    a->byte_count = byte_count;
    a->height = height;
    memcpy(a->name, name, size);
    r->anchors = a;
    return ALD_OK;
}

/* A value is an anchor's only when it is complete, so an alias cannot stand inside of what it stands for. */
static ald_status read_alias(yaml_reading *r, ald_value *into, unsigned depth)
{
    const char *name = (const char *)r->event.data.alias.anchor;
    for (const anchor *a = r->anchors; a != NULL; a = a->older) {
        if (strcmp(a->name, name) != 0) {
            continue;
        }
        if (depth + a->height > CARD_YAML_DEPTH) {
            return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 32 levels");
        }
        r->deepest = depth + a->height > r->deepest ? depth + a->height : r->deepest;
        ald_status status = count_values(r, a->value_count, a->byte_count);
        return status == ALD_OK ? ald_value_assign(into, a->value, r->err) : status;
    }
    return fail_here(r, ALD_E_INVALID_FORMAT, "an alias of an anchor that is not complete yet");
}

/* ---- scalars */

static ald_status set_binary(yaml_reading *r, ald_value *into, const char *text, size_t size)
{
    size_t used = 0;
    size_t written = 0;
    char *packed = malloc(size + 1);
    uint8_t *bytes = malloc(size + 4);
    ald_status status = packed != NULL && bytes != NULL ? ALD_OK : no_memory(r);
    for (size_t i = 0; i < size && status == ALD_OK; i++) { /* it may be broken into lines */
        if (text[i] != ' ' && text[i] != '\n') {
            packed[used++] = text[i];
        }
    }
    if (status == ALD_OK && !ald__base64_decode(packed, used, bytes, &written)) {
        status = fail_here(r, ALD_E_INVALID_FORMAT, "!!binary is not base64");
    }
    if (status == ALD_OK) {
        status = ald_value_set_bin(into, bytes, written, r->err);
    }
    free(packed);
    free(bytes);
    return status;
}

static int is_tag(const char *tag, const char *name)
{
    static const char prefix[] = "tag:yaml.org,2002:";
    return strncmp(tag, prefix, sizeof(prefix) - 1) == 0 &&
           strcmp(tag + sizeof(prefix) - 1, name) == 0;
}

static ald_status set_tagged(yaml_reading *r, ald_value *into, const char *tag, const char *text,
                             size_t size)
{
    static const struct {
        const char *name;
        ald_value_type types[2];
    } tags[] = {{"null", {ALD_VALUE_NIL, ALD_VALUE_NIL}},
                {"bool", {ALD_VALUE_BOOL, ALD_VALUE_BOOL}},
                {"int", {ALD_VALUE_INT, ALD_VALUE_UINT}},
                {"float", {ALD_VALUE_FLOAT, ALD_VALUE_FLOAT}}};
    if (is_tag(tag, "str") || strcmp(tag, "!") == 0) {
        return ald_value_set_string(into, text, size, r->err);
    }
    if (is_tag(tag, "binary")) {
        return set_binary(r, into, text, size);
    }
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
        if (is_tag(tag, tags[i].name)) {
            ald_status status = card_scalar_set(into, text, size, r->err);
            ald_value_type type = ald_value_get_type(into);
            if (status == ALD_OK && type != tags[i].types[0] && type != tags[i].types[1]) {
                status = fail_here(r, ALD_E_INVALID_FORMAT, "a value is not what its tag says");
            }
            return status;
        }
    }
    return fail_here(r, ALD_E_UNSUPPORTED, "a tag that stands for no plain value");
}

static ald_status read_scalar(yaml_reading *r, ald_value *into, int is_text)
{
    const char *text = (const char *)r->event.data.scalar.value;
    size_t size = r->event.data.scalar.length;
    const char *tag = (const char *)r->event.data.scalar.tag;
    ald_status status = count_values(r, 1, size);
    if (status != ALD_OK) {
        return status;
    }
    if (tag != NULL) {
        return set_tagged(r, into, tag, text, size);
    }
    if (!r->event.data.scalar.plain_implicit || (is_text && !card_scalar_is_null(text, size))) {
        return ald_value_set_string(into, text, size, r->err);
    }
    return card_scalar_set(into, text, size, r->err);
}

/* ---- containers */

static ald_status read_node(yaml_reading *r, ald_value *into, unsigned depth, int is_text);

static ald_status read_sequence(yaml_reading *r, ald_value *into, unsigned depth, int is_text)
{
    ald_status status = pull(r);
    ald_value_set_array(into);
    while (status == ALD_OK && r->event.type != YAML_SEQUENCE_END_EVENT) {
        ald_value *item = ald_value_append(into);
        status = item != NULL ? read_node(r, item, depth + 1, is_text) : no_memory(r);
        if (status == ALD_OK) {
            status = pull(r);
        }
    }
    return status;
}

/* The key in hand makes an entry. */
static ald_status read_key(yaml_reading *r, ald_value *map, unsigned depth, ald_value **entry,
                           int *is_text)
{
    if (r->event.type != YAML_SCALAR_EVENT) {
        return fail_here(r, ALD_E_UNSUPPORTED, "a key that is no scalar");
    }
    const char *key = (const char *)r->event.data.scalar.value;
    size_t size = r->event.data.scalar.length;
    if (size == 2 && memcmp(key, "<<", 2) == 0 && r->event.data.scalar.plain_implicit) {
        return fail_here(r, ALD_E_UNSUPPORTED, "a merge key (<<)");
    }
    ald_status status = count_values(r, 0, size);
    if (status != ALD_OK) {
        return status;
    }
    size_t before = ald_value_get_count(map);
    if (before >= CARD_YAML_KEYS) {
        return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 32,768 keys of one map");
    }
    *entry = ald_value_put(map, key, size);
    if (*entry == NULL) {
        return no_memory(r);
    }
    if (ald_value_get_count(map) == before) {
        return fail_here(r, ALD_E_INVALID_FORMAT, "a key for the second time");
    }
    *is_text = *is_text || (depth == 1 && r->options->is_text != NULL && strlen(key) == size &&
                            r->options->is_text(key));
    return ALD_OK;
}

static ald_status read_mapping(yaml_reading *r, ald_value *into, unsigned depth, int is_text)
{
    ald_status status = pull(r);
    ald_value_set_map(into);
    while (status == ALD_OK && r->event.type != YAML_MAPPING_END_EVENT) {
        ald_value *entry = NULL;
        int stays_text = is_text;
        status = read_key(r, into, depth, &entry, &stays_text);
        if (status == ALD_OK) {
            status = pull(r);
        }
        if (status == ALD_OK) {
            status = read_node(r, entry, depth + 1, stays_text);
        }
        if (status == ALD_OK) {
            status = pull(r);
        }
    }
    return status;
}

static ald_status read_container(yaml_reading *r, ald_value *into, unsigned depth, int is_text)
{
    int is_map = r->event.type == YAML_MAPPING_START_EVENT;
    const char *tag =
        (const char *)(is_map ? r->event.data.mapping_start.tag : r->event.data.sequence_start.tag);
    if (tag != NULL && strcmp(tag, "!") != 0 && !is_tag(tag, is_map ? "map" : "seq")) {
        return fail_here(r, ALD_E_UNSUPPORTED, "a tag that stands for no plain value");
    }
    ald_status status = count_values(r, 1, 0);
    if (status != ALD_OK) {
        return status;
    }
    return is_map ? read_mapping(r, into, depth, is_text) : read_sequence(r, into, depth, is_text);
}

static const char *anchor_of(const yaml_event_t *event)
{
    return (const char *)(event->type == YAML_SCALAR_EVENT ? event->data.scalar.anchor
                          : event->type == YAML_MAPPING_START_EVENT
                              ? event->data.mapping_start.anchor
                              : event->data.sequence_start.anchor);
}

/* The event in hand, with what belongs to it; the one that ends it stays in hand. */
static ald_status read_node(yaml_reading *r, ald_value *into, unsigned depth, int is_text)
{
    size_t values = r->value_count;
    size_t bytes = r->byte_count;
    unsigned deepest = r->deepest;
    if (depth > CARD_YAML_DEPTH) {
        return fail_here(r, ALD_E_LIMIT_EXCEEDED, "more than 32 levels");
    }
    if (r->event.type == YAML_ALIAS_EVENT) {
        return read_alias(r, into, depth);
    }
    char *name = anchor_of(&r->event) != NULL ? strdup(anchor_of(&r->event)) : NULL;
    if (name == NULL && anchor_of(&r->event) != NULL) {
        return no_memory(r);
    }
    r->deepest = depth;
    ald_status status = r->event.type == YAML_SCALAR_EVENT
                            ? read_scalar(r, into, is_text)
                            : read_container(r, into, depth, is_text);
    if (status == ALD_OK && name != NULL) {
        status = keep_anchor(r, name, into, r->value_count - values, r->byte_count - bytes,
                             r->deepest - depth);
    }
    r->deepest = deepest > r->deepest ? deepest : r->deepest;
    free(name);
    return status;
}

/* ---- the document */

static ald_status read_document(yaml_reading *r, ald_value *out)
{
    ald_status status = pull(r); /* the start of the stream */
    if (status == ALD_OK) {
        status = pull(r);
    }
    if (status != ALD_OK || r->event.type == YAML_STREAM_END_EVENT) {
        return status;
    }
    status = pull(r);
    if (status == ALD_OK && r->event.type == YAML_SCALAR_EVENT &&
        r->event.data.scalar.plain_implicit &&
        card_scalar_is_null((const char *)r->event.data.scalar.value,
                            r->event.data.scalar.length)) {
        return ALD_OK; /* nothing but comments */
    }
    if (status == ALD_OK && r->event.type != YAML_MAPPING_START_EVENT) {
        status = fail_here(r, ALD_E_INVALID_FORMAT, "something else than a map");
    }
    if (status == ALD_OK) {
        status = read_node(r, out, 1, 0);
    }
    for (int i = 0; i < 2 && status == ALD_OK; i++) { /* the ends of the map and the document */
        status = pull(r);
    }
    if (status == ALD_OK && r->event.type != YAML_STREAM_END_EVENT) {
        status = fail_here(r, ALD_E_INVALID_FORMAT, "a second document");
    }
    return status;
}

ald_status card_yaml_read(const char *text, size_t size, const card_yaml_options *options,
                          ald_value *out, ald_error *err)
{
    yaml_reading *r;
    if (size > CARD_YAML_BYTES) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "YAML of more than 8 MiB is not read");
    }
    r = calloc(1, sizeof(*r));
    if (r == NULL || !yaml_parser_initialize(&r->parser)) {
        free(r);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for YAML");
    }
    r->options = options;
    r->err = err;
    yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)text, size);
    ald_status status = read_document(r, out);
    yaml_event_delete(&r->event);
    yaml_parser_delete(&r->parser);
    while (r->anchors != NULL) {
        anchor *a = r->anchors;
        r->anchors = a->older;
        free(a);
    }
    free(r);
    return status;
}
