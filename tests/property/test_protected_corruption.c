/* SPDX-License-Identifier: MIT */
/* Signed files with each byte changed and cut at each length, the CRC32 made right again: an error each time, and never a row
 * that was not signed. The same of encrypted files, where their keys say nothing about metadata and license. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "unit/protect_fixture.h"

static ald_host host;
static uint64_t tried, refused;

static void make(const protect_way *w, fault_bytes *out)
{
    static fault_host f;
    ald_error err = {0};
    fault_init(&f, NULL, 0);
    f.host.random = protect_random;
    if (!CHECK_OK(protect_save(w, NULL, &f.sink, &f.host, &err), &err))
        exit(1);
    *out = f.output;
    f.output = (fault_bytes){NULL, 0, 0};
}

static void repair(uint8_t *data, size_t size)
{
    if (size > 4)
        ald__store_le32(data + size - 4, ald__crc32(0, data, size - 4));
}

static ald_status load(const uint8_t *data, size_t size, const protect_way *w)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = protect_trust(w);
    ald_dataset *d = NULL;
    ald_error err = {0};
    ald_status st;
    o.trust = &trust;
    o.ignore_expiry = 1;
    st = ald_load(&source, &o, &host, &d, &err);
    CHECK((st == ALD_OK) == (d != NULL));
    ald_dataset_free(d);
    return st;
}

/* Opened lazily, all chunks read: the first failure. */
static ald_status read_chunks(const uint8_t *data, size_t size, const protect_way *w)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = protect_trust(w);
    ald_streaming *s = NULL;
    ald_error err = {0};
    ald_status st;
    o.trust = &trust;
    o.ignore_expiry = 1;
    source.view = NULL;
    st = ald_streaming_open(&source, &o, &host, &s, &err);
    for (uint64_t i = 0; st == ALD_OK && i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray chunk;
        st = ald_streaming_chunk(s, i, NULL, &chunk, &err);
        if (st == ALD_OK)
            chunk.release(&chunk);
    }
    ald_streaming_close(s);
    return st;
}

/* Which bytes are covered: all of a signed file whose license is bound. */
static int is_covered(const ald_info *info, const protect_way *w, size_t at, int lazy)
{
    const ald_sections *s = &info->sections;
    if (w->with_signer && lazy)
        return at < s->signature.begin || at >= s->signature.begin + 64;
    if (w->with_signer)
        return 1;
    return at >= s->encryption.begin && at < s->payload.end;
}

static void change_bytes(const protect_way *w, const ald_info *info, fault_bytes *file)
{
    for (size_t at = 0; at + 4 < file->size; at++) {
        uint8_t bit = (uint8_t)(1u << (at % 8));
        file->data[at] ^= bit;
        repair(file->data, file->size);
        for (int lazy = 0; lazy <= (int)w->streaming; lazy++) {
            ald_status st =
                lazy ? read_chunks(file->data, file->size, w) : load(file->data, file->size, w);
            tried++;
            refused += st != ALD_OK;
            if (is_covered(info, w, at, lazy) && !CHECK(st != ALD_OK))
                printf("    %s, byte %zu%s\n", protect_name(w), at, lazy ? ", lazily" : "");
        }
        file->data[at] ^= bit;
    }
}

static void cut(const protect_way *w, const fault_bytes *file)
{
    uint8_t *data = (uint8_t *)malloc(file->size);
    REQUIRE(data != NULL);
    for (size_t size = 0; size < file->size; size++) {
        memcpy(data, file->data, size);
        repair(data, size);
        if (!CHECK(load(data, size, w) != ALD_OK))
            printf("    %s, %zu bytes\n", protect_name(w), size);
    }
    free(data);
}

static void check_file(const protect_way *w)
{
    fault_bytes file;
    ald_inspection *in = NULL;
    ald_error err = {0};
    ald_source source;
    make(w, &file);
    source = ald_source_memory(file.data, file.size);
    REQUIRE_OK(ald_inspect(&source, NULL, &host, &in, &err), &err);
    CHECK_OK(load(file.data, file.size, w), &err);
    change_bytes(w, ald_inspection_info(in), &file);
    repair(file.data, file.size);
    CHECK_OK(load(file.data, file.size, w), &err); /* as it was */
    cut(w, &file);
    ald_inspection_free(in);
    free(file.data);
}

static void test_changes(void)
{
    protect_way w = {.with_signer = 1, .with_license = 1, .rows = 6, .compression = 1};
    check_file(&w);
    w.streaming = 1;
    w.chunk_rows = 4;
    check_file(&w);
    w.encryption = ALD_ENCRYPTION_SEVERAL;
    check_file(&w);
    w.compression = ALD_COMPRESSION_NONE;
    w.encryption = ALD_ENCRYPTION_NONE;
    w.aligned = 1;
    check_file(&w);
    w = (protect_way){.encryption = ALD_ENCRYPTION_RECIPIENT, .rows = 6, .compression = 3};
    check_file(&w);
    w.streaming = 1;
    w.chunk_rows = 4;
    check_file(&w);
    printf("%llu of %llu changes refused\n", (unsigned long long)refused,
           (unsigned long long)tried);
}

int main(void)
{
    host = ald_native_host(1);
    protect_keys();
    RUN(test_changes);
    return check_done();
}
