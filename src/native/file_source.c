/* SPDX-License-Identifier: MIT */
/* Files and pipes as sources. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/native.h"
#include "native/fd.h"

#define COPY_BYTES ((size_t)1 << 20)

typedef struct file {
    int fd;
    uint64_t size;
    const uint8_t *map; /* or NULL */
    char name[];
} file;

static ald_status file_read_at(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const file *f = ctx;
    if (f->map != NULL && offset <= f->size && size <= f->size - offset) {
        memcpy(buf, f->map + offset, size);
        return ALD_OK;
    }
    return ald__fd_read_at(f->fd, f->name, offset, buf, size, err);
}

static const void *file_view(void *ctx, uint64_t offset, size_t size)
{
    const file *f = ctx;
    if (offset > f->size || size > f->size - offset)
        return NULL;
    return f->map + offset;
}

static void file_close(void *ctx)
{
    file *f = ctx;
    if (f->map != NULL) {
        /* The mapping is read-only; munmap takes no const. */
        union {
            const void *in;
            void *out;
        } p = {f->map};
        (void)munmap(p.out, (size_t)f->size);
    }
    (void)close(f->fd);
    free(f);
}

ald_status ald__fd_source(int fd, const char *name, uint64_t size, ald_source *out, ald_error *err)
{
    size_t length = strlen(name);
    file *f = malloc(sizeof *f + length + 1);
    if (f == NULL) {
        (void)close(fd);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to open '%s'", name);
    }
    f->fd = fd;
    f->size = size;
    f->map = NULL;
    memcpy(f->name, name, length + 1);
    out->size_bytes = size;
    out->read_at = file_read_at;
    out->view = NULL;
    out->close = file_close;
    out->ctx = f;
    out->name = f->name;
    return ALD_OK;
}

static ald_status map_source(ald_source *source, ald_error *err)
{
    file *f = source->ctx;
    void *p;
    if (f->size == 0)
        return ALD_OK;
    p = mmap(NULL, (size_t)f->size, PROT_READ, MAP_SHARED, f->fd, 0);
    if (p == MAP_FAILED)
        return ald__io_error(err, "cannot map", f->name, errno);
    f->map = p;
    source->view = file_view;
    return ALD_OK;
}

ald_status ald_file_open(const char *path, uint32_t flags, ald_source *out, ald_error *err)
{
    struct stat info;
    ald_status st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang */
    memset(out, 0, sizeof *out);
    if (fd < 0)
        return ald__io_error(err, "cannot open", path, errno);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        int code = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
        (void)close(fd);
        if (code == EISDIR)
            return ald__io_error(err, "cannot read", path, code);
        (void)ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                            "'%s' is not a regular file; pipes are read as -", path);
        return ALD_E_IO;
    }
    st = ald__fd_source(fd, path, (uint64_t)info.st_size, out, err);
    if (st == ALD_OK && (flags & ALD_FILE_MAP)) {
        st = map_source(out, err);
        if (st != ALD_OK)
            ald_source_close(out);
    }
    return st;
}

static ald_status copy_all(int from, const char *name, int to, uint64_t *size, ald_error *err)
{
    uint8_t *buf = malloc(COPY_BYTES);
    ald_status st = ALD_OK;
    *size = 0;
    if (buf == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to copy '%s'", name);
    while (st == ALD_OK) {
        ssize_t n = read(from, buf, COPY_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            st = n < 0 ? ald__io_error(err, "cannot read", name, errno) : ALD_OK;
            break;
        }
        st = ald__fd_write_at(to, "temporary file", *size, buf, (size_t)n, err);
        *size += (uint64_t)n;
    }
    free(buf);
    return st;
}

ald_status ald_file_spool_fd(int fd, const char *name, ald_source *out, ald_error *err)
{
    uint64_t size;
    ald_status st;
    int copy = ald__temporary_file(err);
    memset(out, 0, sizeof *out);
    if (copy < 0)
        return ALD_E_IO;
    st = copy_all(fd, name, copy, &size, err);
    if (st != ALD_OK) {
        (void)close(copy);
        return st;
    }
    return ald__fd_source(copy, name, size, out, err);
}
