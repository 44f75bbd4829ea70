/* SPDX-License-Identifier: MIT */
/* A payload in memory: decompressed piece by piece, then parsed as the Arrow IPC stream that it is. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/codec/codec.h"
#include "core/dataset/aligned.h"
#include "core/dataset/chunk.h"
#include "core/dataset/items.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/whole.h"

const ald__ipc_rules ald__payload_rules = {.strict = 1, .allow_delta = 1};

#define END_BYTES 8u

static const uint8_t end_marker[END_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};

ald_status ald__batch_list_add(ald__batch_list *list, struct ArrowArray *batch, ald_error *err)
{
    size_t item = sizeof(ald__array_holder *);
    ald_status st;
    if (list->count == list->cap) {
        size_t cap = list->cap < 8 ? 8 : list->cap * 2;
        ald__array_holder **grown = ald__alloc(list->alloc, cap * item, err);
        if (grown == NULL) {
            batch->release(batch);
            return ALD_E_NOMEM;
        }
        if (list->count > 0)
            memcpy(grown, list->holders, list->count * item);
        ald__release(list->alloc, list->holders, list->cap * item);
        list->holders = grown;
        list->cap = cap;
    }
    st = ald__array_holder_new(list->alloc, batch, &list->holders[list->count], err);
    if (st != ALD_OK)
        batch->release(batch);
    else
        list->count++;
    return st;
}

void ald__batch_list_clear(ald__batch_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        ald__array_holder_free(list->holders[i]);
    ald__release(list->alloc, list->holders, list->cap * sizeof(ald__array_holder *));
    list->holders = NULL;
    list->count = list->cap = 0;
}

ald_status ald__schema_section_read(const ald__file *f, const uint8_t *section,
                                    ald__ipc_schema **out, ald_error *err)
{
    ald_range r = f->sections.schema;
    ald__cursor c = {section, (size_t)(r.end - r.begin), 0, r.begin};
    ald__ipc_message m;
    *out = NULL;
    ALD_TRY(ald__ipc_read_message(&c, &ald__payload_rules, &m, err));
    if (m.type != ALD__IPC_SCHEMA)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r.begin,
                         "the schema section does not begin with a schema message");
    if (ald__cursor_left(&c) != END_BYTES || memcmp(c.data + c.pos, end_marker, END_BYTES) != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(&c),
                         "the schema section does not end with the end-of-stream marker");
    return ald__ipc_schema_new(&f->alloc, &m, &ald__payload_rules, out, err);
}

/* ---- decompression */

static void unref_whole(void *ctx, void *data, size_t size)
{
    (void)data;
    (void)size;
    ald__shared_unref(ctx);
}

/* Bytes that need no decompression stay where they are when they begin at a 64-byte boundary. */
static ald_status share_payload(const ald__file *f, ald__shared *stored, size_t at,
                                ald__shared **out, ald_error *err)
{
    uint8_t *p = ald__shared_data(stored) + at;
    size_t size = (size_t)f->uncompressed_size;
    if (((uintptr_t)p & 63u) != 0) {
        ALD_TRY(ald__shared_alloc(&f->alloc, size, out, err));
        memcpy(ald__shared_data(*out), p, size);
        return ALD_OK;
    }
    ALD_TRY(ald__shared_new(&f->alloc, p, size, unref_whole, stored, out, err));
    (void)ald__shared_ref(stored);
    return ALD_OK;
}

static uint64_t pieces_bound(const ald__file *f, const uint8_t *src)
{
    uint64_t bound = 0, at = 0;
    size_t tag = ald__file_tag(f);
    if (ald__compression_is_packed(f->header.compression))
        return UINT64_MAX; /* rebuilt bytes need no stored ones */
    if (!(f->header.flags & ALD_FLAG_STREAMING))
        return ald__codec_bound(f->header.compression, src, (size_t)f->payload_size - tag);
    for (uint64_t i = 0; i < f->chunk_count + 2; i++) {
        uint64_t end = ald__file_piece_end(f, i);
        if (!ald__add_u64(
                bound, ald__codec_bound(f->header.compression, src + at, (size_t)(end - at) - tag),
                &bound))
            return UINT64_MAX;
        at = end;
    }
    return bound;
}

/* Chunks do not depend on each other; each has its place in the payload. */
typedef struct decoding {
    const ald__file *file;
    const ald__ipc_schema *schema;
    const uint8_t *src;
    uint8_t *dst;
    const uint64_t *places;
    ald__inflaters *inflaters; /* one for each worker */
} decoding;

static ald_status decode_chunk(void *ctx, uint32_t worker, uint64_t index, ald_error *err)
{
    const decoding *d = ctx;
    const ald__file *f = d->file;
    const ald_chunk_entry *e = &f->chunks[index];
    return ald__chunk_decode(f, d->schema, index, NULL, d->src + e->byte_offset,
                             e->compressed_size - ald__file_tag(f), d->dst + d->places[index],
                             e->uncompressed_size, f->sections.payload.begin + e->byte_offset,
                             &d->inflaters[worker], err);
}

