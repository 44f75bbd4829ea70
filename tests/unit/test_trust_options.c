/* SPDX-License-Identifier: MIT */
/* What a caller can ask for: sizes of the option structs, commercial loading, revocations, expiry, and limits of what is
 * tried. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/container/binding.h"
#include "core/crypto/file_key.h"
#include "core/crypto/piece.h"
#include "protect_fixture.h"
#include "trust_case.h"

static ald_host host;
static ald_error err;

static ald_buffer save_as(protect_way way, const ald_license *license)
{
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&out);
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_license unused;
    ald_protection p = protect_protection(&way, &unused);
    if (license != NULL)
        p.license = license;
    o.compression = way.compression;
    o.layout = way.streaming ? ALD_LAYOUT_STREAMING : ALD_LAYOUT_WHOLE;
    o.chunk_rows = way.chunk_rows;
    o.protection = &p;
    number_open(way.rows, PROTECT_COLUMNS, 100, &stream);
    if (!CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err))
        exit(1);
    return out;
}

static ald_status load_with(const ald_buffer *file, const ald_load_options *o, const ald_host *h)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_dataset *d = NULL;
    ald_status st = ald_load(&source, o, h, &d, &err);
    CHECK((st == ALD_OK) == (d != NULL));
    ald_dataset_free(d);
    return st;
}

/* ---- sizes of structs */

/* Each of the functions that take load options. */
static void check_everywhere(const ald_buffer *file, const ald_load_options *o, ald_status want)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_inspection *in = NULL;
    ald_streaming *s = NULL;
    CHECK_INT(load_with(file, o, &host), want);
    CHECK_INT(ald_streaming_open(&source, o, &host, &s, &err), want);
    ald_streaming_close(s);
    if (want != ALD_E_INVALID_ARG)
        return;
    s = NULL;
    CHECK_INT(ald_inspect(&source, o, &host, &in, &err), want);
    CHECK_INT(ald_streaming_salvage(&source, o, &host, &s, &err), want);
    CHECK(in == NULL && s == NULL);
}

static void check_never(const ald_buffer *file, const ald_load_options *o)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_mapped *m = NULL;
    ald_dataset *d = NULL;
    check_everywhere(file, o, ALD_E_INVALID_ARG);
    CHECK_INT(ald_mapped_open(&source, o, &host, &m, &err), ALD_E_INVALID_ARG);
    CHECK_INT(ald_load_commercial(&source, o, &host, &d, &err), ALD_E_INVALID_ARG);
    CHECK(m == NULL && d == NULL);
}

typedef struct longer_options {
    ald_load_options o;
    uint64_t more;
} longer_options;

static void test_struct_sizes(void)
{
    static const uint32_t absurd[] = {0, 4, 8, 4104, 1u << 20, UINT32_MAX};
    static const uint8_t key[32] = {1};
    protect_way way = {.streaming = 1, .rows = 4, .chunk_rows = 2, .compression = 1};
    ald_buffer file = save_as(way, NULL);
    longer_options longer = {ALD_LOAD_OPTIONS_INIT, 0};
    ald_trust trust = ALD_TRUST_INIT;
    trust.trusted_keys = key;
    trust.trusted_count = 1;
    longer.o.trust = &trust;
    check_everywhere(&file, &longer.o, ALD_E_UNTRUSTED_SIGNER);
    longer.o.struct_size = offsetof(ald_load_options, trust); /* from before there was trust */
    check_everywhere(&file, &longer.o, ALD_OK);
    longer.o.struct_size = offsetof(ald_load_options, cache_bytes);
    check_everywhere(&file, &longer.o, ALD_OK);
    longer.o.struct_size = sizeof longer; /* from after this version, asking for nothing new */
    check_everywhere(&file, &longer.o, ALD_E_UNTRUSTED_SIGNER);
    longer.more = 1;
    check_never(&file, &longer.o);
    for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
        longer.o.struct_size = absurd[i];
        check_never(&file, &longer.o);
    }
    longer.o.struct_size = sizeof longer.o - 4;
    check_never(&file, &longer.o);
    longer.o.struct_size = sizeof longer.o;
    trust.struct_size = 0;
    check_never(&file, &longer.o);
    trust.struct_size = sizeof trust;
    trust.trusted_keys = NULL;
    check_never(&file, &longer.o);
    ald_buffer_clear(&file);
}

/* ---- commercial loading */

static ald_status load_commercial(const ald_buffer *file, ald_trust *trust, uint8_t ignore_expiry)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_dataset *d = NULL;
    ald_status st;
    o.trust = trust;
    o.ignore_expiry = ignore_expiry;
    st = ald_load_commercial(&source, &o, &host, &d, &err);
    CHECK((st == ALD_OK) == (d != NULL));
    if (st == ALD_OK)
        CHECK_UINT(ald_dataset_info(d)->license->query_limit, 70000);
    ald_dataset_free(d);
    return st;
}

