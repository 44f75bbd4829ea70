/* SPDX-License-Identifier: MIT */
/* YAML (through libyaml) and trees of values. The text comes from anybody: how deep it nests, how many values it holds and
 * how much its aliases stand for are limited. */
#ifndef CARD_YAML_H
#define CARD_YAML_H

#include "ald/io.h"
#include "ald/value.h"

#define CARD_YAML_VALUES 65536            /* at most, aliases counted as what they stand for */
#define CARD_YAML_KEYS 32768              /* of one map: each is looked for among the others */
#define CARD_YAML_BYTES ((size_t)8 << 20) /* of text, counted so too */
#define CARD_YAML_DEPTH 32                /* F-053; the map is 1 */

typedef struct card_yaml_options {
    size_t first_line; /* the number of its first line, for messages */
    /* Whether scalars under a key of the map stay the text that they are: `version: 1.10`, `language: no`. */
    int (*is_text)(const char *key);
} card_yaml_options;

/* One document, a map (an empty text is an empty one), into `out`, a map without entries. Tags of programming languages, merge
 * keys and keys that are no scalars are ALD_E_UNSUPPORTED. */
ALD_NODISCARD ald_status card_yaml_read(const char *text, size_t size,
                                        const card_yaml_options *options, ald_value *out,
                                        ald_error *err);

/* Appends a map as a document in block style, without markers, that card_yaml_read and YAML 1.1 and 1.2 read as the same.
 * Extension values are ALD_E_UNSUPPORTED. */
ALD_NODISCARD ald_status card_yaml_write(const ald_value *map, ald_buffer *out, ald_error *err);

#endif
