/* SPDX-License-Identifier: MIT */
/* Gather as others may call it: rows one by one, put together to runs. */
#include "ald/filter.h"
#include "core/arrow/gather.h"
#include "core/base/buf.h"

static size_t runs_of(const int64_t *rows, size_t row_count, ald__run *runs)
{
    size_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        if (count > 0 && runs[count - 1].begin + runs[count - 1].count == rows[i])
            runs[count - 1].count++;
        else
            runs[count++] = (ald__run){rows[i], 1, 0};
    }
    return count;
}

static size_t count_runs(const int64_t *rows, size_t row_count)
{
    size_t count = row_count > 0;
    for (size_t i = 1; i < row_count; i++)
        count += rows[i] != rows[i - 1] + 1;
    return count;
}

ald_status ald_array_take(const struct ArrowSchema *schema, const struct ArrowArray *array,
                          const int64_t *rows, size_t row_count, const ald_host *host,
                          struct ArrowArray *out, ald_error *err)
{
    size_t bytes = 0;
    *out = (struct ArrowArray){.release = NULL};
    for (size_t i = 0; i < row_count; i++) {
        if (rows[i] < 0 || rows[i] >= array->length)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "row %lld of %lld rows",
                             (long long)rows[i], (long long)array->length);
    }
    size_t count = count_runs(rows, row_count);
    if (__builtin_mul_overflow(count, sizeof(ald__run), &bytes))
        return ald__no_memory(err, SIZE_MAX);
    ald__run *runs = ald__alloc(&host->alloc, bytes, err);
    if (runs == NULL)
        return ALD_E_NOMEM;
    count = runs_of(rows, row_count, runs);
    ald_status status =
        ald__array_gather(&host->alloc, schema, &array, 1, runs, count, ALD__GATHER_OWN, out, err);
    ald__release(&host->alloc, runs, bytes);
    return status;
}