static ald_status decode_chunks(decoding *d, const ald_host *host, ald_error *err)
{
    uint32_t workers = ald__items_workers(host, d->file->chunk_count);
    size_t size = workers * sizeof *d->inflaters;
    ald_status st;
    d->inflaters = ald__alloc_zero(&host->alloc, size, err);
    if (d->inflaters == NULL)
        return ALD_E_NOMEM;
    st = ald__items_run(host, d->file->chunk_count, decode_chunk, d, err);
    for (uint32_t i = 0; i < workers; i++)
        ald__inflaters_clear(&d->inflaters[i]);
    ald__release(&host->alloc, d->inflaters, size);
    return st;
}

static size_t places_bytes(const ald__file *f)
{
    return ((size_t)f->chunk_count + 1) * sizeof(uint64_t);
}

/* Where each chunk begins in the decompressed payload, and where the last one ends. */
static ald_status place_chunks(const ald__file *f, uint64_t **out, ald_error *err)
{
    uint64_t at = f->schema_size - END_BYTES, *places = ald__alloc(&f->alloc, places_bytes(f), err);
    *out = places;
    if (places == NULL)
        return ALD_E_NOMEM;
    for (uint64_t i = 0; i < f->chunk_count; i++) {
        places[i] = at;
        at += f->chunks[i].uncompressed_size;
    }
    places[f->chunk_count] = at;
    return ALD_OK;
}

static ald_status decode_pieces(const ald__file *f, const ald__ipc_schema *schema,
                                const ald_host *host, const uint8_t *src, const uint64_t *places,
                                uint8_t *dst, ald_error *err)
{
    const ald_chunk_entry *last = &f->chunks[f->chunk_count - 1];
    uint64_t base = f->sections.payload.begin, at = f->chunks[0].byte_offset;
    decoding d = {f, schema, src, dst, places, NULL};
    size_t tag = ald__file_tag(f);
    uint8_t id = f->header.compression;
    ALD_TRY(
        ald__codec_decode(id, &f->alloc, src, (size_t)at - tag, dst, (size_t)places[0], base, err));
    ALD_TRY(decode_chunks(&d, host, err));
    at = last->byte_offset + last->compressed_size;
    return ald__codec_decode(id, &f->alloc, src + at, (size_t)(f->payload_size - at) - tag,
                             dst + places[f->chunk_count], END_BYTES, base + at, err);
}

static ald_status decode_all(const ald__file *f, const ald__ipc_schema *schema,
                             const ald_host *host, const uint8_t *src, uint8_t *dst, ald_error *err)
{
    uint64_t *places;
    ald_status st;
    ALD_TRY(place_chunks(f, &places, err));
    st = decode_pieces(f, schema, host, src, places, dst, err);
    ald__release(&f->alloc, places, places_bytes(f));
    return st;
}

/* Tags of all pieces together. */
static uint64_t tags_size(const ald__file *f)
{
    return ald__file_tag(f) * (f->chunks == NULL ? 1 : f->chunk_count + 2);
}

/* Pieces with tags between them are no stream yet. */
static int is_stream_as_stored(const ald__file *f)
{
    return f->header.compression == ALD_COMPRESSION_NONE &&
           (f->chunks == NULL || ald__file_tag(f) == 0);
}

