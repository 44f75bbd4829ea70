/* SPDX-License-Identifier: MIT */
/* Ownership of arrays: held memory, shares, clones, joined arrays. */
#include "check_alloc.h"
#include "core/arrow/array.h"
#include "core/arrow/concat.h"
#include "core/arrow/validate.h"
#include "ipc_stream.h"
#include "show_array.h"

static check_heap heap;
static ald_allocator alloc;
static const ald__ipc_rules strict = {1, 1, NULL, 0};

static void test_node_without_anything(void)
{
    struct ArrowArray a;
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald__array_new(&alloc, 0, 0, 0, &a, &err), &err);
    CHECK(a.buffers == NULL && a.children == NULL && a.dictionary == NULL);
    a.release(&a);
    CHECK(a.release == NULL);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_holds_and_children(void)
{
    struct ArrowArray a, moved;
    ald__shared *backing = NULL;
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald__shared_alloc(&alloc, 100, &backing, &err), &err);
    REQUIRE_OK(ald__array_new(&alloc, 2, 3, 1, &a, &err), &err);
    REQUIRE_OK(ald__array_new(&alloc, 2, 0, 0, a.children[1], &err), &err);
    REQUIRE_OK(ald__array_new(&alloc, 1, 0, 0, a.dictionary, &err), &err);
    ald__array_hold(&a, backing);
    ald__array_hold(&a, backing);
    ald__array_hold(&a, NULL);
    ald__array_hold(a.children[1], backing);
    ald__shared_unref(backing);
    moved = *a.children[1];
    a.children[1]->release = NULL;
    a.release(&a);
    CHECK(heap.live_blocks > 0); /* the child still holds the backing */
    memset(ald__shared_data(backing), 1, 100);
    moved.release(&moved);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_too_large(void)
{
    struct ArrowArray a;
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    CHECK_INT(ald__array_new(&alloc, SIZE_MAX / 4, 0, 0, &a, &err), ALD_E_NOMEM);
    CHECK_INT(ald__array_new(&alloc, 0, SIZE_MAX / 4, 0, &a, &err), ALD_E_NOMEM);
    CHECK(a.release == NULL);
    CHECK_HEAP_EMPTY(&heap);
}

static ald_status open_types(stream *s, ald_error *err)
{
    size_t size;
    uint8_t *data = stream_file(ALD_TEST_DATA "/data/ipc_read/types.arrows", &size);
    ald_status status;
    if (data == NULL)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "types.arrows cannot be read");
    status = stream_read(s, &alloc, data, size, 0, &strict, NULL, err);
    free(data);
    return status;
}

/* Shares outlive the holder and each other, in any order. */
static void test_shares(void)
{
    ald__array_holder *holder = NULL;
    struct ArrowArray shares[3];
    show_text first = {NULL, 0, 0}, second = {NULL, 0, 0};
    const struct ArrowSchema *schema;
    ald_error err;
    stream s;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(open_types(&s, &err), &err);
    schema = ald__ipc_schema_get(s.schema);
    show_column(&first, schema, &s.batches[0]);
    REQUIRE_OK(ald__array_holder_new(&alloc, &s.batches[0], &holder, &err), &err);
    CHECK(s.batches[0].release == NULL);
    CHECK(ald__array_holder_get(holder)->release != NULL);
    for (int i = 0; i < 2; i++)
        REQUIRE_OK(ald__array_holder_share(holder, &shares[i], &err), &err);
    REQUIRE_OK(ald__array_clone(&shares[1], &shares[2], &err), &err);
    shares[1].release(&shares[1]);
    ald__array_holder_free(holder);
    shares[0].release(&shares[0]);
    show_column(&second, schema, &shares[2]);
    CHECK_STR(second.text, first.text);
    shares[2].release(&shares[2]);
    stream_clear(&s);
    CHECK_HEAP_EMPTY(&heap);
    free(first.text);
    free(second.text);
}