static void test_commercial(void)
{
    protect_way way = {.encryption = ALD_ENCRYPTION_RECIPIENT,
                       .with_signer = 1,
                       .with_license = 1,
                       .compression = 1,
                       .rows = 4};
    ald_buffer good = save_as(way, NULL), unlicensed, unsigned_one, expired;
    ald_trust trust = protect_trust(&way), other = trust;
    ald_license past = protect_license();
    static const uint8_t stranger[32] = {5};
    CHECK_INT(load_commercial(&good, &trust, 0), ALD_OK);
    other.trusted_keys = stranger;
    other.allow_untrusted = 1; /* does not count in a sale */
    CHECK_INT(load_commercial(&good, &other, 0), ALD_E_UNTRUSTED_SIGNER);
    other.trusted_count = 0;
    CHECK_INT(load_commercial(&good, &other, 0), ALD_E_INVALID_ARG);
    way.with_license = 0;
    unlicensed = save_as(way, NULL);
    CHECK_INT(load_commercial(&unlicensed, &trust, 0), ALD_E_SIGNATURE_INVALID);
    CHECK_CONTAINS(err.msg, "license");
    way.with_license = 1;
    way.with_signer = 0;
    unsigned_one = save_as(way, NULL);
    other = trust;
    other.allow_unsigned = 1;
    CHECK_INT(load_commercial(&unsigned_one, &other, 0), ALD_E_UNTRUSTED_SIGNER);
    way.with_signer = 1;
    past.expires_at = 1;
    expired = save_as(way, &past);
    CHECK_INT(load_commercial(&expired, &trust, 0), ALD_E_LICENSE_EXPIRED);
    CHECK_INT(load_commercial(&expired, &trust, 1), ALD_E_LICENSE_EXPIRED);
    ald_buffer_clear(&good);
    ald_buffer_clear(&unlicensed);
    ald_buffer_clear(&unsigned_one);
    ald_buffer_clear(&expired);
}

/* ---- revocations */

static void test_revocations(void)
{
    protect_way way = {.with_signer = 1, .with_license = 1, .compression = 1, .rows = 4};
    ald_license license = protect_license();
    uint8_t ids[3 * ALD_LICENSE_ID_BYTES] = {0};
    ald_revocations list = {{0}, ids, 3};
    ald_trust trust = protect_trust(&way);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_buffer firm, revocable;
    firm = save_as(way, &license);
    license.flags |= ALD_LICENSE_REVOCABLE;
    revocable = save_as(way, &license);
    memcpy(ids + 2 * ALD_LICENSE_ID_BYTES, license.license_id, ALD_LICENSE_ID_BYTES);
    memcpy(list.signer, protect_signer, 32);
    trust.revocations = &list;
    o.trust = &trust;
    CHECK_INT(load_with(&revocable, &o, &host), ALD_E_LICENSE_REVOKED);
    o.ignore_expiry = 1; /* is about time */
    CHECK_INT(load_with(&revocable, &o, &host), ALD_E_LICENSE_REVOKED);
    CHECK_INT(load_with(&firm, &o, &host), ALD_OK);
    ids[2 * ALD_LICENSE_ID_BYTES + 15] ^= 1;
    CHECK_INT(load_with(&revocable, &o, &host), ALD_OK);
    ids[2 * ALD_LICENSE_ID_BYTES + 15] ^= 1;
    list.count = 2;
    CHECK_INT(load_with(&revocable, &o, &host), ALD_OK);
    list.count = 3;
    list.signer[0] ^= 1; /* somebody else's list */
    CHECK_INT(load_with(&revocable, &o, &host), ALD_OK);
    list.ids = NULL;
    CHECK_INT(load_with(&revocable, &o, &host), ALD_E_INVALID_ARG);
    ald_buffer_clear(&firm);
    ald_buffer_clear(&revocable);
}

/* ---- time */

static int64_t clock_unknown(void *ctx)
{
    (void)ctx;
    return INT64_MIN;
}

