/* SPDX-License-Identifier: MIT */
/* What a plain YAML scalar stands for: as YAML 1.1 and PyYAML have it, save that times and base-60 numbers stay text. */
#ifndef CARD_SCALAR_H
#define CARD_SCALAR_H

#include <stddef.h>

#include "ald/value.h"

/* Makes `out` what the text stands for. A number that does not fit 64 bits stays text. */
ALD_NODISCARD ald_status card_scalar_set(ald_value *out, const char *text, size_t size,
                                         ald_error *err);
int card_scalar_is_null(const char *text, size_t size);

/* Whether a text may be written without quotes: no reader of YAML 1.1 or 1.2 takes it for anything else. */
int card_scalar_is_plain(const char *text, size_t size);

#define CARD_SCALAR_BYTES 40
/* The shortest decimal that gives the double back, with the dot and the signed exponent that YAML 1.1 asks for. */
void card_scalar_double(double value, char out[CARD_SCALAR_BYTES]);

#endif
