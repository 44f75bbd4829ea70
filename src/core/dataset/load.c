/* SPDX-License-Identifier: MIT */
/* Loading: the whole file in memory once, checked in order, then released as batches. Nothing is read twice, so what was
 * checked is what is parsed. */
#include <string.h>

#include "ald/stream.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/dataset/guard.h"
#include "core/dataset/loaded.h"
#include "core/dataset/packed_chunk.h"
#include "core/dataset/unlock.h"
#include "core/dataset/whole.h"

/* All bytes of the source: where they are, or copied to a 64-byte boundary, and then `ours`. */
static ald_status read_whole(const ald_source *source, const ald_host *host, ald__shared **out,
                             int *ours, ald_error *err)
{
    size_t size;
    ald_status st;
    *out = NULL;
    *ours = 0;
    if (!ald__to_size(source->size_bytes, &size))
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "a file of %llu bytes does not fit into memory",
                         (unsigned long long)source->size_bytes);
    if (source->view != NULL) {
        /* Borrowed bytes are only read: the cast drops a const that nothing relies on. */
        union {
            const void *in;
            void *out;
        } p = {source->view(source->ctx, 0, size)};
        if (p.in != NULL)
            return ald__shared_new(&host->alloc, p.out, size, NULL, NULL, out, err);
    }
    ALD_TRY(ald__shared_alloc(&host->alloc, size, out, err));
    *ours = 1;
    st = size == 0 ? ALD_OK : source->read_at(source->ctx, 0, ald__shared_data(*out), size, err);
    if (st != ALD_OK) {
        ald__shared_unref(*out);
        *out = NULL;
    }
    return st;
}

/* From decompression on. */
static ald_status load_payload(ald_dataset *d, const ald_load_options *options, ald__shared *whole,
                               ald__shared *stored, size_t at, ald_error *err)
{
    const uint8_t *section = ald__shared_data(whole) + d->file.sections.schema.begin;
    ald__shared *payload = NULL;
    ald_status st = ALD_OK;
    if (ald__compression_is_packed(d->file.header.compression))
        st = ald__schema_section_read(&d->file, section, &d->schema, err);
    if (st == ALD_OK)
        st = ald__payload_decode(&d->file, d->schema, &d->host, stored, at, &payload, err);
    if (st == ALD_OK)
        st = ald__check_sha256(&d->file, payload, &d->host, err);
    if (st == ALD_OK && d->schema == NULL)
        st = ald__schema_section_read(&d->file, section, &d->schema, err);
    if (st == ALD_OK && options->expected_schema != NULL)
        st = ald_schema_compare(options->expected_schema, ald__ipc_schema_get(d->schema), 0, err);
    if (st == ALD_OK)
        st = ald__payload_parse(&d->file, d->schema, &d->host, section,
                                ald__shared_data(stored) + at, payload, &d->batches, err);
    ald__shared_unref(payload);
    return st;
}

#define PACKED_BYTES (SIZE_MAX > UINT32_MAX ? 1ull << 36 : 1ull << 31)

/* Packed bytes need no stored ones, so that there is a limit even where the caller gave none. */
static ald_status check_limit(const ald_dataset *d, uint64_t most, ald_error *err)
{
    if (most == 0 && ald__compression_is_packed(d->file.header.compression))
        most = PACKED_BYTES;
    if (most == 0 || d->file.uncompressed_size <= most)
        return ALD_OK;
    return ald__fail(err, ALD_E_LIMIT_EXCEEDED, 16,
                     "%llu uncompressed bytes, at most %llu accepted",
                     (unsigned long long)d->file.uncompressed_size, (unsigned long long)most);
}

