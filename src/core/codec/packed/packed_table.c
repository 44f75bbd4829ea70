/* SPDX-License-Identifier: MIT */
/* Entries of the filter table: their size follows from their first bytes, and every number is checked before it is used. */
#include "core/codec/packed/packed_table.h"

#include <string.h>

#include "core/base/endian.h"

ald_status ald__packed_bad(const ald__packed_at *at, const char *what, uint64_t found)
{
    if (at->column == NULL)
        return ald__fail(at->err, ALD_E_INVALID_FORMAT, at->offset, "chunk %llu: %s is %llu",
                         (unsigned long long)at->chunk, what, (unsigned long long)found);
    return ald__fail(at->err, ALD_E_INVALID_FORMAT, at->offset,
                     "chunk %llu, column '%s': %s is %llu", (unsigned long long)at->chunk,
                     at->column, what, (unsigned long long)found);
}

/* ---- Fields */

typedef struct entry_reader {
    ald__cursor *table;
    const ald__packed_at *at;
    ald_status status;
} entry_reader;

/* Little-endian, `size` ≤ 8 bytes; 0 past the end, which is noted. */
static uint64_t take_entry_field(entry_reader *r, size_t size)
{
    uint8_t bytes[8] = {0};
    const uint8_t *p = ald__cursor_take(r->table, size);
    if (p == NULL) {
        if (r->status == ALD_OK)
            r->status = ald__packed_bad(r->at, "an entry cut short: size of the filter table",
                                        r->table->size);
        return 0;
    }
    memcpy(bytes, p, size);
    return ald__load_le64(bytes);
}

static void entry_check(entry_reader *r, int good, const char *what, uint64_t found)
{
    if (!good && r->status == ALD_OK)
        r->status = ald__packed_bad(r->at, what, found);
}

static void take_ints(entry_reader *r, uint8_t width, ald__packed_ints *out)
{
    uint8_t flags = (uint8_t)take_entry_field(r, 1);
    uint32_t modes = flags & (ALD__INTS_DELTA | ALD__INTS_STRIDE | ALD__INTS_START);
    out->flags = flags;
    out->width = width;
    out->bits = (uint8_t)take_entry_field(r, 1);
    out->base = flags & ALD__INTS_BASE ? take_entry_field(r, width) : 0;
    out->factor = flags & ALD__INTS_FACTOR ? take_entry_field(r, width) : 1;
    out->start = flags & ALD__INTS_START ? take_entry_field(r, width) : 0;
    out->stride = flags & ALD__INTS_STRIDE ? (uint32_t)take_entry_field(r, 4) : 1;
    entry_check(r,
                (flags & ~ALD__INTS_FLAGS) == 0 && modes != (ALD__INTS_DELTA | ALD__INTS_STRIDE) &&
                    modes != ALD__INTS_START && modes != (ALD__INTS_STRIDE | ALD__INTS_START) &&
                    modes != (ALD__INTS_DELTA | ALD__INTS_STRIDE | ALD__INTS_START),
                "flags of numbers", flags);
    entry_check(r, out->bits <= 8 * width, "bits of a number", out->bits);
    entry_check(r, out->factor != 0, "factor", 0);
    entry_check(r, out->stride != 0, "stride", 0);
}

static void take_index_bits(entry_reader *r, ald__packed_entry *e)
{
    e->index_bits = (uint8_t)take_entry_field(r, 1);
    entry_check(r, e->index_bits <= ALD__PACKED_INDEX_BITS, "bits of an index", e->index_bits);
}

static void take_count(entry_reader *r, uint64_t max, const char *what, uint32_t *out)
{
    *out = (uint32_t)take_entry_field(r, 4);
    entry_check(r, *out <= max, what, *out);
}

/* ---- Entries */

static uint8_t value_width(const ald__packed_node *node)
{
    return (uint8_t)(node->width < 8 ? node->width : 8);
}

