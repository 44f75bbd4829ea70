/* SPDX-License-Identifier: MIT */
/* What an attacker can do without a key. Every single bit of small files is flipped, and checksums are put right again, as
 * anyone can: each is refused, by a plain load and chunk by chunk, with an error of the section's kind. Then whole chunks,
 * blocks and licenses are moved about. Metadata of a file that is encrypted alone, and the minor version, are public and may
 * change; the rows then do not. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "core/container/msgpack.h"
#include "protect_fixture.h"
#include "trust_case.h"

#define BIT(status) (1u << (status))
#define FORMAT (BIT(ALD_E_INVALID_FORMAT) | BIT(ALD_E_TRUNCATED))
#define HEADER (FORMAT | BIT(ALD_E_UNSUPPORTED_VERSION) | BIT(ALD_E_LIMIT_EXCEEDED))
#define METADATA (FORMAT | BIT(ALD_E_CHECKSUM_MISMATCH) | BIT(ALD_E_LIMIT_EXCEEDED))

_Static_assert(ALD_E_LICENSE_REVOKED < 32, "statuses are bits");

typedef struct sample {
    const char *name;
    protect_way way;
    uint8_t *data, *changed; /* the file as written, and with what was done to it */
    size_t size;
    ald_sections at;
    size_t prefix_crc32; /* its place in the file; 0: none */
    trust_case c;
    char *rows;
} sample;

static ald_error err;
static size_t count_flips, count_still_read;

/* ---- samples */

static void locate_prefix_crc32(sample *s)
{
    static const char *const path[2] = {"ald", "prefix_crc32"};
    ald_range r = s->at.metadata;
    ald__msgpack_place place;
    s->prefix_crc32 = 0;
    if (ald__msgpack_locate(s->data + r.begin, (size_t)(r.end - r.begin), path, 2, &place))
        s->prefix_crc32 = (size_t)r.begin + place.content;
}

static void open_sample(sample *s, const char *name, protect_way way)
{
    ald_host host = ald_native_host(1);
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&out);
    ald_inspection *in = NULL;
    ald_source source;
    ald_status st;
    memset(s, 0, sizeof *s);
    s->name = name;
    s->way = way;
    trust_case_init(&s->c, NULL);
    s->c.trust = protect_trust(&way);
    if (!CHECK_OK(protect_save(&way, NULL, &sink, &host, &err), &err))
        exit(1);
    s->size = out.size;
    s->data = (uint8_t *)number_alloc(out.size);
    s->changed = (uint8_t *)number_alloc(out.size);
    memcpy(s->data, out.data, out.size);
    ald_buffer_clear(&out);
    source = ald_source_memory(s->data, s->size);
    if (!CHECK_OK(ald_inspect(&source, NULL, &host, &in, &err), &err))
        exit(1);
    s->at = ald_inspection_info(in)->sections;
    ald_inspection_free(in);
    locate_prefix_crc32(s);
    s->rows = trust_load(&s->c, &source, &st, &err);
    if (!CHECK_OK(st, &err))
        exit(1);
    memcpy(s->changed, s->data, s->size);
}

static void close_sample(sample *s)
{
    free(s->data);
    free(s->changed);
    free(s->rows);
}

/* ---- checksums, as anyone can put them right */

static void put_crc32(sample *s)
{
    ald__store_le32(s->changed + s->size - 4, ald__crc32(0, s->changed, s->size - 4));
}

static void put_prefix_crc32(sample *s)
{
    uint8_t *place = s->changed + s->prefix_crc32;
    if (s->prefix_crc32 == 0)
        return;
    memset(place, 0, 4);
    ald__store_le32(place, ald__crc32(0, s->changed, (size_t)s->at.payload.begin));
}

/* ---- reading what was changed */

static ald_status read_changed(const sample *s, int lazily, char **rows)
{
    ald_source source = ald_source_memory(s->changed, s->size);
    ald_status st;
    *rows =
        lazily ? trust_stream(&s->c, &source, &st, &err) : trust_load(&s->c, &source, &st, &err);
    return st;
}

/* Refused with one of these, or, when ALD_OK is one of them, read as if nothing had happened. */
static void expect(const sample *s, int lazily, unsigned allowed, const char *what, size_t where)
{
    char *rows;
    ald_status st = read_changed(s, lazily, &rows);
    int right = (allowed >> st & 1) && (st != ALD_OK || strcmp(rows, s->rows) == 0);
    if (!CHECK(right))
        printf("    %s, %s %zu, %s: %s %s\n", s->name, what, where, lazily ? "lazily" : "loaded",
               ald_status_name(st), st != ALD_OK ? err.msg : "");
    count_still_read += st == ALD_OK;
    free(rows);
}

