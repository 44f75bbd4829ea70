/* SPDX-License-Identifier: MIT */
/* A source that answers the same question differently: a server that lies now and then, or a file that is written to. What
 * a signed file is said to be has to be what was signed, whenever the lie comes. */
#include "protect_fixture.h"

#define TRUE_NAME "an honest name of a data set"
#define FALSE_NAME "a forged one of the same len"

#define FLAGS_AT 21 /* in the header */

static fault_host saving;

typedef struct liar {
    size_t at, size;     /* of what is changed */
    const char *lie;     /* what stands there then */
    int calls, from, to; /* calls that touch it: so far, and the ones that are lied to */
} liar;

static ald_status lying_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    liar *l = (liar *)ctx;
    uint8_t *out = (uint8_t *)buf;
    if (offset > saving.output.size || size > saving.output.size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read past the end");
    memcpy(out, saving.output.data + offset, size);
    if (offset >= l->at + l->size || offset + size <= l->at)
        return ALD_OK;
    if (l->calls >= l->from && l->calls < l->to) {
        for (size_t i = 0; i < size; i++) {
            if (offset + i >= l->at && offset + i < l->at + l->size)
                out[i] = (uint8_t)l->lie[offset + i - l->at];
        }
    }
    l->calls++;
    return ALD_OK;
}

static size_t find_name(void)
{
    size_t n = strlen(TRUE_NAME);
    for (size_t i = 0; i + n <= saving.output.size; i++) {
        if (memcmp(saving.output.data + i, TRUE_NAME, n) == 0)
            return i;
    }
    abort();
}

static void save_named(const protect_way *w)
{
    ald_host host = ald_native_host(1);
    ald_value *root = NULL, *v;
    ald_error err = {0};
    REQUIRE_OK(ald_value_new(&host.alloc, &root, &err), &err);
    ald_value_set_map(root);
    v = ald_value_put(root, "name", 4);
    REQUIRE_OK(ald_value_set_string(v, TRUE_NAME, strlen(TRUE_NAME), &err), &err);
    fault_init(&saving, NULL, 0);
    saving.host.random = protect_random;
    REQUIRE_OK(protect_save(w, root, &saving.sink, &saving.host, &err), &err);
    ald_value_free(root);
}

/* Opened, and the name is the signed one; or not opened. */
static void check_open(const protect_way *w, liar *l, uint8_t check_all, int *opened)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = protect_trust(w);
    ald_host host = ald_native_host(1);
    ald_streaming *s = NULL;
    ald_error err = {0};
    ald_source source = {0};
    size_t size = 0;
    const char *name;
    source.size_bytes = saving.output.size;
    source.read_at = lying_read;
    source.ctx = l;
    o.trust = &trust;
    o.check_all = check_all;
    if (ald_streaming_open(&source, &o, &host, &s, &err) != ALD_OK)
        return;
    ++*opened;
    name = ald_value_get_bytes(ald_value_find(ald_streaming_info(s)->metadata, "name"), &size);
    CHECK_UINT(size, strlen(TRUE_NAME));
    CHECK(memcmp(name, TRUE_NAME, size) == 0);
    ald_streaming_close(s);
}

static void test_prefix_of_signed(void)
{
    for (int i = 0; i < 8; i++) {
        protect_way w = {.compression = 1, .rows = 90, .streaming = 1, .chunk_rows = 30};
        int opened = 0;
        w.with_signer = 1;
        w.with_license = i & 1;
        w.encryption = i & 2 ? ALD_ENCRYPTION_RECIPIENT : ALD_ENCRYPTION_NONE;
        save_named(&w);
        for (int from = 0; from < 10; from++) {
            for (int to = from; to < 10; to++) {
                liar l = {find_name(), strlen(TRUE_NAME), FALSE_NAME, 0, from, to};
                check_open(&w, &l, (i & 4) != 0, &opened);
            }
        }
        CHECK(opened >= 10); /* at least where nobody lied */
    }
}

/* What is signed is copied before it is rewritten; one that says so only later is not trusted to stay as it is. */
static void test_signed_later(void)
{
    protect_way w = {.compression = 1, .rows = 90, .with_signer = 1};
    const char flags[1] = {0};
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = protect_trust(&w);
    fault_host rewriting;
    save_named(&w);
    o.signing = ALD_SIGNING_SIGN;
    o.protection.signer_seed = protect_seed;
    o.load = &load;
    load.trust = &trust;
    for (int to = 0; to < 5; to++) {
        liar l = {FLAGS_AT, 1, flags, 0, 0, to};
        ald_source source = {0};
        ald_error err = {0};
        ald_status st;
        fault_init(&rewriting, NULL, 0);
        source.size_bytes = saving.output.size;
        source.read_at = lying_read;
        source.ctx = &l;
        st = ald_rewrite(&source, &rewriting.sink, &o, &rewriting.host, &err);
        CHECK(st == ALD_OK ? to < 2 : to >= 2);
        CHECK(to != 2 || st == ALD_E_IO);
        fault_clear(&rewriting);
    }
}

int main(void)
{
    protect_keys();
    RUN(test_prefix_of_signed);
    RUN(test_signed_later);
    fault_clear(&saving);
    return check_done();
}
