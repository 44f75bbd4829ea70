/* SPDX-License-Identifier: MIT */
/* The program's own malloc, which refuses the n-th call: it reaches what does not come from the host's allocator (contexts
 * of LZ4 and OpenSSL, names of files). */
#define _GNU_SOURCE
#include <unistd.h>

#include "fault/fault_host.h"
#include "fault/table_stream.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(memory_sanitizer) || __has_feature(address_sanitizer)
#define MALLOC_IS_TAKEN 1
#endif
#endif
#else
#define MALLOC_IS_TAKEN 1
#endif

#ifdef MALLOC_IS_TAKEN

int main(void)
{
    printf("skipped: this build has a malloc of its own\n");
    return 0;
}

#else

/* glibc's own, under the names that it keeps for those who replace malloc. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *ptr, size_t size);
extern void __libc_free(void *ptr);

#define EXPORTED __attribute__((visibility("default"))) /* shared libraries must find them */

/* Volatile: the compiler knows that malloc reads no globals. */
static volatile int counting;         /* a job is running */
static volatile int64_t mallocs_left; /* that still work; negative: all */
static volatile int64_t live_blocks;  /* made and not freed while counting */

static int refused(void)
{
    if (!counting || mallocs_left < 0)
        return 0;
    if (mallocs_left == 0) {
        errno = ENOMEM;
        return 1;
    }
    mallocs_left--;
    return 0;
}

static void *counted(void *ptr)
{
    live_blocks += counting && ptr != NULL;
    return ptr;
}

EXPORTED void *malloc(size_t size)
{
    return refused() ? NULL : counted(__libc_malloc(size));
}

EXPORTED void *calloc(size_t count, size_t size)
{
    return refused() ? NULL : counted(__libc_calloc(count, size));
}

EXPORTED void *realloc(void *ptr, size_t size)
{
    if (refused())
        return NULL;
    return ptr == NULL ? counted(__libc_realloc(ptr, size)) : __libc_realloc(ptr, size);
}

EXPORTED void free(void *ptr)
{
    live_blocks -= counting && ptr != NULL;
    __libc_free(ptr);
}

typedef ald_status (*malloc_job)(ald_error *err);

/* `least`: calls of malloc that the job makes at least. A first run, unlimited, lets libraries set themselves up. */
static void each_malloc(const char *name, malloc_job job, int64_t least)
{
    ald_error err = {0};
    ald_status st = job(&err);
    int64_t n = 0;
    CHECK_OK(st, &err);
    for (st = ALD_E_NOMEM; st != ALD_OK && n < 10000; n++) {
        memset(&err, 0, sizeof err);
        live_blocks = 0;
        mallocs_left = n;
        counting = 1;
        st = job(&err);
        counting = 0;
        if (!CHECK_INT(live_blocks, 0) || (st != ALD_OK && !CHECK_INT(st, ALD_E_NOMEM))) {
            printf("    %s, malloc %lld: %s\n", name, (long long)n, err.msg);
            return;
        }
    }
    if (!CHECK(n - 1 >= least))
        printf("    %s called malloc %lld times\n", name, (long long)(n - 1));
}

/* ---- jobs; what they need besides does not come from malloc */

static uint8_t file_bytes[1 << 20], read_bytes[1 << 20];
static size_t file_size;

static ald_status fixed_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    (void)ctx;
    if (size > sizeof file_bytes - file_size)
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the test's file is full");
    memcpy(file_bytes + file_size, buf, size);
    file_size += size;
    return ALD_OK;
}

/* Blocks one behind the other, dropped together. */
static size_t pool_used;
static union {
    uint8_t bytes[8 << 20];
    long double aligned;
} pool;

static void *pool_alloc(void *ctx, size_t size)
{
    size_t at = pool_used;
    (void)ctx;
    if (size > sizeof pool.bytes - 32 - pool_used)
        return NULL;
    pool_used = (pool_used + size + 31) / 16 * 16;
    return pool.bytes + at;
}

static void *pool_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *p = pool_alloc(ctx, new_size);
    if (p != NULL && ptr != NULL)
        memcpy(p, ptr, old_size < new_size ? old_size : new_size);
    return p;
}

static void pool_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)ptr;
    (void)size;
}

static ald_host pool_host(void)
{
    ald_host host = {0};
    host.struct_size = sizeof host;
    host.alloc.alloc = pool_alloc;
    host.alloc.resize = pool_resize;
    host.alloc.release = pool_release;
    host.crypto = ald_native_host(1).crypto;
    pool_used = 0;
    return host;
}

