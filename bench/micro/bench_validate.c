/* SPDX-License-Identifier: MIT */
/* What it costs to trust a buffer: validation of each kind of buffer, and CRC32, one core, in memory.
 *
 *     bench_validate [megabytes] [repeats]
 *
 * Prints one JSON object: GB/s of the buffers that are looked at, best of the repeats in CPU time. Each column is damaged in
 * its last value once, and must then be refused: what is timed does look at everything. A kind without bytes to look at
 * (numbers without nulls) is given as nanoseconds for the whole column. */
#define _GNU_SOURCE
#include <time.h>

#include "core/arrow/validate.h"
#include "core/codec/codec.h"
#include "tables.h"

#define BUFFERS_MAX 8
#define DICTIONARY_SIZE 1000

/* A column: up to two nodes of buffers in depth-first order, as the validator wants their sizes. */
typedef struct column {
    const char *type;
    int64_t rows;
    struct ArrowSchema schema;
    struct ArrowArray array, child, values;
    struct ArrowArray *children[1];
    const void *buffers[BUFFERS_MAX], *child_buffers[BUFFERS_MAX], *value_buffers[3];
    uint64_t sizes[2 * BUFFERS_MAX];
    size_t size_count;
    uint8_t *spoil; /* a byte that is wrong as ^ spoil_bits */
    uint8_t spoil_bits;
} column;

static ald_host host;
static bench_random numbers = {42};

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *add_buffer(column *c, struct ArrowArray *node, size_t size)
{
    void *p = bench_alloc(size + 64);
    node->buffers[node->n_buffers++] = p;
    c->sizes[c->size_count++] = size;
    return p;
}

static void no_validity(column *c, struct ArrowArray *node)
{
    node->buffers[node->n_buffers++] = NULL;
    c->sizes[c->size_count++] = 0;
}

static void spoil(column *c, void *byte, uint8_t bits)
{
    c->spoil = byte;
    c->spoil_bits = bits;
}

static void fill_numbers(column *c, struct ArrowArray *node, size_t width)
{
    uint8_t *p = add_buffer(c, node, (size_t)node->length * width);
    for (size_t i = 0; i < (size_t)node->length * width; i++)
        p[i] = (uint8_t)bench_next(&numbers);
}

/* Nothing to look at but the size. */
static void make_primitive(column *c)
{
    no_validity(c, &c->array);
    fill_numbers(c, &c->array, 8);
}

/* The bits are counted and compared with null_count. */
static void make_validity(column *c)
{
    size_t size = (size_t)c->rows / 8;
    uint8_t *bits = add_buffer(c, &c->array, size);
    int64_t nulls = 0;
    for (size_t i = 0; i < size; i++) {
        bits[i] = (uint8_t)bench_next(&numbers);
        nulls += 8 - __builtin_popcount(bits[i]);
    }
    c->array.null_count = nulls;
    spoil(c, bits + size - 1, 1);
    fill_numbers(c, &c->array, 1);
}

static int32_t *fill_offsets(column *c, int64_t length, uint32_t size_mask)
{
    int32_t *offsets = add_buffer(c, &c->array, ((size_t)length + 1) * 4);
    for (int64_t i = 0; i < length; i++)
        offsets[i + 1] = offsets[i] + (int32_t)(bench_next(&numbers) & size_mask);
    return offsets;
}

static void make_binary(column *c)
{
    no_validity(c, &c->array);
    int32_t *offsets = fill_offsets(c, c->rows, 3);
    (void)add_buffer(c, &c->array, (size_t)offsets[c->rows]);
    spoil(c, (uint8_t *)&offsets[c->rows - 1] + 3, 0x80);
}

/* Texts of `letters` letters of `size` bytes each. */
static void make_text(column *c, const char *letter, int32_t letters)
{
    int32_t size = (int32_t)strlen(letter), all = size * letters;
    int32_t *offsets;
    char *text;
    no_validity(c, &c->array);
    offsets = add_buffer(c, &c->array, ((size_t)c->rows + 1) * 4);
    text = add_buffer(c, &c->array, (size_t)c->rows * (size_t)all);
    for (int64_t i = 0; i < c->rows; i++) {
        offsets[i + 1] = offsets[i] + all;
        for (int32_t k = 0; k < letters; k++)
            memcpy(text + offsets[i] + k * size, letter, (size_t)size);
    }
    spoil(c, text + (size_t)c->rows * (size_t)all - 1, size == 1 ? 0x80 : 0x40);
}

static void make_ascii_short(column *c)
{
    make_text(c, "a", 8);
}

