/* SPDX-License-Identifier: MIT */
/* Protected files by someone who has the keys: signatures, hashes and tags always fit (fuzz_crypto.h), the rest is as hostile
 * as elsewhere. The inputs were written with the same cryptography. Loaded from memory that is borrowed and from memory of
 * the library's own, both must do the same; then chunk by chunk, also from the middle of what salvage finds. */
#include <libdeflate.h>

#include "fuzz/fuzz_crypto.h"
#include "fuzz/fuzz_host.h"

static ald_crypto crypto;
static ald_trust trust;
static const uint8_t private_keys[64] = {1};

static ald_load_options make_options(void)
{
    static const ald_trust none = ALD_TRUST_INIT;
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    trust = none;
    trust.allow_untrusted = 1;
    trust.allow_unsigned = 1;
    trust.allow_plain = 1;
    trust.private_keys = private_keys;
    trust.private_count = 2;
    trust.password = "x";
    trust.password_size = 1;
    o.ignore_expiry = 1;
    o.limits.metadata_bytes = 1 << 20;
    o.limits.uncompressed_bytes = 64 << 20;
    o.trust = &trust;
    return o;
}

static int64_t row_count(const ald_dataset *d)
{
    struct ArrowArrayStream stream;
    ald_error err = {0};
    int64_t rows = -1;
    if (ald_dataset_stream(d, &stream, &err) == ALD_OK)
        (void)fuzz_drain(&stream, &rows, &err);
    return rows;
}

static void check_loads(const uint8_t *data, size_t size, const ald_host *host)
{
    ald_load_options o = make_options();
    ald_source source = ald_source_memory(data, size);
    ald_dataset *borrowed = NULL, *own = NULL;
    ald_error err = {0};
    ald_status st = ald_load(&source, &o, host, &borrowed, &err), st_own;
    fuzz_check_error(st, &err);
    source.view = NULL;
    st_own = ald_load(&source, &o, host, &own, &err);
    fuzz_check_error(st_own, &err);
    FUZZ_CHECK((st == ALD_OK) == (borrowed != NULL) && (st_own == ALD_OK) == (own != NULL));
    FUZZ_CHECK(st == st_own || st == ALD_E_NOMEM || st_own == ALD_E_NOMEM);
    if (st == ALD_OK && st_own == ALD_OK)
        FUZZ_CHECK(row_count(borrowed) == row_count(own));
    ald_dataset_free(borrowed);
    ald_dataset_free(own);
}

static void check_chunks(ald_streaming *s)
{
    uint8_t columns[64] = {1};
    uint64_t n = ald_streaming_chunk_count(s);
    for (uint64_t i = 0; i < n && i < 64; i++) {
        struct ArrowArray chunk;
        ald_error err = {0};
        int some = ald_streaming_schema(s)->n_children <= 64;
        for (int k = 0; k <= some; k++) {
            ald_status st = ald_streaming_chunk(s, i, k == 0 ? NULL : columns, &chunk, &err);
            fuzz_check_error(st, &err);
            FUZZ_CHECK((st == ALD_OK) == (chunk.release != NULL));
            if (st == ALD_OK)
                chunk.release(&chunk);
        }
    }
}

static void check_lazily(const uint8_t *data, size_t size, const ald_host *host)
{
    ald_load_options o = make_options();
    ald_source source = ald_source_memory(data, size);
    for (int way = 0; way < 4; way++) {
        ald_streaming *s = NULL;
        ald_error err = {0};
        ald_status st;
        if (way == 2)
            source.view = NULL;
        o.check_all = (uint8_t)(way & 1);
        st = ald_streaming_open(&source, &o, host, &s, &err);
        fuzz_check_error(st, &err);
        FUZZ_CHECK((st == ALD_OK) == (s != NULL));
        if (st == ALD_OK)
            check_chunks(s);
        ald_streaming_close(s);
    }
}

static void check_salvage(const uint8_t *data, size_t size, const ald_host *host)
{
    ald_load_options o = make_options();
    ald_source source = ald_source_memory(data, size);
    ald_streaming *s = NULL;
    ald_error err = {0};
    ald_status st = ald_streaming_salvage(&source, &o, host, &s, &err);
    fuzz_check_error(st, &err);
    FUZZ_CHECK((st == ALD_OK) == (s != NULL));
    if (st == ALD_OK)
        check_chunks(s);
    ald_streaming_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    crypto = fuzz_crypto();
    host.crypto = &crypto;
    memcpy(copy, data, size);
    if (size >= 4) {
        uint32_t crc = libdeflate_crc32(0, copy, size - 4);
        for (size_t i = 0; i < 4; i++)
            copy[size - 4 + i] = (uint8_t)(crc >> (8 * i));
    }
    check_loads(copy, size, &host);
    check_lazily(copy, size, &host);
    check_salvage(copy, size, &host);
    free(copy);
    FUZZ_CHECK_EMPTY();
    return 0;
}
