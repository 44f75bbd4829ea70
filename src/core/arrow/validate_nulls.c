/* SPDX-License-Identifier: MIT */
/* Nulls against nullability. A null counts where a row reaches it, so for each field that is not nullable and has nulls,
 * ranges of slots are pushed down from the root: struct and list validity split them, offsets map them, and the field is
 * searched in the ranges that arrive. Below list views, dense unions and run ends ranges may overlap or come in any
 * order; there they are gathered, sorted and joined first, so that no slot is visited twice.
 *
 * Nothing here costs anything when no field that is not nullable has nulls, which is nearly always. */
#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/arrow/sort.h"
#include "core/arrow/validate_values.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/fail.h"

typedef struct null_step {
    const struct ArrowSchema *schema;
    const struct ArrowArray *array;
    ald__type type;
    const uint8_t *validity; /* NULL: no nulls */
    int64_t child;           /* index of the next step's array among the children */
} null_step;

typedef struct null_search {
    ald__validator *v;
    unsigned base;     /* v's path depth at the root */
    unsigned count;    /* steps, the last is the field in question */
    unsigned gather;   /* ranges that arrive at this step are gathered, not pushed on */
    ald__pair *ranges; /* [a, b) in slots of the step `gather` */
    size_t range_count, range_cap;
    null_step steps[ALD__VALIDATE_LEVELS];
} null_search;

static const uint8_t *validity_of(const struct ArrowArray *array, const ald__type *type)
{
    if (!type->has_validity || array->null_count == 0 || array->n_buffers == 0)
        return NULL;
    return array->buffers[0];
}

/* ---- Nulls of one field */

/* May be wrong when it says yes. */
static int may_have_nulls(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    ald__type type;
    if (ald__type_of(schema, &type, NULL) != ALD_OK || array->length == 0)
        return 0;
    if (type.id == ALD__NULL || validity_of(array, &type) != NULL)
        return 1;
    if (array->dictionary != NULL)
        return may_have_nulls(schema->dictionary, array->dictionary);
    if (type.id == ALD__RUN_END)
        return may_have_nulls(schema->children[1], array->children[1]);
    return 0;
}

static int64_t find_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t begin, int64_t end);

/* Whether value `index` of a dictionary is null. `validity`: of its values, when they are nothing but plain ones. */
static int dictionary_null(const struct ArrowSchema *schema, const struct ArrowArray *values,
                           const uint8_t *validity, int64_t index)
{
    if (validity != NULL)
        return !ald__bit_get(validity, (uint64_t)(values->offset + index));
    return find_null(schema, values, index, index + 1) <= index;
}

static int64_t find_null_index(const struct ArrowSchema *schema, const struct ArrowArray *array,
                               const ald__type *type, int64_t begin, int64_t end)
{
    const struct ArrowArray *values = array->dictionary;
    const uint8_t *validity = validity_of(array, type), *plain = NULL;
    uint8_t width = (uint8_t)(type->bit_width / 8);
    ald__type value_type;
    if (values->dictionary == NULL && ald__type_of(schema->dictionary, &value_type, NULL) == ALD_OK)
        plain = validity_of(values, &value_type);
    for (int64_t i = begin; i < end; i++) {
        int64_t at = array->offset + i;
        int64_t index = type->id <= ALD__INT64
                            ? ald__layout_signed(array->buffers[1], width, at)
                            : (int64_t)ald__layout_unsigned(array->buffers[1], width, at);
        if (validity != NULL && !ald__bit_get(validity, (uint64_t)at))
            return i;
        if (dictionary_null(schema->dictionary, values, plain, index))
            return i;
    }
    return end;
}

static int64_t find_null_run(const struct ArrowSchema *schema, const struct ArrowArray *array,
                             int64_t begin, int64_t end)
{
    ald__type type;
    uint8_t width;
    int64_t first, last, run, row;
    if (ald__type_of(schema->children[0], &type, NULL) != ALD_OK)
        return end;
    width = (uint8_t)(type.bit_width / 8);
    first = ald__layout_run(array, width, begin);
    last = ald__layout_run(array, width, end - 1);
    run = find_null(schema->children[1], array->children[1], first, last + 1);
    if (run > last)
        return end;
    if (run == first)
        return begin;
    row = ald__layout_signed(array->children[0]->buffers[1], width,
                             array->children[0]->offset + run - 1);
    return row - array->offset;
}

/* The first slot of [begin, end) whose value is null, or `end`. */
static int64_t find_null(const struct ArrowSchema *schema, const struct ArrowArray *array,
                         int64_t begin, int64_t end)
{
    const uint8_t *validity;
    ald__type type;
    if (begin >= end || ald__type_of(schema, &type, NULL) != ALD_OK)
        return end;
    if (type.id == ALD__NULL)
        return begin;
    if (array->dictionary != NULL && may_have_nulls(schema->dictionary, array->dictionary))
        return find_null_index(schema, array, &type, begin, end);
    if (type.id == ALD__RUN_END)
        return find_null_run(schema, array, begin, end);
    validity = validity_of(array, &type);
    if (validity == NULL)
        return end;
    return (int64_t)ald__bits_find(validity, (uint64_t)(array->offset + begin),
                                   (uint64_t)(array->offset + end), 0) -
           array->offset;
}

