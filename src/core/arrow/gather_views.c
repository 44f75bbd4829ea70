/* SPDX-License-Identifier: MIT */
/* String and binary views. The bytes of the rows are copied one behind the other, unless views share so many that the
 * sources' buffers are smaller: then those are copied whole. */
#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/gather_node.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"

#define VIEW_BYTES 16u
#define INLINE_BYTES 12

static int64_t data_buffers(const struct ArrowArray *a)
{
    return a->n_buffers - 3;
}

static int64_t data_size(const struct ArrowArray *a, int64_t i)
{
    return ald__layout_signed(a->buffers[a->n_buffers - 1], 8, i);
}

/* View `i` of a source, or NULL where it is null. */
static const uint8_t *view_at(const struct ArrowArray *a, int64_t i)
{
    if (ald__gather_has_nulls(a) && !ald__bit_get(a->buffers[0], (uint64_t)i))
        return NULL;
    return (const uint8_t *)a->buffers[1] + (size_t)i * VIEW_BYTES;
}

/* Bytes of a view that lie in a data buffer. */
static int32_t outside_bytes(const uint8_t *view)
{
    int32_t size = view != NULL ? (int32_t)ald__load_le32(view) : 0;
    return size > INLINE_BYTES ? size : 0;
}

/* Data buffers of at most 2^31 - 1 bytes, since offsets into them are 32-bit numbers. */
typedef struct packing {
    uint64_t total;
    int64_t last; /* bytes in the last buffer */
    size_t count;
} packing;

/* Whether the next bytes begin a new buffer. */
static int pack(packing *p, int32_t size)
{
    int fresh = p->count == 0 || size > INT32_MAX - p->last;
    p->total += (uint64_t)size;
    p->count += (size_t)fresh;
    p->last = (fresh ? 0 : p->last) + size;
    return fresh;
}

static packing pack_all(const ald__gather *g)
{
    packing p = {0, 0, 0};
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count; k++) {
            int32_t size = outside_bytes(view_at(a, a->offset + r->begin + k));
            if (size > 0)
                (void)pack(&p, size);
        }
    }
    return p;
}

/* What the sources hold, and in how many buffers. */
static ald_status whole_size(const ald__gather *g, uint64_t *bytes, size_t *count)
{
    *bytes = *count = 0;
    for (size_t i = 0; i < g->source_count; i++) {
        const struct ArrowArray *a = g->sources[i];
        for (int64_t k = 0; k < data_buffers(a); k++) {
            if (!ald__add_u64(*bytes, (uint64_t)data_size(a, k), bytes))
                return ald__no_memory(g->err, SIZE_MAX);
        }
        *count += data_buffers(a) > 0 ? (size_t)data_buffers(a) : 0;
    }
    return ALD_OK;
}

ald_status ald__gather_views_plan_make(const ald__gather *g, ald__gather_views_plan *out)
{
    packing packed = pack_all(g);
    uint64_t bytes;
    size_t count;
    out->whole = 0;
    out->data_count = packed.count;
    if (packed.total == 0)
        return ALD_OK;
    ALD_TRY(whole_size(g, &bytes, &count));
    if (packed.total > bytes) {
        out->whole = 1;
        out->data_count = count;
    }
    if (out->data_count > INT32_MAX)
        return ald__gather_too_large(g, "too many buffers behind its views");
    return ALD_OK;
}

/* ---- views with their own bytes */

static void packed_sizes(const ald__gather *g, uint64_t *sizes)
{
    packing p = {0, 0, 0};
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count; k++) {
            int32_t size = outside_bytes(view_at(a, a->offset + r->begin + k));
            if (size > 0) {
                (void)pack(&p, size);
                sizes[p.count - 1] = (uint64_t)p.last;
            }
        }
    }
}

