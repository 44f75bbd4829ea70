/* SPDX-License-Identifier: MIT */
/* Everything before the payload, for writers. */
#ifndef CORE_DATASET_PREFIX_H
#define CORE_DATASET_PREFIX_H

#include "ald/crypto.h"
#include "ald/io.h"
#include "ald/reader.h"
#include "ald/writer.h"
#include "core/dataset/protect.h"

typedef struct ald__prefix {
    const ald_allocator *alloc;
    const ald_save_options *options; /* dataset type, compression, compat, metadata */
    uint8_t flags;                   /* those of sections that the other members do not show */
    uint8_t minor;                   /* 0: what the contents ask for */
    uint64_t rows, payload_size, uncompressed;
    const uint8_t *sha256;     /* 32 bytes, or NULL */
    const ald_buffer *section; /* the schema section */
    const ald_chunk_entry *chunks;
    uint64_t chunk_count;
    const ald_array_entry *arrays; /* offsets count from the payload's start */
    uint64_t array_count;
    const uint8_t *frame_crc32; /* 4 bytes for each piece, or NULL */
    size_t frame_crc32_size;
    const uint8_t *seal_hashes; /* 32 bytes for each piece, or NULL: no seal. Needs a signer */
    size_t seal_hashes_size;
    int with_prefix_crc32;
    const ald__protecting *protecting; /* or NULL */
    uint64_t room; /* bytes to fill exactly, by ald.pad; 0: as many as it takes */
} ald__prefix;

/* The chunk index section, appended. */
ALD_NODISCARD ald_status ald__prefix_put_chunks(const ald_chunk_entry *chunks, uint64_t count,
                                                ald_buffer *out, ald_error *err);
/* Appends the sections to `out`. ALD_E_LIMIT_EXCEEDED when they do not fit into `room`. */
ALD_NODISCARD ald_status ald__prefix_build(const ald__prefix *prefix, ald_buffer *out,
                                           ald_error *err);

#endif
