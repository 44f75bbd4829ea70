/* SPDX-License-Identifier: MIT */
/* Header, metadata, schema, indices, padding. Metadata has facts under "ald" only where something needs them: then the
 * file says 1.3. */
#include "core/dataset/prefix.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/container/file.h"
#include "core/container/msgpack.h"

#define PAD_ALIGNMENT 64u

typedef struct building {
    const ald__prefix *p;
    ald_value *map; /* the metadata */
    int has_ald;
    ald_buffer metadata; /* encoded */
} building;

static ald_status fact(building *b, const char *key, ald_value **out, ald_error *err)
{
    ald_value *ald = ald_value_put(b->map, "ald", 3);
    if (ald != NULL && ald_value_get_type(ald) != ALD_VALUE_MAP)
        ald_value_set_map(ald);
    *out = ald != NULL ? ald_value_put(ald, key, strlen(key)) : NULL;
    b->has_ald = 1;
    return *out == NULL ? ald__no_memory(err, 0) : ALD_OK;
}

static ald_status put_size(building *b, const char *key, uint64_t size, uint64_t ones,
                           ald_error *err)
{
    ald_value *v;
    if (size < ones)
        return ALD_OK;
    ALD_TRY(fact(b, key, &v, err));
    ald_value_set_uint(v, size);
    return ALD_OK;
}

static ald_status put_bin(building *b, const char *key, const void *data, size_t size,
                          ald_error *err)
{
    ald_value *v;
    ALD_TRY(fact(b, key, &v, err));
    return ald_value_set_bin(v, data, size, err);
}

static ald_status put_sha256(building *b, ald_error *err)
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * ALD_SHA256_BYTES];
    ald_value *v;
    if (b->p->sha256 == NULL)
        return ALD_OK;
    for (size_t i = 0; i < ALD_SHA256_BYTES; i++) {
        hex[2 * i] = digits[b->p->sha256[i] >> 4];
        hex[2 * i + 1] = digits[b->p->sha256[i] & 15];
    }
    v = ald_value_put(b->map, "sha256", 6);
    return v == NULL ? ald__no_memory(err, 0) : ald_value_set_string(v, hex, sizeof hex, err);
}

static ald_status put_part(ald_value *map, const char *key, const void *data, size_t size,
                           ald_error *err)
{
    ald_value *v = ald_value_put(map, key, strlen(key));
    return v == NULL ? ald__no_memory(err, 0) : ald_value_set_bin(v, data, size, err);
}

static ald_status put_seal(building *b, ald_error *err)
{
    static const uint8_t zeros[ALD_ED25519_SIGNATURE_BYTES] = {0};
    const ald__prefix *p = b->p;
    ald_value *seal;
    ALD_TRY(fact(b, "seal", &seal, err));
    ald_value_set_map(seal);
    ALD_TRY(put_part(seal, "hashes", p->seal_hashes, p->seal_hashes_size, err));
    ALD_TRY(put_part(seal, "key", p->protecting->signer, sizeof p->protecting->signer, err));
    return put_part(seal, "sig", zeros, sizeof zeros, err);
}

static ald_status put_kdf(building *b, ald_error *err)
{
    static const char *const keys[] = {"m", "t", "p"};
    const ald__kdf *kdf = &b->p->protecting->kdf;
    uint64_t values[3] = {kdf->m, kdf->t, kdf->p};
    ald_value *map, *v;
    ALD_TRY(fact(b, "kdf", &map, err));
    ald_value_set_map(map);
    for (size_t i = 0; i < 3; i++) {
        v = ald_value_put(map, keys[i], 1);
        if (v == NULL)
            return ald__no_memory(err, 0);
        ald_value_set_uint(v, values[i]);
    }
    return ALD_OK;
}

static ald_status put_protection(building *b, ald_error *err)
{
    const ald__protecting *g = b->p->protecting;
    if (g == NULL)
        return ALD_OK;
    if (g->has_kdf)
        ALD_TRY(put_kdf(b, err));
    if (g->has_commit)
        ALD_TRY(put_bin(b, "key_commit", g->commit, sizeof g->commit, err));
    if (g->has_license_hash)
        ALD_TRY(put_bin(b, "license_sha256", g->license_sha256, sizeof g->license_sha256, err));
    return b->p->seal_hashes != NULL ? put_seal(b, err) : ALD_OK;
}

static ald_status fill_map(building *b, ald_error *err)
{
    static const uint8_t zeros[4] = {0};
    const ald__prefix *p = b->p;
    ald_value_remove(b->map, "ald");
    ald_value_remove(b->map, "sha256");
    ALD_TRY(ald__metadata_check(b->map, ALD_NO_OFFSET, err));
    ALD_TRY(put_sha256(b, err));
    ALD_TRY(put_size(b, "payload_size", p->payload_size, ALD__ONES_32, err));
    ALD_TRY(put_size(b, "uncompressed_size", p->uncompressed, ALD__ONES_32, err));
    ALD_TRY(put_size(b, "schema_size", p->section->size, ALD__ONES_16, err));
    if (p->with_prefix_crc32)
        ALD_TRY(put_bin(b, "prefix_crc32", zeros, sizeof zeros, err));
    if (p->frame_crc32 != NULL)
        ALD_TRY(put_bin(b, "frame_crc32", p->frame_crc32, p->frame_crc32_size, err));
    return put_protection(b, err);
}

