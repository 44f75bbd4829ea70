/* SPDX-License-Identifier: MIT */
/* Chunks: slices of a batch where that is enough, several joined where batches are small. Batches whose dictionaries may
 * differ are never joined: their chunks end with the batch. */
#include "core/dataset/chunker.h"

#include <string.h>

#include "core/arrow/array_empty.h"
#include "core/arrow/concat.h"
#include "core/arrow/gather.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_write.h"
#include "core/base/buf.h"

static int has_dictionary(const struct ArrowSchema *schema, unsigned depth)
{
    if (schema->dictionary != NULL || depth > 64)
        return 1;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (has_dictionary(schema->children[i], depth + 1))
            return 1;
    }
    return 0;
}

void ald__chunker_init(ald__chunker *c, const ald_host *host, const struct ArrowSchema *schema,
                       uint64_t chunk_rows, uint64_t chunk_bytes)
{
    memset(c, 0, sizeof *c);
    c->host = host;
    c->schema = schema;
    c->chunk_rows = chunk_rows;
    c->chunk_bytes = chunk_bytes;
    c->joins = !has_dictionary(schema, 0);
}

static void drop_parts(ald__chunker *c)
{
    for (size_t i = 0; i < c->part_count; i++)
        c->parts[i].release(&c->parts[i]);
    c->part_count = 0;
    c->rows = 0;
}

static void drop_batch(ald__chunker *c)
{
    ald__array_holder_free(c->batch);
    c->batch = NULL;
}

void ald__chunker_clear(ald__chunker *c)
{
    drop_parts(c);
    drop_batch(c);
    ald__release(&c->host->alloc, c->parts, c->part_cap * sizeof *c->parts);
    c->parts = NULL;
    c->part_cap = 0;
}

ald_status ald__chunker_put(ald__chunker *c, struct ArrowArray *batch, uint64_t bytes,
                            ald_error *err)
{
    uint64_t rows = (uint64_t)batch->length, per_row;
    ald_status st;
    c->batch_rows = batch->length;
    c->pos = 0;
    c->batch_limit = c->chunk_rows;
    if (rows > 0 && c->chunk_bytes > 0) {
        per_row = bytes / rows + 1;
        if (c->batch_limit > c->chunk_bytes / per_row)
            c->batch_limit = c->chunk_bytes / per_row > 0 ? c->chunk_bytes / per_row : 1;
    }
    st = ald__array_holder_new(&c->host->alloc, batch, &c->batch, err);
    if (st != ALD_OK)
        batch->release(batch);
    return st;
}

static ald_status add_part(ald__chunker *c, struct ArrowArray *part, ald_error *err)
{
    size_t item = sizeof *part;
    if (c->part_count == c->part_cap) {
        size_t cap = c->part_cap < 8 ? 8 : c->part_cap * 2;
        struct ArrowArray *grown = ald__alloc(&c->host->alloc, cap * item, err);
        if (grown == NULL) {
            part->release(part);
            return ALD_E_NOMEM;
        }
        if (c->part_count > 0)
            memcpy(grown, c->parts, c->part_count * item);
        ald__release(&c->host->alloc, c->parts, c->part_cap * item);
        c->parts = grown;
        c->part_cap = cap;
    }
    c->rows += (uint64_t)part->length;
    c->parts[c->part_count++] = *part;
    return ALD_OK;
}

/* `count` rows of the batch from `pos` on. */
static ald_status slice_batch(ald__chunker *c, int64_t count, struct ArrowArray *out,
                              ald_error *err)
{
    ALD_TRY(ald__array_holder_share(c->batch, out, err));
    out->offset += c->pos;
    out->length = count;
    if (out->null_count != 0)
        out->null_count = -1;
    c->pos += count;
    return ALD_OK;
}

/* ---- joining */

typedef struct plain_bytes {
    ald_buffer bytes;
} plain_bytes;

static ald_status append_bytes(void *ctx, const void *data, size_t size, ald_error *err)
{
    plain_bytes *p = ctx;
    return ald__buffer_append(&p->bytes, data, size, err);
}

static ald_status encode_part(const ald__chunker *c, const struct ArrowArray *part,
                              plain_bytes *out, ald_error *err)
{
    ald__ipc_write_options o = {.alignment = 64, .dictionary_mode = ALD__DICTIONARY_CHUNK};
    ald__emit emit = {append_bytes, out};
    ald__ipc_writer *writer = NULL;
    ald_status st = ald__ipc_writer_new(&c->host->alloc, c->schema, &o, &writer, err);
    if (st == ALD_OK)
        st = ald__ipc_write_schema(writer, &emit, err);
    if (st == ALD_OK)
        st = ald__ipc_write_batch(writer, part, &emit, err);
    ald__ipc_writer_free(writer);
    return st;
}

static ald_status decode_part(const ald__chunker *c, ald__shared *bytes, struct ArrowArray *out,
                              ald_error *err)
{
    const ald__ipc_rules rules = {.strict = 1};
    ald__cursor cursor = {ald__shared_data(bytes), ald__shared_size(bytes), 0, 0};
    ald__ipc_message m;
    ald__ipc_schema *schema = NULL;
    ald__ipc_dictionaries *dictionaries = NULL;
    ald_status st = ald__ipc_read_message(&cursor, &rules, &m, err);
    if (st == ALD_OK)
        st = ald__ipc_schema_new(&c->host->alloc, &m, &rules, &schema, err);
    if (st == ALD_OK)
        st = ald__ipc_dictionaries_new(&c->host->alloc, schema, &dictionaries, err);
    if (st == ALD_OK)
        st = ald__ipc_read_message(&cursor, &rules, &m, err);
    if (st == ALD_OK)
        st = ald__ipc_read_batch(dictionaries, &m, &rules, bytes, NULL, out, err);
    ald__ipc_dictionaries_free(dictionaries);
    ald__ipc_schema_free(schema);
    return st;
}

