/* SPDX-License-Identifier: MIT */
/* MessagePack to a value tree and back. Lengths are checked against the bytes left before anything is allocated. */
#include "core/container/msgpack.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/base/utf8_step.h"
#include "core/container/value_list.h"

/* What a first byte says: the kind, bytes of the length or number that follow it, and the length or number that is in the
 * byte itself. */
typedef struct head {
    ald_value_type kind;
    unsigned extra;
    uint64_t inline_value;
    int is_signed;
    int is_ext_fixed;
} head;

static head fixed_head(uint8_t b)
{
    head h = {ALD_VALUE_NIL, 0, 0, 0, 0};
    if (b <= 0x7f) {
        h.kind = ALD_VALUE_UINT;
        h.inline_value = b;
    } else if (b <= 0x8f) {
        h.kind = ALD_VALUE_MAP;
        h.inline_value = b & 0x0fu;
    } else if (b <= 0x9f) {
        h.kind = ALD_VALUE_ARRAY;
        h.inline_value = b & 0x0fu;
    } else if (b <= 0xbf) {
        h.kind = ALD_VALUE_STRING;
        h.inline_value = b & 0x1fu;
    } else { /* e0 … ff */
        h.kind = ALD_VALUE_INT;
        h.inline_value = (uint64_t)(int64_t)(int8_t)b;
    }
    return h;
}

/* 0xc1 is never used. */
static int read_head(uint8_t b, head *out)
{
    static const head table[32] = {
        [0x00] = {ALD_VALUE_NIL, 0, 0, 0, 0},    [0x02] = {ALD_VALUE_BOOL, 0, 0, 0, 0},
        [0x03] = {ALD_VALUE_BOOL, 0, 1, 0, 0},   [0x04] = {ALD_VALUE_BIN, 1, 0, 0, 0},
        [0x05] = {ALD_VALUE_BIN, 2, 0, 0, 0},    [0x06] = {ALD_VALUE_BIN, 4, 0, 0, 0},
        [0x07] = {ALD_VALUE_EXT, 1, 0, 0, 0},    [0x08] = {ALD_VALUE_EXT, 2, 0, 0, 0},
        [0x09] = {ALD_VALUE_EXT, 4, 0, 0, 0},    [0x0a] = {ALD_VALUE_FLOAT, 4, 0, 0, 0},
        [0x0b] = {ALD_VALUE_FLOAT, 8, 0, 0, 0},  [0x0c] = {ALD_VALUE_UINT, 1, 0, 0, 0},
        [0x0d] = {ALD_VALUE_UINT, 2, 0, 0, 0},   [0x0e] = {ALD_VALUE_UINT, 4, 0, 0, 0},
        [0x0f] = {ALD_VALUE_UINT, 8, 0, 0, 0},   [0x10] = {ALD_VALUE_INT, 1, 0, 1, 0},
        [0x11] = {ALD_VALUE_INT, 2, 0, 1, 0},    [0x12] = {ALD_VALUE_INT, 4, 0, 1, 0},
        [0x13] = {ALD_VALUE_INT, 8, 0, 1, 0},    [0x14] = {ALD_VALUE_EXT, 0, 1, 0, 1},
        [0x15] = {ALD_VALUE_EXT, 0, 2, 0, 1},    [0x16] = {ALD_VALUE_EXT, 0, 4, 0, 1},
        [0x17] = {ALD_VALUE_EXT, 0, 8, 0, 1},    [0x18] = {ALD_VALUE_EXT, 0, 16, 0, 1},
        [0x19] = {ALD_VALUE_STRING, 1, 0, 0, 0}, [0x1a] = {ALD_VALUE_STRING, 2, 0, 0, 0},
        [0x1b] = {ALD_VALUE_STRING, 4, 0, 0, 0}, [0x1c] = {ALD_VALUE_ARRAY, 2, 0, 0, 0},
        [0x1d] = {ALD_VALUE_ARRAY, 4, 0, 0, 0},  [0x1e] = {ALD_VALUE_MAP, 2, 0, 0, 0},
        [0x1f] = {ALD_VALUE_MAP, 4, 0, 0, 0},
    };
    if (b == 0xc1)
        return 0;
    *out = b >= 0xc0 && b <= 0xdf ? table[b - 0xc0] : fixed_head(b);
    return 1;
}

static uint64_t load_be(const uint8_t *p, unsigned n)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < n; i++)
        v = (v << 8) | p[i];
    return v;
}

static ald_status cut(const ald__cursor *c, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(c),
                     "MessagePack value runs past the end of the metadata");
}

