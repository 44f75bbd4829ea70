/* SPDX-License-Identifier: MIT */
/* A column of a suspect copy, and the lattice it may have been marked on. */
#ifndef CORE_WATERMARK_SUSPECT_H
#define CORE_WATERMARK_SUSPECT_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "core/watermark/mark_tally.h"
#include "core/watermark/plan.h"

#define ALD__MARK_FAMILIES 4 /* planes k with the same k % 4 belong together */
#define ALD__MARK_LEAST_PLANE 8
#define ALD__MARK_PLANES (ALD__MARK_FINEST - ALD__MARK_LEAST_PLANE + 1)
#define ALD__MARK_DECIMALS_MOST 8
#define ALD__MARK_PARITY_LEAST 1023.5
#define ALD__MARK_PARITY_LOWER 255.5

/* A domain and a cap exponent. */
typedef struct ald__mark_guess {
    int decimals; /* -1: binary */
    int cap;
    double score;
} ald__mark_guess;

typedef struct ald__mark_suspect {
    const ald__mark_keys *keys;
    double *value; /* ascending, all different; of the tally, or `own` */
    size_t count;
    double *own; /* what conversion made; freed with the suspect */
    size_t own_capacity;
    const ald_allocator *alloc;
    double spread;
    uint8_t is_f32;
    int decimals; /* -1: none */
    int soft;     /* decimals under a little noise; -1: none. Looked for when it matters */
    double softness;
    uint8_t soft_is_known;
    ald__mark_guess guess[ALD__MARK_FAMILIES];
} ald__mark_suspect;

/* From a sorted tally, whose values are used in place. */
void ald__mark_suspect_init(ald__mark_suspect *s, const ald__mark_keys *keys,
                            const ald__mark_tally *tally);
/* The same of (value - offset) / factor. To be cleared also on failure, as the next. */
ALD_NODISCARD ald_status ald__mark_suspect_convert(ald__mark_suspect *s, const ald__mark_keys *keys,
                                                   const ald__mark_tally *tally, double factor,
                                                   double offset, ald_error *err);
/* The same of values rounded. */
ALD_NODISCARD ald_status ald__mark_suspect_round(ald__mark_suspect *s, const ald__mark_keys *keys,
                                                 const ald__mark_tally *tally, int decimals,
                                                 ald_error *err);
/* How many decimals numbers have whose averages, of two to eight copies, these values may be; -1: they are none. The tally is
 * sorted. */
int ald__mark_average_decimals(const ald__mark_tally *tally);
/* The values before the last mark was put on them, as far as that shows. s->count is 0 where it does not. */
ALD_NODISCARD ald_status ald__mark_suspect_undo(ald__mark_suspect *s, const ald__mark_keys *keys,
                                                const ald__mark_tally *tally, ald_error *err);
/* The work of that; returns how many planes were taken off. */
int ald__mark_take_off(double *value, size_t count, double spread, int is_f32);
/* Fills in what is known of the values but for the values themselves. */
void ald__mark_suspect_describe(ald__mark_suspect *s, const ald__mark_tally *t);
void ald__mark_suspect_clear(ald__mark_suspect *s);

/* Fills in guess[], on the threads of `host` (NULL: on this one). Only phases are looked at, no bit of a codeword. */
ALD_NODISCARD ald_status ald__mark_suspect_guess(ald__mark_suspect *s, const ald_host *host,
                                                 ald_error *err);

/* Weights of the soft values of one plane, by class below the cap. 0: nothing there. */
typedef struct ald__mark_weights {
    double of[ALD__MARK_PLANES][ALD__MARK_CLASSES];
} ald__mark_weights;

/* From the phases under a guess, for the planes of one family. */
ALD_NODISCARD ald_status ald__mark_suspect_weigh(const ald__mark_suspect *s,
                                                 const ald__mark_guess *guess, int family,
                                                 ald__mark_weights *out, ald_error *err);
/* The weight of the last digits, and how many decimals there are; 0: the column has none. */
double ald__mark_suspect_parity(const ald__mark_suspect *s, int *decimals);

/* Soft values of the codeword's bits. */
typedef struct ald__mark_soft {
    double y[ALD__POLAR_BITS];
    double squares; /* sum of what was added, squared */
    double fourths; /* and to the power of four */
    uint64_t carriers;
} ald__mark_soft;

void ald__mark_soft_add(ald__mark_soft *to, const ald__mark_soft *from, double scale);

/* Adds what the column says in the planes that have weights. */
ALD_NODISCARD ald_status ald__mark_suspect_read(const ald__mark_suspect *s,
                                                const ald__mark_guess *guess,
                                                const ald__mark_weights *weights,
                                                ald__mark_soft *out, ald_error *err);
#define ALD__MARK_NOISE_CLASSES 6

/* Adds what one plane says, unweighted, by class below the cap. */
ALD_NODISCARD ald_status ald__mark_suspect_read_classes(const ald__mark_suspect *s,
                                                        const ald__mark_guess *guess, int plane,
                                                        ald__mark_soft *out, ald_error *err);
/* Adds what the last digits say of values of `least` to `most` units. */
ALD_NODISCARD ald_status ald__mark_suspect_read_parity(const ald__mark_suspect *s, int decimals,
                                                       double weight, double least, double most,
                                                       ald__mark_soft *out, ald_error *err);

#endif
