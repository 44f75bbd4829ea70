/* SPDX-License-Identifier: MIT */
/* Validity, values of fixed width, and the way down through structs and fixed-size lists. A buffer that needs no change is
 * pointed at, not copied: that is what makes writing as fast as memory. */
#include "core/arrow/ipc_encode.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/mask.h"
#include "core/arrow/schema_build.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/fail.h"

ald_status ald__ipc_bad_array(const ald__ipc_node *node, const char *what, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "column '%s' ('%s'): %s",
                     ald__schema_name(node->schema), node->schema->format, what);
}

ald_status ald__ipc_scratch(ald__ipc_encoder *enc, uint64_t count, size_t width, int zero,
                            void *out)
{
    size_t items, size;
    void *data;
    if (!ald__to_size(count, &items) || !ald__mul_size(items, width, &size))
        return ald__no_memory(enc->err, SIZE_MAX);
    data = zero ? ald__ipc_plan_alloc_zero(enc->plan, size, enc->err)
                : ald__ipc_plan_alloc(enc->plan, size, enc->err);
    memcpy(out, &data, sizeof data);
    return data == NULL ? ALD_E_NOMEM : ALD_OK;
}

static const char *form_fault(const ald__ipc_node *node, const struct ArrowArray *array)
{
    const ald__type *type = &node->type;
    int views = type->id == ALD__BINARY_VIEW || type->id == ALD__UTF8_VIEW;
    int64_t end, need = views ? 3 : type->buffer_count;
    if (array == NULL || array->release == NULL)
        return "the array is missing or released";
    if (array->length < 0 || array->offset < 0 ||
        __builtin_add_overflow(array->length, array->offset, &end))
        return "bad length or offset";
    /* Types without buffers have been exported with an empty one. */
    if (need > 0 && (views ? array->n_buffers < need : array->n_buffers != need))
        return "wrong number of buffers";
    if (need > 0 && array->buffers == NULL)
        return "the buffers are missing";
    if (array->n_children != (int64_t)node->child_count)
        return "wrong number of children";
    if (node->child_count > 0 && array->children == NULL)
        return "the children are missing";
    if ((array->dictionary != NULL) != (node->dictionary != ALD__NO_DICTIONARY))
        return "a dictionary is missing, or is there and should not be";
    if (type->has_validity && array->null_count > 0 && array->buffers[0] == NULL)
        return "nulls without a validity buffer";
    return NULL;
}

ald_status ald__ipc_check_form(const ald__ipc_node *node, const struct ArrowArray *array,
                               ald_error *err)
{
    const char *fault = form_fault(node, array);
    return fault == NULL ? ALD_OK : ald__ipc_bad_array(node, fault, err);
}

/* Zeroed bits of all rows, then ored from a source bitmap. */
static ald_status gather_bits(ald__ipc_encoder *enc, const uint8_t *src, int64_t offset,
                              const ald__ipc_rows *rows, uint8_t **out)
{
    uint64_t at = 0;
    ALD_TRY(ald__ipc_scratch(enc, ald__bits_bytes((uint64_t)rows->total), 1, 1, out));
    for (size_t i = 0; i < rows->count; i++) {
        const ald__ipc_range *r = &rows->ranges[i];
        ald__bits_copy(*out, at, src, (uint64_t)(offset + r->start), (uint64_t)r->length);
        at += (uint64_t)r->length;
    }
    return ALD_OK;
}

ald_status ald__ipc_slot_mask(ald__ipc_encoder *enc, const ald__ipc_rows *rows,
                              const uint8_t *validity, const uint8_t **out)
{
    size_t size = ald__bits_bytes((uint64_t)rows->total);
    uint8_t *mask = NULL;
    *out = validity;
    if (rows->live == NULL || rows->total == 0)
        return ALD_OK;
    ALD_TRY(ald__ipc_scratch(enc, size, 1, 1, &mask));
    for (int64_t i = 0; i < rows->total; i += rows->live_repeat) {
        if (ald__bit_get(rows->live, (uint64_t)(i / rows->live_repeat)))
            ald__bits_fill(mask, (uint64_t)i, (uint64_t)rows->live_repeat);
    }
    for (size_t i = 0; validity != NULL && i < size; i++)
        mask[i] &= validity[i];
    *out = mask;
    return ALD_OK;
}

/* The node's own nulls. Under a parent's null there is no value, and so it is neither here nor there whether the slot is null
 * too: such slots alone make no validity buffer, and in one they are null. *ones: bits that are one in *out. */
