/* SPDX-License-Identifier: MIT */
/* Well-formed UTF-8, as the Unicode Standard's table 3-7 says. */
#ifndef INTERCHANGE_TEXT_UTF8_H
#define INTERCHANGE_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The offset of the first byte that does not begin a whole, well-formed sequence; `size` when there is none. */
size_t ald__text_utf8_check(const uint8_t *data, size_t size);
/* The offset of the first NUL byte; `size` when there is none. */
size_t ald__text_nul_check(const uint8_t *data, size_t size);
/* Line ends (LF, CRLF, CR) in data[0 .. size). *cr says whether the byte before was a CR, and is set for the next call. */
uint64_t ald__text_count_lines(const uint8_t *data, size_t size, int *cr);

#endif
