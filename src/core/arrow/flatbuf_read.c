/* SPDX-License-Identifier: MIT */
/* A table is a signed distance back to its vtable and then its fields; a vtable is two sizes and the place of each field
 * in the table, 0 for a field that is absent; vectors and strings are a count and items. */
#include "core/arrow/flatbuf_read.h"

#include "core/base/endian.h"
#include "core/base/fail.h"

#define VTABLE_HEAD 4u
/* Writers may share equal strings, such as the name "item". */
#define TEXT_FACTOR 8u
#define TEXT_FLOOR 4096u

static ald_status outside(const ald__flat *flat, size_t pos, const char *what, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT, flat->base + pos,
                     "message metadata: %s lies outside its %zu bytes", what, flat->size);
}

void ald__flat_init(ald__flat *flat, const uint8_t *data, size_t size, uint64_t base)
{
    flat->data = data;
    flat->size = size;
    flat->base = base;
    flat->visits_left = size / 8;
    flat->text_left =
        size < SIZE_MAX / TEXT_FACTOR - TEXT_FLOOR ? size * TEXT_FACTOR + TEXT_FLOOR : SIZE_MAX;
}

/* Follows the unsigned offset at `pos`. */
static ald_status follow(const ald__flat *flat, size_t pos, size_t *out, ald_error *err)
{
    uint32_t distance;
    *out = 0;
    if (pos > flat->size || flat->size - pos < 4)
        return outside(flat, pos, "an offset", err);
    distance = ald__load_le32(flat->data + pos);
    if (distance > flat->size - pos)
        return outside(flat, pos, "the target of an offset", err);
    *out = pos + distance;
    return ALD_OK;
}

ald_status ald__flat_table_at(ald__flat *flat, size_t pos, ald__flat_table *out, ald_error *err)
{
    int64_t vtable;
    uint16_t vtable_size, table_size;
    if (flat->visits_left == 0)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, flat->base,
                         "message metadata of %zu bytes leads to more than %zu tables", flat->size,
                         flat->size / 8);
    flat->visits_left--;
    if (pos > flat->size || flat->size - pos < 4)
        return outside(flat, pos, "a table", err);
    vtable = (int64_t)pos - (int32_t)ald__load_le32(flat->data + pos);
    if (vtable < 0 || (uint64_t)vtable > flat->size || flat->size - (size_t)vtable < VTABLE_HEAD)
        return outside(flat, pos, "a table's field list", err);
    vtable_size = ald__load_le16(flat->data + vtable);
    table_size = ald__load_le16(flat->data + vtable + 2);
    if (vtable_size < VTABLE_HEAD || vtable_size % 2 != 0 ||
        vtable_size > flat->size - (size_t)vtable)
        return outside(flat, (size_t)vtable, "a table's field list", err);
    if (table_size < 4 || table_size > flat->size - pos)
        return outside(flat, pos, "a table", err);
    out->pos = pos;
    out->vtable = (size_t)vtable;
    out->field_count = (uint16_t)((vtable_size - VTABLE_HEAD) / 2);
    out->size = table_size;
    return ALD_OK;
}

ald_status ald__flat_root(ald__flat *flat, ald__flat_table *out, ald_error *err)
{
    size_t pos;
    ALD_TRY(follow(flat, 0, &pos, err));
    return ald__flat_table_at(flat, pos, out, err);
}

/* Position of a field of `width` bytes, *out 0 when it is absent (no field is at 0: the root offset is). */
static ald_status locate(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                         size_t width, size_t *out, ald_error *err)
{
    uint16_t place;
    *out = 0;
    if (field >= table->field_count)
        return ALD_OK;
    place = ald__load_le16(flat->data + table->vtable + VTABLE_HEAD + 2 * (size_t)field);
    if (place == 0)
        return ALD_OK;
    if (place < 4 || place > table->size || width > (size_t)(table->size - place))
        return ald__fail(err, ALD_E_INVALID_FORMAT, flat->base + table->pos,
                         "message metadata: field %u lies outside its table of %u bytes", field,
                         (unsigned)table->size);
    *out = table->pos + place;
    return ALD_OK;
}

