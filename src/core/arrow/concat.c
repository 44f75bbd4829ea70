/* SPDX-License-Identifier: MIT */
/* Every node of the result has one fresh block of memory for its buffers. Parts are slices of arrays, so that lists take
 * along only the values that they refer to; below list views and dense unions the children are taken whole. */
#include "core/arrow/concat.h"

#include "core/arrow/array.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"

#define JOIN_ALIGNMENT 64u
/* Structs and fixed-size lists without nulls have no byte for a row; a bitmap for what they claim is made up to here. */
#define MAX_CLAIMED_ROWS (INT64_C(1) << 24)

/* `count` slots from `start` on, which counts from the buffers' begin. */
typedef struct slice {
    const struct ArrowArray *array;
    int64_t start, count;
} slice;

typedef struct join {
    const ald_allocator *alloc;
    const struct ArrowSchema *schema;
    ald__type type;
    slice part[2];
    struct ArrowArray *out;
    ald_error *err;
} join;

static ald_status join_slices(const ald_allocator *alloc, const struct ArrowSchema *schema, slice a,
                              slice b, struct ArrowArray *out, ald_error *err);

static ald_status too_large(const join *j)
{
    return ald__fail(j->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                     "column '%s': the joined dictionary is too large for its type",
                     j->schema->name != NULL ? j->schema->name : "");
}

static slice part_of(const struct ArrowArray *array, int64_t begin, int64_t end)
{
    slice s = {array, array->offset + begin, end - begin};
    return s;
}

static slice whole_part(const struct ArrowArray *array)
{
    return part_of(array, 0, array->length);
}

/* ---- Validity */

static const uint8_t *part_validity(const slice *s)
{
    return s->array->null_count == 0 ? NULL : s->array->buffers[0];
}

static int64_t part_nulls(const slice *s)
{
    const uint8_t *bits = part_validity(s);
    if (bits == NULL)
        return 0;
    return s->count - (int64_t)ald__bits_count(bits, (uint64_t)s->start, (uint64_t)s->count);
}

/* Bytes of the validity buffer, 0: none is needed. Sets the null count. */
static uint64_t validity_size(const join *j)
{
    if (!j->type.has_validity)
        return 0;
    j->out->null_count = part_nulls(&j->part[0]) + part_nulls(&j->part[1]);
    return j->out->null_count == 0 ? 0 : ald__layout_bitmap((uint64_t)j->out->length);
}

static int claims_too_much(const join *j)
{
    int has_bytes = j->type.buffer_count > 1 && j->type.bit_width > 0;
    if (has_bytes || ald__type_offset_width(&j->type) > 0 || j->out->null_count == 0)
        return 0;
    return (part_validity(&j->part[0]) == NULL && j->part[0].count > MAX_CLAIMED_ROWS) ||
           (part_validity(&j->part[1]) == NULL && j->part[1].count > MAX_CLAIMED_ROWS);
}

/* Memory for `count` buffers of these sizes, from buffer `first` on. Bitmaps are zeroed by their makers. */
static ald_status join_alloc(const join *j, size_t first, const uint64_t *sizes, size_t count)
{
    ald__shared *block;
    uint64_t total = 0;
    uint8_t *p;
    size_t size;
    if (claims_too_much(j))
        return too_large(j);
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] > INT64_MAX || !ald__add_u64(total, sizes[i] + JOIN_ALIGNMENT, &total))
            return too_large(j);
    }
    if (!ald__to_size(total, &size))
        return ald__no_memory(j->err, SIZE_MAX);
    ALD_TRY(ald__shared_alloc(j->alloc, size, &block, j->err));
    ald__array_hold(j->out, block);
    p = ald__shared_data(block);
    for (size_t i = 0; i < count; i++) {
        j->out->buffers[first + i] = p;
        p += (sizes[i] + JOIN_ALIGNMENT - 1) & ~(uint64_t)(JOIN_ALIGNMENT - 1);
    }
    ald__shared_unref(block);
    return ALD_OK;
}

