/* SPDX-License-Identifier: MIT */
/* A value tree to MessagePack, each value in its shortest form. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/utf8_step.h"
#include "core/container/msgpack.h"

static ald_status put_be(ald_buffer *out, uint8_t first, uint64_t number, unsigned size,
                         ald_error *err)
{
    uint8_t bytes[9];
    bytes[0] = first;
    for (unsigned i = 0; i < size; i++)
        bytes[1 + i] = (uint8_t)(number >> (8 * (size - 1 - i)));
    return ald__buffer_append(out, bytes, size + 1, err);
}

/* A length or count: within the first byte when below `fixed_limit`, else 1 (if `one` is not 0), 2 or 4 bytes. */
static ald_status put_length(ald_buffer *out, size_t n, uint8_t fixed, size_t fixed_limit,
                             uint8_t one, uint8_t two, ald_error *err)
{
    if (n < fixed_limit)
        return put_be(out, (uint8_t)(fixed | n), 0, 0, err);
    if (one != 0 && n <= 0xff)
        return put_be(out, one, n, 1, err);
    if (n <= 0xffff)
        return put_be(out, two, n, 2, err);
    if (n > UINT32_MAX)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "a metadata value is too long");
    return put_be(out, (uint8_t)(two + 1), n, 4, err);
}

static ald_status put_uint(ald_buffer *out, uint64_t v, int wide, ald_error *err)
{
    if (wide)
        return put_be(out, 0xcf, v, 8, err);
    if (v <= 0x7f)
        return put_be(out, (uint8_t)v, 0, 0, err);
    if (v <= 0xff)
        return put_be(out, 0xcc, v, 1, err);
    if (v <= 0xffff)
        return put_be(out, 0xcd, v, 2, err);
    return v <= UINT32_MAX ? put_be(out, 0xce, v, 4, err) : put_be(out, 0xcf, v, 8, err);
}

static ald_status put_negative(ald_buffer *out, int64_t v, ald_error *err)
{
    if (v >= -32)
        return put_be(out, (uint8_t)v, 0, 0, err);
    if (v >= INT8_MIN)
        return put_be(out, 0xd0, (uint64_t)v, 1, err);
    if (v >= INT16_MIN)
        return put_be(out, 0xd1, (uint64_t)v, 2, err);
    return v >= INT32_MIN ? put_be(out, 0xd2, (uint64_t)v, 4, err)
                          : put_be(out, 0xd3, (uint64_t)v, 8, err);
}

static ald_status put_ext(ald_buffer *out, const ald_value *v, size_t size, ald_error *err)
{
    uint8_t type = (uint8_t)ald_value_get_ext_type(v);
    unsigned log = 0;
    while (log < 4 && ((size_t)1 << log) < size)
        log++;
    if (((size_t)1 << log) == size)
        ALD_TRY(put_be(out, (uint8_t)(0xd4 + log), 0, 0, err));
    else
        ALD_TRY(put_length(out, size, 0, 0, 0xc7, 0xc8, err));
    return ald__buffer_append(out, &type, 1, err);
}

static ald_status put_float(ald_buffer *out, double d, ald_error *err)
{
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return put_be(out, 0xcb, bits, 8, err);
}

static ald_status put_string(ald_buffer *out, const char *text, size_t size, ald_error *err)
{
    /* No reader would take the file: what is written must be what can be read. */
    if (!ald__utf8_is_valid((const uint8_t *)text, size))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "a key or text for the metadata is not UTF-8");
    ALD_TRY(put_length(out, size, 0xa0, 32, 0xd9, 0xda, err));
    return ald__buffer_append(out, text, size, err);
}

static ald_status put_bytes(ald_buffer *out, const ald_value *v, ald_error *err)
{
    size_t size;
    const char *data = ald_value_get_bytes(v, &size);
    switch (ald_value_get_type(v)) {
    case ALD_VALUE_STRING:
        return put_string(out, data, size, err);
    case ALD_VALUE_BIN:
        ALD_TRY(put_length(out, size, 0, 0, 0xc4, 0xc5, err));
        break;
    default:
        ALD_TRY(put_ext(out, v, size, err));
        break;
    }
    return ald__buffer_append(out, data, size, err);
}

static int is_listed(const char *const *keys, const char *key, size_t size)
{
    for (; keys != NULL && *keys != NULL; keys++) {
        if (strlen(*keys) == size && memcmp(*keys, key, size) == 0)
            return 1;
    }
    return 0;
}

static ald_status put_value(ald_buffer *out, const ald_value *v, const char *const *wide_keys,
                            int wide, unsigned depth, ald_error *err);

static ald_status put_list(ald_buffer *out, const ald_value *v, const char *const *wide_keys,
                           unsigned depth, ald_error *err)
{
    size_t count = ald_value_get_count(v);
    int is_map = ald_value_get_type(v) == ALD_VALUE_MAP;
    if (is_map)
        ALD_TRY(put_length(out, count, 0x80, 16, 0, 0xde, err));
    else
        ALD_TRY(put_length(out, count, 0x90, 16, 0, 0xdc, err));
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;
        const char *key = is_map ? ald_value_get_key(v, i, &size) : NULL;
        if (is_map)
            ALD_TRY(put_string(out, key, size, err));
        ALD_TRY(put_value(out, ald_value_get_item(v, i), wide_keys,
                          is_map && is_listed(wide_keys, key, size), depth + 1, err));
    }
    return ALD_OK;
}

static ald_status put_value(ald_buffer *out, const ald_value *v, const char *const *wide_keys,
                            int wide, unsigned depth, ald_error *err)
{
    if (depth >= ALD__MSGPACK_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "metadata is nested deeper than %d levels", ALD__MSGPACK_DEPTH);
    switch (ald_value_get_type(v)) {
    case ALD_VALUE_NIL:
        return put_be(out, 0xc0, 0, 0, err);
    case ALD_VALUE_BOOL:
        return put_be(out, ald_value_get_bool(v) ? 0xc3 : 0xc2, 0, 0, err);
    case ALD_VALUE_UINT:
        return put_uint(out, ald_value_get_uint(v), wide, err);
    case ALD_VALUE_INT:
        return put_negative(out, ald_value_get_int(v), err);
    case ALD_VALUE_FLOAT:
        return put_float(out, ald_value_get_float(v), err);
    case ALD_VALUE_ARRAY:
    case ALD_VALUE_MAP:
        return put_list(out, v, wide_keys, depth, err);
    case ALD_VALUE_STRING:
    case ALD_VALUE_BIN:
    case ALD_VALUE_EXT:
        return put_bytes(out, v, err);
    }
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "a value of no type");
}

ald_status ald__msgpack_encode(const ald_value *value, const char *const *wide_keys,
                               ald_buffer *out, ald_error *err)
{
    return put_value(out, value, wide_keys, 0, 0, err);
}
