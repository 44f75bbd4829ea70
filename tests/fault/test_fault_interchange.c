/* SPDX-License-Identifier: MIT */
/* Arrow IPC, CSV and JSON, in and out, while memory, input, output and scratch space fail at every call in turn. */
#include "fault/fault_host.h"
#include "fault/table_stream.h"

/* Every column kind that text can have, quotes over line ends, nulls, a column that becomes text late. */
static const char csv_text[] =
    "id,name,ratio,when,day,flag,late,empty\r\n"
    "1,\"quoted, with comma\",0.5,2024-02-29T12:00:00Z,2024-02-29,true,1,\r\n"
    "2,\"two\nlines \"\"and quotes\"\"\",1e-3,2024-03-01T00:00:00.123456Z,1999-12-31,false,2,\r\n"
    "-3,plain text that is longer than twelve bytes,,1969-12-31T23:59:59Z,,true,x,\r\n"
    "9223372036854775807,\xc3\xa9t\xc3\xa9,3.25,,2000-01-01,,4,\r\n";

static const char jsonl_text[] =
    "{\"id\": 1, \"name\": \"one\", \"list\": [1, 2, 3], \"deep\": {\"a\": 1.5, \"b\": [\"x\"]}}\n"
    "{\"id\": 2, \"name\": null, \"list\": [], \"deep\": {\"a\": null, \"b\": []}}\n"
    "{\"id\": 3, \"name\": \"a longer text with \\u00e9 and \\\"quotes\\\"\", \"list\": null}\n"
    "{\"id\": 4, \"late\": true, \"deep\": {\"b\": [\"y\", null, \"z\"]}}\n";

static const char json_array_text[] = "[{\"a\": 1, \"b\": \"x\"}, {\"a\": 2.5}, {\"b\": \"y\"}]";

/* Opened, read to the end, released. */
static ald_status drain(ald_status st, struct ArrowArrayStream *stream, ald_error *err)
{
    struct ArrowSchema schema;
    struct ArrowArray batch;
    if (st != ALD_OK) {
        CHECK(stream->release == NULL);
        return st;
    }
    st = ald_stream_schema(stream, &schema, err);
    CHECK((st == ALD_OK) == (schema.release != NULL));
    if (schema.release != NULL)
        schema.release(&schema);
    while (st == ALD_OK) {
        st = ald_stream_next(stream, &batch, err);
        if (batch.release == NULL)
            break;
        CHECK(st == ALD_OK);
        batch.release(&batch);
    }
    stream->release(stream);
    return st;
}

static ald_status read_ipc(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_status st = ald_ipc_open(&f->source, ALD_IPC_AUTO, &f->host, &stream, err);
    return drain(st, &stream, err);
}

static uint32_t batch_rows = 2;

static ald_status read_csv(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_csv_options o = ALD_CSV_OPTIONS_INIT;
    o.text.batch_rows = batch_rows;
    return drain(ald_csv_open(&f->source, &o, &f->host, &stream, err), &stream, err);
}

static ald_status read_csv_utf16(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_csv_options o = ALD_CSV_OPTIONS_INIT;
    o.text.encoding = ALD_ENCODING_UTF16LE;
    return drain(ald_csv_open(&f->source, &o, &f->host, &stream, err), &stream, err);
}

static ald_status read_jsonl(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_jsonl_options o = ALD_JSONL_OPTIONS_INIT;
    o.text.batch_rows = batch_rows;
    return drain(ald_jsonl_open(&f->source, &o, &f->host, &stream, err), &stream, err);
}

static uint64_t table_seed = 253; /* a struct, a dense union, numbers */
static uint8_t ipc_kind, ipc_compression;

static ald_status write_ipc(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_ipc_options o = ALD_IPC_OPTIONS_INIT;
    o.kind = ipc_kind;
    o.compression = ipc_compression;
    table_open(table_seed, 3, &stream);
    ald_status st = ald_ipc_write(&stream, &f->sink, &o, &f->host, err);
    TABLE_CHECK_RELEASED(&stream);
    return st;
}

static ald_status write_csv(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    table_open(table_seed, 3, &stream);
    ald_status st = ald_csv_write(&stream, &f->sink, NULL, &f->host, err);
    TABLE_CHECK_RELEASED(&stream);
    return st;
}

static ald_status write_jsonl(fault_host *f, ald_error *err)
{
    struct ArrowArrayStream stream;
    table_open(table_seed, 3, &stream);
    ald_status st = ald_jsonl_write(&stream, &f->sink, NULL, &f->host, err);
    TABLE_CHECK_RELEASED(&stream);
    return st;
}

/* Memory, then every read. */
static void reading_fails(const char *name, fault_job job, const void *data, size_t size)
{
    CHECK(fault_each(FAULT_ALLOC, name, job, data, size, NULL) >= 5);
    CHECK(fault_each(FAULT_READ, name, job, data, size, NULL) >= 1);
}

static void test_read_ipc(void)
{
    static const char *const names[] = {"data/ipc_read/types.arrows",
                                        "data/ipc_read/deltas.arrows"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t size = 0;
        uint8_t *data = fault_file(names[i], &size);
        reading_fails(names[i], read_ipc, data, size);
        free(data);
    }
}

/* Files, with compressed buffers too. */
static void test_read_ipc_files(void)
{
    static fault_host f;
    static const uint8_t codecs[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                     ALD_COMPRESSION_LZ4};
    for (table_seed = 1; table_seed <= 40; table_seed++) {
        ald_error err = {0};
        ipc_kind = ALD_IPC_FILE;
        ipc_compression = codecs[table_seed % 3];
        fault_init(&f, NULL, 0);
        REQUIRE_OK(write_ipc(&f, &err), &err);
        reading_fails("an IPC file", read_ipc, f.output.data, f.output.size);
        fault_clear(&f);
    }
    table_seed = 253;
}

