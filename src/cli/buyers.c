/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/buyers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <yyjson.h>

#include "ald/crypto.h"
#include "ald/native.h"
#include "cli/input.h"
#include "cli/signers.h"

/* ---- reading */

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the buyers");
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int hash_of(const char *text, uint8_t out[ALD_WATERMARK_BUYER_BYTES])
{
    if (text == NULL || strlen(text) != 64) {
        return 0;
    }
    for (size_t i = 0; i < 32; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return 1;
}

static ald_status add_buyer(buyer_list *list, const char *name, const uint8_t *hash, ald_error *err)
{
    known_buyer *b;
    if (list->count == list->cap) {
        size_t cap = list->cap == 0 ? 64 : list->cap * 2;
        known_buyer *items = realloc(list->items, cap * sizeof(*items));
        if (items == NULL) {
            return no_memory(err);
        }
        list->items = items;
        list->cap = cap;
    }
    b = &list->items[list->count];
    b->name = strdup(name);
    if (b->name == NULL) {
        return no_memory(err);
    }
    memcpy(b->hash, hash, sizeof(b->hash));
    list->count++;
    return ALD_OK;
}

static ald_status add_line(buyer_list *list, char *line, size_t size, uint64_t number,
                           ald_error *err)
{
    uint8_t hash[ALD_WATERMARK_BUYER_BYTES];
    yyjson_doc *doc = yyjson_read_opts(line, size, 0, NULL, NULL);
    yyjson_val *root = yyjson_doc_get_root(doc);
    const char *name = yyjson_get_str(yyjson_obj_get(root, "buyer"));
    ald_status status;
    if (name == NULL || !hash_of(yyjson_get_str(yyjson_obj_get(root, "buyer_hash")), hash)) {
        status = ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                               "line %" PRIu64 " is no entry of a registry of buyers", number);
    } else {
        status = add_buyer(list, name, hash, err);
    }
    yyjson_doc_free(doc);
    return status;
}

static int by_hash(const void *a, const void *b)
{
    const known_buyer *x = a, *y = b;
    return memcmp(x->hash, y->hash, sizeof(x->hash));
}

/* Sorted by hash, each once; a buyer of several copies has one entry. */
static ald_status finish_list(buyer_list *list, ald_error *err)
{
    size_t kept = 0;
    if (list->count == 0) {
        return ALD_OK;
    }
    qsort(list->items, list->count, sizeof(*list->items), by_hash);
    for (size_t i = 0; i < list->count; i++) {
        if (kept > 0 && by_hash(&list->items[kept - 1], &list->items[i]) == 0) {
            free(list->items[i].name);
        } else {
            list->items[kept++] = list->items[i];
        }
    }
    list->count = kept;
    list->hashes = malloc(kept * ALD_WATERMARK_BUYER_BYTES);
    if (list->hashes == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < kept; i++) {
        memcpy(list->hashes + i * ALD_WATERMARK_BUYER_BYTES, list->items[i].hash,
               ALD_WATERMARK_BUYER_BYTES);
    }
    return ALD_OK;
}

ald_status buyers_read(cli_env *env, const char *path, buyer_list *out, ald_error *err)
{
    const char *subject = env->subject;
    char *line = NULL;
    size_t room = 0;
    uint64_t number = 0;
    ssize_t size;
    ald_status status = ALD_OK;
    FILE *f = fopen(path, "re");
    env->subject = path;
    if (f == NULL) {
        return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot open the registry: %s",
                             strerror(errno));
    }
    while (status == ALD_OK && (size = getline(&line, &room, f)) >= 0) {
        number++;
        while (size > 0 && (line[size - 1] == '\n' || line[size - 1] == '\r')) {
            size--;
        }
        if (size > 0) {
            status = add_line(out, line, (size_t)size, number, err);
        }
    }
    if (status == ALD_OK && ferror(f)) {
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read the registry");
    }
    (void)fclose(f);
    free(line);
    if (status == ALD_OK) {
        status = finish_list(out, err);
    }
    if (status == ALD_OK) {
        env->subject = subject;
    }
    return status;
}

void buyers_clear(buyer_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    free(list->hashes);
    memset(list, 0, sizeof(*list));
}

const known_buyer *buyers_find(const buyer_list *list, const uint8_t *hash)
{
    known_buyer wanted;
    memset(&wanted, 0, sizeof(wanted));
    memcpy(wanted.hash, hash, sizeof(wanted.hash));
    return list->count == 0 ? NULL
                            : bsearch(&wanted, list->items, list->count, sizeof(wanted), by_hash);
}

/* ---- writing */

static void add_text(yyjson_mut_doc *doc, yyjson_mut_val *root, const char *key, const char *value)
{
    if (value != NULL) {
        (void)yyjson_mut_obj_add_str(doc, root, key, value);
    } else {
        (void)yyjson_mut_obj_add_null(doc, root, key);
    }
}

