/* SPDX-License-Identifier: MIT */
/* Descriptors: whole reads and writes, temporary files, spools. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "native/fd.h"

ald_status ald__io_error(ald_error *err, const char *what, const char *name, int code)
{
    char reason[96];
    /* GNU strerror_r: the text may be in the buffer or elsewhere. */
    const char *text = strerror_r(code, reason, sizeof reason);
    if (name != NULL)
        (void)ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s '%s': %s", what, name, text);
    else
        (void)ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s: %s", what, text);
    if (err != NULL)
        err->detail = code;
    return ALD_E_IO;
}

ald_status ald__fd_read_at(int fd, const char *name, uint64_t offset, void *buf, size_t size,
                           ald_error *err)
{
    uint8_t *p = buf;
    while (size > 0) {
        ssize_t n = pread(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ald__io_error(err, "cannot read", name, errno);
        if (n == 0)
            return ald_error_set(err, ALD_E_TRUNCATED, offset,
                                 "'%s' ended while it was read: %zu more bytes expected",
                                 name != NULL ? name : "input", size);
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ALD_OK;
}

ald_status ald__fd_write(int fd, const char *name, const void *buf, size_t size, ald_error *err)
{
    const uint8_t *p = buf;
    while (size > 0) {
        ssize_t n = write(fd, p, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ald__io_error(err, "cannot write", name, errno);
        p += n;
        size -= (size_t)n;
    }
    return ALD_OK;
}

ald_status ald__fd_write_at(int fd, const char *name, uint64_t offset, const void *buf, size_t size,
                            ald_error *err)
{
    const uint8_t *p = buf;
    while (size > 0) {
        ssize_t n = pwrite(fd, p, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return ald__io_error(err, "cannot write", name, errno);
        p += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return ALD_OK;
}

int ald__temporary_file(ald_error *err)
{
    const char *folder = getenv("TMPDIR");
    char path[2048];
    int fd;
    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
#ifdef O_TMPFILE
    fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
#endif
    if (snprintf(path, sizeof path, "%s/alimentar-XXXXXX", folder) >= (int)sizeof path) {
        (void)ald__io_error(err, "cannot make a temporary file in", folder, ENAMETOOLONG);
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        (void)ald__io_error(err, "cannot make a temporary file in", folder, errno);
    else
        (void)unlink(path);
    return fd;
}

typedef struct spool {
    int fd;
    uint64_t size;
} spool;

static ald_status spool_append(void *ctx, const void *buf, size_t size, ald_error *err)
{
    spool *s = ctx;
    ald_status st = ald__fd_write_at(s->fd, "temporary file", s->size, buf, size, err);
    if (st == ALD_OK)
        s->size += size;
    return st;
}

static ald_status spool_read_at(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const spool *s = ctx;
    return ald__fd_read_at(s->fd, "temporary file", offset, buf, size, err);
}

static void spool_close(void *ctx)
{
    spool *s = ctx;
    (void)close(s->fd);
    free(s);
}

ald_status ald__spool_file(ald_spool *out, ald_error *err)
{
    spool *s = malloc(sizeof *s);
    memset(out, 0, sizeof *out);
    if (s == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a spool");
    s->size = 0;
    s->fd = ald__temporary_file(err);
    if (s->fd < 0) {
        free(s);
        return ALD_E_IO;
    }
    out->append = spool_append;
    out->read_at = spool_read_at;
    out->close = spool_close;
    out->ctx = s;
    return ALD_OK;
}
