/* SPDX-License-Identifier: MIT */
/* Arrays by hand, right and wrong in one way each. */
#include <time.h>

#include "check_alloc.h"
#include "core/arrow/validate.h"

#define MAX_NODES 160
#define NOT_NULL 0
#define NULLABLE ARROW_FLAG_NULLABLE

/* One node of schema and array, with room for what they point to. */
typedef struct node {
    struct ArrowSchema schema, *schema_children[4];
    struct ArrowArray array, *array_children[4];
    const void *buffers[6];
} node;

static node nodes[MAX_NODES];
static size_t node_count;
static check_heap heap;
static ald_allocator alloc;
static ald_error err;

static void schema_release(struct ArrowSchema *s)
{
    s->release = NULL;
}

static void array_release(struct ArrowArray *a)
{
    a->release = NULL;
}

static node *make(const char *format, const char *name, int64_t flags, int64_t length,
                  int64_t buffer_count, const void *b0, const void *b1, const void *b2)
{
    node *n = &nodes[node_count++];
    memset(n, 0, sizeof *n);
    n->schema.format = format;
    n->schema.name = name;
    n->schema.flags = flags;
    n->schema.children = n->schema_children;
    n->schema.release = schema_release;
    n->array.length = length;
    n->array.null_count = -1;
    n->array.n_buffers = buffer_count;
    n->array.buffers = n->buffers;
    n->array.children = n->array_children;
    n->array.release = array_release;
    n->buffers[0] = b0;
    n->buffers[1] = b1;
    n->buffers[2] = b2;
    return n;
}

static node *with_child(node *parent, node *child)
{
    parent->schema_children[parent->schema.n_children++] = &child->schema;
    parent->array_children[parent->array.n_children++] = &child->array;
    return parent;
}

static node *with_dictionary(node *n, node *values)
{
    n->schema.dictionary = &values->schema;
    n->array.dictionary = &values->array;
    return n;
}

static ald_status run_sizes(const node *n, const uint64_t *sizes)
{
    ald_status st;
    alloc = check_heap_init(&heap, -1);
    st = ald__array_validate(&alloc, &n->schema, &n->array, sizes, &err);
    CHECK_HEAP_EMPTY(&heap);
    return st;
}

static ald_status run(const node *n)
{
    ald_status st = run_sizes(n, NULL);
    node_count = 0;
    return st;
}

#define CHECK_GOOD(n) CHECK_OK(run(n), &err)
#define CHECK_BAD(n, part)                                                                         \
    do {                                                                                           \
        CHECK_INT(run(n), ALD_E_INVALID_FORMAT);                                                   \
        CHECK_CONTAINS(err.msg, part);                                                             \
    } while (0)

