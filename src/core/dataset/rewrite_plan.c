/* SPDX-License-Identifier: MIT */
/* What a rewrite asks for, held against the file: what is lost, what cannot be, which keys are kept and which are drawn. */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/caller_options.h"
#include "core/base/checked.h"
#include "core/crypto/digest.h"
#include "core/dataset/license.h"
#include "core/dataset/prefix.h"
#include "core/dataset/rewrite.h"
#include "core/dataset/unlock.h"

#define MINOR_BOUND 3u /* from here on, encrypted payloads are bound */
#define SEVERAL_MODE 2

static ald_status bad_request(const char *text, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s", text);
}

/* ---- the request alone */

/* What would not be used is a mistake: somebody expects it in the file. */
static ald_status check_request(const ald__rewriting *r, ald_error *err)
{
    const ald_rewrite_options *o = &r->options;
    const ald_protection *p = &r->asked;
    int encrypts =
        o->encrypting == ALD_ENCRYPTING_ENCRYPT || o->encrypting == ALD_ENCRYPTING_RECIPIENTS;
    if (o->signing > ALD_SIGNING_STRIP || o->licensing > ALD_LICENSING_STRIP ||
        o->encrypting > ALD_ENCRYPTING_RECIPIENTS)
        return bad_request("an unknown value in ald_rewrite_options", err);
    if ((o->signing == ALD_SIGNING_SIGN) != (p->signer_seed != NULL))
        return bad_request("a signing key is needed to sign, and for nothing else", err);
    if ((o->licensing == ALD_LICENSING_SET) != (p->license != NULL))
        return bad_request("a license is needed to set one, and for nothing else", err);
    if (encrypts != (p->encryption != ALD_ENCRYPTION_NONE))
        return bad_request("an encryption is needed to encrypt, and for nothing else", err);
    if (o->encrypting == ALD_ENCRYPTING_RECIPIENTS && p->encryption != ALD_ENCRYPTION_SEVERAL)
        return bad_request("new recipients are a list of their keys", err);
    if (o->metadata != NULL && ald_value_get_type(o->metadata) != ALD_VALUE_MAP)
        return bad_request("the metadata is not a map", err);
    if (o->metadata != NULL && o->edit != NULL)
        return bad_request("new metadata are given, or made by `edit`: not both", err);
    return ALD_OK;
}

ald_status ald__rewrite_take(ald__rewriting *r, const ald_rewrite_options *given, ald_error *err)
{
    static const ald_rewrite_options defaults = ALD_REWRITE_OPTIONS_INIT;
    uint8_t encryption = ALD_ENCRYPTION_NONE;
    r->options = defaults;
    ALD_TRY(ald__options_take(&r->options, sizeof r->options, sizeof r->options, given,
                              "ald_rewrite_options", err));
    if (r->options.encrypting == ALD_ENCRYPTING_RECIPIENTS)
        encryption = ALD_ENCRYPTION_SEVERAL;
    /* from the caller's own struct: it may be longer than ours */
    ALD_TRY(ald__protection_take(given != NULL ? &given->protection : NULL, encryption, &r->asked,
                                 err));
    ALD_TRY(check_request(r, err));
    ALD_TRY(ald__settings_take(&r->settings, r->options.load, err));
    r->settings.load.ignore_expiry = 1; /* who describes or renews a license need not have one */
    return ALD_OK;
}

/* ---- against the file */

static int has(const ald__rewriting *r, uint8_t flag)
{
    return (r->file.header.flags & flag) != 0;
}

int ald__rewrite_seals(const ald__rewriting *r)
{
    return r->protecting.seed != NULL && has(r, ALD_FLAG_STREAMING);
}

int ald__rewrite_sums(const ald__rewriting *r)
{
    return has(r, ALD_FLAG_STREAMING) && r->file.header.compression == ALD_COMPRESSION_NONE;
}

static int keeps_encryption(const ald__rewriting *r)
{
    return has(r, ALD_FLAG_ENCRYPTED) && r->options.encrypting == ALD_ENCRYPTING_KEEP;
}

static ald_status check_file(const ald__rewriting *r, ald_error *err)
{
    const ald_rewrite_options *o = &r->options;
    int encrypted = has(r, ALD_FLAG_ENCRYPTED);
    if (has(r, ALD_FLAG_SIGNED) && o->signing == ALD_SIGNING_REFUSE)
        return ald__fail(
            err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
            "the file is signed, and its signature would be lost\nsign it anew, or ask "
            "for a file without signature");
    if (o->encrypting == ALD_ENCRYPTING_ENCRYPT && has(r, ALD_FLAG_TRUENO_NATIVE))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "an aligned file is not encrypted");
    if (o->encrypting == ALD_ENCRYPTING_RECIPIENTS && (!encrypted || r->file.encryption_mode == 0))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the file has no recipients");
    if (o->encrypting == ALD_ENCRYPTING_DECRYPT && !encrypted && !r->settings.trust.allow_plain)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the file is not encrypted");
    if (ald__rewrite_seals(r) && r->file.chunk_count > ALD__SEAL_CHUNKS_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                         "%llu chunks, a signature seals at most %u\nwrite larger chunks",
                         (unsigned long long)r->file.chunk_count, ALD__SEAL_CHUNKS_MAX);
    if (keeps_encryption(r) && r->file.header.version_minor < MINOR_BOUND &&
        (ald__rewrite_seals(r) || r->protecting.has_license_hash))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "an encrypted file of version 1.%u can have neither a seal nor a license "
                         "that the signature covers\nencrypt it anew",
                         r->file.header.version_minor);
    return ALD_OK;
}

