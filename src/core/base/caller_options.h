/* SPDX-License-Identifier: MIT */
/* Option structs of callers that may be older or newer than the library: `uint32_t struct_size` comes first. */
#ifndef CORE_BASE_CALLER_OPTIONS_H
#define CORE_BASE_CALLER_OPTIONS_H

#include <stddef.h>

#include "ald/error.h"

/* Copies `given` (NULL: nothing) over *out, which holds the defaults and has `size` bytes. What a shorter struct does not
 * have keeps its default; what a longer one has must be zeros. ALD_E_INVALID_ARG for a size below `least`, the first
 * version's, or out of all proportion. `name` is for the message. */
ALD_NODISCARD ald_status ald__options_take(void *out, size_t size, size_t least, const void *given,
                                           const char *name, ald_error *err);

#endif
