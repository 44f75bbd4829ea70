/* SPDX-License-Identifier: MIT */
/* Which arrays are needed for some columns is known when the names of all are: so the file is then opened twice. */
#include "cli/tensor_input.h"

#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "ald/tensors.h"
#include "cli/select.h"

static ald_status open_arrays(cli_input *in, const ald_tensor_options *options, ald_error *err)
{
    const ald_host *host = &in->env->host;
    return in->format == FORMAT_NPY ? ald_npy_open(&in->source, options, host, &in->stream, err)
           : in->format == FORMAT_NPZ
               ? ald_npz_open(&in->source, options, host, &in->stream, err)
               : ald_safetensors_open(&in->source, options, host, &in->stream, err);
}

/* Names of the arrays that are needed, *count of them; 0: all. *names belongs to the schema, its list to the caller. */
static ald_status choose(cli_input *in, const struct ArrowSchema *schema, const char ***names,
                         uint32_t *count, ald_error *err)
{
    size_t all = (size_t)schema->n_children;
    uint8_t *keep = calloc(all + 1, 1);
    *names = calloc(all + 1, sizeof(**names));
    *count = 0;
    if (keep == NULL || *names == NULL) {
        free(keep);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    }
    if (cli_select_needs(in->env, schema, in->columns, in->where, keep)) {
        for (size_t i = 0; i < all; i++) {
            if (keep[i]) {
                (*names)[(*count)++] = schema->children[i]->name;
            }
        }
    }
    free(keep);
    return ALD_OK;
}

static ald_status open_chosen(cli_input *in, ald_tensor_options *options, ald_error *err)
{
    ald_tensor_options quiet = *options;
    struct ArrowSchema schema;
    const char **names = NULL;
    memset(&schema, 0, sizeof(schema));
    quiet.note = NULL;
    ald_status status = open_arrays(in, &quiet, err);
    if (status == ALD_OK) {
        status = ald_stream_schema(&in->stream, &schema, err);
        in->stream.release(&in->stream);
    }
    if (status == ALD_OK) {
        status = choose(in, &schema, &names, &options->name_count, err);
        options->names = names;
    }
    if (status == ALD_OK) {
        status = open_arrays(in, options, err);
    }
    free(names);
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    return status;
}

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
    int may_choose = in->columns != NULL && in->columns->count > 0 && in->format != FORMAT_NPY &&
                     options.name_count == 0 && !options.unpack;
    return may_choose ? open_chosen(in, &options, err) : open_arrays(in, &options, err);
}
