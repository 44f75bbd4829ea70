/* SPDX-License-Identifier: MIT */
#include "cli/json_args.h"

#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "ald/schema.h"
#include "card/card_license.h"
#include "cli/card_file.h"
#include "cli/file_format.h"
#include "cli/input.h"

#define DEPTH_LIMIT 32 /* of metadata */

/* For completion; any case is read. */
static const char *const type_names[] = {
#define ALD_X(constant, value) #constant,
    ALD_DATASET_TYPE_LIST(ALD_X)
#undef ALD_X
        NULL};

#define AT(member) .offset = offsetof(describe_options, member)
static const opt_spec describe_specs[] = {
    {.name = "metadata",
     .arg = "FILE",
     .kind = OPT_TEXT,
     AT(metadata),
     .scope = SCOPE_ALD_OUT,
     .help =
         "a JSON object whose keys are set in the metadata (name, version, license, tags, "
         "description, citation, created_at, sources, intended_uses, limitations, compliance, or "
         "your own); null drops a key, the others stay"},
    {.name = "column-docs",
     .arg = "FILE",
     .kind = OPT_TEXT,
     AT(column_docs),
     .scope = SCOPE_ALD_OUT | SCOPE_IPC_OUT,
     .help = "a JSON object with an entry for each column to document: {\"column\": "
             "{\"description\": \"...\", \"dtype\": \"...\", \"values\": \"...\", \"missing\": "
             "\"...\"}}; null drops an entry"},
    {.name = "dataset-type",
     .arg = "NAME",
     .kind = OPT_TEXT,
     .choices = type_names,
     AT(dataset_type),
     .scope = SCOPE_ALD_OUT,
     .help = "what the data are for: TABULAR (default), TIME_SERIES, IMAGE_CLASSIFICATION, ..."},
};
const opt_group cli_group_describe = OPT_GROUP("Description", describe_specs);

static const opt_spec card_specs[] = {
    {.name = "card",
     .arg = "README.md",
     .kind = OPT_TEXT,
     AT(card),
     .scope = SCOPE_ALD_OUT,
     .help = "a dataset card as Hugging Face has them, YAML front matter and Markdown, whose keys "
             "are set in the metadata; --metadata goes before it"},
};
const opt_group cli_group_card = OPT_GROUP("Card", card_specs);

ald_status cli_dataset_type(cli_env *env, const char *name, uint16_t *out, ald_error *err)
{
    *out = 0;
    if (name == NULL) {
        return ALD_OK;
    }
    *out = ald_dataset_type_from_name(name);
    if (*out != 0) {
        return ALD_OK;
    }
    cli_hint(env, "the types are");
    for (size_t i = 0; type_names[i] != NULL; i++) {
        cli_hint_add(env, i > 0 ? ", " : " ");
        cli_hint_add(env, type_names[i]);
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "--dataset-type: '%s' is no dataset type", name);
}

/* ---- reading */

static ald_status bad_json(ald_error *err, const ald_buffer *text, const yyjson_read_err *bad)
{
    size_t line = 0;
    size_t column = 0;
    size_t chars = 0;
    yyjson_locate_pos((const char *)text->data, text->size, bad->pos, &line, &column, &chars);
    return ald_error_set(err, ALD_E_INVALID_FORMAT, bad->pos,
                         "not JSON: %s in line %zu, column %zu", bad->msg, line, column);
}

static ald_status read_object(cli_env *env, const char *path, yyjson_doc **out, ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    yyjson_read_err bad;
    *out = NULL;
    ald_status status = cli_read_file(env, path, &text, err);
    if (status == ALD_OK) {
        /* yyjson refuses text without a byte, but wants a pointer. */
        *out = yyjson_read_opts(text.size > 0 ? (char *)text.data : (char *)(uintptr_t)"",
                                text.size, YYJSON_READ_BIGNUM_AS_RAW, NULL, &bad);
        if (*out == NULL) {
            status = bad_json(err, &text, &bad);
        } else if (!yyjson_is_obj(yyjson_doc_get_root(*out))) {
            yyjson_doc_free(*out);
            *out = NULL;
            status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                   "expected a JSON object, found something else");
        }
    }
    ald_buffer_clear(&text);
    return status;
}

/* ---- metadata */

static ald_status fill(ald_value *out, yyjson_val *from, int depth, ald_error *err);

