/* SPDX-License-Identifier: MIT */
/* Whether numbers look marked, to somebody without a key: statistics of their lowest bits and of where they lie on the line. Data of
 * the wild are not uniform in their lowest bits, so a column is judged by what marking alone does. */
#ifndef ALD_PIRACY_H
#define ALD_PIRACY_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/watermark.h"

ALD_BEGIN_DECLS

/* What kind of numbers a column has. X(constant, value, text) */
#define ALD_ENTROPY_CLASS_LIST(X)                                                                  \
    X(NONE, 0, "no numbers")                                                                       \
    X(FULL, 1, "full precision")                                                                   \
    X(DECIMAL, 2, "decimals")                                                                      \
    X(NEAR_DECIMAL, 3, "next to decimals")                                                         \
    X(FEW, 4, "few values")                                                                        \
    X(TRUNCATED, 5, "truncated")                                                                   \
    X(ISLAND, 6, "one low bit alone")

typedef enum ald_entropy_class {
#define ALD_X(constant, value, text) ALD_ENTROPY_##constant = value,
    ALD_ENTROPY_CLASS_LIST(ALD_X)
#undef ALD_X
} ald_entropy_class;

ALD_API const char *ald_entropy_class_text(uint8_t entropy_class);

/* Signs of a mark. */
#define ALD_SIGN_ISLAND 0x01u      /* bits written below numbers that have none there */
#define ALD_SIGN_LSB 0x02u         /* the lowest bit leans towards 1 */
#define ALD_SIGN_CORRELATION 0x04u /* lowest bits depend on those of other rows */
#define ALD_SIGN_PERIOD 0x08u      /* they repeat every 256 rows */
#define ALD_SIGN_PHASE 0x10u       /* values keep away from the edges of a lattice */

/* Thresholds that clean data pass often, given for comparison. */
#define ALD_RAW_LSB_ENTROPY 0x01u /* below 0.97 */
#define ALD_RAW_KS 0x02u          /* p below 0.05 */
#define ALD_RAW_CHI_SQUARE 0x04u  /* p below 0.01 */
#define ALD_RAW_CORRELATION 0x08u /* above 0.05 */

#define ALD_ENTROPY_PLANE                                                                          \
    8 /* the coarsest plane looked at: cells of 2^-8 of the spread's power of two */
#define ALD_ENTROPY_PLANES 17

#define ALD_LSB_MAP_WORDS 64 /* of 64 rows */

typedef struct ald_column_entropy {
    const char *name;
    uint32_t column;       /* top-level */
    uint8_t entropy_class; /* an ald_entropy_class */
    uint8_t signs;         /* ALD_SIGN_…; the column is suspicious when there is one */
    uint8_t raw;           /* ALD_RAW_… */
    uint8_t bits;          /* of the patterns looked at: 32 or 64 */
    uint64_t value_count, distinct_count, row_count;
    double lsb_ones, lsb_entropy; /* share of ones; bits */
    double shannon_entropy;       /* of the lowest byte, 0 to 8 bits */
    double ks_distance, ks_p;
    double chi_square, chi_square_p;
    double bit_correlation; /* largest over the distances, not centered */
    uint32_t bit_correlation_distance;
    uint32_t reserved;
    double centered_correlation, centered_correlation_p;
    double peak_256; /* how far the correlation at 256 rows stands out of those around it */
    /* By plane, from ALD_ENTROPY_PLANE on, the best of three cap exponents: chance of so much order, and its strength 0 to
     * 1. */
    double phase_p[ALD_ENTROPY_PLANES], phase_strength[ALD_ENTROPY_PLANES];
    double p;                /* of the strongest sign; 1 without one */
    uint64_t low_bytes[256]; /* histogram of the lowest byte, of distinct values */
    /* The lowest bits of the first rows, in their order: bit i of word w is that of row 64 w + i. Known: a finite number. */
    uint64_t lsb_map[ALD_LSB_MAP_WORDS], lsb_known[ALD_LSB_MAP_WORDS];
} ald_column_entropy;

