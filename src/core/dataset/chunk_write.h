/* SPDX-License-Identifier: MIT */
/* One chunk, from a struct array to its stored bytes. Slots are independent: several run at once. */
#ifndef CORE_DATASET_CHUNK_WRITE_H
#define CORE_DATASET_CHUNK_WRITE_H

#include "ald/io.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_write.h"
#include "core/codec/codec.h"
#include "core/codec/packed/packed.h"
#include "core/crypto/piece.h"

#define ALD__FRAME_BYTES (64u << 10) /* a column frame is closed once it holds so much */

typedef struct ald__chunk_slot {
    const ald_allocator *alloc;
    const ald__ipc_schema *schema; /* shared by all slots */
    uint8_t compression;
    uint8_t column_frames; /* with compression 1 to 3 */
    ald__ipc_writer *writer;
    ald__encoder *encoder;
    uint8_t effort;      /* an ald_effort, of packed chunks; set before the first run */
    ald__packer *packer; /* of packed chunks */
    ald__ipc_span *spans;
    const ald_host *host;        /* lends cryptography to the next two; set after init */
    const ald__piece_keys *keys; /* the stored bytes are sealed with these; NULL: they are not */
    uint8_t hashes;              /* the stored bytes are hashed */
    uint64_t k, row_offset;      /* in, with keys: the chunk's number from 1 on, its first row */
    struct ArrowArray chunk;     /* in; released by run */
    ald_buffer plain;            /* out: the chunk's IPC messages */
    ald_buffer stored; /* out: the stored bytes; empty with compression 0: `plain` is stored */
    uint32_t rows, uncompressed;
    uint8_t hash[ALD_BLAKE3_BYTES];
    ald_status status;
    ald_error error;
} ald__chunk_slot;

/* `schema` (for the writer) and `decoded` are borrowed. Clear also after a failure. */
ALD_NODISCARD ald_status ald__chunk_slot_init(ald__chunk_slot *slot, const ald_allocator *alloc,
                                              const struct ArrowSchema *schema,
                                              const ald__ipc_schema *decoded, uint8_t compression,
                                              uint32_t alignment, ald_error *err);
void ald__chunk_slot_clear(ald__chunk_slot *slot);
/* Encodes and compresses slot->chunk; the outcome is in slot->status. */
void ald__chunk_slot_run(ald__chunk_slot *slot);
/* What is to be written: stored or plain bytes. */
const ald_buffer *ald__chunk_slot_bytes(const ald__chunk_slot *slot);

#endif
