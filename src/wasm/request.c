/* SPDX-License-Identifier: MIT */
/* Options set by name, so that the other side need not know how structs are laid out. A new option is one line below. */
#include <stdlib.h>
#include <string.h>

#include "wasm/crypto/wasm_crypto.h"
#include "wasm/glue.h"

struct ald_wasm_blob {
    struct ald_wasm_blob *next;
    void *data;
    size_t size;
};

enum option_kind {
    OPTION_U8,
    OPTION_U16,
    OPTION_U32,
    OPTION_U64,
    OPTION_F32,
    OPTION_POINTER, /* a handle */
    OPTION_BYTES,   /* pointer, and size at `at_size` */
    OPTION_KEYS,    /* pointer, and count of 32 bytes each at `at_size` */
    OPTION_IDS,     /* the same of 16 bytes */
    OPTION_U32S,    /* the same of 4 bytes */
    OPTION_FIXED    /* exactly `at_size` bytes in the struct itself */
};

typedef struct option {
    const char *name;
    uint16_t kind, at, at_size;
} option;

#define AT(member) ((uint16_t)offsetof(ald_wasm_request, member))
#define NUMBER(member, kind) {#member, kind, AT(member), 0}
#define BYTES(member, count, kind) {#member, kind, AT(member), AT(count)}

static const option options[] = {
    NUMBER(load.ignore_expiry, OPTION_U8),
    NUMBER(load.check_all, OPTION_U8),
    NUMBER(load.limits.metadata_bytes, OPTION_U64),
    NUMBER(load.limits.uncompressed_bytes, OPTION_U64),
    NUMBER(load.expected_schema, OPTION_POINTER),
    NUMBER(load.cache_bytes, OPTION_U64),
    NUMBER(trust.allow_untrusted, OPTION_U8),
    NUMBER(trust.allow_unsigned, OPTION_U8),
    NUMBER(trust.allow_plain, OPTION_U8),
    NUMBER(trust.require_commit, OPTION_U8),
    NUMBER(trust.commercial, OPTION_U8),
    BYTES(trust.trusted_keys, trust.trusted_count, OPTION_KEYS),
    BYTES(trust.private_keys, trust.private_count, OPTION_KEYS),
    BYTES(trust.password, trust.password_size, OPTION_BYTES),
    {"revocations.signer", OPTION_FIXED, AT(revocations.signer), 32},
    BYTES(revocations.ids, revocations.count, OPTION_IDS),
    NUMBER(has_revocations, OPTION_U8),
    NUMBER(save.dataset_type, OPTION_U16),
    NUMBER(save.compression, OPTION_U8),
    NUMBER(save.compat, OPTION_U8),
    NUMBER(save.write_sha256, OPTION_U8),
    NUMBER(save.layout, OPTION_U8),
    NUMBER(save.aligned, OPTION_U8),
    NUMBER(save.backend_hint, OPTION_U8),
    NUMBER(save.effort, OPTION_U8),
    NUMBER(save.metadata, OPTION_POINTER),
    NUMBER(save.chunk_rows, OPTION_U64),
    NUMBER(protection.encryption, OPTION_U8),
    BYTES(protection.password, protection.password_size, OPTION_BYTES),
    NUMBER(protection.kdf_m_kib, OPTION_U32),
    NUMBER(protection.kdf_t, OPTION_U32),
    BYTES(protection.recipients, protection.recipient_count, OPTION_KEYS),
    {"protection.signer_seed", OPTION_KEYS, AT(protection.signer_seed), 0},
    NUMBER(has_license, OPTION_U8),
    {"license.license_id", OPTION_FIXED, AT(license.license_id), ALD_LICENSE_ID_BYTES},
    NUMBER(license.issued_at, OPTION_U64),
    NUMBER(license.expires_at, OPTION_U64),
    NUMBER(license.query_limit, OPTION_U32),
    NUMBER(license.seat_limit, OPTION_U16),
    NUMBER(license.flags, OPTION_U8),
    BYTES(license.terms, license.terms_size, OPTION_BYTES),
    NUMBER(rewrite.signing, OPTION_U8),
    NUMBER(rewrite.licensing, OPTION_U8),
    NUMBER(rewrite.encrypting, OPTION_U8),
    NUMBER(rewrite.metadata, OPTION_POINTER),
    NUMBER(csv.delimiter, OPTION_U8),
    NUMBER(csv.quote, OPTION_U8),
    NUMBER(csv.comment, OPTION_U8),
    NUMBER(csv.no_header, OPTION_U8),
    NUMBER(csv.ragged, OPTION_U8),
    NUMBER(csv.text.encoding, OPTION_U8),
    NUMBER(csv.text.schema, OPTION_POINTER),
    NUMBER(jsonl.mixed, OPTION_U8),
    NUMBER(jsonl.text.schema, OPTION_POINTER),
    NUMBER(csv_out.delimiter, OPTION_U8),
    NUMBER(csv_out.no_header, OPTION_U8),
    NUMBER(csv_out.crlf, OPTION_U8),
    NUMBER(csv_out.text.binary, OPTION_U8),
    NUMBER(jsonl_out.array, OPTION_U8),
    NUMBER(jsonl_out.text.binary, OPTION_U8),
    NUMBER(jsonl_out.text.plain_json, OPTION_U8),
    NUMBER(ipc_out.kind, OPTION_U8),
    NUMBER(mark.flags, OPTION_U32),
    {"mark.buyer_hash", OPTION_FIXED, AT(mark.buyer_hash), ALD_WATERMARK_BUYER_BYTES},
    NUMBER(mark.strength, OPTION_F32),
    NUMBER(mark.redundancy, OPTION_F32),
    BYTES(mark.columns, mark.column_count, OPTION_U32S),
    NUMBER(mark.memory_bytes, OPTION_U64),
    BYTES(reading.affine, reading.affine_count, OPTION_IDS),
    NUMBER(reading.memory_bytes, OPTION_U64),
};

