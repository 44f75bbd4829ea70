/* SPDX-License-Identifier: MIT */
/* Every field is written out, also where Schema.fbs has a default: readers in other languages differ in what they think
 * an absent vector means. */
#include "core/arrow/ipc_write_schema.h"

#include <string.h>

#include "core/arrow/schema_build.h"

/* Members of Schema.fbs's union Type. */
typedef enum fb_type {
    FB_NULL = 1,
    FB_INT,
    FB_FLOATING_POINT,
    FB_BINARY,
    FB_UTF8,
    FB_BOOL,
    FB_DECIMAL,
    FB_DATE,
    FB_TIME,
    FB_TIMESTAMP,
    FB_INTERVAL,
    FB_LIST,
    FB_STRUCT,
    FB_UNION,
    FB_FIXED_SIZE_BINARY,
    FB_FIXED_SIZE_LIST,
    FB_MAP,
    FB_DURATION,
    FB_LARGE_BINARY,
    FB_LARGE_UTF8,
    FB_LARGE_LIST,
    FB_RUN_END_ENCODED,
    FB_BINARY_VIEW,
    FB_UTF8_VIEW,
    FB_LIST_VIEW,
    FB_LARGE_LIST_VIEW
} fb_type;

/* Indexed by ald__type_id. */
static const uint8_t fb_types[] = {
    [ALD__NULL] = FB_NULL,
    [ALD__BOOL] = FB_BOOL,
    [ALD__INT8] = FB_INT,
    [ALD__INT16] = FB_INT,
    [ALD__INT32] = FB_INT,
    [ALD__INT64] = FB_INT,
    [ALD__UINT8] = FB_INT,
    [ALD__UINT16] = FB_INT,
    [ALD__UINT32] = FB_INT,
    [ALD__UINT64] = FB_INT,
    [ALD__FLOAT16] = FB_FLOATING_POINT,
    [ALD__FLOAT32] = FB_FLOATING_POINT,
    [ALD__FLOAT64] = FB_FLOATING_POINT,
    [ALD__DECIMAL] = FB_DECIMAL,
    [ALD__DATE32] = FB_DATE,
    [ALD__DATE64] = FB_DATE,
    [ALD__TIME32] = FB_TIME,
    [ALD__TIME64] = FB_TIME,
    [ALD__TIMESTAMP] = FB_TIMESTAMP,
    [ALD__DURATION] = FB_DURATION,
    [ALD__INTERVAL_MONTHS] = FB_INTERVAL,
    [ALD__INTERVAL_DAY_TIME] = FB_INTERVAL,
    [ALD__INTERVAL_MONTH_DAY_NANO] = FB_INTERVAL,
    [ALD__BINARY] = FB_BINARY,
    [ALD__LARGE_BINARY] = FB_LARGE_BINARY,
    [ALD__BINARY_VIEW] = FB_BINARY_VIEW,
    [ALD__UTF8] = FB_UTF8,
    [ALD__LARGE_UTF8] = FB_LARGE_UTF8,
    [ALD__UTF8_VIEW] = FB_UTF8_VIEW,
    [ALD__FIXED_BINARY] = FB_FIXED_SIZE_BINARY,
    [ALD__LIST] = FB_LIST,
    [ALD__LARGE_LIST] = FB_LARGE_LIST,
    [ALD__LIST_VIEW] = FB_LIST_VIEW,
    [ALD__LARGE_LIST_VIEW] = FB_LARGE_LIST_VIEW,
    [ALD__FIXED_LIST] = FB_FIXED_SIZE_LIST,
    [ALD__STRUCT] = FB_STRUCT,
    [ALD__MAP] = FB_MAP,
    [ALD__SPARSE_UNION] = FB_UNION,
    [ALD__DENSE_UNION] = FB_UNION,
    [ALD__RUN_END] = FB_RUN_END_ENCODED,
};

/* A table of up to two numbers: what most types are. Size 0: none. */
static size_t fb_numbers(ald__fb *fb, uint8_t size0, uint64_t value0, uint8_t size1,
                         uint64_t value1)
{
    uint8_t sizes[2] = {size0, size1};
    size_t table = ald__fb_table(fb, sizes, 2);
    if (size0 > 0)
        ald__fb_set(fb, table, 0, size0, value0);
    if (size1 > 0)
        ald__fb_set(fb, table, 1, size1, value1);
    return table;
}

static size_t fb_int(ald__fb *fb, const ald__type *type)
{
    return fb_numbers(fb, 4, type->bit_width, 1, type->id <= ALD__INT64);
}

