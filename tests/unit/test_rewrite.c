/* SPDX-License-Identifier: MIT */
/* Files rewritten in every way: what is kept, what is new, what is refused. With `--dump FOLDER` the results are written
 * there with their keys, for readers that are not ours. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "protect_fixture.h"

static fault_host saving, rewriting;

typedef struct step {
    const char *name;
    uint8_t signing, licensing, encrypting,
        encryption;     /* of ald_rewrite_options and ald_protection */
    uint8_t recipients; /* how many of protect_public */
    uint8_t describes;
} step;

static const step steps[] = {
    {"keep", ALD_SIGNING_REFUSE, 0, 0, 0, 0, 0},
    {"describe", ALD_SIGNING_STRIP, 0, 0, 0, 0, 1},
    {"sign", ALD_SIGNING_SIGN, 0, 0, 0, 0, 0},
    {"license", ALD_SIGNING_SIGN, ALD_LICENSING_SET, 0, 0, 0, 0},
    {"license-only", ALD_SIGNING_STRIP, ALD_LICENSING_SET, 0, 0, 0, 0},
    {"unlicense", ALD_SIGNING_SIGN, ALD_LICENSING_STRIP, 0, 0, 0, 1},
    {"password", ALD_SIGNING_STRIP, 0, ALD_ENCRYPTING_ENCRYPT, ALD_ENCRYPTION_PASSWORD, 0, 0},
    {"recipient", ALD_SIGNING_SIGN, 0, ALD_ENCRYPTING_ENCRYPT, ALD_ENCRYPTION_RECIPIENT, 1, 0},
    {"several", ALD_SIGNING_STRIP, 0, ALD_ENCRYPTING_ENCRYPT, ALD_ENCRYPTION_SEVERAL, 2, 0},
    {"decrypt", ALD_SIGNING_STRIP, 0, ALD_ENCRYPTING_DECRYPT, 0, 0, 0},
    {"decrypt-signed", ALD_SIGNING_SIGN, 0, ALD_ENCRYPTING_DECRYPT, 0, 0, 1},
    {"recipients-all", ALD_SIGNING_SIGN, 0, ALD_ENCRYPTING_RECIPIENTS, 0, 3, 0},
    {"recipients-fewer", ALD_SIGNING_STRIP, 0, ALD_ENCRYPTING_RECIPIENTS, ALD_ENCRYPTION_SEVERAL, 2,
     0},
};
#define STEPS (sizeof steps / sizeof *steps)

/* The inputs: with and without each of the protections. */
static int next_input(size_t index, protect_way *w)
{
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
    w->compression = i % 2 ? ALD_COMPRESSION_NONE : ALD_COMPRESSION_ZSTD_L3;
    i /= 2;
    w->aligned = i % 2;
    i /= 2;
    w->rows = 130;
    w->chunk_rows = w->streaming ? 30 : 0;
    if (w->encryption == ALD_ENCRYPTION_PASSWORD && w->streaming)
        w->kdf_m_kib = 20000;
    return i == 0;
}

static int is_possible(const protect_way *w)
{
    return !w->aligned || (w->encryption == ALD_ENCRYPTION_NONE && w->compression == 0);
}

/* What the step makes of the file; the error when it cannot. */
static ald_status expect(const step *s, const protect_way *from, protect_way *to)
{
    *to = *from;
    to->with_signer = s->signing == ALD_SIGNING_SIGN;
    if (s->licensing != ALD_LICENSING_KEEP)
        to->with_license = s->licensing == ALD_LICENSING_SET;
    if (s->encrypting == ALD_ENCRYPTING_ENCRYPT)
        to->encryption = s->encryption;
    if (s->encrypting == ALD_ENCRYPTING_DECRYPT)
        to->encryption = ALD_ENCRYPTION_NONE;
    if (s->encrypting == ALD_ENCRYPTING_RECIPIENTS)
        to->encryption = ALD_ENCRYPTION_SEVERAL;
    if (from->with_signer && s->signing == ALD_SIGNING_REFUSE)
        return ALD_E_INVALID_ARG;
    if (s->encrypting == ALD_ENCRYPTING_RECIPIENTS && from->encryption < ALD_ENCRYPTION_RECIPIENT)
        return ALD_E_INVALID_ARG;
    if (s->encrypting == ALD_ENCRYPTING_ENCRYPT && from->aligned)
        return ALD_E_UNSUPPORTED;
    if (s->encrypting == ALD_ENCRYPTING_DECRYPT && from->encryption == ALD_ENCRYPTION_NONE)
        return ALD_E_INVALID_ARG;
    return ALD_OK;
}

