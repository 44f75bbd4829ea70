/* SPDX-License-Identifier: MIT */
/* Lines of a hash, two spaces and a file's name, as sha256sum and its kin write and read them. */
#ifndef CLI_HASH_LIST_H
#define CLI_HASH_LIST_H

#include "ald/hash.h"
#include "cli/cli.h"

typedef struct hash_entry {
    char *path;
    uint8_t digest[ALD_CONTENT_HASH_BYTES];
} hash_entry;

typedef struct hash_list {
    hash_entry *items;
    size_t count, cap;
} hash_list;

/* Reads a list. A line that is none is ALD_E_INVALID_FORMAT with its number. */
ALD_NODISCARD ald_status hash_list_read(cli_env *env, const char *path, hash_list *out,
                                        ald_error *err);
void hash_list_clear(hash_list *list);

/* Prints a line. A name with a backslash or a line's end in it is escaped, and the line then begins with a backslash. */
void hash_list_print(const uint8_t digest[ALD_CONTENT_HASH_BYTES], const char *path);

#endif
