/* SPDX-License-Identifier: MIT */
/* Pieces of the payload in order: prologue, chunks, epilogue. Slots are filled one after the other, run together, and
 * written in order, so that the bytes do not depend on how many there are. */
#include "core/dataset/save_stream.h"
#include "core/crypto/digest.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/container/file.h"
#include "core/container/header.h"
#include "core/dataset/aligned.h"
#include "core/dataset/chunk_tunings.h"
#include "core/dataset/chunk_write.h"
#include "core/dataset/chunker.h"
#include "core/dataset/file_output.h"
#include "core/dataset/lazy.h"
#include "core/dataset/prefix.h"
#include "core/dataset/whole.h"

#define GROWTH 16u /* of chunks, where a seal would have too many */
#define END_BYTES 8u
#define SLOTS_MAX ALD__TUNED_GROUP
#define LONG_ROWS 2048u             /* to a chunk */
#define SPARE_CHUNKS 8u             /* more than is expected */
#define SPARE_BYTES (64u << 10)     /* of a prefix, for these and for long rows */
#define ROOM_CHUNKS_MAX (4u << 20)  /* for more of them no room is kept before the payload */
#define ROOM_SLACK 192u             /* facts and padding that only the end tells */
#define WAITING_BYTES (64ull << 20) /* of chunks in slots, or, on many threads, … */
#define SLOT_BYTES (8ull << 20)     /* … so many for each slot */

static const uint8_t end_marker[END_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};

struct ald__stream_save {
    const ald_host *host;
    const ald_save_options *options;
    const ald__protecting *protecting;
    const struct ArrowSchema *schema;
    ald_sink sink;
    uint64_t row_count; /* expected; 0: not known */
    ald_buffer section; /* the schema section */
    ald__ipc_schema *decoded;
    ald__chunker chunker;
    ald__chunk_slot *slots;
    uint32_t slot_count, filled;
    ald__chunk_tunings tunings;
    int begun; /* output is open */
    ald__output output;
    ald_buffer chunks;      /* ald_chunk_entry */
    ald_buffer arrays;      /* ald_array_entry */
    ald_buffer frame_crc32; /* 4 bytes for each piece */
    ald_buffer seal_hashes; /* 32 bytes for each piece */
    ald__piece_keys keys;   /* where the payload is encrypted; the binding comes at the end */
    uint64_t chunk_room;    /* chunks that reserved prefix or seal have room for; 0: any number */
    uint64_t copied_chunks; /* that were, or will be, copied */
    uint64_t taken;         /* rows of all chunks made, those that wait in slots too */
    uint64_t row_bytes;     /* about, in the batch at hand */
    uint64_t waiting;       /* bytes of the chunks in slots, about */
    uint64_t rows, uncompressed;
    void *hash;
    uint8_t sha256[ALD_SHA256_BYTES];
};

static uint64_t chunk_count(const ald__stream_save *s)
{
    return s->chunks.size / sizeof(ald_chunk_entry);
}

static uint8_t flags_of(const ald__stream_save *s)
{
    return (uint8_t)((s->options->layout == ALD_LAYOUT_STREAMING ? ALD_FLAG_STREAMING : 0) |
                     (s->options->aligned ? ALD_FLAG_TRUENO_NATIVE : 0));
}

static int is_sealed(const ald__stream_save *s)
{
    return s->protecting->seed != NULL && s->options->layout == ALD_LAYOUT_STREAMING;
}

static int encrypts(const ald__stream_save *s)
{
    return ald__protecting_encrypts(s->protecting);
}

/* ---- beginning */

static ald_status decode_section(ald__stream_save *s, ald_error *err)
{
    ald__cursor c;
    ald__ipc_message m;
    ALD_TRY(ald__ipc_schema_section(&s->host->alloc, s->schema, &s->section, err));
    c = (ald__cursor){s->section.data, s->section.size, 0, 0};
    ALD_TRY(ald__ipc_read_message(&c, &ald__payload_rules, &m, err));
    return ald__ipc_schema_new(&s->host->alloc, &m, &ald__payload_rules, &s->decoded, err);
}

