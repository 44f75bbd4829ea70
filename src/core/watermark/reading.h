/* SPDX-License-Identifier: MIT */
/* What was read of a suspect copy: ways of combining its columns into soft values of the codeword, made as they are needed. */
#ifndef CORE_WATERMARK_READING_H
#define CORE_WATERMARK_READING_H

#include "ald/piracy.h"
#include "core/watermark/marker.h"
#include "core/watermark/suspect.h"

/* In the order they are tried: all columns; other mixtures of them; each column alone; noise. */
#define ALD__MARK_STAGES 4

typedef struct ald__mark_profile {
    float y[ALD__POLAR_BITS];
    double size;      /* sum of |y| */
    double power;     /* sum of y^2 */
    double coherence; /* how much more that is than of carriers at random, in standard deviations */
    uint64_t carriers;
    size_t variant;
    int32_t affine;     /* unit conversion; -1: none */
    uint32_t positions; /* that are not 0 */
    uint8_t was_decoded;
    uint8_t is_noise;
} ald__mark_profile;

typedef struct ald__mark_variant {
    uint8_t is_ready;
    uint8_t stages; /* that were made into profiles */
    int family;
    ald__mark_suspect *suspects; /* one for each leaf */
    ald__mark_soft *groups, *parity;
} ald__mark_variant;

struct ald_watermark_reading {
    ald_host host;
    ald__mark_keys keys;
    ald__mark_survey survey;
    ald_watermark_affine *affine;
    size_t affine_count;
    ald__mark_variant
        *variants; /* as they are, converted, and last rounded: averages of decimals */
    size_t variant_count;
    ald_buffer profiles; /* of pointers to them */
    size_t profile_count;
    uint32_t candidates;
    uint64_t carriers;   /* most of any profile */
    double presence;     /* the best coherence of a column alone */
    size_t best_variant; /* of the last buyer that was confirmed */
    uint8_t extracted;   /* 1: tried; 2: with success */
    int32_t extracted_affine;
    uint8_t buyer_hash[ALD__MARK_BUYER_BYTES];
};

ald__mark_profile *ald__mark_reading_profile(const ald_watermark_reading *reading, size_t index);

/* Makes the profiles of a stage of a variant (0: no conversion), once. */
ald_status ald__mark_reading_stage(ald_watermark_reading *reading, size_t variant, unsigned stage,
                                   ald_error *err);

/* Sorts the values, guesses the lattice of every column, and sums up what they say on it; once for each variant. */
ALD_NODISCARD ald_status ald__mark_ready_variant(ald_watermark_reading *r, size_t variant,
                                                 ald_error *err);
/* Whether the variant is that of averages, whose columns are rounded. */
int ald__mark_is_rounded(const ald_watermark_reading *r, size_t variant);
/* The planes that the columns' guesses are most for, together. */
void ald__mark_choose_family(ald__mark_variant *v, size_t count);
/* Adds what a column says in the planes of a family, and by its last digits. */
ALD_NODISCARD ald_status ald__mark_read_soft(const ald__mark_suspect *s, int family,
                                             ald__mark_soft *groups, ald__mark_soft *parity,
                                             ald_error *err);
/* How much more often carriers of one position agree than those at random would, in standard deviations. */
double ald__mark_coherence(const ald__mark_soft *soft);
/* A mark of this key shows in a column alone. Columns together may share cells, and then agree also under a mark of another
 * key. */
void ald__mark_note_presence(ald_watermark_reading *r, const ald__mark_soft *column);

/* Adds what a column alone says, of a variant that has passed the first stage. */
ald_status ald__mark_reading_soft(ald_watermark_reading *reading, size_t variant, size_t column,
                                  ald__mark_soft *out, ald_error *err);
/* What one column says of a buyer: carriers, log2_p and agreement of *out. */
ald_status ald__mark_reading_column(ald_watermark_reading *reading, size_t variant, size_t column,
                                    const uint8_t *buyer_hash, ald_column_evidence *out,
                                    ald_error *err);

#endif
