/* SPDX-License-Identifier: MIT */
/* The signer, and the signature over everything before its block. The file is read once for it: hashes of the pieces, where
 * they are wanted, are taken from the same bytes. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/digest.h"
#include "core/dataset/guard.h"

#define PUBLIC_KEY_AT 64u

static int is_trusted(const ald_trust *trust, const uint8_t *key)
{
    for (size_t i = 0; i < trust->trusted_count; i++) {
        if (memcmp(trust->trusted_keys + i * ALD_ED25519_PUBLIC_BYTES, key,
                   ALD_ED25519_PUBLIC_BYTES) == 0)
            return 1;
    }
    return 0;
}

ald_status ald__check_signer(const ald__file *f, const ald_trust *trust, ald_error *err)
{
    if (!(f->header.flags & ALD_FLAG_SIGNED)) {
        if (trust->trusted_count == 0 || trust->allow_unsigned)
            return ALD_OK;
        return ald__fail(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET, "the file is not signed");
    }
    if (trust->allow_untrusted || is_trusted(trust, f->signature + PUBLIC_KEY_AT))
        return ALD_OK;
    return ald__fail(err, ALD_E_UNTRUSTED_SIGNER, f->sections.signature.begin,
                     "the file is signed by a key that is not trusted");
}

/* ---- hashes of the pieces */

static ald_status wrong_piece(const ald__file *f, uint64_t piece, ald_error *err)
{
    return ald__fail(
        err, ALD_E_SIGNATURE_INVALID,
        f->sections.payload.begin + (piece == 0 ? 0 : ald__file_piece_end(f, piece - 1)),
        "payload piece %llu is not the one that was signed", (unsigned long long)piece);
}

void ald__hashes_clear(const ald_allocator *alloc, ald__hashes *hashes)
{
    ald__release(alloc, hashes->owned, hashes->size);
    memset(hashes, 0, sizeof *hashes);
}

ald_status ald__hashes_check(const ald__hashes *hashes, const ald__file *f, const ald_host *host,
                             uint64_t piece, const uint8_t *stored, size_t size, ald_error *err)
{
    ald__part part = {stored, size};
    uint8_t digest[ALD__HASH_BYTES];
    if (hashes->bytes == NULL)
        return ALD_OK;
    ALD_TRY(ald__blake3(host, &part, 1, digest, err));
    return memcmp(digest, hashes->bytes + piece * ALD__HASH_BYTES, sizeof digest) == 0
               ? ALD_OK
               : wrong_piece(f, piece, err);
}

/* Of a file without a seal: room for what the pass over the file finds. */
static ald_status make_room(const ald__file *f, ald__hashes *hashes, ald_error *err)
{
    size_t size;
    if (!ald__to_size((f->chunk_count + 2) * ALD__HASH_BYTES, &size))
        return ald__no_memory(err, SIZE_MAX);
    hashes->owned = ald__alloc(&f->alloc, size, err);
    if (hashes->owned == NULL)
        return ALD_E_NOMEM;
    hashes->bytes = hashes->owned;
    hashes->size = size;
    return ALD_OK;
}

/* ---- one pass over the file */

typedef struct pass {
    const ald__file *file;
    const ald_crypto *crypto;
    ald__hashes
        *hashes; /* filled, unless the file has a seal, which they are compared with; or NULL */
    void *verifier, *hasher; /* each may be NULL */
} pass;

static void take(void *to, const void *data, size_t size)
{
    pass *p = to;
    if (p->verifier != NULL)
        p->crypto->ed25519_verify_update(p->verifier, data, size);
    if (p->hasher != NULL)
        p->crypto->blake3_update(p->hasher, data, size);
}

