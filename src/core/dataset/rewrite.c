/* SPDX-License-Identifier: MIT */
/* Rewriting: the input checked as a reader checks it, up to the key; then prefix and payload anew.
 *
 * What was signed is copied before it is looked at: between the check of a signature and the copy of the payload another
 * process could change the file, and the new signature would stand for its bytes. */
#include "core/dataset/rewrite.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/dataset/guard.h"
#include "core/dataset/prefix.h"
#include "core/dataset/whole.h"

#define PIECE_BYTES ((size_t)1 << 20)

/* ---- the input */

static ald_status copy_to_spool(ald__rewriting *r, const ald_source *source, ald_error *err)
{
    uint8_t *piece;
    ald_status st = ALD_OK;
    ALD_TRY(r->host->spool_open(r->host->ctx, &r->copy, err));
    piece = ald__alloc(&r->host->alloc, PIECE_BYTES, err);
    if (piece == NULL)
        return ALD_E_NOMEM;
    for (uint64_t at = 0; st == ALD_OK && at < source->size_bytes;) {
        uint64_t left = source->size_bytes - at;
        size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        st = source->read_at(source->ctx, at, piece, n, err);
        if (st == ALD_OK)
            st = r->copy.append(r->copy.ctx, piece, n, err);
        at += n;
    }
    ald__release(&r->host->alloc, piece, PIECE_BYTES);
    memset(&r->source, 0, sizeof r->source);
    r->source.size_bytes = source->size_bytes;
    r->source.read_at = r->copy.read_at;
    r->source.ctx = r->copy.ctx;
    r->source.name = source->name;
    return st;
}

