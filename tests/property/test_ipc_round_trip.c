/* SPDX-License-Identifier: MIT */
/* Random tables of every type through the IPC writer and reader: the values come back, noise does not reach the bytes, and
 * what was read is written as the same bytes. */
#include "check_alloc.h"
#include "property/random_table.h"

#include "ald/schema.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/ipc_write.h"
#include "core/base/buf.h"

#define SEEDS 2000
#define MAX_BATCHES 3

static check_heap heap;
static ald_allocator alloc;

static ald_status to_buffer(void *ctx, const void *data, size_t size, ald_error *err)
{
    return ald__buffer_append(ctx, data, size, err);
}

/* A whole stream. */
static ald_status write_table(const struct ArrowSchema *schema, const struct ArrowArray *batches,
                              size_t count, const ald__ipc_write_options *options, ald_buffer *out,
                              ald_error *err)
{
    ald__emit emit = {to_buffer, out};
    ald__ipc_writer *w = NULL;
    ald_status status = ald__ipc_writer_new(&alloc, schema, options, &w, err);
    if (status == ALD_OK)
        status = ald__ipc_write_schema(w, &emit, err);
    for (size_t i = 0; status == ALD_OK && i < count; i++)
        status = ald__ipc_write_batch(w, &batches[i], &emit, err);
    if (status == ALD_OK)
        status = ald__ipc_write_end(w, &emit, err);
    if (status == ALD_OK)
        CHECK_UINT(ald__ipc_writer_position(w), out->size);
    ald__ipc_writer_free(w);
    return status;
}

typedef struct table {
    ald__ipc_schema *schema;
    struct ArrowArray batches[MAX_BATCHES];
    size_t count;
} table;

static void table_clear(table *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->batches[i].release(&t->batches[i]);
    ald__ipc_schema_free(t->schema);
}

/* `strict` reads as a .ald payload is read. */
static ald_status read_table(const ald_buffer *bytes, const ald__ipc_rules *rules, int alignment,
                             table *t, ald_error *err)
{
    ald__cursor cursor = {bytes->data, bytes->size, 0, 0};
    ald__ipc_dictionaries *dictionaries = NULL;
    ald__shared *backing = NULL;
    ald__ipc_message m;
    ald_status status = ald__ipc_read_message(&cursor, rules, &m, err);
    memset(t, 0, sizeof *t);
    if (status == ALD_OK)
        status = ald__ipc_schema_new(&alloc, &m, rules, &t->schema, err);
    if (status == ALD_OK)
        status = ald__ipc_dictionaries_new(&alloc, t->schema, &dictionaries, err);
    while (status == ALD_OK) {
        status = ald__ipc_read_message(&cursor, rules, &m, err);
        if (status != ALD_OK || m.type == ALD__IPC_END)
            break;
        if (alignment == 64)
            status = ald__ipc_check_aligned(&m, err);
        if (status == ALD_OK)
            status = ald__shared_alloc(&alloc, m.body_size, &backing, err);
        if (status != ALD_OK)
            break;
        if (m.body_size > 0)
            memcpy(ald__shared_data(backing), m.body, m.body_size);
        m.body = ald__shared_data(backing);
        status = m.type == ALD__IPC_DICTIONARY
                     ? ald__ipc_read_dictionary(dictionaries, &m, rules, backing, err)
                     : ald__ipc_read_batch(dictionaries, &m, rules, backing, NULL,
                                           &t->batches[t->count], err);
        t->count += status == ALD_OK && m.type == ALD__IPC_BATCH;
        ald__shared_unref(backing);
    }
    ald__ipc_dictionaries_free(dictionaries);
    return status;
}

static int check_same_text(const rt_out *got, const rt_out *want, uint64_t seed, const char *what)
{
    int same = got->size == want->size &&
               (got->size == 0 || memcmp(got->data, want->data, got->size) == 0);
    if (!CHECK(same))
        printf("    seed %llu, %s\n", (unsigned long long)seed, what);
    return same;
}

