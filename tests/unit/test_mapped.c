/* SPDX-License-Identifier: MIT */
/* Aligned files in place: vectors against a plain load, nulls, embeddings, DLPack, lies in the array index. */
#include <dirent.h>

#include "ald/ald.h"
#include "check_alloc.h"

static check_heap heap;
static ald_host host;

static void begin(void)
{
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, -1);
}

/* Bytes at a multiple of 64, with their size. */
typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static bytes aligned_copy(const void *data, size_t size)
{
    bytes b = {aligned_alloc(64, (size + 64) & ~(size_t)63), size};
    memcpy(b.data, data, size);
    return b;
}

static bytes read_file(const char *folder, const char *name)
{
    char path[1024];
    static char content[1 << 20];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    size_t n = f == NULL ? 0 : fread(content, 1, sizeof content, f);
    if (f != NULL)
        fclose(f);
    return aligned_copy(content, n);
}

/* JSON lines with a declared schema as an aligned file. */
static bytes make(const char *schema_text, const char *lines, uint64_t chunk_rows, uint8_t hint)
{
    ald_source source = ald_source_memory(lines, strlen(lines));
    ald_jsonl_options in = ALD_JSONL_OPTIONS_INIT;
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_buffer out = {NULL, 0, 0, &host.alloc};
    ald_sink sink = ald_buffer_sink(&out);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    ald_error err;
    bytes b;
    CHECK_OK(ald_schema_from_json(schema_text, strlen(schema_text), &host, &schema, &err), &err);
    in.text.schema = &schema;
    CHECK_OK(ald_jsonl_open(&source, &in, &host, &stream, &err), &err);
    schema.release(&schema);
    o.aligned = 1;
    o.compression = ALD_COMPRESSION_NONE;
    o.backend_hint = hint;
    o.layout = chunk_rows > 0 ? ALD_LAYOUT_STREAMING : ALD_LAYOUT_WHOLE;
    o.chunk_rows = chunk_rows;
    CHECK_OK(ald_save(&stream, &sink, &o, &host, &err), &err);
    b = aligned_copy(out.data, out.size);
    ald_buffer_clear(&out);
    return b;
}

static ald_mapped *open_bytes(bytes b)
{
    ald_source source = ald_source_memory(b.data, b.size);
    ald_mapped *m = NULL;
    ald_error err;
    CHECK_OK(ald_mapped_open(&source, NULL, &host, &m, &err), &err);
    return m;
}

static const char table_schema[] =
    "i:int64,f:float32,s:string,b:bool,e:fixed_size_list<item: int16>[3]";
static const char table_lines[] =
    "{\"i\": 1, \"f\": 0.5, \"s\": \"a\", \"b\": true, \"e\": [1, 2, 3]}\n"
    "{\"i\": null, \"f\": 1.5, \"s\": null, \"b\": false, \"e\": [4, 5, 6]}\n"
    "{\"i\": 3, \"f\": -2, \"s\": \"c\", \"b\": true, \"e\": [7, 8, 9]}\n";