static const int32_t ints[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t bits_all[] = {0xFF};
static const uint8_t bits_1_3[] = {0xF5}; /* slots 1 and 3 are null */
static const uint8_t bits_1[] = {0xFD};
static const uint8_t bits_0_only[] = {0x01};

/* ---- Form */

static void test_null_counts(void)
{
    node *n = make("i", "c", NULLABLE, 4, 2, bits_1_3, ints, NULL);
    n->array.null_count = 2;
    CHECK_GOOD(n);
    n->array.null_count = 1;
    CHECK_BAD(n, "null count 1, but 2 nulls");
    n->array.null_count = 0;
    CHECK_BAD(n, "null count 0, but 2 nulls");
    n->array.offset = 2;
    n->array.length = 3;
    n->array.null_count = 1;
    CHECK_GOOD(n);
    n->buffers[0] = NULL;
    CHECK_BAD(n, "without a validity buffer");
}

static void test_form(void)
{
    node *n = make("i", "c", NULLABLE, 4, 2, NULL, ints, NULL);
    n->array.length = -1;
    CHECK_BAD(n, "length -1");
    n->array.length = INT64_MAX;
    n->array.offset = 1;
    CHECK_BAD(n, "offset 1");
    n->array.length = 4;
    n->array.offset = -1;
    CHECK_BAD(n, "offset -1");
    n->array.offset = 0;
    n->array.n_buffers = 3;
    CHECK_BAD(n, "3 buffers, expected 2");
    n->array.n_buffers = 2;
    n->buffers[1] = NULL;
    CHECK_BAD(n, "buffer 1 is missing");
    n->array.length = 0;
    CHECK_GOOD(n);
}

static void test_children_form(void)
{
    node *s = with_child(make("+s", "s", NULLABLE, 4, 1, NULL, NULL, NULL),
                         make("i", "a", NULLABLE, 4, 2, NULL, ints, NULL));
    CHECK_GOOD(s);
    s->array_children[0]->length = 3;
    CHECK_BAD(s, "child 0 has 3 values, expected 4");
    s->array.offset = 2;
    s->array.length = 1;
    CHECK_GOOD(s);
    s->array_children[0]->release = NULL;
    CHECK_BAD(s, "released");
    s->array.n_children = 0;
    CHECK_BAD(s, "children");
}

static void test_extents(void)
{
    uint64_t sizes[3] = {1, 16, 0};
    node *n = make("i", "c", NULLABLE, 4, 2, bits_1_3, ints, NULL);
    CHECK_OK(run_sizes(n, sizes), &err);
    sizes[1] = 15;
    CHECK_INT(run_sizes(n, sizes), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "4 rows need 16 bytes in buffer 1, found 15");
    sizes[1] = 16;
    sizes[0] = 0;
    CHECK_INT(run_sizes(n, sizes), ALD_E_INVALID_FORMAT);
    n->array.length = INT64_MAX / 2;
    n->buffers[0] = NULL;
    CHECK_INT(run_sizes(n, sizes), ALD_E_INVALID_FORMAT);
    node_count = 0;
}

static void test_depth(void)
{
    node *top = make("i", "x", NULLABLE, 1, 2, NULL, ints, NULL);
    for (int i = 0; i < 64; i++)
        top = with_child(make("+s", "x", NULLABLE, 1, 1, NULL, NULL, NULL), top);
    CHECK_OK(run_sizes(top, NULL), &err);
    for (int i = 0; i < 80; i++)
        top = with_child(make("+s", "x", NULLABLE, 1, 1, NULL, NULL, NULL), top);
    CHECK_INT(run(top), ALD_E_LIMIT_EXCEEDED);
}

/* ---- Values */

static void test_offsets(void)
{
    /* At an odd address, and long enough for the pass by blocks. */
    uint8_t room[4 * 300 + 1];
    uint8_t data[300];
    int32_t offsets[300];
    memset(data, 'x', sizeof data);
    for (int32_t i = 0; i < 300; i++)
        offsets[i] = i;
    for (int k = 0; k < 300; k++) {
        node *n;
        memcpy(room + 1, offsets, sizeof offsets);
        n = make("u", "c", NULLABLE, 299, 3, NULL, room + 1, data);
        CHECK_OK(run_sizes(n, NULL), &err);
        memset(room + 1 + 4 * k, 0xFF, 4); /* -1 */
        CHECK_BAD(n, "offsets");
        if (k == 0 || k == 299)
            continue;
        n = make("z", "c", NULLABLE, 299, 3, NULL, room + 1, data);
        room[1 + 4 * k] = 0, room[2 + 4 * k] = 0x10, room[3 + 4 * k] = 0, room[4 + 4 * k] = 0;
        CHECK_BAD(n, "rising");
    }
}

static void test_offset_limit(void)
{
    static const int64_t offsets[] = {0, 2, 5};
    uint64_t sizes[3] = {0, sizeof offsets, 5};
    node *n = make("U", "c", NULLABLE, 2, 3, NULL, offsets, "hello");
    CHECK_OK(run_sizes(n, sizes), &err);
    sizes[2] = 4;
    CHECK_INT(run_sizes(n, sizes), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "row 1: offsets 2 and 5, expected 0 to 4");
    node_count = 0;
}

static void test_text(void)
{
    static const int32_t offsets[] = {0, 3, 5, 6};
    static const char good[] = "a\xC3\xA9\xC3\xA9z"; /* a é | é | z */
    static const char cut[] = "ab\xC3\xA9zz";        /* the é lies across a boundary */
    static const char wild[] = "abc\xFF\xFFz";
    CHECK_GOOD(make("u", "c", NULLABLE, 3, 3, NULL, offsets, good));
    CHECK_BAD(make("u", "c", NULLABLE, 3, 3, NULL, offsets, cut), "row 0: not UTF-8");
    CHECK_GOOD(make("z", "c", NULLABLE, 3, 3, NULL, offsets, wild));
    CHECK_BAD(make("u", "c", NULLABLE, 3, 3, NULL, offsets, wild),
              "row 1: not UTF-8 at byte 0 of 2");
    CHECK_GOOD(make("u", "c", NULLABLE, 3, 3, bits_1, offsets, wild)); /* under a null */
}

static void test_indices(void)
{
    static const int8_t bytes[] = {0, 1, -1, 2};
    static const uint8_t more[] = {0, 1, 200, 2};
    static const uint8_t bits_2[] = {0xFB};
    static uint8_t nothing[256 * 4];
    node *d = with_dictionary(make("c", "c", NULLABLE, 2, 2, NULL, bytes, NULL),
                              make("i", "", NULLABLE, 3, 2, NULL, ints, NULL));
    CHECK_OK(run_sizes(d, NULL), &err);
    d->array.length = 4;
    CHECK_INT(run_sizes(d, NULL), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "row 2: dictionary index -1, the dictionary has 3 values");
    d->buffers[0] = bits_2;
    CHECK_OK(run_sizes(d, NULL), &err);
    d->array.dictionary->length = 2;
    CHECK_BAD(d, "row 3: dictionary index 2");
    /* As an unsigned number -1 would fit into 256 values. */
    d = with_dictionary(make("c", "c", NULLABLE, 4, 2, NULL, bytes, NULL),
                        make("i", "", NULLABLE, 256, 2, NULL, nothing, NULL));
    CHECK_BAD(d, "dictionary index -1");
    d = with_dictionary(make("C", "c", NULLABLE, 4, 2, NULL, more, NULL),
                        make("i", "", NULLABLE, 256, 2, NULL, nothing, NULL));
    CHECK_GOOD(d);
}

static node *view_column(const char *format, const void *views, int64_t rows, const void *data,
                         const int64_t *length)
{
    node *n = make(format, "v", NULLABLE, rows, 4, NULL, views, data);
    n->buffers[3] = length;
    return n;
}

static void put_view(uint8_t *view, int32_t size, const void *prefix, int32_t buffer,
                     int32_t offset)
{
    memset(view, 0, 16);
    memcpy(view, &size, 4);
    memcpy(view + 4, prefix, size > 12 || size < 0 ? 4 : (size_t)size);
    if (size > 12 || size < 0) {
        memcpy(view + 8, &buffer, 4);
        memcpy(view + 12, &offset, 4);
    }
}

static void test_views(void)
{
    static const char data[] = "0123456789012345678901234567890123456789";
    int64_t length = 40;
    uint8_t v[16];
    put_view(v, 3, "abc", 0, 0);
    CHECK_GOOD(view_column("vu", v, 1, data, &length));
    v[9] = 1;
    CHECK_BAD(view_column("vu", v, 1, data, &length), "not padded");
    put_view(v, 3, "a\xFFz", 0, 0);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "not UTF-8");
    CHECK_GOOD(view_column("vz", v, 1, data, &length));
    put_view(v, 30, "0123", 0, 10);
    CHECK_GOOD(view_column("vu", v, 1, data, &length));
    put_view(v, 31, "0123", 0, 10);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "31 bytes from 10");
    put_view(v, 30, "0129", 0, 10);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "prefix");
    put_view(v, 30, "0123", 1, 10);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "buffer 1 of 1");
    put_view(v, 30, "0123", -1, 10);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "buffer -1");
    put_view(v, 30, "0123", 0, -10);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "from -10");
    put_view(v, -30, "0123", 0, 0);
    CHECK_BAD(view_column("vu", v, 1, data, &length), "view of -30");
}

