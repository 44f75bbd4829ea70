/* SPDX-License-Identifier: MIT */
/* Aligned files in place. A batch's metadata is parsed when it is first asked for; its values are only pointed at. */
#include "ald/mapped.h"

#include <stdatomic.h>
#include <string.h>

#include "ald/streaming.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/dataset/aligned.h"
#include "core/dataset/chunk.h"
#include "core/dataset/mapping.h"
#include "core/dataset/unlock.h"
#include "core/dataset/whole.h"

#define BASE_ALIGNMENT 64u
#define END_BYTES 8u

const char *ald_dtype_name(uint8_t dtype)
{
    static const char *const names[] = {"f32", "f64", "i32", "i64", "u8",  "i8",
                                        "i16", "u16", "u32", "u64", "f16", "bool"};
    return dtype < sizeof names / sizeof *names ? names[dtype] : NULL;
}

/* ---- opening */

static ald_status count_entries(ald_mapped *m, ald_error *err)
{
    const struct ArrowSchema *schema = ald__ipc_schema_get(m->schema);
    size_t columns = (size_t)schema->n_children;
    m->entry_of_column = ald__alloc(&m->host.alloc, columns * sizeof(uint32_t), err);
    if (m->entry_of_column == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < columns; i++) {
        uint64_t per_row;
        uint32_t bits;
        int has = ald__aligned_dtype(schema->children[i], &per_row, &bits) != ALD__DTYPE_NONE;
        m->entry_of_column[i] = has ? m->entries_per_batch++ : UINT32_MAX;
    }
    return ald__aligned_check_count(&m->file, m->schema, m->batch_count, err);
}

/* The message at a payload offset; its body is pointed at. */
static ald_status read_message(const ald_mapped *m, uint64_t at, uint64_t end,
                               ald__ipc_message *out, uint64_t *next, ald_error *err)
{
    uint64_t begin = m->file.sections.payload.begin;
    ald__cursor c = {m->bytes + begin + at, (size_t)(end - at), 0, begin + at};
    ALD_TRY(ald__ipc_read_message(&c, &ald__payload_rules, out, err));
    *next = at + c.pos;
    return ALD_OK;
}

/* Without STREAMING: past schema and dictionaries to the one record batch. */
static ald_status find_single_batch(ald_mapped *m, ald_error *err)
{
    uint64_t at = 0, next = 0;
    ald__ipc_message message;
    do {
        at = next;
        ALD_TRY(read_message(m, at, m->file.payload_size, &message, &next, err));
    } while (message.type == ALD__IPC_SCHEMA || message.type == ALD__IPC_DICTIONARY);
    if (message.type != ALD__IPC_BATCH)
        return ald__fail(err, ALD_E_INVALID_FORMAT, message.metadata_offset,
                         "the payload has no record batch");
    m->first_batch = at;
    return ALD_OK;
}

/* A stored piece of a STREAMING payload, where it is. */
static const uint8_t *find_piece(const ald_mapped *m, uint64_t piece, size_t *size)
{
    uint64_t begin = piece == 0 ? 0 : ald__file_piece_end(&m->file, piece - 1);
    *size = (size_t)(ald__file_piece_end(&m->file, piece) - begin);
    return m->bytes + m->file.sections.payload.begin + begin;
}

/* Against the seal, if there is one. */
static ald_status check_hash(const ald_mapped *m, uint64_t piece, ald_error *err)
{
    size_t size;
    const uint8_t *bytes = find_piece(m, piece, &size);
    return ald__hashes_check(&m->hashes, &m->file, &m->host, piece, bytes, size, err);
}

