/* SPDX-License-Identifier: MIT */
/* What protection costs: encrypted against plain files, AES-GCM and signatures against the bare algorithms, opening a sealed
 * file.
 *
 *     bench_trust [megabytes] [repeats]
 *
 * Files are made in memory, from a fixed seed. Pairs are measured in turns, one thread, processor time; the best of the
 * repeats counts. Prints one JSON object; every file is checked by being loaded. */
#define _GNU_SOURCE
#include <time.h>

#include "ald/crypto.h"
#include "native/crypto/libcrypto.h"
#include "tables.h"

#define REPEATS_MAX 99
#define SEAL_PIECE ((size_t)16 << 20)

typedef struct bench {
    ald_host host;
    int64_t rows;
    int repeats;
    uint8_t seed[32], signer[32], private_key[32], public_key[32];
} bench;

typedef struct best {
    double a, b;
} best;

static double cpu_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(ald_status st, const ald_error *err)
{
    if (st != ALD_OK)
        bench_die(err);
}

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

static void make_keys(bench *b)
{
    ald_error err;
    for (size_t i = 0; i < 32; i++) {
        b->seed[i] = (uint8_t)(i + 1);
        b->private_key[i] = (uint8_t)(3 * i + 2);
    }
    must(b->host.crypto->ed25519_public(b->seed, b->signer, &err), &err);
    must(b->host.crypto->x25519_public(b->private_key, b->public_key, &err), &err);
}

/* ---- files */

typedef struct kind {
    uint8_t streaming, encrypted, with_signer;
} kind;

static double save(const bench *b, kind k, ald_buffer *out)
{
    struct ArrowArrayStream stream;
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_sink sink;
    ald_error err;
    double start;
    o.layout = k.streaming ? ALD_LAYOUT_STREAMING : ALD_LAYOUT_WHOLE;
    o.protection = &p;
    if (k.encrypted) {
        p.encryption = ALD_ENCRYPTION_RECIPIENT;
        p.recipients = b->public_key;
        p.recipient_count = 1;
    }
    if (k.with_signer)
        p.signer_seed = b->seed;
    out->alloc = &b->host.alloc;
    out->size = 0;
    sink = ald_buffer_sink(out);
    bench_make(&bench_tables[0], b->rows, &b->host, &stream);
    start = cpu_now();
    must(ald_save(&stream, &sink, &o, &b->host, &err), &err);
    return cpu_now() - start;
}

static ald_trust trust_of(const bench *b, kind k)
{
    ald_trust t = ALD_TRUST_INIT;
    if (k.encrypted) {
        t.private_keys = b->private_key;
        t.private_count = 1;
    }
    if (k.with_signer) {
        t.trusted_keys = b->signer;
        t.trusted_count = 1;
    }
    return t;
}

static double load(const bench *b, kind k, const ald_buffer *bytes)
{
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = trust_of(b, k);
    ald_dataset *d = NULL;
    ald_error err;
    double start = cpu_now();
    o.trust = &trust;
    must(ald_load(&source, &o, &b->host, &d, &err), &err);
    start = cpu_now() - start;
    if (ald_dataset_info(d)->num_rows != (uint64_t)b->rows)
        exit(1);
    ald_dataset_free(d);
    return start;
}

/* Load and save of two kinds of files, in turns. */
static void compare(const bench *b, kind x, kind y, best *saved, best *loaded)
{
    ald_buffer file = {NULL, 0, 0, &b->host.alloc};
    memset(saved, 0, sizeof *saved);
    memset(loaded, 0, sizeof *loaded);
    for (int i = 0; i < b->repeats; i++) {
        keep_least(&saved->a, save(b, x, &file));
        keep_least(&loaded->a, load(b, x, &file));
        keep_least(&saved->b, save(b, y, &file));
        keep_least(&loaded->b, load(b, y, &file));
    }
    ald_buffer_clear(&file);
}

static double time_open(const bench *b, const ald_buffer *bytes)
{
    ald_source source = ald_source_memory(bytes->data, bytes->size);
    kind k = {1, 1, 1};
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = trust_of(b, k);
    ald_streaming *s = NULL;
    ald_error err;
    double start = cpu_now();
    o.trust = &trust;
    source.view = NULL;
    must(ald_streaming_open(&source, &o, &b->host, &s, &err), &err);
    start = cpu_now() - start;
    ald_streaming_close(s);
    return start;
}

/* ---- algorithms: gigabytes a second */

static double speed_of_seal(const bench *b, uint8_t *data, size_t size)
{
    static const uint8_t key[32] = {1};
    uint8_t nonce[12] = {0}, aad[36] = {0};
    double least = 0;
    ald_error err;
    for (int i = 0; i < b->repeats; i++) {
        double start = cpu_now();
        for (size_t at = 0; at + SEAL_PIECE <= size; at += SEAL_PIECE) {
            nonce[0]++;
            must(b->host.crypto->gcm_seal(key, nonce, aad, sizeof aad, data + at,
                                          SEAL_PIECE - ALD_GCM_TAG_BYTES, data + at, &err),
                 &err);
        }
        keep_least(&least, cpu_now() - start);
    }
    return (double)(size / SEAL_PIECE * SEAL_PIECE) / least * 1e-9;
}