/* A file that is too short or no .ald at all is refused before it is read whole. */
static ald_status load(ald_dataset *d, const ald_source *source, const ald__settings *settings,
                       ald_error *err)
{
    ald_source memory;
    ald__shared *whole = NULL, *stored = NULL;
    size_t at = 0;
    int ours;
    ald_status st;
    ALD_TRY(ald__file_check_start(source, err));
    ALD_TRY(read_whole(source, &d->host, &whole, &ours, err));
    memory = ald_source_memory(ald__shared_data(whole), ald__shared_size(whole));
    st = ald__settings_open(settings, &memory, ALD__FILE_WHOLE, &d->host, &d->file, err);
    if (st == ALD_OK)
        st = ald__check_trust(&d->file, settings, ALD__SCOPE_ALL, &d->host, NULL, err);
    if (st == ALD_OK)
        st = ald__payload_open(&d->file, settings, &d->host, whole, ours, &stored, &at, err);
    if (st == ALD_OK)
        st = check_limit(d, settings->load.limits.uncompressed_bytes, err);
    if (st == ALD_OK)
        st = load_payload(d, &settings->load, whole, stored, at, err);
    ald__shared_unref(stored);
    ald__shared_unref(whole);
    memset(&d->file.source, 0, sizeof d->file.source);
    d->file.source.size_bytes = source->size_bytes;
    return st;
}

ald_status ald_load(const ald_source *source, const ald_load_options *options, const ald_host *host,
                    ald_dataset **out, ald_error *err)
{
    ald__settings settings;
    ald_dataset *d = NULL;
    ald_status st;
    *out = NULL;
    ALD_TRY(ald__settings_take(&settings, options, err));
    d = ald__alloc_zero(&host->alloc, sizeof *d, err);
    if (d == NULL)
        return ALD_E_NOMEM;
    d->host = *host;
    d->file.alloc = host->alloc;
    d->batches.alloc = &d->host.alloc;
    st = load(d, source, &settings, err);
    if (st != ALD_OK) {
        ald_dataset_free(d);
        return st;
    }
    ald__info_fill(&d->file, ald__ipc_schema_get(d->schema), &d->info);
    *out = d;
    return ALD_OK;
}

const ald_info *ald_dataset_info(const ald_dataset *dataset)
{
    return &dataset->info;
}

const struct ArrowSchema *ald_dataset_schema(const ald_dataset *dataset)
{
    return dataset->info.schema;
}

size_t ald_dataset_batch_count(const ald_dataset *dataset)
{
    return dataset->batches.count;
}

ald_status ald_dataset_batch(const ald_dataset *dataset, size_t index, struct ArrowArray *out,
                             ald_error *err)
{
    out->release = NULL;
    if (index >= dataset->batches.count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "batch %zu of %zu", index,
                         dataset->batches.count);
    return ald__array_holder_share(dataset->batches.holders[index], out, err);
}

ald_status ald_dataset_stream(const ald_dataset *dataset, struct ArrowArrayStream *out,
                              ald_error *err)
{
    size_t count = dataset->batches.count, size = count * sizeof(struct ArrowArray);
    struct ArrowArray *batches;
    struct ArrowSchema schema;
    ald_status st;
    memset(out, 0, sizeof *out);
    ALD_TRY(ald_schema_copy(&dataset->host, dataset->info.schema, &schema, err));
    batches = ald__alloc_zero(&dataset->host.alloc, size, err);
    st = batches == NULL ? ALD_E_NOMEM : ALD_OK;
    for (size_t i = 0; st == ALD_OK && i < count; i++)
        st = ald_dataset_batch(dataset, i, &batches[i], err);
    if (st == ALD_OK)
        st = ald_stream_from_batches(&schema, batches, count, &dataset->host, out, err);
    for (size_t i = 0; batches != NULL && i < count; i++) {
        if (batches[i].release != NULL)
            batches[i].release(&batches[i]);
    }
    ald__release(&dataset->host.alloc, batches, size);
    if (schema.release != NULL)
        schema.release(&schema);
    return st;
}

void ald_dataset_drop_rows(ald_dataset *dataset)
{
    ald__batch_list_clear(&dataset->batches);
}

void ald_dataset_free(ald_dataset *d)
{
    ald_allocator alloc;
    if (d == NULL)
        return;
    alloc = d->host.alloc;
    ald__batch_list_clear(&d->batches);
    ald__ipc_schema_free(d->schema);
    ald__file_clear(&d->file);
    ald__release(&alloc, d, sizeof *d);
}
