/* SPDX-License-Identifier: MIT */
/* A host that lacks one of the members of ald_crypto, whichever: what needs it is Unsupported, the rest works. */
#include "protect_fixture.h"

static fault_host saving;

static int is_fine(ald_status st)
{
    return st == ALD_OK || st == ALD_E_UNSUPPORTED;
}

static ald_host host_without(ald_crypto *crypto, size_t member)
{
    ald_host host = ald_native_host(1);
    *crypto = *host.crypto;
    memset((char *)crypto + member * sizeof(void *), 0, sizeof(void *));
    host.crypto = crypto;
    host.random = protect_random;
    return host;
}

static void check_read(const protect_way *w, const ald_host *host)
{
    ald_source source = ald_source_memory(saving.output.data, saving.output.size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = protect_trust(w);
    ald_dataset *d = NULL;
    ald_streaming *s = NULL;
    ald_error err = {0};
    o.trust = &trust;
    for (uint8_t i = 0; i < 4; i++) {
        trust.commercial = w->with_signer && i >= 2;
        source.view = i % 2 ? NULL : source.view;
        o.check_all = i % 2;
        CHECK(is_fine(ald_load(&source, &o, host, &d, &err)));
        CHECK(is_fine(ald_streaming_open(&source, &o, host, &s, &err)) || !w->streaming);
        ald_dataset_free(d);
        ald_streaming_close(s);
    }
}

static void check_without(size_t member)
{
    ald_crypto crypto;
    ald_host lacking = host_without(&crypto, member), whole = ald_native_host(1);
    ald_error err = {0};
    whole.random = protect_random;
    for (int i = 0; i < 8; i++) {
        protect_way w = {.compression = 1, .rows = 40, .chunk_rows = 20};
        w.encryption = (uint8_t)(i % 4);
        w.streaming = (uint8_t)(i / 4);
        w.with_signer = w.with_license = i != 1;
        w.chunk_rows = w.streaming ? 20 : 0;
        fault_init(&saving, NULL, 0);
        CHECK(is_fine(protect_save(&w, NULL, &saving.sink, &lacking, &err)));
        fault_clear(&saving);
        fault_init(&saving, NULL, 0);
        REQUIRE_OK(protect_save(&w, NULL, &saving.sink, &whole, &err), &err);
        check_read(&w, &lacking);
        fault_clear(&saving);
    }
}

static void check_query(size_t member)
{
    ald_crypto crypto;
    ald_host host = host_without(&crypto, member);
    ald_buffer sealed = {0};
    ald_error err = {0};
    ald_status st = ald_query_answer(protect_public, "q", 1, "a", 1, &host, &sealed, &err);
    CHECK(is_fine(st));
    if (st == ALD_OK)
        ald_buffer_clear(&sealed);
}

static void test_each_member(void)
{
    for (size_t i = 1; i < sizeof(ald_crypto) / sizeof(void *); i++) {
        check_without(i);
        check_query(i);
    }
}

int main(void)
{
    protect_keys();
    RUN(test_each_member);
    return check_done();
}