static ald_status make_slots(ald__stream_save *s, ald_error *err)
{
    uint32_t count = s->host->thread_count > 1 && s->host->run_tasks != NULL && !s->options->aligned
                         ? s->host->thread_count
                         : 1;
    if (count > SLOTS_MAX)
        count = SLOTS_MAX;
    s->slots = ald__alloc_zero(&s->host->alloc, count * sizeof *s->slots, err);
    if (s->slots == NULL)
        return ALD_E_NOMEM;
    s->slot_count = count;
    for (uint32_t i = 0; i < count; i++) {
        ald__chunk_slot *slot = &s->slots[i];
        ALD_TRY(ald__chunk_slot_init(slot, &s->host->alloc, s->schema, s->decoded,
                                     s->options->compression, s->options->aligned ? 64 : 8, err));
        slot->host = s->host;
        slot->effort = s->options->effort;
        slot->keys = encrypts(s) ? &s->keys : NULL;
        slot->hashes = (uint8_t)is_sealed(s);
    }
    return ALD_OK;
}

static ald_status begin_keys(ald__stream_save *s, const uint8_t *binding, ald_error *err)
{
    const ald_buffer *block = &s->protecting->block;
    if (!encrypts(s))
        return ALD_OK;
    return ald__piece_keys_init(&s->keys, s->host, s->protecting->key,
                                ald__block_nonce(block->data, block->size), binding, err);
}

static ald_status begin_hash(ald__stream_save *s, ald_error *err)
{
    if (!s->options->write_sha256)
        return ALD_OK;
    if (!ALD__HAS_SHA256(s->host->crypto))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no SHA-256");
    return s->host->crypto->sha256_new(&s->host->alloc, &s->hash, err);
}

ald_status ald__stream_save_new(const struct ArrowSchema *schema, const ald_save_options *options,
                                const ald__protecting *protecting, uint64_t row_count,
                                const ald_sink *sink, const ald_host *host, ald__stream_save **out,
                                ald_error *err)
{
    ald__stream_save *s = ald__alloc_zero(&host->alloc, sizeof *s, err);
    int whole = options->layout != ALD_LAYOUT_STREAMING;
    uint64_t rows = options->aligned ? ALD__ALIGNED_ROWS_DEFAULT : ALD__CHUNK_ROWS_DEFAULT;
    uint64_t bytes = ALD__CHUNK_BYTES_DEFAULT;
    ald_status st;
    *out = NULL;
    if (s == NULL)
        return ALD_E_NOMEM;
    s->host = host;
    s->options = options;
    s->protecting = protecting;
    s->schema = schema;
    s->sink = *sink;
    s->row_count = row_count;
    s->section.alloc = s->chunks.alloc = s->arrays.alloc = &host->alloc;
    s->frame_crc32.alloc = s->seal_hashes.alloc = &host->alloc;
    if (whole || options->chunk_rows != 0) {
        rows = whole ? UINT32_MAX - 1 : options->chunk_rows;
        bytes = 0;
    }
    ald__chunker_init(&s->chunker, host, schema, rows, bytes);
    st = decode_section(s, err);
    if (st == ALD_OK)
        st = make_slots(s, err);
    if (st == ALD_OK)
        st = ald__chunk_tunings_init(&s->tunings, host, &s->slots[0], (size_t)schema->n_children,
                                     options->effort, err);
    if (st == ALD_OK)
        st = begin_hash(s, err);
    if (st == ALD_OK)
        st = begin_keys(s, NULL, err);
    if (st != ALD_OK) {
        ald__stream_save_free(s);
        return st;
    }
    *out = s;
    return ALD_OK;
}

void ald__stream_save_free(ald__stream_save *s)
{
    ald_allocator alloc;
    if (s == NULL)
        return;
    alloc = s->host->alloc;
    if (s->hash != NULL)
        s->host->crypto->sha256_finish(s->hash, NULL);
    for (uint32_t i = 0; i < s->slot_count; i++)
        ald__chunk_slot_clear(&s->slots[i]);
    ald__release(&alloc, s->slots, s->slot_count * sizeof *s->slots);
    ald__chunk_tunings_clear(&s->tunings);
    ald__chunker_clear(&s->chunker);
    ald__ipc_schema_free(s->decoded);
    ald_buffer_clear(&s->section);
    ald_buffer_clear(&s->chunks);
    ald_buffer_clear(&s->arrays);
    ald_buffer_clear(&s->frame_crc32);
    ald_buffer_clear(&s->seal_hashes);
    ald__piece_keys_clear(&s->keys);
    ald__output_clear(&s->output);
    ald__release(&alloc, s, sizeof *s);
}

