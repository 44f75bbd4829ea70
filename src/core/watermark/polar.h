/* SPDX-License-Identifier: MIT */
/* The polar code of a mark: 320 bits of payload as a codeword of 2,048, and list decoding of soft values. */
#ifndef CORE_WATERMARK_POLAR_H
#define CORE_WATERMARK_POLAR_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"

#define ALD__POLAR_BITS 2048
#define ALD__POLAR_INFO 320
#define ALD__POLAR_WORDS (ALD__POLAR_BITS / 64)
#define ALD__POLAR_PAYLOAD (ALD__POLAR_INFO / 8)
#define ALD__POLAR_LIST 32
#define ALD__POLAR_SPREAD 6
#define ALD__POLAR_DENSE 16

typedef struct ald__polar {
    uint16_t info[ALD__POLAR_INFO];       /* the positions that carry the payload, ascending */
    uint16_t before[ALD__POLAR_BITS + 1]; /* how many of them are below an index */
    /* Of words of 64 positions, 15 have any that carry payload; one more is empty. */
    uint8_t word[ALD__POLAR_DENSE];
    uint64_t is_info[ALD__POLAR_DENSE];                   /* which positions do */
    uint64_t spread[ALD__POLAR_SPREAD][ALD__POLAR_DENSE]; /* what moves by 2^s to get there */
} ald__polar;

void ald__polar_init(ald__polar *code);

/* Bit j of the codeword is bit j % 64 of word j / 64. */
void ald__polar_encode(const ald__polar *code, const uint8_t payload[ALD__POLAR_PAYLOAD],
                       uint64_t codeword[ALD__POLAR_WORDS]);

/* Decodes soft values (positive: bit 0), with lists of 4 and then of 32. Every surviving path is offered, the likeliest first,
 * until accept(ctx, payload) returns nonzero. *accepted tells whether one did; *offered grows by the number of offers. */
ALD_NODISCARD ald_status ald__polar_decode(const ald__polar *code, const ald_allocator *alloc,
                                           const float soft[ALD__POLAR_BITS],
                                           int (*accept)(void *ctx, const uint8_t *payload),
                                           void *ctx, int *accepted, uint32_t *offered,
                                           ald_error *err);

#endif
