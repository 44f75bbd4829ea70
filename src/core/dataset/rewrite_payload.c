/* SPDX-License-Identifier: MIT */
/* The payload of a rewritten file. One that stays as it is stays where it is, and is only hashed; else its pieces go through
 * memory one after the other, opened and sealed. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/crypto/digest.h"
#include "core/dataset/guard.h"
#include "core/dataset/rewrite.h"
#include "core/dataset/unlock.h"

static int opens(const ald__rewriting *r)
{
    return (r->file.header.flags & ALD_FLAG_ENCRYPTED) != 0;
}

static int seals(const ald__rewriting *r)
{
    return ald__protecting_encrypts(&r->protecting);
}

static uint64_t begin_of(const ald__rewriting *r, uint64_t k)
{
    return k == 0 ? 0 : ald__file_piece_end(&r->file, k - 1);
}

static ald_status too_short(const ald__rewriting *r, uint64_t k, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, r->file.sections.payload.begin + begin_of(r, k),
                     "payload piece %llu is shorter than its tag", (unsigned long long)k);
}

/* ---- facts about the pieces as they are stored in the new file */

static ald_status add_sum(ald__rewriting *r, uint32_t crc, ald_error *err)
{
    uint8_t bytes[4];
    ald__store_le32(bytes, crc);
    return ald__buffer_append(&r->frame_crc32, bytes, sizeof bytes, err);
}

static ald_status add_facts(ald__rewriting *r, const uint8_t *stored, size_t size, ald_error *err)
{
    uint8_t hash[ALD_BLAKE3_BYTES];
    if (ald__rewrite_sums(r))
        ALD_TRY(add_sum(r, ald__crc32(0, stored, size), err));
    if (!ald__rewrite_seals(r))
        return ALD_OK;
    ALD_TRY(ald__seal_piece_hash(r->host, stored, size, hash, err));
    return ald__buffer_append(&r->seal_hashes, hash, sizeof hash, err);
}

typedef struct piece_sums {
    const ald_crypto *crypto;
    void *hasher; /* or NULL */
    uint32_t crc;
} piece_sums;

static void take_piece(void *to, const void *data, size_t size)
{
    piece_sums *s = to;
    s->crc = ald__crc32(s->crc, data, size);
    if (s->hasher != NULL)
        s->crypto->blake3_update(s->hasher, data, size);
}

/* Of a piece that stays where it is: read in small parts. */
static ald_status add_kept_facts(ald__rewriting *r, uint64_t k, ald_error *err)
{
    uint64_t base = r->file.sections.payload.begin;
    piece_sums s = {r->host->crypto, NULL, 0};
    uint8_t hash[ALD_BLAKE3_BYTES];
    ald_status st = ALD_OK;
    if (ald__rewrite_seals(r)) {
        if (!ALD__HAS_BLAKE3(s.crypto))
            return ald__no_crypto("BLAKE3", err);
        ALD_TRY(s.crypto->blake3_new(&r->host->alloc, NULL, &s.hasher, err));
    }
    st = ald__file_feed(&r->file, base + begin_of(r, k), base + ald__file_piece_end(&r->file, k),
                        take_piece, &s, err);
    if (s.hasher != NULL) {
        s.crypto->blake3_finish(s.hasher, st == ALD_OK ? hash : NULL);
        if (st == ALD_OK)
            st = ald__buffer_append(&r->seal_hashes, hash, sizeof hash, err);
    }
    if (st == ALD_OK && ald__rewrite_sums(r))
        st = add_sum(r, s.crc, err);
    return st;
}

static ald_status keep_payload(ald__rewriting *r, ald_error *err)
{
    if (ald__rewrite_seals(r) || ald__rewrite_sums(r)) {
        for (uint64_t k = 0; k < r->file.chunk_count + 2; k++)
            ALD_TRY(add_kept_facts(r, k, err));
    }
    ald__output_begin_stored(&r->output, &r->sink, &r->source, r->file.sections.payload.begin,
                             r->payload_size, r->host);
    return ALD_OK;
}

/* ---- pieces that are opened or sealed */

/* A piece in fresh memory with room for a tag: *size bytes of it are the piece, `*room` in all. */
static ald_status read_piece(const ald__rewriting *r, uint64_t k, uint8_t **out, size_t *size,
                             size_t *room, ald_error *err)
{
    uint64_t begin = begin_of(r, k);
    *out = NULL;
    *room = 0;
    if (!ald__to_size(ald__file_piece_end(&r->file, k) - begin, size) ||
        !ald__add_size(*size, ALD_GCM_TAG_BYTES, room))
        return ald__no_memory(err, SIZE_MAX);
    *out = ald__alloc(&r->host->alloc, *room, err);
    if (*out == NULL)
        return ALD_E_NOMEM;
    return ald__file_bytes(&r->file, r->file.sections.payload.begin + begin, *out, *size, err);
}

