/* SPDX-License-Identifier: MIT */
/* A .npy file: one array, whose bytes follow the header to the file's end. */
#include <string.h>

#include "interchange/tensors/npy_header.h"
#include "interchange/text/mem.h"

/* What an array without a name of its own is called. */
#define ONLY_NAME "value"

typedef struct npy_bytes {
    ald_source source;
    uint64_t start; /* of the array */
} npy_bytes;

static ald_status read_bytes(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const npy_bytes *b = ctx;
    return b->source.read_at(b->source.ctx, b->start + offset, buf, size, err);
}

static ald_status read_header(ald__tensor_memory *memory, npy_bytes *b, ald__tensor *tensor,
                              ald_error *err)
{
    uint8_t prefix[ALD__NPY_PREFIX_BYTES] = {0};
    uint64_t all = b->source.size_bytes;
    size_t given = all < sizeof prefix ? (size_t)all : sizeof prefix, start = 0, size = 0;
    int is_utf8 = 0;
    ald_status status =
        given > 0 ? b->source.read_at(b->source.ctx, 0, prefix, given, err) : ALD_OK;
    if (status == ALD_OK)
        status = ald__npy_prefix(prefix, given, &start, &size, &is_utf8, err);
    if (status != ALD_OK)
        return status;
    if (size > all - start)
        return ald_error_set(err, ALD_E_TRUNCATED, all, "the .npy ends within its header");
    char *text = ald__tensor_alloc(memory, size, 1, err);
    if (text == NULL)
        return ALD_E_NOMEM;
    if (size > 0)
        status = b->source.read_at(b->source.ctx, start, text, size, err);
    b->start = start + size;
    return status == ALD_OK ? ald__npy_header(memory, text, size, is_utf8, tensor, err) : status;
}

static ald_status check_size(const npy_bytes *b, const ald__tensor *tensor, ald_error *err)
{
    uint64_t there = b->source.size_bytes - b->start, bytes = 0;
    ald_status status = ald__tensor_bytes(tensor, &bytes, err);
    if (status != ALD_OK)
        return status;
    if (bytes > there)
        return ald_error_set(err, ALD_E_TRUNCATED, b->source.size_bytes,
                             "the array has %llu bytes, but only %llu are there",
                             (unsigned long long)bytes, (unsigned long long)there);
    if (bytes < there)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, b->start + bytes,
                             "%llu bytes follow the array\nseveral arrays in one file are read as "
                             ".npz (numpy.savez)",
                             (unsigned long long)(there - bytes));
    return ALD_OK;
}

static ald_status add_array(ald__tensor_set *set, const ald_source *source, ald_error *err)
{
    ald__tensor tensor;
    npy_bytes *b = ald__tensor_alloc(&set->memory, 1, sizeof *b, err);
    if (b == NULL)
        return ALD_E_NOMEM;
    b->source = *source;
    memset(&tensor, 0, sizeof tensor);
    ald_status status = read_header(&set->memory, b, &tensor, err);
    if (status == ALD_OK)
        status = check_size(b, &tensor, err);
    if (status != ALD_OK)
        return status;
    tensor.read = read_bytes;
    tensor.ctx = b;
    status = ald__tensor_set_add(set, &tensor, err);
    if (status == ALD_OK) {
        set->tensors[0].name = ONLY_NAME;
        set->tensors[0].name_size = strlen(ONLY_NAME);
    }
    return status;
}

ald_status ald_npy_open(const ald_source *source, const ald_tensor_options *options,
                        const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald__tensor_set set;
    memset(out, 0, sizeof *out);
    ald_status status = ald__tensor_set_open(&set, options, host, err);
    if (status == ALD_OK && set.options.name_count > 0)
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "a .npy has one array, without a name");
    if (status == ALD_OK)
        status = add_array(&set, source, err);
    if (status == ALD_OK)
        return ald__tensor_set_stream(&set, 1, out, err);
    ald__tensor_set_close(&set);
    return status;
}
