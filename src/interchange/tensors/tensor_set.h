/* SPDX-License-Identifier: MIT */
/* Arrays that are read together, as one stream of batches. */
#ifndef INTERCHANGE_TENSORS_TENSOR_SET_H
#define INTERCHANGE_TENSORS_TENSOR_SET_H

#include "ald/tensors.h"
#include "interchange/tensors/tensor_node.h"

/* What an array's header says, and where its bytes come from. */
typedef struct ald__tensor {
    const char *name;
    size_t name_size;
    ald__tensor_node node; /* of an element; once added: of a row */
    uint8_t fortran;       /* the first dimension is the one whose elements are side by side */
    size_t dimension_count;
    uint64_t dimensions[ALD__TENSOR_DIMENSIONS];
    /* Reads bytes of the array; in C order each byte once, from the first to the last. */
    ald_status (*read)(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err);
    void *ctx;
    /* Called once behind the last row: what checks a whole can only be known there. NULL: nothing does. */
    ald_status (*end)(void *ctx, ald_error *err);
    size_t item_bytes, row_bytes; /* set when it is added */
    uint64_t rows;
} ald__tensor;

typedef struct ald__tensor_set {
    ald_host host;
    ald_tensor_options options; /* complete */
    ald__tensor_memory memory;
    ald__tensor *tensors;
    size_t count, capacity;
    const char *metadata;     /* what the schema gets, as schemas have it; NULL: nothing */
    void (*close)(void *ctx); /* of what the tensors read from; NULL: nothing */
    void *close_ctx;
} ald__tensor_set;

/* Options are checked; names are borrowed until the stream is open. A set is closed or becomes a stream. */
ALD_NODISCARD ald_status ald__tensor_set_open(ald__tensor_set *set,
                                              const ald_tensor_options *options,
                                              const ald_host *host, ald_error *err);
void ald__tensor_set_close(ald__tensor_set *set);

/* Whether options want the array of this name. */
int ald__tensor_set_wants(const ald__tensor_set *set, const char *name, size_t size);

/* Elements of all dimensions together, times the bytes of one. ALD_E_LIMIT_EXCEEDED when that is no number of 64 bits. */
ALD_NODISCARD ald_status ald__tensor_bytes(const ald__tensor *tensor, uint64_t *out,
                                           ald_error *err);

/* Copies the struct; names and nodes are in the set's memory. What its bytes hold together has been compared with what the
 * file has. */
ALD_NODISCARD ald_status ald__tensor_set_add(ald__tensor_set *set, const ald__tensor *tensor,
                                             ald_error *err);

/* The set as a stream, which owns it; on failure it is closed. `only` nonzero: there is one array, whose name is not of the
 * file. */
ALD_NODISCARD ald_status ald__tensor_set_stream(ald__tensor_set *set, int only,
                                                struct ArrowArrayStream *out, ald_error *err);

#endif
