/* SPDX-License-Identifier: MIT */
/* Output files that appear whole or not at all, and buffered descriptors. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/native.h"
#include "native/fd.h"

#define BUFFER_BYTES ((size_t)256 << 10)
/* The disk begins with what is written in such steps, so that little is left when the file is synced. */
#define AHEAD_BYTES ((uint64_t)8 << 20)

/* ---- a buffered descriptor */

struct ald_fd_sink {
    ald_sink sink;
    int fd;
    uint64_t written; /* bytes already handed to the descriptor */
    uint64_t begun;   /* of them: on their way to the disk */
    int syncs;        /* the file will be synced */
    size_t used;
    char *name;
    uint8_t buffer[BUFFER_BYTES];
};

static ald_status fd_put(ald_fd_sink *s, const void *buf, size_t size, ald_error *err)
{
    ald_status st = ald__fd_write(s->fd, s->name, buf, size, err);
    if (st != ALD_OK)
        return st;
    s->written += size;
#ifdef SYNC_FILE_RANGE_WRITE
    if (s->syncs && s->written - s->begun >= AHEAD_BYTES) {
        (void)sync_file_range(s->fd, (off_t)s->begun, (off_t)(s->written - s->begun),
                              SYNC_FILE_RANGE_WRITE); /* fsync will tell of errors */
        s->begun = s->written;
    }
#endif
    return ALD_OK;
}

static ald_status fd_flush(ald_fd_sink *s, ald_error *err)
{
    ald_status st = fd_put(s, s->buffer, s->used, err);
    s->used = 0;
    return st;
}

static ald_status fd_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    ald_fd_sink *s = ctx;
    if (size > BUFFER_BYTES - s->used) {
        ald_status st = fd_flush(s, err);
        if (st != ALD_OK)
            return st;
    }
    if (size >= BUFFER_BYTES)
        return fd_put(s, buf, size, err);
    if (size > 0)
        memcpy(s->buffer + s->used, buf, size);
    s->used += size;
    return ALD_OK;
}

static ald_status fd_write_at(void *ctx, uint64_t offset, const void *buf, size_t size,
                              ald_error *err)
{
    ald_fd_sink *s = ctx;
    ald_status st = fd_flush(s, err);
    if (st != ALD_OK)
        return st;
    if (offset > s->written || size > s->written - offset)
        return ald_error_set(err, ALD_E_INVALID_ARG, offset, "write_at past what was written");
    return ald__fd_write_at(s->fd, s->name, offset, buf, size, err);
}

ald_status ald_fd_sink_new(int fd, const char *name, ald_fd_sink **out, ald_error *err)
{
    ald_fd_sink *s = malloc(sizeof *s);
    char *copy = strdup(name);
    *out = NULL;
    if (s == NULL || copy == NULL) {
        free(s);
        free(copy);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to write '%s'", name);
    }
    s->sink = (ald_sink){fd_write, NULL, s, copy};
    s->fd = fd;
    s->written = s->begun = 0;
    s->syncs = 0;
    s->used = 0;
    s->name = copy;
    *out = s;
    return ALD_OK;
}

const ald_sink *ald_fd_sink_get(ald_fd_sink *sink)
{
    return &sink->sink;
}

ald_status ald_fd_sink_flush(ald_fd_sink *sink, ald_error *err)
{
    return fd_flush(sink, err);
}

void ald_fd_sink_free(ald_fd_sink *sink)
{
    if (sink == NULL)
        return;
    free(sink->name);
    free(sink);
}

/* ---- an output file */

struct ald_file_sink {
    ald_fd_sink *out;
    int fd;
    uint32_t flags;
    char *path;
    char *temporary;
};

/* A name beside the output, so that rename stays on one file system. */
static char *temporary_name(const char *path)
{
    size_t size = strlen(path) + sizeof ".XXXXXX.tmp";
    char *name = malloc(size);
    if (name != NULL)
        (void)snprintf(name, size, "%s.XXXXXX.tmp", path);
    return name;
}

