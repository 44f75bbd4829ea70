/* SPDX-License-Identifier: MIT */
/* Tables made from bytes, of the types that CSV can carry, each with what makes its type plain (a uint64 column has a value
 * beyond int64); and the check that what is written reads back with the same types and values. */
#ifndef TEXT_TABLE_H
#define TEXT_TABLE_H

#include <string.h>

#include "fuzz/fuzz_host.h"

#define TT_COLUMNS 6
#define TT_ROWS 200
#define TT_TEXT 64 /* bytes of a string at most */

/* Bytes that choose; zeros when they are used up. */
typedef struct tt_bytes {
    const uint8_t *data;
    size_t left;
} tt_bytes;

static inline uint64_t tt_take(tt_bytes *b, int count)
{
    uint64_t v = 0;
    for (; count > 0 && b->left > 0; count--, b->left--)
        v = v << 8 | *b->data++;
    return v;
}

typedef enum tt_kind {
    TT_NULL,
    TT_BOOL,
    TT_INT64,
    TT_UINT64,
    TT_FLOAT64,
    TT_DECIMAL128,
    TT_DECIMAL256,
    TT_DATE,
    TT_TIME_US,
    TT_TIME_NS,
    TT_STAMP_US,
    TT_STAMP_NS,
    TT_STAMP_UTC,
    TT_STAMP_OFFSET,
    TT_STRING,
    TT_KINDS
} tt_kind;

static const struct {
    const char *format;
    int64_t low, high; /* of the stored integer, where that is bounded */
} tt_types[TT_KINDS] = {
    {"n", 0, 0},
    {"b", 0, 0},
    {"l", 0, 0},
    {"L", 0, 0},
    {"g", 0, 0},
    {"d:38,", 0, 0},
    {"d:76,", 0, 0},
    {"tdD", -719162, 2932896},
    {"ttu", 0, 86399999999},
    {"ttn", 0, 86399999999999},
    {"tsu:", -62135596800000000, 253402300799999999},
    {"tsn:", INT64_MIN, INT64_MAX},
    {"tsu:UTC", -62135596800000000, 253402300799999999},
    {"tsn:+05:30", INT64_MIN, INT64_MAX},
    {"u", 0, 0},
};

typedef struct tt_column {
    tt_kind kind;
    char name[TT_TEXT + 16], format[24];
    uint8_t valid[TT_ROWS / 8];
    uint8_t values[TT_ROWS * 32];
    int32_t offsets[TT_ROWS + 1];
    char bytes[TT_ROWS * TT_TEXT];
    const void *buffers[3];
    struct ArrowSchema field;
    struct ArrowArray array;
} tt_column;

typedef struct tt_table {
    int64_t rows;
    int columns;
    tt_column column[TT_COLUMNS];
    struct ArrowSchema schema, *fields[TT_COLUMNS];
    struct ArrowArray batch, *arrays[TT_COLUMNS];
    const void *no_validity[1];
} tt_table;

static inline void tt_drop_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static inline void tt_drop_array(struct ArrowArray *array)
{
    array->release = NULL;
}

/* ---- values */

static inline size_t tt_text(tt_bytes *b, char *out)
{
    static const char *const parts[] = {"",
                                        "0",
                                        "17",
                                        "-",
                                        "+",
                                        ".",
                                        "e5",
                                        "true",
                                        "false",
                                        "nan",
                                        "inf",
                                        "null",
                                        "NA",
                                        "2024-01-31",
                                        "12:30:00",
                                        "T",
                                        "Z",
                                        "+05:30",
                                        "\"",
                                        "\"\"",
                                        ",",
                                        ";",
                                        "\t",
                                        "|",
                                        "\n",
                                        "\r",
                                        "\r\n",
                                        " ",
                                        "  ",
                                        "#",
                                        "'",
                                        "\\",
                                        "=1+1",
                                        "a",
                                        "word",
                                        "\xC3\xA9",
                                        "\xE6\xBC\xA2",
                                        "\xF0\x9F\x8E\x89",
                                        "\xEF\xBB\xBF",
                                        "\xE2\x80\xA8",
                                        "\x01",
                                        "\x7F",
                                        "[",
                                        "{",
                                        "0123456789",
                                        "12345678901234567890",
                                        "0.1234567890123456789"};
    size_t n = 0, count = (size_t)tt_take(b, 1) % 4;
    for (size_t i = 0; i < count; i++) {
        const char *part = parts[tt_take(b, 1) % (sizeof parts / sizeof *parts)];
        size_t size = strlen(part);
        if (n + size > TT_TEXT)
            break;
        memcpy(out + n, part, size);
        n += size;
    }
    return n;
}

