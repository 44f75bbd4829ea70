/* SPDX-License-Identifier: MIT */
/* Signed, encrypted and licensed files that another implementation wrote: read in every way that there is, with the keys
 * that their twins name, and refused without one of them. That the rows of a plain load are the twin's, value by value, is
 * checked by tests/runners/check_files.py; here every other way is compared with that load. */
#include <dirent.h>

#include "core/crypto/file_key.h"
#include "trust_case.h"

typedef struct golden {
    char name[300];
    uint8_t *data;
    size_t size;
    uint8_t flags;
    yyjson_doc *doc;
    yyjson_val *with;
    trust_case c;
    char *rows; /* of a plain load */
} golden;

static int count_protected, count_any_of, count_foreign, count_lazy, count_mapped, count_salvaged;
static ald_error err;

static void note(const golden *g, const char *what, ald_status st)
{
    printf("    %s, %s: %s %s\n", g->name, what, ald_status_name(st), st != ALD_OK ? err.msg : "");
}

/* ---- ways to read */

static void expect_rows(const golden *g, char *got, const ald_status *st, const char *what)
{
    if (!CHECK_INT(*st, ALD_OK) || !CHECK_STR(got, g->rows))
        note(g, what, *st);
    free(got);
}

static void expect_status(const golden *g, const trust_case *c, ald_status want, const char *what)
{
    ald_source source = ald_source_memory(g->data, g->size);
    ald_status st, st_lazy = want;
    char *rows = trust_load(c, &source, &st, &err);
    if (!CHECK_INT(st, want))
        note(g, what, st);
    if (st == ALD_E_DECRYPTION_FAILED && (g->flags & ALD_FLAG_ENCRYPTED))
        CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
    free(rows);
    rows = NULL;
    if (g->flags & ALD_FLAG_STREAMING)
        rows = trust_stream(c, &source, &st_lazy, &err);
    if (!CHECK_INT(st_lazy, want))
        note(g, what, st_lazy);
    free(rows);
}

static int64_t twin_rows(const golden *g)
{
    return yyjson_get_sint(yyjson_obj_get(yyjson_doc_get_root(g->doc), "num_rows"));
}

static int plain_load(golden *g)
{
    ald_source source = ald_source_memory(g->data, g->size);
    trust_bytes bytes = {g->data, g->size, 0};
    ald_status st;
    int64_t lines = 0;
    g->rows = trust_load(&g->c, &source, &st, &err);
    if (!CHECK_INT(st, ALD_OK)) {
        note(g, "load", st);
        return 0;
    }
    for (const char *p = g->rows; *p != '\0'; p++)
        lines += *p == '\n';
    CHECK_INT(lines, twin_rows(g));
    source = trust_source(&bytes); /* the library's own copy, decrypted where it is */
    expect_rows(g, trust_load(&g->c, &source, &st, &err), &st, "load through read_at");
    return 1;
}

static void check_columns(const golden *g, ald_streaming *s)
{
    const struct ArrowSchema *schema = ald_streaming_schema(s);
    uint8_t wanted[64] = {0};
    if (!CHECK(schema->n_children <= 64))
        return;
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray whole, alone;
        if (!CHECK_OK(ald_streaming_chunk(s, i, NULL, &whole, &err), &err))
            continue;
        for (int64_t k = 0; k < schema->n_children; k++) {
            show_text a = {NULL, 0, 0}, b = {NULL, 0, 0};
            wanted[k] = 1;
            show_put(&a, "");
            show_put(&b, "");
            if (CHECK_OK(ald_streaming_chunk(s, i, wanted, &alone, &err), &err)) {
                show_column(&a, schema->children[k], alone.children[0]);
                show_column(&b, schema->children[k], whole.children[k]);
                if (!CHECK_STR(a.text, b.text))
                    note(g, schema->children[k]->name, ALD_OK);
                alone.release(&alone);
            }
            wanted[k] = 0;
            free(a.text);
            free(b.text);
        }
        whole.release(&whole);
    }
}

