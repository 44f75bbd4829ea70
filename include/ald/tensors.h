/* SPDX-License-Identifier: MIT */
/* Arrays of numbers as tables: NumPy's .npy and .npz, and safetensors.
 *
 * The first dimension counts rows. An array of one dimension is a column, further dimensions are fixed-size lists; a
 * structured .npy of one dimension has a column for each field. Several arrays are columns of one table when they have
 * as many rows. Pickled objects are never read. docs/INPUTS.md has the types. */
#ifndef ALD_TENSORS_H
#define ALD_TENSORS_H

#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

typedef struct ald_tensor_options {
    uint32_t struct_size;
    uint32_t batch_rows; /* at most so many rows a batch; 0: as many as fit 16 MiB, up to 65,536 */
    const char *const *names; /* only these arrays, in this order; NULL: all, in that of the file */
    uint32_t name_count;
    uint8_t
        one_row; /* each array is one value, its shape is in the type, and the table has one row */
    uint8_t unpack; /* arrays of two dimensions give a column for each of theirs */
    uint8_t reserved[2];
    /* Called with one line for each thing that a person should know (bfloat16 became float32). */
    void (*note)(void *note_ctx, const char *text);
    void *note_ctx;
} ald_tensor_options;

#define ALD_TENSOR_OPTIONS_INIT {sizeof(ald_tensor_options), 0, NULL, 0, 0, 0, {0, 0}, NULL, NULL}

/* `source` is copied and must stay open until the stream is released. Headers are read and checked at once, values with
 * their batches: memory is bounded by a batch, and by what a row needs. The stream knows its rows beforehand. */
ALD_API ALD_NODISCARD ald_status ald_npy_open(const ald_source *source,
                                              const ald_tensor_options *options,
                                              const ald_host *host, struct ArrowArrayStream *out,
                                              ald_error *err);

/* Members are decompressed as they are read, those in Fortran order into spools. ALD_E_UNSUPPORTED where libzip is not
 * there: it is opened at the first call. */
ALD_API ALD_NODISCARD ald_status ald_npz_open(const ald_source *source,
                                              const ald_tensor_options *options,
                                              const ald_host *host, struct ArrowArrayStream *out,
                                              ald_error *err);

/* The file's __metadata__ is that of the schema. bfloat16 becomes float32, which holds each of its values; 8-bit floats are
 * uint8, their bits. What a column was is in its field's metadata, under "safetensors.dtype". */
ALD_API ALD_NODISCARD ald_status ald_safetensors_open(const ald_source *source,
                                                      const ald_tensor_options *options,
                                                      const ald_host *host,
                                                      struct ArrowArrayStream *out, ald_error *err);

ALD_END_DECLS
#endif
