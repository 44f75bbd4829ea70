/* SPDX-License-Identifier: MIT */
/* Batches of another producer, each validated before it is handed on. */
#include <string.h>

#include "ald/stream.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/utf8.h"
#include "core/arrow/validate.h"
#include "core/base/buf.h"

typedef struct validated {
    ald_allocator alloc;
    struct ArrowArrayStream from;
    struct ArrowSchema schema; /* release NULL: not read yet */
} validated;

static int is_text(const char *text)
{
    size_t size = text != NULL ? strlen(text) : 0;
    return ald__utf8_valid_prefix((const uint8_t *)text, size, NULL) == size;
}

/* Names, and the time zones in formats, are UTF-8. */
static ald_status check_names(const struct ArrowSchema *schema, unsigned depth, ald_error *err)
{
    if (depth > 2 * ALD__MAX_TYPE_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "types are nested too deep");
    if (!is_text(schema->name) || !is_text(schema->format))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the name or type of column '%s' is not UTF-8",
                         schema->name != NULL ? schema->name : "");
    for (int64_t i = 0; i < schema->n_children; i++)
        ALD_TRY(check_names(schema->children[i], depth + 1, err));
    return schema->dictionary != NULL ? check_names(schema->dictionary, depth + 1, err) : ALD_OK;
}

static ald_status validated_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    validated *v = ctx;
    ald_status status;
    ALD_TRY(ald_stream_schema(&v->from, out, err));
    status = check_names(out, 0, err);
    if (status != ALD_OK) {
        out->release(out);
        out->release = NULL;
    }
    return status;
}

static ald_status validated_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    validated *v = ctx;
    ald_status status = ALD_OK;
    if (v->schema.release == NULL)
        status = validated_schema(v, &v->schema, err);
    if (status == ALD_OK)
        status = ald_stream_next(&v->from, out, err);
    if (status != ALD_OK || out->release == NULL)
        return status;
    status = ald__array_validate(&v->alloc, &v->schema, out, NULL, err);
    if (status != ALD_OK) {
        out->release(out);
        out->release = NULL;
    }
    return status;
}

static void validated_free(void *ctx)
{
    validated *v = ctx;
    ald_allocator alloc = v->alloc;
    if (v->schema.release != NULL)
        v->schema.release(&v->schema);
    v->from.release(&v->from);
    ald__release(&alloc, v, sizeof *v);
}

ald_status ald_stream_validated(struct ArrowArrayStream *from, const ald_host *host,
                                struct ArrowArrayStream *out, ald_error *err)
{
    validated *v = ald__alloc_zero(&host->alloc, sizeof *v, err);
    memset(out, 0, sizeof *out);
    if (v == NULL) {
        from->release(from);
        return ALD_E_NOMEM;
    }
    v->alloc = host->alloc;
    v->from = *from;
    from->release = NULL;
    ald_stream_impl impl = {validated_schema, validated_next, validated_free, v,
                            ald_stream_row_count(&v->from)};
    return ald_stream_new(&impl, &host->alloc, out, err);
}
