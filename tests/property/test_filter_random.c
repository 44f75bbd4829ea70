/* SPDX-License-Identifier: MIT */
/* Conditions on random columns of every type. `is null` and `is not null` part the rows as JSON shows them; for the text of a
 * cell taken as a value, <, = and > part the rows that are not null, the others follow from these, and the cell itself is
 * equal. */
#include "ald/filter.h"
#include "ald/native.h"
#include "ald/text.h"
#include "check.h"
#include "property/random_table.h"

#define ROWS_MAX 512
#define TABLES 150

typedef struct row_set {
    uint8_t has[ROWS_MAX];
} row_set;

static ald_host host;
static ald_error err;
static int compared, null_columns;

/* One column alone, under a name that needs no quotes. */
typedef struct one_column {
    struct ArrowSchema field, schema, *fields[1];
    struct ArrowArray batch, *arrays[1];
    const void *buffers[1];
} one_column;

static void take_column(one_column *o, const struct ArrowSchema *schema,
                        const struct ArrowArray *batch, int64_t index)
{
    memset(o, 0, sizeof *o);
    o->field = *schema->children[index];
    o->field.name = "c";
    o->schema = *schema;
    o->schema.n_children = 1;
    o->schema.children = o->fields;
    o->fields[0] = &o->field;
    o->batch = *batch;
    o->batch.n_children = 1;
    o->batch.children = o->arrays;
    o->arrays[0] = batch->children[index];
}

/* 1: the rows that fit; 0: the condition does not suit the column. */
static int rows_of(const one_column *o, const char *text, size_t size, row_set *out)
{
    static int64_t rows[ROWS_MAX];
    ald_filter *f = NULL;
    size_t count = 0;
    memset(out, 0, sizeof *out);
    ald_status status = ald_filter_new(text, size, &o->schema, &host, &f, &err);
    if (status != ALD_OK) {
        CHECK_INT(status, ALD_E_INVALID_ARG);
        CHECK(f == NULL);
        return 0;
    }
    if (CHECK_OK(ald_filter_rows(f, &o->batch, rows, &count, &err), &err)) {
        for (size_t i = 0; i < count; i++)
            out->has[rows[i]] = 1;
    }
    ald_filter_free(f);
    return 1;
}

static int text_of(const one_column *o, int64_t row, int json, ald_buffer *out)
{
    out->size = 0;
    return CHECK_OK(
        ald_value_to_text(&o->field, o->arrays[0], row + o->batch.offset, json, NULL, out, &err),
        &err);
}

static void check_nulls(const one_column *o, row_set *known)
{
    row_set null;
    ald_buffer text = {NULL, 0, 0, &host.alloc};
    int any = 0;
    REQUIRE(rows_of(o, "c is null", 9, &null) && rows_of(o, "c is not null", 13, known));
    for (int64_t i = 0; i < o->batch.length; i++) {
        CHECK_INT(null.has[i] + known->has[i], 1);
        REQUIRE(text_of(o, i, 1, &text));
        int is_null = text.size == 4 && memcmp(text.data, "null", 4) == 0;
        CHECK_INT(null.has[i], is_null);
        any |= is_null;
    }
    null_columns += any;
    ald_buffer_clear(&text);
}

static size_t condition(char *out, const char *op, const ald_buffer *value)
{
    size_t used = (size_t)sprintf(out, "c %s \"", op);
    for (size_t i = 0; i < value->size; i++) {
        out[used++] = (char)value->data[i];
        if (value->data[i] == '"')
            out[used++] = '"';
    }
    out[used++] = '"';
    return used;
}

static int is_nan_text(const ald_buffer *text)
{
    return text->size == 3 && memcmp(text->data, "NaN", 3) == 0;
}

static void check_value(const one_column *o, int64_t row, const ald_buffer *value,
                        const row_set *known)
{
    static const char *const ops[] = {"=", "!=", "<", "<=", ">", ">="};
    static char text[8192];
    row_set got[6];
    if (value->size > 4000)
        return;
    for (size_t i = 0; i < 6; i++) {
        if (!rows_of(o, text, condition(text, ops[i], value), &got[i])) {
            CHECK_INT(i, 0); /* it suits all operators or none */
            return;
        }
    }
    compared++;
    CHECK_INT(got[0].has[row], !is_nan_text(value));
    for (int64_t i = 0; i < o->batch.length; i++) {
        int parts = got[0].has[i] + got[2].has[i] + got[4].has[i];
        CHECK(parts <= known->has[i]);
        CHECK_INT(got[1].has[i], known->has[i] && !got[0].has[i]);
        CHECK_INT(got[3].has[i], got[2].has[i] || got[0].has[i]);
        CHECK_INT(got[5].has[i], got[4].has[i] || got[0].has[i]);
    }
}

static void check_column(const one_column *o, uint64_t *random)
{
    row_set known;
    ald_buffer value = {NULL, 0, 0, &host.alloc};
    check_nulls(o, &known);
    for (int n = 0; n < 3 && o->batch.length > 0; n++) {
        int64_t row = rt_below(random, o->batch.length);
        if (known.has[row] && text_of(o, row, 0, &value))
            check_value(o, row, &value, &known);
    }
    ald_buffer_clear(&value);
}

static void test_random_columns(void)
{
    for (uint64_t seed = 1; seed <= TABLES; seed++) {
        struct ArrowSchema schema;
        struct ArrowArray batch;
        uint64_t random = seed * 77;
        rt_schema(seed, &host.alloc, &schema);
        rt_batch(seed, seed + 1, &schema, &batch);
        CHECK(batch.length <= ROWS_MAX);
        for (int64_t i = 0; i < schema.n_children && batch.length <= ROWS_MAX; i++) {
            one_column o;
            take_column(&o, &schema, &batch, i);
            check_column(&o, &random);
        }
        batch.release(&batch);
        schema.release(&schema);
    }
    CHECK(compared > 100);
    CHECK(null_columns > 50);
}

/* What is taken row by row is what was there. */
static void test_take(void)
{
    for (uint64_t seed = 1; seed <= TABLES; seed++) {
        struct ArrowSchema schema;
        struct ArrowArray batch, taken;
        int64_t rows[64];
        uint64_t random = seed * 99;
        rt_schema(seed, &host.alloc, &schema);
        rt_batch(seed, seed + 1, &schema, &batch);
        size_t count = batch.length == 0 ? 0 : (size_t)rt_below(&random, 64);
        for (size_t i = 0; i < count; i++)
            rows[i] = rt_below(&random, batch.length);
        if (CHECK_OK(ald_array_take(&schema, &batch, rows, count, &host, &taken, &err), &err)) {
            rt_out want = {0}, got = {0};
            CHECK_UINT(taken.length, count);
            for (size_t i = 0; i < count; i++) {
                rt_render(&schema, &batch, rows[i], &want);
                rt_render(&schema, &taken, (int64_t)i, &got);
            }
            CHECK(want.size == got.size &&
                  (got.size == 0 || memcmp(want.data, got.data, want.size) == 0));
            free(want.data);
            free(got.data);
            taken.release(&taken);
        }
        batch.release(&batch);
        schema.release(&schema);
    }
}

int main(void)
{
    host = ald_native_host(1);
    RUN(test_random_columns);
    RUN(test_take);
    printf("%d values compared, %d columns with nulls\n", compared, null_columns);
    return check_done();
}
