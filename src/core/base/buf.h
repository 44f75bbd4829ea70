/* SPDX-License-Identifier: MIT */
/* Growing buffers, allocation with errors, and a cursor over bytes that cannot leave them. */
#ifndef CORE_BASE_BUF_H
#define CORE_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ald/io.h"
#include "core/base/fail.h"

/* `size` bytes (0 gives a non-NULL block of 1), uninitialised or zeroed; NULL with err set. */
void *ald__alloc(const ald_allocator *alloc, size_t size, ald_error *err);
void *ald__alloc_zero(const ald_allocator *alloc, size_t size, ald_error *err);
/* NULL is fine. `size` as given to ald__alloc. */
void ald__release(const ald_allocator *alloc, void *ptr, size_t size);

/* Room for `extra` more bytes; data[size ..] may then be written before size is raised. */
ALD_NODISCARD ald_status ald__buffer_reserve(ald_buffer *b, size_t extra, ald_error *err);
ALD_NODISCARD ald_status ald__buffer_append(ald_buffer *b, const void *data, size_t size,
                                            ald_error *err);
ALD_NODISCARD ald_status ald__buffer_append_text(ald_buffer *b, const char *text, ald_error *err);
ALD_NODISCARD ald_status ald__buffer_append_zeros(ald_buffer *b, size_t size, ald_error *err);

/* Bytes of known extent, read front to back. `base` is the file offset of data[0], for messages. */
typedef struct ald__cursor {
    const uint8_t *data;
    size_t size, pos;
    uint64_t base;
} ald__cursor;

static inline size_t ald__cursor_left(const ald__cursor *c)
{
    return c->size - c->pos;
}

static inline uint64_t ald__cursor_offset(const ald__cursor *c)
{
    return c->base + c->pos;
}

/* The next n bytes, or NULL when fewer are left (the position then stays). */
static inline const uint8_t *ald__cursor_take(ald__cursor *c, size_t n)
{
    const uint8_t *p = c->data + c->pos;
    if (n > c->size - c->pos)
        return NULL;
    c->pos += n;
    return p;
}

#endif
