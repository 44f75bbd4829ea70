/* SPDX-License-Identifier: MIT */
/* One chunk of a STREAMING payload: its column frames, and its messages against its entry. */
#ifndef CORE_DATASET_CHUNK_H
#define CORE_DATASET_CHUNK_H

#include "core/arrow/ipc_read.h"
#include "core/container/file.h"
#include "core/dataset/inflaters.h"

/* A directory of column frames at the start of a stored chunk. */
typedef struct ald__frame_directory {
    uint32_t count;         /* head and bodies; 0: the chunk has no directory */
    const uint8_t *entries; /* count × (u32 compressed, u32 uncompressed) */
    size_t size;            /* bytes of the skippable frame */
} ald__frame_directory;

/* Bytes of the directory's frame when the stored chunk at src (its first 16 bytes suffice) begins with one; else 0. */
uint64_t ald__frame_directory_size(uint8_t compression, const uint8_t *src, size_t src_size);
/* Checks the directory at src, of which `size` bytes are there, against both sizes of its chunk. */
ALD_NODISCARD ald_status ald__frame_directory_check(const uint8_t *src, size_t size,
                                                    uint64_t compressed_size,
                                                    uint64_t uncompressed_size, uint64_t offset,
                                                    ald__frame_directory *out, ald_error *err);
/* Both, for a whole stored chunk; out->count is 0 when it has no directory. */
ALD_NODISCARD ald_status ald__frame_directory_read(uint8_t compression, const uint8_t *src,
                                                   size_t src_size, uint64_t uncompressed_size,
                                                   uint64_t offset, ald__frame_directory *out,
                                                   ald_error *err);
/* Where the directory says that frame `index` ends in the uncompressed chunk. */
uint64_t ald__frame_end(const ald__frame_directory *directory, uint32_t index);

/* Decompresses the whole stored chunk `index` into dst, frame by frame where it has a directory. A packed chunk needs the
 * schema, and leaves columns out that `columns` (NULL: all) does not want: their bytes in dst stay as they are. The
 * inflaters are those of the file. */
ALD_NODISCARD ald_status ald__chunk_decode(const ald__file *file, const ald__ipc_schema *schema,
                                           uint64_t index, const uint8_t *columns,
                                           const uint8_t *src, size_t src_size, uint8_t *dst,
                                           size_t dst_size, uint64_t offset,
                                           ald__inflaters *inflaters, ald_error *err);

/* Parses the messages of an uncompressed chunk: one dictionary batch for each id, one record batch of entry->num_rows.
 * `bytes` begins at `data` inside `backing`; `src` are the stored bytes (for the directory's borders). `columns`
 * (NULL: all) has one byte for each top-level column; those with 0 are left out. */
ALD_NODISCARD ald_status ald__chunk_parse(const ald__file *file, const ald__ipc_schema *schema,
                                          const ald_chunk_entry *entry, const uint8_t *src,
                                          const uint8_t *columns, ald__cursor *bytes,
                                          ald__shared *backing, ald__ipc_message *message,
                                          struct ArrowArray *out, ald_error *err);

/* Parts of it, for a chunk of which only some columns are there. parse_head: `bytes` is the head alone; dictionary batches
 * are read, *message is the record batch, its body where it will be in `plain_size` bytes. */
ALD_NODISCARD ald_status ald__chunk_parse_head(const ald__ipc_schema *schema, ald__cursor *bytes,
                                               const ald__ipc_rules *rules, ald__shared *backing,
                                               ald__ipc_dictionaries *dictionaries,
                                               ald__ipc_message *message, uint64_t plain_size,
                                               ald_error *err);
/* What the directory says against what the record batch's metadata says; fills spans[0 .. columns). */
ALD_NODISCARD ald_status ald__chunk_check_borders(const ald__ipc_schema *schema,
                                                  const ald__frame_directory *directory,
                                                  const ald__ipc_message *message, uint64_t head,
                                                  uint64_t offset, ald__ipc_span *spans,
                                                  ald_error *err);
/* Rows as the entry says, else *batch is released. */
ALD_NODISCARD ald_status ald__chunk_check_rows(const ald_chunk_entry *entry,
                                               struct ArrowArray *batch, uint64_t offset,
                                               ald_error *err);

#endif
