/* SPDX-License-Identifier: MIT */
/* A buffer is used where it lies in the body, unless it is compressed or not aligned to its elements (8 at most): those of
 * one node share a fresh block of memory. What a compressed buffer claims to hold is not believed: buffers of fixed
 * width hold what the rows need and little more, and no codec can shrink by more than its best ratio. */
#include "core/arrow/ipc_column.h"

#include "core/arrow/array.h"
#include "core/arrow/array_layout.h"
#include "core/arrow/bits.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/schema_build.h"
#include "core/arrow/validate.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"

#define SCRATCH_ALIGNMENT 64u
#define CLAIM_BYTES 8u
#define STORED_RAW UINT64_MAX /* -1 */
/* A block of 128 KiB takes 4 bytes in zstd; an LZ4 byte stands for 255 at most. */
#define ZSTD_RATIO 32768u
#define LZ4_RATIO 255u
/* Writers may pad, or write what they had reserved. */
#define FIXED_SLACK 65536u

const uint8_t ald__ipc_zeros[64] = {0};

typedef enum buffer_form { FORM_IN_PLACE, FORM_COPY, FORM_DECODE } buffer_form;

/* Where a buffer's bytes come from: `size` bytes after decoding, `src_size` before. */
typedef struct buffer_source {
    buffer_form form;
    const uint8_t *src;
    uint64_t src_size, size;
} buffer_source;

/* One node being read. */
typedef struct node_read {
    ald__ipc_columns *columns;
    const ald__ipc_node *node;
    const char *name;
    struct ArrowArray *array;
    uint64_t *sizes;
    uint64_t scratch_size;
} node_read;

static ald_status node_fail(const node_read *r, ald_status status, const char *what, int64_t found)
{
    return ald__fail(r->columns->err, status, r->columns->message->metadata_offset,
                     "column '%s': %s is %lld", r->name, what, (long long)found);
}

/* ---- One buffer */

static ald_status check_claim(const node_read *r, const ald__buffer_rule *rule,
                              const buffer_source *s)
{
    uint64_t ratio = r->columns->walk.codec == 0 ? LZ4_RATIO : ZSTD_RATIO;
    if (s->size < rule->bytes)
        return node_fail(r, ALD_E_INVALID_FORMAT,
                         "too few for the rows: uncompressed size of a buffer", (int64_t)s->size);
    if (s->size / ratio > s->src_size + 4)
        return node_fail(r, ALD_E_INVALID_FORMAT,
                         "more than its bytes can hold: uncompressed size of a buffer",
                         (int64_t)s->size);
    if (rule->bounded && s->size / 2 > rule->bytes + FIXED_SLACK)
        return node_fail(r, ALD_E_LIMIT_EXCEEDED,
                         "far more than the rows need: uncompressed size of a buffer",
                         (int64_t)s->size);
    return ALD_OK;
}

static int is_aligned(const uint8_t *p, const ald__buffer_rule *rule)
{
    return ((uintptr_t)p & ((rule->width < 8 ? rule->width : 8u) - 1u)) == 0;
}

static ald_status locate_buffer(const node_read *r, const ald__buffer_rule *rule,
                                const uint8_t *src, uint64_t size, buffer_source *out)
{
    uint64_t claimed;
    out->form = FORM_IN_PLACE;
    out->src = src;
    out->src_size = out->size = size;
    if (r->columns->walk.codec >= 0 && size > 0) {
        if (size < CLAIM_BYTES)
            return node_fail(r, ALD_E_INVALID_FORMAT, "a compressed buffer's size", (int64_t)size);
        claimed = ald__load_le64(src);
        out->src += CLAIM_BYTES;
        out->src_size = out->size = size - CLAIM_BYTES;
        if (claimed != STORED_RAW) {
            out->form = FORM_DECODE;
            out->size = claimed;
            return check_claim(r, rule, out);
        }
    }
    if (!is_aligned(out->src, rule))
        out->form = FORM_COPY;
    return ALD_OK;
}

