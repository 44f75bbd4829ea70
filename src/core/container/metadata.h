/* SPDX-License-Identifier: MIT */
/* What the metadata means: known keys, the positional form, the facts about the bytes under "ald". */
#ifndef CORE_CONTAINER_METADATA_H
#define CORE_CONTAINER_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/value.h"

#define ALD__SEAL_CHUNKS_MAX (1u << 20)

/* A bin of the metadata: bytes borrowed from the tree, NULL when absent. */
typedef struct ald__bin {
    const uint8_t *data;
    size_t size;
} ald__bin;

/* The "ald" map, every form checked. */
typedef struct ald__facts {
    uint8_t has_payload_size, has_uncompressed_size, has_schema_size, has_kdf, has_seal;
    uint64_t payload_size, uncompressed_size, schema_size;
    uint64_t kdf_m, kdf_t, kdf_p;
    ald__bin prefix_crc32, frame_crc32, license_sha256, key_commit;
    ald__bin seal_hashes, seal_key, seal_sig;
} ald__facts;

/* Decodes the section strictly. *out is always a map (the positional form under its keys); *is_array tells. `offset` is
 * the section's file offset. */
ALD_NODISCARD ald_status ald__metadata_decode(const ald_allocator *alloc, const uint8_t *data,
                                              size_t size, uint64_t offset, ald_value **out,
                                              int *is_array, ald_error *err);
/* Types of the known keys of a map, as they are checked when read; for writers too. */
ALD_NODISCARD ald_status ald__metadata_check(const ald_value *map, uint64_t offset, ald_error *err);
/* Facts of a decoded map; `data` are the bytes that it came from (for the 9-byte form). */
ALD_NODISCARD ald_status ald__metadata_facts(const ald_value *map, const uint8_t *data, size_t size,
                                             uint64_t offset, ald__facts *out, ald_error *err);
/* Whether a first byte begins the positional form. */
int ald__metadata_is_array(uint8_t first);

/* The positional form of a map, as a new array root: fails when it has keys that the form does not. */
ALD_NODISCARD ald_status ald__metadata_to_array(const ald_allocator *alloc, const ald_value *map,
                                                ald_value **out, ald_error *err);

#endif
