/* SPDX-License-Identifier: MIT */
/* The recipients of an encrypted file, changed. */
#ifndef CLI_RECIPIENTS_H
#define CLI_RECIPIENTS_H

#include "cli/rewriting.h"

typedef struct recipient_change {
    const opt_list *
        stay; /* public keys of those who stay; a private key that opens the file stands for its own */
    const opt_list *add;    /* public keys */
    const opt_list *remove; /* public keys, or names as `info` shows them */
} recipient_change;

/* Sets r->options.encrypting and the recipients of r->protection. */
ALD_NODISCARD ald_status cli_recipients_change(rewriting *r, const recipient_change *change,
                                               ald_error *err);

#endif
