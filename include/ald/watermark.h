/* SPDX-License-Identifier: MIT */
/* Marks that tell who bought a copy: numbers are moved by less than the strength times their size, or by one unit of their last
 * decimal (at most 1/1024 of them), as the buyer and the seller's key say. The mark survives sampling, shuffling, other
 * formats, rounding and a little noise.
 *
 * Rows and columns have no part in it: where a value is moved to depends on the value alone. Nulls, zeros, NaN, infinities, types
 * and the number of decimals stay; so do equal values. Order is kept, but different values that lie close together may become
 * equal or, rarely, change places: leave out ids and codes. Times of a year move by up to 48 minutes at the usual strength
 * (largest_move). Batches of a table are one stream: how it is cut does not matter. */
#ifndef ALD_WATERMARK_H
#define ALD_WATERMARK_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/commercial.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_WATERMARK_KEY_BYTES 32
#define ALD_WATERMARK_BUYER_BYTES 32

/* The watermark key of a seller's Ed25519 seed (ald_key.private_key). */
ALD_API ALD_NODISCARD ald_status ald_watermark_key(const uint8_t seed[32], const ald_host *host,
                                                   uint8_t out[ALD_WATERMARK_KEY_BYTES],
                                                   ald_error *err);
/* The key for the dataset of this id, for everything but ald_watermark_buyer. */
ALD_API ALD_NODISCARD ald_status ald_watermark_dataset_key(
    const uint8_t key[ALD_WATERMARK_KEY_BYTES], const char *id, size_t id_size,
    const ald_host *host, uint8_t out[ALD_WATERMARK_KEY_BYTES], ald_error *err);
/* What stands for a buyer in a mark. The name cannot be found from it. `key` is the seller's, not a dataset's. */
ALD_API ALD_NODISCARD ald_status ald_watermark_buyer(const uint8_t key[ALD_WATERMARK_KEY_BYTES],
                                                     const char *name, size_t name_size,
                                                     const ald_host *host,
                                                     uint8_t out[ALD_WATERMARK_BUYER_BYTES],
                                                     ald_error *err);

/* ---- marking */

#define ALD_WATERMARK_STRENGTH_LEAST 1e-5f
#define ALD_WATERMARK_STRENGTH_MOST 4e-3f

#define ALD_WATERMARK_HIDDEN 0x1u /* without the bits that show everybody that there is a mark */
#define ALD_WATERMARK_STRICT 0x2u /* no value changes by more than the strength, decimals neither */
#define ALD_WATERMARK_KEYS 0x4u   /* columns that look like keys too */

typedef struct ald_watermark_options {
    uint32_t struct_size;
    uint32_t flags;
    uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES];
    float strength;          /* largest relative change */
    float redundancy;        /* rows of which this share was deleted shall still name the buyer */
    const uint32_t *columns; /* top-level columns to mark; NULL: all. Borrowed for the call */
    size_t column_count;
    /* What statistics of pass one, and batches kept for pass two, may take; 0: 512 MiB. With more values than fit, the
     * statistics are those of a sample. */
    uint64_t memory_bytes;
} ald_watermark_options;

#define ALD_WATERMARK_OPTIONS_INIT {sizeof(ald_watermark_options), 0, {0}, 5e-4f, 0.5f, NULL, 0, 0}

/* X(constant, value, text) */
#define ALD_WATERMARK_MODE_LIST(X)                                                                 \
    X(SKIPPED, 0, "not marked")                                                                    \
    X(DOUBLES, 1, "doubles")                                                                       \
    X(FLOATS, 2, "floats")                                                                         \
    X(ROUNDED, 3, "rounded")                                                                       \
    X(DECIMALS, 4, "decimals")

typedef enum ald_watermark_mode {
#define ALD_X(constant, value, text) ALD_WATERMARK_##constant = value,
    ALD_WATERMARK_MODE_LIST(ALD_X)
#undef ALD_X
} ald_watermark_mode;

