/* SPDX-License-Identifier: MIT */
/* Arrow IPC files and streams: schema messages, dictionaries, batches, compressed buffers. What reads is written as the
 * other kind and must read again with as many rows. */
#include "fuzz/fuzz_host.h"

static void check_round_trip(const ald_source *source, int64_t rows, const ald_host *host)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4};
    ald_error err = {0};
    struct ArrowArrayStream stream;
    ald_buffer buffer = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&buffer);
    ald_ipc_options options = ALD_IPC_OPTIONS_INIT;
    options.kind = rows % 2 == 0 ? ALD_IPC_FILE : ALD_IPC_STREAM;
    options.compression = compressions[rows % 3];
    FUZZ_CHECK(ald_ipc_open(source, ALD_IPC_AUTO, host, &stream, &err) == ALD_OK);
    ald_status status = ald_ipc_write(&stream, &sink, &options, host, &err);
    fuzz_check_error(status, &err);
    /* A file has one dictionary for each column, so some streams cannot become one. */
    FUZZ_CHECK(status != ALD_E_INVALID_FORMAT && status != ALD_E_TRUNCATED);
    if (status == ALD_OK) {
        int64_t rows_again = 0;
        ald_source written = ald_source_memory(buffer.data, buffer.size);
        FUZZ_CHECK(ald_ipc_open(&written, (ald_ipc_kind)options.kind, host, &stream, &err) ==
                   ALD_OK);
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
    ald_source source = ald_source_memory(data, size);
    int64_t rows = 0;
    ald_status status = ald_ipc_open(&source, ALD_IPC_AUTO, &host, &stream, &err);
    if (status == ALD_OK)
        status = fuzz_drain(&stream, &rows, &err);
    fuzz_check_error(status, &err);
    if (status == ALD_OK)
        check_round_trip(&source, rows, &host);
    FUZZ_CHECK_EMPTY();
    return 0;
}
