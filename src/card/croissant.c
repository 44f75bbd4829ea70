/* SPDX-License-Identifier: MIT */
#include "card/croissant.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "card/card_text.h"
#include "card/card_value.h"
#include "card/croissant_field.h"
#include "card/spdx.h"

typedef struct croissant {
    yyjson_mut_doc *doc;
    yyjson_mut_val *root;
    const ald_value *metadata;
    const card_file *file;
} croissant;

/* The context that the specification of 1.1 gives. */
static const struct {
    const char *key, *id, *type;
} context[] = {{"@language", "en", NULL},
               {"@vocab", "https://schema.org/", NULL},
               {"arrayShape", "cr:arrayShape", NULL},
               {"citeAs", "cr:citeAs", NULL},
               {"column", "cr:column", NULL},
               {"conformsTo", "dct:conformsTo", NULL},
               {"containedIn", "cr:containedIn", NULL},
               {"cr", "http://mlcommons.org/croissant/", NULL},
               {"data", "cr:data", "@json"},
               {"dataType", "cr:dataType", "@vocab"},
               {"dct", "http://purl.org/dc/terms/", NULL},
               {"description", NULL, "@language"},
               {"equivalentProperty", "cr:equivalentProperty", NULL},
               {"examples", "cr:examples", "@json"},
               {"extract", "cr:extract", NULL},
               {"field", "cr:field", NULL},
               {"fileObject", "cr:fileObject", NULL},
               {"fileProperty", "cr:fileProperty", NULL},
               {"fileSet", "cr:fileSet", NULL},
               {"format", "cr:format", NULL},
               {"includes", "cr:includes", NULL},
               {"isArray", "cr:isArray", NULL},
               {"isLiveDataset", "cr:isLiveDataset", NULL},
               {"jsonPath", "cr:jsonPath", NULL},
               {"key", "cr:key", NULL},
               {"md5", "cr:md5", NULL},
               {"name", NULL, "@language"},
               {"parentField", "cr:parentField", NULL},
               {"path", "cr:path", NULL},
               {"rai", "http://mlcommons.org/croissant/RAI/", NULL},
               {"recordSet", "cr:recordSet", NULL},
               {"references", "cr:references", NULL},
               {"regex", "cr:regex", NULL},
               {"repeated", "cr:repeated", NULL},
               {"replace", "cr:replace", NULL},
               {"samplingRate", "cr:samplingRate", NULL},
               {"sc", "https://schema.org/", NULL},
               {"separator", "cr:separator", NULL},
               {"source", "cr:source", NULL},
               {"subField", "cr:subField", NULL},
               {"transform", "cr:transform", NULL}};

static int put_context(const croissant *c)
{
    yyjson_mut_val *object = yyjson_mut_obj_add_obj(c->doc, c->root, "@context");
    int ok = object != NULL;
    for (size_t i = 0; i < sizeof(context) / sizeof(context[0]) && ok; i++) {
        if (context[i].type == NULL) {
            ok = yyjson_mut_obj_add_str(c->doc, object, context[i].key, context[i].id);
            continue;
        }
        yyjson_mut_val *inner = yyjson_mut_obj_add_obj(c->doc, object, context[i].key);
        ok = context[i].id == NULL
                 ? yyjson_mut_obj_add_str(c->doc, inner, "@container", context[i].type)
                 : yyjson_mut_obj_add_str(c->doc, inner, "@id", context[i].id) &&
                       yyjson_mut_obj_add_str(c->doc, inner, "@type", context[i].type);
    }
    return ok;
}

/* ---- texts of the card */

static int put_text(const croissant *c, const char *key, const char *text, size_t size)
{
    return yyjson_mut_obj_add(c->root, yyjson_mut_str(c->doc, key),
                              yyjson_mut_strncpy(c->doc, text, size));
}

static int put_string(const croissant *c, const char *key, const char *from)
{
    size_t size = 0;
    const char *text = card_find_string(c->metadata, from, &size);
    return size == 0 || put_text(c, key, text, size);
}

/* A list of texts, or one. */
static int put_list(const croissant *c, const char *key, const char *from)
{
    const ald_value *list = ald_value_find(c->metadata, from);
    if (!card_is_array(list) || card_count(list) == 0) {
        return put_string(c, key, from);
    }
    yyjson_mut_val *array = yyjson_mut_obj_add_arr(c->doc, c->root, key);
    int ok = array != NULL;
    for (size_t i = 0; i < card_count(list) && ok; i++) {
        size_t size = 0;
        const char *text = card_string(ald_value_get_item(list, i), &size);
        ok = size == 0 || yyjson_mut_arr_add_strncpy(c->doc, array, text, size);
    }
    return ok;
}

