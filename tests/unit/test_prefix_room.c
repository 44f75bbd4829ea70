/* SPDX-License-Identifier: MIT */
/* The room that is kept for the prefix before the payload is written: not much of it, and enough when long rows follow
 * short ones. */
#include "ald/native.h"
#include "ald/stream.h"
#include "ald/streaming.h"
#include "ald/writer.h"
#include "unit/check.h"

enum { BITS_MOST = 2000, BATCH_ROWS = 1000, LONG_BYTES = 10000 };

/* Columns of bits and one of text, whose first batches have short values and the others long ones. */
typedef struct rows {
    int64_t bits; /* columns */
    int short_left, long_left;
    struct ArrowSchema columns[BITS_MOST + 1], *schemas[BITS_MOST + 1];
    struct ArrowArray arrays[BITS_MOST + 1], *children[BITS_MOST + 1];
    int32_t offsets[BATCH_ROWS + 1];
} rows;

static rows table;
static const uint8_t zeros[BATCH_ROWS];
static char text[BATCH_ROWS * LONG_BYTES];
static const void *const bit_buffers[2] = {NULL, zeros};
static const void *const text_buffers[3] = {NULL, table.offsets, text};
static const void *const none[1] = {NULL};

static void release_schema(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void release_array(struct ArrowArray *a)
{
    a->release = NULL;
}

static ald_status rows_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    rows *t = ctx;
    (void)err;
    for (int64_t i = 0; i <= t->bits; i++) {
        t->columns[i] = (struct ArrowSchema){
            .format = i < t->bits ? "b" : "u", .name = "c", .release = release_schema};
        t->schemas[i] = &t->columns[i];
    }
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = t->bits + 1,
                                .children = t->schemas,
                                .release = release_schema};
    return ALD_OK;
}

static ald_status rows_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    rows *t = ctx;
    int32_t each = t->short_left > 0 ? 1 : LONG_BYTES;
    (void)err;
    out->release = NULL;
    if (t->short_left > 0)
        t->short_left--;
    else if (t->long_left-- <= 0)
        return ALD_OK;
    for (int32_t i = 0; i <= BATCH_ROWS; i++)
        t->offsets[i] = i * each;
    for (int64_t i = 0; i <= t->bits; i++) {
        t->arrays[i] = (struct ArrowArray){.length = BATCH_ROWS,
                                           .n_buffers = i < t->bits ? 2 : 3,
                                           .buffers = i < t->bits ? (const void **)bit_buffers
                                                                  : (const void **)text_buffers,
                                           .release = release_array};
        t->children[i] = &t->arrays[i];
    }
    *out = (struct ArrowArray){.length = BATCH_ROWS,
                               .n_buffers = 1,
                               .buffers = (const void **)none,
                               .n_children = t->bits + 1,
                               .children = t->children,
                               .release = release_array};
    return ALD_OK;
}

static void rows_free(void *ctx)
{
    (void)ctx;
}

/* Saved, read back, counted; where the payload begins and how many chunks there are. */
static void save(int64_t bits, int short_batches, int long_batches, uint64_t said, uint8_t aligned,
                 uint64_t *begin, uint64_t *chunks)
{
    ald_host host = ald_native_host(1);
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_stream_impl impl = {rows_schema, rows_next, rows_free, &table, said};
    ald_buffer bytes = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&bytes);
    struct ArrowArrayStream stream;
    ald_streaming *s = NULL;
    ald_source source;
    ald_error err = {0};
    uint64_t count = 0;
    table.bits = bits;
    table.short_left = short_batches;
    table.long_left = long_batches;
    memset(text, 'x', sizeof text);
    options.layout = ALD_LAYOUT_STREAMING;
    options.aligned = aligned;
    options.compression = aligned ? ALD_COMPRESSION_NONE : ALD_COMPRESSION_LZ4;
    REQUIRE_OK(ald_stream_new(&impl, &host.alloc, &stream, &err), &err);
    REQUIRE_OK(ald_save(&stream, &sink, &options, &host, &err), &err);
    source = ald_source_memory(bytes.data, bytes.size);
    load.check_all = 1;
    REQUIRE_OK(ald_streaming_open(&source, &load, &host, &s, &err), &err);
    *chunks = ald_streaming_chunk_count(s);
    *begin = ald_streaming_info(s)->sections.payload.begin;
    for (uint64_t i = 0; i < *chunks; i++) {
        struct ArrowArray batch;
        REQUIRE_OK(ald_streaming_chunk(s, i, NULL, &batch, &err), &err);
        count += (uint64_t)batch.length;
        batch.release(&batch);
    }
    CHECK_INT(count, BATCH_ROWS * (uint64_t)(short_batches + long_batches));
    ald_streaming_close(s);
    ald_buffer_clear(&bytes);
}

/* Four million rows are said to come. */
static void test_room_is_bounded(void)
{
    uint64_t begin, chunks;
    save(6, 1, 0, 4000000, 1, &begin, &chunks);
    CHECK(begin < 80 << 10);
    save(6, 1, 0, 4000000, 0, &begin, &chunks);
    CHECK(begin < 80 << 10);
    save(300, 1, 0, 4000000, 1, &begin,
         &chunks); /* nine entries a kilobyte, and five chunks expected */
    CHECK(begin < 320 << 10);
}

/* By size they would be four chunks and more; the room is for three, one of them for rows that nobody announced. */
static void test_long_rows_behind_short_ones(void)
{
    uint64_t begin, chunks;
    save(BITS_MOST, 4, 6, 10000, 1, &begin, &chunks);
    CHECK_INT(chunks, 2);
    CHECK(begin < 320 << 10);
    save(3, 4, 6, 10000, 1, &begin, &chunks); /* here there is room for them all */
    CHECK(chunks >= 4);
}

int main(void)
{
    RUN(test_room_is_bounded);
    RUN(test_long_rows_behind_short_ones);
    return check_done();
}
