/* SPDX-License-Identifier: MIT */
/* Facts about a file without its payload. */
#include <string.h>

#include "core/base/buf.h"
#include "core/dataset/settings.h"
#include "core/dataset/whole.h"

void ald__info_fill(const ald__file *f, const struct ArrowSchema *schema, ald_info *out)
{
    memset(out, 0, sizeof *out);
    out->file_size_bytes = f->source.size_bytes;
    out->num_rows = f->header.num_rows;
    out->payload_size = f->payload_size;
    out->uncompressed_size = f->uncompressed_size;
    out->schema_size = f->schema_size;
    out->dataset_type = f->header.dataset_type;
    out->version_major = f->header.version_major;
    out->version_minor = f->header.version_minor;
    out->compression = f->header.compression;
    out->flags = f->header.flags;
    out->crc32_variant = f->crc32_variant;
    out->metadata_is_array = (uint8_t)f->metadata_is_array;
    out->sections = f->sections;
    out->metadata = f->tree;
    out->facts = ald_value_find(f->tree, "ald");
    ald_value_remove(f->tree, "ald"); /* the removed node lives as long as the tree */
    out->schema = schema;
    out->chunk_count = f->chunk_count;
    out->chunks = f->chunks;
    out->array_count = f->array_count;
    out->arrays = f->arrays;
    out->encryption_mode = f->encryption_mode;
    out->recipient_count = f->recipient_count;
    out->recipient_hashes = f->recipient_hashes;
    if (f->header.flags & ALD_FLAG_SIGNED)
        out->signer_public_key = f->signature + 64;
    if (f->header.flags & ALD_FLAG_LICENSED)
        out->license = &f->license;
}

struct ald_inspection {
    ald_allocator alloc;
    ald__file file;
    ald__ipc_schema *schema;
    ald_info info;
};

static ald_status read_schema(ald_inspection *in, ald_error *err)
{
    ald_range r = in->file.sections.schema;
    uint8_t *section;
    ald_status st;
    ALD_TRY(ald__file_copy(&in->file, r, &section, err));
    st = ald__schema_section_read(&in->file, section, &in->schema, err);
    ald__release(&in->alloc, section, (size_t)(r.end - r.begin) + 1);
    return st;
}

ald_status ald_inspect(const ald_source *source, const ald_load_options *options,
                       const ald_host *host, ald_inspection **out, ald_error *err)
{
    ald__settings settings;
    ald_inspection *in;
    ald_status st;
    *out = NULL;
    ALD_TRY(ald__settings_take(&settings, options, err));
    in = ald__alloc_zero(&host->alloc, sizeof *in, err);
    if (in == NULL)
        return ALD_E_NOMEM;
    in->alloc = host->alloc;
    st = ald__settings_open(&settings, source,
                            settings.load.check_all ? ALD__FILE_WHOLE : ALD__FILE_LAZY, host,
                            &in->file, err);
    if (st == ALD_OK)
        st = read_schema(in, err);
    if (st != ALD_OK) {
        ald_inspection_free(in);
        return st;
    }
    ald__info_fill(&in->file, ald__ipc_schema_get(in->schema), &in->info);
    *out = in;
    return ALD_OK;
}

const ald_info *ald_inspection_info(const ald_inspection *inspection)
{
    return &inspection->info;
}

void ald_inspection_free(ald_inspection *in)
{
    ald_allocator alloc;
    if (in == NULL)
        return;
    alloc = in->alloc;
    ald__ipc_schema_free(in->schema);
    ald__file_clear(&in->file);
    ald__release(&alloc, in, sizeof *in);
}
