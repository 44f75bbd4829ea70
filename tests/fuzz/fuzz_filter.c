/* SPDX-License-Identifier: MIT */
/* Conditions on a table of most types. One that is understood chooses rising rows; said twice, joined by `or` or by `and`, it
 * chooses the same: with terms T1 … Tn, the term that `and` makes of Tn and T1 adds nothing to the two. */
#include "fuzz/fuzz_host.h"

#define ROW_COUNT 5

static const char table[] =
    "i,u,f,d,t,b,s,day,at,x y\n"
    "-3,18446744073709551615,1.5,-0.50,08:00:00,true,b,2020-01-01,2020-01-01T00:00:00Z,AA==\n"
    "2,0,nan,10.00,12:30:00,false,a,1969-12-31,1969-12-31T23:59:59Z,AQ==\n"
    "7,9223372036854775808,-inf,9.99,23:59:59,true,ab,2024-02-29,2024-02-29T12:00:00Z,/w==\n"
    ",,,,,,,,,\n"
    "2,1,0.1,-0.51,00:00:00,true,it's,2000-01-01,2000-01-01T00:00:00Z,AAAA\n";

static const char types[] =
    "{\"fields\":[{\"name\":\"i\",\"type\":\"int64\"},{\"name\":\"u\",\"type\":\"uint64\"},"
    "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"d\",\"type\":\"decimal128(5, 2)\"},"
    "{\"name\":\"t\",\"type\":\"time32[s]\"},{\"name\":\"b\",\"type\":\"bool\"},"
    "{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"day\",\"type\":\"date32[day]\"},"
    "{\"name\":\"at\",\"type\":\"timestamp[us, tz=UTC]\"},{\"name\":\"x y\",\"type\":\"binary\"}]}";

static struct ArrowSchema schema;
static struct ArrowArray batch;

static void make_table(const ald_host *host)
{
    static ald_source source;
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    source = ald_source_memory(table, sizeof table - 1);
    FUZZ_CHECK(ald_schema_from_json(types, sizeof types - 1, host, &schema, NULL) == ALD_OK);
    csv.text.schema = &schema;
    FUZZ_CHECK(ald_csv_open(&source, &csv, host, &stream, NULL) == ALD_OK);
    FUZZ_CHECK(ald_stream_next(&stream, &batch, NULL) == ALD_OK && batch.length == ROW_COUNT);
    stream.release(&stream);
}

/* The rows that fit as bits. */
static ald_status choose(const char *text, size_t size, const ald_host *host, unsigned *rows)
{
    ald_error err = {0};
    ald_filter *filter = NULL;
    int64_t found[ROW_COUNT];
    size_t count = 0;
    *rows = 0;
    ald_status status = ald_filter_new(text, size, &schema, host, &filter, &err);
    FUZZ_CHECK((status == ALD_OK) == (filter != NULL));
    fuzz_check_error(status, &err);
    if (status != ALD_OK) {
        FUZZ_CHECK(status == ALD_E_INVALID_ARG || status == ALD_E_LIMIT_EXCEEDED);
        return status;
    }
    FUZZ_CHECK(ald_filter_rows(filter, &batch, found, &count, &err) == ALD_OK);
    FUZZ_CHECK(count <= ROW_COUNT);
    for (size_t i = 0; i < count; i++) {
        FUZZ_CHECK(found[i] >= 0 && found[i] < ROW_COUNT && (i == 0 || found[i] > found[i - 1]));
        *rows |= 1u << found[i];
    }
    ald_filter_free(filter);
    return ALD_OK;
}

static void check_twice(const char *text, size_t size, const char *joined, const ald_host *host,
                        unsigned rows)
{
    static char twice[2 * (64 << 10) + 8];
    unsigned again = 0;
    size_t joint = strlen(joined);
    if (2 * size + joint > sizeof twice)
        return;
    memcpy(twice, text, size);
    memcpy(twice + size, joined, joint);
    memcpy(twice + size + joint, text, size);
    ald_status status = choose(twice, 2 * size + joint, host, &again);
    FUZZ_CHECK(status == ALD_OK || status == ALD_E_LIMIT_EXCEEDED);
    FUZZ_CHECK(status != ALD_OK || again == rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    unsigned rows = 0;
    if (batch.release == NULL)
        make_table(&host);
    size_t before = fuzz_live_bytes;
    if (choose((const char *)data, size, &host, &rows) == ALD_OK) {
        check_twice((const char *)data, size, " or ", &host, rows);
        check_twice((const char *)data, size, " and ", &host, rows);
    }
    FUZZ_CHECK(fuzz_live_bytes == before);
    return 0;
}
