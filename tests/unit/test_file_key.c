/* SPDX-License-Identifier: MIT */
/* File keys, pieces and the binding, from both sides. That they are the right ones is shown by the golden files
 * (test_trust_golden.c), which another implementation wrote. */
#include "ald/native.h"
#include "check.h"
#include "core/base/buf.h"
#include "core/container/binding.h"
#include "core/crypto/file_key.h"
#include "core/crypto/piece.h"

static ald_host host;
static ald_error err;

typedef struct pair {
    uint8_t secret[32], pub[32];
} pair;

static pair new_pair(void)
{
    pair p;
    CHECK_OK(host.random(host.ctx, p.secret, 32, &err), &err);
    CHECK_OK(host.crypto->x25519_public(p.secret, p.pub, &err), &err);
    return p;
}

static ald_buffer new_buffer(void)
{
    ald_buffer b = {NULL, 0, 0, &host.alloc};
    return b;
}

static ald__key_search search_of(const ald_buffer *block)
{
    ald__key_search s = {0};
    s.host = &host;
    s.block = block->data;
    s.block_size = block->size;
    s.kdf = (ald__kdf)ALD__KDF_DEFAULT;
    return s;
}

static void check_refused(ald__key_search s)
{
    uint8_t key[32];
    CHECK_INT(ald__key_search_next(&s, key, &err), ALD_E_DECRYPTION_FAILED);
    CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
}

static void test_password(void)
{
    ald_protection p = ALD_PROTECTION_INIT;
    ald_buffer block = new_buffer(), other = new_buffer();
    uint8_t key[32], found[32], second[32];
    ald__key_search s;
    p.encryption = ALD_ENCRYPTION_PASSWORD;
    p.password = "open sesame";
    p.password_size = 11;
    REQUIRE_OK(ald__file_key_new(&host, &p, 0, key, &block, &err), &err);
    REQUIRE_OK(ald__file_key_new(&host, &p, 0, second, &other, &err), &err);
    REQUIRE_INT(block.size, ALD__BLOCK_PASSWORD_BYTES);
    CHECK_INT(block.data[0], 0);
    CHECK(memcmp(key, second, 32) != 0);
    CHECK(memcmp(block.data + 1, other.data + 1, 16) != 0);
    CHECK(ald__block_nonce(block.data, block.size) == block.data + 17);
    s = search_of(&block);
    check_refused(s);
    s.password = "open sesamf";
    s.password_size = 11;
    REQUIRE_OK(ald__key_search_next(&s, found, &err), &err); /* only a commitment or a tag tells */
    CHECK(memcmp(key, found, 32) != 0);
    s = search_of(&block);
    s.password = p.password;
    s.password_size = 11;
    REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
    CHECK_MEM(found, key, 32);
    check_refused(s); /* there is one answer */
    ald_buffer_clear(&block);
    ald_buffer_clear(&other);
}

static void test_password_limits(void)
{
    static const ald__kdf beyond[] = {{1048577, 2, 1}, {19456, 17, 1},     {19456, 2, 2},
                                      {1048576, 5, 1}, {UINT64_MAX, 2, 1}, {8, UINT64_MAX, 1}};
    static const uint32_t refused[][2] = {
        {19455, 2}, {19456, 1}, {1048577, 2}, {1048576, 5}, {19456, 17}};
    uint8_t bytes[ALD__BLOCK_PASSWORD_BYTES] = {0}, key[32];
    ald_buffer block = {bytes, sizeof bytes, sizeof bytes, &host.alloc}, none = new_buffer();
    ald_protection p = ALD_PROTECTION_INIT;
    char longest[ALD__PASSWORD_MAX + 1] = {0};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        ald__key_search s = search_of(&block);
        s.password = "x";
        s.password_size = 1;
        s.kdf = beyond[i];
        CHECK_INT(ald__key_search_next(&s, key, &err), ALD_E_LIMIT_EXCEEDED);
    }
    p.encryption = ALD_ENCRYPTION_PASSWORD;
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &none, &err), ALD_E_INVALID_ARG);
    p.password = "";
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &none, &err), ALD_E_INVALID_ARG);
    p.password = longest;
    p.password_size = sizeof longest;
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &none, &err), ALD_E_INVALID_ARG);
    p.password_size = 1;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        p.kdf_m_kib = refused[i][0];
        p.kdf_t = refused[i][1];
        CHECK_INT(ald__file_key_new(&host, &p, 0, key, &none, &err), ALD_E_INVALID_ARG);
    }
    CHECK_UINT(none.size, 0);
}

