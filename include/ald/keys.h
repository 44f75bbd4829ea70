/* SPDX-License-Identifier: MIT */
/* Key files: private keys as PKCS#8 in PEM, encrypted with a passphrase or plain, public keys as SubjectPublicKeyInfo in PEM
 * (RFC 8410, RFC 7468). Others' tools read and write the same: `openssl pkey`, WebCrypto.
 *
 * A file may hold several blocks; a private one usually has two, Ed25519 first. Which is which is told by the object
 * identifier in the block. */
#ifndef ALD_KEYS_H
#define ALD_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_KEY_BYTES 32
#define ALD_KEY_SIGN 0x1u    /* Ed25519 */
#define ALD_KEY_RECEIVE 0x2u /* X25519 */
#define ALD_KEY_ALL 0x3u

/* A passphrase of a key file is shorter than this. */
#define ALD_PASSPHRASE_BYTES 1024

typedef struct ald_key {
    uint8_t kind; /* ALD_KEY_SIGN or ALD_KEY_RECEIVE */
    uint8_t is_private;
    uint8_t public_key[ALD_KEY_BYTES];
    uint8_t private_key[ALD_KEY_BYTES]; /* the seed of an Ed25519 key; zeros in a public one */
} ald_key;

/* The keys of a file, in its order. Private ones lie in memory that is not swapped or dumped, where the system allows that,
 * and are wiped when freed. */
typedef struct ald_keys ald_keys;

/* Asks for the passphrase of `file`: writes up to `capacity` bytes to `out`. Called when a block is encrypted, and once. */
typedef struct ald_passphrase {
    ald_status (*get)(void *ctx, const char *file, char *out, size_t capacity, size_t *size,
                      ald_error *err);
    void *ctx;
} ald_passphrase;

/* What a caller expects of a file. */
#define ALD_KEYS_ANY 0u
#define ALD_KEYS_PRIVATE 1u /* a file of public keys is an error that says so */
#define ALD_KEYS_PUBLIC 2u

/* New keys of `kinds`, from the host's randomness. */
ALD_API ALD_NODISCARD ald_status ald_keys_generate(uint32_t kinds, const ald_host *host,
                                                   ald_keys **out, ald_error *err);

/* Reads a key file. `kinds`: encrypted blocks are decrypted until each of these was found, which takes a good part of a
 * second each; a kind that the file has not is an error. 0: all that are there. `passphrase` may be NULL. Errors: broken or foreign
 * files are ALD_E_INVALID_FORMAT, a wrong passphrase ALD_E_DECRYPTION_FAILED, none ALD_E_INVALID_ARG. */
ALD_API ALD_NODISCARD ald_status ald_keys_open(const char *path, uint32_t expected, uint32_t kinds,
                                               const ald_passphrase *passphrase,
                                               const ald_host *host, ald_keys **out,
                                               ald_error *err);
/* The same from memory; `name` is for messages. */
ALD_API ALD_NODISCARD ald_status ald_keys_parse(const void *pem, size_t size, const char *name,
                                                uint32_t expected, uint32_t kinds,
                                                const ald_passphrase *passphrase,
                                                const ald_host *host, ald_keys **out,
                                                ald_error *err);

ALD_API size_t ald_keys_count(const ald_keys *keys);
/* Borrowed; NULL when there is none. */
ALD_API const ald_key *ald_keys_get(const ald_keys *keys, size_t index);
/* The first of a kind, or NULL. */
ALD_API const ald_key *ald_keys_find(const ald_keys *keys, uint32_t kind);
ALD_API void ald_keys_free(ald_keys *keys);

/* Writes a new file, whole or not at all; one that exists is ALD_E_IO (detail EEXIST). The private file can be read by its
 * owner alone (mode 0600), and is encrypted unless `passphrase` is NULL: AES-256-CBC with a key by scrypt (N 2^14, r 8,
 * p 5). */
ALD_API ALD_NODISCARD ald_status ald_keys_save_private(const ald_keys *keys, const char *path,
                                                       const char *passphrase,
                                                       size_t passphrase_size, const ald_host *host,
                                                       ald_error *err);
ALD_API ALD_NODISCARD ald_status ald_keys_save_public(const ald_keys *keys, const char *path,
                                                      ald_error *err);

/* SHA-256 of the 32 bytes of the public key, in hexadecimal, in groups of 8 digits with colons between. In the file of a
 * recipient the first two groups name the key. */
#define ALD_FINGERPRINT_BYTES 72
ALD_API ALD_NODISCARD ald_status ald_key_fingerprint(const uint8_t public_key[ALD_KEY_BYTES],
                                                     const ald_host *host,
                                                     char out[ALD_FINGERPRINT_BYTES],
                                                     ald_error *err);

/* "ed25519", "x25519". Static storage. */
ALD_API const char *ald_key_algorithm(const ald_key *key);

ALD_END_DECLS
#endif
