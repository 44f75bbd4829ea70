/* SPDX-License-Identifier: MIT */
/* Every filter, forced on random columns with and without nulls: the same bits come back. */
#include "packed_fixture.h"

enum { SHAPES = 12 };

/* Numbers of many shapes; `i` counts values. */
static uint64_t shaped(fixture *f, uint32_t shape, uint64_t i, uint32_t width)
{
    static const uint64_t extremes[] = {0,          1,          UINT64_MAX,
                                        1ull << 63, INT64_MAX,  0x7FFF,
                                        0x8000,     0x80,       0x7F,
                                        0x80000000, 0x7FFFFFFF, 0xFF00FF00FF,
                                        UINT32_MAX, 3,          0xFFFFFFFFFFFFFFFEull};
    switch (shape) {
    case 0:
        return 0;
    case 1:
        return i;
    case 2:
        return i * 1000000 + fixture_below(f, 50) * 1000000;
    case 3:
        return fixture_next(f);
    case 4:
        return extremes[fixture_below(f, sizeof extremes / sizeof *extremes)];
    case 5:
        return fixture_below(f, 5) * 977 - 2000;
    case 6:
        return (uint64_t)0 - i * 3;
    case 7: /* steps up and down, far apart */
        return (fixture_next(f) & 1) ? UINT64_MAX / 2 : (uint64_t)1 << 63;
    case 8:
        return (i / 100) * 7 + (width == 1 ? 200 : 70000);
    case 9:
        return fixture_below(f, 1u << (i % 17));
    case 10:
        return (i * 0x8000000000000000ull) + 12;
    default:
        return i % 3 == 0 ? fixture_next(f) >> 40 : 42;
    }
}

static uint64_t shaped_double(fixture *f, uint32_t shape, uint64_t i)
{
    static const uint64_t odd[] = {0x8000000000000000ull,
                                   0x7FF0000000000000ull,
                                   0xFFF0000000000000ull,
                                   0x7FF8000000000001ull,
                                   0x7FF0DEADBEEF0001ull,
                                   0xFFFFFFFFFFFFFFFFull,
                                   1,
                                   0x000FFFFFFFFFFFFFull,
                                   0x4320000000000000ull};
    double d;
    uint64_t bits;
    if (shape >= 8 || (shape >= 4 && fixture_below(f, 9) == 0))
        return odd[fixture_below(f, sizeof odd / sizeof *odd)];
    d = shape % 4 == 0   ? (double)(int64_t)fixture_below(f, 100000) / 100.0
        : shape % 4 == 1 ? (double)i * 0.5
        : shape % 4 == 2 ? (double)fixture_next(f) * 1e-7
                         : -(double)fixture_below(f, 1000) / 1000.0;
    memcpy(&bits, &d, 8);
    return bits;
}

static uint64_t shaped_float(fixture *f, uint32_t shape, uint64_t i)
{
    static const uint32_t odd[] = {0x80000000u, 0x7F800000u, 0xFF800000u, 0x7FC00001u,
                                   0x7F812345u, 0xFFFFFFFFu, 1u,          0x007FFFFFu};
    float v;
    uint32_t bits;
    if (shape >= 8 || (shape >= 4 && fixture_below(f, 9) == 0))
        return odd[fixture_below(f, sizeof odd / sizeof *odd)];
    v = shape % 2 == 0 ? (float)((double)(int64_t)fixture_below(f, 10000) / 100.0) : (float)i;
    memcpy(&bits, &v, 4);
    return bits;
}

static void add_fixed(fixture *f, uint8_t type, uint32_t width, size_t n, uint64_t nulls,
                      uint32_t shape, uint32_t list_size)
{
    uint8_t *bits = fixture_node(f, type, width, n, nulls, 1);
    uint8_t *values = fixture_place(f, n * width);
    f->nodes[f->layout.node_count - 1].list_size = list_size;
    for (size_t i = 0; i < n; i++, values += width) {
        uint64_t v[32] = {0};
        if (!fixture_valid(bits, i))
            continue;
        v[0] = type != ALD__PACKED_FLOAT ? shaped(f, shape, i, width)
               : width == 8              ? shaped_double(f, shape, i)
                                         : shaped_float(f, shape, i);
        v[1] = shape % 2 == 0 ? 0 - (v[0] >> 63) : fixture_next(f); /* 16 bytes: signed, or not */
        v[2] = width > 16 ? fixture_next(f) : 0;
        memcpy(values, v, width);
    }
    free(bits);
}

