/* SPDX-License-Identifier: MIT */
/* Memory through the host's allocator: blocks, growing buffers, the memory source and sink. */
#include "core/base/buf.h"

#include "core/base/checked.h"

void *ald__alloc(const ald_allocator *alloc, size_t size, ald_error *err)
{
    void *p = alloc->alloc(alloc->ctx, size > 0 ? size : 1);
    if (p == NULL)
        (void)ald__no_memory(err, size);
    return p;
}

void *ald__alloc_zero(const ald_allocator *alloc, size_t size, ald_error *err)
{
    void *p = ald__alloc(alloc, size, err);
    if (p != NULL)
        memset(p, 0, size > 0 ? size : 1);
    return p;
}

void ald__release(const ald_allocator *alloc, void *ptr, size_t size)
{
    if (ptr != NULL)
        alloc->release(alloc->ctx, ptr, size > 0 ? size : 1);
}

ald_status ald__buffer_reserve(ald_buffer *b, size_t extra, ald_error *err)
{
    size_t need, cap;
    void *p;
    if (!ald__add_size(b->size, extra, &need) || need > SIZE_MAX / 2)
        return ald__no_memory(err, extra);
    if (need <= b->capacity)
        return ALD_OK;
    cap = b->capacity < 256 ? 256 : b->capacity + b->capacity / 2;
    if (cap < need)
        cap = need;
    p = b->data == NULL ? b->alloc->alloc(b->alloc->ctx, cap)
                        : b->alloc->resize(b->alloc->ctx, b->data, b->capacity, cap);
    if (p == NULL)
        return ald__no_memory(err, cap);
    b->data = p;
    b->capacity = cap;
    return ALD_OK;
}

ald_status ald__buffer_append(ald_buffer *b, const void *data, size_t size, ald_error *err)
{
    if (size == 0)
        return ALD_OK;
    ALD_TRY(ald__buffer_reserve(b, size, err));
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return ALD_OK;
}

ald_status ald__buffer_append_text(ald_buffer *b, const char *text, ald_error *err)
{
    return ald__buffer_append(b, text, strlen(text), err);
}

ald_status ald__buffer_append_zeros(ald_buffer *b, size_t size, ald_error *err)
{
    if (size == 0)
        return ALD_OK;
    ALD_TRY(ald__buffer_reserve(b, size, err));
    memset(b->data + b->size, 0, size);
    b->size += size;
    return ALD_OK;
}

void ald_buffer_clear(ald_buffer *buffer)
{
    ald__release(buffer->alloc, buffer->data, buffer->capacity);
    buffer->data = NULL;
    buffer->size = 0;
    buffer->capacity = 0;
}

static ald_status buffer_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    return ald__buffer_append(ctx, buf, size, err);
}

static ald_status buffer_write_at(void *ctx, uint64_t offset, const void *buf, size_t size,
                                  ald_error *err)
{
    ald_buffer *b = ctx;
    if (offset > b->size || size > b->size - (size_t)offset)
        return ald__fail(err, ALD_E_INVALID_ARG, offset, "write_at past what was written");
    if (size > 0)
        memcpy(b->data + offset, buf, size);
    return ALD_OK;
}

ald_sink ald_buffer_sink(ald_buffer *buffer)
{
    ald_sink sink = {buffer_write, buffer_write_at, buffer, NULL};
    return sink;
}

/* The size of a memory source is not known to its callbacks, so they trust the caller, who is bound by size_bytes. */
static ald_status memory_read_at(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    (void)err;
    if (size > 0)
        memcpy(buf, (const uint8_t *)ctx + offset, size);
    return ALD_OK;
}

static const void *memory_view(void *ctx, uint64_t offset, size_t size)
{
    (void)size;
    return (const uint8_t *)ctx + offset;
}

ald_source ald_source_memory(const void *data, size_t size)
{
    static const uint8_t nothing = 0;
    /* The struct has no const context; nothing writes through it. */
    union {
        const void *in;
        void *out;
    } cast = {data != NULL ? data : &nothing};
    ald_source source = {size, memory_read_at, memory_view, NULL, cast.out, NULL};
    return source;
}

void ald_source_close(ald_source *source)
{
    if (source->close != NULL)
        source->close(source->ctx);
    memset(source, 0, sizeof *source);
}