static int compare_keys(const void *a, const void *b)
{
    yyjson_val *const *x = a, *const *y = b;
    size_t size = yyjson_get_len(*x), other = yyjson_get_len(*y);
    int order = memcmp(yyjson_get_str(*x), yyjson_get_str(*y), size < other ? size : other);
    return order != 0 ? order : (size > other) - (size < other);
}

static ald_status check_keys(yyjson_val *object, ald_error *err)
{
    size_t count = 0;
    yyjson_val **keys = malloc((yyjson_obj_size(object) + 1) * sizeof(*keys));
    if (keys == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the metadata");
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(object);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key != NULL;
         key = yyjson_obj_iter_next(&iter)) {
        keys[count++] = key;
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    ald_status status = ALD_OK;
    for (size_t i = 1; status == ALD_OK && i < count; i++) {
        if (compare_keys(&keys[i - 1], &keys[i]) == 0) {
            status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                   "the key '%s' occurs twice", yyjson_get_str(keys[i]));
        }
    }
    free(keys);
    return status;
}

static ald_status fill_object(ald_value *out, yyjson_val *from, int depth, int merge,
                              ald_error *err)
{
    CLI_TRY(check_keys(from, err));
    yyjson_obj_iter iter = yyjson_obj_iter_with(from);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key != NULL;
         key = yyjson_obj_iter_next(&iter)) {
        const char *name = yyjson_get_str(key);
        size_t size = yyjson_get_len(key);
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        if (merge && yyjson_is_null(value)) {
            ald_value_remove(out, name);
            continue;
        }
        ald_value *entry = ald_value_put(out, name, size);
        if (entry == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the metadata");
        }
        ald_status status = fill(entry, value, depth, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

static ald_status fill_array(ald_value *out, yyjson_val *from, int depth, ald_error *err)
{
    yyjson_arr_iter iter = yyjson_arr_iter_with(from);
    for (yyjson_val *item = yyjson_arr_iter_next(&iter); item != NULL;
         item = yyjson_arr_iter_next(&iter)) {
        ald_value *entry = ald_value_append(out);
        if (entry == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the metadata");
        }
        ald_status status = fill(entry, item, depth, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

static ald_status fill(ald_value *out, yyjson_val *from, int depth, ald_error *err)
{
    if (depth > DEPTH_LIMIT) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "metadata nest deeper than %d", DEPTH_LIMIT);
    }
    switch (yyjson_get_type(from)) {
    case YYJSON_TYPE_BOOL:
        ald_value_set_bool(out, yyjson_get_bool(from));
        return ALD_OK;
    case YYJSON_TYPE_NUM:
        if (yyjson_is_real(from)) {
            ald_value_set_float(out, yyjson_get_real(from));
        } else if (yyjson_is_sint(from)) {
            ald_value_set_int(out, yyjson_get_sint(from));
        } else {
            ald_value_set_uint(out, yyjson_get_uint(from));
        }
        return ALD_OK;
    case YYJSON_TYPE_STR:
        return ald_value_set_string(out, yyjson_get_str(from), yyjson_get_len(from), err);
    case YYJSON_TYPE_ARR:
        ald_value_set_array(out);
        return fill_array(out, from, depth + 1, err);
    case YYJSON_TYPE_OBJ:
        ald_value_set_map(out);
        return fill_object(out, from, depth + 1, 0, err);
    case YYJSON_TYPE_RAW:
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the number %s does not fit 64 bits", yyjson_get_raw(from));
    default:
        ald_value_set_nil(out);
        return ALD_OK;
    }
}

struct metadata_patch {
    cli_env *env;
    const char *path; /* of --metadata */
    yyjson_doc *doc;  /* NULL: no --metadata */
    cli_card *card;   /* NULL: no --card */
};

ald_status cli_metadata_read(cli_env *env, const describe_options *options, metadata_patch **out,
                             ald_error *err)
{
    metadata_patch *patch = NULL;
    ald_status status = ALD_OK;
    *out = NULL;
    if (options->metadata == NULL && options->card == NULL) {
        return ALD_OK;
    }
    patch = calloc(1, sizeof(*patch));
    if (patch == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the metadata");
    }
    patch->env = env;
    patch->path = options->metadata;
    if (options->card != NULL) {
        status = cli_card_read(env, options->card, &patch->card, err);
    }
    if (status == ALD_OK && options->metadata != NULL) {
        status = read_object(env, options->metadata, &patch->doc, err);
    }
    if (status != ALD_OK) {
        cli_metadata_free(patch);
        return status;
    }
    *out = patch;
    return ALD_OK;
}

void cli_metadata_free(metadata_patch *patch)
{
    if (patch != NULL) {
        yyjson_doc_free(patch->doc);
        cli_card_free(patch->card);
        free(patch);
    }
}

ald_status cli_metadata_merge(metadata_patch *patch, ald_value *map, ald_error *err)
{
    static const char *const licensed[] = {"license", "sources"};
    yyjson_val *root = yyjson_doc_get_root(patch->doc);
    ald_status status = patch->card != NULL ? cli_card_apply(patch->card, map, err) : ALD_OK;
    if (status == ALD_OK && root != NULL) {
        status = fill_object(map, root, 2, 1, err);
    }
    for (size_t i = 0; i < 2 && status == ALD_OK; i++) {
        if (yyjson_obj_get(root, licensed[i]) != NULL) {
            status = card_license_check(map, licensed[i], err);
            patch->env->subject = status == ALD_OK ? patch->env->subject : patch->path;
        }
    }
    return status;
}

/* ---- column documentation */

typedef struct doc_key {
    const char *name, *key;
} doc_key;

static const doc_key doc_keys[] = {{"description", ALD_COLUMN_DOC_DESCRIPTION},
                                   {"dtype", ALD_COLUMN_DOC_DTYPE},
                                   {"values", ALD_COLUMN_DOC_VALUES},
                                   {"missing", ALD_COLUMN_DOC_MISSING}};

static ald_status set_doc(cli_env *env, struct ArrowSchema *field, const char *name,
                          yyjson_val *value, ald_error *err)
{
    for (size_t i = 0; i < sizeof(doc_keys) / sizeof(doc_keys[0]); i++) {
        if (strcmp(doc_keys[i].name, name) != 0) {
            continue;
        }
        if (!yyjson_is_str(value) && !yyjson_is_null(value)) {
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "column '%s': %s must be a string or null", field->name, name);
        }
        return ald_schema_set_metadata(&env->host, field, doc_keys[i].key, yyjson_get_str(value),
                                       yyjson_get_len(value), err);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "column '%s': expected description, dtype, values or missing, found '%s'",
                         field->name, name);
}

static ald_status set_docs(cli_env *env, struct ArrowSchema *field, yyjson_val *docs,
                           ald_error *err)
{
    if (!yyjson_is_obj(docs)) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "column '%s': expected an object, found something else", field->name);
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(docs);
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key != NULL;
         key = yyjson_obj_iter_next(&iter)) {
        ald_status status =
            set_doc(env, field, yyjson_get_str(key), yyjson_obj_iter_get_val(key), err);
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

/* From column *at on, and then from the first: mostly the next one is meant. */
static struct ArrowSchema *find_field(struct ArrowSchema *schema, const char *name, int64_t *at)
{
    for (int64_t i = 0; i < schema->n_children; i++, (*at)++) {
        *at = *at < schema->n_children ? *at : 0;
        const char *other = schema->children[*at]->name;
        if (other != NULL && strcmp(other, name) == 0) {
            return schema->children[(*at)++];
        }
    }
    return NULL;
}

ald_status cli_column_docs_apply(cli_env *env, const char *path, struct ArrowSchema *schema,
                                 ald_error *err)
{
    yyjson_doc *doc = NULL;
    int64_t at = 0;
    ald_status status = read_object(env, path, &doc, err);
    if (status != ALD_OK) {
        return status;
    }
    yyjson_obj_iter iter = yyjson_obj_iter_with(yyjson_doc_get_root(doc));
    for (yyjson_val *key = yyjson_obj_iter_next(&iter); key != NULL && status == ALD_OK;
         key = yyjson_obj_iter_next(&iter)) {
        struct ArrowSchema *field = find_field(schema, yyjson_get_str(key), &at);
        if (field == NULL) {
            cli_hint_columns(env, schema);
            status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "no column '%s'",
                                   yyjson_get_str(key));
        } else {
            status = set_docs(env, field, yyjson_obj_iter_get_val(key), err);
        }
    }
    yyjson_doc_free(doc);
    return status;
}
