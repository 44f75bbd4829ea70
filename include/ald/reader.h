/* SPDX-License-Identifier: MIT */
/* Reading .ald: inspect (facts, no payload), load (everything checked, in memory), verify (every check, no rows). */
#ifndef ALD_READER_H
#define ALD_READER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/schema.h"
#include "ald/trust.h"
#include "ald/value.h"

ALD_BEGIN_DECLS

/* Half-open ranges of file offsets; begin = end where a section is absent. */
typedef struct ald_range {
    uint64_t begin;
    uint64_t end;
} ald_range;

typedef struct ald_sections {
    ald_range header, metadata, schema, chunk_index, array_index, encryption, padding, payload;
    ald_range signature, license, crc32;
} ald_sections;

/* One entry of the chunk index. */
typedef struct ald_chunk_entry {
    uint64_t row_offset;
    uint64_t byte_offset; /* from the start of the payload */
    uint32_t num_rows;
    uint32_t compressed_size;
    uint32_t uncompressed_size;
} ald_chunk_entry;

/* One entry of the array index. */
typedef struct ald_array_entry {
    uint64_t length;
    uint64_t offset; /* in the file */
    uint64_t size_bytes;
    uint32_t column_idx;
    uint8_t dtype, alignment, backend_hint;
} ald_array_entry;

typedef enum ald_crc32_variant {
    ALD_CRC32_UNCHECKED = 0,
    ALD_CRC32_IEEE = 1,
    ALD_CRC32_CRATE = 2 /* the deviating table of the Rust crate alimentar 0.1–0.4 */
} ald_crc32_variant;

/* What a file says of itself. Owned by the object it came from. Members are appended only. */
typedef struct ald_info {
    uint64_t file_size_bytes;
    uint64_t num_rows;
    uint64_t payload_size; /* true values, where the header's are all ones */
    uint64_t uncompressed_size;
    uint64_t schema_size;
    uint16_t dataset_type;
    uint8_t version_major, version_minor;
    uint8_t compression;
    uint8_t flags;
    uint8_t crc32_variant;     /* an ald_crc32_variant */
    uint8_t metadata_is_array; /* the positional form */
    ald_sections sections;
    const ald_value *metadata; /* always a map, the positional form under its keys; without "ald" */
    const ald_value *facts;    /* the "ald" map, or NULL */
    const struct ArrowSchema *schema;
    uint64_t chunk_count;
    const ald_chunk_entry *chunks;
    uint64_t array_count;
    const ald_array_entry *arrays;
    int8_t encryption_mode; /* -1: not encrypted; 0 password, 1 recipient, 2 several */
    uint32_t recipient_count;
    const uint8_t *signer_public_key; /* 32 bytes, or NULL */
    const ald_license *license;       /* or NULL */
    /* recipient_count times 8 bytes: how SHA-256 of the recipients' public keys begin. NULL: a password, a block
     * without them (the crate's), or more than 1,024. */
    const uint8_t *recipient_hashes;
} ald_info;

/* Limits on what a reader agrees to do; 0 means the default in parentheses. */
typedef struct ald_limits {
    uint64_t metadata_bytes; /* (64 MiB) */
    /* payload that ald_load rebuilds (packed files: 2^36, 2^31 where addresses have 32 bits; others: no limit but the host's
     * memory, since they need stored bytes) */
    uint64_t uncompressed_bytes;
} ald_limits;

typedef struct ald_load_options {
    uint32_t struct_size;
    uint8_t ignore_expiry; /* load though the license has expired, or the time is unknown */
    uint8_t
        check_all; /* ald_streaming_open: also the CRC32 over the whole file, and sha256; ald_inspect:
                            * also the CRC32 */
    uint8_t reserved[2];
    ald_limits limits;
    const struct ArrowSchema *expected_schema; /* else ALD_E_SCHEMA_MISMATCH; NULL: any */
    uint64_t cache_bytes;   /* ald_streaming_open: chunks kept in memory; 0: 96 MiB; 1: none */
    const ald_trust *trust; /* NULL: no trusted signer, no secret */
} ald_load_options;

#define ALD_LOAD_OPTIONS_INIT {sizeof(ald_load_options), 0, 0, {0, 0}, {0, 0}, NULL, 0, NULL}

/* Reads header, metadata, schema, indices and, at the end, signature and license. Checks the structure of the file, not
 * the payload and, without options->check_all, not the checksum (info.crc32_variant is ALD_CRC32_UNCHECKED): then its cost
 * does not depend on the payload. */
typedef struct ald_inspection ald_inspection;
ALD_API ALD_NODISCARD ald_status ald_inspect(const ald_source *source,
                                             const ald_load_options *options, const ald_host *host,
                                             ald_inspection **out, ald_error *err);
ALD_API const ald_info *ald_inspection_info(const ald_inspection *inspection);
ALD_API void ald_inspection_free(ald_inspection *inspection);

/* Checks everything and loads the whole table. The source is not used after the call, except that a source with `view`
 * must stay open while arrays of an uncompressed file are used. */
typedef struct ald_dataset ald_dataset;
ALD_API ALD_NODISCARD ald_status ald_load(const ald_source *source, const ald_load_options *options,
                                          const ald_host *host, ald_dataset **out, ald_error *err);
ALD_API const ald_info *ald_dataset_info(const ald_dataset *dataset);
/* The table's schema, a struct; borrowed. */
ALD_API const struct ArrowSchema *ald_dataset_schema(const ald_dataset *dataset);
ALD_API size_t ald_dataset_batch_count(const ald_dataset *dataset);
/* Batch `index` as a new struct array that shares memory and outlives the dataset. The caller releases it. */
ALD_API ALD_NODISCARD ald_status ald_dataset_batch(const ald_dataset *dataset, size_t index,
                                                   struct ArrowArray *out, ald_error *err);
/* All batches in order as a stream that outlives the dataset. The caller releases it. */
ALD_API ALD_NODISCARD ald_status ald_dataset_stream(const ald_dataset *dataset,
                                                    struct ArrowArrayStream *out, ald_error *err);
/* Lets go of the rows, for whoever has taken a stream of them that is to be the last: from here on there are no batches.
 * Everything else stays known. */
ALD_API void ald_dataset_drop_rows(ald_dataset *dataset);
ALD_API void ald_dataset_free(ald_dataset *dataset);

ALD_END_DECLS
#endif
