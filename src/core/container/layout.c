/* SPDX-License-Identifier: MIT */
/* Where the sections are: they fill the file exactly. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/endian.h"
#include "core/base/utf8_step.h"
#include "core/container/file.h"

#define RECIPIENT_BYTES 53u
#define RECIPIENT_CRATE_BYTES 45u
#define RECIPIENT_HASH_AT 33u
#define RECIPIENTS_NAMED 1024u /* more are beyond what readers open */

/* Appends a section; 0 when it does not fit into the file. */
static int place(const ald__file *f, uint64_t *at, uint64_t size, ald_range *out)
{
    uint64_t end;
    if (!ald__add_u64(*at, size, &end) || end > f->source.size_bytes)
        return 0;
    out->begin = *at;
    out->end = *at = end;
    return 1;
}

static ald_status past_end(const char *section, uint64_t at, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, at, "the %s section runs past the end of the file",
                     section);
}

static ald_status place_index(ald__file *f, const char *name, uint32_t entry_bytes, uint64_t *at,
                              ald_range *out, uint64_t *count, ald_error *err)
{
    uint32_t n;
    ald_range head;
    if (!place(f, at, 4, &head))
        return past_end(name, *at, err);
    ALD_TRY(ald__file_keep(f, head.end, err));
    ALD_TRY(ald__file_u32(f, head.begin, &n, err));
    if (!place(f, at, (uint64_t)n * entry_bytes, out))
        return past_end(name, *at, err);
    out->begin = head.begin;
    *count = n;
    return ALD_OK;
}

static ald_status place_encryption(ald__file *f, uint64_t *at, uint32_t recipient_bytes,
                                   ald_range *out, ald_error *err)
{
    uint8_t mode;
    uint16_t count = 0;
    ald_range head;
    if (!place(f, at, 3, &head))
        return past_end("encryption", *at, err);
    ALD_TRY(ald__file_keep(f, head.end, err));
    ALD_TRY(ald__file_bytes(f, head.begin, &mode, 1, err));
    ALD_TRY(ald__file_u16(f, head.begin + 1, &count, err));
    if (mode > 2)
        return ald__fail(err, ALD_E_INVALID_FORMAT, head.begin, "unknown encryption mode %u", mode);
    if (mode == 2 && count == 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, head.begin + 1, "no recipients");
    *at = head.begin;
    if (!place(f, at, mode == 0 ? 29u : mode == 1 ? recipient_bytes : 47u + count * 56u, out))
        return past_end("encryption", *at, err);
    f->encryption_mode = (int8_t)mode;
    f->recipient_count = mode == 2 ? count : mode;
    return ALD_OK;
}

static ald_status place_license(const ald__file *f, uint64_t *at, ald_range *out, ald_error *err)
{
    uint32_t terms;
    ald_range rest;
    if (!place(f, at, ALD__LICENSE_FIXED_BYTES, out))
        return past_end("license", *at, err);
    ALD_TRY(ald__file_u32(f, out->end - 4, &terms, err));
    if (!place(f, at, terms, &rest))
        return past_end("license", out->begin, err);
    out->end = rest.end;
    return ALD_OK;
}

/* Everything before the payload. */
static ald_status place_prefix(ald__file *f, uint32_t recipient_bytes, uint64_t *at,
                               ald_sections *s, ald_error *err)
{
    uint8_t flags = f->header.flags;
    if (!place(f, at, ALD__HEADER_BYTES, &s->header) ||
        !place(f, at, f->header.metadata_size, &s->metadata))
        return past_end("metadata", *at, err);
    if (!place(f, at, f->schema_size, &s->schema))
        return past_end("schema", *at, err);
    if (flags & ALD_FLAG_STREAMING)
        ALD_TRY(place_index(f, "chunk index", ALD__CHUNK_ENTRY_BYTES, at, &s->chunk_index,
                            &f->chunk_count, err));
    if (flags & ALD_FLAG_TRUENO_NATIVE)
        ALD_TRY(place_index(f, "array index", ALD__ARRAY_ENTRY_BYTES, at, &s->array_index,
                            &f->array_count, err));
    if (flags & ALD_FLAG_ENCRYPTED)
        ALD_TRY(place_encryption(f, at, recipient_bytes, &s->encryption, err));
    if ((flags & ALD_FLAG_TRUENO_NATIVE) && !place(f, at, (64 - *at % 64) % 64, &s->padding))
        return past_end("padding", *at, err);
    return ALD_OK;
}

