/* SPDX-License-Identifier: MIT */
/* The integer codec under all filters: planes of bits, and what makes numbers small (F-411, F-412). */
#ifndef CORE_CODEC_PACKED_PACKED_INTS_H
#define CORE_CODEC_PACKED_PACKED_INTS_H

#include <stddef.h>
#include <stdint.h>

#define ALD__INTS_DELTA 1u
#define ALD__INTS_ZIGZAG 2u
#define ALD__INTS_STRIDE 4u
#define ALD__INTS_BASE 16u
#define ALD__INTS_FACTOR 32u
#define ALD__INTS_START 64u
#define ALD__INTS_FLAGS 0x77u

/* Parameters of one number series; base 0, factor 1 and start 0 where the table has none. */
typedef struct ald__packed_ints {
    uint8_t flags, bits, width; /* width 1, 2, 4 or 8: bytes of a value */
    uint32_t stride;
    uint64_t base, factor, start;
} ald__packed_ints;

#define ALD__INTS_BLOCK 512u

/* Bytes of the planes of n values; n ≤ 2^32. */
uint64_t ald__planes_bytes(uint64_t n, uint32_t bits);
/* Whether the spare bits of the last bytes are zero. */
int ald__planes_are_clean(const uint8_t *planes, size_t n, uint32_t bits);

/* All n values, as numbers of p->width bytes; dst is aligned for them. */
void ald__ints_restore(const ald__packed_ints *p, const uint8_t *planes, size_t n, void *dst);
/* `count` ≤ ALD__INTS_BLOCK indices of at most 16 bits from number `at` on, a multiple of 8, of n; and the largest. */
void ald__indices_restore(const uint8_t *planes, size_t n, uint32_t bits, size_t at, size_t count,
                          uint16_t *dst, uint16_t *largest);

/* Sums of n lengths, 4 bytes each at any address, up to each of them, as numbers of 4 or 8 bytes; and of all. The sums may be
 * written over lengths: sum k ends where length k does, or before. */
void ald__lengths_sum(const uint8_t *lengths, size_t n, uint8_t *sums, size_t width,
                      uint64_t *total);

/* n values of `width` bytes from one plane for each byte. */
void ald__bytes_join(const uint8_t *planes, size_t n, size_t width, uint8_t *dst);

/* Bytes at … at + n of v become the sums of all that lie `stride` apart up to them; those before are. */
void ald__bytes_sum_past(uint8_t *v, size_t at, size_t n, size_t stride);

/* A series of 64-bit numbers, some at a time. `ring` has room for min(stride, n) numbers where there is a stride. */
typedef struct ald__ints_run {
    const ald__packed_ints *p;
    const uint8_t *planes;
    size_t n, at;
    uint64_t carry;
    uint64_t *ring;
    size_t ring_at;
} ald__ints_run;
/* The next `count` ≤ ALD__INTS_BLOCK, a multiple of 8 unless they are the last. */
void ald__ints_run_next(ald__ints_run *run, size_t count, uint64_t *dst);

#endif
