/* SPDX-License-Identifier: MIT */
/* Arrow IPC files: "ARROW1" and two zeros, messages as in a stream, footer, its length, "ARROW1". Only the footer is
 * believed about where messages are; nothing is scanned for. */
#include <string.h>

#include "core/arrow/flatbuf_read.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/sort.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/fail.h"
#include "core/dataset/ipc_input.h"

#define FILE_MAGIC_BYTES 6
#define FILE_HEAD_BYTES 8  /* magic and padding */
#define FILE_TAIL_BYTES 10 /* footer length and magic */
#define FOOTER_BLOCK_BYTES 24

static const char file_magic[FILE_MAGIC_BYTES + 1] = "ARROW1";

ald_status ald__ipc_file_looks(const ald_source *source, int *is_file, ald_error *err)
{
    char start[FILE_MAGIC_BYTES] = {0};
    size_t size =
        source->size_bytes < FILE_MAGIC_BYTES ? (size_t)source->size_bytes : FILE_MAGIC_BYTES;
    if (size > 0)
        ALD_TRY(source->read_at(source->ctx, 0, start, size, err));
    if (memcmp(start, "FEA1", 4) == 0)
        return ald__fail(err, ALD_E_UNSUPPORTED, 0,
                         "Feather V1 (magic FEA1) is not supported\n"
                         "write it as Feather V2, which is an Arrow IPC file");
    *is_file = memcmp(start, file_magic, FILE_MAGIC_BYTES) == 0;
    return ALD_OK;
}

/* The footer's bytes in in->head; *offset is where they begin in the file. */
static ald_status read_footer(ald__ipc_input *in, uint64_t *offset, ald_error *err)
{
    uint64_t size = in->source.size_bytes, room;
    uint8_t tail[FILE_TAIL_BYTES];
    uint32_t length;
    if (size < FILE_HEAD_BYTES + FILE_TAIL_BYTES)
        return ald__fail(err, ALD_E_TRUNCATED, size,
                         "an Arrow IPC file of %llu bytes has no footer", (unsigned long long)size);
    ALD_TRY(in->source.read_at(in->source.ctx, size - sizeof tail, tail, sizeof tail, err));
    if (memcmp(tail + 4, file_magic, FILE_MAGIC_BYTES) != 0)
        return ald__fail(err, ALD_E_TRUNCATED, size,
                         "an Arrow IPC file that does not end with ARROW1: it is truncated, or was "
                         "not closed by its writer");
    length = ald__load_le32(tail);
    room = size - FILE_HEAD_BYTES - FILE_TAIL_BYTES;
    if (length == 0 || length > INT32_MAX || length > room)
        return ald__fail(err, ALD_E_INVALID_FORMAT, size - sizeof tail,
                         "the footer's length is %lld, expected 1 to %llu",
                         (long long)(int32_t)length, (unsigned long long)room);
    *offset = size - sizeof tail - length;
    in->head.size = 0;
    ALD_TRY(ald__buffer_reserve(&in->head, length, err));
    ALD_TRY(in->source.read_at(in->source.ctx, *offset, in->head.data, length, err));
    in->head.size = length;
    return ALD_OK;
}

/* Block: int64 offset, int32 metaDataLength, padding, int64 bodyLength. All lie between the file's head and its footer. */
static ald_status read_block(const uint8_t *p, uint64_t footer, ald__ipc_place_in_file *out,
                             ald_error *err)
{
    uint64_t offset = ald__load_le64(p), body = ald__load_le64(p + 16), end;
    uint32_t head = ald__load_le32(p + 8);
    if (offset < FILE_HEAD_BYTES || head > INT32_MAX || !ald__add_u64(offset, head, &end) ||
        !ald__add_u64(end, body, &end) || end > footer)
        return ald__fail(err, ALD_E_INVALID_FORMAT, footer,
                         "the footer puts a message at %lld, %lld + %lld bytes long, outside of "
                         "the file",
                         (long long)offset, (long long)(int32_t)head, (long long)body);
    out->offset = offset;
    out->head_size = head;
    out->body_size = body;
    return ALD_OK;
}

static ald_status read_blocks(ald__ipc_input *in, const ald__flat *flat,
                              const ald__flat_table *table, unsigned field, uint64_t footer,
                              ald__ipc_place_in_file **out, size_t *count, ald_error *err)
{
    ald__flat_vector blocks;
    size_t size;
    ALD_TRY(ald__flat_items(flat, table, field, FOOTER_BLOCK_BYTES, &blocks, err));
    if (!ald__mul_size(blocks.count, sizeof **out, &size))
        return ald__no_memory(err, SIZE_MAX);
    *out = ald__alloc(&in->host.alloc, size, err);
    if (*out == NULL)
        return ALD_E_NOMEM;
    *count = blocks.count;
    for (size_t i = 0; i < blocks.count; i++)
        ALD_TRY(
            read_block(flat->data + blocks.pos + i * FOOTER_BLOCK_BYTES, footer, &(*out)[i], err));
    return ALD_OK;
}

