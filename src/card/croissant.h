/* SPDX-License-Identifier: MIT */
/* Croissant 1.1 (mlcommons.org/croissant/1.1): the card, the file and its columns as JSON-LD. */
#ifndef CARD_CROISSANT_H
#define CARD_CROISSANT_H

#include "ald/arrow.h"
#include "ald/io.h"
#include "ald/value.h"

/* What is known of the file, from its bytes: never from the card. */
typedef struct card_file {
    const char *name; /* without a folder */
    const char *url;  /* where it is to be had; NULL: beside the JSON */
    uint64_t size_bytes, row_count;
    char sha256[65]; /* of the whole file, in hex */
    uint16_t dataset_type;
    const struct ArrowSchema *schema;
} card_file;

/* Appends the document. Text that is for people stays text: no `<` is in it, so it may stand in a page. */
ALD_NODISCARD ald_status card_croissant_write(const ald_value *metadata, const card_file *file,
                                              ald_buffer *out, ald_error *err);

#endif
