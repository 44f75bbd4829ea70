/* SPDX-License-Identifier: MIT */
/* Rewriting whole files with a right checksum, without keys: what inspects well may be rewritten, and the result must inspect
 * as what was asked for, with the same rows, sizes and metadata. A signed one verifies. */
#include <libdeflate.h>

#include "ald/native.h"
#include "fuzz/fuzz_host.h"

static ald_status draw(void *ctx, void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    (void)err;
    memset(buf, 0x42, size);
    return ALD_OK;
}

static ald_status inspect(const void *data, size_t size, const ald_host *host, ald_inspection **out)
{
    ald_source source = ald_source_memory(data, size);
    ald_error err = {0};
    return ald_inspect(&source, NULL, host, out, &err);
}

static void check_result(const ald_info *was, const ald_buffer *out, const ald_host *host,
                         uint8_t flags)
{
    ald_inspection *in = NULL;
    FUZZ_CHECK(inspect(out->data, out->size, host, &in) == ALD_OK);
    const ald_info *is = ald_inspection_info(in);
    FUZZ_CHECK(is->flags == flags);
    FUZZ_CHECK(is->num_rows == was->num_rows);
    FUZZ_CHECK(is->uncompressed_size == was->uncompressed_size);
    FUZZ_CHECK(is->chunk_count == was->chunk_count && is->array_count == was->array_count);
    FUZZ_CHECK(ald_value_get_count(is->metadata) ==
               ald_value_get_count(was->metadata) -
                   (ald_value_find(was->metadata, "sha256") != NULL));
    ald_inspection_free(in);
}

/* Rewritten once more, without its signature: the signer must be the one who signed. */
static void check_signature(const ald_buffer *file, const uint8_t *signer, const ald_host *host)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_buffer out = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&out);
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_error err = {0};
    trust.trusted_keys = signer;
    trust.trusted_count = 1;
    load.trust = &trust;
    o.load = &load;
    o.signing = ALD_SIGNING_STRIP;
    ald_status status = ald_rewrite(&source, &sink, &o, host, &err);
    FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM);
    ald_buffer_clear(&out);
}

static void rewrite(const uint8_t *data, size_t size, const ald_info *info, int encrypts,
                    const ald_host *host)
{
    static const uint8_t seed[32] = {7}, recipient_secret[32] = {9};
    ald_source source = ald_source_memory(data, size);
    ald_buffer out = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&out);
    ald_rewrite_options o = ALD_REWRITE_OPTIONS_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_trust trust = ALD_TRUST_INIT;
    ald_error err = {0};
    uint8_t signer[32], recipient[32], flags = info->flags;
    if (host->crypto->ed25519_public(seed, signer, &err) != ALD_OK ||
        host->crypto->x25519_public(recipient_secret, recipient, &err) != ALD_OK)
        abort();
    trust.allow_untrusted = 1;
    load.trust = &trust;
    o.load = &load;
    o.signing = ALD_SIGNING_SIGN;
    o.protection.signer_seed = seed;
    flags |= ALD_FLAG_SIGNED;
    if (encrypts) {
        o.encrypting = ALD_ENCRYPTING_ENCRYPT;
        o.protection.encryption = ALD_ENCRYPTION_SEVERAL;
        o.protection.recipients = recipient;
        o.protection.recipient_count = 1;
        flags |= ALD_FLAG_ENCRYPTED;
    }
    ald_status status = ald_rewrite(&source, &sink, &o, host, &err);
    fuzz_check_error(status, &err);
    FUZZ_CHECK(status != ALD_OK || !encrypts || !(info->flags & ALD_FLAG_ENCRYPTED));
    if (status == ALD_OK) {
        check_result(info, &out, host, flags);
        check_signature(&out, signer, host);
    }
    ald_buffer_clear(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_inspection *in = NULL;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    host.crypto = ald_native_host(1).crypto;
    host.random = draw;
    memcpy(copy, data, size);
    if (size >= 4) {
        uint32_t crc = libdeflate_crc32(0, copy, size - 4);
        for (size_t i = 0; i < 4; i++)
            copy[size - 4 + i] = (uint8_t)(crc >> (8 * i));
    }
    if (inspect(copy, size, &host, &in) == ALD_OK) {
        rewrite(copy, size, ald_inspection_info(in), 0, &host);
        rewrite(copy, size, ald_inspection_info(in), 1, &host);
    }
    ald_inspection_free(in);
    free(copy);
    FUZZ_CHECK_EMPTY();
    return 0;
}
