/* SPDX-License-Identifier: MIT */
/* The stages of reading CSV, one core, in memory.
 *
 *     bench_csv [megabytes] [repeats]
 *
 * Prints one JSON object: GB/s, best of the repeats in CPU time. `masks` finds quotes, delimiters and line ends (each variant
 * that this processor has), `split` makes rows of them, `infer` is pass one (split, UTF-8, classes), `read` both passes,
 * `once` the one pass of who can begin again (rows counted, then values and classes in one go). `numbers` is the text of
 * numbers into columns of doubles alone, whatever stands around them.
 * The numbers of `ints`, `shorts` (8 digits with a point) and `longs` (17 digits) are checked by their sums. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ald/ald.h"
#include "interchange/csv/csv_numbers.h"
#include "interchange/csv/reader.h"

static double csv_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t csv_seed = 42;

static uint32_t csv_random(uint32_t n)
{
    csv_seed = csv_seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(csv_seed >> 33) % n;
}

typedef struct table {
    char *text;
    size_t size;
    double sum; /* of all values, where they are numbers */
} table;

static size_t put_cell(char *out, int kind, double *sum)
{
    char text[64];
    int n;
    if (kind == 1) {
        n = sprintf(text, "%u", csv_random(1u << (4 + csv_random(27))));
    } else if (kind == 2) {
        n = sprintf(text, "%u.%04u", csv_random(9999), csv_random(10000));
    } else if (kind == 3) {
        n = sprintf(text, "%.17g", (csv_random(1u << 30) + 0.5) / (1u << 30));
    } else {
        static const char *const words[] = {"Oslo", "\"Berg, Ada\"", "Rome", "\"say \"\"hi\"\"\"",
                                            "",     "\xC3\x89mile"};
        n = sprintf(text, "%s", words[csv_random(6)]);
    }
    if (kind != 0)
        *sum += strtod(text, NULL);
    memcpy(out, text, (size_t)n);
    return (size_t)n;
}

/* Kind 4 is a mixture. */
static table make_table(int kind, size_t megabytes)
{
    table t = {malloc(megabytes * 1000000 + 4096), 0, 0};
    t.size = (size_t)sprintf(t.text, "c0,c1,c2,c3,c4,c5,c6,c7\n");
    while (t.size < megabytes * 1000000) {
        for (int c = 0; c < 8; c++) {
            t.size += put_cell(t.text + t.size, kind == 4 ? c % 4 : kind, &t.sum);
            t.text[t.size++] = c == 7 ? '\n' : ',';
        }
    }
    return t;
}

static void *bench_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *bench_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return realloc(ptr, new_size);
}

static void bench_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static const ald_allocator bench_heap = {bench_alloc, bench_resize, bench_release, NULL};

static double time_masks(const table *t, ald__csv_masks_fn masks)
{
    ald__csv_word words[32];
    const ald__csv_chars chars = {'"', ','};
    uint64_t all = 0;
    double start = csv_now();
    for (size_t at = 0; at + sizeof words <= t->size; at += 32 * 64) {
        (void)masks((const uint8_t *)t->text + at, 32, chars, words);
        all ^= words[at % 32].delimiter;
    }
    start = csv_now() - start;
    return all == 1 ? 0 : start;
}

static double time_split(const table *t)
{
    ald__csv_dialect d = {',',     '"',      0, 0,   UINT64_MAX, ald__csv_masks_best(),
                          1 << 20, 96 << 10, 0, NULL};
    ald__csv_rows rows;
    size_t at = 0;
    double start;
    if (ald__csv_rows_init(&rows, &d, 8, &bench_heap, NULL) != ALD_OK)
        exit(1);
    start = csv_now();
    while (at < t->size) {
        size_t n = t->size - at < d.slab_bytes ? t->size - at : d.slab_bytes;
        ald__csv_rows_cut(&rows, (const uint8_t *)t->text + at, n, at + n == t->size, SIZE_MAX,
                          SIZE_MAX);
        if (rows.fault.kind != ALD__CSV_FINE)
            exit(1);
        at += rows.consumed;
    }
    start = csv_now() - start;
    ald__csv_rows_clear(&rows);
    return start;
}

/* All fields of the rows as numbers, column by column; what is none is passed over. */
static void sum_numbers(const ald__csv_walk *walk, ald__column *column, size_t first, double *sum)
{
    const ald__csv_numbers *loops = walk->rows.dialect->numbers;
    ald__csv_tally tally = ALD__CSV_TALLY_INIT;
    for (size_t c = 0; c < walk->rows.columns; c++) {
        const ald__csv_stretch s = {NULL, walk, column, c, 1};
        column->length = 0;
        if (ald__column_reserve(column, walk->rows.rows, NULL) != ALD_OK)
            exit(1);
        for (size_t row = first; row < walk->rows.rows; row++)
            row = loops->float64(&s, &tally, row);
        for (int64_t i = 0; i < column->length; i++)
            *sum += ((const double *)(const void *)column->values)[i];
    }
}

