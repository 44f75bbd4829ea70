/* SPDX-License-Identifier: MIT */
/* The list of the files of a dataset in shards, as JSON beside them: their names, rows, sizes and BLAKE3 hashes. */
#ifndef CLI_SHARD_MANIFEST_H
#define CLI_SHARD_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"

/* So many are written; with names of 255 bytes the manifest is no larger than what is read. */
#define SHARDS_MAX 262144u
#define SHARD_MANIFEST_BYTES ((uint64_t)256 << 20)

typedef struct manifest_file {
    char *name; /* without folders: it lies beside the manifest */
    uint64_t row_count, size_bytes;
    uint8_t blake3[32];
} manifest_file;

/* Zero-initialise. */
typedef struct shard_manifest {
    manifest_file *files; /* in the order of their rows */
    size_t count;
    uint64_t row_count;  /* of all */
    const char **sorted; /* the names, once shard_manifest_sort was called */
    char *format;        /* of the files, as --from takes it */
    uint8_t is_signed;   /* nothing is checked yet: cli/manifest_trust.h */
    uint8_t
        is_half; /* `files` are names alone, of files that were put in their places when that stopped */
    uint8_t signer[32]; /* Ed25519 */
    uint8_t signature[64];
} shard_manifest;

/* Whether a file is one, by its name (.json) and its beginning. */
int shard_manifest_is(const char *path);

/* Everything in it is checked but the files and the signature. That of a set that is half written is
 * ALD_E_INVALID_FORMAT, with is_half and its names. shard_manifest_clear in any case. */
ALD_NODISCARD ald_status shard_manifest_read(cli_env *env, const char *path, shard_manifest *out,
                                             ald_error *err);
/* For shard_manifest_lists; of a manifest that was read it is done. A name that is there twice is ALD_E_INVALID_FORMAT. */
ALD_NODISCARD ald_status shard_manifest_sort(shard_manifest *manifest, ald_error *err);
/* Whether it lists a file of this name. */
int shard_manifest_lists(const shard_manifest *manifest, const char *name);
/* Takes a copy of `name`, which has no folders. */
ALD_NODISCARD ald_status shard_manifest_add(shard_manifest *manifest, const char *name,
                                            uint64_t row_count, uint64_t size_bytes,
                                            const uint8_t blake3[32], ald_error *err);
/* The text of the manifest. */
ALD_NODISCARD ald_status shard_manifest_write(const shard_manifest *manifest, const ald_sink *sink,
                                              ald_error *err);
/* One that no reader takes, for the time in which the files of `before` and `now` are both there, or neither. */
ALD_NODISCARD ald_status shard_manifest_write_half(const shard_manifest *before,
                                                   const shard_manifest *now, const ald_sink *sink,
                                                   ald_error *err);
void shard_manifest_clear(shard_manifest *manifest);

/* "data/out-manifest.json" of "data/out-00000.ald": the name of a file beside `path`. The caller frees it; NULL: no memory. */
char *shard_manifest_beside(const char *path, const char *name);

#endif
