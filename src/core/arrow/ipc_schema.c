/* SPDX-License-Identifier: MIT */
/* Schema messages: Field tables into ArrowSchema nodes, then the numbers of dictionaries.
 *
 * A dictionary may be shared by fields: they name the same id, and must then have values of one type, for the decoded
 * dictionary is shared too. Ids are numbered by their first field in depth-first order, inner before outer, which puts
 * an inner dictionary before every outer one that holds it, because equal types hold the same inner ids. */
#include "core/arrow/ipc_schema.h"

#include "core/arrow/ipc_format.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/utf8.h"
#include "core/base/buf.h"
#include "core/base/checked.h"

typedef struct schema_reader {
    const ald_allocator *alloc;
    const ald__ipc_rules *rules;
    ald__flat flat;
    ald_buffer text; /* scratch: a format string or metadata */
    ald_buffer ids;  /* int64 for each encoded field, inner before outer */
    ald_error *err;
} schema_reader;

static int text_equal(const char *a, const char *b)
{
    size_t size = strlen(a);
    return strlen(b) == size && memcmp(a, b, size) == 0;
}

/* `what` as in "column name": text that ends up in C strings. */
static ald_status check_c_text(const schema_reader *r, const char *text, size_t size,
                               const char *what)
{
    const uint8_t *bytes = (const uint8_t *)text;
    if (ald__utf8_valid_prefix(bytes, size, NULL) != size)
        return ald__fail(r->err, ALD_E_INVALID_FORMAT, r->flat.base, "%s '%.*s' is not UTF-8", what,
                         (int)(size < 60 ? size : 60), text);
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\0')
            return ald__fail(r->err, r->rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_UNSUPPORTED,
                             r->flat.base, "%s '%.*s' is followed by a zero byte", what,
                             (int)(i < 60 ? i : 60), text);
    }
    return ALD_OK;
}

static ald_status read_field_name(schema_reader *r, const ald__flat_table *field,
                                  struct ArrowSchema *out)
{
    ald__flat_text name;
    ALD_TRY(ald__flat_string(&r->flat, field, FBS_FIELD_NAME, &name, r->err));
    ALD_TRY(check_c_text(r, name.data, name.size, "column name"));
    return ald__schema_set_name(out, name.data, name.size, r->err);
}

/* The vector of key-value tables in field `index` of a Field or Schema table. */
static ald_status read_pair_tables(schema_reader *r, const ald__flat_table *table, unsigned index,
                                   struct ArrowSchema *out)
{
    ald__flat_vector pairs;
    ALD_TRY(ald__flat_tables(&r->flat, table, index, &pairs, r->err));
    r->text.size = 0;
    for (size_t i = 0; i < pairs.count; i++) {
        ald__flat_table pair;
        ald__flat_text key, value;
        ALD_TRY(ald__flat_item(&r->flat, &pairs, i, &pair, r->err));
        ALD_TRY(ald__flat_string(&r->flat, &pair, FBS_PAIR_KEY, &key, r->err));
        ALD_TRY(ald__flat_string(&r->flat, &pair, FBS_PAIR_VALUE, &value, r->err));
        if (key.size > INT32_MAX || value.size > INT32_MAX)
            return ald__fail(r->err, ALD_E_LIMIT_EXCEEDED, r->flat.base, "metadata over 2 GiB");
        ALD_TRY(ald__metadata_append(&r->text, key.data, key.size, value.data, value.size, r->err));
    }
    if (r->text.size == 0)
        return ALD_OK;
    return ald__schema_set_metadata(out, r->text.data, r->text.size, r->err);
}

static ald_status set_format(schema_reader *r, struct ArrowSchema *out)
{
    ALD_TRY(check_c_text(r, (const char *)r->text.data, r->text.size, "time zone"));
    return ald__schema_set_format(out, (const char *)r->text.data, r->text.size, r->err);
}

/* Type and flags of the values; `name` is the column's. */
static ald_status read_values_type(schema_reader *r, const ald__flat_table *field,
                                   size_t child_count, const char *name, struct ArrowSchema *out)
{
    ald__flat_table table;
    int present;
    uint8_t type, sorted;
    ALD_TRY(ald__flat_u8(&r->flat, field, FBS_FIELD_TYPE_TYPE, 0, &type, r->err));
    ALD_TRY(ald__flat_child(&r->flat, field, FBS_FIELD_TYPE, &table, &present, r->err));
    if (!present || type == FBS_TYPE_NONE)
        return ald__fail(r->err, ALD_E_INVALID_FORMAT, r->flat.base + field->pos,
                         "column '%s' has no type", name);
    r->text.size = 0;
    ALD_TRY(ald__ipc_read_type(&r->flat, &table, type, child_count, name, &r->text, r->err));
    ALD_TRY(set_format(r, out));
    if (type == FBS_TYPE_MAP) {
        ALD_TRY(ald__flat_u8(&r->flat, &table, 0, 0, &sorted, r->err));
        if (sorted)
            out->flags |= ARROW_FLAG_MAP_KEYS_SORTED;
    }
    return ALD_OK;
}

