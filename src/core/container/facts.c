/* SPDX-License-Identifier: MIT */
/* The "ald" map: facts about the bytes, each in the one form that it may have. */
#include <string.h>

#include "core/base/fail.h"
#include "core/container/metadata.h"
#include "core/container/msgpack.h"

typedef struct reading {
    const ald_value *facts; /* the "ald" map */
    const uint8_t *data;    /* the metadata's bytes */
    size_t size;
    uint64_t offset;
} reading;

/* nil means absent. */
static const ald_value *find(const ald_value *map, const char *key)
{
    const ald_value *v = ald_value_find(map, key);
    return v != NULL && ald_value_get_type(v) != ALD_VALUE_NIL ? v : NULL;
}

static ald_status take_size(const reading *r, const char *key, uint8_t *has, uint64_t *out,
                            ald_error *err)
{
    const char *path[2] = {"ald", key};
    ald__msgpack_place place;
    const ald_value *v = find(r->facts, key);
    *has = v != NULL;
    if (v == NULL)
        return ALD_OK;
    if (ald_value_get_type(v) != ALD_VALUE_UINT ||
        !ald__msgpack_locate(r->data, r->size, path, 2, &place) || place.first != 0xcf)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                         "ald.%s is not a uint64 in its 9-byte form", key);
    *out = ald_value_get_uint(v);
    return ALD_OK;
}

/* A bin of `size` bytes (0: any size). */
static ald_status take_bin(const reading *r, const ald_value *map, const char *key, size_t size,
                           ald__bin *out, ald_error *err)
{
    const ald_value *v = find(map, key);
    out->data = NULL;
    out->size = 0;
    if (v == NULL)
        return ALD_OK;
    if (ald_value_get_type(v) != ALD_VALUE_BIN)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset, "ald key '%s' is not a bin", key);
    out->data = (const uint8_t *)ald_value_get_bytes(v, &out->size);
    if (size != 0 && out->size != size)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                         "ald key '%s' has %zu bytes, expected %zu", key, out->size, size);
    return ALD_OK;
}

static ald_status take_pad(const reading *r, ald_error *err)
{
    ald__bin pad;
    ALD_TRY(take_bin(r, r->facts, "pad", 0, &pad, err));
    for (size_t i = 0; i < pad.size; i++) {
        if (pad.data[i] != 0)
            return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                             "ald.pad has a byte that is not zero");
    }
    return ALD_OK;
}

static ald_status take_map(const reading *r, const char *key, const ald_value **out, ald_error *err)
{
    *out = find(r->facts, key);
    if (*out != NULL && ald_value_get_type(*out) != ALD_VALUE_MAP)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset, "ald.%s is not a map", key);
    return ALD_OK;
}

static ald_status take_kdf(const reading *r, ald__facts *out, ald_error *err)
{
    const ald_value *kdf, *m, *t, *p;
    ALD_TRY(take_map(r, "kdf", &kdf, err));
    if (kdf == NULL)
        return ALD_OK;
    m = ald_value_find(kdf, "m");
    t = ald_value_find(kdf, "t");
    p = ald_value_find(kdf, "p");
    if (m == NULL || t == NULL || p == NULL || ald_value_get_type(m) != ALD_VALUE_UINT ||
        ald_value_get_type(t) != ALD_VALUE_UINT || ald_value_get_type(p) != ALD_VALUE_UINT)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                         "ald.kdf must have m, t and p, unsigned integers");
    out->has_kdf = 1;
    out->kdf_m = ald_value_get_uint(m);
    out->kdf_t = ald_value_get_uint(t);
    out->kdf_p = ald_value_get_uint(p);
    if (out->kdf_t < 1 || out->kdf_p < 1 || out->kdf_m / 8 < out->kdf_p)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                         "ald.kdf out of range: m = %llu, t = %llu, p = %llu",
                         (unsigned long long)out->kdf_m, (unsigned long long)out->kdf_t,
                         (unsigned long long)out->kdf_p);
    return ALD_OK;
}

static ald_status take_seal(const reading *r, ald__facts *out, ald_error *err)
{
    const ald_value *seal;
    ALD_TRY(take_map(r, "seal", &seal, err));
    if (seal == NULL)
        return ALD_OK;
    out->has_seal = 1;
    ALD_TRY(take_bin(r, seal, "hashes", 0, &out->seal_hashes, err));
    ALD_TRY(take_bin(r, seal, "key", 32, &out->seal_key, err));
    ALD_TRY(take_bin(r, seal, "sig", 64, &out->seal_sig, err));
    if (out->seal_hashes.data == NULL || out->seal_key.data == NULL || out->seal_sig.data == NULL)
        return ald__fail(err, ALD_E_INVALID_FORMAT, r->offset,
                         "ald.seal must have hashes, key and sig");
    return ALD_OK;
}

ald_status ald__metadata_facts(const ald_value *map, const uint8_t *data, size_t size,
                               uint64_t offset, ald__facts *out, ald_error *err)
{
    reading r = {find(map, "ald"), data, size, offset};
    memset(out, 0, sizeof *out);
    if (r.facts == NULL)
        return ALD_OK;
    ALD_TRY(take_size(&r, "payload_size", &out->has_payload_size, &out->payload_size, err));
    ALD_TRY(take_size(&r, "uncompressed_size", &out->has_uncompressed_size, &out->uncompressed_size,
                      err));
    ALD_TRY(take_size(&r, "schema_size", &out->has_schema_size, &out->schema_size, err));
    ALD_TRY(take_bin(&r, r.facts, "prefix_crc32", 4, &out->prefix_crc32, err));
    ALD_TRY(take_bin(&r, r.facts, "frame_crc32", 0, &out->frame_crc32, err));
    ALD_TRY(take_bin(&r, r.facts, "license_sha256", 32, &out->license_sha256, err));
    ALD_TRY(take_bin(&r, r.facts, "key_commit", 32, &out->key_commit, err));
    ALD_TRY(take_pad(&r, err));
    ALD_TRY(take_kdf(&r, out, err));
    return take_seal(&r, out, err);
}