static void make_ascii_long(column *c)
{
    make_text(c, "a", 100);
}

static void make_two_bytes(column *c)
{
    make_text(c, "\xc3\xa9", 20);
}

static void make_three_bytes(column *c)
{
    make_text(c, "\xe6\x97\xa5", 20);
}

static void make_dictionary(column *c)
{
    int32_t *indices;
    no_validity(c, &c->array);
    indices = add_buffer(c, &c->array, (size_t)c->rows * 4);
    for (int64_t i = 0; i < c->rows; i++)
        indices[i] = (int32_t)(bench_next(&numbers) % DICTIONARY_SIZE);
    c->values.length = DICTIONARY_SIZE;
    c->values.n_buffers = 2;
    c->values.buffers = c->value_buffers;
    c->value_buffers[1] = bench_alloc(8 * DICTIONARY_SIZE);
    c->array.dictionary = &c->values;
    spoil(c, (uint8_t *)&indices[c->rows - 1] + 3, 0x80);
}

/* Views of `size` bytes each: in the view itself up to 12, else in a buffer. */
static void make_views(column *c, int32_t size)
{
    uint8_t *views, *data = NULL;
    int64_t *lengths;
    no_validity(c, &c->array);
    views = add_buffer(c, &c->array, (size_t)c->rows * 16);
    if (size > 12) {
        data = add_buffer(c, &c->array, (size_t)c->rows * (size_t)size);
        memset(data, 'v', (size_t)c->rows * (size_t)size);
    }
    lengths = add_buffer(c, &c->array, data != NULL ? 8 : 0);
    lengths[0] = data != NULL ? c->rows * size : 0;
    for (int64_t i = 0; i < c->rows; i++) {
        int32_t offset = (int32_t)(i * size);
        memcpy(views + 16 * i, &size, 4);
        memset(views + 16 * i + 4, 'v', size > 12 ? 4 : (size_t)size);
        if (size > 12)
            memcpy(views + 16 * i + 12, &offset, 4);
    }
    spoil(c, views + 16 * (c->rows - 1) + 5, 0x80);
}

static void make_inline_views(column *c)
{
    make_views(c, 10);
}

static void make_long_views(column *c)
{
    make_views(c, 24);
}

static void begin_child(column *c, int64_t length)
{
    c->child.length = length;
    c->child.buffers = c->child_buffers;
    c->array.n_children = 1;
    c->array.children = c->children;
    c->children[0] = &c->child;
}

static void make_list(column *c)
{
    int32_t *offsets;
    no_validity(c, &c->array);
    offsets = fill_offsets(c, c->rows, 7);
    begin_child(c, offsets[c->rows]);
    no_validity(c, &c->child);
    fill_numbers(c, &c->child, 4);
    spoil(c, (uint8_t *)&offsets[c->rows - 1] + 3, 0x80);
}

static void make_list_view(column *c)
{
    int32_t *offsets, *sizes;
    no_validity(c, &c->array);
    offsets = add_buffer(c, &c->array, (size_t)c->rows * 4);
    sizes = add_buffer(c, &c->array, (size_t)c->rows * 4);
    for (int64_t i = 0; i < c->rows; i++) {
        offsets[i] = (int32_t)(bench_next(&numbers) % 1000);
        sizes[i] = (int32_t)(bench_next(&numbers) % 8);
    }
    begin_child(c, 1008);
    no_validity(c, &c->child);
    fill_numbers(c, &c->child, 4);
    spoil(c, (uint8_t *)&sizes[c->rows - 1] + 2, 0x40);
}

static void make_union(column *c)
{
    int8_t *ids = add_buffer(c, &c->array, (size_t)c->rows);
    int32_t *offsets = add_buffer(c, &c->array, (size_t)c->rows * 4);
    for (int64_t i = 0; i < c->rows; i++) {
        ids[i] = 5;
        offsets[i] = (int32_t)i;
    }
    begin_child(c, c->rows);
    no_validity(c, &c->child);
    fill_numbers(c, &c->child, 1);
    spoil(c, ids + c->rows - 1, 1);
}

typedef struct kind {
    const char *name, *type;
    int row_bytes; /* about */
    void (*make)(column *c);
    size_t looked_at; /* buffers from the front that are; 0: none, for want of anything to check */
} kind;