/* ---- every bit */

static int within(const ald_range *r, size_t at)
{
    return at >= r->begin && at < r->end;
}

/* `fixed`: prefix_crc32 was put right, too. */
static unsigned allowed_in_license(const sample *s, size_t at)
{
    size_t in = at - (size_t)s->at.license.begin;
    if (in >= 71 && in < 75) /* terms_len */
        return FORMAT;
    if (in == 64 || in >= 75) /* flags; terms, which are UTF-8 */
        return BIT(ALD_E_SIGNATURE_INVALID) | BIT(ALD_E_INVALID_FORMAT);
    return BIT(ALD_E_SIGNATURE_INVALID);
}

static unsigned allowed_signed(const sample *s, size_t at, int fixed, int lazily)
{
    unsigned crc = fixed ? 0 : BIT(ALD_E_CHECKSUM_MISMATCH);
    unsigned invalid = BIT(ALD_E_SIGNATURE_INVALID);
    if (within(&s->at.header, at))
        return HEADER | crc | invalid | BIT(ALD_E_UNTRUSTED_SIGNER);
    if (within(&s->at.metadata, at))
        return METADATA | invalid;
    if (within(&s->at.schema, at))
        return crc | invalid;
    if (within(&s->at.chunk_index, at) || within(&s->at.encryption, at))
        return FORMAT | crc | invalid;
    if (within(&s->at.payload, at))
        return invalid;
    if (within(&s->at.license, at))
        return allowed_in_license(s, at);
    if (at >= s->at.signature.begin + 64)
        return BIT(ALD_E_UNTRUSTED_SIGNER);
    return lazily ? BIT(ALD_OK) : invalid; /* the seal stands for it when a file is opened lazily */
}

/* Encrypted, not signed. */
static unsigned allowed_encrypted(const sample *s, size_t at, int fixed)
{
    unsigned crc = fixed ? 0 : BIT(ALD_E_CHECKSUM_MISMATCH);
    unsigned failed = BIT(ALD_E_DECRYPTION_FAILED);
    if (at == 5)
        return BIT(ALD_OK) | HEADER | crc | failed;
    if (within(&s->at.header, at))
        return HEADER | crc | failed;
    if (within(&s->at.metadata, at))
        return BIT(ALD_OK) | METADATA | failed;
    if (within(&s->at.schema, at))
        return crc | failed;
    if (within(&s->at.payload, at))
        return failed;
    return FORMAT | crc | failed;
}

static void flip(sample *s, size_t at, int fixed)
{
    for (unsigned bit = 0; bit < 8; bit++) {
        memcpy(s->changed, s->data, s->size);
        s->changed[at] ^= (uint8_t)(1u << bit);
        if (fixed)
            put_prefix_crc32(s);
        put_crc32(s);
        if (memcmp(s->changed, s->data, s->size) == 0)
            continue;
        for (int lazily = 0; lazily <= s->way.streaming; lazily++) {
            unsigned allowed = s->way.with_signer ? allowed_signed(s, at, fixed, lazily)
                                                  : allowed_encrypted(s, at, fixed);
            expect(s, lazily, allowed, "bit of byte", at);
            count_flips++;
        }
    }
}

static void flip_all(const char *name, protect_way way)
{
    sample s;
    open_sample(&s, name, way);
    count_flips = count_still_read = 0;
    for (size_t at = 0; at + 4 < s.size; at++) { /* the last 4 are the CRC32 */
        flip(&s, at, 0);
        if (s.prefix_crc32 != 0 && at < s.at.payload.begin)
            flip(&s, at, 1);
    }
    CHECK(count_flips >= 8 * (s.size - 4 - 4));
    if (way.with_signer && !way.streaming)
        CHECK_UINT(count_still_read, 0);
    close_sample(&s);
}

static const protect_way way_signed_stream = {.encryption = ALD_ENCRYPTION_RECIPIENT,
                                              .streaming = 1,
                                              .with_signer = 1,
                                              .with_license = 1,
                                              .compression = ALD_COMPRESSION_ZSTD_L3,
                                              .rows = 4,
                                              .chunk_rows = 2};
static const protect_way way_signed_whole = {.encryption = ALD_ENCRYPTION_SEVERAL,
                                             .with_signer = 1,
                                             .with_license = 1,
                                             .compression = ALD_COMPRESSION_ZSTD_L3,
                                             .rows = 3};
