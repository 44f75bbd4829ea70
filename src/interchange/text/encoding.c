/* SPDX-License-Identifier: MIT */
/* Knows latin-1, windows-1252 and UTF-16. */
#include "interchange/text/encoding.h"

#include <inttypes.h>

#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#define CHUNK 65536

/* windows-1252, 0x80 to 0x9F; 0 is not assigned. */
static const uint16_t windows_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

/* What was converted: in a spool, or in memory where the host has none. */
typedef struct decoded {
    ald_allocator alloc;
    ald_spool spool;
    uint8_t *memory;
    size_t memory_capacity;
    uint64_t size;
    uint8_t has_spool;
} decoded;

static ald_status decoded_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    decoded *d = ctx;
    if (offset > d->size || size > d->size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read beyond the end");
    if (d->has_spool)
        return d->spool.read_at(d->spool.ctx, offset, buf, size, err);
    if (size > 0)
        memcpy(buf, d->memory + (size_t)offset, size);
    return ALD_OK;
}

static void decoded_close(void *ctx)
{
    decoded *d = ctx;
    ald_allocator alloc = d->alloc;
    if (d->has_spool)
        d->spool.close(d->spool.ctx);
    if (d->memory != NULL)
        alloc.release(alloc.ctx, d->memory, d->memory_capacity);
    ald__text_free(&alloc, d, 1, sizeof *d);
}

static ald_status decoded_append(decoded *d, const uint8_t *data, size_t size, ald_error *err)
{
    void *block = d->memory;
    ald_status st;
    if (size == 0)
        return ALD_OK;
    if (d->has_spool) {
        st = d->spool.append(d->spool.ctx, data, size, err);
    } else {
        st = ald__text_grow(&d->alloc, &block, &d->memory_capacity, (size_t)d->size + size, err);
        d->memory = block;
        if (st == ALD_OK)
            memcpy(d->memory + (size_t)d->size, data, size);
    }
    d->size += st == ALD_OK ? size : 0;
    return st;
}

static uint8_t *put_utf8(uint8_t *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (uint8_t)c;
    } else if (c < 0x800) {
        *out++ = (uint8_t)(0xC0 | c >> 6);
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (uint8_t)(0xE0 | c >> 12);
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    } else {
        *out++ = (uint8_t)(0xF0 | c >> 18);
        *out++ = (uint8_t)(0x80 | (c >> 12 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        *out++ = (uint8_t)(0x80 | (c & 0x3F));
    }
    return out;
}

/* Conversion of one chunk: `in` bytes are taken (the rest waits for more), `out` is written. bad: where a unit stands that
 * means nothing; SIZE_MAX: none. Output is at most three times the input and one character more. */
typedef struct conversion {
    const uint8_t *in;
    size_t size, taken;
    int last;
    uint8_t *out;
    size_t written, bad;
} conversion;

static void convert_bytes(conversion *c, ald_encoding encoding)
{
    uint8_t *out = c->out;
    for (size_t i = 0; i < c->size; i++) {
        uint32_t ch = c->in[i];
        if (encoding == ALD_ENCODING_WINDOWS_1252 && ch >= 0x80 && ch < 0xA0) {
            ch = windows_1252[ch - 0x80];
            if (ch == 0) {
                c->bad = i;
                break;
            }
        }
        out = put_utf8(out, ch);
    }
    c->taken = c->size;
    c->written = (size_t)(out - c->out);
}

static void convert_utf16(conversion *c, int big)
{
    uint8_t *out = c->out;
    size_t i = 0;
    for (; i + 1 < c->size; i += 2) {
        const uint8_t *p = c->in + i;
        uint32_t ch = big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0], low;
        if (ch >= 0xD800 && ch < 0xDC00) {
            if (i + 3 >= c->size && !c->last)
                break;
            low = i + 3 >= c->size ? 0
                  : big            ? (uint32_t)p[2] << 8 | p[3]
                                   : (uint32_t)p[3] << 8 | p[2];
            if (low < 0xDC00 || low > 0xDFFF) {
                c->bad = i;
                break;
            }
            ch = 0x10000 + ((ch - 0xD800) << 10) + (low - 0xDC00);
            i += 2;
        } else if (ch >= 0xDC00 && ch < 0xE000) {
            c->bad = i;
            break;
        }
        out = put_utf8(out, ch);
    }
    if (c->bad == SIZE_MAX && c->last && i + 1 == c->size)
        c->bad = i; /* half a unit */
    c->taken = i;
    c->written = (size_t)(out - c->out);
}

