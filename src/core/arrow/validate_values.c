/* SPDX-License-Identifier: MIT */
/* Values of one node. A first pass without branches, which compilers vectorise, says whether all is well; only when it is
 * not does a second pass find the row (or finds that only null slots are wild, where that is allowed). */
#include "core/arrow/validate_values.h"

#include <string.h>

#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/arrow/utf8.h"
#include "core/base/cpu.h"
#include "core/base/fail.h"

#define LANE 64u

static const uint8_t *element(const ald__node_view *n, int64_t buffer, uint8_t width)
{
    const uint8_t *p = n->array->buffers[buffer];
    return p + (size_t)n->array->offset * width;
}

/* ---- Offsets */

/* Top bit of *falls set when an offset of p[0 .. pairs] is negative or less than the one before. With no negative ones, the
 * difference of neighbours has the right sign. */
#define DEFINE_FALLS(bits)                                                                         \
    ALD__BODY void falls##bits##_body(const uint8_t *p, size_t pairs, uint##bits##_t *falls)       \
    {                                                                                              \
        uint##bits##_t bad, x, next;                                                               \
        memcpy(&bad, p + pairs * sizeof x, sizeof x);                                              \
        for (size_t i = 0; i < pairs; i++) {                                                       \
            memcpy(&x, p + i * sizeof x, sizeof x);                                                \
            memcpy(&next, p + (i + 1) * sizeof x, sizeof x);                                       \
            bad |= x | (next - x);                                                                 \
        }                                                                                          \
        *falls = bad;                                                                              \
    }                                                                                              \
    ALD__VARIANTS(static, falls##bits, (const uint8_t *p, size_t pairs, uint##bits##_t *falls),    \
                  (p, pairs, falls))

DEFINE_FALLS(32)
DEFINE_FALLS(64)

static ald_status fail_offsets(const ald__validator *v, const ald__node_view *n, uint64_t limit)
{
    uint8_t width = ald__type_offset_width(n->type);
    const uint8_t *p = element(n, 1, width);
    for (int64_t i = 0; i < n->array->length; i++) {
        int64_t a = ald__layout_signed(p, width, i), b = ald__layout_signed(p, width, i + 1);
        if (a < 0 || b < a || (uint64_t)b > limit)
            return ald__validate_fail(v, i, "offsets %lld and %lld, expected 0 to %llu, rising",
                                      (long long)a, (long long)b, (unsigned long long)limit);
    }
    return ald__validate_fail(v, -1, "offset outside 0 to %llu", (unsigned long long)limit);
}

ald_status ald__validate_offsets(const ald__validator *v, const ald__node_view *n, uint64_t limit)
{
    uint8_t width = ald__type_offset_width(n->type);
    size_t pairs = (size_t)n->array->length;
    const uint8_t *p;
    uint32_t falls = 0;
    uint64_t wide_falls = 0;
    if (pairs == 0)
        return ALD_OK;
    p = element(n, 1, width);
    if (width == 4)
        falls32(p, pairs, &falls);
    else
        falls64(p, pairs, &wide_falls);
    if (falls >> 31 != 0 || wide_falls >> 63 != 0 ||
        (uint64_t)ald__layout_signed(p, width, n->array->length) > limit)
        return fail_offsets(v, n, limit);
    return ALD_OK;
}

/* ---- Strings and binaries */

/* Whether a value that is not empty begins with a continuation byte of data[0 .. end). The text as a whole is valid. Inlined
 * with a constant width. */
static inline int cuts_sequence(const ald__node_view *n, uint8_t width, const uint8_t *data,
                                uint64_t end)
{
    const uint8_t *p = element(n, 1, width);
    uint32_t bad = 0;
    for (int64_t i = 0; i < n->array->length; i++) {
        uint64_t begin; /* none is negative */
        uint32_t narrow;
        if (width == 4) {
            memcpy(&narrow, p + 4 * i, 4);
            begin = narrow;
        } else {
            memcpy(&begin, p + 8 * i, 8);
        }
        bad |= (data[begin < end ? begin : end - 1] & 0xC0u) == 0x80 && begin < end;
    }
    return bad != 0;
}

