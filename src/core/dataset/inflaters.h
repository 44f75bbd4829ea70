/* SPDX-License-Identifier: MIT */
/* What inflating frames needs beside the bytes, kept from frame to frame and from chunk to chunk: a context of libzstd is
 * 96 KiB, and making one asks the processor for its features, which takes longer than inflating a small frame. */
#ifndef CORE_DATASET_INFLATERS_H
#define CORE_DATASET_INFLATERS_H

#include "core/codec/codec.h"
#include "core/codec/packed/packed.h"

/* Of one file, for one thread at a time. Both begin as NULL and are made when they are needed. */
typedef struct ald__inflaters {
    ald__decoder *decoder;
    ald__unpacker *unpacker; /* of packed chunks */
} ald__inflaters;

/* As ald__codec_decode. */
ALD_NODISCARD ald_status ald__inflate(ald__inflaters *inflaters, uint8_t compression,
                                      const ald_allocator *alloc, const uint8_t *src,
                                      size_t src_size, uint8_t *dst, size_t dst_size,
                                      uint64_t offset, ald_error *err);
void ald__inflaters_clear(ald__inflaters *inflaters);

/* Those that nobody uses at the moment. From any thread. */
typedef struct ald__inflater_pool ald__inflater_pool;
ALD_NODISCARD ald_status ald__inflater_pool_new(const ald_allocator *alloc,
                                                ald__inflater_pool **out, ald_error *err);
void ald__inflater_pool_free(ald__inflater_pool *pool); /* NULL is fine */
/* Empty ones when there are none. */
void ald__inflaters_take(ald__inflater_pool *pool, ald__inflaters *out);
/* Gives them back; after a failure (`st`) they are freed, since they may stand in the middle of a frame. */
void ald__inflaters_give(ald__inflater_pool *pool, ald__inflaters *inflaters, ald_status st);

#endif
