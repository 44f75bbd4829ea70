/* SPDX-License-Identifier: MIT */
/* Reads a file in chunks as training does: every row once an epoch, in an order that the seed and the epoch decide, a shard
 * for each worker, and from where it stopped. The sum of a column is the same whatever the order.
 * Run: {data}/penguins.csv {out}/loader.ald */
#include <ald/ald.h>
#include <inttypes.h>
#include <stdio.h>

#define BATCH_ROWS 32
#define WORKERS 2

/* A file that can be read in pieces; 40 rows a chunk, where real ones have tens of thousands. */
static ald_status prepare(const char *csv_path, const char *path, const ald_host *host,
                          ald_error *err)
{
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    ald_source source = {0};
    ald_file_sink *file = NULL;
    struct ArrowArrayStream batches = {0};
    const char *nulls[] = {"NA"};
    csv.nulls = nulls;
    csv.null_count = 1;
    save.layout = ALD_LAYOUT_STREAMING;
    save.chunk_rows = 40;
    ald_status status = ald_file_open(csv_path, 0, &source, err);
    if (status == ALD_OK && (status = ald_csv_open(&source, &csv, host, &batches, err)) == ALD_OK) {
        status = ald_file_create(path, ALD_FILE_REPLACE, &file, err);
    }
    if (status == ALD_OK) {
        status = ald_save(&batches, ald_file_sink_get(file), &save, host, err);
    }
    if (file != NULL && status == ALD_OK) {
        status = ald_file_commit(file, err);
    } else if (file != NULL) {
        ald_file_abort(file);
    }
    if (batches.release != NULL) {
        batches.release(&batches);
    }
    ald_source_close(&source);
    return status;
}

/* What a training step would do with a batch: here the rows are counted, and their numbers added up. */
typedef struct seen {
    uint64_t row_count, row_sum;
} seen;

/* Positions [begin, end) of one worker's shard. */
static ald_status train(ald_loader *loader, uint64_t epoch, uint64_t begin, uint64_t end, seen *out,
                        ald_error *err)
{
    ald_status status = ald_loader_seek(loader, epoch, begin, err);
    while (status == ALD_OK && ald_loader_epoch(loader) == epoch &&
           ald_loader_position(loader) < end) {
        struct ArrowArray batch;
        uint64_t first = ald_loader_position(loader);
        uint64_t count = end - first < BATCH_ROWS ? end - first : BATCH_ROWS;
        status = ald_loader_next(loader, (size_t)count, &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            break;
        }
        for (uint64_t i = 0; status == ALD_OK && i < (uint64_t)batch.length; i++) {
            uint64_t row = 0;
            status = ald_loader_index(loader, epoch, first + i, &row, err);
            out->row_sum += row;
        }
        out->row_count += (uint64_t)batch.length;
        batch.release(&batch);
    }
    return status;
}

/* An epoch of all workers, in turn. `stop` and resume: each shard is left in the middle, and taken up by a new loader that
 * knows nothing but the place. */
static ald_status run_epoch(ald_streaming *streaming, uint64_t epoch, int stop, seen *out,
                            const ald_host *host, ald_error *err)
{
    ald_status status = ALD_OK;
    *out = (seen){0, 0};
    for (uint32_t worker = 0; status == ALD_OK && worker < WORKERS; worker++) {
        ald_loader_options options = ALD_LOADER_OPTIONS_INIT;
        ald_loader *loader = NULL;
        options.seed = 42;
        options.shard = worker;
        options.shard_count = WORKERS;
        status = ald_loader_new(streaming, &options, host, &loader, err);
        uint64_t count = status == ALD_OK ? ald_loader_count(loader) : 0;
        uint64_t middle = stop ? count / 2 : count;
        if (status == ALD_OK) {
            status = train(loader, epoch, 0, middle, out, err);
        }
        if (status == ALD_OK && stop) {
            ald_loader_free(loader);
            status = ald_loader_new(streaming, &options, host, &loader, err);
        }
        if (status == ALD_OK && stop) {
            status = train(loader, epoch, middle, count, out, err);
        }
        ald_loader_free(loader);
    }
    return status;
}

static ald_status run(const char *path, const ald_host *host, ald_error *err)
{
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_source source = {0};
    ald_streaming *streaming = NULL;
    ald_status status = ald_file_open(path, ALD_FILE_MAP, &source, err);
    if (status == ALD_OK) {
        status = ald_streaming_open(&source, &load, host, &streaming, err);
    }
    uint64_t rows = status == ALD_OK ? ald_streaming_row_count(streaming) : 0;
    for (uint64_t epoch = 0; status == ALD_OK && epoch < 3; epoch++) {
        seen got;
        status = run_epoch(streaming, epoch, epoch == 2, &got, host, err);
        if (status == ALD_OK) {
            printf("epoch %" PRIu64 "%s: %" PRIu64 " of %" PRIu64 " rows\n", epoch,
                   epoch == 2 ? ", left and resumed" : "", got.row_count, rows);
        }
        if (status == ALD_OK && (got.row_count != rows || got.row_sum != rows * (rows - 1) / 2)) {
            status =
                ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "not every row came once");
        }
    }
    ald_streaming_close(streaming);
    ald_source_close(&source);
    return status;
}

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(0);
    ald_error err;
    ald_status status = argc < 3 ? ald_error_set(&err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                                 "usage: loader TABLE.csv OUT.ald")
                                 : prepare(argv[1], argv[2], &host, &err);
    if (status == ALD_OK) {
        status = run(argv[2], &host, &err);
    }
    if (status != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name(status), err.msg);
    }
    return status != ALD_OK;
}
