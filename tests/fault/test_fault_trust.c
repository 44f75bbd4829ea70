/* SPDX-License-Identifier: MIT */
/* Protected files while memory and reads fail at every call in turn. */
#include "fault/fault_host.h"

static ald_trust trust;
static uint8_t trusted[32], private_key[32];

static uint8_t digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void from_hex(const char *hex, uint8_t out[32])
{
    for (size_t i = 0; i < 32; i++)
        out[i] = (uint8_t)(digit(hex[2 * i]) << 4 | digit(hex[2 * i + 1]));
}

/* The signer and recipient 1 of tests/golden/wire-1.3. */
static void make_keys(void)
{
    static const ald_trust none = ALD_TRUST_INIT;
    from_hex("4e2616043762119f991d6f1b4e603d245dcb026f27351dc0e9db8b4eb4dfb8c3", trusted);
    from_hex("99be4e5efd6dfbe0099fe6121c36117f21ebe56f0b4d6e83c73c0faaee3ba901", private_key);
    trust = none;
    trust.trusted_keys = trusted;
    trust.trusted_count = 1;
    trust.private_keys = private_key;
    trust.private_count = 1;
    trust.allow_plain = 1;
    trust.allow_unsigned = 1;
}

static ald_load_options options(void)
{
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    o.ignore_expiry = 1;
    o.trust = &trust;
    return o;
}

static ald_status job_load(fault_host *f, ald_error *err)
{
    ald_load_options o = options();
    ald_dataset *d = NULL;
    ald_status st = ald_load(&f->source, &o, &f->host, &d, err);
    CHECK((st == ALD_OK) == (d != NULL));
    ald_dataset_free(d);
    return st;
}

/* The bytes are borrowed: decrypted into memory of their own. */
static ald_status job_load_view(fault_host *f, ald_error *err)
{
    ald_load_options o = options();
    ald_source source = ald_source_memory(f->input, f->input_size);
    ald_dataset *d = NULL;
    ald_status st = ald_load(&source, &o, &f->host, &d, err);
    CHECK((st == ALD_OK) == (d != NULL));
    ald_dataset_free(d);
    return st;
}

static ald_status read_chunks(ald_streaming *s, ald_error *err)
{
    uint8_t first[64] = {1};
    ald_status st = ALD_OK;
    for (uint64_t i = 0; st == ALD_OK && i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray chunk;
        st = ald_streaming_chunk(s, i, NULL, &chunk, err);
        if (st == ALD_OK) {
            chunk.release(&chunk);
            st = ald_streaming_chunk(s, i, first, &chunk, err);
        }
        if (st == ALD_OK)
            chunk.release(&chunk);
    }
    return st;
}

static ald_status lazily(fault_host *f, const ald_source *source, uint8_t check_all, ald_error *err)
{
    ald_load_options o = options();
    ald_streaming *s = NULL;
    ald_status st;
    o.check_all = check_all;
    st = ald_streaming_open(source, &o, &f->host, &s, err);
    CHECK((st == ALD_OK) == (s != NULL));
    if (st == ALD_OK)
        st = read_chunks(s, err);
    ald_streaming_close(s);
    return st;
}

static ald_status job_lazy(fault_host *f, ald_error *err)
{
    return lazily(f, &f->source, 0, err);
}

static ald_status job_lazy_all(fault_host *f, ald_error *err)
{
    return lazily(f, &f->source, 1, err);
}

static ald_status job_lazy_view(fault_host *f, ald_error *err)
{
    ald_source source = ald_source_memory(f->input, f->input_size);
    return lazily(f, &source, 0, err);
}

static ald_status job_salvage(fault_host *f, ald_error *err)
{
    ald_load_options o = options();
    ald_streaming *s = NULL;
    ald_status st = ald_streaming_salvage(&f->source, &o, &f->host, &s, err);
    CHECK((st == ALD_OK) == (s != NULL));
    if (st == ALD_OK)
        st = read_chunks(s, err);
    ald_streaming_close(s);
    return st;
}

static void each(const char *name, fault_job job, int reads)
{
    char path[128];
    size_t size;
    uint8_t *data;
    snprintf(path, sizeof path, "golden/wire-1.3/%s", name);
    data = fault_file(path, &size);
    CHECK(fault_each(FAULT_ALLOC, name, job, data, size, NULL) > 5);
    if (reads)
        CHECK(fault_each(FAULT_READ, name, job, data, size, NULL) > 1);
    free(data);
}

static void test_load(void)
{
    static const char *const names[] = {
        "enc-crate-block-licensed.ald", "enc-both-fit-53.ald",
        "enc-both-fit-45.ald",          "flags-several-signed.ald",
        "columns-sealed-encrypted.ald", "signed-stream-unsealed.ald",
        "frame-crc-encrypted.ald",      "seal-trueno-license.ald",
        "license-bound-unsigned.ald"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        each(names[i], job_load, 1);
        each(names[i], job_load_view, 0);
    }
}

static void test_lazy(void)
{
    static const char *const names[] = {"columns-sealed-encrypted.ald", "columns-sealed.ald",
                                        "signed-stream-unsealed.ald", "frame-crc-encrypted.ald",
                                        "seal-trueno-license.ald"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        each(names[i], job_lazy, 1);
        each(names[i], job_lazy_all, 1);
        each(names[i], job_lazy_view, 0);
    }
}

static void test_salvage(void)
{
    each("columns-sealed-encrypted.ald", job_salvage, 1);
}

int main(void)
{
    make_keys();
    RUN(test_load);
    RUN(test_lazy);
    RUN(test_salvage);
    return check_done();
}