static ald_value *card_value(const char *name, uint64_t odd)
{
    ald_host host = ald_native_host(1);
    ald_value *root = NULL, *v;
    ald_error err = {0};
    if (ald_value_new(&host.alloc, &root, &err) != ALD_OK)
        abort();
    ald_value_set_map(root);
    v = ald_value_put(root, "name", 4);
    if (v == NULL || ald_value_set_string(v, name, strlen(name), &err) != ALD_OK)
        abort();
    v = ald_value_put(root, "odd-key", 7);
    if (v == NULL)
        abort();
    ald_value_set_uint(v, odd);
    return root;
}

static ald_status save_input(const protect_way *w, ald_error *err)
{
    ald_value *metadata = card_value("first", 7);
    ald_status st;
    fault_init(&saving, NULL, 0);
    saving.host.random = protect_random;
    st = protect_save(w, metadata, &saving.sink, &saving.host, err);
    ald_value_free(metadata);
    return st;
}

/* With no more keys than the step needs: those who sign, describe or license cannot read. */
static ald_trust step_trust(const step *s, const protect_way *from)
{
    ald_trust all = protect_trust(from), t = ALD_TRUST_INIT;
    if (s->encrypting != ALD_ENCRYPTING_KEEP)
        t = all;
    t.trusted_keys = all.trusted_keys;
    t.trusted_count = all.trusted_count;
    return t;
}

static ald_status take_step(const step *s, const protect_way *from, const ald_source *source,
                            const ald_sink *sink, const ald_host *host, ald_error *err)
{
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = step_trust(s, from);
    ald_license license = protect_license();
    ald_value *metadata = s->describes ? card_value("second", 8) : NULL;
    ald_status st;
    load.trust = &trust;
    o.load = &load;
    o.signing = s->signing;
    o.licensing = s->licensing;
    o.encrypting = s->encrypting;
    o.metadata = metadata;
    o.protection.encryption = s->encryption;
    if (s->signing == ALD_SIGNING_SIGN)
        o.protection.signer_seed = protect_seed;
    if (s->licensing == ALD_LICENSING_SET)
        o.protection.license = &license;
    if (s->encryption == ALD_ENCRYPTION_PASSWORD) {
        o.protection.password = PROTECT_PASSWORD;
        o.protection.password_size = strlen(PROTECT_PASSWORD);
    } else if (s->recipients > 0) {
        o.protection.recipients = protect_public;
        o.protection.recipient_count = s->recipients;
    }
    st = ald_rewrite(source, sink, &o, host, err);
    ald_value_free(metadata);
    return st;
}

static ald_status rewrite(const step *s, const protect_way *from, int goes_back, int spools,
                          ald_error *err)
{
    ald_status st;
    fault_init(&rewriting, saving.output.data, saving.output.size);
    rewriting.host.random = protect_random;
    if (!goes_back)
        rewriting.sink.write_at = NULL;
    if (!spools)
        rewriting.host.spool_open = NULL;
    st = take_step(s, from, &rewriting.source, &rewriting.sink, &rewriting.host, err);
    fault_check_clean(&rewriting);
    return st;
}

/* The new file's trust: which of the keys open it. */
static ald_trust result_trust(const step *s, const protect_way *to)
{
    ald_trust t = protect_trust(to);
    if (to->encryption == ALD_ENCRYPTION_SEVERAL && s->recipients > 0) {
        t.private_keys = protect_private + 32 * (s->recipients - 1);
        t.private_count = 1;
    }
    return t;
}

