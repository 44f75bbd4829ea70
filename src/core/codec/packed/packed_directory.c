/* SPDX-License-Identifier: MIT */
/* The directory at the start of a packed chunk (F-403). */
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/codec/packed/packed.h"

#define MAGIC 0x184D2A5Au /* a skippable frame */
#define NAME 0x50444C41u  /* "ALDP" */
#define FRAME_HEAD 8u
#define NAME_AND_COUNT 8u
#define ENTRY 8u
#define SLACK 65536u /* inflated bytes beyond twice the rebuilt ones */

ald_status ald__packed_directory_size(const ald__packed_at *at, const uint8_t *src, size_t src_size,
                                      uint64_t stored_size, size_t *out)
{
    uint64_t content;
    if (src_size < ALD__PACKED_DIRECTORY_HEAD || ald__load_le32(src) != MAGIC ||
        ald__load_le32(src + FRAME_HEAD) != NAME)
        return ald__packed_bad(at, "not beginning with a directory: size of a packed chunk",
                               stored_size);
    content = ald__load_le32(src + 4);
    if (content > stored_size - FRAME_HEAD || content < NAME_AND_COUNT + ENTRY ||
        content != NAME_AND_COUNT + (uint64_t)ald__load_le32(src + FRAME_HEAD + 4) * ENTRY)
        return ald__packed_bad(at, "size of the directory", content);
    *out = (size_t)content + FRAME_HEAD;
    return ALD_OK;
}

uint32_t ald__packed_stored_size(const ald__packed_directory *directory, uint32_t frame)
{
    return ald__load_le32(directory->entries + (size_t)frame * ENTRY);
}

uint32_t ald__packed_inflated_size(const ald__packed_directory *directory, uint32_t frame)
{
    return ald__load_le32(directory->entries + (size_t)frame * ENTRY + 4);
}

ald_status ald__packed_directory_read(const ald__packed_at *at, const uint8_t *src, size_t size,
                                      uint64_t stored_size, uint64_t rebuilt_size,
                                      ald__packed_directory *out)
{
    uint64_t stored = 0, inflated = 0;
    out->count = ald__load_le32(src + FRAME_HEAD + 4);
    out->entries = src + FRAME_HEAD + NAME_AND_COUNT;
    out->size = size;
    for (uint32_t i = 0; i < out->count; i++) {
        stored += ald__packed_stored_size(out, i);
        inflated += ald__packed_inflated_size(out, i);
    }
    if (stored != stored_size - size)
        return ald__packed_bad(at, "not what the chunk has: stored bytes of the directory's frames",
                               stored);
    if (inflated > 2 * rebuilt_size + SLACK)
        return ald__packed_bad(at, "too many: inflated bytes of the directory's frames", inflated);
    return ALD_OK;
}
