/* SPDX-License-Identifier: MIT */
/* Says in which part of the input an error is; the hint stays behind it. */
#ifndef INTERCHANGE_FORMAT_ERROR_IN_H
#define INTERCHANGE_FORMAT_ERROR_IN_H

#include <stddef.h>
#include <string.h>

#include "ald/error.h"

#define ALD__ERROR_NAME_BYTES 80 /* of a name that a message shows */

/* Puts "before'name': " in front of the message of a failure; returns `status`. */
static inline ald_status ald__error_in(const char *before, const char *name, size_t name_size,
                                       ald_status status, ald_error *err)
{
    ald_error why;
    const char *hint;
    if (status == ALD_OK || err == NULL)
        return status;
    why = *err;
    hint = strchr(why.msg, '\n');
    (void)ald_error_set(err, status, why.offset,
                        hint != NULL ? "%s'%.*s': %.*s\n%s" : "%s'%.*s': %.*s%s", before,
                        name_size < ALD__ERROR_NAME_BYTES ? (int)name_size : ALD__ERROR_NAME_BYTES,
                        name, hint != NULL ? (int)(hint - why.msg) : (int)strlen(why.msg), why.msg,
                        hint != NULL ? hint + 1 : "");
    err->detail = why.detail;
    return status;
}

#endif
