/* SPDX-License-Identifier: MIT */
/* The registry of buyers: a line of JSON for each marked copy. Names are in it and nowhere else. */
#ifndef CLI_BUYERS_H
#define CLI_BUYERS_H

#include "cli/seller.h"

typedef struct known_buyer {
    char *name;
    uint8_t hash[ALD_WATERMARK_BUYER_BYTES];
} known_buyer;

/* Each buyer once, in the order of the file. Zero-initialise. */
typedef struct buyer_list {
    known_buyer *items;
    uint8_t *hashes; /* the same hashes, one behind the other */
    size_t count, cap;
} buyer_list;

/* Reads a registry. A line that is none is ALD_E_INVALID_FORMAT with its number. */
ALD_NODISCARD ald_status buyers_read(cli_env *env, const char *path, buyer_list *out,
                                     ald_error *err);
void buyers_clear(buyer_list *list);
/* NULL: not there. */
const known_buyer *buyers_find(const buyer_list *list, const uint8_t *hash);

/* One copy. Texts may be NULL. */
typedef struct buyer_entry {
    const char *name, *dataset_id, *file;
    const uint8_t *hash;      /* of the buyer */
    const uint8_t *file_hash; /* BLAKE3 of the file, or NULL */
    double strength;
    uint64_t capacity;
} buyer_entry;

/* Makes the registry when it is not there, and tells whether it can be written: ahead of work that ends with an entry. `path`
 * NULL: buyers.jsonl of ~/.alimentar, whose folder is made too. *out is freed by the caller. */
ALD_NODISCARD ald_status buyers_prepare(cli_env *env, const char *path, char **out, ald_error *err);

/* Appends a line in one step, to a file that only its owner can read; made when it is not there. */
ALD_NODISCARD ald_status buyers_append(cli_env *env, const char *path, const buyer_entry *entry,
                                       ald_error *err);

/* BLAKE3 of all bytes of a source; of a file. */
ALD_NODISCARD ald_status cli_source_blake3(cli_env *env, const ald_source *source, uint8_t out[32],
                                           ald_error *err);
ALD_NODISCARD ald_status cli_file_blake3(cli_env *env, const char *path, uint8_t out[32],
                                         ald_error *err);

#endif
