/* SPDX-License-Identifier: MIT */
/* Knows where samples are taken, and when two plans are the same. */
#include "interchange/jsonl/json_checked.h"

#include <string.h>

#include "ald/jsonl.h"
#include "interchange/jsonl/json_infer.h"
#include "interchange/jsonl/json_parse.h"

#define SPREAD_CELLS 24u

ald_status ald__json_checked_init(ald__json_checked *checked, const ald__json_input *input,
                                  const ald__plan_rules *rules, uint64_t seed, ald_error *err)
{
    ald_status status;
    memset(checked, 0, sizeof *checked);
    checked->input = input;
    checked->rules = *rules;
    status = ald__place_tree_init(&checked->expected, &input->host.alloc, seed, err);
    if (status == ALD_OK)
        status = ald__place_tree_init(&checked->actual, &input->host.alloc, seed, err);
    return status;
}

void ald__json_checked_clear(ald__json_checked *checked)
{
    if (checked->expected.blocks.alloc)
        ald__place_tree_clear(&checked->expected);
    if (checked->actual.blocks.alloc)
        ald__place_tree_clear(&checked->actual);
    memset(checked, 0, sizeof *checked);
}

typedef struct sampler {
    ald__json_checked *checked;
    ald__json_records records;
    ald__json_pool pool;
    uint64_t serial;
} sampler;

static ald_status sample_cell(sampler *s, size_t cell, size_t records, ald__json_fault *fault)
{
    ald__json_record record = {NULL, 0, ALD_NO_OFFSET};
    const ald__json_input *input = s->checked->input;
    uint64_t limit = ald__json_cell_end(input, cell);
    ald_status status = ald__json_input_seek(input, cell, &s->records, &fault->error);
    while (status == ALD_OK && records-- > 0) {
        yyjson_val *root;
        ald__infer infer;
        status = ald__json_records_next(&s->records, limit, &record, &fault->error);
        if (status != ALD_OK || !record.data)
            break;
        infer = (ald__infer){
            &s->checked->expected, s->checked->rules.types, s->serial, record.offset, fault, 0};
        status = ald__json_parse(&s->pool, &record, 1, &root, fault);
        if (status == ALD_OK)
            status = ald__infer_record(&infer, root);
        s->serial = infer.serial;
        if (status != ALD_OK)
            break;
        s->checked->sampled.records++;
        s->checked->sampled.text_bytes += ald__infer_text_bytes(root);
    }
    return status;
}

ald_status ald__json_checked_sample(ald__json_checked *checked, size_t records, int *found,
                                    ald_error *err)
{
    const ald__json_input *input = checked->input;
    size_t spread = input->cell_count < SPREAD_CELLS ? input->cell_count : SPREAD_CELLS;
    uint64_t where;
    ald__json_kind kind;
    ald__json_fault fault;
    sampler s;
    ald_status status = ALD_OK;
    memset(&s, 0, sizeof s);
    s.checked = checked;
    ald__json_fault_clear(&fault);
    ald__json_records_init(&s.records, &input->source, &input->host.alloc, input->max_bytes,
                           input->is_array);
    ald__json_pool_init(&s.pool, &input->host.alloc);
    for (size_t i = 0; i < spread && status == ALD_OK; i++) {
        size_t cell = input->cell_count * i / spread;
        if (input->cells[cell].rows > 0)
            status = sample_cell(&s, cell, i == 0 ? 4 * records : records, &fault);
    }
    ald__json_records_clear(&s.records);
    ald__json_pool_clear(&s.pool);
    *found = status == ALD_OK;
    if (status == ALD_OK && checked->rules.mixed == ALD_JSON_MIXED_ERROR &&
        ald__place_clash(checked->expected.root, &where, &kind) != NULL)
        *found = 0;
    if (status != ALD_E_NOMEM && status != ALD_E_IO)
        return ALD_OK;
    if (err)
        *err = fault.error;
    return status;
}

static int same_text(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && memcmp(a, b, strlen(a)) == 0;
}

static int same_plan(const ald__plan *a, const ald__plan *b)
{
    if (a->op != b->op || a->nullable != b->nullable || a->is_large != b->is_large ||
        a->list_size != b->list_size || a->child_count != b->child_count ||
        (a->name != NULL) != (b->name != NULL) || !same_text(a->format, b->format))
        return 0;
    if (a->name != NULL &&
        (a->name_size != b->name_size || memcmp(a->name, b->name, a->name_size) != 0))
        return 0;
    for (uint32_t i = 0; i < a->child_count; i++) {
        if (!same_plan(a->children[i], b->children[i]))
            return 0;
    }
    return 1;
}

ald_status ald__json_surprise(ald__json_checked *checked, ald_error *err)
{
    checked->surprised = 1;
    return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "a value changes a column's type: all is read again");
}

static ald_status compare(ald__json_checked *checked, const ald__place_tree *tree, ald_error *err)
{
    ald__plans plans;
    ald_status status =
        ald__plans_make(&plans, &checked->input->host.alloc, tree, &checked->rules, err);
    if (status == ALD_OK && !same_plan(plans.root, checked->plans->root))
        status = ald__json_surprise(checked, err);
    ald__plans_clear(&plans);
    return status;
}

ald_status ald__json_checked_merge(ald__json_checked *checked, const ald__place_tree *met,
                                   ald_error *err)
{
    int stop = checked->rules.mixed != ALD_JSON_MIXED_ERROR;
    uint64_t where;
    ald__json_kind kind;
    ald_status status = ald__place_merge(&checked->actual, met, stop, err);
    if (status == ALD_OK)
        status = ald__place_merge(&checked->expected, met, stop, err);
    if (status == ALD_OK && !stop && ald__place_clash(checked->actual.root, &where, &kind) != NULL)
        status = ald__json_surprise(checked, err);
    return status == ALD_OK ? compare(checked, &checked->expected, err) : status;
}

ald_status ald__json_checked_end(ald__json_checked *checked, ald_error *err)
{
    return compare(checked, &checked->actual, err);
}
