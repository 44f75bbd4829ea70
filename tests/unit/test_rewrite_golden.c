/* SPDX-License-Identifier: MIT */
/* Every golden file rewritten: signed by someone without its key, encrypted anew, decrypted. Each result holds the same rows
 * and the same metadata, whatever the input's types, sections and version. */
#include <dirent.h>
#include <yyjson.h>

#include "fault/table_stream.h"
#include "protect_fixture.h"

#define FOLDER "golden/wire-1.3"
#define KEYS_MAX 16

/* What reads a file, from its twin. */
typedef struct golden_keys {
    uint8_t private_keys[32 * KEYS_MAX], trusted[32 * KEYS_MAX];
    ald_trust trust;
} golden_keys;

static ald_host host;

static size_t take_hex(yyjson_val *list, uint8_t *out)
{
    size_t i, count, keys = 0;
    yyjson_val *item;
    yyjson_arr_foreach(list, i, count, item)
    {
        const char *hex = yyjson_get_str(item);
        for (size_t k = 0; k < 32 && keys < KEYS_MAX; k++) {
            unsigned byte = 0;
            (void)sscanf(hex + 2 * k, "%2x", &byte);
            out[32 * keys + k] = (uint8_t)byte;
        }
        keys++;
    }
    return keys;
}

static void take_keys(yyjson_val *given, golden_keys *k)
{
    yyjson_val *any = yyjson_obj_get(given, "any_of_private_keys");
    yyjson_val *password = yyjson_obj_get(given, "password");
    k->trust = (ald_trust)ALD_TRUST_INIT;
    k->trust.private_keys = k->private_keys;
    k->trust.private_count =
        take_hex(any != NULL ? any : yyjson_obj_get(given, "private_keys"), k->private_keys);
    k->trust.trusted_keys = k->trusted;
    k->trust.trusted_count = take_hex(yyjson_obj_get(given, "trusted"), k->trusted);
    k->trust.password = yyjson_get_str(password);
    k->trust.password_size = yyjson_get_len(password);
}

static ald_status load_rows(const void *data, size_t size, const ald_trust *trust,
                            ald_dataset **out, rt_out *rows, ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_status st;
    o.trust = trust;
    o.ignore_expiry = 1;
    st = ald_load(&source, &o, &host, out, err);
    for (size_t i = 0; st == ALD_OK && i < ald_dataset_batch_count(*out); i++) {
        struct ArrowArray batch;
        st = ald_dataset_batch(*out, i, &batch, err);
        if (st == ALD_OK) {
            rt_render_batch(ald_dataset_schema(*out), &batch, rows);
            batch.release(&batch);
        }
    }
    return st;
}

/* Same rows, schema and metadata, sha256 aside. */
static void check_same(const char *file, const char *what, const ald_dataset *want,
                       const rt_out *rows, const ald_buffer *bytes, const ald_trust *trust)
{
    const ald_info *a = ald_dataset_info(want), *b;
    ald_dataset *d = NULL;
    ald_error err = {0};
    rt_out got = {0};
    int before = check_failures;
    if (CHECK_OK(load_rows(bytes->data, bytes->size, trust, &d, &got, &err), &err)) {
        b = ald_dataset_info(d);
        CHECK_UINT(got.size, rows->size);
        CHECK(got.size == 0 || memcmp(got.data, rows->data, got.size) == 0);
        CHECK_OK(ald_schema_compare(ald_dataset_schema(want), ald_dataset_schema(d), 1, &err),
                 &err);
        CHECK_UINT(b->dataset_type, a->dataset_type);
        CHECK_UINT(b->compression, a->compression);
        CHECK_UINT(b->uncompressed_size, a->uncompressed_size);
        CHECK_UINT(ald_value_get_count(b->metadata),
                   ald_value_get_count(a->metadata) -
                       (ald_value_find(a->metadata, "sha256") != NULL));
    }
    if (check_failures > before)
        printf("    %s, %s\n", file, what);
    ald_dataset_free(d);
    free(got.data);
}

static ald_status rewrite(const void *data, size_t size, const ald_trust *trust,
                          const ald_rewrite_options *options, ald_buffer *out, ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_rewrite_options o = *options;
    ald_sink sink;
    out->size = 0;
    sink = ald_buffer_sink(out);
    load.trust = trust;
    o.load = &load;
    return ald_rewrite(&source, &sink, &o, &host, err);
}

static int is_old_encrypted(const ald_info *info)
{
    return (info->flags & ALD_FLAG_ENCRYPTED) != 0 && info->version_minor < 3;
}