static ald_status save_and_load(uint8_t compression, int sha256, ald_error *err)
{
    static const char text[] = "a,b,c\n1,x,0.5\n2,y,1.5\n3,,2.5\n";
    ald_host host = pool_host();
    ald_source csv = ald_source_memory(text, sizeof text - 1), source;
    ald_sink sink = {fixed_write, NULL, NULL, NULL};
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream batches;
    ald_dataset *d = NULL;
    ald_status st = ald_csv_open(&csv, NULL, &host, &batches, err);
    if (st != ALD_OK)
        return st;
    file_size = 0;
    o.compression = compression;
    o.write_sha256 = (uint8_t)sha256;
    st = ald_save(&batches, &sink, &o, &host, err);
    if (st != ALD_OK)
        return st;
    source = ald_source_memory(file_bytes, file_size);
    st = ald_load(&source, NULL, &host, &d, err);
    if (st == ALD_OK && ald_dataset_info(d)->num_rows != 3)
        st = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "other rows");
    ald_dataset_free(d);
    return st;
}

static ald_status job_none(ald_error *err)
{
    return save_and_load(ALD_COMPRESSION_NONE, 0, err);
}

static ald_status job_zstd(ald_error *err)
{
    return save_and_load(ALD_COMPRESSION_ZSTD_L3, 0, err);
}

static ald_status job_lz4(ald_error *err)
{
    return save_and_load(ALD_COMPRESSION_LZ4, 0, err);
}

static ald_status job_sha256(ald_error *err)
{
    return save_and_load(ALD_COMPRESSION_NONE, 1, err);
}

static char path[64];

static ald_status job_file(ald_error *err)
{
    ald_file_sink *file = NULL;
    ald_source source;
    ald_status st = ald_file_create(path, ALD_FILE_REPLACE, &file, err);
    if (st != ALD_OK)
        return st;
    st = ald_file_sink_get(file)->write(ald_file_sink_get(file)->ctx, "0123456789", 10, err);
    if (st != ALD_OK) {
        ald_file_abort(file);
        return st;
    }
    st = ald_file_commit(file, err);
    for (uint32_t flags = 0; st == ALD_OK && flags <= ALD_FILE_MAP; flags += ALD_FILE_MAP) {
        st = ald_file_open(path, flags, &source, err);
        if (st != ALD_OK)
            break;
        st = source.read_at(source.ctx, 0, read_bytes, 10, err);
        CHECK(st != ALD_OK || memcmp(read_bytes, "0123456789", 10) == 0);
        ald_source_close(&source);
    }
    return st;
}

static ald_status job_spool(ald_error *err)
{
    ald_host host = ald_native_host(1);
    ald_spool spool = {NULL, NULL, NULL, NULL};
    ald_status st = host.spool_open(host.ctx, &spool, err);
    if (st != ALD_OK)
        return st;
    st = spool.append(spool.ctx, "0123456789", 10, err);
    if (st == ALD_OK)
        st = spool.read_at(spool.ctx, 3, read_bytes, 7, err);
    CHECK(st != ALD_OK || memcmp(read_bytes, "3456789", 7) == 0);
    spool.close(spool.ctx);
    return st;
}

static void test_malloc_is_ours(void)
{
    void *volatile p;
    mallocs_left = 0;
    counting = 1;
    p = malloc(10);
    counting = 0;
    CHECK(p == NULL);
    free(p);
}

/* What the core does by itself asks the host alone. */
static void test_core_needs_no_malloc(void)
{
    ald_error err = {0};
    mallocs_left = 0;
    counting = 1;
    ald_status none = job_none(&err), zstd = job_zstd(&err);
    counting = 0;
    CHECK_OK(none, &err);
    CHECK_OK(zstd, &err);
}

static void test_lz4(void)
{
    each_malloc("LZ4", job_lz4, 2);
}

static void test_sha256(void)
{
    each_malloc("SHA-256", job_sha256, 1);
}

static void test_files(void)
{
    int fd;
    (void)snprintf(path, sizeof path, "fault-malloc-XXXXXX");
    fd = mkstemp(path);
    REQUIRE(fd >= 0);
    (void)close(fd);
    each_malloc("files", job_file, 5);
    (void)unlink(path);
}

static void test_spools(void)
{
    each_malloc("spools", job_spool, 1);
}

int main(void)
{
    RUN(test_malloc_is_ours);
    RUN(test_core_needs_no_malloc);
    RUN(test_lz4);
    RUN(test_sha256);
    RUN(test_files);
    RUN(test_spools);
    return check_done();
}

#endif