ald_status ald__payload_decode(const ald__file *f, const ald__ipc_schema *schema,
                               const ald_host *host, ald__shared *stored, size_t at,
                               ald__shared **out, ald_error *err)
{
    const uint8_t *src = ald__shared_data(stored) + at;
    uint64_t base = f->sections.payload.begin;
    size_t size;
    ald_status st;
    *out = NULL;
    if (f->header.compression == ALD_COMPRESSION_NONE &&
        f->payload_size - tags_size(f) != f->uncompressed_size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, base,
                         "%llu bytes stored without compression, uncompressed_size is %llu",
                         (unsigned long long)(f->payload_size - tags_size(f)),
                         (unsigned long long)f->uncompressed_size);
    if (f->uncompressed_size > pieces_bound(f, src))
        return ald__fail(err, ALD_E_INVALID_FORMAT, base,
                         "the frames cannot hold the %llu bytes of uncompressed_size",
                         (unsigned long long)f->uncompressed_size);
    if (is_stream_as_stored(f))
        return share_payload(f, stored, at, out, err);
    if (!ald__to_size(f->uncompressed_size, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__shared_alloc(&f->alloc, size, out, err));
    if (f->header.flags & ALD_FLAG_STREAMING)
        st = decode_all(f, schema, host, src, ald__shared_data(*out), err);
    else
        st = ald__codec_decode(f->header.compression, &f->alloc, src,
                               (size_t)f->payload_size - ald__file_tag(f), ald__shared_data(*out),
                               size, base, err);
    if (st != ALD_OK) {
        ald__shared_unref(*out);
        *out = NULL;
    }
    return st;
}

/* ---- parsing */

typedef struct parsing {
    const ald__file *file;
    const ald__ipc_schema *schema;
    ald__shared *payload;
    ald__cursor bytes;
    ald__ipc_dictionaries *dictionaries;
    ald__aligned_check aligned;
    ald__batch_list *out;
    uint64_t rows;
} parsing;

static ald_status parse_schema(parsing *p, ald_error *err)
{
    ald__ipc_message m;
    ald__ipc_schema *found = NULL;
    ald_status st;
    ALD_TRY(ald__ipc_read_message(&p->bytes, &ald__payload_rules, &m, err));
    if (m.type != ALD__IPC_SCHEMA)
        return ald__fail(err, ALD_E_INVALID_FORMAT, p->bytes.base,
                         "the payload does not begin with a schema message");
    ALD_TRY(ald__ipc_schema_new(&p->file->alloc, &m, &ald__payload_rules, &found, err));
    st = ald_schema_compare(ald__ipc_schema_get(p->schema), ald__ipc_schema_get(found), 1, err);
    ald__ipc_schema_free(found);
    return st;
}

static ald_status take_batch(parsing *p, const ald__ipc_message *m, struct ArrowArray *batch,
                             ald_error *err)
{
    uint64_t rows = (uint64_t)batch->length;
    ald_status st = ALD_OK;
    if (p->file->header.flags & ALD_FLAG_TRUENO_NATIVE)
        st = ald__aligned_check_batch(&p->aligned, m, err);
    if (st != ALD_OK) {
        batch->release(batch);
        return st;
    }
    if (!ald__add_u64(p->rows, rows, &p->rows))
        p->rows = UINT64_MAX;
    return ald__batch_list_add(p->out, batch, err);
}

static ald_status check_end(const parsing *p, ald_error *err)
{
    if (ald__cursor_left(&p->bytes) != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(&p->bytes),
                         "%zu bytes behind the payload's end marker", ald__cursor_left(&p->bytes));
    if (p->rows != p->file->header.num_rows)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 24,
                         "the batches have %llu rows, the header says %llu",
                         (unsigned long long)p->rows, (unsigned long long)p->file->header.num_rows);
    if (p->file->header.flags & ALD_FLAG_TRUENO_NATIVE)
        return ald__aligned_check_end(&p->aligned, err);
    return ALD_OK;
}

static ald_status parse_batches(parsing *p, ald_error *err)
{
    ald__ipc_message m;
    struct ArrowArray batch;
    for (;;) {
        ALD_TRY(ald__ipc_read_message(&p->bytes, &ald__payload_rules, &m, err));
        switch (m.type) {
        case ALD__IPC_END:
            return ALD_OK;
        case ALD__IPC_SCHEMA:
            return ald__fail(err, ALD_E_INVALID_FORMAT, m.metadata_offset,
                             "a second schema message");
        case ALD__IPC_DICTIONARY:
            if (p->file->header.flags & ALD_FLAG_TRUENO_NATIVE)
                ALD_TRY(ald__ipc_check_aligned(&m, err));
            ALD_TRY(ald__ipc_read_dictionary(p->dictionaries, &m, &ald__payload_rules, p->payload,
                                             err));
            break;
        case ALD__IPC_BATCH:
            ALD_TRY(ald__ipc_read_batch(p->dictionaries, &m, &ald__payload_rules, p->payload, NULL,
                                        &batch, err));
            ALD_TRY(take_batch(p, &m, &batch, err));
            break;
        }
    }
}

/* The prologue is the schema section without its end, byte for byte. */
static ald_status check_prologue(parsing *p, const uint8_t *section, ald_error *err)
{
    size_t n = (size_t)p->file->schema_size - END_BYTES;
    const uint8_t *bytes = ald__cursor_take(&p->bytes, n);
    if (bytes == NULL || memcmp(bytes, section, n) != 0)
        return ald__fail(err, ALD_E_SCHEMA_MISMATCH, p->bytes.base,
                         "the payload's prologue is not the schema section");
    return ALD_OK;
}

/* Chunks parsed, on any threads; what they add up to is found out in order. */
typedef struct chunk_parsing {
    parsing *parsing;
    const uint8_t *stored;
    const uint64_t *places;
    struct ArrowArray *batches;
} chunk_parsing;

