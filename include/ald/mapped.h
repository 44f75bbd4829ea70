/* SPDX-License-Identifier: MIT */
/* Columns of an aligned (TRUENO_NATIVE) file in place: no copy, no decoding. */
#ifndef ALD_MAPPED_H
#define ALD_MAPPED_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/dlpack.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/reader.h"

ALD_BEGIN_DECLS

/* X(constant, value in the array index, bits of an element) */
#define ALD_DTYPE_LIST(X)                                                                          \
    X(F32, 0, 32)                                                                                  \
    X(F64, 1, 64)                                                                                  \
    X(I32, 2, 32)                                                                                  \
    X(I64, 3, 64)                                                                                  \
    X(U8, 4, 8)                                                                                    \
    X(I8, 5, 8)                                                                                    \
    X(I16, 6, 16)                                                                                  \
    X(U16, 7, 16)                                                                                  \
    X(U32, 8, 32)                                                                                  \
    X(U64, 9, 64)                                                                                  \
    X(F16, 10, 16)                                                                                 \
    X(BOOL, 11, 1)

typedef enum ald_dtype {
#define ALD_X(constant, value, bits) ALD_DTYPE_##constant = value,
    ALD_DTYPE_LIST(ALD_X)
#undef ALD_X
} ald_dtype;

/* "f32" …, or NULL. Static storage. */
ALD_API const char *ald_dtype_name(uint8_t dtype);

/* An open file. All calls but open and close may come from several threads at once. */
typedef struct ald_mapped ald_mapped;

/* One column of one record batch where it lies in the file. Borrowed until close. */
typedef struct ald_vector {
    const void *
        data; /* aligned to 64 bytes; the values of null slots are 0. BOOL: bits, the lowest first */
    uint64_t length; /* elements: rows × width */
    size_t size_bytes;
    int64_t shape[2];     /* rows; width of a fixed-size list (embeddings) */
    uint32_t ndim;        /* 1, or 2 for a fixed-size list */
    uint8_t dtype;        /* an ald_dtype */
    uint8_t alignment;    /* 64 */
    uint8_t backend_hint; /* 0 to 8 */
    uint8_t reserved;
    const uint8_t *validity;         /* bit per row, 1 for a value; NULL: no nulls */
    int64_t null_count;              /* as the file says; of rows */
    const uint8_t *element_validity; /* fixed-size lists: bit per element; NULL: no nulls */
    int64_t element_null_count;
} ald_vector;

/* Reads header, metadata, schema, indices and the batches' metadata of STREAMING files one by one as they are used; no
 * values. `source` must have `view` (memory, or a file opened with ALD_FILE_MAP), at an address that is a multiple of 64; it
 * is copied and must stay open until close. A file without TRUENO_NATIVE is ALD_E_UNSUPPORTED. The CRC32 over the whole file
 * is not looked at, and values are not checked: that is the price of microseconds; `alimentar verify` checks all. A signed
 * file is read whole for its signature, unless it is sealed: then each chunk is read whole for its hash when it is first
 * touched. */
ALD_API ALD_NODISCARD ald_status ald_mapped_open(const ald_source *source,
                                                 const ald_load_options *options,
                                                 const ald_host *host, ald_mapped **out,
                                                 ald_error *err);
/* NULL is fine. Vectors end with it; tensors and arrays that were given out must be released before. */
ALD_API void ald_mapped_close(ald_mapped *mapped);

/* Borrowed until close. */
ALD_API const ald_info *ald_mapped_info(const ald_mapped *mapped);
ALD_API const struct ArrowSchema *ald_mapped_schema(const ald_mapped *mapped);
/* Record batches: the chunks, or 1 without STREAMING. */
ALD_API uint64_t ald_mapped_batch_count(const ald_mapped *mapped);
/* The top-level column of this name (the first, if there are several), or -1. */
ALD_API int64_t ald_mapped_find_column(const ald_mapped *mapped, const char *name);

/* The column's entry of the array index, compared with the batch's own metadata before it is used. A column that has no
 * entry (text, dates, nested …) is ALD_E_UNSUPPORTED. */
ALD_API ALD_NODISCARD ald_status ald_mapped_vector(const ald_mapped *mapped, uint64_t batch,
                                                   uint32_t column, ald_vector *out,
                                                   ald_error *err);

/* The batch that has this row, by binary search; ALD_E_INVALID_ARG past the last row. *row_in_batch counts from 0. */
ALD_API ALD_NODISCARD ald_status ald_mapped_find_batch(const ald_mapped *mapped, uint64_t row,
                                                       uint64_t *batch, uint64_t *row_in_batch,
                                                       ald_error *err);

/* Rows by index, in the order given, repeats allowed, of `column_count` columns that have vectors, as a struct array of fresh
 * memory: only the pages with those rows are touched. The caller releases it. */
ALD_API ALD_NODISCARD ald_status ald_mapped_take(const ald_mapped *mapped, const uint64_t *rows,
                                                 size_t row_count, const uint32_t *columns,
                                                 size_t column_count, struct ArrowArray *out,
                                                 ald_error *err);

/* A whole batch as an Arrow struct array over the mapped bytes, validated in full (so it reads them). */
ALD_API ALD_NODISCARD ald_status ald_mapped_batch(const ald_mapped *mapped, uint64_t batch,
                                                  struct ArrowArray *out, ald_error *err);

/* A vector as a DLPack tensor over the mapped bytes, read-only flag set; 2-d for fixed-size lists. BOOL and columns with nulls
 * are ALD_E_UNSUPPORTED (DLPack has neither bits nor nulls). The caller calls (*out)->deleter. */
ALD_API ALD_NODISCARD ald_status ald_mapped_dlpack(const ald_mapped *mapped, uint64_t batch,
                                                   uint32_t column,
                                                   struct DLManagedTensorVersioned **out,
                                                   ald_error *err);

ALD_END_DECLS
#endif