typedef struct ald_entropy ald_entropy;

/* Reads `batches` to their end and releases them (also on failure). One entry for each column of numbers. Memory is that of
 * ald_watermark_options. */
ALD_API ALD_NODISCARD ald_status ald_piracy_analyze_entropy(struct ArrowArrayStream *batches,
                                                            uint64_t memory_bytes,
                                                            const ald_host *host, ald_entropy **out,
                                                            ald_error *err);
ALD_API size_t ald_entropy_count(const ald_entropy *entropy);
/* Borrowed. */
ALD_API const ald_column_entropy *ald_entropy_get(const ald_entropy *entropy, size_t index);
ALD_API void ald_entropy_free(ald_entropy *entropy);

typedef struct ald_detection {
    uint8_t likely_watermarked;
    uint8_t reserved[7];
    double confidence; /* 0 to 1 */
    size_t suspicious_count;
} ald_detection;

ALD_API ald_detection ald_entropy_verdict(const ald_entropy *entropy);

/* All at once: whether a dataset is likely to be marked. */
ALD_API ALD_NODISCARD ald_status ald_piracy_detect(struct ArrowArrayStream *batches,
                                                   uint64_t memory_bytes, const ald_host *host,
                                                   ald_detection *out, ald_error *err);

/* ---- evidence against one buyer, column by column */

typedef struct ald_column_evidence {
    const char *name; /* as long as the reading */
    uint32_t column;
    uint32_t reserved;
    uint64_t carriers;
    double log2_p; /* of this column alone */
    double agreement;
} ald_column_evidence;

/* Of every column with numbers, up to `capacity`; *count is how many there are. */
ALD_API ALD_NODISCARD ald_status ald_piracy_evidence(
    ald_watermark_reading *reading, const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
    ald_column_evidence *out, size_t capacity, size_t *count, ald_error *err);

#define ALD_WATERMARK_CODE_BYTES 256 /* bit j of a code is bit j % 8 of byte j / 8 */

typedef struct ald_column_bits {
    uint8_t bits
        [ALD_WATERMARK_CODE_BYTES]; /* the buyer's code as the column has it; 0 where it says nothing */
    uint8_t known[ALD_WATERMARK_CODE_BYTES]; /* where it says something */
    double lsb_entropy;                      /* of the lowest bits of its values, 0 to 1 */
    double
        expected_entropy; /* of such bits without a mark: 1 for numbers of full precision; 0: of others nothing is expected */
} ald_column_bits;

/* What entry `index` of the evidence was found in; behind a call of ald_piracy_evidence. */
ALD_API ALD_NODISCARD ald_status ald_piracy_evidence_bits(ald_watermark_reading *reading,
                                                          size_t index, ald_column_bits *out,
                                                          ald_error *err);
/* A buyer's code under the key of the reading. It tells nothing about the key. */
ALD_API ALD_NODISCARD ald_status ald_piracy_buyer_code(
    const ald_watermark_reading *reading, const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
    uint8_t out[ALD_WATERMARK_CODE_BYTES], ald_error *err);

/* Blind extraction, under the name of the commands that do it. */
ALD_API ALD_NODISCARD ald_status ald_piracy_extract_buyer(ald_watermark_reading *reading,
                                                          ald_watermark_finding *out,
                                                          ald_error *err);

typedef struct ald_proof {
    uint8_t match_confirmed; /* the buyer was read blind, or log2_p is -40 or less */
    uint8_t is_blind;        /* the first of these */
    uint8_t reserved[6];
    ald_watermark_finding finding;
} ald_proof;

ALD_API ALD_NODISCARD ald_status ald_piracy_prove_buyer(
    ald_watermark_reading *reading, const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
    ald_proof *out, ald_error *err);

ALD_END_DECLS
#endif
