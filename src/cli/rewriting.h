/* SPDX-License-Identifier: MIT */
/* A .ald written anew with other protection, its rows as they are stored: what sign, encrypt, decrypt, license and query
 * publish share. */
#ifndef CLI_REWRITING_H
#define CLI_REWRITING_H

#include "ald/rewrite.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/protect_options.h"

/* Where it goes. */
typedef struct place_options {
    const char *in;
    const char *to; /* the operand OUT, or NULL */
    const char *
        out; /* -o; after opening either of both. NULL: the file is replaced by itself, in one step */
    uint8_t force;
} place_options;

extern const opt_group cli_group_place; /* -o and --force; `in` and `to` are operands */
#define CLI_PLACE_OPERANDS(type, member, text)                                                     \
    {"FILE", text, offsetof(type, member) + offsetof(place_options, in), 0},                       \
    {                                                                                              \
        "OUT", "the .ald to write; without it FILE is replaced, in one step",                      \
            offsetof(type, member) + offsetof(place_options, to), OPT_OPERAND_OPTIONAL             \
    }

/* trust_options where --password and its like are those of the output: of the input there are --private-key, the passphrase
 * of keys, --trusted-keys and --allow-untrusted; or all but the first. */
extern const opt_group cli_group_input_trust;
extern const opt_group cli_group_input_signers;

typedef struct rewriting {
    cli_env *env;
    place_options place;
    cli_input in;
    cli_output out;
    ald_inspection *inspection;
    const ald_info *info; /* of the input; its structure was checked, nothing else yet */
    cli_protection protection;
    int replaces_signer; /* somebody else signed the input, and whoever runs this the output */
    ald_rewrite_options
        options; /* .protection is filled from `protection` at the end; .edit is taken */
    /* NULL, or changes metadata that were checked. */
    ald_status (*edit)(void *ctx, ald_value *metadata, ald_error *err);
    void *edit_ctx;
} rewriting;

/* Opens the input and looks at it, refuses an output that must not be written, gathers what is trusted. `trust` may be NULL. `needs_key`: an
 * encrypted input will be decrypted, so whoever is at the terminal may be asked.
 * cli_rewriting_close in any case. */
ALD_NODISCARD ald_status cli_rewriting_open(cli_env *env, const place_options *place,
                                            const trust_options *trust, int needs_key,
                                            rewriting *out, ald_error *err);

/* What becomes of a signature: with --key it is made anew, with --drop-signature it is gone; otherwise a signed input is
 * refused. */
ALD_NODISCARD ald_status cli_rewriting_sign(rewriting *r, const sign_options *sign,
                                            const secret_options *key_passphrase, ald_error *err);

/* Says that a license was bound by a signature that is given up. */
void cli_rewriting_note_license(const rewriting *r);
/* Writes. A note says what was written where somebody looks on. */
ALD_NODISCARD ald_status cli_rewriting_run(rewriting *r, ald_error *err);
void cli_rewriting_close(rewriting *r);

#endif