static uint8_t *join_buffer(const join *j, size_t i)
{
    union {
        const void *in;
        uint8_t *out;
    } cast = {j->out->buffers[i]}; /* our own fresh memory */
    return cast.out;
}

static void join_validity(const join *j, uint64_t size)
{
    uint64_t at = 0;
    if (!j->type.has_validity)
        return;
    if (size == 0) {
        j->out->buffers[0] = NULL;
        return;
    }
    memset(join_buffer(j, 0), 0, (size_t)size);
    for (int i = 0; i < 2; i++) {
        const slice *s = &j->part[i];
        const uint8_t *bits = part_validity(s);
        if (bits != NULL)
            ald__bits_copy(join_buffer(j, 0), at, bits, (uint64_t)s->start, (uint64_t)s->count);
        else
            ald__bits_fill(join_buffer(j, 0), at, (uint64_t)s->count);
        at += (uint64_t)s->count;
    }
}

/* ---- Values */

/* Buffer `index` of fixed-width elements, one part behind the other. */
static void join_items(const join *j, size_t index, size_t width)
{
    uint8_t *out = join_buffer(j, index);
    for (int i = 0; i < 2; i++) {
        const slice *s = &j->part[i];
        size_t size = (size_t)s->count * width;
        if (size > 0)
            memcpy(out, (const uint8_t *)s->array->buffers[index] + (size_t)s->start * width, size);
        out += size;
    }
}

static ald_status join_fixed(const join *j)
{
    uint64_t sizes[2];
    sizes[0] = validity_size(j);
    sizes[1] = ald__layout_buffer(&j->type, 1, j->out->length).bytes;
    ALD_TRY(join_alloc(j, 0, sizes, 2));
    join_validity(j, sizes[0]);
    if (j->type.bit_width != 1) {
        join_items(j, 1, j->type.bit_width / 8);
    } else {
        memset(join_buffer(j, 1), 0, (size_t)sizes[1]);
        ald__bits_copy(join_buffer(j, 1), 0, j->part[0].array->buffers[1],
                       (uint64_t)j->part[0].start, (uint64_t)j->part[0].count);
        ald__bits_copy(join_buffer(j, 1), (uint64_t)j->part[0].count, j->part[1].array->buffers[1],
                       (uint64_t)j->part[1].start, (uint64_t)j->part[1].count);
    }
    if (j->schema->dictionary == NULL)
        return ALD_OK;
    return ald__array_clone(j->part[1].array->dictionary, j->out->dictionary, j->err);
}

static int64_t part_offset(const slice *s, uint8_t width, int64_t i)
{
    if (s->count == 0)
        return 0;
    return ald__layout_signed(s->array->buffers[1], width, s->start + i);
}

static void store_signed(uint8_t *p, uint8_t width, int64_t i, int64_t value)
{
    p += (size_t)i * width;
    if (width == 2)
        ald__store_le16(p, (uint16_t)value);
    else if (width == 4)
        ald__store_le32(p, (uint32_t)value);
    else
        ald__store_le64(p, (uint64_t)value);
}

static int64_t max_signed(uint8_t width)
{
    return width == 8 ? INT64_MAX : (INT64_C(1) << (8 * width - 1)) - 1;
}

/* Offsets of both parts, beginning at 0. */
static void join_offsets(const join *j, uint8_t width)
{
    int64_t at = 0, slot = 0;
    store_signed(join_buffer(j, 1), width, 0, 0);
    for (int i = 0; i < 2; i++) {
        const slice *s = &j->part[i];
        int64_t first = part_offset(s, width, 0);
        for (int64_t k = 1; k <= s->count; k++)
            store_signed(join_buffer(j, 1), width, slot + k, at + part_offset(s, width, k) - first);
        slot += s->count;
        at += part_offset(s, width, s->count) - first;
    }
}