static inline double tt_double(tt_bytes *b, int64_t row)
{
    static const double scales[] = {1, 10, 100, 1000, 1e6, 1e9};
    uint64_t how = tt_take(b, 1), bits = tt_take(b, 8);
    double v;
    memcpy(&v, &bits, 8);
    if (how % 3 == 0)
        return (double)(int32_t)bits / scales[how / 3 % 6];
    if (row == 0 && (bits >> 52 & 0x7FF) == 0x7FF)
        return 1;
    return v;
}

/* Two's complement of `size` bytes with up to `digits` digits; row 0 has so many that no double gives them back. */
static inline void tt_decimal(tt_bytes *b, int64_t row, size_t size, int digits, uint8_t *out)
{
    uint8_t magnitude[32] = {0};
    int count = row == 0 ? digits : 1 + (int)(tt_take(b, 1) % (uint64_t)digits);
    int negative = (int)(tt_take(b, 1) & 1);
    for (int i = 0; i < count; i++) {
        unsigned carry = row == 0 ? 1 + (unsigned)i % 9 : (unsigned)(tt_take(b, 1) % 10);
        for (size_t k = 0; k < size; k++) {
            carry += magnitude[k] * 10u;
            magnitude[k] = (uint8_t)carry;
            carry >>= 8;
        }
    }
    for (size_t k = 0, carry = 1; k < size; k++) {
        carry += (uint8_t)~magnitude[k];
        out[k] = negative ? (uint8_t)carry : magnitude[k];
        carry >>= 8;
    }
}

static inline int64_t tt_bounded(tt_bytes *b, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low, v = tt_take(b, 8);
    v = span == UINT64_MAX ? v : v % (span + 1);
    v = (uint64_t)low + v;
    return (int64_t)(tt_take(b, 1) % 2 == 0 && v % 1000000000 <= v - (uint64_t)low
                         ? v - v % 1000000000
                         : v);
}

static inline void tt_value(tt_column *c, tt_bytes *b, int64_t row, int valid)
{
    int64_t i64;
    uint64_t u64;
    double f64;
    int32_t i32;
    c->offsets[row + 1] = c->offsets[row];
    if (!valid)
        return;
    c->valid[row >> 3] = (uint8_t)(c->valid[row >> 3] | 1u << (row & 7));
    switch (c->kind) {
    case TT_NULL:
        break;
    case TT_BOOL:
        c->values[row >> 3] = (uint8_t)(c->values[row >> 3] | (tt_take(b, 1) & 1) << (row & 7));
        break;
    case TT_INT64:
        i64 = (int64_t)tt_take(b, 8) >> tt_take(b, 1) % 64;
        memcpy(c->values + row * 8, &i64, 8);
        break;
    case TT_UINT64:
        u64 = tt_take(b, 8) >> tt_take(b, 1) % 64;
        u64 = row == 0 ? u64 | (uint64_t)1 << 63 : u64;
        memcpy(c->values + row * 8, &u64, 8);
        break;
    case TT_FLOAT64:
        f64 = tt_double(b, row);
        memcpy(c->values + row * 8, &f64, 8);
        break;
    case TT_DECIMAL128:
        tt_decimal(b, row, 16, 38, c->values + row * 16);
        break;
    case TT_DECIMAL256:
        tt_decimal(b, row, 32, 76, c->values + row * 32);
        break;
    case TT_STRING:
        c->offsets[row + 1] += (int32_t)tt_text(b, c->bytes + c->offsets[row]);
        break;
    case TT_DATE:
        i32 = (int32_t)tt_bounded(b, tt_types[c->kind].low, tt_types[c->kind].high);
        memcpy(c->values + row * 4, &i32, 4);
        break;
    default:
        i64 = tt_bounded(b, tt_types[c->kind].low, tt_types[c->kind].high);
        memcpy(c->values + row * 8, &i64, 8);
        break;
    }
}

