/* SPDX-License-Identifier: MIT */
/* Arrow's types as Croissant's. Lists are arrays of a shape, with -1 for a length that differs; structs, maps and unions have
 * subfields. Dictionaries and runs are how values are stored, and say nothing here. */
#include "card/croissant_field.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"

#define DEPTH_LIMIT 64
#define SHAPE_BYTES 200

typedef struct fields {
    yyjson_mut_doc *doc;
    const card_file *file;
    ald_error *err;
} fields;

static yyjson_mut_val *no_memory(ald_error *err)
{
    (void)ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for Croissant");
    return NULL;
}

/* ---- types */

static const char *media_type(uint16_t dataset_type)
{
    switch (dataset_type) {
    case ALD_DATASET_IMAGE_CLASSIFICATION:
    case ALD_DATASET_OBJECT_DETECTION:
    case ALD_DATASET_SEGMENTATION:
    case ALD_DATASET_IMAGE_PAIRS:
    case ALD_DATASET_IMAGE_TEXT:
        return "sc:ImageObject";
    case ALD_DATASET_AUDIO_CLASSIFICATION:
    case ALD_DATASET_SPEECH_RECOGNITION:
    case ALD_DATASET_SPEAKER_IDENTIFICATION:
    case ALD_DATASET_AUDIO_TEXT:
        return "sc:AudioObject";
    case ALD_DATASET_VIDEO:
    case ALD_DATASET_VIDEO_TEXT:
        return "sc:VideoObject";
    default:
        return "sc:Text"; /* Croissant has no type for bytes */
    }
}

/* The type of a format that is no container; *second is what it means besides. */
static const char *scalar_type(const fields *f, const char *format, const char **second)
{
    static const struct {
        const char *format, *type;
    } types[] = {{"b", "sc:Boolean"}, {"c", "cr:Int8"},    {"C", "cr:UInt8"},   {"s", "cr:Int16"},
                 {"S", "cr:UInt16"},  {"i", "cr:Int32"},   {"I", "cr:UInt32"},  {"l", "cr:Int64"},
                 {"L", "cr:UInt64"},  {"e", "cr:Float16"}, {"f", "cr:Float32"}, {"g", "cr:Float64"},
                 {"tdD", "sc:Date"},  {"tdm", "sc:Date"},  {"z", NULL},         {"Z", NULL},
                 {"vz", NULL}};
    *second = NULL;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (strcmp(types[i].format, format) == 0) {
            return types[i].type != NULL ? types[i].type : media_type(f->file->dataset_type);
        }
    }
    if (format[0] == 'w') {
        return media_type(f->file->dataset_type);
    }
    if (format[0] == 'd') {
        return "sc:Float";
    }
    if (strncmp(format, "ts", 2) == 0) {
        return "sc:DateTime";
    }
    if (strncmp(format, "tt", 2) == 0) {
        return "sc:Time";
    }
    if (strncmp(format, "tD", 2) == 0) {
        *second = "sc:Duration";
        return "cr:Int64";
    }
    return "sc:Text"; /* text, null, intervals */
}

/* The field that holds the values of a dictionary or of runs. */
static const struct ArrowSchema *stored_as(const struct ArrowSchema *field)
{
    for (int i = 0; i < DEPTH_LIMIT; i++) {
        if (field->dictionary != NULL) {
            field = field->dictionary;
        } else if (strcmp(field->format, "+r") == 0 && field->n_children == 2) {
            field = field->children[1];
        } else {
            break;
        }
    }
    return field;
}

static int is_list(const char *format)
{
    return strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0 || strcmp(format, "+vl") == 0 ||
           strcmp(format, "+vL") == 0 || strncmp(format, "+w:", 3) == 0;
}

/* The dimensions of arrow.fixed_shape_tensor: {"shape":[2,3], …}. */
static int tensor_shape(const struct ArrowSchema *field, char shape[SHAPE_BYTES])
{
    size_t size = 0;
    size_t used = 0;
    const char *name = ald_schema_get_metadata(field, "ARROW:extension:name", &size);
    static const char wanted[] = "arrow.fixed_shape_tensor";
    if (name == NULL || size != sizeof(wanted) - 1 || memcmp(name, wanted, size) != 0) {
        return 0;
    }
    const char *text = ald_schema_get_metadata(field, "ARROW:extension:metadata", &size);
    yyjson_doc *doc =
        text != NULL ? yyjson_read_opts((char *)(uintptr_t)text, size, 0, NULL, NULL) : NULL;
    yyjson_val *list = yyjson_obj_get(yyjson_doc_get_root(doc), "shape");
    yyjson_arr_iter iter = yyjson_arr_iter_with(list);
    for (yyjson_val *n; (n = yyjson_arr_iter_next(&iter)) != NULL;) {
        int made = snprintf(shape + used, SHAPE_BYTES - used, "%s%llu", used > 0 ? "," : "",
                            (unsigned long long)yyjson_get_uint(n));
        if (!yyjson_is_uint(n) || made < 0 || used + (size_t)made >= SHAPE_BYTES) {
            used = 0;
            break;
        }
        used += (size_t)made;
    }
    yyjson_doc_free(doc);
    return used > 0;
}

