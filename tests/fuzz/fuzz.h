/* SPDX-License-Identifier: MIT */
/* What a fuzz target uses. A target is one file, tests/fuzz/fuzz_<name>.c, that defines LLVMFuzzerTestOneInput; its
 * inputs live in tests/fuzz/corpus/<name>/. libFuzzer drives it in the fuzz preset, replay.c in every other build. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An assertion that stays in optimised builds. */
#define FUZZ_CHECK(x)                                                                              \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x);                      \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
