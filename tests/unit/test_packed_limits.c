/* SPDX-License-Identifier: MIT */
/* A few stored bytes that ask for much memory: strides over numbers in text, whose planes have no bits. */
#include "core/base/endian.h"
#include "core/codec/packed/pack.h"
#include "packed_fixture.h"

#define ROWS 100000u

/* n strings "0". */
static void make_zeros(fixture *f, size_t n)
{
    uint8_t *p;
    fixture_init(f, 1);
    (void)fixture_node(f, ALD__PACKED_TEXT, 4, n, 0, 1);
    p = fixture_place(f, (n + 1) * 4);
    for (size_t i = 0; i <= n; i++)
        ald__store_le32(p + i * 4, (uint32_t)i);
    memset(fixture_place(f, n), '0', n);
    fixture_seal(f);
}

static size_t put_u32(uint8_t *to, size_t at, uint32_t v)
{
    ald__store_le32(to + at, v);
    return at + 4;
}

/* The filter table: one template, a marker, for all strings; the numbers in strides. */
static size_t make_table(uint8_t *t, uint32_t n, uint32_t stride)
{
    size_t at = 2;
    ald__store_le16(t, 1);
    t[at++] = ALD__FILTER_STRNUM;
    t[at++] = 1; /* slot */
    at = put_u32(t, at, n);
    t[at++] = 1; /* by words */
    at = put_u32(t, at, 1);
    at = put_u32(t, at, 1);
    t[at++] = 0;
    t[at++] = ALD__INTS_BASE; /* of the words: length 1 */
    t[at++] = 0;
    at = put_u32(t, at, 1);
    at = put_u32(t, at, n);
    t[at++] = ALD__INTS_STRIDE;
    t[at++] = 0;
    return put_u32(t, at, stride);
}

static void append_frame(ald__squeezer *q, const void *bytes, size_t size, ald_buffer *out,
                         uint8_t *entry)
{
    ald__streams s = {{NULL, 0, 0, out->alloc}, {NULL, 0, 0, out->alloc}};
    size_t before = out->size;
    ald_error err;
    CHECK_INT(ald__streams_put(&s, bytes, size, 1, &err), ALD_OK);
    CHECK_INT(ald__squeezer_frame(q, &s, out, &err), ALD_OK);
    ald__store_le32(entry, (uint32_t)(out->size - before));
    ald__store_le32(entry + 4, (uint32_t)size);
    ald__streams_clear(&s);
}

static void forge(uint32_t n, uint32_t stride, ald_buffer *out)
{
    uint8_t head[128], entries[16], directory[32] = {0x5A, 0x2A, 0x4D, 0x18};
    ald_buffer frames = {NULL, 0, 0, out->alloc};
    ald__squeezer *q = NULL;
    ald_error err;
    size_t table = make_table(head + 4, n, stride);
    ald__store_le32(head, (uint32_t)table);
    CHECK_INT(ald__squeezer_new(ALD__PACKED_ZSTD, out->alloc, &q, &err), ALD_OK);
    append_frame(q, head, 4 + table, &frames, entries);
    append_frame(q, "\x01", 1, &frames, entries + 8);
    ald__store_le32(directory + 4, 24);
    memcpy(directory + 8, "ALDP", 4);
    ald__store_le32(directory + 12, 2);
    memcpy(directory + 16, entries, sizeof entries);
    CHECK_INT(ald__buffer_append(out, directory, sizeof directory, &err), ALD_OK);
    CHECK_INT(ald__buffer_append(out, frames.data, frames.size, &err), ALD_OK);
    ald__squeezer_free(q);
    ald_buffer_clear(&frames);
}

static ald_status rebuild(uint32_t n, uint32_t stride, ald_error *err)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_buffer stored = {NULL, 0, 0, &alloc};
    fixture f;
    uint8_t *body;
    ald_status st;
    make_zeros(&f, n);
    body = calloc(1, f.body_size + 8);
    forge(n, stride, &stored);
    st = fixture_rebuild(&f.layout, ALD__PACKED_ZSTD, stored.data, stored.size, (uint8_t *)"", 0,
                         body, &alloc, err);
    CHECK(st != ALD_OK || memcmp(body, f.body, f.body_size) == 0);
    ald_buffer_clear(&stored);
    free(body);
    fixture_clear(&f);
    CHECK_HEAP_EMPTY(&heap);
    return st;
}

static void test_strides(void)
{
    ald_error err = {0};
    CHECK_INT(rebuild(1000, 1, &err), ALD_OK);
    CHECK_INT(rebuild(8000, UINT32_MAX, &err), ALD_OK); /* counted as 8000 */
    CHECK_INT(rebuild(ROWS, ROWS / 2, &err), ALD_OK);   /* 4 bytes a row, of 5 */
    CHECK_INT(rebuild(ROWS, ROWS / 8 * 7, &err), ALD_E_LIMIT_EXCEEDED);
    CHECK(strstr(err.msg, "chunk 7, column 'c'") != NULL);
    CHECK_INT(rebuild(ROWS, UINT32_MAX, &err), ALD_E_LIMIT_EXCEEDED);
}

int main(void)
{
    RUN(test_strides);
    return check_done();
}
