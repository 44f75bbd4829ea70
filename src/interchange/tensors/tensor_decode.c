/* SPDX-License-Identifier: MIT */
/* From bytes of a file to Arrow arrays. A leaf's values lie at regular distances: each list that it is in adds a level, a
 * count and a stride. Levels that follow each other without a gap are one, so that in the usual case a column is one
 * copy. */
#include <string.h>

#include "interchange/tensors/tensor_node.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"

typedef struct level {
    size_t count, stride;
} level;

typedef struct levels {
    level items[ALD__TENSOR_DEPTH + 2];
    size_t depth;
    size_t total; /* elements */
} levels;

/* A leaf on its way. */
typedef struct leaf {
    const ald__tensor_node *node;
    const ald_allocator *alloc;
    ald_error *err;
    size_t total, done; /* elements */
    size_t rows;
    uint64_t first_row;
    uint8_t *values;
    size_t values_size;
    uint8_t *bytes; /* of text */
    size_t bytes_size, bytes_used;
    uint8_t *valid; /* NULL until the first null */
    size_t null_count;
} leaf;

typedef ald_status (*run_fn)(leaf *l, const uint8_t *p, size_t count, size_t stride);

static unsigned long long row_of(const leaf *l, size_t element)
{
    return (unsigned long long)(l->first_row + element / (l->total / l->rows) + 1);
}

static ald_status take(const ald_allocator *alloc, size_t size, uint8_t **out, ald_error *err)
{
    *out = alloc->alloc(alloc->ctx, size > 0 ? size : 1);
    return *out != NULL ? ALD_OK : ald__text_no_memory(err, size);
}

static void give_back(const ald_allocator *alloc, uint8_t *p, size_t size)
{
    if (p != NULL)
        alloc->release(alloc->ctx, p, size > 0 ? size : 1);
}

/* ---- runs of one leaf */

static void copy_swapped(uint8_t *out, const uint8_t *p, size_t width, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride, out += width) {
        uint64_t v8;
        uint32_t v4;
        uint16_t v2;
        switch (width) {
        case 8:
            memcpy(&v8, p, 8);
            v8 = __builtin_bswap64(v8);
            memcpy(out, &v8, 8);
            break;
        case 4:
            memcpy(&v4, p, 4);
            v4 = __builtin_bswap32(v4);
            memcpy(out, &v4, 4);
            break;
        case 2:
            memcpy(&v2, p, 2);
            v2 = __builtin_bswap16(v2);
            memcpy(out, &v2, 2);
            break;
        default:
            *out = *p;
        }
    }
}

static void copy_apart(uint8_t *out, const uint8_t *p, size_t width, size_t count, size_t stride)
{
    switch (width) {
    case 8:
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * 8, p + i * stride, 8);
        break;
    case 4:
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * 4, p + i * stride, 4);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            memcpy(out + i * width, p + i * stride, width);
    }
}

static ald_status run_copy(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    size_t width = l->node->width;
    uint8_t *out = l->values + l->done * width;
    if (l->node->swap) {
        copy_swapped(out, p, width, count, stride);
    } else if (stride == width) {
        memcpy(out, p, count * width);
    } else {
        copy_apart(out, p, width, count, stride);
    }
    l->done += count;
    return ALD_OK;
}

static ald_status run_bool(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride, l->done++) {
        if (*p != 0)
            l->values[l->done / 8] |= (uint8_t)(1u << (l->done % 8));
    }
    return ALD_OK;
}

static ald_status run_bfloat16(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride, l->done++) {
        uint32_t value = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 24;
        memcpy(l->values + l->done * 4, &value, 4);
    }
    return ALD_OK;
}

static int64_t read_int64(const leaf *l, const uint8_t *p)
{
    uint64_t bits;
    int64_t value;
    memcpy(&bits, p, 8);
    bits = l->node->swap ? __builtin_bswap64(bits) : bits;
    memcpy(&value, &bits, 8);
    return value;
}

static ald_status set_null(leaf *l)
{
    size_t size = (l->total + 7) / 8;
    if (l->valid == NULL) {
        ald_status status = take(l->alloc, size, &l->valid, l->err);
        if (status != ALD_OK)
            return status;
        memset(l->valid, 0xFF, size);
    }
    l->valid[l->done / 8] &= (uint8_t)~(1u << (l->done % 8));
    l->null_count++;
    return ALD_OK;
}

static ald_status out_of_range(const leaf *l, int64_t value)
{
    return ald_error_set(l->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "row %llu: the time %lld is out of range of its Arrow type",
                         row_of(l, l->done), (long long)value);
}

