/* SPDX-License-Identifier: MIT */
/* .npy files: the first byte chooses options, the rest is the file. What is read is valid Arrow, as many rows as were
 * announced. */
#include "fuzz/fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_tensors(ald_npy_open, data, size);
}