/* ---- prefix */

static ald_status build_prefix(ald__stream_save *s, uint64_t room, ald_buffer *out, ald_error *err)
{
    ald__prefix p;
    memset(&p, 0, sizeof p);
    p.alloc = &s->host->alloc;
    p.options = s->options;
    p.flags = flags_of(s);
    p.rows = s->rows;
    p.payload_size = s->output.size;
    p.uncompressed = s->uncompressed;
    p.sha256 = s->options->write_sha256 ? s->sha256 : NULL;
    p.section = &s->section;
    p.chunks = (const ald_chunk_entry *)(const void *)s->chunks.data;
    p.chunk_count = chunk_count(s);
    p.arrays = (const ald_array_entry *)(const void *)s->arrays.data;
    p.array_count = s->arrays.size / sizeof(ald_array_entry);
    if ((p.flags & ALD_FLAG_STREAMING) && s->options->compression == ALD_COMPRESSION_NONE) {
        p.frame_crc32 = s->frame_crc32.data;
        p.frame_crc32_size = s->frame_crc32.size;
    }
    if (is_sealed(s)) {
        p.seal_hashes = s->seal_hashes.data;
        p.seal_hashes_size = s->seal_hashes.size;
    }
    p.protecting = s->protecting;
    p.with_prefix_crc32 = 1;
    p.room = room;
    return ald__prefix_build(&p, out, err);
}

static size_t numeric_columns(const ald__stream_save *s)
{
    size_t count = 0;
    for (int64_t i = 0; i < s->schema->n_children; i++) {
        uint64_t per_row;
        uint32_t bits;
        count += ald__aligned_dtype(s->schema->children[i], &per_row, &bits) != ALD__DTYPE_NONE;
    }
    return count;
}

/* The size of a prefix for so many chunks, with what only the end tells. */
static ald_status prefix_room(ald__stream_save *s, uint64_t chunks, uint64_t *room, ald_error *err)
{
    ald_buffer bytes = {NULL, 0, 0, &s->host->alloc};
    size_t arrays = s->options->aligned ? (size_t)chunks * numeric_columns(s) : 0;
    ald_status st =
        ald__buffer_append_zeros(&s->chunks, (size_t)chunks * sizeof(ald_chunk_entry), err);
    if (st == ALD_OK)
        st = ald__buffer_append_zeros(&s->arrays, arrays * sizeof(ald_array_entry), err);
    if (st == ALD_OK)
        st = ald__buffer_append_zeros(&s->frame_crc32, ((size_t)chunks + 2) * 4, err);
    if (st == ALD_OK)
        st = build_prefix(s, 0, &bytes, err);
    *room = (bytes.size + ROOM_SLACK + 63) & ~(uint64_t)63;
    s->chunks.size = s->arrays.size = s->frame_crc32.size = 0;
    ald_buffer_clear(&bytes);
    return st;
}

/* Whether every row takes the same bytes. */
static int rows_are_alike(const struct ArrowSchema *schema)
{
    const char *f = schema->format;
    int nested = f[0] == '+';
    if (schema->dictionary != NULL || f[0] == 'u' || f[0] == 'U' || f[0] == 'v' || f[0] == 'z' ||
        f[0] == 'Z' || (nested && f[1] != 's' && f[1] != 'w'))
        return 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!rows_are_alike(schema->children[i]))
            return 0;
    }
    return 1;
}

/* Chunks to keep room for beside those that the first batch lets expect: a part of these, and where chunks are cut by size
 * as many as rows of 8 KiB make, if long rows may follow short ones. These not without limit, since the room is read whenever
 * the file is opened; at least two, of which one is kept for rows that nobody announced. */
