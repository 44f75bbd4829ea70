/* SPDX-License-Identifier: MIT */
/* safetensors files: the first byte chooses options, the rest is the file. What is read is valid Arrow, as many rows as were
 * announced. */
#include "fuzz/fuzz_tensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_tensors(ald_safetensors_open, data, size);
}
