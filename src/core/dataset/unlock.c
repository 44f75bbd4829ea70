/* SPDX-License-Identifier: MIT */
#include "core/dataset/unlock.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/container/binding.h"
#include "core/crypto/digest.h"
#include "core/crypto/secret.h"

#define MINOR_BOUND 3u /* from here on: commitment, binding */

/* A search for a file's key, and what makes piece keys of what it finds. */
typedef struct unlocking {
    const ald__file *file;
    const ald_host *host;
    ald__key_search search;
    uint8_t *block;
    size_t block_size;
    uint8_t binding[ALD_SHA256_BYTES];
} unlocking;

/* F-219, F-220: before any key is derived. */
static ald_status check_form(const ald__file *f, const ald_trust *trust, ald_error *err)
{
    int has_commit = f->facts.key_commit.data != NULL;
    if (f->header.version_minor >= MINOR_BOUND)
        return has_commit ? ALD_OK : ald__not_opened(err);
    if ((f->header.flags & ALD_FLAG_STREAMING) || f->encryption_mode == 2 ||
        (trust->require_commit && !has_commit))
        return ald__not_opened(err);
    return ALD_OK;
}

/* F-231 */
static ald_status check_plain(const ald_trust *trust, ald_error *err)
{
    if (trust->allow_plain || (trust->password == NULL && trust->private_count == 0))
        return ALD_OK;
    return ald__fail(err, ALD_E_DECRYPTION_FAILED, ALD_NO_OFFSET,
                     "a password or private key was given, and the file is not encrypted");
}

static ald_status unlock_begin(unlocking *u, const ald__file *f, const ald_trust *trust,
                               const ald_host *host, ald_error *err)
{
    static const ald__kdf kdf_default = ALD__KDF_DEFAULT;
    const ald__facts *facts = &f->facts;
    ald_range r = f->sections.encryption;
    memset(u, 0, sizeof *u);
    u->file = f;
    u->host = host;
    ALD_TRY(check_form(f, trust, err));
    ALD_TRY(ald__file_copy(f, r, &u->block, err));
    u->block_size = (size_t)(r.end - r.begin);
    u->search.host = host;
    u->search.block = u->block;
    u->search.block_size = u->block_size;
    u->search.kdf = kdf_default;
    if (facts->has_kdf)
        u->search.kdf = (ald__kdf){facts->kdf_m, facts->kdf_t, facts->kdf_p};
    u->search.commit = facts->key_commit.data;
    u->search.password = trust->password;
    u->search.password_size = trust->password_size;
    u->search.private_keys = trust->private_keys;
    u->search.private_count = trust->private_count;
    return f->header.version_minor >= MINOR_BOUND ? ald__file_binding(f, host, u->binding, err)
                                                  : ALD_OK;
}

static ald_status unlock_next(unlocking *u, ald__piece_keys *keys, ald_error *err)
{
    int is_bound = u->file->header.version_minor >= MINOR_BOUND;
    uint8_t key[ALD__KEY_BYTES];
    ald_status st = ald__key_search_next(&u->search, key, err);
    if (st == ALD_OK)
        st = ald__piece_keys_init(keys, u->host, key, ald__block_nonce(u->block, u->block_size),
                                  is_bound ? u->binding : NULL, err);
    ald__wipe(key, sizeof key);
    return st;
}

static void unlock_end(unlocking *u)
{
    if (u->block != NULL)
        ald__release(&u->file->alloc, u->block, u->block_size + 1);
}

ald_status ald__unlock(const ald__file *f, const ald__settings *settings, const ald_host *host,
                       ald__piece_keys *keys, ald_error *err)
{
    unlocking u;
    ald_status st;
    if (!(f->header.flags & ALD_FLAG_ENCRYPTED))
        return check_plain(&settings->trust, err);
    st = unlock_begin(&u, f, &settings->trust, host, err);
    if (st == ALD_OK)
        st = unlock_next(&u, keys, err);
    unlock_end(&u);
    return st;
}

/* ---- a whole payload */

static uint64_t piece_end(const void *ctx, uint64_t k)
{
    const ald__file *f = ctx;
    return f->chunks == NULL ? f->payload_size : ald__file_piece_end(f, k);
}

static ald_status open_pieces_with(const unlocking *u, const ald__piece_keys *keys,
                                   const uint8_t *from, uint8_t *to, ald_error *err)
{
    const ald__file *f = u->file;
    ald__piece_list list = {f->chunks, f->chunk_count, piece_end, f, from, to};
    return ald__piece_open_list(keys, u->host, &list, err);
}

/* Where nothing but a tag tells the right key, all that could be it are tried. */
static ald_status try_keys(unlocking *u, const uint8_t *from, uint8_t *to, ald_error *err)
{
    int more = ald__key_search_is_open(&u->search);
    ald__piece_keys keys;
    ald_status st;
    do {
        ALD_TRY(unlock_next(u, &keys, err));
        st = open_pieces_with(u, &keys, from, to, err);
        ald__piece_keys_clear(&keys);
    } while (more && st == ALD_E_DECRYPTION_FAILED);
    return st;
}

/* What is not inflated is what the arrays will point into: it goes to a 64-byte boundary at once. */
static int stays_as_is(const ald__file *f)
{
    return f->header.compression == ALD_COMPRESSION_NONE && f->chunks == NULL;
}

static ald_status open_encrypted(const ald__file *f, const ald__settings *settings,
                                 const ald_host *host, const uint8_t *from, int ours,
                                 ald__shared **stored, size_t *at, ald_error *err)
{
    unlocking u;
    size_t size;
    ald_status st = unlock_begin(&u, f, &settings->trust, host, err);
    if (st == ALD_OK && (!ours || ald__key_search_is_open(&u.search) || stays_as_is(f))) {
        ald__shared_unref(*stored);
        *stored = NULL;
        *at = 0;
        st = ald__to_size(f->payload_size, &size) ? ald__shared_alloc(&f->alloc, size, stored, err)
                                                  : ald__no_memory(err, SIZE_MAX);
    }
    if (st == ALD_OK)
        st = try_keys(&u, from, ald__shared_data(*stored) + *at, err);
    unlock_end(&u);
    return st;
}

ald_status ald__payload_open(const ald__file *f, const ald__settings *settings,
                             const ald_host *host, ald__shared *whole, int ours,
                             ald__shared **stored, size_t *at, ald_error *err)
{
    size_t begin = (size_t)f->sections.payload.begin;
    ald_status st;
    *stored = ald__shared_ref(whole);
    *at = begin;
    if (f->header.flags & ALD_FLAG_ENCRYPTED)
        st = open_encrypted(f, settings, host, ald__shared_data(whole) + begin, ours, stored, at,
                            err);
    else
        st = check_plain(&settings->trust, err);
    if (st != ALD_OK) {
        ald__shared_unref(*stored);
        *stored = NULL;
    }
    return st;
}