static ald_status parse_chunk(const chunk_parsing *c, uint64_t index, ald__ipc_message *m,
                              struct ArrowArray *out, ald_error *err)
{
    const parsing *p = c->parsing;
    const ald_chunk_entry *e = &p->file->chunks[index];
    size_t at = (size_t)c->places[index];
    ald__cursor bytes = {p->bytes.data + at, e->uncompressed_size, 0, p->bytes.base + at};
    return ald__chunk_parse(p->file, p->schema, e, c->stored + e->byte_offset, NULL, &bytes,
                            p->payload, m, out, err);
}

static ald_status parse_one(void *ctx, uint32_t worker, uint64_t index, ald_error *err)
{
    const chunk_parsing *c = ctx;
    ald__ipc_message m;
    (void)worker;
    return parse_chunk(c, index, &m, &c->batches[index], err);
}

/* Until the first that is not there. */
static ald_status take_batches(const chunk_parsing *c, ald_error *err)
{
    for (uint64_t i = 0; i < c->parsing->file->chunk_count; i++) {
        if (c->batches[i].release == NULL)
            return ALD_OK;
        ALD_TRY(take_batch(c->parsing, NULL, &c->batches[i], err));
        c->batches[i].release = NULL;
    }
    return ALD_OK;
}

static ald_status parse_at_once(const chunk_parsing *c, const ald_host *host, ald_error *err)
{
    const ald__file *f = c->parsing->file;
    size_t size = (size_t)f->chunk_count * sizeof *c->batches;
    chunk_parsing mine = *c;
    ald_status st, taken;
    mine.batches = ald__alloc_zero(&f->alloc, size, err);
    if (mine.batches == NULL)
        return ALD_E_NOMEM;
    st = ald__items_run(host, f->chunk_count, parse_one, &mine, err);
    taken = take_batches(&mine, st == ALD_OK ? err : NULL);
    for (uint64_t i = 0; i < f->chunk_count; i++) {
        if (mine.batches[i].release != NULL)
            mine.batches[i].release(&mine.batches[i]);
    }
    ald__release(&f->alloc, mine.batches, size);
    return st != ALD_OK ? st : taken;
}

/* In turn, since each array's place is compared with an index that is walked. */
static ald_status parse_aligned(const chunk_parsing *c, ald_error *err)
{
    for (uint64_t i = 0; i < c->parsing->file->chunk_count; i++) {
        ald__ipc_message m;
        struct ArrowArray batch;
        ALD_TRY(parse_chunk(c, i, &m, &batch, err));
        ALD_TRY(take_batch(c->parsing, &m, &batch, err));
    }
    return ALD_OK;
}

static ald_status parse_chunks(parsing *p, const ald_host *host, const uint8_t *stored,
                               ald_error *err)
{
    chunk_parsing c = {p, stored, NULL, NULL};
    uint64_t *places, end;
    ald_status st;
    ALD_TRY(place_chunks(p->file, &places, err));
    c.places = places;
    end = places[p->file->chunk_count];
    if (end > p->bytes.size)
        st = ald__fail(err, ALD_E_INVALID_FORMAT, p->bytes.base, "a chunk past the payload");
    else if (p->file->header.flags & ALD_FLAG_TRUENO_NATIVE)
        st = parse_aligned(&c, err);
    else
        st = parse_at_once(&c, host, err);
    ald__release(&p->file->alloc, places, places_bytes(p->file));
    if (st != ALD_OK)
        return st;
    p->bytes.pos = (size_t)end;
    if (ald__cursor_left(&p->bytes) < END_BYTES ||
        memcmp(p->bytes.data + p->bytes.pos, end_marker, END_BYTES) != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(&p->bytes),
                         "the epilogue is not the end-of-stream marker");
    p->bytes.pos += END_BYTES;
    return ALD_OK;
}

ald_status ald__payload_parse(const ald__file *f, const ald__ipc_schema *schema,
                              const ald_host *host, const uint8_t *section, const uint8_t *stored,
                              ald__shared *payload, ald__batch_list *out, ald_error *err)
{
    uint64_t base = f->header.compression == ALD_COMPRESSION_NONE ? f->sections.payload.begin : 0;
    parsing p = {
        f,    schema, payload, {ald__shared_data(payload), ald__shared_size(payload), 0, base},
        NULL, {0},    out,     0};
    ald_status st;
    ald__aligned_check_init(&p.aligned, f, schema);
    if (f->header.flags & ALD_FLAG_STREAMING) {
        ALD_TRY(check_prologue(&p, section, err));
        ALD_TRY(parse_chunks(&p, host, stored, err));
        return check_end(&p, err);
    }
    ALD_TRY(parse_schema(&p, err));
    ALD_TRY(ald__ipc_dictionaries_new(&f->alloc, schema, &p.dictionaries, err));
    st = parse_batches(&p, err);
    ald__ipc_dictionaries_free(p.dictionaries);
    return st == ALD_OK ? check_end(&p, err) : st;
}
