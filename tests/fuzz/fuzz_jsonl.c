/* SPDX-License-Identifier: MIT */
/* JSON Lines and arrays: the first byte chooses options, the rest is the file. What reads is written as JSON Lines and
 * must read again with as many rows. */
#include "fuzz/fuzz_host.h"

static ald_jsonl_options options_of(uint8_t choice)
{
    ald_jsonl_options options = ALD_JSONL_OPTIONS_INIT;
    options.mixed = choice % 3;
    options.text.encoding = (uint8_t)((choice >> 2) % 6);
    options.text.batch_rows = 7;
    return options;
}

static void check_round_trip(const ald_source *source, const ald_jsonl_options *options,
                             int64_t rows, const ald_host *host)
{
    ald_error err = {0};
    struct ArrowArrayStream stream;
    ald_buffer buffer = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&buffer);
    ald_jsonl_write_options write = ALD_JSONL_WRITE_OPTIONS_INIT;
    if (ald_jsonl_open(source, options, host, &stream, &err) != ALD_OK)
        return; /* no memory */
    ald_status status = ald_jsonl_write(&stream, &sink, &write, host, &err);
    FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM);
    if (status == ALD_OK) {
        int64_t rows_again = 0;
        ald_jsonl_options again = ALD_JSONL_OPTIONS_INIT;
        again.mixed = ALD_JSON_MIXED_JSON;
        ald_source written = ald_source_memory(buffer.data, buffer.size);
        status = ald_jsonl_open(&written, &again, host, &stream, &err);
        if (status == ALD_OK)
            status = fuzz_drain(&stream, &rows_again, &err);
        FUZZ_CHECK(status == ALD_E_NOMEM || (status == ALD_OK && rows_again == rows));
    }
    ald_buffer_clear(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    struct ArrowArrayStream stream;
    if (size == 0)
        return 0;
    ald_jsonl_options options = options_of(data[0]);
    ald_source source = ald_source_memory(data + 1, size - 1);
    int64_t rows = 0;
    ald_status status = ald_jsonl_open(&source, &options, &host, &stream, &err);
    if (status == ALD_OK)
        status = fuzz_drain(&stream, &rows, &err);
    fuzz_check_error(status, &err);
    if (status == ALD_OK)
        check_round_trip(&source, &options, rows, &host);
    FUZZ_CHECK_EMPTY();
    return 0;
}