static uint64_t spare_chunks(const ald__stream_save *s, uint64_t expected)
{
    int varied = s->chunker.chunk_bytes > 0 && !rows_are_alike(s->schema);
    uint64_t spare = SPARE_CHUNKS + (varied ? s->row_count / LONG_ROWS : 0);
    uint64_t entry = ALD__CHUNK_ENTRY_BYTES + sizeof(uint32_t) +
                     (s->options->aligned ? numeric_columns(s) * ALD__ARRAY_ENTRY_BYTES : 0);
    if (spare > SPARE_BYTES / entry)
        spare = SPARE_BYTES / entry > 2 ? SPARE_BYTES / entry : 2;
    return spare + expected / (varied ? 4 : 32);
}

/* A signed payload waits. Else there is room for the prefix where the rows are known. */
static ald_status begin_output(ald__stream_save *s, ald_error *err)
{
    uint64_t room = 0;
    int is_signed = s->protecting->seed != NULL;
    if (s->row_count > 0 && s->sink.write_at != NULL && s->chunker.joins && !is_signed) {
        uint64_t chunks = s->row_count / s->chunker.batch_limit + 1;
        s->chunk_room = s->options->layout == ALD_LAYOUT_STREAMING
                            ? chunks + s->copied_chunks + spare_chunks(s, chunks)
                            : 1;
        if (s->chunk_room <= ROOM_CHUNKS_MAX)
            ALD_TRY(prefix_room(s, s->chunk_room, &room, err));
    }
    if (room == 0)
        s->chunk_room = is_sealed(s) ? ALD__SEAL_CHUNKS_MAX : 0;
    s->begun = 1;
    return ald__output_begin(&s->output, &s->sink, room, 0, s->host, err);
}

/* ---- pieces */

/* `hash` is set where the file is sealed. */
static ald_status put_piece(ald__stream_save *s, const ald_buffer *stored, const uint8_t *hash,
                            ald_error *err)
{
    uint8_t crc[4];
    if (s->options->compression == ALD_COMPRESSION_NONE) {
        ald__store_le32(crc, ald__crc32(0, stored->data, stored->size));
        ALD_TRY(ald__buffer_append(&s->frame_crc32, crc, sizeof crc, err));
    }
    if (is_sealed(s))
        ALD_TRY(ald__buffer_append(&s->seal_hashes, hash, ALD_BLAKE3_BYTES, err));
    return ald__output_write(&s->output, stored->data, stored->size, err);
}

static void count_plain(ald__stream_save *s, const void *data, size_t size)
{
    if (s->hash != NULL)
        s->host->crypto->sha256_update(s->hash, data, size);
    s->uncompressed += size;
}

static ald_status seal_small(ald__stream_save *s, ald__piece_kind kind, ald_buffer *stored,
                             ald_error *err)
{
    ald__piece piece = {kind, 0, 0, 0, 0};
    if (!encrypts(s))
        return ALD_OK;
    ALD_TRY(ald__buffer_reserve(stored, ALD_GCM_TAG_BYTES, err));
    ALD_TRY(
        ald__piece_seal(&s->keys, s->host, &piece, stored->data, stored->size, stored->data, err));
    stored->size += ALD_GCM_TAG_BYTES;
    return ALD_OK;
}

/* Prologue or epilogue. */
static ald_status put_small(ald__stream_save *s, ald__piece_kind kind, const uint8_t *data,
                            size_t size, ald_error *err)
{
    ald_buffer stored = {NULL, 0, 0, &s->host->alloc};
    uint8_t hash[ALD_BLAKE3_BYTES] = {0};
    ald_status st =
        ald__codec_encode(s->options->compression, &s->host->alloc, data, size, &stored, err);
    if (st == ALD_OK)
        st = seal_small(s, kind, &stored, err);
    if (st == ALD_OK && is_sealed(s))
        st = ald__seal_piece_hash(s->host, stored.data, stored.size, hash, err);
    if (st == ALD_OK)
        st = put_piece(s, &stored, hash, err);
    ald_buffer_clear(&stored);
    return st;
}

