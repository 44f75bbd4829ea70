/* SPDX-License-Identifier: MIT */
/* The POSIX host: memory, randomness, clock, tasks on threads, spools. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "ald/native.h"
#include "native/crypto/provider.h"
#include "native/fd.h"

/* Blocks of this size and more ask for huge pages: a table of a gigabyte otherwise costs a quarter of a million page
 * faults, a fifth of the time in which zstd decompresses it. */
#define HUGE_BYTES ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_WORTH                                                                                 \
    ((size_t)3 << 18) /* faults for so much take as long as clearing a whole huge page */

/* The system gives huge pages only where they lie in the block whole: the last one, too, if most of it is used. */
static size_t whole_pages(size_t size)
{
    size_t tail = size % HUGE_PAGE, rest = HUGE_PAGE - tail;
    return tail >= HUGE_WORTH && size <= SIZE_MAX - rest ? size + rest : size;
}

static void *native_alloc(void *ctx, size_t size)
{
    void *p = NULL;
    (void)ctx;
    if (size < HUGE_BYTES)
        return malloc(size);
    size = whole_pages(size);
    if (posix_memalign(&p, HUGE_PAGE, size) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, size, MADV_HUGEPAGE); /* advice: failing is fine */
#endif
    return p;
}

/* What grows to a multiple is worth huge pages, too; a large block is better moved page by page. */
static void *native_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    void *p;
    if (new_size < HUGE_BYTES || new_size / 4 < old_size)
        return realloc(ptr, new_size);
    p = native_alloc(ctx, new_size);
    if (p == NULL)
        return NULL;
    if (old_size > 0)
        memcpy(p, ptr, old_size);
    free(ptr);
    return p;
}

static void native_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static ald_status native_random(void *ctx, void *buf, size_t size, ald_error *err)
{
    uint8_t *p = buf;
    (void)ctx;
    while (size > 0) {
        ssize_t n = getrandom(p, size, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return ald__io_error(err, "getrandom", NULL, errno);
        p += n;
        size -= (size_t)n;
    }
    return ALD_OK;
}

static int64_t native_now(void *ctx)
{
    time_t t = time(NULL);
    (void)ctx;
    return t == (time_t)-1 ? INT64_MIN : (int64_t)t;
}

/* ---- tasks: threads live for one call; a call has work of milliseconds at least */

#define THREADS_MAX 256u

typedef struct work {
    pthread_mutex_t lock;
    uint32_t next, count;
    void (*task)(void *arg, uint32_t index);
    void *arg;
} work;

static void *run_worker(void *arg)
{
    work *w = arg;
    for (;;) {
        uint32_t index;
        (void)pthread_mutex_lock(&w->lock);
        index = w->next < w->count ? w->next++ : UINT32_MAX;
        (void)pthread_mutex_unlock(&w->lock);
        if (index == UINT32_MAX)
            return NULL;
        w->task(w->arg, index);
    }
}

/* The context carries the thread count, not a pointer. */
static void native_run_tasks(void *ctx, uint32_t task_count,
                             void (*task)(void *arg, uint32_t index), void *arg)
{
    pthread_t threads[THREADS_MAX];
    uint32_t wanted = (uint32_t)(uintptr_t)ctx, started = 0;
    work w = {.next = 0, .count = task_count, .task = task, .arg = arg};
    (void)pthread_mutex_init(&w.lock, NULL);
    if (wanted > task_count)
        wanted = task_count;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_worker, &w) == 0)
        started++;
    (void)run_worker(&w);
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    (void)pthread_mutex_destroy(&w.lock);
}

/* ---- spools */

static ald_status spool_open(void *ctx, ald_spool *out, ald_error *err)
{
    (void)ctx;
    return ald__spool_file(out, err);
}

static uint32_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n<1 ? 1 : n>(long) THREADS_MAX ? THREADS_MAX : (uint32_t)n;
}

ald_host ald_native_host(uint32_t thread_count)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    if (thread_count == 0)
        thread_count = processors();
    if (thread_count > THREADS_MAX)
        thread_count = THREADS_MAX;
    host.struct_size = sizeof host;
    host.thread_count = thread_count;
    host.alloc.alloc = native_alloc;
    host.alloc.resize = native_resize;
    host.alloc.release = native_release;
    host.random = native_random;
    host.now = native_now;
    host.run_tasks = native_run_tasks;
    host.spool_open = spool_open;
    host.crypto = ald__native_crypto();
    host.ctx = (void *)(uintptr_t)thread_count;
    return host;
}
