/* SPDX-License-Identifier: MIT */
/* A second opinion on what the library hands out: nanoarrow, which shares no code with it, takes every schema and every
 * batch of the example files and validates them in full. */
#include <dirent.h>

#include "ald/ald.h"
#include "check.h"
#include "nanoarrow/nanoarrow.h"

static int accepts_fields(const struct ArrowSchema *schema, struct ArrowError *why)
{
    struct ArrowSchemaView view;
    if (ArrowSchemaViewInit(&view, schema, why) != NANOARROW_OK)
        return 0;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (!accepts_fields(schema->children[i], why))
            return 0;
    }
    return schema->dictionary == NULL || accepts_fields(schema->dictionary, why);
}

static int accepts_array(const struct ArrowSchema *schema, const struct ArrowArray *array,
                         struct ArrowError *why)
{
    struct ArrowArrayView view;
    int fine = ArrowArrayViewInitFromSchema(&view, schema, why) == NANOARROW_OK &&
               ArrowArrayViewSetArray(&view, array, why) == NANOARROW_OK &&
               ArrowArrayViewValidate(&view, NANOARROW_VALIDATION_LEVEL_FULL, why) == NANOARROW_OK;
    ArrowArrayViewReset(&view);
    return fine;
}

/* Fixed-size binary of no bytes is legal, and refused there. */
static int has_empty_binary(const struct ArrowSchema *schema)
{
    if (strcmp(schema->format, "w:0") == 0)
        return 1;
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (has_empty_binary(schema->children[i]))
            return 1;
    }
    return schema->dictionary != NULL && has_empty_binary(schema->dictionary);
}

static void check_dataset(const char *name, const ald_dataset *d)
{
    struct ArrowError why = {{0}};
    ald_error err;
    if (has_empty_binary(ald_dataset_schema(d)))
        return;
    if (!CHECK(accepts_fields(ald_dataset_schema(d), &why)))
        printf("    %s: %s\n", name, why.message);
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        REQUIRE_OK(ald_dataset_batch(d, i, &batch, &err), &err);
        if (!CHECK(accepts_array(ald_dataset_schema(d), &batch, &why)))
            printf("    %s, batch %zu: %s\n", name, i, why.message);
        batch.release(&batch);
    }
}

/* How many files of the folder were loaded; those that need a key are not. */
static int check_folder(const char *folder)
{
    ald_host host = ald_native_host(1);
    DIR *dir = opendir(folder);
    int loaded = 0;
    if (!CHECK(dir != NULL))
        return 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[1024];
        ald_source source;
        ald_dataset *d = NULL;
        ald_error err;
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 4, ".ald") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (!CHECK_OK(ald_file_open(path, 0, &source, &err), &err))
            continue;
        if (ald_load(&source, NULL, &host, &d, &err) == ALD_OK) {
            check_dataset(e->d_name, d);
            ald_dataset_free(d);
            loaded++;
        }
        ald_source_close(&source);
    }
    closedir(dir);
    return loaded;
}

static void test_example_files(void)
{
    CHECK(check_folder(ALD_TEST_DATA "/golden/wire-1.3") >= 100);
    CHECK(check_folder(ALD_TEST_DATA "/golden/crate-0.2") >= 20);
}

/* Batches that a text reader builds. */
static void test_text(void)
{
    static const char lines[] = "{\"a\": 1, \"b\": [1.5, null], \"c\": {\"d\": \"x\"}}\n"
                                "{\"a\": null, \"b\": [], \"c\": null}\n";
    ald_host host = ald_native_host(1);
    ald_source source = ald_source_memory(lines, sizeof lines - 1);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    struct ArrowError why = {{0}};
    ald_error err;
    REQUIRE_OK(ald_jsonl_open(&source, NULL, &host, &stream, &err), &err);
    REQUIRE_OK(ald_stream_schema(&stream, &schema, &err), &err);
    REQUIRE_OK(ald_stream_next(&stream, &batch, &err), &err);
    if (!CHECK(accepts_fields(&schema, &why) && accepts_array(&schema, &batch, &why)))
        printf("    %s\n", why.message);
    batch.release(&batch);
    schema.release(&schema);
    stream.release(&stream);
}

int main(void)
{
    RUN(test_example_files);
    RUN(test_text);
    return check_done();
}
