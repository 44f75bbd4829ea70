/* SPDX-License-Identifier: MIT */
/* What the native files share: errors with errno, whole reads and writes, temporary files. */
#ifndef NATIVE_FD_H
#define NATIVE_FD_H

#include <stddef.h>
#include <stdint.h>

#include "ald/error.h"
#include "ald/io.h"

/* ALD_E_IO: "what 'name': reason", errno in detail. `name` may be NULL. */
ald_status ald__io_error(ald_error *err, const char *what, const char *name, int code);

/* All bytes or an error; EINTR is tried again. read_all_at: a file that ends early is ALD_E_TRUNCATED. */
ALD_NODISCARD ald_status ald__fd_read_at(int fd, const char *name, uint64_t offset, void *buf,
                                         size_t size, ald_error *err);
ALD_NODISCARD ald_status ald__fd_write(int fd, const char *name, const void *buf, size_t size,
                                       ald_error *err);
ALD_NODISCARD ald_status ald__fd_write_at(int fd, const char *name, uint64_t offset,
                                          const void *buf, size_t size, ald_error *err);

/* A source over a descriptor, which it takes, also on failure. The name is copied. */
ALD_NODISCARD ald_status ald__fd_source(int fd, const char *name, uint64_t size, ald_source *out,
                                        ald_error *err);

/* An open temporary file without a name, in $TMPDIR or /tmp. -1 with err set. */
int ald__temporary_file(ald_error *err);
/* A spool over such a file. */
ALD_NODISCARD ald_status ald__spool_file(ald_spool *out, ald_error *err);

#endif