/* Entries of the array index for the chunk in `slot`, whose writer counted from the payload's start. */
static ald_status add_arrays(ald__stream_save *s, const ald__chunk_slot *slot, ald_error *err)
{
    const uint64_t *offsets, *sizes;
    ald__ipc_writer_values(slot->writer, &offsets, &sizes);
    for (int64_t i = 0; i < s->schema->n_children; i++) {
        ald_array_entry e;
        uint64_t per_row;
        uint32_t bits;
        int dtype = ald__aligned_dtype(s->schema->children[i], &per_row, &bits);
        if (dtype == ALD__DTYPE_NONE)
            continue;
        memset(&e, 0, sizeof e);
        e.column_idx = (uint32_t)i;
        e.dtype = (uint8_t)dtype;
        e.length = slot->rows * per_row;
        e.alignment = 64;
        e.backend_hint = s->options->backend_hint;
        e.offset = offsets[i];
        e.size_bytes = e.length / 8 * bits + (e.length % 8 * bits + 7) / 8;
        ALD_TRY(ald__buffer_append(&s->arrays, &e, sizeof e, err));
    }
    return ALD_OK;
}

/* The entry of a chunk that is about to be written. */
static ald_status add_entry(ald__stream_save *s, uint32_t rows, uint32_t uncompressed,
                            size_t stored, ald_error *err)
{
    ald_chunk_entry e;
    memset(&e, 0, sizeof e);
    e.row_offset = s->rows;
    e.byte_offset = s->output.size;
    e.num_rows = rows;
    e.compressed_size = (uint32_t)stored;
    e.uncompressed_size = uncompressed;
    s->rows += rows;
    if (s->row_count != 0 && s->rows > s->row_count && s->chunk_room != 0 &&
        chunk_count(s) >= s->chunk_room)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the stream said that it has %llu rows, but has more",
                         (unsigned long long)s->row_count);
    if (chunk_count(s) >= UINT32_MAX - 1 || (s->chunk_room != 0 && chunk_count(s) >= s->chunk_room))
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "more than %llu chunks",
                         (unsigned long long)chunk_count(s));
    return ald__buffer_append(&s->chunks, &e, sizeof e, err);
}

static ald_status put_chunk(ald__stream_save *s, const ald__chunk_slot *slot, ald_error *err)
{
    const ald_buffer *stored = ald__chunk_slot_bytes(slot);
    ALD_TRY(add_entry(s, slot->rows, slot->uncompressed, stored->size, err));
    if (s->options->aligned)
        ALD_TRY(add_arrays(s, slot, err));
    count_plain(s, slot->plain.data, slot->uncompressed);
    return put_piece(s, stored, slot->hash, err);
}

static void run_slot(void *arg, uint32_t index)
{
    ald__chunk_slot_run((ald__chunk_slot *)arg + index);
}

static ald_status run_slots(ald__stream_save *s, ald_error *err)
{
    uint32_t filled = s->filled;
    s->filled = 0;
    s->waiting = 0;
    if (s->options->aligned && filled > 0)
        ald__ipc_writer_set_position(s->slots[0].writer, s->output.size);
    ALD_TRY(ald__chunk_tunings_set(&s->tunings, s->slots, s->slot_count, filled, err));
    if (filled > 1)
        s->host->run_tasks(s->host->ctx, filled, run_slot, s->slots);
    else if (filled == 1)
        run_slot(s->slots, 0);
    for (uint32_t i = 0; i < filled; i++) {
        if (s->slots[i].status != ALD_OK) {
            if (err != NULL)
                *err = s->slots[i].error;
            return s->slots[i].status;
        }
        ALD_TRY(put_chunk(s, &s->slots[i], err));
    }
    return ALD_OK;
}

/* Rows of a chunk, where nobody knows how many are to come: sixteen times as many whenever half of the chunks that were
 * left are used. */
static uint64_t grown_rows(const ald__stream_save *s, uint64_t used)
{
    uint64_t left = s->chunk_room, rows = s->chunker.chunk_rows;
    while (left > 1 && used >= s->chunk_room - left / 2 && rows < UINT32_MAX / GROWTH) {
        left /= 2;
        rows *= GROWTH;
    }
    return rows;
}

