/* SPDX-License-Identifier: MIT */
/* Reading CSV: dialects, headers, options, and what is said when something is wrong. */
#include "csv_fixture.h"

static check_heap heap;

static csv_reading read_with(const char *text, size_t size, const ald_csv_options *options)
{
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = csv_host(&alloc, 1);
    ald_source source = ald_source_memory(text, size);
    csv_reading r;
    source.name = "t.csv";
    csv_read(&r, &source, options, &host, NULL);
    CHECK_HEAP_EMPTY(&heap);
    return r;
}

static void gives(const char *text, const ald_csv_options *options, const char *schema,
                  const char *rows)
{
    csv_reading r = read_with(text, strlen(text), options);
    if (CHECK_OK(r.status, &r.err)) {
        CHECK_STR(r.schema, schema);
        CHECK_STR(r.rows, rows);
    } else {
        printf("    %s\n", text);
    }
    csv_reading_free(&r);
}

static void fails_sized(const char *text, size_t size, const ald_csv_options *options,
                        ald_status status, const char *part)
{
    csv_reading r = read_with(text, size, options);
    CHECK_INT(r.status, status);
    CHECK_CONTAINS(r.err.msg, part);
    csv_reading_free(&r);
}

static void fails(const char *text, const ald_csv_options *options, const char *part)
{
    fails_sized(text, strlen(text), options, ALD_E_INVALID_FORMAT, part);
}

static void notes_are(const char *text, const ald_csv_options *options, const char *part)
{
    csv_reading r = read_with(text, strlen(text), options);
    CHECK_OK(r.status, &r.err);
    if (part[0] == '\0')
        CHECK_STR(r.notes, "");
    else
        CHECK_CONTAINS(r.notes, part);
    csv_reading_free(&r);
}

static const ald_csv_options plain = ALD_CSV_OPTIONS_INIT;

static void test_delimiters(void)
{
    ald_csv_options o = plain;
    gives("a,b\n1,x\n", &plain, "a: int64, b: string", "[1,\"x\"]\n");
    gives("a\tb\n1,5\tx\n", &plain, "a: string, b: string", "[\"1,5\",\"x\"]\n");
    gives("a;b\n1,5;2,5\n3,5;4,5\n", &plain, "a: string, b: string",
          "[\"1,5\",\"2,5\"]\n[\"3,5\",\"4,5\"]\n");
    gives("a|b\n1,2|x\n", &plain, "a: string, b: string", "[\"1,2\",\"x\"]\n");
    gives("sep=;\na;b\n1,5;2\n", &plain, "a: string, b: int64", "[\"1,5\",2]\n");
    gives("\xEF\xBB\xBFsep=,\r\na;b,c\r\n1,2\r\n", &plain, "a;b: int64, c: int64", "[1,2]\n");
    gives("SEP=|\ra|b\r1|2", &plain, "a: int64, b: int64", "[1,2]\n");
    gives("sep=\n1\n", &plain, "sep=: int64", "[1]\n");
    gives("sep=:\n1\n", &plain, "sep=:: int64", "[1]\n");
    gives("sep=x\n1\n", &plain, "sep=x: int64", "[1]\n");
    gives("sep=;x\n1;2\n", &plain, "sep=: int64, x: int64", "[1,2]\n");
    fails("sep=;\na;b\n1;2;3\n", &plain, "line 3: 3 fields");
    fails("sep=;\n", &plain, "");
    gives("full name\nAda Berg\n\"Bo, Lund\"\n", &plain, "full name: string",
          "[\"Ada Berg\"]\n[\"Bo, Lund\"]\n");
    fails("full name\nAda Berg\nBo, Lund\n", &plain, "line 3: 2 fields");
    gives("\"Preis, EUR\";\"b\"\n1;2\n", &plain, "Preis, EUR: int64, b: int64", "[1,2]\n");
    gives("a,b\n\"x;y\",1\n\"z;w\",2\n", &plain, "a: string, b: int64",
          "[\"x;y\",1]\n[\"z;w\",2]\n");
    o.no_header = 1;
    gives("1,5;2,5\n3,5;4,5\n", &o, "f0: string, f1: string",
          "[\"1,5\",\"2,5\"]\n[\"3,5\",\"4,5\"]\n");
    o.no_header = 0;
    o.delimiter = ';';
    gives("a,b;c\n1,2;3\n", &o, "a,b: string, c: int64", "[\"1,2\",3]\n");
    o.delimiter = ' ';
    gives("a b\n1 2\n", &o, "a: int64, b: int64", "[1,2]\n");
    /* The first lines alone would say semicolon. */
    gives("a;b,c\nx;y,1\n,2\nz,3\n", &plain, "a;b: string, c: int64",
          "[\"x;y\",1]\n[null,2]\n[\"z\",3]\n");
}

