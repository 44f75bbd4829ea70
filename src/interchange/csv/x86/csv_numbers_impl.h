/* SPDX-License-Identifier: MIT */
/* AVX2 where processor and system have it. Included by csv_numbers.c alone. */
#include "interchange/text/x86/quick_impl.h"

#define QUICK(name) avx2_##name
#define QUICK_DIGITS(name) avx2_##name
#define QUICK_FN QUICK_AVX2 static inline
#include "interchange/text/quick_template.h"

#define NUMBERS(name) numbers_avx2_##name
#define NUMBERS_FN QUICK_AVX2 static
#define NUMBERS_DECIMAL16 avx2_decimal16
#define NUMBERS_QUICK avx2_number
#include "interchange/csv/csv_numbers_template.h"

static size_t numbers_list(const ald__csv_numbers *list[2])
{
    list[0] = &numbers_avx2_loops;
    return __builtin_cpu_supports("avx2") ? 1 : 0;
}
