/* SPDX-License-Identifier: MIT */
/* Files that are not UTF-8, as UTF-8. */
#ifndef INTERCHANGE_TEXT_ENCODING_H
#define INTERCHANGE_TEXT_ENCODING_H

#include "ald/io.h"
#include "ald/text.h"

/* Converts all of `source` into a spool of the host (or memory) and gives that as a source, which the caller closes. A byte
 * order mark is dropped. Bytes that mean nothing in the encoding are ALD_E_INVALID_FORMAT with their line. Not for
 * ALD_ENCODING_UTF8. `source` is not used afterwards, but its name is. */
ALD_NODISCARD ald_status ald__text_decode(const ald_source *source, ald_encoding encoding,
                                          const ald_host *host, ald_source *out, ald_error *err);

#endif