/* The mode that open would have given, or that the file to be replaced has. */
static void set_mode(int fd, const char *path, uint32_t flags)
{
    struct stat info;
    mode_t mask = umask(0);
    (void)umask(mask);
    if (flags & ALD_FILE_PRIVATE)
        (void)fchmod(fd, 0600);
    else if (stat(path, &info) == 0)
        (void)fchmod(fd, info.st_mode & 07777u);
    else
        (void)fchmod(fd, 0666u & ~mask);
}

static void free_file(ald_file_sink *f)
{
    if (f->fd >= 0)
        (void)close(f->fd);
    if ((f->flags & ALD_FILE_PRIVATE) && f->out != NULL)
        explicit_bzero(f->out->buffer, sizeof f->out->buffer);
    ald_fd_sink_free(f->out);
    free(f->path);
    free(f->temporary);
    free(f);
}

static ald_status check_target(const char *path, uint32_t flags, ald_error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return ALD_OK;
    if (S_ISDIR(info.st_mode))
        return ald__io_error(err, "cannot write", path, EISDIR);
    if (!(flags & ALD_FILE_REPLACE))
        return ald__io_error(err, "cannot write", path, EEXIST);
    return ALD_OK;
}

ald_status ald_file_create(const char *path, uint32_t flags, ald_file_sink **out, ald_error *err)
{
    ald_file_sink *f;
    ald_status st = check_target(path, flags, err);
    *out = NULL;
    if (st != ALD_OK)
        return st;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to write '%s'", path);
    f->fd = -1;
    f->flags = flags;
    f->path = strdup(path);
    f->temporary = temporary_name(path);
    if (f->path == NULL || f->temporary == NULL) {
        free_file(f);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to write '%s'", path);
    }
    f->fd = mkostemps(f->temporary, 4, O_CLOEXEC);
    if (f->fd < 0) {
        st = ald__io_error(err, "cannot write", path, errno);
        free_file(f);
        return st;
    }
    set_mode(f->fd, path, flags);
    st = ald_fd_sink_new(f->fd, path, &f->out, err);
    if (st != ALD_OK) {
        ald_file_abort(f);
        return st;
    }
    f->out->sink.write_at = fd_write_at;
    f->out->syncs = 1;
    *out = f;
    return ALD_OK;
}

const ald_sink *ald_file_sink_get(ald_file_sink *file)
{
    return ald_fd_sink_get(file->out);
}

const char *ald_file_sink_temporary(const ald_file_sink *file)
{
    return file->temporary;
}

/* The new name must survive a crash too. */
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int fd = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

/* Without ALD_FILE_REPLACE a file that appeared meanwhile is not replaced: link fails where rename would not. */
static int move_into_place(const ald_file_sink *f)
{
    if (f->flags & ALD_FILE_REPLACE)
        return rename(f->temporary, f->path);
    if (link(f->temporary, f->path) == 0)
        return unlink(f->temporary);
    if (errno == EEXIST)
        return -1;
    return rename(f->temporary, f->path); /* a file system without hard links */
}

ald_status ald_file_settle(ald_file_sink *f, ald_error *err)
{
    ald_status st;
    int fd;
    if (f->fd < 0)
        return ALD_OK;
    st = fd_flush(f->out, err);
    if (st == ALD_OK && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS)
        st = ald__io_error(err, "cannot write", f->path, errno);
    fd = f->fd;
    f->fd = -1;
    if (close(fd) != 0 && st == ALD_OK)
        st = ald__io_error(err, "cannot write", f->path, errno);
    if (f->flags & ALD_FILE_PRIVATE)
        explicit_bzero(f->out->buffer, sizeof f->out->buffer);
    ald_fd_sink_free(f->out);
    f->out = NULL;
    return st;
}

ald_status ald_file_commit(ald_file_sink *f, ald_error *err)
{
    ald_status st = ald_file_settle(f, err);
    if (st == ALD_OK && move_into_place(f) != 0)
        st = ald__io_error(err, "cannot write", f->path, errno);
    if (st != ALD_OK) {
        ald_file_abort(f);
        return st;
    }
    if (!(f->flags & ALD_FILE_LATER))
        sync_folder(f->path);
    free_file(f);
    return ALD_OK;
}

void ald_file_abort(ald_file_sink *f)
{
    if (f == NULL)
        return;
    if (f->temporary != NULL)
        (void)unlink(f->temporary);
    free_file(f);
}
