/* SPDX-License-Identifier: MIT */
/* From a field to its nodes, and what of its type is hashed: the letters of the C data interface, without what only says how
 * values are stored. */
#include <string.h>

#include "ald/schema.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/format.h"
#include "core/crypto/digest.h"
#include "core/dataset/content_node.h"

/* A level of types may be a dictionary's index and its value, or runs. */
#define MOST_LEVELS (3u * ALD__MAX_TYPE_DEPTH)
#define TYPE_TEXT_BYTES 48

static const char extension_name[] = "ARROW:extension:name";
static const char extension_metadata[] = "ARROW:extension:metadata";

typedef struct node_maker {
    const ald_host *host;
    ald_buffer *type;
    ald_error *err;
} node_maker;

static ald_status add_size(const node_maker *m, uint64_t value)
{
    uint8_t bytes[8];
    ald__store_le64(bytes, value);
    return ald__buffer_append(m->type, bytes, sizeof bytes, m->err);
}

static ald_status add_string(const node_maker *m, const char *text, size_t size)
{
    ALD_TRY(add_size(m, size));
    return ald__buffer_append(m->type, text, size, m->err);
}

/* F-453. `names` is the outermost of the fields that make up this one, and has an extension type; or NULL. */
static ald_status add_extension(const node_maker *m, const struct ArrowSchema *names)
{
    const uint8_t present = names != NULL;
    size_t size;
    const char *text;
    ALD_TRY(ald__buffer_append(m->type, &present, 1, m->err));
    if (!present)
        return ALD_OK;
    text = ald_schema_get_metadata(names, extension_name, &size);
    ALD_TRY(add_string(m, text, size));
    text = ald_schema_get_metadata(names, extension_metadata, &size);
    return add_string(m, text != NULL ? text : "", size);
}

/* F-452: one text for all ways to store a type. Those with texts of their own (zones, ids of unions) are the caller's. */
static const char *plain_format(const struct ArrowSchema *field, const ald__type *type, char *buf)
{
    switch (type->id) {
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
    case ALD__UTF8_VIEW:
        return "u";
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__BINARY_VIEW:
        return "z";
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return "+l";
    case ALD__DECIMAL:
        (void)ald__format(buf, TYPE_TEXT_BYTES, "d:%d,%d,%d", type->precision, type->scale,
                          type->byte_width * 8);
        return buf;
    case ALD__FIXED_BINARY:
        (void)ald__format(buf, TYPE_TEXT_BYTES, "w:%d", type->byte_width);
        return buf;
    case ALD__FIXED_LIST:
        (void)ald__format(buf, TYPE_TEXT_BYTES, "+w:%d", type->list_size);
        return buf;
    default:
        return field->format;
    }
}

static ald_status add_union_format(const node_maker *m, const struct ArrowSchema *field)
{
    char text[4 + 128 * 4] = "+us:";
    size_t used = 4;
    int8_t ids[128];
    ALD_TRY(ald__type_union_ids(field, ids, m->err));
    for (int64_t i = 0; i < field->n_children; i++)
        used += ald__format(text + used, sizeof text - used, i == 0 ? "%d" : ",%d", (int)ids[i]);
    return add_string(m, text, used);
}

static ald_status add_format(const node_maker *m, const struct ArrowSchema *field,
                             const ald__type *type)
{
    char buf[TYPE_TEXT_BYTES];
    const char *text;
    if (ald__type_is_union(type))
        return add_union_format(m, field);
    text = plain_format(field, type, buf);
    return add_string(m, text, strlen(text));
}

static ald__content_kind kind_of(ald__type_id id)
{
    switch (id) {
    case ALD__NULL:
        return ALD__CONTENT_NULL;
    case ALD__BOOL:
        return ALD__CONTENT_BOOL;
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return ALD__CONTENT_TEXT;
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return ALD__CONTENT_VIEW;
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return ALD__CONTENT_LIST;
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return ALD__CONTENT_LIST_VIEW;
    case ALD__FIXED_LIST:
        return ALD__CONTENT_FIXED_LIST;
    case ALD__STRUCT:
        return ALD__CONTENT_STRUCT;
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return ALD__CONTENT_UNION;
    case ALD__RUN_END:
        return ALD__CONTENT_RUN_END;
    default:
        return ALD__CONTENT_FIXED;
    }
}

static ald_status open_stream(const node_maker *m, ald__content_stream *stream)
{
    return m->host->crypto->blake3_new(&m->host->alloc, NULL, &stream->state, m->err);
}

/* F-455: which streams a type has. */
static ald_status open_streams(const node_maker *m, ald__content_node *node)
{
    ALD_TRY(open_stream(m, &node->nulls));
    switch (node->kind) {
    case ALD__CONTENT_TEXT:
    case ALD__CONTENT_VIEW:
        ALD_TRY(open_stream(m, &node->lengths));
        return open_stream(m, &node->data);
    case ALD__CONTENT_LIST:
    case ALD__CONTENT_LIST_VIEW:
        return open_stream(m, &node->lengths);
    case ALD__CONTENT_BOOL:
    case ALD__CONTENT_FIXED:
    case ALD__CONTENT_UNION:
        return open_stream(m, &node->data);
    default:
        return ALD_OK;
    }
}

