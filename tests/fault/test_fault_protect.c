/* SPDX-License-Identifier: MIT */
/* Protected files while memory, input, output, scratch space and randomness fail at every call in turn; and whether keys
 * stay behind in memory that was given back. */
#include "fault/fault_host.h"
#include "unit/protect_fixture.h"

static protect_way way;
static ald_rewrite_options request;
static uint8_t *input;
static size_t input_size;

static ald_status save_job(fault_host *f, ald_error *err)
{
    f->host.random = protect_random;
    protect_rewind();
    return protect_save(&way, NULL, &f->sink, &f->host, err);
}

static ald_status rewrite_job(fault_host *f, ald_error *err)
{
    f->host.random = protect_random;
    return ald_rewrite(&f->source, &f->sink, &request, &f->host, err);
}

static void no_way_back(fault_host *f)
{
    f->sink.write_at = NULL;
}

static void no_spool(fault_host *f)
{
    f->host.spool_open = NULL;
}

/* ---- randomness */

static void each_random(const char *name, fault_job job, const void *data, size_t size)
{
    static fault_host f;
    ald_status st = ALD_E_IO;
    int64_t n = 0;
    for (; st != ALD_OK && n < 1000; n++) {
        ald_error err = {0};
        fault_init(&f, data, size);
        protect_random_left = n;
        st = job(&f, &err);
        if (st != ALD_OK && !fault_check_failure(FAULT_WRITE, st, &err))
            printf("    %s, random call %d\n", name, (int)n);
        fault_check_clean(&f);
    }
    CHECK_INT(st, ALD_OK);
    CHECK(n > 1);
    protect_random_left = -1;
    fault_clear(&f);
}

/* ---- saving */

static void fail_save(const char *name)
{
    CHECK(fault_each(FAULT_ALLOC, name, save_job, NULL, 0, NULL) > 5);
    CHECK(fault_each(FAULT_WRITE, name, save_job, NULL, 0, NULL) > 2);
    fault_each(FAULT_SPOOL, name, save_job, NULL, 0, no_way_back);
    fault_each(FAULT_ALLOC, name, save_job, NULL, 0, no_spool);
    if (way.encryption != ALD_ENCRYPTION_NONE)
        each_random(name, save_job, NULL, 0);
}

static void test_saving(void)
{
    way = (protect_way){.encryption = ALD_ENCRYPTION_SEVERAL, .with_signer = 1, .with_license = 1};
    way.rows = 130;
    fail_save("whole");
    way.streaming = 1;
    way.chunk_rows = 50;
    fail_save("chunks, stored");
    way.compression = ALD_COMPRESSION_LZ4;
    fail_save("chunks");
    way = (protect_way){.encryption = ALD_ENCRYPTION_RECIPIENT, .compression = 3, .rows = 130};
    fail_save("recipient");
    way.compat = 1;
    fail_save("compat");
    way = (protect_way){.with_signer = 1, .aligned = 1, .rows = 130};
    fail_save("aligned");
}

/* ---- rewriting */

static void keep_input(void)
{
    static fault_host f;
    ald_error err = {0};
    fault_init(&f, NULL, 0);
    f.host.random = protect_random;
    if (!CHECK_OK(protect_save(&way, NULL, &f.sink, &f.host, &err), &err))
        exit(1);
    free(input);
    input = f.output.data;
    input_size = f.output.size;
    f.output = (fault_bytes){NULL, 0, 0};
}

static void fail_rewrite(const char *name, int draws)
{
    CHECK(fault_each(FAULT_ALLOC, name, rewrite_job, input, input_size, NULL) > 5);
    CHECK(fault_each(FAULT_READ, name, rewrite_job, input, input_size, NULL) > 2);
    CHECK(fault_each(FAULT_WRITE, name, rewrite_job, input, input_size, NULL) > 2);
    fault_each(FAULT_SPOOL, name, rewrite_job, input, input_size, no_way_back);
    fault_each(FAULT_ALLOC, name, rewrite_job, input, input_size, no_spool);
    if (draws)
        each_random(name, rewrite_job, input, input_size);
}

