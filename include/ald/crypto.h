/* SPDX-License-Identifier: MIT */
/* The cryptography that a host lends to the core. Providers: src/native/crypto.
 *
 * A host may lend less: members that are NULL, or that lie behind `struct_size`, are not there, and what needs them fails
 * with ALD_E_UNSUPPORTED. Every member may be called from several threads on different state. Outputs are written on
 * success only, unless it says otherwise. */
#ifndef ALD_CRYPTO_H
#define ALD_CRYPTO_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/export.h"

ALD_BEGIN_DECLS

#define ALD_SHA256_BYTES 32
#define ALD_BLAKE3_BYTES 32
#define ALD_GCM_KEY_BYTES 32
#define ALD_GCM_NONCE_BYTES 12
#define ALD_GCM_TAG_BYTES 16
#define ALD_X25519_BYTES 32 /* private key, public key, shared secret */
#define ALD_ED25519_SEED_BYTES 32
#define ALD_ED25519_PUBLIC_BYTES 32
#define ALD_ED25519_SIGNATURE_BYTES 64
#define ALD_ARGON2_SALT_BYTES 16

/* The message of every ALD_E_DECRYPTION_FAILED: what failed is not told, so that nobody can ask in small steps. */
#define ALD_DECRYPTION_FAILED_TEXT "wrong or missing key, or the encrypted data were changed"

typedef struct ald_crypto ald_crypto;

/* A message that is not in memory as one piece. */
typedef struct ald_message {
    /* Passes all of it, in order, in pieces of any size, to take(to, data, size). It is called more than once, and has to
     * give the same bytes each time. A failure is passed up. */
    ald_status (*feed)(void *ctx, void (*take)(void *to, const void *data, size_t size), void *to,
                       ald_error *err);
    void *ctx;
} ald_message;

/* One call of gcm_open. */
typedef struct ald_gcm_call {
    const uint8_t *key;
    uint8_t nonce[ALD_GCM_NONCE_BYTES];
    uint32_t aad_size;
    uint8_t aad[48];
    const uint8_t *sealed;
    size_t sealed_size;
    uint8_t *text;
} ald_gcm_call;

struct ald_crypto {
    uint32_t struct_size;
    /* Incremental SHA-256. `state` is the provider's; new returns NULL in *state on failure. */
    ald_status (*sha256_new)(const ald_allocator *alloc, void **state, ald_error *err);
    void (*sha256_update)(void *state, const void *data, size_t size);
    /* Writes the digest and frees the state; digest NULL only frees. */
    void (*sha256_finish)(void *state, uint8_t digest[ALD_SHA256_BYTES]);

    /* Incremental BLAKE3, as SHA-256. `key` is NULL, or the 32 bytes of the keyed mode. `alloc` outlives the state. */
    ald_status (*blake3_new)(const ald_allocator *alloc, const uint8_t *key, void **state,
                             ald_error *err);
    void (*blake3_update)(void *state, const void *data, size_t size);
    void (*blake3_finish)(void *state, uint8_t digest[ALD_BLAKE3_BYTES]);

    /* HKDF-SHA256 without salt. `info` up to 1,024 bytes, `out` up to 8,160. */
    ald_status (*hkdf_sha256)(const void *ikm, size_t ikm_size, const void *info, size_t info_size,
                              uint8_t *out, size_t out_size, ald_error *err);
    /* Argon2id, version 13 (hexadecimal): m KiB of memory, t passes, p lanes. The caller has checked them against its
     * limits: the memory is taken as asked. A p other than 1 may be ALD_E_UNSUPPORTED. `out` has 16 bytes or more. */
    ald_status (*argon2id)(const void *password, size_t password_size,
                           const uint8_t salt[ALD_ARGON2_SALT_BYTES], uint32_t m_kib, uint32_t t,
                           uint32_t p, uint8_t *out, size_t out_size, ald_error *err);