static ald_status offset_extent(const join *j, uint8_t width, int64_t extent[2], int64_t *total)
{
    for (int i = 0; i < 2; i++)
        extent[i] =
            part_offset(&j->part[i], width, j->part[i].count) - part_offset(&j->part[i], width, 0);
    if (extent[0] > max_signed(width) - extent[1])
        return too_large(j);
    *total = extent[0] + extent[1];
    return ALD_OK;
}

static ald_status join_strings(const join *j)
{
    uint8_t width = ald__type_offset_width(&j->type);
    int64_t extent[2], total;
    uint64_t sizes[3];
    uint8_t *out;
    ALD_TRY(offset_extent(j, width, extent, &total));
    sizes[0] = validity_size(j);
    sizes[1] = ((uint64_t)j->out->length + 1) * width;
    sizes[2] = (uint64_t)total;
    ALD_TRY(join_alloc(j, 0, sizes, 3));
    join_validity(j, sizes[0]);
    join_offsets(j, width);
    out = join_buffer(j, 2);
    for (int i = 0; i < 2; i++) {
        const uint8_t *data = j->part[i].array->buffers[2];
        if (extent[i] > 0)
            memcpy(out, data + part_offset(&j->part[i], width, 0), (size_t)extent[i]);
        out += extent[i];
    }
    return ALD_OK;
}

static ald_status join_lists(const join *j)
{
    uint8_t width = ald__type_offset_width(&j->type);
    int64_t extent[2], total;
    uint64_t sizes[2];
    slice child[2];
    ALD_TRY(offset_extent(j, width, extent, &total));
    sizes[0] = validity_size(j);
    sizes[1] = ((uint64_t)j->out->length + 1) * width;
    ALD_TRY(join_alloc(j, 0, sizes, 2));
    join_validity(j, sizes[0]);
    join_offsets(j, width);
    for (int i = 0; i < 2; i++) {
        int64_t first = part_offset(&j->part[i], width, 0);
        child[i] = part_of(j->part[i].array->children[0], first, first + extent[i]);
    }
    return join_slices(j->alloc, j->schema->children[0], child[0], child[1], j->out->children[0],
                       j->err);
}

/* List views refer into children taken whole, so those of the second part shift. */
static ald_status join_list_views(const join *j)
{
    uint8_t width = ald__type_offset_width(&j->type);
    const slice *b = &j->part[1];
    int64_t shift = j->part[0].array->children[0]->length;
    uint64_t sizes[3];
    if (shift > max_signed(width) - b->array->children[0]->length)
        return too_large(j);
    sizes[0] = validity_size(j);
    sizes[1] = sizes[2] = ald__layout_buffer(&j->type, 1, j->out->length).bytes;
    ALD_TRY(join_alloc(j, 0, sizes, 3));
    join_validity(j, sizes[0]);
    join_items(j, 1, width);
    join_items(j, 2, width);
    for (int64_t i = 0; i < b->count; i++)
        store_signed(join_buffer(j, 1), width, j->part[0].count + i,
                     ald__layout_signed(b->array->buffers[1], width, b->start + i) + shift);
    return join_slices(j->alloc, j->schema->children[0], whole_part(j->part[0].array->children[0]),
                       whole_part(b->array->children[0]), j->out->children[0], j->err);
}

static ald_status join_struct(const join *j)
{
    uint64_t size = validity_size(j);
    int64_t items = j->type.id == ALD__FIXED_LIST ? j->type.list_size : 1;
    if (size > 0)
        ALD_TRY(join_alloc(j, 0, &size, 1));
    join_validity(j, size);
    for (int64_t i = 0; i < j->out->n_children; i++) {
        slice child[2];
        for (int p = 0; p < 2; p++) {
            const slice *s = &j->part[p];
            child[p] =
                part_of(s->array->children[i], s->start * items, (s->start + s->count) * items);
        }
        ALD_TRY(join_slices(j->alloc, j->schema->children[i], child[0], child[1],
                            j->out->children[i], j->err));
    }
    return ALD_OK;
}

