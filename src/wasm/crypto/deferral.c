/* SPDX-License-Identifier: MIT */
#include "wasm/crypto/deferral.h"

#include <stdlib.h>
#include <string.h>

#include "wasm/crypto/wasm_crypto.h"

#define KEY_MOST 64u

enum piece_state { PIECE_WAITS, PIECE_IS_OUT, PIECE_OPENED, PIECE_REFUSED };

/* One piece. Key, nonce, additional data and tag tell it from others: a text that opened under them is the text. */
typedef struct deferred {
    ald_wasm_piece piece; /* first: the handle is its address */
    struct deferred *next;
    uint8_t key[ALD_GCM_KEY_BYTES], nonce[ALD_GCM_NONCE_BYTES], aad[48], tag[ALD_GCM_TAG_BYTES];
    enum piece_state state;
} deferred;

struct ald_wasm_deferral {
    deferred *pieces;
    int which;
    uint32_t least;
    uint8_t facts[ALD_BLAKE3_BYTES], derived[KEY_MOST]; /* of a password */
    size_t derived_size;                                /* 0: none */
};

static ald_wasm_deferral *in_use; /* a module has one thread */

ald_wasm_deferral *ald_wasm_deferral_new(void)
{
    return calloc(1, sizeof(ald_wasm_deferral));
}

static void drop_bytes(deferred *d)
{
    if (d->piece.bytes != NULL)
        ald__wasm_wipe(d->piece.bytes, d->piece.size);
    free(d->piece.bytes);
    d->piece.bytes = NULL;
}

void ald_wasm_deferral_free(ald_wasm_deferral *deferral)
{
    if (deferral == NULL)
        return;
    if (in_use == deferral)
        in_use = NULL;
    while (deferral->pieces != NULL) {
        deferred *d = deferral->pieces;
        deferral->pieces = d->next;
        drop_bytes(d);
        ald__wasm_wipe(d, sizeof *d);
        free(d);
    }
    ald__wasm_wipe(deferral, sizeof *deferral);
    free(deferral);
}

void ald_wasm_deferral_use(ald_wasm_deferral *deferral, int which, uint32_t least)
{
    in_use = deferral;
    if (deferral != NULL) {
        deferral->which = which;
        deferral->least = least;
    }
}

const ald_wasm_piece *ald_wasm_deferral_next(ald_wasm_deferral *deferral)
{
    for (deferred *d = deferral->pieces; d != NULL; d = d->next) {
        if (d->state == PIECE_WAITS) {
            d->state = PIECE_IS_OUT;
            return &d->piece;
        }
    }
    return NULL;
}

void ald_wasm_deferral_answer(const ald_wasm_piece *piece, int is_opened)
{
    deferred *d = (deferred *)(uintptr_t)piece;
    d->state = is_opened ? PIECE_OPENED : PIECE_REFUSED;
    if (!is_opened)
        drop_bytes(d);
}

/* ---- pieces */

static const uint8_t *tag_of(const ald_gcm_call *c)
{
    return c->sealed + c->sealed_size - ALD_GCM_TAG_BYTES;
}

static deferred *find_piece(const ald_gcm_call *c)
{
    for (deferred *d = in_use->pieces; d != NULL; d = d->next) {
        if (d->piece.size == c->sealed_size && memcmp(d->tag, tag_of(c), sizeof d->tag) == 0 &&
            memcmp(d->nonce, c->nonce, sizeof d->nonce) == 0 &&
            memcmp(d->key, c->key, sizeof d->key) == 0 && d->piece.aad_size == c->aad_size &&
            memcmp(d->aad, c->aad, c->aad_size) == 0)
            return d;
    }
    return NULL;
}

/* NULL: no memory, and the piece is opened here. */
static deferred *add_piece(const ald_gcm_call *c)
{
    deferred *d = calloc(1, sizeof *d);
    if (d != NULL)
        d->piece.bytes = malloc(c->sealed_size);
    if (d == NULL || d->piece.bytes == NULL) {
        free(d);
        return NULL;
    }
    memcpy(d->piece.bytes, c->sealed, c->sealed_size);
    memcpy(d->key, c->key, sizeof d->key);
    memcpy(d->nonce, c->nonce, sizeof d->nonce);
    memcpy(d->aad, c->aad, c->aad_size);
    memcpy(d->tag, tag_of(c), sizeof d->tag);
    d->piece.size = (uint32_t)c->sealed_size;
    d->piece.aad_size = c->aad_size;
    d->piece.key = d->key;
    d->piece.nonce = d->nonce;
    d->piece.aad = d->aad;
    d->next = in_use->pieces;
    in_use->pieces = d;
    return d;
}

int ald__wasm_deferred_waits(const ald_gcm_call *c, int is_one_of_several)
{
    deferred *d;
    if (in_use == NULL || c->sealed_size < in_use->least || c->sealed_size < ALD_GCM_TAG_BYTES ||
        (in_use->which != ALD_WASM_DEFER_EACH && !is_one_of_several))
        return 0;
    d = find_piece(c);
    if (d == NULL)
        d = add_piece(c);
    return d != NULL && (d->state == PIECE_WAITS || d->state == PIECE_IS_OUT);
}

int ald__wasm_deferred_take(const ald_gcm_call *c)
{
    deferred *d = NULL;
    if (in_use != NULL && c->sealed_size >= ALD_GCM_TAG_BYTES)
        d = find_piece(c);
    if (d == NULL || d->state != PIECE_OPENED)
        return 0;
    memcpy(c->text, d->piece.bytes, c->sealed_size - ALD_GCM_TAG_BYTES);
    drop_bytes(d);
    d->state = PIECE_REFUSED; /* should it be asked for again */
    return 1;
}

/* ---- keys of passwords: Argon2id shall not run again, too */

int ald__wasm_deferred_key(const uint8_t facts[ALD_BLAKE3_BYTES], uint8_t *out, size_t size)
{
    if (in_use == NULL || size == 0 || size != in_use->derived_size ||
        memcmp(facts, in_use->facts, ALD_BLAKE3_BYTES) != 0)
        return 0;
    memcpy(out, in_use->derived, size);
    return 1;
}

void ald__wasm_deferred_keep(const uint8_t facts[ALD_BLAKE3_BYTES], const uint8_t *key, size_t size)
{
    if (in_use == NULL || size > KEY_MOST)
        return;
    memcpy(in_use->facts, facts, ALD_BLAKE3_BYTES);
    memcpy(in_use->derived, key, size);
    in_use->derived_size = size;
}