static void test_line_ends(void)
{
    gives("a,b\r\n1,2\r\n", &plain, "a: int64, b: int64", "[1,2]\n");
    gives("a,b\r1,2\r3,4\r", &plain, "a: int64, b: int64", "[1,2]\n[3,4]\n");
    gives("a,b\r\n1,2\n3,4\r5,6", &plain, "a: int64, b: int64", "[1,2]\n[3,4]\n[5,6]\n");
    gives("\n\r\na,b\n\n1,2\n\n\n3,4\n\n", &plain, "a: int64, b: int64", "[1,2]\n[3,4]\n");
    gives("a\n1\n\n3\n", &plain, "a: int64", "[1]\n[null]\n[3]\n");
    gives("a,b\n1,\"x\r\ny\"\r\n", &plain, "a: int64, b: string", "[1,\"x\\r\\ny\"]\n");
    gives("a,b\n,\n", &plain, "a: null, b: null", "[null,null]\n");
}

static void test_headers(void)
{
    ald_csv_options o = plain;
    gives("\xEF\xBB\xBF"
          "a,b\n1,2\n",
          &plain, "a: int64, b: int64", "[1,2]\n");
    gives("\xEF\xBB\xBF\"a\",b\n1,2\n", &plain, "a: int64, b: int64", "[1,2]\n");
    gives(",b,b\n1,2,3\n", &plain, ": int64, b: int64, b: int64", "[1,2,3]\n");
    gives("\"a\"\"b\",\"c,d\"\n1,2\n", &plain, "a\"b: int64, c,d: int64", "[1,2]\n");
    gives("a,b", &plain, "a: null, b: null", "");
    gives("a,b\n", &plain, "a: null, b: null", "");
    o.no_header = 1;
    gives("1,x\n2,y\n", &o, "f0: int64, f1: string", "[1,\"x\"]\n[2,\"y\"]\n");
    gives("1,2,3,4,5,6,7,8,9,10,11\n", &o,
          "f0: int64, f1: int64, f2: int64, f3: int64, f4: int64, f5: int64, f6: int64, f7: int64, "
          "f8: int64, f9: int64, "
          "f10: int64",
          "[1,2,3,4,5,6,7,8,9,10,11]\n");
}

static void test_quotes(void)
{
    ald_csv_options o = plain;
    gives("a,b\n5\" pipe,\"6\"\" pipe\"\n", &plain, "a: string, b: string",
          "[\"5\\\" pipe\",\"6\\\" pipe\"]\n");
    gives("a,b\n\"17\",17\n", &plain, "a: string, b: int64", "[\"17\",17]\n");
    gives("\"a\",\"b\"\n\"17\",\"x\"\n", &plain, "a: int64, b: string", "[17,\"x\"]\n");
    gives("\"a\",\"b\"\n\"17\",5\n", &plain, "a: string, b: int64", "[\"17\",5]\n");
    gives("a,b\n\"17\",\"5\"\n", &plain, "a: string, b: string", "[\"17\",\"5\"]\n");
    gives("a,b\n,\"\"\nx,\n", &plain, "a: string, b: string", "[null,\"\"]\n[\"x\",null]\n");
    o.quote = '\'';
    gives("a,b\n'x,y',\"1\n", &o, "a: string, b: string", "[\"x,y\",\"\\\"1\"]\n");
    o.quote = '5';
    fails_sized("a\n1\n", 4, &o, ALD_E_INVALID_ARG, "quote");
}

