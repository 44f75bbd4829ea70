/* SPDX-License-Identifier: MIT */
/* Which files a pattern or a folder stands for. In folders, names that begin with a dot or an underscore are not data: so do
 * the programs that write such folders mark what they keep for themselves. */
#define _DEFAULT_SOURCE
#include "cli/many_files.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/buyers.h"

#define DEEPEST 32

void cli_many_free(cli_env *env, cli_many *many)
{
    if (many == NULL) {
        return;
    }
    cli_keep_subject(env, many->name);
    cli_keep_subject(env, many->manifest_path);
    for (size_t i = 0; i < many->count; i++) {
        cli_keep_subject(env, many->paths[i]);
        free(many->paths[i]);
    }
    cli_folder_columns_clear(&many->columns);
    shard_manifest_clear(&many->manifest);
    free(many->manifest_path);
    free(many->name);
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
    if (format == FORMAT_JSON && shard_manifest_is(path)) {
        free(many->manifest_path);
        many->manifest_path = path;
        many->manifest_count++;
        return ALD_OK;
    }
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

/* What a process that was killed left behind: data.ald.Ab3xYz.tmp. */
static int is_temporary(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t size = strlen(name);
    return size > 11 && name[size - 11] == '.' && strcmp(name + size - 4, ".tmp") == 0;
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
        if (!is_temporary(found.gl_pathv[i])) {
            status = add_found(many, found.gl_pathv[i], only, err);
        }
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
        cli_hint(env, strstr(pattern, "**") != NULL
                          ? "** is one level of folders here; a folder's own name stands for all "
                            "that is below it"
                          : "quote a pattern, or the shell puts the names in its place");
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

/* ---- manifests */

/* The files of the manifest in place of those that were found. */
static ald_status take_manifest(cli_env *env, cli_many *many, ald_error *err)
{
    const char *subject = env->subject;
    env->subject = many->manifest_path;
    ald_status status = shard_manifest_read(env, many->manifest_path, &many->manifest, err);
    for (size_t i = 0; i < many->count; i++) {
        free(many->paths[i]);
    }
    many->count = 0;
    for (size_t i = 0; status == ALD_OK && i < many->manifest.count; i++) {
        char *path = shard_manifest_beside(many->manifest_path, many->manifest.files[i].name);
        status = path != NULL ? add_path(many, path, err) : no_memory(err);
    }
    env->subject = status == ALD_OK ? subject : env->subject;
    return status;
}

/* A folder with one manifest is what the manifest says, or nothing: a shard that is missing is missed, and what does not
 * belong to it is not mixed in. */
static ald_status take_folder_manifest(cli_env *env, cli_many *many, ald_error *err)
{
    shard_manifest seen;
    char *folder = shard_manifest_beside(many->manifest_path, "");
    const char *stranger = NULL;
    ald_status status =
        folder != NULL ? shard_manifest_read(env, many->manifest_path, &seen, err) : no_memory(err);
    for (size_t i = 0; status == ALD_OK && stranger == NULL && i < many->count; i++) {
        const char *path = many->paths[i];
        size_t length =
            strlen(folder); /* what lies deeper has a name with a slash, and is not listed */
        int is_listed =
            strncmp(path, folder, length) == 0 && shard_manifest_lists(&seen, path + length);
        stranger = is_listed ? NULL : path;
    }
    if (stranger != NULL) {
        cli_hint(env, "name the manifest, or the files by a pattern");
        status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                               "%s is in the folder, but the manifest does not list it", stranger);
    }
    if (folder != NULL) {
        shard_manifest_clear(&seen);
    }
    free(folder);
    return status == ALD_OK ? take_manifest(env, many, err) : status;
}

ald_status cli_many_check_size(const cli_many *many, size_t index, uint64_t size_bytes,
                               ald_error *err)
{
    const manifest_file *file = many->manifest.files + index;
    return many->manifest.count == 0 || file->size_bytes == size_bytes
               ? ALD_OK
               : ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, ALD_NO_OFFSET,
                               "it has %" PRIu64 " bytes, the manifest says %" PRIu64, size_bytes,
                               file->size_bytes);
}

ald_status cli_many_check_hash(cli_env *env, const cli_many *many, size_t index,
                               const ald_source *source, ald_error *err)
{
    const shard_manifest *manifest = &many->manifest;
    uint8_t hash[32];
    if (manifest->count == 0) {
        return ALD_OK;
    }
    ald_status status = cli_source_blake3(env, source, hash, err);
    if (status != ALD_OK || memcmp(hash, manifest->files[index].blake3, sizeof(hash)) == 0) {
        return status;
    }
    return manifest->is_signed
               ? ald_error_set(err, ALD_E_SIGNATURE_INVALID, ALD_NO_OFFSET,
                               "it is not the file that the manifest's signer signed")
               : ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, ALD_NO_OFFSET,
                               "its BLAKE3 hash is not that of the manifest");
}

ald_status cli_many_check_file(const cli_many *many, size_t index, const cli_input *file,
                               ald_error *err)
{
    ald_status status = cli_many_check_size(many, index, file->file_size, err);
    return status == ALD_OK && many->manifest.is_signed
               ? cli_many_check_hash(file->env, many, index, &file->source, err)
               : status;
}

