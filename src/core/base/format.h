/* SPDX-License-Identifier: MIT */
/* printf for a core without stdio: %s %.*s %c %d %i %u %x %%, with hh h l ll z j, width, zero padding, `-`. */
#ifndef CORE_BASE_FORMAT_H
#define CORE_BASE_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

#include "ald/export.h"

/* As vsnprintf: always NUL-terminated when cap > 0, returns the length that the whole text would have. Control
 * characters and invalid UTF-8 in %s are written as \xNN when `escape` is nonzero. No floating point: %f %g %e print
 * "?". */
size_t ald__vformat(char *buf, size_t cap, int escape, const char *fmt, va_list args);
size_t ald__format(char *buf, size_t cap, const char *fmt, ...) ALD_PRINTF(3, 4);

/* Stand-ins for third-party objects in builds without stdio (-Dsnprintf=ald__snprintf). */
int ald__snprintf(char *buf, size_t cap, const char *fmt, ...) ALD_PRINTF(3, 4);
int ald__vsnprintf(char *buf, size_t cap, const char *fmt, va_list args);

#endif
