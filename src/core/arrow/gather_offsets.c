/* SPDX-License-Identifier: MIT */
/* Strings, lists and list views. The values of neighbouring rows lie next to each other, save those of list views. */
#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/gather_node.h"
#include "core/base/buf.h"
#include "core/base/endian.h"

/* Offset `i` of a source, counted with its own offset. */
static int64_t offset_at(const struct ArrowArray *a, uint8_t width, int64_t i)
{
    const uint8_t *p = (const uint8_t *)a->buffers[1] + (size_t)i * width;
    return width == 4 ? (int32_t)ald__load_le32(p) : (int64_t)ald__load_le64(p);
}

/* The values of a run, [*first, *end). */
static void run_extent(const ald__gather *g, const ald__run *r, uint8_t width, int64_t *first,
                       int64_t *end)
{
    const struct ArrowArray *a = g->sources[r->source];
    *first = offset_at(a, width, a->offset + r->begin);
    *end = offset_at(a, width, a->offset + r->begin + r->count);
}

static ald_status total_extent(const ald__gather *g, uint8_t width, int64_t *total)
{
    int64_t sum = 0, max = ald__gather_max_signed(width);
    for (size_t i = 0; i < g->run_count; i++) {
        int64_t first, end;
        run_extent(g, &g->runs[i], width, &first, &end);
        if (end - first > max - sum)
            return ald__gather_too_large(g, "the values need larger offsets than its type has");
        sum += end - first;
    }
    *total = sum;
    return ALD_OK;
}

static uint8_t *put_offsets32(uint8_t *out, const uint8_t *from, int64_t count, int64_t shift)
{
    for (int64_t k = 0; k < count; k++, out += 4, from += 4)
        ald__store_le32(out, (uint32_t)((int64_t)ald__load_le32(from) + shift));
    return out;
}

static uint8_t *put_offsets64(uint8_t *out, const uint8_t *from, int64_t count, int64_t shift)
{
    for (int64_t k = 0; k < count; k++, out += 8, from += 8)
        ald__store_le64(out, ald__load_le64(from) + (uint64_t)shift);
    return out;
}

/* Offsets of all rows, beginning at 0. */
static void put_offsets(const ald__gather *g, uint8_t width)
{
    uint8_t *out = ald__gather_buffer(g, 1);
    int64_t at = 0;
    memset(out, 0, width);
    out += width;
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        const uint8_t *from =
            (const uint8_t *)a->buffers[1] + (size_t)(a->offset + r->begin + 1) * width;
        int64_t first, end;
        run_extent(g, r, width, &first, &end);
        out = width == 4 ? put_offsets32(out, from, r->count, at - first)
                         : put_offsets64(out, from, r->count, at - first);
        at += end - first;
    }
}

ald_status ald__gather_strings(const ald__gather *g)
{
    uint8_t width = ald__type_offset_width(&g->type), *out;
    uint64_t sizes[3];
    int64_t total = 0;
    ALD_TRY(total_extent(g, width, &total));
    ALD_TRY(ald__gather_validity_size(g, &sizes[0]));
    sizes[1] = ((uint64_t)g->out->length + 1) * width;
    sizes[2] = (uint64_t)total;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, 3));
    ald__gather_validity(g, sizes[0]);
    put_offsets(g, width);
    out = ald__gather_buffer(g, 2);
    for (size_t i = 0; i < g->run_count; i++) {
        const uint8_t *data = g->sources[g->runs[i].source]->buffers[2];
        int64_t first, end;
        run_extent(g, &g->runs[i], width, &first, &end);
        if (end > first)
            memcpy(out, data + first, (size_t)(end - first));
        out += end - first;
    }
    return ALD_OK;
}

