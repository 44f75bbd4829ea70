/* SPDX-License-Identifier: MIT */
/* A FlatBuffer by hand, and every way to break it. */
#include "check.h"
#include "core/arrow/flatbuf_read.h"

/* Root table: u8 7, i16 -2, i32 (absent), i64 -5, string "abc", vector of two i32, child table, vector of two tables
 * (both the child). */
static const uint8_t sample[] = {
    /* 0 */ 28,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* 8: vtable of the root, 8 fields */ 20,
    0,
    40,
    0,
    4,
    0,
    6,
    0,
    0,
    0,
    8,
    0,
    16,
    0,
    20,
    0,
    24,
    0,
    28,
    0,
    /* 28: root */ 20,
    0,
    0,
    0,
    /* +4 */ 7,
    0,
    0xFE,
    0xFF,
    /* +8 */ 0xFB,
    0xFF,
    0xFF,
    0xFF,
    0xFF,
    0xFF,
    0xFF,
    0xFF,
    /* 44: string */ 24,
    0,
    0,
    0,
    /* 48: vector */ 28,
    0,
    0,
    0,
    /* 52: child */ 44,
    0,
    0,
    0,
    /* 56: tables */ 48,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    0,
    /* 68: string */ 3,
    0,
    0,
    0,
    'a',
    'b',
    'c',
    0,
    /* 76: vector */ 2,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    2,
    0,
    0,
    0,
    /* 88: vtable of the child */ 6,
    0,
    8,
    0,
    4,
    0,
    0,
    0,
    /* 96: child */ 8,
    0,
    0,
    0,
    9,
    0,
    0,
    0,
    /* 104: tables */ 2,
    0,
    0,
    0,
    0xF4,
    0xFF,
    0xFF,
    0xFF,
    0,
    0,
    0,
    0,
};

enum { F_U8, F_I16, F_I32, F_I64, F_STRING, F_VECTOR, F_CHILD, F_TABLES };

/* Reads everything there is; the first failure, or ALD_OK. */
static ald_status read_all(const uint8_t *data, size_t size, ald_error *err)
{
    ald__flat f;
    ald__flat_table root, child;
    ald__flat_vector items;
    ald__flat_text text;
    ald_status st = ALD_OK;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    uint8_t u8;
    int present;
    ald__flat_init(&f, data, size, 1000);
    if ((st = ald__flat_root(&f, &root, err)) ||
        (st = ald__flat_u8(&f, &root, F_U8, 1, &u8, err)) ||
        (st = ald__flat_i16(&f, &root, F_I16, 1, &i16, err)) ||
        (st = ald__flat_i32(&f, &root, F_I32, 77, &i32, err)) ||
        (st = ald__flat_i64(&f, &root, F_I64, 1, &i64, err)) ||
        (st = ald__flat_string(&f, &root, F_STRING, &text, err)) ||
        (st = ald__flat_items(&f, &root, F_VECTOR, 4, &items, err)) ||
        (st = ald__flat_child(&f, &root, F_CHILD, &child, &present, err)))
        return st;
    if (present && (st = ald__flat_i32(&f, &child, 0, 0, &i32, err)))
        return st;
    if ((st = ald__flat_tables(&f, &root, F_TABLES, &items, err)))
        return st;
    for (size_t i = 0; i < items.count; i++) {
        if ((st = ald__flat_item(&f, &items, i, &child, err)))
            return st;
    }
    return ALD_OK;
}

static void test_values(void)
{
    ald__flat f;
    ald__flat_table root, child;
    ald__flat_vector items;
    ald__flat_text text;
    ald_error err;
    int64_t i64;
    int32_t i32;
    int16_t i16;
    uint8_t u8;
    int present;
    ald__flat_init(&f, sample, sizeof sample, 0);
    REQUIRE_OK(ald__flat_root(&f, &root, &err), &err);
    REQUIRE_OK(ald__flat_u8(&f, &root, F_U8, 1, &u8, &err), &err);
    REQUIRE_OK(ald__flat_i16(&f, &root, F_I16, 1, &i16, &err), &err);
    REQUIRE_OK(ald__flat_i32(&f, &root, F_I32, 77, &i32, &err), &err);
    REQUIRE_OK(ald__flat_i64(&f, &root, F_I64, 1, &i64, &err), &err);
    CHECK_INT(u8, 7);
    CHECK_INT(i16, -2);
    CHECK_INT(i32, 77);
    CHECK_INT(i64, -5);
    REQUIRE_OK(ald__flat_u8(&f, &root, 40, 3, &u8, &err), &err); /* a field of a later version */
    CHECK_INT(u8, 3);
    REQUIRE_OK(ald__flat_string(&f, &root, F_STRING, &text, &err), &err);
    CHECK_UINT(text.size, 3);
    CHECK_MEM(text.data, "abc", 3);
    REQUIRE_OK(ald__flat_string(&f, &root, F_I32, &text, &err), &err);
    CHECK(!text.present && text.size == 0 && text.data != NULL);
    REQUIRE_OK(ald__flat_items(&f, &root, F_VECTOR, 4, &items, &err), &err);
    CHECK_UINT(items.count, 2);
    CHECK_UINT(items.pos, 80);
    REQUIRE_OK(ald__flat_child(&f, &root, F_CHILD, &child, &present, &err), &err);
    CHECK(present);
    REQUIRE_OK(ald__flat_i32(&f, &child, 0, 0, &i32, &err), &err);
    CHECK_INT(i32, 9);
}