static void check_lazily(const golden *g)
{
    ald_source source = ald_source_memory(g->data, g->size);
    trust_bytes bytes = {g->data, g->size, 0};
    trust_case all = g->c;
    ald_load_options load = trust_options(&g->c);
    ald_streaming *s = NULL;
    ald_status st;
    expect_rows(g, trust_stream(&g->c, &source, &st, &err), &st, "chunk by chunk");
    all.load.check_all = 1;
    expect_rows(g, trust_stream(&all, &source, &st, &err), &st, "chunk by chunk, all checked");
    source = trust_source(&bytes);
    expect_rows(g, trust_stream(&g->c, &source, &st, &err), &st, "chunk by chunk, read_at");
    if (CHECK_OK(ald_streaming_open(&source, &load, &g->c.host, &s, &err), &err))
        check_columns(g, s);
    ald_streaming_close(s);
    count_lazy++;
}

/* The file changes once it is open: in the last byte of its first chunk, which is the last column's. Each column of the chunk
 * is refused, though a reader could do without that byte; the others still come. */
static void check_changed_later(const golden *g)
{
    uint8_t wanted[64] = {0}, *copy = (uint8_t *)malloc(g->size);
    trust_bytes bytes = {copy, g->size, 0};
    ald_source source = trust_source(&bytes);
    ald_load_options load = trust_options(&g->c);
    ald_status want =
        g->flags & ALD_FLAG_SIGNED ? ALD_E_SIGNATURE_INVALID : ALD_E_DECRYPTION_FAILED;
    ald_streaming *s = NULL;
    struct ArrowArray chunk;
    const ald_info *info;
    if (copy == NULL)
        abort();
    memcpy(copy, g->data, g->size);
    if (!CHECK_OK(ald_streaming_open(&source, &load, &g->c.host, &s, &err), &err)) {
        free(copy);
        return;
    }
    info = ald_streaming_info(s);
    copy[info->sections.payload.begin + info->chunks[0].byte_offset +
         info->chunks[0].compressed_size - 1] ^= 1;
    if (info->facts != NULL && ald_value_find(info->facts, "frame_crc32") != NULL &&
        !(g->flags & ALD_FLAG_SIGNED))
        want = ALD_E_CHECKSUM_MISMATCH; /* which is looked at before anything is decrypted */
    CHECK_INT(ald_streaming_chunk(s, 0, NULL, &chunk, &err), want);
    for (int64_t k = 0; k < info->schema->n_children; k++) {
        wanted[k] = 1;
        if (!CHECK_INT(ald_streaming_chunk(s, 0, wanted, &chunk, &err), want))
            note(g, "a column of a changed chunk", (ald_status)err.status);
        wanted[k] = 0;
    }
    if (info->chunk_count > 1 && CHECK_OK(ald_streaming_chunk(s, 1, NULL, &chunk, &err), &err))
        chunk.release(&chunk);
    ald_streaming_close(s);
    free(copy);
}

static void check_salvaged(const golden *g)
{
    ald_source source = ald_source_memory(g->data, g->size - 50); /* the end is cut off */
    trust_case c = g->c;
    ald_load_options load = trust_options(&c);
    ald_streaming *s = NULL;
    ald_status st = ald_streaming_salvage(&source, &load, &c.host, &s, &err);
    if (!CHECK_INT(st, ALD_OK))
        note(g, "salvage", st);
    else {
        struct ArrowArray chunk;
        if (CHECK_OK(ald_streaming_chunk(s, 0, NULL, &chunk, &err), &err))
            chunk.release(&chunk);
    }
    ald_streaming_close(s);
    s = NULL;
    if (g->flags & ALD_FLAG_ENCRYPTED) {
        c.trust.password = NULL;
        c.trust.private_count = 0;
        CHECK_INT(ald_streaming_salvage(&source, &load, &c.host, &s, &err),
                  ALD_E_DECRYPTION_FAILED);
        CHECK(s == NULL);
    }
    count_salvaged++;
}

