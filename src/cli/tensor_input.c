/* SPDX-License-Identifier: MIT */
#include "cli/tensor_input.h"

#include "ald/tensors.h"

ald_status cli_tensors_open(cli_input *in, const read_options *read, ald_error *err)
{
    ald_tensor_options options = ALD_TENSOR_OPTIONS_INIT;
    options.note = cli_input_note;
    options.note_ctx = in;
    if (read != NULL) {
        options.names = read->tensors.items;
        options.name_count = (uint32_t)read->tensors.count;
        options.one_row = read->one_row;
        options.unpack = read->unpack;
    }
    if (options.one_row && options.unpack) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--one-row and --unpack exclude each other");
    }
    const ald_host *host = &in->env->host;
    return in->format == FORMAT_NPY ? ald_npy_open(&in->source, &options, host, &in->stream, err)
           : in->format == FORMAT_NPZ
               ? ald_npz_open(&in->source, &options, host, &in->stream, err)
               : ald_safetensors_open(&in->source, &options, host, &in->stream, err);
}