static ald_status encode(building *b, ald_error *err)
{
    static const char *const wide[] = {"payload_size", "uncompressed_size", "schema_size", NULL};
    ald_value *array = NULL;
    ald_status st;
    b->metadata.size = 0;
    if (b->p->options->compat == ALD_COMPAT_NONE) {
        ALD_TRY(ald__msgpack_encode(b->map, wide, &b->metadata, err));
        return b->metadata.size <= UINT32_MAX
                   ? ALD_OK
                   : ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the metadata is too large");
    }
    if (b->has_ald)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "alimentar 0.2 reads no file of this size: schema %zu bytes, %llu "
                         "uncompressed",
                         b->p->section->size, (unsigned long long)b->p->uncompressed);
    ALD_TRY(ald__metadata_to_array(b->p->alloc, b->map, &array, err));
    st = ald__msgpack_encode(array, NULL, &b->metadata, err);
    ald_value_free(array);
    return st;
}

/* Bytes of the prefix behind the metadata, with the padding that follows from where they end. */
static uint64_t prefix_size(const building *b)
{
    const ald__prefix *p = b->p;
    uint64_t at = ALD__HEADER_BYTES + b->metadata.size + p->section->size;
    if (p->flags & ALD_FLAG_STREAMING)
        at += 4 + p->chunk_count * ALD__CHUNK_ENTRY_BYTES;
    if (p->flags & ALD_FLAG_TRUENO_NATIVE)
        at += 4 + p->array_count * ALD__ARRAY_ENTRY_BYTES;
    if (p->protecting != NULL)
        at += p->protecting->block.size;
    if (p->flags & ALD_FLAG_TRUENO_NATIVE)
        at += (PAD_ALIGNMENT - at % PAD_ALIGNMENT) % PAD_ALIGNMENT;
    return at;
}

static ald_status put_pad(building *b, size_t size, ald_error *err)
{
    ald_value *v;
    uint8_t *zeros = ald__alloc_zero(b->p->alloc, size, err);
    ald_status st;
    if (zeros == NULL)
        return ALD_E_NOMEM;
    st = fact(b, "pad", &v, err);
    if (st == ALD_OK)
        st = ald_value_set_bin(v, zeros, size, err);
    ald__release(b->p->alloc, zeros, size);
    return st == ALD_OK ? encode(b, err) : st;
}

static ald_status too_small(const building *b, ald_error *err)
{
    return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                     "the prefix takes %llu bytes, %llu are reserved",
                     (unsigned long long)prefix_size(b), (unsigned long long)b->p->room);
}

/* Makes the prefix exactly as large as the room. A bin's head grows with its size, so a few sizes cannot be reached: a
 * redundant schema_size, which is allowed, then shifts what is needed. */
static ald_status fill_room(building *b, ald_error *err)
{
    ald_value *v;
    if (b->p->room == 0 || prefix_size(b) == b->p->room)
        return ALD_OK;
    for (int shifted = 0; shifted < 2; shifted++) {
        uint64_t room = b->p->room, size = 0, now;
        if (shifted) {
            ALD_TRY(fact(b, "schema_size", &v, err));
            ald_value_set_uint(v, b->p->section->size);
        }
        ALD_TRY(put_pad(b, 0, err));
        for (int tries = 0; tries < 8; tries++) {
            now = prefix_size(b);
            if (now == room)
                return ALD_OK;
            if (now > room && size < now - room)
                return too_small(b, err);
            size = size + room - now;
            ALD_TRY(put_pad(b, (size_t)size, err));
        }
    }
    return too_small(b, err);
}

static uint32_t low32(uint64_t v)
{
    return v < ALD__ONES_32 ? (uint32_t)v : ALD__ONES_32;
}

static ald_status put_header(const building *b, ald_buffer *out, ald_error *err)
{
    const ald__prefix *p = b->p;
    uint8_t bytes[ALD__HEADER_BYTES];
    ald__header h;
    memset(&h, 0, sizeof h);
    h.version_major = ALD__VERSION_MAJOR;
    h.version_minor = p->minor != 0 ? p->minor : b->has_ald ? 3 : 2;
    h.dataset_type = p->options->dataset_type;
    h.metadata_size = (uint32_t)b->metadata.size;
    h.payload_size = low32(p->payload_size);
    h.uncompressed_size = low32(p->uncompressed);
    h.compression = p->options->compression;
    h.flags = p->flags;
    if (p->protecting != NULL)
        h.flags |= ald__protecting_flags(p->protecting);
    h.schema_size = (uint16_t)(p->section->size < ALD__ONES_16 ? p->section->size : ALD__ONES_16);
    h.num_rows = p->rows;
    ald__header_encode(&h, bytes);
    return ald__buffer_append(out, bytes, sizeof bytes, err);
}