/* Goes through lists of lists to what they hold; `shape` is empty for no list. */
static const struct ArrowSchema *through_lists(const struct ArrowSchema *field,
                                               char shape[SHAPE_BYTES])
{
    size_t used = 0;
    int is_tensor = tensor_shape(field, shape);
    if (!is_tensor) {
        shape[0] = '\0';
    }
    field = stored_as(field);
    for (int i = 0; i < DEPTH_LIMIT && is_list(field->format) && field->n_children == 1; i++) {
        const char *length = strncmp(field->format, "+w:", 3) == 0 ? field->format + 3 : "-1";
        if (!is_tensor && used + strlen(length) + 2 < SHAPE_BYTES) {
            used += (size_t)snprintf(shape + used, SHAPE_BYTES - used, "%s%s", used > 0 ? "," : "",
                                     length);
        }
        field = stored_as(field->children[0]);
    }
    return field;
}

/* ---- one field */

static int add_text(const fields *f, yyjson_mut_val *object, const char *key, const char *text,
                    size_t size)
{
    return yyjson_mut_obj_add(object, yyjson_mut_strcpy(f->doc, key),
                              yyjson_mut_strncpy(f->doc, text, size));
}

/* What the documentation of a column says, in one text. */
static int add_description(const fields *f, yyjson_mut_val *object, const struct ArrowSchema *field)
{
    static const struct {
        const char *key, *before;
    } parts[] = {{ALD_COLUMN_DOC_DESCRIPTION, ""},
                 {ALD_COLUMN_DOC_DTYPE, "Type: "},
                 {ALD_COLUMN_DOC_VALUES, "Values: "},
                 {ALD_COLUMN_DOC_MISSING, "Missing: "}};
    size_t total = 0;
    size_t size = 0;
    for (size_t i = 0; i < 4; i++) {
        const char *text = ald_schema_get_metadata(field, parts[i].key, &size);
        total += text != NULL ? size + 16 : 0;
    }
    if (total == 0) {
        return 1;
    }
    char *all = malloc(total);
    size_t used = 0;
    for (size_t i = 0; all != NULL && i < 4; i++) {
        const char *text = ald_schema_get_metadata(field, parts[i].key, &size);
        if (text != NULL && size > 0) {
            used += (size_t)snprintf(all + used, total - used, "%s%s", used > 0 ? "\n" : "",
                                     parts[i].before);
            memcpy(all + used, text, size);
            used += size;
        }
    }
    int ok = all != NULL && (used == 0 || add_text(f, object, "description", all, used));
    free(all);
    return ok;
}

/* Where the values are: a column of the file, and for what is inside of it a path. */
static int add_source(const fields *f, yyjson_mut_val *object, const char *column, const char *path)
{
    yyjson_mut_val *source = yyjson_mut_obj_add_obj(f->doc, object, "source");
    yyjson_mut_val *from = yyjson_mut_obj_add_obj(f->doc, source, "fileObject");
    yyjson_mut_val *extract = yyjson_mut_obj_add_obj(f->doc, source, "extract");
    int ok = yyjson_mut_obj_add_str(f->doc, from, "@id", "file") &&
             add_text(f, extract, "column", column, strlen(column));
    if (ok && path[0] != '\0') {
        yyjson_mut_val *transform = yyjson_mut_obj_add_obj(f->doc, source, "transform");
        ok = add_text(f, transform, "jsonPath", path, strlen(path));
    }
    return ok;
}

static int add_type(const fields *f, yyjson_mut_val *object, const struct ArrowSchema *field)
{
    const char *second = NULL;
    const char *type = scalar_type(f, field->format, &second);
    if (second == NULL) {
        return yyjson_mut_obj_add_str(f->doc, object, "dataType", type);
    }
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(f->doc, object, "dataType");
    return yyjson_mut_arr_add_str(f->doc, list, type) &&
           yyjson_mut_arr_add_str(f->doc, list, second);
}

/* An id is unique, and has letters that every reader of JSON-LD leaves alone. */
static void make_id(char *out, size_t size, const char *parent, const char *name, int64_t index)
{
    size_t used = (size_t)snprintf(out, size, "%s/%lld-", parent, (long long)index);
    for (size_t i = 0; name[i] != '\0' && i < 40 && used + 1 < size; i++) {
        char c = name[i];
        int ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 c == '_' || c == '-';
        out[used++] = ok ? c : '_';
    }
    if (used < size) {
        out[used] = '\0';
    }
}

