/* SPDX-License-Identifier: MIT */
/* Schemas as FlatBuffers, and the numbers of Arrow's Message.fbs and Schema.fbs that the writer needs. */
#ifndef CORE_ARROW_IPC_WRITE_SCHEMA_H
#define CORE_ARROW_IPC_WRITE_SCHEMA_H

#include "core/arrow/flatbuf_write.h"
#include "core/arrow/ipc_tree.h"

#define ALD__IPC_VERSION_V5 4

typedef enum ald__ipc_header {
    ALD__IPC_HEADER_SCHEMA = 1,
    ALD__IPC_HEADER_DICTIONARY = 2,
    ALD__IPC_HEADER_BATCH = 3
} ald__ipc_header;

/* A Schema table; returns its position. */
size_t ald__fb_schema(ald__fb *fb, const ald__ipc_tree *tree);
/* The FlatBuffer of a schema message. */
ALD_NODISCARD ald_status ald__fb_schema_message(const ald__ipc_tree *tree, ald_buffer *out,
                                                ald_error *err);
/* A Message table, not yet linked to its header table (field 2). */
size_t ald__fb_message(ald__fb *fb, ald__ipc_header type, uint64_t body_size);

#endif