static void test_expiry(void)
{
    protect_way way = {.with_license = 1, .compression = 1, .rows = 4};
    ald_license license = protect_license();
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_host clocked = host;
    ald_buffer file;
    license.expires_at = 2000;
    file = save_as(way, &license);
    clocked.now = trust_clock;
    trust_now = 2000;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_OK); /* F-282: at the second itself it holds */
    trust_now = 2001;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_E_LICENSE_EXPIRED);
    trust_now = -5;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_OK);
    clocked.now = NULL;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_E_LICENSE_EXPIRED);
    CHECK_CONTAINS(err.msg, "unknown");
    clocked.now = clock_unknown;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_E_LICENSE_EXPIRED);
    o.ignore_expiry = 1;
    CHECK_INT(load_with(&file, &o, &clocked), ALD_OK);
    ald_buffer_clear(&file);
    o.ignore_expiry = 0;
    license.expires_at = 0; /* never */
    file = save_as(way, &license);
    CHECK_INT(load_with(&file, &o, &clocked), ALD_OK);
    ald_buffer_clear(&file);
    license.expires_at = 2000;
    license.flags = 0; /* not enforced */
    file = save_as(way, &license);
    CHECK_INT(load_with(&file, &o, &clocked), ALD_OK);
    ald_buffer_clear(&file);
}

/* ---- versions */

/* A payload for several recipients as version 1.2 would have it, if it could: without additional data. Its key is right, and
 * it would open; F-220 refuses it all the same. */
static void test_several_is_new(void)
{
    protect_way way = {.encryption = ALD_ENCRYPTION_SEVERAL, .compression = 1, .rows = 4};
    ald_buffer file = save_as(way, NULL);
    ald_source source = ald_source_memory(file.data, file.size);
    ald_trust trust = protect_trust(&way);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald__key_search search = {0};
    ald__piece_keys keys;
    ald__piece whole = ald__piece_at(NULL, 0, 0);
    uint8_t key[32], binding[32];
    ald_range payload;
    ald__file f;
    REQUIRE_OK(ald__file_open(&f, &source, 0, ALD__FILE_WHOLE, &host.alloc, &err), &err);
    payload = f.sections.payload;
    search.host = &host;
    search.block = file.data + f.sections.encryption.begin;
    search.block_size = (size_t)(f.sections.encryption.end - f.sections.encryption.begin);
    search.commit = f.facts.key_commit.data;
    search.private_keys = trust.private_keys;
    search.private_count = trust.private_count;
    REQUIRE_OK(ald__key_search_next(&search, key, &err), &err);
    REQUIRE_OK(ald__file_binding(&f, &host, binding, &err), &err);
    for (int bound = 1; bound >= 0; bound--) {
        uint8_t *at = file.data + payload.begin;
        size_t size = (size_t)(payload.end - payload.begin);
        REQUIRE_OK(ald__piece_keys_init(&keys, &host, key,
                                        ald__block_nonce(search.block, search.block_size),
                                        bound ? binding : NULL, &err),
                   &err);
        if (bound)
            REQUIRE_OK(ald__piece_open(&keys, &host, &whole, at, size, at, &err), &err);
        else
            REQUIRE_OK(ald__piece_seal(&keys, &host, &whole, at, size - 16, at, &err), &err);
    }
    file.data[5] = 2;
    ald__store_le32(file.data + file.size - 4, ald__crc32(0, file.data, file.size - 4));
    o.trust = &trust;
    CHECK_INT(load_with(&file, &o, &host), ALD_E_DECRYPTION_FAILED);
    CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
    ald__file_clear(&f);
    ald_buffer_clear(&file);
}

/* ---- the host */

/* What a host does not lend is named, and nothing is read without its check. */
static void test_poor_hosts(void)
{
    protect_way way = {.encryption = ALD_ENCRYPTION_RECIPIENT,
                       .streaming = 1,
                       .with_signer = 1,
                       .with_license = 1,
                       .compression = 1,
                       .rows = 4,
                       .chunk_rows = 2};
    ald_buffer file = save_as(way, NULL);
    ald_trust trust = protect_trust(&way);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_crypto crypto = *host.crypto;
    ald_host poor = host;
    o.trust = &trust;
    poor.crypto = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    poor.crypto = &crypto;
    CHECK_INT(load_with(&file, &o, &poor), ALD_OK);
    crypto.gcm_open = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    crypto.x25519 = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    crypto.sha256_finish = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    crypto.blake3_finish = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    crypto.ed25519_verify = NULL;
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    crypto = *host.crypto;
    crypto.struct_size = offsetof(ald_crypto, ed25519_verify);
    CHECK_INT(load_with(&file, &o, &poor), ALD_E_UNSUPPORTED);
    ald_buffer_clear(&file);
}

/* ---- secrets */

/* Memory in which a key must not be left. */
typedef struct watched {
    uint8_t key[32];
    void *blocks[4096];
    size_t sizes[4096];
    size_t left; /* times that memory with the key in it was given back */
} watched;

static int holds(const watched *w, const void *block, size_t size)
{
    const uint8_t *p = (const uint8_t *)block;
    for (size_t i = 0; i + 32 <= size; i++) {
        if (memcmp(p + i, w->key, 32) == 0)
            return 1;
    }
    return 0;
}

