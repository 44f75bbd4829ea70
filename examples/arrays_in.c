/* SPDX-License-Identifier: MIT */
/* Reads a .npy (rows of a matrix are a column of fixed-size lists) and saves it as an aligned .ald, whose numbers are used
 * in place.
 * Run: {data}/embeddings.npy {out}/embeddings.ald */
#include <ald/ald.h>
#include <stdio.h>

static ald_status save(struct ArrowArrayStream *batches, const char *path, const ald_host *host,
                       ald_error *err)
{
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_file_sink *file = NULL;
    options.compression = ALD_COMPRESSION_NONE;
    options.aligned = 1;
    ald_status status = ald_file_create(path, ALD_FILE_REPLACE, &file, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    status = ald_save(batches, ald_file_sink_get(file), &options, host, err);
    if (status == ALD_OK) {
        return ald_file_commit(file, err);
    }
    ald_file_abort(file); /* nothing is left behind */
    return status;
}

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(0);
    ald_source source = {0};
    struct ArrowArrayStream batches;
    ald_error err;
    if (argc < 3) {
        fprintf(stderr, "usage: arrays_in FILE.npy FILE.ald\n");
        return 1;
    }
    ald_status status = ald_file_open(argv[1], 0, &source, &err);
    if (status == ALD_OK) {
        status = ald_npy_open(&source, NULL, &host, &batches, &err);
    }
    if (status == ALD_OK) {
        printf("%llu rows\n", (unsigned long long)ald_stream_row_count(&batches));
        status = save(&batches, argv[2], &host, &err);
    }
    if (status != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name(status), err.msg);
    }
    ald_source_close(&source);
    return status != ALD_OK;
}