static ald_status add_children(const node_maker *m, ald__content_node *node, size_t count)
{
    if (count == 0)
        return ALD_OK;
    node->children = ald__alloc_zero(&m->host->alloc, count * sizeof *node->children, m->err);
    if (node->children == NULL)
        return ALD_E_NOMEM;
    node->child_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        ald__content_node *child = &node->children[i];
        child->host = m->host;
        child->spans =
            ald__alloc(&m->host->alloc, ALD__CONTENT_SPANS * sizeof *child->spans, m->err);
        if (child->spans == NULL)
            return ALD_E_NOMEM;
    }
    return ALD_OK;
}

static ald_status make_node(const node_maker *m, ald__content_node *node,
                            const struct ArrowSchema *field, const struct ArrowSchema *names,
                            unsigned level);

/* A field whose children are hashed: `parts` holds them (of a map, those of its entries). */
static ald_status make_nested(const node_maker *m, ald__content_node *node,
                              const struct ArrowSchema *parts, int with_names, unsigned level)
{
    ALD_TRY(add_size(m, (uint64_t)parts->n_children));
    ALD_TRY(add_children(m, node, (size_t)parts->n_children));
    for (uint32_t i = 0; i < node->child_count; i++) {
        const char *name = ald__schema_name(parts->children[i]);
        if (with_names)
            ALD_TRY(add_string(m, name, strlen(name)));
        ALD_TRY(make_node(m, &node->children[i], parts->children[i], NULL, level));
    }
    return ALD_OK;
}

static ald_status note_codes(const node_maker *m, ald__content_node *node,
                             const struct ArrowSchema *field)
{
    int8_t ids[128];
    ALD_TRY(ald__type_union_ids(field, ids, m->err));
    for (int64_t i = 0; i < field->n_children; i++)
        node->child_of_code[ids[i]] = (uint8_t)i;
    return ALD_OK;
}

/* A node that stands for the values of another one. */
static ald_status make_encoded(const node_maker *m, ald__content_node *node, ald__content_kind kind,
                               const struct ArrowSchema *values, const struct ArrowSchema *names,
                               unsigned level)
{
    node->kind = (uint8_t)kind;
    ALD_TRY(add_children(m, node, 1));
    return make_node(m, &node->children[0], values, names, level);
}

static ald_status make_plain(const node_maker *m, ald__content_node *node,
                             const struct ArrowSchema *field, const ald__type *type,
                             const struct ArrowSchema *names, unsigned level)
{
    int named = type->id == ALD__STRUCT || ald__type_is_union(type);
    node->kind = (uint8_t)kind_of(type->id);
    node->list_size = type->list_size;
    node->is_map = type->id == ALD__MAP;
    if (ald__type_offset_width(type) > 0)
        node->width = ald__type_offset_width(type);
    if (ald__type_is_union(type)) {
        node->width = type->id == ALD__DENSE_UNION ? 4 : 0;
        ALD_TRY(note_codes(m, node, field));
    }
    ALD_TRY(add_format(m, field, type));
    ALD_TRY(add_extension(m, names));
    ALD_TRY(open_streams(m, node));
    return make_nested(m, node, node->is_map ? field->children[0] : field, named, level);
}

static ald_status make_node(const node_maker *m, ald__content_node *node,
                            const struct ArrowSchema *field, const struct ArrowSchema *names,
                            unsigned level)
{
    ald__type type;
    size_t size;
    if (level > MOST_LEVELS)
        return ald__fail(m->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "types nest too deep");
    ALD_TRY(ald__type_of(field, &type, m->err));
    node->host = m->host;
    node->has_validity = type.has_validity;
    node->width = type.bit_width / 8;
    if (names == NULL && ald_schema_get_metadata(field, extension_name, &size) != NULL)
        names = field;
    if (field->dictionary != NULL)
        return make_encoded(m, node, ALD__CONTENT_DICTIONARY, field->dictionary, names, level + 1);
    if (type.id == ALD__RUN_END) {
        ald__type ends;
        ALD_TRY(ald__type_of(field->children[0], &ends, m->err));
        node->width = ends.bit_width / 8;
        return make_encoded(m, node, ALD__CONTENT_RUN_END, field->children[1], names, level + 1);
    }
    return make_plain(m, node, field, &type, names, level + 1);
}

ald_status ald__content_node_init(ald__content_node *node, const struct ArrowSchema *field,
                                  const ald_host *host, ald_buffer *type, ald_error *err)
{
    const node_maker m = {host, type, err};
    return make_node(&m, node, field, NULL, 0);
}

static void clear_stream(ald__content_node *node, ald__content_stream *stream)
{
    if (stream->state == NULL)
        return;
    ald__content_flush(node, stream);
    node->host->crypto->blake3_finish(stream->state, NULL);
    stream->state = NULL;
}

void ald__content_node_clear(ald__content_node *node)
{
    if (node->host == NULL)
        return;
    clear_stream(node, &node->nulls);
    clear_stream(node, &node->lengths);
    clear_stream(node, &node->data);
    for (uint32_t i = 0; i < node->child_count; i++)
        ald__content_node_clear(&node->children[i]);
    ald__release(&node->host->alloc, node->children, node->child_count * sizeof *node->children);
    ald__release(&node->host->alloc, node->spans, ALD__CONTENT_SPANS * sizeof *node->spans);
    memset(node, 0, sizeof *node);
}