/* The DictionaryEncoding table: index type and order into `out`, the id to the list. */
static ald_status read_encoding(schema_reader *r, const ald__flat_table *encoding,
                                struct ArrowSchema *out)
{
    ald__flat_table index_type;
    int64_t id;
    int16_t kind;
    uint8_t ordered;
    int present;
    ALD_TRY(ald__flat_i64(&r->flat, encoding, FBS_ENCODING_ID, 0, &id, r->err));
    ALD_TRY(ald__flat_child(&r->flat, encoding, FBS_ENCODING_INDEX_TYPE, &index_type, &present,
                            r->err));
    ALD_TRY(ald__flat_u8(&r->flat, encoding, FBS_ENCODING_ORDERED, 0, &ordered, r->err));
    ALD_TRY(ald__flat_i16(&r->flat, encoding, FBS_ENCODING_KIND, 0, &kind, r->err));
    if (kind != 0)
        return ald__fail(r->err, r->rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_UNSUPPORTED,
                         r->flat.base + encoding->pos, "column '%s': dictionary of kind %d",
                         out->name, kind);
    r->text.size = 0;
    if (present)
        ALD_TRY(ald__ipc_read_int_type(&r->flat, &index_type, out->name, &r->text, r->err));
    else
        ALD_TRY(ald__buffer_append_text(&r->text, "i", r->err));
    ALD_TRY(set_format(r, out));
    if (ordered)
        out->flags |= ARROW_FLAG_DICTIONARY_ORDERED;
    return ald__buffer_append(&r->ids, &id, sizeof id, r->err);
}

/* Files of others mark parts as nullable that never are; values are checked as if they were not, so the mark goes. */
static void repair_flags(const schema_reader *r, struct ArrowSchema *values)
{
    struct ArrowSchema *first;
    if (r->rules->strict || values->n_children == 0)
        return;
    first = values->children[0];
    if (text_equal(values->format, "+r"))
        first->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    if (!text_equal(values->format, "+m"))
        return;
    first->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
    if (first->n_children > 0)
        first->children[0]->flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
}

static ald_status read_field_table(schema_reader *r, const ald__flat_table *field, unsigned depth,
                                   struct ArrowSchema *out)
{
    struct ArrowSchema *values = out;
    ald__flat_vector children;
    ald__flat_table table;
    int encoded;
    uint8_t nullable;
    if (depth > ALD__MAX_TYPE_DEPTH)
        return ald__fail(r->err, ALD_E_LIMIT_EXCEEDED, r->flat.base + field->pos,
                         "types nest deeper than %d levels", ALD__MAX_TYPE_DEPTH);
    ALD_TRY(ald__flat_tables(&r->flat, field, FBS_FIELD_CHILDREN, &children, r->err));
    ALD_TRY(ald__flat_child(&r->flat, field, FBS_FIELD_DICTIONARY, &table, &encoded, r->err));
    ALD_TRY(ald__schema_new(r->alloc, encoded ? 0 : children.count, encoded, out, r->err));
    ALD_TRY(read_field_name(r, field, out));
    ALD_TRY(read_pair_tables(r, field, FBS_FIELD_METADATA, out));
    ALD_TRY(ald__flat_u8(&r->flat, field, FBS_FIELD_NULLABLE, 0, &nullable, r->err));
    out->flags = nullable ? ARROW_FLAG_NULLABLE : 0;
    if (encoded) {
        values = out->dictionary;
        ALD_TRY(ald__schema_new(r->alloc, children.count, 0, values, r->err));
        values->flags = ARROW_FLAG_NULLABLE;
    }
    ALD_TRY(read_values_type(r, field, children.count, out->name, values));
    for (size_t i = 0; i < children.count; i++) {
        ald__flat_table child;
        ALD_TRY(ald__flat_item(&r->flat, &children, i, &child, r->err));
        ALD_TRY(read_field_table(r, &child, depth + 1, values->children[i]));
    }
    repair_flags(r, values);
    return encoded ? read_encoding(r, &table, out) : ALD_OK;
}