static void test_nulls(void)
{
    static const char *const na[] = {"NA", "-"}, *const with_empty[] = {"NA", ""},
                             *const number[] = {"-999"};
    ald_csv_options o = plain;
    o.nulls = na;
    o.null_count = 2;
    gives("n,c\n1,x\nNA,NA\n-,\"NA\"\n", &o, "n: int64, c: string",
          "[1,\"x\"]\n[null,null]\n[null,\"NA\"]\n");
    gives("n,c\n1,\n2,x\n", &o, "n: int64, c: string",
          "[1,\"\"]\n[2,\"x\"]\n"); /* given ones replace the empty field */
    o.nulls = with_empty;
    gives("n,c\n1,\nNA,x\n", &o, "n: int64, c: string", "[1,null]\n[null,\"x\"]\n");
    gives("\"n\",\"c\"\n\"1\",\"NA\"\n\"\",\"x\"\n", &o, "n: int64, c: string",
          "[1,null]\n[null,\"x\"]\n");
    o.nulls = number;
    o.null_count = 1;
    gives("n,f\n1,2.5\n-999,-999\n", &o, "n: int64, f: double", "[1,2.5]\n[null,null]\n");
}

static void test_comments(void)
{
    ald_csv_options o = plain;
    o.comment = '#';
    gives("# it's \"odd\na,b\n#,,,\"\n1,2\n3,#4\n# end", &o, "a: int64, b: string",
          "[1,\"2\"]\n[3,\"#4\"]\n");
    gives("a\n#x\n1\n\"#2\"\n", &o, "a: string", "[\"1\"]\n[\"#2\"]\n");
    gives("a,b\n#ff0000,1\n", &plain, "a: string, b: int64", "[\"#ff0000\",1]\n");
}

static void test_ragged(void)
{
    ald_csv_options o = plain;
    fails("a,b,c\n1,2,3\n4,5\n", &plain,
          "t.csv: line 3: 2 fields, but the header has 3\npass --ragged pad");
    fails("a,b\n1,2,\n", &plain, "line 2: 3 fields, but the header has 2");
    o.ragged = ALD_CSV_RAGGED_PAD;
    gives("a,b,c\n1,2,3\n4,5\n6,7,8,9\n10\n", &o, "a: int64, b: int64, c: int64",
          "[1,2,3]\n[4,5,null]\n[6,7,8]\n[10,null,null]\n");
    notes_are("a,b,c\n4,5\n6,7,8,9\n", &o, "2 records had too few or too many fields: padded");
    o.ragged = ALD_CSV_RAGGED_SKIP;
    gives("a,b,c\n1,2,3\n4,5\n6,7,8,9\n10,11,12\n", &o, "a: int64, b: int64, c: int64",
          "[1,2,3]\n[10,11,12]\n");
    notes_are("a,b,c\n1,2,3\n4,5\n", &o, "1 record had too few or too many fields: skipped");
    o.no_header = 1;
    o.ragged = ALD_CSV_RAGGED_ERROR;
    fails("1,2\n3\n", &o, "but the first record has 2");
}