static void test_read_csv(void)
{
    uint8_t wide[2 * sizeof csv_text];
    size_t size = 0;
    reading_fails("CSV", read_csv, csv_text, sizeof csv_text - 1);
    for (const char *p = csv_text; *p != '\0'; p++) {
        if ((*p & 0x80) != 0)
            continue; /* the two-byte letters are left out */
        wide[size++] = (uint8_t)*p;
        wide[size++] = 0;
    }
    reading_fails("CSV in UTF-16", read_csv_utf16, wide, size);
}

static void test_read_jsonl(void)
{
    reading_fails("JSON lines", read_jsonl, jsonl_text, sizeof jsonl_text - 1);
    reading_fails("a JSON array", read_jsonl, json_array_text, sizeof json_array_text - 1);
}

/* Longer inputs: windows are refilled, columns change their type far down. */
static void test_read_long_text(void)
{
    fault_bytes csv = {NULL, 0, 0}, json = {NULL, 0, 0};
    char line[200];
    batch_rows = 1000;
    fault_append(&csv, "a,b,c\n", 6);
    for (int i = 0; i < 6000; i++) {
        int size = snprintf(line, sizeof line, "%d,%d.5,text number %d%s\n", i, i, i,
                            i == 5000 ? " \"\" and more" : "");
        fault_append(&csv, line, (size_t)size);
        size = snprintf(line, sizeof line, "{\"a\": %d%s, \"b\": [%d], \"c\": \"text %d\"}\n", i,
                        i == 5000 ? ".5" : "", i, i);
        fault_append(&json, line, (size_t)size);
    }
    CHECK(fault_each(FAULT_READ, "long CSV", read_csv, csv.data, csv.size, NULL) >= 1);
    CHECK(fault_each(FAULT_READ, "long JSON", read_jsonl, json.data, json.size, NULL) >= 1);
    batch_rows = 2;
    free(csv.data);
    free(json.data);
}

static void test_write_ipc(void)
{
    static const uint8_t codecs[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_ZSTD_L3,
                                     ALD_COMPRESSION_LZ4};
    for (size_t i = 0; i < sizeof codecs; i++) {
        ipc_kind = i % 2 ? ALD_IPC_FILE : ALD_IPC_STREAM;
        ipc_compression = codecs[i];
        CHECK(fault_each(FAULT_ALLOC, "IPC", write_ipc, NULL, 0, NULL) >= 20);
        CHECK(fault_each(FAULT_WRITE, "IPC", write_ipc, NULL, 0, NULL) >= 4);
    }
    ipc_kind = ALD_IPC_FILE;
    ipc_compression = ALD_COMPRESSION_NONE;
    for (table_seed = 1; table_seed <= 60; table_seed++)
        fault_each(FAULT_ALLOC, "IPC of a random table", write_ipc, NULL, 0, NULL);
    table_seed = 253;
}

/* CSV cannot hold rows without columns, and says so. */
static int has_columns(uint64_t seed)
{
    struct ArrowSchema schema;
    int64_t count;
    rt_schema(seed, table_alloc(), &schema);
    count = schema.n_children;
    schema.release(&schema);
    return count > 0;
}

static void test_write_text(void)
{
    CHECK(fault_each(FAULT_ALLOC, "CSV", write_csv, NULL, 0, NULL) >= 5);
    CHECK(fault_each(FAULT_WRITE, "CSV", write_csv, NULL, 0, NULL) >= 1);
    CHECK(fault_each(FAULT_ALLOC, "JSON", write_jsonl, NULL, 0, NULL) >= 5);
    CHECK(fault_each(FAULT_WRITE, "JSON", write_jsonl, NULL, 0, NULL) >= 1);
    for (table_seed = 1; table_seed <= 60; table_seed++) {
        if (has_columns(table_seed))
            fault_each(FAULT_ALLOC, "CSV of a random table", write_csv, NULL, 0, NULL);
        fault_each(FAULT_ALLOC, "JSON of a random table", write_jsonl, NULL, 0, NULL);
    }
    table_seed = 253;
}

/* Options and schemas given as text. */
static ald_status parse_schema(fault_host *f, ald_error *err)
{
    struct ArrowSchema schema;
    ald_buffer text = {NULL, 0, 0, &f->host.alloc};
    ald_status st =
        ald_schema_from_json((const char *)f->input, f->input_size, &f->host, &schema, err);
    CHECK((st == ALD_OK) == (schema.release != NULL));
    if (st != ALD_OK)
        return st;
    st = ald_schema_to_json(&schema, &text, err);
    schema.release(&schema);
    ald_buffer_clear(&text);
    return st;
}

static void test_schema_text(void)
{
    static const char pairs[] =
        "a:int64,b:string,c:list<item: struct<x: double, y: timestamp[us]>>";
    static const char json[] = "{\"fields\":[{\"name\":\"a\",\"type\":\"decimal128(9, 2)\","
                               "\"nullable\":false,\"metadata\":{\"k\":\"v\"}},"
                               "{\"name\":\"b\",\"type\":\"map<string, int32>\"}]}";
    CHECK(fault_each(FAULT_ALLOC, "name:type", parse_schema, pairs, sizeof pairs - 1, NULL) >= 5);
    CHECK(fault_each(FAULT_ALLOC, "schema JSON", parse_schema, json, sizeof json - 1, NULL) >= 5);
}

int main(void)
{
    RUN(test_read_ipc);
    RUN(test_read_ipc_files);
    RUN(test_read_csv);
    RUN(test_read_jsonl);
    RUN(test_read_long_text);
    RUN(test_write_ipc);
    RUN(test_write_text);
    RUN(test_schema_text);
    return check_done();
}