ald_wasm_request *ald_wasm_request_new(void)
{
    static const ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    static const ald_trust trust = ALD_TRUST_INIT;
    static const ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    static const ald_protection protection = ALD_PROTECTION_INIT;
    static const ald_rewrite_options rewrite = ALD_REWRITE_OPTIONS_INIT;
    static const ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    static const ald_csv_write_options csv_out = ALD_CSV_WRITE_OPTIONS_INIT;
    static const ald_jsonl_options jsonl = ALD_JSONL_OPTIONS_INIT;
    static const ald_jsonl_write_options jsonl_out = ALD_JSONL_WRITE_OPTIONS_INIT;
    static const ald_ipc_options ipc_out = ALD_IPC_OPTIONS_INIT;
    static const ald_watermark_options mark = ALD_WATERMARK_OPTIONS_INIT;
    static const ald_watermark_read_options reading = ALD_WATERMARK_READ_OPTIONS_INIT;
    ald_wasm_request *request = calloc(1, sizeof *request);
    if (request == NULL)
        return NULL;
    request->load = load;
    request->trust = trust;
    request->save = save;
    request->protection = protection;
    request->rewrite = rewrite;
    request->csv = csv;
    request->csv_out = csv_out;
    request->jsonl = jsonl;
    request->jsonl_out = jsonl_out;
    request->ipc_out = ipc_out;
    request->mark = mark;
    request->reading = reading;
    return request;
}

void ald_wasm_request_free(ald_wasm_request *request)
{
    if (request == NULL)
        return;
    while (request->blobs != NULL) {
        struct ald_wasm_blob *blob = request->blobs;
        request->blobs = blob->next;
        ald__wasm_wipe(blob->data, blob->size);
        free(blob->data);
        free(blob);
    }
    ald__wasm_wipe(request, sizeof *request);
    free(request);
}

static const option *find_option(const char *name)
{
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (strcmp(options[i].name, name) == 0)
            return &options[i];
    }
    return NULL;
}

static ald_status bad_option(const char *name)
{
    return ald_error_set(ald_wasm_error(), ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "option '%s' is unknown, or of another kind or size", name);
}

/* Points the member to `data`; 0: its size does not fit. */
static int point_to(ald_wasm_request *request, const option *o, void *data, size_t size)
{
    uint8_t *base = (uint8_t *)request;
    size_t unit = o->kind == OPTION_KEYS   ? 32
                  : o->kind == OPTION_IDS  ? 16
                  : o->kind == OPTION_U32S ? 4
                                           : 1;
    size_t count = size / unit;
    if (o->kind < OPTION_BYTES || size % unit != 0)
        return 0;
    if (o->kind == OPTION_FIXED) {
        if (size != o->at_size)
            return 0;
        memcpy(base + o->at, data, size);
        return 1;
    }
    if (o->at_size == 0 && count != 1)
        return 0;
    memcpy(base + o->at, &data, sizeof data);
    if (o->at_size != 0)
        memcpy(base + o->at_size, &count, sizeof count);
    return 1;
}

ald_status ald_wasm_request_bytes(ald_wasm_request *request, const char *name, void *data,
                                  size_t size)
{
    const option *o = find_option(name);
    struct ald_wasm_blob *blob = malloc(sizeof *blob);
    if (blob == NULL) {
        ald__wasm_wipe(data, size);
        free(data);
        return ald_wasm_no_memory();
    }
    blob->data = data;
    blob->size = size;
    blob->next = request->blobs;
    request->blobs = blob;
    return o != NULL && point_to(request, o, data, size) ? ALD_OK : bad_option(name);
}

ald_status ald_wasm_request_number(ald_wasm_request *request, const char *name, double value)
{
    const option *o = find_option(name);
    uint64_t number = (uint64_t)value;
    size_t size;
    if (o == NULL || o->kind >= OPTION_BYTES || !(value >= 0) || value > 9007199254740992.0)
        return bad_option(name);
    size = o->kind == OPTION_U8    ? 1
           : o->kind == OPTION_U16 ? 2
           : o->kind == OPTION_U64 ? 8
                                   : 4; /* a pointer, too */
    if (o->kind == OPTION_F32) {
        float real = (float)value;
        memcpy((uint8_t *)request + o->at, &real, sizeof real);
        return ALD_OK;
    }
    if (size < 8 && number >> (8 * size) != 0)
        return bad_option(name);
    memcpy((uint8_t *)request + o->at, &number, size); /* little-endian */
    return ALD_OK;
}

const ald_load_options *ald_wasm_request_load(ald_wasm_request *request)
{
    request->trust.revocations = request->has_revocations ? &request->revocations : NULL;
    request->load.trust = &request->trust;
    return &request->load;
}

const ald_save_options *ald_wasm_request_save(ald_wasm_request *request)
{
    request->protection.license = request->has_license ? &request->license : NULL;
    request->save.protection = &request->protection;
    return &request->save;
}

const ald_rewrite_options *ald_wasm_request_rewrite(ald_wasm_request *request)
{
    request->rewrite.load = ald_wasm_request_load(request);
    request->rewrite.protection = *ald_wasm_request_save(request)->protection;
    return &request->rewrite;
}

const ald_watermark_options *ald_wasm_request_mark(ald_wasm_request *request)
{
    return &request->mark;
}

const ald_watermark_read_options *ald_wasm_request_reading(ald_wasm_request *request)
{
    return &request->reading;
}

ald_license *ald_wasm_request_license(ald_wasm_request *request)
{
    request->has_license = 1;
    return &request->license;
}