static void check_table(uint64_t chunk_rows)
{
    static const int64_t want_i[] = {1, 0, 3};
    static const float want_f[] = {0.5f, 1.5f, -2};
    bytes b = make(table_schema, table_lines, chunk_rows, 4);
    ald_mapped *m = open_bytes(b);
    uint64_t row = 0;
    ald_error err;
    REQUIRE(m != NULL);
    CHECK_INT(ald_mapped_find_column(m, "e"), 4);
    CHECK_INT(ald_mapped_find_column(m, "nowhere"), -1);
    for (uint64_t k = 0; k < ald_mapped_batch_count(m); k++) {
        ald_vector v;
        REQUIRE_OK(ald_mapped_vector(m, k, 0, &v, &err), &err);
        CHECK(((uintptr_t)v.data & 63) == 0);
        CHECK_INT(v.dtype, ALD_DTYPE_I64);
        CHECK_INT(v.backend_hint, 4);
        CHECK_MEM(v.data, want_i + row, v.size_bytes);
        for (uint64_t r = 0; r < v.length; r++)
            CHECK_INT(v.validity == NULL || (v.validity[r / 8] >> r % 8 & 1), row + r != 1);
        REQUIRE_OK(ald_mapped_vector(m, k, 1, &v, &err), &err);
        CHECK_MEM(v.data, want_f + row, v.size_bytes);
        CHECK(v.validity == NULL && v.null_count == 0);
        CHECK_INT(ald_mapped_vector(m, k, 2, &v, &err), ALD_E_UNSUPPORTED);
        REQUIRE_OK(ald_mapped_vector(m, k, 3, &v, &err), &err);
        CHECK_INT(v.dtype, ALD_DTYPE_BOOL);
        REQUIRE_OK(ald_mapped_vector(m, k, 4, &v, &err), &err);
        CHECK_INT(v.ndim, 2);
        CHECK_INT(v.shape[1], 3);
        CHECK_INT(((const int16_t *)v.data)[0], (int64_t)row * 3 + 1);
        row += (uint64_t)v.shape[0];
    }
    CHECK_UINT(row, 3);
    ald_mapped_close(m);
    free(b.data);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_vectors(void)
{
    begin();
    check_table(0);
    check_table(2);
    check_table(1);
}

static void test_batches_equal_a_load(void)
{
    begin();
    bytes b = make(table_schema, table_lines, 2, 0);
    ald_mapped *m = open_bytes(b);
    ald_source source = ald_source_memory(b.data, b.size);
    ald_dataset *d = NULL;
    struct ArrowArray a, want;
    ald_error err;
    REQUIRE_OK(ald_load(&source, NULL, &host, &d, &err), &err);
    for (uint64_t k = 0; k < 2; k++) {
        REQUIRE_OK(ald_mapped_batch(m, k, &a, &err), &err);
        REQUIRE_OK(ald_dataset_batch(d, k, &want, &err), &err);
        CHECK_INT(a.length, want.length);
        CHECK_MEM(a.children[0]->buffers[1], want.children[0]->buffers[1], (size_t)a.length * 8);
        CHECK(((const uint8_t *)a.children[0]->buffers[1]) > b.data &&
              ((const uint8_t *)a.children[0]->buffers[1]) < b.data + b.size);
        a.release(&a);
        want.release(&want);
    }
    ald_dataset_free(d);
    ald_mapped_close(m);
    free(b.data);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_dlpack(void)
{
    begin();
    bytes b = make(table_schema, table_lines, 0, 0);
    ald_mapped *m = open_bytes(b);
    DLManagedTensorVersioned *t = NULL;
    ald_error err;
    REQUIRE_OK(ald_mapped_dlpack(m, 0, 4, &t, &err), &err);
    CHECK_INT(t->version.major, 1);
    CHECK(t->flags & DLPACK_FLAG_BITMASK_READ_ONLY);
    CHECK_INT(t->dl_tensor.ndim, 2);
    CHECK_INT(t->dl_tensor.shape[0], 3);
    CHECK_INT(t->dl_tensor.shape[1], 3);
    CHECK_INT(t->dl_tensor.dtype.code, 0);
    CHECK_INT(t->dl_tensor.dtype.bits, 16);
    CHECK_INT(((const int16_t *)t->dl_tensor.data)[8], 9);
    t->deleter(t);
    CHECK_INT(ald_mapped_dlpack(m, 0, 0, &t, &err), ALD_E_UNSUPPORTED); /* a null */
    CHECK_INT(ald_mapped_dlpack(m, 0, 3, &t, &err), ALD_E_UNSUPPORTED); /* bits */
    CHECK(t == NULL);
    ald_mapped_close(m);
    free(b.data);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_take(void)
{
    static const uint64_t rows[] = {2, 0, 1, 1};
    static const uint32_t columns[] = {4, 0, 3};
    begin();
    for (uint64_t chunk_rows = 0; chunk_rows < 4; chunk_rows++) {
        bytes b = make(table_schema, table_lines, chunk_rows, 0);
        ald_mapped *m = open_bytes(b);
        struct ArrowArray a;
        ald_error err;
        uint64_t past = 3;
        uint32_t text = 2;
        REQUIRE_OK(ald_mapped_take(m, rows, 4, columns, 3, &a, &err), &err);
        CHECK_INT(a.length, 4);
        CHECK_INT(((const int16_t *)a.children[0]->children[0]->buffers[1])[0], 7);
        CHECK_INT(((const int16_t *)a.children[0]->children[0]->buffers[1])[11], 6);
        CHECK_INT(a.children[1]->null_count, 2);
        CHECK_INT(*(const uint8_t *)a.children[1]->buffers[0], 3);
        CHECK_INT(((const int64_t *)a.children[1]->buffers[1])[0], 3);
        CHECK_INT(*(const uint8_t *)a.children[2]->buffers[1], 3);
        a.release(&a);
        CHECK_INT(ald_mapped_take(m, &past, 1, columns, 1, &a, &err), ALD_E_INVALID_ARG);
        CHECK_INT(ald_mapped_take(m, rows, 1, &text, 1, &a, &err), ALD_E_UNSUPPORTED);
        REQUIRE_OK(ald_mapped_take(m, rows, 0, columns, 3, &a, &err), &err);
        CHECK_INT(a.length, 0);
        a.release(&a);
        ald_mapped_close(m);
        free(b.data);
    }
    CHECK_HEAP_EMPTY(&heap);
}

/* Every vector of every file of one folder; whether all of it was fine. */
static int all_vectors(bytes b)
{
    ald_source source = ald_source_memory(b.data, b.size);
    ald_mapped *m = NULL;
    ald_error err;
    int fine = ald_mapped_open(&source, NULL, &host, &m, &err) == ALD_OK;
    for (uint64_t k = 0; fine && k < ald_mapped_batch_count(m); k++) {
        for (int64_t c = 0; fine && c < ald_mapped_schema(m)->n_children; c++) {
            ald_vector v;
            ald_status st = ald_mapped_vector(m, k, (uint32_t)c, &v, &err);
            fine = st == ALD_OK || st == ALD_E_UNSUPPORTED;
        }
    }
    ald_mapped_close(m);
    return fine;
}

static int begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static int check_folder(const char *folder, const char *part, int want)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!CHECK(dir != NULL))
        return 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (!ends_with(e->d_name, ".ald") || strstr(e->d_name, part) == NULL ||
            strstr(e->d_name, "signed") != NULL || strstr(e->d_name, "licen") != NULL ||
            begins_with(e->d_name, "packed"))
            continue;
        bytes b = read_file(folder, e->d_name);
        if (!CHECK_INT(all_vectors(b), want))
            printf("    %s\n", e->d_name);
        free(b.data);
        count++;
    }
    closedir(dir);
    return count;
}

