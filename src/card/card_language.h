/* SPDX-License-Identifier: MIT */
/* Codes of languages: ISO 639-1, 639-2 and 639-3, and BCP 47 tags that begin with one. */
#ifndef CARD_LANGUAGE_H
#define CARD_LANGUAGE_H

#include <stddef.h>

/* Whether a text is a code of a language, or one of Hugging Face's words for none ("code", "multilingual"). Subtags are held
 * to the form of BCP 47, not to its registry. */
int card_language_is_known(const char *text, size_t size);

#endif