typedef struct place {
    const char *id, *column, *path;
    int depth;
} place;

static yyjson_mut_val *make_field(const fields *f, const struct ArrowSchema *field, int64_t index,
                                  const place *parent);

/* ["a"]["b"], in the form that a JSONPath has for any name; empty when it would get too long. */
static void make_path(char *out, size_t size, const place *parent, const char *name)
{
    size_t used =
        (size_t)snprintf(out, size, "%s[\"", parent->path[0] != '\0' ? parent->path : "$");
    for (size_t i = 0; name[i] != '\0' && used + 5 < size; i++) {
        if (name[i] == '"' || name[i] == '\\') {
            out[used++] = '\\';
        }
        out[used++] = name[i];
    }
    snprintf(out + used, size - used, "\"]");
}

/* A map is a list of entries, of which each has a key and a value. */
static int add_children(const fields *f, yyjson_mut_val *object, const struct ArrowSchema *field,
                        const place *at)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(f->doc, object, "subField");
    if (strcmp(field->format, "+m") == 0 && field->n_children == 1) {
        field = field->children[0];
    }
    for (int64_t i = 0; i < field->n_children; i++) {
        yyjson_mut_val *child = make_field(f, field->children[i], i, at);
        if (child == NULL || !yyjson_mut_arr_append(list, child)) {
            return 0;
        }
    }
    return list != NULL;
}

static int fill_field(const fields *f, yyjson_mut_val *object, const struct ArrowSchema *field,
                      const place *at)
{
    char shape[SHAPE_BYTES];
    const struct ArrowSchema *inner = through_lists(field, shape);
    int is_map = strcmp(inner->format, "+m") == 0;
    if (is_map) { /* its entries are one more dimension */
        size_t used = strlen(shape);
        snprintf(shape + used, sizeof(shape) - used, "%s-1", used > 0 ? "," : "");
    }
    int ok = add_description(f, object, field);
    if (ok && shape[0] != '\0') {
        ok = yyjson_mut_obj_add_bool(f->doc, object, "isArray", true) &&
             add_text(f, object, "arrayShape", shape, strlen(shape));
    }
    if (!ok || !add_source(f, object, at->column, at->path)) {
        return 0;
    }
    int has_children =
        is_map || strcmp(inner->format, "+s") == 0 || strncmp(inner->format, "+u", 2) == 0;
    return has_children && inner->n_children > 0 ? add_children(f, object, inner, at)
                                                 : add_type(f, object, inner);
}

static yyjson_mut_val *make_field(const fields *f, const struct ArrowSchema *field, int64_t index,
                                  const place *parent)
{
    char id[400];
    char path[1200];
    const char *name = field->name != NULL ? field->name : "";
    if (parent->depth > 24) {
        (void)ald_error_set(f->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                            "a column nests deeper than Croissant is written");
        return NULL;
    }
    make_id(id, sizeof(id), parent->id, name, index);
    path[0] = '\0';
    if (parent->column != NULL) {
        make_path(path, sizeof(path), parent, name);
    }
    const place at = {id, parent->column != NULL ? parent->column : name, path, parent->depth + 1};
    yyjson_mut_val *object = yyjson_mut_obj(f->doc);
    int ok = yyjson_mut_obj_add_str(f->doc, object, "@type", "cr:Field") &&
             add_text(f, object, "@id", id, strlen(id)) &&
             add_text(f, object, "name", name, strlen(name)) && fill_field(f, object, field, &at);
    if (!ok && f->err != NULL && f->err->status == ALD_OK) {
        return no_memory(f->err);
    }
    return ok ? object : NULL;
}

yyjson_mut_val *card_croissant_fields(yyjson_mut_doc *doc, const card_file *file, ald_error *err)
{
    ald_error why = {0};
    const fields f = {doc, file, &why};
    const place root = {"rows", NULL, "", 0};
    yyjson_mut_val *list = yyjson_mut_arr(doc);
    for (int64_t i = 0; list != NULL && i < file->schema->n_children; i++) {
        yyjson_mut_val *field = make_field(&f, file->schema->children[i], i, &root);
        if (field == NULL || !yyjson_mut_arr_append(list, field)) {
            (void)ald_error_set(err, why.status != ALD_OK ? (ald_status)why.status : ALD_E_NOMEM,
                                ALD_NO_OFFSET, "%s", why.msg[0] != '\0' ? why.msg : "no memory");
            return NULL;
        }
    }
    return list != NULL ? list : no_memory(err);
}
