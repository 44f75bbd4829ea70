/* SPDX-License-Identifier: MIT */
/* Which arrays there are, whether they go together, and what a row of each is. */
#include "interchange/tensors/tensor_set.h"

#include <string.h>

#include "interchange/format/error_in.h"
#include "interchange/format/options.h"
#include "interchange/text/mem.h"

/* Rows and list items that take no bytes in the file can be announced in any number. */
#define MOST_WITHOUT_BYTES ((uint64_t)1 << 24)

ald_status ald__tensor_set_open(ald__tensor_set *set, const ald_tensor_options *options,
                                const ald_host *host, ald_error *err)
{
    ald_tensor_options complete = ALD_TENSOR_OPTIONS_INIT;
    memset(set, 0, sizeof *set);
    set->host = *host;
    set->memory.alloc = host->alloc;
    ald_status status =
        ald__options_copy(&complete, sizeof complete, sizeof complete, options, err);
    set->options = complete;
    if (status == ALD_OK && complete.one_row && complete.unpack)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "one row, or a column for each of an array's: not both");
    return status;
}

void ald__tensor_set_close(ald__tensor_set *set)
{
    if (set->close != NULL)
        set->close(set->close_ctx);
    ald__tensor_memory_clear(&set->memory);
    memset(set, 0, sizeof *set);
}

int ald__tensor_set_wants(const ald__tensor_set *set, const char *name, size_t size)
{
    for (uint32_t i = 0; i < set->options.name_count; i++) {
        const char *wanted = set->options.names[i];
        if (strlen(wanted) == size && memcmp(wanted, name, size) == 0)
            return 1;
    }
    return set->options.name_count == 0;
}

ald_status ald__tensor_bytes(const ald__tensor *tensor, uint64_t *out, ald_error *err)
{
    uint64_t bytes = tensor->node.width;
    int is_empty = 0, is_over = 0;
    for (size_t i = 0; i < tensor->dimension_count; i++) {
        is_empty |= tensor->dimensions[i] == 0;
        is_over |= __builtin_mul_overflow(bytes, tensor->dimensions[i], &bytes);
    }
    *out = is_empty ? 0 : bytes;
    if (is_over && !is_empty)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the array's dimensions are too large");
    return ALD_OK;
}

static ald_status check_memory(const ald__tensor *t, ald_error *err)
{
    uint64_t memory = ald__tensor_node_memory(&t->node), most = 0;
    if (__builtin_mul_overflow((uint64_t)t->row_bytes, 8, &most) || most > UINT64_MAX - (1u << 20))
        most = UINT64_MAX - (1u << 20);
    if (memory > most + (1u << 20))
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "rows of %llu bytes hold too many values without bytes",
                             (unsigned long long)t->row_bytes);
    if (t->row_bytes == 0 && t->rows > MOST_WITHOUT_BYTES)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "%llu rows without a byte are too many", (unsigned long long)t->rows);
    return t->rows <= INT64_MAX ? ALD_OK
                                : ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                                "the array has too many rows");
}

/* Its dimensions become rows and lists. */
static ald_status make_rows(ald__tensor_set *set, ald__tensor *t, ald_error *err)
{
    size_t first = set->options.one_row || t->dimension_count == 0 ? 0 : 1;
    ald_status status = ALD_OK;
    uint64_t items = 1;
    t->item_bytes = t->node.width;
    t->rows = first == 1 ? t->dimensions[0] : 1;
    for (size_t i = t->dimension_count; status == ALD_OK && i > first; i--) {
        status = ald__tensor_node_repeat(&set->memory, t->dimensions[i - 1], &t->node, err);
        /* Lists of lists without an item: their number is no one's memory, but somebody counts them. */
        if (t->dimensions[i - 1] > 0 && __builtin_mul_overflow(items, t->dimensions[i - 1], &items))
            items = UINT64_MAX;
    }
    if (status != ALD_OK)
        return status;
    t->row_bytes = t->node.width;
    if (t->row_bytes == 0 && items > MOST_WITHOUT_BYTES)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the array's dimensions are too large");
    if (ald__tensor_node_depth(&t->node) > ALD__TENSOR_DEPTH)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "the array's type is nested too deep");
    return check_memory(t, err);
}

/* Room for one more. */
static ald_status grow(ald__tensor_set *set, ald_error *err)
{
    size_t capacity = set->capacity > 0 ? set->capacity * 2 : 8;
    ald__tensor *tensors;
    if (set->count < set->capacity)
        return ALD_OK;
    if (set->count >= ALD__TENSOR_COLUMNS)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "there are too many arrays");
    tensors = ald__tensor_alloc(&set->memory, capacity, sizeof *tensors, err);
    if (tensors == NULL)
        return ALD_E_NOMEM;
    if (set->count > 0)
        memcpy(tensors, set->tensors, set->count * sizeof *tensors);
    set->tensors = tensors;
    set->capacity = capacity;
    return ALD_OK;
}

ald_status ald__tensor_set_add(ald__tensor_set *set, const ald__tensor *tensor, ald_error *err)
{
    ald_status status = grow(set, err);
    if (status != ALD_OK)
        return status;
    ald__tensor *t = &set->tensors[set->count];
    *t = *tensor;
    status = make_rows(set, t, err);
    if (t->name_size > 0)
        status = ald__error_in("", t->name, t->name_size, status, err);
    set->count += status == ALD_OK;
    return status;
}