static void test_recipient(void)
{
    pair a = new_pair(), b = new_pair();
    ald_protection p = ALD_PROTECTION_INIT;
    uint8_t key[32], found[32], keys[64];
    memcpy(keys, b.secret, 32);
    memcpy(keys + 32, a.secret, 32);
    p.encryption = ALD_ENCRYPTION_RECIPIENT;
    p.recipients = a.pub;
    p.recipient_count = 1;
    for (int crate = 0; crate < 2; crate++) {
        ald_buffer block = new_buffer();
        ald__key_search s;
        REQUIRE_OK(ald__file_key_new(&host, &p, crate, key, &block, &err), &err);
        REQUIRE_INT(block.size, crate ? ALD__BLOCK_CRATE_BYTES : ALD__BLOCK_RECIPIENT_BYTES);
        CHECK(ald__block_nonce(block.data, block.size) == block.data + block.size - 12);
        s = search_of(&block);
        check_refused(s);
        s.private_keys = keys;
        s.private_count = 2;
        CHECK(ald__key_search_is_open(&s));
        REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
        if (crate) { /* no hash: every key is one that could be it */
            CHECK(memcmp(found, key, 32) != 0);
            REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
        }
        CHECK_MEM(found, key, 32);
        check_refused(s);
        s = search_of(&block);
        s.private_keys = keys;
        s.private_count = 1;
        if (!crate)
            check_refused(s);
        ald_buffer_clear(&block);
    }
}

/* The entry of recipient i says something else, in its wrapped key. */
static void spoil(ald_buffer *block, size_t i)
{
    block->data[ALD__BLOCK_SEVERAL_BYTES + i * ALD__WRAPPED_BYTES + 20] ^= 1;
}

static void test_several(void)
{
    pair pairs[3] = {new_pair(), new_pair(), new_pair()}, stranger = new_pair();
    uint8_t publics[4 * 32], key[32], found[32], commit[32];
    ald_protection p = ALD_PROTECTION_INIT;
    ald_buffer block = new_buffer(), again = new_buffer();
    ald__key_search s;
    for (size_t i = 0; i < 3; i++)
        memcpy(publics + i * 32, pairs[i].pub, 32);
    memcpy(publics + 3 * 32, pairs[0].pub, 32); /* one twice */
    p.encryption = ALD_ENCRYPTION_SEVERAL;
    p.recipients = publics;
    p.recipient_count = 4;
    REQUIRE_OK(ald__file_key_new(&host, &p, 0, key, &block, &err), &err);
    REQUIRE_OK(ald__key_commit(&host, key, commit, &err), &err);
    REQUIRE_INT(block.size, ALD__BLOCK_SEVERAL_BYTES + 4 * ALD__WRAPPED_BYTES);
    for (size_t i = 0; i < 3; i++) {
        s = search_of(&block);
        s.private_keys = pairs[i].secret;
        s.private_count = 1;
        s.commit = commit;
        REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
        CHECK_MEM(found, key, 32);
    }
    s = search_of(&block);
    s.private_keys = stranger.secret;
    s.private_count = 1;
    check_refused(s);
    spoil(&block, 0);
    spoil(&block, 1);
    s.private_keys = pairs[0].secret; /* its second entry opens */
    s.key = 0;
    REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
    CHECK_MEM(found, key, 32);
    s = search_of(&block);
    s.private_keys = pairs[1].secret;
    s.private_count = 1;
    check_refused(s);
    commit[31] ^= 1;
    s.private_keys = pairs[2].secret;
    s.commit = commit;
    check_refused(s);
    REQUIRE_OK(ald__file_key_wrap(&host, key, ald__block_nonce(block.data, block.size),
                                  pairs[1].pub, 1, &again, &err),
               &err);
    CHECK_MEM(ald__block_nonce(again.data, again.size), ald__block_nonce(block.data, block.size),
              12);
    CHECK(memcmp(again.data + 3, block.data + 3, 32) != 0); /* another ephemeral key */
    s = search_of(&again);
    s.private_keys = pairs[1].secret;
    s.private_count = 1;
    REQUIRE_OK(ald__key_search_next(&s, found, &err), &err);
    CHECK_MEM(found, key, 32);
    ald_buffer_clear(&block);
    ald_buffer_clear(&again);
}

