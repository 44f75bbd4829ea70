/* SPDX-License-Identifier: MIT */
/* Known keys of the metadata and their types; the crate's positional form. */
#include "core/container/metadata.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/container/msgpack.h"

typedef enum kind { K_STRING, K_STRINGS, K_SOURCES, K_MAP, K_SHA256 } kind;

static const struct known {
    const char *key;
    kind kind;
} known_keys[] = {
    {"name", K_STRING},           {"version", K_STRING},        {"license", K_STRING},
    {"description", K_STRING},    {"citation", K_STRING},       {"created_at", K_STRING},
    {"query_pub_key", K_STRING},  {"query_protocol", K_STRING}, {"tags", K_STRINGS},
    {"intended_uses", K_STRINGS}, {"limitations", K_STRINGS},   {"sources", K_SOURCES},
    {"sha256", K_SHA256},         {"compliance", K_MAP},        {"ald", K_MAP},
};

/* Order of the positional form; the last may be left out. */
static const char *const positional[] = {"name",        "version",  "license",    "tags",
                                         "description", "citation", "created_at", "sha256"};

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define POSITIONAL_LEAST 7u

static int is_type(const ald_value *v, ald_value_type type)
{
    return ald_value_get_type(v) == type;
}

static int all_strings(const ald_value *v)
{
    if (!is_type(v, ALD_VALUE_ARRAY))
        return 0;
    for (size_t i = 0; i < ald_value_get_count(v); i++) {
        if (!is_type(ald_value_get_item(v, i), ALD_VALUE_STRING))
            return 0;
    }
    return 1;
}

static int is_hex64(const ald_value *v)
{
    size_t size;
    const char *s = ald_value_get_bytes(v, &size);
    if (!is_type(v, ALD_VALUE_STRING) || size != 64)
        return 0;
    for (size_t i = 0; i < size; i++) {
        char low = (char)(s[i] | 0x20);
        if (!((s[i] >= '0' && s[i] <= '9') || (low >= 'a' && low <= 'f')))
            return 0;
    }
    return 1;
}

static int is_source(const ald_value *v)
{
    static const char *const keys[] = {"name", "url", "description", "license"};
    if (!is_type(v, ALD_VALUE_MAP))
        return 0;
    for (size_t i = 0; i < COUNT(keys); i++) {
        const ald_value *item = ald_value_find(v, keys[i]);
        if (item != NULL && !is_type(item, ALD_VALUE_NIL) && !is_type(item, ALD_VALUE_STRING))
            return 0;
    }
    return 1;
}

static int all_sources(const ald_value *v)
{
    if (!is_type(v, ALD_VALUE_ARRAY))
        return 0;
    for (size_t i = 0; i < ald_value_get_count(v); i++) {
        if (!is_source(ald_value_get_item(v, i)))
            return 0;
    }
    return 1;
}

static const char *kind_text(kind k)
{
    static const char *const texts[] = {"a string", "an array of strings", "an array of maps",
                                        "a map", "64 hex digits"};
    return texts[k];
}

static int fits(const ald_value *v, kind k)
{
    switch (k) {
    case K_STRING:
        return is_type(v, ALD_VALUE_STRING);
    case K_STRINGS:
        return all_strings(v);
    case K_SOURCES:
        return all_sources(v);
    case K_MAP:
        return is_type(v, ALD_VALUE_MAP);
    case K_SHA256:
        return is_hex64(v);
    }
    return 0;
}

ald_status ald__metadata_check(const ald_value *map, uint64_t offset, ald_error *err)
{
    for (size_t i = 0; i < COUNT(known_keys); i++) {
        const ald_value *v = ald_value_find(map, known_keys[i].key);
        if (v != NULL && !is_type(v, ALD_VALUE_NIL) && !fits(v, known_keys[i].kind))
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset, "metadata key '%s' is not %s",
                             known_keys[i].key, kind_text(known_keys[i].kind));
    }
    return ALD_OK;
}

