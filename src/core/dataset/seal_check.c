/* SPDX-License-Identifier: MIT */
/* The seal: a signature over the prefix, which holds the hashes of all pieces (F-265 to F-268). */
#include <string.h>

#include "core/base/buf.h"
#include "core/container/msgpack.h"
#include "core/crypto/digest.h"
#include "core/dataset/guard.h"

#define SIG_BYTES 64u
#define PREFIX_CRC_BYTES 4u
#define LABEL_BYTES 11u

static const char label[] = "ald-v1-seal";

typedef struct hash_to {
    const ald_crypto *crypto;
    void *state;
} hash_to;

static void hash_take(void *to, const void *data, size_t size)
{
    hash_to *h = to;
    h->crypto->blake3_update(h->state, data, size);
}

/* Where the contents of a bin stand in the file, as an empty range when it is not there. */
static ald_range find_hole(const ald__file *f, const char *const *path, size_t depth, uint64_t size)
{
    ald__msgpack_place place;
    ald_range hole = {0, 0};
    if (!ald__msgpack_locate(f->metadata, f->header.metadata_size, path, depth, &place))
        return hole;
    hole.begin = ALD__HEADER_BYTES + place.content;
    hole.end = hole.begin + size;
    return hole;
}

static ald_status feed_with_holes(const ald__file *f, const ald_range holes[2], hash_to *h,
                                  ald_error *err)
{
    static const uint8_t zeros[SIG_BYTES];
    uint64_t at = 0;
    for (int i = 0; i < 2; i++) {
        if (holes[i].begin == holes[i].end)
            continue;
        ALD_TRY(ald__file_feed(f, at, holes[i].begin, hash_take, h, err));
        hash_take(h, zeros, (size_t)(holes[i].end - holes[i].begin));
        at = holes[i].end;
    }
    return ald__file_feed(f, at, f->sections.payload.begin, hash_take, h, err);
}

static ald_status hash_prefix(const ald__file *f, const ald_host *host,
                              uint8_t digest[ALD__HASH_BYTES], ald_error *err)
{
    static const char *const sig_path[3] = {"ald", "seal", "sig"};
    static const char *const crc_path[2] = {"ald", "prefix_crc32"};
    ald_range sig = find_hole(f, sig_path, 3, SIG_BYTES);
    ald_range crc = {0, 0};
    hash_to h = {host->crypto, NULL};
    ald_status st;
    if (!ALD__HAS_BLAKE3(h.crypto))
        return ald__no_crypto("BLAKE3", err);
    if (f->facts.prefix_crc32.data != NULL)
        crc = find_hole(f, crc_path, 2, PREFIX_CRC_BYTES);
    ALD_TRY(h.crypto->blake3_new(&f->alloc, NULL, &h.state, err));
    if (crc.begin < sig.begin)
        st = feed_with_holes(f, (ald_range[2]){crc, sig}, &h, err);
    else
        st = feed_with_holes(f, (ald_range[2]){sig, crc}, &h, err);
    h.crypto->blake3_finish(h.state, st == ALD_OK ? digest : NULL);
    return st;
}

ald_status ald__check_seal(const ald__file *f, const ald_host *host, ald_error *err)
{
    const uint8_t *key = f->signature + SIG_BYTES;
    uint8_t message[LABEL_BYTES + ALD__HASH_BYTES];
    ald_status st;
    if (!ALD_CRYPTO_HAS(host->crypto, ed25519_verify))
        return ald__no_crypto("Ed25519", err);
    if (memcmp(f->facts.seal_key.data, key, ALD_ED25519_PUBLIC_BYTES) != 0)
        return ald__fail(err, ALD_E_SIGNATURE_INVALID, f->sections.metadata.begin,
                         "seal and signature are by different keys");
    memcpy(message, label, LABEL_BYTES);
    ALD_TRY(hash_prefix(f, host, message + LABEL_BYTES, err));
    st = host->crypto->ed25519_verify(f->facts.seal_sig.data, key, message, sizeof message, err);
    if (st == ALD_E_SIGNATURE_INVALID)
        return ald__fail(err, st, f->sections.metadata.begin, "the seal is not that of this file");
    return st;
}

ald_status ald__check_seal_alone(ald__file *f, const ald_host *host, int *sealed, ald_error *err)
{
    ald_error ignored;
    ald_status st = ALD_E_SIGNATURE_INVALID;
    *sealed = 0;
    memset(f->signature, 0, sizeof f->signature);
    if ((f->header.flags & ALD_FLAG_SIGNED) && f->facts.has_seal) {
        memcpy(f->signature + SIG_BYTES, f->facts.seal_key.data, ALD_ED25519_PUBLIC_BYTES);
        st = ald__check_seal(f, host, err != NULL ? err : &ignored);
    }
    *sealed = st == ALD_OK;
    if (!*sealed)
        memset(f->signature, 0, sizeof f->signature);
    return st == ALD_E_NOMEM || st == ALD_E_IO ? st : ALD_OK;
}