static void test_bad_input(void)
{
    char binary[200];
    fails("", &plain, "empty");
    fails("\n\n", &plain, "no header");
    fails("a,b\n1,\"x\n2,y\n3,z\n", &plain, "line 2: the quote that opens here never closes");
    fails("a,b\n1,\"x\"y\n", &plain, "line 2: text after a closing quote");
    fails("\"a,b\n1,2\n", &plain, "line 1: the quote that opens here never closes");
    fails("a,\"b\"c\n1,2\n", &plain, "line 1: text after a closing quote");
    fails("a,b\n1,x\n2,\xE9t\n", &plain, "line 3: byte 0xe9 is not valid UTF-8\npass --encoding");
    fails("a,b\n1,x\n2,\xE2\x82", &plain, "line 3: the file ends within a UTF-8 character");
    fails("\xE9,b\n1,x\n", &plain, "line 1: byte 0xe9");
    fails_sized("a,b\n1,x\0y\n", 10, &plain, ALD_E_INVALID_FORMAT, "line 2: a NUL byte");
    fails_sized("PK\x03\x04\x14\0\0\0", 8, &plain, ALD_E_INVALID_FORMAT, "ZIP");
    fails_sized("\x1F\x8B\x08\0", 4, &plain, ALD_E_INVALID_FORMAT, "gzip");
    fails_sized("PAR1\x15\x04\x15", 7, &plain, ALD_E_INVALID_FORMAT, "Parquet");
    gives("PAR1,b\n1,2\n", &plain, "PAR1: int64, b: int64", "[1,2]\n");
    fails_sized("\xFF\xFE"
                "a\0,\0b\0\n\0",
                10, &plain, ALD_E_INVALID_FORMAT, "UTF-16");
    fails_sized("a\0,\0b\0\n\0", 8, &plain, ALD_E_INVALID_FORMAT, "utf-16le");
    for (size_t i = 0; i < sizeof binary; i++)
        binary[i] = (char)(i * 37 % 251);
    fails_sized(binary, sizeof binary, &plain, ALD_E_INVALID_FORMAT, "NUL");
    /* Line ends inside of quotes are lines too. */
    fails("a,b\n\"1\r\n\r\n\",x\n2\n", &plain, "line 5: 1 field,");
}

static struct ArrowSchema declared;

static ald_csv_options with_types(const char *text, int all)
{
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = csv_host(&alloc, 1);
    ald_csv_options o = ALD_CSV_OPTIONS_INIT;
    ald_error err;
    memset(&declared, 0, sizeof declared);
    if (!CHECK_OK(ald_schema_from_json(text, strlen(text), &host, &declared, &err), &err))
        return o;
    if (all)
        o.text.schema = &declared;
    else
        o.text.types = &declared;
    return o;
}

