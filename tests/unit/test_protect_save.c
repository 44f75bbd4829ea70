/* SPDX-License-Identifier: MIT */
/* Saving encrypted, signed and licensed files: every combination is read back; the bytes do not depend on threads; what
 * cannot be is refused. With `--dump FOLDER` the files are written there with their keys, for readers that are not ours. */
#include "protect_fixture.h"

static fault_host host_of_ways;

/* All combinations that can be, one after the other; 0: no more. */
static int next_way(size_t index, protect_way *w)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4};
    static const int64_t rows[] = {250, 0};
    size_t i = index;
    memset(w, 0, sizeof *w);
    w->encryption = (uint8_t)(i % 4);
    i /= 4;
    w->streaming = i % 2;
    i /= 2;
    w->with_signer = i % 2;
    i /= 2;
    w->with_license = i % 2;
    i /= 2;
    w->compression = compressions[i % 3];
    i /= 3;
    w->rows = rows[i % 2];
    i /= 2;
    w->aligned = i % 2;
    i /= 2;
    w->compat = i % 2;
    i /= 2;
    w->chunk_rows = w->streaming ? 30 : 0;
    if (w->encryption == ALD_ENCRYPTION_PASSWORD && w->streaming && w->with_license)
        w->kdf_m_kib = 20000; /* a kdf in the metadata */
    return i == 0;
}

static int is_possible(const protect_way *w)
{
    if (w->aligned && (w->encryption != ALD_ENCRYPTION_NONE || w->compression != 0))
        return 0;
    return !w->compat || (!w->streaming && !w->aligned && w->encryption != ALD_ENCRYPTION_SEVERAL &&
                          !(w->with_signer && w->with_license));
}

static ald_status save_way(const protect_way *w, uint32_t threads, int goes_back, ald_error *err)
{
    fault_host *f = &host_of_ways;
    ald_host native = ald_native_host(4);
    fault_init(f, NULL, 0);
    f->host.random = protect_random;
    if (!goes_back)
        f->sink.write_at = NULL;
    protect_rewind();
    if (threads > 1) { /* the counting allocator is for one thread */
        ald_host host = native;
        host.random = protect_random;
        return protect_save(w, NULL, &f->sink, &host, err);
    }
    return protect_save(w, NULL, &f->sink, &f->host, err);
}

static void check_way(const protect_way *w)
{
    fault_bytes first = {NULL, 0, 0};
    ald_error err = {0};
    ald_trust trust = protect_trust(w);
    int before = check_failures;
    if (CHECK_OK(save_way(w, 1, 1, &err), &err)) {
        const fault_bytes *got = &host_of_ways.output;
        fault_check_clean(&host_of_ways);
        fault_append(&first, got->data, got->size);
        CHECK_INT(first.data[5], w->encryption != 0 && !w->compat    ? 3
                                 : w->streaming || w->aligned        ? 3
                                 : w->with_signer && w->with_license ? 3
                                                                     : 2);
        protect_check_rows(first.data, first.size, &trust, w->rows);
        /* on threads; and where the sink cannot go back, but for the room in the prefix */
        CHECK_OK(save_way(w, 4, 1, &err), &err);
        CHECK_UINT(got->size, first.size);
        CHECK_MEM(got->data, first.data, first.size < got->size ? first.size : got->size);
        CHECK_OK(save_way(w, 1, 0, &err), &err);
        if (w->with_signer && CHECK_UINT(got->size, first.size))
            CHECK_MEM(got->data, first.data, first.size);
    }
    free(first.data);
    if (check_failures > before)
        printf("    %s\n", protect_name(w));
}

static void test_combinations(void)
{
    protect_way w;
    size_t done = 0;
    for (size_t i = 0; next_way(i, &w); i++) {
        if (!is_possible(&w))
            continue;
        check_way(&w);
        done++;
    }
    CHECK(done > 150);
}

/* ---- what is refused */

static void check_refused(const protect_way *w, ald_status want, const char *text)
{
    ald_error err = {0};
    CHECK_INT(save_way(w, 1, 1, &err), want);
    CHECK_CONTAINS(err.msg, text);
    CHECK_UINT(host_of_ways.output.size, 0);
    fault_check_clean(&host_of_ways);
}

static void test_refused_ways(void)
{
    protect_way aligned = {.encryption = ALD_ENCRYPTION_RECIPIENT, .aligned = 1};
    protect_way several = {.encryption = ALD_ENCRYPTION_SEVERAL, .compat = 1, .compression = 1};
    protect_way bound = {.with_signer = 1, .with_license = 1, .compat = 1, .compression = 1};
    protect_way kdf = {.encryption = ALD_ENCRYPTION_PASSWORD, .compat = 1, .kdf_m_kib = 20000};
    protect_way weak = {.encryption = ALD_ENCRYPTION_PASSWORD, .kdf_m_kib = 8192};
    protect_way unknown = {.encryption = 9};
    check_refused(&aligned, ALD_E_INVALID_ARG, "not encrypted");
    check_refused(&several, ALD_E_UNSUPPORTED, "several");
    check_refused(&bound, ALD_E_UNSUPPORTED, "license");
    check_refused(&kdf, ALD_E_UNSUPPORTED, "Argon2id");
    check_refused(&weak, ALD_E_INVALID_ARG, "weaker");
    check_refused(&unknown, ALD_E_INVALID_ARG, "encryption");
}

