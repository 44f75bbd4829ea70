/* SPDX-License-Identifier: MIT */
/* Schemas as JSON or as `name:type,…`: what parses prints, and the printed form parses to the same schema. */
#include "fuzz/fuzz_host.h"

static void check_round_trip(const struct ArrowSchema *schema, const ald_host *host)
{
    ald_error err = {0};
    struct ArrowSchema again;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    FUZZ_CHECK(ald_schema_to_json(schema, &text, &err) == ALD_OK);
    ald_status status =
        ald_schema_from_json((const char *)text.data, text.size, host, &again, &err);
    FUZZ_CHECK(status == ALD_OK);
    FUZZ_CHECK(ald_schema_compare(schema, &again, 1, &err) == ALD_OK);
    again.release(&again);
    ald_buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof schema);
    ald_status status = ald_schema_from_json((const char *)data, size, &host, &schema, &err);
    FUZZ_CHECK((status == ALD_OK) == (schema.release != NULL));
    fuzz_check_error(status, &err);
    if (status == ALD_OK) {
        check_round_trip(&schema, &host);
        schema.release(&schema);
    }
    FUZZ_CHECK_EMPTY();
    return 0;
}