static ald_status check_each_text(const ald__validator *v, const ald__node_view *n, uint8_t width,
                                  const uint8_t *data)
{
    const uint8_t *p = element(n, 1, width);
    for (int64_t i = 0; i < n->array->length; i++) {
        int64_t begin = ald__layout_signed(p, width, i), end = ald__layout_signed(p, width, i + 1);
        size_t good, size = (size_t)(end - begin);
        if (size == 0 || !ald__slot_is_valid(n, i))
            continue;
        good = ald__utf8_valid_prefix(data + begin, size, NULL);
        if (good != size)
            return ald__validate_fail(v, i, "not UTF-8 at byte %zu of %zu", good, size);
    }
    return ALD_OK;
}

ald_status ald__validate_strings(const ald__validator *v, const ald__node_view *n)
{
    uint8_t width = ald__type_offset_width(n->type);
    const uint8_t *data = n->array->buffers[2];
    int64_t begin, end;
    int ascii;
    /* Without known sizes the last offset is trusted. */
    ALD_TRY(ald__validate_offsets(v, n, n->sizes != NULL ? n->sizes[2] : INT64_MAX));
    if (n->array->length == 0)
        return ALD_OK;
    begin = ald__layout_signed(element(n, 1, width), width, 0);
    end = ald__layout_signed(element(n, 1, width), width, n->array->length);
    if (end > begin && data == NULL)
        return ald__validate_fail(v, -1, "the buffer of %lld bytes of data is missing",
                                  (long long)end);
    if (end == begin || (n->type->id != ALD__UTF8 && n->type->id != ALD__LARGE_UTF8))
        return ALD_OK;
    if (ald__utf8_valid_prefix(data + begin, (size_t)(end - begin), &ascii) ==
            (size_t)(end - begin) &&
        (ascii || !(width == 4 ? cuts_sequence(n, 4, data, (uint64_t)end)
                               : cuts_sequence(n, 8, data, (uint64_t)end))))
        return ALD_OK;
    return check_each_text(v, n, width, data);
}

/* ---- List views */

ald_status ald__validate_list_views(const ald__validator *v, const ald__node_view *n)
{
    uint8_t width = ald__type_offset_width(n->type);
    int64_t limit = n->array->children[0]->length;
    const uint8_t *offsets, *sizes;
    if (n->array->length == 0)
        return ALD_OK;
    offsets = element(n, 1, width);
    sizes = element(n, 2, width);
    /* Null slots too: the format asks for it. */
    for (int64_t i = 0; i < n->array->length; i++) {
        int64_t offset = ald__layout_signed(offsets, width, i);
        int64_t size = ald__layout_signed(sizes, width, i);
        if (offset < 0 || size < 0 || offset > limit || size > limit - offset)
            return ald__validate_fail(v, i, "%lld values from %lld on, of %lld", (long long)size,
                                      (long long)offset, (long long)limit);
    }
    return ALD_OK;
}

/* ---- Dictionary indices */

static uint8_t max8(const uint8_t *p, size_t count)
{
    uint8_t max = 0;
    for (size_t i = 0; i < count; i++)
        max = p[i] > max ? p[i] : max;
    return max;
}

#define DEFINE_MAX(bits)                                                                           \
    static uint##bits##_t max##bits(const uint8_t *p, size_t count)                                \
    {                                                                                              \
        uint##bits##_t max = 0, x[LANE];                                                           \
        size_t i = 0;                                                                              \
        for (; count - i >= LANE; i += LANE) {                                                     \
            memcpy(x, p + sizeof x[0] * i, sizeof x);                                              \
            for (unsigned j = 0; j < LANE; j++)                                                    \
                max = x[j] > max ? x[j] : max;                                                     \
        }                                                                                          \
        for (; i < count; i++) {                                                                   \
            memcpy(x, p + sizeof x[0] * i, sizeof x[0]);                                           \
            max = x[0] > max ? x[0] : max;                                                         \
        }                                                                                          \
        return max;                                                                                \
    }

DEFINE_MAX(16)
DEFINE_MAX(32)
DEFINE_MAX(64)

/* The largest index, a negative one counting as a large one. */
static uint64_t max_index(const uint8_t *p, uint8_t width, size_t count)
{
    switch (width) {
    case 1:
        return max8(p, count);
    case 2:
        return max16(p, count);
    case 4:
        return max32(p, count);
    default:
        return max64(p, count);
    }
}

