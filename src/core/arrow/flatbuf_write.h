/* SPDX-License-Identifier: MIT */
/* Writes FlatBuffers front to back: a table first, then what it refers to. */
#ifndef CORE_ARROW_FLATBUF_WRITE_H
#define CORE_ARROW_FLATBUF_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

#define ALD__FB_MAX_FIELDS 8

/* One FlatBuffer appended to `out`. A failure sticks in `status` and makes the calls behind it do nothing. Positions count
 * from the buffer's first byte. */
typedef struct ald__fb {
    ald_buffer *out;
    size_t start; /* of the FlatBuffer in out */
    ald_error *err;
    ald_status status;
} ald__fb;

/* Begins with the root offset, to be linked with ald__fb_link_root once the root table's turn has come. */
void ald__fb_begin(ald__fb *fb, ald_buffer *out, ald_error *err);
/* Zeros to a multiple of 8 bytes. */
ald_status ald__fb_end(ald__fb *fb);

/* A table of zeroed fields: sizes[i] is 0 (field i is absent), 1, 2, 4 or 8 bytes; offsets to other objects are 4.
 * Returns its position. */
size_t ald__fb_table(ald__fb *fb, const uint8_t *sizes, size_t field_count);
/* Sets a field that is present, to a value of the field's size. */
void ald__fb_set(ald__fb *fb, size_t table, size_t field, uint8_t size, uint64_t value);

/* Room for `count` items of `size` bytes, zeroed, aligned to `align` (4 or 8). Returns the position of the first. */
size_t ald__fb_vector(ald__fb *fb, size_t count, size_t size, size_t align);
size_t ald__fb_string(ald__fb *fb, const char *text, size_t size);
/* Makes the offset at `slot` point at an object made later: a table's position, or a vector's or string's, which is that of
 * the length before the first item. */
void ald__fb_link(ald__fb *fb, size_t slot, size_t target);
void ald__fb_link_root(ald__fb *fb, size_t table);
/* Of a field that is present. */
size_t ald__fb_slot(const ald__fb *fb, size_t table, size_t field);
void ald__fb_link_field(ald__fb *fb, size_t table, size_t field, size_t target);
void ald__fb_link_vector(ald__fb *fb, size_t table, size_t field, size_t first_item);

void ald__fb_put32(ald__fb *fb, size_t position, uint32_t value);
void ald__fb_put64(ald__fb *fb, size_t position, uint64_t value);

#endif
