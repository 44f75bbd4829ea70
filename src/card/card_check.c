/* SPDX-License-Identifier: MIT */
#include "card/card_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "card/card_language.h"
#include "card/card_sizes.h"
#include "card/card_text.h"
#include "card/card_value.h"
#include "card/spdx.h"

#define MANY                                                                                       \
    10 /* findings of one list: who reads more? A card may come from anybody, and have thousands */

typedef struct checking {
    const ald_value *metadata;
    const card_facts *facts;
    card_finding found;
    void *ctx;
} checking;

static void say(const checking *c, card_level level, const char *key, const char *fmt, ...)
    ALD_PRINTF(4, 5);

static void say(const checking *c, card_level level, const char *key, const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    c->found(c->ctx, level, key, text);
}

static int shown(size_t size)
{
    return size < 60 ? (int)size : 60;
}

/* ---- what is not there */

static int is_empty(const ald_value *value)
{
    size_t size = 0;
    if (value == NULL || ald_value_get_type(value) == ALD_VALUE_NIL) {
        return 1;
    }
    return card_is_string(value)
               ? (card_string(value, &size), size == 0)
               : (card_is_array(value) || card_is_map(value)) && card_count(value) == 0;
}

static void check_presence(const checking *c)
{
    static const struct {
        const char *key, *text;
        card_level level;
    } wanted[] = {
        {"name", "the dataset has no name", CARD_MISSING},
        {"license", "nobody knows what they may do with it", CARD_MISSING},
        {"description", "nothing says what it is", CARD_MISSING},
        {"version", "a version tells copies apart", CARD_ADVICE},
        {"tags", "tags help to find it", CARD_ADVICE},
        {"language", "the language of its texts, if it has any", CARD_ADVICE},
        {"citation", "how to cite it", CARD_ADVICE},
        {"created_at", "when it was made", CARD_ADVICE},
        {"sources", "where the data came from", CARD_ADVICE},
        {"intended_uses", "what it is meant for", CARD_ADVICE},
        {"limitations", "what it is not good for", CARD_ADVICE},
    };
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        if (is_empty(ald_value_find(c->metadata, wanted[i].key))) {
            say(c, wanted[i].level, wanted[i].key, "%s", wanted[i].text);
        }
    }
}

static void check_placeholders(const checking *c)
{
    size_t size = 0;
    const char *text = card_find_string(c->metadata, "description", &size);
    static const char left[] = "[More Information Needed]";
    size_t count = 0;
    for (size_t i = 0; text != NULL && i + sizeof(left) - 1 <= size; i++) {
        count += memcmp(text + i, left, sizeof(left) - 1) == 0;
    }
    if (count > 0) {
        say(c, CARD_ADVICE, "description", "%zu times %s", count, left);
    }
}

static void check_columns(const checking *c)
{
    int64_t without = 0;
    const struct ArrowSchema *schema = c->facts->schema;
    for (int64_t i = 0; schema != NULL && i < schema->n_children; i++) {
        size_t size = 0;
        without +=
            ald_schema_get_metadata(schema->children[i], ALD_COLUMN_DOC_DESCRIPTION, &size) == NULL;
    }
    if (without > 0) {
        say(c, CARD_ADVICE, "columns",
            "%" PRId64 " of %" PRId64
            " columns have no description (`alimentar describe --column-docs`)",
            without, schema->n_children);
    }
}

/* ---- what is wrong */

/* Whether something was found. */
static int check_license(const checking *c, const ald_value *value, const char *key)
{
    card_spdx found;
    ald_error why = {0};
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (text == NULL) {
        return 0;
    }
    if (card_spdx_read(text, size, &found, &why) != ALD_OK) {
        char *hint = strchr(why.msg, '\n');
        if (hint != NULL) {
            *hint = ';';
        }
        say(c, CARD_WRONG, key, "%s", why.msg);
        return 1;
    }
    if (found.deprecated != NULL) {
        say(c, CARD_ADVICE, key, "SPDX calls %s deprecated", found.deprecated);
    }
    return found.deprecated != NULL;
}

static void check_licenses(const checking *c)
{
    const ald_value *sources = ald_value_find(c->metadata, "sources");
    int count = 0;
    (void)check_license(c, ald_value_find(c->metadata, "license"), "license");
    for (size_t i = 0; card_is_array(sources) && i < card_count(sources) && count < MANY; i++) {
        const ald_value *source = ald_value_get_item(sources, i);
        if (card_is_map(source)) {
            count += check_license(c, ald_value_find(source, "license"), "sources");
        }
    }
}

static int check_language(const checking *c, const ald_value *value)
{
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (text == NULL) {
        say(c, CARD_WRONG, "language", "a code must be a text");
        return 1;
    }
    if (!card_language_is_known(text, size)) {
        say(c, CARD_WRONG, "language", "'%.*s' is no ISO 639 code of a language", shown(size),
            text);
        return 1;
    }
    return 0;
}

static void check_languages(const checking *c)
{
    const ald_value *value = ald_value_find(c->metadata, "language");
    if (is_empty(value)) {
        return;
    }
    if (!card_is_array(value)) {
        (void)check_language(c, value);
        return;
    }
    int count = 0;
    for (size_t i = 0; i < card_count(value) && count < MANY; i++) {
        count += check_language(c, ald_value_get_item(value, i));
    }
}

static void check_texts(const checking *c)
{
    size_t size = 0;
    const char *text = card_find_string(c->metadata, "version", &size);
    if (size > 0 && !card_text_is_semver(text, size)) {
        say(c, CARD_WRONG, "version", "'%.*s' is not MAJOR.MINOR.PATCH", shown(size), text);
    }
    text = card_find_string(c->metadata, "created_at", &size);
    if (size > 0 && !card_text_is_time(text, size)) {
        say(c, CARD_WRONG, "created_at", "'%.*s' is no date, and no time as RFC 3339 has it",
            shown(size), text);
    }
}

static void check_sizes(const checking *c)
{
    char text[320];
    if (!card_sizes_category(ald_value_find(c->metadata, "size_categories"), c->facts, text,
                             sizeof(text))) {
        say(c, CARD_WRONG, "size_categories", "%s", text);
    }
    if (!card_sizes_rows(ald_value_find(c->metadata, "dataset_info"), c->facts, text,
                         sizeof(text))) {
        say(c, CARD_WRONG, "dataset_info", "%s", text);
    }
    if (!card_sizes_columns(ald_value_find(c->metadata, "dataset_info"), c->facts, text,
                            sizeof(text))) {
        say(c, CARD_WRONG, "dataset_info", "%s", text);
    }
}

void card_check(const ald_value *metadata, const card_facts *facts, card_finding found, void *ctx)
{
    const checking c = {metadata, facts, found, ctx};
    check_licenses(&c);
    check_languages(&c);
    check_texts(&c);
    check_sizes(&c);
    check_presence(&c);
    check_placeholders(&c);
    check_columns(&c);
}