static void check_read_back(uint64_t seed, const struct ArrowSchema *schema,
                            const ald_buffer *bytes, const rt_out *want,
                            const ald__ipc_write_options *options)
{
    ald__ipc_rules rules = {.strict = 1, .allow_delta = 1};
    ald_error err = {0};
    rt_out got = {0};
    ald_buffer again = {NULL, 0, 0, &alloc};
    table t;
    if (!CHECK_OK(read_table(bytes, &rules, (int)options->alignment, &t, &err), &err)) {
        printf("    seed %llu mode %d\n", (unsigned long long)seed, options->dictionary_mode);
    } else {
        CHECK_OK(ald_schema_compare(schema, ald__ipc_schema_get(t.schema), 1, &err), &err);
        for (size_t i = 0; i < t.count; i++)
            rt_render_batch(schema, &t.batches[i], &got);
        check_same_text(&got, want, seed, "values");
        if (options->dictionary_mode != ALD__DICTIONARY_DELTA &&
            CHECK_OK(write_table(schema, t.batches, t.count, options, &again, &err), &err) &&
            CHECK_UINT(again.size, bytes->size) && !CHECK_MEM(again.data, bytes->data, bytes->size))
            printf("    seed %llu is written as other bytes\n", (unsigned long long)seed);
    }
    free(got.data);
    ald_buffer_clear(&again);
    table_clear(&t);
}

static void make_batches(uint64_t seed, uint64_t noise, size_t count,
                         const struct ArrowSchema *schema, struct ArrowArray *out)
{
    for (size_t i = 0; i < count; i++)
        rt_batch(seed * 7 + i, noise + i, schema, &out[i]);
}

static void check_seed(uint64_t seed)
{
    ald__ipc_write_options options = {seed % 2 ? 8 : 64, (uint8_t)(seed % 3), NULL};
    struct ArrowArray batches[2][MAX_BATCHES];
    ald_buffer bytes[2] = {{NULL, 0, 0, &alloc}, {NULL, 0, 0, &alloc}};
    size_t count = seed % (MAX_BATCHES + 1);
    struct ArrowSchema schema;
    ald_error err = {0};
    rt_out want[2] = {{0}, {0}};
    rt_schema(seed, &alloc, &schema);
    for (int k = 0; k < 2; k++) {
        make_batches(seed, seed + 1000000 * (uint64_t)k, count, &schema, batches[k]);
        for (size_t i = 0; i < count; i++)
            rt_render_batch(&schema, &batches[k][i], &want[k]);
        if (CHECK_OK(write_table(&schema, batches[k], count, &options, &bytes[k], &err), &err))
            check_read_back(seed, &schema, &bytes[k], &want[k], &options);
        else
            printf("    seed %llu\n", (unsigned long long)seed);
    }
    check_same_text(&want[1], &want[0], seed, "the generator's noise shows");
    if (!rt_keeps_noise(&schema) && CHECK_UINT(bytes[1].size, bytes[0].size) &&
        !CHECK_MEM(bytes[1].data, bytes[0].data, bytes[0].size))
        printf("    seed %llu: noise reached the bytes\n", (unsigned long long)seed);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < count; i++)
            batches[k][i].release(&batches[k][i]);
        ald_buffer_clear(&bytes[k]);
        free(want[k].data);
    }
    schema.release(&schema);
}

static void test_round_trips(void)
{
    alloc = check_heap_init(&heap, -1);
    for (uint64_t seed = 1; seed <= SEEDS && check_failures < 20; seed++)
        check_seed(seed);
    CHECK_HEAP_EMPTY(&heap);
}

/* Every allocation of writing, then of reading, fails once. */
static void test_allocation_failures(void)
{
    ald__ipc_rules rules = {.strict = 1, .allow_delta = 1};
    for (uint64_t seed = 1; seed <= 40 && check_failures < 20; seed++) {
        ald__ipc_write_options options = {8, (uint8_t)(seed % 3), NULL};
        ald_status status = ALD_E_NOMEM;
        for (int64_t n = 0; status != ALD_OK; n++) {
            struct ArrowArray batches[2];
            struct ArrowSchema schema;
            ald_buffer bytes = {NULL, 0, 0, &alloc};
            ald_error err = {0};
            table t = {0};
            alloc = check_heap_init(&heap, -1);
            rt_schema(seed, &alloc, &schema);
            make_batches(seed, seed, 2, &schema, batches);
            heap.calls_left = n;
            status = write_table(&schema, batches, 2, &options, &bytes, &err);
            if (status == ALD_OK)
                status = read_table(&bytes, &rules, 8, &t, &err);
            table_clear(&t);
            ald_buffer_clear(&bytes);
            for (int i = 0; i < 2; i++)
                batches[i].release(&batches[i]);
            schema.release(&schema);
            CHECK_HEAP_EMPTY(&heap);
            if (status != ALD_OK && !CHECK_INT(status, ALD_E_NOMEM)) {
                printf("    seed %llu, allocation %lld: %s\n", (unsigned long long)seed,
                       (long long)n, err.msg);
                break;
            }
        }
    }
}

int main(void)
{
    RUN(test_round_trips);
    RUN(test_allocation_failures);
    return check_done();
}