static void check_metadata(const ald_info *info, const step *s)
{
    size_t size;
    const char *name = ald_value_get_bytes(ald_value_find(info->metadata, "name"), &size);
    CHECK_STR(name, s->describes ? "second" : "first");
    CHECK_UINT(ald_value_get_uint(ald_value_find(info->metadata, "odd-key")), s->describes ? 8 : 7);
    CHECK(ald_value_find(info->facts, "pad") == NULL);
}

static void check_result(const step *s, const protect_way *to)
{
    ald_trust trust = result_trust(s, to);
    ald_source source = ald_source_memory(rewriting.output.data, rewriting.output.size);
    ald_host host = ald_native_host(1);
    ald_inspection *in = NULL;
    ald_error err = {0};
    protect_check_rows(rewriting.output.data, rewriting.output.size, &trust, to->rows);
    REQUIRE_OK(ald_inspect(&source, NULL, &host, &in, &err), &err);
    check_metadata(ald_inspection_info(in), s);
    CHECK_UINT(ald_inspection_info(in)->flags, (to->encryption != 0 ? ALD_FLAG_ENCRYPTED : 0) |
                                                   (to->with_signer ? ALD_FLAG_SIGNED : 0) |
                                                   (to->streaming ? ALD_FLAG_STREAMING : 0) |
                                                   (to->with_license ? ALD_FLAG_LICENSED : 0) |
                                                   (to->aligned ? ALD_FLAG_TRUENO_NATIVE : 0));
    ald_inspection_free(in);
}

/* A step from one input, on each kind of host: the same bytes for the same randomness. */
static void check_step(const step *s, const protect_way *from)
{
    fault_bytes first = {NULL, 0, 0};
    protect_way to;
    ald_error err = {0};
    ald_status want = expect(s, from, &to);
    int before = check_failures;
    uint64_t drawn = protect_random_at;
    if (CHECK_INT(rewrite(s, from, 1, 1, &err), want) && want == ALD_OK) {
        check_result(s, &to);
        fault_append(&first, rewriting.output.data, rewriting.output.size);
        for (int i = 0; i < 3; i++) {
            protect_random_at = drawn;
            CHECK_OK(rewrite(s, from, i == 1, i == 2, &err), &err);
            if (CHECK_UINT(rewriting.output.size, first.size))
                CHECK_MEM(rewriting.output.data, first.data, first.size);
        }
    }
    free(first.data);
    if (check_failures > before)
        printf("    %s, step %s: %s\n", protect_name(from), s->name, err.msg);
}

static void test_steps(void)
{
    protect_way w;
    ald_error err = {0};
    size_t done = 0;
    protect_rewind();
    for (size_t i = 0; next_input(i, &w); i++) {
        if (!is_possible(&w) || !CHECK_OK(save_input(&w, &err), &err))
            continue;
        for (size_t k = 0; k < STEPS; k++, done++)
            check_step(&steps[k], &w);
    }
    CHECK(done > 500);
}

/* ---- recipients: what is encrypted anew, and what is not */

typedef struct layout {
    ald_inspection *in;
    const ald_info *info;
    const uint8_t *data;
} layout;

static layout layout_of(const fault_bytes *bytes)
{
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    ald_host host = ald_native_host(1);
    ald_error err = {0};
    layout l = {NULL, NULL, bytes->data};
    if (!CHECK_OK(ald_inspect(&source, NULL, &host, &l.in, &err), &err))
        exit(1);
    l.info = ald_inspection_info(l.in);
    return l;
}

/* Bytes of both payloads that are the same from the start on. */
static uint64_t common_payload(const layout *a, const layout *b)
{
    uint64_t n = 0;
    ald_range x = a->info->sections.payload, y = b->info->sections.payload;
    while (n < x.end - x.begin && n < y.end - y.begin &&
           a->data[x.begin + n] == b->data[y.begin + n])
        n++;
    return n;
}

