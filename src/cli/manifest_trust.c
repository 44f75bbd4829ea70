/* SPDX-License-Identifier: MIT */
/* Signed is what a reader takes from the manifest, as bytes of an order of their own (F-493): how the JSON is written does not
 * count, and two readers that understand it in different ways cannot both find it right. */
#include "cli/manifest_trust.h"

#include <stdio.h>
#include <string.h>

typedef void (*take_bytes)(void *to, const void *data, size_t size);

static void put_number(uint64_t number, take_bytes take, void *to)
{
    uint8_t bytes[8];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)(number >> (8 * i));
    }
    take(to, bytes, sizeof(bytes));
}

static void put_text(const char *text, take_bytes take, void *to)
{
    put_number(strlen(text), take, to);
    take(to, text, strlen(text));
}

static ald_status feed(void *ctx, take_bytes take, void *to, ald_error *err)
{
    static const char label[] = "ald-v1-manifest"; /* with its NUL */
    const shard_manifest *m = ctx;
    (void)err;
    take(to, label, sizeof(label));
    put_text(m->format, take, to);
    put_number(m->count, take, to);
    for (size_t i = 0; i < m->count; i++) {
        const manifest_file *f = &m->files[i];
        put_text(f->name, take, to);
        put_number(f->row_count, take, to);
        put_number(f->size_bytes, take, to);
        take(to, f->blake3, sizeof(f->blake3));
    }
    return ALD_OK;
}

ald_status manifest_sign(cli_env *env, shard_manifest *manifest, const uint8_t *seed,
                         ald_error *err)
{
    const ald_crypto *crypto = env->host.crypto;
    ald_message message = {feed, manifest};
    manifest->is_signed = 1;
    ald_status status = crypto->ed25519_public(seed, manifest->signer, err);
    return status == ALD_OK ? crypto->ed25519_sign_stream(&env->host.alloc, seed, &message,
                                                          manifest->signature, err)
                            : status;
}

static ald_status check_signature(cli_env *env, const shard_manifest *manifest, ald_error *err)
{
    const ald_crypto *crypto = env->host.crypto;
    shard_manifest copy = *manifest;
    void *state = NULL;
    ald_status status = crypto->ed25519_verify_new(&env->host.alloc, manifest->signature,
                                                   manifest->signer, &state, err);
    if (status == ALD_OK) {
        (void)feed(&copy, crypto->ed25519_verify_update, state, NULL);
        status = crypto->ed25519_verify_finish(state, 0, err);
    }
    return status == ALD_E_SIGNATURE_INVALID
               ? ald_error_set(err, status, ALD_NO_OFFSET,
                               "the manifest is not what its signer signed")
               : status;
}

static ald_status check_unsigned(cli_env *env, const trust_options *options, ald_error *err)
{
    if (options->trusted_keys.count == 0 || options->allow_unsigned) {
        return ALD_OK;
    }
    cli_hint(env, "its files may be signed, but nobody says that they are all there, and in this "
                  "order\n--allow-unsigned reads them; `alimentar convert --key` writes a set that "
                  "is signed");
    return ald_error_set(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET, "the manifest is not signed");
}

static void say_who(cli_env *env, const shard_manifest *manifest, const known_signer *known,
                    char *why)
{
    char print[ALD_FINGERPRINT_BYTES] = "";
    if (ald_key_fingerprint(manifest->signer, &env->host, print, NULL) != ALD_OK) {
        print[0] = '\0';
    }
    if (known != NULL) {
        snprintf(why, MANIFEST_WHY_BYTES, "signed by '%.80s', %s", known->name, print);
    } else {
        snprintf(why, MANIFEST_WHY_BYTES, "nobody here trusts %s", print);
    }
}

ald_status manifest_check_signer(cli_env *env, const shard_manifest *manifest,
                                 const trust_options *options, const uint8_t *own, char *why,
                                 ald_error *err)
{
    static const trust_options none;
    cli_trust trust;
    options = options != NULL ? options : &none;
    if (!manifest->is_signed) {
        return check_unsigned(env, options, err);
    }
    ald_status status = cli_trust_open_signers(env, options, &trust, err);
    const known_signer *known =
        status == ALD_OK ? signers_find(&trust.signers, manifest->signer) : NULL;
    int is_own = own != NULL && memcmp(own, manifest->signer, sizeof(manifest->signer)) == 0;
    if (status == ALD_OK && known == NULL && !is_own && !options->allow_untrusted) {
        cli_trust_explain_signer(env, &trust, manifest->signer);
        status = ald_error_set(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET,
                               "the manifest is signed by a key that is not trusted");
    }
    if (status == ALD_OK) {
        status = check_signature(env, manifest, err);
    }
    if (status == ALD_OK && why != NULL) {
        say_who(env, manifest, known, why);
    } else if (status == ALD_OK && !is_own) {
        cli_trust_note_signer(env, &trust, manifest->signer, "the manifest's");
    }
    cli_trust_close(&trust);
    return status;
}
