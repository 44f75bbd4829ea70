/* SPDX-License-Identifier: MIT */
/* The 32-byte header. */
#ifndef CORE_CONTAINER_HEADER_H
#define CORE_CONTAINER_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

#define ALD__HEADER_BYTES 32u
#define ALD__SHORTEST_FILE 36u  /* header and CRC */
#define ALD__ONES_32 UINT32_MAX /* the true size is in the metadata */
#define ALD__ONES_16 UINT16_MAX
#define ALD__VERSION_MAJOR 1u
#define ALD__VERSION_MINOR_KNOWN 3u

typedef struct ald__header {
    uint8_t version_major, version_minor;
    uint16_t dataset_type;
    uint32_t metadata_size;
    uint32_t payload_size;
    uint32_t uncompressed_size;
    uint8_t compression, flags;
    uint16_t schema_size;
    uint64_t num_rows;
} ald__header;

/* Magic, version and reserved flags of the first `size` (≤ 32) bytes, as far as they go. */
ALD_NODISCARD ald_status ald__header_check_start(const uint8_t *data, size_t size, ald_error *err);
void ald__header_decode(const uint8_t data[ALD__HEADER_BYTES], ald__header *out);
void ald__header_encode(const ald__header *header, uint8_t data[ALD__HEADER_BYTES]);
/* Dataset type, compression id, combinations of flags. */
ALD_NODISCARD ald_status ald__header_check_fields(const ald__header *header, ald_error *err);

#endif
