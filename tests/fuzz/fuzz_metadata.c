/* SPDX-License-Identifier: MIT */
/* MessagePack of the metadata section: what decodes is written, and the written form decodes to the same bytes again. */
#include "core/container/msgpack.h"
#include "fuzz/fuzz_host.h"

static void check_round_trip(const ald_value *value, const ald_host *host)
{
    ald_error err = {0};
    ald_value *again = NULL;
    ald_buffer first = {NULL, 0, 0, &host->alloc}, second = {NULL, 0, 0, &host->alloc};
    FUZZ_CHECK(ald__msgpack_encode(value, NULL, &first, &err) == ALD_OK);
    FUZZ_CHECK(ald__msgpack_decode(&host->alloc, first.data, first.size, 0, &again, &err) ==
               ALD_OK);
    FUZZ_CHECK(ald__msgpack_encode(again, NULL, &second, &err) == ALD_OK);
    FUZZ_CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    ald_value_free(again);
    ald_buffer_clear(&first);
    ald_buffer_clear(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    ald_value *value = NULL;
    ald_status status = ald__msgpack_decode(&host.alloc, data, size, 0, &value, &err);
    FUZZ_CHECK((status == ALD_OK) == (value != NULL));
    fuzz_check_error(status, &err);
    if (value != NULL)
        check_round_trip(value, &host);
    ald_value_free(value);
    FUZZ_CHECK_EMPTY();
    return 0;
}