static void test_recipients_refused(void)
{
    /* zero, one, and the two points of order 8 */
    static const uint8_t low[4][32] = {
        {0},
        {1},
        {0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3,
         0xfa, 0xf1, 0x9f, 0xc4, 0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32,
         0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49, 0xb8, 0x00},
        {0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1,
         0x55, 0x9c, 0x83, 0xef, 0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c,
         0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f, 0x11, 0x57}};
    pair good = new_pair();
    uint8_t both[64], key[32], zeros[32] = {0};
    ald_host mute = host;
    ald_protection p = ALD_PROTECTION_INIT;
    ald_buffer block = new_buffer();
    for (size_t i = 0; i < 4; i++) {
        p.encryption = ALD_ENCRYPTION_RECIPIENT;
        p.recipients = low[i];
        p.recipient_count = 1;
        memset(key, 1, 32);
        CHECK_INT(ald__file_key_new(&host, &p, 0, key, &block, &err), ALD_E_INVALID_ARG);
        CHECK_MEM(key, zeros, 32);
        p.encryption = ALD_ENCRYPTION_SEVERAL;
        memcpy(both, good.pub, 32);
        memcpy(both + 32, low[i], 32);
        p.recipients = both;
        p.recipient_count = 2;
        CHECK_INT(ald__file_key_new(&host, &p, 0, key, &block, &err), ALD_E_INVALID_ARG);
        CHECK_CONTAINS(err.msg, "recipient 2");
        CHECK_UINT(block.size, 0);
    }
    p.recipient_count = 0;
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &block, &err), ALD_E_INVALID_ARG);
    p.recipient_count = ALD__RECIPIENTS_MAX + 1;
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &block, &err), ALD_E_INVALID_ARG);
    p.encryption = ALD_ENCRYPTION_RECIPIENT;
    p.recipient_count = 2;
    CHECK_INT(ald__file_key_new(&host, &p, 0, key, &block, &err), ALD_E_INVALID_ARG);
    mute.random = NULL;
    p.recipient_count = 1;
    CHECK_INT(ald__file_key_new(&mute, &p, 0, key, &block, &err), ALD_E_UNSUPPORTED);
    ald_buffer_clear(&block);
}

/* An ephemeral key of small order in the file: refused, though every key would give the same secret. */
static void test_low_ephemeral(void)
{
    pair a = new_pair();
    ald_protection p = ALD_PROTECTION_INIT;
    ald_buffer block = new_buffer();
    uint8_t key[32];
    ald__key_search s;
    p.recipients = a.pub;
    p.recipient_count = 1;
    for (int mode = ALD_ENCRYPTION_RECIPIENT; mode <= ALD_ENCRYPTION_SEVERAL; mode++) {
        p.encryption = (uint8_t)mode;
        block.size = 0;
        REQUIRE_OK(ald__file_key_new(&host, &p, 0, key, &block, &err), &err);
        memset(block.data + (mode == ALD_ENCRYPTION_RECIPIENT ? 1 : 3), 0, 32);
        s = search_of(&block);
        s.private_keys = a.secret;
        s.private_count = 1;
        check_refused(s);
    }
    ald_buffer_clear(&block);
}