/* ---- Ranges of slots */

static ald_status gather_range(null_search *s, int64_t begin, int64_t end)
{
    ald__pair *last = s->range_count > 0 ? &s->ranges[s->range_count - 1] : NULL;
    const ald_allocator *alloc = s->v->alloc;
    if (last != NULL && (uint64_t)begin >= last->a && (uint64_t)begin <= last->b) {
        last->b = (uint64_t)end > last->b ? (uint64_t)end : last->b;
        return ALD_OK;
    }
    if (s->range_count == s->range_cap) {
        size_t cap = s->range_cap > 0 ? 2 * s->range_cap : 64, old_size, size;
        ald__pair *grown;
        if (!ald__mul_size(cap, sizeof *grown, &size) || size > SIZE_MAX / 2)
            return ald__no_memory(s->v->err, SIZE_MAX);
        old_size = s->range_cap * sizeof *grown;
        grown = ald__alloc(alloc, size, s->v->err);
        if (grown == NULL)
            return ALD_E_NOMEM;
        if (s->range_count > 0)
            memcpy(grown, s->ranges, old_size);
        ald__release(alloc, s->ranges, old_size);
        s->ranges = grown;
        s->range_cap = cap;
    }
    s->ranges[s->range_count].a = (uint64_t)begin;
    s->ranges[s->range_count++].b = (uint64_t)end;
    return ALD_OK;
}

static ald_status push(null_search *s, unsigned level, int64_t begin, int64_t end);

static ald_status push_child(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    if (begin >= end)
        return ALD_OK;
    return level + 1 == s->gather ? gather_range(s, begin, end) : push(s, level + 1, begin, end);
}

/* Rows [begin, end), all valid, of a list view: each maps to a range of its own. */
static ald_status push_list_views(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    const struct ArrowArray *a = s->steps[level].array;
    uint8_t width = ald__type_offset_width(&s->steps[level].type);
    for (int64_t i = a->offset + begin; i < a->offset + end; i++) {
        int64_t first = ald__layout_signed(a->buffers[1], width, i);
        ALD_TRY(push_child(s, level, first, first + ald__layout_signed(a->buffers[2], width, i)));
    }
    return ALD_OK;
}

static ald_status push_union(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    const null_step *step = &s->steps[level];
    const struct ArrowArray *a = step->array;
    const uint8_t *ids = a->buffers[0];
    int8_t codes[128];
    uint8_t code;
    ALD_TRY(ald__type_union_ids(step->schema, codes, s->v->err));
    code = (uint8_t)codes[step->child];
    begin += a->offset;
    end += a->offset;
    while (begin < end) {
        int64_t stop = begin + 1;
        if (ids[begin] != code) {
            begin++;
            continue;
        }
        if (step->type.id == ALD__DENSE_UNION) {
            int64_t slot = ald__layout_signed(a->buffers[1], 4, begin);
            ALD_TRY(push_child(s, level, slot, slot + 1));
        } else {
            while (stop < end && ids[stop] == code)
                stop++;
            ALD_TRY(push_child(s, level, begin, stop));
        }
        begin = stop;
    }
    return ALD_OK;
}

static ald_status push_runs(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    const null_step *step = &s->steps[level];
    ald__type type;
    uint8_t width;
    ALD_TRY(ald__type_of(step->schema->children[0], &type, s->v->err));
    width = (uint8_t)(type.bit_width / 8);
    return push_child(s, level, ald__layout_run(step->array, width, begin),
                      ald__layout_run(step->array, width, end - 1) + 1);
}

/* Slots [begin, end), all valid, of the step's array to those of its child. */
static ald_status push_valid(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    const null_step *step = &s->steps[level];
    int64_t offset = step->array->offset;
    uint8_t width = ald__type_offset_width(&step->type);
    switch (step->type.id) {
    case ALD__STRUCT:
        return push_child(s, level, offset + begin, offset + end);
    case ALD__FIXED_LIST:
        return push_child(s, level, (offset + begin) * step->type.list_size,
                          (offset + end) * step->type.list_size);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return push_child(s, level,
                          ald__layout_signed(step->array->buffers[1], width, offset + begin),
                          ald__layout_signed(step->array->buffers[1], width, offset + end));
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return push_list_views(s, level, begin, end);
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return push_union(s, level, begin, end);
    case ALD__RUN_END:
        return push_runs(s, level, begin, end);
    default:
        return ALD_OK;
    }
}

static ald_status push(null_search *s, unsigned level, int64_t begin, int64_t end)
{
    const null_step *step = &s->steps[level];
    uint64_t at = (uint64_t)(step->array->offset + begin);
    uint64_t stop = (uint64_t)(step->array->offset + end);
    if (level + 1 == s->count) {
        int64_t row = find_null(step->schema, step->array, begin, end);
        return row == end ? ALD_OK
                          : ald__validate_fail(s->v, row, "a null where the field is not nullable");
    }
    if (step->validity == NULL)
        return push_valid(s, level, begin, end);
    while (at < stop) {
        uint64_t first = ald__bits_find(step->validity, at, stop, 1), last;
        if (first == stop)
            break;
        last = ald__bits_find(step->validity, first, stop, 0);
        ALD_TRY(push_valid(s, level, (int64_t)first - step->array->offset,
                           (int64_t)last - step->array->offset));
        at = last;
    }
    return ALD_OK;
}

