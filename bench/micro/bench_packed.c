/* SPDX-License-Identifier: MIT */
/* Packed files against plain zstd-l3 ones of the same table, one core, in turns: those that are written by default, with
 * faster ways than level 3 has where they do as well, and those of level 3 as it is.
 *
 *     bench_packed [megabytes] [repeats] [FILE.arrow ...]
 *
 * Of the tables of the other benchmarks, or of Arrow IPC files. Prints one JSON object: for each table bytes in all forms,
 * seconds to save, load, read one column and take 1,000 random rows, and median ratios of CPU time pair by pair (above 1:
 * faster): against the default and against level 3, of packed-lz4 against lz4. Saved and loaded in memory, everything checked; the rows are compared once, through the SHA-256 of
 * their Arrow bytes. */
#define _GNU_SOURCE
#include <time.h>

#include "tables.h"

#define REPEATS_MAX 99
#define FORMS 6
#define LEVEL_3 1 /* of forms */
#define LZ4 4
#define ROWS_TAKEN 1000

static const struct form {
    const char *name;
    uint8_t compression, effort;
} forms[FORMS] = {
    {"zstd-l3", ALD_COMPRESSION_ZSTD_L3, 0},
    {"zstd-l3 as it is", ALD_COMPRESSION_ZSTD_L3, ALD_EFFORT_FAST},
    {"packed", ALD_COMPRESSION_PACKED, ALD_EFFORT_DEFAULT},
    {"packed fast", ALD_COMPRESSION_PACKED, ALD_EFFORT_FAST},
    {"lz4", ALD_COMPRESSION_LZ4, 0},
    {"packed-lz4", ALD_COMPRESSION_PACKED_LZ4, ALD_EFFORT_DEFAULT},
};

static double cpu_seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

typedef struct bench {
    ald_host host;
    ald_dataset *source; /* the table: the input of every save */
    ald_buffer files[FORMS];
    double save[FORMS][REPEATS_MAX], load[FORMS][REPEATS_MAX];
    double column[FORMS][REPEATS_MAX], take[FORMS][REPEATS_MAX];
    uint64_t rows[ROWS_TAKEN];
    int repeats;
} bench;

static void save_form(bench *b, int form, int sha256, ald_buffer *out)
{
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink = ald_buffer_sink(out);
    struct ArrowArrayStream stream;
    ald_error err;
    options.compression = forms[form].compression;
    options.effort = forms[form].effort;
    options.layout = ALD_LAYOUT_STREAMING;
    options.write_sha256 = (uint8_t)sha256;
    if (ald_dataset_stream(b->source, &stream, &err) != ALD_OK ||
        ald_save(&stream, &sink, &options, &b->host, &err) != ALD_OK)
        bench_die(&err);
}

static ald_dataset *load_bytes(bench *b, const ald_buffer *file)
{
    ald_source source = ald_source_memory(file->data, file->size);
    ald_dataset *d = NULL;
    ald_error err;
    if (ald_load(&source, NULL, &b->host, &d, &err) != ALD_OK)
        bench_die(&err);
    return d;
}

/* The hash is that of the bytes as rebuilt, and all forms are of the same table. */
static void check_form(bench *b, int form, char first[65])
{
    ald_buffer file = {NULL, 0, 0, &b->host.alloc};
    const ald_value *hash;
    const char *text;
    ald_dataset *d;
    size_t size = 0;
    save_form(b, form, 1, &file);
    d = load_bytes(b, &file);
    hash = ald_value_find(ald_dataset_info(d)->metadata, "sha256");
    text = hash != NULL ? ald_value_get_bytes(hash, &size) : NULL;
    if (text == NULL || size != 64 || (form > 0 && memcmp(first, text, 64) != 0)) {
        fprintf(stderr, "%s: other bytes\n", forms[form].name);
        exit(1);
    }
    memcpy(first, text, 64);
    ald_dataset_free(d);
    ald_buffer_clear(&file);
}

static ald_streaming *open_form(bench *b, int form, ald_source *source)
{
    ald_streaming *s = NULL;
    ald_error err;
    *source = ald_source_memory(b->files[form].data, b->files[form].size);
    if (ald_streaming_open(source, NULL, &b->host, &s, &err) != ALD_OK)
        bench_die(&err);
    return s;
}

/* The column in the middle, of all chunks. */
static double time_column(bench *b, int form)
{
    double t = cpu_seconds();
    ald_source source;
    ald_streaming *s = open_form(b, form, &source);
    int64_t columns = ald_streaming_schema(s)->n_children;
    uint8_t *wanted = bench_alloc((size_t)columns);
    ald_error err;
    wanted[columns / 2] = 1;
    for (uint64_t i = 0; i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray chunk;
        if (ald_streaming_chunk(s, i, wanted, &chunk, &err) != ALD_OK)
            bench_die(&err);
        chunk.release(&chunk);
    }
    t = cpu_seconds() - t;
    ald_streaming_close(s);
    free(wanted);
    return t;
}

static double time_take(bench *b, int form)
{
    double t = cpu_seconds();
    ald_source source;
    ald_streaming *s = open_form(b, form, &source);
    struct ArrowArray rows;
    ald_error err;
    if (ald_streaming_take(s, b->rows, ROWS_TAKEN, NULL, &rows, &err) != ALD_OK)
        bench_die(&err);
    rows.release(&rows);
    t = cpu_seconds() - t;
    ald_streaming_close(s);
    return t;
}