/* Prologue or epilogue: stored as it is, so it is what it must be, byte for byte. */
static ald_status check_end(const ald_mapped *m, uint64_t piece, const uint8_t *expected,
                            size_t expected_size, ald_status otherwise, ald_error *err)
{
    size_t size;
    const uint8_t *bytes = find_piece(m, piece, &size);
    ALD_TRY(ald__hashes_check(&m->hashes, &m->file, &m->host, piece, bytes, size, err));
    ALD_TRY(ald__check_piece_crc32(&m->file, piece, bytes, size, err));
    if (size != expected_size)
        otherwise = ALD_E_INVALID_FORMAT;
    else if (memcmp(bytes, expected, size) == 0)
        return ALD_OK;
    return ald__fail(err, otherwise, (uint64_t)(bytes - m->bytes), "the %s is not what it must be",
                     piece == 0 ? "payload's prologue" : "epilogue");
}

static ald_status check_ends(const ald_mapped *m, ald_error *err)
{
    static const uint8_t end_marker[END_BYTES] = {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0};
    if (m->file.chunks == NULL)
        return ALD_OK;
    ALD_TRY(
        check_end(m, m->file.chunk_count + 1, end_marker, END_BYTES, ALD_E_INVALID_FORMAT, err));
    return check_end(m, 0, m->bytes + m->file.sections.schema.begin,
                     (size_t)m->file.schema_size - END_BYTES, ALD_E_SCHEMA_MISMATCH, err);
}

/* Signer, signature or seal, license; whoever brings a key expects an encrypted file, which this is not. */
static ald_status check_mapped_trust(ald_mapped *m, const ald__settings *settings, ald_error *err)
{
    ald__hashes *hashes = m->file.facts.has_seal ? &m->hashes : NULL;
    ALD_TRY(ald__check_trust(&m->file, settings, ALD__SCOPE_LAZY, &m->host, hashes, err));
    return ald__unlock(&m->file, settings, &m->host, NULL, err);
}

static ald_status open_mapped(ald_mapped *m, const ald_source *source,
                              const ald__settings *settings, ald_error *err)
{
    const ald_load_options *options = &settings->load;
    size_t size;
    ALD_TRY(ald__settings_open(settings, source, ALD__FILE_LAZY, &m->host, &m->file, err));
    if (!(m->file.header.flags & ALD_FLAG_TRUENO_NATIVE))
        return ald__fail(err, ALD_E_UNSUPPORTED, 21,
                         "the file is not aligned\nconvert it with --aligned");
    if (!ald__to_size(source->size_bytes, &size))
        return ald__no_memory(err, SIZE_MAX);
    m->bytes = source->view != NULL ? source->view(source->ctx, 0, size) : NULL;
    if (m->bytes == NULL || ((uintptr_t)m->bytes & (BASE_ALIGNMENT - 1)) != 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the source's bytes are not in memory at a multiple of 64\n"
                         "open the file with ALD_FILE_MAP");
    ALD_TRY(check_mapped_trust(m, settings, err));
    ALD_TRY(check_ends(m, err));
    ALD_TRY(ald__schema_section_read(&m->file, m->bytes + m->file.sections.schema.begin, &m->schema,
                                     err));
    if (options->expected_schema != NULL)
        ALD_TRY(
            ald_schema_compare(options->expected_schema, ald__ipc_schema_get(m->schema), 0, err));
    m->batch_count = m->file.header.flags & ALD_FLAG_STREAMING ? m->file.chunk_count : 1;
    ALD_TRY(count_entries(m, err));
    m->vectors = ald__alloc_zero(&m->host.alloc, (size_t)m->batch_count * sizeof *m->vectors, err);
    if (m->vectors == NULL)
        return ALD_E_NOMEM;
    if (!(m->file.header.flags & ALD_FLAG_STREAMING))
        ALD_TRY(find_single_batch(m, err));
    ald__info_fill(&m->file, ald__ipc_schema_get(m->schema), &m->info);
    return ALD_OK;
}