static const protect_way way_stream = {.encryption = ALD_ENCRYPTION_RECIPIENT,
                                       .streaming = 1,
                                       .compression = ALD_COMPRESSION_ZSTD_L3,
                                       .rows = 6,
                                       .chunk_rows = 2};
static const protect_way way_whole = {
    .encryption = ALD_ENCRYPTION_RECIPIENT, .compression = ALD_COMPRESSION_LZ4, .rows = 3};

static void test_bits_signed_stream(void)
{
    flip_all("signed, encrypted, licensed, streaming", way_signed_stream);
}

static void test_bits_signed_whole(void)
{
    flip_all("signed, encrypted, licensed, whole", way_signed_whole);
}

static void test_bits_stream(void)
{
    flip_all("encrypted, streaming", way_stream);
}

static void test_bits_whole(void)
{
    flip_all("encrypted, whole", way_whole);
}

/* ---- chunks */

typedef struct entry {
    uint64_t byte_offset; /* from the payload's start */
    uint32_t size;
} entry;

static entry entry_at(const sample *s, uint64_t k)
{
    const uint8_t *p = s->data + s->at.chunk_index.begin + 4 + 28 * k;
    entry e = {ald__load_le64(p + 12), ald__load_le32(p + 20)};
    return e;
}

/* Chunk `from` of `source` in place of chunk k. Both have one size, so that nothing else tells. */
static void put_chunk(sample *s, uint64_t k, const sample *source, uint64_t from)
{
    entry a = entry_at(s, k), b = entry_at(source, from);
    REQUIRE(a.size == b.size);
    memcpy(s->changed + s->at.payload.begin + a.byte_offset,
           source->data + source->at.payload.begin + b.byte_offset, b.size);
}

static void expect_both(sample *s, unsigned allowed, const char *what)
{
    put_prefix_crc32(s);
    put_crc32(s);
    expect(s, 0, allowed, what, 0);
    if (s->way.streaming)
        expect(s, 1, allowed, what, 0);
    memcpy(s->changed, s->data, s->size);
}

/* Uncompressed chunks of as many rows have one size. frame_crc32 is metadata: whoever may change that can put it right, but
 * then the metadata differ, which is not what is tested here; so the name is broken, and it does not count. */
static void open_equal_chunks(sample *s, uint8_t with_signer)
{
    protect_way way = way_stream;
    uint8_t *metadata;
    way.compression = ALD_COMPRESSION_NONE;
    way.with_signer = with_signer;
    open_sample(s, with_signer ? "equal chunks, signed" : "equal chunks", way);
    if (with_signer)
        return;
    metadata = s->data + s->at.metadata.begin;
    for (size_t i = 0; i + 11 < s->at.metadata.end - s->at.metadata.begin; i++) {
        if (memcmp(metadata + i, "frame_crc32", 11) == 0)
            metadata[i] = 'F';
    }
    memcpy(s->changed, s->data, s->size);
    put_prefix_crc32(s);
    put_crc32(s);
    memcpy(s->data, s->changed, s->size);
    expect(s, 0, BIT(ALD_OK), "without frame_crc32", 0);
}

static void move_chunks(uint8_t with_signer)
{
    unsigned refused = BIT(with_signer ? ALD_E_SIGNATURE_INVALID : ALD_E_DECRYPTION_FAILED);
    sample s, other;
    open_equal_chunks(&s, with_signer);
    open_equal_chunks(&other, with_signer);
    put_chunk(&s, 0, &s, 1);
    put_chunk(&s, 1, &s, 0);
    expect_both(&s, refused, "two chunks swapped");
    put_chunk(&s, 2, &s, 1);
    expect_both(&s, refused, "a chunk repeated");
    put_chunk(&s, 1, &other, 1); /* the same rows, the same place, the same recipient */
    expect_both(&s, refused, "a chunk of another file");
    memcpy(s.changed + s.at.encryption.begin, other.data + other.at.encryption.begin,
           (size_t)(s.at.encryption.end - s.at.encryption.begin));
    expect_both(&s, refused, "the encryption block of another file");
    memcpy(s.changed + s.at.payload.begin, other.data + other.at.payload.begin,
           (size_t)(s.at.payload.end - s.at.payload.begin));
    expect_both(&s, refused, "the payload of another file");
    close_sample(&s);
    close_sample(&other);
}

static void test_moved_chunks(void)
{
    move_chunks(0);
    move_chunks(1);
}

static void subtract_le32(uint8_t *p, uint32_t v)
{
    ald__store_le32(p, ald__load_le32(p) - v);
}