/* The mark's size, and the byte order that it or the option gives. */
static size_t utf16_mark(const uint8_t *in, size_t size, ald_encoding encoding, int *big)
{
    *big = encoding == ALD_ENCODING_UTF16BE;
    if (size < 2)
        return 0;
    if (in[0] == 0xFE && in[1] == 0xFF && encoding != ALD_ENCODING_UTF16LE) {
        *big = 1;
        return 2;
    }
    return in[0] == 0xFF && in[1] == 0xFE && encoding != ALD_ENCODING_UTF16BE ? 2 : 0;
}

static ald_status bad_unit(const ald_source *source, const conversion *c, uint64_t at,
                           uint64_t lines, int *cr, ald_error *err)
{
    uint64_t line = 1 + lines + ald__text_count_lines(c->out, c->written, cr);
    return ald_error_set(err, ALD_E_INVALID_FORMAT, at + c->bad,
                         "%s: line %" PRIu64 ": byte 0x%02x stands for nothing in this encoding\n"
                         "pass another --encoding",
                         source->name != NULL ? source->name : "text", line, c->in[c->bad]);
}

static ald_status decode_all(const ald_source *source, ald_encoding encoding, uint8_t *in,
                             uint8_t *buffer, decoded *d, ald_error *err)
{
    uint64_t pos = 0, lines = 0;
    int big = 0, cr = 0, bytes = encoding <= ALD_ENCODING_WINDOWS_1252;
    while (pos < source->size_bytes) {
        uint64_t left = source->size_bytes - pos;
        conversion c = {.in = in, .out = buffer, .bad = SIZE_MAX};
        ald_status st;
        size_t mark = 0;
        c.size = left < CHUNK ? (size_t)left : CHUNK;
        c.last = left == c.size;
        st = source->read_at(source->ctx, pos, in, c.size, err);
        if (st != ALD_OK)
            return st;
        if (pos == 0 && !bytes)
            mark = utf16_mark(in, c.size, encoding, &big);
        c.in += mark;
        c.size -= mark;
        if (bytes)
            convert_bytes(&c, encoding);
        else
            convert_utf16(&c, big);
        if (c.bad != SIZE_MAX)
            return bad_unit(source, &c, pos + mark, lines, &cr, err);
        lines += ald__text_count_lines(buffer, c.written, &cr);
        st = decoded_append(d, buffer, c.written, err);
        if (st != ALD_OK)
            return st;
        pos += mark + c.taken;
    }
    return ALD_OK;
}

ald_status ald__text_decode(const ald_source *source, ald_encoding encoding, const ald_host *host,
                            ald_source *out, ald_error *err)
{
    const ald_allocator *alloc = &host->alloc;
    decoded *d = ald__text_alloc(alloc, 1, sizeof *d, err);
    uint8_t *in = NULL, *buffer = NULL;
    ald_status st = ALD_E_NOMEM;
    if (d == NULL)
        return st;
    d->alloc = *alloc;
    in = ald__text_alloc(alloc, CHUNK, 1, err);
    if (in != NULL)
        buffer = ald__text_alloc(alloc, CHUNK, 3, err);
    if (buffer != NULL && host->spool_open != NULL) {
        st = host->spool_open(host->ctx, &d->spool, err);
        d->has_spool = st == ALD_OK;
    } else if (buffer != NULL) {
        st = ALD_OK;
    }
    if (st == ALD_OK)
        st = decode_all(source, encoding, in, buffer, d, err);
    ald__text_free(alloc, in, CHUNK, 1);
    ald__text_free(alloc, buffer, CHUNK, 3);
    if (st != ALD_OK) {
        decoded_close(d);
        return st;
    }
    *out = (ald_source){.size_bytes = d->size,
                        .read_at = decoded_read,
                        .close = decoded_close,
                        .ctx = d,
                        .name = source->name};
    return ALD_OK;
}
