/* SPDX-License-Identifier: MIT */
/* Whether the file can be as long as it says: a bound that grows with each length read, none believed before the bytes
 * that it stands in are known to be there. */
#include "core/base/checked.h"
#include "core/base/fail.h"
#include "core/container/file.h"

typedef struct walk {
    ald__file *file;
    uint64_t bound; /* the file has at least so many bytes */
} walk;

static ald_status need(walk *w, uint64_t more, ald_error *err)
{
    uint64_t size = w->file->source.size_bytes;
    if (!ald__add_u64(w->bound, more, &w->bound))
        w->bound = UINT64_MAX;
    if (w->bound > size)
        return ald__fail(err, ALD_E_TRUNCATED, size, "%llu bytes, expected at least %llu",
                         (unsigned long long)size, (unsigned long long)w->bound);
    return ALD_OK;
}

static uint64_t fixed_parts(uint8_t flags)
{
    return (flags & ALD_FLAG_STREAMING ? 4u : 0u) + (flags & ALD_FLAG_TRUENO_NATIVE ? 4u : 0u) +
           (flags & ALD_FLAG_ENCRYPTED ? 29u : 0u) +
           (flags & ALD_FLAG_SIGNED ? ALD__SIGNATURE_BYTES : 0u) +
           (flags & ALD_FLAG_LICENSED ? ALD__LICENSE_FIXED_BYTES : 0u);
}

/* Sizes that the header leaves to the metadata. *known = 0: the metadata does not tell, and the CRC must speak first. */
static ald_status resolve_ones(walk *w, int *known, ald_error *err)
{
    ald__file *f = w->file;
    const ald__header *h = &f->header;
    ald__facts facts;
    ald_status st = ald__file_read_metadata(f, err);
    *known = 0;
    if (st == ALD_E_NOMEM || st == ALD_E_IO)
        return st;
    if (st != ALD_OK || ald__metadata_facts(f->tree, f->metadata, h->metadata_size,
                                            ALD__HEADER_BYTES, &facts, NULL) != ALD_OK)
        return ALD_OK;
    if ((h->schema_size == ALD__ONES_16 && !facts.has_schema_size) ||
        (h->payload_size == ALD__ONES_32 && !facts.has_payload_size))
        return ALD_OK;
    if (h->schema_size == ALD__ONES_16) {
        f->schema_size = facts.schema_size;
        ALD_TRY(need(w, f->schema_size, err));
    }
    if (h->payload_size == ALD__ONES_32) {
        f->payload_size = facts.payload_size;
        ALD_TRY(need(w, f->payload_size, err));
    }
    *known = 1;
    return ALD_OK;
}

static ald_status walk_index(walk *w, uint32_t entry_bytes, uint64_t *at, ald_error *err)
{
    uint32_t n;
    ALD_TRY(ald__file_u32(w->file, *at, &n, err));
    ALD_TRY(need(w, (uint64_t)n * entry_bytes, err));
    *at += 4 + (uint64_t)n * entry_bytes;
    return ALD_OK;
}

/* *known = 0: the block's length is open (a recipient block that may be the crate's, an unknown mode). */
static ald_status walk_encryption(walk *w, uint64_t *at, int *known, ald_error *err)
{
    uint8_t mode;
    uint16_t count;
    *known = 1;
    ALD_TRY(ald__file_bytes(w->file, *at, &mode, 1, err));
    switch (mode) {
    case 0:
        *at += 29;
        return ALD_OK;
    case 1:
        *known = w->file->header.version_minor >= 3;
        *at += *known ? 53 : 45;
        return need(w, *known ? 53 - 29 : 45 - 29, err);
    case 2:
        ALD_TRY(ald__file_u16(w->file, *at + 1, &count, err));
        *at += 47 + (uint64_t)count * 56;
        return need(w, 47 - 29 + (uint64_t)count * 56, err);
    default:
        *known = 0;
        return ALD_OK;
    }
}

ald_status ald__file_walk(ald__file *f, ald_error *err)
{
    const ald__header *h = &f->header;
    walk w = {f, 0};
    int known = 1;
    uint64_t at;
    uint32_t terms;
    f->schema_size = h->schema_size == ALD__ONES_16 ? 0 : h->schema_size;
    f->payload_size = h->payload_size == ALD__ONES_32 ? 0 : h->payload_size;
    ALD_TRY(need(&w,
                 ALD__HEADER_BYTES + (uint64_t)h->metadata_size + f->schema_size +
                     fixed_parts(h->flags) + f->payload_size + ALD__CRC_BYTES,
                 err));
    if (h->schema_size == ALD__ONES_16 || h->payload_size == ALD__ONES_32)
        ALD_TRY(resolve_ones(&w, &known, err));
    if (!known)
        return ALD_OK;
    at = ALD__HEADER_BYTES + (uint64_t)h->metadata_size + f->schema_size;
    if (h->flags & ALD_FLAG_STREAMING)
        ALD_TRY(walk_index(&w, ALD__CHUNK_ENTRY_BYTES, &at, err));
    if (h->flags & ALD_FLAG_TRUENO_NATIVE)
        ALD_TRY(walk_index(&w, ALD__ARRAY_ENTRY_BYTES, &at, err));
    if (h->flags & ALD_FLAG_ENCRYPTED)
        ALD_TRY(walk_encryption(&w, &at, &known, err));
    if (h->flags & ALD_FLAG_TRUENO_NATIVE) {
        ALD_TRY(need(&w, (64 - at % 64) % 64, err));
        at += (64 - at % 64) % 64;
    }
    if (!(h->flags & ALD_FLAG_LICENSED) || !known)
        return ALD_OK;
    at += f->payload_size + (h->flags & ALD_FLAG_SIGNED ? ALD__SIGNATURE_BYTES : 0u);
    ALD_TRY(ald__file_u32(f, at + ALD__LICENSE_FIXED_BYTES - 4, &terms, err));
    return need(&w, terms, err);
}