static uint64_t text_bytes_of(const ald__packed_layout *layout, const ald__packed_node *node)
{
    return node->type == ALD__PACKED_TEXT ? ald__packed_buffer(layout, node, 1)->size : 0;
}

/* Which filters a node may have. */
static int suits(const ald__packed_node *node, uint8_t filter)
{
    uint32_t w = node->width;
    int fixed = node->type == ALD__PACKED_FIXED || node->type == ALD__PACKED_FLOAT;
    int numbers = w == 1 || w == 2 || w == 4 || w == 8 || w == 16;
    switch (filter) {
    case ALD__FILTER_RAW:
        return 1;
    case ALD__FILTER_INTS:
        return fixed && numbers;
    case ALD__FILTER_DICT:
        return fixed && numbers && w > 1;
    case ALD__FILTER_DECIMAL:
        return node->type == ALD__PACKED_FLOAT;
    case ALD__FILTER_PLANES:
        return fixed && w >= 2 && w <= 255;
    case ALD__FILTER_LENS:
        return node->type == ALD__PACKED_LIST;
    default:
        return filter < ALD__FILTER_COUNT && node->type == ALD__PACKED_TEXT;
    }
}

static void take_words(entry_reader *r, uint64_t valid, uint64_t bytes_max, uint32_t *bytes,
                       ald__packed_entry *e)
{
    take_count(r, valid < ALD__PACKED_WORDS_MAX ? valid : ALD__PACKED_WORDS_MAX,
               "number of distinct values", &e->count);
    take_count(r, bytes_max, "bytes of a dictionary", bytes);
    take_index_bits(r, e);
    take_ints(r, 4, &e->ints);
}

static void take_decimal(entry_reader *r, uint64_t valid, uint8_t width, ald__packed_entry *e)
{
    e->small = (uint8_t)take_entry_field(r, 1);
    entry_check(r, e->small <= ALD__PACKED_E_MAX, "decimal exponent", e->small);
    take_count(r, valid, "number of exceptions", &e->count);
    if (r->status == ALD_OK && e->count > 0) {
        take_ints(r, 4, &e->extra);
        take_ints(r, width, &e->raw);
    }
    take_ints(r, width, &e->ints);
}

static void take_strnum(entry_reader *r, uint64_t valid, uint64_t data, ald__packed_entry *e)
{
    uint64_t values = 0;
    e->small = (uint8_t)take_entry_field(r, 1);
    entry_check(r, e->small >= 1 && e->small <= ALD__PACKED_SLOT_MAX, "number of slots", e->small);
    take_count(r, data, "bytes of templates", &e->bytes);
    e->words = (uint8_t)take_entry_field(r, 1);
    entry_check(r, e->words <= 1, "kind of templates", e->words);
    if (e->words)
        take_words(r, valid, e->bytes, &e->word_bytes, e);
    else
        take_ints(r, 4, &e->ints);
    for (uint32_t j = 0; r->status == ALD_OK && j < e->small; j++) {
        take_count(r, valid, "number of a slot's values", &e->slots[j].count);
        take_ints(r, 8, &e->slots[j].ints);
        values += e->slots[j].count;
    }
    entry_check(r, values <= e->bytes, "number of all slots' values", values);
}