static void test_views_cut_characters(void)
{
    static const char text[] = "\xC3\xA9"
                               "abcdefghijklmno"
                               "\xC3\xA9";
    static const char dirty[] = "\xFF\xFF"
                                "abcdefghijklmno"
                                "\xC3\xA9";
    int64_t length = 19;
    uint8_t v[16];
    put_view(v, 17, "abcd", 0, 2);
    CHECK_GOOD(view_column("vu", v, 1, text, &length));
    CHECK_GOOD(view_column("vu", v, 1, dirty, &length));
    put_view(v, 16, "abcd", 0, 2);
    CHECK_BAD(view_column("vu", v, 1, text, &length), "cuts a character");
    CHECK_BAD(view_column("vu", v, 1, dirty, &length), "not UTF-8");
    put_view(v, 16,
             "\xA9"
             "abc",
             0, 1);
    CHECK_BAD(view_column("vu", v, 1, text, &length), "cuts a character");
}

/* A small file could ask for the same megabyte a million times. */
static void test_views_of_the_same_bytes(void)
{
    enum { ROWS = 4096, SIZE = 1 << 20 };
    uint8_t *views = malloc(16 * ROWS), *data = malloc(SIZE);
    int64_t length = SIZE;
    memset(data, 'a', SIZE);
    for (int i = 0; i < ROWS; i++)
        put_view(views + 16 * i, SIZE - 4, "aaaa", 0, 0);
    CHECK_GOOD(view_column("vu", views, ROWS, data, &length));
    data[SIZE - 1] = 0xFF;
    CHECK_INT(run(view_column("vu", views, ROWS, data, &length)), ALD_E_LIMIT_EXCEEDED);
    free(views);
    free(data);
}

