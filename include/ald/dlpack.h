/* SPDX-License-Identifier: MIT */
/* The DLPack 1.0 ABI (https://dmlc.github.io/dlpack/latest/c_api.html), as far as tensors in main memory need it. Include
 * dlpack.h first to use its definitions instead: they have the same layout. */
#ifndef ALD_DLPACK_H
#define ALD_DLPACK_H

#include <stdint.h>

#ifndef DLPACK_DLPACK_H_

#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)

typedef struct DLPackVersion {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef struct DLDevice {
    int32_t device_type; /* 1: CPU */
    int32_t device_id;
} DLDevice;

typedef struct DLDataType {
    uint8_t code; /* 0 int, 1 uint, 2 float */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct DLTensor {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: compact, row by row */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#endif

#endif