static void *watched_alloc(void *ctx, size_t size)
{
    watched *w = (watched *)ctx;
    size_t i = 0;
    while (i < 4096 && w->blocks[i] != NULL)
        i++;
    if (i == 4096)
        abort();
    w->blocks[i] = calloc(1, size);
    w->sizes[i] = size;
    return w->blocks[i];
}

static void watched_release(void *ctx, void *ptr, size_t size)
{
    watched *w = (watched *)ctx;
    size_t i = 0;
    w->left += (size_t)holds(w, ptr, size);
    while (i < 4096 && w->blocks[i] != ptr)
        i++;
    if (i == 4096)
        abort();
    w->blocks[i] = NULL;
    free(ptr);
}

static void *watched_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *block = watched_alloc(ctx, new_size);
    memcpy(block, ptr, old_size < new_size ? old_size : new_size);
    watched_release(ctx, ptr, old_size);
    return block;
}

static int is_kept(const watched *w)
{
    int kept = 0;
    for (size_t i = 0; i < 4096; i++) {
        if (w->blocks[i] != NULL)
            kept |= holds(w, w->blocks[i], w->sizes[i]);
    }
    return kept;
}

/* The key of a file whose private key is known. */
static void find_key(const ald_buffer *file, const ald_trust *trust, uint8_t key[32])
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald__key_search search = {0};
    ald__file f;
    REQUIRE_OK(ald__file_open(&f, &source, 0, ALD__FILE_WHOLE, &host.alloc, &err), &err);
    search.host = &host;
    search.block = file->data + f.sections.encryption.begin;
    search.block_size = (size_t)(f.sections.encryption.end - f.sections.encryption.begin);
    search.private_keys = trust->private_keys;
    search.private_count = trust->private_count;
    CHECK_OK(ald__key_search_next(&search, key, &err), &err);
    ald__file_clear(&f);
}

static void test_keys_are_wiped(void)
{
    static watched w;
    protect_way way = {.encryption = ALD_ENCRYPTION_SEVERAL,
                       .streaming = 1,
                       .compression = 1,
                       .rows = 8,
                       .chunk_rows = 4};
    ald_buffer file = save_as(way, NULL);
    ald_source source = ald_source_memory(file.data, file.size);
    ald_trust trust = protect_trust(&way);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_host watching = host;
    ald_streaming *s = NULL;
    struct ArrowArray chunk;
    memset(&w, 0, sizeof w);
    find_key(&file, &trust, w.key);
    o.trust = &trust;
    watching.alloc = (ald_allocator){watched_alloc, watched_resize, watched_release, &w};
    CHECK_INT(load_with(&file, &o, &watching), ALD_OK);
    CHECK_UINT(w.left, 0);
    REQUIRE_OK(ald_streaming_open(&source, &o, &watching, &s, &err), &err);
    CHECK(is_kept(&w)); /* else this test would not see anything */
    REQUIRE_OK(ald_streaming_chunk(s, 1, NULL, &chunk, &err), &err);
    chunk.release(&chunk);
    ald_streaming_close(s);
    CHECK(!is_kept(&w));
    CHECK_UINT(w.left, 0);
    ald_buffer_clear(&file);
}

/* ---- threads */

/* Rows of many chunks that are checked and decrypted at once. */
static void test_threads(void)
{
    protect_way way = {.encryption = ALD_ENCRYPTION_SEVERAL,
                       .streaming = 1,
                       .with_signer = 1,
                       .compression = 1,
                       .rows = 400,
                       .chunk_rows = 10};
    ald_host threaded = ald_native_host(4);
    ald_buffer file = save_as(way, NULL);
    ald_source source = ald_source_memory(file.data, file.size);
    ald_trust trust = protect_trust(&way);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_streaming *s = NULL;
    struct ArrowArray got;
    uint64_t rows[400];
    for (uint64_t i = 0; i < 400; i++)
        rows[i] = i * 37 % 400;
    o.trust = &trust;
    o.cache_bytes = 1; /* none: all chunks each time */
    REQUIRE_OK(ald_streaming_open(&source, &o, &threaded, &s, &err), &err);
    memset(&trust, 0, sizeof trust); /* the handle has what it needs */
    for (int again = 0; again < 5; again++) {
        REQUIRE_OK(ald_streaming_take(s, rows, 400, NULL, &got, &err), &err);
        CHECK_INT(number_wrong(&got, rows, NULL), 0);
        got.release(&got);
    }
    ald_streaming_close(s);
    ald_buffer_clear(&file);
}

int main(void)
{
    host = ald_native_host(1);
    protect_keys();
    RUN(test_struct_sizes);
    RUN(test_commercial);
    RUN(test_revocations);
    RUN(test_expiry);
    RUN(test_several_is_new);
    RUN(test_poor_hosts);
    RUN(test_keys_are_wiped);
    RUN(test_threads);
    return check_done();
}
