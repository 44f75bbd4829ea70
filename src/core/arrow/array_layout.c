/* SPDX-License-Identifier: MIT */
#include "core/arrow/array_layout.h"

#include "core/base/checked.h"
#include "core/base/endian.h"

#define NODE_BYTES 256u /* of an array's own structures */

static uint64_t items_bytes(uint64_t count, uint64_t width)
{
    uint64_t bytes;
    return ald__mul_u64(count, width, &bytes) ? bytes : UINT64_MAX;
}

static ald__buffer_rule rule(uint64_t count, uint8_t width)
{
    ald__buffer_rule r = {items_bytes(count, width), width, 1};
    return r;
}

static ald__buffer_rule rule_of_values(const ald__type *type, uint64_t length)
{
    ald__buffer_rule r = {0, 1, 1};
    if (type->bit_width == 1) {
        r.bytes = ald__layout_bitmap(length);
        return r;
    }
    r.bytes = items_bytes(length, type->bit_width / 8);
    if (type->id != ALD__FIXED_BINARY)
        r.width = (uint8_t)(type->bit_width / 8 < 16 ? type->bit_width / 8 : 16);
    return r;
}

ald__buffer_rule ald__layout_buffer(const ald__type *type, int64_t index, int64_t length)
{
    const ald__buffer_rule data = {0, 1, 0};
    uint64_t n = (uint64_t)length;
    uint8_t width = ald__type_offset_width(type);
    if (ald__type_is_union(type))
        return rule(n, index == 0 ? 1 : 4);
    if (index == 0) {
        ald__buffer_rule r = {ald__layout_bitmap(n), 1, 1};
        return r;
    }
    if (type->bit_width > 0 || type->id == ALD__FIXED_BINARY)
        return index == 1 ? rule_of_values(type, n) : data;
    if (type->id == ALD__LIST_VIEW || type->id == ALD__LARGE_LIST_VIEW)
        return rule(n, width);
    /* An array without slots may leave its one offset out. */
    return index == 1 ? rule(n > 0 ? n + 1 : 0, width) : data;
}

uint64_t ald__layout_used(const ald__type *type, const struct ArrowArray *array, int64_t index)
{
    int64_t slots = array->offset + array->length;
    ald__buffer_rule r = ald__layout_buffer(type, index, slots);
    if (ald__type_is_view(type) && index >= 2)
        return index == array->n_buffers - 1
                   ? (uint64_t)(array->n_buffers - 3) * 8
                   : ald__layout_unsigned(array->buffers[array->n_buffers - 1], 8, index - 2);
    if (index == 0 && type->has_validity && (array->null_count == 0 || array->buffers[0] == NULL))
        return 0;
    if (r.bounded || slots == 0)
        return r.bytes;
    return (uint64_t)ald__layout_signed(array->buffers[1], ald__type_offset_width(type), slots);
}

uint64_t ald__layout_memory(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    uint64_t bytes = NODE_BYTES;
    ald__type type;
    if (ald__type_of(schema, &type, NULL) != ALD_OK)
        return bytes;
    for (int64_t i = 0; i < array->n_buffers; i++)
        bytes += ald__layout_used(&type, array, i);
    for (int64_t i = 0; i < array->n_children; i++)
        bytes += ald__layout_memory(schema->children[i], array->children[i]);
    return bytes + (schema->dictionary != NULL
                        ? ald__layout_memory(schema->dictionary, array->dictionary)
                        : 0);
}

int64_t ald__layout_signed(const void *buffer, uint8_t width, int64_t i)
{
    const uint8_t *p = (const uint8_t *)buffer + (size_t)i * width;
    switch (width) {
    case 1:
        return (int8_t)*p;
    case 2:
        return (int16_t)ald__load_le16(p);
    case 4:
        return (int32_t)ald__load_le32(p);
    default:
        return (int64_t)ald__load_le64(p);
    }
}

uint64_t ald__layout_unsigned(const void *buffer, uint8_t width, int64_t i)
{
    const uint8_t *p = (const uint8_t *)buffer + (size_t)i * width;
    switch (width) {
    case 1:
        return *p;
    case 2:
        return ald__load_le16(p);
    case 4:
        return ald__load_le32(p);
    default:
        return ald__load_le64(p);
    }
}

int64_t ald__layout_run(const struct ArrowArray *array, uint8_t run_end_width, int64_t row)
{
    const struct ArrowArray *ends = array->children[0];
    int64_t low = 0, high = ends->length - 1; /* the first run that ends behind the row */
    row += array->offset;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (ald__layout_signed(ends->buffers[1], run_end_width, ends->offset + mid) > row)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}