static void test_examples(void)
{
    begin();
    CHECK(check_folder(ALD_TEST_DATA "/golden/wire-1.3", "trueno", 1) >= 15);
    CHECK(check_folder(ALD_TEST_DATA "/hostile", "array-", 0) >= 15);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_refusals(void)
{
    begin();
    bytes b = make(table_schema, table_lines, 0, 0);
    ald_source source = ald_source_memory(b.data, b.size);
    ald_mapped *m = NULL;
    ald_error err;
    source.view = NULL;
    CHECK_INT(ald_mapped_open(&source, NULL, &host, &m, &err), ALD_E_INVALID_ARG);
    uint8_t *shifted = malloc(b.size + 80);
    uint8_t *odd = shifted + ((uintptr_t)shifted % 64 == 0 ? 8 : 0);
    memcpy(odd, b.data, b.size);
    source = ald_source_memory(odd, b.size);
    CHECK_INT(ald_mapped_open(&source, NULL, &host, &m, &err), ALD_E_INVALID_ARG);
    source = ald_source_memory(b.data, b.size - 1);
    CHECK_INT(ald_mapped_open(&source, NULL, &host, &m, &err), ALD_E_TRUNCATED);
    CHECK(m == NULL);
    free(shifted);
    free(b.data);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_vectors);
    RUN(test_batches_equal_a_load);
    RUN(test_dlpack);
    RUN(test_take);
    RUN(test_examples);
    RUN(test_refusals);
    return check_done();
}
