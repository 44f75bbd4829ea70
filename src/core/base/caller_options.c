/* SPDX-License-Identifier: MIT */
#include "core/base/caller_options.h"

#include <stdint.h>
#include <string.h>

#include "core/base/fail.h"

#define SIZE_ABSURD 4096u

ald_status ald__options_take(void *out, size_t size, size_t least, const void *given,
                             const char *name, ald_error *err)
{
    const uint8_t *bytes = given;
    uint32_t ours = (uint32_t)size, theirs;
    if (given == NULL)
        return ALD_OK;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < least || theirs > SIZE_ABSURD)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "%s.struct_size is %u, expected %u\nbegin with the struct's _INIT", name,
                         theirs, ours);
    for (size_t i = size; i < theirs; i++) {
        if (bytes[i] != 0)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "%s asks for something that this version does not know", name);
    }
    memcpy(out, given, theirs < size ? theirs : size);
    memcpy(out, &ours, sizeof ours);
    return ALD_OK;
}
