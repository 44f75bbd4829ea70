/* SPDX-License-Identifier: MIT */
/* Binary and text views. A slice of a view column still holds all of its data buffers, so each one is cut to the bytes
 * between the first and the last in use; when even that is more than the slots use together, the bytes are copied
 * together instead. Either way no more is written than there was. */
#include "core/arrow/ipc_encode.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

#define VIEW_BYTES 16
#define VIEW_INLINE 12

/* What the slots use of one data buffer: bytes [low, high). */
typedef struct view_data {
    const uint8_t *data;
    int64_t size, low, high;
    uint32_t number; /* among those written */
} view_data;

typedef struct view_column {
    const ald__ipc_node *node;
    const uint8_t *views;
    const uint8_t *mask;
    int64_t count;
    view_data *data;
    int64_t data_count;
    int64_t used, covered; /* bytes of long values in all, and between lows and highs */
    int dirty;             /* a slot without a value, or the rest of a short one, is not zero */
} view_column;

static int view_is_live(const view_column *c, int64_t slot)
{
    return c->mask == NULL || ald__bit_get(c->mask, (uint64_t)slot);
}

/* A short value with something behind its bytes. */
static int view_tail_is_dirty(const uint8_t *view, uint32_t length)
{
    uint32_t head = ald__load_le32(view + 4);
    uint64_t rest = ald__load_le64(view + 8);
    if (length < 4)
        return (head >> (8 * length)) != 0 || rest != 0;
    return length < VIEW_INLINE && (rest >> (8 * (length - 4))) != 0;
}

static ald_status view_columns_data(ald__ipc_encoder *enc, const struct ArrowArray *array,
                                    view_column *c)
{
    const uint8_t *sizes;
    c->data_count = array->n_buffers - 3;
    sizes = array->buffers[array->n_buffers - 1];
    if (c->data_count > 0 && sizes == NULL)
        return ald__ipc_bad_array(c->node, "the sizes of the data buffers are missing", enc->err);
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)c->data_count, sizeof *c->data, 1, &c->data));
    for (int64_t i = 0; i < c->data_count; i++) {
        view_data *d = &c->data[i];
        d->data = array->buffers[2 + i];
        memcpy(&d->size, sizes + (size_t)i * sizeof d->size, sizeof d->size);
        d->low = INT64_MAX;
    }
    return ALD_OK;
}

static ald_status view_scan(ald__ipc_encoder *enc, view_column *c)
{
    for (int64_t i = 0; i < c->count; i++) {
        const uint8_t *view = c->views + (size_t)i * VIEW_BYTES;
        uint32_t length = ald__load_le32(view), number = ald__load_le32(view + 8);
        int64_t at = ald__load_le32(view + 12);
        view_data *d;
        if (!view_is_live(c, i)) {
            c->dirty |= (ald__load_le64(view) | ald__load_le64(view + 8)) != 0;
            continue;
        }
        if (length <= VIEW_INLINE) {
            c->dirty |= view_tail_is_dirty(view, length);
            continue;
        }
        d = number < (uint64_t)c->data_count ? &c->data[number] : NULL;
        if (length > INT32_MAX || d == NULL || d->data == NULL || at + (int64_t)length > d->size)
            return ald__ipc_bad_array(c->node, "a view outside of its data", enc->err);
        d->low = at < d->low ? at : d->low;
        d->high = at + (int64_t)length > d->high ? at + (int64_t)length : d->high;
        c->used += (int64_t)length;
    }
    for (int64_t i = 0; i < c->data_count; i++)
        c->covered += c->data[i].high > 0 ? c->data[i].high - c->data[i].low : 0;
    return ALD_OK;
}

/* A zeroed slot gets its value; a long one is to be given number and offset by the caller. */
static void view_copy(uint8_t *to, const uint8_t *from)
{
    uint32_t length = ald__load_le32(from);
    memcpy(to, from, 4 + (length < VIEW_INLINE ? length : VIEW_INLINE));
}