static void test_rewriting(void)
{
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_license license = protect_license();
    ald_trust trust;
    for (int streaming = 0; streaming < 2; streaming++) {
        way = (protect_way){.encryption = ALD_ENCRYPTION_SEVERAL, .with_signer = 1, .rows = 130};
        way.streaming = (uint8_t)streaming;
        way.chunk_rows = streaming ? 50 : 0;
        keep_input();
        trust = protect_trust(&way);
        load.trust = &trust;
        request = (ald_rewrite_options)ALD_REWRITE_OPTIONS_INIT;
        request.load = &load;
        request.signing = ALD_SIGNING_SIGN;
        request.licensing = ALD_LICENSING_SET;
        request.protection.license = &license;
        request.protection.signer_seed = protect_seed;
        fail_rewrite("sign and license", 0);
        request.encrypting = ALD_ENCRYPTING_RECIPIENTS;
        request.protection.recipients = protect_public;
        request.protection.recipient_count = 3;
        fail_rewrite("recipients", 1);
        request.protection.recipient_count = 1;
        fail_rewrite("one recipient less", 1);
        request.protection.recipient_count = 0;
        request.protection.recipients = NULL;
        request.encrypting = ALD_ENCRYPTING_DECRYPT;
        request.signing = ALD_SIGNING_STRIP;
        request.protection.signer_seed = NULL;
        fail_rewrite("decrypt", 0);
    }
}

/* ---- keys in memory that is given back */

static uint8_t file_key[32]; /* of mode 2: the first bytes that are drawn */
static int64_t keys_seen;
static ald_allocator inner;

static void look_for_key(const void *ptr, size_t size)
{
    const uint8_t *p = (const uint8_t *)ptr;
    for (size_t i = 0; i + sizeof file_key <= size; i++)
        keys_seen += p[i] == file_key[0] && memcmp(p + i, file_key, sizeof file_key) == 0;
}

static void *looking_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return inner.alloc(inner.ctx, size);
}

static void *looking_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    look_for_key(ptr, old_size);
    return inner.resize(inner.ctx, ptr, old_size, new_size);
}

static void looking_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    look_for_key(ptr, size);
    inner.release(inner.ctx, ptr, size);
}

static ald_host looking_host(fault_host *f)
{
    ald_host host;
    fault_init(f, input, input_size);
    host = f->host;
    inner = host.alloc;
    host.alloc = (ald_allocator){looking_alloc, looking_resize, looking_release, NULL};
    host.random = protect_random;
    return host;
}

static void test_keys_are_wiped(void)
{
    static fault_host f;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust;
    ald_error err = {0};
    ald_host host;
    protect_rewind();
    CHECK_OK(protect_random(NULL, file_key, sizeof file_key, &err), &err);
    for (int streaming = 0; streaming < 2; streaming++) {
        way = (protect_way){.encryption = ALD_ENCRYPTION_SEVERAL, .rows = 130};
        way.streaming = (uint8_t)streaming;
        protect_rewind();
        keep_input();
        host = looking_host(&f);
        protect_rewind();
        keys_seen = 0;
        look_for_key(file_key, sizeof file_key);
        CHECK_INT(keys_seen, 1); /* it would be found */
        keys_seen = 0;
        CHECK_OK(protect_save(&way, NULL, &f.sink, &host, &err), &err);
        CHECK_UINT(f.output.size, input_size); /* the same key again */
        CHECK_MEM(f.output.data, input, input_size);
        CHECK_INT(keys_seen, 0);
        trust = protect_trust(&way);
        load.trust = &trust;
        request = (ald_rewrite_options)ALD_REWRITE_OPTIONS_INIT;
        request.load = &load;
        request.encrypting = ALD_ENCRYPTING_RECIPIENTS;
        request.protection.recipients = protect_public;
        request.protection.recipient_count = 3;
        host = looking_host(&f);
        CHECK_OK(ald_rewrite(&f.source, &f.sink, &request, &host, &err), &err);
        request.encrypting = ALD_ENCRYPTING_DECRYPT;
        request.protection.recipients = NULL;
        request.protection.recipient_count = 0;
        host = looking_host(&f);
        CHECK_OK(ald_rewrite(&f.source, &f.sink, &request, &host, &err), &err);
        CHECK_INT(keys_seen, 0);
    }
    fault_clear(&f);
}

int main(void)
{
    protect_keys();
    RUN(test_saving);
    RUN(test_rewriting);
    RUN(test_keys_are_wiped);
    free(input);
    return check_done();
}