static ald_status hash_piece(pass *p, uint64_t piece, uint64_t begin, uint64_t end, ald_error *err)
{
    const ald__file *f = p->file;
    uint8_t digest[ALD__HASH_BYTES];
    ald_status st;
    if (!ALD__HAS_BLAKE3(p->crypto))
        return ald__no_crypto("BLAKE3", err);
    ALD_TRY(p->crypto->blake3_new(&f->alloc, NULL, &p->hasher, err));
    st = ald__file_feed(f, begin, end, take, p, err);
    p->crypto->blake3_finish(p->hasher, st == ALD_OK ? digest : NULL);
    p->hasher = NULL;
    if (st != ALD_OK)
        return st;
    if (!f->facts.has_seal)
        memcpy(p->hashes->owned + piece * ALD__HASH_BYTES, digest, sizeof digest);
    else if (memcmp(f->facts.seal_hashes.data + piece * ALD__HASH_BYTES, digest, sizeof digest) !=
             0)
        return wrong_piece(f, piece, err);
    return ALD_OK;
}

static ald_status run_pass(pass *p, int hash_pieces, ald_error *err)
{
    const ald__file *f = p->file;
    ald_range r = f->sections.payload;
    uint64_t at = 0;
    if (!hash_pieces)
        return p->verifier == NULL ? ALD_OK : ald__file_feed(f, 0, r.end, take, p, err);
    if (p->verifier != NULL)
        ALD_TRY(ald__file_feed(f, 0, r.begin, take, p, err));
    for (uint64_t i = 0; i < f->chunk_count + 2; i++) {
        uint64_t end = ald__file_piece_end(f, i);
        ALD_TRY(hash_piece(p, i, r.begin + at, r.begin + end, err));
        at = end;
    }
    return ALD_OK;
}

/* The signed bytes where they are in memory, or NULL. */
static const void *view_signed(const ald__file *f, size_t *size)
{
    if (f->source.view == NULL || !ald__to_size(f->sections.payload.end, size))
        return NULL;
    return f->source.view(f->source.ctx, 0, *size);
}

static ald_status name_failure(const ald__file *f, ald_status st, ald_error *err)
{
    if (st != ALD_E_SIGNATURE_INVALID)
        return st;
    return ald__fail(err, st, f->sections.signature.begin,
                     "the signature is not that of this file");
}

static ald_status verify_file(const ald__file *f, const ald_host *host, int hash_pieces,
                              ald__hashes *hashes, ald_error *err)
{
    const ald_crypto *c = host->crypto;
    const uint8_t *key = f->signature + PUBLIC_KEY_AT;
    pass p = {f, c, hashes, NULL, NULL};
    ald_status st, st_signature;
    size_t size;
    const void *message = view_signed(f, &size);
    if (message != NULL && ALD_CRYPTO_HAS(c, ed25519_verify)) {
        st = c->ed25519_verify(f->signature, key, message, size, err);
        return st == ALD_OK ? run_pass(&p, hash_pieces, err) : name_failure(f, st, err);
    }
    if (!ALD__HAS_VERIFY_STREAM(c))
        return ald__no_crypto("Ed25519", err);
    st = c->ed25519_verify_new(&f->alloc, f->signature, key, &p.verifier, err);
    if (st != ALD_OK)
        return name_failure(f, st, err);
    st = run_pass(&p, hash_pieces, err);
    st_signature = c->ed25519_verify_finish(p.verifier, st != ALD_OK, st == ALD_OK ? err : NULL);
    return st != ALD_OK ? st : name_failure(f, st_signature, err);
}

ald_status ald__check_signature(const ald__file *f, ald__scope scope, const ald_host *host,
                                ald__hashes *hashes, ald_error *err)
{
    int sealed = f->facts.has_seal, streaming = (f->header.flags & ALD_FLAG_STREAMING) != 0;
    if (!(f->header.flags & ALD_FLAG_SIGNED))
        return ALD_OK;
    if (sealed && hashes != NULL)
        hashes->bytes = f->facts.seal_hashes.data;
    if (sealed && scope == ALD__SCOPE_LAZY)
        return ald__check_seal(f, host, err);
    if (!sealed && streaming && hashes != NULL)
        ALD_TRY(make_room(f, hashes, err));
    ALD_TRY(verify_file(f, host, streaming && (sealed || hashes != NULL), hashes, err));
    return sealed ? ald__check_seal(f, host, err) : ALD_OK;
}
