/* SPDX-License-Identifier: MIT */
/* Real files that fail: a full device, a file size limit, folders, missing and shrinking files, no place for scratch. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/ald.h"
#include "ald/native.h"
#include "check.h"

#define OLD_TEXT "what was there before"

static char folder[] = "fault-native-XXXXXX";
static char output[64];

static void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        printf("cannot write %s\n", path);
        exit(1);
    }
}

static void check_text(const char *path, const char *want)
{
    char got[256] = "";
    FILE *file = fopen(path, "rb");
    if (CHECK(file != NULL)) {
        got[fread(got, 1, sizeof got - 1, file)] = '\0';
        (void)fclose(file);
        CHECK_STR(got, want);
    }
}

static int names_in(const char *path)
{
    DIR *dir = opendir(path);
    int count = 0;
    for (struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir))
        count += e->d_name[0] != '.';
    if (dir != NULL)
        (void)closedir(dir);
    return count;
}

/* A sum table of two columns, `rows` rows of text that does not compress well. */
static ald_status open_table(char *text, size_t size, const ald_host *host,
                             struct ArrowArrayStream *out, ald_error *err)
{
    static ald_source source;
    uint64_t state = 1;
    size_t used = (size_t)snprintf(text, size, "a,b\n");
    while (used + 64 < size) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        used += (size_t)snprintf(text + used, size - used, "%llu,x%llx\n",
                                 (unsigned long long)(state >> 20), (unsigned long long)state);
    }
    source = ald_source_memory(text, used);
    return ald_csv_open(&source, NULL, host, out, err);
}

static ald_status convert_to(const char *path, uint32_t flags, int compat, ald_error *err)
{
    static char text[400000];
    ald_host host = ald_native_host(1);
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream table;
    ald_file_sink *file = NULL;
    ald_status st = ald_file_create(path, flags, &file, err);
    if (st != ALD_OK)
        return st;
    o.compression = ALD_COMPRESSION_NONE;
    o.compat = (uint8_t)compat;
    st = open_table(text, sizeof text, &host, &table, err);
    if (st == ALD_OK)
        st = ald_save(&table, ald_file_sink_get(file), &o, &host, err);
    if (st == ALD_OK)
        return ald_file_commit(file, err);
    ald_file_abort(file);
    return st;
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
}

/* As a full disk: writing fails in the middle. The second round also fails in the spool. */
static void test_file_size_limit(void)
{
    for (int compat = 0; compat < 2; compat++) {
        ald_error err = {0};
        put_file(output, OLD_TEXT);
        limit_files(100000);
        CHECK_INT(convert_to(output, ALD_FILE_REPLACE, compat, &err), ALD_E_IO);
        limit_files(RLIM_INFINITY);
        CHECK_INT(err.detail, EFBIG);
        CHECK_CONTAINS(err.msg, compat ? "temporary file" : output);
        check_text(output, OLD_TEXT);
        CHECK_INT(names_in(folder), 1);
    }
}

static void test_replaced_at_once(void)
{
    ald_error err = {0};
    ald_source source;
    put_file(output, OLD_TEXT);
    CHECK_INT(convert_to(output, 0, 0, &err), ALD_E_IO);
    CHECK_INT(err.detail, EEXIST);
    check_text(output, OLD_TEXT);
    REQUIRE_OK(convert_to(output, ALD_FILE_REPLACE, 0, &err), &err);
    REQUIRE_OK(ald_file_open(output, 0, &source, &err), &err);
    CHECK(source.size_bytes > 100000);
    ald_source_close(&source);
    CHECK_INT(names_in(folder), 1);
}

/* On the disk under another name until commit. */
static void test_settled(void)
{
    for (int keep = 0; keep < 2; keep++) {
        ald_file_sink *file = NULL;
        ald_error err = {0};
        char temporary[4096];
        (void)unlink(output);
        REQUIRE_OK(ald_file_create(output, 0, &file, &err), &err);
        const ald_sink *sink = ald_file_sink_get(file);
        CHECK_OK(sink->write(sink->ctx, OLD_TEXT, strlen(OLD_TEXT), &err), &err);
        CHECK_OK(ald_file_settle(file, &err), &err);
        CHECK_OK(ald_file_settle(file, &err), &err);
        (void)snprintf(temporary, sizeof temporary, "%s", ald_file_sink_temporary(file));
        check_text(temporary, OLD_TEXT);
        CHECK(access(output, F_OK) != 0);
        if (keep) {
            CHECK_OK(ald_file_commit(file, &err), &err);
            check_text(output, OLD_TEXT);
        } else {
            ald_file_abort(file);
        }
        CHECK_INT(names_in(folder), keep);
    }
}