static ald_status join_union(const join *j)
{
    const slice *a = &j->part[0], *b = &j->part[1];
    const int dense = j->type.id == ALD__DENSE_UNION;
    int64_t shifts[256] = {0};
    uint64_t sizes[2];
    int8_t codes[128];
    ALD_TRY(ald__type_union_ids(j->schema, codes, j->err));
    sizes[0] = (uint64_t)j->out->length;
    sizes[1] = (uint64_t)j->out->length * 4;
    ALD_TRY(join_alloc(j, 0, sizes, dense ? 2 : 1));
    join_items(j, 0, 1);
    for (int64_t i = 0; i < j->out->n_children; i++) {
        const struct ArrowArray *x = a->array->children[i], *y = b->array->children[i];
        shifts[(uint8_t)codes[i]] = x->length;
        if (dense && x->length > INT32_MAX - y->length)
            return too_large(j);
        ALD_TRY(join_slices(j->alloc, j->schema->children[i],
                            dense ? whole_part(x) : part_of(x, a->start, a->start + a->count),
                            dense ? whole_part(y) : part_of(y, b->start, b->start + b->count),
                            j->out->children[i], j->err));
    }
    if (!dense)
        return ALD_OK;
    join_items(j, 1, 4);
    for (int64_t i = a->count; i < j->out->length; i++)
        store_signed(join_buffer(j, 1), 4, i,
                     ald__layout_signed(join_buffer(j, 1), 4, i) + shifts[join_buffer(j, 0)[i]]);
    return ALD_OK;
}

/* Runs that a part touches, cut to it. */
static ald_status join_runs(const join *j)
{
    const struct ArrowSchema *ends_schema = j->schema->children[0];
    struct ArrowArray *ends = j->out->children[0];
    int64_t first[2], runs[2], at = 0, rows = 0;
    join e = *j;
    uint64_t sizes[2] = {0, 0};
    uint8_t width;
    ALD_TRY(ald__type_of(ends_schema, &e.type, j->err));
    width = (uint8_t)(e.type.bit_width / 8);
    if (j->out->length > max_signed(width))
        return too_large(j);
    for (int i = 0; i < 2; i++) {
        const slice *s = &j->part[i];
        int64_t row = s->start - s->array->offset;
        first[i] = s->count > 0 ? ald__layout_run(s->array, width, row) : 0;
        runs[i] =
            s->count > 0 ? ald__layout_run(s->array, width, row + s->count - 1) - first[i] + 1 : 0;
    }
    ALD_TRY(ald__array_new(j->alloc, 2, 0, 0, ends, j->err));
    ends->length = runs[0] + runs[1];
    e.out = ends;
    sizes[1] = (uint64_t)ends->length * width;
    ALD_TRY(join_alloc(&e, 0, sizes, 2));
    ends->buffers[0] = NULL;
    for (int i = 0; i < 2; i++) {
        const slice *s = &j->part[i];
        const struct ArrowArray *from = s->array->children[0];
        for (int64_t k = 0; k < runs[i]; k++) {
            int64_t end = ald__layout_signed(from->buffers[1], width, from->offset + first[i] + k);
            end -= s->start;
            store_signed(join_buffer(&e, 1), width, at++, rows + (end < s->count ? end : s->count));
        }
        rows += s->count;
    }
    return join_slices(j->alloc, j->schema->children[1],
                       part_of(j->part[0].array->children[1], first[0], first[0] + runs[0]),
                       part_of(j->part[1].array->children[1], first[1], first[1] + runs[1]),
                       j->out->children[1], j->err);
}

/* ---- Views */

static int64_t data_count(const slice *s)
{
    return s->array->n_buffers - 3;
}

static int64_t data_size(const slice *s, int64_t i)
{
    return ald__layout_signed(s->array->buffers[s->array->n_buffers - 1], 8, i);
}

