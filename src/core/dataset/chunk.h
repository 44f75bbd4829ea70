/* SPDX-License-Identifier: MIT */
/* One chunk of a STREAMING payload: its column frames, and its messages against its entry. */
#ifndef CORE_DATASET_CHUNK_H
#define CORE_DATASET_CHUNK_H

#include "core/arrow/ipc_read.h"
#include "core/container/file.h"

/* A directory of column frames at the start of a stored chunk. */
typedef struct ald__frame_directory {
    uint32_t count;         /* head and bodies; 0: the chunk has no directory */
    const uint8_t *entries; /* count × (u32 compressed, u32 uncompressed) */
    size_t size;            /* bytes of the skippable frame */
} ald__frame_directory;

/* Reads the directory of the stored chunk at src (decrypted), if it has one, and checks its sums against both sizes. */
ALD_NODISCARD ald_status ald__frame_directory_read(uint8_t compression, const uint8_t *src,
                                                   size_t src_size, uint64_t uncompressed_size,
                                                   uint64_t offset, ald__frame_directory *out,
                                                   ald_error *err);
/* Where the directory says that frame `index` ends in the uncompressed chunk. */
uint64_t ald__frame_end(const ald__frame_directory *directory, uint32_t index);

/* Decompresses a whole stored chunk into dst, frame by frame where it has a directory. */
ALD_NODISCARD ald_status ald__chunk_decode(const ald__file *file, const uint8_t *src,
                                           size_t src_size, uint8_t *dst, size_t dst_size,
                                           uint64_t offset, ald_error *err);

/* Parses the messages of an uncompressed chunk: one dictionary batch for each id, one record batch of entry->num_rows.
 * `bytes` begins at `data` inside `backing`; `src` are the stored bytes (for the directory's borders). */
ALD_NODISCARD ald_status ald__chunk_parse(const ald__file *file, const ald__ipc_schema *schema,
                                          const ald_chunk_entry *entry, const uint8_t *src,
                                          ald__cursor *bytes, ald__shared *backing,
                                          ald__ipc_message *message, struct ArrowArray *out,
                                          ald_error *err);

#endif