static void test_full_device(void)
{
    static uint8_t bytes[1 << 20];
    ald_fd_sink *sink = NULL;
    ald_error err = {0};
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) {
        printf("skipped: no /dev/full\n");
        return;
    }
    REQUIRE_OK(ald_fd_sink_new(fd, "the device", &sink, &err), &err);
    CHECK_OK(ald_fd_sink_get(sink)->write(ald_fd_sink_get(sink)->ctx, bytes, 10, &err), &err);
    CHECK_INT(ald_fd_sink_flush(sink, &err), ALD_E_IO);
    CHECK_INT(err.detail, ENOSPC);
    CHECK_CONTAINS(err.msg, "the device");
    CHECK_INT(ald_fd_sink_get(sink)->write(ald_fd_sink_get(sink)->ctx, bytes, sizeof bytes, &err),
              ALD_E_IO);
    CHECK_INT(err.detail, ENOSPC);
    ald_fd_sink_free(sink);
    (void)close(fd);
}

static void test_what_is_no_file(void)
{
    ald_file_sink *file = NULL;
    ald_source source;
    ald_error err = {0};
    char path[128];
    for (uint32_t flags = 0; flags <= ALD_FILE_MAP; flags += ALD_FILE_MAP) {
        CHECK_INT(ald_file_open(folder, flags, &source, &err), ALD_E_IO);
        CHECK_INT(err.detail, EISDIR);
        CHECK(source.read_at == NULL);
        (void)snprintf(path, sizeof path, "%s/none", folder);
        CHECK_INT(ald_file_open(path, flags, &source, &err), ALD_E_IO);
        CHECK_INT(err.detail, ENOENT);
        CHECK_CONTAINS(err.msg, path);
    }
    CHECK_INT(ald_file_create(folder, ALD_FILE_REPLACE, &file, &err), ALD_E_IO);
    CHECK_INT(err.detail, EISDIR);
    CHECK(file == NULL);
    (void)snprintf(path, sizeof path, "%s/none/out", folder);
    CHECK_INT(ald_file_create(path, 0, &file, &err), ALD_E_IO);
    CHECK_INT(err.detail, ENOENT);
    CHECK(file == NULL);
}

/* A named pipe must not hang. */
static void test_pipe_by_name(void)
{
    ald_source source;
    ald_error err = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "%s/pipe", folder);
    REQUIRE_INT(mkfifo(path, 0600), 0);
    CHECK_INT(ald_file_open(path, 0, &source, &err), ALD_E_IO);
    CHECK_CONTAINS(err.msg, "not a regular file");
    (void)unlink(path);
}

static void test_shrinking_file(void)
{
    ald_source source;
    ald_error err = {0};
    char bytes[64];
    put_file(output, OLD_TEXT);
    REQUIRE_OK(ald_file_open(output, 0, &source, &err), &err);
    CHECK_UINT(source.size_bytes, sizeof OLD_TEXT - 1);
    REQUIRE_INT(truncate(output, 4), 0);
    CHECK_INT(source.read_at(source.ctx, 0, bytes, sizeof OLD_TEXT - 1, &err), ALD_E_TRUNCATED);
    CHECK_CONTAINS(err.msg, output);
    CHECK_OK(source.read_at(source.ctx, 0, bytes, 4, &err), &err);
    ald_source_close(&source);
}

static void test_no_place_for_scratch(void)
{
    ald_host host = ald_native_host(1);
    ald_spool spool;
    ald_source source;
    ald_error err = {0};
    int ends[2];
    REQUIRE_INT(setenv("TMPDIR", "no-such-folder", 1), 0);
    CHECK_INT(host.spool_open(host.ctx, &spool, &err), ALD_E_IO);
    CHECK_INT(err.detail, ENOENT);
    CHECK_CONTAINS(err.msg, "no-such-folder");
    REQUIRE_INT(pipe(ends), 0);
    CHECK_INT(ald_file_spool_fd(ends[0], "pipe", &source, &err), ALD_E_IO);
    CHECK(source.read_at == NULL);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)unsetenv("TMPDIR");
}

static void test_bad_descriptor(void)
{
    ald_source source;
    ald_fd_sink *sink = NULL;
    ald_error err = {0};
    CHECK_INT(ald_file_spool_fd(-1, "nothing", &source, &err), ALD_E_IO);
    CHECK_INT(err.detail, EBADF);
    REQUIRE_OK(ald_fd_sink_new(-1, "nothing", &sink, &err), &err);
    CHECK_OK(ald_fd_sink_get(sink)->write(ald_fd_sink_get(sink)->ctx, "x", 1, &err), &err);
    CHECK_INT(ald_fd_sink_flush(sink, &err), ALD_E_IO);
    CHECK_INT(err.detail, EBADF);
    ald_fd_sink_free(sink);
}

int main(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    if (mkdtemp(folder) == NULL)
        return 1;
    (void)snprintf(output, sizeof output, "%s/out.ald", folder);
    RUN(test_file_size_limit);
    RUN(test_replaced_at_once);
    RUN(test_settled);
    RUN(test_full_device);
    RUN(test_what_is_no_file);
    RUN(test_pipe_by_name);
    RUN(test_shrinking_file);
    RUN(test_no_place_for_scratch);
    RUN(test_bad_descriptor);
    (void)unlink(output);
    (void)rmdir(folder);
    return check_done();
}