ald_status cli_many_check_rows(const cli_many *many, size_t index, uint64_t row_count,
                               ald_error *err)
{
    const manifest_file *file = many->manifest.files + index;
    return many->manifest.count == 0 || file->row_count == row_count
               ? ALD_OK
               : ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, ALD_NO_OFFSET,
                               "it has %" PRIu64 " rows, the manifest says %" PRIu64, row_count,
                               file->row_count);
}

/* ---- operands */

/* Where in the paths the names of folders count: behind the folder, or from the first part of a pattern that is one; of
 * several operands, behind the folders that all files are in. */
static size_t root_length(const cli_many *many, const opt_list *operands, int is_pattern)
{
    const char *path = operands->count == 1 ? operands->items[0] : many->paths[0];
    size_t end = is_pattern ? strcspn(path, "*?[") : strlen(path);
    for (size_t i = 1; operands->count > 1 && i < many->count; i++) {
        size_t same = 0;
        while (same < end && many->paths[i][same] == path[same]) {
            same++;
        }
        end = same;
    }
    while ((is_pattern || operands->count > 1) && end > 0 && path[end - 1] != '/') {
        end--;
    }
    return end;
}

/* Whether `path` stands for the files of a pattern; a name with such characters is a name first. */
static int is_pattern_path(const char *path)
{
    return strpbrk(path, "*?[") != NULL && access(path, F_OK) != 0;
}

/* A manifest is told by its content, unless --from says what the file is. */
static int is_manifest_path(const char *path, const char *from)
{
    return (from == NULL || file_format_scope_in(file_format_of_name(from)) != SCOPE_JSON_IN) &&
           shard_manifest_is(path);
}

/* The files of one operand, sorted by their names, behind those that are there. */
static ald_status add_operand(cli_env *env, cli_many *many, const char *path, const char *from,
                              ald_error *err)
{
    file_format only = from != NULL ? file_format_of_name(from) : file_format_of_path(path);
    size_t before = many->count;
    ald_status status = ALD_OK;
    if (is_pattern_path(path)) {
        status = expand(env, many, path, only, err);
    } else if (path[0] != '\0' && is_folder(path)) {
        status = walk(many, path, only, 0, err);
    } else if (is_manifest_path(path, from)) {
        many->manifest_path = strdup(path);
        status = many->manifest_path != NULL ? take_manifest(env, many, err) : no_memory(err);
        return status;
    } else {
        char *copy = strdup(path);
        return copy != NULL ? add_path(many, copy, err) : no_memory(err);
    }
    if (status == ALD_OK && many->count > before) {
        qsort(many->paths + before, many->count - before, sizeof(*many->paths), compare_paths);
    }
    return status;
}

/* The name of several operands, for messages. */
static ald_status name_several(cli_many *many, const opt_list *operands, ald_error *err)
{
    size_t room = strlen(operands->items[0]) + 48;
    many->name = malloc(room);
    if (many->name == NULL) {
        return no_memory(err);
    }
    (void)snprintf(many->name, room, "%s and %zu more", operands->items[0], operands->count - 1);
    return ALD_OK;
}

/* Of several operands each has to be there, and none can say more than its name. */
static ald_status check_several(cli_env *env, const opt_list *operands, const char *from,
                                ald_error *err)
{
    for (size_t i = 0; i < operands->count; i++) {
        const char *path = operands->items[i];
        if (strcmp(path, "-") == 0) {
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "standard input is read alone");
        }
        if (!is_pattern_path(path) && access(path, F_OK) != 0) {
            env->subject = path;
            ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s", strerror(errno));
            if (err != NULL) {
                err->detail = errno;
            }
            return status;
        }
        if (is_manifest_path(path, from)) {
            cli_hint(env, "name the manifest alone, or its files");
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "'%s' is a manifest, which is read alone", path);
        }
    }
    return ALD_OK;
}

static ald_status find_all(cli_env *env, const opt_list *operands, const char *from, cli_many *many,
                           ald_error *err)
{
    ald_status status = operands->count > 1 ? check_several(env, operands, from, err) : ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < operands->count; i++) {
        status = add_operand(env, many, operands->items[i], from, err);
    }
    int is_folder_set = many->manifest.count == 0 && many->manifest_count == 1 &&
                        operands->count == 1 && is_folder(operands->items[0]);
    if (status == ALD_OK && is_folder_set) {
        status = take_folder_manifest(env, many, err);
    }
    if (status == ALD_OK && many->count > 0 && from == NULL) {
        status = check_formats(env, many, err);
    }
    if (status == ALD_OK && many->count > 0 && many->manifest.count == 0) {
        status = cli_folder_columns_find(
            many->paths, many->count,
            root_length(many, operands, is_pattern_path(operands->items[0])), &many->columns, err);
    }
    return status == ALD_OK && operands->count > 1 ? name_several(many, operands, err) : status;
}

ald_status cli_many_find(cli_env *env, const opt_list *operands, const char *from, cli_many **out,
                         ald_error *err)
{
    const char *path = operands->items[0];
    *out = NULL;
    if (operands->count == 1 && (path[0] == '\0' || (!is_pattern_path(path) && !is_folder(path) &&
                                                     !is_manifest_path(path, from)))) {
        return ALD_OK;
    }
    cli_many *many = calloc(1, sizeof(*many));
    if (many == NULL) {
        return no_memory(err);
    }
    ald_status status = find_all(env, operands, from, many, err);
    if (status != ALD_OK || many->count == 0) {
        cli_many_free(env, many);
        return status;
    }
    *out = many;
    return ALD_OK;
}