/* Buffers that need no bytes because there are no rows are not looked at. */
static int is_idle(const node_read *r, const ald__buffer_rule *rule)
{
    return r->array->length == 0 && rule->bounded;
}

static ald_status add_scratch(node_read *r, uint64_t size)
{
    uint64_t padded;
    if (!ald__add_u64(size, SCRATCH_ALIGNMENT - 1, &padded) ||
        !ald__add_u64(r->scratch_size, padded & ~(uint64_t)(SCRATCH_ALIGNMENT - 1),
                      &r->scratch_size))
        return node_fail(r, ALD_E_INVALID_FORMAT, "sum of buffer sizes", -1);
    return ALD_OK;
}

/* ---- The buffers of a node */

/* A buffer's bytes. Whoever reads a part of the body has checked that wanted columns lie in it. */
static ald_status body_bytes(const node_read *r, const ald__ipc_place *place, const uint8_t **out)
{
    const ald__ipc_message *m = r->columns->message;
    *out = NULL;
    if (place->size == 0)
        return ALD_OK;
    if (place->offset < m->body_begin || place->offset + place->size > m->body_end)
        return node_fail(r, ALD_E_INVALID_FORMAT, "a buffer that was not read at",
                         (int64_t)place->offset);
    *out = m->body + (place->offset - m->body_begin);
    return ALD_OK;
}

/* Places of the buffers in the body, into array->buffers and sizes; a view's last buffer (sizes of the others) is ours. */
static ald_status read_places(node_read *r, size_t buffer_count)
{
    ald__ipc_columns *c = r->columns;
    for (size_t i = 0; i < buffer_count; i++) {
        ald__buffer_rule rule = ald__layout_buffer(&r->node->type, (int64_t)i, r->array->length);
        buffer_source source;
        ald__ipc_place place;
        const uint8_t *bytes;
        ALD_TRY(ald__ipc_walk_buffer(&c->walk, r->name, &place, c->err));
        ALD_TRY(body_bytes(r, &place, &bytes));
        r->array->buffers[i] = bytes;
        r->sizes[i] = place.size;
        if (is_idle(r, &rule))
            continue;
        ALD_TRY(locate_buffer(r, &rule, r->array->buffers[i], place.size, &source));
        if (source.form != FORM_IN_PLACE)
            ALD_TRY(add_scratch(r, source.size));
    }
    if (ald__type_is_view(&r->node->type))
        return add_scratch(r, (buffer_count - 2) * sizeof(int64_t));
    return ALD_OK;
}

static ald_status decode_buffer(const node_read *r, const buffer_source *s, uint8_t *dst)
{
    const ald__ipc_codec *codec = r->columns->rules->codec;
    uint8_t nothing; /* there may be no scratch for a frame that holds nothing */
    if (s->form == FORM_DECODE)
        return codec->decode(codec->ctx, r->columns->walk.codec, s->src, (size_t)s->src_size,
                             dst != NULL ? dst : &nothing, (size_t)s->size, r->columns->err);
    if (s->size > 0)
        memcpy(dst, s->src, (size_t)s->size);
    return ALD_OK;
}

