/* SPDX-License-Identifier: MIT */
/* AES-GCM done by somebody else, who takes a while: the platform's own, which is asynchronous.
 *
 * The core cannot wait. So a piece that would be opened fails with ALD_E_IO, and is written down; when it was opened elsewhere,
 * the whole call is made again, and gets the text at the same place. Nothing behind that place was reached before: the order of
 * the core's checks is what it always is. What does not open elsewhere is opened here, and fails here. */
#ifndef WASM_CRYPTO_DEFERRAL_H
#define WASM_CRYPTO_DEFERRAL_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"

typedef struct ald_wasm_deferral ald_wasm_deferral;

/* What waits for its text: AES-256-GCM of `bytes`, which the text replaces. */
typedef struct ald_wasm_piece {
    uint8_t *bytes;
    uint32_t size;
    uint8_t *key, *nonce, *aad;
    uint32_t aad_size;
} ald_wasm_piece;

#define ALD_WASM_DEFER_SEVERAL 1 /* pieces that the core opens together */
#define ALD_WASM_DEFER_EACH 2    /* every piece */

/* NULL: no memory. */
ald_wasm_deferral *ald_wasm_deferral_new(void);
/* NULL is fine. Wipes it. */
void ald_wasm_deferral_free(ald_wasm_deferral *deferral);
/* From now on pieces of `least` bytes and more are deferred, as `which` says; NULL: none. */
void ald_wasm_deferral_use(ald_wasm_deferral *deferral, int which, uint32_t least);
/* A piece that waits and was not handed out yet; NULL: there is none. */
const ald_wasm_piece *ald_wasm_deferral_next(ald_wasm_deferral *deferral);
/* Of a piece that was handed out: whether its bytes are the text now. */
void ald_wasm_deferral_answer(const ald_wasm_piece *piece, int is_opened);

/* ---- for the provider */

/* Whether a piece is with somebody else, from now on or still. */
int ald__wasm_deferred_waits(const ald_gcm_call *call, int is_one_of_several);
/* Puts the text that came back in its place; 0: none did, it is to be opened here. */
int ald__wasm_deferred_take(const ald_gcm_call *call);
/* A key that the same call derived before it was made again; 0: it is to be derived, and kept. */
int ald__wasm_deferred_key(const uint8_t facts[ALD_BLAKE3_BYTES], uint8_t *out, size_t size);
void ald__wasm_deferred_keep(const uint8_t facts[ALD_BLAKE3_BYTES], const uint8_t *key,
                             size_t size);

#endif
