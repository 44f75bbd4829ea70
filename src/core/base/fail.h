/* SPDX-License-Identifier: MIT */
/* How the core fails. */
#ifndef CORE_BASE_FAIL_H
#define CORE_BASE_FAIL_H

#include <stddef.h>

#include "ald/error.h"

#define ald__fail ald_error_set

/* For functions that own nothing. */
#define ALD_TRY(expr)                                                                              \
    do {                                                                                           \
        ald_status ald_try_ = (expr);                                                              \
        if (ald_try_ != ALD_OK)                                                                    \
            return ald_try_;                                                                       \
    } while (0)

static inline ald_status ald__no_memory(ald_error *err, size_t size)
{
    return ald__fail(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
}

#endif