static ald_status view_keep(ald__ipc_encoder *enc, view_column *c)
{
    const uint8_t *views = c->views;
    uint8_t *copy = NULL;
    uint32_t kept = 0;
    int same = !c->dirty;
    for (int64_t i = 0; i < c->data_count; i++) {
        c->data[i].number = kept;
        if (c->data[i].high > 0) {
            same &= kept == (uint64_t)i && c->data[i].low == 0;
            kept++;
        }
    }
    if (!same) {
        ALD_TRY(ald__ipc_scratch(enc, (uint64_t)c->count, VIEW_BYTES, 1, &copy));
        for (int64_t i = 0; i < c->count; i++) {
            const uint8_t *view = c->views + (size_t)i * VIEW_BYTES;
            uint8_t *to = copy + (size_t)i * VIEW_BYTES;
            const view_data *d;
            if (!view_is_live(c, i))
                continue;
            view_copy(to, view);
            if (ald__load_le32(view) <= VIEW_INLINE)
                continue;
            d = &c->data[ald__load_le32(view + 8)];
            ald__store_le32(to + 8, d->number);
            ald__store_le32(to + 12, ald__load_le32(view + 12) - (uint32_t)d->low);
        }
        views = copy;
    }
    ALD_TRY(ald__ipc_plan_piece(enc->plan, views, (size_t)c->count * VIEW_BYTES, enc->err));
    for (int64_t i = 0; i < c->data_count; i++) {
        const view_data *d = &c->data[i];
        if (d->high > 0)
            ALD_TRY(ald__ipc_plan_piece(enc->plan, d->data + d->low, (size_t)(d->high - d->low),
                                        enc->err));
    }
    return ald__ipc_plan_variadic(enc->plan, kept, enc->err);
}

static ald_status view_compact(ald__ipc_encoder *enc, const view_column *c, uint8_t *copy)
{
    uint8_t *data = NULL;
    int64_t left = c->used, filled = 0, room = 0, number = -1;
    ALD_TRY(ald__ipc_plan_piece(enc->plan, copy, (size_t)c->count * VIEW_BYTES, enc->err));
    for (int64_t i = 0; i < c->count; i++) {
        const uint8_t *view = c->views + (size_t)i * VIEW_BYTES;
        uint8_t *to = copy + (size_t)i * VIEW_BYTES;
        uint32_t length = ald__load_le32(view);
        const view_data *d;
        if (!view_is_live(c, i))
            continue;
        view_copy(to, view);
        if (length <= VIEW_INLINE)
            continue;
        if (length > room - filled) {
            /* Offsets have 31 bits; a value never spans two buffers. */
            if (number >= 0)
                ALD_TRY(ald__ipc_plan_piece(enc->plan, data, (size_t)filled, enc->err));
            room = left < INT32_MAX ? left : INT32_MAX;
            filled = 0;
            number++;
            ALD_TRY(ald__ipc_scratch(enc, (uint64_t)room, 1, 0, &data));
        }
        d = &c->data[ald__load_le32(view + 8)];
        memcpy(data + filled, d->data + ald__load_le32(view + 12), length);
        ald__store_le32(to + 8, (uint32_t)number);
        ald__store_le32(to + 12, (uint32_t)filled);
        filled += length;
        left -= length;
    }
    if (number >= 0)
        ALD_TRY(ald__ipc_plan_piece(enc->plan, data, (size_t)filled, enc->err));
    return ald__ipc_plan_variadic(enc->plan, number + 1, enc->err);
}

ald_status ald__ipc_encode_views(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                 const struct ArrowArray *array, const ald__ipc_rows *rows,
                                 const uint8_t *mask)
{
    view_column c = {0};
    uint8_t *copy = NULL, *gathered = NULL;
    c.node = node;
    c.mask = mask;
    c.count = rows->total;
    if (c.count == 0) {
        ALD_TRY(ald__ipc_plan_piece(enc->plan, NULL, 0, enc->err));
        return ald__ipc_plan_variadic(enc->plan, 0, enc->err);
    }
    ALD_TRY(ald__ipc_gather(enc, node, array->buffers[1], array->offset, rows, VIEW_BYTES,
                            &gathered, &c.views));
    ALD_TRY(view_columns_data(enc, array, &c));
    ALD_TRY(view_scan(enc, &c));
    if (c.used >= c.covered)
        return view_keep(enc, &c);
    ALD_TRY(ald__ipc_scratch(enc, (uint64_t)c.count, VIEW_BYTES, 1, &copy));
    return view_compact(enc, &c, copy);
}