static void check_kept(uint8_t streaming, uint8_t encryption, const char *name, int keeps)
{
    protect_way w = {.encryption = encryption, .streaming = streaming, .compression = 1};
    ald_error err = {0};
    const step *s = steps;
    layout a, b;
    uint64_t epilogue;
    w.rows = 130;
    w.chunk_rows = streaming ? 30 : 0;
    while (strcmp(s->name, name) != 0)
        s++;
    REQUIRE_OK(save_input(&w, &err), &err);
    REQUIRE_OK(rewrite(s, &w, 1, 1, &err), &err);
    a = layout_of(&saving.output);
    b = layout_of(&rewriting.output);
    if (keeps) {
        const ald_chunk_entry *last = &a.info->chunks[a.info->chunk_count - 1];
        epilogue = last->byte_offset + last->compressed_size;
        /* all but the epilogue, which has another key */
        CHECK_UINT(common_payload(&a, &b), epilogue);
        CHECK_UINT(a.info->payload_size, b.info->payload_size);
    } else {
        CHECK(common_payload(&a, &b) < 8);
    }
    ald_inspection_free(a.in);
    ald_inspection_free(b.in);
}

static void test_recipients(void)
{
    check_kept(1, ALD_ENCRYPTION_SEVERAL, "recipients-all", 1);
    check_kept(1, ALD_ENCRYPTION_SEVERAL, "recipients-fewer", 0);
    check_kept(0, ALD_ENCRYPTION_SEVERAL, "recipients-all", 0);
    check_kept(1, ALD_ENCRYPTION_RECIPIENT, "recipients-all", 0);
    check_kept(1, ALD_ENCRYPTION_SEVERAL, "several", 0);
    check_kept(1, ALD_ENCRYPTION_PASSWORD, "password", 0);
}

/* One who is dropped cannot read the new file. */
static void test_dropped_recipient(void)
{
    protect_way w = {.encryption = ALD_ENCRYPTION_SEVERAL, .streaming = 1, .compression = 1};
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_host host = ald_native_host(1);
    ald_trust trust = ALD_TRUST_INIT;
    ald_dataset *d = NULL;
    ald_error err = {0};
    ald_source source;
    w.rows = 50;
    REQUIRE_OK(save_input(&w, &err), &err);
    REQUIRE_OK(rewrite(&steps[12], &w, 1, 1, &err), &err);
    source = ald_source_memory(rewriting.output.data, rewriting.output.size);
    load.trust = &trust;
    trust.private_keys = protect_private + 64;
    trust.private_count = 1;
    CHECK_INT(ald_load(&source, &load, &host, &d, &err), ALD_E_DECRYPTION_FAILED);
    trust.private_keys = protect_private;
    CHECK_OK(ald_load(&source, &load, &host, &d, &err), &err);
    ald_dataset_free(d);
}

/* ---- what is refused */

static ald_status try_rewrite(const ald_rewrite_options *o, ald_error *err)
{
    ald_status st;
    fault_init(&rewriting, saving.output.data, saving.output.size);
    rewriting.host.random = protect_random;
    st = ald_rewrite(&rewriting.source, &rewriting.sink, o, &rewriting.host, err);
    fault_check_clean(&rewriting);
    if (st != ALD_OK)
        CHECK_UINT(rewriting.output.size, 0);
    return st;
}

static void test_bad_requests(void)
{
    protect_way w = {.compression = 1, .rows = 9};
    ald_rewrite_options good = ALD_REWRITE_OPTIONS_INIT, o = good;
    ald_license license = protect_license();
    ald_error err = {0};
    REQUIRE_OK(save_input(&w, &err), &err);
    CHECK_OK(try_rewrite(NULL, &err), &err);
    CHECK_OK(try_rewrite(&o, &err), &err);
    o.protection.signer_seed = protect_seed;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.signing = ALD_SIGNING_SIGN;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.protection.license = &license;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.licensing = ALD_LICENSING_SET;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.protection.password = "x";
    o.protection.password_size = 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.encrypting = ALD_ENCRYPTING_ENCRYPT;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.encrypting = 9;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.struct_size = 4;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
    o = good;
    o.protection.struct_size = 0;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
}