ald_status ald_mapped_open(const ald_source *source, const ald_load_options *options,
                           const ald_host *host, ald_mapped **out, ald_error *err)
{
    ald__settings settings;
    ald_mapped *m;
    ald_status st;
    *out = NULL;
    ALD_TRY(ald__settings_take(&settings, options, err));
    m = ald__alloc_zero(&host->alloc, sizeof *m, err);
    if (m == NULL)
        return ALD_E_NOMEM;
    m->host = *host;
    m->file.alloc = host->alloc;
    st = open_mapped(m, source, &settings, err);
    if (st != ALD_OK) {
        ald_mapped_close(m);
        return st;
    }
    *out = m;
    return ALD_OK;
}

void ald_mapped_close(ald_mapped *m)
{
    ald_allocator alloc;
    if (m == NULL)
        return;
    alloc = m->host.alloc;
    for (uint64_t i = 0; m->vectors != NULL && i < m->batch_count; i++)
        ald__release(&alloc, m->vectors[i], m->entries_per_batch * sizeof(ald_vector));
    if (m->vectors != NULL)
        ald__release(&alloc, m->vectors, (size_t)m->batch_count * sizeof *m->vectors);
    if (m->entry_of_column != NULL)
        ald__release(&alloc, m->entry_of_column,
                     (size_t)ald__ipc_schema_get(m->schema)->n_children * sizeof(uint32_t));
    ald__ipc_schema_free(m->schema);
    ald__hashes_clear(&alloc, &m->hashes);
    ald__file_clear(&m->file);
    ald__release(&alloc, m, sizeof *m);
}

/* ---- facts */

const ald_info *ald_mapped_info(const ald_mapped *mapped)
{
    return &mapped->info;
}

const struct ArrowSchema *ald_mapped_schema(const ald_mapped *mapped)
{
    return mapped->info.schema;
}

uint64_t ald_mapped_batch_count(const ald_mapped *mapped)
{
    return mapped->batch_count;
}

int64_t ald_mapped_find_column(const ald_mapped *mapped, const char *name)
{
    const struct ArrowSchema *schema = mapped->info.schema;
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *own = schema->children[i]->name;
        if (own != NULL && strlen(own) == strlen(name) && memcmp(own, name, strlen(name)) == 0)
            return i;
    }
    return -1;
}

/* ---- vectors */

/* The record batch's message, behind its dictionaries. */
static ald_status batch_message(const ald_mapped *m, uint64_t batch, ald__ipc_message *out,
                                ald_error *err)
{
    uint64_t at = m->first_batch, end = m->file.payload_size;
    if (m->file.chunks != NULL) {
        at = m->file.chunks[batch].byte_offset;
        end = at + m->file.chunks[batch].compressed_size;
    }
    do {
        ALD_TRY(read_message(m, at, end, out, &at, err));
    } while (out->type == ALD__IPC_DICTIONARY);
    if (out->type != ALD__IPC_BATCH)
        return ald__fail(err, ALD_E_INVALID_FORMAT, out->metadata_offset, "no record batch");
    return ALD_OK;
}

/* A bitmap that must be read must be there. */
static ald_status point_at(const ald_mapped *m, const ald__ipc_message *message, uint64_t begin,
                           uint64_t size, int64_t null_count, uint64_t bits, const uint8_t **out,
                           ald_error *err)
{
    uint64_t at = message->body_offset + begin;
    if (null_count == 0)
        return ALD_OK;
    if (size < bits / 8 + (bits % 8 != 0))
        return ald__fail(err, ALD_E_INVALID_FORMAT, at,
                         "a validity buffer of %llu bytes for %llu slots", (unsigned long long)size,
                         (unsigned long long)bits);
    *out = m->bytes + at;
    return ALD_OK;
}