static ald_status open_one(const ald__rewriting *r, uint64_t k, uint8_t *bytes, size_t *size,
                           ald_error *err)
{
    ald__piece piece = ald__piece_at(r->file.chunks, r->file.chunk_count, k);
    if (*size < ALD_GCM_TAG_BYTES)
        return too_short(r, k, err);
    ALD_TRY(ald__piece_open(&r->from, r->host, &piece, bytes, *size, bytes, err));
    *size -= ALD_GCM_TAG_BYTES;
    return ALD_OK;
}

static ald_status seal_one(const ald__rewriting *r, uint64_t k, uint8_t *bytes, size_t *size,
                           ald_error *err)
{
    ald__piece piece = ald__piece_at(r->chunks, r->file.chunk_count, k);
    ALD_TRY(ald__piece_seal(&r->to, r->host, &piece, bytes, *size, bytes, err));
    *size += ALD_GCM_TAG_BYTES;
    return ALD_OK;
}

/* With `check`, only whether it opens. */
static ald_status pass_piece(ald__rewriting *r, uint64_t k, int check, ald_error *err)
{
    int changes = r->transit == ALD__TRANSIT_RESEAL || k == r->file.chunk_count + 1;
    uint8_t *bytes;
    size_t size, room;
    ald_status st = read_piece(r, k, &bytes, &size, &room, err);
    if (st == ALD_OK && opens(r) && (changes || check))
        st = open_one(r, k, bytes, &size, err);
    if (st == ALD_OK && !check && changes && seals(r))
        st = seal_one(r, k, bytes, &size, err);
    if (st == ALD_OK && !check)
        st = add_facts(r, bytes, size, err);
    if (st == ALD_OK && !check)
        st = ald__output_write(&r->output, bytes, size, err);
    ald__release(&r->host->alloc, bytes, room);
    return st;
}

static ald_status pass_pieces(ald__rewriting *r, ald_error *err)
{
    if (opens(r)) { /* F-228 */
        ALD_TRY(pass_piece(r, r->file.chunk_count + 1, 1, err));
        ALD_TRY(pass_piece(r, 0, 1, err));
    }
    for (uint64_t k = 0; k < r->file.chunk_count + 2; k++)
        ALD_TRY(pass_piece(r, k, 0, err));
    return ALD_OK;
}

/* ---- a payload without STREAMING: one piece, in memory as a whole */

static ald_status read_payload(const ald__rewriting *r, uint8_t *out, size_t size, ald_error *err)
{
    return ald__file_bytes(&r->file, r->file.sections.payload.begin, out, size, err);
}

static ald_status open_whole(ald__rewriting *r, uint8_t *out, size_t size, ald_error *err)
{
    ald__shared *whole = NULL, *stored = NULL;
    size_t all, at;
    ald_status st = ald__to_size(r->file.source.size_bytes, &all)
                        ? ald__shared_alloc(&r->host->alloc, all, &whole, err)
                        : ald__no_memory(err, SIZE_MAX);
    if (st == ALD_OK)
        st = ald__file_bytes(&r->file, 0, ald__shared_data(whole), all, err);
    if (st == ALD_OK)
        st = ald__payload_open(&r->file, &r->settings, r->host, whole, 1, &stored, &at, err);
    if (st == ALD_OK)
        memcpy(out, ald__shared_data(stored) + at, size);
    ald__shared_unref(stored);
    ald__shared_unref(whole);
    return st;
}

static ald_status pass_whole(ald__rewriting *r, ald_error *err)
{
    ald__piece piece = ald__piece_at(NULL, 0, 0);
    size_t size, room;
    uint8_t *bytes;
    ald_status st;
    if (!ald__to_size(r->file.payload_size - ald__file_tag(&r->file), &size) ||
        !ald__add_size(size, ALD_GCM_TAG_BYTES, &room))
        return ald__no_memory(err, SIZE_MAX);
    bytes = ald__alloc(&r->host->alloc, room, err);
    if (bytes == NULL)
        return ALD_E_NOMEM;
    st = opens(r) ? open_whole(r, bytes, size, err) : read_payload(r, bytes, size, err);
    if (st == ALD_OK && seals(r)) {
        st = ald__piece_seal(&r->to, r->host, &piece, bytes, size, bytes, err);
        size += ALD_GCM_TAG_BYTES;
    }
    if (st == ALD_OK)
        st = ald__output_write(&r->output, bytes, size, err);
    ald__release(&r->host->alloc, bytes, room);
    return st;
}

ald_status ald__rewrite_payload(ald__rewriting *r, uint64_t room, ald_error *err)
{
    if (r->transit == ALD__TRANSIT_KEEP)
        return keep_payload(r, err);
    ALD_TRY(ald__output_begin(&r->output, &r->sink, room, 0, r->host, err));
    return r->chunks != NULL ? pass_pieces(r, err) : pass_whole(r, err);
}