static char *entry_line(const cli_env *env, const buyer_entry *e, size_t *size)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc != NULL ? yyjson_mut_obj(doc) : NULL;
    char hash[65], file_hash[65], date[32] = "";
    int64_t now = env->host.now != NULL ? env->host.now(env->host.ctx) : 0;
    time_t seconds = (time_t)now;
    struct tm utc;
    char *line = NULL;
    if (root == NULL) {
        yyjson_mut_doc_free(doc);
        return NULL;
    }
    yyjson_mut_doc_set_root(doc, root);
    cli_hash_text(e->hash, hash);
    if (gmtime_r(&seconds, &utc) != NULL) {
        (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    add_text(doc, root, "buyer", e->name);
    add_text(doc, root, "buyer_hash", hash);
    add_text(doc, root, "dataset_id", e->dataset_id);
    add_text(doc, root, "file", e->file);
    if (e->file_hash != NULL) {
        cli_hash_text(e->file_hash, file_hash);
    }
    add_text(doc, root, "file_blake3", e->file_hash != NULL ? file_hash : NULL);
    add_text(doc, root, "date", date);
    (void)yyjson_mut_obj_add_real(doc, root, "strength", e->strength);
    (void)yyjson_mut_obj_add_uint(doc, root, "capacity", e->capacity);
    line = yyjson_mut_write(doc, YYJSON_WRITE_NEWLINE_AT_END, size);
    yyjson_mut_doc_free(doc);
    return line;
}

static ald_status failed(const char *what, ald_error *err)
{
    return ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot %s the registry of buyers: %s", what,
                         strerror(errno));
}

static ald_status make_folder(const char *path, ald_error *err)
{
    char *folder = strdup(path);
    ald_status status = ALD_OK;
    if (folder == NULL) {
        return no_memory(err);
    }
    *strrchr(folder, '/') = '\0';
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        status = failed("make the folder of", err);
    }
    free(folder);
    return status;
}

ald_status buyers_prepare(cli_env *env, const char *path, char **out, ald_error *err)
{
    ald_status status = ALD_OK;
    (void)env;
    *out = NULL;
    if (path == NULL) {
        status = cli_home_path("buyers.jsonl", out, err);
        if (status == ALD_OK) {
            status = make_folder(*out, err);
        }
    } else if ((*out = strdup(path)) == NULL) {
        status = no_memory(err);
    }
    if (status == ALD_OK) {
        int fd = open(*out, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
        status = fd < 0 ? failed("open", err) : ALD_OK;
        if (fd >= 0) {
            close(fd);
        }
    }
    return status;
}

/* One write to the end of a locked file: whoever writes at the same time comes before or behind it. */
static ald_status write_line(int fd, const char *line, size_t size, ald_error *err)
{
    ssize_t written;
    off_t end;
    if (flock(fd, LOCK_EX) != 0) {
        return failed("lock", err);
    }
    end = lseek(fd, 0, SEEK_END);
    written = write(fd, line, size);
    if (written == (ssize_t)size) {
        return fsync(fd) == 0 || errno == EINVAL ? ALD_OK : failed("write", err);
    }
    if (written >= 0) {
        errno = ENOSPC;
    }
    ald_status status = failed("write", err);
    if (end >= 0 && ftruncate(fd, end) != 0) {
        status = failed("repair", err);
    }
    return status;
}

ald_status buyers_append(cli_env *env, const char *path, const buyer_entry *entry, ald_error *err)
{
    const char *subject = env->subject;
    size_t size = 0;
    char *line = entry_line(env, entry, &size);
    if (line == NULL) {
        return no_memory(err);
    }
    env->subject = path;
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    ald_status status = fd < 0 ? failed("open", err) : write_line(fd, line, size, err);
    if (fd >= 0 && close(fd) != 0 && status == ALD_OK) {
        status = failed("write", err);
    }
    free(line);
    if (status == ALD_OK) {
        env->subject = subject;
    }
    return status;
}

ald_status cli_source_blake3(cli_env *env, const ald_source *source, uint8_t out[32],
                             ald_error *err)
{
    const ald_crypto *crypto = env->host.crypto;
    uint8_t buffer[32768];
    void *state = NULL;
    ald_status status = crypto->blake3_new(&env->host.alloc, NULL, &state, err);
    for (uint64_t at = 0; status == ALD_OK && at < source->size_bytes; at += sizeof(buffer)) {
        uint64_t left = source->size_bytes - at;
        size_t n = left < sizeof(buffer) ? (size_t)left : sizeof(buffer);
        status = source->read_at(source->ctx, at, buffer, n, err);
        if (status == ALD_OK) {
            crypto->blake3_update(state, buffer, n);
        }
    }
    if (state != NULL) {
        crypto->blake3_finish(state, status == ALD_OK ? out : NULL);
    }
    return status;
}

ald_status cli_file_blake3(cli_env *env, const char *path, uint8_t out[32], ald_error *err)
{
    ald_source source;
    memset(&source, 0, sizeof(source));
    ald_status status = ald_file_open(path, 0, &source, err);
    if (status == ALD_OK) {
        status = cli_source_blake3(env, &source, out, err);
    }
    ald_source_close(&source);
    return status;
}
