/* SPDX-License-Identifier: MIT */
/* Damaged files. One wrong bit anywhere, or any missing end, is an error. Where the CRC32 is put right again, as an
 * attacker would, a file may load as another table, but never breaks anything, and its sha256 still guards the payload. */
#include "core/base/endian.h"
#include "core/codec/codec.h"
#include "fault/fault_host.h"
#include "fault/table_stream.h"

#define RENDER_ROWS 10000

typedef struct sample {
    const char *name; /* of a golden file, or of one that is saved here */
    int golden;
    uint8_t compression, sha256;
    uint64_t seed;
    size_t batches;
} sample;

static const sample samples[] = {
    {"saved, none", 0, ALD_COMPRESSION_NONE, 0, 306, 1},
    {"saved, none, views", 0, ALD_COMPRESSION_NONE, 0, 184, 1},
    {"saved, none, sha256", 0, ALD_COMPRESSION_NONE, 1, 141, 1},
    {"saved, zstd-l3, sha256", 0, ALD_COMPRESSION_ZSTD_L3, 1, 253, 1},
    {"saved, zstd-l19", 0, ALD_COMPRESSION_ZSTD_L19, 0, 112, 1},
    {"saved, lz4", 0, ALD_COMPRESSION_LZ4, 0, 351, 1},
    {"saved, empty", 0, ALD_COMPRESSION_LZ4, 0, 197, 0},
    {"golden/crate-0.2/ints-zstd3.ald", 1, 0, 0, 0, 0},
    {"golden/wire-1.3/type-utf8-stream-zstd.ald", 1, 0, 0, 0, 0},
    {"golden/wire-1.3/type-list-trueno.ald", 1, 0, 0, 0, 0},
};

static fault_host host;
static uint8_t *file; /* the sample at hand, whole and right */
static size_t file_size;
static ald_sections sections;
static rt_out values;         /* of the file that was loaded last */
static rt_out right;          /* of the sample */
static uint64_t loaded_count; /* changed files that still load */

static void save_sample(const sample *s)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_error err = {0};
    o.compression = s->compression;
    o.write_sha256 = s->sha256;
    fault_init(&host, NULL, 0);
    table_open(s->seed, s->batches, &stream);
    rt_must(ald_save(&stream, &host.sink, &o, &host.host, &err));
    file_size = host.output.size;
    file = (uint8_t *)rt_calloc(1, file_size);
    memcpy(file, host.output.data, file_size);
    fault_clear(&host);
}

/* Every value is looked at, so that a wild offset is met here and not in a user's program. */
static void look_at_all(const ald_dataset *d)
{
    const struct ArrowSchema *schema = ald_dataset_schema(d);
    values.size = 0;
    for (size_t i = 0; i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        ald_error err = {0};
        rt_must(ald_dataset_batch(d, i, &batch, &err));
        for (int64_t row = 0; row < batch.length && row < RENDER_ROWS; row++)
            rt_render(schema, &batch, row, &values);
        batch.release(&batch);
    }
}

/* The bytes in memory of their own, so that a read past their end is seen. */
static ald_status load(const uint8_t *bytes, size_t size, ald_error *err)
{
    ald_dataset *d = NULL;
    uint8_t *copy = (uint8_t *)malloc(size > 0 ? size : 1);
    ald_status st;
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, bytes, size);
    fault_init(&host, copy, size);
    st = ald_load(&host.source, NULL, &host.host, &d, err);
    if (st == ALD_OK)
        look_at_all(d);
    else
        CHECK(err->status == (int32_t)st && err->msg[0] != '\0' && d == NULL);
    CHECK(st != ALD_E_NOMEM && st != ALD_E_IO && st != ALD_E_INVALID_ARG);
    ald_dataset_free(d);
    fault_check_clean(&host);
    free(copy);
    return st;
}

static void inspect(const uint8_t *bytes, size_t size)
{
    ald_inspection *inspection = NULL;
    ald_error err = {0};
    ald_status st;
    fault_init(&host, bytes, size);
    st = ald_inspect(&host.source, NULL, &host.host, &inspection, &err);
    CHECK((st == ALD_OK) == (inspection != NULL));
    CHECK(st != ALD_E_NOMEM && st != ALD_E_IO && st != ALD_E_INVALID_ARG);
    ald_inspection_free(inspection);
    fault_check_clean(&host);
}

static void put_crc(uint8_t *bytes, size_t size)
{
    ald__store_le32(bytes + size - 4, ald__crc32(0, bytes, size - 4));
}

static int inside(const ald_range *range, size_t at)
{
    return at >= range->begin && at < range->end;
}

static int same_values(void)
{
    return values.size == right.size &&
           (right.size == 0 || memcmp(values.data, right.data, right.size) == 0);
}

