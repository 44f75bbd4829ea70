/* SPDX-License-Identifier: MIT */
/* Dictionaries begin empty: a column of nothing but nulls may come before its dictionary does. */
#include "core/arrow/array.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/concat.h"
#include "core/arrow/ipc_column.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"

typedef struct dictionary_entry {
    ald__array_holder *values;
    size_t seen;
    uint64_t replaced_at; /* by the set's clock: since then values were appended only */
    uint64_t read_at;     /* last batch */
} dictionary_entry;

struct ald__ipc_dictionaries {
    ald_allocator alloc;
    const ald__ipc_schema *schema;
    dictionary_entry *entries;
    uint64_t clock; /* batches read */
};

void ald__ipc_columns_init(ald__ipc_columns *columns, const ald__ipc_dictionaries *dictionaries,
                           const ald__ipc_message *message, const ald__ipc_rules *rules,
                           ald__shared *backing, ald_error *err)
{
    memset(columns, 0, sizeof *columns);
    columns->alloc = &dictionaries->alloc;
    columns->schema = dictionaries->schema;
    columns->dictionaries = dictionaries;
    columns->message = message;
    columns->rules = rules;
    columns->backing = backing;
    columns->err = err;
}

/* An array without slots, of tree node `index`. */
static ald_status empty_array(const ald__ipc_dictionaries *d, uint32_t index,
                              struct ArrowArray *out, ald_error *err)
{
    const ald__ipc_node *node = &d->schema->tree.nodes[index];
    size_t buffers = node->type.buffer_count + (size_t)ald__type_is_view(&node->type);
    uint32_t child = index + 1;
    ALD_TRY(ald__array_new(&d->alloc, buffers, node->child_count,
                           node->dictionary != ALD__NO_DICTIONARY, out, err));
    for (size_t i = node->type.has_validity; i < buffers; i++)
        out->buffers[i] = ald__ipc_zeros;
    if (node->dictionary != ALD__NO_DICTIONARY)
        return ald__ipc_dictionaries_share(d, d->schema->numbers[node->dictionary], out->dictionary,
                                           err);
    for (uint32_t i = 0; i < node->child_count; i++) {
        ALD_TRY(empty_array(d, child, out->children[i], err));
        child = d->schema->tree.nodes[child].next;
    }
    return ALD_OK;
}

/* Makes *values, whose ownership passes, the dictionary of number `index`. */
static ald_status set_values(ald__ipc_dictionaries *d, size_t index, struct ArrowArray *values,
                             ald_error *err)
{
    ald__array_holder *holder;
    ald_status status = ald__array_holder_new(&d->alloc, values, &holder, err);
    if (status != ALD_OK) {
        values->release(values);
        return status;
    }
    ald__array_holder_free(d->entries[index].values);
    d->entries[index].values = holder;
    return ALD_OK;
}

static ald_status set_empty(ald__ipc_dictionaries *d, size_t index, ald_error *err)
{
    struct ArrowArray array = {.release = NULL};
    ald_status status = empty_array(d, d->schema->nodes[index] + 1, &array, err);
    if (status == ALD_OK)
        return set_values(d, index, &array, err);
    if (array.release != NULL)
        array.release(&array);
    return status;
}

ald_status ald__ipc_dictionaries_new(const ald_allocator *alloc, const ald__ipc_schema *schema,
                                     ald__ipc_dictionaries **out, ald_error *err)
{
    ald__ipc_dictionaries *d = ald__alloc_zero(alloc, sizeof *d, err);
    ald_status status = ALD_OK;
    *out = NULL;
    if (d == NULL)
        return ALD_E_NOMEM;
    d->alloc = *alloc;
    d->schema = schema;
    d->entries = ald__alloc_zero(alloc, schema->id_count * sizeof *d->entries, err);
    if (d->entries == NULL)
        status = ALD_E_NOMEM;
    for (size_t i = 0; i < schema->id_count && status == ALD_OK; i++)
        status = set_empty(d, i, err);
    if (status == ALD_OK)
        *out = d;
    else
        ald__ipc_dictionaries_free(d);
    return status;
}

void ald__ipc_dictionaries_free(ald__ipc_dictionaries *d)
{
    ald_allocator alloc;
    if (d == NULL)
        return;
    alloc = d->alloc;
    for (size_t i = 0; d->entries != NULL && i < d->schema->id_count; i++)
        ald__array_holder_free(d->entries[i].values);
    ald__release(&alloc, d->entries, d->schema->id_count * sizeof *d->entries);
    ald__release(&alloc, d, sizeof *d);
}

size_t ald__ipc_dictionaries_seen(const ald__ipc_dictionaries *d, size_t index)
{
    return d->entries[index].seen;
}

ald_status ald__ipc_dictionaries_share(const ald__ipc_dictionaries *d, size_t index,
                                       struct ArrowArray *out, ald_error *err)
{
    return ald__array_holder_share(d->entries[index].values, out, err);
}

/* ---- Dictionary batches */

static ald_status find_number(const ald__ipc_schema *schema, const ald__ipc_walk *walk, size_t *out,
                              ald_error *err)
{
    *out = ald__ipc_schema_find(schema, walk->dictionary_id);
    if (*out != SIZE_MAX)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, walk->message->metadata_offset,
                     "a dictionary of id %lld, which no column has",
                     (long long)walk->dictionary_id);
}

static ald_status check_is_dictionary(const ald__ipc_message *message, ald_error *err)
{
    if (message->type == ALD__IPC_DICTIONARY)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                     "the message is no dictionary batch");
}

