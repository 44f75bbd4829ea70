/* SPDX-License-Identifier: MIT */
/* String and binary views: 16 bytes each, with up to 12 bytes of data inside, or a prefix and a place in a data buffer.
 *
 * Many views may share bytes, so text is not checked view by view: each data buffer is checked once as a whole, and a view
 * then needs only to begin and end between characters. A buffer that is not UTF-8 as a whole (with garbage that no view
 * shows) is checked view by view, within a budget. */
#include "core/arrow/array_layout.h"
#include "core/arrow/utf8.h"
#include "core/arrow/validate_values.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

#define INLINE_BYTES 12
#define VIEW_WIDTH 16
#define BUDGET_FACTOR 16u
#define VIEW_HIGH_BITS UINT64_C(0x8080808080808080)

typedef struct view_check {
    const ald__validator *v;
    const ald__node_view *n;
    int64_t buffer_count;   /* data buffers */
    const int64_t *lengths; /* of them; at any address */
    int is_text;
    int whole;       /* every data buffer is UTF-8 as a whole */
    uint64_t budget; /* bytes that may still be checked view by view */
} view_check;

static uint64_t buffer_length(const view_check *c, int64_t i)
{
    return ald__layout_unsigned(c->lengths, 8, i);
}

static int is_tail(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* The data of a view of up to 12 bytes, as two numbers: bytes behind it must be zero, and most text is ASCII. */
static ald_status check_inline_view(const view_check *c, int64_t row, const uint8_t *view,
                                    size_t size)
{
    const uint64_t low = ald__load_le64(view + 4);
    const uint32_t high = ald__load_le32(view + 12);
    uint64_t behind = size < 8 ? (low >> (8 * size)) | high
                               : (size < INLINE_BYTES ? high >> (8 * (size - 8)) : 0);
    if (behind != 0)
        return ald__validate_fail(c->v, row, "a view of %zu bytes is not padded with zeros", size);
    if (c->is_text && ((low | high) & VIEW_HIGH_BITS) != 0 &&
        ald__utf8_valid_prefix(view + 4, size, NULL) != size)
        return ald__validate_fail(c->v, row, "not UTF-8");
    return ALD_OK;
}

static ald_status check_view_text(view_check *c, int64_t row, const uint8_t *data, uint64_t begin,
                                  uint64_t size, uint64_t length)
{
    if (c->whole) {
        if (is_tail(data[begin]) || (begin + size < length && is_tail(data[begin + size])))
            return ald__validate_fail(c->v, row, "not UTF-8: a view cuts a character");
        return ALD_OK;
    }
    if (size > c->budget)
        return ald__fail(c->v->err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "column '%s', row %lld: too many views of the same bytes",
                         ald__schema_name(c->n->schema), (long long)row);
    c->budget -= size;
    if (ald__utf8_valid_prefix(data + begin, (size_t)size, NULL) != (size_t)size)
        return ald__validate_fail(c->v, row, "not UTF-8");
    return ALD_OK;
}

static ald_status check_outside_view(view_check *c, int64_t row, const uint8_t *view, uint64_t size)
{
    int32_t buffer = (int32_t)ald__load_le32(view + 8);
    int32_t begin = (int32_t)ald__load_le32(view + 12);
    const uint8_t *data;
    uint64_t length;
    if (buffer < 0 || buffer >= c->buffer_count)
        return ald__validate_fail(c->v, row, "a view of buffer %d of %lld", (int)buffer,
                                  (long long)c->buffer_count);
    length = buffer_length(c, buffer);
    if (begin < 0 || (uint64_t)begin > length || size > length - (uint64_t)begin)
        return ald__validate_fail(c->v, row,
                                  "a view of %llu bytes from %d on, in a buffer of %llu bytes",
                                  (unsigned long long)size, (int)begin, (unsigned long long)length);
    data = c->n->array->buffers[2 + buffer];
    if (memcmp(data + begin, view + 4, 4) != 0)
        return ald__validate_fail(c->v, row, "a view's prefix is not that of its data");
    return c->is_text ? check_view_text(c, row, data, (uint64_t)begin, size, length) : ALD_OK;
}

/* Extents of the data buffers, and whether they are text as a whole. */
static ald_status check_view_buffers(view_check *c)
{
    const struct ArrowArray *a = c->n->array;
    c->whole = 1;
    c->budget = (uint64_t)a->length * VIEW_WIDTH;
    if (c->buffer_count > 0 && c->lengths == NULL)
        return ald__validate_fail(c->v, -1, "the sizes of the data buffers are missing");
    for (int64_t i = 0; i < c->buffer_count; i++) {
        uint64_t length = buffer_length(c, i);
        const uint8_t *data = a->buffers[2 + i];
        if (length > INT64_MAX || (length > 0 && data == NULL) ||
            (c->n->sizes != NULL && length > c->n->sizes[2 + i]))
            return ald__validate_fail(c->v, -1, "data buffer %lld of %lld bytes", (long long)i,
                                      (long long)length);
        if (!c->is_text || length == 0)
            continue;
        if (ald__utf8_valid_prefix(data, (size_t)length, NULL) != (size_t)length)
            c->whole = 0;
        c->budget += BUDGET_FACTOR * length; /* wraps for lengths that no memory has */
    }
    return ALD_OK;
}

ald_status ald__validate_views(const ald__validator *v, const ald__node_view *n)
{
    const struct ArrowArray *a = n->array;
    view_check c = {.v = v, .n = n, .buffer_count = a->n_buffers - 3};
    const uint8_t *views;
    c.lengths = a->buffers[a->n_buffers - 1];
    c.is_text = n->type->id == ALD__UTF8_VIEW;
    if (a->length == 0)
        return ALD_OK;
    ALD_TRY(check_view_buffers(&c));
    views = (const uint8_t *)a->buffers[1] + (size_t)a->offset * VIEW_WIDTH;
    for (int64_t i = 0; i < a->length; i++) {
        const uint8_t *view = views + VIEW_WIDTH * (size_t)i;
        int32_t size = (int32_t)ald__load_le32(view);
        if (!ald__slot_is_valid(n, i))
            continue;
        if (size < 0)
            return ald__validate_fail(v, i, "a view of %d bytes", (int)size);
        if (size <= INLINE_BYTES)
            ALD_TRY(check_inline_view(&c, i, view, (size_t)size));
        else
            ALD_TRY(check_outside_view(&c, i, view, (uint64_t)size));
    }
    return ALD_OK;
}
