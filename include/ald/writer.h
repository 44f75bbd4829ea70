/* SPDX-License-Identifier: MIT */
/* Writing .ald. */
#ifndef ALD_WRITER_H
#define ALD_WRITER_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/schema.h"
#include "ald/trust.h"
#include "ald/value.h"

ALD_BEGIN_DECLS

typedef enum ald_compat {
    ALD_COMPAT_NONE = 0,
    ALD_COMPAT_ALIMENTAR_0_2 = 1 /* what the Rust crate alimentar 0.2 reads */
} ald_compat;

typedef enum ald_layout {
    ALD_LAYOUT_AUTO = 0,     /* STREAMING above 100 MB of uncompressed payload */
    ALD_LAYOUT_WHOLE = 1,    /* one frame around the whole table */
    ALD_LAYOUT_STREAMING = 2 /* chunks, each readable alone */
} ald_layout;

/* How much is tried for each column of a chunk, packed or ZSTD_L3. Others have no use for it. */
typedef enum ald_effort {
    ALD_EFFORT_DEFAULT = 0, /* ZSTD_L3: what is written fastest, a hundredth larger at most */
    ALD_EFFORT_FAST = 1,    /* packed: not what reads or writes slowest; ZSTD_L3: nothing */
    /* packed: every filter on all of a column. ZSTD_L3: what is read fastest from a fast disk, written five to twenty
     * times slower; larger by a twentieth of the plain bytes at most, mostly far less; AUTO becomes STREAMING */
    ALD_EFFORT_BEST = 2
} ald_effort;

typedef struct ald_save_options {
    uint32_t struct_size;
    uint16_t dataset_type; /* an ald_dataset_type; 0: TABULAR */
    uint8_t compression;   /* an ald_compression; PACKED ones are chunked, AUTO becomes STREAMING */
    uint8_t compat;        /* an ald_compat */
    uint8_t write_sha256;  /* put SHA-256 of the uncompressed payload into the metadata */
    uint8_t layout;        /* an ald_layout */
    uint8_t aligned; /* TRUENO_NATIVE: every buffer at a multiple of 64; compression must be NONE */
    uint8_t backend_hint; /* of the array index, 0 to 8 */
    uint8_t effort;       /* an ald_effort */
    uint8_t reserved[3];
    const ald_value *metadata; /* a map, or NULL; its "ald" and "sha256" keys are dropped */
    uint64_t memory_bytes;     /* batches held before they are spooled; 0: 256 MiB */
    uint64_t
        chunk_rows; /* STREAMING; 0: 65,536 (aligned: 2^20), or as many as fit 16 MiB, if fewer */
    const ald_protection *protection; /* NULL: not encrypted, licensed or signed */
} ald_save_options;

#define ALD_SAVE_OPTIONS_INIT                                                                      \
    {sizeof(ald_save_options), 0, ALD_COMPRESSION_ZSTD_L3, 0, 0, 0, 0, 0, 0, {0}, NULL, 0, 0, NULL}

/* Reads `batches` to its end, releases it (also on failure) and writes one .ald. A signed payload waits in a spool until its
 * signature is known. A table that is encrypted without STREAMING is in memory as a whole: no spool gets it in clear. An
 * encrypted file has no sha256. The sink stands
 * at its start. On failure it holds an incomplete file: hosts write to a temporary one (ald/native.h does). */
ALD_API ALD_NODISCARD ald_status ald_save(struct ArrowArrayStream *batches, const ald_sink *sink,
                                          const ald_save_options *options, const ald_host *host,
                                          ald_error *err);

ALD_END_DECLS
#endif