static ald_status copy_to_memory(ald__rewriting *r, const ald_source *source, ald_error *err)
{
    size_t size;
    if (!ald__to_size(source->size_bytes, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__buffer_reserve(&r->memory, size, err));
    ALD_TRY(source->read_at(source->ctx, 0, r->memory.data, size, err));
    r->memory.size = size;
    r->source = ald_source_memory(r->memory.data, size);
    r->source.name = source->name;
    return ALD_OK;
}

static ald_status take_source(ald__rewriting *r, const ald_source *source, ald_error *err)
{
    uint8_t bytes[ALD__HEADER_BYTES];
    ald__header header;
    ALD_TRY(ald__file_check_start(source, err));
    ALD_TRY(source->read_at(source->ctx, 0, bytes, sizeof bytes, err));
    ald__header_decode(bytes, &header);
    r->source = *source;
    if (!(header.flags & ALD_FLAG_SIGNED))
        return ALD_OK;
    return r->host->spool_open != NULL ? copy_to_spool(r, source, err)
                                       : copy_to_memory(r, source, err);
}

static ald_status open_input(ald__rewriting *r, const ald_source *source, ald_error *err)
{
    ALD_TRY(take_source(r, source, err));
    ALD_TRY(ald__settings_open(&r->settings, &r->source, ALD__FILE_WHOLE, r->host, &r->file, err));
    if ((r->file.header.flags & ALD_FLAG_SIGNED) && r->source.ctx == source->ctx)
        return ald__fail(err, ALD_E_IO, ALD_NO_OFFSET, "the file changed while it was read");
    return ald__check_trust(&r->file, &r->settings, ALD__SCOPE_ALL, r->host, NULL, err);
}

/* The caller sees the file as it was checked. */
static ald_status edit_metadata(ald__rewriting *r, ald_error *err)
{
    ald_info checked;
    if (r->options.edit == NULL)
        return ALD_OK;
    ald__info_fill(&r->file, NULL, &checked);
    ALD_TRY(ald_value_copy(&r->host->alloc, r->file.tree, &r->edited, err));
    return r->options.edit(r->options.edit_ctx, &checked, r->edited, err);
}

/* ---- the output */

static ald_status build(const ald__rewriting *r, ald_buffer *out, ald_error *err)
{
    const ald__file *f = &r->file;
    ald__prefix p;
    memset(&p, 0, sizeof p);
    p.alloc = &r->host->alloc;
    p.options = &r->header;
    p.flags = f->header.flags & (ALD_FLAG_STREAMING | ALD_FLAG_TRUENO_NATIVE);
    /* which additional data the payload was sealed with depends on the version */
    if (ald__protecting_encrypts(&r->protecting) && r->transit == ALD__TRANSIT_KEEP)
        p.minor = f->header.version_minor;
    p.rows = f->header.num_rows;
    p.payload_size = r->payload_size;
    p.uncompressed = f->uncompressed_size;
    p.section = &r->section;
    p.chunks = r->chunks;
    p.chunk_count = f->chunk_count;
    p.arrays = r->arrays;
    p.array_count = f->array_count;
    if (ald__rewrite_sums(r)) {
        p.frame_crc32 = r->frame_crc32.data;
        p.frame_crc32_size = r->frame_crc32.size;
    }
    if (ald__rewrite_seals(r)) {
        p.seal_hashes = r->seal_hashes.data;
        p.seal_hashes_size = r->seal_hashes.size;
    }
    p.protecting = &r->protecting;
    p.with_prefix_crc32 = p.flags != 0;
    return ald__prefix_build(&p, out, err);
}

/* All sizes are known: so is the prefix's, and an unsigned payload goes straight to its place. */
static ald_status measure_room(ald__rewriting *r, uint64_t *room, ald_error *err)
{
    ald_buffer prefix = {NULL, 0, 0, &r->host->alloc};
    ald_status st = ALD_OK;
    *room = 0;
    if (r->transit == ALD__TRANSIT_KEEP || r->protecting.seed != NULL || r->sink.write_at == NULL)
        return ALD_OK;
    if (ald__rewrite_sums(r))
        st = ald__buffer_append_zeros(&r->frame_crc32, (size_t)(r->file.chunk_count + 2) * 4, err);
    if (st == ALD_OK)
        st = build(r, &prefix, err);
    *room = prefix.size;
    r->frame_crc32.size = 0;
    ald_buffer_clear(&prefix);
    return st;
}

static ald_status write_output(ald__rewriting *r, ald_error *err)
{
    ald_buffer prefix = {NULL, 0, 0, &r->host->alloc};
    uint64_t room = 0;
    ald_status st;
    r->header = (ald_save_options)ALD_SAVE_OPTIONS_INIT;
    r->header.dataset_type = r->file.header.dataset_type;
    r->header.compression = r->file.header.compression;
    r->header.metadata = r->edited != NULL             ? r->edited
                         : r->options.metadata != NULL ? r->options.metadata
                                                       : r->file.tree;
    st = measure_room(r, &room, err);
    if (st == ALD_OK)
        st = ald__rewrite_payload(r, room, err);
    if (st == ALD_OK)
        st = build(r, &prefix, err);
    if (st == ALD_OK)
        st = ald__protecting_finish(&r->protecting, &r->output, &prefix, err);
    ald_buffer_clear(&prefix);
    return st;
}

static void rewriting_clear(ald__rewriting *r)
{
    const ald_allocator *alloc = &r->host->alloc;
    ald__release(alloc, r->chunks, (size_t)r->file.chunk_count * sizeof *r->chunks);
    ald__release(alloc, r->arrays, (size_t)r->file.array_count * sizeof *r->arrays);
    ald__output_clear(&r->output);
    ald_buffer_clear(&r->section);
    ald_buffer_clear(&r->frame_crc32);
    ald_buffer_clear(&r->seal_hashes);
    ald__piece_keys_clear(&r->from);
    ald__piece_keys_clear(&r->to);
    ald__protecting_clear(&r->protecting);
    ald_value_free(r->edited);
    ald__file_clear(&r->file);
    if (r->copy.close != NULL)
        r->copy.close(r->copy.ctx);
    ald_buffer_clear(&r->memory);
}

ald_status ald_rewrite(const ald_source *source, const ald_sink *sink,
                       const ald_rewrite_options *options, const ald_host *host, ald_error *err)
{
    ald__rewriting r;
    ald_status st;
    memset(&r, 0, sizeof r);
    r.host = host;
    r.sink = *sink;
    r.file.alloc = host->alloc;
    r.memory.alloc = r.section.alloc = &host->alloc;
    r.frame_crc32.alloc = r.seal_hashes.alloc = &host->alloc;
    ald__protecting_begin(&r.protecting, host);
    st = ald__rewrite_take(&r, options, err);
    if (st == ALD_OK)
        st = open_input(&r, source, err);
    if (st == ALD_OK)
        st = edit_metadata(&r, err);
    if (st == ALD_OK)
        st = ald__rewrite_plan(&r, err);
    if (st == ALD_OK)
        st = write_output(&r, err);
    rewriting_clear(&r);
    return st;
}