static ald_status read_schema_table(schema_reader *r, const ald__flat_table *table,
                                    struct ArrowSchema *out)
{
    ald__flat_vector fields;
    int16_t endianness;
    ALD_TRY(ald__flat_i16(&r->flat, table, FBS_SCHEMA_ENDIANNESS, 0, &endianness, r->err));
    if (endianness != 0)
        return ald__fail(r->err, r->rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_UNSUPPORTED,
                         r->flat.base + table->pos, "the data is big-endian, not little-endian");
    ALD_TRY(ald__flat_tables(&r->flat, table, FBS_SCHEMA_FIELDS, &fields, r->err));
    ALD_TRY(ald__schema_new(r->alloc, fields.count, 0, out, r->err));
    ALD_TRY(ald__schema_set_format(out, "+s", 2, r->err));
    ALD_TRY(read_pair_tables(r, table, FBS_SCHEMA_METADATA, out));
    for (size_t i = 0; i < fields.count; i++) {
        ald__flat_table field;
        ALD_TRY(ald__flat_item(&r->flat, &fields, i, &field, r->err));
        ALD_TRY(read_field_table(r, &field, 1, out->children[i]));
    }
    return ALD_OK;
}

/* ---- Dictionary numbers */

/* Whether the values of two nodes of indices have one layout, nullability and inner dictionaries. */
static int same_values(const ald__ipc_schema *s, uint32_t x, uint32_t y)
{
    const int64_t flags = ARROW_FLAG_NULLABLE | ARROW_FLAG_MAP_KEYS_SORTED;
    uint32_t count = s->tree.nodes[x].next - x;
    if (s->tree.nodes[y].next - y != count)
        return 0;
    for (uint32_t i = 1; i < count; i++) {
        const ald__ipc_node *a = &s->tree.nodes[x + i], *b = &s->tree.nodes[y + i];
        if (!text_equal(a->schema->format, b->schema->format) || a->child_count != b->child_count ||
            (a->schema->flags & flags) != (b->schema->flags & flags) ||
            (a->dictionary == ALD__NO_DICTIONARY) != (b->dictionary == ALD__NO_DICTIONARY))
            return 0;
        if (a->dictionary != ALD__NO_DICTIONARY &&
            s->numbers[a->dictionary] != s->numbers[b->dictionary])
            return 0;
    }
    return 1;
}

/* From (id, field) pairs sorted by both to (id, number), numbers[field] and nodes[number]. `first` is scratch. */
static void number_ids(ald__ipc_schema *s, ald__pair *pairs, uint32_t *first)
{
    uint32_t groups = 0;
    for (size_t i = 0; i < s->field_count; i++) {
        if (i == 0 || pairs[i].a != pairs[i - 1].a)
            first[i] = (uint32_t)pairs[i].b;
        else
            first[i] = first[i - 1];
        s->numbers[pairs[i].b] = first[i];
    }
    for (size_t d = 0; d < s->field_count; d++) {
        uint32_t leader = s->numbers[d];
        if (leader != d) { /* a leader comes before its followers, and has its number by now */
            s->numbers[d] = s->numbers[leader];
            continue;
        }
        s->nodes[groups] = s->tree.dictionary_nodes[d];
        s->numbers[d] = groups++;
    }
    s->id_count = 0;
    for (size_t i = 0; i < s->field_count; i++) {
        if (i > 0 && pairs[i].a == pairs[i - 1].a)
            continue;
        s->ids[s->id_count].a = pairs[i].a;
        s->ids[s->id_count++].b = s->numbers[pairs[i].b];
    }
}

static ald_status resolve_ids(schema_reader *r, ald__ipc_schema *s)
{
    size_t count = s->field_count, i;
    ald__pair *pairs = NULL;
    uint32_t *first = NULL;
    ald_status status = ALD_E_NOMEM;
    if (count == 0)
        return ALD_OK;
    /* count * sizeof fits: a field took more bytes than this in memory already. */
    s->ids = ald__alloc_zero(&s->alloc, count * sizeof *s->ids, r->err);
    s->numbers = ald__alloc_zero(&s->alloc, count * sizeof *s->numbers, r->err);
    s->nodes = ald__alloc_zero(&s->alloc, count * sizeof *s->nodes, r->err);
    pairs = ald__alloc(&s->alloc, count * sizeof *pairs, r->err);
    first = ald__alloc(&s->alloc, count * sizeof *first, r->err);
    if (!s->ids || !s->numbers || !s->nodes || !pairs || !first)
        goto done;
    for (i = 0; i < count; i++) {
        memcpy(&pairs[i].a, r->ids.data + 8 * i, 8);
        pairs[i].b = i;
    }
    ald__pairs_sort(pairs, count);
    number_ids(s, pairs, first);
    status = ALD_OK;
    for (i = 0; i < count && status == ALD_OK; i++) {
        uint32_t node = s->tree.dictionary_nodes[i], leader = s->nodes[s->numbers[i]];
        if (!same_values(s, node, leader))
            status = ald__fail(r->err, ALD_E_INVALID_FORMAT, r->flat.base,
                               "columns '%s' and '%s' share a dictionary but not its type",
                               ald__schema_name(s->tree.nodes[leader].schema),
                               ald__schema_name(s->tree.nodes[node].schema));
    }
done:
    ald__release(&s->alloc, pairs, count * sizeof *pairs);
    ald__release(&s->alloc, first, count * sizeof *first);
    return status;
}