/* Why a column was left alone. X(constant, value, text) */
#define ALD_WATERMARK_REASON_LIST(X)                                                               \
    X(NONE, 0, "")                                                                                 \
    X(NOT_CHOSEN, 1, "not among the columns asked for")                                            \
    X(NOT_NUMERIC, 2, "no numbers of a type that can be marked")                                   \
    X(NESTED, 3, "inside a map, union or list view")                                               \
    X(TOO_LARGE, 4, "magnitudes of 2^53 or more")                                                  \
    X(SCALE, 5, "decimals of a negative scale, or one above 22")                                   \
    X(TOO_FEW, 6, "fewer than 16 values that are neither zero nor missing")                        \
    X(NO_SPREAD, 7, "nearly all values are the same")                                              \
    X(KEY, 8, "looks like a key")                                                                  \
    X(GRID, 9, "values lie on a coarser grid than their last digit")                               \
    X(COARSE, 10, "the last digit is too coarse for the strength")                                 \
    X(DISTORTED, 11, "mean or deviation would change by more than 0.01 %")                         \
    X(DAYS, 12, "dates in milliseconds that are no whole days")

typedef enum ald_watermark_reason {
#define ALD_X(constant, value, text) ALD_WATERMARK_##constant = value,
    ALD_WATERMARK_REASON_LIST(ALD_X)
#undef ALD_X
} ald_watermark_reason;

/* What the numbers of a column count, where they are times. */
typedef enum ald_watermark_unit {
    ALD_WATERMARK_NO_TIME = 0,
    ALD_WATERMARK_WHOLE_DAYS = 1, /* dates, whatever they are stored in */
    ALD_WATERMARK_SECONDS = 2,
    ALD_WATERMARK_MILLISECONDS = 3,
    ALD_WATERMARK_MICROSECONDS = 4,
    ALD_WATERMARK_NANOSECONDS = 5
} ald_watermark_unit;

/* "doubles"…; "" for a value that is none. Static storage. */
ALD_API const char *ald_watermark_mode_text(uint8_t mode);
ALD_API const char *ald_watermark_reason_text(uint8_t reason);

typedef struct ald_watermark_column {
    const char *name;    /* "column", or "column.child" for what lies inside */
    uint32_t column;     /* the top-level column */
    uint8_t mode;        /* an ald_watermark_mode */
    uint8_t reason;      /* an ald_watermark_reason, when it is SKIPPED */
    uint8_t planes;      /* bits that one value carries, at most */
    uint8_t is_estimate; /* the counts and changes are those of a sample */
    int8_t decimals;     /* that values are written with; -1: not decimal */
    int8_t exponent;     /* of the spread, log2 */
    uint8_t unit;        /* an ald_watermark_unit */
    uint8_t reserved[1];
    uint64_t value_count;   /* that are neither zero nor missing */
    uint64_t marked_count;  /* of them, with a mark */
    uint64_t carrier_count; /* different marked values times their planes */
    double largest_change;  /* relative to the value; an upper bound */
    double mean_change;     /* of marked values */
    double mean_shift;      /* of the mean, relative to its size or the deviation */
    double deviation_shift; /* of the standard deviation, relative */
    double largest_move;    /* in the column's own unit, days for dates: as largest_change, which
                             * tells nothing of times: they move by a share of their spread */
} ald_watermark_column;

typedef struct ald_watermark_report {
    const ald_watermark_column
        *columns; /* nested columns have an entry for each that lies inside */
    size_t column_count;
    uint64_t capacity;       /* carriers in all columns: extraction needs about 450 */
    uint8_t capacity_is_low; /* after losing `redundancy` of them fewer than 450 would be left */
    uint8_t reserved[7];
} ald_watermark_report;

typedef struct ald_watermark ald_watermark;

/* Strengths outside of the bounds above, a redundancy outside of [0, 1) are ALD_E_INVALID_ARG. `host` is copied, what it
 * points to must stay. */
ALD_API ALD_NODISCARD ald_status ald_watermark_new(const ald_watermark_options *options,
                                                   const uint8_t key[ALD_WATERMARK_KEY_BYTES],
                                                   const ald_host *host, ald_watermark **out,
                                                   ald_error *err);
/* Pass one: reads `batches` to their end and releases them. A column asked for that is not there is ALD_E_INVALID_ARG,
 * nothing to mark in all columns ALD_E_UNSUPPORTED (the report then tells why). Once for an ald_watermark. */
ALD_API ALD_NODISCARD ald_status ald_watermark_survey(ald_watermark *watermark,
                                                      struct ArrowArrayStream *batches,
                                                      ald_error *err);
/* Pass two: replaces *batches, the same rows again, by marked ones; on failure they are released. The new stream must be
 * released before `watermark` is freed. More than once is fine. With threads, batches of numbers alone are read ahead, up to 16. */