ald_status ald__flat_u8(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                        uint8_t absent, uint8_t *out, ald_error *err)
{
    size_t pos;
    ALD_TRY(locate(flat, table, field, 1, &pos, err));
    *out = pos == 0 ? absent : flat->data[pos];
    return ALD_OK;
}

ald_status ald__flat_i16(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                         int16_t absent, int16_t *out, ald_error *err)
{
    size_t pos;
    ALD_TRY(locate(flat, table, field, 2, &pos, err));
    *out = pos == 0 ? absent : (int16_t)ald__load_le16(flat->data + pos);
    return ALD_OK;
}

ald_status ald__flat_i32(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                         int32_t absent, int32_t *out, ald_error *err)
{
    size_t pos;
    ALD_TRY(locate(flat, table, field, 4, &pos, err));
    *out = pos == 0 ? absent : (int32_t)ald__load_le32(flat->data + pos);
    return ALD_OK;
}

ald_status ald__flat_i64(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                         int64_t absent, int64_t *out, ald_error *err)
{
    size_t pos;
    ALD_TRY(locate(flat, table, field, 8, &pos, err));
    *out = pos == 0 ? absent : (int64_t)ald__load_le64(flat->data + pos);
    return ALD_OK;
}

ald_status ald__flat_child(ald__flat *flat, const ald__flat_table *table, unsigned field,
                           ald__flat_table *out, int *present, ald_error *err)
{
    size_t pos, target;
    *present = 0;
    ALD_TRY(locate(flat, table, field, 4, &pos, err));
    if (pos == 0)
        return ALD_OK;
    ALD_TRY(follow(flat, pos, &target, err));
    *present = 1;
    return ald__flat_table_at(flat, target, out, err);
}

ald_status ald__flat_items(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                           size_t item_size, ald__flat_vector *out, ald_error *err)
{
    size_t pos, target;
    out->pos = out->count = 0;
    out->present = 0;
    ALD_TRY(locate(flat, table, field, 4, &pos, err));
    if (pos == 0)
        return ALD_OK;
    ALD_TRY(follow(flat, pos, &target, err));
    if (flat->size - target < 4)
        return outside(flat, target, "a vector", err);
    out->count = ald__load_le32(flat->data + target);
    out->pos = target + 4;
    out->present = 1;
    if (out->count > (flat->size - out->pos) / item_size)
        return outside(flat, target, "a vector", err);
    return ALD_OK;
}

ald_status ald__flat_tables(const ald__flat *flat, const ald__flat_table *table, unsigned field,
                            ald__flat_vector *out, ald_error *err)
{
    ALD_TRY(ald__flat_items(flat, table, field, 4, out, err));
    if (out->count > flat->visits_left)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, flat->base + out->pos,
                         "message metadata of %zu bytes leads to more than %zu tables", flat->size,
                         flat->size / 8);
    return ALD_OK;
}

ald_status ald__flat_item(ald__flat *flat, const ald__flat_vector *vector, size_t index,
                          ald__flat_table *out, ald_error *err)
{
    size_t target;
    ALD_TRY(follow(flat, vector->pos + 4 * index, &target, err));
    return ald__flat_table_at(flat, target, out, err);
}

ald_status ald__flat_string(ald__flat *flat, const ald__flat_table *table, unsigned field,
                            ald__flat_text *out, ald_error *err)
{
    ald__flat_vector bytes;
    out->data = "";
    out->size = 0;
    out->present = 0;
    ALD_TRY(ald__flat_items(flat, table, field, 1, &bytes, err));
    if (!bytes.present)
        return ALD_OK;
    if (bytes.count > flat->text_left)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, flat->base + bytes.pos,
                         "message metadata of %zu bytes holds too much shared text", flat->size);
    flat->text_left -= bytes.count;
    out->data = (const char *)(flat->data + bytes.pos);
    out->size = bytes.count;
    out->present = 1;
    return ALD_OK;
}