static void put_packed_view(const ald__gather *g, const struct ArrowArray *a, const uint8_t *from,
                            packing *p, uint8_t *view)
{
    int32_t size = outside_bytes(from);
    if (from == NULL) {
        memset(view, 0, VIEW_BYTES);
        return;
    }
    memcpy(view, from, VIEW_BYTES);
    if (size == 0)
        return;
    (void)pack(p, size);
    ald__store_le32(view + 8, (uint32_t)(p->count - 1));
    ald__store_le32(view + 12, (uint32_t)(p->last - size));
    memcpy(ald__gather_buffer(g, 1 + p->count) + (p->last - size),
           (const uint8_t *)a->buffers[2 + ald__load_le32(from + 8)] + ald__load_le32(from + 12),
           (size_t)size);
}

static void put_packed(const ald__gather *g)
{
    uint8_t *view = ald__gather_buffer(g, 1);
    packing p = {0, 0, 0};
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count; k++, view += VIEW_BYTES)
            put_packed_view(g, a, view_at(a, a->offset + r->begin + k), &p, view);
    }
}

/* ---- views into copies of the sources' buffers */

static void whole_sizes(const ald__gather *g, uint64_t *sizes)
{
    for (size_t i = 0; i < g->source_count; i++) {
        for (int64_t k = 0; k < data_buffers(g->sources[i]); k++)
            *sizes++ = (uint64_t)data_size(g->sources[i], k);
    }
}

/* firsts[source]: where its data buffers begin in the result. */
static void copy_whole_data(const ald__gather *g, size_t *firsts)
{
    size_t at = 0;
    for (size_t i = 0; i < g->source_count; i++) {
        const struct ArrowArray *a = g->sources[i];
        firsts[i] = at;
        for (int64_t k = 0; k < data_buffers(a); k++, at++) {
            if (data_size(a, k) > 0)
                memcpy(ald__gather_buffer(g, 2 + at), a->buffers[2 + k], (size_t)data_size(a, k));
        }
    }
}

static ald_status put_whole(const ald__gather *g)
{
    size_t size = g->source_count * sizeof(size_t), *firsts = ald__alloc(g->alloc, size, g->err);
    uint8_t *view = ald__gather_buffer(g, 1);
    if (firsts == NULL)
        return ALD_E_NOMEM;
    copy_whole_data(g, firsts);
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count; k++, view += VIEW_BYTES) {
            const uint8_t *from = view_at(a, a->offset + r->begin + k);
            memset(view, 0, VIEW_BYTES);
            if (from != NULL)
                memcpy(view, from, VIEW_BYTES);
            if (outside_bytes(from) > 0)
                ald__store_le32(view + 8, ald__load_le32(from + 8) + (uint32_t)firsts[r->source]);
        }
    }
    ald__release(g->alloc, firsts, size);
    return ALD_OK;
}

static ald_status gather_with_sizes(const ald__gather *g, const ald__gather_views_plan *plan,
                                    uint64_t *sizes)
{
    size_t count = plan->data_count;
    uint8_t *own;
    ALD_TRY(ald__gather_validity_size(g, &sizes[0]));
    sizes[1] = (uint64_t)g->out->length * VIEW_BYTES;
    if (plan->whole)
        whole_sizes(g, sizes + 2);
    else
        packed_sizes(g, sizes + 2);
    sizes[2 + count] = count * 8;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, count + 3));
    ald__gather_validity(g, sizes[0]);
    own = ald__gather_buffer(g, 2 + count);
    for (size_t i = 0; i < count; i++)
        ald__store_le64(own + 8 * i, sizes[2 + i]);
    if (plan->whole)
        return put_whole(g);
    put_packed(g);
    return ALD_OK;
}

ald_status ald__gather_views(const ald__gather *g, const ald__gather_views_plan *plan)
{
    size_t size = (plan->data_count + 3) * sizeof(uint64_t);
    uint64_t *sizes = ald__alloc(g->alloc, size, g->err);
    ald_status st;
    if (sizes == NULL)
        return ALD_E_NOMEM;
    st = gather_with_sizes(g, plan, sizes);
    ald__release(g->alloc, sizes, size);
    return st;
}