static void open_sample(const sample *s)
{
    ald_dataset *d = NULL;
    ald_error err = {0};
    if (s->golden)
        file = fault_file(s->name, &file_size);
    else
        save_sample(s);
    fault_init(&host, file, file_size);
    if (!CHECK_OK(ald_load(&host.source, NULL, &host.host, &d, &err), &err)) {
        printf("    %s\n", s->name);
        exit(1);
    }
    sections = ald_dataset_info(d)->sections;
    look_at_all(d);
    right.size = 0;
    rt_put(&right, values.data, values.size);
    ald_dataset_free(d);
}

static void each_sample(void (*check)(const sample *s))
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        int before = check_failures;
        open_sample(&samples[i]);
        check(&samples[i]);
        if (check_failures > before)
            printf("    in %s, %zu bytes\n", samples[i].name, file_size);
        free(file);
        file = NULL;
    }
}

static int check_refused(const uint8_t *bytes, size_t size, size_t at, const char *what)
{
    ald_error err = {0};
    int ok = CHECK(load(bytes, size, &err) != ALD_OK);
    if (!ok)
        printf("    %s at byte %zu\n", what, at);
    return ok;
}

static void flips(const sample *s)
{
    (void)s;
    for (size_t i = 0; i < 8 * file_size && check_failures < 10; i++) {
        file[i / 8] ^= (uint8_t)(1u << (i % 8));
        check_refused(file, file_size, i / 8, "flipped bit");
        file[i / 8] ^= (uint8_t)(1u << (i % 8));
    }
}

static void truncations(const sample *s)
{
    (void)s;
    for (size_t size = 0; size < file_size && check_failures < 10; size++) {
        ald_error err = {0};
        if (!CHECK_INT(load(file, size, &err), ALD_E_TRUNCATED))
            printf("    cut to %zu bytes: %s\n", size, err.msg);
        inspect(file, size);
    }
}

/* The same with an end that has the right CRC32, and with bytes too many. */
static void other_lengths(const sample *s)
{
    uint8_t *longer = (uint8_t *)rt_calloc(1, file_size + 64);
    (void)s;
    for (size_t size = 4; size < file_size + 64 && check_failures < 10; size++) {
        if (size == file_size)
            continue;
        memset(longer, 0, file_size + 64);
        memcpy(longer, file, size < file_size ? size : file_size);
        if (size > file_size)
            check_refused(longer, size, size, "bytes after the end,");
        put_crc(longer, size);
        check_refused(longer, size, size, "another end");
    }
    free(longer);
}

static void flips_with_crc(const sample *s)
{
    uint8_t *changed = (uint8_t *)rt_calloc(1, file_size);
    for (size_t i = 0; i < 8 * (file_size - 4) && check_failures < 10; i++) {
        size_t at = i / 8;
        ald_error err = {0};
        ald_status st;
        memcpy(changed, file, file_size);
        changed[at] ^= (uint8_t)(1u << (i % 8));
        put_crc(changed, file_size);
        st = load(changed, file_size, &err);
        inspect(changed, file_size);
        loaded_count += st == ALD_OK;
        /* Some bits of a compressed frame do not matter; the bytes that come out do. */
        if (s->sha256 && inside(&sections.payload, at) &&
            !CHECK(st != ALD_OK || (s->compression != ALD_COMPRESSION_NONE && same_values())))
            printf("    sha256 did not see a change at byte %zu\n", at);
    }
    free(changed);
}

/* Runs of bytes overwritten by what often breaks readers. */
static void overwritten_with_crc(const sample *s)
{
    static const uint8_t fills[] = {0x00, 0x7f, 0x80, 0xff};
    uint8_t *changed = (uint8_t *)rt_calloc(1, file_size);
    (void)s;
    for (size_t at = 0; at < file_size - 4 && check_failures < 10; at++) {
        for (size_t k = 0; k < 2 * sizeof fills; k++) {
            size_t size = (size_t)4 << (k / sizeof fills);
            ald_error err = {0};
            memcpy(changed, file, file_size);
            for (size_t i = at; i < at + size && i < file_size - 4; i++)
                changed[i] = fills[k % sizeof fills];
            put_crc(changed, file_size);
            loaded_count += load(changed, file_size, &err) == ALD_OK;
        }
    }
    free(changed);
}

static void test_flips(void)
{
    each_sample(flips);
}

static void test_truncations(void)
{
    each_sample(truncations);
}

static void test_other_lengths(void)
{
    each_sample(other_lengths);
}

static void test_flips_with_crc(void)
{
    loaded_count = 0;
    each_sample(flips_with_crc);
    CHECK(loaded_count > 0); /* else nothing beyond the checksum was tested */
}

static void test_overwritten_with_crc(void)
{
    loaded_count = 0;
    each_sample(overwritten_with_crc);
    CHECK(loaded_count > 0);
}

int main(void)
{
    RUN(test_flips);
    RUN(test_truncations);
    RUN(test_other_lengths);
    RUN(test_flips_with_crc);
    RUN(test_overwritten_with_crc);
    free(values.data);
    free(right.data);
    return check_done();
}
