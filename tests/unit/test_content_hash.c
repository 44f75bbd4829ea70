/* SPDX-License-Identifier: MIT */
/* The content hash through its C interface: the vectors of F-459, cuts, order of calls, and memory that fails. That tables of
 * every type hash as a second implementation says is tests/interop/test_content_hash.py. */
#include "ald/hash.h"
#include "ald/native.h"
#include "format_fixture.h"

static ald_host hash_host(void)
{
    ald_host host = fixture_host();
    host.crypto = ald_native_host(1).crypto;
    return host;
}

static const char *hex(const uint8_t *digest)
{
    static char text[2 * ALD_CONTENT_HASH_BYTES + 1];
    for (size_t i = 0; i < ALD_CONTENT_HASH_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", digest[i]);
    return text;
}

/* Rows in batches of `step` rows. */
static int hash_cut(fixture_table *t, int64_t step, const ald_host *host, uint8_t *digest,
                    uint8_t *columns, ald_error *err)
{
    ald_content_hash *hash = NULL;
    int64_t rows = t->batch.length;
    ald_status status = ald_content_hash_new(&t->schema, host, &hash, err);
    for (int64_t at = 0; status == ALD_OK && at < rows; at += step) {
        struct ArrowArray part = t->batch;
        part.offset += at;
        part.length = rows - at < step ? rows - at : step;
        status = ald_content_hash_update(hash, &part, err);
    }
    if (status == ALD_OK)
        status = ald_content_hash_finish(hash, digest, columns, err);
    ald_content_hash_free(hash);
    return status;
}

static void test_vectors(void)
{
    ald_host host = hash_host();
    uint8_t digest[32], column[32];
    int64_t values[] = {1, 2, 3};
    struct ArrowSchema field = fixture_field("l", "a");
    struct ArrowArray array = fixture_array(3, 2, BUFFERS(NULL, values));
    ald_error err = {0};
    fixture_table t;
    fixture_table_init(&t, 0);
    CHECK_OK(hash_cut(&t, 1, &host, digest, NULL, &err), &err);
    CHECK_STR(hex(digest), "8b3bce3020a1037250bb30f242186b41648a3039c3e23fa3cfdae57b4594bc0d");
    fixture_table_init(&t, 3);
    fixture_add(&t, &field, &array);
    CHECK_OK(hash_cut(&t, 3, &host, digest, column, &err), &err);
    CHECK_STR(hex(digest), "db1cc29a305cc0e7463f2208c085f0e0e50d59e040de63624c56d628e46f0079");
    CHECK_STR(hex(column), "40c198665ae6cfe45fb9c08c470c2520368468ca754f4f34a923350fafb6a5d8");
    t.batch.length = 0;
    CHECK_OK(hash_cut(&t, 1, &host, digest, NULL, &err), &err);
    CHECK_STR(hex(digest), "0dca3dfc2081fd7f7917db5ec956e9334cd05de4cf9094559daad13322da33ef");
    CHECK_INT(fixture_live, 0);
}

/* A hundred rows: numbers and lists of text with nulls, and what repeats them. */
typedef struct many_rows {
    fixture_table table;
    struct ArrowSchema number, list, item, runs, ends, *list_children[1], *run_children[2];
    struct ArrowArray numbers, lists, items, encoded, run_ends, *lists_children[1],
        *encoded_children[2];
    uint8_t valid[13], bytes[400];
    int32_t values[100], offsets[101], text_offsets[201], end_values[3];
    const void *number_buffers[2], *list_buffers[2], *item_buffers[3], *end_buffers[2];
} many_rows;

static void many_init(many_rows *m)
{
    memset(m, 0, sizeof *m);
    for (int i = 0; i < 100; i++) {
        m->values[i] = i * i;
        m->valid[i / 8] |= (uint8_t)((i % 7 != 2) << (i % 8));
        m->offsets[i + 1] = 2 * i + 2 - i % 2;
    }
    for (int i = 0; i < 200; i++) {
        m->bytes[2 * i] = (uint8_t)('a' + i % 26);
        m->text_offsets[i + 1] = m->text_offsets[i] + i % 3;
    }
    m->number = fixture_field("i", "n");
    m->list = fixture_field("+l", "l");
    m->item = fixture_field("u", "item");
    m->runs = fixture_field("+r", "r");
    m->ends = fixture_field("i", "run_ends");
    m->list_children[0] = &m->item;
    m->list.children = m->list_children;
    m->list.n_children = 1;
    m->run_children[0] = &m->ends;
    m->run_children[1] = &m->list;
    m->runs.children = m->run_children;
    m->runs.n_children = 2;
    m->number_buffers[0] = m->list_buffers[0] = m->valid;
    m->number_buffers[1] = m->values;
    m->list_buffers[1] = m->offsets;
    m->item_buffers[1] = m->text_offsets;
    m->item_buffers[2] = m->bytes;
    m->end_values[0] = 40;
    m->end_values[1] = 41;
    m->end_values[2] = 100;
    m->end_buffers[1] = m->end_values;
    m->numbers = fixture_array(100, 2, m->number_buffers);
    m->lists = fixture_array(100, 2, m->list_buffers);
    m->items = fixture_array(200, 3, m->item_buffers);
    m->run_ends = fixture_array(3, 2, m->end_buffers);
    m->encoded = fixture_array(100, 0, NULL);
    m->lists_children[0] = &m->items;
    m->lists.children = m->lists_children;
    m->lists.n_children = 1;
    m->encoded_children[0] = &m->run_ends;
    m->encoded_children[1] = &m->lists;
    m->encoded.children = m->encoded_children;
    m->encoded.n_children = 2;
    fixture_table_init(&m->table, 100);
    fixture_add(&m->table, &m->number, &m->numbers);
    fixture_add(&m->table, &m->list, &m->lists);
    fixture_add(&m->table, &m->runs, &m->encoded);
}

static void test_cuts(void)
{
    static many_rows m;
    ald_host host = hash_host(), threads = ald_native_host(3);
    uint8_t want[32], got[32];
    ald_error err = {0};
    many_init(&m);
    REQUIRE_OK(hash_cut(&m.table, 100, &host, want, NULL, &err), &err);
    for (int64_t step = 1; step < 100; step += 6) {
        CHECK_OK(hash_cut(&m.table, step, &host, got, NULL, &err), &err);
        CHECK(memcmp(got, want, sizeof want) == 0);
    }
    CHECK_OK(hash_cut(&m.table, 100, &threads, got, NULL, &err), &err);
    CHECK(memcmp(got, want, sizeof want) == 0);
    m.values[2] = 7; /* behind a null */
    CHECK_OK(hash_cut(&m.table, 100, &host, got, NULL, &err), &err);
    CHECK(memcmp(got, want, sizeof want) == 0);
    m.values[3] = 7;
    CHECK_OK(hash_cut(&m.table, 100, &host, got, NULL, &err), &err);
    CHECK(memcmp(got, want, sizeof want) != 0);
}

static void test_stream(void)
{
    static many_rows m;
    ald_host host = hash_host();
    struct ArrowArrayStream stream;
    uint8_t want[32], got[32];
    uint64_t rows = 0;
    ald_error err = {0};
    many_init(&m);
    REQUIRE_OK(hash_cut(&m.table, 9, &host, want, NULL, &err), &err);
    REQUIRE_OK(fixture_stream(&m.table, 1, &host, &stream, &err), &err);
    CHECK_OK(ald_content_hash_stream(&stream, &host, got, &rows, &err), &err);
    CHECK(stream.release == NULL && memcmp(got, want, sizeof want) == 0);
    CHECK_UINT(rows, 100);
    CHECK_INT(fixture_live, 0);
}

static void test_misuse(void)
{
    static many_rows m;
    ald_host host = hash_host(), poor = hash_host();
    ald_content_hash *hash = NULL;
    struct ArrowSchema plain = fixture_field("l", "");
    uint8_t digest[32], hidden = 0x0F;
    ald_error err = {0};
    many_init(&m);
    poor.crypto = NULL;
    CHECK_INT(ald_content_hash_new(&m.table.schema, &poor, &hash, &err), ALD_E_UNSUPPORTED);
    CHECK(hash == NULL);
    CHECK_INT(ald_content_hash_new(&plain, &host, &hash, &err), ALD_E_INVALID_ARG);
    CHECK(hash == NULL);
    REQUIRE_OK(ald_content_hash_new(&m.table.schema, &host, &hash, &err), &err);
    m.table.batch.n_children = 2;
    CHECK_INT(ald_content_hash_update(hash, &m.table.batch, &err), ALD_E_INVALID_ARG);
    m.table.batch.n_children = 3;
    m.table.batch.buffers = BUFFERS(&hidden);
    m.table.batch.null_count = 1;
    CHECK_INT(ald_content_hash_update(hash, &m.table.batch, &err), ALD_E_INVALID_ARG);
    CHECK_OK(ald_content_hash_finish(hash, digest, NULL, &err), &err);
    CHECK_INT(ald_content_hash_finish(hash, digest, NULL, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_content_hash_update(hash, &m.table.batch, &err), ALD_E_INVALID_ARG);
    ald_content_hash_free(hash);
    ald_content_hash_free(NULL);
    CHECK_INT(fixture_live, 0);
}

/* Each allocation fails in turn. Without room to gather small pieces the hash is the same. */
static void test_memory(void)
{
    static many_rows m;
    ald_host host = hash_host();
    uint8_t want[32], got[32];
    ald_error err = {0};
    int64_t failed = 0, n = 0;
    many_init(&m);
    REQUIRE_OK(hash_cut(&m.table, 9, &host, want, NULL, &err), &err);
    for (; n < 1000; n++) {
        fixture_fail_after = n;
        ald_status status = hash_cut(&m.table, 100, &host, got, NULL, &err);
        int over = fixture_fail_after != 0;
        fixture_fail_after = -1;
        CHECK_INT(fixture_live, 0);
        if (status == ALD_OK)
            CHECK(memcmp(got, want, sizeof want) == 0);
        else
            CHECK_INT(status, ALD_E_NOMEM);
        failed += status != ALD_OK;
        if (over)
            break;
    }
    CHECK(n < 1000 && failed > 10);
}

int main(void)
{
    RUN(test_vectors);
    RUN(test_cuts);
    RUN(test_stream);
    RUN(test_misuse);
    RUN(test_memory);
    return check_done();
}
