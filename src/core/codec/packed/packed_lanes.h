/* SPDX-License-Identifier: MIT */
/* Sixteen bytes at once, in the compiler's vector types: where a machine has no vectors the same code is lowered to what it
 * has. The lowest lane is the byte that comes first in memory. */
#ifndef CORE_CODEC_PACKED_PACKED_LANES_H
#define CORE_CODEC_PACKED_PACKED_LANES_H

#include <stdint.h>

/* Built for size, loops do not become vector code, and second ways through the same work are left out. */
#ifdef __OPTIMIZE_SIZE__
#define ALD__FOR_SPEED 0
#elif !defined(ALD__FOR_SPEED) /* a test says 0 */
#define ALD__FOR_SPEED 1
#endif

typedef uint8_t ald__lanes __attribute__((vector_size(16)));
typedef uint32_t ald__lanes32 __attribute__((vector_size(16)));
typedef uint64_t ald__lanes64 __attribute__((vector_size(16)));

/* Bytes, pairs or fours of a and b in turns: of the lower halves (at = 0) or the upper ones (at = 8). */
#define ALD__ZIP_8(a, b, at)                                                                       \
    __builtin_shufflevector(a, b, (at), (at) + 16, (at) + 1, (at) + 17, (at) + 2, (at) + 18,       \
                            (at) + 3, (at) + 19, (at) + 4, (at) + 20, (at) + 5, (at) + 21,         \
                            (at) + 6, (at) + 22, (at) + 7, (at) + 23)
#define ALD__ZIP_16(a, b, at)                                                                      \
    __builtin_shufflevector(a, b, (at), (at) + 1, (at) + 16, (at) + 17, (at) + 2, (at) + 3,        \
                            (at) + 18, (at) + 19, (at) + 4, (at) + 5, (at) + 20, (at) + 21,        \
                            (at) + 6, (at) + 7, (at) + 22, (at) + 23)
#define ALD__ZIP_32(a, b, at)                                                                      \
    __builtin_shufflevector(a, b, (at), (at) + 1, (at) + 2, (at) + 3, (at) + 16, (at) + 17,        \
                            (at) + 18, (at) + 19, (at) + 4, (at) + 5, (at) + 6, (at) + 7,          \
                            (at) + 20, (at) + 21, (at) + 22, (at) + 23)

#endif
