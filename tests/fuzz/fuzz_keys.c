/* SPDX-License-Identifier: MIT */
/* Key files: what is read has keys of known kinds, and its public keys are written and read again as they were. */
#include <string.h>

#include "ald/native.h"
#include "fuzz.h"
#include "native/keys/key_der.h"
#include "native/keys/pem.h"

static void check_round_trip(const ald_key *key, const ald_host *host)
{
    char text[512];
    uint8_t der[KEY_DER_PUBLIC_BYTES];
    size_t size = 0;
    ald_error err = {0};
    ald_keys *again = NULL;
    FUZZ_CHECK(key->kind == ALD_KEY_SIGN || key->kind == ALD_KEY_RECEIVE);
    ald__key_der_public(key, der);
    FUZZ_CHECK(ald__pem_append("PUBLIC KEY", der, sizeof der, text, sizeof text, &size));
    FUZZ_CHECK(ald_keys_parse(text, size, "again", ALD_KEYS_PUBLIC, key->kind, NULL, host, &again,
                              &err) == ALD_OK);
    FUZZ_CHECK(ald_keys_count(again) == 1);
    FUZZ_CHECK(memcmp(ald_keys_get(again, 0)->public_key, key->public_key, ALD_KEY_BYTES) == 0);
    ald_keys_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = ald_native_host(1);
    ald_error err = {0};
    ald_keys *keys = NULL;
    ald_status status = ald_keys_parse(data, size, "input", 0, 0, NULL, &host, &keys, &err);
    FUZZ_CHECK((status == ALD_OK) == (keys != NULL));
    FUZZ_CHECK(status == ALD_OK || (err.status == (int32_t)status && err.msg[0] != '\0'));
    for (size_t i = 0; keys != NULL && i < ald_keys_count(keys); i++)
        check_round_trip(ald_keys_get(keys, i), &host);
    ald_keys_free(keys);
    return 0;
}
