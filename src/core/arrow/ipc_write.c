/* SPDX-License-Identifier: MIT */
/* The encapsulated message: continuation marker, metadata size, metadata, body. */
#include "core/arrow/ipc_write.h"

#include <string.h>

#include "core/arrow/bits.h"
#include "core/arrow/ipc_write_schema.h"
#include "core/arrow/ipc_writer.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

#define PREFIX_BYTES 8
#define MAX_ALIGNMENT 64

static const uint8_t no_bytes[MAX_ALIGNMENT] = {0};

static ald_status emit_bytes(ald__ipc_writer *w, const ald__emit *emit, const void *data,
                             size_t size, ald_error *err)
{
    if (size == 0)
        return ALD_OK;
    w->position += size;
    return emit->bytes(emit->ctx, data, size, err);
}

static uint64_t align_up(uint64_t size, uint32_t alignment)
{
    return (size + alignment - 1) & ~(uint64_t)(alignment - 1);
}

/* Starts metadata with its prefix's place, for a FlatBuffer to be appended. */
static ald_status metadata_begin(ald__ipc_writer *w, ald_error *err)
{
    w->metadata.size = 0;
    return ald__buffer_append_zeros(&w->metadata, PREFIX_BYTES, err);
}

/* Pads, fills the prefix in and emits. The padding makes the body begin at a multiple of the alignment. */
static ald_status metadata_end(ald__ipc_writer *w, const ald__emit *emit, ald_error *err)
{
    uint64_t end = w->position + w->metadata.size;
    uint32_t alignment = w->options.alignment;
    ALD_TRY(ald__buffer_append_zeros(&w->metadata, (size_t)(align_up(end, alignment) - end), err));
    if (w->metadata.size - PREFIX_BYTES > INT32_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "Arrow metadata beyond 2 GiB");
    ald__store_le32(w->metadata.data, UINT32_MAX);
    ald__store_le32(w->metadata.data + 4, (uint32_t)(w->metadata.size - PREFIX_BYTES));
    return emit_bytes(w, emit, w->metadata.data, w->metadata.size, err);
}

static ald_status check_options(const ald__ipc_write_options *options, ald_error *err)
{
    if (options->alignment != 8 && options->alignment != MAX_ALIGNMENT)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "alignment %u is not 8 or 64",
                         options->alignment);
    if (options->dictionary_mode > ALD__DICTIONARY_DELTA)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown dictionary mode %d",
                         options->dictionary_mode);
    return ALD_OK;
}

static ald_status writer_init(ald__ipc_writer *w, ald_error *err)
{
    size_t columns = w->tree.nodes[0].child_count;
    w->value_offsets = ald__alloc_zero(&w->alloc, columns * sizeof(uint64_t), err);
    w->value_sizes = ald__alloc_zero(&w->alloc, columns * sizeof(uint64_t), err);
    w->value_pieces = ald__alloc_zero(&w->alloc, columns * sizeof(size_t), err);
    if (w->value_offsets == NULL || w->value_sizes == NULL || w->value_pieces == NULL)
        return ALD_E_NOMEM;
    return ald__ipc_dictionaries_init(w, err);
}

ald_status ald__ipc_writer_new(const ald_allocator *alloc, const struct ArrowSchema *schema,
                               const ald__ipc_write_options *options, ald__ipc_writer **out,
                               ald_error *err)
{
    ald__ipc_writer *w;
    ald_status status;
    *out = NULL;
    ALD_TRY(check_options(options, err));
    w = ald__alloc_zero(alloc, sizeof *w, err);
    if (w == NULL)
        return ALD_E_NOMEM;
    w->alloc = *alloc;
    w->options = *options;
    if (options->compress != NULL) {
        w->compress = *options->compress;
        w->options.compress = &w->compress;
    }
    w->metadata.alloc = &w->alloc;
    w->compressed.alloc = &w->alloc;
    w->packed.alloc = &w->alloc;
    w->blocks.alloc = &w->alloc;
    w->key.alloc = &w->alloc;
    ald__ipc_plan_init(&w->plan, alloc);
    status = ald__ipc_tree_new(alloc, schema, &w->tree, err);
    if (status == ALD_OK)
        status = writer_init(w, err);
    if (status == ALD_OK)
        *out = w;
    else
        ald__ipc_writer_free(w);
    return status;
}