static ald_status own_validity(ald__ipc_encoder *enc, const struct ArrowArray *array,
                               const ald__ipc_rows *rows, const uint8_t **out, uint64_t *ones)
{
    uint64_t total = (uint64_t)rows->total, live = total;
    const uint8_t *mask = NULL;
    uint8_t *bits = NULL;
    ALD_TRY(gather_bits(enc, array->buffers[0], array->offset, rows, &bits));
    *out = bits;
    if (rows->live != NULL) {
        ALD_TRY(ald__ipc_slot_mask(enc, rows, NULL, &mask));
        live = ald__bits_count(mask, 0, total);
        for (size_t i = 0; i < ald__bits_bytes(total); i++)
            bits[i] &= mask[i];
    }
    *ones = ald__bits_count(bits, 0, total);
    if (*ones == live)
        *out = NULL;
    return ALD_OK;
}

/* The field node and the validity buffer, which is empty without nulls; *out is NULL then. */
static ald_status encode_validity(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                  const struct ArrowArray *array, const ald__ipc_rows *rows,
                                  const uint8_t **out)
{
    uint64_t total = (uint64_t)rows->total, ones = total;
    *out = NULL;
    if (!node->type.has_validity)
        return ald__ipc_plan_node(enc->plan, rows->total,
                                  node->type.id == ALD__NULL ? rows->total : 0, enc->err);
    if (array->buffers[0] != NULL && array->null_count != 0 && total > 0)
        ALD_TRY(own_validity(enc, array, rows, out, &ones));
    if (*out == NULL)
        ones = total;
    ALD_TRY(ald__ipc_plan_node(enc->plan, rows->total, (int64_t)(total - ones), enc->err));
    return ald__ipc_plan_piece(enc->plan, *out, *out != NULL ? ald__bits_bytes(total) : 0,
                               enc->err);
}

ald_status ald__ipc_child_mask(ald__ipc_encoder *enc, const ald__ipc_rows *rows,
                               const uint8_t *validity, int64_t repeat, ald__ipc_rows *child)
{
    /* Without rows the factors of the repeat are bounded by nothing. */
    if (child->total == 0)
        return ALD_OK;
    child->live = rows->live;
    child->live_repeat = rows->live != NULL ? rows->live_repeat * repeat : 0;
    if (validity == NULL)
        return ALD_OK;
    child->live_repeat = repeat;
    return ald__ipc_slot_mask(enc, rows, validity, &child->live);
}

ald_status ald__ipc_child_rows(ald__ipc_encoder *enc, const ald__ipc_node *node,
                               const struct ArrowArray *array, const ald__ipc_rows *rows,
                               int64_t factor, ald__ipc_rows *child)
{
    ald__ipc_range *ranges = NULL;
    memset(child, 0, sizeof *child);
    ALD_TRY(ald__ipc_scratch(enc, rows->count, sizeof *ranges, 0, &ranges));
    for (size_t i = 0; i < rows->count; i++) {
        int64_t start = array->offset + rows->ranges[i].start, end;
        if (__builtin_mul_overflow(start, factor, &ranges[i].start) ||
            __builtin_mul_overflow(rows->ranges[i].length, factor, &ranges[i].length) ||
            __builtin_add_overflow(ranges[i].start, ranges[i].length, &end) ||
            __builtin_add_overflow(child->total, ranges[i].length, &child->total))
            return ald__ipc_bad_array(node, "more rows than 64 bits can count", enc->err);
    }
    child->ranges = ranges;
    child->count = rows->count;
    return ALD_OK;
}

static void note_values(ald__ipc_encoder *enc, const ald__ipc_node *node)
{
    if (node == &enc->tree->nodes[enc->values_node])
        enc->values_piece = ald__ipc_plan_piece_count(enc->plan);
}

static ald_status encode_bool(ald__ipc_encoder *enc, const ald__ipc_node *node,
                              const struct ArrowArray *array, const ald__ipc_rows *rows,
                              const uint8_t *mask)
{
    size_t size = ald__bits_bytes((uint64_t)rows->total);
    uint8_t *bits = NULL;
    note_values(enc, node);
    if (size == 0)
        return ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err);
    if (array->buffers[1] == NULL)
        return ald__ipc_bad_array(node, "the values are missing", enc->err);
    ALD_TRY(gather_bits(enc, array->buffers[1], array->offset, rows, &bits));
    for (size_t i = 0; mask != NULL && i < size; i++)
        bits[i] &= mask[i];
    return ald__ipc_plan_piece(enc->plan, bits, size, enc->err);
}