static size_t fb_decimal(ald__fb *fb, const ald__type *type)
{
    static const uint8_t sizes[] = {4, 4, 4};
    size_t table = ald__fb_table(fb, sizes, 3);
    ald__fb_set(fb, table, 0, 4, (uint32_t)type->precision);
    ald__fb_set(fb, table, 1, 4, (uint32_t)type->scale);
    ald__fb_set(fb, table, 2, 4, type->bit_width);
    return table;
}

static size_t fb_timestamp(ald__fb *fb, const ald__type *type)
{
    size_t zone_size = strlen(type->zone);
    uint8_t sizes[2] = {2, 0};
    size_t table;
    sizes[1] = zone_size > 0 ? 4 : 0;
    table = ald__fb_table(fb, sizes, 2);
    ald__fb_set(fb, table, 0, 2, type->unit);
    if (zone_size > 0)
        ald__fb_link_vector(fb, table, 1, ald__fb_string(fb, type->zone, zone_size));
    return table;
}

static size_t fb_union(ald__fb *fb, const ald__ipc_node *node)
{
    static const uint8_t sizes[] = {2, 4};
    size_t table = ald__fb_table(fb, sizes, 2), first;
    int8_t ids[128];
    if (fb->status == ALD_OK)
        fb->status = ald__type_union_ids(node->schema, ids, fb->err);
    ald__fb_set(fb, table, 0, 2, node->type.id == ALD__DENSE_UNION);
    first = ald__fb_vector(fb, node->child_count, 4, 4);
    for (size_t i = 0; fb->status == ALD_OK && i < node->child_count; i++)
        ald__fb_put32(fb, first + 4 * i, (uint32_t)ids[i]);
    ald__fb_link_vector(fb, table, 1, first);
    return table;
}

