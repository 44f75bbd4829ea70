/* SPDX-License-Identifier: MIT */
/* License blocks, and lists of revoked licenses. */
#ifndef ALD_LICENSE_H
#define ALD_LICENSE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

#define ALD_LICENSE_ID_BYTES 16
#define ALD_LICENSE_SEATS_ENFORCED 0x01u
#define ALD_LICENSE_EXPIRATION_ENFORCED 0x02u
#define ALD_LICENSE_QUERY_LIMITED 0x04u
#define ALD_LICENSE_WATERMARKED 0x08u
#define ALD_LICENSE_REVOCABLE 0x10u
#define ALD_LICENSE_TRANSFERABLE 0x20u

typedef struct ald_license {
    uint8_t license_id[ALD_LICENSE_ID_BYTES];
    uint8_t licensee_hash[32]; /* SHA-256 of the licensee's UTF-8 name */
    uint64_t issued_at;        /* unix seconds */
    uint64_t expires_at;       /* unix seconds; 0: never */
    uint32_t query_limit;
    uint16_t seat_limit;
    uint8_t flags;
    const char *terms; /* UTF-8, NUL-terminated behind terms_size; NULL when terms_size is 0 */
    size_t terms_size;
} ald_license;

/* Ids of licenses that one seller has revoked: the content of a signed list. A license counts as revoked when it is
 * REVOCABLE, its id is there, and the file is signed by the list's signer: ALD_E_LICENSE_REVOKED. */
typedef struct ald_revocations {
    uint8_t signer[32]; /* Ed25519 public key that signed the list */
    const uint8_t *ids; /* 16 bytes each, in any order */
    size_t count;
} ald_revocations;

/* SHA-256 of the name: what stands in the block. */
ALD_API ALD_NODISCARD ald_status ald_license_hash_licensee(const char *name, size_t name_size,
                                                           const ald_host *host, uint8_t out[32],
                                                           ald_error *err);
/* A new license for this licensee: a random (version 4) id, issued now, no limits. */
ALD_API ALD_NODISCARD ald_status ald_license_init(ald_license *license, const char *licensee,
                                                  size_t licensee_size, const ald_host *host,
                                                  ald_error *err);

ALD_END_DECLS
#endif