static ald_status plan_license(ald__rewriting *r, ald_error *err)
{
    ald_buffer *out = &r->protecting.license;
    switch (r->options.licensing) {
    case ALD_LICENSING_SET:
        return ald__license_encode(r->asked.license, out, err);
    case ALD_LICENSING_KEEP:
        return ald__buffer_append(out, r->file.license_block, r->file.license_size, err);
    default:
        return ALD_OK;
    }
}

/* ---- encryption */

static ald_status read_block(const ald__rewriting *r, ald_buffer *out, ald_error *err)
{
    ald_range s = r->file.sections.encryption;
    size_t size = (size_t)(s.end - s.begin);
    ALD_TRY(ald__buffer_reserve(out, size, err));
    ALD_TRY(ald__file_bytes(&r->file, s.begin, out->data, size, err));
    out->size = size;
    return ALD_OK;
}

static void keep_commit(ald__rewriting *r)
{
    const ald__facts *facts = &r->file.facts;
    ald__protecting *p = &r->protecting;
    p->has_commit = facts->key_commit.data != NULL;
    if (p->has_commit)
        memcpy(p->commit, facts->key_commit.data, sizeof p->commit);
}

static ald_status keep_encryption(ald__rewriting *r, ald_error *err)
{
    const ald__facts *facts = &r->file.facts;
    keep_commit(r);
    r->protecting.has_kdf = facts->has_kdf;
    r->protecting.kdf = (ald__kdf){facts->kdf_m, facts->kdf_t, facts->kdf_p};
    return read_block(r, &r->protecting.block, err);
}

/* Whether every recipient of the block is among the new ones. Eight bytes of a hash name them: whoever finds a key with the
 * name of another recipient can only keep one in that was to go, and has to be given as a recipient for that. */
static ald_status keeps_recipients(const ald__rewriting *r, const ald_buffer *block, int *out,
                                   ald_error *err)
{
    size_t old = (block->size - ALD__BLOCK_SEVERAL_BYTES) / ALD__WRAPPED_BYTES;
    uint8_t hash[ALD__RECIPIENT_HASH_BYTES];
    uint8_t *found = ald__alloc_zero(&r->host->alloc, old, err);
    ald_status st = ALD_OK;
    if (found == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; st == ALD_OK && i < r->asked.recipient_count; i++) {
        st = ald__recipient_hash(r->host, r->asked.recipients + i * ALD_X25519_BYTES, hash, err);
        for (size_t k = 0; st == ALD_OK && k < old; k++) {
            const uint8_t *e = block->data + ALD__BLOCK_SEVERAL_BYTES + k * ALD__WRAPPED_BYTES;
            found[k] |= (uint8_t)(memcmp(e, hash, sizeof hash) == 0);
        }
    }
    *out = old > 0;
    for (size_t k = 0; k < old; k++)
        *out &= found[k];
    ald__release(&r->host->alloc, found, old);
    return st;
}

/* The one case in which the file key stays (F-229). */
static ald_status plan_recipients(ald__rewriting *r, ald_error *err)
{
    ald__protecting *p = &r->protecting;
    ald_buffer block = {NULL, 0, 0, &r->host->alloc};
    int keep = has(r, ALD_FLAG_STREAMING) && r->file.encryption_mode == SEVERAL_MODE;
    ald_status st = ALD_OK;
    if (keep)
        st = read_block(r, &block, err);
    if (st == ALD_OK && keep)
        st = keeps_recipients(r, &block, &keep, err);
    ald_buffer_clear(&block);
    if (st != ALD_OK)
        return st;
    if (!keep)
        return ald__protecting_encrypt(p, &r->asked, 0, err);
    r->transit = ALD__TRANSIT_LAST;
    keep_commit(r);
    memcpy(p->key, r->from.key, sizeof p->key);
    return ald__file_key_wrap(r->host, p->key, r->from.nonce, r->asked.recipients,
                              r->asked.recipient_count, &p->block, err);
}

/* The key of the old file first: nothing is drawn for one who cannot read it. Without STREAMING key and payload are found
 * together, later. */
static ald_status plan_encryption(ald__rewriting *r, ald_error *err)
{
    int encrypted = has(r, ALD_FLAG_ENCRYPTED);
    if (keeps_encryption(r))
        return keep_encryption(r, err);
    if (!encrypted || has(r, ALD_FLAG_STREAMING))
        ALD_TRY(ald__unlock(&r->file, &r->settings, r->host, &r->from, err));
    if (encrypted)
        r->transit = ALD__TRANSIT_RESEAL;
    switch (r->options.encrypting) {
    case ALD_ENCRYPTING_ENCRYPT:
        r->transit = ALD__TRANSIT_RESEAL;
        return ald__protecting_encrypt(&r->protecting, &r->asked, 0, err);
    case ALD_ENCRYPTING_RECIPIENTS:
        return plan_recipients(r, err);
    default:
        return ALD_OK;
    }
}