/* Final pointers and sizes. `scratch` has room for what read_places counted. */
static ald_status fill_buffers(node_read *r, size_t buffer_count, uint8_t *scratch, int *in_place)
{
    for (size_t i = 0; i < buffer_count; i++) {
        ald__buffer_rule rule = ald__layout_buffer(&r->node->type, (int64_t)i, r->array->length);
        const uint8_t *none = i == 0 && r->node->type.has_validity ? NULL : ald__ipc_zeros;
        buffer_source source;
        if (is_idle(r, &rule)) {
            r->array->buffers[i] = none;
            r->sizes[i] = 0;
            continue;
        }
        ALD_TRY(locate_buffer(r, &rule, r->array->buffers[i], r->sizes[i], &source));
        r->array->buffers[i] = source.size > 0 ? source.src : none;
        r->sizes[i] = source.size;
        if (source.form == FORM_IN_PLACE) {
            *in_place |= source.size > 0;
            continue;
        }
        ALD_TRY(decode_buffer(r, &source, scratch));
        if (source.size > 0)
            r->array->buffers[i] = scratch;
        scratch += (source.size + SCRATCH_ALIGNMENT - 1) & ~(uint64_t)(SCRATCH_ALIGNMENT - 1);
    }
    if (ald__type_is_view(&r->node->type)) {
        for (size_t i = 2; i < buffer_count; i++) {
            int64_t size = (int64_t)r->sizes[i];
            memcpy(scratch + (i - 2) * sizeof size, &size, sizeof size);
        }
        r->array->buffers[buffer_count] = buffer_count > 2 ? scratch : ald__ipc_zeros;
        r->sizes[buffer_count] = (buffer_count - 2) * sizeof(int64_t);
    }
    return ALD_OK;
}

static ald_status read_buffers(node_read *r, size_t buffer_count)
{
    ald__ipc_columns *c = r->columns;
    ald__shared *scratch = NULL;
    ald_status status;
    size_t size;
    int in_place = 0;
    ALD_TRY(read_places(r, buffer_count));
    if (!ald__to_size(r->scratch_size, &size))
        return ald__no_memory(c->err, SIZE_MAX);
    if (size > 0)
        ALD_TRY(ald__shared_alloc(c->alloc, size, &scratch, c->err));
    status = fill_buffers(r, buffer_count, scratch != NULL ? ald__shared_data(scratch) : NULL,
                          &in_place);
    if (in_place)
        ald__array_hold(r->array, c->backing);
    ald__array_hold(r->array, scratch);
    ald__shared_unref(scratch);
    return status;
}

/* ---- Nodes */

/* Layouts without validity have no nulls of their own; a null array has nothing else. */
static ald_status set_null_count(const node_read *r, int64_t null_count)
{
    int strict = r->columns->rules->strict;
    r->array->null_count = null_count;
    if (r->node->type.has_validity)
        return ALD_OK;
    r->array->null_count = r->node->type.id == ALD__NULL ? r->array->length : 0;
    if (strict && null_count != r->array->null_count)
        return node_fail(r, ALD_E_INVALID_FORMAT, "null count", null_count);
    /* The validity of a V4 union is dropped. */
    if (ald__type_is_union(&r->node->type) && null_count != 0 &&
        r->columns->message->version == FBS_VERSION_V4)
        return node_fail(r, ALD_E_UNSUPPORTED, "null count of a union before Arrow 1.0",
                         null_count);
    return ALD_OK;
}

static ald_status read_node(ald__ipc_columns *c, uint32_t index, struct ArrowArray *out);

static ald_status read_children(ald__ipc_columns *c, uint32_t index, struct ArrowArray *out)
{
    const ald__ipc_node *node = &c->schema->tree.nodes[index];
    uint32_t child = index + 1;
    if (node->dictionary != ALD__NO_DICTIONARY)
        return ald__ipc_dictionaries_share(c->dictionaries, c->schema->numbers[node->dictionary],
                                           out->dictionary, c->err);
    for (uint32_t i = 0; i < node->child_count; i++) {
        ALD_TRY(read_node(c, child, out->children[i]));
        child = c->schema->tree.nodes[child].next;
    }
    return ALD_OK;
}

/* Room in `sizes` for the buffers of a node. open() took one for each buffer and node of the metadata. */
static uint64_t *take_sizes(ald__ipc_columns *c, size_t count)
{
    uint64_t *sizes = c->sizes + c->size_count;
    if (count > c->size_cap - c->size_count)
        return NULL;
    c->size_count += count;
    return sizes;
}

