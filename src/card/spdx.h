/* SPDX-License-Identifier: MIT */
/* SPDX license expressions: MIT, Apache-2.0 OR MIT, GPL-2.0-only WITH Classpath-exception-2.0, LicenseRef-own. */
#ifndef CARD_SPDX_H
#define CARD_SPDX_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"

#define CARD_SPDX_BYTES 1024

typedef struct card_spdx {
    const char
        *deprecated; /* the first id that the list calls deprecated (static storage), or NULL */
    size_t size;
    uint8_t is_listed_id;       /* one id of the list, nothing else */
    char text[CARD_SPDX_BYTES]; /* NUL-terminated, ids and operators spelled as SPDX does */
} card_spdx;

/* Ids are found in any case. NONE and NOASSERTION stand alone. What is no expression is ALD_E_INVALID_FORMAT; the error
 * names the word, and its hint the nearest id. */
ALD_NODISCARD ald_status card_spdx_read(const char *text, size_t size, card_spdx *out,
                                        ald_error *err);

/* "3.27.0": which list it is. */
const char *card_spdx_version(void);

#endif
