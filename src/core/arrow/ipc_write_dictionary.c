/* SPDX-License-Identifier: MIT */
/* Which dictionary batches a record batch needs before it. The C data interface hands a dictionary over with every batch and
 * does not say whether it is the one of before, so contents are compared: planned bytes are canonical, equal values have
 * equal ones. */
#include <string.h>

#include "core/arrow/ipc_writer.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/value_key.h"
#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

ald_status ald__ipc_dictionaries_init(ald__ipc_writer *w, ald_error *err)
{
    size_t count = w->tree.dictionary_count;
    w->dictionaries = ald__alloc_zero(&w->alloc, count * sizeof *w->dictionaries, err);
    w->remaps = ald__alloc_zero(&w->alloc, count * sizeof *w->remaps, err);
    w->dictionary_arrays = ald__alloc_zero(&w->alloc, count * sizeof *w->dictionary_arrays, err);
    for (size_t i = 0; w->dictionaries != NULL && i < count; i++) {
        w->dictionaries[i].last.alloc = &w->alloc;
        w->dictionaries[i].map.alloc = &w->alloc;
        ald__key_index_init(&w->dictionaries[i].keys, &w->alloc);
    }
    if (w->dictionaries == NULL || w->remaps == NULL || w->dictionary_arrays == NULL)
        return ALD_E_NOMEM;
    return ALD_OK;
}

void ald__ipc_dictionaries_clear(ald__ipc_writer *w)
{
    size_t count = w->tree.dictionary_count;
    for (size_t i = 0; w->dictionaries != NULL && i < count; i++) {
        ald_buffer_clear(&w->dictionaries[i].last);
        ald_buffer_clear(&w->dictionaries[i].map);
        ald__key_index_clear(&w->dictionaries[i].keys);
    }
    ald__release(&w->alloc, w->dictionaries, count * sizeof *w->dictionaries);
    ald__release(&w->alloc, w->remaps, count * sizeof *w->remaps);
    ald__release(&w->alloc, (void *)w->dictionary_arrays, count * sizeof *w->dictionary_arrays);
}

/* Finds the array of each dictionary. Recursion is bounded by the tree's depth. */
static ald_status find_dictionaries(ald__ipc_writer *w, uint32_t index,
                                    const struct ArrowArray *array, ald_error *err)
{
    const ald__ipc_node *node = &w->tree.nodes[index];
    uint32_t child = index + 1;
    ALD_TRY(ald__ipc_check_form(node, array, err));
    if (node->dictionary != ALD__NO_DICTIONARY) {
        w->dictionary_arrays[node->dictionary] = array->dictionary;
        return find_dictionaries(w, index + 1, array->dictionary, err);
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        ALD_TRY(find_dictionaries(w, child, array->children[i], err));
        child = w->tree.nodes[child].next;
    }
    return ALD_OK;
}

/* Plans rows of a dictionary's values as a batch of one column. */
static ald_status plan_values(ald__ipc_writer *w, uint32_t number, const ald__ipc_range *ranges,
                              size_t count, int64_t total, ald_error *err)
{
    ald__ipc_encoder enc = {&w->tree, &w->plan, w->remaps, err, 0, SIZE_MAX};
    ald__ipc_rows rows = {ranges, count, total, NULL, 0};
    ald__ipc_plan_reset(&w->plan);
    w->plan.length = total;
    return ald__ipc_encode(&enc, w->tree.dictionary_nodes[number] + 1, w->dictionary_arrays[number],
                           &rows);
}

/* Compares the next `size` bytes of `last` at *at. */
static int last_matches(const ald_buffer *last, size_t *at, const void *data, size_t size)
{
    if (size > last->size - *at || (size > 0 && memcmp(last->data + *at, data, size) != 0))
        return 0;
    *at += size;
    return 1;
}

