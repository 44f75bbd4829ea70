/* SPDX-License-Identifier: MIT */
/* What a key takes follows from its name: a text, a list (each --set adds to it, the first one begins anew), or yes and no. A
 * dot goes into a map: compliance.pii_status. */
#include "cli/card_set.h"

#include <string.h>

#include "card/card_license.h"
#include "card/card_readme.h"

static const char *const word_lists[] = {"tags",
                                         "language",
                                         "task_categories",
                                         "task_ids",
                                         "size_categories",
                                         "source_datasets",
                                         "annotations_creators",
                                         "language_creators",
                                         "multilinguality",
                                         NULL};
static const char *const text_lists[] = {"intended_uses", "limitations", NULL};

static int is_one_of(const char *const *names, const char *text, size_t size)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], text, size) == 0) {
            return 1;
        }
    }
    return 0;
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the metadata");
}

static ald_status check_key(cli_env *env, const char *key, size_t size, ald_error *err)
{
    char name[64];
    if (size == 0 || size >= sizeof(name) || memchr(key, '\n', size) != NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%.*s' is no key to set or drop", size < 60 ? (int)size : 60, key);
    }
    const char *dot = memchr(key, '.', size);
    memcpy(name, key, size);
    name[dot != NULL ? (size_t)(dot - key) : size] = '\0'; /* its first part */
    if (card_is_fact(name)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "%s is a fact about the file, and not the card's to say", name);
    }
    if (strcmp(name, "sources") == 0) {
        cli_hint(env, "--edit, --from and `alimentar describe --metadata` set it");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "sources is a list of maps, and no text");
    }
    return ALD_OK;
}

/* The map that a dotted key's last part is in. `make`: those that are missing; else *out may be NULL. */
static ald_status find_map(ald_value *metadata, const char **key, size_t *size, int make,
                           ald_value **out, ald_error *err)
{
    const char *dot;
    *out = metadata;
    while (*out != NULL && (dot = memchr(*key, '.', *size)) != NULL) {
        char part[64];
        size_t part_size = (size_t)(dot - *key);
        memcpy(part, *key, part_size);
        part[part_size] = '\0';
        const ald_value *found = ald_value_find(*out, part);
        if (found == NULL && !make) {
            *out = NULL;
            return ALD_OK;
        }
        if (found != NULL && ald_value_get_type(found) != ALD_VALUE_MAP) {
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s is no map", part);
        }
        *out = ald_value_put(*out, part, part_size);
        if (*out == NULL) {
            return no_memory(err);
        }
        if (found == NULL) {
            ald_value_set_map(*out);
        }
        *key += part_size + 1;
        *size -= part_size + 1;
    }
    return ALD_OK;
}

static ald_status append(ald_value *list, const char *text, size_t size, ald_error *err)
{
    ald_value *item = ald_value_append(list);
    return item != NULL ? ald_value_set_string(item, text, size, err) : no_memory(err);
}

/* Words may be given as a list with commas. */
static ald_status add_words(ald_value *list, const char *text, ald_error *err)
{
    ald_status status = ALD_OK;
    while (status == ALD_OK) {
        size_t size = strcspn(text, ",");
        const char *start = text + strspn(text, " ");
        size_t end = size;
        while (text + end > start && text[end - 1] == ' ') {
            end--;
        }
        if (text + end > start) {
            status = append(list, start, (size_t)(text + end - start), err);
        }
        if (text[size] == '\0') {
            break;
        }
        text += size + 1;
    }
    return status;
}

/* Whether an earlier --set was of the same key. */
static int is_again(const opt_list *set, size_t index, const char *key, size_t size)
{
    for (size_t i = 0; i < index; i++) {
        if (strncmp(set->items[i], key, size) == 0 && set->items[i][size] == '=') {
            return 1;
        }
    }
    return 0;
}

static ald_status set_bool(ald_value *value, const char *text, ald_error *err)
{
    int yes = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "false") != 0 && strcmp(text, "no") != 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "compliance.gdpr_consent is true or false, not '%s'", text);
    }
    ald_value_set_bool(value, yes);
    return ALD_OK;
}

static ald_status set_one(cli_env *env, const opt_list *set, size_t index, ald_value *metadata,
                          ald_error *err)
{
    const char *key = set->items[index];
    size_t size = strcspn(key, "=");
    if (key[size] == '\0') {
        cli_hint(env, "--set KEY=TEXT; --unset KEY drops a key");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--set %s has no =", key);
    }
    const char *whole = key;
    const size_t whole_size = size;
    const char *text = key + size + 1;
    ald_value *map = NULL;
    ald_status status = check_key(env, key, size, err);
    if (status == ALD_OK) {
        status = find_map(metadata, &key, &size, 1, &map, err);
    }
    ald_value *value = status == ALD_OK ? ald_value_put(map, key, size) : NULL;
    if (value == NULL) {
        return status == ALD_OK ? no_memory(err) : status;
    }
    int is_words = is_one_of(word_lists, whole, whole_size);
    if (is_words || is_one_of(text_lists, whole, whole_size)) {
        if (!is_again(set, index, whole, whole_size)) {
            ald_value_set_array(value);
        }
        return is_words ? add_words(value, text, err) : append(value, text, strlen(text), err);
    }
    if (whole_size == 23 && memcmp(whole, "compliance.gdpr_consent", 23) == 0) {
        return set_bool(value, text, err);
    }
    status = ald_value_set_string(value, text, strlen(text), err);
    if (status == ALD_OK && whole_size == 7 && memcmp(whole, "license", 7) == 0) {
        status = card_license_check(metadata, "license", err);
        if (status != ALD_OK && status != ALD_E_NOMEM && err != NULL) {
            err->status = ALD_E_INVALID_ARG; /* it is what was typed */
            status = ALD_E_INVALID_ARG;
        }
    }
    return status;
}

ald_status cli_card_set(cli_env *env, const opt_list *set, const opt_list *unset,
                        ald_value *metadata, ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; i < set->count && status == ALD_OK; i++) {
        status = set_one(env, set, i, metadata, err);
    }
    for (size_t i = 0; i < unset->count && status == ALD_OK; i++) {
        char name[64];
        const char *key = unset->items[i];
        size_t size = strlen(key);
        ald_value *map = NULL;
        /* `sources` as a whole can go. */
        status = strcmp(key, "sources") == 0 ? ALD_OK : check_key(env, key, size, err);
        if (status == ALD_OK) {
            status = find_map(metadata, &key, &size, 0, &map, err);
        }
        if (status == ALD_OK && map != NULL) {
            memcpy(name, key, size);
            name[size] = '\0';
            ald_value_remove(map, name);
        }
    }
    return status;
}
