/* SPDX-License-Identifier: MIT */
/* Offsets in a FlatBuffer point forward, so a writer that puts parents before their children needs no second pass: it
 * patches each offset when it reaches the child. Each table has a vtable of its own, right before it: sharing the vtable of
 * an earlier table would be legal, yet Polars' reader looks for vtables behind the offset to their table alone. */
#include "core/arrow/flatbuf_write.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

#define FB_VTABLE_MAX (4 + 2 * ALD__FB_MAX_FIELDS)

static size_t fb_position(const ald__fb *fb)
{
    return fb->out->size - fb->start;
}

static void fb_zeros(ald__fb *fb, size_t size)
{
    if (fb->status == ALD_OK)
        fb->status = ald__buffer_append_zeros(fb->out, size, fb->err);
    /* Offsets have 32 bits, and readers take them as signed. */
    if (fb->status == ALD_OK && fb_position(fb) > INT32_MAX)
        fb->status =
            ald__fail(fb->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "Arrow metadata beyond 2 GiB");
}

static void fb_align(ald__fb *fb, size_t align)
{
    fb_zeros(fb, (0 - fb_position(fb)) & (align - 1));
}

void ald__fb_begin(ald__fb *fb, ald_buffer *out, ald_error *err)
{
    fb->out = out;
    fb->start = out->size;
    fb->err = err;
    fb->status = ALD_OK;
    fb_zeros(fb, 4);
}

ald_status ald__fb_end(ald__fb *fb)
{
    fb_align(fb, 8);
    return fb->status;
}

/* Lays the fields out by falling size behind the 4-byte vtable offset, and writes the vtable. */
static void fb_layout(const uint8_t *sizes, size_t field_count, uint8_t vtable[FB_VTABLE_MAX])
{
    size_t at = 4, present = 0;
    memset(vtable, 0, FB_VTABLE_MAX);
    for (size_t i = 0; i < field_count; i++) {
        if (sizes[i] > 0)
            present = i + 1;
    }
    for (uint8_t size = 8; size > 0; size /= 2) {
        for (size_t i = 0; i < present; i++) {
            if (sizes[i] != size)
                continue;
            ald__store_le16(vtable + 4 + 2 * i, (uint16_t)at);
            at += size;
        }
    }
    ald__store_le16(vtable, (uint16_t)(4 + 2 * present));
    ald__store_le16(vtable + 2, (uint16_t)at);
}

/* Writes the vtable and returns its position. */
static size_t fb_vtable(ald__fb *fb, const uint8_t *vtable)
{
    size_t position;
    fb_align(fb, 4);
    position = fb_position(fb);
    if (fb->status == ALD_OK)
        fb->status = ald__buffer_append(fb->out, vtable, ald__load_le16(vtable), fb->err);
    return position;
}

size_t ald__fb_table(ald__fb *fb, const uint8_t *sizes, size_t field_count)
{
    uint8_t vtable_bytes[FB_VTABLE_MAX];
    size_t align = 4, vtable, table;
    fb_layout(sizes, field_count, vtable_bytes);
    vtable = fb_vtable(fb, vtable_bytes);
    for (size_t i = 0; i < field_count; i++)
        align = sizes[i] > align ? sizes[i] : align;
    /* The fields follow the vtable's offset, so that, not the table, begins at their alignment. */
    fb_align(fb, 4);
    if (align == 8 && (fb_position(fb) & 7) == 0)
        fb_zeros(fb, 4);
    table = fb_position(fb);
    fb_zeros(fb, ald__load_le16(vtable_bytes + 2));
    if (fb->status == ALD_OK)
        ald__store_le32(fb->out->data + fb->start + table, (uint32_t)(table - vtable));
    return table;
}

size_t ald__fb_slot(const ald__fb *fb, size_t table, size_t field)
{
    const uint8_t *data = fb->out->data + fb->start;
    size_t vtable;
    if (fb->status != ALD_OK)
        return 0;
    vtable = table - ald__load_le32(data + table);
    return table + ald__load_le16(data + vtable + 4 + 2 * field);
}

void ald__fb_set(ald__fb *fb, size_t table, size_t field, uint8_t size, uint64_t value)
{
    uint8_t bytes[8];
    if (fb->status != ALD_OK)
        return;
    ald__store_le64(bytes, value);
    memcpy(fb->out->data + fb->start + ald__fb_slot(fb, table, field), bytes, size);
}

size_t ald__fb_vector(ald__fb *fb, size_t count, size_t size, size_t align)
{
    size_t first;
    if (count > INT32_MAX / size) {
        if (fb->status == ALD_OK)
            fb->status = ald__fail(fb->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                   "Arrow metadata beyond 2 GiB");
        return 0;
    }
    fb_align(fb, 4);
    if (align == 8 && (fb_position(fb) & 7) == 0)
        fb_zeros(fb, 4);
    fb_zeros(fb, 4 + count * size);
    if (fb->status != ALD_OK)
        return 0;
    first = fb_position(fb) - count * size;
    ald__fb_put32(fb, first - 4, (uint32_t)count);
    return first;
}

size_t ald__fb_string(ald__fb *fb, const char *text, size_t size)
{
    size_t first = ald__fb_vector(fb, size, 1, 4);
    fb_zeros(fb, 1); /* not counted, yet required */
    if (fb->status == ALD_OK && size > 0)
        memcpy(fb->out->data + fb->start + first, text, size);
    return first;
}

void ald__fb_link(ald__fb *fb, size_t slot, size_t target)
{
    ald__fb_put32(fb, slot, (uint32_t)(target - slot));
}

void ald__fb_link_root(ald__fb *fb, size_t table)
{
    ald__fb_link(fb, 0, table);
}

void ald__fb_link_field(ald__fb *fb, size_t table, size_t field, size_t target)
{
    ald__fb_link(fb, ald__fb_slot(fb, table, field), target);
}

void ald__fb_link_vector(ald__fb *fb, size_t table, size_t field, size_t first_item)
{
    ald__fb_link_field(fb, table, field, first_item - 4);
}

void ald__fb_put32(ald__fb *fb, size_t position, uint32_t value)
{
    if (fb->status == ALD_OK)
        ald__store_le32(fb->out->data + fb->start + position, value);
}

void ald__fb_put64(ald__fb *fb, size_t position, uint64_t value)
{
    if (fb->status == ALD_OK)
        ald__store_le64(fb->out->data + fb->start + position, value);
}
