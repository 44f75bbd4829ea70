/* SPDX-License-Identifier: MIT */
/* Key files: what is written is read, what others write is read, and what is wrong is told. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/crypto.h"
#include "ald/keys.h"
#include "ald/native.h"
#include "check.h"

static ald_host host;
static ald_error err;
static char folder[] = "keys-XXXXXX";

/* RFC 8410, 10.1 and 10.3, and a key of openssl genpkey. */
#define RFC_PUBLIC                                                                                 \
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"   \
    "-----END PUBLIC KEY-----\n"
#define RFC_PRIVATE                                                                                \
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/"                   \
    "nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n"
#define RFC_PRIVATE_V2                                                                             \
    "-----BEGIN PRIVATE KEY-----\n"                                                                \
    "MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"                           \
    "oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB\n"                           \
    "Z9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PRIVATE KEY-----\n"
#define X25519_PUBLIC                                                                              \
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VuAyEARTfXU4g4eH7GDL761mIUQlqbaai3RBY/R6Kh2G0jL2Q=\n"   \
    "-----END PUBLIC KEY-----\n"

typedef struct asked {
    const char *answer;
    int count;
} asked;

static ald_status answer(void *ctx, const char *file, char *out, size_t capacity, size_t *size,
                         ald_error *e)
{
    asked *a = ctx;
    (void)file;
    a->count++;
    *size = strlen(a->answer);
    if (*size > capacity)
        return ald_error_set(e, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "too long");
    memcpy(out, a->answer, *size);
    return ALD_OK;
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static ald_status parse(const char *text, uint32_t expected, uint32_t kinds, ald_keys **out)
{
    return ald_keys_parse(text, strlen(text), "test", expected, kinds, NULL, &host, out, &err);
}

static void test_generate(void)
{
    ald_keys *keys, *others;
    CHECK_INT(ald_keys_generate(0, &host, &keys, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_keys_generate(4, &host, &keys, &err), ALD_E_INVALID_ARG);
    CHECK(keys == NULL);
    REQUIRE_OK(ald_keys_generate(ALD_KEY_ALL, &host, &keys, &err), &err);
    REQUIRE_OK(ald_keys_generate(ALD_KEY_RECEIVE, &host, &others, &err), &err);
    CHECK_UINT(ald_keys_count(keys), 2);
    CHECK_UINT(ald_keys_count(others), 1);
    const ald_key *sign = ald_keys_get(keys, 0), *receive = ald_keys_get(keys, 1);
    CHECK_UINT(sign->kind, ALD_KEY_SIGN);
    CHECK_UINT(receive->kind, ALD_KEY_RECEIVE);
    CHECK(ald_keys_get(keys, 2) == NULL);
    CHECK(ald_keys_find(keys, ALD_KEY_RECEIVE) == receive);
    CHECK(ald_keys_find(others, ALD_KEY_SIGN) == NULL);
    CHECK(memcmp(receive->private_key, ald_keys_get(others, 0)->private_key, 32) != 0);
    CHECK(memcmp(receive->private_key, sign->private_key, 32) != 0);
    uint8_t public_key[32];
    REQUIRE_OK(host.crypto->ed25519_public(sign->private_key, public_key, &err), &err);
    CHECK_MEM(sign->public_key, public_key, 32);
    REQUIRE_OK(host.crypto->x25519_public(receive->private_key, public_key, &err), &err);
    CHECK_MEM(receive->public_key, public_key, 32);
    ald_keys_free(keys);
    ald_keys_free(others);
    ald_keys_free(NULL);
}

static void same_keys(const ald_keys *a, const ald_keys *b, int with_private)
{
    REQUIRE(ald_keys_count(a) == ald_keys_count(b));
    for (size_t i = 0; i < ald_keys_count(a); i++) {
        const ald_key *x = ald_keys_get(a, i), *y = ald_keys_get(b, i);
        static const uint8_t zeros[32];
        CHECK_UINT(x->kind, y->kind);
        CHECK_MEM(x->public_key, y->public_key, 32);
        CHECK_MEM(x->private_key, with_private ? y->private_key : zeros, 32);
        CHECK_INT(x->is_private, with_private);
    }
}

static void round_trip(const char *name, const char *passphrase)
{
    ald_keys *keys = NULL, *back = NULL;
    struct stat info;
    char path[128];
    asked a = {passphrase, 0};
    ald_passphrase source = {answer, &a};
    snprintf(path, sizeof path, "%s", in_folder(name));
    REQUIRE_OK(ald_keys_generate(ALD_KEY_ALL, &host, &keys, &err), &err);
    REQUIRE_OK(ald_keys_save_private(keys, path, passphrase,
                                     passphrase != NULL ? strlen(passphrase) : 0, &host, &err),
               &err);
    REQUIRE(stat(path, &info) == 0);
    CHECK_UINT(info.st_mode & 07777, 0600);
    REQUIRE_OK(ald_keys_open(path, ALD_KEYS_PRIVATE, 0, &source, &host, &back, &err), &err);
    same_keys(back, keys, 1);
    CHECK_INT(a.count, passphrase != NULL); /* once for both */
    ald_keys_free(back);
    CHECK_INT(ald_keys_open(path, ALD_KEYS_PUBLIC, 0, &source, &host, &back, &err),
              ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "this is the private key");
    CHECK(back == NULL);
    CHECK_INT(ald_keys_save_private(keys, path, NULL, 0, &host, &err), ALD_E_IO);
    CHECK_INT(err.detail, EEXIST);
    strcat(path, ".pub");
    REQUIRE_OK(ald_keys_save_public(keys, path, &err), &err);
    REQUIRE_OK(ald_keys_open(path, ALD_KEYS_PUBLIC, ALD_KEY_ALL, NULL, &host, &back, &err), &err);
    same_keys(back, keys, 0);
    CHECK_INT(ald_keys_save_private(back, in_folder("none"), NULL, 0, &host, &err),
              ALD_E_INVALID_ARG);
    ald_keys_free(back);
    CHECK_INT(ald_keys_open(path, ALD_KEYS_PRIVATE, 0, NULL, &host, &back, &err),
              ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "this is the public key");
    ald_keys_free(keys);
}

static void test_round_trip_plain(void)
{
    round_trip("plain", NULL);
}

static void test_round_trip_encrypted(void)
{
    round_trip("encrypted", "pass \xc3\xa4 phrase");
}

static void test_passphrases(void)
{
    ald_keys *keys = NULL, *back = NULL;
    asked right = {"right", 0}, wrong = {"wrong", 0};
    ald_passphrase with_right = {answer, &right}, with_wrong = {answer, &wrong};
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("pass"));
    REQUIRE_OK(ald_keys_generate(ALD_KEY_ALL, &host, &keys, &err), &err);
    CHECK_INT(ald_keys_save_private(keys, path, "", 0, &host, &err), ALD_E_INVALID_ARG);
    REQUIRE_OK(ald_keys_save_private(keys, path, "right", 5, &host, &err), &err);
    CHECK_INT(ald_keys_open(path, 0, 0, &with_wrong, &host, &back, &err), ALD_E_DECRYPTION_FAILED);
    CHECK(back == NULL);
    CHECK_INT(ald_keys_open(path, 0, 0, NULL, &host, &back, &err), ALD_E_INVALID_ARG);
    CHECK_CONTAINS(err.msg, "encrypted");
    /* only as far as needed */
    REQUIRE_OK(ald_keys_open(path, 0, ALD_KEY_SIGN, &with_right, &host, &back, &err), &err);
    CHECK_UINT(ald_keys_count(back), 1);
    CHECK_MEM(ald_keys_get(back, 0)->private_key, ald_keys_get(keys, 0)->private_key, 32);
    ald_keys_free(back);
    REQUIRE_OK(ald_keys_open(path, 0, ALD_KEY_RECEIVE, &with_right, &host, &back, &err), &err);
    CHECK_MEM(ald_keys_find(back, ALD_KEY_RECEIVE)->private_key, ald_keys_get(keys, 1)->private_key,
              32);
    ald_keys_free(back);
    ald_keys_free(keys);
}

static void test_others(void)
{
    static const char public_hex[] =
        "\x19\xbf\x44\x09\x69\x84\xcd\xfe\x85\x41\xba\xc1\x67\xdc\x3b\x96"
        "\xc8\x50\x86\xaa\x30\xb6\xb6\xcb\x0c\x5c\x38\xad\x70\x31\x66\xe1";
    const char *texts[] = {RFC_PUBLIC, RFC_PRIVATE, RFC_PRIVATE_V2};
    char print[ALD_FINGERPRINT_BYTES];
    for (size_t i = 0; i < 3; i++) {
        ald_keys *keys;
        REQUIRE_OK(parse(texts[i], 0, ALD_KEY_SIGN, &keys), &err);
        CHECK_UINT(ald_keys_count(keys), 1);
        CHECK_MEM(ald_keys_get(keys, 0)->public_key, public_hex, 32);
        CHECK_STR(ald_key_algorithm(ald_keys_get(keys, 0)), "ed25519");
        CHECK_OK(ald_key_fingerprint(ald_keys_get(keys, 0)->public_key, &host, print, &err), &err);
        CHECK_STR(print, "e744c079:1320c328:5460eddb:523f14c8:8d857ada:46b97a56:90d88cf9:78b9191f");
        ald_keys_free(keys);
    }
    ald_keys *several; /* a folder of trusted keys in one file; Windows' line ends */
    REQUIRE_OK(
        parse(RFC_PUBLIC "\r\n \t\r\n" X25519_PUBLIC RFC_PUBLIC, ALD_KEYS_PUBLIC, 0, &several),
        &err);
    CHECK_UINT(ald_keys_count(several), 3);
    CHECK_STR(ald_key_algorithm(ald_keys_get(several, 1)), "x25519");
    ald_keys_free(several);
}

static void refused(const char *text, uint32_t kinds, const char *why)
{
    ald_keys *keys = (ald_keys *)&err; /* to see that it is cleared */
    CHECK_INT(parse(text, 0, kinds, &keys), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, why);
    CHECK(keys == NULL);
}

static void test_refused(void)
{
    refused("", 0, "holds no key");
    refused("\n\n", 0, "holds no key");
    refused("hello", 0, "holds no key, but something else");
    refused(RFC_PUBLIC "x", 0, "there is other text");
    refused("a comment\n" RFC_PUBLIC, 0, "there is other text");
    refused(RFC_PUBLIC RFC_PRIVATE, 0, "private and public keys in one file");
    refused(RFC_PRIVATE RFC_PRIVATE_V2, 0, "two private keys of one kind");
    refused(RFC_PRIVATE, ALD_KEY_RECEIVE, "no X25519 key");
    refused(X25519_PUBLIC, ALD_KEY_SIGN, "no Ed25519 key");
    refused("-----BEGIN PUBLIC KEY-----\nMCow", 0, "has no end");
    refused("-----BEGIN PUBLIC KEY-----\nMCo\n-----END PUBLIC KEY-----\n", 0, "cut off");
    refused("-----BEGIN PUBLIC KEY-----\nMC=o\n-----END PUBLIC KEY-----\n", 0, "than base64");
    refused("-----BEGIN PUBLIC KEY-----\nMC*w\n-----END PUBLIC KEY-----\n", 0, "than base64");
    refused("-----BEGIN PUBLIC KEY-----\nMCow\n-----END PRIVATE KEY-----\n", 0, "has no end");
    refused("-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n", 0, "damaged");
    refused("-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", 0, "damaged");
    refused("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n", 0,
            "an OpenSSH key");
    refused("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0, "'CERTIFICATE'");
    /* X448 */
    refused("-----BEGIN PUBLIC KEY-----\nMEIwBQYDK2VvAzkAmwj3zBgjbwXhu1LFA3Rj0+"
            "xr9wJ6S0X6yUYs4i4ZVQoVeyxbVYkX\nXE8r0pWBOqm1Z0BUpmpZqgA=\n-----END PUBLIC KEY-----\n",
            0, "a key of another kind");
}

/* Every cut and every changed byte of a plain private file: an error or, in blanks and in the key itself, keys; never more. */
static void test_damage(void)
{
    static const char text[] = RFC_PRIVATE;
    char copy[sizeof text];
    int read = 0;
    for (size_t i = 0; i < sizeof text - 1; i++) {
        ald_keys *keys = NULL;
        CHECK_INT(ald_keys_parse(text, i, "cut", 0, 0, NULL, &host, &keys, &err),
                  i == sizeof text - 2 ? ALD_OK : ALD_E_INVALID_FORMAT);
        ald_keys_free(keys);
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, text, sizeof copy);
            copy[i] = (char)(copy[i] ^ 1 << bit);
            if (ald_keys_parse(copy, sizeof text - 1, "changed", 0, 0, NULL, &host, &keys, &err) ==
                ALD_OK)
                read++;
            else
                CHECK_INT(err.status, ALD_E_INVALID_FORMAT);
            ald_keys_free(keys);
            keys = NULL;
        }
    }
    CHECK(read > 0 && read < 400);
}

