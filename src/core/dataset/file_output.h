/* SPDX-License-Identifier: MIT */
/* A file whose prefix is known last. Where the sink can go back, room is left for it and the payload goes straight to its
 * place; elsewhere the payload waits in a spool. */
#ifndef CORE_DATASET_FILE_OUTPUT_H
#define CORE_DATASET_FILE_OUTPUT_H

#include "ald/io.h"

typedef struct ald__output {
    const ald_host *host;
    ald_sink sink;
    int crate_crc32;   /* the variant; needs the bytes in order, so the payload waits */
    uint64_t room;     /* left for the prefix; 0: the payload waits */
    uint32_t crc;      /* of the payload so far, where it does not wait */
    uint64_t size;     /* of the payload so far */
    ald_spool spool;   /* of the waiting payload, where the host has one */
    ald_buffer memory; /* else */
} ald__output;

/* `room`: the size of the prefix, or 0 when it is not known or the sink cannot go back. Clear also after a failure. */
ALD_NODISCARD ald_status ald__output_begin(ald__output *output, const ald_sink *sink, uint64_t room,
                                           int crate_crc32, const ald_host *host, ald_error *err);
/* Payload bytes, in order. */
ALD_NODISCARD ald_status ald__output_write(ald__output *output, const void *data, size_t size,
                                           ald_error *err);
/* The prefix (of `room` bytes, if room was left) and what follows the payload; then the CRC32. */
ALD_NODISCARD ald_status ald__output_finish(ald__output *output, const ald_buffer *prefix,
                                            const void *tail, size_t tail_size, ald_error *err);
void ald__output_clear(ald__output *output);

#endif
