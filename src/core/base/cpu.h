/* SPDX-License-Identifier: MIT */
/* Loops that compilers make vector code of, built twice for x86-64: for all processors, and for those that have AVX2. */
#ifndef CORE_BASE_CPU_H
#define CORE_BASE_CPU_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__AVX2__) && !defined(ALD__NO_AVX2)

/* What is inlined into both. */
#define ALD__BODY static inline __attribute__((always_inline))

/* Defines `linkage void name parameters`, which calls name_body, one of its two builds. */
#define ALD__VARIANTS(linkage, name, parameters, arguments)                                        \
    __attribute__((target("avx2"))) static void name##_avx2 parameters                             \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }                                                                                              \
    linkage void name parameters                                                                   \
    {                                                                                              \
        if (__builtin_cpu_supports("avx2"))                                                        \
            name##_avx2 arguments;                                                                 \
        else                                                                                       \
            name##_body arguments;                                                                 \
    }

#else

#define ALD__BODY static inline
#define ALD__VARIANTS(linkage, name, parameters, arguments)                                        \
    linkage void name parameters                                                                   \
    {                                                                                              \
        name##_body arguments;                                                                     \
    }

#endif
#endif
