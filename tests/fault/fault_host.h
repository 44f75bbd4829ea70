/* SPDX-License-Identifier: MIT */
/* A host, source, sink and spool that refuse the n-th call, and loops that move n until the job succeeds.
 *
 * A job makes its objects with `f->host`, reads `f->source`, writes `f->sink` and frees all it made, also on failure.
 * What it needs besides comes from malloc, which does not fail here. */
#ifndef FAULT_HOST_H
#define FAULT_HOST_H

#include <errno.h>

#include "ald/ald.h"
#include "ald/native.h"
#include "check_alloc.h"

#define FAULT_MESSAGE "the test pulled the plug"
#define FAULT_DETAIL ENOSPC

typedef struct fault_bytes {
    uint8_t *data;
    size_t size, cap;
} fault_bytes;

typedef struct fault_spool {
    struct fault_host *owner;
    fault_bytes bytes;
} fault_spool;

/* `*_left`: calls that still work; negative: all of them. */
typedef struct fault_host {
    check_heap heap;
    int64_t reads_left, writes_left, spool_left;
    int64_t open_spools;
    const uint8_t *input;
    size_t input_size;
    fault_bytes output;
    ald_source source;
    ald_sink sink;
    ald_host host;
} fault_host;

static inline ald_status fault_call(int64_t *left, const char *what, ald_error *err)
{
    if (*left == 0)
        goto refused;
    if (*left > 0)
        (*left)--;
    return ALD_OK;
refused:
    (void)ald_error_set(err, ALD_E_IO, 7, "%s: %s", what, FAULT_MESSAGE);
    if (err != NULL)
        err->detail = FAULT_DETAIL;
    return ALD_E_IO;
}

static inline void fault_append(fault_bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->cap) {
        b->cap = 2 * (b->size + size);
        b->data = (uint8_t *)realloc(b->data, b->cap);
        if (b->data == NULL)
            abort();
    }
    if (size > 0)
        memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline ald_status fault_read_at(void *ctx, uint64_t offset, void *buf, size_t size,
                                       ald_error *err)
{
    fault_host *f = (fault_host *)ctx;
    ald_status st = fault_call(&f->reads_left, "reading", err);
    if (st != ALD_OK)
        return st;
    if (!CHECK(offset <= f->input_size && size <= f->input_size - offset))
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read past the end");
    if (size > 0)
        memcpy(buf, f->input + offset, size);
    return ALD_OK;
}

static inline ald_status fault_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    fault_host *f = (fault_host *)ctx;
    ald_status st = fault_call(&f->writes_left, "writing", err);
    if (st == ALD_OK)
        fault_append(&f->output, buf, size);
    return st;
}

static inline ald_status fault_write_at(void *ctx, uint64_t offset, const void *buf, size_t size,
                                        ald_error *err)
{
    fault_host *f = (fault_host *)ctx;
    ald_status st = fault_call(&f->writes_left, "writing", err);
    if (st != ALD_OK)
        return st;
    if (!CHECK(offset <= f->output.size && size <= f->output.size - offset))
        return ald_error_set(err, ALD_E_INVALID_ARG, offset, "write_at past what was written");
    memcpy(f->output.data + offset, buf, size);
    return ALD_OK;
}

static inline ald_status fault_spool_append(void *ctx, const void *buf, size_t size, ald_error *err)
{
    fault_spool *s = (fault_spool *)ctx;
    ald_status st = fault_call(&s->owner->spool_left, "spooling", err);
    if (st == ALD_OK)
        fault_append(&s->bytes, buf, size);
    return st;
}

static inline ald_status fault_spool_read(void *ctx, uint64_t offset, void *buf, size_t size,
                                          ald_error *err)
{
    fault_spool *s = (fault_spool *)ctx;
    ald_status st = fault_call(&s->owner->spool_left, "reading back", err);
    if (st != ALD_OK)
        return st;
    if (!CHECK(offset <= s->bytes.size && size <= s->bytes.size - offset))
        return ald_error_set(err, ALD_E_IO, offset, "spool read past its end");
    if (size > 0)
        memcpy(buf, s->bytes.data + offset, size);
    return ALD_OK;
}

static inline void fault_spool_close(void *ctx)
{
    fault_spool *s = (fault_spool *)ctx;
    s->owner->open_spools--;
    free(s->bytes.data);
    free(s);
}

