/* SPDX-License-Identifier: MIT */
/* Whole .ald files. The checksum at the end is made right first: else nearly every input would end there. What loads must
 * inspect, and must come back the same after it was saved. */
#include <libdeflate.h>

#include "fuzz/fuzz_host.h"

static ald_status load_bytes(const void *data, size_t size, const ald_host *host, ald_dataset **out,
                             ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    ald_load_options options = ALD_LOAD_OPTIONS_INIT;
    options.ignore_expiry = 1;
    options.limits.metadata_bytes = 1 << 20;
    options.limits.uncompressed_bytes = 64 << 20;
    ald_status status = ald_load(&source, &options, host, out, err);
    FUZZ_CHECK((status == ALD_OK) == (*out != NULL));
    fuzz_check_error(status, err);
    return status;
}

static void inspect_bytes(const void *data, size_t size, const ald_host *host, int must_work)
{
    ald_error err = {0};
    ald_source source = ald_source_memory(data, size);
    ald_inspection *inspection = NULL;
    ald_status status = ald_inspect(&source, NULL, host, &inspection, &err);
    FUZZ_CHECK((status == ALD_OK) == (inspection != NULL));
    FUZZ_CHECK(status == ALD_OK || !must_work);
    fuzz_check_error(status, &err);
    ald_inspection_free(inspection);
}

static void check_round_trip(const ald_dataset *dataset, const ald_host *host)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                           ALD_COMPRESSION_LZ4};
    const ald_info *info = ald_dataset_info(dataset);
    ald_error err = {0};
    struct ArrowArrayStream stream;
    ald_buffer buffer = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&buffer);
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    options.dataset_type = info->dataset_type;
    options.compression = compressions[info->num_rows % 3];
    options.metadata = info->metadata;
    if (ald_dataset_stream(dataset, &stream, &err) != ALD_OK)
        return; /* no memory: nothing else can go wrong */
    ald_status status = ald_save(&stream, &sink, &options, host, &err);
    FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM || status == ALD_E_LIMIT_EXCEEDED);
    if (status == ALD_OK) {
        ald_dataset *again = NULL;
        status = load_bytes(buffer.data, buffer.size, host, &again, &err);
        FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM || status == ALD_E_LIMIT_EXCEEDED);
        if (status == ALD_OK) {
            FUZZ_CHECK(ald_dataset_info(again)->num_rows == info->num_rows);
            FUZZ_CHECK(ald_schema_compare(ald_dataset_schema(dataset), ald_dataset_schema(again), 1,
                                          &err) == ALD_OK);
        }
        ald_dataset_free(again);
    }
    ald_buffer_clear(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    ald_dataset *dataset = NULL;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    memcpy(copy, data, size);
    if (size >= 4) {
        uint32_t crc = libdeflate_crc32(0, copy, size - 4);
        for (size_t i = 0; i < 4; i++)
            copy[size - 4 + i] = (uint8_t)(crc >> (8 * i));
    }
    ald_status status = load_bytes(copy, size, &host, &dataset, &err);
    inspect_bytes(copy, size, &host, status == ALD_OK);
    if (dataset != NULL)
        check_round_trip(dataset, &host);
    ald_dataset_free(dataset);
    free(copy);
    FUZZ_CHECK_EMPTY();
    return 0;
}