static void test_too_many_entries(void)
{
    size_t size = ALD__BLOCK_SEVERAL_BYTES + (ALD__RECIPIENTS_MAX + 1) * ALD__WRAPPED_BYTES;
    uint8_t *bytes = calloc(1, size), key[32];
    ald_buffer block = {bytes, size, size, &host.alloc};
    pair a = new_pair();
    ald__key_search s;
    REQUIRE(bytes != NULL);
    bytes[0] = 2;
    s = search_of(&block);
    s.private_keys = a.secret;
    s.private_count = 1;
    CHECK_INT(ald__key_search_next(&s, key, &err), ALD_E_LIMIT_EXCEEDED);
    free(bytes);
}

/* ---- pieces */

#define TEXT_BYTES 40u

static void check_opens(const ald__piece_keys *keys, const ald__piece *piece, const uint8_t *sealed,
                        const uint8_t *text)
{
    uint8_t place[TEXT_BYTES + 16];
    memcpy(place, sealed, sizeof place);
    REQUIRE_OK(ald__piece_open(keys, &host, piece, place, sizeof place, place, &err), &err);
    CHECK_MEM(place, text, TEXT_BYTES);
}

static void check_closed(const ald__piece_keys *keys, const ald__piece *piece,
                         const uint8_t *sealed)
{
    uint8_t out[TEXT_BYTES];
    CHECK_INT(ald__piece_open(keys, &host, piece, sealed, TEXT_BYTES + 16, out, &err),
              ALD_E_DECRYPTION_FAILED);
    CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
}

static void test_pieces(void)
{
    static const ald_chunk_entry chunks[3] = {
        {0, 100, 10, 500, 900}, {10, 600, 11, 500, 901}, {21, 1100, 11, 500, 901}};
    uint8_t key[32], nonce[12], binding[32], text[TEXT_BYTES], sealed[6][TEXT_BYTES + 16];
    ald__piece pieces[6];
    ald__piece_keys keys, other;
    memset(key, 7, 32);
    memset(nonce, 8, 12);
    memset(binding, 9, 32);
    memset(text, 10, sizeof text);
    REQUIRE_OK(ald__piece_keys_init(&keys, &host, key, nonce, binding, &err), &err);
    for (uint64_t i = 0; i < 5; i++)
        pieces[i] = ald__piece_at(chunks, 3, i);
    pieces[5] = ald__piece_at(NULL, 0, 0);
    for (size_t i = 0; i < 6; i++) {
        REQUIRE_OK(ald__piece_seal(&keys, &host, &pieces[i], text, TEXT_BYTES, sealed[i], &err),
                   &err);
        for (size_t j = 0; j < i; j++) /* no two alike, though the texts are */
            CHECK(memcmp(sealed[i], sealed[j], TEXT_BYTES) != 0 || (i == 5 && j == 0));
    }
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 6; j++) {
            if (i == j)
                check_opens(&keys, &pieces[i], sealed[i], text);
            else
                check_closed(&keys, &pieces[i], sealed[j]);
        }
    }
    for (size_t i = 0; i < 4; i++) { /* each fact of a chunk counts */
        ald__piece changed = pieces[2];
        changed.k += i == 0;
        changed.row_offset += i == 1;
        changed.num_rows += i == 2;
        changed.uncompressed_size += i == 3;
        check_closed(&keys, &changed, sealed[2]);
    }
    binding[0] ^= 1;
    REQUIRE_OK(ald__piece_keys_init(&other, &host, key, nonce, binding, &err), &err);
    check_closed(&other, &pieces[4], sealed[4]);
    check_closed(&other, &pieces[5], sealed[5]);
    check_opens(&other, &pieces[1], sealed[1], text); /* chunks do not depend on it: F-229 */
    REQUIRE_OK(ald__piece_keys_init(&other, &host, key, nonce, NULL, &err), &err);
    check_closed(&other, &pieces[5], sealed[5]);
    nonce[4] ^=
        1; /* chunk 1's nonce is now what chunk 0's, the prologue's, was: the text still tells */
    binding[0] ^= 1;
    REQUIRE_OK(ald__piece_keys_init(&other, &host, key, nonce, binding, &err), &err);
    check_closed(&other, &pieces[1], sealed[0]);
    ald__piece_keys_clear(&keys);
    ald__piece_keys_clear(&other);
    CHECK_INT(keys.key[0], 0);
}