static int scatters(const ald__type *type)
{
    return type->id == ALD__LIST_VIEW || type->id == ALD__LARGE_LIST_VIEW ||
           type->id == ALD__DENSE_UNION || type->id == ALD__RUN_END;
}

/* The step behind the first one from `level` on that scatters ranges; 0: none. */
static unsigned next_gather(const null_search *s, unsigned level)
{
    for (; level + 1 < s->count; level++) {
        if (scatters(&s->steps[level].type))
            return level + 1;
    }
    return 0;
}

/* Pushes the gathered ranges of step `level` on, joined where they touch. */
static ald_status push_gathered(null_search *s, unsigned level, ald__pair *ranges, size_t count)
{
    ald__pairs_sort(ranges, count);
    for (size_t i = 0; i < count;) {
        ald__pair joined = ranges[i++];
        while (i < count && ranges[i].a <= joined.b) {
            joined.b = ranges[i].b > joined.b ? ranges[i].b : joined.b;
            i++;
        }
        ALD_TRY(push(s, level, (int64_t)joined.a, (int64_t)joined.b));
    }
    return ALD_OK;
}

static ald_status search_field(null_search *s)
{
    const ald_allocator *alloc = s->v->alloc;
    unsigned level = 0;
    ald_status status;
    s->gather = next_gather(s, 0);
    status = push(s, 0, 0, s->steps[0].array->length);
    while (status == ALD_OK && s->gather != 0) {
        ald__pair *ranges = s->ranges;
        size_t count = s->range_count, size = s->range_cap * sizeof *ranges;
        level = s->gather;
        s->ranges = NULL;
        s->range_count = s->range_cap = 0;
        s->gather = next_gather(s, level);
        status = push_gathered(s, level, ranges, count);
        ald__release(alloc, ranges, size);
    }
    ald__release(alloc, s->ranges, s->range_cap * sizeof *s->ranges);
    s->ranges = NULL;
    s->range_count = s->range_cap = 0;
    return status;
}

/* ---- Fields */

/* Whether child `i` of `type` is never null, whatever its flag says: entries of a map, and (`in_map`) their keys. */
static int must_be_valid(const ald__type *type, int in_map, int64_t i)
{
    return type->id == ALD__MAP || (in_map && i == 0);
}

/* Whether some field that is not nullable may have nulls. `in_map`: the parent is a map. */
static int has_suspect(const struct ArrowSchema *schema, const struct ArrowArray *array, int must,
                       int in_map)
{
    ald__type type;
    if (array->length == 0 || ald__type_of(schema, &type, NULL) != ALD_OK)
        return 0;
    if ((must || !(schema->flags & ARROW_FLAG_NULLABLE)) && may_have_nulls(schema, array))
        return 1;
    for (int64_t i = type.id == ALD__RUN_END; i < array->n_children; i++) {
        if (has_suspect(schema->children[i], array->children[i], must_be_valid(&type, in_map, i),
                        type.id == ALD__MAP))
            return 1;
    }
    return 0;
}

static ald_status visit_field(null_search *s, const struct ArrowSchema *schema,
                              const struct ArrowArray *array, int must, int in_map)
{
    null_step *step = &s->steps[s->count];
    if (array->length == 0)
        return ALD_OK;
    ALD_TRY(ald__type_of(schema, &step->type, s->v->err));
    step->schema = schema;
    step->array = array;
    step->validity = validity_of(array, &step->type);
    s->v->path[s->base + s->count++] = schema;
    s->v->depth = s->base + s->count;
    if ((must || !(schema->flags & ARROW_FLAG_NULLABLE)) && may_have_nulls(schema, array))
        ALD_TRY(search_field(s));
    /* Run ends were checked already. */
    for (int64_t i = step->type.id == ALD__RUN_END; i < array->n_children; i++) {
        step->child = i;
        ALD_TRY(visit_field(s, schema->children[i], array->children[i],
                            must_be_valid(&step->type, in_map, i), step->type.id == ALD__MAP));
    }
    s->count--;
    return ALD_OK;
}

ald_status ald__validate_nulls(ald__validator *v, const struct ArrowSchema *schema,
                               const struct ArrowArray *array)
{
    null_search *search;
    unsigned depth = v->depth;
    ald_status status;
    if (!has_suspect(schema, array, 0, 0))
        return ALD_OK;
    search = ald__alloc_zero(v->alloc, sizeof *search, v->err); /* too large for a stack frame */
    if (search == NULL)
        return ALD_E_NOMEM;
    search->v = v;
    search->base = depth;
    status = visit_field(search, schema, array, 0, 0);
    ald__release(v->alloc, search, sizeof *search);
    v->depth = depth;
    return status;
}
