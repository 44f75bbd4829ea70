/* SPDX-License-Identifier: MIT */
/* Batches out of a module as text. */
#include "wasm/glue.h"

ald_status ald_wasm_write(struct ArrowArrayStream *batches, int format, ald_wasm_request *request,
                          ald_buffer *out)
{
    const ald_host *host = ald_wasm_host();
    ald_sink sink = ald_buffer_sink(out);
    if (format == ALD_WASM_CSV)
        return ald_csv_write(batches, &sink, &request->csv_out, host, ald_wasm_error());
    return ald_jsonl_write(batches, &sink, &request->jsonl_out, host, ald_wasm_error());
}