static double time_sha512(const uint8_t *data, size_t size)
{
    const ald_libcrypto *lib = NULL;
    uint8_t digest[64];
    unsigned digest_size = 0;
    ald_error err;
    EVP_MD_CTX *ctx;
    double start;
    must(ald__libcrypto(&lib, &err), &err);
    ctx = lib->EVP_MD_CTX_new();
    start = cpu_now();
    if (ctx == NULL || lib->EVP_DigestInit_ex(ctx, lib->sha512, NULL) != 1 ||
        lib->EVP_DigestUpdate(ctx, data, size) != 1 ||
        lib->EVP_DigestFinal_ex(ctx, digest, &digest_size) != 1)
        exit(1);
    start = cpu_now() - start;
    lib->EVP_MD_CTX_free(ctx);
    return start;
}

static double time_verify(const bench *b, const uint8_t *signature, const uint8_t *data,
                          size_t size)
{
    const ald_crypto *c = b->host.crypto;
    void *state = NULL;
    ald_error err;
    double start = cpu_now();
    must(c->ed25519_verify_new(&b->host.alloc, signature, b->signer, &state, &err), &err);
    for (size_t at = 0; at < size; at += (size_t)1 << 20)
        c->ed25519_verify_update(state, data + at,
                                 size - at < (size_t)1 << 20 ? size - at : (size_t)1 << 20);
    must(c->ed25519_verify_finish(state, 0, &err), &err);
    return cpu_now() - start;
}

static best compare_signature(const bench *b, const uint8_t *data, size_t size)
{
    uint8_t signature[64];
    best t = {0, 0};
    ald_error err;
    must(b->host.crypto->ed25519_sign(b->seed, data, size, signature, &err), &err);
    for (int i = 0; i < b->repeats; i++) {
        keep_least(&t.a, time_sha512(data, size));
        keep_least(&t.b, time_verify(b, signature, data, size));
    }
    return t;
}

int main(int argc, char **argv)
{
    static bench b;
    double megabytes = argc > 1 ? atof(argv[1]) : 100, open = 0;
    size_t size = (size_t)256 << 20;
    ald_buffer sealed = {NULL, 0, 0, &b.host.alloc};
    uint8_t *data = bench_alloc(size);
    best saved, loaded, chunks_saved, chunks_loaded, signed_saved, signed_loaded, hash;
    double seal;
    memset(data, 1, size); /* pages are there before they are timed */
    b.host = ald_native_host(1);
    b.repeats = argc > 2 ? atoi(argv[2]) : 5;
    if (b.repeats < 1 || b.repeats > REPEATS_MAX)
        b.repeats = 5;
    b.rows = (int64_t)(megabytes * 1e6 / 130);
    make_keys(&b);
    compare(&b, (kind){0, 0, 0}, (kind){0, 1, 0}, &saved, &loaded);
    compare(&b, (kind){1, 0, 0}, (kind){1, 1, 0}, &chunks_saved, &chunks_loaded);
    compare(&b, (kind){1, 0, 0}, (kind){1, 0, 1}, &signed_saved, &signed_loaded);
    (void)save(&b, (kind){1, 1, 1}, &sealed);
    for (int i = 0; i < b.repeats; i++)
        keep_least(&open, time_open(&b, &sealed));
    seal = speed_of_seal(&b, data, size);
    hash = compare_signature(&b, data, size);
    printf("{\"megabytes\": %g, \"file_megabytes\": %.1f, \"load_encrypted_vs_plain\": %.3f, "
           "\"save_encrypted_vs_plain\": %.3f, \"load_encrypted_chunks_vs_plain\": %.3f, "
           "\"save_encrypted_chunks_vs_plain\": %.3f, \"load_sealed_vs_plain\": %.3f, "
           "\"save_sealed_vs_plain\": %.3f, \"open_sealed_s\": %.6f, \"gcm_seal_gb_s\": %.3f, "
           "\"sha512_gb_s\": %.3f, \"verify_gb_s\": %.3f, \"verify_vs_sha512\": %.3f}\n",
           megabytes, (double)sealed.size * 1e-6, loaded.b / loaded.a, saved.b / saved.a,
           chunks_loaded.b / chunks_loaded.a, chunks_saved.b / chunks_saved.a,
           signed_loaded.b / signed_loaded.a, signed_saved.b / signed_saved.a, open, seal,
           (double)size / hash.a * 1e-9, (double)size / hash.b * 1e-9, hash.a / hash.b);
    ald_buffer_clear(&sealed);
    free(data);
    return 0;
}
