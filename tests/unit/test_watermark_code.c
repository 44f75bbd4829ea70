/* SPDX-License-Identifier: MIT */
/* Keys, hashes and the code of a mark, against vectors of another implementation, and decoding under noise. */
#include "ald/native.h"
#include "check.h"
#include "core/watermark/mark_keys.h"
#include "core/watermark/mark_math.h"
#include "watermark_fixture.h"

static ald_host host;
static ald_error err;
static ald__mark_keys keys;

static void check_hex(const void *data, size_t size, const char *want)
{
    char text[2 * 256 + 1] = "";
    for (size_t i = 0; i < size; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", ((const uint8_t *)data)[i]);
    CHECK_STR(text, want);
}

static void check_key(const ald__sip_key *key, const char *want)
{
    uint8_t bytes[16];
    memcpy(bytes, &key->k0, 8);
    memcpy(bytes + 8, &key->k1, 8);
    check_hex(bytes, 16, want);
}

static void test_keys(void)
{
    check_key(&keys.carrier, "344e7d9d71910551ce7dcb6cc4a1e842");
    check_key(&keys.origin, "69c668dffe2b3815fbcd3090ce63bb7b");
    check_key(&keys.lsb, "abcf53b47a270a0caf2a8d79ba56dc36");
}

static void test_hashes(void)
{
    CHECK_UINT(ald__mark_origin(&keys, 255, 0), UINT64_C(0x8f609a14cc94293e));
    CHECK_UINT(ald__mark_origin(&keys, 255, -3), UINT64_C(0x335883a99efb3017));
    CHECK_UINT(ald__mark_origin(&keys, 2, 12), UINT64_C(0x2af31387ec6cfe68));
    CHECK_UINT(ald__mark_origin(&keys, 2, ALD__MARK_CODE_PARITY) & 1, 0);
    CHECK_UINT(ald__sip16(&keys.carrier, ald__mark_head(10, 0, 255, 0), 1234),
               UINT64_C(0xee772d41fde5869d));
    CHECK_UINT(ald__sip16(&keys.carrier, ald__mark_head(13, 1, 255, -3), 99),
               UINT64_C(0x5f80e20c396fec40));
    CHECK_UINT(ald__sip16(&keys.carrier, ald__mark_head(0, 0, 2, 0), 617),
               UINT64_C(0x3856db4983b2f4cc));
}

static void test_payload(void)
{
    uint8_t payload[ALD__POLAR_PAYLOAD], hash[32];
    int valid = 0;
    REQUIRE_OK(ald__mark_payload(&keys, mark_test_buyer, payload, &err), &err);
    check_hex(payload, sizeof payload,
              "11e9d09b03e7e2281207b4f15982a3b16edf8924f02c186155c110917fea18e35005a924cbba98f0");
    REQUIRE_OK(ald__mark_open(&keys, payload, hash, &valid, &err), &err);
    CHECK_INT(valid, 1);
    CHECK_MEM(hash, mark_test_buyer, 32);
    for (size_t bit = 0; bit < 8 * sizeof payload; bit++) {
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
        REQUIRE_OK(ald__mark_open(&keys, payload, hash, &valid, &err), &err);
        CHECK_INT(valid, 0);
        payload[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}

static void test_code(void)
{
    static const uint16_t first[8] = {767, 895, 957, 958, 959, 983, 987, 989};
    uint64_t word[ALD__POLAR_WORDS];
    uint8_t digest[32], zeros[32] = {0};
    unsigned sum = 0, weight = 0;
    for (unsigned i = 0; i < ALD__POLAR_INFO; i++)
        sum += keys.code.info[i];
    CHECK_UINT(sum, 562232);
    CHECK_MEM(keys.code.info, first, sizeof first);
    CHECK_UINT(keys.code.info[316], 2044);
    CHECK_UINT(keys.code.info[319], 2047);
    REQUIRE_OK(ald__mark_codeword(&keys, mark_test_buyer, word, &err), &err);
    for (unsigned i = 0; i < ALD__POLAR_WORDS; i++)
        weight += (unsigned)__builtin_popcountll(word[i]);
    CHECK_UINT(weight, 1024);
    check_hex(word, 32, "17599013e3bd351dc2ecb02deb25ea2c216ffb8277d6568491837d26b0bd8585");
    REQUIRE_OK(ald__mark_hash(host.crypto, &host.alloc, zeros, word, 256, NULL, 0, digest, &err),
               &err);
    check_hex(digest, 32, "eb908dedb2f4fc91118880dbfcf5e9e3505f2c4fb4b143c8c3cdf1e57b6b1a58");
}

/* The hashes of a library, from its own vectors: messages 00 01 02 ... under the key 00 01 ... 0f. */
static void test_sip(void)
{
    uint8_t key[16];
    ald__sip_key sip;
    for (unsigned i = 0; i < 16; i++)
        key[i] = (uint8_t)i;
    ald__sip_key_init(&sip, key, 0);
    CHECK_UINT(ald__sip8(&sip, UINT64_C(0x0706050403020100)), UINT64_C(0x93f5f5799a932462));
    CHECK_UINT(ald__sip16(&sip, UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)),
               UINT64_C(0x3f2acc7f57c29bdb));
}

/* Every level gives what one hash at a time gives, for every count. */
static void test_sip_many(void)
{
    uint64_t a[67], b[67], out8[67], out16[67];
    mark_random random = {7};
    for (unsigned i = 0; i < 67; i++) {
        a[i] = mark_random_next(&random);
        b[i] = mark_random_next(&random);
    }
    for (int level = 0; level <= 2; level++) {
        ald__sip_key sip = keys.carrier;
        sip.level = ald__sip_level(level);
        for (size_t count = 0; count <= 67; count++) {
            ald__sip8_many(&sip, a, count, out8);
            ald__sip16_many(&sip, a, b, count, out16);
            for (size_t i = 0; i < count; i++) {
                CHECK_UINT(out8[i], ald__sip8(&sip, a[i]));
                CHECK_UINT(out16[i], ald__sip16(&sip, a[i], b[i]));
            }
        }
    }
}

static int is_wanted(void *ctx, const uint8_t *payload)
{
    return memcmp(ctx, payload, ALD__POLAR_PAYLOAD) == 0;
}

/* `carriers` positions at random carry their bit, the others say nothing. */
static int decodes(mark_random *random, unsigned carriers)
{
    uint8_t payload[ALD__POLAR_PAYLOAD];
    uint64_t word[ALD__POLAR_WORDS];
    float soft[ALD__POLAR_BITS] = {0};
    uint32_t offered = 0;
    int accepted = 0;
    for (size_t i = 0; i < sizeof payload; i++)
        payload[i] = (uint8_t)mark_random_next(random);
    ald__polar_encode(&keys.code, payload, word);
    for (unsigned left = carriers; left > 0;) {
        unsigned j = (unsigned)(mark_random_next(random) >> 20) % ALD__POLAR_BITS;
        if (soft[j] == 0) {
            soft[j] = word[j / 64] >> (j % 64) & 1 ? -1.0f : 1.0f;
            left--;
        }
    }
    CHECK_INT(ald__polar_decode(&keys.code, &host.alloc, soft, is_wanted, payload, &accepted,
                                &offered, &err),
              ALD_OK);
    CHECK(offered >= 1 && offered <= 36);
    return accepted;
}

static void test_decode(void)
{
    mark_random random = {11};
    int full = 0, many = 0, few = 0;
    for (unsigned i = 0; i < 20; i++) {
        full += decodes(&random, ALD__POLAR_BITS);
        many += decodes(&random, 430);
        few += decodes(&random, 340);
    }
    CHECK_INT(full, 20);
    CHECK_INT(many, 20);
    CHECK(few < 10);
}

/* Known values, and one function against the other. */
static void test_math(void)
{
    for (int i = -1000; i <= 1000; i += 7) {
        double x = 1.37 * ald__mark_pow2(i);
        CHECK_INT(ald__mark_exponent(x), i);
        CHECK(ald__mark_abs(ald__mark_log2_about(x) - (i + 0.45417589318580215)) < 1e-10);
        CHECK(ald__mark_abs(ald__mark_exp2_about(ald__mark_log2_about(x)) / x - 1) < 1e-9);
        CHECK(ald__mark_abs(ald__mark_sqrt_about(x) * ald__mark_sqrt_about(x) / x - 1) < 1e-12);
    }
    CHECK_INT(ald__mark_exponent(0x1p-1074), -1074);
    CHECK_INT(ald__mark_exponent(0x1p-1030), -1030);
    CHECK(ald__mark_abs(ald__mark_cos_about(1.0 / 3) + 0.5) < 1e-12);
    CHECK(ald__mark_abs(ald__mark_cos_about(-1000.125) - 0.7071067811865476) < 1e-12);
    CHECK(ald__mark_abs(ald__mark_sin_phase(0.25) - 1) < 1e-5);
    CHECK(ald__mark_abs(ald__mark_sin_phase(7.0 / 12) + 0.5) < 1e-6);
    CHECK(ald__mark_round(2.5) == 2 && ald__mark_round(3.5) == 4 && ald__mark_round(0.49) == 0);
    CHECK(ald__mark_floor(2.9) == 2 && ald__mark_floor(3.0) == 3 &&
          ald__mark_floor(0x1p60) == 0x1p60);
    CHECK(ald__mark_usable(-0x1p-1074) && ald__mark_usable(1e308) && !ald__mark_usable(-0.0));
    CHECK(!ald__mark_usable(ald__mark_double(UINT64_C(0x7ff0000000000000))));
    CHECK(!ald__mark_usable(ald__mark_double(UINT64_C(0x7ff8000000000001))));
}

static void test_no_crypto(void)
{
    ald_host bare = host;
    ald__mark_keys none;
    bare.crypto = NULL;
    CHECK_INT(ald__mark_keys_init(&none, mark_test_seller, &bare, 2, &err), ALD_E_UNSUPPORTED);
    CHECK_CONTAINS(err.msg, "BLAKE3");
}

int main(void)
{
    host = ald_native_host(1);
    mark_test_init();
    if (ald__mark_keys_init(&keys, mark_test_seller, &host, ald__sip_level(2), &err) != ALD_OK)
        return 1;
    RUN(test_keys);
    RUN(test_hashes);
    RUN(test_payload);
    RUN(test_code);
    RUN(test_sip);
    RUN(test_sip_many);
    RUN(test_decode);
    RUN(test_math);
    RUN(test_no_crypto);
    ald__mark_keys_clear(&keys);
    return check_done();
}
