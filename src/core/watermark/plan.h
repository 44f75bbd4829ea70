/* SPDX-License-Identifier: MIT */
/* How the values of one column are marked: what pass one decides. */
#ifndef CORE_WATERMARK_PLAN_H
#define CORE_WATERMARK_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/watermark.h"
#include "core/watermark/mark_keys.h"
#include "core/watermark/mark_tally.h"

#define ALD__MARK_CLASSES 64   /* exponents below the cap whose lattice is kept ready */
#define ALD__MARK_FREQUENT 128 /* at most 100 values make up more than 1 % each */
#define ALD__MARK_SLOTS 256    /* of the table that finds them */
#define ALD__MARK_FINEST 28    /* the last plane */
#define ALD__MARK_PLANE_STEP 4
#define ALD__MARK_PLANES_MOST 4

#define ALD__MARK_HASHES 4096

/* bits[] of a plan: 11 bits of a hash name a place in the codeword, the 12th turns what stands there over. */
void ald__mark_bits_init(uint8_t bits[ALD__MARK_HASHES], const uint64_t *codeword);

/* What a column's type asks for. */
typedef struct ald__mark_type {
    uint8_t is_float;   /* stored as a float */
    uint8_t is_integer; /* only integers can be written back */
    int scale;          /* decimals that can be written back; -1: any */
} ald__mark_type;

typedef struct ald__mark_plan {
    const ald__mark_keys *keys;
    const uint8_t *bits; /* bit to carry by the lowest 12 bits of a carrier's hash; borrowed */
    uint8_t mode, reason;
    uint8_t is_f32;      /* results are floats */
    uint8_t has_lsb;     /* the plane that shows the mark */
    uint8_t of_floats;   /* decimals that only floats are next to */
    int decimals;        /* of the domain, or that results are rounded to; -1: none */
    unsigned domain;     /* code of the domain */
    int cap;             /* E: classes end there */
    int first_plane;     /* k0 */
    int plane_count;     /* at most */
    int depth;           /* a value of exponent ex has planes up to e - ex + depth */
    int round_limit;     /* and up to e - round_limit */
    int least_exponent;  /* of decimals that are marked at all */
    int parity_exponent; /* of those whose last digit is */
    double power;        /* 10^decimals */
    double low, high;    /* magnitudes in between are marked */
    double origin[ALD__MARK_CLASSES];
    unsigned parity;                    /* pp */
    uint64_t frequent[ALD__MARK_SLOTS]; /* bits of values that are never changed; 0: free */
    unsigned frequent_count;
} ald__mark_plan;

/* `tally` is sorted. `bits` may be NULL for a plan that only tells whether the column can be marked. */
void ald__mark_plan_init(ald__mark_plan *plan, const ald__mark_keys *keys, const uint8_t *bits,
                         const ald__mark_tally *tally, ald__mark_type type, float strength,
                         uint32_t flags);

/* Fills in origin[] and parity, for the domain and cap that are set. */
void ald__mark_plan_set_lattice(ald__mark_plan *plan);

/* o of a class in the binary domain, S in a decimal one. */
double ald__mark_plan_origin(const ald__mark_plan *plan, int e);

/* How many planes a marked value of the binary domain has. */
unsigned ald__mark_plan_planes(const ald__mark_plan *plan, double value);

/* Nonzero when the value is one of those that are never changed. */
int ald__mark_plan_is_frequent(const ald__mark_plan *plan, double value);

#endif