/* Whether the plan is what ald__ipc_dictionary.last holds: nodes, variadic counts, then each buffer behind its size. */
static int plan_is_last(const ald__ipc_plan *plan, const ald_buffer *last)
{
    const ald__ipc_piece *pieces = ald__ipc_plan_pieces(plan);
    uint8_t size[8];
    size_t at = 0;
    if (!last_matches(last, &at, plan->nodes.data, plan->nodes.size) ||
        !last_matches(last, &at, plan->variadic.data, plan->variadic.size))
        return 0;
    for (size_t i = 0; i < ald__ipc_plan_piece_count(plan); i++) {
        ald__store_le64(size, pieces[i].size);
        if (!last_matches(last, &at, size, sizeof size) ||
            !last_matches(last, &at, pieces[i].data, pieces[i].size))
            return 0;
    }
    return at == last->size;
}

static ald_status keep_plan(const ald__ipc_plan *plan, ald_buffer *last, ald_error *err)
{
    const ald__ipc_piece *pieces = ald__ipc_plan_pieces(plan);
    uint8_t size[8];
    last->size = 0;
    ALD_TRY(ald__buffer_append(last, plan->nodes.data, plan->nodes.size, err));
    ALD_TRY(ald__buffer_append(last, plan->variadic.data, plan->variadic.size, err));
    for (size_t i = 0; i < ald__ipc_plan_piece_count(plan); i++) {
        ald__store_le64(size, pieces[i].size);
        ALD_TRY(ald__buffer_append(last, size, sizeof size, err));
        ALD_TRY(ald__buffer_append(last, pieces[i].data, pieces[i].size, err));
    }
    return ALD_OK;
}

/* Whether a dictionary inside this one was written anew. Numbers are given inner before outer, node indices outer before
 * inner, so those inside are the ones right below with a higher node. */
static int inner_changed(const ald__ipc_writer *w, uint32_t number)
{
    const uint32_t *nodes = w->tree.dictionary_nodes;
    for (uint32_t i = number; i-- > 0 && nodes[i] > nodes[number];) {
        if (w->dictionaries[i].changed)
            return 1;
    }
    return 0;
}

/* Written when it differs from the one of before, or refers to one that does. */
static ald_status write_replaced(ald__ipc_writer *w, uint32_t number, const ald__emit *emit,
                                 ald_error *err)
{
    ald__ipc_dictionary *d = &w->dictionaries[number];
    d->changed = !d->written || inner_changed(w, number) || !plan_is_last(&w->plan, &d->last);
    if (!d->changed)
        return ALD_OK;
    ALD_TRY(keep_plan(&w->plan, &d->last, err));
    d->written = 1;
    return ald__ipc_emit_plan(w, number, 0, emit, err);
}

static ald_status put_value(ald__ipc_writer *w, uint32_t number, int64_t row, uint32_t *out,
                            ald_error *err)
{
    ald__ipc_dictionary *d = &w->dictionaries[number];
    w->key.size = 0;
    ALD_TRY(ald__value_key(&w->tree, w->remaps, w->tree.dictionary_nodes[number] + 1,
                           w->dictionary_arrays[number], row, &w->key, err));
    return ald__key_index_put(&d->keys, w->key.data, w->key.size, d->value_count, out, err);
}

static ald_status check_value_count(const ald__ipc_writer *w, uint32_t number, int64_t more,
                                    ald_error *err)
{
    const ald__ipc_node *node = &w->tree.nodes[w->tree.dictionary_nodes[number]];
    if (more <= INT32_MAX && w->dictionaries[number].value_count + (uint64_t)more <= INT32_MAX)
        return ALD_OK;
    return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                     "column '%s': a dictionary of more than 2,147,483,647 values",
                     ald__schema_name(node->schema));
}

/* The first one goes out as it is: its values keep their places, also when some are equal. */
static ald_status write_first(ald__ipc_writer *w, uint32_t number, const ald__emit *emit,
                              ald_error *err)
{
    ald__ipc_dictionary *d = &w->dictionaries[number];
    int64_t length = w->dictionary_arrays[number]->length;
    uint32_t place;
    ALD_TRY(check_value_count(w, number, length, err));
    for (int64_t i = 0; i < length; i++) {
        ALD_TRY(put_value(w, number, i, &place, err));
        d->value_count++;
    }
    ALD_TRY(keep_plan(&w->plan, &d->last, err));
    d->written = 1;
    return ald__ipc_emit_plan(w, number, 0, emit, err);
}

