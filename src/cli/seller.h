/* SPDX-License-Identifier: MIT */
/* The seller's key and what it derives: options of every command that writes or reads marks. */
#ifndef CLI_SELLER_H
#define CLI_SELLER_H

#include "ald/watermark.h"
#include "cli/passphrase.h"

typedef struct seller_options {
    const char *key;        /* --seller-key; NULL: seller.key of ~/.alimentar */
    const char *dataset_id; /* --dataset-id; NULL: none */
} seller_options;

extern const opt_group cli_group_seller;

/* Keys in memory that is wiped. Zeroed, it may be closed. */
typedef struct cli_seller {
    struct seller_keys {
        uint8_t seed[32];                      /* Ed25519: signs evidence */
        uint8_t public_key[32];                /* of it */
        uint8_t key[ALD_WATERMARK_KEY_BYTES];  /* the seller's, which names buyers */
        uint8_t mark[ALD_WATERMARK_KEY_BYTES]; /* the dataset's, or the same */
    } *keys;
} cli_seller;

/* Reads the key file; cli_seller_close in any case. */
ALD_NODISCARD ald_status cli_seller_open(cli_env *env, const seller_options *options,
                                         const secret_options *passphrase, cli_seller *out,
                                         ald_error *err);
void cli_seller_close(cli_seller *seller);

/* 64 hexadecimal digits and a NUL. */
void cli_hash_text(const uint8_t hash[32], char out[65]);

#endif
