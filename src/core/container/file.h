/* SPDX-License-Identifier: MIT */
/* An .ald file taken apart: the only code that knows offsets. Nothing of the payload is parsed here. */
#ifndef CORE_CONTAINER_FILE_H
#define CORE_CONTAINER_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/io.h"
#include "ald/reader.h"
#include "core/container/header.h"
#include "core/container/metadata.h"

#define ALD__SIGNATURE_BYTES 96u
#define ALD__LICENSE_FIXED_BYTES 75u
#define ALD__CHUNK_ENTRY_BYTES 28u
#define ALD__ARRAY_ENTRY_BYTES 31u
#define ALD__CRC_BYTES 4u
#define ALD__TAG_BYTES 16u
#define ALD__METADATA_LIMIT (64ull << 20)

/* Whether a recipient_pub_hash is that of one of the caller's keys. */
typedef struct ald__recipient_test {
    ald_status (*is_ours)(void *ctx, const uint8_t hash[8], int *ours, ald_error *err);
    void *ctx;
} ald__recipient_test;

typedef struct ald__file {
    ald_allocator alloc;
    ald_source source;
    uint64_t metadata_limit;
    ald__header header;
    uint64_t payload_size, uncompressed_size, schema_size; /* true values, once known */
    int keeps_head;                                        /* what is read of the prefix stays: */
    ald_buffer head;                                       /* the file's first bytes */
    uint8_t *metadata;                                     /* the section's bytes, once read */
    ald_value *tree;                                       /* the metadata as a map, once decoded */
    int metadata_is_array;
    ald__facts facts;
    ald_sections sections;
    uint8_t crc32_variant; /* an ald_crc32_variant */
    uint64_t chunk_count, array_count;
    ald_chunk_entry *chunks;
    ald_array_entry *arrays;
    int8_t encryption_mode; /* -1: none */
    uint32_t recipient_count;
    const ald__recipient_test *recipient_test; /* while the file is being opened, or NULL */
    uint8_t *recipient_hashes; /* 8 bytes each; NULL: none, or too many to be read */
    uint8_t signature[ALD__SIGNATURE_BYTES];
    ald_license license;
    uint8_t *license_block; /* fixed part and terms, NUL behind */
    size_t license_size;
} ald__file;

typedef enum ald__file_checks {
    ALD__FILE_WHOLE = 0,  /* the CRC32 over everything, right after the length */
    ALD__FILE_LAZY = 1,   /* only structure and prefix_crc32 */
    ALD__FILE_SALVAGE = 2 /* the prefix alone; what follows may be cut or rotten */
} ald__file_checks;

/* Magic to section layout, in the order of F-320. `source` is copied and stays the caller's. Clear with
 * ald__file_clear, also after a failure. */
ALD_NODISCARD ald_status ald__file_open(ald__file *file, const ald_source *source,
                                        uint64_t metadata_limit, ald__file_checks checks,
                                        const ald_allocator *alloc, ald_error *err);
/* The same for a caller with private keys: where the sections fit with a recipient block of 53 bytes and of 45, `test`
 * decides (F-213). NULL: none. */
ALD_NODISCARD ald_status ald__file_open_as(ald__file *file, const ald_source *source,
                                           uint64_t metadata_limit, ald__file_checks checks,
                                           const ald__recipient_test *test,
                                           const ald_allocator *alloc, ald_error *err);
void ald__file_clear(ald__file *file);
/* The first checks alone: magic, version, reserved flags, and whether header and CRC can be there. */
ALD_NODISCARD ald_status ald__file_check_start(const ald_source *source, ald_error *err);

/* Parts of ald__file_open, one file each. */
ALD_NODISCARD ald_status ald__file_walk(ald__file *file, ald_error *err); /* walk.c: Truncated */
ALD_NODISCARD ald_status ald__file_read_metadata(ald__file *file, ald_error *err); /* file.c */
ALD_NODISCARD ald_status ald__file_check_prefix(const ald__file *file,
                                                ald_error *err); /* file.c: prefix_crc32 */
ALD_NODISCARD ald_status ald__file_layout(ald__file *file, int salvage,
                                          ald_error *err);                       /* layout.c */
ALD_NODISCARD ald_status ald__file_read_chunks(ald__file *file, ald_error *err); /* index.c */
ALD_NODISCARD ald_status ald__file_read_arrays(ald__file *file, ald_error *err); /* index.c */

/* Where piece `index` of a STREAMING payload (0 prologue, 1 … n chunks, n + 1 epilogue) ends, from the payload's start. */
uint64_t ald__file_piece_end(const ald__file *file, uint64_t index);

/* Where keeps_head is set, reads [head.size, end) into head: these bytes are read no second time. */
ALD_NODISCARD ald_status ald__file_keep(ald__file *file, uint64_t end, ald_error *err);

/* Bytes that encryption adds to a piece, or to the payload without STREAMING. */
static inline size_t ald__file_tag(const ald__file *file)
{
    return file->header.flags & ALD_FLAG_ENCRYPTED ? ALD__TAG_BYTES : 0;
}
/* Passes the bytes [begin, end), in order: at once where they are in memory, else read in pieces. */
ALD_NODISCARD ald_status ald__file_feed(const ald__file *file, uint64_t begin, uint64_t end,
                                        void (*take)(void *to, const void *data, size_t size),
                                        void *to, ald_error *err);

/* Little-endian numbers at a file offset that is known to be inside. */
ALD_NODISCARD ald_status ald__file_u16(const ald__file *file, uint64_t at, uint16_t *out,
                                       ald_error *err);
ALD_NODISCARD ald_status ald__file_u32(const ald__file *file, uint64_t at, uint32_t *out,
                                       ald_error *err);
ALD_NODISCARD ald_status ald__file_bytes(const ald__file *file, uint64_t at, void *out, size_t size,
                                         ald_error *err);
/* A range as fresh memory of range.end - range.begin + 1 bytes, the last one 0. */
ALD_NODISCARD ald_status ald__file_copy(const ald__file *file, ald_range range, uint8_t **out,
                                        ald_error *err);

#endif