ald_status ald__prefix_put_chunks(const ald_chunk_entry *chunks, uint64_t count, ald_buffer *out,
                                  ald_error *err)
{
    uint8_t bytes[ALD__CHUNK_ENTRY_BYTES];
    ald__store_le32(bytes, (uint32_t)count);
    ALD_TRY(ald__buffer_append(out, bytes, 4, err));
    for (uint64_t i = 0; i < count; i++) {
        const ald_chunk_entry *e = &chunks[i];
        ald__store_le64(bytes, e->row_offset);
        ald__store_le32(bytes + 8, e->num_rows);
        ald__store_le64(bytes + 12, e->byte_offset);
        ald__store_le32(bytes + 20, e->compressed_size);
        ald__store_le32(bytes + 24, e->uncompressed_size);
        ALD_TRY(ald__buffer_append(out, bytes, sizeof bytes, err));
    }
    return ALD_OK;
}

static ald_status put_arrays(const ald__prefix *p, uint64_t payload, ald_buffer *out,
                             ald_error *err)
{
    uint8_t bytes[ALD__ARRAY_ENTRY_BYTES];
    ald__store_le32(bytes, (uint32_t)p->array_count);
    ALD_TRY(ald__buffer_append(out, bytes, 4, err));
    for (uint64_t i = 0; i < p->array_count; i++) {
        const ald_array_entry *e = &p->arrays[i];
        ald__store_le32(bytes, e->column_idx);
        bytes[4] = e->dtype;
        ald__store_le64(bytes + 5, e->length);
        bytes[13] = e->alignment;
        bytes[14] = e->backend_hint;
        ald__store_le64(bytes + 15, payload + e->offset);
        ald__store_le64(bytes + 23, e->size_bytes);
        ALD_TRY(ald__buffer_append(out, bytes, sizeof bytes, err));
    }
    return ALD_OK;
}

/* Fills in seal.sig, while it and prefix_crc32 are still zeros. */
static ald_status patch_seal(const building *b, ald_buffer *out, size_t start, ald_error *err)
{
    static const char *const path[] = {"ald", "seal", "sig"};
    ald__msgpack_place place;
    uint8_t *bytes = out->data + start;
    if (b->p->seal_hashes == NULL)
        return ALD_OK;
    if (!ald__msgpack_locate(bytes + ALD__HEADER_BYTES, b->metadata.size, path, 3, &place))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the seal is not in its place");
    return ald__seal_sign(b->p->protecting, bytes, out->size - start,
                          bytes + ALD__HEADER_BYTES + place.content, err);
}

/* Fills in prefix_crc32: over the finished prefix, in which its four bytes are still zeros. */
static void patch_crc32(const building *b, ald_buffer *out, size_t start)
{
    static const char *const path[] = {"ald", "prefix_crc32"};
    ald__msgpack_place place;
    uint8_t *bytes = out->data + start;
    if (!b->p->with_prefix_crc32 ||
        !ald__msgpack_locate(bytes + ALD__HEADER_BYTES, b->metadata.size, path, 2, &place))
        return;
    ald__store_le32(bytes + ALD__HEADER_BYTES + place.content,
                    ald__crc32(0, bytes, out->size - start));
}

static ald_status put_sections(const building *b, ald_buffer *out, ald_error *err)
{
    const ald__prefix *p = b->p;
    size_t start = out->size;
    uint64_t payload = prefix_size(b);
    ALD_TRY(put_header(b, out, err));
    ALD_TRY(ald__buffer_append(out, b->metadata.data, b->metadata.size, err));
    ALD_TRY(ald__buffer_append(out, p->section->data, p->section->size, err));
    if (p->flags & ALD_FLAG_STREAMING)
        ALD_TRY(ald__prefix_put_chunks(p->chunks, p->chunk_count, out, err));
    if (p->flags & ALD_FLAG_TRUENO_NATIVE)
        ALD_TRY(put_arrays(p, payload, out, err));
    if (p->protecting != NULL)
        ALD_TRY(ald__buffer_append(out, p->protecting->block.data, p->protecting->block.size, err));
    ALD_TRY(ald__buffer_append_zeros(out, (size_t)(payload - (out->size - start)), err));
    ALD_TRY(patch_seal(b, out, start, err));
    patch_crc32(b, out, start);
    return ALD_OK;
}

static ald_status new_map(const ald__prefix *p, ald_value **out, ald_error *err)
{
    if (p->options->metadata != NULL)
        return ald_value_copy(p->alloc, p->options->metadata, out, err);
    ALD_TRY(ald_value_new(p->alloc, out, err));
    ald_value_set_map(*out);
    return ALD_OK;
}

ald_status ald__prefix_build(const ald__prefix *prefix, ald_buffer *out, ald_error *err)
{
    building b = {prefix, NULL, 0, {NULL, 0, 0, prefix->alloc}};
    ald_status st = new_map(prefix, &b.map, err);
    if (st == ALD_OK)
        st = fill_map(&b, err);
    if (st == ALD_OK)
        st = encode(&b, err);
    if (st == ALD_OK)
        st = fill_room(&b, err);
    if (st == ALD_OK)
        st = put_sections(&b, out, err);
    ald_value_free(b.map);
    ald_buffer_clear(&b.metadata);
    return st;
}
