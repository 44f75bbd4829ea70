/* SPDX-License-Identifier: MIT */
/* Choosing rows, and sealing questions and answers, while memory fails at every call in turn. */
#include "fault/fault_host.h"

static const char where[] = "a = 3 or b is null and a < 100";

static ald_status random_bytes(void *ctx, void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    (void)err;
    memset(buf, 7, size);
    return ALD_OK;
}

static ald_status open_table(fault_host *f, struct ArrowArrayStream *out, ald_error *err)
{
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    csv.text.batch_rows = 3;
    return ald_csv_open(&f->source, &csv, &f->host, out, err);
}

static ald_status drain(struct ArrowArrayStream *stream, int64_t *rows, ald_error *err)
{
    struct ArrowArray batch;
    ald_status st;
    *rows = 0;
    while ((st = ald_stream_next(stream, &batch, err)) == ALD_OK && batch.release != NULL) {
        *rows += batch.length;
        batch.release(&batch);
    }
    return st;
}

static ald_status job_select(fault_host *f, ald_error *err)
{
    static const char *const columns[] = {"b", "a"};
    ald_select_options o = ALD_SELECT_OPTIONS_INIT;
    struct ArrowArrayStream from, chosen;
    int64_t rows = 0;
    o.where = where;
    o.where_size = sizeof where - 1;
    o.columns = columns;
    o.column_count = 2;
    o.row_begin = 1;
    ald_status st = open_table(f, &from, err);
    if (st != ALD_OK)
        return st;
    st = ald_select_stream(&from, &o, &f->host, &chosen, err);
    CHECK(from.release == NULL && (st == ALD_OK) == (chosen.release != NULL));
    if (st != ALD_OK)
        return st;
    st = drain(&chosen, &rows, err);
    if (st == ALD_OK)
        CHECK_INT(rows, 3);
    chosen.release(&chosen);
    return st;
}

/* A question there, an answer back. */
static ald_status job_query(fault_host *f, ald_error *err)
{
    static const uint8_t owner[32] = {1}, user[32] = {2};
    uint8_t owner_public[32], user_public[32], who[32];
    ald_buffer sent = {NULL, 0, 0, &f->host.alloc}, question = sent, back = sent, text = sent;
    const ald_crypto *crypto = f->host.crypto;
    f->host.random = random_bytes;
    CHECK(crypto->x25519_public(owner, owner_public, NULL) == ALD_OK &&
          crypto->x25519_public(user, user_public, NULL) == ALD_OK);
    ald_status st = ald_query_seal(owner_public, user_public, "what?", 5, &f->host, &sent, err);
    if (st == ALD_OK)
        st = ald_query_unseal(owner, sent.data, sent.size, &f->host, who, &question, err);
    if (st == ALD_OK) {
        CHECK_MEM(who, user_public, 32);
        CHECK_UINT(question.size, 5);
        st = ald_query_answer(who, sent.data, sent.size, "that", 4, &f->host, &back, err);
    }
    if (st == ALD_OK)
        st = ald_query_open(user, sent.data, sent.size, back.data, back.size, &f->host, &text, err);
    if (st == ALD_OK)
        CHECK(text.size == 4 && memcmp(text.data, "that", 4) == 0);
    ald_buffer_clear(&sent);
    ald_buffer_clear(&question);
    ald_buffer_clear(&back);
    ald_buffer_clear(&text);
    return st;
}

static void test_select(void)
{
    static const char csv[] = "a,b\n3,x\n3,y\n4,\n5,z\n101,\n3,w\n";
    CHECK(fault_each(FAULT_ALLOC, "select", job_select, csv, sizeof csv - 1, NULL) > 20);
    CHECK(fault_each(FAULT_READ, "select", job_select, csv, sizeof csv - 1, NULL) > 1);
}

static void test_query(void)
{
    CHECK(fault_each(FAULT_ALLOC, "query", job_query, "", 0, NULL) > 3);
}

int main(void)
{
    RUN(test_select);
    RUN(test_query);
    return check_done();
}