ALD_API ALD_NODISCARD ald_status ald_watermark_apply(ald_watermark *watermark,
                                                     struct ArrowArrayStream *batches,
                                                     ald_error *err);
/* After pass one. Borrowed. */
ALD_API const ald_watermark_report *ald_watermark_get_report(const ald_watermark *watermark);
/* NULL is fine. Wipes what was derived of the key. */
ALD_API void ald_watermark_free(ald_watermark *watermark);

/* Both passes over a stream that can be read once: batches are kept in memory, and beyond memory_bytes in the host's spool.
 * *batches is replaced; on failure it is released. */
ALD_API ALD_NODISCARD ald_status ald_watermark_embed(ald_watermark *watermark,
                                                     struct ArrowArrayStream *batches,
                                                     ald_error *err);
/* The same for ald_package_commercial; valid as long as `watermark`. */
ALD_API ald_watermark_hook ald_watermark_hook_get(ald_watermark *watermark);

/* ---- finding out who */

/* What a suspect copy says under one key. */
typedef struct ald_watermark_reading ald_watermark_reading;

/* A unit conversion to undo: the suspect's numbers are factor * x + offset of the ones sold. */
typedef struct ald_watermark_affine {
    double factor, offset;
} ald_watermark_affine;

typedef struct ald_watermark_read_options {
    uint32_t struct_size;
    uint32_t reserved;
    const ald_watermark_affine *affine; /* tried one after the other, behind no conversion */
    size_t affine_count;
    uint64_t memory_bytes; /* as in ald_watermark_options */
} ald_watermark_read_options;

#define ALD_WATERMARK_READ_OPTIONS_INIT {sizeof(ald_watermark_read_options), 0, NULL, 0, 0}

/* Reads `batches` to their end and releases them (also on failure). All numeric columns are looked at. `options` may be
 * NULL. */
ALD_API ALD_NODISCARD ald_status ald_watermark_read(struct ArrowArrayStream *batches,
                                                    const uint8_t key[ALD_WATERMARK_KEY_BYTES],
                                                    const ald_watermark_read_options *options,
                                                    const ald_host *host,
                                                    ald_watermark_reading **out, ald_error *err);
/* NULL is fine. */
ALD_API void ald_watermark_reading_free(ald_watermark_reading *reading);

typedef struct ald_watermark_finding {
    uint8_t found;     /* a buyer was read (extract), or confirmed (verify) */
    uint8_t is_marked; /* a mark is there, the buyer may not be readable */
    uint8_t reserved[2];
    uint32_t profiles; /* ways of reading that were tried */
    uint32_t
        candidates; /* payloads that were tried; each is accepted by chance once in 2^64 times */
    int32_t affine; /* of the conversions given, that this was found with; -1: none */
    uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES];
    double confidence;    /* 0 to 1 */
    double log2_p;        /* of agreement as good as this by chance; 0 to -256 */
    double evidence_bits; /* -log2_p */
    double agreement;     /* share of the soft values' size that agrees, -1 to 1 */
    double presence;      /* how far the lattice stands out, in standard deviations */
    uint64_t carriers;
} ald_watermark_finding;

/* The buyer without knowing who it may be. Needs about 450 carriers; found is 0 when it is not readable. */
ALD_API ALD_NODISCARD ald_status ald_watermark_extract(ald_watermark_reading *reading,
                                                       ald_watermark_finding *out, ald_error *err);

#define ALD_WATERMARK_VERIFIED_LOG2_P (-40.0)

/* Whether it is this buyer's copy: found when log2_p is -40 or less. Needs about 80 carriers. */
ALD_API ALD_NODISCARD ald_status ald_watermark_verify(
    ald_watermark_reading *reading, const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
    ald_watermark_finding *out, ald_error *err);

typedef struct ald_watermark_rank {
    size_t buyer;  /* index in the list */
    double log2_p; /* times the number of buyers */
    double agreement;
} ald_watermark_rank;

/* The likeliest of a list of buyers (32 bytes each), best first: up to rank_count of them, *found_count in all. Those with a
 * log2_p of -40 or less are confirmed: after collusion there are several. */
ALD_API ALD_NODISCARD ald_status ald_watermark_list(ald_watermark_reading *reading,
                                                    const uint8_t *buyer_hashes, size_t buyer_count,
                                                    ald_watermark_rank *ranks, size_t rank_count,
                                                    size_t *found_count, ald_error *err);

ALD_END_DECLS
#endif
