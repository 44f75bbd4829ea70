/* SPDX-License-Identifier: MIT */
/* What this machine remembers of licenses that limit queries or seats. Advisory: it is kept with the means of whoever uses
 * the machine, shows accidents and plain edits, and does not stop somebody who restores an older copy or writes a new one
 * with the key that lies beside it. */
#ifndef ALD_LICENSE_STATE_H
#define ALD_LICENSE_STATE_H

#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"
#include "ald/license.h"

ALD_BEGIN_DECLS

/* In `folder`: `licenses`, records sealed with keyed BLAKE3; `licenses.key`, the key; `licenses.lock`, held with flock by
 * who reads or writes. Files are for their owner alone, or, where the folder may be written to by its group, for that
 * group too: several users of a machine can share a folder, and then their seats are counted together. */

typedef struct ald_license_usage {
    uint64_t query_count;
    uint32_t seat_count; /* users of this machine, by their number, who have used the license */
    uint8_t has_seat;    /* the calling user is one of them */
} ald_license_usage;

/* Notes a use of `license` by the calling user. SEATS_ENFORCED: the user takes a seat, once; QUERY_LIMITED: `query_count` is
 * added. Other licenses are not noted. ALD_E_LICENSE_EXHAUSTED: there is no seat, or fewer queries are left; nothing is
 * noted then. The folder is made if need be. A state that was changed by something else, or lacks its key, is
 * ALD_E_CHECKSUM_MISMATCH, with a hint what to do. */
ALD_API ALD_NODISCARD ald_status ald_license_state_use(const char *folder,
                                                       const ald_license *license,
                                                       uint64_t query_count, const ald_host *host,
                                                       ald_error *err);

/* What was noted so far; zeros when there is no state. Nothing is made. */
ALD_API ALD_NODISCARD ald_status ald_license_state_get(const char *folder,
                                                       const ald_license *license,
                                                       const ald_host *host, ald_license_usage *out,
                                                       ald_error *err);

ALD_END_DECLS
#endif