/* Offsets are unsigned: a vector of tables cannot point back, so the sample's is refused. */
static void test_backward_offset(void)
{
    ald_error err;
    CHECK_INT(read_all(sample, sizeof sample, &err), ALD_E_INVALID_FORMAT);
    CHECK(err.offset >= 1000 && err.offset < 1000 + sizeof sample);
}

/* Whatever is cut or changed: inside the bytes or an error. */
static void test_damage(void)
{
    static const uint8_t values[] = {0, 1, 3, 4, 0x7F, 0x80, 0xFF};
    ald_error err;
    for (size_t n = 0; n < sizeof sample; n++) {
        uint8_t *copy = malloc(n + 1), *end = copy + 1; /* and at an odd address */
        memcpy(end, sample, n);
        CHECK(read_all(end, n, &err) != ALD_OK);
        free(copy);
    }
    for (size_t i = 0; i < sizeof sample; i++) {
        for (size_t k = 0; k < sizeof values; k++) {
            uint8_t *copy = malloc(sizeof sample);
            memcpy(copy, sample, sizeof sample);
            copy[i] = values[k];
            (void)read_all(copy, sizeof sample, &err);
            free(copy);
        }
    }
}

/* A table that is its own child: visits run out. */
static void test_cycle(void)
{
    uint8_t data[64] = {0};
    ald__flat f;
    ald__flat_table t;
    ald_status st;
    ald_error err;
    int present = 1, visits = 0;
    data[0] = 16;              /* root at 16 */
    data[8] = 6, data[10] = 8; /* vtable at 8: one field */
    data[12] = 4;
    data[16] = 8; /* vtable 8 before; field at 20: offset 0 leads to itself, read as a table */
    ald__flat_init(&f, data, sizeof data, 0);
    st = ald__flat_root(&f, &t, &err);
    while (st == ALD_OK && present && visits++ < 1000)
        st = ald__flat_table_at(&f, 16, &t, &err);
    CHECK_INT(st, ALD_E_LIMIT_EXCEEDED);
    CHECK_INT(visits, sizeof data / 8);
}

static void test_large_counts(void)
{
    uint8_t data[64] = {0};
    ald__flat f;
    ald__flat_table t;
    ald__flat_vector v;
    ald__flat_text text;
    ald_error err;
    data[0] = 16;
    data[8] = 6, data[10] = 8, data[12] = 4;
    data[16] = 8, data[20] = 4; /* field 0 leads to the vector at 24 */
    memset(data + 24, 0xFF, 4);
    ald__flat_init(&f, data, sizeof data, 0);
    REQUIRE_OK(ald__flat_root(&f, &t, &err), &err);
    for (size_t width = 1; width <= 24; width++)
        CHECK_INT(ald__flat_items(&f, &t, 0, width, &v, &err), ALD_E_INVALID_FORMAT);
    data[24] = 0, data[25] = 0, data[26] = 0, data[27] = 0x40; /* × 4 is 2^32 */
    CHECK_INT(ald__flat_tables(&f, &t, 0, &v, &err), ALD_E_INVALID_FORMAT);
    memset(data + 24, 0, 4);
    data[24] = 9; /* fits, but more tables than 64 / 8 */
    CHECK_INT(ald__flat_tables(&f, &t, 0, &v, &err), ALD_E_LIMIT_EXCEEDED);
    data[24] = 36;
    CHECK_OK(ald__flat_string(&f, &t, 0, &text, &err), &err);
    data[24] = 37;
    CHECK_INT(ald__flat_string(&f, &t, 0, &text, &err), ALD_E_INVALID_FORMAT);
}

/* Many strings in one place: the sum is bounded. */
static void test_shared_text(void)
{
    static uint8_t data[8192];
    ald__flat f;
    ald__flat_table t;
    ald__flat_text text;
    ald_status st = ALD_OK;
    ald_error err;
    int reads = 0;
    data[0] = 16;
    data[8] = 6, data[10] = 8, data[12] = 4;
    data[16] = 8, data[20] = 4;
    data[25] = 0x1F; /* 7936 bytes */
    ald__flat_init(&f, data, sizeof data, 0);
    REQUIRE_OK(ald__flat_root(&f, &t, &err), &err);
    for (; reads < 100 && st == ALD_OK; reads++)
        st = ald__flat_string(&f, &t, 0, &text, &err);
    CHECK_INT(st, ALD_E_LIMIT_EXCEEDED);
    CHECK(reads > 2);
}

int main(void)
{
    RUN(test_values);
    RUN(test_backward_offset);
    RUN(test_damage);
    RUN(test_cycle);
    RUN(test_large_counts);
    RUN(test_shared_text);
    return check_done();
}
