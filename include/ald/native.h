/* SPDX-License-Identifier: MIT */
/* The POSIX host: files, memory, randomness, clock, threads. */
#ifndef ALD_NATIVE_H
#define ALD_NATIVE_H

#include <stdint.h>

#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

/* malloc, getrandom, time, a thread pool of `thread_count` (0: one per processor) and spools in unlinked temporary files
 * ($TMPDIR, else /tmp). Static state only; valid for the life of the process. */
ALD_API ald_host ald_native_host(uint32_t thread_count);

#define ALD_FILE_MAP                                                                               \
    0x1u /* map the file: `view` works. A file that shrinks while mapped kills the process */

/* Opens a regular file for reading. `*out` is closed with ald_source_close. The name is copied. Directories, missing and
 * unreadable files are ALD_E_IO with errno in `detail`. */
ALD_API ALD_NODISCARD ald_status ald_file_open(const char *path, uint32_t flags, ald_source *out,
                                               ald_error *err);
/* All bytes of a descriptor (a pipe) copied into an unlinked temporary file, as a source. The descriptor stays open. */
ALD_API ALD_NODISCARD ald_status ald_file_spool_fd(int fd, const char *name, ald_source *out,
                                                   ald_error *err);

/* If the bytes are gzip or zstd, *source is replaced by one over what they hold, decompressed into an unlinked temporary
 * file; else it stays. Cut data are ALD_E_TRUNCATED, broken ones ALD_E_INVALID_FORMAT; *source then stays too. */
ALD_API ALD_NODISCARD ald_status ald_file_inflate(ald_source *source, ald_error *err);

/* An output file that appears whole or not at all: bytes go to a temporary file beside `path`; commit does fsync and
 * rename (an existing file keeps its mode). */
typedef struct ald_file_sink ald_file_sink;
#define ALD_FILE_REPLACE 0x1u /* else an existing file is ALD_E_IO, detail EEXIST */
#define ALD_FILE_PRIVATE 0x2u /* mode 0600, whatever is replaced; the buffer is wiped */
#define ALD_FILE_LATER 0x4u   /* commit does not sync the folder: for many files, at the end */

ALD_API ALD_NODISCARD ald_status ald_file_create(const char *path, uint32_t flags,
                                                 ald_file_sink **out, ald_error *err);
/* Borrowed; valid until commit or abort. */
ALD_API const ald_sink *ald_file_sink_get(ald_file_sink *file);
/* The temporary file's path, for hosts that remove it on a signal. Borrowed; valid until commit or abort. */
ALD_API const char *ald_file_sink_temporary(const ald_file_sink *file);
/* Everything is on the disk, under the temporary name, and nothing can be written any more; commit then only renames. For
 * many files that appear together. After a failure abort is all that is left. */
ALD_API ALD_NODISCARD ald_status ald_file_settle(ald_file_sink *file, ald_error *err);
/* Both free `file`. commit removes the temporary file when it fails. */
ALD_API ALD_NODISCARD ald_status ald_file_commit(ald_file_sink *file, ald_error *err);
ALD_API void ald_file_abort(ald_file_sink *file);

/* A sink over an open descriptor (standard output), buffered; flush before the descriptor is used otherwise. */
typedef struct ald_fd_sink ald_fd_sink;
ALD_API ALD_NODISCARD ald_status ald_fd_sink_new(int fd, const char *name, ald_fd_sink **out,
                                                 ald_error *err);
ALD_API const ald_sink *ald_fd_sink_get(ald_fd_sink *sink);
ALD_API ALD_NODISCARD ald_status ald_fd_sink_flush(ald_fd_sink *sink, ald_error *err);
ALD_API void ald_fd_sink_free(ald_fd_sink *sink);

ALD_END_DECLS
#endif