ald_status ald__ipc_file_begin(ald__ipc_input *in, ald_error *err)
{
    uint64_t footer = 0;
    ald__flat flat;
    ald__flat_table table, schema;
    int present;
    ALD_TRY(read_footer(in, &footer, err));
    ald__flat_init(&flat, in->head.data, in->head.size, footer);
    ALD_TRY(ald__flat_root(&flat, &table, err));
    ALD_TRY(ald__flat_child(&flat, &table, FBS_FOOTER_SCHEMA, &schema, &present, err));
    if (!present)
        return ald__fail(err, ALD_E_INVALID_FORMAT, footer, "the footer holds no schema");
    ALD_TRY(ald__ipc_schema_from_footer(&in->host.alloc, in->head.data, in->head.size, footer,
                                        schema.pos, &in->rules, &in->schema, err));
    ALD_TRY(read_blocks(in, &flat, &table, FBS_FOOTER_DICTIONARIES, footer, &in->dictionary_places,
                        &in->dictionary_count, err));
    return read_blocks(in, &flat, &table, FBS_FOOTER_BATCHES, footer, &in->batch_places,
                       &in->batch_count, err);
}

void ald__ipc_file_clear(ald__ipc_input *in)
{
    ald__release(&in->host.alloc, in->dictionary_places,
                 in->dictionary_count * sizeof *in->dictionary_places);
    ald__release(&in->host.alloc, in->batch_places, in->batch_count * sizeof *in->batch_places);
}

/* The message that a block names, which must be what the block says of it. */
static ald_status read_place(ald__ipc_input *in, const ald__ipc_place_in_file *place,
                             ald__ipc_type type, ald__ipc_message *message, ald__shared **body,
                             ald_error *err)
{
    uint64_t head_end = place->offset + place->head_size, end = head_end + place->body_size;
    *body = NULL;
    ALD_TRY(ald__ipc_input_head(in, place->offset, head_end, message, err));
    if (message->type != type || message->body_size > place->body_size ||
        message->body_offset > head_end)
        return ald__fail(err, ALD_E_INVALID_FORMAT, place->offset,
                         "the footer and the message that it points at disagree");
    /* Padding behind the metadata that its length leaves out belongs to the head. */
    message->body_offset = head_end;
    return ald__ipc_input_body(in, end, message, body, err);
}

/* A dictionary batch that is no delta is a dictionary's first: files are read in any order, so none can be replaced. */
static ald_status note_dictionary(ald__ipc_input *in, const ald__ipc_message *message,
                                  ald__pair *firsts, size_t *count, ald_error *err)
{
    ald__flat flat;
    ald__flat_table table, dictionary;
    uint8_t is_delta = 0;
    size_t index = 0;
    int present = 0;
    ald__flat_init(&flat, message->metadata, message->metadata_size, message->metadata_offset);
    ALD_TRY(ald__flat_root(&flat, &table, err));
    ALD_TRY(ald__flat_child(&flat, &table, FBS_MESSAGE_HEADER, &dictionary, &present, err));
    if (present)
        ALD_TRY(ald__flat_u8(&flat, &dictionary, FBS_DICTIONARY_DELTA, 0, &is_delta, err));
    if (is_delta)
        return ALD_OK;
    ALD_TRY(ald__ipc_schema_dictionary_index(in->schema, message, &index, err));
    firsts[*count].a = index;
    firsts[(*count)++].b = message->metadata_offset;
    return ALD_OK;
}

static ald_status check_firsts(ald__pair *firsts, size_t count, ald_error *err)
{
    ald__pairs_sort(firsts, count);
    for (size_t i = 1; i < count; i++) {
        if (firsts[i].a == firsts[i - 1].a)
            return ald__fail(err, ALD_E_INVALID_FORMAT, firsts[i].b,
                             "a dictionary of this file is replaced, which only a stream may do");
    }
    return ALD_OK;
}

static ald_status read_dictionaries(ald__ipc_input *in, ald__pair *firsts, ald_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < in->dictionary_count; i++) {
        ald__ipc_message message;
        ald__shared *body = NULL;
        ald_status status;
        ALD_TRY(
            read_place(in, &in->dictionary_places[i], ALD__IPC_DICTIONARY, &message, &body, err));
        status = note_dictionary(in, &message, firsts, &count, err);
        if (status == ALD_OK)
            status = ald__ipc_read_dictionary(in->dictionaries, &message, &in->rules, body, err);
        ald__shared_unref(body);
        if (status != ALD_OK)
            return status;
    }
    return check_firsts(firsts, count, err);
}

static ald_status file_dictionaries(ald__ipc_input *in, ald_error *err)
{
    size_t size = in->dictionary_count * sizeof(ald__pair);
    ald__pair *firsts;
    ald_status status;
    if (in->dictionaries_read)
        return ALD_OK;
    firsts = ald__alloc(&in->host.alloc, size, err);
    if (firsts == NULL)
        return ALD_E_NOMEM;
    status = read_dictionaries(in, firsts, err);
    ald__release(&in->host.alloc, firsts, size);
    in->dictionaries_read = status == ALD_OK;
    return status;
}

ald_status ald__ipc_file_next(ald__ipc_input *in, struct ArrowArray *out, ald_error *err)
{
    ald__ipc_message message;
    ald__shared *body = NULL;
    ald_status status;
    ALD_TRY(file_dictionaries(in, err));
    if (in->batch_next == in->batch_count)
        return ALD_OK;
    ALD_TRY(
        read_place(in, &in->batch_places[in->batch_next], ALD__IPC_BATCH, &message, &body, err));
    in->batch_next++;
    status = ald__ipc_read_batch(in->dictionaries, &message, &in->rules, body, NULL, out, err);
    ald__shared_unref(body);
    return status;
}