static void test_lists(void)
{
    static const int32_t offsets[] = {0, 2, 4};
    static const int32_t sizes[] = {2, 3};
    static const int32_t negative[] = {-1, 0};
    node *child = make("i", "item", NULLABLE, 4, 2, NULL, ints, NULL);
    node *l = with_child(make("+l", "l", NULLABLE, 2, 2, NULL, offsets, NULL), child);
    CHECK_OK(run_sizes(l, NULL), &err);
    child->array.length = 3;
    CHECK_BAD(l, "expected 0 to 3");
    child = make("i", "item", NULLABLE, 5, 2, NULL, ints, NULL);
    l = with_child(make("+vl", "l", NULLABLE, 2, 3, NULL, offsets, sizes), child);
    CHECK_OK(run_sizes(l, NULL), &err);
    child->array.length = 4;
    CHECK_INT(run_sizes(l, NULL), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "row 1: 3 values from 2 on, of 4");
    l->buffers[1] = negative;
    CHECK_BAD(l, "from -1");
    child = make("i", "item", NULLABLE, 8, 2, NULL, ints, NULL);
    l = with_child(make("+w:3", "l", NULLABLE, 2, 1, NULL, NULL, NULL), child);
    CHECK_OK(run_sizes(l, NULL), &err);
    l->array.offset = 1;
    CHECK_BAD(l, "expected 9");
}

static node *two_branches(const char *format, const int8_t *ids, const int32_t *offsets,
                          int64_t length, node *a, node *b)
{
    node *u = make(format, "u", NULLABLE, length, offsets != NULL ? 2 : 1, ids, offsets, NULL);
    return with_child(with_child(u, a), b);
}

static node *branch(const void *validity, int64_t length, int64_t flags)
{
    return make("i", "b", flags, length, 2, validity, ints, NULL);
}