static ald_status run_time(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride, l->done++) {
        int64_t value = read_int64(l, p), scaled = 0;
        if (value == INT64_MIN) {
            ald_status status = set_null(l);
            if (status != ALD_OK)
                return status;
        } else if (__builtin_mul_overflow(value, l->node->factor, &scaled)) {
            return out_of_range(l, value);
        }
        memcpy(l->values + l->done * 8, &scaled, 8);
    }
    return ALD_OK;
}

/* The day, counted from 1970-01-01, on which a month begins that is counted from January 1970. */
static int64_t day_of_month(int64_t month)
{
    int64_t year = 1970 + month / 12, in_year = month % 12;
    if (in_year < 0) {
        in_year += 12;
        year--;
    }
    /* Years begin in March, so that the leap day is the last of one; eras of 400 years have the same number of days. */
    int64_t y = in_year < 2 ? year - 1 : year, m = (in_year + 10) % 12;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t days = of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5;
    return era * 146097 + days - 719468;
}

static ald_status run_days(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride, l->done++) {
        int64_t value = read_int64(l, p), days = 0;
        int32_t out;
        if (value == INT64_MIN) {
            ald_status status = set_null(l);
            if (status != ALD_OK)
                return status;
        } else if (__builtin_mul_overflow(value, l->node->factor, &days)) {
            return out_of_range(l, value);
        } else if (l->node->kind == ALD__TENSOR_MONTHS) {
            days = days < INT32_MIN / 16 || days > INT32_MAX / 16 ? INT64_MAX : day_of_month(days);
        }
        if (days < INT32_MIN || days > INT32_MAX)
            return out_of_range(l, value);
        out = (int32_t)days;
        memcpy(l->values + l->done * 4, &out, 4);
    }
    return ALD_OK;
}

static void end_text(leaf *l)
{
    int32_t offset = (int32_t)l->bytes_used; /* bounded in decode_leaf */
    l->done++;
    memcpy(l->values + l->done * 4, &offset, 4);
}

static ald_status run_bytes(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride) {
        size_t size = l->node->width;
        while (size > 0 && p[size - 1] == 0)
            size--;
        if (size > 0)
            memcpy(l->bytes + l->bytes_used, p, size);
        l->bytes_used += size;
        end_text(l);
    }
    return ALD_OK;
}

