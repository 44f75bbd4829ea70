/* SPDX-License-Identifier: MIT */
/* A file again with other metadata, license, signature or encryption; its rows, schema and chunks as they are stored.
 *
 * Nothing is decompressed. What needs no key is done without one: an encrypted file is signed, licensed and described by
 * someone who cannot read it. */
#ifndef ALD_REWRITE_H
#define ALD_REWRITE_H

#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/reader.h"
#include "ald/trust.h"

ALD_BEGIN_DECLS

typedef enum ald_signing {
    ALD_SIGNING_REFUSE = 0, /* an unsigned file stays so; a signed one is ALD_E_INVALID_ARG: its
                             * signature would be lost */
    ALD_SIGNING_SIGN = 1,   /* with protection.signer_seed */
    ALD_SIGNING_STRIP = 2   /* without a signature, whatever there was */
} ald_signing;

typedef enum ald_licensing {
    ALD_LICENSING_KEEP = 0,
    ALD_LICENSING_SET = 1, /* protection.license */
    ALD_LICENSING_STRIP = 2
} ald_licensing;

typedef enum ald_encrypting {
    ALD_ENCRYPTING_KEEP = 0,
    ALD_ENCRYPTING_ENCRYPT =
        1, /* by protection.encryption; an encrypted file is decrypted first, with load->trust */
    ALD_ENCRYPTING_DECRYPT = 2,
    /* A file with several recipients (mode 2), or one (mode 1) that becomes several. The others stay as their 8-byte names
     * tell: they have to be given again, as all public keys are needed to wrap anew. protection.recipients is the new whole
     * list. Chunks are not encrypted anew where they need not be: in a STREAMING file of mode 2 from which no recipient
     * was removed. */
    ALD_ENCRYPTING_RECIPIENTS = 3
} ald_encrypting;

typedef struct ald_rewrite_options {
    uint32_t struct_size;
    uint8_t signing;    /* an ald_signing */
    uint8_t licensing;  /* an ald_licensing */
    uint8_t encrypting; /* an ald_encrypting */
    uint8_t reserved;
    const ald_load_options *
        load; /* how the input is checked and opened; NULL: the defaults. A signed input by an unknown
                                   * signer needs load->trust->allow_untrusted */
    const ald_value *metadata; /* the new metadata (a map), or NULL: as it is */
    /* NULL, or called once, when the input has passed its checks and before anything is written. `checked` is what the
     * checked bytes say (its schema is NULL), for the time of the call; `metadata` is a copy of its metadata, to be changed:
     * it is what the new file gets, and then `metadata` above must be NULL. What was learned from the source before the call
     * may be about other bytes. An error ends the rewriting. */
    ald_status (*edit)(void *ctx, const ald_info *checked, ald_value *metadata, ald_error *err);
    void *edit_ctx;
    ald_protection protection;
} ald_rewrite_options;

#define ALD_REWRITE_OPTIONS_INIT                                                                   \
    {sizeof(ald_rewrite_options), 0, 0, 0, 0, NULL, NULL, NULL, NULL, ALD_PROTECTION_INIT}

/* Checks `source` (everything up to decryption; the CRC32 over the whole; key and pieces where they are needed) and writes
 * the new file. An expired license does not stop it. Files whose payload stays encrypted as stored keep their minor version,
 * key_commit and kdf; one of version 1.2 can get neither a seal nor a bound license (ALD_E_UNSUPPORTED). A signed input is
 * first copied into a spool, so that what was verified is what is written. STREAMING payloads go through memory piece by piece;
 * others, when their encryption changes, as a whole. The members of `protection` that nothing asks for must be empty. */
ALD_API ALD_NODISCARD ald_status ald_rewrite(const ald_source *source, const ald_sink *sink,
                                             const ald_rewrite_options *options,
                                             const ald_host *host, ald_error *err);

ALD_END_DECLS
#endif
