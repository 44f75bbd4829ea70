/* SPDX-License-Identifier: MIT */
/* One handle, several threads, a cache that is too small for all: and what is left of it in a child after fork. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "number_table.h"

enum { ROWS = 8000, COLUMNS = 6, CHUNK_ROWS = 500, THREADS = 4, ROUNDS = 300, BATCH = 40 };

/* AddressSanitizer's allocator has locks that a fork may leave taken; there, nothing runs beside it. */
#if defined(__SANITIZE_ADDRESS__)
#define BESIDE_FORK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BESIDE_FORK 0
#endif
#endif
#ifndef BESIDE_FORK
#define BESIDE_FORK 2
#endif

static ald_host native;
static ald_streaming *shared;
static atomic_int failures, stop;

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return z ^ (z >> 27);
}

static int is_right(ald_status st, struct ArrowArray *got, const uint64_t *rows,
                    const int64_t *columns)
{
    int right = st == ALD_OK && number_wrong(got, rows, columns) == 0;
    if (st == ALD_OK)
        got->release(got);
    return right;
}

/* A take, a range, some columns, a chunk or a prefetch, by chance. */
static int one_call(uint64_t *random)
{
    static const uint8_t wanted[COLUMNS] = {0, 1, 0, 0, 1, 0};
    static const int64_t numbers[2] = {1, 4};
    uint64_t rows[CHUNK_ROWS], first = next_random(random) % (ROWS - BATCH), kind;
    struct ArrowArray got;
    ald_error err;
    kind = next_random(random) % 5;
    if (kind == 0) {
        for (size_t i = 0; i < BATCH; i++)
            rows[i] = next_random(random) % ROWS;
        return is_right(ald_streaming_take(shared, rows, BATCH, NULL, &got, &err), &got, rows,
                        NULL);
    }
    if (kind == 1)
        return ald_streaming_prefetch(shared, first / CHUNK_ROWS, 1, NULL, &err) == ALD_OK;
    if (kind == 2)
        first = first / CHUNK_ROWS * CHUNK_ROWS;
    for (size_t i = 0; i < CHUNK_ROWS; i++)
        rows[i] = first + i;
    if (kind == 2)
        return is_right(ald_streaming_chunk(shared, first / CHUNK_ROWS, NULL, &got, &err), &got,
                        rows, NULL);
    if (kind == 3)
        return is_right(ald_streaming_rows(shared, first, BATCH, wanted, &got, &err), &got, rows,
                        numbers);
    return is_right(ald_streaming_rows(shared, first, BATCH, NULL, &got, &err), &got, rows, NULL);
}

static void *work(void *arg)
{
    uint64_t random = (uint64_t)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS && !stop; i++) {
        if (!one_call(&random))
            failures++;
    }
    return NULL;
}

static void *work_until_told(void *arg)
{
    uint64_t random = (uint64_t)(uintptr_t)arg;
    while (!stop) {
        if (!one_call(&random))
            failures++;
    }
    return NULL;
}

static void open_shared(ald_buffer *bytes)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    ald_load_options l = ALD_LOAD_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_source source;
    ald_sink sink;
    ald_error err = {0};
    *bytes = (ald_buffer){NULL, 0, 0, &native.alloc};
    sink = ald_buffer_sink(bytes);
    o.layout = ALD_LAYOUT_STREAMING;
    o.chunk_rows = CHUNK_ROWS;
    number_open(ROWS, COLUMNS, ROWS, &stream);
    if (!CHECK_OK(ald_save(&stream, &sink, &o, &native, &err), &err))
        exit(1);
    source = ald_source_memory(bytes->data, bytes->size);
    l.cache_bytes = 3 * CHUNK_ROWS * COLUMNS * 9; /* about three of sixteen chunks */
    if (!CHECK_OK(ald_streaming_open(&source, &l, &native, &shared, &err), &err))
        exit(1);
    failures = stop = 0;
}

static void close_shared(ald_buffer *bytes)
{
    ald_streaming_close(shared);
    ald_buffer_clear(bytes);
}

static void test_threads_share_a_handle(void)
{
    pthread_t threads[THREADS];
    ald_buffer bytes;
    open_shared(&bytes);
    for (size_t i = 0; i < THREADS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1)) == 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(failures, 0);
    close_shared(&bytes);
}

/* The child has one thread and whatever the others were doing. */
static void run_child(uint64_t random)
{
    int wrong = 0;
    alarm(60); /* waiting for a thread that is not there would be for ever */
    for (int i = 0; i < 50; i++)
        wrong += !one_call(&random);
    ald_streaming_close(shared);
    _exit(wrong != 0);
}

static void test_fork_while_threads_work(void)
{
    enum { FORKS = 20 };
    pthread_t threads[BESIDE_FORK + 1];
    ald_buffer bytes;
    native = ald_native_host(1); /* a child that starts threads is more than thread checkers bear */
    open_shared(&bytes);
    for (int i = 0; i < BESIDE_FORK; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work_until_told, (void *)(uintptr_t)(i + 7)) ==
                0);
    for (uint64_t i = 0; i < FORKS; i++) {
        int status = -1;
        pid_t child = fork();
        if (child == 0)
            run_child(i);
        if (CHECK(child > 0) && CHECK(waitpid(child, &status, 0) == child))
            CHECK_INT(status, 0);
    }
    stop = 1;
    for (int i = 0; i < BESIDE_FORK; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(failures, 0);
    close_shared(&bytes);
}

int main(void)
{
    native = ald_native_host(2);
    RUN(test_threads_share_a_handle);
    RUN(test_fork_while_threads_work);
    return check_done();
}
