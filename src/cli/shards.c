/* SPDX-License-Identifier: MIT */
#define _DEFAULT_SOURCE
#include "cli/shards.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/cleanup.h"
#include "cli/escape.h"
#include "cli/file_set.h"
#include "cli/input.h"
#include "cli/manifest_trust.h"
#include "cli/row_cutter.h"
#include "cli/shard_manifest.h"

#define WIDTH_MAX 18
#define NUMBER_BYTES 32

static const opt_spec shard_specs[] = {
    {.name = "rows-per-shard",
     .arg = "N",
     .kind = OPT_COUNT,
     .min = 1,
     .offset = offsetof(shard_options, rows_per_shard),
     .help = "write files of N rows each, the last one of what is left. OUT has {shard} in its "
             "name, or {shard:05} for five digits: 'out-{shard:05}.ald' gives out-00000.ald, ... "
             "and out-manifest.json, which lists them with rows, sizes and BLAKE3 hashes, and is "
             "signed with them by --key"},
};
const opt_group cli_group_shards = OPT_GROUP("Shards", shard_specs);

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the name of a shard");
}

/* ---- names */

ald_status shard_pattern_parse(const char *path, shard_pattern *out, int *found, ald_error *err)
{
    static const char word[] = "{shard";
    const char *slash = strrchr(path, '/'), *open = strstr(path, word);
    *found = open != NULL;
    if (open == NULL) {
        return ALD_OK;
    }
    const char *at = open + sizeof(word) - 1;
    *out = (shard_pattern){path, (size_t)(open - path), 0, 1};
    if (at[0] == ':' && at[1] == '0') {
        out->width = 0;
        for (at += 2; *at >= '0' && *at <= '9' && out->width <= WIDTH_MAX; at++) {
            out->width = out->width * 10 + (*at - '0');
        }
    }
    out->end = (size_t)(at - path) + 1;
    if (*at != '}' || out->width < 1 || out->width > WIDTH_MAX || strstr(at, word) != NULL ||
        (slash != NULL && slash > open)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%s': {shard} or {shard:05} stands once, in the file's name", path);
    }
    return ALD_OK;
}

static char *shard_name(const shard_pattern *p, uint64_t number)
{
    size_t room = strlen(p->path) + NUMBER_BYTES;
    char *name = malloc(room);
    if (name != NULL) {
        (void)snprintf(name, room, "%.*s%0*" PRIu64 "%s", (int)p->begin, p->path, p->width, number,
                       p->path + p->end);
    }
    return name;
}

static const char *without_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The manifest is JSON, and has the names of the shards. */
static ald_status check_text(cli_env *env, const shard_pattern *p, ald_error *err)
{
    if (cli_is_utf8(without_folder(p->path))) {
        return ALD_OK;
    }
    env->subject = NULL; /* the message names the path */
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "%s: the name is not UTF-8, and a manifest lists only such names",
                         p->path);
}

/* out-{shard}.ald gives out-manifest.json, {shard}.ald manifest.json. */
static char *manifest_name(const shard_pattern *p)
{
    const char *slash = strrchr(p->path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - p->path) + 1 : 0, end = p->begin;
    while (end > folder && strchr("-_.", p->path[end - 1]) != NULL) {
        end--;
    }
    size_t room = end + sizeof("-manifest.json");
    char *name = malloc(room);
    if (name != NULL) {
        (void)snprintf(name, room, "%.*s%smanifest.json", (int)end, p->path,
                       end > folder ? "-" : "");
    }
    return name;
}

/* Whether a name without folders is one of a shard. */
static int fits(const shard_pattern *p, const char *name)
{
    const char *slash = strrchr(p->path, '/');
    const char *prefix = slash != NULL ? slash + 1 : p->path, *suffix = p->path + p->end;
    size_t before = (size_t)(p->path + p->begin - prefix), behind = strlen(suffix);
    size_t size = strlen(name);
    return size > before + behind && strncmp(name, prefix, before) == 0 &&
           strcmp(name + size - behind, suffix) == 0 &&
           strspn(name + before, "0123456789") == size - before - behind;
}

ald_status cli_shards_check(cli_env *env, const shard_options *options, const char *path,
                            ald_error *err)
{
    shard_pattern pattern;
    int found;
    ald_status status = shard_pattern_parse(path, &pattern, &found, err);
    if (status == ALD_OK && found && options->rows_per_shard == 0) {
        cli_hint(env, "--rows-per-shard N says how many rows each has");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "'%s' names shards, but not of how many rows", path);
    } else if (status == ALD_OK && !found && options->rows_per_shard > 0) {
        cli_hint(env, "put {shard:05} where the number shall be: 'out-{shard:05}.ald'");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "--rows-per-shard: '%s' has no place for the shard's number", path);
    }
    return status;
}

