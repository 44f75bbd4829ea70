/* SPDX-License-Identifier: MIT */
/* Data into a module, and files and Arrow IPC out of it. */
#include "wasm/crypto/wasm_crypto.h"
#include "wasm/glue.h"

ald_status ald_wasm_read(ald_source *source, int format, ald_wasm_request *request,
                         struct ArrowArrayStream *out)
{
    const ald_host *host = ald_wasm_host();
    if (format == ALD_WASM_CSV)
        return ald_csv_open(source, &request->csv, host, out, ald_wasm_error());
    if (format == ALD_WASM_JSONL)
        return ald_jsonl_open(source, &request->jsonl, host, out, ald_wasm_error());
    return ald_ipc_open(source, ALD_IPC_AUTO, host, out, ald_wasm_error());
}

ald_status ald_wasm_write_ipc(struct ArrowArrayStream *batches, ald_wasm_request *request,
                              ald_buffer *out)
{
    ald_sink sink = ald_buffer_sink(out);
    return ald_ipc_write(batches, &sink, &request->ipc_out, ald_wasm_host(), ald_wasm_error());
}

ald_status ald_wasm_save(struct ArrowArrayStream *batches, ald_wasm_request *request,
                         ald_buffer *out)
{
    ald_sink sink = ald_buffer_sink(out);
    return ald_save(batches, &sink, ald_wasm_request_save(request), ald_wasm_host(),
                    ald_wasm_error());
}

ald_status ald_wasm_rewrite(ald_source *source, ald_wasm_request *request, ald_buffer *out)
{
    ald_sink sink = ald_buffer_sink(out);
    return ald_rewrite(source, &sink, ald_wasm_request_rewrite(request), ald_wasm_host(),
                       ald_wasm_error());
}

ald_status ald_wasm_ed25519_public(const uint8_t *seed, uint8_t *public_key)
{
    return ald__wasm_ed25519_public(seed, public_key, ald_wasm_error());
}

ald_status ald_wasm_x25519_public(const uint8_t *private_key, uint8_t *public_key)
{
    return ald__wasm_x25519_public(private_key, public_key, ald_wasm_error());
}