static int is_url(const char *text, size_t size)
{
    return (size > 8 && memcmp(text, "https://", 8) == 0) ||
           (size > 7 && memcmp(text, "http://", 7) == 0);
}

/* The page of an id of the SPDX list; an expression as it is; else where the license can be read. */
static int put_license(const croissant *c)
{
    card_spdx license;
    char url[CARD_SPDX_BYTES + 40];
    size_t size = 0;
    size_t link_size = 0;
    const char *text = card_find_string(c->metadata, "license", &size);
    const char *link = card_find_string(c->metadata, "license_link", &link_size);
    if (size > 0 && card_spdx_read(text, size, &license, NULL) == ALD_OK && license.is_listed_id) {
        snprintf(url, sizeof(url), "https://spdx.org/licenses/%s.html", license.text);
        return put_text(c, "license", url, strlen(url));
    }
    if (is_url(link, link_size)) {
        return put_text(c, "license", link, link_size);
    }
    return size == 0 || put_text(c, "license", text, size);
}

static int add_copy(const croissant *c, yyjson_mut_val *object, const char *key,
                    const ald_value *map, const char *from)
{
    size_t size = 0;
    const char *text = card_find_string(map, from, &size);
    return size == 0 || yyjson_mut_obj_add_strncpy(c->doc, object, key, text, size);
}

static int put_sources(const croissant *c)
{
    const ald_value *list = ald_value_find(c->metadata, "sources");
    if (!card_is_array(list) || card_count(list) == 0) {
        return 1;
    }
    yyjson_mut_val *array = yyjson_mut_obj_add_arr(c->doc, c->root, "isBasedOn");
    int ok = array != NULL;
    for (size_t i = 0; i < card_count(list) && ok; i++) {
        const ald_value *source = ald_value_get_item(list, i);
        if (card_is_map(source)) {
            yyjson_mut_val *work = yyjson_mut_arr_add_obj(c->doc, array);
            ok = yyjson_mut_obj_add_str(c->doc, work, "@type", "sc:CreativeWork") &&
                 add_copy(c, work, "name", source, "name") &&
                 add_copy(c, work, "url", source, "url") &&
                 add_copy(c, work, "description", source, "description") &&
                 add_copy(c, work, "license", source, "license");
        }
    }
    return ok;
}

/* `creator` is no key that the format knows, but people write it: a name, or a list of them. */
static int put_creators(const croissant *c)
{
    const ald_value *value = ald_value_find(c->metadata, "creator");
    size_t count = card_is_array(value) ? card_count(value) : card_is_string(value) ? 1 : 0;
    yyjson_mut_val *array =
        count > 0 ? yyjson_mut_obj_add_arr(c->doc, c->root, "creator") : c->root;
    int ok = array != NULL;
    for (size_t i = 0; i < count && ok; i++) {
        size_t size = 0;
        const char *text =
            card_string(card_is_array(value) ? ald_value_get_item(value, i) : value, &size);
        if (size > 0) {
            yyjson_mut_val *person = yyjson_mut_arr_add_obj(c->doc, array);
            ok = yyjson_mut_obj_add_str(c->doc, person, "@type", "sc:Person") &&
                 yyjson_mut_obj_add_strncpy(c->doc, person, "name", text, size);
        }
    }
    return ok;
}

static int put_card(const croissant *c)
{
    size_t size = 0;
    const char *name = card_find_string(c->metadata, "name", &size);
    const char *made = card_find_string(c->metadata, "created_at", &size);
    int has_time = made != NULL && card_text_is_time(made, size);
    yyjson_mut_val *conforms = yyjson_mut_obj_add_arr(c->doc, c->root, "conformsTo");
    return yyjson_mut_arr_add_str(c->doc, conforms, "http://mlcommons.org/croissant/1.1") &&
           yyjson_mut_arr_add_str(c->doc, conforms, "http://mlcommons.org/croissant/RAI/1.0") &&
           (name != NULL ? put_string(c, "name", "name")
                         : put_text(c, "name", c->file->name, strlen(c->file->name))) &&
           put_string(c, "description", "description") && put_license(c) &&
           put_string(c, "version", "version") && put_string(c, "citeAs", "citation") &&
           (!has_time || put_text(c, "datePublished", made, size)) &&
           put_list(c, "keywords", "tags") && put_list(c, "inLanguage", "language") &&
           put_creators(c) && put_sources(c) && put_list(c, "rai:dataUseCases", "intended_uses") &&
           put_list(c, "rai:dataLimitations", "limitations");
}