static inline void tt_make_column(tt_table *t, int index, tt_kind kind, tt_bytes *b)
{
    tt_column *c = t->column + index;
    size_t name = index == 0 ? 0 : tt_text(b, c->name);
    c->kind = kind;
    snprintf(c->name + name, 16, "c%d", index); /* names are distinct, and the first one is bare */
    snprintf(c->format, sizeof c->format, "%s", tt_types[kind].format);
    if (kind == TT_DECIMAL128)
        snprintf(c->format, sizeof c->format, "d:38,%d", (int)(tt_take(b, 1) % 39));
    if (kind == TT_DECIMAL256)
        snprintf(c->format, sizeof c->format, "d:76,%d,256", (int)(tt_take(b, 1) % 77));
    for (int64_t row = 0; row < t->rows; row++)
        tt_value(c, b, row, row == 0 || tt_take(b, 1) % 5 != 0);
    c->buffers[0] = c->valid;
    c->buffers[1] = kind == TT_STRING ? (const void *)c->offsets : c->values;
    c->buffers[2] = c->bytes;
    c->field.format = c->format;
    c->field.name = c->name;
    c->field.flags = ARROW_FLAG_NULLABLE;
    c->field.release = tt_drop_schema;
    c->array.length = t->rows;
    c->array.null_count = kind == TT_NULL ? t->rows : -1;
    c->array.n_buffers = kind == TT_NULL ? 0 : kind == TT_STRING ? 3 : 2;
    c->array.buffers = c->buffers;
    c->array.release = tt_drop_array;
    t->fields[index] = &c->field;
    t->arrays[index] = &c->array;
}

static inline void tt_make(tt_table *t, tt_bytes *b, int first_is_int)
{
    memset(t, 0, sizeof *t);
    t->rows = 1 + (int64_t)(tt_take(b, 1) % TT_ROWS);
    t->columns = 1 + (int)(tt_take(b, 1) % TT_COLUMNS);
    for (int i = 0; i < t->columns; i++) {
        tt_kind kind = (tt_kind)(tt_take(b, 1) % TT_KINDS);
        if (i == 0 && first_is_int)
            kind = TT_INT64;
        tt_make_column(t, i, kind, b);
    }
    t->schema.format = "+s";
    t->schema.name = "";
    t->schema.n_children = t->columns;
    t->schema.children = t->fields;
    t->schema.release = tt_drop_schema;
    t->batch.length = t->rows;
    t->batch.n_buffers = 1;
    t->batch.buffers = t->no_validity;
    t->batch.n_children = t->columns;
    t->batch.children = t->arrays;
    t->batch.release = tt_drop_array;
}

static inline void tt_stream(tt_table *t, const ald_host *host, struct ArrowArrayStream *out)
{
    ald_error err;
    struct ArrowSchema schema = t->schema;
    struct ArrowArray batch = t->batch;
    FUZZ_CHECK(ald_stream_from_batches(&schema, &batch, 1, host, out, &err) == ALD_OK);
}

/* ---- comparing */

static inline void tt_fail(const tt_table *t, int column, int64_t row, const ald_buffer *text,
                           const char *what)
{
    fprintf(stderr, "column %d (%s), row %lld: %s\n%.*s\n", column, t->column[column].format,
            (long long)row, what, (int)text->size, (const char *)text->data);
    abort();
}

/* CSV's types are all in the table; of JSON's those that are no strings. */
static inline void tt_check_type(const tt_table *t, int column, const struct ArrowSchema *got,
                                 int json, const ald_buffer *text)
{
    const tt_column *c = t->column + column;
    const char *want = json && c->kind >= TT_DATE ? "u" : c->format;
    size_t size = c->kind == TT_DECIMAL128 || c->kind == TT_DECIMAL256 ? 2 : strlen(want) + 1;
    if (memcmp(got->format, want, size) != 0)
        tt_fail(t, column, 0, text, got->format);
}

static inline void tt_check_row(const tt_table *t, int column, int64_t row,
                                const struct ArrowSchema *field, const struct ArrowArray *array,
                                int64_t array_row, const ald_host *host, const ald_buffer *text)
{
    ald_error err;
    ald_buffer want = {NULL, 0, 0, &host->alloc}, got = {NULL, 0, 0, &host->alloc};
    const tt_column *c = t->column + column;
    FUZZ_CHECK(ald_value_to_text(&c->field, &c->array, row, 1, NULL, &want, &err) == ALD_OK);
    FUZZ_CHECK(ald_value_to_text(field, array, array_row, 1, NULL, &got, &err) == ALD_OK);
    if (want.size != got.size || memcmp(want.data, got.data, got.size) != 0) {
        fprintf(stderr, "wanted %.*s, got %.*s\n", (int)want.size, (const char *)want.data,
                (int)got.size, (const char *)got.data);
        tt_fail(t, column, row, text, "another value");
    }
    ald_buffer_clear(&want);
    ald_buffer_clear(&got);
}