/* ---- writing */

typedef struct sharding {
    cli_env *env;
    const cli_output *like;
    const shard_options *shards;
    shard_pattern pattern;
    const char *in_path;
    const write_options *options;
    const ald_extras *extras;
    row_cutter *cutter;
    file_set set;
    shard_manifest manifest, before; /* what is written, and replaced */
    char *manifest_path;
    ald_buffer old_manifest; /* the bytes that are replaced; none where had_manifest is 0 */
    uint8_t had_manifest;
} sharding;

static ald_status write_shard(sharding *s, uint64_t number, ald_error *err)
{
    struct ArrowArrayStream rows;
    uint64_t before = row_cutter_rows(s->cutter);
    char *path = shard_name(&s->pattern, number);
    if (path == NULL) {
        return no_memory(err);
    }
    ald_status status = row_cutter_take(s->cutter, s->shards->rows_per_shard, &rows, err);
    if (status == ALD_OK) {
        status =
            file_set_write(&s->set, s->like, path, s->in_path, &rows, s->options, s->extras, err);
    }
    if (status == ALD_OK) {
        const set_file *file = &s->set.files[s->set.count - 1];
        status = shard_manifest_add(&s->manifest, without_folder(path),
                                    row_cutter_rows(s->cutter) - before, file->size_bytes,
                                    file->blake3, err);
    }
    free(path);
    return status;
}

static ald_status fill_manifest(void *ctx, const ald_sink *sink, ald_error *err)
{
    const sharding *s = ctx;
    return shard_manifest_write(&s->manifest, sink, err);
}

/* It is signed by whoever signs the shards. Something is in its place by the time it is put there (begin_commit). */
static ald_status write_manifest(sharding *s, ald_error *err)
{
    const ald_protection *protection = s->extras->protection;
    cli_output like = *s->like;
    ald_status status = ALD_OK;
    like.may_replace = 1;
    s->manifest.format = strdup(file_format_name(s->like->format));
    if (s->manifest.format == NULL) {
        return no_memory(err);
    }
    if (s->like->format == FORMAT_ALD && protection != NULL && protection->signer_seed != NULL) {
        status = manifest_sign(s->env, &s->manifest, protection->signer_seed, err);
    }
    return status == ALD_OK ? file_set_fill(&s->set, &like, s->manifest_path, fill_manifest, s, err)
                            : status;
}

static ald_status write_all(sharding *s, ald_error *err)
{
    int has_rows = 1; /* a table without rows is one shard without rows */
    ald_status status = ALD_OK;
    for (uint64_t i = 0; status == ALD_OK && has_rows; i++) {
        status = i < SHARDS_MAX ? write_shard(s, i, err)
                                : ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                                "more than %u shards\npass a larger "
                                                "--rows-per-shard",
                                                SHARDS_MAX);
        if (status == ALD_OK) {
            status = row_cutter_look(s->cutter, &has_rows, err);
        }
    }
    if (status == ALD_OK) {
        status = shard_manifest_sort(&s->manifest, err);
    }
    return status == ALD_OK ? write_manifest(s, err) : status;
}

/* An old set that is replaced: what its manifest lists. One that is not a manifest is not read. */
static ald_status look_before(sharding *s, ald_error *err)
{
    shard_manifest_clear(&s->before);
    ald_buffer_clear(&s->old_manifest);
    s->had_manifest = access(s->manifest_path, F_OK) == 0;
    if (!s->had_manifest) {
        return ALD_OK;
    }
    s->env->subject = s->manifest_path;
    if (!s->options->force) {
        cli_hint(s->env, "--force replaces the whole set");
        ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the file exists already");
        if (err != NULL) {
            err->detail = EEXIST;
        }
        return status;
    }
    ald_status status =
        cli_read_up_to(s->env, s->manifest_path, SHARD_MANIFEST_BYTES, &s->old_manifest, err);
    if (status == ALD_OK && shard_manifest_is(s->manifest_path)) {
        status = shard_manifest_read(s->env, s->manifest_path, &s->before, err);
    }
    return s->before.is_half ? ALD_OK : status;
}

/* Shards of the old set that this one has not. */
static void remove_rest(const sharding *s)
{
    for (size_t i = 0; i < s->before.count; i++) {
        const char *name = s->before.files[i].name;
        char *path = fits(&s->pattern, name) && !shard_manifest_lists(&s->manifest, name)
                         ? shard_manifest_beside(s->manifest_path, name)
                         : NULL;
        if (path != NULL) {
            unlink(path);
        }
        free(path);
    }
}

