/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include <string.h>

#include "ald/native.h"
#include "native/crypto/pkcs8.h"
#include "native/keys/key_der.h"
#include "native/keys/key_set.h"
#include "native/keys/pem.h"
#include "native/keys/secret_pages.h"

#define KEY_TEXT_BYTES 640 /* a block, encrypted */
#define TEXT_BYTES (KEY_TEXT_BYTES * (size_t)KEYS_MAX)

typedef struct writing {
    char text[TEXT_BYTES];
    size_t used;
    uint8_t plain[KEY_DER_PRIVATE_BYTES];
    uint8_t sealed[PEM_DATA_BYTES];
} writing;

static ald_status append_block(writing *w, const char *label, const uint8_t *data, size_t size,
                               ald_error *err)
{
    if (ald__pem_append(label, data, size, w->text, sizeof w->text, &w->used))
        return ALD_OK;
    return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "too many keys for one file");
}

static ald_status append_private(writing *w, const ald_key *key, const char *passphrase,
                                 size_t passphrase_size, const ald_host *host, ald_error *err)
{
    uint8_t random[32]; /* salt, then initial value */
    size_t size = 0;
    ald_status st;
    if (!key->is_private)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a public key is not written to a private file");
    ald__key_der_private(key, w->plain);
    if (passphrase == NULL)
        return append_block(w, "PRIVATE KEY", w->plain, sizeof w->plain, err);
    st = host->random(host->ctx, random, sizeof random, err);
    if (st == ALD_OK)
        st = ald__pkcs8_encrypt(w->plain, sizeof w->plain, passphrase, passphrase_size, random,
                                random + 16, w->sealed, sizeof w->sealed, &size, err);
    if (st == ALD_OK)
        st = append_block(w, "ENCRYPTED PRIVATE KEY", w->sealed, size, err);
    return st;
}

static ald_status save(const writing *w, const char *path, uint32_t flags, ald_error *err)
{
    ald_file_sink *file = NULL;
    const ald_sink *sink;
    ald_status st = ald_file_create(path, flags, &file, err);
    if (st != ALD_OK)
        return st;
    sink = ald_file_sink_get(file);
    st = sink->write(sink->ctx, w->text, w->used, err);
    if (st != ALD_OK) {
        ald_file_abort(file);
        return st;
    }
    return ald_file_commit(file, err);
}

ald_status ald_keys_save_private(const ald_keys *keys, const char *path, const char *passphrase,
                                 size_t passphrase_size, const ald_host *host, ald_error *err)
{
    writing *w;
    ald_status st = ALD_OK;
    if (passphrase != NULL && (passphrase_size == 0 || passphrase_size > ALD_PASSPHRASE_BYTES))
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "a passphrase has 1 to %d bytes", ALD_PASSPHRASE_BYTES);
    w = ald__secret_pages_new(sizeof *w);
    if (w == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to write keys");
    for (size_t i = 0; i < keys->count && st == ALD_OK; i++)
        st = append_private(w, &keys->items[i], passphrase, passphrase_size, host, err);
    if (st == ALD_OK)
        st = save(w, path, ALD_FILE_PRIVATE, err);
    ald__secret_pages_free(w, sizeof *w);
    return st;
}

ald_status ald_keys_save_public(const ald_keys *keys, const char *path, ald_error *err)
{
    writing *w = ald__secret_pages_new(sizeof *w);
    ald_status st = ALD_OK;
    if (w == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to write keys");
    for (size_t i = 0; i < keys->count && st == ALD_OK; i++) {
        uint8_t der[KEY_DER_PUBLIC_BYTES];
        ald__key_der_public(&keys->items[i], der);
        st = append_block(w, "PUBLIC KEY", der, sizeof der, err);
    }
    if (st == ALD_OK)
        st = save(w, path, 0, err);
    ald__secret_pages_free(w, sizeof *w);
    return st;
}