/* Drains and releases the stream. */
static inline void tt_check(const tt_table *t, struct ArrowArrayStream *stream, int json,
                            int with_names, const ald_host *host, const ald_buffer *text)
{
    ald_error err = {0};
    struct ArrowSchema schema;
    struct ArrowArray batch;
    int64_t row = 0;
    FUZZ_CHECK(ald_stream_schema(stream, &schema, &err) == ALD_OK);
    FUZZ_CHECK(schema.n_children == t->columns);
    for (int i = 0; i < t->columns; i++) {
        tt_check_type(t, i, schema.children[i], json, text);
        if (with_names && strcmp(schema.children[i]->name, t->column[i].name) != 0)
            tt_fail(t, i, 0, text, "another name");
    }
    for (;;) {
        if (ald_stream_next(stream, &batch, &err) != ALD_OK)
            tt_fail(t, 0, row, text, err.msg);
        if (batch.release == NULL)
            break;
        FUZZ_CHECK(row + batch.length <= t->rows);
        for (int64_t r = 0; r < batch.length; r++, row++) {
            for (int i = 0; i < t->columns; i++)
                tt_check_row(t, i, row, schema.children[i], batch.children[i], r + batch.offset,
                             host, text);
        }
        batch.release(&batch);
    }
    FUZZ_CHECK(row == t->rows);
    schema.release(&schema);
    stream->release(stream);
}

/* ---- round trips */

static inline void tt_csv_round_trip(tt_table *t, tt_bytes *b, int no_header, const ald_host *host)
{
    static const char *const null_texts[] = {NULL, "NA", "-", "null", "\\N"};
    static const char delimiters[] = {0, 0, ',', ';', '\t', '|', '^'};
    ald_csv_write_options write = ALD_CSV_WRITE_OPTIONS_INIT;
    ald_csv_options read = ALD_CSV_OPTIONS_INIT;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&text);
    struct ArrowArrayStream stream;
    ald_source source;
    ald_error err = {0};
    write.delimiter = read.delimiter = delimiters[tt_take(b, 1) % sizeof delimiters];
    write.crlf = tt_take(b, 1) & 1;
    write.no_header = read.no_header = (uint8_t)no_header;
    write.text.null_text = null_texts[tt_take(b, 1) % 5];
    if (write.text.null_text != NULL) {
        read.nulls = &write.text.null_text;
        read.null_count = 1;
    }
    tt_stream(t, host, &stream);
    FUZZ_CHECK(ald_csv_write(&stream, &sink, &write, host, &err) == ALD_OK);
    source = ald_source_memory(text.data, text.size);
    if (ald_csv_open(&source, &read, host, &stream, &err) != ALD_OK)
        tt_fail(t, 0, 0, &text, err.msg);
    tt_check(t, &stream, 0, !no_header, host, &text);
    ald_buffer_clear(&text);
}

/* NaN and infinities are strings in JSON, and a string beside a number is refused: tables have none of them here. */
static inline void tt_only_finite(tt_table *t)
{
    for (int i = 0; i < t->columns; i++) {
        uint64_t bits;
        for (int64_t row = 0; t->column[i].kind == TT_FLOAT64 && row < t->rows; row++) {
            memcpy(&bits, t->column[i].values + row * 8, 8);
            if ((bits >> 52 & 0x7FF) == 0x7FF)
                memset(t->column[i].values + row * 8, 0, 8);
        }
    }
}

static inline void tt_json_round_trip(tt_table *t, tt_bytes *b, const ald_host *host)
{
    ald_jsonl_write_options write = ALD_JSONL_WRITE_OPTIONS_INIT;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    ald_sink sink = ald_buffer_sink(&text);
    struct ArrowArrayStream stream;
    ald_source source;
    ald_error err = {0};
    write.array = tt_take(b, 1) & 1;
    tt_stream(t, host, &stream);
    FUZZ_CHECK(ald_jsonl_write(&stream, &sink, &write, host, &err) == ALD_OK);
    source = ald_source_memory(text.data, text.size);
    if (ald_jsonl_open(&source, NULL, host, &stream, &err) != ALD_OK)
        tt_fail(t, 0, 0, &text, err.msg);
    tt_check(t, &stream, 1, 1, host, &text);
    ald_buffer_clear(&text);
}

static inline void tt_round_trips(const uint8_t *data, size_t size)
{
    static tt_table t;
    ald_host host = fuzz_host();
    tt_bytes b = {data, size};
    /* A file without header whose every field is quoted says nothing by its quotes: one column is always bare then. */
    int no_header = (int)(tt_take(&b, 1) & 1);
    tt_make(&t, &b, no_header);
    tt_csv_round_trip(&t, &b, no_header, &host);
    tt_only_finite(&t);
    tt_json_round_trip(&t, &b, &host);
    FUZZ_CHECK_EMPTY();
}

#endif
