/* SPDX-License-Identifier: MIT */
/* What a license gives whom: the options of `license` and `package`. */
#ifndef CLI_LICENSE_OPTIONS_H
#define CLI_LICENSE_OPTIONS_H

#include "ald/license.h"
#include "cli/cli.h"

typedef struct license_options {
    const char *licensee, *expires, *issued, *terms;
    uint64_t seats, queries; /* with --seats and --queries given, 0 counts too */
    uint8_t revocable, transferable;
} license_options;

extern const opt_group cli_group_license;

/* Whether one of them but --licensee was given. */
int cli_license_is_described(const cli_env *env);

/* A new license, with a new id. `terms` (zeros, with `alloc`) holds its text, and is the caller's to clear. */
ALD_NODISCARD ald_status cli_license_make(cli_env *env, const license_options *options,
                                          ald_license *out, ald_buffer *terms, ald_error *err);

/* 2027-12-31 or 2027-12-31T12:00:00Z (or with an offset) as unix seconds; a date alone is its first second, or its last with
 * `to_end`. `option` is for the message. */
ALD_NODISCARD ald_status cli_parse_date(const char *option, const char *text, int to_end,
                                        uint64_t *out, ald_error *err);

/* 32 hexadecimal digits, with or without dashes among them; `text` may be in upper case. */
ALD_NODISCARD ald_status cli_parse_license_id(const char *text, uint8_t out[ALD_LICENSE_ID_BYTES],
                                              ald_error *err);

#define LICENSE_ID_TEXT_BYTES 37
/* As a UUID is written. */
void cli_license_id_text(const uint8_t id[ALD_LICENSE_ID_BYTES], char out[LICENSE_ID_TEXT_BYTES]);

#endif