/* The declared schema lives in `heap` while it is used, so it is let go before the heap is looked at. */
static void declared_gives(const char *types, int all, const char *text, const char *schema,
                           const char *rows)
{
    check_heap own;
    ald_allocator alloc = check_heap_init(&own, -1);
    ald_host host = csv_host(&alloc, 1);
    ald_csv_options o = with_types(types, all);
    ald_source source = ald_source_memory(text, strlen(text));
    csv_reading r;
    source.name = "t.csv";
    csv_read(&r, &source, &o, &host, NULL);
    if (schema != NULL) {
        CHECK_OK(r.status, &r.err);
        CHECK_STR(r.schema ? r.schema : "", schema);
        CHECK_STR(r.rows, rows);
    } else {
        CHECK(r.status != ALD_OK);
        CHECK_CONTAINS(r.err.msg, rows);
    }
    csv_reading_free(&r);
    CHECK_HEAP_EMPTY(&own);
    if (declared.release != NULL)
        declared.release(&declared);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_declared(void)
{
    declared_gives("zip:string", 0, "zip,n\n01067,1\n17,2\n", "zip: string, n: int64",
                   "[\"01067\",1]\n[\"17\",2]\n");
    declared_gives("x:float64", 0, "x\n0.1234567890123456789\n1\n", "x: double",
                   "[0.12345678901234568]\n[1.0]\n");
    declared_gives("a:int32,b:decimal128(10, 2)", 1, "a,b\n1,\"2.5\"\n-7,\n",
                   "a: int32, b: decimal128(10, 2)", "[1,2.50]\n[-7,null]\n");
    declared_gives("zip:int64", 0, "a,zip\n1,80331\n2,01067\n", NULL,
                   "t.csv: line 3, column 'zip': '01067' is not int64\npass --types zip:string");
    declared_gives("a:int8", 0, "a\n1\n300\n", NULL, "line 3, column 'a': '300' is not int8");
    declared_gives("a:string", 0, "b\n1\n", NULL, "no column 'a'");
    declared_gives("a:int64,b:int64", 1, "a,c\n1,2\n", NULL,
                   "column 2 is 'c', but the schema has 'b' there");
    declared_gives("a:int64", 1, "a,b\n1,2\n", NULL, "2 columns, but the schema has 1");
    declared_gives("a:list<item: int64>", 0, "a\n1\n", NULL, "nested");
    declared_gives("{\"fields\":[{\"name\":\"a\",\"type\":\"int64\",\"nullable\":false}]}", 1,
                   "a\n1\n\n", NULL, "line 3, column 'a': null, but the schema says not null");
    declared_gives("a:int64", 0, "a,b\n\"x\n y\",2\n", NULL,
                   "line 2, column 'a': 'x\\x0a y' is not int64");
}

static void test_infer_rows(void)
{
    ald_csv_options o = plain;
    o.text.infer_rows = 2;
    gives("a,b\n1,x\n2,y\n3,z\n", &o, "a: int64, b: string", "[1,\"x\"]\n[2,\"y\"]\n[3,\"z\"]\n");
    fails(
        "a,b\n1,x\n2,y\nX9,z\n", &o,
        "line 4, column 'a': 'X9' is not int64\npass --types a:string, or leave out --infer-rows");
    fails("a,b\n1,x\n2,y\n\"3\",z\n", &o, "line 4, column 'a': '3' is not int64");
    fails("a,b\n,x\n,y\n3,z\n", &o, "line 4, column 'a': '3' is not null");
    gives(
        "a\n0.5\n1.5\n\n0.1\n12\n-0\nnan\n0.30000000000000004\n1e3\n9007199254740992\n", &o,
        "a: double",
        "[0.5]\n[1.5]\n[null]\n[0.1]\n[12.0]\n[-0.0]\n[\"NaN\"]\n[0.30000000000000004]\n[1000.0]\n"
        "[9007199254740992.0]\n");
    fails("a\n0.5\n1.5\n0.1234567890123456789\n", &o,
          "line 4, column 'a': '0.1234567890123456789' is not double\npass --types a:string, or "
          "leave out --infer-rows");
    fails("a\n0.5\n1.5\n9007199254740993\n", &o, "line 4, column 'a': '9007199254740993'");
    fails("a\n0.5\n1.5\n1234567890.12345678901e-3\n", &o, "line 4, column 'a': '12345");
}

static void test_notes(void)
{
    notes_are("a\n1\n2\n", &plain, "");
    notes_are("a\n1.5\n0.1234567890123456789\n", &plain,
              "column 'a' is decimal: line 3 has '0.1234567890123456789'");
    notes_are("a\n0.1234567890123456789\n", &plain, "--types a:float64");
    notes_are("a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\nN/A\n", &plain,
              "column 'a' is string: line 12 has 'N/A' (others: int64); --null 'N/A'");
    notes_are("a\n2024-01-31T10:00Z\n2024-01-31T10:00+02:00\n", &plain,
              "kept as the same instants in UTC");
    notes_are("a\nx\ny\n1\n", &plain, "");
}

/* Empty fields of a column that is text for long: a --null that the note proposes would make them texts. */
static void test_notes_of_empty_fields(void)
{
    static char text[20000];
    for (int with_empty = 0; with_empty < 2; with_empty++) {
        size_t n = (size_t)snprintf(text, sizeof text, "a,b\n");
        for (int i = 0; i < 500; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "%d,text%d\n", i, i);
        n += (size_t)snprintf(text + n, sizeof text - n, "NA,%s\n7,x\n", with_empty ? "" : "y");
        notes_are(text, &plain,
                  with_empty ? "--null 'NA' --null '' reads that as null"
                             : "--null 'NA' reads that as null");
    }
}

static void test_encodings(void)
{
    ald_csv_options o = plain;
    csv_reading r;
    o.text.encoding = ALD_ENCODING_LATIN1;
    gives("a,b\n\xE9\x80,1\n", &o, "a: string, b: int64", "[\"\xC3\xA9\xC2\x80\",1]\n");
    o.text.encoding = ALD_ENCODING_WINDOWS_1252;
    gives("a,b\n\xE9\x80,1\n", &o, "a: string, b: int64", "[\"\xC3\xA9\xE2\x82\xAC\",1]\n");
    fails("a,b\nx,1\n\x81,1\n", &o, "line 3: byte 0x81");
    o.text.encoding = ALD_ENCODING_UTF16;
    r = read_with("\xFF\xFE"
                  "a\0,\0b\0\n\0"
                  "\x3D\xD8\x00\xDE,\0"
                  "1\0",
                  18, &o);
    CHECK_STR(r.rows, "[\"\xF0\x9F\x98\x80\",1]\n");
    csv_reading_free(&r);
    r = read_with("\xFE\xFF\0a\0\n\0x", 8, &o);
    CHECK_STR(r.rows, "[\"x\"]\n");
    csv_reading_free(&r);
    fails_sized("a\0\n\0\x3D\xD8,\0", 8, &o, ALD_E_INVALID_FORMAT, "line 2");
    fails_sized("a\0\n\0x", 5, &o, ALD_E_INVALID_FORMAT, "line 2");
    o.text.encoding = ALD_ENCODING_UTF16BE;
    r = read_with("\0a\0\n\0x", 6, &o);
    CHECK_STR(r.rows, "[\"x\"]\n");
    csv_reading_free(&r);
}

static void test_limits(void)
{
    ald_csv_options o = plain;
    o.max_field_bytes = 10;
    gives("a,b\n1234567890,1\n", &o, "a: int64, b: int64", "[1234567890,1]\n");
    fails_sized("a,b\n1,2\n12345678901,1\n", 22, &o, ALD_E_LIMIT_EXCEEDED,
                "line 3: a field of more than 10 bytes");
    fails_sized("a,b\n1,2\n\"1234567890\n1\",1\n", 25, &o, ALD_E_LIMIT_EXCEEDED,
                "line 3: a field of more than 10");
}

static void test_batches(void)
{
    ald_csv_options o = plain;
    char text[40000] = "a,b\n";
    size_t n = 4;
    csv_reading r;
    for (int i = 0; i < 5000; i++)
        n += (size_t)snprintf(text + n, 16, "%d,%d\n", i, i % 7);
    o.text.batch_rows = 999;
    r = read_with(text, n, &o);
    CHECK_INT(r.row_count, 5000);
    CHECK_UINT(r.batch_count, 6);
    CHECK_UINT(r.most_rows, 999);
    csv_reading_free(&r);
}

static int stop_at_half(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    return done * 2 >= total;
}

static void test_progress(void)
{
    ald_csv_options o = plain;
    o.text.progress = stop_at_half;
    fails_sized("a\n1\n", 4, &o, ALD_E_IO, "cancelled");
}

static void test_options(void)
{
    ald_csv_options o = plain;
    o.struct_size = 8;
    fails_sized("a\n", 2, &o, ALD_E_INVALID_ARG, "struct_size");
    o = plain;
    o.delimiter = '"';
    fails_sized("a\n", 2, &o, ALD_E_INVALID_ARG, "three characters");
    o = plain;
    o.delimiter = '\n';
    fails_sized("a\n", 2, &o, ALD_E_INVALID_ARG, "ASCII");
    o = plain;
    o.ragged = 7;
    fails_sized("a\n", 2, &o, ALD_E_INVALID_ARG, "ragged");
}

/* Every allocation fails once, in both passes, with notes, quotes, nulls and several blocks. */
static void test_no_memory(void)
{
    static const char text[] = "a,b,c\n1,x,0.1234567890123456789\n2,\"y\"\"z\",1\n,,2\n3,w,4\n";
    static const char *const nulls[] = {"", "NA"};
    ald__csv_tuning tuning = {20, 10, NULL, 0, 0, NULL};
    ald_csv_options o = plain;
    o.nulls = nulls;
    o.null_count = 2;
    o.text.batch_rows = 2;
    for (int encoding = 0; encoding < 2; encoding++) {
        o.text.encoding = (uint8_t)encoding;
        for (int64_t n = 0;; n++) {
            ald_allocator alloc = check_heap_init(&heap, n);
            ald_host host = csv_host(&alloc, 2);
            ald_source source = ald_source_memory(text, sizeof text - 1);
            csv_reading r;
            ald_status status;
            csv_read(&r, &source, &o, &host, &tuning);
            status = r.status;
            CHECK_HEAP_EMPTY(&heap);
            csv_reading_free(&r);
            if (status == ALD_OK)
                break;
            CHECK_INT(status, ALD_E_NOMEM);
            REQUIRE(n < 3000);
        }
    }
}

/* The n-th read fails. */
typedef struct failing {
    ald_source inner;
    int left;
} failing;

static ald_status failing_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    failing *f = ctx;
    if (f->left-- <= 0)
        return ald_error_set(err, ALD_E_IO, offset, "the disk is gone");
    return f->inner.read_at(f->inner.ctx, offset, buf, size, err);
}

