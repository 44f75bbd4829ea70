/* SPDX-License-Identifier: MIT */
/* UTF-8 validity of whole buffers. */
#ifndef CORE_ARROW_UTF8_H
#define CORE_ARROW_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of valid UTF-8 at the start; `size` when all is. *ascii (may be NULL) tells whether it is ASCII alone. */
size_t ald__utf8_valid_prefix(const uint8_t *data, size_t size, int *ascii);

#endif