static void test_unions(void)
{
    static const int8_t ids[] = {5, 9, 5}, wrong[] = {5, 9, 0}, negative[] = {5, -1, 5};
    static const int32_t offsets[] = {0, 0, 1}, low[] = {0, -1, 1}, high[] = {0, 1, 1};
    CHECK_GOOD(two_branches("+us:5,9", ids, NULL, 3, branch(NULL, 3, 2), branch(NULL, 3, 2)));
    CHECK_BAD(two_branches("+us:5,9", wrong, NULL, 3, branch(NULL, 3, 2), branch(NULL, 3, 2)),
              "type id 0");
    CHECK_BAD(two_branches("+us:5,9", negative, NULL, 3, branch(NULL, 3, 2), branch(NULL, 3, 2)),
              "type id -1");
    CHECK_BAD(two_branches("+us:5,9", ids, NULL, 3, branch(NULL, 3, 2), branch(NULL, 2, 2)),
              "child 1 has 2");
    CHECK_GOOD(two_branches("+ud:5,9", ids, offsets, 3, branch(NULL, 2, 2), branch(NULL, 1, 2)));
    CHECK_BAD(two_branches("+ud:5,9", ids, low, 3, branch(NULL, 2, 2), branch(NULL, 1, 2)),
              "slot -1");
    CHECK_BAD(two_branches("+ud:5,9", ids, high, 3, branch(NULL, 2, 2), branch(NULL, 1, 2)),
              "slot 1");
}

static node *runs_of(const int16_t *ends, int64_t count, int64_t length, node *values)
{
    node *r = make("+r", "r", NULLABLE, length, 0, NULL, NULL, NULL);
    return with_child(with_child(r, make("s", "run_ends", NOT_NULL, count, 2, NULL, ends, NULL)),
                      values);
}

static void test_runs(void)
{
    static const int16_t ends[] = {1, 4, 9}, equal[] = {1, 1, 9}, zero[] = {0, 4, 9};
    node *r = runs_of(ends, 3, 9, branch(NULL, 3, NULLABLE));
    CHECK_OK(run_sizes(r, NULL), &err);
    r->array.length = 10;
    CHECK_INT(run_sizes(r, NULL), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "ends at 9 of 10");
    r->array.length = 8;
    r->array.offset = 2;
    CHECK_BAD(r, "ends at 9 of 10");
    CHECK_BAD(runs_of(equal, 3, 9, branch(NULL, 3, NULLABLE)), "run end 1 after 1");
    CHECK_BAD(runs_of(zero, 3, 9, branch(NULL, 3, NULLABLE)), "run end 0 after 0");
    CHECK_BAD(runs_of(ends, 3, 9, branch(NULL, 2, NULLABLE)), "3 runs, but 2 values");
    CHECK_BAD(runs_of(ends, 0, 1, branch(NULL, 0, NULLABLE)), "ends at 0 of 1");
}

/* ---- Nulls where there may be none */

static void test_required_column(void)
{
    CHECK_GOOD(make("i", "c", NOT_NULL, 4, 2, bits_all, ints, NULL));
    CHECK_BAD(make("i", "c", NOT_NULL, 4, 2, bits_1_3, ints, NULL), "column 'c', row 1: a null");
    CHECK_BAD(make("n", "c", NOT_NULL, 1, 0, NULL, NULL, NULL), "row 0");
    CHECK_GOOD(make("n", "c", NOT_NULL, 0, 0, NULL, NULL, NULL));
}