static ald_status place_all(ald__file *f, uint32_t recipient_bytes, ald_sections *s, ald_error *err)
{
    uint64_t at = 0;
    memset(s, 0, sizeof *s);
    ALD_TRY(place_prefix(f, recipient_bytes, &at, s, err));
    if (!place(f, &at, f->payload_size, &s->payload))
        return past_end("payload", at, err);
    ALD_TRY(ald__file_keep(f, s->payload.begin, err));
    if ((f->header.flags & ALD_FLAG_SIGNED) && !place(f, &at, ALD__SIGNATURE_BYTES, &s->signature))
        return past_end("signature", at, err);
    if (f->header.flags & ALD_FLAG_LICENSED)
        ALD_TRY(place_license(f, &at, &s->license, err));
    if (!place(f, &at, ALD__CRC_BYTES, &s->crc32))
        return past_end("checksum", at, err);
    if (at != f->source.size_bytes)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at,
                         "the sections end here, the file has %llu bytes",
                         (unsigned long long)f->source.size_bytes);
    return ALD_OK;
}

/* Both lengths fit: what stands where the hash would be decides. */
static ald_status choose_recipient(ald__file *f, const ald_sections *crate, ald_error *err)
{
    uint8_t hash[8];
    int ours = 0;
    if (f->recipient_test == NULL)
        return ALD_OK;
    ALD_TRY(ald__file_bytes(f, f->sections.encryption.begin + RECIPIENT_HASH_AT, hash, sizeof hash,
                            err));
    ALD_TRY(f->recipient_test->is_ours(f->recipient_test->ctx, hash, &ours, err));
    if (!ours)
        f->sections = *crate;
    return ALD_OK;
}

/* Below version 1.3 a recipient block may be the crate's: the length that makes the sections fill the file (F-213). */
static ald_status place_sections(ald__file *f, ald_error *err)
{
    ald_sections crate;
    ald_status st = place_all(f, RECIPIENT_BYTES, &f->sections, err), st_crate;
    if (st == ALD_E_IO || st == ALD_E_NOMEM || f->encryption_mode != 1 ||
        f->header.version_minor >= 3)
        return st;
    st_crate = place_all(f, RECIPIENT_CRATE_BYTES, &crate, st == ALD_OK ? NULL : err);
    if (st_crate != ALD_OK)
        return st == ALD_OK && st_crate != ALD_E_IO ? ALD_OK : st_crate;
    if (st == ALD_OK)
        return choose_recipient(f, &crate, err);
    f->sections = crate;
    return ALD_OK;
}

static ald_status check_padding(const ald__file *f, ald_error *err)
{
    uint8_t bytes[64];
    ald_range r = f->sections.padding;
    size_t n = (size_t)(r.end - r.begin);
    ALD_TRY(ald__file_bytes(f, r.begin, bytes, n, err));
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, r.begin + i, "padding that is not zero");
    }
    return ALD_OK;
}

static ald_status check_terms(const ald__file *f, ald_error *err)
{
    const uint8_t *p = (const uint8_t *)f->license.terms;
    for (size_t i = 0; i < f->license.terms_size;) {
        size_t step = ald__utf8_step(p + i, f->license.terms_size - i);
        if (step == 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT,
                             f->sections.license.begin + ALD__LICENSE_FIXED_BYTES + i,
                             "the license terms are not UTF-8");
        i += step;
    }
    return ALD_OK;
}

static ald_status read_license(ald__file *f, ald_error *err)
{
    ald_license *l = &f->license;
    const uint8_t *p;
    ALD_TRY(ald__file_copy(f, f->sections.license, &f->license_block, err));
    f->license_size = (size_t)(f->sections.license.end - f->sections.license.begin);
    p = f->license_block;
    memcpy(l->license_id, p, 16);
    memcpy(l->licensee_hash, p + 16, 32);
    l->issued_at = ald__load_le64(p + 48);
    l->expires_at = ald__load_le64(p + 56);
    l->flags = p[64];
    l->seat_limit = ald__load_le16(p + 65);
    l->query_limit = ald__load_le32(p + 67);
    l->terms_size = f->license_size - ALD__LICENSE_FIXED_BYTES;
    l->terms = (const char *)p + ALD__LICENSE_FIXED_BYTES;
    if (l->flags & 0xC0u)
        return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.license.begin + 64,
                         "reserved license flags are set: %02x", l->flags);
    return check_terms(f, err);
}

