/* SPDX-License-Identifier: MIT */
/* Texts, lists and maps: offsets moved to begin at 0, and what slots without a value point at dropped. */
#include "core/arrow/ipc_encode.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/mask.h"
#include "core/arrow/schema_build.h"
#include "core/base/fail.h"

/* Offsets of 4 or 8 bytes at any address. */
static inline int64_t offset_at(const uint8_t *offsets, size_t width, int64_t i)
{
    int64_t wide;
    int32_t narrow;
    if (width == sizeof wide) {
        memcpy(&wide, offsets + (size_t)i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, offsets + (size_t)i * sizeof narrow, sizeof narrow);
    return narrow;
}

static inline void offset_put(uint8_t *offsets, size_t width, int64_t i, int64_t value)
{
    int32_t narrow = (int32_t)value;
    if (width == sizeof value)
        memcpy(offsets + (size_t)i * sizeof value, &value, sizeof value);
    else
        memcpy(offsets + (size_t)i * sizeof narrow, &narrow, sizeof narrow);
}

static size_t offset_width(const ald__ipc_node *node)
{
    ald__type_id id = node->type.id;
    int large = id == ALD__LARGE_BINARY || id == ALD__LARGE_UTF8 || id == ALD__LARGE_LIST;
    return large ? 8 : 4;
}

/* Inlined with a constant width. Returns the bits in which the ends of slots under zero bits differ. */
static inline int64_t lengths_under_zeros(const uint8_t *offsets, size_t width, uint64_t word,
                                          int64_t at, int64_t end)
{
    int64_t found = 0, low = offset_at(offsets, width, at);
    for (int64_t i = at; i < end; i++, word >>= 1) {
        int64_t high = offset_at(offsets, width, i + 1);
        found |= (low ^ high) & (int64_t)((word & 1) - 1);
        low = high;
    }
    return found;
}

/* Whether a slot under a zero bit has a length. */
static int drops_values(const uint8_t *offsets, size_t width, const uint8_t *mask, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; mask != NULL && i < count && found == 0; i += 64) {
        uint64_t word = ald__mask_word(mask, (uint64_t)i, (uint64_t)count);
        int64_t end = count - i < 64 ? count : i + 64;
        if (word == UINT64_MAX)
            continue;
        found = width == 4 ? lengths_under_zeros(offsets, 4, word, i, end)
                           : lengths_under_zeros(offsets, 8, word, i, end);
    }
    return found != 0;
}

/* One range of which nothing is dropped: one range of the child. */
static ald_status plan_whole(ald__ipc_encoder *enc, const ald__ipc_node *node,
                             const uint8_t *offsets, size_t width, const ald__ipc_rows *rows,
                             ald__ipc_rows *child)
{
    int64_t low = offset_at(offsets, width, 0), high = offset_at(offsets, width, rows->total);
    size_t size = (size_t)(rows->total + 1) * width;
    ald__ipc_range *range = NULL;
    uint8_t *moved = NULL;
    if (low < 0 || high < low)
        return ald__ipc_bad_array(node, "offsets fall, or are negative", enc->err);
    ALD_TRY(ald__ipc_scratch(enc, 1, sizeof *range, 0, &range));
    range->start = low;
    range->length = high - low;
    child->ranges = range;
    child->count = 1;
    child->total = high - low;
    if (low == 0)
        return ald__ipc_plan_piece(enc->plan, offsets, size, enc->err);
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total + 1, width, 0, &moved));
    if (width == 4) {
        for (int64_t i = 0; i <= rows->total; i++)
            offset_put(moved, 4, i, offset_at(offsets, 4, i) - low);
    } else {
        for (int64_t i = 0; i <= rows->total; i++)
            offset_put(moved, 8, i, offset_at(offsets, 8, i) - low);
    }
    return ald__ipc_plan_piece(enc->plan, moved, size, enc->err);
}

/* Walks the slots that have a length and appends their ranges, joined where they touch. With `ranges` NULL they are only
 * counted; `moved` gets the new offsets behind the first. */
