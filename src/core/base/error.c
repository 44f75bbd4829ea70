/* SPDX-License-Identifier: MIT */
/* Names and texts of the status codes; filling an ald_error. */
#include "ald/error.h"

#include <stdarg.h>
#include <string.h>

#include "core/base/format.h"

const char *ald_status_name(ald_status status)
{
    switch (status) {
#define ALD_X(constant, value, name, text)                                                         \
    case ALD_E_##constant:                                                                         \
        return name;
        ALD_STATUS_LIST(ALD_X)
#undef ALD_X
    }
    return "Unknown";
}

const char *ald_status_text(ald_status status)
{
    switch (status) {
#define ALD_X(constant, value, name, text)                                                         \
    case ALD_E_##constant:                                                                         \
        return text;
        ALD_STATUS_LIST(ALD_X)
#undef ALD_X
    }
    return "no such status";
}

ald_status ald_error_set(ald_error *err, ald_status status, uint64_t offset, const char *fmt, ...)
{
    char text[ALD_ERROR_MSG_BYTES]; /* arguments may point into *err */
    va_list args;
    if (err == NULL)
        return status;
    va_start(args, fmt);
    (void)ald__vformat(text, sizeof text, 1, fmt, args);
    va_end(args);
    err->status = (int32_t)status;
    err->detail = 0;
    err->offset = offset;
    memcpy(err->msg, text, sizeof text);
    return status;
}
