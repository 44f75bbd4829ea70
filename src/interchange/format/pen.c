/* SPDX-License-Identifier: MIT */
/* Growth of the buffer behind a pen. */
#include "interchange/format/pen.h"

ald_status ald__pen_grow(ald__pen *pen, size_t extra)
{
    ald_buffer *out = pen->out;
    size_t size = ald__pen_size(pen), capacity;
    void *data;
    if (extra > SIZE_MAX / 4 || size > SIZE_MAX / 4)
        return ald_error_set(pen->err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes",
                             extra);
    capacity = out->capacity < 512 ? 512 : out->capacity + out->capacity / 2;
    if (capacity < size + extra)
        capacity = size + extra;
    data = out->data == NULL
               ? out->alloc->alloc(out->alloc->ctx, capacity)
               : out->alloc->resize(out->alloc->ctx, out->data, out->capacity, capacity);
    if (data == NULL)
        return ald_error_set(pen->err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes",
                             capacity);
    out->data = data;
    out->capacity = capacity;
    pen->at = out->data + size;
    pen->end = out->data + capacity;
    return ALD_OK;
}

ald_status ald__pen_append(ald__pen *pen, const void *data, size_t size)
{
    ALD__PEN_TRY(ald__pen_need(pen, size));
    ald__pen_bytes(pen, data, size);
    return ALD_OK;
}

ald_status ald__pen_text(ald__pen *pen, const char *text)
{
    return ald__pen_append(pen, text, strlen(text));
}