static ald_status save_with(const ald_save_options *o, ald_error *err)
{
    fault_host *f = &host_of_ways;
    struct ArrowArrayStream stream;
    fault_init(f, NULL, 0);
    f->host.random = protect_random;
    number_open(10, 1, 10, &stream);
    ald_status st = ald_save(&stream, &f->sink, o, &f->host, err);
    CHECK(stream.release == NULL);
    fault_check_clean(f);
    return st;
}

/* A secret that would not be used is a mistake: somebody expects an encrypted file. */
static void test_stray_secrets(void)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_error err = {0};
    o.protection = &p;
    p.password = "x";
    p.password_size = 1;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.encryption = ALD_ENCRYPTION_PASSWORD;
    p.password_size = 0;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.password_size = 1;
    p.recipients = protect_public;
    p.recipient_count = 1;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.password = NULL;
    p.encryption = ALD_ENCRYPTION_RECIPIENT;
    p.recipient_count = 2;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.recipient_count = 0;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.encryption = ALD_ENCRYPTION_SEVERAL;
    p.recipient_count = 1025;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
}

/* Keys of small order give everybody the same secret. */
static void test_small_order_recipient(void)
{
    static const uint8_t zeros[32] = {0};
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_error err = {0};
    o.protection = &p;
    p.recipients = zeros;
    p.recipient_count = 1;
    p.encryption = ALD_ENCRYPTION_RECIPIENT;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    p.encryption = ALD_ENCRYPTION_SEVERAL;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
}

static void test_bad_licenses(void)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_license l = protect_license();
    ald_error err = {0};
    o.protection = &p;
    p.license = &l;
    CHECK_OK(save_with(&o, &err), &err);
    l.flags = 0x40;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    l.flags = 0;
    l.terms = "\xFF";
    l.terms_size = 1;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
}

/* ---- sizes of option structs */

static void test_struct_sizes(void)
{
    struct {
        ald_save_options o;
        uint8_t more[16];
    } longer = {ALD_SAVE_OPTIONS_INIT, {0}};
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_error err = {0};
    CHECK_OK(save_with(NULL, &err), &err);
    /* an older caller knows no protection: what is there is not looked at */
    o.protection = (const ald_protection *)(uintptr_t)1;
    o.struct_size = offsetof(ald_save_options, protection);
    CHECK_OK(save_with(&o, &err), &err);
    o.struct_size = 0;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    o.struct_size = UINT32_MAX;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
    longer.o.struct_size = sizeof longer;
    CHECK_OK(save_with(&longer.o, &err), &err);
    longer.more[15] = 1;
    CHECK_INT(save_with(&longer.o, &err), ALD_E_INVALID_ARG);
    o = longer.o;
    o.struct_size = sizeof o;
    o.protection = &p;
    CHECK_OK(save_with(&o, &err), &err);
    p.struct_size = 3;
    CHECK_INT(save_with(&o, &err), ALD_E_INVALID_ARG);
}

/* ---- hosts that lend little */

static void test_missing_crypto(void)
{
    fault_host *f = &host_of_ways;
    protect_way w = {.with_signer = 1, .compression = 1};
    ald_error err = {0};
    fault_init(f, NULL, 0);
    f->host.crypto = NULL;
    f->host.random = NULL;
    CHECK_INT(protect_save(&w, NULL, &f->sink, &f->host, &err), ALD_E_UNSUPPORTED);
    w = (protect_way){.encryption = ALD_ENCRYPTION_SEVERAL, .compression = 1};
    CHECK_INT(protect_save(&w, NULL, &f->sink, &f->host, &err), ALD_E_UNSUPPORTED);
    f->host.crypto = ald_native_host(1).crypto;
    CHECK_INT(protect_save(&w, NULL, &f->sink, &f->host, &err), ALD_E_UNSUPPORTED);
    CHECK_CONTAINS(err.msg, "random");
    fault_check_clean(f);
}

/* ---- two files never share a key or nonce */

static void test_fresh_blocks(void)
{
    protect_way w = {.encryption = ALD_ENCRYPTION_RECIPIENT, .compression = 1, .rows = 5};
    fault_bytes first = {NULL, 0, 0};
    fault_host *f = &host_of_ways;
    ald_error err = {0};
    fault_init(f, NULL, 0);
    f->host.random = protect_random;
    CHECK_OK(protect_save(&w, NULL, &f->sink, &f->host, &err), &err);
    fault_append(&first, f->output.data, f->output.size);
    f->output.size = 0;
    CHECK_OK(protect_save(&w, NULL, &f->sink, &f->host, &err), &err);
    CHECK_UINT(f->output.size, first.size);
    CHECK(memcmp(f->output.data, first.data, first.size) != 0);
    free(first.data);
}