static ald_status fill_vector(const ald_mapped *m, uint64_t batch, uint32_t column,
                              const ald__ipc_message *message, const ald__ipc_span *span,
                              uint64_t rows, ald_vector *out, ald_error *err)
{
    const struct ArrowSchema *field = m->info.schema->children[column];
    uint64_t entry = batch * m->entries_per_batch + m->entry_of_column[column];
    const ald_array_entry *e = &m->file.arrays[entry];
    uint64_t per_row;
    uint32_t bits;
    (void)ald__aligned_dtype(field, &per_row, &bits);
    ALD_TRY(ald__aligned_check_entry(&m->file, m->schema, entry, column, message, span, rows, err));
    memset(out, 0, sizeof *out);
    out->data = m->bytes + e->offset;
    out->length = e->length;
    out->size_bytes = (size_t)e->size_bytes;
    out->ndim = field->n_children == 1 ? 2 : 1;
    out->shape[0] = (int64_t)rows;
    out->shape[1] = out->ndim == 2 ? (int64_t)per_row : 0;
    out->dtype = e->dtype;
    out->alignment = e->alignment;
    out->backend_hint = e->backend_hint;
    out->null_count = span->null_count;
    out->element_null_count = span->element_null_count;
    ALD_TRY(point_at(m, message, span->validity_begin, span->validity_size, span->null_count, rows,
                     &out->validity, err));
    return point_at(m, message, span->element_validity_begin, span->element_validity_size,
                    span->element_null_count, out->length, &out->element_validity, err);
}

static ald_status check_batch_rows(const ald_mapped *m, uint64_t batch, uint64_t rows,
                                   ald_error *err)
{
    uint64_t expected =
        m->file.chunks != NULL ? m->file.chunks[batch].num_rows : m->file.header.num_rows;
    if (rows == expected)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, m->file.sections.payload.begin,
                     "batch %llu has %llu rows, expected %llu", (unsigned long long)batch,
                     (unsigned long long)rows, (unsigned long long)expected);
}

static ald_status fill_batch(const ald_mapped *m, uint64_t batch, ald__ipc_span *spans,
                             ald_vector *out, ald_error *err)
{
    ald__ipc_message message;
    uint64_t rows;
    if (m->file.chunks != NULL)
        ALD_TRY(check_hash(m, batch + 1, err));
    ALD_TRY(batch_message(m, batch, &message, err));
    ALD_TRY(ald__ipc_read_spans(m->schema, &message, &ald__payload_rules, spans, &rows, err));
    ALD_TRY(check_batch_rows(m, batch, rows, err));
    for (uint32_t i = 0; i < (uint32_t)m->info.schema->n_children; i++) {
        uint32_t entry = m->entry_of_column[i];
        if (entry != UINT32_MAX)
            ALD_TRY(fill_vector(m, batch, i, &message, &spans[i], rows, &out[entry], err));
    }
    return ALD_OK;
}

/* Two threads may both make them; the second one's are dropped. */
ald_status ald__mapped_vectors(const ald_mapped *m, uint64_t batch, const ald_vector **out,
                               ald_error *err)
{
    size_t size = m->entries_per_batch * sizeof(ald_vector);
    size_t span_size = (size_t)m->info.schema->n_children * sizeof(ald__ipc_span);
    ald_vector *made, *kept;
    ald__ipc_span *spans;
    ald_status st;
    if (batch >= m->batch_count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "batch %llu of %llu",
                         (unsigned long long)batch, (unsigned long long)m->batch_count);
    *out = kept = atomic_load_explicit(&m->vectors[batch], memory_order_acquire);
    if (kept != NULL)
        return ALD_OK;
    made = ald__alloc(&m->host.alloc, size, err);
    spans = ald__alloc(&m->host.alloc, span_size, err);
    st = made == NULL || spans == NULL ? ALD_E_NOMEM : fill_batch(m, batch, spans, made, err);
    ald__release(&m->host.alloc, spans, span_size);
    if (st == ALD_OK && atomic_compare_exchange_strong(&m->vectors[batch], &kept, made)) {
        *out = made;
        return ALD_OK;
    }
    ald__release(&m->host.alloc, made, size);
    *out = kept;
    return st;
}