static void run_once(bench *b, int form, int round)
{
    double t = cpu_seconds();
    ald_dataset *d;
    ald_buffer_clear(&b->files[form]);
    save_form(b, form, 0, &b->files[form]);
    b->save[form][round] = cpu_seconds() - t;
    t = cpu_seconds();
    d = load_bytes(b, &b->files[form]);
    b->load[form][round] = cpu_seconds() - t;
    ald_dataset_free(d);
    b->column[form][round] = time_column(b, form);
    b->take[form][round] = time_take(b, form);
}

/* Median of what `against` took, divided by what `form` took. */
static double ratio_of(bench *b, double times[FORMS][REPEATS_MAX], int against, int form)
{
    double ratios[REPEATS_MAX];
    for (int i = 0; i < b->repeats; i++)
        ratios[i] = times[against][i] / times[form][i];
    return median(ratios, b->repeats);
}

static double median_of(bench *b, double times[FORMS][REPEATS_MAX], int form)
{
    double sorted[REPEATS_MAX];
    memcpy(sorted, times[form], sizeof sorted);
    return median(sorted, b->repeats);
}

static void print_form(bench *b, int form)
{
    int against = forms[form].compression == ALD_COMPRESSION_PACKED_LZ4 ? LZ4 : 0;
    printf("\"%s\": {\"bytes\": %zu, \"save_s\": %.4f, \"load_s\": %.4f, \"one_column_s\": %.5f, "
           "\"take_1000_s\": %.4f, \"save_ratio\": %.2f, \"load_ratio\": %.2f, "
           "\"save_ratio_level_3\": %.2f, \"load_ratio_level_3\": %.2f}",
           forms[form].name, b->files[form].size, median_of(b, b->save, form),
           median_of(b, b->load, form), median_of(b, b->column, form), median_of(b, b->take, form),
           ratio_of(b, b->save, against, form), ratio_of(b, b->load, against, form),
           ratio_of(b, b->save, LEVEL_3, form), ratio_of(b, b->load, LEVEL_3, form));
}

static void run_table(bench *b, const char *name, struct ArrowArrayStream *stream, int first)
{
    static char hash[65];
    ald_buffer file = {NULL, 0, 0, &b->host.alloc};
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink = ald_buffer_sink(&file);
    bench_random random = {7};
    ald_error err;
    options.compression = ALD_COMPRESSION_NONE;
    options.memory_bytes = UINT64_MAX;
    options.layout = ALD_LAYOUT_WHOLE;
    if (ald_save(stream, &sink, &options, &b->host, &err) != ALD_OK)
        bench_die(&err);
    b->source = load_bytes(b, &file);
    for (int f = 0; f < FORMS; f++) {
        b->files[f].alloc = &b->host.alloc;
        check_form(b, f, hash);
    }
    for (size_t i = 0; i < ROWS_TAKEN; i++)
        b->rows[i] = bench_next(&random) % ald_dataset_info(b->source)->num_rows;
    for (int round = 0; round < b->repeats; round++) {
        for (int f = 0; f < FORMS; f++)
            run_once(b, f, round);
    }
    printf("%s\n\"%s\": {\"arrow_bytes\": %llu", first ? "" : ",", name,
           (unsigned long long)ald_dataset_info(b->source)->uncompressed_size);
    for (int f = 0; f < FORMS; f++) {
        printf(", ");
        print_form(b, f);
        ald_buffer_clear(&b->files[f]);
    }
    printf("}");
    ald_dataset_free(b->source);
    ald_buffer_clear(&file);
}

static int64_t rows_for(bench *b, const bench_table *t, double megabytes)
{
    struct ArrowArrayStream stream;
    ald_buffer file = {NULL, 0, 0, &b->host.alloc};
    ald_save_options options = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink = ald_buffer_sink(&file);
    ald_error err;
    size_t size;
    options.compression = ALD_COMPRESSION_NONE;
    bench_make(t, 65536, &b->host, &stream);
    if (ald_save(&stream, &sink, &options, &b->host, &err) != ALD_OK)
        bench_die(&err);
    size = file.size;
    ald_buffer_clear(&file);
    return (int64_t)(65536.0 * megabytes * 1e6 / (double)size) + 1;
}

static void run_file(bench *b, const char *path, int first)
{
    struct ArrowArrayStream stream;
    ald_source source;
    ald_error err;
    if (ald_file_open(path, 0, &source, &err) != ALD_OK ||
        ald_ipc_open(&source, ALD_IPC_AUTO, &b->host, &stream, &err) != ALD_OK)
        bench_die(&err);
    run_table(b, path, &stream, first);
    ald_source_close(&source);
}

int main(int argc, char **argv)
{
    static bench b;
    double megabytes = argc > 1 ? atof(argv[1]) : 40;
    b.repeats = argc > 2 ? atoi(argv[2]) : 5;
    b.host = ald_native_host(1);
    if (b.repeats < 1 || b.repeats > REPEATS_MAX)
        return 2;
    printf("{");
    for (int i = 3; i < argc; i++)
        run_file(&b, argv[i], i == 3);
    for (size_t i = 0; argc <= 3 && i < sizeof bench_tables / sizeof *bench_tables; i++) {
        struct ArrowArrayStream stream;
        bench_make(&bench_tables[i], rows_for(&b, &bench_tables[i], megabytes), &b.host, &stream);
        run_table(&b, bench_tables[i].name, &stream, i == 0);
    }
    printf("\n}\n");
    return 0;
}