static void take_parameters(entry_reader *r, const ald__packed_layout *layout,
                            const ald__packed_node *node, ald__packed_entry *e)
{
    uint64_t valid = ald__packed_valid(layout, node), data = text_bytes_of(layout, node);
    switch (e->filter) {
    case ALD__FILTER_INTS:
        take_ints(r, value_width(node), &e->ints);
        break;
    case ALD__FILTER_DICT:
        take_count(r, valid < ALD__PACKED_WORDS_MAX ? valid : ALD__PACKED_WORDS_MAX,
                   "number of distinct values", &e->count);
        take_index_bits(r, e);
        take_ints(r, value_width(node), &e->ints);
        break;
    case ALD__FILTER_DECIMAL:
        take_decimal(r, valid, value_width(node), e);
        break;
    case ALD__FILTER_LENS:
    case ALD__FILTER_STR:
        take_ints(r, 4, &e->ints);
        break;
    case ALD__FILTER_STRFIX:
        e->small = (uint8_t)take_entry_field(r, 1);
        entry_check(r, e->small >= 1, "length of strings", 0);
        entry_check(r, e->small * valid == data, "bytes of strings of one length",
                    e->small * valid);
        break;
    case ALD__FILTER_STRDICT:
        take_words(r, valid, data, &e->bytes, e);
        break;
    case ALD__FILTER_STRNUM:
        take_strnum(r, valid, data, e);
        break;
    case ALD__FILTER_STRFRONT:
        take_count(r, data, "bytes of rests", &e->bytes);
        take_ints(r, 4, &e->ints);
        take_ints(r, 4, &e->extra);
        break;
    default:
        break;
    }
}

ald_status ald__packed_entry_read(ald__cursor *table, const ald__packed_layout *layout,
                                  const ald__packed_node *node, const ald__packed_at *at,
                                  ald__packed_entry *out)
{
    entry_reader r = {table, at, ALD_OK};
    memset(out, 0, offsetof(ald__packed_entry, slots));
    out->filter = (uint8_t)take_entry_field(&r, 1);
    entry_check(&r, suits(node, out->filter), "not for its type: filter", out->filter);
    if (r.status == ALD_OK)
        take_parameters(&r, layout, node, out);
    return r.status;
}

/* ---- Streams */

static uint64_t ints_bytes(uint64_t n, const ald__packed_ints *p)
{
    return ald__planes_bytes(n, p->bits);
}

/* Of a dictionary of words and indices into it. */
static uint64_t words_bytes(const ald__packed_entry *e, uint64_t valid, uint64_t text)
{
    return ints_bytes(e->count, &e->ints) + text + ald__planes_bytes(valid, e->index_bits);
}

static uint64_t raw_bytes(const ald__packed_layout *layout, const ald__packed_node *node)
{
    uint64_t sum = 0;
    for (uint32_t i = node->has_validity ? 1 : 0; i < node->place_count; i++)
        sum += layout->places[node->first_place + i].size;
    return sum;
}

static uint64_t filter_bytes(const ald__packed_layout *layout, const ald__packed_node *node,
                             const ald__packed_entry *e)
{
    uint64_t valid = ald__packed_valid(layout, node), data = text_bytes_of(layout, node), sum;
    switch (e->filter) {
    case ALD__FILTER_INTS:
    case ALD__FILTER_LENS:
        return ints_bytes(valid, &e->ints);
    case ALD__FILTER_DICT:
        return words_bytes(e, valid, 0);
    case ALD__FILTER_DECIMAL:
        sum = ints_bytes(valid, &e->ints);
        if (e->count > 0)
            sum += ints_bytes(e->count, &e->extra) + ints_bytes(e->count, &e->raw);
        return sum;
    case ALD__FILTER_PLANES:
        return valid * node->width;
    case ALD__FILTER_STR:
        return ints_bytes(valid, &e->ints) + data;
    case ALD__FILTER_STRFIX:
        return valid * e->small;
    case ALD__FILTER_STRDICT:
        return words_bytes(e, valid, e->bytes);
    case ALD__FILTER_STRNUM:
        sum = e->words ? words_bytes(e, valid, e->word_bytes)
                       : ints_bytes(valid, &e->ints) + e->bytes;
        for (uint32_t j = 0; j < e->small; j++)
            sum += ints_bytes(e->slots[j].count, &e->slots[j].ints);
        return sum;
    case ALD__FILTER_STRFRONT:
        return ints_bytes(valid, &e->ints) + ints_bytes(valid, &e->extra) + e->bytes;
    default:
        return raw_bytes(layout, node);
    }
}