void ald__ipc_writer_free(ald__ipc_writer *w)
{
    ald_allocator alloc;
    size_t columns;
    if (w == NULL)
        return;
    alloc = w->alloc;
    columns = w->tree.nodes != NULL ? w->tree.nodes[0].child_count : 0;
    ald__release(&alloc, w->value_offsets, columns * sizeof(uint64_t));
    ald__release(&alloc, w->value_sizes, columns * sizeof(uint64_t));
    ald__release(&alloc, w->value_pieces, columns * sizeof(size_t));
    ald__ipc_dictionaries_clear(w);
    ald_buffer_clear(&w->metadata);
    ald_buffer_clear(&w->compressed);
    ald_buffer_clear(&w->packed);
    ald_buffer_clear(&w->blocks);
    ald_buffer_clear(&w->key);
    ald__ipc_plan_clear(&w->plan);
    ald__ipc_tree_clear(&w->tree);
    ald__release(&alloc, w, sizeof *w);
}

ald_status ald__ipc_write_schema(ald__ipc_writer *w, const ald__emit *emit, ald_error *err)
{
    ALD_TRY(metadata_begin(w, err));
    ALD_TRY(ald__fb_schema_message(&w->tree, &w->metadata, err));
    return metadata_end(w, emit, err);
}

ald_status ald__ipc_write_end(ald__ipc_writer *w, const ald__emit *emit, ald_error *err)
{
    static const uint8_t marker[PREFIX_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};
    return emit_bytes(w, emit, marker, sizeof marker, err);
}

/* One buffer as the format's compressed form: its size, or -1 and the bytes as they are. */
static ald_status pack_piece(ald__ipc_writer *w, const ald__ipc_piece *piece, ald_error *err)
{
    const ald__ipc_compress *c = w->options.compress;
    size_t before;
    ALD_TRY(ald__buffer_append_zeros(&w->compressed, 8, err));
    before = w->compressed.size;
    ALD_TRY(c->encode(c->ctx, piece->data, piece->size, &w->compressed, err));
    ald__store_le64(w->compressed.data + before - 8, piece->size);
    if (w->compressed.size > before)
        return ALD_OK;
    ald__store_le64(w->compressed.data + before - 8, UINT64_MAX);
    return ald__buffer_append(&w->compressed, piece->data, piece->size, err);
}

/* Compresses every piece; w->packed then holds pieces as the plan does. */
static ald_status pack_body(ald__ipc_writer *w, ald_error *err)
{
    const ald__ipc_piece *pieces = ald__ipc_plan_pieces(&w->plan);
    size_t count = ald__ipc_plan_piece_count(&w->plan), at = 0;
    ald__ipc_piece *packed;
    w->compressed.size = 0;
    w->packed.size = 0;
    ALD_TRY(ald__buffer_append_zeros(&w->packed, count * sizeof *packed, err));
    packed = (void *)w->packed.data;
    for (size_t i = 0; i < count; i++) {
        size_t before = w->compressed.size;
        if (pieces[i].size > 0)
            ALD_TRY(pack_piece(w, &pieces[i], err));
        packed[i].size = w->compressed.size - before;
    }
    for (size_t i = 0; i < count; i++) {
        packed[i].data = w->compressed.data + at;
        at += packed[i].size;
    }
    return ALD_OK;
}

/* Fields: 0 length, 1 nodes, 2 buffers, 3 compression, 4 variadicBufferCounts. Returns its position; *body_size is known
 * once the buffers are laid out. */