static ald_status fill_half(void *ctx, const ald_sink *sink, ald_error *err)
{
    const sharding *s = ctx;
    return shard_manifest_write_half(&s->before, &s->manifest, sink, err);
}

static ald_status fill_old(void *ctx, const ald_sink *sink, ald_error *err)
{
    const sharding *s = ctx;
    return sink->write(sink->ctx, s->old_manifest.data, s->old_manifest.size, err);
}

static ald_status replace_manifest(sharding *s, int may_replace, cli_output_filler fill,
                                   ald_error *err)
{
    write_options options = {.to = file_format_name(s->like->format)};
    cli_output out;
    ald_status status = cli_output_init(s->env, s->manifest_path, &options, NULL, &out, err);
    out.may_replace = (uint8_t)may_replace;
    return status == ALD_OK ? cli_output_fill(&out, s->manifest_path, fill, s, err) : status;
}

/* Nothing of the old set is gone: it is whole again. Else the manifest that no reader takes stays. */
static void take_back(sharding *s)
{
    const char *subject = s->env->subject;
    if (s->set.replaced_count > 0) {
        cli_hint(s->env, "the set is half replaced, and is not read any more: write it again, with "
                         "--force");
    } else if (s->had_manifest) {
        (void)replace_manifest(s, 1, fill_old, NULL);
    } else {
        (void)unlink(s->manifest_path);
    }
    s->env->subject = subject;
}

/* Two that write one set at the same time: the second one waits, and then replaces the first one's. -1 where a folder cannot
 * be locked. */
static int lock_folder(const sharding *s)
{
    char *folder = shard_manifest_beside(s->manifest_path, "");
    const char *path = folder != NULL && folder[0] != '\0' ? folder : ".";
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX) != 0) {
        (void)close(fd);
        fd = -1;
    }
    free(folder);
    return fd;
}

/* While files are put in their places there is a manifest that says so: whatever ends this half way, a power cut too, what is
 * there is not taken for a whole set. */
static ald_status commit(sharding *s, ald_error *err)
{
    int lock = lock_folder(s);
    ald_status status = look_before(s, err); /* once more: it may be another one now */
    cli_cleanup_hold();
    if (status == ALD_OK) {
        status = replace_manifest(s, s->had_manifest, fill_half, err);
    }
    if (status == ALD_OK) {
        status = file_set_commit(&s->set, err);
        if (status == ALD_OK) {
            remove_rest(s);
        } else {
            take_back(s);
        }
    }
    cli_cleanup_resume();
    if (lock >= 0) {
        (void)close(lock);
    }
    return status;
}

static void say_done(const sharding *s)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < s->manifest.count; i++) {
        bytes += s->manifest.files[i].size_bytes;
    }
    cli_note(s->env, "%s: %" PRIu64 " rows, %zu shard%s, %" PRIu64 " bytes", s->manifest_path,
             s->manifest.row_count, s->manifest.count, s->manifest.count == 1 ? "" : "s", bytes);
}

static void clear(sharding *s)
{
    file_set_clear(&s->set);
    row_cutter_free(s->cutter);
    shard_manifest_clear(&s->manifest);
    shard_manifest_clear(&s->before);
    ald_buffer_clear(&s->old_manifest);
    cli_keep_subject(s->env, s->manifest_path);
    free(s->manifest_path);
}

ald_status cli_shards_write(cli_env *env, const cli_output *like, const shard_options *shards,
                            const char *path, const char *in_path, struct ArrowArrayStream *batches,
                            const write_options *options, const ald_extras *extras, ald_error *err)
{
    int found;
    sharding s = {.env = env,
                  .like = like,
                  .shards = shards,
                  .in_path = in_path,
                  .options = options,
                  .extras = extras,
                  .set = {.env = env},
                  .old_manifest = {NULL, 0, 0, &env->host.alloc}};
    ald_status status = shard_pattern_parse(path, &s.pattern, &found, err);
    if (status == ALD_OK) {
        status = check_text(env, &s.pattern, err);
    }
    if (status == ALD_OK) {
        s.manifest_path = manifest_name(&s.pattern);
        status = s.manifest_path != NULL ? look_before(&s, err) : no_memory(err);
    }
    if (status == ALD_OK) {
        status = row_cutter_new(batches, &env->host, &s.cutter, err);
    } else {
        batches->release(batches);
    }
    if (status == ALD_OK) {
        status = write_all(&s, err);
    }
    if (status == ALD_OK) {
        status = commit(&s, err);
    }
    if (status == ALD_OK && isatty(STDERR_FILENO)) {
        say_done(&s);
    }
    clear(&s);
    return status;
}
