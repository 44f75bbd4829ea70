/* SPDX-License-Identifier: MIT */
/* Arithmetic that says when it overflows: nonzero return means *out is the true result. */
#ifndef CORE_BASE_CHECKED_H
#define CORE_BASE_CHECKED_H

#include <stddef.h>
#include <stdint.h>

static inline int ald__add_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline int ald__mul_u64(uint64_t a, uint64_t b, uint64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static inline int ald__add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static inline int ald__mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

/* 64-bit file positions to memory sizes: the only place where they meet. */
static inline int ald__to_size(uint64_t v, size_t *out)
{
    *out = (size_t)v;
    return v <= SIZE_MAX / 2;
}

#endif
