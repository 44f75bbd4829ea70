/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "interchange/sqlite/sqlite_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interchange/text/mem.h"

#define FILE_PREFIX "file:"
#define UNCHANGING "?immutable=1"
#define WAL_SUFFIX "-wal"

/* Bytes 18 and 19 of a database are 2 when it has a write-ahead log. */
static int has_log_mode(const char *path)
{
    uint8_t head[20];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = fd >= 0 ? read(fd, head, sizeof head) : -1;
    if (fd >= 0)
        (void)close(fd);
    return size == (ssize_t)sizeof head && head[18] == 2;
}

static ald_status has_log(const char *path, const ald_allocator *alloc, int *out, ald_error *err)
{
    struct stat st;
    size_t length = strlen(path), size = length + sizeof WAL_SUFFIX;
    char *log = ald__text_alloc(alloc, size, 1, err);
    if (log == NULL)
        return ALD_E_NOMEM;
    memcpy(log, path, length);
    memcpy(log + length, WAL_SUFFIX, sizeof WAL_SUFFIX);
    *out = lstat(log, &st) == 0;
    ald__text_free(alloc, log, size, 1);
    return ALD_OK;
}

static int take_state(const char *path, uint64_t *size, int64_t *seconds, int64_t *nanoseconds)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return 0;
    *size = (uint64_t)st.st_size;
#ifdef __APPLE__
    *seconds = st.st_mtimespec.tv_sec;
    *nanoseconds = st.st_mtimespec.tv_nsec;
#else
    *seconds = st.st_mtim.tv_sec;
    *nanoseconds = st.st_mtim.tv_nsec;
#endif
    return 1;
}

/* A path, or an address: then all but letters, digits and / . _ - is %XX. */
static ald_status make_name(ald__sqlite_file *f, const char *path, int is_address,
                            const ald_allocator *alloc, ald_error *err)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t used = 0;
    f->name_size = 3 * strlen(path) + sizeof FILE_PREFIX + sizeof UNCHANGING + 2;
    f->name = ald__text_alloc(alloc, f->name_size, 1, err);
    if (f->name == NULL)
        return ALD_E_NOMEM;
    if (is_address) {
        memcpy(f->name, FILE_PREFIX, sizeof FILE_PREFIX - 1);
        used = sizeof FILE_PREFIX - 1;
    }
    if (path[0] != '/') { /* "file:x" and ":memory:" are paths, too */
        memcpy(f->name + used, "./", 2);
        used += 2;
    }
    for (; *path != '\0'; path++) {
        unsigned char c = (unsigned char)*path;
        int is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '-' && c <= '9') || c == '_';
        if (is_address && !is_plain) {
            f->name[used++] = '%';
            f->name[used++] = digits[c >> 4];
            f->name[used++] = digits[c & 15];
        } else {
            f->name[used++] = (char)c;
        }
    }
    if (is_address)
        memcpy(f->name + used, UNCHANGING, sizeof UNCHANGING);
    return ALD_OK;
}

ald_status ald__sqlite_file_look(ald__sqlite_file *f, const char *path, const ald_allocator *alloc,
                                 ald_error *err)
{
    int logged = 0, is_unchanging = has_log_mode(path);
    ald_status status = is_unchanging ? has_log(path, alloc, &logged, err) : ALD_OK;
    memset(f, 0, sizeof *f);
    is_unchanging =
        is_unchanging && !logged && take_state(path, &f->size, &f->seconds, &f->nanoseconds);
    if (status == ALD_OK)
        status = make_name(f, path, is_unchanging, alloc, err);
    if (status != ALD_OK || !is_unchanging)
        return status;
    f->path_size = strlen(path) + 1;
    f->path = ald__text_alloc(alloc, f->path_size, 1, err);
    if (f->path == NULL)
        return ALD_E_NOMEM;
    memcpy(f->path, path, f->path_size);
    return ALD_OK;
}

ald_status ald__sqlite_file_check(const ald__sqlite_file *f, ald_error *err)
{
    uint64_t size = 0;
    int64_t seconds = 0, nanoseconds = 0;
    if (f->path == NULL || (take_state(f->path, &size, &seconds, &nanoseconds) && size == f->size &&
                            seconds == f->seconds && nanoseconds == f->nanoseconds))
        return ALD_OK;
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                         "another program changed the database while it was read\ntry again");
}

void ald__sqlite_file_clear(ald__sqlite_file *f, const ald_allocator *alloc)
{
    ald__text_free(alloc, f->name, f->name_size, 1);
    ald__text_free(alloc, f->path, f->path_size, 1);
    memset(f, 0, sizeof *f);
}