/* On failure *out may be half made; the caller releases the root. The tree's depth bounds the recursion. */
static ald_status read_node(ald__ipc_columns *c, uint32_t index, struct ArrowArray *out)
{
    const ald__ipc_node *node = &c->schema->tree.nodes[index];
    const char *name = ald__schema_name(node->schema);
    node_read r = {.columns = c, .node = node, .array = out};
    int is_view = ald__type_is_view(&node->type);
    size_t buffers = node->type.buffer_count, variadic = 0;
    int64_t length, null_count;
    ald__ipc_place ignored;
    r.name = name[0] != '\0' ? name : c->column;
    ALD_TRY(ald__ipc_walk_node(&c->walk, r.name, &length, &null_count, c->err));
    if (is_view)
        ALD_TRY(ald__ipc_walk_variadic(&c->walk, r.name, &variadic, c->err));
    if (ald__ipc_walk_buffer_count(&c->walk, node) > buffers)
        ALD_TRY(ald__ipc_walk_buffer(&c->walk, r.name, &ignored, c->err));
    buffers += variadic;
    r.sizes = take_sizes(c, buffers + (size_t)is_view);
    if (r.sizes == NULL)
        return node_fail(&r, ALD_E_INVALID_FORMAT, "number of buffers", (int64_t)buffers);
    ALD_TRY(ald__array_new(c->alloc, buffers + (size_t)is_view, node->child_count,
                           node->dictionary != ALD__NO_DICTIONARY, out, c->err));
    out->length = length;
    ALD_TRY(set_null_count(&r, null_count));
    ALD_TRY(read_buffers(&r, buffers));
    return read_children(c, index, out);
}

/* Unknown null counts become known. A bitmap without zeros says nothing, and without it consumers take fast paths. */
static void settle_nulls(const struct ArrowSchema *schema, struct ArrowArray *array)
{
    uint64_t length = (uint64_t)array->length;
    ald__type type;
    if (ald__type_of(schema, &type, NULL) == ALD_OK && type.has_validity) {
        if (array->null_count == -1)
            array->null_count =
                array->buffers[0] == NULL
                    ? 0
                    : (int64_t)(length - ald__bits_count(array->buffers[0], 0, length));
        if (array->null_count == 0)
            array->buffers[0] = NULL;
    }
    for (int64_t i = 0; i < array->n_children; i++)
        settle_nulls(schema->children[i], array->children[i]);
}

ald_status ald__ipc_columns_open(ald__ipc_columns *c)
{
    size_t size;
    ALD_TRY(ald__ipc_walk_open(&c->walk, c->message, c->rules, c->err));
    c->size_cap = c->walk.buffers.count + c->walk.nodes.count;
    if (!ald__mul_size(c->size_cap, sizeof *c->sizes, &size))
        return ald__no_memory(c->err, SIZE_MAX);
    c->sizes = ald__alloc(c->alloc, size, c->err);
    return c->sizes == NULL ? ALD_E_NOMEM : ALD_OK;
}

void ald__ipc_columns_clear(ald__ipc_columns *c)
{
    ald__release(c->alloc, c->sizes, c->size_cap * sizeof *c->sizes);
    c->sizes = NULL;
}

ald_status ald__ipc_columns_read(ald__ipc_columns *c, uint32_t node,
                                 const struct ArrowSchema *schema, struct ArrowArray *out)
{
    ald_status status;
    out->release = NULL;
    c->size_count = 0;
    c->column = ald__schema_name(schema);
    status = read_node(c, node, out);
    if (status == ALD_OK) {
        status = ald__array_validate(c->alloc, schema, out, c->sizes, c->err);
        if (status != ALD_OK && c->err != NULL && c->err->offset == ALD_NO_OFFSET)
            c->err->offset = c->message->body_offset;
    }
    if (status == ALD_OK)
        settle_nulls(schema, out);
    else if (out->release != NULL)
        out->release(out);
    return status;
}
