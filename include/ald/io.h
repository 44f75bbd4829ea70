/* SPDX-License-Identifier: MIT */
/* What the host gives the core: bytes in, bytes out, memory, randomness, time, parallelism, scratch space.
 *
 * The core has no file system, threads, clock or environment of its own. src/native fills these in for POSIX
 * (ald/native.h); a browser or another program brings its own. */
#ifndef ALD_IO_H
#define ALD_IO_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "ald/export.h"

ALD_BEGIN_DECLS

/* Random-access bytes of a known, fixed size. Calls may come from several threads. */
typedef struct ald_source {
    uint64_t size_bytes;
    /* Reads exactly `size` bytes at `offset`; fewer is an error (ALD_E_TRUNCATED or ALD_E_IO). */
    ald_status (*read_at)(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err);
    /* Optional (NULL): a borrowed pointer to the bytes where they already are in memory, valid until `close`. They do not
     * change: what was checked once is used afterwards. May return NULL; the caller then uses read_at. */
    const void *(*view)(void *ctx, uint64_t offset, size_t size);
    void (*close)(void *ctx); /* optional (NULL) */
    void *ctx;
    const char *name; /* for messages; optional (NULL), borrowed */
} ald_source;

/* Bytes out, in order. */
typedef struct ald_sink {
    ald_status (*write)(void *ctx, const void *buf, size_t size, ald_error *err);
    /* Optional (NULL): overwrites bytes that were already written. */
    ald_status (*write_at)(void *ctx, uint64_t offset, const void *buf, size_t size,
                           ald_error *err);
    void *ctx;
    const char *name; /* for messages; optional (NULL), borrowed */
} ald_sink;

/* Scratch bytes: appended, then read back at random, then dropped. */
typedef struct ald_spool {
    ald_status (*append)(void *ctx, const void *buf, size_t size, ald_error *err);
    ald_status (*read_at)(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err);
    void (*close)(void *ctx); /* frees the spool; required */
    void *ctx;
} ald_spool;

typedef struct ald_crypto ald_crypto; /* ald/crypto.h */

/* The host. Copied by value where kept; ctx pointers must outlive what was made with it. Optional members are NULL:
 * without random, a call that needs it fails with ALD_E_UNSUPPORTED; without now, the time is unknown; without
 * run_tasks, work is done in turn; without spool_open, scratch bytes are kept in memory. */
typedef struct ald_host {
    uint32_t struct_size;
    uint32_t thread_count; /* tasks that run_tasks runs at once; 0 and 1: serial */
    ald_allocator alloc;   /* required */
    ald_status (*random)(void *ctx, void *buf, size_t size, ald_error *err);
    int64_t (*now)(void *ctx); /* unix seconds; INT64_MIN: unknown */
    /* Calls task(arg, 0) … task(arg, task_count - 1), in any order, on any threads, and returns when all have ended. */
    void (*run_tasks)(void *ctx, uint32_t task_count, void (*task)(void *arg, uint32_t index),
                      void *arg);
    ald_status (*spool_open)(void *ctx, ald_spool *out, ald_error *err);
    const ald_crypto *crypto;
    void *ctx;
} ald_host;

/* A source over memory that stays the caller's and must outlive the source. */
ALD_API ald_source ald_source_memory(const void *data, size_t size);

/* A growing memory buffer as a sink, with write_at. Zero-initialise, set `alloc`, call ald_buffer_sink. */
typedef struct ald_buffer {
    uint8_t *data;
    size_t size;
    size_t capacity;
    const ald_allocator *alloc; /* borrowed */
} ald_buffer;

ALD_API ald_sink ald_buffer_sink(ald_buffer *buffer);
/* Frees the bytes and clears the fields, save `alloc`. */
ALD_API void ald_buffer_clear(ald_buffer *buffer);

/* Calls close if there is one, and clears. */
ALD_API void ald_source_close(ald_source *source);

ALD_END_DECLS
#endif
