/* SPDX-License-Identifier: MIT */
/* Reads a CSV, whose types are found from the whole file, and saves it as a .ald.
 * Run: {data}/penguins.csv {out}/penguins.ald */
#include <ald/ald.h>
#include <stdio.h>

static void note(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "note: %s\n", text);
}

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(0);
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    ald_source source = {0};
    struct ArrowArrayStream batches;
    ald_file_sink *file = NULL;
    ald_error err;
    csv.text.note = note;
    if (argc < 3 || ald_file_open(argv[1], ALD_FILE_MAP, &source, &err) != ALD_OK ||
        ald_csv_open(&source, &csv, &host, &batches, &err) != ALD_OK) {
        fprintf(stderr, "%s\n", argc < 3 ? "usage: csv_in FILE.csv FILE.ald" : err.msg);
        ald_source_close(&source);
        return 1;
    }
    ald_status status = ald_file_create(argv[2], ALD_FILE_REPLACE, &file, &err);
    if (status != ALD_OK) {
        batches.release(&batches);
    } else if ((status = ald_save(&batches, ald_file_sink_get(file), NULL, &host, &err)) ==
               ALD_OK) {
        status = ald_file_commit(file, &err);
    } else {
        ald_file_abort(file); /* nothing is left behind */
    }
    if (status != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name(status), err.msg);
    }
    ald_source_close(&source);
    return status != ALD_OK;
}