static inline ald_status fault_spool_open(void *ctx, ald_spool *out, ald_error *err)
{
    fault_host *f = (fault_host *)ctx;
    fault_spool *s;
    ald_status st = fault_call(&f->spool_left, "opening a spool", err);
    if (st != ALD_OK)
        return st;
    s = (fault_spool *)calloc(1, sizeof *s);
    if (s == NULL)
        abort();
    s->owner = f;
    f->open_spools++;
    *out = (ald_spool){fault_spool_append, fault_spool_read, fault_spool_close, s};
    return ALD_OK;
}

/* Nothing refused yet; serial, with a sink that can go back, with spools, without clock and randomness. The output's
 * memory is kept from one round to the next. */
static inline void fault_init(fault_host *f, const void *input, size_t size)
{
    fault_bytes kept = f->output;
    memset(f, 0, sizeof *f);
    kept.size = 0;
    f->output = kept;
    f->reads_left = f->writes_left = f->spool_left = -1;
    f->input = (const uint8_t *)input;
    f->input_size = size;
    f->source.size_bytes = size;
    f->source.read_at = fault_read_at;
    f->source.ctx = f;
    f->source.name = "input";
    f->sink = (ald_sink){fault_write, fault_write_at, f, "output"};
    f->host.struct_size = sizeof f->host;
    f->host.alloc = check_heap_init(&f->heap, -1);
    f->host.spool_open = fault_spool_open;
    f->host.crypto = ald_native_host(1).crypto;
    f->host.ctx = f;
}

static inline void fault_clear(fault_host *f)
{
    free(f->output.data);
    f->output = (fault_bytes){NULL, 0, 0};
}

static inline void fault_check_clean(const fault_host *f)
{
    CHECK_HEAP_EMPTY(&f->heap);
    CHECK_INT(f->open_spools, 0);
}

/* A file below tests/ as malloced bytes; the test ends when it cannot be read. */
static inline uint8_t *fault_file(const char *name, size_t *size)
{
    char path[4096];
    fault_bytes bytes = {NULL, 0, 0};
    uint8_t piece[4096];
    size_t got;
    FILE *file;
    (void)snprintf(path, sizeof path, "%s/%s", ALD_TEST_DATA, name);
    file = fopen(path, "rb");
    if (file == NULL) {
        printf("cannot read %s\n", path);
        exit(1);
    }
    do {
        got = fread(piece, 1, sizeof piece, file);
        fault_append(&bytes, piece, got);
    } while (got > 0);
    (void)fclose(file);
    *size = bytes.size;
    return bytes.data;
}

typedef ald_status (*fault_job)(fault_host *f, ald_error *err);

typedef enum fault_kind { FAULT_ALLOC, FAULT_READ, FAULT_WRITE, FAULT_SPOOL } fault_kind;

static inline int fault_check_failure(fault_kind kind, ald_status st, const ald_error *err)
{
    int ok = CHECK_INT(err->status, st) && CHECK(err->msg[0] != '\0');
    if (kind == FAULT_ALLOC)
        return ok && CHECK_INT(st, ALD_E_NOMEM);
    return ok && CHECK_INT(st, ALD_E_IO) && CHECK_CONTAINS(err->msg, FAULT_MESSAGE) &&
           CHECK_INT(err->detail, FAULT_DETAIL);
}

/* Runs the job with the first, second, … call of one kind refused, until none is; returns how many there were.
 * `prepare` may change what fault_init set (a sink without write_at); NULL: nothing. */
static inline int64_t fault_each(fault_kind kind, const char *name, fault_job job,
                                 const void *input, size_t size, void (*prepare)(fault_host *f))
{
    static fault_host f;
    ald_status st = ALD_E_NOMEM;
    int64_t n = 0;
    for (; st != ALD_OK && n < 1000000; n++) {
        ald_error err = {0};
        int before = check_failures;
        fault_init(&f, input, size);
        if (prepare != NULL)
            prepare(&f);
        if (kind == FAULT_ALLOC)
            f.heap.calls_left = n;
        else if (kind == FAULT_READ)
            f.reads_left = n;
        else if (kind == FAULT_WRITE)
            f.writes_left = n;
        else
            f.spool_left = n;
        st = job(&f, &err);
        if (st != ALD_OK)
            fault_check_failure(kind, st, &err);
        fault_check_clean(&f);
        if (check_failures > before) {
            printf("    %s, call %lld of kind %d: %s\n", name, (long long)n, (int)kind, err.msg);
            break;
        }
    }
    fault_clear(&f);
    return n - 1;
}

#endif
