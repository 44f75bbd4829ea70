/* SPDX-License-Identifier: MIT */
/* Dataset cards as Hugging Face keeps them, README.md: YAML front matter and Markdown.
 *
 * The text below the front matter is the `description`, `pretty_name` the `name`, and `license` an SPDX expression; every
 * other key has its own name in both. What speaks of the file's bytes (`sha256`, `ald`, the key for private queries) is in no
 * card. Reading what was written gives the same metadata. */
#ifndef CARD_README_H
#define CARD_README_H

#include "ald/io.h"
#include "ald/value.h"

/* Told what a card has that its metadata will not. */
typedef struct card_notes {
    void (*say)(void *ctx, const char *text); /* NULL: nobody listens */
    void *ctx;
} card_notes;

/* Keys of metadata that are facts about the file. */
int card_is_fact(const char *key);

/* Sets what the card says in `metadata`, a map; other keys stay. */
ALD_NODISCARD ald_status card_readme_read(const char *text, size_t size, const ald_host *host,
                                          const card_notes *notes, ald_value *metadata,
                                          ald_error *err);

/* Appends the card of `metadata`, a map. */
ALD_NODISCARD ald_status card_readme_write(const ald_value *metadata, const ald_host *host,
                                           const card_notes *notes, ald_buffer *out,
                                           ald_error *err);

#endif