/* A part in the form that joining wants: cut, validated, in memory of its own. The batch may be any producer's. */
static ald_status normalize(const ald__chunker *c, struct ArrowArray *part, ald_error *err)
{
    plain_bytes plain = {{NULL, 0, 0, &c->host->alloc}};
    ald__shared *bytes = NULL;
    struct ArrowArray made;
    ald_status st = encode_part(c, part, &plain, err);
    if (st == ALD_OK)
        st = ald__shared_alloc(&c->host->alloc, plain.bytes.size, &bytes, err);
    if (st == ALD_OK) {
        memcpy(ald__shared_data(bytes), plain.bytes.data, plain.bytes.size);
        st = decode_part(c, bytes, &made, err);
    }
    ald__shared_unref(bytes);
    ald_buffer_clear(&plain.bytes);
    if (st == ALD_OK) {
        part->release(part);
        *part = made;
    }
    return st;
}

#ifndef ALD_ONE_THREAD
static ald_status gather_parts(const ald__chunker *c, const struct ArrowArray **sources,
                               ald__run *runs, struct ArrowArray *out, ald_error *err)
{
    size_t count = 0;
    for (size_t i = 0; i < c->part_count; i++) {
        if (c->parts[i].length == 0)
            continue;
        sources[count] = &c->parts[i];
        runs[count] = (ald__run){0, c->parts[i].length, count};
        count++;
    }
    return ald__array_gather(&c->host->alloc, c->schema, sources, count, runs, count, 0, out, err);
}

/* Several parts in one go: each row is copied once. */
static ald_status join(ald__chunker *c, struct ArrowArray *out, ald_error *err)
{
    size_t sources_size = c->part_count * sizeof(struct ArrowArray *);
    size_t runs_size = c->part_count * sizeof(ald__run);
    const ald_allocator *alloc = &c->host->alloc;
    const struct ArrowArray **sources = ald__alloc(alloc, sources_size, err);
    ald__run *runs = sources != NULL ? ald__alloc(alloc, runs_size, err) : NULL;
    ald_status st = runs != NULL ? gather_parts(c, sources, runs, out, err) : ALD_E_NOMEM;
    ald__release(alloc, sources, sources_size);
    ald__release(alloc, runs, runs_size);
    return st;
}

#else
/* A module for one thread is smaller without ald__array_gather: neighbours by pairs until one is left. */
static ald_status join(ald__chunker *c, struct ArrowArray *out, ald_error *err)
{
    while (c->part_count > 1) {
        size_t made = 0;
        for (size_t i = 0; i < c->part_count; i += 2, made++) {
            struct ArrowArray joined, *a = &c->parts[i], *b = a + 1;
            if (i + 1 == c->part_count) {
                joined = *a;
            } else {
                ald_status st = ald__array_concat(&c->host->alloc, c->schema, a, b, &joined, err);
                if (st != ALD_OK) {
                    /* the parts before `made` are joined ones; close the gap */
                    memmove(&c->parts[made], a, (c->part_count - i) * sizeof *a);
                    c->part_count -= i - made;
                    return st;
                }
                a->release(a);
                b->release(b);
            }
            c->parts[made] = joined;
        }
        c->part_count = made;
    }
    *out = c->parts[0];
    c->part_count = 0;
    return ALD_OK;
}
#endif

static ald_status join_parts(ald__chunker *c, struct ArrowArray *out, ald_error *err)
{
    if (c->part_count == 1 || c->rows == 0) {
        *out = c->parts[0];
        c->parts[0] = c->parts[c->part_count - 1];
        c->part_count--;
    } else {
        for (size_t i = 0; i < c->part_count; i++)
            ALD_TRY(normalize(c, &c->parts[i], err));
        ALD_TRY(join(c, out, err));
    }
    drop_parts(c);
    return ALD_OK;
}

/* Whether what is there makes a chunk. */
static int is_full(const ald__chunker *c, int at_end)
{
    if (c->part_count == 0)
        return 0;
    if (c->rows >= c->batch_limit || at_end)
        return 1;
    return !c->joins && (c->batch == NULL || c->pos == c->batch_rows);
}

ald_status ald__chunker_take(ald__chunker *c, int at_end, struct ArrowArray *out, ald_error *err)
{
    struct ArrowArray part;
    out->release = NULL;
    while (!is_full(c, 0) && c->batch != NULL && c->pos < c->batch_rows) {
        uint64_t room = c->rows < c->batch_limit ? c->batch_limit - c->rows : 0;
        uint64_t left = (uint64_t)(c->batch_rows - c->pos);
        ALD_TRY(slice_batch(c, (int64_t)(left < room ? left : room), &part, err));
        ALD_TRY(add_part(c, &part, err));
    }
    if (c->batch != NULL && c->pos == c->batch_rows)
        drop_batch(c);
    if (is_full(c, at_end && c->batch == NULL)) {
        ALD_TRY(join_parts(c, out, err));
        c->chunks++;
    } else if (at_end && c->chunks == 0) {
        ALD_TRY(ald__array_empty(&c->host->alloc, c->schema, out, err));
        c->chunks++;
    }
    return ALD_OK;
}
