/* SPDX-License-Identifier: MIT */
/* JSON in its one canonical form (RFC 8785), for what is signed: no white space, keys sorted, strings escaped as little as may
 * be. Numbers must be integers below 2^53; others are refused. */
#ifndef CLI_CANONICAL_H
#define CLI_CANONICAL_H

#include <yyjson.h>

#include "ald/io.h"

/* Appends to `out`. */
ALD_NODISCARD ald_status canonical_json(yyjson_val *value, ald_buffer *out, ald_error *err);

/* What is signed of evidence: a label, its NUL, and the canonical form. */
ALD_NODISCARD ald_status canonical_evidence(yyjson_val *evidence, ald_buffer *out, ald_error *err);

#endif