static void test_limits(void)
{
    static char text[70000];
    ald_keys *keys;
    size_t used = 0;
    memset(text, ' ', sizeof text);
    CHECK_INT(ald_keys_parse(text, sizeof text, "long", 0, 0, NULL, &host, &keys, &err),
              ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "too long");
    for (int i = 0; i < 65; i++) {
        memcpy(text + used, RFC_PUBLIC, strlen(RFC_PUBLIC));
        used += strlen(RFC_PUBLIC);
    }
    CHECK_INT(ald_keys_parse(text, used, "many", 0, 0, NULL, &host, &keys, &err),
              ALD_E_LIMIT_EXCEEDED);
    used -= strlen(RFC_PUBLIC);
    REQUIRE_OK(ald_keys_parse(text, used, "many", 0, 0, NULL, &host, &keys, &err), &err);
    CHECK_UINT(ald_keys_count(keys), 64);
    REQUIRE_OK(ald_keys_save_public(keys, in_folder("many"), &err), &err);
    ald_keys_free(keys);
    CHECK_INT(ald_keys_open(in_folder("absent"), 0, 0, NULL, &host, &keys, &err), ALD_E_IO);
    CHECK_INT(err.detail, ENOENT);
    ald_host bare = host;
    bare.crypto = NULL;
    CHECK_INT(ald_keys_generate(ALD_KEY_SIGN, &bare, &keys, &err), ALD_E_UNSUPPORTED);
    CHECK(keys == NULL);
}

static void remove_files(void)
{
    static const char *const names[] = {"plain",         "plain.pub", "encrypted",
                                        "encrypted.pub", "pass",      "many"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)unlink(in_folder(names[i]));
    (void)rmdir(folder);
}

int main(void)
{
    host = ald_native_host(1);
    if (mkdtemp(folder) == NULL)
        return 1;
    RUN(test_generate);
    RUN(test_round_trip_plain);
    RUN(test_round_trip_encrypted);
    RUN(test_passphrases);
    RUN(test_others);
    RUN(test_refused);
    RUN(test_damage);
    RUN(test_limits);
    remove_files();
    return check_done();
}