    ald_status (*x25519_public)(const uint8_t private_key[ALD_X25519_BYTES],
                                uint8_t public_key[ALD_X25519_BYTES], ald_error *err);
    /* A shared secret that is all zeros is ALD_E_DECRYPTION_FAILED. */
    ald_status (*x25519)(const uint8_t private_key[ALD_X25519_BYTES],
                         const uint8_t public_key[ALD_X25519_BYTES],
                         uint8_t shared[ALD_X25519_BYTES], ald_error *err);

    /* AES-256-GCM. `sealed` is the ciphertext, as long as the text, and the tag. `sealed` may be `text`, else they do not
     * overlap. No two texts may ever be sealed with one key and nonce. */
    ald_status (*gcm_seal)(const uint8_t key[ALD_GCM_KEY_BYTES],
                           const uint8_t nonce[ALD_GCM_NONCE_BYTES], const void *aad,
                           size_t aad_size, const void *text, size_t text_size, uint8_t *sealed,
                           ald_error *err);
    /* `text` has sealed_size - ALD_GCM_TAG_BYTES bytes; it may be `sealed`. ALD_E_DECRYPTION_FAILED when it does not open,
     * also when `sealed` is shorter than a tag: whatever had been written to `text` is zeros then. */
    ald_status (*gcm_open)(const uint8_t key[ALD_GCM_KEY_BYTES],
                           const uint8_t nonce[ALD_GCM_NONCE_BYTES], const void *aad,
                           size_t aad_size, const void *sealed, size_t sealed_size, uint8_t *text,
                           ald_error *err);

    /* Ed25519 (RFC 8032, no prehash). `message` may not change during the call: two signatures that differ in half of the
     * message tell the key. What another process can write to is signed with ed25519_sign_stream. */
    ald_status (*ed25519_public)(const uint8_t seed[ALD_ED25519_SEED_BYTES],
                                 uint8_t public_key[ALD_ED25519_PUBLIC_BYTES], ald_error *err);
    ald_status (*ed25519_sign)(const uint8_t seed[ALD_ED25519_SEED_BYTES], const void *message,
                               size_t size, uint8_t signature[ALD_ED25519_SIGNATURE_BYTES],
                               ald_error *err);
    /* Reads the message twice; one that differs the second time is ALD_E_IO. */
    ald_status (*ed25519_sign_stream)(const ald_allocator *alloc,
                                      const uint8_t seed[ALD_ED25519_SEED_BYTES],
                                      const ald_message *message,
                                      uint8_t signature[ALD_ED25519_SIGNATURE_BYTES],
                                      ald_error *err);
    /* Without cofactor: R is compared with the encoding of SB - kA. S not below the order, and an R or a key of small
     * order, are refused. What does not verify is ALD_E_SIGNATURE_INVALID. */
    ald_status (*ed25519_verify)(const uint8_t signature[ALD_ED25519_SIGNATURE_BYTES],
                                 const uint8_t public_key[ALD_ED25519_PUBLIC_BYTES],
                                 const void *message, size_t size, ald_error *err);
    /* The same in pieces. new looks at signature and key already, and may fail with ALD_E_SIGNATURE_INVALID. finish frees
     * the state and tells; with `cancel` it only frees, and returns ALD_OK. `alloc` outlives the state. */
    ald_status (*ed25519_verify_new)(const ald_allocator *alloc,
                                     const uint8_t signature[ALD_ED25519_SIGNATURE_BYTES],
                                     const uint8_t public_key[ALD_ED25519_PUBLIC_BYTES],
                                     void **state, ald_error *err);
    void (*ed25519_verify_update)(void *state, const void *data, size_t size);
    ald_status (*ed25519_verify_finish)(void *state, int cancel, ald_error *err);

    /* All of these, or ALD_E_DECRYPTION_FAILED. For providers that would rather have them together; without it the core
     * opens them one after the other. */
    ald_status (*gcm_open_all)(const ald_gcm_call *calls, size_t count, ald_error *err);
};

/* Whether a host lends a member: it may be built against an older struct, or lend less. */
#define ALD_CRYPTO_HAS(crypto, member)                                                             \
    ((crypto) != NULL &&                                                                           \
     (crypto)->struct_size >= offsetof(ald_crypto, member) + sizeof((crypto)->member) &&           \
     (crypto)->member != NULL)

ALD_END_DECLS
#endif