ald_status ald__ipc_gather(ald__ipc_encoder *enc, const ald__ipc_node *node, const void *values,
                           int64_t offset, const ald__ipc_rows *rows, size_t width, uint8_t **copy,
                           const uint8_t **out)
{
    const uint8_t *src = values;
    uint8_t *to;
    if (src == NULL)
        return ald__ipc_bad_array(node, "the values are missing", enc->err);
    if (rows->count == 1) {
        *out = src + (size_t)(offset + rows->ranges[0].start) * width;
        return ALD_OK;
    }
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total, width, 0, copy));
    to = *copy;
    *out = *copy;
    for (size_t i = 0; i < rows->count; i++) {
        const ald__ipc_range *r = &rows->ranges[i];
        size_t bytes = (size_t)r->length * width;
        if (bytes > 0)
            memcpy(to, src + (size_t)(offset + r->start) * width, bytes);
        to += bytes;
    }
    return ALD_OK;
}

static ald_status encode_fixed(ald__ipc_encoder *enc, const ald__ipc_node *node,
                               const struct ArrowArray *array, const ald__ipc_rows *rows,
                               const uint8_t *mask)
{
    size_t width = node->type.bit_width / 8, count, size, end;
    const uint8_t *values = NULL;
    uint8_t *copy = NULL;
    note_values(enc, node);
    if (!ald__to_size((uint64_t)array->offset + (uint64_t)array->length, &end) ||
        !ald__mul_size(end, width, &size) || !ald__to_size((uint64_t)rows->total, &count) ||
        !ald__mul_size(count, width, &size))
        return ald__no_memory(enc->err, SIZE_MAX);
    if (size == 0)
        return ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err);
    ALD_TRY(
        ald__ipc_gather(enc, node, array->buffers[1], array->offset, rows, width, &copy, &values));
    if (mask != NULL && ald__mask_is_dirty(values, width, mask, count)) {
        if (copy == NULL) {
            ALD_TRY(ald__ipc_scratch(enc, size, 1, 0, &copy));
            memcpy(copy, values, size);
        }
        ald__mask_clean(copy, width, mask, count);
        values = copy;
    }
    return ald__ipc_plan_piece(enc->plan, values, size, enc->err);
}

static int64_t load_index(const uint8_t *p, ald__type_id id)
{
    uint64_t v = 0;
    switch (id) {
    case ALD__INT8:
        return (int8_t)*p;
    case ALD__UINT8:
        return *p;
    case ALD__INT16:
    case ALD__UINT16:
        memcpy(&v, p, 2);
        return id == ALD__INT16 ? (int16_t)v : (int64_t)v;
    case ALD__INT32:
    case ALD__UINT32:
        memcpy(&v, p, 4);
        return id == ALD__INT32 ? (int32_t)v : (int64_t)v;
    default:
        memcpy(&v, p, 8);
        return (int64_t)v;
    }
}

static ald_status index_overflow(const ald__ipc_node *node, ald_error *err)
{
    return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                     "column '%s': the batches' dictionaries together have more values than its "
                     "%u-bit indices can count, and a file holds one dictionary for each column",
                     ald__schema_name(node->schema), node->type.bit_width);
}

/* Dictionary indices, changed to those of the dictionary that was written. */
static ald_status encode_remapped(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                  const struct ArrowArray *array, const ald__ipc_rows *rows,
                                  const uint8_t *mask)
{
    const ald__ipc_remap *remap = &enc->remaps[node->dictionary];
    size_t width = node->type.bit_width / 8;
    unsigned sign_bits = node->type.id <= ALD__INT64;
    uint64_t max = UINT64_MAX >> (64 - node->type.bit_width + sign_bits);
    const uint8_t *values = NULL;
    uint8_t *copy = NULL;
    note_values(enc, node);
    if (rows->total == 0)
        return ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err);
    ALD_TRY(
        ald__ipc_gather(enc, node, array->buffers[1], array->offset, rows, width, &copy, &values));
    if (copy == NULL)
        ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total, width, 0, &copy));
    for (int64_t i = 0; i < rows->total; i++) {
        uint64_t mapped = 0;
        if (mask == NULL || ald__bit_get(mask, (uint64_t)i)) {
            int64_t index = load_index(values + (size_t)i * width, node->type.id);
            if (index < 0 || (uint64_t)index >= remap->count)
                return ald__ipc_bad_array(node, "an index is outside the dictionary", enc->err);
            mapped = remap->map[index];
            if (mapped > max)
                return index_overflow(node, enc->err);
        }
        memcpy(copy + (size_t)i * width, &mapped, width);
    }
    return ald__ipc_plan_piece(enc->plan, copy, (size_t)rows->total * width, enc->err);
}

