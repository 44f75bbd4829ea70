/* SPDX-License-Identifier: MIT */
/* Goes through a file a batch at a time, in bounded memory, and prints the first value of each. The same loop reads
 * ald_ipc_open, ald_jsonl_open and ald_dataset_stream.
 * Run: {data}/penguins.csv */
#include <ald/ald.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(1);
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    ald_source source = {0};
    struct ArrowArrayStream batches = {0};
    struct ArrowSchema schema = {0};
    struct ArrowArray batch = {0};
    ald_buffer text = {NULL, 0, 0, &host.alloc};
    ald_error err;
    csv.text.batch_rows = 100;
    ald_status status = argc < 2 ? ald_error_set(&err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                                 "usage: stream_batches FILE.csv")
                                 : ald_file_open(argv[1], 0, &source, &err);
    if (status == ALD_OK &&
        (status = ald_csv_open(&source, &csv, &host, &batches, &err)) == ALD_OK) {
        status = ald_stream_schema(&batches, &schema, &err);
    }
    while (status == ALD_OK && (status = ald_stream_next(&batches, &batch, &err)) == ALD_OK &&
           batch.release != NULL) {
        text.size = 0;
        if (batch.length > 0 && batch.n_children > 0) {
            status =
                ald_value_to_text(schema.children[0], batch.children[0], 0, 1, NULL, &text, &err);
        }
        printf("%" PRId64 " rows, first %.*s\n", batch.length, (int)text.size,
               (const char *)text.data);
        batch.release(&batch);
    }
    if (status != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name(status), err.msg);
    }
    ald_buffer_clear(&text);
    if (schema.release != NULL) {
        schema.release(&schema);
    }
    if (batches.release != NULL) {
        batches.release(&batches);
    }
    ald_source_close(&source);
    return status != ALD_OK;
}