/* Maps each value to its number, giving new ones the next numbers. Runs of new values go to `runs`. */
static ald_status map_values(ald__ipc_writer *w, uint32_t number, ald_buffer *runs,
                             int *is_identity, ald_error *err)
{
    ald__ipc_dictionary *d = &w->dictionaries[number];
    int64_t length = w->dictionary_arrays[number]->length;
    ald__ipc_range run = {0, 0};
    d->map.size = 0;
    *is_identity = 1;
    for (int64_t i = 0; i < length; i++) {
        uint32_t place;
        ALD_TRY(put_value(w, number, i, &place, err));
        ALD_TRY(ald__buffer_append(&d->map, &place, sizeof place, err));
        *is_identity &= place == (uint64_t)i;
        if (place < d->value_count)
            continue;
        d->value_count++;
        if (run.length > 0 && run.start + run.length != i) {
            ALD_TRY(ald__buffer_append(runs, &run, sizeof run, err));
            run.length = 0;
        }
        run.start = run.length > 0 ? run.start : i;
        run.length++;
    }
    return run.length > 0 ? ald__buffer_append(runs, &run, sizeof run, err) : ALD_OK;
}

/* Values not seen before go out as a delta; the batch's indices are changed to the numbers in what was written. */
static ald_status write_delta(ald__ipc_writer *w, uint32_t number, const ald__emit *emit,
                              ald_error *err)
{
    ald__ipc_dictionary *d = &w->dictionaries[number];
    ald_buffer runs = {NULL, 0, 0, &w->alloc};
    uint32_t before = d->value_count;
    int is_identity = 0;
    ald_status status = keep_plan(&w->plan, &d->last, err);
    if (status == ALD_OK)
        status = check_value_count(w, number, w->dictionary_arrays[number]->length, err);
    if (status == ALD_OK)
        status = map_values(w, number, &runs, &is_identity, err);
    if (status == ALD_OK && d->value_count > before) {
        status = plan_values(w, number, (const void *)runs.data, runs.size / sizeof(ald__ipc_range),
                             (int64_t)(d->value_count - before), err);
        if (status == ALD_OK)
            status = ald__ipc_emit_plan(w, number, 1, emit, err);
    }
    if (status == ALD_OK) {
        w->remaps[number].map = is_identity ? NULL : (const void *)d->map.data;
        w->remaps[number].count = d->map.size / sizeof(uint32_t);
    }
    ald_buffer_clear(&runs);
    return status;
}

ald_status ald__ipc_write_dictionaries(ald__ipc_writer *w, const struct ArrowArray *batch,
                                       const ald__emit *emit, ald_error *err)
{
    if (w->tree.dictionary_count == 0)
        return ALD_OK;
    ALD_TRY(find_dictionaries(w, 0, batch, err));
    for (uint32_t i = 0; i < w->tree.dictionary_count; i++) {
        ald__ipc_range all = {0, w->dictionary_arrays[i]->length};
        ALD_TRY(plan_values(w, i, &all, 1, all.length, err));
        if (w->options.dictionary_mode == ALD__DICTIONARY_CHUNK)
            ALD_TRY(ald__ipc_emit_plan(w, i, 0, emit, err));
        else if (w->options.dictionary_mode == ALD__DICTIONARY_STREAM)
            ALD_TRY(write_replaced(w, i, emit, err));
        else if (!w->dictionaries[i].written)
            ALD_TRY(write_first(w, i, emit, err));
        else if (!plan_is_last(&w->plan, &w->dictionaries[i].last))
            ALD_TRY(write_delta(w, i, emit, err));
    }
    return ALD_OK;
}