uint64_t ald__packed_entry_streams(const ald__packed_layout *layout, const ald__packed_node *node,
                                   const ald__packed_entry *entry)
{
    uint64_t validity = node->has_validity ? layout->places[node->first_place].size : 0;
    return validity + filter_bytes(layout, node, entry);
}

/* ---- Writing */

static ald_status put_field(uint64_t v, size_t size, ald_buffer *out, ald_error *err)
{
    uint8_t bytes[8];
    ald__store_le64(bytes, v);
    return ald__buffer_append(out, bytes, size, err);
}

static ald_status put_ints(const ald__packed_ints *p, ald_buffer *out, ald_error *err)
{
    ALD_TRY(put_field(p->flags, 1, out, err));
    ALD_TRY(put_field(p->bits, 1, out, err));
    if (p->flags & ALD__INTS_BASE)
        ALD_TRY(put_field(p->base, p->width, out, err));
    if (p->flags & ALD__INTS_FACTOR)
        ALD_TRY(put_field(p->factor, p->width, out, err));
    if (p->flags & ALD__INTS_START)
        ALD_TRY(put_field(p->start, p->width, out, err));
    return p->flags & ALD__INTS_STRIDE ? put_field(p->stride, 4, out, err) : ALD_OK;
}

static ald_status put_word_fields(const ald__packed_entry *e, uint32_t bytes, ald_buffer *out,
                                  ald_error *err)
{
    ALD_TRY(put_field(e->count, 4, out, err));
    ALD_TRY(put_field(bytes, 4, out, err));
    ALD_TRY(put_field(e->index_bits, 1, out, err));
    return put_ints(&e->ints, out, err);
}

static ald_status put_strnum(const ald__packed_entry *e, ald_buffer *out, ald_error *err)
{
    ALD_TRY(put_field(e->small, 1, out, err));
    ALD_TRY(put_field(e->bytes, 4, out, err));
    ALD_TRY(put_field(e->words, 1, out, err));
    ALD_TRY(e->words ? put_word_fields(e, e->word_bytes, out, err) : put_ints(&e->ints, out, err));
    for (uint32_t j = 0; j < e->small; j++) {
        ALD_TRY(put_field(e->slots[j].count, 4, out, err));
        ALD_TRY(put_ints(&e->slots[j].ints, out, err));
    }
    return ALD_OK;
}

ald_status ald__packed_entry_write(const ald__packed_entry *e, ald_buffer *out, ald_error *err)
{
    ALD_TRY(put_field(e->filter, 1, out, err));
    switch (e->filter) {
    case ALD__FILTER_DICT:
        ALD_TRY(put_field(e->count, 4, out, err));
        ALD_TRY(put_field(e->index_bits, 1, out, err));
        return put_ints(&e->ints, out, err);
    case ALD__FILTER_DECIMAL:
        ALD_TRY(put_field(e->small, 1, out, err));
        ALD_TRY(put_field(e->count, 4, out, err));
        if (e->count > 0) {
            ALD_TRY(put_ints(&e->extra, out, err));
            ALD_TRY(put_ints(&e->raw, out, err));
        }
        return put_ints(&e->ints, out, err);
    case ALD__FILTER_STRFIX:
        return put_field(e->small, 1, out, err);
    case ALD__FILTER_STRDICT:
        return put_word_fields(e, e->bytes, out, err);
    case ALD__FILTER_STRNUM:
        return put_strnum(e, out, err);
    case ALD__FILTER_STRFRONT:
        ALD_TRY(put_field(e->bytes, 4, out, err));
        ALD_TRY(put_ints(&e->ints, out, err));
        return put_ints(&e->extra, out, err);
    case ALD__FILTER_INTS:
    case ALD__FILTER_LENS:
    case ALD__FILTER_STR:
        return put_ints(&e->ints, out, err);
    default:
        return ALD_OK;
    }
}