/* ---- the file and its rows */

static int put_file(const croissant *c)
{
    char size[32];
    const char *url = c->file->url != NULL ? c->file->url : c->file->name;
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(c->doc, c->root, "distribution");
    yyjson_mut_val *file = yyjson_mut_arr_add_obj(c->doc, list);
    snprintf(size, sizeof(size), "%" PRIu64 " B", c->file->size_bytes);
    return yyjson_mut_obj_add_str(c->doc, file, "@type", "cr:FileObject") &&
           yyjson_mut_obj_add_str(c->doc, file, "@id", "file") &&
           yyjson_mut_obj_add_str(c->doc, file, "name", c->file->name) &&
           yyjson_mut_obj_add_str(c->doc, file, "contentUrl", url) &&
           yyjson_mut_obj_add_strcpy(c->doc, file, "contentSize", size) &&
           yyjson_mut_obj_add_str(c->doc, file, "encodingFormat",
                                  "application/vnd.alimentar.ald") &&
           yyjson_mut_obj_add_str(c->doc, file, "sha256", c->file->sha256);
}

static int put_rows(const croissant *c, ald_error *err)
{
    char text[64];
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(c->doc, c->root, "recordSet");
    yyjson_mut_val *rows = yyjson_mut_arr_add_obj(c->doc, list);
    snprintf(text, sizeof(text), "%" PRIu64 " rows", c->file->row_count);
    yyjson_mut_val *fields = card_croissant_fields(c->doc, c->file, err);
    return fields != NULL && yyjson_mut_obj_add_str(c->doc, rows, "@type", "cr:RecordSet") &&
           yyjson_mut_obj_add_str(c->doc, rows, "@id", "rows") &&
           yyjson_mut_obj_add_str(c->doc, rows, "name", "rows") &&
           yyjson_mut_obj_add_strcpy(c->doc, rows, "description", text) &&
           yyjson_mut_obj_add_val(c->doc, rows, "field", fields);
}

/* JSON in a page ends at </script>; a < is only ever in a text. */
static ald_status put_safely(const char *text, size_t size, ald_buffer *out, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    ald_status status = ALD_OK;
    while (size > 0 && status == ALD_OK) {
        const char *found = memchr(text, '<', size);
        size_t part = found != NULL ? (size_t)(found - text) : size;
        if (part > 0) {
            status = sink.write(sink.ctx, text, part, err);
        }
        if (status == ALD_OK && found != NULL) {
            status = sink.write(sink.ctx, "\\u003c", 6, err);
            part++;
        }
        text += part;
        size -= part;
    }
    return status == ALD_OK ? sink.write(sink.ctx, "\n", 1, err) : status;
}

ald_status card_croissant_write(const ald_value *metadata, const card_file *file, ald_buffer *out,
                                ald_error *err)
{
    ald_error why = {0};
    croissant c = {yyjson_mut_doc_new(NULL), NULL, metadata, file};
    size_t size = 0;
    char *text = NULL;
    c.root = yyjson_mut_obj(c.doc);
    if (c.root != NULL && put_context(&c) &&
        yyjson_mut_obj_add_str(c.doc, c.root, "@type", "sc:Dataset") && put_card(&c) &&
        put_file(&c) && put_rows(&c, &why)) {
        yyjson_mut_doc_set_root(c.doc, c.root);
        text = yyjson_mut_write(c.doc, YYJSON_WRITE_PRETTY_TWO_SPACES, &size);
    }
    ald_status status = ALD_OK;
    if (text == NULL) {
        status = ald_error_set(err, why.status != ALD_OK ? (ald_status)why.status : ALD_E_NOMEM,
                               ALD_NO_OFFSET, "%s",
                               why.msg[0] != '\0' ? why.msg : "no memory for Croissant");
    } else {
        status = put_safely(text, size, out, err);
    }
    free(text);
    yyjson_mut_doc_free(c.doc);
    return status;
}
