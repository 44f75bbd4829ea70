/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "cli/file_set.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/buyers.h"
#include "cli/cleanup.h"

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the files of a set");
}

/* Room for one more, so that what was written is not lost to a lack of memory. */
static ald_status add_file(file_set *set, const char *path, set_file **out, ald_error *err)
{
    set_file *files = realloc(set->files, (set->count + 1) * sizeof(*files));
    if (files == NULL) {
        return no_memory(err);
    }
    set->files = files;
    *out = &files[set->count];
    memset(*out, 0, sizeof(**out));
    (*out)->path = strdup(path);
    if ((*out)->path == NULL) {
        return no_memory(err);
    }
    (*out)->replaces = access(path, F_OK) == 0;
    set->count++;
    return ALD_OK;
}

/* What was written is the set's now. */
static ald_status take_file(file_set *set, set_file *file, cli_output *out, ald_error *err)
{
    if (out->file == NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "it is not a regular file");
    }
    file->file = out->file;
    file->size_bytes = out->byte_count;
    const char *temporary = ald_file_sink_temporary(file->file);
    ald_status status = cli_file_blake3(set->env, temporary, file->blake3, err);
    set->env->subject = status == ALD_OK ? set->env->subject : file->path;
    return status;
}

static ald_status begin(file_set *set, const cli_output *like, const char *path,
                        const char *in_path, const write_options *options, cli_output *out,
                        set_file **file, ald_error *err)
{
    write_options own = *options;
    own.to = file_format_name(like->format);
    ald_status status = add_file(set, path, file, err);
    if (status != ALD_OK) {
        return status;
    }
    status = cli_output_init(set->env, (*file)->path, &own, in_path, out, err);
    out->delimiter = like->delimiter;
    out->no_header = like->no_header;
    out->is_one_of_set = 1;
    if (in_path == NULL && !options->force && status == ALD_OK && (*file)->replaces) {
        cli_hint(set->env, "--force replaces it");
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the file exists already");
    }
    out->may_replace = options->force;
    return status;
}

ald_status file_set_write(file_set *set, const cli_output *like, const char *path,
                          const char *in_path, struct ArrowArrayStream *batches,
                          const write_options *options, const ald_extras *extras, ald_error *err)
{
    cli_output out;
    set_file *file = NULL;
    ald_status status = begin(set, like, path, in_path, options, &out, &file, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    status = cli_output_write(&out, file->path, batches, options, extras, err);
    return status == ALD_OK ? take_file(set, file, &out, err) : status;
}

ald_status file_set_fill(file_set *set, const cli_output *like, const char *path,
                         cli_output_filler fill, void *ctx, ald_error *err)
{
    write_options options;
    cli_output out;
    set_file *file = NULL;
    memset(&options, 0, sizeof(options));
    options.force = like->may_replace;
    ald_status status = begin(set, like, path, NULL, &options, &out, &file, err);
    if (status == ALD_OK) {
        status = cli_output_fill(&out, file->path, fill, ctx, err);
    }
    return status == ALD_OK ? take_file(set, file, &out, err) : status;
}

/* Those that are in their places already go again; what they replaced is gone. */
static void undo(file_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->files[i].file == NULL && !set->files[i].replaces) {
            unlink(set->files[i].path);
        }
    }
}

static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
    free(folder);
}

static int is_same_folder(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    size_t size = x != NULL ? (size_t)(x - a) : 0;
    return (x != NULL) == (y != NULL) &&
           (x == NULL || ((size_t)(y - b) == size && memcmp(a, b, size) == 0));
}

/* The names of the first `count` files survive a crash. */
static void sync_names(const file_set *set, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !is_same_folder(set->files[i - 1].path, set->files[i].path)) {
            sync_folder(set->files[i].path);
        }
    }
}

ald_status file_set_commit(file_set *set, ald_error *err)
{
    ald_status status = ALD_OK;
    cli_cleanup_hold(); /* a signal waits: it comes before all, or behind */
    for (size_t i = 0; status == ALD_OK && i < set->count; i++) {
        set->env->subject = set->files[i].path;
        if (i + 1 == set->count) {
            sync_names(set, i); /* the last one, a manifest, is there when all others are */
        }
        set->files[i].replaces = access(set->files[i].path, F_OK) == 0;
        status = ald_file_commit(set->files[i].file, err);
        if (status == ALD_OK) {
            set->files[i].file = NULL;
            set->replaced_count += set->files[i].replaces;
        } else {
            cli_keep_subject(set->env, set->files[i].path);
            set->files[i].file = NULL;
            set->files[i].replaces = 1; /* nothing of it is there to be undone */
            for (size_t k = i + 1; k < set->count; k++) {
                ald_file_abort(set->files[k].file);
                set->files[k].file = NULL;
                set->files[k].replaces = 1;
            }
            undo(set);
        }
    }
    if (status == ALD_OK && set->count > 0) {
        sync_folder(set->files[set->count - 1].path);
    }
    cli_cleanup_clear();
    cli_cleanup_resume();
    return status;
}

void file_set_clear(file_set *set)
{
    cli_cleanup_hold();
    for (size_t i = 0; i < set->count; i++) {
        ald_file_abort(set->files[i].file);
        cli_keep_subject(set->env, set->files[i].path);
        free(set->files[i].path);
    }
    cli_cleanup_clear();
    cli_cleanup_resume();
    free(set->files);
    set->files = NULL;
    set->count = 0;
}