/* Views of the second part that refer to data buffers name them by their new numbers. */
static void shift_views(const join *j)
{
    uint8_t *view = join_buffer(j, 1) + 16 * (size_t)j->part[0].count;
    for (int64_t i = 0; i < j->part[1].count; i++, view += 16) {
        if ((int32_t)ald__load_le32(view) > 12)
            ald__store_le32(view + 8, ald__load_le32(view + 8) + (uint32_t)data_count(&j->part[0]));
    }
}

static ald_status join_views(const join *j, uint64_t *sizes)
{
    size_t total = (size_t)(data_count(&j->part[0]) + data_count(&j->part[1])), at = 2;
    sizes[0] = validity_size(j);
    sizes[1] = (uint64_t)j->out->length * 16;
    for (int p = 0; p < 2; p++) {
        for (int64_t i = 0; i < data_count(&j->part[p]); i++)
            sizes[at++] = (uint64_t)data_size(&j->part[p], i);
    }
    sizes[at] = total * 8;
    ALD_TRY(join_alloc(j, 0, sizes, total + 3));
    join_validity(j, sizes[0]);
    join_items(j, 1, 16);
    shift_views(j);
    at = 2;
    for (int p = 0; p < 2; p++) {
        for (int64_t i = 0; i < data_count(&j->part[p]); i++, at++) {
            if (sizes[at] > 0)
                memcpy(join_buffer(j, at), j->part[p].array->buffers[2 + i], (size_t)sizes[at]);
            store_signed(join_buffer(j, total + 2), 8, (int64_t)at - 2, (int64_t)sizes[at]);
        }
    }
    return ALD_OK;
}

/* ---- Nodes */

static ald_status join_views_node(const join *j)
{
    size_t count = (size_t)j->out->n_buffers;
    uint64_t *sizes = ald__alloc(j->alloc, count * sizeof *sizes, j->err);
    ald_status status;
    if (sizes == NULL)
        return ALD_E_NOMEM;
    if (count > INT32_MAX)
        status = too_large(j);
    else
        status = join_views(j, sizes);
    ald__release(j->alloc, sizes, count * sizeof *sizes);
    return status;
}

static ald_status join_node(const join *j)
{
    switch (j->type.id) {
    case ALD__NULL:
        j->out->null_count = j->out->length;
        return ALD_OK;
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return join_strings(j);
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return join_views_node(j);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return join_lists(j);
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return join_list_views(j);
    case ALD__STRUCT:
    case ALD__FIXED_LIST:
        return join_struct(j);
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return join_union(j);
    case ALD__RUN_END:
        return join_runs(j);
    default:
        return join_fixed(j);
    }
}

/* On failure *out may be half made; the caller releases the root. */
static ald_status join_slices(const ald_allocator *alloc, const struct ArrowSchema *schema, slice a,
                              slice b, struct ArrowArray *out, ald_error *err)
{
    join j = {.alloc = alloc, .schema = schema, .part = {a, b}, .out = out, .err = err};
    size_t buffers = (size_t)a.array->n_buffers;
    ALD_TRY(ald__type_of(schema, &j.type, err));
    if (ald__type_is_view(&j.type))
        buffers += (size_t)data_count(&b);
    if (a.count > INT64_MAX - b.count)
        return too_large(&j);
    ALD_TRY(ald__array_new(alloc, buffers, (size_t)a.array->n_children, schema->dictionary != NULL,
                           out, err));
    out->length = a.count + b.count;
    return join_node(&j);
}

ald_status ald__array_concat(const ald_allocator *alloc, const struct ArrowSchema *schema,
                             const struct ArrowArray *a, const struct ArrowArray *b,
                             struct ArrowArray *out, ald_error *err)
{
    ald_status status;
    out->release = NULL;
    status = join_slices(alloc, schema, whole_part(a), whole_part(b), out, err);
    if (status != ALD_OK && out->release != NULL)
        out->release(out);
    return status;
}