static size_t shaped_text(fixture *f, uint32_t shape, uint64_t i, char *out)
{
    switch (shape) {
    case 0:
        return 0;
    case 1:
        return (size_t)sprintf(out, "row %llu of many", (unsigned long long)i);
    case 2:
        return (size_t)sprintf(out, "2024-%02d-%02d %05llu", (int)(i / 31 % 12 + 1),
                               (int)(i % 31 + 1), (unsigned long long)fixture_below(f, 99999));
    case 3:
        return (size_t)sprintf(out, "%s", i % 3 == 0 ? "red" : i % 3 == 1 ? "green" : "blue");
    case 4:
        return (size_t)sprintf(out, "/usr/share/doc/%llu/%llu", (unsigned long long)i / 9,
                               (unsigned long long)i);
    case 5:
        return (size_t)sprintf(out, "%08llx", (unsigned long long)(fixture_next(f) & 0xFFFFFFFF));
    case 6: /* 1 to 22 digits, some with zeros in front */
        return (size_t)sprintf(out, "%0*llu-%llu", (int)fixture_below(f, 22) + 1,
                               (unsigned long long)(fixture_next(f) >> fixture_below(f, 64)),
                               (unsigned long long)fixture_below(f, 3));
    case 7: {
        size_t n = (size_t)fixture_below(f, 40);
        for (size_t k = 0; k < n; k++)
            out[k] = (char)fixture_next(f);
        return n;
    }
    case 8: /* more runs than slots */
        return (size_t)sprintf(out, "1a2b3c4d5e6f7g8h9i10j11k12l13m14n%llu", (unsigned long long)i);
    default:
        return (size_t)sprintf(out, "%llu", (unsigned long long)fixture_below(f, 12));
    }
}

static void add_text(fixture *f, uint32_t width, size_t n, uint64_t nulls, uint32_t shape)
{
    uint8_t *bits = fixture_node(f, ALD__PACKED_TEXT, width, n, nulls, 1), *place;
    uint8_t *data = malloc(n * 64 + 1), *offsets = calloc(n + 1, 8);
    uint64_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (fixture_valid(bits, i))
            used += shaped_text(f, shape, i, (char *)data + used);
        memcpy(offsets + (i + 1) * width, &used, width);
    }
    place = fixture_place(f, (n + 1) * width);
    memcpy(place, offsets, (n + 1) * width);
    place = fixture_place(f, used);
    memcpy(place, data, used);
    free(bits);
    free(data);
    free(offsets);
}

static void add_list(fixture *f, uint32_t width, size_t n, uint64_t nulls, uint32_t shape)
{
    uint8_t *bits = fixture_node(f, ALD__PACKED_LIST, width, n, nulls, 1), *place;
    ald__packed_node *list = &f->nodes[f->layout.node_count - 1];
    uint64_t used = 0;
    place = fixture_place(f, (n + 1) * width);
    for (size_t i = 0; i < n; i++) {
        if (fixture_valid(bits, i))
            used += shape % 3 == 0 ? 3 : shape % 3 == 1 ? i % 7 : fixture_below(f, 5);
        memcpy(place + (i + 1) * width, &used, width);
    }
    list->child_length = used;
    free(bits);
    bits = fixture_node(f, ALD__PACKED_FIXED, 2, used, nulls, 0);
    place = fixture_place(f, used * 2);
    for (size_t i = 0; i < used; i++) {
        if (fixture_valid(bits, i))
            place[i * 2] = (uint8_t)fixture_next(f);
    }
    free(bits);
}

static void add_other(fixture *f, size_t n)
{
    uint8_t *place;
    free(fixture_node(f, ALD__PACKED_OTHER, 0, n, 3, 1));
    place = fixture_place(f, (n + 7) / 8);
    for (size_t i = 0; i < (n + 7) / 8; i++)
        place[i] = (uint8_t)(fixture_next(f) >> 8 & 0x55);
}

