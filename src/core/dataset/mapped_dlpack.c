/* SPDX-License-Identifier: MIT */
/* Vectors as DLPack tensors. */
#include <string.h>

#include "ald/mapped.h"
#include "core/base/buf.h"
#include "core/dataset/mapping.h"

typedef struct tensor {
    DLManagedTensorVersioned managed; /* first */
    ald_allocator alloc;
    int64_t shape[2];
} tensor;

static void delete_tensor(DLManagedTensorVersioned *self)
{
    tensor *t = (tensor *)self;
    ald_allocator alloc = t->alloc;
    ald__release(&alloc, t, sizeof *t);
}

static DLDataType dlpack_type(uint8_t dtype)
{
    static const struct {
        uint8_t code, bits;
    } types[] = {{2, 32}, {2, 64}, {0, 32}, {0, 64}, {1, 8}, {0, 8},
                 {0, 16}, {1, 16}, {1, 32}, {1, 64}, {2, 16}};
    DLDataType t = {types[dtype].code, types[dtype].bits, 1};
    return t;
}

ald_status ald_mapped_dlpack(const ald_mapped *m, uint64_t batch, uint32_t column,
                             struct DLManagedTensorVersioned **out, ald_error *err)
{
    ald_vector v;
    tensor *t;
    *out = NULL;
    ALD_TRY(ald_mapped_vector(m, batch, column, &v, err));
    if (v.dtype == ALD_DTYPE_BOOL || v.null_count > 0 || v.element_null_count > 0)
        return ald__fail(
            err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "column '%s' has %s, which DLPack cannot say",
            m->info.schema->children[column]->name, v.dtype == ALD_DTYPE_BOOL ? "bits" : "nulls");
    t = ald__alloc_zero(&m->host.alloc, sizeof *t, err);
    if (t == NULL)
        return ALD_E_NOMEM;
    t->alloc = m->host.alloc;
    memcpy(t->shape, v.shape, sizeof t->shape);
    t->managed.version.major = 1;
    t->managed.deleter = delete_tensor;
    t->managed.manager_ctx = t;
    t->managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
    union { /* the flag says that nobody writes */
        const void *in;
        void *out;
    } p = {v.data};
    t->managed.dl_tensor.data = p.out;
    t->managed.dl_tensor.device.device_type = 1;
    t->managed.dl_tensor.ndim = (int32_t)v.ndim;
    t->managed.dl_tensor.dtype = dlpack_type(v.dtype);
    t->managed.dl_tensor.shape = t->shape;
    *out = &t->managed;
    return ALD_OK;
}