/* ---- licenses */

static int64_t fixed_now(void *ctx)
{
    (void)ctx;
    return 1750000000;
}

static void test_license_init(void)
{
    ald_host host = ald_native_host(1);
    ald_license a, b;
    uint8_t hash[32];
    ald_error err = {0};
    host.now = fixed_now;
    REQUIRE_OK(ald_license_init(&a, "ACME", 4, &host, &err), &err);
    REQUIRE_OK(ald_license_init(&b, "ACME", 4, &host, &err), &err);
    CHECK(memcmp(a.license_id, b.license_id, 16) != 0);
    CHECK_INT(a.license_id[6] >> 4, 4);
    CHECK_INT(a.license_id[8] >> 6, 2);
    CHECK_UINT(a.issued_at, 1750000000);
    CHECK_UINT(a.expires_at, 0);
    CHECK_INT(a.flags, 0);
    REQUIRE_OK(ald_license_hash_licensee("ACME", 4, &host, hash, &err), &err);
    CHECK_MEM(a.licensee_hash, hash, 32);
    /* printf ACME | sha256sum */
    CHECK_MEM(hash, "\xa8\x30\x8e\x8e\x2e\x4b\x73\x30\x7d\x86\x0d\xe2\xef\xfd\xc6\x75", 16);
    CHECK_INT(ald_license_init(&a, "", 0, &host, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_license_init(&a, "\xC0", 1, &host, &err), ALD_E_INVALID_ARG);
    host.now = NULL;
    CHECK_INT(ald_license_init(&a, "ACME", 4, &host, &err), ALD_E_UNSUPPORTED);
}

/* ---- for other readers */

static void print_hex(FILE *out, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", data[i]);
}

static void dump_way(const char *folder, FILE *manifest, const protect_way *w)
{
    ald_trust t = protect_trust(w);
    char path[4096];
    ald_error err = {0};
    FILE *file;
    if (save_way(w, 1, 1, &err) != ALD_OK) {
        printf("%s: %s\n", protect_name(w), err.msg);
        exit(1);
    }
    snprintf(path, sizeof path, "%s/%s.ald", folder, protect_name(w));
    file = fopen(path, "wb");
    if (file == NULL || fwrite(host_of_ways.output.data, 1, host_of_ways.output.size, file) !=
                            host_of_ways.output.size)
        exit(1);
    (void)fclose(file);
    fprintf(manifest, "{\"file\": \"%s.ald\", \"rows\": %d, \"columns\": %d", protect_name(w),
            (int)w->rows, PROTECT_COLUMNS);
    if (t.password != NULL)
        fprintf(manifest, ", \"password\": \"%s\"", PROTECT_PASSWORD);
    if (w->encryption == ALD_ENCRYPTION_RECIPIENT || w->encryption == ALD_ENCRYPTION_SEVERAL) {
        size_t count = w->encryption == ALD_ENCRYPTION_RECIPIENT ? 1 : PROTECT_RECIPIENTS;
        fprintf(manifest, ", \"any_of_private_keys\": [");
        for (size_t i = 0; i < count; i++) {
            fprintf(manifest, "%s\"", i > 0 ? ", " : "");
            print_hex(manifest, protect_private + 32 * i, 32);
            fprintf(manifest, "\"");
        }
        fprintf(manifest, "]");
    }
    if (w->with_signer) {
        fprintf(manifest, ", \"trusted\": \"");
        print_hex(manifest, protect_signer, 32);
        fprintf(manifest, "\"");
    }
    fprintf(manifest, ", \"commercial\": %s, \"compat\": %s}\n",
            w->with_signer && w->with_license ? "true" : "false", w->compat ? "true" : "false");
}

static int dump(const char *folder)
{
    protect_way w;
    char path[4096];
    FILE *manifest;
    snprintf(path, sizeof path, "%s/manifest.jsonl", folder);
    manifest = fopen(path, "w");
    if (manifest == NULL)
        return 1;
    for (size_t i = 0; next_way(i, &w); i++) {
        if (is_possible(&w))
            dump_way(folder, manifest, &w);
    }
    return fclose(manifest) != 0;
}

int main(int argc, char **argv)
{
    protect_keys();
    if (argc == 3 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2]);
    RUN(test_combinations);
    RUN(test_refused_ways);
    RUN(test_stray_secrets);
    RUN(test_small_order_recipient);
    RUN(test_bad_licenses);
    RUN(test_struct_sizes);
    RUN(test_missing_crypto);
    RUN(test_fresh_blocks);
    RUN(test_license_init);
    fault_clear(&host_of_ways);
    return check_done();
}