static void test_required_under_struct(void)
{
    node *s = with_child(make("+s", "s", NULLABLE, 4, 1, bits_1_3, NULL, NULL),
                         branch(bits_1, 4, NOT_NULL));
    CHECK_GOOD(s);
    s = with_child(make("+s", "s", NULLABLE, 4, 1, bits_1, NULL, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_BAD(s, "column 's.b', row 3");
    /* Slots shift by the parent's offset. */
    s = with_child(make("+s", "s", NULLABLE, 2, 1, NULL, NULL, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    s->array.offset = 2;
    CHECK_BAD(s, "row 3");
    s = with_child(make("+s", "s", NULLABLE, 1, 1, NULL, NULL, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    s->array.offset = 2;
    CHECK_GOOD(s);
}

static void test_required_items(void)
{
    static const int32_t around_1[] = {2, 3, 3, 3}, with_1[] = {0, 1, 3};
    static const int32_t starts[] = {2, 0}, sizes[] = {1, 1}, wide[] = {1, 2};
    node *l = with_child(make("+l", "l", NULLABLE, 3, 2, NULL, around_1, NULL),
                         branch(bits_1_3, 4, NOT_NULL));
    CHECK_GOOD(l);
    l = with_child(make("+l", "l", NULLABLE, 2, 2, NULL, with_1, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_BAD(l, "column 'l.b', row 1");
    l = with_child(make("+l", "l", NULLABLE, 2, 2, bits_0_only, with_1, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_GOOD(l); /* the list that holds it is null */
    l = with_child(make("+vl", "l", NULLABLE, 2, 3, NULL, starts, sizes),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_GOOD(l);
    l = with_child(make("+vl", "l", NULLABLE, 2, 3, NULL, starts, wide),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_BAD(l, "row 1");
    l = with_child(make("+w:2", "l", NULLABLE, 2, 1, NULL, NULL, NULL),
                   branch(bits_1_3, 4, NOT_NULL));
    CHECK_BAD(l, "row 1");
}

static void test_required_branches(void)
{
    static const int8_t ids[] = {0, 1, 0, 1};
    static const int32_t offsets[] = {0, 0, 2, 1}, to_1[] = {0, 0, 1, 1};
    CHECK_GOOD(
        two_branches("+us:0,1", ids, NULL, 4, branch(bits_1_3, 4, NOT_NULL), branch(NULL, 4, 0)));
    CHECK_BAD(
        two_branches("+us:0,1", ids, NULL, 4, branch(NULL, 4, 0), branch(bits_1_3, 4, NOT_NULL)),
        "row 1");
    CHECK_GOOD(two_branches("+ud:0,1", ids, offsets, 4, branch(bits_1_3, 4, NOT_NULL),
                            branch(NULL, 2, 0)));
    CHECK_BAD(
        two_branches("+ud:0,1", ids, to_1, 4, branch(bits_1_3, 4, NOT_NULL), branch(NULL, 2, 0)),
        "row 1");
}

/* A union has no nulls of its own, whatever its branches hold. */
static void test_required_union(void)
{
    static const int8_t ids[] = {0, 1, 0, 1};
    node *u = two_branches("+us:0,1", ids, NULL, 4, branch(bits_1_3, 4, 2), branch(bits_1_3, 4, 2));
    u->schema.flags = NOT_NULL;
    CHECK_GOOD(u);
}

static void test_required_dictionary(void)
{
    static const int32_t uses_1[] = {0, 2, 1}, without_1[] = {0, 2, 0};
    node *values = branch(bits_1_3, 4, NULLABLE);
    CHECK_BAD(with_dictionary(make("i", "d", NOT_NULL, 3, 2, NULL, uses_1, NULL), values), "row 2");
    values = branch(bits_1_3, 4, NULLABLE);
    CHECK_GOOD(with_dictionary(make("i", "d", NOT_NULL, 3, 2, NULL, without_1, NULL), values));
    values = branch(bits_1_3, 4, NULLABLE);
    CHECK_GOOD(with_dictionary(make("i", "d", NULLABLE, 3, 2, NULL, uses_1, NULL), values));
}

static void test_required_runs(void)
{
    static const int16_t ends[] = {1, 4, 9};
    node *r = runs_of(ends, 3, 9, branch(bits_1, 3, NULLABLE));
    CHECK_OK(run_sizes(r, NULL), &err);
    r->schema.flags = NOT_NULL;
    CHECK_INT(run_sizes(r, NULL), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "column 'r', row 1");
    r->array.offset = 4; /* rows of the last run alone */
    r->array.length = 5;
    CHECK_GOOD(r);
    CHECK_BAD(runs_of(ends, 3, 9, branch(bits_1, 3, NOT_NULL)), "column 'r.b', row 1");
}

static node *map_of(int64_t entry_flags, const void *entry_bits, const void *key_bits,
                    int64_t key_flags)
{
    static const int32_t offsets[] = {0, 1, 2};
    node *entries = make("+s", "entries", entry_flags, 2, 1, entry_bits, NULL, NULL);
    with_child(entries, make("i", "key", key_flags, 2, 2, key_bits, ints, NULL));
    with_child(entries, make("i", "value", NULLABLE, 2, 2, bits_1, ints, NULL));
    return with_child(make("+m", "m", NULLABLE, 2, 2, NULL, offsets, NULL), entries);
}

static void test_map_keys(void)
{
    CHECK_GOOD(map_of(NOT_NULL, NULL, NULL, NOT_NULL));
    CHECK_BAD(map_of(NOT_NULL, NULL, bits_1, NULLABLE), "m.entries.key', row 1");
    CHECK_BAD(map_of(NULLABLE, bits_1, NULL, NULLABLE), "m.entries', row 1");
}

/* Rows × slots would be 2^34 steps; sorted and joined ranges are a few. */
static void test_overlapping_list_views(void)
{
    enum { N = 1 << 17 };
    int32_t *starts = calloc(N, 4), *sizes = calloc(N, 4), *values = calloc(N + 8, 4);
    uint8_t *mixed = malloc(N / 8 + 1), *odd = malloc(N / 8 + 1);
    clock_t begin = clock();
    node *inner, *item, *l;
    memset(mixed, 0x55, N / 8 + 1);
    memset(odd, 0x55, N / 8 + 1);
    for (int i = 0; i < N; i++)
        sizes[i] = N - i % 7;
    inner = make("i", "x", NOT_NULL, N, 2, odd, values, NULL); /* null just where its struct is */
    item = with_child(make("+s", "item", NULLABLE, N, 1, mixed, NULL, NULL), inner);
    l = with_child(make("+vl", "l", NULLABLE, N, 3, mixed, starts, sizes), item);
    CHECK_OK(run_sizes(l, NULL), &err);
    odd[N / 16] ^= 1;
    CHECK_BAD(l, "l.item.x");
    CHECK((double)(clock() - begin) / CLOCKS_PER_SEC < 2);
    free(starts);
    free(sizes);
    free(values);
    free(mixed);
    free(odd);
}

static void test_no_memory(void)
{
    static const int32_t starts[] = {2, 0}, sizes[] = {1, 1};
    node *l = with_child(make("+vl", "l", NULLABLE, 2, 3, NULL, starts, sizes),
                         branch(bits_1_3, 4, NOT_NULL));
    int64_t n = 0;
    for (;; n++) {
        ald_status st;
        alloc = check_heap_init(&heap, n);
        st = ald__array_validate(&alloc, &l->schema, &l->array, NULL, &err);
        CHECK_HEAP_EMPTY(&heap);
        if (st == ALD_OK)
            break;
        if (!CHECK_INT(st, ALD_E_NOMEM))
            break;
    }
    CHECK_INT(n, 2);
    node_count = 0;
}

int main(void)
{
    RUN(test_null_counts);
    RUN(test_form);
    RUN(test_children_form);
    RUN(test_extents);
    RUN(test_depth);
    RUN(test_offsets);
    RUN(test_offset_limit);
    RUN(test_text);
    RUN(test_indices);
    RUN(test_views);
    RUN(test_views_cut_characters);
    RUN(test_views_of_the_same_bytes);
    RUN(test_lists);
    RUN(test_unions);
    RUN(test_runs);
    RUN(test_required_column);
    RUN(test_required_under_struct);
    RUN(test_required_items);
    RUN(test_required_branches);
    RUN(test_required_union);
    RUN(test_required_dictionary);
    RUN(test_required_runs);
    RUN(test_map_keys);
    RUN(test_overlapping_list_views);
    RUN(test_no_memory);
    return check_done();
}
