/* SPDX-License-Identifier: MIT */
/* Licenses as Hugging Face names them, and as SPDX does. */
#ifndef CARD_LICENSE_H
#define CARD_LICENSE_H

#include "ald/value.h"
#include "card/spdx.h"

/* The expression of a slug ("apache-2.0"). What is neither a slug nor an expression becomes LicenseRef-… of its letters;
 * then the answer is 0. */
int card_license_from_slug(const char *slug, size_t size, card_spdx *out);
/* The slug of an expression, or NULL. Static storage. */
const char *card_license_slug(const char *expression, size_t size);
/* All slugs, in turn; then NULL. */
const char *card_license_slug_at(size_t index);

/* LicenseRef-NAME of a name, with a hyphen for each byte that may not be in one. */
void card_license_reference(const char *name, size_t size, card_spdx *out);

/* `license` of a map of metadata, or those in its `sources` (`key` is either; others are nothing): checked, and spelled as
 * SPDX does. The error names the key. */
ALD_NODISCARD ald_status card_license_check(ald_value *metadata, const char *key, ald_error *err);

#endif
