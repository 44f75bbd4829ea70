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

/* A frame of the body: where it ends there, and its first column. */
typedef struct ald__frame_cut {
    uint64_t end;
    uint32_t column;
} ald__frame_cut;

typedef struct ald__chunk_slot {
    const ald_allocator *alloc;
    const ald__ipc_schema *schema; /* shared by all slots */
    uint8_t compression;
    uint8_t column_frames; /* with compression 1 to 3 */
    ald__ipc_writer *writer;
    ald__encoder *encoder;
    uint8_t effort;      /* an ald_effort; set before the first run */
    ald__packer *packer; /* of packed chunks */
    ald__ipc_span *spans;
    ald__frame_cut *frames;   /* of the chunk at hand, with column frames */
    size_t frame_count, body; /* the body's place in the plain bytes */
    int prepared;
    const ald__tuning *tunings; /* by a frame's first column; NULL: level 3 */
    ald_buffer spare;
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
/* Column frames that tunings can be chosen for. */
int ald__chunk_slot_tunable(const ald__chunk_slot *slot);
/* The first half of what run does: the chunk's plain bytes, and where its frames end. */
ald_status ald__chunk_slot_prepare(ald__chunk_slot *slot, ald_error *err);
/* Tries the frames `first`, `first` + `step`, … of a prepared chunk, with the worker's encoder; fills tunings by column. */
ald_status ald__chunk_slot_try(const ald__chunk_slot *slot, ald__chunk_slot *worker, size_t first,
                               size_t step, ald__tuning *tunings, ald_error *err);
/* Encodes and compresses slot->chunk; the outcome is in slot->status. */
void ald__chunk_slot_run(ald__chunk_slot *slot);
/* What is to be written: stored or plain bytes. */
const ald_buffer *ald__chunk_slot_bytes(const ald__chunk_slot *slot);

#endif
