/* SPDX-License-Identifier: MIT */
/* A table made from the input, written as CSV and as JSON, reads back with the same types and values. */
#include "fuzz/text_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tt_round_trips(data, size);
    return 0;
}
