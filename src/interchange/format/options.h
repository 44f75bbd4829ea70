/* SPDX-License-Identifier: MIT */
/* Reading option structs of callers that were built against another version. */
#ifndef INTERCHANGE_FORMAT_OPTIONS_H
#define INTERCHANGE_FORMAT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "ald/error.h"

/* Copies *from, whose first member is its size, over the defaults in *into. A shorter struct than `least` (that of the first
 * version) is refused, and a longer one than ours unless its tail is zero. NULL keeps the defaults. */
static inline ALD_NODISCARD ald_status ald__options_copy(void *into, size_t size, size_t least,
                                                         const void *from, ald_error *err)
{
    uint32_t given;
    if (from == NULL)
        return ALD_OK;
    memcpy(&given, from, sizeof given);
    if (given < least)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "struct_size %u is too small",
                             given);
    for (size_t i = size; i < given; i++) {
        if (((const uint8_t *)from)[i] != 0)
            return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                                 "an option that this version does not know is set");
    }
    memcpy(into, from, given < size ? given : size);
    return ALD_OK;
}

#endif