/* One batch with a column of every kind. */
static void make_batch(fixture *f, uint64_t seed, size_t n, uint64_t nulls, uint32_t shape)
{
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 3, 20};
    fixture_init(f, seed);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        add_fixed(f, ALD__PACKED_FIXED, widths[i], n, nulls, shape, i < 2 ? 3 + shape % 3 : 0);
    add_fixed(f, ALD__PACKED_FLOAT, 4, n, nulls, shape, 0);
    add_fixed(f, ALD__PACKED_FLOAT, 8, n, nulls, shape, 0);
    add_text(f, 4, n, nulls, shape);
    add_text(f, 8, n, nulls, shape);
    add_list(f, 4, n, nulls, shape);
    add_list(f, 8, n, nulls, shape);
    add_other(f, n);
    fixture_seal(f);
}

typedef struct how {
    uint8_t compression, effort;
    int filter, mode;
} how;

/* The stored bytes' CRC, or 0 when they are not what they must be. */
static size_t round_trip(const fixture *f, how h, const char *what)
{
    static const uint8_t head[] = "the messages before the body";
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_buffer stored = {NULL, 0, 0, &alloc};
    ald__packer *packer = NULL;
    uint8_t *body = malloc(f->body_size + 1);
    ald_error err = {0};
    ald_status st = ald__packer_new(h.compression, h.effort, &alloc, &packer, &err);
    size_t size;
    ald__packer_force(packer, h.filter, h.mode);
    if (st == ALD_OK)
        st = ald__packer_chunk(packer, &f->layout, head, sizeof head, f->body, &stored, &err);
    CHECK_INT(st, ALD_OK);
    memset(body, 0xA5, f->body_size + 1);
    if (st == ALD_OK)
        st = fixture_rebuild(&f->layout, h.compression, stored.data, stored.size, head, sizeof head,
                             body, &alloc, &err);
    CHECK_INT(st, ALD_OK);
    if (!CHECK(st == ALD_OK && memcmp(body, f->body, f->body_size) == 0))
        printf("%s: filter %d, mode %d, compression %u: %s\n", what, h.filter, h.mode,
               h.compression, err.msg);
    for (size_t i = 0; st == ALD_OK && i < f->layout.place_count; i++) {
        const ald__packed_place *p = &f->places[i];
        if (memcmp(body + p->begin, f->body + p->begin, p->size) != 0)
            printf("buffer %zu of %zu bytes differs\n", i, p->size);
    }
    size = stored.size;
    ald_buffer_clear(&stored);
    ald__packer_free(packer);
    free(body);
    CHECK_HEAP_EMPTY(&heap);
    return size;
}

static void try_all(const fixture *f, const char *what)
{
    for (int filter = 0; filter <= 10; filter++) {
        for (int mode = 0; mode < 4; mode++) {
            if (mode > 0 && (filter == 0 || filter == 4 || filter == 7))
                continue;
            (void)round_trip(f, (how){4, 0, filter, mode}, what);
        }
        (void)round_trip(f, (how){5, 0, filter, 1}, what);
    }
    for (uint8_t effort = 0; effort < 3; effort++)
        (void)round_trip(f, (how){4, effort, -1, -1}, what);
    (void)round_trip(f, (how){5, 0, -1, -1}, what);
}

static void test_shapes(void)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++) {
        char what[40];
        fixture f;
        snprintf(what, sizeof what, "shape %u", shape);
        make_batch(&f, shape + 1, 700, 0, shape);
        try_all(&f, what);
        fixture_clear(&f);
        snprintf(what, sizeof what, "shape %u with nulls", shape);
        make_batch(&f, shape + 100, 1100, 4, shape);
        try_all(&f, what);
        fixture_clear(&f);
    }
}

static void test_lengths(void)
{
    static const size_t lengths[] = {0, 1, 2, 7, 8, 9, 63, 64, 65, 511, 512, 513};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char what[40];
        fixture f;
        snprintf(what, sizeof what, "%zu slots", lengths[i]);
        make_batch(&f, i, lengths[i], i % 2 == 0 ? 3 : 0, (uint32_t)i % SHAPES);
        try_all(&f, what);
        fixture_clear(&f);
        make_batch(&f, i, lengths[i], 1, 3); /* no slot has a value */
        try_all(&f, "all null");
        fixture_clear(&f);
    }
}

static void test_long(void)
{
    for (uint32_t shape = 0; shape < SHAPES; shape++) {
        fixture f;
        make_batch(&f, shape + 50, 40000, shape % 3, shape);
        (void)round_trip(&f, (how){4, 0, -1, -1}, "long");
        fixture_clear(&f);
    }
}

int main(void)
{
    RUN(test_shapes);
    RUN(test_lengths);
    RUN(test_long);
    return check_done();
}