static void check_signing(const char *file, const uint8_t *data, size_t size,
                          const golden_keys *keys, const ald_dataset *d, const rt_out *rows,
                          ald_buffer *out)
{
    const ald_info *info = ald_dataset_info(d);
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_trust trust = keys->trust;
    ald_error err = {0};
    ald_status st;
    trust.password = NULL; /* who signs has no key */
    trust.private_count = 0;
    o.signing = ALD_SIGNING_SIGN;
    o.protection.signer_seed = protect_seed;
    st = rewrite(data, size, &trust, &o, out, &err);
    if (is_old_encrypted(info) && (info->flags & ALD_FLAG_LICENSED)) {
        CHECK_INT(st, ALD_E_UNSUPPORTED);
        return;
    }
    if (!CHECK_OK(st, &err)) {
        printf("    %s\n", file);
        return;
    }
    trust = keys->trust;
    trust.trusted_keys = protect_signer;
    trust.trusted_count = 1;
    check_same(file, "signed", d, rows, out, &trust);
}

static void check_encrypting(const char *file, const uint8_t *data, size_t size,
                             const golden_keys *keys, const ald_dataset *d, const rt_out *rows,
                             ald_buffer *out)
{
    ald_buffer plain = {NULL, 0, 0, &host.alloc};
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_error err = {0};
    ald_status st;
    o.signing = ALD_SIGNING_STRIP;
    o.encrypting = ALD_ENCRYPTING_ENCRYPT;
    o.protection.encryption = ALD_ENCRYPTION_SEVERAL;
    o.protection.recipients = protect_public;
    o.protection.recipient_count = 2;
    st = rewrite(data, size, &keys->trust, &o, out, &err);
    if (ald_dataset_info(d)->flags & ALD_FLAG_TRUENO_NATIVE) {
        CHECK_INT(st, ALD_E_UNSUPPORTED);
        return;
    }
    if (!CHECK_OK(st, &err)) {
        printf("    %s\n", file);
        return;
    }
    trust.private_keys = protect_private + 32;
    trust.private_count = 1;
    check_same(file, "encrypted", d, rows, out, &trust);
    o = (ald_rewrite_options)ALD_REWRITE_OPTIONS_INIT;
    o.encrypting = ALD_ENCRYPTING_DECRYPT;
    CHECK_OK(rewrite(out->data, out->size, &trust, &o, &plain, &err), &err);
    trust = (ald_trust)ALD_TRUST_INIT;
    check_same(file, "decrypted", d, rows, &plain, &trust);
    ald_buffer_clear(&plain);
}

/* 1 when the file is one that we read. */
static int check_golden(const char *file)
{
    char name[512];
    size_t size, twin_size;
    uint8_t *data, *twin;
    yyjson_doc *doc;
    golden_keys keys;
    ald_dataset *d = NULL;
    ald_error err = {0};
    rt_out rows = {0};
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    int reads;
    snprintf(name, sizeof name, FOLDER "/%s.json", file);
    twin = fault_file(name, &twin_size);
    snprintf(name, sizeof name, FOLDER "/%s", file);
    data = fault_file(name, &size);
    doc = yyjson_read_opts((char *)twin, twin_size, 0, NULL, NULL);
    take_keys(yyjson_obj_get(yyjson_doc_get_root(doc), "read_with"), &keys);
    reads = load_rows(data, size, &keys.trust, &d, &rows, &err) == ALD_OK;
    if (reads) {
        check_signing(file, data, size, &keys, d, &rows, &out);
        check_encrypting(file, data, size, &keys, d, &rows, &out);
    }
    ald_dataset_free(d);
    ald_buffer_clear(&out);
    yyjson_doc_free(doc);
    free(rows.data);
    free(data);
    free(twin);
    return reads;
}

static void test_golden(void)
{
    DIR *folder = opendir(ALD_TEST_DATA "/" FOLDER);
    struct dirent *entry;
    size_t checked = 0;
    REQUIRE(folder != NULL);
    while ((entry = readdir(folder)) != NULL) {
        size_t n = strlen(entry->d_name);
        if (n > 4 && strcmp(entry->d_name + n - 4, ".ald") == 0)
            checked += (size_t)check_golden(entry->d_name);
    }
    closedir(folder);
    CHECK(checked >= 250);
    printf("%zu files\n", checked);
}

int main(void)
{
    host = ald_native_host(1);
    protect_keys();
    RUN(test_golden);
    return check_done();
}