static size_t put_utf8(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        out[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    out[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

static ald_status run_ucs4(leaf *l, const uint8_t *p, size_t count, size_t stride)
{
    for (size_t i = 0; i < count; i++, p += stride) {
        size_t size = l->node->width;
        while (size >= 4 && (p[size - 1] | p[size - 2] | p[size - 3] | p[size - 4]) == 0)
            size -= 4;
        for (size_t at = 0; at < size; at += 4) {
            uint32_t c;
            memcpy(&c, p + at, 4);
            c = l->node->swap ? __builtin_bswap32(c) : c;
            if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
                return ald_error_set(l->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                     "row %llu: %x is no Unicode character", row_of(l, l->done), c);
            l->bytes_used += put_utf8(l->bytes + l->bytes_used, c);
        }
        end_text(l);
    }
    return ALD_OK;
}

/* ---- levels */

static size_t join_levels(const levels *from, level *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < from->depth; i++) {
        level next = from->items[i];
        if (depth > 0 && next.count == 1)
            continue;
        if (depth > 0 && out[depth - 1].count == 1)
            out[depth - 1] = next;
        else if (depth > 0 && out[depth - 1].stride == next.count * next.stride)
            out[depth - 1] = (level){out[depth - 1].count * next.count, next.stride};
        else
            out[depth++] = next;
    }
    return depth;
}

static ald_status for_runs(leaf *l, const level *items, size_t depth, const uint8_t *p, run_fn run)
{
    ald_status status = ALD_OK;
    if (depth == 1)
        return run(l, p, items->count, items->stride);
    for (size_t i = 0; status == ALD_OK && i < items->count; i++)
        status = for_runs(l, items + 1, depth - 1, p + i * items->stride, run);
    return status;
}

static run_fn run_of(const ald__tensor_node *node)
{
    switch (node->kind) {
    case ALD__TENSOR_BOOL:
        return run_bool;
    case ALD__TENSOR_BFLOAT16:
        return run_bfloat16;
    case ALD__TENSOR_TIME:
        return run_time;
    case ALD__TENSOR_DAYS:
    case ALD__TENSOR_MONTHS:
        return run_days;
    case ALD__TENSOR_BYTES:
        return run_bytes;
    case ALD__TENSOR_UCS4:
        return run_ucs4;
    default: /* COPY and FIXED */
        return run_copy;
    }
}

static int is_text(const ald__tensor_node *node)
{
    return node->kind == ALD__TENSOR_BYTES || node->kind == ALD__TENSOR_UCS4;
}

/* Bytes of the values, or of the offsets of text. The memory of a row was checked when the file was opened. */
static size_t values_size(const ald__tensor_node *node, size_t total)
{
    switch (node->kind) {
    case ALD__TENSOR_BOOL:
        return (total + 7) / 8;
    case ALD__TENSOR_BFLOAT16:
    case ALD__TENSOR_DAYS:
    case ALD__TENSOR_MONTHS:
        return total * 4;
    case ALD__TENSOR_BYTES:
    case ALD__TENSOR_UCS4:
        return (total + 1) * 4;
    default:
        return total * node->width;
    }
}

static ald_status leaf_buffers(leaf *l)
{
    ald_status status = ALD_OK;
    size_t size = 0;
    if (is_text(l->node)) {
        /* A character of 4 bytes takes 4 in UTF-8 at most. */
        if (__builtin_mul_overflow(l->total, l->node->width, &size) || size > INT32_MAX)
            return ald_error_set(l->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                                 "row %llu: its text has more than 2 GiB",
                                 (unsigned long long)l->first_row + 1);
        status = take(l->alloc, size, &l->bytes, l->err);
        l->bytes_size = size;
    }
    l->values_size = values_size(l->node, l->total);
    if (status == ALD_OK)
        status = take(l->alloc, l->values_size, &l->values, l->err);
    if (status == ALD_OK && l->node->kind == ALD__TENSOR_BOOL)
        memset(l->values, 0, l->values_size > 0 ? l->values_size : 1);
    if (status == ALD_OK && is_text(l->node))
        memset(l->values, 0, 4);
    return status;
}

static ald_status leaf_array(leaf *l, struct ArrowArray *out)
{
    size_t valid_size = (l->total + 7) / 8;
    void *blocks[3] = {l->valid, l->values, l->bytes};
    size_t sizes[3] = {l->valid != NULL ? (valid_size > 0 ? valid_size : 1) : 0,
                       l->values_size > 0 ? l->values_size : 1,
                       l->bytes_size > 0 ? l->bytes_size : 1};
    return ald__text_array_new(l->alloc, (int64_t)l->total, (int64_t)l->null_count,
                               is_text(l->node) ? 3 : 2, blocks, sizes, 0, out, l->err);
}

static ald_status decode_leaf(const ald__tensor_node *node, const uint8_t *p, const levels *at,
                              uint64_t first_row, const ald_allocator *alloc,
                              struct ArrowArray *out, ald_error *err)
{
    level joined[ALD__TENSOR_DEPTH + 2];
    leaf l = {.node = node,
              .alloc = alloc,
              .err = err,
              .total = at->total,
              .rows = at->items[0].count,
              .first_row = first_row};
    ald_status status = leaf_buffers(&l);
    if (status == ALD_OK && l.total > 0)
        status = for_runs(&l, joined, join_levels(at, joined), p, run_of(node));
    if (status == ALD_OK)
        status = leaf_array(&l, out);
    if (status != ALD_OK) {
        give_back(alloc, l.valid, (l.total + 7) / 8);
        give_back(alloc, l.values, l.values_size);
        give_back(alloc, l.bytes, l.bytes_size);
    }
    return status;
}

/* A list adds a level while its child is decoded. */
static ald_status decode(const ald__tensor_node *node, const uint8_t *p, levels *at,
                         uint64_t first_row, const ald_allocator *alloc, struct ArrowArray *out,
                         ald_error *err)
{
    void *blocks[1] = {NULL};
    size_t sizes[1] = {0}, total = at->total;
    ald_status status;
    if (node->child_count == 0 && node->kind != ALD__TENSOR_STRUCT)
        return decode_leaf(node, p, at, first_row, alloc, out, err);
    status = ald__text_array_new(alloc, (int64_t)total, 0, 1, blocks, sizes, node->child_count, out,
                                 err);
    if (status != ALD_OK)
        return status;
    if (node->kind == ALD__TENSOR_LIST) {
        at->items[at->depth++] = (level){(size_t)node->count, node->children[0].width};
        at->total = total * (size_t)node->count;
    }
    for (size_t i = 0; status == ALD_OK && i < node->child_count; i++)
        status = decode(&node->children[i], p + node->children[i].offset, at, first_row, alloc,
                        out->children[i], err);
    if (node->kind == ALD__TENSOR_LIST)
        at->depth--;
    at->total = total;
    if (status != ALD_OK)
        out->release(out);
    return status;
}

ald_status ald__tensor_node_decode(const ald__tensor_node *node, const uint8_t *bytes, size_t rows,
                                   size_t stride, uint64_t first_row, const ald_allocator *alloc,
                                   struct ArrowArray *out, ald_error *err)
{
    levels at;
    at.items[0] = (level){rows, stride};
    at.depth = 1;
    at.total = rows;
    return decode(node, bytes, &at, first_row, alloc, out, err);
}
