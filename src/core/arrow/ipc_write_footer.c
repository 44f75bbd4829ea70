/* SPDX-License-Identifier: MIT */
/* What stands around batches: the schema section, and the footer of a file. */
#include <string.h>

#include "core/arrow/ipc_write_schema.h"
#include "core/arrow/ipc_writer.h"
#include "core/base/buf.h"

static ald_status append_to_buffer(void *ctx, const void *data, size_t size, ald_error *err)
{
    return ald__buffer_append(ctx, data, size, err);
}

ald_status ald__ipc_schema_section(const ald_allocator *alloc, const struct ArrowSchema *schema,
                                   ald_buffer *out, ald_error *err)
{
    ald__ipc_write_options options = {8, ALD__DICTIONARY_STREAM, NULL};
    ald__emit emit = {append_to_buffer, out};
    ald__ipc_writer *w = NULL;
    size_t before = out->size;
    ald_status status = ald__ipc_writer_new(alloc, schema, &options, &w, err);
    if (status == ALD_OK)
        status = ald__ipc_write_schema(w, &emit, err);
    if (status == ALD_OK)
        status = ald__ipc_write_end(w, &emit, err);
    if (status != ALD_OK)
        out->size = before;
    ald__ipc_writer_free(w);
    return status;
}

/* A [Block] vector: 24 bytes each of offset, metaDataLength (and 4 of padding), bodyLength. */
static void fb_blocks(ald__fb *fb, size_t table, size_t field, const ald__ipc_writer *w,
                      int dictionaries)
{
    size_t count = 0, total, at;
    const ald__ipc_block *blocks = ald__ipc_writer_blocks(w, &total);
    for (size_t i = 0; i < total; i++)
        count += blocks[i].is_dictionary == dictionaries;
    at = ald__fb_vector(fb, count, 24, 8);
    ald__fb_link_vector(fb, table, field, at);
    for (size_t i = 0; i < total; i++) {
        if (blocks[i].is_dictionary != dictionaries)
            continue;
        ald__fb_put64(fb, at, blocks[i].offset);
        ald__fb_put32(fb, at + 8, blocks[i].metadata_size);
        ald__fb_put64(fb, at + 16, blocks[i].body_size);
        at += 24;
    }
}

/* Fields: 0 version, 1 schema, 2 dictionaries, 3 recordBatches. */
ald_status ald__ipc_write_footer(ald__ipc_writer *w, ald_buffer *out, ald_error *err)
{
    static const uint8_t sizes[] = {2, 4, 4, 4};
    ald__fb fb;
    size_t table;
    ald__fb_begin(&fb, out, err);
    table = ald__fb_table(&fb, sizes, 4);
    ald__fb_link_root(&fb, table);
    ald__fb_set(&fb, table, 0, 2, ALD__IPC_VERSION_V5);
    ald__fb_link_field(&fb, table, 1, ald__fb_schema(&fb, &w->tree));
    fb_blocks(&fb, table, 2, w, 1);
    fb_blocks(&fb, table, 3, w, 0);
    return ald__fb_end(&fb);
}