/* A secret that comes with a plain file (F-231), a signer that is not trusted, a changed byte. */
static void test_checks_of_input(void)
{
    protect_way w = {.compression = 1, .rows = 9, .with_signer = 1, .streaming = 1};
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_error err = {0};
    REQUIRE_OK(save_input(&w, &err), &err);
    o.load = &load;
    o.signing = ALD_SIGNING_STRIP;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_UNTRUSTED_SIGNER);
    load.trust = &trust;
    trust.allow_untrusted = 1;
    CHECK_OK(try_rewrite(&o, &err), &err);
    trust.password = "x";
    trust.password_size = 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_DECRYPTION_FAILED);
    trust.allow_plain = 1;
    CHECK_OK(try_rewrite(&o, &err), &err);
    saving.output.data[saving.output.size - 3] ^= 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_CHECKSUM_MISMATCH);
    w.with_signer = 0;
    REQUIRE_OK(save_input(&w, &err), &err);
    trust = (ald_trust)ALD_TRUST_INIT;
    trust.trusted_keys = protect_signer;
    trust.trusted_count = 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_UNTRUSTED_SIGNER);
}

/* ---- edited metadata */

typedef struct edit_record {
    int calls, fails;
    ald_info seen; /* its pointers are gone */
    char title[16];
} edit_record;

static ald_status edit_title(void *ctx, const ald_info *checked, ald_value *metadata,
                             ald_error *err)
{
    edit_record *r = (edit_record *)ctx;
    size_t size = 0;
    const char *name = ald_value_get_bytes(ald_value_find(checked->metadata, "name"), &size);
    r->calls++;
    r->seen = *checked;
    CHECK(checked->signer_public_key != NULL && checked->schema == NULL);
    CHECK(memcmp(checked->signer_public_key, protect_signer, sizeof protect_signer) == 0);
    CHECK(size < sizeof r->title);
    memcpy(r->title, name, size < sizeof r->title ? size : 0);
    CHECK(rewriting.output.size == 0); /* nothing is written yet */
    if (r->fails)
        return ald_error_set(err, ALD_E_LICENSE_REVOKED, ALD_NO_OFFSET, "not this one");
    return ald_value_set_string(ald_value_put(metadata, "name", 4), "edited", 6, err);
}

/* Metadata are made of those that were checked, in every form of file; a failure writes nothing. */
static void test_edit(void)
{
    for (int i = 0; i < 8; i++) {
        protect_way w = {.compression = 1, .rows = 90, .with_signer = 1, .with_license = 1};
        ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
        ald_load_options load = ALD_LOAD_OPTIONS_INIT;
        edit_record record = {0};
        ald_value *other;
        layout l;
        size_t size;
        const char *name;
        ald_trust trust;
        ald_error err = {0};
        w.streaming = i & 1;
        w.chunk_rows = w.streaming ? 30 : 0;
        w.encryption = i & 2 ? ALD_ENCRYPTION_RECIPIENT : ALD_ENCRYPTION_NONE;
        REQUIRE_OK(save_input(&w, &err), &err);
        trust = protect_trust(&w);
        load.trust = &trust;
        o.load = &load;
        o.signing = ALD_SIGNING_SIGN;
        o.protection.signer_seed = protect_seed;
        o.edit = edit_title;
        o.edit_ctx = &record;
        record.fails = i & 4;
        CHECK_INT(try_rewrite(&o, &err), record.fails ? ALD_E_LICENSE_REVOKED : ALD_OK);
        CHECK_INT(record.calls, 1);
        CHECK_STR(record.title, "first");
        CHECK(record.seen.license != NULL && record.seen.num_rows == 90);
        if (record.fails) {
            CHECK_UINT(rewriting.output.size, 0);
            continue;
        }
        l = layout_of(&rewriting.output);
        name = ald_value_get_bytes(ald_value_find(l.info->metadata, "name"), &size);
        CHECK(size == 6 && memcmp(name, "edited", 6) == 0);
        CHECK(ald_value_find(l.info->metadata, "odd-key") != NULL);
        ald_inspection_free(l.in);
        protect_check_rows(rewriting.output.data, rewriting.output.size, &trust, w.rows);
        saving.output.data[saving.output.size - 3] ^= 1; /* not for a file that fails */
        CHECK_INT(try_rewrite(&o, &err), ALD_E_CHECKSUM_MISMATCH);
        CHECK_INT(record.calls, 1);
        saving.output.data[saving.output.size - 3] ^= 1;
        other = card_value("other", 5);
        o.metadata = other;
        CHECK_INT(try_rewrite(&o, &err), ALD_E_INVALID_ARG);
        ald_value_free(other);
    }
}

