/* SPDX-License-Identifier: MIT */
/* Envelopes of private queries: another writer's open, and made anew with its randomness they are the same bytes; every
 * flipped bit and every cut is refused. */
#include <yyjson.h>

#include "ald/crypto.h"
#include "ald/native.h"
#include "ald/query.h"
#include "check.h"

typedef struct bytes {
    uint8_t data[4096];
    size_t size;
} bytes;

typedef struct given_random {
    uint8_t data[44]; /* ephemeral key, nonce */
    size_t used;
} given_random;

static ald_host host;
static ald_error err;
static yyjson_doc *golden;

static bytes hex(yyjson_val *object, const char *key)
{
    bytes out = {{0}, 0};
    yyjson_val *v = yyjson_obj_get(object, key);
    const char *text = yyjson_get_str(v);
    CHECK(text != NULL && yyjson_get_len(v) / 2 <= sizeof out.data);
    for (; text != NULL && text[0] != '\0' && out.size < sizeof out.data; text += 2) {
        unsigned value = 0;
        sscanf(text, "%2x", &value);
        out.data[out.size++] = (uint8_t)value;
    }
    return out;
}

static ald_status take_given(void *ctx, void *buf, size_t size, ald_error *e)
{
    given_random *g = ctx;
    (void)e;
    if (!CHECK(size <= sizeof g->data - g->used))
        return ALD_E_IO;
    memcpy(buf, g->data + g->used, size);
    g->used += size;
    return ALD_OK;
}

/* Native crypto, but the randomness of a golden envelope. The context is free: the host's own is not used by crypto. */
static ald_host host_with(given_random *given, yyjson_val *envelope)
{
    ald_host h = host;
    bytes ephemeral = hex(envelope, "ephemeral_private");
    bytes nonce = hex(envelope, "nonce");
    memcpy(given->data, ephemeral.data, 32);
    memcpy(given->data + 32, nonce.data, 12);
    given->used = 0;
    h.random = take_given;
    h.ctx = given;
    h.run_tasks = NULL;
    h.spool_open = NULL;
    return h;
}

static void check_golden(yyjson_val *one)
{
    bytes owner_private = hex(one, "owner_private"), owner_public = hex(one, "owner_public");
    bytes user_private = hex(one, "user_private"), user_public = hex(one, "user_public");
    yyjson_val *request = yyjson_obj_get(one, "request"), *answer = yyjson_obj_get(one, "answer");
    bytes question = hex(request, "plaintext"), sent = hex(request, "envelope");
    bytes reply = hex(answer, "plaintext"), returned = hex(answer, "envelope");
    uint8_t who[32];
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    given_random given;

    REQUIRE_OK(ald_query_unseal(owner_private.data, sent.data, sent.size, &host, who, &out, &err),
               &err);
    CHECK_MEM(who, user_public.data, 32);
    CHECK_UINT(out.size, question.size);
    CHECK_MEM(out.data, question.data, question.size);
    ald_buffer_clear(&out);
    REQUIRE_OK(ald_query_open(user_private.data, sent.data, sent.size, returned.data, returned.size,
                              &host, &out, &err),
               &err);
    CHECK_UINT(out.size, reply.size);
    CHECK_MEM(out.data, reply.data, reply.size);
    ald_buffer_clear(&out);

    ald_host repeat = host_with(&given, request);
    REQUIRE_OK(ald_query_seal(owner_public.data, user_public.data, question.data, question.size,
                              &repeat, &out, &err),
               &err);
    CHECK_UINT(out.size, sent.size);
    CHECK_MEM(out.data, sent.data, sent.size);
    ald_buffer_clear(&out);
    repeat = host_with(&given, answer);
    REQUIRE_OK(ald_query_answer(user_public.data, sent.data, sent.size, reply.data, reply.size,
                                &repeat, &out, &err),
               &err);
    CHECK_UINT(out.size, returned.size);
    CHECK_MEM(out.data, returned.data, returned.size);
    ald_buffer_clear(&out);
}

static void test_golden(void)
{
    yyjson_val *list = yyjson_doc_get_root(golden);
    CHECK(yyjson_arr_size(list) >= 3);
    for (size_t i = 0; i < yyjson_arr_size(list); i++)
        check_golden(yyjson_arr_get(list, i));
}

static void refused(ald_status status, ald_buffer *out)
{
    CHECK_INT(status, ALD_E_DECRYPTION_FAILED);
    CHECK_STR(err.msg, ALD_DECRYPTION_FAILED_TEXT);
    CHECK(out->data == NULL && out->size == 0);
}