/* Reads the first byte and the number behind it. */
static ald_status take_head(ald__cursor *c, head *h, uint64_t *number, ald_error *err)
{
    const uint8_t *p = ald__cursor_take(c, 1);
    if (p == NULL)
        return cut(c, err);
    if (!read_head(*p, h))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(c) - 1,
                         "byte c1 is not MessagePack");
    *number = h->inline_value;
    if (h->extra > 0) {
        p = ald__cursor_take(c, h->extra);
        if (p == NULL)
            return cut(c, err);
        *number = load_be(p, h->extra);
        if (h->is_signed && h->extra < 8 && (*number >> (8 * h->extra - 1)) != 0)
            *number |= ~0ull << (8 * h->extra);
    }
    return ALD_OK;
}

static void set_float(ald_value *v, unsigned size, uint64_t bits)
{
    double d;
    if (size == 4) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        d = (double)f;
    } else {
        memcpy(&d, &bits, sizeof d);
    }
    ald_value_set_float(v, d);
}

static ald_status take_bytes(ald__cursor *c, const head *h, uint64_t size, ald_value *v,
                             ald_error *err)
{
    const uint8_t *p;
    int8_t ext_type = 0;
    if (h->kind == ALD_VALUE_EXT) {
        p = ald__cursor_take(c, 1);
        if (p == NULL)
            return cut(c, err);
        ext_type = (int8_t)*p;
    }
    p = size <= SIZE_MAX ? ald__cursor_take(c, (size_t)size) : NULL;
    if (p == NULL)
        return cut(c, err);
    if (h->kind == ALD_VALUE_STRING && !ald__utf8_is_valid(p, (size_t)size))
        return ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(c) - size,
                         "a string in the metadata is not UTF-8");
    if (h->kind == ALD_VALUE_STRING)
        return ald_value_set_string(v, (const char *)p, (size_t)size, err);
    if (h->kind == ALD_VALUE_BIN)
        return ald_value_set_bin(v, p, (size_t)size, err);
    return ald_value_set_ext(v, ext_type, p, (size_t)size, err);
}

typedef struct reader {
    ald__cursor cursor;
    size_t values; /* read so far */
} reader;

static ald_status take_value(reader *r, ald_value *v, unsigned depth, ald_error *err);

static ald_status take_key(ald__cursor *c, ald_value *map, ald_value **out, ald_error *err)
{
    head h;
    uint64_t size;
    const uint8_t *p;
    uint64_t at = ald__cursor_offset(c);
    ALD_TRY(take_head(c, &h, &size, err));
    if (h.kind != ALD_VALUE_STRING)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "a key in the metadata is not a string");
    p = size <= SIZE_MAX ? ald__cursor_take(c, (size_t)size) : NULL;
    if (p == NULL)
        return cut(c, err);
    if (!ald__utf8_is_valid(p, (size_t)size))
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "a key in the metadata is not UTF-8");
    *out = ald__value_add(map, (const char *)p, (size_t)size);
    return *out != NULL ? ALD_OK : ald__no_memory(err, (size_t)size);
}

/* Each item takes a byte, each entry two: a count beyond the bytes left is a lie. */
static ald_status take_list(reader *r, ald_value *v, int is_map, uint64_t count, unsigned depth,
                            ald_error *err)
{
    ald__cursor *c = &r->cursor;
    uint64_t at = ald__cursor_offset(c);
    size_t size;
    const char *twice;
    if (count > ald__cursor_left(c) / (is_map ? 2u : 1u))
        return cut(c, err);
    if (is_map)
        ald_value_set_map(v);
    else
        ald_value_set_array(v);
    for (uint64_t i = 0; i < count; i++) {
        ald_value *item = NULL;
        if (is_map)
            ALD_TRY(take_key(c, v, &item, err));
        else
            item = ald_value_append(v);
        if (item == NULL)
            return ald__no_memory(err, 0);
        ALD_TRY(take_value(r, item, depth + 1, err));
    }
    if (!is_map)
        return ALD_OK;
    ALD_TRY(ald__value_find_twice(v, &twice, &size, err));
    if (twice != NULL)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "key '%.*s' occurs twice",
                         (int)(size < 80 ? size : 80), twice);
    return ALD_OK;
}