static void subtract_le64(uint8_t *p, uint64_t v)
{
    ald__store_le64(p, ald__load_le64(p) - v);
}

/* The last chunk cut out, with everything that counts it. */
static void test_dropped_chunk(void)
{
    sample s;
    entry last;
    uint32_t uncompressed;
    size_t index, payload;
    open_equal_chunks(&s, 0);
    last = entry_at(&s, 2);
    index = (size_t)s.at.chunk_index.begin;
    payload = (size_t)s.at.payload.begin;
    uncompressed = ald__load_le32(s.data + index + 4 + 2 * 28 + 24);
    subtract_le32(s.changed + index, 1);
    subtract_le32(s.changed + 12, last.size);
    subtract_le32(s.changed + 16, uncompressed);
    subtract_le64(s.changed + 24, 2);
    memmove(s.changed + payload + last.byte_offset,
            s.changed + payload + last.byte_offset + last.size,
            s.size - payload - (size_t)last.byte_offset - last.size);
    s.size -= last.size;
    memmove(s.changed + index + 4 + 2 * 28, s.changed + index + 4 + 3 * 28,
            s.size - index - 4 - 3 * 28);
    s.size -= 28;
    s.at.payload.begin -= 28;
    put_prefix_crc32(&s);
    put_crc32(&s);
    expect(&s, 0, BIT(ALD_E_DECRYPTION_FAILED), "the last chunk dropped", 0);
    expect(&s, 1, BIT(ALD_E_DECRYPTION_FAILED), "the last chunk dropped", 0);
    close_sample(&s);
}

/* ---- what the rows mean */

static void test_meaning(void)
{
    static const protect_way *const ways[] = {&way_stream, &way_whole};
    for (size_t i = 0; i < 2; i++) {
        sample s;
        open_sample(&s, i == 0 ? "meaning, streaming" : "meaning, whole", *ways[i]);
        s.changed[6] ^= 3; /* dataset type */
        expect_both(&s, BIT(ALD_E_DECRYPTION_FAILED), "another dataset type");
        s.changed[20] =
            s.data[20] == ALD_COMPRESSION_LZ4 ? ALD_COMPRESSION_ZSTD_L3 : ALD_COMPRESSION_ZSTD_L19;
        expect_both(&s, BIT(ALD_E_DECRYPTION_FAILED), "another compression");
        s.changed[5] = 2; /* as if there were neither commitment nor additional data */
        expect_both(&s, BIT(ALD_E_DECRYPTION_FAILED), "minor version 2");
        close_sample(&s);
    }
}

/* ---- signer and license */

static void test_license_and_signer(void)
{
    sample s;
    uint8_t *license, *signature, other[32], seed[32] = {9};
    uint8_t both[64];
    open_sample(&s, "license and signer", way_signed_stream);
    license = s.changed + s.at.license.begin;
    signature = s.changed + s.at.signature.begin;
    ald__store_le64(license + 56, UINT64_MAX);
    expect_both(&s, BIT(ALD_E_SIGNATURE_INVALID), "a license prolonged");
    license[64] &= (uint8_t)~ALD_LICENSE_EXPIRATION_ENFORCED;
    expect_both(&s, BIT(ALD_E_SIGNATURE_INVALID), "expiry not enforced");
    ald__store_le16(license + 65, 65535);
    expect_both(&s, BIT(ALD_E_SIGNATURE_INVALID), "more seats");
    REQUIRE_OK(s.c.host.crypto->ed25519_public(seed, other, &err), &err);
    memcpy(signature + 64, other, 32);
    expect_both(&s, BIT(ALD_E_UNTRUSTED_SIGNER), "another signer's key");
    memcpy(both, protect_signer, 32);
    memcpy(both + 32, other, 32);
    s.c.trust.trusted_keys = both;
    s.c.trust.trusted_count = 2;
    memcpy(signature + 64, other, 32);
    expect_both(&s, BIT(ALD_E_SIGNATURE_INVALID), "another trusted signer's key");
    REQUIRE_OK(
        s.c.host.crypto->ed25519_sign(seed, s.data, (size_t)s.at.payload.end, signature, &err),
        &err); /* signed anew, by the other: the seal does not fit */
    memcpy(signature + 64, other, 32);
    expect_both(&s, BIT(ALD_E_SIGNATURE_INVALID), "another trusted signer's signature");
    s.c.trust.trusted_count = 1;
    REQUIRE_OK(
        s.c.host.crypto->ed25519_sign(seed, s.data, (size_t)s.at.payload.end, signature, &err),
        &err);
    memcpy(signature + 64, other, 32);
    expect_both(&s, BIT(ALD_E_UNTRUSTED_SIGNER), "another signer's signature");
    close_sample(&s);
}