ald_status ald_mapped_vector(const ald_mapped *m, uint64_t batch, uint32_t column, ald_vector *out,
                             ald_error *err)
{
    int64_t columns = m->info.schema->n_children;
    const ald_vector *all;
    memset(out, 0, sizeof *out);
    if (column >= (uint64_t)columns)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "column %u of %lld", column,
                         (long long)columns);
    if (m->entry_of_column[column] == UINT32_MAX)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "column '%s' is no plain numeric column",
                         m->info.schema->children[column]->name);
    ALD_TRY(ald__mapped_vectors(m, batch, &all, err));
    *out = all[m->entry_of_column[column]];
    return ALD_OK;
}

/* ---- Arrow */

/* The chunk, or the whole payload without STREAMING, as borrowed memory. */
static ald_status borrow(const ald_mapped *m, uint64_t begin, uint64_t size, ald__shared **out,
                         ald_error *err)
{
    union { /* only read through */
        const uint8_t *in;
        void *out;
    } p = {m->bytes + m->file.sections.payload.begin + begin};
    return ald__shared_new(&m->host.alloc, p.out, (size_t)size, NULL, NULL, out, err);
}

static ald_status load_chunk(const ald_mapped *m, uint64_t batch, struct ArrowArray *out,
                             ald_error *err)
{
    const ald_chunk_entry *e = &m->file.chunks[batch];
    uint64_t at = m->file.sections.payload.begin + e->byte_offset;
    ald__cursor c = {m->bytes + at, e->uncompressed_size, 0, at};
    ald__shared *backing = NULL;
    ald__ipc_message message;
    size_t size;
    const uint8_t *stored = find_piece(m, batch + 1, &size);
    ald_status st = check_hash(m, batch + 1, err);
    if (st == ALD_OK)
        st = ald__check_piece_crc32(&m->file, batch + 1, stored, size, err);
    if (st == ALD_OK)
        st = borrow(m, e->byte_offset, e->compressed_size, &backing, err);
    if (st == ALD_OK)
        st = ald__chunk_parse(&m->file, m->schema, e, m->bytes + at, NULL, &c, backing, &message,
                              out, err);
    ald__shared_unref(backing);
    return st;
}

static ald_status load_messages(const ald_mapped *m, ald__shared *backing,
                                ald__ipc_dictionaries *dictionaries, struct ArrowArray *out,
                                ald_error *err)
{
    uint64_t at = 0;
    ald__ipc_message message;
    for (;;) {
        ALD_TRY(read_message(m, at, m->file.payload_size, &message, &at, err));
        if (message.type == ALD__IPC_DICTIONARY)
            ALD_TRY(ald__ipc_read_dictionary(dictionaries, &message, &ald__payload_rules, backing,
                                             err));
        else if (message.type == ALD__IPC_BATCH)
            return ald__ipc_read_batch(dictionaries, &message, &ald__payload_rules, backing, NULL,
                                       out, err);
        else if (message.type != ALD__IPC_SCHEMA)
            return ald__fail(err, ALD_E_INVALID_FORMAT, message.metadata_offset,
                             "the payload has no record batch");
    }
}

static ald_status load_single(const ald_mapped *m, struct ArrowArray *out, ald_error *err)
{
    ald__shared *backing = NULL;
    ald__ipc_dictionaries *dictionaries = NULL;
    ald_status st = borrow(m, 0, m->file.payload_size, &backing, err);
    if (st == ALD_OK)
        st = ald__ipc_dictionaries_new(&m->host.alloc, m->schema, &dictionaries, err);
    if (st == ALD_OK)
        st = load_messages(m, backing, dictionaries, out, err);
    ald__ipc_dictionaries_free(dictionaries);
    ald__shared_unref(backing);
    return st;
}

ald_status ald_mapped_batch(const ald_mapped *m, uint64_t batch, struct ArrowArray *out,
                            ald_error *err)
{
    out->release = NULL;
    if (batch >= m->batch_count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "batch %llu of %llu",
                         (unsigned long long)batch, (unsigned long long)m->batch_count);
    return m->file.chunks != NULL ? load_chunk(m, batch, out, err) : load_single(m, out, err);
}