static void test_no_reads(void)
{
    static const char text[] = "a,b\n1,0.1234567890123456789\n2,1\n3,4\n5,6\n";
    ald__csv_tuning tuning = {8, 8, NULL, 0, 0, NULL};
    for (int n = 0;; n++) {
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host = csv_host(&alloc, 2);
        failing f = {ald_source_memory(text, sizeof text - 1), n};
        ald_source source = {.size_bytes = sizeof text - 1, .read_at = failing_read, .ctx = &f};
        csv_reading r;
        ald_status status;
        csv_read(&r, &source, &plain, &host, &tuning);
        status = r.status;
        if (status != ALD_OK)
            CHECK_CONTAINS(r.err.msg, "the disk is gone");
        csv_reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK)
            break;
        CHECK_INT(status, ALD_E_IO);
        REQUIRE(n < 500);
    }
}

/* A file that is another one in pass two: an error or its rows, never a crash. */
typedef struct changing {
    char text[64];
    size_t size;
    int reads, change_at;
} changing;

static ald_status changing_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    static const char other[] = "\",\"\n\n\xFF,,,,,\n\0xyz\"\"\"abc,1,2,3\n,,\n\r\r,,\"";
    changing *c = ctx;
    (void)err;
    if (c->reads++ == c->change_at) {
        for (size_t i = 0; i < c->size; i++)
            c->text[i] = other[(i + (size_t)c->change_at) % (sizeof other - 1)];
    }
    memcpy(buf, c->text + offset, size);
    return ALD_OK;
}

