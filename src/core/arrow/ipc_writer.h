/* SPDX-License-Identifier: MIT */
/* The inside of an ald__ipc_writer: shared by the files that write messages and those that write dictionaries. */
#ifndef CORE_ARROW_IPC_WRITER_H
#define CORE_ARROW_IPC_WRITER_H

#include "core/arrow/ipc_encode.h"
#include "core/arrow/ipc_write.h"
#include "core/arrow/key_index.h"

/* What was written of one dictionary. */
typedef struct ald__ipc_dictionary {
    int written;
    int changed;          /* by the batch in work */
    ald_buffer last;      /* the last batch's values as planned: STREAM and DELTA compare with it */
    ald__key_index keys;  /* DELTA: the number of each value */
    uint32_t value_count; /* DELTA: values written */
    ald_buffer map;       /* DELTA: uint32_t numbers of the last batch's values */
} ald__ipc_dictionary;

struct ald__ipc_writer {
    ald_allocator alloc;
    ald__ipc_tree tree;
    ald__ipc_write_options options;
    ald__ipc_compress compress; /* what options.compress points at */
    uint64_t position;
    ald__ipc_plan plan;
    ald_buffer metadata;
    ald_buffer compressed; /* bodies of the message in work */
    ald_buffer packed;     /* ald__ipc_piece: what the body consists of when it is compressed */
    ald_buffer blocks;     /* ald__ipc_block */
    ald_buffer key;
    uint64_t *value_offsets, *value_sizes;
    size_t *value_pieces;
    ald__ipc_dictionary *dictionaries;
    ald__ipc_remap *remaps;
    const struct ArrowArray **dictionary_arrays;
};

/* Writes the plan as a record batch or, with `dictionary` not negative, as a dictionary batch of that id. */
ALD_NODISCARD ald_status ald__ipc_emit_plan(ald__ipc_writer *writer, int64_t dictionary,
                                            int is_delta, const ald__emit *emit, ald_error *err);

ALD_NODISCARD ald_status ald__ipc_dictionaries_init(ald__ipc_writer *writer, ald_error *err);
void ald__ipc_dictionaries_clear(ald__ipc_writer *writer);
/* All that must come before this batch. */
ALD_NODISCARD ald_status ald__ipc_write_dictionaries(ald__ipc_writer *writer,
                                                     const struct ArrowArray *batch,
                                                     const ald__emit *emit, ald_error *err);

#endif
