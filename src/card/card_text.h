/* SPDX-License-Identifier: MIT */
/* Forms of texts in cards, and text in Markdown. */
#ifndef CARD_TEXT_H
#define CARD_TEXT_H

#include "ald/io.h"

/* MAJOR.MINOR.PATCH with what semver 2.0.0 allows behind it. */
int card_text_is_semver(const char *text, size_t size);
/* RFC 3339, or a date alone. */
int card_text_is_time(const char *text, size_t size);

/* Appends a text to Markdown so that it is read as itself: no markup, no HTML; line breaks become blanks. */
ALD_NODISCARD ald_status card_text_markdown(ald_buffer *out, const char *text, size_t size,
                                            ald_error *err);
/* Appends Markdown that somebody else wrote as a quotation of its own, in which HTML is text. */
ALD_NODISCARD ald_status card_text_quote(ald_buffer *out, const char *text, size_t size,
                                         ald_error *err);
/* Appends as it is. */
ALD_NODISCARD ald_status card_text_put(ald_buffer *out, const char *text, ald_error *err);

#endif
