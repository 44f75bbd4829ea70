/* SPDX-License-Identifier: MIT */
/* What both targets of arrays do. */
#ifndef FUZZ_TENSORS_H
#define FUZZ_TENSORS_H

#include "fuzz/fuzz_host.h"

typedef ald_status (*fuzz_open)(const ald_source *source, const ald_tensor_options *options,
                                const ald_host *host, struct ArrowArrayStream *out, ald_error *err);

static inline int fuzz_tensors(fuzz_open open, const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    ald_tensor_options options = ALD_TENSOR_OPTIONS_INIT;
    struct ArrowArrayStream stream, checked;
    int64_t rows = 0;
    if (size == 0)
        return 0;
    options.one_row = (data[0] & 3) == 1;
    options.unpack = (data[0] & 3) == 2;
    options.batch_rows = data[0] & 4 ? 3 : 0;
    ald_source source = ald_source_memory(data + 1, size - 1);
    ald_status status = open(&source, &options, &host, &stream, &err);
    fuzz_check_error(status, &err);
    if (status == ALD_OK) {
        uint64_t announced = ald_stream_row_count(&stream);
        status = ald_stream_validated(&stream, &host, &checked, &err);
        if (status == ALD_OK)
            status = fuzz_drain(&checked, &rows, &err);
        fuzz_check_error(status, &err);
        FUZZ_CHECK(status != ALD_OK || (uint64_t)rows == announced);
        /* The header was checked: only text and times can still be wrong. */
        FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM || strstr(err.msg, "row ") != NULL);
    }
    FUZZ_CHECK_EMPTY();
    return 0;
}

#endif