static void test_every_flip_and_cut(void)
{
    yyjson_val *one = yyjson_arr_get(yyjson_doc_get_root(golden), 0);
    bytes owner = hex(one, "owner_private"), user = hex(one, "user_private");
    bytes sent = hex(yyjson_obj_get(one, "request"), "envelope");
    bytes returned = hex(yyjson_obj_get(one, "answer"), "envelope");
    uint8_t who[32];
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    for (size_t i = 0; i < sent.size * 8; i++) {
        /* X25519 ignores the last bit of a public key, but the key's derivation does not. */
        sent.data[i / 8] ^= (uint8_t)(1u << i % 8);
        refused(ald_query_unseal(owner.data, sent.data, sent.size, &host, who, &out, &err), &out);
        refused(ald_query_open(user.data, sent.data, sent.size, returned.data, returned.size, &host,
                               &out, &err),
                &out);
        sent.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t i = 0; i < returned.size * 8; i++) {
        returned.data[i / 8] ^= (uint8_t)(1u << i % 8);
        refused(ald_query_open(user.data, sent.data, sent.size, returned.data, returned.size, &host,
                               &out, &err),
                &out);
        returned.data[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    for (size_t size = 0; size < sent.size; size++)
        refused(ald_query_unseal(owner.data, sent.data, size, &host, who, &out, &err), &out);
    for (size_t size = 0; size < returned.size; size++)
        refused(
            ald_query_open(user.data, sent.data, sent.size, returned.data, size, &host, &out, &err),
            &out);
}

/* An answer sealed as a request has no user's key before it, and is for another purpose anyway. */
static void test_wrong_direction_and_key(void)
{
    yyjson_val *one = yyjson_arr_get(yyjson_doc_get_root(golden), 0);
    bytes owner = hex(one, "owner_private"), user = hex(one, "user_private");
    bytes sent = hex(yyjson_obj_get(one, "request"), "envelope");
    bytes returned = hex(yyjson_obj_get(one, "answer"), "envelope");
    uint8_t who[32];
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    refused(ald_query_unseal(user.data, sent.data, sent.size, &host, who, &out, &err), &out);
    refused(ald_query_unseal(user.data, returned.data, returned.size, &host, who, &out, &err),
            &out);
    refused(ald_query_open(owner.data, sent.data, sent.size, returned.data, returned.size, &host,
                           &out, &err),
            &out);
    refused(ald_query_open(user.data, returned.data, returned.size, returned.data, returned.size,
                           &host, &out, &err),
            &out);
}

/* A key of small order gives everybody the same secret. */
static void test_small_order(void)
{
    static const uint8_t zero[32];
    yyjson_val *one = yyjson_arr_get(yyjson_doc_get_root(golden), 0);
    bytes owner = hex(one, "owner_private"), user = hex(one, "user_public");
    bytes sent = hex(yyjson_obj_get(one, "request"), "envelope");
    uint8_t who[32];
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    CHECK_INT(ald_query_seal(zero, user.data, "q", 1, &host, &out, &err), ALD_E_INVALID_ARG);
    CHECK(out.data == NULL);
    CHECK_INT(ald_query_answer(zero, sent.data, sent.size, "q", 1, &host, &out, &err),
              ALD_E_INVALID_ARG);
    CHECK(out.data == NULL);
    memset(sent.data, 0, 32);
    refused(ald_query_unseal(owner.data, sent.data, sent.size, &host, who, &out, &err), &out);
}

static void test_two_envelopes_differ(void)
{
    yyjson_val *one = yyjson_arr_get(yyjson_doc_get_root(golden), 0);
    bytes owner = hex(one, "owner_public"), user = hex(one, "user_public");
    ald_buffer a = {NULL, 0, 0, &host.alloc}, b = a;
    REQUIRE_OK(ald_query_seal(owner.data, user.data, "same", 4, &host, &a, &err), &err);
    REQUIRE_OK(ald_query_seal(owner.data, user.data, "same", 4, &host, &b, &err), &err);
    CHECK_UINT(a.size, ALD_QUERY_OVERHEAD_BYTES + 32 + 4);
    CHECK(memcmp(a.data, b.data, 32) != 0);
    CHECK(memcmp(a.data + 44, b.data + 44, a.size - 44) != 0);
    ald_buffer_clear(&a);
    ald_buffer_clear(&b);
}

static void test_host_without_crypto(void)
{
    static const uint8_t key[32] = {9};
    ald_host bare = host;
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    bare.crypto = NULL;
    CHECK_INT(ald_query_seal(key, key, "q", 1, &bare, &out, &err), ALD_E_UNSUPPORTED);
    bare = host;
    bare.random = NULL;
    CHECK_INT(ald_query_seal(key, key, "q", 1, &bare, &out, &err), ALD_E_UNSUPPORTED);
}

static yyjson_doc *read_json(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    size_t size = f != NULL ? fread(text, 1, sizeof text, f) : 0;
    if (f != NULL)
        fclose(f);
    return size < sizeof text ? yyjson_read_opts(text, size, 0, NULL, NULL) : NULL;
}

int main(void)
{
    host = ald_native_host(1);
    golden = read_json(ALD_TEST_DATA "/golden/wire-1.3/query-envelopes.json");
    if (golden == NULL) {
        printf("no golden envelopes\n");
        return 1;
    }
    RUN(test_golden);
    RUN(test_every_flip_and_cut);
    RUN(test_wrong_direction_and_key);
    RUN(test_small_order);
    RUN(test_two_envelopes_differ);
    RUN(test_host_without_crypto);
    yyjson_doc_free(golden);
    return check_done();
}