static const kind kinds[] = {
    {"primitive", "int64", 8, make_primitive, 0},
    {"validity", "int8", 1, make_validity, 1},
    {"offsets", "binary", 6, make_binary, 3},
    {"ascii_8", "string", 12, make_ascii_short, 3},
    {"ascii_100", "string", 104, make_ascii_long, 3},
    {"utf8_two_bytes", "string", 44, make_two_bytes, 3},
    {"utf8_three_bytes", "string", 64, make_three_bytes, 3},
    {"dictionary", "dictionary<values=int64, indices=int32, ordered=0>", 4, make_dictionary, 2},
    {"views_inline", "string_view", 16, make_inline_views, 2},
    {"views_long", "string_view", 40, make_long_views, 3},
    {"list", "list<item: int32>", 18, make_list, 2},
    {"list_view", "list_view<item: int32>", 8, make_list_view, 3},
    {"dense_union", "dense_union<a: int8=5>", 6, make_union, 2},
};

/* The column owns its buffers. */
static void release_nothing(struct ArrowArray *array)
{
    array->release = NULL;
}

static void make_column(const kind *k, double megabytes, column *c)
{
    ald_error err;
    memset(c, 0, sizeof *c);
    c->rows = (int64_t)(megabytes * 1e6 / k->row_bytes) / 8 * 8;
    c->array.length = c->rows;
    c->array.buffers = c->buffers;
    c->array.release = c->child.release = c->values.release = release_nothing;
    if (ald_type_parse(&host, k->type, strlen(k->type), k->name, 1, &c->schema, &err) != ALD_OK)
        bench_die(&err);
    k->make(c);
}

static void free_column(column *c)
{
    for (int i = 0; i < BUFFERS_MAX; i++) {
        free((void *)(uintptr_t)c->buffers[i]);
        free((void *)(uintptr_t)c->child_buffers[i]);
    }
    free((void *)(uintptr_t)c->value_buffers[1]);
    c->schema.release(&c->schema);
}

static ald_status validate(const column *c, ald_error *err)
{
    return ald__array_validate(&host.alloc, &c->schema, &c->array, c->sizes, err);
}

static void check_notices(const kind *k, column *c)
{
    ald_error err;
    if (k->looked_at == 0)
        return;
    *c->spoil ^= c->spoil_bits;
    if (validate(c, &err) != ALD_E_INVALID_FORMAT) {
        fprintf(stderr, "%s: a spoilt buffer passes\n", k->name);
        exit(1);
    }
    *c->spoil ^= c->spoil_bits;
}

static double best_time(const column *c, int repeats)
{
    double best = 1e9;
    for (int i = 0; i < repeats; i++) {
        ald_error err;
        double t = now();
        if (validate(c, &err) != ALD_OK)
            bench_die(&err);
        t = now() - t;
        best = t < best ? t : best;
    }
    return best;
}

static void bench_kinds(double megabytes, int repeats)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const kind *k = &kinds[i];
        column c;
        double t, bytes = 0;
        make_column(k, megabytes, &c);
        check_notices(k, &c);
        t = best_time(&c, repeats);
        for (size_t n = 0; n < k->looked_at; n++)
            bytes += (double)c.sizes[n];
        if (k->looked_at == 0)
            printf("\"%s_ns\": %.0f, ", k->name, t * 1e9);
        else
            printf("\"%s\": %.2f, ", k->name, bytes / 1e9 / t);
        free_column(&c);
    }
}

static double bench_crc(uint32_t (*crc)(uint32_t crc, const void *data, size_t size),
                        const uint8_t *data, size_t size, int repeats)
{
    double best = 1e9;
    uint32_t want = crc(crc(0, data, size / 3), data + size / 3, size - size / 3);
    for (int i = 0; i < repeats; i++) {
        double t = now();
        uint32_t got = crc(0, data, size);
        t = now() - t;
        best = t < best ? t : best;
        if (got != want) {
            fprintf(stderr, "CRC32 of the whole is not that of its parts\n");
            exit(1);
        }
    }
    return (double)size / 1e9 / best;
}

int main(int argc, char **argv)
{
    double megabytes = argc > 1 ? atof(argv[1]) : 64;
    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    size_t size = (size_t)(megabytes * 1e6) / 8 * 8;
    uint8_t *data = bench_alloc(size + 8);
    host = ald_native_host(1);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t v = bench_next(&numbers);
        memcpy(data + i, &v, 8);
    }
    if (ald__crc32(0, "123456789", 9) != 0xcbf43926u)
        return 1;
    printf("{\"megabytes\": %.0f, \"unit\": \"GB/s\", ", megabytes);
    bench_kinds(megabytes, repeats);
    printf("\"crc32\": %.2f, ", bench_crc(ald__crc32, data, size, repeats));
    printf("\"crc32_crate\": %.2f}\n", bench_crc(ald__crc32_crate, data, size, repeats));
    free(data);
    return 0;
}