/* When no memory is left the array stays the caller's. */
static void test_holder_without_memory(void)
{
    ald__array_holder *holder = NULL;
    struct ArrowArray a, share;
    ald_error err;
    alloc = check_heap_init(&heap, 1);
    REQUIRE_OK(ald__array_new(&alloc, 1, 0, 0, &a, &err), &err);
    CHECK_INT(ald__array_holder_new(&alloc, &a, &holder, &err), ALD_E_NOMEM);
    CHECK(holder == NULL && a.release != NULL);
    heap.calls_left = 1;
    REQUIRE_OK(ald__array_holder_new(&alloc, &a, &holder, &err), &err);
    CHECK_INT(ald__array_holder_share(holder, &share, &err), ALD_E_NOMEM);
    CHECK(share.release == NULL);
    ald__array_holder_free(holder);
    CHECK_HEAP_EMPTY(&heap);
}

/* The middle of a column and then the whole column, as values. */
static void check_joined(const struct ArrowSchema *schema, const struct ArrowArray *column)
{
    struct ArrowArray middle = *column, joined;
    show_text want = {NULL, 0, 0}, got = {NULL, 0, 0};
    ald_error err;
    middle.offset = 1;
    middle.length = 2;
    middle.null_count = schema->format[0] == '+' && schema->format[1] == 'r' ? 0 : -1;
    show_column(&want, schema, &middle);
    show_put(&want, " ");
    show_column(&want, schema, column);
    if (CHECK_OK(ald__array_concat(&alloc, schema, &middle, column, &joined, &err), &err)) {
        show_column(&got, schema, &joined);
        CHECK_STR(got.text, want.text);
        CHECK_OK(ald__array_validate(&alloc, schema, &joined, NULL, &err), &err);
        joined.release(&joined);
    }
    free(want.text);
    free(got.text);
}

static void test_concat(void)
{
    const struct ArrowSchema *schema;
    ald_error err;
    stream s;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(open_types(&s, &err), &err);
    schema = ald__ipc_schema_get(s.schema);
    for (int64_t c = 0; c < schema->n_children; c++)
        check_joined(schema->children[c], s.batches[0].children[c]);
    stream_clear(&s);
    CHECK_HEAP_EMPTY(&heap);
}

/* A struct without nulls has no byte for a row, so it can claim any number of them. */
static void test_concat_of_claimed_rows(void)
{
    static const uint8_t no[] = {0};
    struct ArrowSchema schema = {
        .format = "+s", .name = "s", .flags = 2, .release = (void (*)(struct ArrowSchema *))1};
    struct ArrowArray many, null, joined;
    ald_error err;
    alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald__array_new(&alloc, 1, 0, 0, &many, &err), &err);
    REQUIRE_OK(ald__array_new(&alloc, 1, 0, 0, &null, &err), &err);
    many.length = INT64_C(1) << 40;
    REQUIRE_OK(ald__array_concat(&alloc, &schema, &many, &many, &joined, &err), &err);
    CHECK_INT(joined.length, INT64_C(1) << 41);
    joined.release(&joined);
    null.length = null.null_count = 1;
    null.buffers[0] = no;
    CHECK_INT(ald__array_concat(&alloc, &schema, &many, &null, &joined, &err),
              ALD_E_LIMIT_EXCEEDED);
    many.length = INT64_MAX;
    CHECK_INT(ald__array_concat(&alloc, &schema, &many, &many, &joined, &err),
              ALD_E_LIMIT_EXCEEDED);
    many.release(&many);
    null.release(&null);
    CHECK_HEAP_EMPTY(&heap);
    CHECK(heap.peak_bytes < 65536);
}

int main(void)
{
    RUN(test_node_without_anything);
    RUN(test_holds_and_children);
    RUN(test_too_large);
    RUN(test_shares);
    RUN(test_holder_without_memory);
    RUN(test_concat);
    RUN(test_concat_of_claimed_rows);
    return check_done();
}
