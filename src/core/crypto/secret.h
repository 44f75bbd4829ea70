/* SPDX-License-Identifier: MIT */
/* Bytes that must not stay in memory, and comparison that does not tell where two of them differ. */
#ifndef CORE_CRYPTO_SECRET_H
#define CORE_CRYPTO_SECRET_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"

/* Zeros that the compiler does not leave out, though nobody reads them. */
void ald__wipe(void *data, size_t size);

/* 1 when equal. Its time depends on `size` alone. */
int ald__equal_ct(const void *a, const void *b, size_t size);

/* A key, or a text that was decrypted. Zero-initialised is empty. */
typedef struct ald_secret {
    uint8_t *bytes;
    size_t size;
    const ald_allocator *alloc; /* borrowed; outlives the secret */
} ald_secret;

/* Room for `size` bytes, zeros. `out` must be empty. */
ALD_NODISCARD ald_status ald__secret_init(ald_secret *out, const ald_allocator *alloc, size_t size,
                                          ald_error *err);
/* Wipes, frees and empties. */
void ald__secret_clear(ald_secret *secret);

#endif
