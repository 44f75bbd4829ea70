/* SPDX-License-Identifier: MIT */
/* The native provider of ald_crypto: OpenSSL's libcrypto, bound when it is first needed. */
#ifndef NATIVE_CRYPTO_PROVIDER_H
#define NATIVE_CRYPTO_PROVIDER_H

#include "ald/crypto.h"

const ald_crypto *ald__native_crypto(void);

#endif
