/* SPDX-License-Identifier: MIT */
/* Key files are looked through as a whole before the first passphrase is asked for: what is wrong with them is told at
 * once. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "native/crypto/pkcs8.h"
#include "native/fd.h"
#include "native/keys/key_der.h"
#include "native/keys/key_set.h"
#include "native/keys/pem.h"
#include "native/keys/secret_pages.h"

#define FILE_BYTES ((size_t)64 << 10)

/* Everything secret of a reading, in one piece of locked memory. */
typedef struct reading {
    size_t room; /* of `text`, one byte more than is wanted */
    pem_block block;
    uint8_t plain[PEM_DATA_BYTES];
    char passphrase[ALD_PASSPHRASE_BYTES];
    size_t passphrase_size;
    int has_passphrase;
    char text[];
} reading;

typedef struct request {
    const char *name;
    uint32_t expected, kinds;
    const ald_passphrase *passphrase;
    const ald_host *host;
} request;

#define LABEL_PRIVATE "PRIVATE KEY"
#define LABEL_ENCRYPTED "ENCRYPTED PRIVATE KEY"
#define LABEL_PUBLIC "PUBLIC KEY"

static int is(const pem_block *block, const char *label)
{
    return strcmp(block->label, label) == 0;
}

/* ---- the file as a whole */

static ald_status check_label(const pem_block *block, ald_error *err)
{
    if (is(block, LABEL_PRIVATE) || is(block, LABEL_ENCRYPTED) || is(block, LABEL_PUBLIC))
        return ALD_OK;
    if (is(block, "OPENSSH PRIVATE KEY"))
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "an OpenSSH key; keys are made with `alimentar keygen`");
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "'%s' is not the kind of key that is used here", block->label);
}

static ald_status check_expected(const request *q, size_t private_count, size_t public_count,
                                 ald_error *err)
{
    if (private_count + public_count == 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the file holds no key");
    if (private_count > 0 && public_count > 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "private and public keys in one file");
    if (private_count + public_count > KEYS_MAX)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more than %u keys in one file", KEYS_MAX);
    if (q->expected == ALD_KEYS_PRIVATE && public_count > 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "this is the public key; the private one is needed here");
    if (q->expected == ALD_KEYS_PUBLIC && private_count > 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "this is the private key; the public one is needed here, and the "
                             "private one stays with you");
    return ALD_OK;
}

static int is_blank(const char *text, size_t size)
{
    size_t i = 0;
    while (i < size && (text[i] == ' ' || (text[i] >= '\t' && text[i] <= '\r')))
        i++;
    return i == size;
}

static ald_status look_through(const request *q, reading *r, size_t size, ald_error *err)
{
    size_t at = 0, private_count = 0, public_count = 0;
    if (!is_blank(r->text, size) && memmem(r->text, size, "-----BEGIN ", 11) == NULL)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the file holds no key, but something else\nkeys are made with "
                             "`alimentar keygen`");
    for (;;) {
        int found;
        ald_status st = ald__pem_next(r->text, size, &at, &r->block, &found, err);
        if (st == ALD_OK && found)
            st = check_label(&r->block, err);
        if (st != ALD_OK)
            return st;
        if (!found)
            return check_expected(q, private_count, public_count, err);
        if (is(&r->block, LABEL_PUBLIC))
            public_count++;
        else
            private_count++;
    }
}

/* ---- one block */

static ald_status ask(const request *q, reading *r, ald_error *err)
{
    ald_status st;
    if (r->has_passphrase)
        return ALD_OK;
    if (q->passphrase == NULL)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "the key is encrypted, and no passphrase was given");
    st = q->passphrase->get(q->passphrase->ctx, q->name, r->passphrase, sizeof r->passphrase,
                            &r->passphrase_size, err);
    r->has_passphrase = st == ALD_OK;
    return st;
}

static ald_status read_encrypted(const request *q, reading *r, ald_key *out, ald_error *err)
{
    size_t size = 0;
    ald_status st = ask(q, r, err);
    if (st == ALD_OK)
        st = ald__pkcs8_decrypt(r->block.data, r->block.size, r->passphrase, r->passphrase_size,
                                r->plain, sizeof r->plain, &size, err);
    if (st == ALD_OK)
        st = ald__key_der_read_private(r->plain, size, out, err);
    return st;
}

static ald_status read_block(const request *q, reading *r, ald_key *out, ald_error *err)
{
    ald_status st;
    if (is(&r->block, LABEL_PUBLIC))
        return ald__key_der_read_public(r->block.data, r->block.size, out, err);
    st = is(&r->block, LABEL_ENCRYPTED)
             ? read_encrypted(q, r, out, err)
             : ald__key_der_read_private(r->block.data, r->block.size, out, err);
    return st == ALD_OK ? ald__key_derive_public(out, q->host, err) : st;
}