/* ---- sizes, and what follows from them */

static ald_status plan_chunks(ald__rewriting *r, ald_error *err)
{
    const ald__file *f = &r->file;
    size_t out = ald__protecting_encrypts(&r->protecting) ? ALD_GCM_TAG_BYTES : 0;
    size_t in = ald__file_tag(f), size = (size_t)f->chunk_count * sizeof *r->chunks;
    uint64_t pieces = has(r, ALD_FLAG_STREAMING) ? f->chunk_count + 2 : 1, at;
    if (f->payload_size < pieces * in || !ald__add_u64(f->payload_size, pieces * out, &at))
        return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.payload.begin,
                         "a payload of %llu bytes is shorter than its tags",
                         (unsigned long long)f->payload_size);
    r->payload_size = at - pieces * in;
    if (!has(r, ALD_FLAG_STREAMING))
        return ALD_OK;
    r->chunks = ald__alloc(&r->host->alloc, size, err);
    if (r->chunks == NULL)
        return ALD_E_NOMEM;
    memcpy(r->chunks, f->chunks, size);
    at = r->chunks[0].byte_offset;
    if (at < in)
        return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.payload.begin,
                         "a piece is shorter than its tag");
    at += out - in;
    for (uint64_t i = 0; i < f->chunk_count; i++) {
        ald_chunk_entry *e = &r->chunks[i];
        if (e->compressed_size < in || e->compressed_size >= UINT32_MAX - out)
            return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "chunk %llu of %u bytes cannot change its encryption",
                             (unsigned long long)i, e->compressed_size);
        e->byte_offset = at;
        e->compressed_size = (uint32_t)(e->compressed_size - in + out);
        at += e->compressed_size;
    }
    return ALD_OK;
}

static ald_status plan_arrays(ald__rewriting *r, ald_error *err)
{
    const ald__file *f = &r->file;
    size_t size = (size_t)f->array_count * sizeof *r->arrays;
    if (f->array_count == 0)
        return ALD_OK;
    r->arrays = ald__alloc(&r->host->alloc, size, err);
    if (r->arrays == NULL)
        return ALD_E_NOMEM;
    memcpy(r->arrays, f->arrays, size);
    for (uint64_t i = 0; i < f->array_count; i++)
        r->arrays[i].offset -= f->sections.payload.begin; /* F-193: inside the payload */
    return ALD_OK;
}

static ald_status plan_keys(ald__rewriting *r, ald_error *err)
{
    const ald__file *f = &r->file;
    const ald_buffer *block = &r->protecting.block;
    ald_buffer index = {NULL, 0, 0, &r->host->alloc};
    uint8_t binding[ALD_SHA256_BYTES];
    ald_status st = ALD_OK;
    if (r->transit == ALD__TRANSIT_KEEP || !ald__protecting_encrypts(&r->protecting))
        return ALD_OK;
    if (r->chunks != NULL)
        st = ald__prefix_put_chunks(r->chunks, f->chunk_count, &index, err);
    if (st == ALD_OK) {
        ald__bound b = {f->header.dataset_type,
                        f->header.compression,
                        f->header.flags,
                        f->header.num_rows,
                        f->uncompressed_size,
                        r->section.data,
                        r->section.size,
                        index.data,
                        index.size,
                        block->data,
                        block->size};
        st = ald__binding(r->host, &b, binding, err);
    }
    ald_buffer_clear(&index);
    if (st != ALD_OK)
        return st;
    return ald__piece_keys_init(&r->to, r->host, r->protecting.key,
                                ald__block_nonce(block->data, block->size), binding, err);
}

static ald_status read_section(ald__rewriting *r, ald_error *err)
{
    ald_range s = r->file.sections.schema;
    size_t size;
    if (!ald__to_size(s.end - s.begin, &size))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__buffer_reserve(&r->section, size, err));
    ALD_TRY(ald__file_bytes(&r->file, s.begin, r->section.data, size, err));
    r->section.size = size;
    return ALD_OK;
}

ald_status ald__rewrite_plan(ald__rewriting *r, ald_error *err)
{
    ALD_TRY(plan_license(r, err));
    if (r->options.signing == ALD_SIGNING_SIGN)
        ALD_TRY(ald__protecting_sign(&r->protecting, r->asked.signer_seed, err));
    ALD_TRY(ald__protecting_bind_license(&r->protecting, err));
    ALD_TRY(check_file(r, err));
    ALD_TRY(read_section(r, err));
    ALD_TRY(plan_encryption(r, err));
    ALD_TRY(plan_chunks(r, err));
    ALD_TRY(plan_arrays(r, err));
    return plan_keys(r, err);
}