/* A file that another process changes once it was read as a whole. */
static uint64_t honest_bytes;

static ald_status changing_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const fault_bytes *b = (const fault_bytes *)ctx;
    uint8_t *out = (uint8_t *)buf;
    if (offset > b->size || size > b->size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read past the end");
    memcpy(out, b->data + offset, size);
    for (size_t i = 0; honest_bytes < size && i < size; i++)
        out[i] ^= 0x55;
    honest_bytes -= honest_bytes < size ? honest_bytes : size;
    return ALD_OK;
}

static void test_changing_input(void)
{
    protect_way w = {.compression = 1, .rows = 90, .with_signer = 1, .with_license = 1};
    ald_error err = {0};
    for (int i = 0; i < 4; i++) {
        ald_source source = {0};
        ald_trust trust;
        w.streaming = (uint8_t)(i % 2);
        w.chunk_rows = w.streaming ? 30 : 0;
        REQUIRE_OK(save_input(&w, &err), &err);
        fault_init(&rewriting, NULL, 0);
        if (i / 2 > 0)
            rewriting.host.spool_open = NULL;
        source.size_bytes = saving.output.size;
        source.read_at = changing_read;
        source.ctx = &saving.output;
        honest_bytes = saving.output.size + 64; /* the header, and then all of it */
        CHECK_OK(take_step(&steps[3], &w, &source, &rewriting.sink, &rewriting.host, &err), &err);
        CHECK_UINT(honest_bytes, 0);
        trust = protect_trust(&w);
        protect_check_rows(rewriting.output.data, rewriting.output.size, &trust, w.rows);
    }
}

/* A bit of chunk `index` of what was saved, under a right CRC32. */
static void change_chunk(size_t index)
{
    layout l = layout_of(&saving.output);
    uint8_t *data = saving.output.data;
    size_t size = saving.output.size;
    data[l.info->sections.payload.begin + l.info->chunks[index].byte_offset + 5] ^= 1;
    ald__store_le32(data + size - 4, ald__crc32(0, data, size - 4));
    ald_inspection_free(l.in);
}

/* Decrypting needs the key; a changed chunk is found. */
static void test_decrypting(void)
{
    protect_way w = {.encryption = ALD_ENCRYPTION_RECIPIENT, .streaming = 1, .rows = 90};
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_error err = {0};
    w.chunk_rows = 30;
    w.compression = 1;
    o.encrypting = ALD_ENCRYPTING_DECRYPT;
    o.load = &load;
    load.trust = &trust;
    REQUIRE_OK(save_input(&w, &err), &err);
    CHECK_INT(try_rewrite(&o, &err), ALD_E_DECRYPTION_FAILED);
    trust.private_keys = protect_private + 32;
    trust.private_count = 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_DECRYPTION_FAILED);
    trust.private_count = 0;
    trust.password = "x";
    trust.password_size = 1;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_DECRYPTION_FAILED);
    trust = protect_trust(&w);
    CHECK_OK(try_rewrite(&o, &err), &err);
    change_chunk(1);
    fault_init(&rewriting, saving.output.data, saving.output.size);
    CHECK_INT(ald_rewrite(&rewriting.source, &rewriting.sink, &o, &rewriting.host, &err),
              ALD_E_DECRYPTION_FAILED);
    fault_check_clean(&rewriting);
}