static void check_mapped(const golden *g)
{
    uint8_t *copy = (uint8_t *)aligned_alloc(64, (g->size + 63) & ~(size_t)63);
    ald_load_options load = trust_options(&g->c);
    ald_source source;
    ald_mapped *m = NULL;
    ald_status st;
    show_text text = {NULL, 0, 0};
    if (copy == NULL)
        abort();
    memcpy(copy, g->data, g->size);
    source = ald_source_memory(copy, g->size);
    show_put(&text, "");
    st = ald_mapped_open(&source, &load, &g->c.host, &m, &err);
    for (uint64_t i = 0; st == ALD_OK && i < ald_mapped_batch_count(m); i++) {
        struct ArrowArray batch;
        st = ald_mapped_batch(m, i, &batch, &err);
        if (st == ALD_OK) {
            trust_show_rows(&text, ald_mapped_schema(m), &batch);
            batch.release(&batch);
        }
    }
    expect_rows(g, text.text, &st, "mapped");
    ald_mapped_close(m);
    free(copy);
    count_mapped++;
}

/* ---- who may read */

/* Whether a private key's public one is named in the file's encryption block, by the names that need no key. */
static int is_named(const golden *g, const uint8_t *key)
{
    ald_source source = ald_source_memory(g->data, g->size);
    ald_inspection *in = NULL;
    uint8_t public_key[32], hash[8];
    int found = 0;
    CHECK_OK(g->c.host.crypto->x25519_public(key, public_key, &err), &err);
    CHECK_OK(ald__recipient_hash(&g->c.host, public_key, hash, &err), &err);
    if (CHECK_OK(ald_inspect(&source, NULL, &g->c.host, &in, &err), &err)) {
        const ald_info *info = ald_inspection_info(in);
        for (size_t i = 0; i < info->recipient_count; i++)
            found |= memcmp(info->recipient_hashes + 8 * i, hash, 8) == 0;
    }
    ald_inspection_free(in);
    return found;
}

static void check_each_key(const golden *g)
{
    ald_source source = ald_source_memory(g->data, g->size);
    for (size_t i = 0; i < g->c.any_of_count; i++) {
        trust_case c = g->c;
        ald_status st;
        c.trust.private_keys = g->c.any_of + 32 * i;
        c.trust.private_count = 1;
        if (is_named(g, c.trust.private_keys)) {
            expect_rows(g, trust_load(&c, &source, &st, &err), &st, "one of the private keys");
            count_any_of++;
        } else {
            expect_status(g, &c, ALD_E_DECRYPTION_FAILED, "a key that is no recipient's");
            count_foreign++;
        }
    }
}

/* The right key between two that are not, for what has no name and no commitment too. */
static void check_among_others(const golden *g)
{
    uint8_t keys[3 * 32] = {4, 5, 6};
    trust_bytes bytes = {g->data, g->size, 0};
    ald_source source = ald_source_memory(g->data, g->size);
    trust_case c = g->c;
    ald_status st;
    if (g->c.trust.private_count != 1)
        return;
    memcpy(keys + 32, g->c.private_keys, 32);
    keys[64] = 7;
    c.trust.private_keys = keys;
    c.trust.private_count = 3;
    expect_rows(g, trust_load(&c, &source, &st, &err), &st, "the key among others");
    source = trust_source(&bytes);
    expect_rows(g, trust_load(&c, &source, &st, &err), &st, "the key among others, read_at");
}