static void test_short_piece(void)
{
    uint8_t key[32] = {1}, nonce[12] = {2}, bytes[15] = {3};
    ald__piece whole = ald__piece_at(NULL, 0, 0);
    ald__piece_keys keys;
    REQUIRE_OK(ald__piece_keys_init(&keys, &host, key, nonce, NULL, &err), &err);
    CHECK_INT(ald__piece_open(&keys, &host, &whole, bytes, sizeof bytes, bytes, &err),
              ALD_E_DECRYPTION_FAILED);
}

/* ---- binding */

static void test_binding(void)
{
    uint8_t section[8] = {1, 2, 3, 4, 1, 2, 3, 4}, same[32], hash[32], first[32];
    ald__bound b = {5, 1, 0x1f, 100, 200, section, 4, section, 4, section, 4}, c;
    REQUIRE_OK(ald__binding(&host, &b, first, &err), &err);
    b.flags = 0x14; /* only STREAMING and TRUENO_NATIVE count */
    REQUIRE_OK(ald__binding(&host, &b, same, &err), &err);
    CHECK_MEM(same, first, 32);
    for (int i = 0; i < 8; i++) {
        c = b;
        c.dataset_type = (uint16_t)(c.dataset_type + (i == 0));
        c.compression = (uint8_t)(c.compression + (i == 1));
        c.flags = i == 2 ? 0x10 : c.flags;
        c.num_rows += i == 3;
        c.uncompressed_size += i == 4;
        c.schema_size -= i == 5;
        c.chunk_index_size -= i == 6;
        c.block_size -= i == 7;
        REQUIRE_OK(ald__binding(&host, &c, hash, &err), &err);
        CHECK(memcmp(hash, first, 32) != 0);
    }
    c = b; /* a byte that goes from one section to the next */
    c.schema_size = 3;
    c.chunk_index = section + 3;
    c.chunk_index_size = 5;
    REQUIRE_OK(ald__binding(&host, &c, hash, &err), &err);
    CHECK(memcmp(hash, first, 32) != 0);
}

static void test_poor_host(void)
{
    ald_host poor = host;
    uint8_t out[32];
    ald__part part = {"", 0};
    poor.crypto = NULL;
    CHECK_INT(ald__sha256(&poor, &part, 1, out, &err), ALD_E_UNSUPPORTED);
    CHECK_INT(ald__blake3(&poor, &part, 1, out, &err), ALD_E_UNSUPPORTED);
    CHECK_INT(ald__hkdf(&poor, out, "x", NULL, 0, out, &err), ALD_E_UNSUPPORTED);
}

int main(void)
{
    host = ald_native_host(1);
    RUN(test_password);
    RUN(test_password_limits);
    RUN(test_recipient);
    RUN(test_several);
    RUN(test_recipients_refused);
    RUN(test_low_ephemeral);
    RUN(test_too_many_entries);
    RUN(test_pieces);
    RUN(test_short_piece);
    RUN(test_binding);
    RUN(test_poor_host);
    return check_done();
}
