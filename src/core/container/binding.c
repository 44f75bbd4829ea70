/* SPDX-License-Identifier: MIT */
#include "core/container/binding.h"

#include "core/base/buf.h"
#include "core/base/endian.h"

static const char label[] = "ald-v1-bind";

#define LABEL_BYTES (sizeof label - 1)
#define HEAD_BYTES (LABEL_BYTES + 2 + 1 + 1 + 3 * 8)

ald_status ald__binding(const ald_host *host, const ald__bound *b, uint8_t out[ALD_SHA256_BYTES],
                        ald_error *err)
{
    uint8_t head[HEAD_BYTES], *p = head + LABEL_BYTES;
    ald__part parts[4] = {{head, sizeof head},
                          {b->schema, b->schema_size},
                          {b->chunk_index, b->chunk_index_size},
                          {b->block, b->block_size}};
    memcpy(head, label, LABEL_BYTES);
    ald__store_le16(p, b->dataset_type);
    p[2] = b->compression;
    p[3] = b->flags & (ALD_FLAG_STREAMING | ALD_FLAG_TRUENO_NATIVE);
    ald__store_le64(p + 4, b->num_rows);
    ald__store_le64(p + 12, b->uncompressed_size);
    ald__store_le64(p + 20, b->schema_size);
    return ald__sha256(host, parts, 4, out, err);
}

static void release_section(const ald__file *f, ald_range r, uint8_t *bytes)
{
    ald__release(&f->alloc, bytes, (size_t)(r.end - r.begin) + 1);
}

ald_status ald__file_binding(const ald__file *f, const ald_host *host,
                             uint8_t out[ALD_SHA256_BYTES], ald_error *err)
{
    const ald_sections *s = &f->sections;
    uint8_t *schema = NULL, *index = NULL, *block = NULL;
    ald_status st = ald__file_copy(f, s->schema, &schema, err);
    if (st == ALD_OK)
        st = ald__file_copy(f, s->chunk_index, &index, err);
    if (st == ALD_OK)
        st = ald__file_copy(f, s->encryption, &block, err);
    if (st == ALD_OK) {
        ald__bound b = {f->header.dataset_type,
                        f->header.compression,
                        f->header.flags,
                        f->header.num_rows,
                        f->uncompressed_size,
                        schema,
                        (size_t)(s->schema.end - s->schema.begin),
                        index,
                        (size_t)(s->chunk_index.end - s->chunk_index.begin),
                        block,
                        (size_t)(s->encryption.end - s->encryption.begin)};
        st = ald__binding(host, &b, out, err);
    }
    release_section(f, s->schema, schema);
    release_section(f, s->chunk_index, index);
    release_section(f, s->encryption, block);
    return st;
}
