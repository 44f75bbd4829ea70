/* SPDX-License-Identifier: MIT */
#include "cli/seller.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/keys.h"
#include "cli/signers.h"
#include "native/keys/secret_pages.h"

static const opt_spec seller_specs[] = {
    {.name = "seller-key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(seller_options, key),
     .help = "your private key, to which marks belong; default: seller.key in ~/.alimentar"},
    {.name = "dataset-id",
     .arg = "ID",
     .kind = OPT_TEXT,
     .offset = offsetof(seller_options, dataset_id),
     .help = "a name of the dataset, any text: its marks then have a key of their own. Give the "
             "same one when you look for them"},
};
const opt_group cli_group_seller = OPT_GROUP("Seller", seller_specs);

static ald_status read_key(cli_env *env, const char *path, const secret_options *passphrase,
                           cli_seller *out, ald_error *err)
{
    cli_key_passphrase from = {env, passphrase};
    ald_passphrase source = cli_key_passphrase_source(&from);
    ald_keys *keys = NULL;
    const char *subject = env->subject;
    env->subject = path;
    ald_status status =
        ald_keys_open(path, ALD_KEYS_PRIVATE, ALD_KEY_SIGN, &source, &env->host, &keys, err);
    const ald_key *key = status == ALD_OK ? ald_keys_find(keys, ALD_KEY_SIGN) : NULL;
    if (key != NULL) {
        memcpy(out->keys->seed, key->private_key, sizeof(out->keys->seed));
        memcpy(out->keys->public_key, key->public_key, sizeof(out->keys->public_key));
        status = ald_watermark_key(key->private_key, &env->host, out->keys->key, err);
        env->subject = subject;
    } else if (status == ALD_E_IO) {
        cli_hint(env, "--seller-key names the key; `alimentar keygen` makes one");
    }
    ald_keys_free(keys);
    return status;
}

ald_status cli_seller_open(cli_env *env, const seller_options *options,
                           const secret_options *passphrase, cli_seller *out, ald_error *err)
{
    static char usual[4096]; /* the error's subject, when all else is gone */
    char *path = NULL;
    ald_status status = ALD_OK;
    out->keys = ald__secret_pages_new(sizeof(*out->keys));
    if (out->keys == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for secrets");
    }
    if (options->key == NULL) {
        status = cli_home_path("seller.key", &path, err);
        snprintf(usual, sizeof(usual), "%s", path != NULL ? path : "");
        free(path);
    }
    if (status == ALD_OK) {
        status = read_key(env, options->key != NULL ? options->key : usual, passphrase, out, err);
    }
    if (status == ALD_OK) {
        memcpy(out->keys->mark, out->keys->key, sizeof(out->keys->mark));
    }
    if (status == ALD_OK && options->dataset_id != NULL) {
        status = ald_watermark_dataset_key(out->keys->key, options->dataset_id,
                                           strlen(options->dataset_id), &env->host, out->keys->mark,
                                           err);
    }
    return status;
}

void cli_seller_close(cli_seller *seller)
{
    ald__secret_pages_free(seller->keys, sizeof(*seller->keys));
    seller->keys = NULL;
}

void cli_hash_text(const uint8_t hash[32], char out[65])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < 32; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[64] = '\0';
}
