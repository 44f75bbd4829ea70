/* SPDX-License-Identifier: MIT */
/* What must hold before a payload is parsed: signer, license, and the hash over the decompressed bytes. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/dataset/whole.h"

#define LICENSE_EXPIRATION_ENFORCED 0x02u

static ald_status sha256(const ald_host *host, const void *data, size_t size,
                         uint8_t digest[ALD_SHA256_BYTES], ald_error *err)
{
    void *state = NULL;
    if (host->crypto == NULL || host->crypto->sha256_new == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no SHA-256");
    ALD_TRY(host->crypto->sha256_new(&host->alloc, &state, err));
    host->crypto->sha256_update(state, data, size);
    host->crypto->sha256_finish(state, digest);
    return ALD_OK;
}

static ald_status check_license_hash(const ald__file *f, const ald_host *host, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES];
    if (f->facts.license_sha256.data == NULL)
        return ALD_OK;
    ALD_TRY(sha256(host, f->license_block, f->license_size, digest, err));
    if (memcmp(digest, f->facts.license_sha256.data, sizeof digest) != 0)
        return ald__fail(err, ALD_E_SIGNATURE_INVALID, f->sections.license.begin,
                         "the license block is not the one that was signed");
    return ALD_OK;
}

static ald_status check_expiry(const ald__file *f, const ald_load_options *options,
                               const ald_host *host, ald_error *err)
{
    const ald_license *l = &f->license;
    int64_t now;
    if (options->ignore_expiry || !(l->flags & LICENSE_EXPIRATION_ENFORCED) || l->expires_at == 0)
        return ALD_OK;
    now = host->now != NULL ? host->now(host->ctx) : INT64_MIN;
    if (now == INT64_MIN)
        return ald__fail(err, ALD_E_LICENSE_EXPIRED, f->sections.license.begin,
                         "the license expires and the time is unknown");
    if (now > 0 && (uint64_t)now > l->expires_at)
        return ald__fail(err, ALD_E_LICENSE_EXPIRED, f->sections.license.begin,
                         "the license expired at %llu (unix seconds), now is %llu",
                         (unsigned long long)l->expires_at, (unsigned long long)now);
    return ALD_OK;
}

ald_status ald__check_piece_crc32(const ald__file *f, uint64_t piece, const uint8_t *stored,
                                  size_t size, ald_error *err)
{
    uint32_t expected, found;
    if (f->facts.frame_crc32.data == NULL || f->header.compression != ALD_COMPRESSION_NONE)
        return ALD_OK;
    expected = ald__load_le32(f->facts.frame_crc32.data + 4 * piece);
    found = ald__crc32(0, stored, size);
    if (found != expected)
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH,
                         f->sections.payload.begin + ald__file_piece_end(f, piece) - size,
                         "CRC32 of payload piece %llu is %08x, the metadata says %08x",
                         (unsigned long long)piece, found, expected);
    return ALD_OK;
}

/* CRC32 of prologue, chunks and epilogue as stored, where they have no checksum of their own. */
static ald_status check_frame_crc32(const ald__file *f, const uint8_t *whole, ald_error *err)
{
    const uint8_t *payload = whole + f->sections.payload.begin;
    uint64_t at = 0;
    if (f->facts.frame_crc32.data == NULL || !(f->header.flags & ALD_FLAG_STREAMING) ||
        f->header.compression != ALD_COMPRESSION_NONE)
        return ALD_OK;
    for (uint64_t i = 0; i < f->chunk_count + 2; i++) {
        uint64_t end = ald__file_piece_end(f, i);
        ALD_TRY(ald__check_piece_crc32(f, i, payload + at, (size_t)(end - at), err));
        at = end;
    }
    return ALD_OK;
}

ald_status ald__check_trust(const ald__file *f, const uint8_t *whole,
                            const ald_load_options *options, const ald_host *host, ald_error *err)
{
    if (f->header.flags & ALD_FLAG_SIGNED)
        return ald__fail(err, ALD_E_UNTRUSTED_SIGNER, f->sections.signature.begin,
                         "the file is signed by a key that is not trusted");
    if (whole != NULL)
        ALD_TRY(check_frame_crc32(f, whole, err));
    if (f->header.flags & ALD_FLAG_LICENSED) {
        ALD_TRY(check_license_hash(f, host, err));
        ALD_TRY(check_expiry(f, options, host, err));
    }
    if (f->header.flags & ALD_FLAG_ENCRYPTED)
        return ald__fail(err, ALD_E_DECRYPTION_FAILED, f->sections.encryption.begin,
                         "the payload is encrypted: wrong key or changed data");
    return ALD_OK;
}

static int hex_value(char c)
{
    char low = (char)(c | 0x20);
    return c <= '9' ? c - '0' : low - 'a' + 10;
}

ald_status ald__sha256_check_begin(ald__sha256_check *check, const ald__file *f,
                                   const ald_host *host, ald_error *err)
{
    const ald_value *v = ald_value_find(f->tree, "sha256");
    memset(check, 0, sizeof *check);
    check->file = f;
    check->host = host;
    check->wanted = v != NULL && ald_value_get_type(v) == ALD_VALUE_STRING;
    if (!check->wanted)
        return ALD_OK;
    if (host->crypto == NULL || host->crypto->sha256_new == NULL)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no SHA-256");
    return host->crypto->sha256_new(&host->alloc, &check->state, err);
}

void ald__sha256_check_update(ald__sha256_check *check, const void *data, size_t size)
{
    check->host->crypto->sha256_update(check->state, data, size);
}

ald_status ald__sha256_check_end(ald__sha256_check *check, ald_status status, ald_error *err)
{
    uint8_t digest[ALD_SHA256_BYTES], wrong = 0;
    size_t size;
    const char *hex;
    check->host->crypto->sha256_finish(check->state, status == ALD_OK ? digest : NULL);
    if (status != ALD_OK)
        return status;
    /* 64 digits: checked with the metadata */
    hex = ald_value_get_bytes(ald_value_find(check->file->tree, "sha256"), &size);
    for (size_t i = 0; i < sizeof digest; i++)
        wrong |= (uint8_t)(digest[i] ^ (hex_value(hex[2 * i]) << 4 | hex_value(hex[2 * i + 1])));
    if (wrong != 0)
        return ald__fail(err, ALD_E_CHECKSUM_MISMATCH, check->file->sections.payload.begin,
                         "SHA-256 of the decompressed payload is not the one in the metadata");
    return ALD_OK;
}

ald_status ald__check_sha256(const ald__file *f, const ald__shared *payload, const ald_host *host,
                             ald_error *err)
{
    ald__sha256_check check;
    ald_status st = ald__sha256_check_begin(&check, f, host, err);
    if (st != ALD_OK || !check.wanted)
        return st;
    ald__sha256_check_update(&check, ald__shared_data(payload), ald__shared_size(payload));
    return ald__sha256_check_end(&check, ALD_OK, err);
}
