/* SPDX-License-Identifier: MIT */
/* Saves a small table as a .ald: build the Arrow arrays with any library (here by hand), then one call.
 * Run: {out}/ages.ald */
#include <ald/ald.h>
#include <stdio.h>

static void keep(struct ArrowArray *array)
{
    array->release = NULL;
} /* everything is static */
static void keep_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

int main(int argc, char **argv)
{
    static const int64_t ages[] = {36, 41, 28};
    static const void *age_buffers[] = {NULL, ages}; /* no nulls */
    static const void *table_buffers[] = {NULL};
    static struct ArrowArray age = {3, 0, 0, 2, 0, age_buffers, NULL, NULL, keep, NULL};
    static struct ArrowArray *columns[] = {&age};
    struct ArrowArray table = {3, 0, 0, 1, 1, table_buffers, columns, NULL, keep, NULL};
    static struct ArrowSchema age_field = {"l", "age", NULL, 0, 0, NULL, NULL, keep_schema, NULL};
    static struct ArrowSchema *fields[] = {&age_field};
    struct ArrowSchema schema = {"+s", "", NULL, 0, 1, fields, NULL, keep_schema, NULL};

    ald_host host = ald_native_host(0);
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    ald_file_sink *file = NULL;
    ald_error err;
    options.compression = ALD_COMPRESSION_ZSTD_L19;
    if (ald_stream_from_batches(&schema, &table, 1, &host, &batches, &err) != ALD_OK ||
        ald_file_create(argc > 1 ? argv[1] : "ages.ald", ALD_FILE_REPLACE, &file, &err) != ALD_OK ||
        ald_save(&batches, ald_file_sink_get(file), &options, &host, &err) != ALD_OK ||
        ald_file_commit(file, &err) != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name((ald_status)err.status), err.msg);
        return 1;
    }
    return 0;
}
