/* SPDX-License-Identifier: MIT */
/* A file whose prefix is known last. Where the sink can go back, room is left for it and the payload goes straight to its
 * place; elsewhere the payload waits: in a spool, or where it is already. A payload that waits can be signed. */
#ifndef CORE_DATASET_FILE_OUTPUT_H
#define CORE_DATASET_FILE_OUTPUT_H

#include "ald/crypto.h"
#include "ald/io.h"

typedef struct ald__output {
    const ald_host *host;
    ald_sink sink;
    int crate_crc32;          /* the variant; needs the bytes in order, so the payload waits */
    uint64_t room;            /* left for the prefix; 0: the payload waits */
    uint32_t crc;             /* of the payload so far, where it does not wait */
    uint64_t size;            /* of the payload so far */
    ald_spool spool;          /* of the waiting payload, where the host has one */
    ald_buffer memory;        /* else */
    const ald_source *stored; /* or it is part of another file, from `stored_begin` on */
    uint64_t stored_begin;
} ald__output;

/* `room`: the size of the prefix, or 0 when it is not known, the sink cannot go back or the payload has to wait. Clear also
 * after a failure. */
ALD_NODISCARD ald_status ald__output_begin(ald__output *output, const ald_sink *sink, uint64_t room,
                                           int crate_crc32, const ald_host *host, ald_error *err);
/* The payload is `size` bytes of `source`, from `begin` on. The source is borrowed. */
void ald__output_begin_stored(ald__output *output, const ald_sink *sink, const ald_source *source,
                              uint64_t begin, uint64_t size, const ald_host *host);
/* Payload bytes, in order. */
ALD_NODISCARD ald_status ald__output_write(ald__output *output, const void *data, size_t size,
                                           ald_error *err);
/* The signature of prefix and payload, which must have waited. Both are read twice. */
ALD_NODISCARD ald_status ald__output_sign(const ald__output *output, const ald_buffer *prefix,
                                          const uint8_t seed[ALD_ED25519_SEED_BYTES],
                                          uint8_t signature[ALD_ED25519_SIGNATURE_BYTES],
                                          ald_error *err);
/* The prefix (of `room` bytes, if room was left) and what follows the payload; then the CRC32. */
ALD_NODISCARD ald_status ald__output_finish(ald__output *output, const ald_buffer *prefix,
                                            const void *tail, size_t tail_size, ald_error *err);
void ald__output_clear(ald__output *output);

#endif
