/* SPDX-License-Identifier: MIT */
#include "card/card_sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "card/card_value.h"

/* ---- 1K<n<10K */

/* "100K" and what is behind it; NULL: no number. */
static const char *read_count(const char *at, const char *end, uint64_t *out)
{
    static const char units[] = "KMBT";
    const char *start = at;
    *out = 0;
    while (at < end && *at >= '0' && *at <= '9' && at - start < 4) {
        *out = *out * 10 + (uint64_t)(*at++ - '0');
    }
    const char *unit = at < end && *at != '\0' ? strchr(units, *at) : NULL;
    if (at == start) {
        return NULL;
    }
    for (const char *u = units; unit != NULL && u <= unit; u++) {
        *out *= 1000;
    }
    return at + (unit != NULL);
}

/* The bounds of "n<1K", "1K<n<10K", "n>1T"; 0: it is none of these. */
static int read_category(const char *text, size_t size, uint64_t *low, uint64_t *high)
{
    const char *end = text + size;
    *low = 0;
    *high = UINT64_MAX;
    if (size > 2 && text[0] == 'n' && (text[1] == '<' || text[1] == '>')) {
        return read_count(text + 2, end, text[1] == '<' ? high : low) == end;
    }
    const char *at = read_count(text, end, low);
    if (at == NULL || end - at < 3 || memcmp(at, "<n<", 3) != 0) {
        return 0;
    }
    return read_count(at + 3, end, high) == end;
}

static int fits(const ald_value *value, const card_facts *facts, char *why, size_t why_size)
{
    uint64_t low;
    uint64_t high;
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (card_is_text(text, size, "unknown") || card_is_text(text, size, "other")) {
        return 1;
    }
    if (text == NULL || !read_category(text, size, &low, &high)) {
        snprintf(why, why_size, "'%.*s' is no size category such as 1K<n<10K",
                 size < 40 ? (int)size : 40, text != NULL ? text : "");
        return 0;
    }
    snprintf(why, why_size, "it says %.*s, and the file has %" PRIu64 " row%s",
             size < 40 ? (int)size : 40, text, facts->row_count, facts->row_count == 1 ? "" : "s");
    return low <= facts->row_count && facts->row_count <= high;
}

int card_sizes_category(const ald_value *value, const card_facts *facts, char *why, size_t why_size)
{
    if (value == NULL || ald_value_get_type(value) == ALD_VALUE_NIL) {
        return 1;
    }
    if (!card_is_array(value)) {
        return fits(value, facts, why, why_size);
    }
    for (size_t i = 0; i < card_count(value); i++) {
        if (fits(ald_value_get_item(value, i), facts, why, why_size)) {
            return 1;
        }
    }
    return card_count(value) == 0;
}

/* ---- dataset_info */

/* Of several configurations the file may be any. */
static const ald_value *only_config(const ald_value *value)
{
    if (card_is_array(value) && card_count(value) == 1) {
        value = ald_value_get_item(value, 0);
    }
    return card_is_map(value) ? value : NULL;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

int card_sizes_rows(const ald_value *value, const card_facts *facts, char *why, size_t why_size)
{
    const ald_value *splits = ald_value_find(only_config(value), "splits");
    uint64_t sum = 0;
    size_t counted = 0;
    for (size_t i = 0; card_is_array(splits) && i < card_count(splits); i++) {
        const ald_value *split = ald_value_get_item(splits, i);
        const ald_value *rows = card_is_map(split) ? ald_value_find(split, "num_examples") : NULL;
        if (rows != NULL && ald_value_get_type(rows) == ALD_VALUE_UINT) {
            sum = add(sum, ald_value_get_uint(rows));
            counted++;
            if (ald_value_get_uint(rows) == facts->row_count) {
                return 1;
            }
        }
    }
    if (counted == 0 || sum == facts->row_count) {
        return 1;
    }
    snprintf(why, why_size, "its splits have %" PRIu64 " rows, and the file has %" PRIu64, sum,
             facts->row_count);
    return 0;
}

static int has_column(const struct ArrowSchema *schema, const char *name, size_t size)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *found = schema->children[i]->name;
        if (card_is_text(name, size, found != NULL ? found : "")) {
            return 1;
        }
    }
    return 0;
}

static int has_feature(const ald_value *features, const char *name)
{
    for (size_t i = 0; i < card_count(features); i++) {
        size_t size = 0;
        const ald_value *feature = ald_value_get_item(features, i);
        const char *found = card_is_map(feature) ? card_find_string(feature, "name", &size) : NULL;
        if (card_is_text(found, size, name)) {
            return 1;
        }
    }
    return 0;
}

int card_sizes_columns(const ald_value *value, const card_facts *facts, char *why, size_t why_size)
{
    const ald_value *features = ald_value_find(only_config(value), "features");
    const struct ArrowSchema *schema = facts->schema;
    /* The names are looked for one by one, and a list may be as long as its sender likes. */
    if (!card_is_array(features) || schema == NULL || card_count(features) > 4096 ||
        schema->n_children > 4096) {
        return 1;
    }
    for (size_t i = 0; i < card_count(features); i++) {
        size_t size = 0;
        const ald_value *feature = ald_value_get_item(features, i);
        const char *name = card_is_map(feature) ? card_find_string(feature, "name", &size) : NULL;
        if (name != NULL && !has_column(schema, name, size)) {
            snprintf(why, why_size, "the file has no column '%.*s'", size < 60 ? (int)size : 60,
                     name);
            return 0;
        }
    }
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name;
        if (!has_feature(features, name != NULL ? name : "")) {
            snprintf(why, why_size, "column '%.60s' of the file is not in it",
                     name != NULL ? name : "");
            return 0;
        }
    }
    return 1;
}
