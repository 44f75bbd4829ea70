/* SPDX-License-Identifier: MIT */
/* Whether AVX2 is in the processor, and its registers are saved by the system (XCR0 bits 1 and 2). */
#ifndef INTERCHANGE_CSV_X86_HAS_AVX2_H
#define INTERCHANGE_CSV_X86_HAS_AVX2_H

#if defined(__x86_64__)
#include <cpuid.h>

static inline int ald__has_avx2(void)
{
    unsigned a, b, c, d, saved, saved_high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27)))
        return 0;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(saved_high) : "c"(0));
    if ((saved & 6) != 6)
        return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 5)) != 0;
}
#endif

#endif
