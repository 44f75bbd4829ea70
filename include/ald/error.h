/* SPDX-License-Identifier: MIT */
/* Status codes and the error object that every fallible call fills.
 *
 * A call returns ALD_OK or the status that is also in `err->status`; `err` may be NULL. A failed call leaves its
 * outputs NULL or released. Nothing is kept in globals or thread-local storage. */
#ifndef ALD_ERROR_H
#define ALD_ERROR_H

#include <stdint.h>

#include "ald/export.h"

ALD_BEGIN_DECLS

/* X(constant, frozen value, name, what it means). Values are never reused. */
#define ALD_STATUS_LIST(X)                                                                         \
    X(OK, 0, "Ok", "no error")                                                                     \
    X(INVALID_FORMAT, 1, "InvalidFormat", "the bytes break a rule of their format")                \
    X(CHECKSUM_MISMATCH, 2, "ChecksumMismatch", "a checksum does not fit the bytes")               \
    X(SIGNATURE_INVALID, 3, "SignatureInvalid", "a signature or seal does not verify")             \
    X(DECRYPTION_FAILED, 4, "DecryptionFailed", "wrong or missing key, or changed ciphertext")     \
    X(UNSUPPORTED_VERSION, 5, "UnsupportedVersion", "a newer or unknown format version")           \
    X(SCHEMA_MISMATCH, 6, "SchemaMismatch", "the schema is not the expected one")                  \
    X(LICENSE_EXPIRED, 7, "LicenseExpired", "the license has expired")                             \
    X(TRUNCATED, 8, "Truncated", "the input is shorter than it says")                              \
    X(UNTRUSTED_SIGNER, 9, "UntrustedSigner", "no trusted key made the signature")                 \
    X(LIMIT_EXCEEDED, 10, "LimitExceeded", "legal, but beyond what the reader agrees to do")       \
    X(INVALID_ARG, 11, "InvalidArgument", "the caller's argument is wrong")                        \
    X(NOMEM, 12, "OutOfMemory", "an allocation failed")                                            \
    X(IO, 13, "IoError", "reading or writing failed")                                              \
    X(UNSUPPORTED, 14, "Unsupported", "not supported by this build or this format")                \
    X(LICENSE_REVOKED, 15, "LicenseRevoked", "the seller has revoked the license")                 \
    X(LICENSE_EXHAUSTED, 16, "LicenseExhausted", "seats or queries of the license are used up")

typedef enum ald_status {
#define ALD_X(constant, value, name, text) ALD_E_##constant = value,
    ALD_STATUS_LIST(ALD_X)
#undef ALD_X
} ald_status;

#define ALD_OK ALD_E_OK

/* `offset` value for "no position". Otherwise bytes from the start of the input, or what the message says. */
#define ALD_NO_OFFSET UINT64_MAX

#define ALD_ERROR_MSG_BYTES 240

/* The caller's, 256 bytes, plain data. */
typedef struct ald_error {
    int32_t status;                /* an ald_status */
    int32_t detail;                /* errno of an ALD_E_IO, else 0 */
    uint64_t offset;               /* byte position, or ALD_NO_OFFSET */
    char msg[ALD_ERROR_MSG_BYTES]; /* NUL-terminated UTF-8; what follows a newline is a hint */
} ald_error;

/* "InvalidFormat" …; "Unknown" for a value not in the list. Static storage. */
ALD_API const char *ald_status_name(ald_status status);
/* One line of what the status means. Static storage. */
ALD_API const char *ald_status_text(ald_status status);

/* Fills *err (when not NULL) and returns `status`. For hosts and bindings that implement callbacks. Conversions:
 * %s %.*s %c %d %i %u %x %% with hh, h, l, ll, z, j; width and zero padding. The message is cut to fit; control characters
 * and invalid UTF-8 in %s arguments are escaped. */
ALD_API ald_status ald_error_set(ald_error *err, ald_status status, uint64_t offset,
                                 const char *fmt, ...) ALD_PRINTF(4, 5);

ALD_END_DECLS
#endif
