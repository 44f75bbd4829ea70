/* SPDX-License-Identifier: MIT */
/* Arrays of no rows. */
#include "core/arrow/array_empty.h"

#include "core/arrow/array.h"
#include "core/arrow/type.h"
#include "core/base/fail.h"

#define DEPTH_MAX 64u

static ald_status make(const ald_allocator *alloc, const struct ArrowSchema *schema, unsigned depth,
                       struct ArrowArray *out, ald_error *err)
{
    ald__type type;
    size_t buffers;
    ald_status st;
    out->release = NULL;
    if (depth > DEPTH_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "types nested deeper than %u levels", DEPTH_MAX);
    ALD_TRY(ald__type_of(schema, &type, err));
    /* the C data interface adds a buffer of sizes to views */
    buffers = (size_t)type.buffer_count +
              (type.id == ALD__UTF8_VIEW || type.id == ALD__BINARY_VIEW ? 1u : 0u);
    ALD_TRY(ald__array_new(alloc, buffers, (size_t)schema->n_children, schema->dictionary != NULL,
                           out, err));
    st = ALD_OK;
    for (int64_t i = 0; st == ALD_OK && i < schema->n_children; i++)
        st = make(alloc, schema->children[i], depth + 1, out->children[i], err);
    if (st == ALD_OK && schema->dictionary != NULL)
        st = make(alloc, schema->dictionary, depth + 1, out->dictionary, err);
    if (st != ALD_OK)
        out->release(out);
    return st;
}

ald_status ald__array_empty(const ald_allocator *alloc, const struct ArrowSchema *schema,
                            struct ArrowArray *out, ald_error *err)
{
    return make(alloc, schema, 0, out, err);
}