/* The block cut out and the flag cleared: a caller that names a signer is not served. */
static void test_signature_stripped(void)
{
    protect_way way = way_signed_whole;
    sample s;
    size_t begin, end;
    way.with_license = 0;
    open_sample(&s, "stripped", way);
    begin = (size_t)s.at.signature.begin;
    end = (size_t)s.at.signature.end;
    s.changed[21] &= (uint8_t)~ALD_FLAG_SIGNED;
    memmove(s.changed + begin, s.changed + end, s.size - end);
    s.size -= end - begin;
    put_crc32(&s);
    expect(&s, 0, BIT(ALD_E_UNTRUSTED_SIGNER), "the signature stripped", 0);
    s.c.trust.allow_unsigned = 1;
    expect(&s, 0, BIT(ALD_OK), "unsigned files allowed", 0); /* flags of protection are not bound */
    close_sample(&s);
}

/* ---- aligned files in place */

static ald_status open_mapped(const sample *s, ald_mapped **out)
{
    ald_source source = ald_source_memory(s->changed, s->size);
    ald_load_options load = trust_options(&s->c);
    return ald_mapped_open(&source, &load, &s->c.host, out, &err);
}

/* What is mapped changes once it is open. Whoever touches the chunk is told; the other chunk still comes. */
static void test_mapped_chunk(void)
{
    protect_way way = {.streaming = 1, .aligned = 1, .with_signer = 1, .rows = 4, .chunk_rows = 2};
    sample s;
    ald_mapped *m = NULL;
    ald_vector v;
    struct ArrowArray batch;
    entry second;
    open_sample(&s, "aligned, sealed", way);
    free(s.changed);
    s.changed = (uint8_t *)aligned_alloc(64, (s.size + 63) & ~(size_t)63);
    REQUIRE(s.changed != NULL);
    memcpy(s.changed, s.data, s.size);
    second = entry_at(&s, 1);
    REQUIRE_OK(open_mapped(&s, &m), &err);
    s.changed[s.at.payload.begin + second.byte_offset + second.size - 1] ^= 1;
    CHECK_OK(ald_mapped_vector(m, 0, 0, &v, &err), &err);
    CHECK_INT(ald_mapped_vector(m, 1, 0, &v, &err), ALD_E_SIGNATURE_INVALID);
    CHECK_INT(ald_mapped_batch(m, 1, &batch, &err), ALD_E_SIGNATURE_INVALID);
    if (CHECK_OK(ald_mapped_batch(m, 0, &batch, &err), &err))
        batch.release(&batch);
    ald_mapped_close(m);
    m = NULL;
    memcpy(s.changed, s.data, s.size);
    s.changed[s.at.payload.end - 1] ^= 1; /* epilogue */
    CHECK_INT(open_mapped(&s, &m), ALD_E_SIGNATURE_INVALID);
    memcpy(s.changed, s.data, s.size);
    s.changed[s.at.payload.begin] ^= 1; /* prologue */
    CHECK_INT(open_mapped(&s, &m), ALD_E_SIGNATURE_INVALID);
    CHECK(m == NULL);
    close_sample(&s);
}

/* Without chunks there is no seal: the signature is verified when the file is opened. */
static void test_mapped_whole(void)
{
    protect_way way = {.aligned = 1, .with_signer = 1, .rows = 4};
    sample s;
    ald_mapped *m = NULL;
    open_sample(&s, "aligned, signed", way);
    free(s.changed);
    s.changed = (uint8_t *)aligned_alloc(64, (s.size + 63) & ~(size_t)63);
    REQUIRE(s.changed != NULL);
    memcpy(s.changed, s.data, s.size);
    REQUIRE_OK(open_mapped(&s, &m), &err);
    ald_mapped_close(m);
    m = NULL;
    s.changed[s.at.payload.end - 1] ^= 1;
    CHECK_INT(open_mapped(&s, &m), ALD_E_SIGNATURE_INVALID);
    CHECK(m == NULL);
    close_sample(&s);
}

int main(void)
{
    protect_keys();
    RUN(test_mapped_chunk);
    RUN(test_mapped_whole);
    RUN(test_bits_signed_stream);
    RUN(test_bits_signed_whole);
    RUN(test_bits_stream);
    RUN(test_bits_whole);
    RUN(test_moved_chunks);
    RUN(test_dropped_chunk);
    RUN(test_meaning);
    RUN(test_license_and_signer);
    RUN(test_signature_stripped);
    return check_done();
}
