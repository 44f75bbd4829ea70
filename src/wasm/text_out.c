/* SPDX-License-Identifier: MIT */
/* Batches out of a module: CSV, JSON, Arrow IPC. */
#include "wasm/glue.h"

ald_status ald_wasm_write(struct ArrowArrayStream *batches, int format, ald_wasm_request *request,
                          ald_buffer *out)
{
    const ald_host *host = ald_wasm_host();
    ald_sink sink = ald_buffer_sink(out);
    if (format == ALD_WASM_CSV)
        return ald_csv_write(batches, &sink, &request->csv_out, host, ald_wasm_error());
    if (format == ALD_WASM_JSONL)
        return ald_jsonl_write(batches, &sink, &request->jsonl_out, host, ald_wasm_error());
    return ald_ipc_write(batches, &sink, &request->ipc_out, host, ald_wasm_error());
}