static uint32_t kinds_of(const ald_keys *keys)
{
    uint32_t kinds = 0;
    for (size_t i = 0; i < keys->count; i++)
        kinds |= keys->items[i].kind;
    return kinds;
}

static ald_status missing_kind(uint32_t missing, ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the file has no %s key, which is the kind to %s with",
                         (missing & ALD_KEY_SIGN) != 0 ? "Ed25519" : "X25519",
                         (missing & ALD_KEY_SIGN) != 0 ? "sign" : "receive");
}

static ald_status read_blocks(const request *q, reading *r, size_t size, ald_keys *keys,
                              ald_error *err)
{
    size_t at = 0;
    uint32_t have = 0;
    for (;;) {
        ald_key *key = &keys->items[keys->count];
        int found;
        ald_status st = ald__pem_next(r->text, size, &at, &r->block, &found, err);
        if (st != ALD_OK || !found)
            return st != ALD_OK              ? st
                   : (q->kinds & ~have) != 0 ? missing_kind(q->kinds & ~have, err)
                                             : ALD_OK;
        if (is(&r->block, LABEL_ENCRYPTED) && q->kinds != 0 && (q->kinds & ~have) == 0)
            continue; /* found already what is wanted */
        st = read_block(q, r, key, err);
        if (st != ALD_OK)
            return st;
        if (key->is_private && (have & key->kind) != 0)
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "two private keys of one kind in one file");
        keys->count++;
        have = kinds_of(keys);
    }
}

static ald_status read_all(const request *q, reading *r, size_t size, ald_keys **out,
                           ald_error *err)
{
    ald_keys *keys = NULL;
    ald_status st = look_through(q, r, size, err);
    if (st == ALD_OK)
        st = ald__keys_new(&keys, err);
    if (st == ALD_OK)
        st = read_blocks(q, r, size, keys, err);
    if (st != ALD_OK) {
        ald_keys_free(keys);
        return st;
    }
    *out = keys;
    return ALD_OK;
}

static ald_status too_long(ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the file is too long for a key file");
}

static reading *new_reading(size_t room, ald_error *err)
{
    reading *r = ald__secret_pages_new(sizeof *r + room);
    if (r == NULL)
        (void)ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to read keys");
    else
        r->room = room;
    return r;
}

static void free_reading(reading *r)
{
    ald__secret_pages_free(r, sizeof *r + r->room);
}

ald_status ald_keys_parse(const void *pem, size_t size, const char *name, uint32_t expected,
                          uint32_t kinds, const ald_passphrase *passphrase, const ald_host *host,
                          ald_keys **out, ald_error *err)
{
    request q = {name, expected, kinds, passphrase, host};
    reading *r;
    ald_status st;
    *out = NULL;
    if (size > FILE_BYTES)
        return too_long(err);
    r = new_reading(size + 1, err);
    if (r == NULL)
        return ALD_E_NOMEM;
    if (size > 0)
        memcpy(r->text, pem, size);
    st = read_all(&q, r, size, out, err);
    free_reading(r);
    return st;
}

/* Locked pages are all touched at once: a trust store of many small files takes one or two for each. A pipe will do, too. */
static size_t room_for(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 &&
                   info.st_size < (off_t)FILE_BYTES
               ? (size_t)info.st_size + 1
               : FILE_BYTES + 1;
}

static ald_status read_text(int fd, const char *path, reading *r, size_t *size, ald_error *err)
{
    ssize_t n = 1;
    *size = 0;
    while (n != 0 && *size < r->room) {
        n = read(fd, r->text + *size, r->room - *size);
        if (n < 0 && errno != EINTR)
            return ald__io_error(err, "cannot read", path, errno);
        if (n > 0)
            *size += (size_t)n;
    }
    return *size == r->room ? too_long(err) : ALD_OK;
}

ald_status ald_keys_open(const char *path, uint32_t expected, uint32_t kinds,
                         const ald_passphrase *passphrase, const ald_host *host, ald_keys **out,
                         ald_error *err)
{
    request q = {path, expected, kinds, passphrase, host};
    size_t size;
    ald_status st = ALD_E_NOMEM;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    *out = NULL;
    if (fd < 0)
        return ald__io_error(err, "cannot read", path, errno);
    reading *r = new_reading(room_for(fd), err);
    if (r != NULL)
        st = read_text(fd, path, r, &size, err);
    (void)close(fd);
    if (st == ALD_OK)
        st = read_all(&q, r, size, out, err);
    if (r != NULL)
        free_reading(r);
    return st;
}
