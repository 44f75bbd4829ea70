/* SPDX-License-Identifier: MIT */
/* ald_jsonl_open with what its speed and, in tests, the way through it depend on; the outcome does not. */
#ifndef INTERCHANGE_JSONL_JSONL_OPEN_H
#define INTERCHANGE_JSONL_JSONL_OPEN_H

#include <stddef.h>

#include "ald/jsonl.h"

typedef struct ald__jsonl_tuning {
    uint64_t
        one_pass_bytes; /* inputs of this size and more are read in one pass, where the caller can begin again */
    size_t sample_records; /* of each place where types are taken from */
} ald__jsonl_tuning;

ALD_NODISCARD ald_status ald__jsonl_open_tuned(const ald_source *source,
                                               const ald_jsonl_options *options,
                                               const ald_host *host,
                                               const ald__jsonl_tuning *tuning,
                                               struct ArrowArrayStream *out, ald_error *err);

#endif
