/* SPDX-License-Identifier: MIT */
/* One suite for every provider of ald_crypto: vectors of the standards, edge cases, and one form against the other. */
#include <stdlib.h>

#include "ald/crypto.h"
#include "ald/native.h"
#include "blake3_vectors.h"
#include "check.h"
#include "core/crypto/secret.h"
#include "crypto_vectors.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES_MAX 4096

static const ald_crypto *crypto; /* the provider under test */
static ald_host host;
static ald_error err;

typedef struct bytes {
    size_t size;
    uint8_t data[BYTES_MAX];
} bytes;

static bytes from_hex(const char *text)
{
    bytes out = {0};
    for (; text[0] != '\0' && out.size < BYTES_MAX; text += 2) {
        char pair[3] = {text[0], text[1], '\0'};
        out.data[out.size++] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return out;
}

static void check_hex(const void *got, const char *want)
{
    bytes b = from_hex(want);
    CHECK_MEM(got, b.data, b.size);
}

/* ---- hashes */

static void test_sha256(void)
{
    for (size_t i = 0; i < COUNT(sha256_vectors); i++) {
        bytes m = from_hex(sha256_vectors[i].message);
        uint8_t digest[32];
        void *state;
        REQUIRE_OK(crypto->sha256_new(&host.alloc, &state, &err), &err);
        crypto->sha256_update(state, m.data, m.size / 2);
        crypto->sha256_update(state, m.data + m.size / 2, m.size - m.size / 2);
        crypto->sha256_finish(state, digest);
        check_hex(digest, sha256_vectors[i].digest);
    }
    void *state;
    REQUIRE_OK(crypto->sha256_new(&host.alloc, &state, &err), &err);
    crypto->sha256_finish(state, NULL);
}

static void blake3(const uint8_t *key, const uint8_t *data, size_t size, size_t step,
                   uint8_t digest[32])
{
    void *state;
    REQUIRE_OK(crypto->blake3_new(&host.alloc, key, &state, &err), &err);
    for (size_t at = 0; at < size; at += step)
        crypto->blake3_update(state, data + at, size - at < step ? size - at : step);
    crypto->blake3_finish(state, digest);
}

static void test_blake3(void)
{
    static uint8_t input[102400];
    for (size_t i = 0; i < sizeof input; i++)
        input[i] = (uint8_t)(i % 251);
    for (size_t i = 0; i < COUNT(blake3_vectors); i++) {
        static const size_t steps[] = {1, 63, 1000, 5000, sizeof input};
        size_t size = blake3_vectors[i].size;
        REQUIRE(size <= sizeof input);
        for (size_t k = size > 8192 ? 2 : 0; k < COUNT(steps); k++) {
            uint8_t digest[32];
            blake3(NULL, input, size, steps[k], digest);
            check_hex(digest, blake3_vectors[i].hash);
            blake3((const uint8_t *)blake3_key, input, size, steps[k], digest);
            check_hex(digest, blake3_vectors[i].keyed);
        }
    }
    void *state;
    REQUIRE_OK(crypto->blake3_new(&host.alloc, NULL, &state, &err), &err);
    crypto->blake3_finish(state, NULL);
    crypto->blake3_finish(NULL, NULL);
}

/* ---- keys from keys and passwords */

static void test_hkdf(void)
{
    for (size_t i = 0; i < COUNT(hkdf_vectors); i++) {
        bytes ikm = from_hex(hkdf_vectors[i].ikm), info = from_hex(hkdf_vectors[i].info);
        bytes want = from_hex(hkdf_vectors[i].okm);
        uint8_t out[256];
        CHECK_OK(
            crypto->hkdf_sha256(ikm.data, ikm.size, info.data, info.size, out, want.size, &err),
            &err);
        CHECK_MEM(out, want.data, want.size);
    }
    uint8_t out[32];
    CHECK_INT(crypto->hkdf_sha256("", 0, "", 0, out, 32, &err), ALD_E_INVALID_ARG);
    CHECK_INT(crypto->hkdf_sha256("k", 1, "", 0, out, 0, &err), ALD_E_INVALID_ARG);
}

static void test_argon2id(void)
{
    uint8_t out[64];
    bytes salt = from_hex(argon2_vectors[0].salt);
    for (size_t i = 0; i < COUNT(argon2_vectors); i++) {
        bytes password = from_hex(argon2_vectors[i].password);
        bytes want = from_hex(argon2_vectors[i].key);
        salt = from_hex(argon2_vectors[i].salt);
        CHECK_OK(crypto->argon2id(password.data, password.size, salt.data, argon2_vectors[i].m_kib,
                                  argon2_vectors[i].t, 1, out, want.size, &err),
                 &err);
        CHECK_MEM(out, want.data, want.size);
    }
    CHECK_INT(crypto->argon2id("p", 1, salt.data, 64, 1, 2, out, 32, &err), ALD_E_UNSUPPORTED);
    CHECK_INT(crypto->argon2id("p", 1, salt.data, 7, 1, 1, out, 32, &err), ALD_E_INVALID_ARG);
    CHECK_INT(crypto->argon2id("p", 1, salt.data, 64, 0, 1, out, 32, &err), ALD_E_INVALID_ARG);
}

/* ---- X25519 */

static void test_x25519(void)
{
    uint8_t out[32];
    for (size_t i = 0; i < COUNT(x25519_rfc7748); i++) {
        bytes k = from_hex(x25519_rfc7748[i].private_key);
        bytes u = from_hex(x25519_rfc7748[i].public_key);
        CHECK_OK(crypto->x25519(k.data, u.data, out, &err), &err);
        check_hex(out, x25519_rfc7748[i].shared);
    }
    bytes bob = from_hex(x25519_bob);
    CHECK_OK(crypto->x25519_public(bob.data, out, &err), &err);
    check_hex(out, x25519_bob_public);
    uint8_t k[32] = {9}, u[32] = {9};
    for (int i = 0; i < 1000; i++) {
        REQUIRE_OK(crypto->x25519(k, u, out, &err), &err);
        memcpy(u, k, 32);
        memcpy(k, out, 32);
    }
    check_hex(k, x25519_1000);
}

static void test_x25519_small_order(void)
{
    bytes bob = from_hex(x25519_bob);
    for (size_t i = 0; i < COUNT(x25519_low); i++) {
        bytes low = from_hex(x25519_low[i]);
        uint8_t out[32], untouched[32];
        memset(out, 0xa5, sizeof out);
        memset(untouched, 0xa5, sizeof untouched);
        CHECK_INT(crypto->x25519(bob.data, low.data, out, &err), ALD_E_DECRYPTION_FAILED);
        CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
        CHECK_MEM(out, untouched, 32);
        low.data[31] |= 0x80; /* the last bit is ignored */
        CHECK_INT(crypto->x25519(bob.data, low.data, out, &err), ALD_E_DECRYPTION_FAILED);
    }
}

/* ---- AES-GCM */

static void test_gcm(void)
{
    for (size_t i = 0; i < COUNT(gcm_vectors); i++) {
        bytes key = from_hex(gcm_vectors[i].key), nonce = from_hex(gcm_vectors[i].nonce);
        bytes aad = from_hex(gcm_vectors[i].aad), text = from_hex(gcm_vectors[i].text);
        bytes sealed = from_hex(gcm_vectors[i].sealed);
        uint8_t out[BYTES_MAX];
        CHECK_OK(crypto->gcm_seal(key.data, nonce.data, aad.data, aad.size, text.data, text.size,
                                  out, &err),
                 &err);
        CHECK_MEM(out, sealed.data, sealed.size);
        CHECK_OK(crypto->gcm_open(key.data, nonce.data, aad.data, aad.size, sealed.data,
                                  sealed.size, out, &err),
                 &err);
        CHECK_MEM(out, text.data, text.size);
        /* in place */
        CHECK_OK(crypto->gcm_seal(key.data, nonce.data, aad.data, aad.size, text.data, text.size,
                                  text.data, &err),
                 &err);
        CHECK_MEM(text.data, sealed.data, sealed.size);
        CHECK_OK(crypto->gcm_open(key.data, nonce.data, aad.data, aad.size, text.data, sealed.size,
                                  text.data, &err),
                 &err);
        CHECK_MEM(text.data, out, text.size);
    }
}

/* Each bit of everything that goes in, and each length below. */
static void gcm_refuses(const bytes *key, const bytes *nonce, const bytes *aad, const bytes *sealed)
{
    static const uint8_t zeros[BYTES_MAX];
    uint8_t out[BYTES_MAX];
    memset(out, 0xa5, sizeof out);
    CHECK_INT(crypto->gcm_open(key->data, nonce->data, aad->data, aad->size, sealed->data,
                               sealed->size, out, &err),
              ALD_E_DECRYPTION_FAILED);
    CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
    if (sealed->size > 16)
        CHECK_MEM(out, zeros, sealed->size - 16);
}

static void test_gcm_tampering(void)
{
    for (size_t i = 0; i < COUNT(gcm_vectors); i++) {
        bytes parts[4] = {from_hex(gcm_vectors[i].key), from_hex(gcm_vectors[i].nonce),
                          from_hex(gcm_vectors[i].aad), from_hex(gcm_vectors[i].sealed)};
        for (size_t part = 0; part < 4; part++) {
            for (size_t bit = 0; bit < parts[part].size * 8; bit++) {
                parts[part].data[bit / 8] ^= (uint8_t)(1u << bit % 8);
                gcm_refuses(&parts[0], &parts[1], &parts[2], &parts[3]);
                parts[part].data[bit / 8] ^= (uint8_t)(1u << bit % 8);
            }
        }
        while (parts[3].size > 0) {
            parts[3].size--;
            gcm_refuses(&parts[0], &parts[1], &parts[2], &parts[3]);
        }
    }
}

/* ---- Ed25519 */

typedef struct pieces {
    const uint8_t *data;
    size_t size, step;
    int calls, changes; /* changes: the byte at its middle differs from the second call on */
} pieces;

static ald_status feed(void *ctx, void (*take)(void *to, const void *data, size_t size), void *to,
                       ald_error *e)
{
    pieces *p = ctx;
    (void)e;
    p->calls++;
    for (size_t at = 0; at < p->size; at += p->step) {
        size_t size = p->size - at < p->step ? p->size - at : p->step;
        uint8_t copy[256];
        memcpy(copy, p->data + at, size);
        if (p->changes && p->calls > 1 && at + size > p->size / 2 && at <= p->size / 2)
            copy[p->size / 2 - at] ^= 1;
        take(to, copy, size);
    }
    return ALD_OK;
}

static ald_status verify_pieces(const uint8_t *signature, const uint8_t *key, const uint8_t *data,
                                size_t size, size_t step)
{
    void *state;
    ald_status st = crypto->ed25519_verify_new(&host.alloc, signature, key, &state, &err);
    if (st != ALD_OK) {
        CHECK(state == NULL);
        return st;
    }
    for (size_t at = 0; at < size; at += step)
        crypto->ed25519_verify_update(state, data + at, size - at < step ? size - at : step);
    return crypto->ed25519_verify_finish(state, 0, &err);
}

static void test_ed25519(void)
{
    for (size_t i = 0; i < COUNT(ed25519_rfc8032); i++) {
        bytes seed = from_hex(ed25519_rfc8032[i].seed);
        bytes key = from_hex(ed25519_rfc8032[i].public_key);
        bytes message = from_hex(ed25519_rfc8032[i].message);
        pieces parts = {message.data, message.size, 1, 0, 0};
        ald_message stream = {feed, &parts};
        uint8_t out[64];
        CHECK_OK(crypto->ed25519_public(seed.data, out, &err), &err);
        CHECK_MEM(out, key.data, 32);
        CHECK_OK(crypto->ed25519_sign(seed.data, message.data, message.size, out, &err), &err);
        check_hex(out, ed25519_rfc8032[i].signature);
        CHECK_OK(crypto->ed25519_verify(out, key.data, message.data, message.size, &err), &err);
        CHECK_OK(verify_pieces(out, key.data, message.data, message.size, 1), &err);
        memset(out, 0, sizeof out);
        CHECK_OK(crypto->ed25519_sign_stream(&host.alloc, seed.data, &stream, out, &err), &err);
        check_hex(out, ed25519_rfc8032[i].signature);
        CHECK_INT(parts.calls, 2);
    }
}

static void test_ed25519_edges(void)
{
    int valid = 0;
    for (size_t i = 0; i < COUNT(ed25519_edges); i++) {
        bytes key = from_hex(ed25519_edges[i].public_key);
        bytes message = from_hex(ed25519_edges[i].message);
        bytes signature = from_hex(ed25519_edges[i].signature);
        ald_status want = ed25519_edges[i].valid ? ALD_OK : ALD_E_SIGNATURE_INVALID;
        valid += ed25519_edges[i].valid;
        if (!CHECK_INT(
                crypto->ed25519_verify(signature.data, key.data, message.data, message.size, &err),
                want) ||
            !CHECK_INT(verify_pieces(signature.data, key.data, message.data, message.size, 3),
                       want))
            printf("    %s\n", ed25519_edges[i].name);
    }
    CHECK(valid >= 5); /* both kinds are there */
}

/* The two forms against each other: random keys and lengths, and one bit of each thing changed. */
static void test_ed25519_forms_agree(void)
{
    static uint8_t message[3000];
    uint8_t seed[32], key[32], one[64], two[64];
    for (int round = 0; round < 60; round++) {
        size_t size = (size_t)(round * round * 7 % 2999);
        pieces parts = {message, size, 1 + (size_t)(round * 13 % 255), 0, 0};
        ald_message stream = {feed, &parts};
        REQUIRE_OK(host.random(host.ctx, seed, sizeof seed, &err), &err);
        REQUIRE_OK(host.random(host.ctx, message, sizeof message, &err), &err);
        REQUIRE_OK(crypto->ed25519_public(seed, key, &err), &err);
        REQUIRE_OK(crypto->ed25519_sign(seed, message, size, one, &err), &err);
        REQUIRE_OK(crypto->ed25519_sign_stream(&host.alloc, seed, &stream, two, &err), &err);
        CHECK_MEM(two, one, 64);
        CHECK_OK(verify_pieces(one, key, message, size, parts.step), &err);
        for (int flip = 0; flip < 12; flip++) {
            uint8_t *at = flip % 3 == 0   ? &one[(round * 12 + flip) % 64]
                          : flip % 3 == 1 ? &key[(round + flip) % 32]
                                          : &message[size / 2];
            uint8_t bit = (uint8_t)(1u << ((round + flip) % 8));
            if (size == 0 && flip % 3 == 2)
                continue;
            *at ^= bit;
            CHECK_INT(crypto->ed25519_verify(one, key, message, size, &err),
                      ALD_E_SIGNATURE_INVALID);
            CHECK_INT(verify_pieces(one, key, message, size, parts.step), ALD_E_SIGNATURE_INVALID);
            *at ^= bit;
        }
    }
}

static ald_status feed_fails(void *ctx, void (*take)(void *to, const void *data, size_t size),
                             void *to, ald_error *e)
{
    (void)ctx;
    take(to, "x", 1);
    return ald_error_set(e, ALD_E_TRUNCATED, 7, "no more");
}

static void test_ed25519_stream_failures(void)
{
    static const uint8_t text[300] = "some text";
    uint8_t seed[32] = {1}, signature[64], untouched[64], key[32];
    pieces parts = {text, sizeof text, 50, 0, 1};
    ald_message changing = {feed, &parts}, failing = {feed_fails, NULL};
    void *state;
    memset(signature, 0xa5, sizeof signature);
    memset(untouched, 0xa5, sizeof untouched);
    CHECK_INT(crypto->ed25519_sign_stream(&host.alloc, seed, &changing, signature, &err), ALD_E_IO);
    CHECK_CONTAINS(err.msg, "changed while they were signed");
    CHECK_INT(crypto->ed25519_sign_stream(&host.alloc, seed, &failing, signature, &err),
              ALD_E_TRUNCATED);
    CHECK_MEM(signature, untouched, sizeof untouched);
    REQUIRE_OK(crypto->ed25519_public(seed, key, &err), &err);
    REQUIRE_OK(crypto->ed25519_sign(seed, text, sizeof text, signature, &err), &err);
    REQUIRE_OK(crypto->ed25519_verify_new(&host.alloc, signature, key, &state, &err), &err);
    CHECK_INT(crypto->ed25519_verify_finish(state, 1, &err), ALD_OK);
    CHECK_INT(crypto->ed25519_verify_finish(NULL, 0, &err), ALD_OK);
}

/* ---- memory */

static void *no_alloc(void *ctx, size_t size)
{
    (void)ctx;
    (void)size;
    return NULL;
}

static void test_no_memory(void)
{
    ald_allocator none = {no_alloc, NULL, NULL, NULL};
    pieces parts = {(const uint8_t *)"abc", 3, 1, 0, 0};
    ald_message stream = {feed, &parts};
    uint8_t seed[32] = {1}, key[32], signature[64];
    ald_secret secret = {0};
    void *state = &secret; /* to see that it is cleared */
    CHECK_INT(crypto->blake3_new(&none, NULL, &state, &err), ALD_E_NOMEM);
    CHECK(state == NULL);
    REQUIRE_OK(crypto->ed25519_public(seed, key, &err), &err);
    REQUIRE_OK(crypto->ed25519_sign(seed, "abc", 3, signature, &err), &err);
    state = &secret;
    CHECK_INT(crypto->ed25519_verify_new(&none, signature, key, &state, &err), ALD_E_NOMEM);
    CHECK(state == NULL);
    CHECK_INT(crypto->ed25519_sign_stream(&none, seed, &stream, signature, &err), ALD_E_NOMEM);
    CHECK_INT(ald__secret_init(&secret, &none, 32, &err), ALD_E_NOMEM);
    CHECK(secret.bytes == NULL && secret.size == 0);
}

/* ---- what a host lends */

static void test_members(void)
{
    ald_crypto older = *crypto;
    const ald_crypto *none = NULL, *old = &older;
    CHECK(ALD_CRYPTO_HAS(crypto, sha256_new) && ALD_CRYPTO_HAS(crypto, ed25519_verify_finish));
    CHECK(!ALD_CRYPTO_HAS(none, sha256_new));
    older.struct_size = offsetof(ald_crypto, blake3_new);
    CHECK(ALD_CRYPTO_HAS(old, sha256_finish));
    CHECK(!ALD_CRYPTO_HAS(old, blake3_new));
    older = *crypto;
    older.hkdf_sha256 = NULL;
    CHECK(!ALD_CRYPTO_HAS(old, hkdf_sha256) && ALD_CRYPTO_HAS(old, argon2id));
}

/* ---- envelopes of private queries, by another implementation */

/* The value of the next "name" after *at, which moves on. */
static bytes next_value(const char **at, const char *name)
{
    char quoted[64], text[2 * BYTES_MAX];
    size_t size;
    snprintf(quoted, sizeof quoted, "\"%s\": \"", name);
    *at = *at != NULL ? strstr(*at, quoted) : NULL;
    if (!CHECK(*at != NULL))
        return (bytes){0};
    *at += strlen(quoted);
    size = strcspn(*at, "\"");
    if (!CHECK(size < sizeof text))
        return (bytes){0};
    memcpy(text, *at, size);
    text[size] = '\0';
    return from_hex(text);
}

/* HKDF(X25519(private, ephemeral), info ‖ ephemeral ‖ receiver), then GCM. */
static void open_envelope(const bytes *private_key, const bytes *public_key, const char *info,
                          const bytes *aad, const bytes *envelope, bytes *text)
{
    uint8_t shared[32], key[32], label[256];
    size_t info_size = strlen(info);
    text->size = 0;
    REQUIRE(envelope->size >= 32 + 12 + 16 && private_key->size == 32 && public_key->size == 32);
    memcpy(label, info, info_size);
    memcpy(label + info_size, envelope->data, 32);
    memcpy(label + info_size + 32, public_key->data, 32);
    REQUIRE_OK(crypto->x25519(private_key->data, envelope->data, shared, &err), &err);
    REQUIRE_OK(crypto->hkdf_sha256(shared, 32, label, info_size + 64, key, 32, &err), &err);
    REQUIRE_OK(crypto->gcm_open(key, envelope->data + 32, aad->data, aad->size, envelope->data + 44,
                                envelope->size - 44, text->data, &err),
               &err);
    text->size = envelope->size - 44 - 16;
}

static void test_query_envelopes(void)
{
    static char json[1 << 20];
    FILE *in = fopen(ALD_TEST_DATA "/golden/wire-1.3/query-envelopes.json", "rb");
    const char *at = json;
    int count = 0;
    REQUIRE(in != NULL);
    json[fread(json, 1, sizeof json - 1, in)] = '\0';
    fclose(in);
    while (strstr(at, "owner_private") != NULL) {
        bytes owner = next_value(&at, "owner_private"),
              owner_public = next_value(&at, "owner_public");
        bytes user = next_value(&at, "user_private"), user_public = next_value(&at, "user_public");
        bytes want = next_value(&at, "plaintext"), envelope = next_value(&at, "envelope");
        bytes none = {0}, text;
        open_envelope(&owner, &owner_public, "ald-v1-query", &none, &envelope, &text);
        CHECK_MEM(text.data, user_public.data, 32);
        CHECK_UINT(text.size, want.size + 32);
        CHECK_MEM(text.data + 32, want.data, want.size);
        bytes aad = next_value(&at, "aad");
        want = next_value(&at, "plaintext");
        envelope = next_value(&at, "envelope");
        open_envelope(&user, &user_public, "ald-v1-answer", &aad, &envelope, &text);
        CHECK_UINT(text.size, want.size);
        CHECK_MEM(text.data, want.data, want.size);
        count++;
        REQUIRE(at != NULL);
    }
    CHECK(count > 0);
}

/* ---- the core's own */

static void test_secret(void)
{
    uint8_t a[40], b[40];
    ald_secret secret = {0};
    memset(a, 7, sizeof a);
    memcpy(b, a, sizeof a);
    CHECK_INT(ald__equal_ct(a, b, sizeof a), 1);
    CHECK_INT(ald__equal_ct(a, b, 0), 1);
    for (size_t bit = 0; bit < sizeof a * 8; bit++) {
        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK_INT(ald__equal_ct(a, b, sizeof a), 0);
        b[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ald__wipe(a + 1, sizeof a - 2);
    CHECK_INT(a[0], 7);
    CHECK_INT(a[39], 7);
    for (size_t i = 1; i < 39; i++)
        CHECK_INT(a[i], 0);
    REQUIRE_OK(ald__secret_init(&secret, &host.alloc, 32, &err), &err);
    CHECK_UINT(secret.size, 32);
    memset(secret.bytes, 1, 32);
    ald__secret_clear(&secret);
    CHECK(secret.bytes == NULL && secret.size == 0);
    ald__secret_clear(&secret);
}

int main(void)
{
    const ald_crypto *providers[1];
    host = ald_native_host(1);
    providers[0] = host.crypto;
    for (size_t i = 0; i < COUNT(providers); i++) {
        crypto = providers[i];
        RUN(test_sha256);
        RUN(test_blake3);
        RUN(test_hkdf);
        RUN(test_argon2id);
        RUN(test_x25519);
        RUN(test_x25519_small_order);
        RUN(test_gcm);
        RUN(test_gcm_tampering);
        RUN(test_ed25519);
        RUN(test_ed25519_edges);
        RUN(test_ed25519_forms_agree);
        RUN(test_ed25519_stream_failures);
        RUN(test_no_memory);
        RUN(test_members);
        RUN(test_query_envelopes);
    }
    RUN(test_secret);
    return check_done();
}