ald_status ald__gather_lists(const ald__gather *g)
{
    uint8_t width = ald__type_offset_width(&g->type);
    ald__run_list list;
    uint64_t sizes[2];
    int64_t total;
    ald_status st;
    ALD_TRY(total_extent(g, width, &total));
    ALD_TRY(ald__gather_validity_size(g, &sizes[0]));
    sizes[1] = ((uint64_t)g->out->length + 1) * width;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, 2));
    ald__gather_validity(g, sizes[0]);
    put_offsets(g, width);
    ALD_TRY(ald__run_list_init(g, g->run_count, &list));
    for (size_t i = 0; i < g->run_count; i++) {
        int64_t first, end;
        run_extent(g, &g->runs[i], width, &first, &end);
        ald__run_list_add(&list, g->runs[i].source, first, end - first);
    }
    st = ald__gather_child(g, 0, list.runs, list.count);
    ald__run_list_clear(g, &list);
    return st;
}

/* ---- list views */

/* One slot of a source; a null one is empty. */
static void view_at(const struct ArrowArray *a, uint8_t width, int64_t i, int64_t *begin,
                    int64_t *count)
{
    *begin = *count = 0;
    if (ald__gather_has_nulls(a) && !ald__bit_get(a->buffers[0], (uint64_t)i))
        return;
    *count = ald__layout_signed(a->buffers[2], width, i);
    if (*count > 0)
        *begin = ald__layout_signed(a->buffers[1], width, i);
}

static void put_signed(uint8_t *p, uint8_t width, int64_t value)
{
    if (width == 4)
        ald__store_le32(p, (uint32_t)value);
    else
        ald__store_le64(p, (uint64_t)value);
}

/* Offsets and sizes: as the child's runs lie, or (shifts) where whole children have them. */
static void put_views(const ald__gather *g, uint8_t width, const int64_t *shifts)
{
    uint8_t *offsets = ald__gather_buffer(g, 1), *sizes = ald__gather_buffer(g, 2);
    int64_t at = 0;
    for (size_t i = 0; i < g->run_count; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count; k++, offsets += width, sizes += width) {
            int64_t begin, count;
            view_at(a, width, a->offset + r->begin + k, &begin, &count);
            put_signed(offsets, width, shifts != NULL ? shifts[r->source] + begin : at);
            put_signed(sizes, width, count);
            at += count;
        }
    }
}

static ald_status view_runs(const ald__gather *g, uint8_t width, ald__run_list *list, int *fits)
{
    int64_t at = 0, max = ald__gather_max_signed(width);
    ALD_TRY(ald__run_list_init(g, (uint64_t)g->out->length, list));
    *fits = 1;
    for (size_t i = 0; i < g->run_count && *fits; i++) {
        const ald__run *r = &g->runs[i];
        const struct ArrowArray *a = g->sources[r->source];
        for (int64_t k = 0; k < r->count && *fits; k++) {
            int64_t begin, count;
            view_at(a, width, a->offset + r->begin + k, &begin, &count);
            ald__run_list_add(list, r->source, begin, count);
            *fits = count <= max - at;
            at += *fits ? count : 0;
        }
    }
    return ALD_OK;
}

static ald_status gather_view_items(const ald__gather *g, uint8_t width, const ald__run_list *list,
                                    int fits)
{
    int64_t *shifts = NULL;
    ald_status st = ALD_OK;
    if (fits)
        st = ald__gather_disjoint(g, 0, list, &fits);
    if (st == ALD_OK && fits) {
        put_views(g, width, NULL);
        return ald__gather_child(g, 0, list->runs, list->count);
    }
    if (st == ALD_OK)
        st = ald__gather_whole_child(g, 0, ald__gather_max_signed(width), &shifts);
    if (st == ALD_OK)
        put_views(g, width, shifts);
    ald__gather_free_shifts(g, shifts);
    return st;
}

ald_status ald__gather_list_views(const ald__gather *g)
{
    uint8_t width = ald__type_offset_width(&g->type);
    ald__run_list list = {NULL, 0, 0};
    uint64_t sizes[3];
    ald_status st;
    int fits = 1;
    ALD_TRY(ald__gather_validity_size(g, &sizes[0]));
    sizes[1] = sizes[2] = (uint64_t)g->out->length * width;
    ALD_TRY(ald__gather_alloc(g, 0, sizes, 3));
    ald__gather_validity(g, sizes[0]);
    st = view_runs(g, width, &list, &fits);
    if (st == ALD_OK)
        st = gather_view_items(g, width, &list, fits);
    ald__run_list_clear(g, &list);
    return st;
}