/* An encrypted file of version 1.2 keeps it, and what needs 1.3 is refused. */
static void test_old_encrypted(void)
{
    protect_way w = {.encryption = ALD_ENCRYPTION_PASSWORD, .compat = 1, .compression = 1};
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_license license = protect_license();
    ald_trust trust;
    ald_error err = {0};
    w.rows = 40;
    fault_init(&saving, NULL, 0);
    saving.host.random = protect_random;
    REQUIRE_OK(protect_save(&w, NULL, &saving.sink, &saving.host, &err), &err);
    CHECK_INT(saving.output.data[5], 2);
    o.signing = ALD_SIGNING_SIGN;
    o.protection.signer_seed = protect_seed;
    REQUIRE_OK(try_rewrite(&o, &err), &err);
    CHECK_INT(rewriting.output.data[5], 2);
    trust = protect_trust(&w);
    trust.trusted_keys = protect_signer;
    trust.trusted_count = 1;
    protect_check_rows(rewriting.output.data, rewriting.output.size, &trust, 40);
    o.licensing = ALD_LICENSING_SET;
    o.protection.license = &license;
    CHECK_INT(try_rewrite(&o, &err), ALD_E_UNSUPPORTED);
    CHECK_CONTAINS(err.msg, "1.2");
    o.signing = ALD_SIGNING_REFUSE;
    o.protection.signer_seed = NULL;
    REQUIRE_OK(try_rewrite(&o, &err), &err);
    CHECK_INT(rewriting.output.data[5], 2);
}

/* ---- for other readers */

static void dump_hex(FILE *out, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fprintf(out, "%02x", data[i]);
}

static void dump_result(const char *folder, FILE *manifest, const step *s, const protect_way *from,
                        const protect_way *to)
{
    char name[256], path[4096];
    FILE *file;
    size_t count = to->encryption == ALD_ENCRYPTION_RECIPIENT ? 1
                   : to->encryption != ALD_ENCRYPTION_SEVERAL ? 0
                   : s->recipients > 0                        ? s->recipients
                                                              : PROTECT_RECIPIENTS;
    snprintf(name, sizeof name, "%s--%s.ald", protect_name(from), s->name);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file == NULL ||
        fwrite(rewriting.output.data, 1, rewriting.output.size, file) != rewriting.output.size)
        exit(1);
    (void)fclose(file);
    fprintf(manifest, "{\"file\": \"%s\", \"rows\": %d, \"columns\": %d", name, (int)to->rows,
            PROTECT_COLUMNS);
    fprintf(manifest, ", \"metadata\": {\"name\": \"%s\", \"odd-key\": %d}",
            s->describes ? "second" : "first", s->describes ? 8 : 7);
    if (to->encryption == ALD_ENCRYPTION_PASSWORD)
        fprintf(manifest, ", \"password\": \"%s\"", PROTECT_PASSWORD);
    fprintf(manifest, ", \"any_of_private_keys\": [");
    for (size_t i = 0; i < count; i++) {
        fprintf(manifest, "%s\"", i > 0 ? ", " : "");
        dump_hex(manifest, protect_private + 32 * i, 32);
        fprintf(manifest, "\"");
    }
    fprintf(manifest, "]");
    if (to->with_signer) {
        fprintf(manifest, ", \"trusted\": \"");
        dump_hex(manifest, protect_signer, 32);
        fprintf(manifest, "\"");
    }
    fprintf(manifest, ", \"commercial\": %s, \"compat\": false}\n",
            to->with_signer && to->with_license ? "true" : "false");
}

static int dump(const char *folder)
{
    protect_way w, to;
    ald_error err = {0};
    char path[4096];
    FILE *manifest;
    snprintf(path, sizeof path, "%s/manifest.jsonl", folder);
    manifest = fopen(path, "w");
    if (manifest == NULL)
        return 1;
    for (size_t i = 0; next_input(i, &w); i++) {
        if (!is_possible(&w) || save_input(&w, &err) != ALD_OK)
            continue;
        for (size_t k = 0; k < STEPS; k++) {
            if (expect(&steps[k], &w, &to) == ALD_OK &&
                rewrite(&steps[k], &w, 1, 1, &err) == ALD_OK)
                dump_result(folder, manifest, &steps[k], &w, &to);
        }
    }
    return fclose(manifest) != 0;
}

int main(int argc, char **argv)
{
    protect_keys();
    if (argc == 3 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2]);
    RUN(test_steps);
    RUN(test_recipients);
    RUN(test_dropped_recipient);
    RUN(test_bad_requests);
    RUN(test_checks_of_input);
    RUN(test_edit);
    RUN(test_changing_input);
    RUN(test_decrypting);
    RUN(test_old_encrypted);
    fault_clear(&saving);
    fault_clear(&rewriting);
    return check_done();
}