static ald_status walk_slots(ald__ipc_encoder *enc, const ald__ipc_node *node,
                             const uint8_t *offsets, int64_t array_offset,
                             const ald__ipc_rows *rows, const uint8_t *mask, ald__ipc_range *ranges,
                             uint8_t *moved, ald__ipc_rows *child)
{
    size_t width = offset_width(node);
    int64_t slot = 0, range_end = -1;
    child->count = 0;
    child->total = 0;
    for (size_t r = 0; r < rows->count; r++) {
        int64_t first = array_offset + rows->ranges[r].start;
        for (int64_t i = first; i < first + rows->ranges[r].length; i++, slot++) {
            int64_t low = offset_at(offsets, width, i), high = offset_at(offsets, width, i + 1);
            int live = mask == NULL || ald__bit_get(mask, (uint64_t)slot);
            if (live && (low < 0 || high < low))
                return ald__ipc_bad_array(node, "offsets fall, or are negative", enc->err);
            if (live && high > low) {
                if (range_end != low && ranges != NULL) {
                    ranges[child->count].start = low;
                    ranges[child->count].length = 0;
                }
                child->count += range_end != low;
                range_end = high;
                child->total += high - low;
                if (ranges != NULL)
                    ranges[child->count - 1].length += high - low;
            }
            if (moved != NULL)
                offset_put(moved, width, slot + 1, child->total);
        }
    }
    return ALD_OK;
}

static ald_status plan_parts(ald__ipc_encoder *enc, const ald__ipc_node *node,
                             const uint8_t *offsets, int64_t array_offset,
                             const ald__ipc_rows *rows, const uint8_t *mask, ald__ipc_rows *child)
{
    size_t width = offset_width(node);
    ald__ipc_range *ranges = NULL;
    uint8_t *moved = NULL;
    ALD_TRY(walk_slots(enc, node, offsets, array_offset, rows, mask, NULL, NULL, child));
    if (width == 4 && child->total > INT32_MAX)
        return ald__fail(enc->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "column '%s': more than 32-bit offsets can count",
                         ald__schema_name(node->schema));
    ALD_TRY(ald__ipc_scratch(enc, child->count, sizeof *ranges, 0, &ranges));
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)rows->total + 1, width, 0, &moved));
    offset_put(moved, width, 0, 0);
    ALD_TRY(walk_slots(enc, node, offsets, array_offset, rows, mask, ranges, moved, child));
    child->ranges = ranges;
    return ald__ipc_plan_piece(enc->plan, moved, (size_t)(rows->total + 1) * width, enc->err);
}

/* The offsets buffer, and the ranges of the child (or bytes) that the slots hold. */
static ald_status plan_offsets(ald__ipc_encoder *enc, const ald__ipc_node *node,
                               const struct ArrowArray *array, const ald__ipc_rows *rows,
                               const uint8_t *mask, ald__ipc_rows *child)
{
    static const uint8_t zero[8] = {0};
    size_t width = offset_width(node);
    const uint8_t *offsets = array->buffers[1], *first;
    memset(child, 0, sizeof *child);
    if (rows->total == 0)
        return ald__ipc_plan_piece(enc->plan, zero, width, enc->err);
    if (offsets == NULL)
        return ald__ipc_bad_array(node, "the offsets are missing", enc->err);
    if (rows->count == 1) {
        first = offsets + (size_t)(array->offset + rows->ranges[0].start) * width;
        if (!drops_values(first, width, mask, rows->total))
            return plan_whole(enc, node, first, width, rows, child);
    }
    return plan_parts(enc, node, offsets, array->offset, rows, mask, child);
}

ald_status ald__ipc_encode_text(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                const struct ArrowArray *array, const ald__ipc_rows *rows,
                                const uint8_t *mask)
{
    const uint8_t *data = NULL;
    uint8_t *copy = NULL;
    ald__ipc_rows bytes;
    ALD_TRY(plan_offsets(enc, node, array, rows, mask, &bytes));
    if (bytes.total == 0)
        return ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err);
    ALD_TRY(ald__ipc_gather(enc, node, array->buffers[2], 0, &bytes, 1, &copy, &data));
    return ald__ipc_plan_piece(enc->plan, data, (size_t)bytes.total, enc->err);
}

ald_status ald__ipc_encode_list(ald__ipc_encoder *enc, uint32_t index,
                                const struct ArrowArray *array, const ald__ipc_rows *rows,
                                const uint8_t *mask)
{
    ald__ipc_rows child;
    ALD_TRY(plan_offsets(enc, &enc->tree->nodes[index], array, rows, mask, &child));
    return ald__ipc_encode(enc, index + 1, array->children[0], &child);
}