/* What the facts say of sections that are, or are not, there. */
static ald_status check_facts(const ald__file *f, ald_error *err)
{
    const ald__facts *facts = &f->facts;
    uint8_t flags = f->header.flags;
    uint64_t pieces = f->chunk_count + 2;
    if (facts->license_sha256.data != NULL && !(flags & ALD_FLAG_LICENSED))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "ald.license_sha256 without a license");
    if ((flags & ALD_FLAG_STREAMING) && f->header.compression == ALD_COMPRESSION_NONE &&
        facts->frame_crc32.data != NULL && facts->frame_crc32.size != pieces * 4)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "ald.frame_crc32 has %zu bytes for %llu pieces", facts->frame_crc32.size,
                         (unsigned long long)pieces);
    if (!facts->has_seal)
        return ALD_OK;
    if (!(flags & ALD_FLAG_STREAMING) || !(flags & ALD_FLAG_SIGNED))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "ald.seal in a file that is not both STREAMING and SIGNED");
    if (f->chunk_count > ALD__SEAL_CHUNKS_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD__HEADER_BYTES,
                         "a seal over %llu chunks, at most 1048576 are accepted",
                         (unsigned long long)f->chunk_count);
    if (facts->seal_hashes.size != pieces * 32)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "ald.seal.hashes has %zu bytes for %llu pieces", facts->seal_hashes.size,
                         (unsigned long long)pieces);
    return ALD_OK;
}

/* The names of the recipients, for who looks at the file without a key. */
static ald_status read_recipients(ald__file *f, ald_error *err)
{
    ald_range s = f->sections.encryption;
    size_t size = (size_t)(s.end - s.begin);
    size_t first = f->encryption_mode == 1 ? 33 : 47;
    uint8_t *block;
    ald_status st;
    if (f->encryption_mode < 1 || f->recipient_count > RECIPIENTS_NAMED ||
        size == RECIPIENT_CRATE_BYTES)
        return ALD_OK;
    ALD_TRY(ald__file_copy(f, s, &block, err));
    f->recipient_hashes = ald__alloc(&f->alloc, (size_t)f->recipient_count * 8, err);
    st = f->recipient_hashes != NULL ? ALD_OK : ALD_E_NOMEM;
    for (size_t i = 0; st == ALD_OK && i < f->recipient_count; i++)
        memcpy(f->recipient_hashes + 8 * i, block + first + 56 * i, 8);
    ald__release(&f->alloc, block, size + 1);
    return st;
}

static ald_status true_size(const char *name, uint64_t in_header, uint64_t ones, int has,
                            uint64_t fact, uint64_t *out, ald_error *err)
{
    if (in_header == ones && !has)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "%s is all ones in the header, and ald.%s is absent", name, name);
    if (in_header != ones && has && fact != in_header)
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD__HEADER_BYTES,
                         "ald.%s is %llu, the header says %llu", name, (unsigned long long)fact,
                         (unsigned long long)in_header);
    *out = in_header == ones ? fact : in_header;
    return ALD_OK;
}

static ald_status true_sizes(ald__file *f, ald_error *err)
{
    const ald__header *h = &f->header;
    const ald__facts *facts = &f->facts;
    ALD_TRY(true_size("payload_size", h->payload_size, ALD__ONES_32, facts->has_payload_size,
                      facts->payload_size, &f->payload_size, err));
    ALD_TRY(true_size("uncompressed_size", h->uncompressed_size, ALD__ONES_32,
                      facts->has_uncompressed_size, facts->uncompressed_size, &f->uncompressed_size,
                      err));
    return true_size("schema_size", h->schema_size, ALD__ONES_16, facts->has_schema_size,
                     facts->schema_size, &f->schema_size, err);
}

/* What comes before the payload must be whole; the payload goes as far as the file does. */
static ald_status salvage_layout(ald__file *f, ald_error *err)
{
    ald_sections *s = &f->sections;
    uint64_t at = 0;
    ALD_TRY(place_prefix(f, RECIPIENT_BYTES, &at, s, err));
    f->array_count = 0; /* the array index is passed over: the rows can do without it */
    s->payload.begin = at;
    s->payload.end = f->source.size_bytes;
    if (f->payload_size < s->payload.end - at)
        s->payload.end = at + f->payload_size;
    ALD_TRY(ald__file_check_prefix(f, err));
    ALD_TRY(read_recipients(f, err));
    return ald__file_read_chunks(f, err);
}

ald_status ald__file_layout(ald__file *f, int salvage, ald_error *err)
{
    f->encryption_mode = -1;
    ALD_TRY(true_sizes(f, err));
    if (salvage)
        return salvage_layout(f, err);
    ALD_TRY(place_sections(f, err));
    ALD_TRY(ald__file_check_prefix(f, err)); /* before what rot may have changed in the prefix */
    ALD_TRY(check_padding(f, err));
    if (f->header.flags & ALD_FLAG_SIGNED)
        ALD_TRY(ald__file_bytes(f, f->sections.signature.begin, f->signature, ALD__SIGNATURE_BYTES,
                                err));
    if (f->header.flags & ALD_FLAG_LICENSED)
        ALD_TRY(read_license(f, err));
    ALD_TRY(read_recipients(f, err));
    ALD_TRY(check_facts(f, err));
    ALD_TRY(ald__file_read_chunks(f, err));
    return ald__file_read_arrays(f, err);
}