int ald__metadata_is_array(uint8_t first)
{
    return (first & 0xF0u) == 0x90u || first == 0xdc || first == 0xdd;
}

/* Moves the items of the positional form under their keys. */
static ald_status from_array(const ald_allocator *alloc, const ald_value *array, uint64_t offset,
                             ald_value **out, ald_error *err)
{
    size_t count = ald_value_get_count(array);
    if (count < POSITIONAL_LEAST || count > COUNT(positional))
        return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                         "positional metadata of %zu items, expected 7 or 8", count);
    ALD_TRY(ald_value_new(alloc, out, err));
    ald_value_set_map(*out);
    for (size_t i = 0; i < count; i++) {
        const ald_value *from = ald_value_get_item(array, i);
        ald_value *to;
        if (is_type(from, ALD_VALUE_NIL))
            continue;
        if (!is_type(from, ALD_VALUE_STRING) && !all_strings(from))
            return ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                             "item %zu of the positional metadata has the wrong type", i);
        to = ald_value_put(*out, positional[i], strlen(positional[i]));
        if (to == NULL)
            return ald__no_memory(err, 0);
        ALD_TRY(ald_value_assign(to, from, err));
    }
    return ALD_OK;
}

ald_status ald__metadata_decode(const ald_allocator *alloc, const uint8_t *data, size_t size,
                                uint64_t offset, ald_value **out, int *is_array, ald_error *err)
{
    ald_value *tree = NULL;
    ald_status st = ald__msgpack_decode(alloc, data, size, offset, &tree, err);
    *out = NULL;
    *is_array = 0;
    if (st != ALD_OK)
        return st;
    if (is_type(tree, ALD_VALUE_ARRAY)) {
        *is_array = 1;
        st = from_array(alloc, tree, offset, out, err);
        ald_value_free(tree);
    } else if (is_type(tree, ALD_VALUE_MAP)) {
        *out = tree;
    } else {
        ald_value_free(tree);
        st = ald__fail(err, ALD_E_INVALID_FORMAT, offset,
                       "the metadata is neither a map nor the positional array");
    }
    if (st == ALD_OK)
        st = ald__metadata_check(*out, offset, err);
    if (st != ALD_OK) {
        ald_value_free(*out);
        *out = NULL;
    }
    return st;
}

static int in_positional(const char *key, size_t size)
{
    for (size_t i = 0; i < COUNT(positional); i++) {
        if (strlen(positional[i]) == size && memcmp(positional[i], key, size) == 0)
            return 1;
    }
    return 0;
}

static ald_status check_only_positional(const ald_value *map, ald_error *err)
{
    for (size_t i = 0; i < ald_value_get_count(map); i++) {
        size_t size;
        const char *key = ald_value_get_key(map, i, &size);
        if (!in_positional(key, size))
            return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "alimentar 0.2 has no metadata key '%s'", key);
    }
    return ALD_OK;
}

ald_status ald__metadata_to_array(const ald_allocator *alloc, const ald_value *map, ald_value **out,
                                  ald_error *err)
{
    ald_status st;
    *out = NULL;
    if (map != NULL)
        ALD_TRY(check_only_positional(map, err));
    ALD_TRY(ald_value_new(alloc, out, err));
    ald_value_set_array(*out);
    st = ALD_OK;
    for (size_t i = 0; st == ALD_OK && i < COUNT(positional); i++) {
        const ald_value *v = ald_value_find(map, positional[i]);
        ald_value *item;
        if (v == NULL && i >= POSITIONAL_LEAST)
            break;
        item = ald_value_append(*out);
        if (item == NULL)
            st = ald__no_memory(err, 0);
        else if (v != NULL)
            st = ald_value_assign(item, v, err);
        else if (strlen(positional[i]) == 4 && memcmp(positional[i], "tags", 4) == 0)
            ald_value_set_array(item);
    }
    if (st != ALD_OK) {
        ald_value_free(*out);
        *out = NULL;
    }
    return st;
}