static size_t fb_type_table(ald__fb *fb, const ald__ipc_node *node)
{
    const ald__type *type = &node->type;
    switch (fb_types[type->id]) {
    case FB_INT:
        return fb_int(fb, type);
    case FB_FLOATING_POINT:
        return fb_numbers(fb, 2, (uint64_t)(type->id - ALD__FLOAT16), 0, 0);
    case FB_DECIMAL:
        return fb_decimal(fb, type);
    case FB_DATE:
        return fb_numbers(fb, 2, type->id == ALD__DATE64, 0, 0);
    case FB_TIME:
        return fb_numbers(fb, 2, type->unit, 4, type->bit_width);
    case FB_TIMESTAMP:
        return fb_timestamp(fb, type);
    case FB_DURATION:
        return fb_numbers(fb, 2, type->unit, 0, 0);
    case FB_INTERVAL:
        return fb_numbers(fb, 2, (uint64_t)(type->id - ALD__INTERVAL_MONTHS), 0, 0);
    case FB_UNION:
        return fb_union(fb, node);
    case FB_FIXED_SIZE_BINARY:
        return fb_numbers(fb, 4, (uint32_t)type->byte_width, 0, 0);
    case FB_FIXED_SIZE_LIST:
        return fb_numbers(fb, 4, (uint32_t)type->list_size, 0, 0);
    case FB_MAP:
        return fb_numbers(fb, 1, (node->schema->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0, 0, 0);
    default:
        return ald__fb_table(fb, NULL, 0);
    }
}

static size_t fb_dictionary(ald__fb *fb, const ald__ipc_node *node)
{
    static const uint8_t sizes[] = {8, 4, 1};
    size_t table = ald__fb_table(fb, sizes, 3);
    ald__fb_set(fb, table, 0, 8, node->dictionary);
    ald__fb_set(fb, table, 2, 1, (node->schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0);
    ald__fb_link_field(fb, table, 1, fb_int(fb, &node->type));
    return table;
}

static size_t metadata_count(const char *metadata)
{
    ald__metadata_iter iter = ald__metadata_begin(metadata);
    size_t count = 0;
    while (ald__metadata_next(&iter))
        count++;
    return count;
}

/* The [KeyValue] vector of a field or schema. */
static size_t fb_metadata(ald__fb *fb, const char *metadata)
{
    static const uint8_t sizes[] = {4, 4};
    ald__metadata_iter iter = ald__metadata_begin(metadata);
    size_t first = ald__fb_vector(fb, metadata_count(metadata), 4, 4);
    for (size_t slot = first; ald__metadata_next(&iter); slot += 4) {
        size_t pair = ald__fb_table(fb, sizes, 2);
        ald__fb_link(fb, slot, pair);
        ald__fb_link_vector(fb, pair, 0, ald__fb_string(fb, iter.key, iter.key_size));
        ald__fb_link_vector(fb, pair, 1, ald__fb_string(fb, iter.value, iter.value_size));
    }
    return first;
}

static size_t fb_fields(ald__fb *fb, const ald__ipc_tree *tree, uint32_t parent);

/* Fields: 0 name, 1 nullable, 2 type_type, 3 type, 4 dictionary, 5 children, 6 custom_metadata. A dictionary-encoded field
 * says the type and the children of its values. */
static size_t fb_field(ald__fb *fb, const ald__ipc_tree *tree, uint32_t index)
{
    const ald__ipc_node *node = &tree->nodes[index];
    int encoded = node->dictionary != ALD__NO_DICTIONARY;
    uint32_t values = encoded ? index + 1 : index;
    const char *name = ald__schema_name(node->schema);
    uint8_t sizes[7] = {4, 1, 1, 4, 0, 4, 0};
    size_t table;
    sizes[4] = encoded ? 4 : 0;
    sizes[6] = metadata_count(node->schema->metadata) > 0 ? 4 : 0;
    table = ald__fb_table(fb, sizes, 7);
    ald__fb_set(fb, table, 1, 1, (node->schema->flags & ARROW_FLAG_NULLABLE) != 0);
    ald__fb_set(fb, table, 2, 1, fb_types[tree->nodes[values].type.id]);
    ald__fb_link_vector(fb, table, 0, ald__fb_string(fb, name, strlen(name)));
    ald__fb_link_field(fb, table, 3, fb_type_table(fb, &tree->nodes[values]));
    if (encoded)
        ald__fb_link_field(fb, table, 4, fb_dictionary(fb, node));
    ald__fb_link_vector(fb, table, 5, fb_fields(fb, tree, values));
    if (sizes[6] > 0)
        ald__fb_link_vector(fb, table, 6, fb_metadata(fb, node->schema->metadata));
    return table;
}

/* The [Field] vector of a node's children. Recursion is bounded: the tree has at most ALD__MAX_TYPE_DEPTH levels. */
static size_t fb_fields(ald__fb *fb, const ald__ipc_tree *tree, uint32_t parent)
{
    const ald__ipc_node *node = &tree->nodes[parent];
    size_t first = ald__fb_vector(fb, node->child_count, 4, 4);
    uint32_t child = parent + 1;
    for (size_t i = 0; fb->status == ALD_OK && i < node->child_count; i++) {
        ald__fb_link(fb, first + 4 * i, fb_field(fb, tree, child));
        child = tree->nodes[child].next;
    }
    return first;
}

/* Fields: 0 endianness (0: little), 1 fields, 2 custom_metadata. */
size_t ald__fb_schema(ald__fb *fb, const ald__ipc_tree *tree)
{
    uint8_t sizes[3] = {2, 4, 0};
    size_t table;
    sizes[2] = metadata_count(tree->schema->metadata) > 0 ? 4 : 0;
    table = ald__fb_table(fb, sizes, 3);
    ald__fb_link_vector(fb, table, 1, fb_fields(fb, tree, 0));
    if (sizes[2] > 0)
        ald__fb_link_vector(fb, table, 2, fb_metadata(fb, tree->schema->metadata));
    return table;
}

/* Fields: 0 version, 1 header_type, 2 header, 3 bodyLength. */
size_t ald__fb_message(ald__fb *fb, ald__ipc_header type, uint64_t body_size)
{
    static const uint8_t sizes[] = {2, 1, 4, 8};
    size_t table = ald__fb_table(fb, sizes, 4);
    ald__fb_link_root(fb, table);
    ald__fb_set(fb, table, 0, 2, ALD__IPC_VERSION_V5);
    ald__fb_set(fb, table, 1, 1, type);
    ald__fb_set(fb, table, 3, 8, body_size);
    return table;
}

ald_status ald__fb_schema_message(const ald__ipc_tree *tree, ald_buffer *out, ald_error *err)
{
    ald__fb fb;
    size_t message;
    ald__fb_begin(&fb, out, err);
    message = ald__fb_message(&fb, ALD__IPC_HEADER_SCHEMA, 0);
    ald__fb_link_field(&fb, message, 2, ald__fb_schema(&fb, tree));
    return ald__fb_end(&fb);
}
