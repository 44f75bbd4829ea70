/* SPDX-License-Identifier: MIT */
/* Keys, licenses and a host whose randomness repeats, for tests of protected files. Rows are those of number_table.h. */
#ifndef PROTECT_FIXTURE_H
#define PROTECT_FIXTURE_H

#include "ald/crypto.h"
#include "fault/fault_host.h"
#include "number_table.h"

#define PROTECT_PASSWORD "correct horse \xE2\x9C\x93"
#define PROTECT_RECIPIENTS 3
#define PROTECT_COLUMNS 3

static uint8_t protect_seed[32], protect_signer[32];
static uint8_t protect_private[PROTECT_RECIPIENTS * 32], protect_public[PROTECT_RECIPIENTS * 32];

/* Random bytes that begin anew with protect_rewind; the n-th call can be refused. */
static uint64_t protect_random_at;
static int64_t protect_random_left = -1;

static inline void protect_rewind(void)
{
    protect_random_at = 0;
}

static inline ald_status protect_random(void *ctx, void *buf, size_t size, ald_error *err)
{
    uint8_t *p = (uint8_t *)buf;
    ald_status st = fault_call(&protect_random_left, "drawing", err);
    (void)ctx;
    if (st != ALD_OK)
        return st;
    for (size_t i = 0; i < size; i++)
        p[i] = (uint8_t)(number_at((int64_t)protect_random_at++, 77) >> 7);
    return ALD_OK;
}

static inline void protect_keys(void)
{
    const ald_crypto *c = ald_native_host(1).crypto;
    ald_error err = {0};
    for (size_t i = 0; i < 32; i++)
        protect_seed[i] = (uint8_t)(i * 7 + 1);
    for (size_t i = 0; i < sizeof protect_private; i++)
        protect_private[i] = (uint8_t)(i * 11 + 3);
    if (c->ed25519_public(protect_seed, protect_signer, &err) != ALD_OK)
        abort();
    for (size_t i = 0; i < PROTECT_RECIPIENTS; i++) {
        if (c->x25519_public(protect_private + 32 * i, protect_public + 32 * i, &err) != ALD_OK)
            abort();
    }
}

static inline ald_license protect_license(void)
{
    ald_license l = {0};
    for (size_t i = 0; i < 16; i++)
        l.license_id[i] = (uint8_t)(0xA0 + i);
    memset(l.licensee_hash, 0x5A, sizeof l.licensee_hash);
    l.issued_at = 1700000000;
    l.expires_at = 4102444800;
    l.flags = ALD_LICENSE_EXPIRATION_ENFORCED | ALD_LICENSE_SEATS_ENFORCED;
    l.seat_limit = 5;
    l.query_limit = 70000;
    l.terms = "Use it well \xC3\xA9";
    l.terms_size = strlen(l.terms);
    return l;
}

/* How a file is written. */
typedef struct protect_way {
    uint8_t encryption; /* an ald_encryption */
    uint8_t streaming, aligned, with_signer, with_license, compression, compat;
    int64_t rows;
    uint64_t chunk_rows;
    uint32_t kdf_m_kib;
} protect_way;

/* `license` has to stay as long as the protection is used. */
static inline ald_protection protect_protection(const protect_way *w, ald_license *license)
{
    ald_protection p = ALD_PROTECTION_INIT;
    p.encryption = w->encryption;
    if (w->encryption == ALD_ENCRYPTION_PASSWORD) {
        p.password = PROTECT_PASSWORD;
        p.password_size = strlen(PROTECT_PASSWORD);
        p.kdf_m_kib = w->kdf_m_kib;
    } else if (w->encryption != ALD_ENCRYPTION_NONE) {
        p.recipients = protect_public;
        p.recipient_count = w->encryption == ALD_ENCRYPTION_RECIPIENT ? 1 : PROTECT_RECIPIENTS;
    }
    *license = protect_license();
    if (w->with_license)
        p.license = license;
    if (w->with_signer)
        p.signer_seed = protect_seed;
    return p;
}

static inline ald_status protect_save(const protect_way *w, const ald_value *metadata,
                                      const ald_sink *sink, const ald_host *host, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_license license;
    ald_protection p = protect_protection(w, &license);
    o.compression = w->compression;
    o.compat = w->compat;
    o.layout = w->streaming ? ALD_LAYOUT_STREAMING : ALD_LAYOUT_WHOLE;
    o.aligned = w->aligned;
    o.chunk_rows = w->chunk_rows;
    o.metadata = metadata;
    o.protection = &p;
    number_open(w->rows, PROTECT_COLUMNS, 100, &stream);
    return ald_save(&stream, sink, &o, host, err);
}

/* What it takes to read the file. */
static inline ald_trust protect_trust(const protect_way *w)
{
    ald_trust t = ALD_TRUST_INIT;
    if (w->encryption == ALD_ENCRYPTION_PASSWORD) {
        t.password = PROTECT_PASSWORD;
        t.password_size = strlen(PROTECT_PASSWORD);
    } else if (w->encryption == ALD_ENCRYPTION_RECIPIENT) {
        t.private_keys = protect_private;
        t.private_count = 1;
    } else if (w->encryption == ALD_ENCRYPTION_SEVERAL) {
        t.private_keys = protect_private + 32 * (PROTECT_RECIPIENTS - 1);
        t.private_count = 1;
    }
    if (w->with_signer) {
        t.trusted_keys = protect_signer;
        t.trusted_count = 1;
    }
    return t;
}

/* A load with that trust gives the rows; returns whether it did. */
static inline int protect_check_rows(const void *data, size_t size, const ald_trust *trust,
                                     int64_t rows)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_host host = ald_native_host(1);
    ald_dataset *d = NULL;
    ald_error err = {0};
    int64_t at = 0, wrong = 0;
    o.trust = trust;
    if (!CHECK_OK(ald_load(&source, &o, &host, &d, &err), &err))
        return 0;
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        if (!CHECK_OK(ald_dataset_batch(d, i, &batch, &err), &err))
            return 0;
        for (int64_t r = 0; r < batch.length; r++, at++) {
            for (int64_t c = 0; c < batch.n_children; c++) {
                const struct ArrowArray *a = batch.children[c];
                wrong += ((const int64_t *)a->buffers[1])[batch.offset + a->offset + r] !=
                         number_at(at, c);
            }
        }
        batch.release(&batch);
    }
    ald_dataset_free(d);
    return CHECK_INT(at, rows) && CHECK_INT(wrong, 0);
}

static inline const char *protect_name(const protect_way *w)
{
    static const char *const modes[] = {"plain", "password", "recipient", "several"};
    static char name[128];
    snprintf(name, sizeof name, "%s-%s%s%s%s-c%u-%d%s", modes[w->encryption],
             w->streaming ? "stream" : "whole", w->aligned ? "-aligned" : "",
             w->with_signer ? "-signed" : "", w->with_license ? "-licensed" : "", w->compression,
             (int)w->rows, w->compat ? "-compat" : "");
    return name;
}

#endif
