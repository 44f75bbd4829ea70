/* SPDX-License-Identifier: MIT */
/* Text from files and arguments on its way to a terminal. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* One code point at `s` (s < end): its length in bytes, or 0 where the bytes are not UTF-8. */
size_t cli_utf8_next(const unsigned char *s, const unsigned char *end, uint32_t *code);

/* Whether `text` is UTF-8, as a column, metadata and a manifest must be: names of files can be any bytes. */
int cli_is_utf8(const char *text);

/* Whether a code point may be sent to a terminal as it is: no control characters, no bidirectional overrides, no line
 * and paragraph separators. */
int cli_is_printable(uint32_t code);

/* Columns of a terminal that a code point takes: 0, 1 or 2. */
unsigned cli_code_width(uint32_t code);

/* Copies `text` with everything that is not printable, and bytes that are not UTF-8, as \xNN or \u{NNNN}; \n, \r and \t
 * by those names. Cut to fit; always NUL-terminated. Returns the length. */
size_t cli_escape(char *out, size_t out_size, const char *text, size_t text_size);

#endif