static void test_changing_file(void)
{
    ald__csv_tuning tuning = {8, 8, NULL, 0, 0, NULL};
    for (int at = 0; at < 60; at++) {
        ald_allocator alloc = check_heap_init(&heap, -1);
        ald_host host = csv_host(&alloc, 1 + (uint32_t)(at % 2));
        changing c = {"a,b\n1,x\n2,y\n33,zz\n4,\"w\"\n5,v\n", 0, 0, at};
        ald_source source = {.read_at = changing_read, .ctx = &c};
        csv_reading r;
        c.size = strlen(c.text);
        source.size_bytes = c.size;
        csv_read(&r, &source, &plain, &host, &tuning);
        if (r.status == ALD_OK)
            CHECK_INT(r.row_count <= 10, 1);
        csv_reading_free(&r);
        CHECK_HEAP_EMPTY(&heap);
    }
}

int main(void)
{
    RUN(test_delimiters);
    RUN(test_line_ends);
    RUN(test_headers);
    RUN(test_quotes);
    RUN(test_nulls);
    RUN(test_comments);
    RUN(test_ragged);
    RUN(test_bad_input);
    RUN(test_declared);
    RUN(test_infer_rows);
    RUN(test_notes);
    RUN(test_notes_of_empty_fields);
    RUN(test_encodings);
    RUN(test_limits);
    RUN(test_batches);
    RUN(test_progress);
    RUN(test_options);
    RUN(test_no_memory);
    RUN(test_no_reads);
    RUN(test_changing_file);
    return check_done();
}
