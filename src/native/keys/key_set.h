/* SPDX-License-Identifier: MIT */
#ifndef NATIVE_KEYS_KEY_SET_H
#define NATIVE_KEYS_KEY_SET_H

#include "ald/keys.h"

#define KEYS_MAX 64u

struct ald_keys {
    size_t count;
    ald_key items[KEYS_MAX];
};

ald_status ald__keys_new(ald_keys **out, ald_error *err);

/* Fills the public key of a private one. */
ald_status ald__key_derive_public(ald_key *key, const ald_host *host, ald_error *err);

#endif