static ald_status take_value(reader *r, ald_value *v, unsigned depth, ald_error *err)
{
    ald__cursor *c = &r->cursor;
    head h;
    uint64_t number;
    if (depth >= ALD__MSGPACK_DEPTH)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ald__cursor_offset(c),
                         "metadata is nested deeper than %d levels", ALD__MSGPACK_DEPTH);
    if (++r->values > ALD__MSGPACK_VALUES)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ald__cursor_offset(c),
                         "metadata of more than %d values", ALD__MSGPACK_VALUES);
    ALD_TRY(take_head(c, &h, &number, err));
    switch (h.kind) {
    case ALD_VALUE_NIL:
        ald_value_set_nil(v);
        return ALD_OK;
    case ALD_VALUE_BOOL:
        ald_value_set_bool(v, number != 0);
        return ALD_OK;
    case ALD_VALUE_UINT:
        ald_value_set_uint(v, number);
        return ALD_OK;
    case ALD_VALUE_INT:
        ald_value_set_int(v, (int64_t)number);
        return ALD_OK;
    case ALD_VALUE_FLOAT:
        set_float(v, h.extra, number);
        return ALD_OK;
    case ALD_VALUE_STRING:
    case ALD_VALUE_BIN:
    case ALD_VALUE_EXT:
        return take_bytes(c, &h, number, v, err);
    case ALD_VALUE_ARRAY:
    case ALD_VALUE_MAP:
        return take_list(r, v, h.kind == ALD_VALUE_MAP, number, depth, err);
    }
    return cut(c, err);
}

ald_status ald__msgpack_decode(const ald_allocator *alloc, const uint8_t *data, size_t size,
                               uint64_t offset, ald_value **out, ald_error *err)
{
    reader r = {{data, size, 0, offset}, 0};
    ald_status st = ald_value_new(alloc, out, err);
    if (st != ALD_OK)
        return st;
    st = take_value(&r, *out, 0, err);
    if (st == ALD_OK && ald__cursor_left(&r.cursor) != 0)
        st = ald__fail(err, ALD_E_INVALID_FORMAT, ald__cursor_offset(&r.cursor),
                       "%zu bytes behind the metadata's value", ald__cursor_left(&r.cursor));
    if (st != ALD_OK) {
        ald_value_free(*out);
        *out = NULL;
    }
    return st;
}

/* Steps over one value of bytes that decoded well before. */
static int skip_value(ald__cursor *c)
{
    uint64_t open = 1;
    while (open > 0) {
        head h = {ALD_VALUE_NIL, 0, 0, 0, 0};
        uint64_t number = 0;
        if (take_head(c, &h, &number, NULL) != ALD_OK)
            return 0;
        open--;
        if (h.kind == ALD_VALUE_ARRAY)
            open += number;
        else if (h.kind == ALD_VALUE_MAP)
            open += number * 2;
        else if (h.kind == ALD_VALUE_STRING || h.kind == ALD_VALUE_BIN || h.kind == ALD_VALUE_EXT) {
            if (ald__cursor_take(c, (size_t)number + (h.kind == ALD_VALUE_EXT)) == NULL)
                return 0;
        }
    }
    return 1;
}

/* Moves the cursor, which stands at a map, to the value under `key`. */
static int enter_key(ald__cursor *c, const char *key)
{
    head h = {ALD_VALUE_NIL, 0, 0, 0, 0};
    uint64_t count = 0, size = 0;
    if (take_head(c, &h, &count, NULL) != ALD_OK || h.kind != ALD_VALUE_MAP)
        return 0;
    for (; count > 0; count--) {
        const uint8_t *p;
        if (take_head(c, &h, &size, NULL) != ALD_OK)
            return 0;
        p = ald__cursor_take(c, (size_t)size);
        if (p == NULL)
            return 0;
        if (size == strlen(key) && memcmp(p, key, (size_t)size) == 0)
            return 1;
        if (!skip_value(c))
            return 0;
    }
    return 0;
}

int ald__msgpack_locate(const uint8_t *data, size_t size, const char *const *path, size_t depth,
                        ald__msgpack_place *out)
{
    ald__cursor c = {data, size, 0, 0};
    head h = {ALD_VALUE_NIL, 0, 0, 0, 0};
    uint64_t number = 0;
    for (size_t i = 0; i < depth; i++) {
        if (!enter_key(&c, path[i]))
            return 0;
    }
    if (ald__cursor_left(&c) == 0)
        return 0;
    memset(out, 0, sizeof *out);
    out->first = c.data[c.pos];
    if (take_head(&c, &h, &number, NULL) != ALD_OK)
        return 0;
    if (h.kind == ALD_VALUE_BIN || h.kind == ALD_VALUE_STRING) {
        out->content = c.pos;
        out->content_size = (size_t)number;
    }
    return 1;
}
