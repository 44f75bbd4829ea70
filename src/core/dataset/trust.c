/* SPDX-License-Identifier: MIT */
/* Steps 9 to 11 of F-320, in their order. */
#include <string.h>

#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/codec/codec.h"
#include "core/dataset/guard.h"

static ald_status compare_piece_crc32(const ald__file *f, uint64_t piece, uint32_t found,
                                      ald_error *err)
{
    uint32_t expected = ald__load_le32(f->facts.frame_crc32.data + 4 * piece);
    if (found == expected)
        return ALD_OK;
    return ald__fail(err, ALD_E_CHECKSUM_MISMATCH,
                     f->sections.payload.begin +
                         (piece == 0 ? 0 : ald__file_piece_end(f, piece - 1)),
                     "CRC32 of payload piece %llu is %08x, the metadata says %08x",
                     (unsigned long long)piece, found, expected);
}

ald_status ald__check_piece_crc32(const ald__file *f, uint64_t piece, const uint8_t *stored,
                                  size_t size, ald_error *err)
{
    if (f->facts.frame_crc32.data == NULL || f->header.compression != ALD_COMPRESSION_NONE)
        return ALD_OK;
    return compare_piece_crc32(f, piece, ald__crc32(0, stored, size), err);
}

static void take_crc32(void *to, const void *data, size_t size)
{
    uint32_t *crc = to;
    *crc = ald__crc32(*crc, data, size);
}

/* CRC32 of prologue, chunks and epilogue as stored, where they have no checksum of their own. */
static ald_status check_frame_crc32(const ald__file *f, ald_error *err)
{
    uint64_t begin = f->sections.payload.begin, at = 0;
    if (f->facts.frame_crc32.data == NULL || !(f->header.flags & ALD_FLAG_STREAMING) ||
        f->header.compression != ALD_COMPRESSION_NONE)
        return ALD_OK;
    for (uint64_t i = 0; i < f->chunk_count + 2; i++) {
        uint64_t end = ald__file_piece_end(f, i);
        uint32_t found = 0;
        ALD_TRY(ald__file_feed(f, begin + at, begin + end, take_crc32, &found, err));
        ALD_TRY(compare_piece_crc32(f, i, found, err));
        at = end;
    }
    return ALD_OK;
}

ald_status ald__check_trust(const ald__file *f, const ald__settings *settings, ald__scope scope,
                            const ald_host *host, ald__hashes *hashes, ald_error *err)
{
    ALD_TRY(ald__check_signer(f, &settings->trust, err));
    ALD_TRY(ald__check_signature(f, scope, host, hashes, err));
    if (scope == ALD__SCOPE_ALL && hashes == NULL)
        ALD_TRY(check_frame_crc32(f, err));
    return ald__check_license(f, settings, host, err);
}