static size_t fb_batch(ald__fb *fb, const ald__ipc_writer *w, const ald__ipc_piece *pieces,
                       uint64_t *body_size)
{
    static const uint8_t compression_sizes[] = {1, 1};
    const ald__ipc_field_node *nodes = ald__ipc_plan_nodes(&w->plan);
    size_t node_count = ald__ipc_plan_node_count(&w->plan), table, at;
    size_t piece_count = ald__ipc_plan_piece_count(&w->plan);
    size_t variadic_count = w->plan.variadic.size / sizeof(int64_t);
    uint8_t sizes[5] = {8, 4, 4, 0, 0};
    uint64_t offset = 0;
    sizes[3] = w->options.compress != NULL ? 4 : 0;
    sizes[4] = variadic_count > 0 ? 4 : 0;
    table = ald__fb_table(fb, sizes, 5);
    ald__fb_set(fb, table, 0, 8, (uint64_t)w->plan.length);
    at = ald__fb_vector(fb, node_count, 16, 8);
    ald__fb_link_vector(fb, table, 1, at);
    for (size_t i = 0; i < node_count; i++, at += 16) {
        ald__fb_put64(fb, at, (uint64_t)nodes[i].length);
        ald__fb_put64(fb, at + 8, (uint64_t)nodes[i].null_count);
    }
    at = ald__fb_vector(fb, piece_count, 16, 8);
    ald__fb_link_vector(fb, table, 2, at);
    for (size_t i = 0; i < piece_count; i++, at += 16) {
        ald__fb_put64(fb, at, offset);
        ald__fb_put64(fb, at + 8, pieces[i].size);
        offset += align_up(pieces[i].size, w->options.alignment);
    }
    if (sizes[3] > 0) {
        size_t compression = ald__fb_table(fb, compression_sizes, 2);
        ald__fb_link_field(fb, table, 3, compression);
        ald__fb_set(fb, compression, 0, 1, (uint64_t)w->options.compress->codec);
    }
    if (sizes[4] > 0) {
        at = ald__fb_vector(fb, variadic_count, 8, 8);
        ald__fb_link_vector(fb, table, 4, at);
        for (size_t i = 0; i < variadic_count; i++)
            ald__fb_put64(fb, at + 8 * i, ald__load_le64(w->plan.variadic.data + 8 * i));
    }
    *body_size = offset;
    return table;
}

/* The whole FlatBuffer. DictionaryBatch: 0 id, 1 data, 2 isDelta. */
static ald_status batch_metadata(ald__ipc_writer *w, const ald__ipc_piece *pieces,
                                 int64_t dictionary, int is_delta, uint64_t *body_size,
                                 ald_error *err)
{
    static const uint8_t dictionary_sizes[] = {8, 4, 1};
    ald__fb fb;
    size_t message, table;
    ALD_TRY(metadata_begin(w, err));
    ald__fb_begin(&fb, &w->metadata, err);
    message = ald__fb_message(
        &fb, dictionary < 0 ? ALD__IPC_HEADER_BATCH : ALD__IPC_HEADER_DICTIONARY, 0);
    if (dictionary < 0) {
        table = fb_batch(&fb, w, pieces, body_size);
    } else {
        table = ald__fb_table(&fb, dictionary_sizes, 3);
        ald__fb_set(&fb, table, 0, 8, (uint64_t)dictionary);
        ald__fb_set(&fb, table, 2, 1, (uint64_t)is_delta);
        ald__fb_link_field(&fb, table, 1, fb_batch(&fb, w, pieces, body_size));
    }
    ald__fb_link_field(&fb, message, 2, table);
    ald__fb_set(&fb, message, 3, 8, *body_size);
    return ald__fb_end(&fb);
}

static void note_values_range(ald__ipc_writer *w, const ald__ipc_piece *pieces, uint64_t body)
{
    size_t columns = w->tree.nodes[0].child_count, column = 0;
    uint64_t offset = body;
    memset(w->value_offsets, 0, columns * sizeof *w->value_offsets);
    memset(w->value_sizes, 0, columns * sizeof *w->value_sizes);
    for (size_t i = 0; i < ald__ipc_plan_piece_count(&w->plan); i++) {
        while (column < columns && w->value_pieces[column] == SIZE_MAX)
            column++;
        if (column < columns && w->value_pieces[column] == i) {
            w->value_offsets[column] = offset;
            w->value_sizes[column++] = pieces[i].size;
        }
        offset += align_up(pieces[i].size, w->options.alignment);
    }
}

