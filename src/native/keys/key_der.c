/* SPDX-License-Identifier: MIT */
#include "native/keys/key_der.h"

#include <string.h>

#define TAG_INTEGER 0x02
#define TAG_BIT_STRING 0x03
#define TAG_OCTET_STRING 0x04
#define TAG_OID 0x06
#define TAG_SEQUENCE 0x30

/* 1.3.101.110 is X25519, .112 Ed25519. */
#define OID_X25519 0x6e
#define OID_ED25519 0x70

static uint8_t oid_end(const ald_key *key)
{
    return key->kind == ALD_KEY_SIGN ? OID_ED25519 : OID_X25519;
}

void ald__key_der_private(const ald_key *key, uint8_t out[KEY_DER_PRIVATE_BYTES])
{
    const uint8_t head[] = {TAG_SEQUENCE,
                            46,
                            TAG_INTEGER,
                            1,
                            0,
                            TAG_SEQUENCE,
                            5,
                            TAG_OID,
                            3,
                            0x2b,
                            0x65,
                            oid_end(key),
                            TAG_OCTET_STRING,
                            34,
                            TAG_OCTET_STRING,
                            32};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, key->private_key, ALD_KEY_BYTES);
}

void ald__key_der_public(const ald_key *key, uint8_t out[KEY_DER_PUBLIC_BYTES])
{
    const uint8_t head[] = {TAG_SEQUENCE, 42,           TAG_SEQUENCE,   5,  TAG_OID, 3, 0x2b,
                            0x65,         oid_end(key), TAG_BIT_STRING, 33, 0};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, key->public_key, ALD_KEY_BYTES);
}

typedef struct der {
    const uint8_t *at, *end;
} der;

/* Takes the next value, of this tag, off `from`. Lengths up to 64 KiB, in their shortest form. */
static int take(der *from, uint8_t tag, der *value)
{
    size_t left = (size_t)(from->end - from->at), head = 2, size;
    if (left < 2 || from->at[0] != tag)
        return 0;
    size = from->at[1];
    if (size >= 0x80) {
        size_t bytes = size - 0x80;
        if (bytes < 1 || bytes > 2 || left < 2 + bytes)
            return 0;
        head += bytes;
        size = bytes == 1 ? from->at[2] : (size_t)(from->at[2] << 8 | from->at[3]);
        if (size < (bytes == 1 ? 0x80u : 0x100u))
            return 0;
    }
    if (size > left - head)
        return 0;
    value->at = from->at + head;
    value->end = value->at + size;
    from->at = value->end;
    return 1;
}

static size_t left_in(const der *d)
{
    return (size_t)(d->end - d->at);
}

static ald_status broken(ald_error *err)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "a key's bytes are damaged");
}

/* The kind of the key from its AlgorithmIdentifier. */
static ald_status read_kind(der *from, ald_key *out, ald_error *err)
{
    static const uint8_t curve[2] = {0x2b, 0x65};
    der algorithm, oid;
    if (!take(from, TAG_SEQUENCE, &algorithm) || !take(&algorithm, TAG_OID, &oid))
        return broken(err);
    if (left_in(&oid) != 3 || memcmp(oid.at, curve, 2) != 0 ||
        (oid.at[2] != OID_ED25519 && oid.at[2] != OID_X25519))
        return ald_error_set(
            err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
            "a key of another kind: only Ed25519 (to sign) and X25519 (to receive) "
            "are used");
    if (left_in(&algorithm) != 0)
        return broken(err);
    out->kind = oid.at[2] == OID_ED25519 ? ALD_KEY_SIGN : ALD_KEY_RECEIVE;
    return ALD_OK;
}

ald_status ald__key_der_read_private(const uint8_t *bytes, size_t size, ald_key *out,
                                     ald_error *err)
{
    der all = {bytes, bytes + size}, info, version, outer, inner;
    ald_status st;
    if (!take(&all, TAG_SEQUENCE, &info) || left_in(&all) != 0 ||
        !take(&info, TAG_INTEGER, &version) || left_in(&version) != 1 || version.at[0] > 1)
        return broken(err);
    st = read_kind(&info, out, err);
    if (st != ALD_OK)
        return st;
    /* Attributes, and the public key of version 1, may follow: they are not needed. */
    if (!take(&info, TAG_OCTET_STRING, &outer) || !take(&outer, TAG_OCTET_STRING, &inner) ||
        left_in(&outer) != 0 || left_in(&inner) != ALD_KEY_BYTES)
        return broken(err);
    out->is_private = 1;
    memcpy(out->private_key, inner.at, ALD_KEY_BYTES);
    return ALD_OK;
}

ald_status ald__key_der_read_public(const uint8_t *bytes, size_t size, ald_key *out, ald_error *err)
{
    der all = {bytes, bytes + size}, info, bits;
    ald_status st;
    if (!take(&all, TAG_SEQUENCE, &info) || left_in(&all) != 0)
        return broken(err);
    st = read_kind(&info, out, err);
    if (st != ALD_OK)
        return st;
    if (!take(&info, TAG_BIT_STRING, &bits) || left_in(&info) != 0 ||
        left_in(&bits) != ALD_KEY_BYTES + 1 || bits.at[0] != 0)
        return broken(err);
    out->is_private = 0;
    memcpy(out->public_key, bits.at + 1, ALD_KEY_BYTES);
    return ALD_OK;
}
