/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "card/card_license.h"
#include "card/card_readme.h"
#include "card/card_value.h"
#include "card/card_yaml.h"

typedef struct readme_writing {
    const card_notes *notes;
    const ald_value *metadata;
    ald_value *front;
    ald_error *err;
} readme_writing;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a card");
}

static ald_status put_copy(const readme_writing *w, const char *key, const ald_value *value)
{
    ald_value *to = ald_value_put(w->front, key, strlen(key));
    return to != NULL ? ald_value_assign(to, value, w->err) : no_memory(w->err);
}

static ald_status put_text(const readme_writing *w, const char *key, const char *text, size_t size)
{
    ald_value *to = ald_value_put(w->front, key, strlen(key));
    return to != NULL ? ald_value_set_string(to, text, size, w->err) : no_memory(w->err);
}

/* ---- the license */

/* `A AND B` of ids that all have slugs is a list of them. */
static ald_status put_slugs(const readme_writing *w, const char *text, int *is_done)
{
    const char *parts[16];
    size_t count = 0;
    *is_done = 0;
    for (const char *at = text; at != NULL; count++) {
        const char *end = strstr(at, " AND ");
        size_t size = end != NULL ? (size_t)(end - at) : strlen(at);
        parts[count] = card_license_slug(at, size);
        /* `other` would take license_name for its own. */
        if (parts[count] == NULL || strcmp(parts[count], "other") == 0) {
            return ALD_OK;
        }
        at = end != NULL ? end + 5 : NULL;
        if (at != NULL && count + 1 == sizeof(parts) / sizeof(parts[0])) {
            return ALD_OK;
        }
    }
    *is_done = 1;
    if (count == 1) {
        return put_text(w, "license", parts[0], strlen(parts[0]));
    }
    ald_value *list = ald_value_put(w->front, "license", 7);
    if (list == NULL) {
        return no_memory(w->err);
    }
    ald_value_set_array(list);
    for (size_t i = 0; i < count; i++) {
        ald_value *item = ald_value_append(list);
        ald_status status = item != NULL
                                ? ald_value_set_string(item, parts[i], strlen(parts[i]), w->err)
                                : no_memory(w->err);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

/* Whether license_name is where this license came from. */
static int is_named_so(const readme_writing *w, const card_spdx *license)
{
    card_spdx reference;
    size_t size = 0;
    const char *name = card_find_string(w->metadata, "license_name", &size);
    if (size == 0 || card_spdx_read(name, size, &reference, NULL) == ALD_OK) {
        return 0;
    }
    card_license_reference(name, size, &reference);
    return strcmp(reference.text, license->text) == 0;
}

static ald_status put_license(const readme_writing *w, const ald_value *value)
{
    card_spdx license;
    size_t size = 0;
    int is_done = 0;
    const char *text = card_string(value, &size);
    ald_status status = ALD_OK;
    if (!card_is_string(value)) {
        return put_copy(w, "license", value);
    }
    if (card_spdx_read(text, size, &license, NULL) != ALD_OK) {
        if (w->notes != NULL && w->notes->say != NULL) {
            w->notes->say(w->notes->ctx,
                          "the license is no SPDX expression, and is written as 'other'");
        }
        card_license_reference(text, size, &license);
    }
    if (!is_named_so(w, &license)) {
        status = put_slugs(w, license.text, &is_done);
        if (status != ALD_OK || is_done) {
            return status;
        }
        if (ald_value_find(w->metadata, "license_name") != NULL) {
            return put_text(w, "license", license.text, license.size); /* it is of something else */
        }
        if (strcmp(license.text, "LicenseRef-other") == 0) {
            return put_text(w, "license", "other", 5);
        }
        status = put_text(w, "license_name", license.text, license.size);
    }
    return status == ALD_OK ? put_text(w, "license", "other", 5) : status;
}

/* ---- the parts */

static ald_status put_key(const readme_writing *w, const char *key, const ald_value *value,
                          int is_body)
{
    if (card_is_fact(key) || (is_body && strcmp(key, "description") == 0)) {
        return ALD_OK;
    }
    if (strcmp(key, "license") == 0) {
        return put_license(w, value);
    }
    if (strcmp(key, "name") == 0 && ald_value_find(w->metadata, "pretty_name") == NULL) {
        return put_copy(w, "pretty_name", value);
    }
    if (strcmp(key, "pretty_name") == 0 && ald_value_find(w->metadata, "name") == NULL) {
        ald_value *none = ald_value_put(w->front, "name", 4); /* it is not the name */
        if (none == NULL) {
            return no_memory(w->err);
        }
        ald_value_set_nil(none);
    }
    return put_copy(w, key, value);
}

static ald_status make_front(const readme_writing *w, int is_body)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; i < ald_value_get_count(w->metadata) && status == ALD_OK; i++) {
        size_t size = 0;
        const char *key = ald_value_get_key(w->metadata, i, &size);
        status = strlen(key) == size ? put_key(w, key, ald_value_get_item(w->metadata, i), is_body)
                                     : ald_error_set(w->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                                                     "a metadata key has a NUL, which no card has");
    }
    return status;
}

static ald_status put_body(const ald_sink *sink, const char *text, size_t size, ald_error *err)
{
    ald_status status = sink->write(sink->ctx, "\n", 1, err);
    if (status == ALD_OK && size > 0) {
        status = sink->write(sink->ctx, text, size, err);
    }
    return status == ALD_OK ? sink->write(sink->ctx, "\n", 1, err) : status;
}

ald_status card_readme_write(const ald_value *metadata, const ald_host *host,
                             const card_notes *notes, ald_buffer *out, ald_error *err)
{
    readme_writing w = {notes, metadata, NULL, err};
    ald_sink sink = ald_buffer_sink(out);
    size_t size = 0;
    const char *text = card_find_string(metadata, "description", &size);
    int is_body = text != NULL && memchr(text, '\0', size) == NULL;
    ald_status status = ald_value_new(&host->alloc, &w.front, err);
    if (status == ALD_OK) {
        ald_value_set_map(w.front);
        status = make_front(&w, is_body);
    }
    if (status == ALD_OK) {
        status = sink.write(sink.ctx, "---\n", 4, err);
    }
    if (status == ALD_OK) {
        status = card_yaml_write(w.front, out, err);
    }
    if (status == ALD_OK) {
        status = sink.write(sink.ctx, "---\n", 4, err);
    }
    if (status == ALD_OK && is_body) {
        status = put_body(&sink, text, size, err);
    }
    ald_value_free(w.front);
    return status;
}