/* Splitting, then all fields as numbers. */
static double time_numbers(const table *t, double *sum)
{
    ald__csv_dialect d = {',',        '"',
                          0,          0,
                          UINT64_MAX, ald__csv_masks_best(),
                          1 << 20,    96 << 10,
                          0,          ald__csv_numbers_best()};
    ald__csv_walk walk = {.alloc = bench_heap};
    ald__column column;
    size_t at = 0;
    double used = 0;
    if (ald__csv_rows_init(&walk.rows, &d, 8, &bench_heap, NULL) != ALD_OK ||
        ald__column_init(&column, "g", &bench_heap, NULL) != ALD_OK)
        exit(1);
    *sum = 0;
    while (at < t->size) {
        size_t n = t->size - at < d.slab_bytes ? t->size - at : d.slab_bytes;
        double start;
        walk.slab = (const uint8_t *)t->text + at;
        ald__csv_rows_cut(&walk.rows, walk.slab, n, at + n == t->size, SIZE_MAX, SIZE_MAX);
        start = csv_now();
        sum_numbers(&walk, &column, at == 0, sum);
        used += csv_now() - start;
        at += walk.rows.consumed;
    }
    ald__column_clear(&column);
    ald__csv_rows_clear(&walk.rows);
    return used;
}

static double batch_sum(const struct ArrowSchema *schema, const struct ArrowArray *batch)
{
    double sum = 0;
    for (int64_t c = 0; c < batch->n_children; c++) {
        const char format = schema->children[c]->format[0];
        for (int64_t i = 0; i < batch->length; i++) {
            if (format == 'l')
                sum += (double)((const int64_t *)batch->children[c]->buffers[1])[i];
            else if (format == 'g')
                sum += ((const double *)batch->children[c]->buffers[1])[i];
        }
    }
    return sum;
}

/* Both passes, or one; *infer gets what is done before the first batch. */
static double time_read(const table *t, int once, double *infer, double *sum)
{
    ald_csv_options options = ALD_CSV_OPTIONS_INIT;
    struct ArrowArrayStream again = {.release = NULL};
    ald_host host = {.struct_size = sizeof host, .alloc = bench_heap};
    ald_source source = ald_source_memory(t->text, t->size);
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    ald_error err;
    double start = csv_now(), used = 0;
    options.text.restart = once ? &again : NULL;
    if (ald_csv_open(&source, &options, &host, &stream, &err) != ALD_OK ||
        ald_stream_schema(&stream, &schema, &err) != ALD_OK) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    *infer = csv_now() - start;
    *sum = 0;
    for (;;) {
        start = csv_now();
        if (ald_stream_next(&stream, &batch, &err) != ALD_OK)
            exit(1);
        used += csv_now() - start;
        if (batch.release == NULL)
            break;
        *sum += batch_sum(&schema, &batch);
        batch.release(&batch);
    }
    schema.release(&schema);
    stream.release(&stream);
    return used + *infer;
}

static void keep_least(double *best, double v)
{
    if (*best == 0 || v < *best)
        *best = v;
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"words", "ints", "shorts", "longs", "mixed"};
    size_t megabytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 64;
    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    printf("{\n");
    for (int kind = 0; kind < 5; kind++) {
        table t = make_table(kind, megabytes);
        double masks[4] = {0, 0, 0, 0}, split = 0, infer = 0, all = 0, once = 0, numbers = 0;
        double gb = (double)t.size * 1e-9;
        printf("  \"%s\": {", names[kind]);
        for (int i = 0; i < repeats; i++) {
            double first, sum, both, parsed, one_sum;
            for (size_t v = 0; ald__csv_masks_variant(v) != NULL && v < 4; v++)
                keep_least(&masks[v], time_masks(&t, ald__csv_masks_variant(v)));
            keep_least(&split, time_split(&t));
            keep_least(&numbers, time_numbers(&t, &parsed));
            keep_least(&once, time_read(&t, 1, &first, &one_sum));
            both = time_read(&t, 0, &first, &sum);
            keep_least(&all, both);
            keep_least(&infer, first);
            if (kind != 0 && (sum < t.sum * (1 - 1e-9) || sum > t.sum * (1 + 1e-9) ||
                              one_sum != sum || (kind < 4 && parsed < t.sum * 0.9))) {
                fprintf(stderr, "%s: the sums are %.17g, %.17g, %.17g instead of %.17g\n",
                        names[kind], sum, one_sum, parsed, t.sum);
                return 1;
            }
        }
        printf("\"masks\": [");
        for (size_t v = 0; ald__csv_masks_variant(v) != NULL && v < 4; v++)
            printf("%s%.2f", v ? ", " : "", gb / masks[v]);
        printf("], \"split\": %.2f, \"numbers\": %.2f, \"infer\": %.2f, \"read\": %.2f, \"once\": "
               "%.2f}%s\n",
               gb / split, kind == 0 ? 0 : gb / numbers, gb / infer, gb / all, gb / once,
               kind < 4 ? "," : "");
        free(t.text);
    }
    printf("}\n");
    return 0;
}