/* ---- The whole */

/* What the tree finds wrong with a caller's schema is wrong with the bytes here. */
static ald_status build_tree(const schema_reader *r, ald__ipc_schema *s)
{
    ald_status status = ald__ipc_tree_new(&s->alloc, &s->root, &s->tree, r->err);
    if (status == ALD_E_INVALID_ARG) {
        status = ALD_E_INVALID_FORMAT;
        if (r->err != NULL)
            r->err->status = ALD_E_INVALID_FORMAT;
    }
    if (status != ALD_OK && r->err != NULL && r->err->offset == ALD_NO_OFFSET)
        r->err->offset = r->flat.base;
    return status;
}

static ald_status schema_from_table(schema_reader *r, const ald__flat_table *table,
                                    ald__ipc_schema **out)
{
    ald__ipc_schema *s = ald__alloc_zero(r->alloc, sizeof *s, r->err);
    ald_status status = ALD_E_NOMEM;
    *out = NULL;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->alloc = *r->alloc;
    r->text.alloc = r->ids.alloc = &s->alloc;
    status = read_schema_table(r, table, &s->root);
    if (status == ALD_OK)
        status = build_tree(r, s);
    if (status == ALD_OK) {
        s->field_count = s->tree.dictionary_count;
        status = resolve_ids(r, s);
    }
    ald_buffer_clear(&r->text);
    ald_buffer_clear(&r->ids);
    if (status == ALD_OK)
        *out = s;
    else
        ald__ipc_schema_free(s);
    return status;
}

ald_status ald__ipc_schema_new(const ald_allocator *alloc, const ald__ipc_message *message,
                               const ald__ipc_rules *rules, ald__ipc_schema **out, ald_error *err)
{
    schema_reader r = {.alloc = alloc, .rules = rules, .err = err};
    ald__flat_table root, table;
    int present;
    *out = NULL;
    if (message->type != ALD__IPC_SCHEMA)
        return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                         "the first message is no schema");
    ald__flat_init(&r.flat, message->metadata, message->metadata_size, message->metadata_offset);
    ALD_TRY(ald__flat_root(&r.flat, &root, err));
    ALD_TRY(ald__flat_child(&r.flat, &root, FBS_MESSAGE_HEADER, &table, &present, err));
    if (!present)
        return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                         "the schema message is empty");
    return schema_from_table(&r, &table, out);
}

ald_status ald__ipc_schema_from_footer(const ald_allocator *alloc, const uint8_t *data, size_t size,
                                       uint64_t base_offset, size_t table,
                                       const ald__ipc_rules *rules, ald__ipc_schema **out,
                                       ald_error *err)
{
    schema_reader r = {.alloc = alloc, .rules = rules, .err = err};
    ald__flat_table schema;
    *out = NULL;
    ald__flat_init(&r.flat, data, size, base_offset);
    ALD_TRY(ald__flat_table_at(&r.flat, table, &schema, err));
    return schema_from_table(&r, &schema, out);
}

void ald__ipc_schema_free(ald__ipc_schema *schema)
{
    ald_allocator alloc;
    if (schema == NULL)
        return;
    alloc = schema->alloc;
    if (schema->tree.nodes != NULL)
        ald__ipc_tree_clear(&schema->tree);
    if (schema->root.release != NULL)
        schema->root.release(&schema->root);
    ald__release(&alloc, schema->ids, schema->field_count * sizeof *schema->ids);
    ald__release(&alloc, schema->numbers, schema->field_count * sizeof *schema->numbers);
    ald__release(&alloc, schema->nodes, schema->field_count * sizeof *schema->nodes);
    ald__release(&alloc, schema, sizeof *schema);
}

const struct ArrowSchema *ald__ipc_schema_get(const ald__ipc_schema *schema)
{
    return &schema->root;
}

size_t ald__ipc_schema_dictionary_count(const ald__ipc_schema *schema)
{
    return schema->id_count;
}

size_t ald__ipc_schema_find(const ald__ipc_schema *schema, int64_t id)
{
    size_t low = 0, high = schema->id_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (schema->ids[mid].a < (uint64_t)id)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == schema->id_count || schema->ids[low].a != (uint64_t)id)
        return SIZE_MAX;
    return (size_t)schema->ids[low].b;
}