ald_status ald__ipc_emit_plan(ald__ipc_writer *w, int64_t dictionary, int is_delta,
                              const ald__emit *emit, ald_error *err)
{
    const ald__ipc_piece *pieces = ald__ipc_plan_pieces(&w->plan);
    ald__ipc_block block = {w->position, 0, 0, dictionary >= 0};
    if (w->options.compress != NULL) {
        ALD_TRY(pack_body(w, err));
        pieces = (const void *)w->packed.data;
    }
    ALD_TRY(batch_metadata(w, pieces, dictionary, is_delta, &block.body_size, err));
    ALD_TRY(metadata_end(w, emit, err));
    block.metadata_size = (uint32_t)w->metadata.size;
    if (dictionary < 0)
        note_values_range(w, pieces, w->position);
    for (size_t i = 0; i < ald__ipc_plan_piece_count(&w->plan); i++) {
        size_t size = pieces[i].size;
        ALD_TRY(emit_bytes(w, emit, pieces[i].data, size, err));
        ALD_TRY(emit_bytes(w, emit, no_bytes, (size_t)(align_up(size, w->options.alignment) - size),
                           err));
    }
    return ald__buffer_append(&w->blocks, &block, sizeof block, err);
}

static ald_status check_root(const ald__ipc_writer *w, const struct ArrowArray *batch,
                             ald_error *err)
{
    ALD_TRY(ald__ipc_check_form(&w->tree.nodes[0], batch, err));
    if (batch->buffers[0] != NULL && batch->null_count != 0 &&
        ald__bits_find(batch->buffers[0], (uint64_t)batch->offset,
                       (uint64_t)(batch->offset + batch->length),
                       0) != (uint64_t)(batch->offset + batch->length))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "rows that are null as a whole cannot be written");
    return ALD_OK;
}

/* Plans the columns of a batch whose dictionaries are written. */
static ald_status plan_batch(ald__ipc_writer *w, const struct ArrowArray *batch, ald_error *err)
{
    ald__ipc_encoder enc = {&w->tree, &w->plan, w->remaps, err, 0, SIZE_MAX};
    ald__ipc_range range = {batch->offset, batch->length};
    ald__ipc_rows rows = {&range, 1, batch->length, NULL, 0};
    uint32_t node = 1;
    ald__ipc_plan_reset(&w->plan);
    w->plan.length = batch->length;
    for (uint32_t i = 0; i < w->tree.nodes[0].child_count; i++) {
        enc.values_node = w->tree.nodes[node].type.id == ALD__FIXED_LIST ? node + 1 : node;
        enc.values_piece = SIZE_MAX;
        ALD_TRY(ald__ipc_encode(&enc, node, batch->children[i], &rows));
        w->value_pieces[i] = enc.values_piece;
        node = w->tree.nodes[node].next;
    }
    return ALD_OK;
}

ald_status ald__ipc_write_batch(ald__ipc_writer *w, const struct ArrowArray *batch,
                                const ald__emit *emit, ald_error *err)
{
    ald_status status;
    ALD_TRY(check_root(w, batch, err));
    status = ald__ipc_write_dictionaries(w, batch, emit, err);
    if (status == ALD_OK)
        status = plan_batch(w, batch, err);
    if (status == ALD_OK)
        status = ald__ipc_emit_plan(w, -1, 0, emit, err);
    ald__ipc_plan_reset(&w->plan);
    return status;
}

void ald__ipc_writer_set_position(ald__ipc_writer *w, uint64_t position)
{
    w->position = position;
}

uint64_t ald__ipc_writer_position(const ald__ipc_writer *w)
{
    return w->position;
}

const ald__ipc_block *ald__ipc_writer_blocks(const ald__ipc_writer *w, size_t *count)
{
    *count = w->blocks.size / sizeof(ald__ipc_block);
    return (const void *)w->blocks.data;
}

void ald__ipc_writer_values(const ald__ipc_writer *w, const uint64_t **offsets,
                            const uint64_t **sizes)
{
    *offsets = w->value_offsets;
    *sizes = w->value_sizes;
}