/* Where the room gets short, the chunks that are left grow to fit it. */
static void keep_to_room(ald__stream_save *s)
{
    uint64_t used = chunk_count(s) + s->filled, left, rows;
    if (s->chunk_room == 0 || s->options->layout != ALD_LAYOUT_STREAMING)
        return;
    if (s->row_count == 0) {
        rows = grown_rows(s, used);
        if (rows > s->chunker.chunk_rows && s->chunker.batch_limit < rows)
            s->chunker.batch_limit = rows;
        return;
    }
    left = s->chunk_room > used + 1 ? s->chunk_room - used - 1 : 1;
    rows = s->row_count > s->taken ? s->row_count - s->taken : 1;
    if (s->chunker.batch_limit < rows / left + 1)
        s->chunker.batch_limit = rows / left + 1;
}

/* Long rows make chunks larger than they are meant to be; then fewer of them wait. */
static int slots_are_full(const ald__stream_save *s)
{
    uint64_t limit = s->slot_count * SLOT_BYTES;
    return s->filled == s->slot_count ||
           s->waiting >= (limit > WAITING_BYTES ? limit : WAITING_BYTES);
}

static ald_status take_chunks(ald__stream_save *s, int at_end, ald_error *err)
{
    struct ArrowArray chunk;
    for (;;) {
        keep_to_room(s);
        ALD_TRY(ald__chunker_take(&s->chunker, at_end, &chunk, err));
        if (chunk.release == NULL)
            return ALD_OK;
        s->slots[s->filled].k = chunk_count(s) + s->filled + 1;
        s->slots[s->filled].row_offset = s->taken;
        s->slots[s->filled++].chunk = chunk;
        s->taken += (uint64_t)chunk.length;
        s->waiting += (uint64_t)chunk.length * s->row_bytes;
        if (slots_are_full(s))
            ALD_TRY(run_slots(s, err));
    }
}

static ald_status save_begin(ald__stream_save *s, ald_error *err)
{
    if (s->begun)
        return ALD_OK;
    ALD_TRY(begin_output(s, err));
    count_plain(s, s->section.data, s->section.size - END_BYTES);
    return put_small(s, ALD__PIECE_FIRST, s->section.data, s->section.size - END_BYTES, err);
}

ald_status ald__stream_save_put(ald__stream_save *s, struct ArrowArray *batch, uint64_t bytes,
                                ald_error *err)
{
    s->row_bytes = batch->length > 0 ? bytes / (uint64_t)batch->length : 0;
    ALD_TRY(ald__chunker_put(&s->chunker, batch, bytes, err));
    ALD_TRY(save_begin(s, err));
    return take_chunks(s, 0, err);
}

/* ---- chunks of another file */

void ald__stream_save_expect(ald__stream_save *s, uint64_t chunk_count)
{
    s->copied_chunks = chunk_count;
}

/* Chunks mean the same under the same schema section: dictionary ids and all. */
static ald_status is_same_section(const ald__stream_save *s, const ald__file *f, int *same,
                                  ald_error *err)
{
    ald_range at = f->sections.schema;
    uint8_t *bytes;
    ald_status st;
    *same = at.end - at.begin == s->section.size;
    if (!*same)
        return ALD_OK;
    bytes = ald__alloc(&s->host->alloc, s->section.size, err);
    if (bytes == NULL)
        return ALD_E_NOMEM;
    st = ald__file_bytes(f, at.begin, bytes, s->section.size, err);
    if (st == ALD_OK)
        *same = memcmp(bytes, s->section.data, s->section.size) == 0;
    ald__release(&s->host->alloc, bytes, s->section.size);
    return st;
}

static ald_status copy_chunk(ald__stream_save *s, const ald_streaming *base, uint64_t index,
                             ald_buffer *bytes, ald_error *err)
{
    ald_chunk_entry e = base->file.chunks[index];
    ald__piece piece = {ALD__PIECE_CHUNK, chunk_count(s) + 1, s->rows, e.num_rows,
                        e.uncompressed_size};
    uint8_t hash[ALD_BLAKE3_BYTES] = {0};
    ald__stored stored;
    ALD_TRY(ald__piece_read(base, index + 1, &stored, err));
    bytes->size = 0;
    ald_status st = ald__buffer_append(bytes, stored.data, stored.size, err);
    ald__stored_clear(base, &stored);
    if (st == ALD_OK && encrypts(s)) {
        st = ald__buffer_reserve(bytes, ALD_GCM_TAG_BYTES, err);
        if (st == ALD_OK)
            st = ald__piece_seal(&s->keys, s->host, &piece, bytes->data, bytes->size, bytes->data,
                                 err);
        bytes->size += ALD_GCM_TAG_BYTES;
    }
    if (st == ALD_OK && bytes->size >= UINT32_MAX)
        st = ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a chunk of %zu bytes",
                       bytes->size);
    if (st == ALD_OK && is_sealed(s))
        st = ald__seal_piece_hash(s->host, bytes->data, bytes->size, hash, err);
    if (st == ALD_OK)
        st = add_entry(s, e.num_rows, e.uncompressed_size, bytes->size, err);
    if (st != ALD_OK)
        return st;
    count_plain(s, NULL, e.uncompressed_size);
    return put_piece(s, bytes, hash, err);
}

