/* SPDX-License-Identifier: MIT */
/* The binding: what gives the rows of an encrypted file their meaning, in one hash (F-221). */
#ifndef CORE_CONTAINER_BINDING_H
#define CORE_CONTAINER_BINDING_H

#include "core/container/file.h"
#include "core/crypto/digest.h"

typedef struct ald__bound {
    uint16_t dataset_type;
    uint8_t compression, flags; /* of the header */
    uint64_t num_rows, uncompressed_size;
    const uint8_t *schema; /* the sections' bytes */
    size_t schema_size;
    const uint8_t *chunk_index; /* with its count; NULL: none */
    size_t chunk_index_size;
    const uint8_t *block; /* the encryption block */
    size_t block_size;
} ald__bound;

ALD_NODISCARD ald_status ald__binding(const ald_host *host, const ald__bound *bound,
                                      uint8_t out[ALD_SHA256_BYTES], ald_error *err);
/* The same of a file that was opened. */
ALD_NODISCARD ald_status ald__file_binding(const ald__file *file, const ald_host *host,
                                           uint8_t out[ALD_SHA256_BYTES], ald_error *err);

#endif