ald_status ald__ipc_schema_dictionary_index(const ald__ipc_schema *schema,
                                            const ald__ipc_message *message, size_t *out,
                                            ald_error *err)
{
    const ald__ipc_codec no_codec = {NULL, NULL};
    const ald__ipc_rules rules = {.codec = &no_codec};
    ald__ipc_walk walk;
    ALD_TRY(check_is_dictionary(message, err));
    ALD_TRY(ald__ipc_walk_open(&walk, message, &rules, err));
    return find_number(schema, &walk, out, err);
}

/* Once in a chunk, and behind the dictionaries that its values refer to. */
static ald_status check_once(const ald__ipc_dictionaries *d, size_t index,
                             const ald__ipc_message *message, ald_error *err)
{
    const ald__ipc_node *nodes = d->schema->tree.nodes;
    uint32_t root = d->schema->nodes[index];
    const char *name = ald__schema_name(nodes[root].schema);
    if (d->entries[index].seen > 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                         "the dictionary of column '%s' comes twice in a chunk", name);
    for (uint32_t i = root + 1; i < nodes[root].next; i++) {
        if (nodes[i].dictionary != ALD__NO_DICTIONARY &&
            d->entries[d->schema->numbers[nodes[i].dictionary]].seen == 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, message->metadata_offset,
                             "the dictionary of column '%s' comes before that of its values", name);
    }
    return ALD_OK;
}

static ald_status check_delta(const ald__ipc_columns *c, const char *name)
{
    if (!c->walk.is_delta || (c->rules->allow_delta && !c->rules->once))
        return ALD_OK;
    return ald__fail(c->err, c->rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_UNSUPPORTED,
                     c->message->metadata_offset, "column '%s': a delta dictionary", name);
}

/* The dictionaries inside this one may have grown since its last batch, but must be the same: old indices stay. */
static ald_status check_inner(const ald__ipc_dictionaries *d, size_t index,
                              const ald__ipc_message *message, ald_error *err)
{
    const ald__ipc_node *nodes = d->schema->tree.nodes;
    uint32_t root = d->schema->nodes[index];
    for (uint32_t i = root + 1; i < nodes[root].next; i++) {
        if (nodes[i].dictionary != ALD__NO_DICTIONARY &&
            d->entries[d->schema->numbers[nodes[i].dictionary]].replaced_at >
                d->entries[index].read_at)
            return ald__fail(err, ALD_E_UNSUPPORTED, message->metadata_offset,
                             "column '%s': a delta for a dictionary whose inner one was replaced",
                             ald__schema_name(nodes[root].schema));
    }
    return ALD_OK;
}

/* Replaces *values by what the dictionary had and then *values. */
static ald_status append_values(const ald__ipc_dictionaries *d, size_t index,
                                const ald__ipc_message *message, const struct ArrowSchema *schema,
                                struct ArrowArray *values, ald_error *err)
{
    const struct ArrowArray *old = ald__array_holder_get(d->entries[index].values);
    struct ArrowArray joined;
    if (old->length == 0)
        return ALD_OK;
    ALD_TRY(check_inner(d, index, message, err));
    ALD_TRY(ald__array_concat(&d->alloc, schema, old, values, &joined, err));
    values->release(values);
    *values = joined;
    return ALD_OK;
}

static ald_status read_values(ald__ipc_dictionaries *d, ald__ipc_columns *c, size_t index)
{
    uint32_t root = d->schema->nodes[index];
    struct ArrowSchema schema = *d->schema->tree.nodes[root + 1].schema;
    struct ArrowArray values;
    ald_status status;
    schema.name = d->schema->tree.nodes[root].schema->name;
    schema.flags |= ARROW_FLAG_NULLABLE;
    ALD_TRY(check_delta(c, ald__schema_name(&schema)));
    if (c->rules->once)
        ALD_TRY(check_once(d, index, c->message, c->err));
    ALD_TRY(ald__ipc_columns_read(c, root + 1, &schema, &values));
    status = ald__ipc_walk_close(&c->walk, c->err);
    if (status == ALD_OK && values.length != c->walk.length)
        status = ald__fail(c->err, ALD_E_INVALID_FORMAT, c->message->metadata_offset,
                           "the dictionary of column '%s' has %lld values, its batch %lld rows",
                           ald__schema_name(&schema), (long long)values.length,
                           (long long)c->walk.length);
    if (status == ALD_OK && c->walk.is_delta)
        status = append_values(d, index, c->message, &schema, &values, c->err);
    if (status != ALD_OK) {
        values.release(&values);
        return status;
    }
    return set_values(d, index, &values, c->err);
}

ald_status ald__ipc_read_dictionary(ald__ipc_dictionaries *d, const ald__ipc_message *message,
                                    const ald__ipc_rules *rules, ald__shared *backing,
                                    ald_error *err)
{
    ald__ipc_columns columns;
    ald_status status;
    size_t index;
    ALD_TRY(check_is_dictionary(message, err));
    ald__ipc_columns_init(&columns, d, message, rules, backing, err);
    status = ald__ipc_columns_open(&columns);
    if (status == ALD_OK)
        status = find_number(d->schema, &columns.walk, &index, err);
    if (status == ALD_OK)
        status = read_values(d, &columns, index);
    if (status == ALD_OK) {
        d->entries[index].seen++;
        d->entries[index].read_at = ++d->clock;
        if (!columns.walk.is_delta)
            d->entries[index].replaced_at = d->clock;
    }
    ald__ipc_columns_clear(&columns);
    return status;
}