ald_status ald__stream_save_copy(ald__stream_save *s, const ald_streaming *base, int *done,
                                 ald_error *err)
{
    const ald__file *f = &base->file;
    ald_buffer bytes = {NULL, 0, 0, &s->host->alloc};
    ald_status st;
    *done = 0;
    if (s->options->compression != f->header.compression || s->options->aligned ||
        (f->header.flags & ALD_FLAG_TRUENO_NATIVE) || s->hash != NULL)
        return ALD_OK;
    ALD_TRY(is_same_section(s, f, done, err));
    if (!*done)
        return ALD_OK;
    s->chunker.batch_limit = s->chunker.chunk_rows;
    st = save_begin(s, err);
    for (uint64_t i = 0; st == ALD_OK && i < f->chunk_count; i++)
        st = copy_chunk(s, base, i, &bytes, err);
    ald_buffer_clear(&bytes);
    s->taken = s->rows;
    s->tunings.first += f->chunk_count;
    s->chunker.chunks = f->chunk_count; /* so an append of nothing adds no empty one */
    return st;
}

static ald_status check_whole(const ald__stream_save *s, ald_error *err)
{
    if (s->options->layout == ALD_LAYOUT_STREAMING || chunk_count(s) == 1)
        return ALD_OK;
    return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                     "an aligned file without chunks is one batch, and batches with dictionaries "
                     "are not joined\npass --streaming");
}

/* With the chunks all there, the binding is known, and with it the epilogue's key. */
static ald_status bind_keys(ald__stream_save *s, ald_error *err)
{
    ald_buffer index = {NULL, 0, 0, &s->host->alloc};
    uint8_t binding[ALD_SHA256_BYTES];
    ald_status st;
    if (!encrypts(s))
        return ALD_OK;
    st = ald__prefix_put_chunks((const ald_chunk_entry *)(const void *)s->chunks.data,
                                chunk_count(s), &index, err);
    if (st == ALD_OK) {
        ald__bound b = {s->options->dataset_type,
                        s->options->compression,
                        flags_of(s),
                        s->rows,
                        s->uncompressed,
                        s->section.data,
                        s->section.size,
                        index.data,
                        index.size,
                        s->protecting->block.data,
                        s->protecting->block.size};
        st = ald__binding(s->host, &b, binding, err);
    }
    ald_buffer_clear(&index);
    return st == ALD_OK ? begin_keys(s, binding, err) : st;
}

ald_status ald__stream_save_finish(ald__stream_save *s, ald_error *err)
{
    ald_buffer prefix = {NULL, 0, 0, &s->host->alloc};
    ald_status st;
    if (!s->begun) {
        s->chunker.batch_limit = s->chunker.chunk_rows;
        ALD_TRY(save_begin(s, err));
    }
    ALD_TRY(take_chunks(s, 1, err));
    ALD_TRY(run_slots(s, err));
    ALD_TRY(check_whole(s, err));
    count_plain(s, end_marker, END_BYTES);
    ALD_TRY(bind_keys(s, err));
    ALD_TRY(put_small(s, ALD__PIECE_LAST, end_marker, END_BYTES, err));
    if (s->hash != NULL) {
        s->host->crypto->sha256_finish(s->hash, s->sha256);
        s->hash = NULL;
    }
    st = build_prefix(s, s->output.room, &prefix, err);
    if (st == ALD_OK)
        st = ald__protecting_finish(s->protecting, &s->output, &prefix, err);
    ald_buffer_clear(&prefix);
    return st;
}
