/* SPDX-License-Identifier: MIT */
/* PEM (RFC 7468): labelled blocks of base64. Nothing but blank lines may stand around them. */
#ifndef NATIVE_KEYS_PEM_H
#define NATIVE_KEYS_PEM_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

#define PEM_LABEL_BYTES 40
#define PEM_DATA_BYTES 4096

typedef struct pem_block {
    char label[PEM_LABEL_BYTES]; /* "PRIVATE KEY" */
    uint8_t data[PEM_DATA_BYTES];
    size_t size;
} pem_block;

/* The next block of text[*at .. size); *at moves behind it. *found is 0 at the end. */
ald_status ald__pem_next(const char *text, size_t size, size_t *at, pem_block *out, int *found,
                         ald_error *err);

/* Appends a block at text[*used]. 0: it does not fit into `capacity`. */
int ald__pem_append(const char *label, const uint8_t *data, size_t size, char *text,
                    size_t capacity, size_t *used);

#endif