static ald_status encode_struct(ald__ipc_encoder *enc, uint32_t index,
                                const struct ArrowArray *array, const ald__ipc_rows *rows,
                                const uint8_t *validity)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    ald__ipc_rows child = {0};
    uint32_t at = index + 1;
    ALD_TRY(ald__ipc_child_rows(enc, node, array, rows, 1, &child));
    ALD_TRY(ald__ipc_child_mask(enc, rows, validity, 1, &child));
    for (uint32_t i = 0; i < node->child_count; i++) {
        ALD_TRY(ald__ipc_encode(enc, at, array->children[i], &child));
        at = enc->tree->nodes[at].next;
    }
    return ALD_OK;
}

static ald_status encode_fixed_list(ald__ipc_encoder *enc, uint32_t index,
                                    const struct ArrowArray *array, const ald__ipc_rows *rows,
                                    const uint8_t *validity)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    int64_t size = node->type.list_size;
    ald__ipc_rows child = {0};
    ALD_TRY(ald__ipc_child_rows(enc, node, array, rows, size, &child));
    ALD_TRY(ald__ipc_child_mask(enc, rows, validity, size, &child));
    return ald__ipc_encode(enc, index + 1, array->children[0], &child);
}

static ald_status check_rows(const ald__ipc_node *node, const struct ArrowArray *array,
                             const ald__ipc_rows *rows, ald_error *err)
{
    for (size_t i = 0; i < rows->count; i++) {
        const ald__ipc_range *r = &rows->ranges[i];
        if (r->start < 0 || r->length < 0 || r->start > array->length ||
            r->length > array->length - r->start)
            return ald__ipc_bad_array(node, "fewer rows than its parent asks for", err);
    }
    return ALD_OK;
}

static ald_status encode_values(ald__ipc_encoder *enc, uint32_t index,
                                const struct ArrowArray *array, const ald__ipc_rows *rows,
                                const uint8_t *validity)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    const uint8_t *mask;
    ALD_TRY(ald__ipc_slot_mask(enc, rows, validity, &mask));
    switch (node->type.id) {
    case ALD__BOOL:
        return encode_bool(enc, node, array, rows, mask);
    case ALD__BINARY:
    case ALD__LARGE_BINARY:
    case ALD__UTF8:
    case ALD__LARGE_UTF8:
        return ald__ipc_encode_text(enc, node, array, rows, mask);
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        return ald__ipc_encode_views(enc, node, array, rows, mask);
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        return ald__ipc_encode_list(enc, index, array, rows, mask);
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        return ald__ipc_encode_list_view(enc, index, array, rows, mask);
    default:
        if (node->dictionary != ALD__NO_DICTIONARY && enc->remaps[node->dictionary].map != NULL)
            return encode_remapped(enc, node, array, rows, mask);
        return encode_fixed(enc, node, array, rows, mask);
    }
}

/* Recursion is bounded by the tree's depth, ALD__MAX_TYPE_DEPTH. */
ald_status ald__ipc_encode(ald__ipc_encoder *enc, uint32_t index, const struct ArrowArray *array,
                           const ald__ipc_rows *rows)
{
    const ald__ipc_node *node = &enc->tree->nodes[index];
    const uint8_t *validity;
    ALD_TRY(ald__ipc_check_form(node, array, enc->err));
    ALD_TRY(check_rows(node, array, rows, enc->err));
    ALD_TRY(encode_validity(enc, node, array, rows, &validity));
    switch (node->type.id) {
    case ALD__NULL:
        return ALD_OK;
    case ALD__STRUCT:
        return encode_struct(enc, index, array, rows, validity);
    case ALD__FIXED_LIST:
        return encode_fixed_list(enc, index, array, rows, validity);
    case ALD__SPARSE_UNION:
    case ALD__DENSE_UNION:
        return ald__ipc_encode_union(enc, index, array, rows);
    case ALD__RUN_END:
        return ald__ipc_encode_run_end(enc, index, array, rows);
    default:
        return encode_values(enc, index, array, rows, validity);
    }
}
