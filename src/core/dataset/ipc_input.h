/* SPDX-License-Identifier: MIT */
/* An Arrow IPC file or stream being read: what ipc_stream.c and ipc_file.c share. */
#ifndef CORE_DATASET_IPC_INPUT_H
#define CORE_DATASET_IPC_INPUT_H

#include "ald/io.h"
#include "core/arrow/ipc_read.h"

/* Where the footer says that a message is. */
typedef struct ald__ipc_place_in_file {
    uint64_t offset, body_size;
    uint32_t head_size;
} ald__ipc_place_in_file;

typedef struct ald__ipc_input {
    ald_host host;
    ald_source source;
    ald__ipc_codec codec;
    ald__ipc_rules rules;
    ald__ipc_schema *schema;
    ald__ipc_dictionaries *dictionaries;
    uint64_t position; /* stream: of the next message */
    int ended;
    ald_buffer head; /* prefix and metadata of the message at hand */
    /* Files. */
    ald__ipc_place_in_file *dictionary_places, *batch_places;
    size_t dictionary_count, batch_count, batch_next;
    int dictionaries_read;
} ald__ipc_input;

/* The prefix and metadata at `offset`; what lies beyond `end` is not read. */
ALD_NODISCARD ald_status ald__ipc_input_head(ald__ipc_input *in, uint64_t offset, uint64_t end,
                                             ald__ipc_message *out, ald_error *err);
/* The message's body, as shared memory with one reference, also set in *message. */
ALD_NODISCARD ald_status ald__ipc_input_body(ald__ipc_input *in, uint64_t end,
                                             ald__ipc_message *message, ald__shared **out,
                                             ald_error *err);

/* Reads the schema, and where everything is. */
ALD_NODISCARD ald_status ald__ipc_file_begin(ald__ipc_input *in, ald_error *err);
/* The next batch; out->release NULL at the end. */
ALD_NODISCARD ald_status ald__ipc_file_next(ald__ipc_input *in, struct ArrowArray *out,
                                            ald_error *err);
void ald__ipc_file_clear(ald__ipc_input *in);

/* Whether the source begins as a file does. */
ALD_NODISCARD ald_status ald__ipc_file_looks(const ald_source *source, int *is_file,
                                             ald_error *err);

#endif
