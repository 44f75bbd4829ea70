/* SPDX-License-Identifier: MIT */
/* Which files a pattern or a folder stands for. In folders, names that begin with a dot or an underscore are not data: so do
 * the programs that write such folders mark what they keep for themselves. */
#define _DEFAULT_SOURCE
#include "cli/many_files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 32

void cli_many_free(cli_many *many)
{
    if (many == NULL) {
        return;
    }
    for (size_t i = 0; i < many->count; i++) {
        free(many->paths[i]);
    }
    cli_folder_columns_clear(&many->columns);
    free(many->paths);
    free(many);
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the names of files");
}

/* Takes `path`. */
static ald_status add_path(cli_many *many, char *path, ald_error *err)
{
    char **paths = realloc(many->paths, (many->count + 1) * sizeof(*paths));
    if (paths == NULL) {
        free(path);
        return no_memory(err);
    }
    many->paths = paths;
    many->paths[many->count++] = path;
    return ALD_OK;
}

static int is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static ald_status walk(cli_many *many, const char *folder, file_format only, int depth,
                       ald_error *err);

static ald_status visit(cli_many *many, const char *folder, const char *name, file_format only,
                        int depth, ald_error *err)
{
    size_t room = strlen(folder) + strlen(name) + 2;
    char *path = malloc(room);
    if (path == NULL) {
        return no_memory(err);
    }
    (void)snprintf(path, room, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                   name);
    if (is_folder(path)) {
        ald_status status = walk(many, path, only, depth + 1, err);
        free(path);
        return status;
    }
    file_format format = file_format_of_path(path);
    if (format == FORMAT_UNKNOWN || (only != FORMAT_UNKNOWN && format != only)) {
        free(path);
        return ALD_OK;
    }
    return add_path(many, path, err);
}

static ald_status walk(cli_many *many, const char *folder, file_format only, int depth,
                       ald_error *err)
{
    DIR *dir = depth < DEEPEST ? opendir(folder) : NULL;
    ald_status status = ALD_OK;
    if (dir == NULL) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read the folder '%s'%s", folder,
                             depth < DEEPEST ? "" : ": folders are nested too deep");
    }
    for (;;) {
        const struct dirent *entry = readdir(dir);
        if (entry == NULL || status != ALD_OK) {
            break;
        }
        if (entry->d_name[0] != '.' && entry->d_name[0] != '_') {
            status = visit(many, folder, entry->d_name, only, depth, err);
        }
    }
    (void)closedir(dir);
    return status;
}

static ald_status add_found(cli_many *many, const char *path, file_format only, ald_error *err)
{
    if (is_folder(path)) {
        return walk(many, path, only, 0, err);
    }
    char *copy = strdup(path);
    return copy != NULL ? add_path(many, copy, err) : no_memory(err);
}

static ald_status expand(cli_env *env, cli_many *many, const char *pattern, file_format only,
                         ald_error *err)
{
    glob_t found;
    ald_status status = ALD_OK;
    memset(&found, 0, sizeof(found));
    int code = glob(pattern, GLOB_ERR, NULL, &found);
    for (size_t i = 0; code == 0 && status == ALD_OK && i < found.gl_pathc; i++) {
        status = add_found(many, found.gl_pathv[i], only, err);
    }
    globfree(&found);
    if (code == GLOB_NOSPACE) {
        return no_memory(err);
    }
    if (code != 0 && code != GLOB_NOMATCH) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "a folder of '%s' cannot be read",
                             pattern);
    }
    if (status == ALD_OK && many->count == 0) {
        cli_hint(env, "quote a pattern, or the shell puts the names in its place");
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "no file fits '%s'", pattern);
        if (err != NULL) {
            err->detail = ENOENT;
        }
    }
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static ald_status check_formats(cli_env *env, const cli_many *many, ald_error *err)
{
    for (size_t i = 1; i < many->count; i++) {
        if (file_format_of_path(many->paths[i]) != file_format_of_path(many->paths[0])) {
            cli_hint(env, "say with --from which are meant, or use a pattern");
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "%s and %s are of different formats", many->paths[0],
                                 many->paths[i]);
        }
    }
    return ALD_OK;
}

/* Where in the paths the names of folders count: behind the folder, or from the first part of a pattern that is one. */
static size_t root_length(const char *path, int is_pattern)
{
    size_t end = is_pattern ? strcspn(path, "*?[") : strlen(path);
    while (is_pattern && end > 0 && path[end - 1] != '/') {
        end--;
    }
    return end;
}

ald_status cli_many_find(cli_env *env, const char *path, const char *from, cli_many **out,
                         ald_error *err)
{
    file_format only = from != NULL ? file_format_of_name(from) : file_format_of_path(path);
    int is_pattern = strpbrk(path, "*?[") != NULL && access(path, F_OK) != 0;
    *out = NULL;
    if (path[0] == '\0' || (!is_pattern && !is_folder(path))) {
        return ALD_OK;
    }
    cli_many *many = calloc(1, sizeof(*many));
    if (many == NULL) {
        return no_memory(err);
    }
    ald_status status =
        is_pattern ? expand(env, many, path, only, err) : walk(many, path, only, 0, err);
    if (status == ALD_OK && many->count > 0) {
        qsort(many->paths, many->count, sizeof(*many->paths), compare_paths);
        status = from == NULL ? check_formats(env, many, err) : ALD_OK;
        if (status == ALD_OK) {
            status = cli_folder_columns_find(many->paths, many->count,
                                             root_length(path, is_pattern), &many->columns, err);
        }
    }
    if (status != ALD_OK || many->count == 0) {
        cli_many_free(many);
        return status;
    }
    *out = many;
    return ALD_OK;
}