ald_status ald__validate_indices(const ald__validator *v, const ald__node_view *n)
{
    uint8_t width = (uint8_t)(n->type->bit_width / 8);
    uint64_t limit = (uint64_t)n->array->dictionary->length;
    int is_signed = n->type->id <= ALD__INT64;
    const uint8_t *p;
    if (n->array->length == 0)
        return ALD_OK;
    p = element(n, 1, width);
    if (max_index(p, width, (size_t)n->array->length) < limit &&
        (!is_signed || limit <= UINT64_C(1) << (8 * width - 1)))
        return ALD_OK;
    for (int64_t i = 0; i < n->array->length; i++) {
        /* A negative one is beyond any limit as an unsigned one of 64 bits. */
        uint64_t index = is_signed ? (uint64_t)ald__layout_signed(p, width, i)
                                   : ald__layout_unsigned(p, width, i);
        if (index >= limit && ald__slot_is_valid(n, i))
            return ald__validate_fail(v, i, "dictionary index %lld, the dictionary has %llu values",
                                      (long long)index, (unsigned long long)limit);
    }
    return ALD_OK;
}

/* ---- Unions */

ald_status ald__validate_union(const ald__validator *v, const ald__node_view *n)
{
    const int dense = n->type->id == ALD__DENSE_UNION;
    uint64_t limits[256] = {0}; /* slots of the child of each type id; 0: no such child */
    const uint8_t *ids, *offsets;
    int8_t codes[128];
    ALD_TRY(ald__type_union_ids(n->schema, codes, v->err));
    for (int64_t i = 0; i < n->array->n_children; i++)
        limits[(uint8_t)codes[i]] = (uint64_t)n->array->children[i]->length;
    for (int64_t i = 0; i < n->array->n_children && !dense; i++) {
        if (n->array->children[i]->length < n->array->offset + n->array->length)
            return ald__validate_fail(v, -1, "child %lld has %lld values, expected %lld",
                                      (long long)i, (long long)n->array->children[i]->length,
                                      (long long)(n->array->offset + n->array->length));
    }
    if (n->array->length == 0)
        return ALD_OK;
    ids = element(n, 0, 1);
    offsets = dense ? element(n, 1, 4) : NULL;
    for (int64_t i = 0; i < n->array->length; i++) {
        /* A sparse union's child has a slot for each row; a negative offset is a large unsigned one. */
        uint64_t slot =
            dense ? ald__layout_unsigned(offsets, 4, i) : (uint64_t)(n->array->offset + i);
        if (slot >= limits[ids[i]] || (dense && slot > INT32_MAX))
            return ald__validate_fail(v, i, "union type id %d, slot %lld: there is none",
                                      (int)(int8_t)ids[i],
                                      (long long)(dense ? (int32_t)slot : (int64_t)slot));
    }
    return ALD_OK;
}

/* ---- Run ends */

ald_status ald__validate_runs(const ald__validator *v, const ald__node_view *n)
{
    const struct ArrowArray *ends = n->array->children[0], *values = n->array->children[1];
    int64_t rows = n->array->offset + n->array->length, last = 0;
    const uint8_t *p;
    ald__type type;
    uint8_t width;
    ALD_TRY(ald__type_of(n->schema->children[0], &type, v->err));
    width = (uint8_t)(type.bit_width / 8);
    if (ends->length > values->length)
        return ald__validate_fail(v, -1, "%lld runs, but %lld values", (long long)ends->length,
                                  (long long)values->length);
    if (ends->buffers[0] != NULL &&
        ald__bits_count(ends->buffers[0], (uint64_t)ends->offset, (uint64_t)ends->length) !=
            (uint64_t)ends->length)
        return ald__validate_fail(v, -1, "a run end is null");
    p = ends->buffers[1];
    for (int64_t i = 0; i < ends->length; i++) {
        int64_t end = ald__layout_signed(p, width, ends->offset + i);
        if (end <= last)
            return ald__validate_fail(v, i, "run end %lld after %lld, expected a larger one",
                                      (long long)end, (long long)last);
        last = end;
    }
    if (last < rows)
        return ald__validate_fail(v, -1, "the last run ends at %lld of %lld rows", (long long)last,
                                  (long long)rows);
    return ALD_OK;
}