static void check_left_out(const golden *g)
{
    static const uint8_t stranger[32] = {1, 2, 3};
    trust_case c = g->c;
    if (g->flags & ALD_FLAG_ENCRYPTED) {
        c.trust.password = NULL;
        c.trust.private_count = 0;
        expect_status(g, &c, ALD_E_DECRYPTION_FAILED, "no key");
        c.trust.private_keys = stranger;
        c.trust.private_count = 1;
        c.trust.password = "wrong";
        c.trust.password_size = 5;
        /* F-213: with a key that is not the recipient's the block is taken for the crate's, and then nothing fits */
        expect_status(g, &c,
                      strstr(g->name, "both-fit-53") != NULL ? ALD_E_INVALID_FORMAT
                                                             : ALD_E_DECRYPTION_FAILED,
                      "wrong keys");
    } else {
        c.trust.private_keys = stranger;
        c.trust.private_count = 1;
        expect_status(g, &c, ALD_E_DECRYPTION_FAILED, "a key for a plain file");
        c.trust.private_count = 0;
        c.trust.password = "a";
        c.trust.password_size = 1;
        expect_status(g, &c, ALD_E_DECRYPTION_FAILED, "a password for a plain file");
        c.trust.allow_plain = 1;
        expect_status(g, &c, ALD_OK, "a password, plain files allowed");
    }
    c = g->c;
    if (g->flags & ALD_FLAG_SIGNED) {
        c.trust.trusted_count = 0;
        expect_status(g, &c, ALD_E_UNTRUSTED_SIGNER, "no trusted key");
        c.trust.allow_unsigned = 1;
        expect_status(g, &c, ALD_E_UNTRUSTED_SIGNER, "unsigned files allowed");
        c.trust.allow_untrusted = 1;
        expect_status(g, &c, ALD_OK, "any signer");
    } else {
        c.trust.trusted_keys = stranger;
        c.trust.trusted_count = 1;
        expect_status(g, &c, ALD_E_UNTRUSTED_SIGNER, "a trusted key for an unsigned file");
        c.trust.allow_unsigned = 1;
        expect_status(g, &c, ALD_OK, "unsigned files allowed");
    }
}

/* ---- all of them */

static void check_file(golden *g)
{
    if (!plain_load(g))
        return;
    check_left_out(g);
    check_each_key(g);
    check_among_others(g);
    if (g->flags & ALD_FLAG_STREAMING) {
        check_lazily(g);
        if (g->flags & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED)) {
            check_salvaged(g);
            check_changed_later(g);
        }
    }
    if (g->flags & ALD_FLAG_TRUENO_NATIVE)
        check_mapped(g);
    count_protected++;
}

/* Reads the file and its twin. 0: not one of those that are tested here. */
static int open_golden(golden *g, const char *folder, const char *twin)
{
    size_t length = strlen(twin), size;
    char path[300];
    uint8_t *json;
    yyjson_val *root;
    memset(g, 0, sizeof *g);
    if (length < 6 || strcmp(twin + length - 5, ".json") != 0)
        return 0;
    snprintf(path, sizeof path, "golden/%s/%s", folder, twin);
    json = fault_file(path, &size);
    g->doc = yyjson_read_opts((char *)json, size, 0, NULL, NULL);
    free(json);
    root = yyjson_doc_get_root(g->doc);
    if (!yyjson_equals_str(yyjson_obj_get(root, "expect"), "ok"))
        return 0;
    g->with = yyjson_obj_get(root, "read_with");
    if (g->with == NULL)
        g->with = yyjson_obj_get(root, "open_with");
    snprintf(g->name, sizeof g->name, "golden/%s/%s", folder,
             yyjson_get_str(yyjson_obj_get(root, "file")));
    g->data = fault_file(g->name, &g->size);
    g->flags = g->data[21];
    trust_case_init(&g->c, g->with);
    return (g->flags & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED | ALD_FLAG_LICENSED)) != 0;
}

static void check_folder(const char *folder)
{
    char path[600];
    DIR *dir;
    snprintf(path, sizeof path, ALD_TEST_DATA "/golden/%s", folder);
    dir = opendir(path);
    REQUIRE(dir != NULL);
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        golden g;
        if (open_golden(&g, folder, entry->d_name))
            check_file(&g);
        yyjson_doc_free(g.doc);
        free(g.data);
        free(g.rows);
    }
    closedir(dir);
}

static void test_wire_files(void)
{
    count_protected = count_lazy = 0;
    check_folder("wire-1.3");
    CHECK(count_protected >= 85);
    CHECK(count_lazy >= 40);
    CHECK(count_mapped >= 8);
    CHECK(count_salvaged >= 30);
    CHECK(count_any_of >= 50);
    /* enc-one-of-one names three keys, of which only the third is a recipient's */
    CHECK_INT(count_foreign, 2);
}

static void test_crate_files(void)
{
    count_protected = 0;
    check_folder("crate-0.2");
    CHECK(count_protected >= 20);
}

int main(void)
{
    RUN(test_wire_files);
    RUN(test_crate_files);
    return check_done();
}
