/* SPDX-License-Identifier: MIT */
/* Appending to an ald_buffer without a call for each byte: room is asked for once, then bytes are stored through `at`. */
#ifndef INTERCHANGE_FORMAT_PEN_H
#define INTERCHANGE_FORMAT_PEN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ald/error.h"
#include "ald/io.h"

/* Room that each scalar but strings and binaries fits into, with separators around it. */
#define ALD__PEN_SCALAR 384

#define ALD__PEN_TRY(expr)                                                                         \
    do {                                                                                           \
        ald_status pen_try_ = (expr);                                                              \
        if (pen_try_ != ALD_OK)                                                                    \
            return pen_try_;                                                                       \
    } while (0)

typedef struct ald__pen {
    uint8_t *at, *end; /* free room of `out` */
    ald_buffer *out;   /* its size is stale between open and close */
    ald_error *err;
} ald__pen;

static inline void ald__pen_open(ald__pen *pen, ald_buffer *out, ald_error *err)
{
    pen->out = out;
    pen->err = err;
    pen->at = out->data == NULL ? NULL : out->data + out->size;
    pen->end = out->data == NULL ? NULL : out->data + out->capacity;
}

/* Bytes written so far, counted from the start of the buffer. */
static inline size_t ald__pen_size(const ald__pen *pen)
{
    return pen->out->data == NULL ? 0 : (size_t)(pen->at - pen->out->data);
}

static inline void ald__pen_close(ald__pen *pen)
{
    pen->out->size = ald__pen_size(pen);
}

/* Makes room; the buffer may move. */
ALD_NODISCARD ald_status ald__pen_grow(ald__pen *pen, size_t extra);

static inline ALD_NODISCARD ald_status ald__pen_need(ald__pen *pen, size_t extra)
{
    if (pen->at != NULL && (size_t)(pen->end - pen->at) >= extra)
        return ALD_OK;
    return ald__pen_grow(pen, extra);
}

/* The caller has asked for room. */
static inline void ald__pen_byte(ald__pen *pen, char c)
{
    *pen->at++ = (uint8_t)c;
}

static inline void ald__pen_bytes(ald__pen *pen, const void *data, size_t size)
{
    if (size > 0)
        memcpy(pen->at, data, size);
    pen->at += size;
}

/* Asks for room and appends. */
ALD_NODISCARD ald_status ald__pen_append(ald__pen *pen, const void *data, size_t size);
ALD_NODISCARD ald_status ald__pen_text(ald__pen *pen, const char *text);

#endif
