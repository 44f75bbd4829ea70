/* SPDX-License-Identifier: MIT */
/* Rows in a shuffled order that is known beforehand, for training: the same for a seed and an epoch on every machine, cut into
 * shards, resumed anywhere at once. No list of indices is made and no rows are held back to be mixed.
 *
 * The order. The rows are cut into blocks of `block_rows` (the last may be shorter). For each epoch the blocks are put into
 * a pseudo-random order, and each `window_blocks` blocks that follow each other in it form a window, whose rows are put into
 * a pseudo-random order. So the rows of a batch come from the few chunks of one window, each of which is read about once in
 * an epoch. With n rows, R = block_rows, W = window_blocks, all numbers 64 bits wide and wrapping:
 *
 *   mix(z)            z ^= z >> 30, z *= 0xBF58476D1CE4E5B9, z ^= z >> 27, z *= 0x94D049BB133111EB, z ^= z >> 31
 *   key(level, s)     h = 0; for x in seed, epoch, level, s: h = mix((h ^ x) + g)          g = 0x9E3779B97F4A7C15
 *   P(key, m, i)      the permutation of 0 … m - 1: with w the least number for which 4^w >= m (and w >= 1), 8 Feistel rounds
 *                     j = 1 … 8 on the halves of w bits, high half l and low half r of i:
 *                     l, r = r, l ^ (mix((key ^ r) + j * g) mod 2^w); again until the result is below m
 *   blocks            B = ceil(n / R); block P(key(1, 0), B, j) is the j-th
 *   window s          blocks sW … sW + W - 1 of that order, put one behind the other: m rows
 *   position p        the q-th of window s is row P(key(2, s), m, q) of that window
 *
 * mix is the finaliser of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014), walking a
 * cycle until the result is in range is due to Black and Rogaway (Ciphers with arbitrary finite domains, 2002). It mixes well;
 * it keeps nothing secret. */
#ifndef ALD_LOADER_H
#define ALD_LOADER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/streaming.h"

ALD_BEGIN_DECLS

typedef struct ald_loader_options {
    uint32_t struct_size;
    uint8_t sequential; /* rows in the order of the file */
    uint8_t reserved[3];
    uint64_t seed;
    uint64_t row_count;     /* without a file: how many; with one: 0 */
    uint64_t block_rows;    /* 0: as many as the largest chunk has; without a file 65,536 */
    uint32_t window_blocks; /* 0: 4 */
    uint32_t shard;         /* below shard_count */
    uint32_t shard_count;   /* 0: 1 */
    uint32_t reserved2;
    const uint8_t *columns; /* as in ald_streaming_take; copied */
} ald_loader_options;

#define ALD_LOADER_OPTIONS_INIT                                                                    \
    {sizeof(ald_loader_options), 0, {0, 0, 0}, 0, 0, 0, 0, 0, 0, 0, NULL}

/* An order of rows, and a place in it. */
typedef struct ald_loader ald_loader;

/* `streaming` must stay open until ald_loader_free; NULL: only the order is wanted. Its cache should hold a window's chunks
 * (window_blocks of the largest, and one or two more for batches that lie across two windows): else they are loaded again
 * and again. Options of another size than this header's are ALD_E_INVALID_ARG unless what follows is zero. */
ALD_API ALD_NODISCARD ald_status ald_loader_new(ald_streaming *streaming,
                                                const ald_loader_options *options,
                                                const ald_host *host, ald_loader **out,
                                                ald_error *err);
/* NULL is fine. */
ALD_API void ald_loader_free(ald_loader *loader);

/* Rows of this shard in an epoch: positions 0 … count - 1. Shard i of k has a k-th of the positions, one more or less, one
 * behind the other; all shards together have every row once. How many workers share a shard's positions is no matter. */
ALD_API uint64_t ald_loader_count(const ald_loader *loader);

/* Which row of the table stands at a position of this shard. Constant time. From any thread, and so is read. */
ALD_API ALD_NODISCARD ald_status ald_loader_index(const ald_loader *loader, uint64_t epoch,
                                                  uint64_t position, uint64_t *row, ald_error *err);

/* The rows at positions [position, position + count), fewer at the end of the epoch, none (an array with `release` NULL)
 * behind it, as a struct array that the caller releases. Workers that take turns by position get what one alone would. */
ALD_API ALD_NODISCARD ald_status ald_loader_read(const ald_loader *loader, uint64_t epoch,
                                                 uint64_t position, size_t count,
                                                 struct ArrowArray *out, ald_error *err);

/* The place: at first epoch 0, position 0. Resuming is seeking to the epoch and position that were reached. */
ALD_API uint64_t ald_loader_epoch(const ald_loader *loader);
ALD_API uint64_t ald_loader_position(const ald_loader *loader);
ALD_API ALD_NODISCARD ald_status ald_loader_seek(ald_loader *loader, uint64_t epoch,
                                                 uint64_t position, ald_error *err);
/* ald_loader_read at the place, which moves on by the rows that came. A failure leaves it where it was. One thread. */
ALD_API ALD_NODISCARD ald_status ald_loader_next(ald_loader *loader, size_t count,
                                                 struct ArrowArray *out, ald_error *err);

ALD_END_DECLS
#endif
