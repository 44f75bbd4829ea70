/* SPDX-License-Identifier: MIT */
/* A manifest names files that are then opened, and replaced: so its names are names of files beside it and nothing else. */
#define _DEFAULT_SOURCE
#include "cli/shard_manifest.h"

#include <yyjson.h>

#include <stdlib.h>
#include <string.h>

#include "ald/native.h"
#include "cli/input.h"

#define KEY "alimentar_manifest"
#define HALF_KEY "half_written"
#define VERSION 1u
#define BEGINNING_BYTES 4096

void shard_manifest_clear(shard_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++) {
        free(manifest->files[i].name);
    }
    free(manifest->files);
    free(manifest->sorted);
    free(manifest->format);
    memset(manifest, 0, sizeof(*manifest));
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a manifest");
}

char *shard_manifest_beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    char *out = malloc(folder + strlen(name) + 1);
    if (out != NULL) {
        memcpy(out, path, folder);
        memcpy(out + folder, name, strlen(name) + 1);
    }
    return out;
}

/* ---- reading */

int shard_manifest_is(const char *path)
{
    char text[BEGINNING_BYTES + 1];
    size_t length = strlen(path), at = 0;
    ald_source source;
    if (length < 5 || strcmp(path + length - 5, ".json") != 0) {
        return 0;
    }
    memset(&source, 0, sizeof(source));
    if (ald_file_open(path, 0, &source, NULL) != ALD_OK) {
        return 0;
    }
    size_t size = source.size_bytes < BEGINNING_BYTES ? (size_t)source.size_bytes : BEGINNING_BYTES;
    if (source.read_at(source.ctx, 0, text, size, NULL) != ALD_OK) {
        size = 0;
    }
    ald_source_close(&source);
    text[size] = '\0';
    at = strspn(text, " \t\r\n");
    return text[at] == '{' && strstr(text, "\"" KEY "\"") != NULL;
}

static ald_status wrong(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the manifest: %s", what);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_hex(const char *text, uint8_t *out, size_t size)
{
    if (text == NULL || strlen(text) != 2 * size) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return 0;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return 1;
}

static int is_plain_name(const char *name, size_t size)
{
    return name != NULL && size > 0 && strlen(name) == size && strchr(name, '/') == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static ald_status read_one(yyjson_val *file, shard_manifest *out, ald_error *err)
{
    yyjson_val *name = yyjson_obj_get(file, "name");
    yyjson_val *rows = yyjson_obj_get(file, "num_rows");
    yyjson_val *bytes = yyjson_obj_get(file, "file_size");
    uint8_t hash[32];
    if (!is_plain_name(yyjson_get_str(name), yyjson_get_len(name))) {
        return wrong(err, "a file's name is missing, or has a folder in it");
    }
    if (!yyjson_is_uint(rows) || !yyjson_is_uint(bytes) ||
        !read_hex(yyjson_get_str(yyjson_obj_get(file, "blake3")), hash, sizeof(hash))) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the manifest: num_rows, file_size or blake3 of '%s' is missing or "
                             "malformed",
                             yyjson_get_str(name));
    }
    return shard_manifest_add(out, yyjson_get_str(name), yyjson_get_uint(rows),
                              yyjson_get_uint(bytes), hash, err);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ald_status shard_manifest_sort(shard_manifest *manifest, ald_error *err)
{
    const char **names = malloc((manifest->count + 1) * sizeof(*names));
    if (names == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < manifest->count; i++) {
        names[i] = manifest->files[i].name;
    }
    qsort(names, manifest->count, sizeof(*names), compare_names);
    free(manifest->sorted);
    manifest->sorted = names;
    for (size_t i = 1; i < manifest->count; i++) {
        if (strcmp(names[i - 1], names[i]) == 0) {
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "the manifest: '%s' is listed twice", names[i]);
        }
    }
    return ALD_OK;
}

int shard_manifest_lists(const shard_manifest *manifest, const char *name)
{
    return bsearch(&name, manifest->sorted, manifest->count, sizeof(name), compare_names) != NULL;
}

/* A name without a known extension says nothing. */
static ald_status check_format(const char *format, shard_manifest *manifest, ald_error *err)
{
    if (format == NULL) {
        return wrong(err, "format is missing");
    }
    manifest->format = strdup(format);
    if (manifest->format == NULL) {
        return no_memory(err);
    }
    for (size_t i = 0; i < manifest->count; i++) {
        file_format named = file_format_of_path(manifest->files[i].name);
        if (named != FORMAT_UNKNOWN && strcmp(file_format_name(named), format) != 0) {
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "the manifest: '%s' is not of its format, '%.32s'",
                                 manifest->files[i].name, format);
        }
    }
    return ALD_OK;
}

static ald_status read_signature(yyjson_val *root, shard_manifest *out, ald_error *err)
{
    yyjson_val *signer = yyjson_obj_get(root, "signer");
    yyjson_val *signature = yyjson_obj_get(root, "signature");
    if (signer == NULL && signature == NULL) {
        return ALD_OK;
    }
    out->is_signed = 1;
    if (!read_hex(yyjson_get_str(signer), out->signer, sizeof(out->signer)) ||
        !read_hex(yyjson_get_str(signature), out->signature, sizeof(out->signature))) {
        return wrong(err, "signer or signature is missing or malformed");
    }
    return strcmp(out->format, "ald") == 0 ? ALD_OK
                                           : wrong(err, "only one of .ald files can be signed");
}

/* The names of a set that is half written, for whoever replaces it. */
static ald_status read_half(yyjson_val *names, shard_manifest *out, ald_error *err)
{
    static const uint8_t no_hash[32];
    yyjson_val *name;
    size_t index, max;
    yyjson_arr_foreach(names, index, max, name)
    {
        if (!is_plain_name(yyjson_get_str(name), yyjson_get_len(name))) {
            return wrong(err, "a file's name is missing, or has a folder in it");
        }
        ald_status status = shard_manifest_add(out, yyjson_get_str(name), 0, 0, no_hash, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    out->is_half = 1;
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                         "the manifest: its files were being put in their places when that "
                         "stopped, and may be of two sets\nwrite the set again, with --force");
}

static ald_status read_root(yyjson_val *root, shard_manifest *out, ald_error *err)
{
    yyjson_val *files = yyjson_obj_get(root, "files"), *rows = yyjson_obj_get(root, "num_rows");
    yyjson_val *file;
    size_t index, max;
    if (yyjson_get_uint(yyjson_obj_get(root, KEY)) != VERSION) {
        return wrong(err, "only version 1 is known");
    }
    if (yyjson_obj_get(root, HALF_KEY) != NULL) {
        return read_half(yyjson_obj_get(root, HALF_KEY), out, err);
    }
    if (yyjson_arr_size(files) == 0) {
        return wrong(err, "it lists no files");
    }
    yyjson_arr_foreach(files, index, max, file)
    {
        ald_status status = read_one(file, out, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    if (!yyjson_is_uint(rows) || yyjson_get_uint(rows) != out->row_count) {
        return wrong(err, "num_rows is not the sum of the files' rows");
    }
    ald_status status = check_format(yyjson_get_str(yyjson_obj_get(root, "format")), out, err);
    if (status == ALD_OK) {
        status = read_signature(root, out, err);
    }
    return status == ALD_OK ? shard_manifest_sort(out, err) : status;
}

ald_status shard_manifest_read(cli_env *env, const char *path, shard_manifest *out, ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    yyjson_read_err why;
    memset(out, 0, sizeof(*out));
    ald_status status = cli_read_up_to(env, path, SHARD_MANIFEST_BYTES, &text, err);
    if (status == ALD_OK) {
        yyjson_doc *doc = yyjson_read_opts((char *)text.data, text.size, 0, NULL, &why);
        status = doc != NULL
                     ? read_root(yyjson_doc_get_root(doc), out, err)
                     : ald_error_set(err, ALD_E_INVALID_FORMAT, why.pos, "JSON: %s", why.msg);
        yyjson_doc_free(doc);
    }
    ald_buffer_clear(&text);
    return status;
}

/* ---- writing */

ald_status shard_manifest_add(shard_manifest *manifest, const char *name, uint64_t row_count,
                              uint64_t size_bytes, const uint8_t blake3[32], ald_error *err)
{
    if (row_count > UINT64_MAX - manifest->row_count) {
        return wrong(err, "too many rows");
    }
    manifest_file *files = realloc(manifest->files, (manifest->count + 1) * sizeof(*files));
    if (files == NULL) {
        return no_memory(err);
    }
    manifest->files = files;
    manifest_file *file = &files[manifest->count];
    *file = (manifest_file){strdup(name), row_count, size_bytes, {0}};
    memcpy(file->blake3, blake3, sizeof(file->blake3));
    if (file->name == NULL) {
        return no_memory(err);
    }
    manifest->count++;
    manifest->row_count += row_count;
    return ALD_OK;
}

static void hex_text(const uint8_t *bytes, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * size] = '\0';
}

static int add_hex(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key,
                   const uint8_t *bytes, size_t size)
{
    char text[2 * 64 + 1];
    hex_text(bytes, size, text);
    return yyjson_mut_obj_add_strcpy(doc, object, key, text);
}

static int fill(yyjson_mut_doc *doc, const shard_manifest *m)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    int fine = yyjson_mut_obj_add_uint(doc, root, KEY, VERSION) &&
               yyjson_mut_obj_add_str(doc, root, "format", m->format) &&
               yyjson_mut_obj_add_uint(doc, root, "num_rows", m->row_count);
    if (fine && m->is_signed) {
        fine = add_hex(doc, root, "signer", m->signer, sizeof(m->signer)) &&
               add_hex(doc, root, "signature", m->signature, sizeof(m->signature));
    }
    yyjson_mut_val *files = fine ? yyjson_mut_obj_add_arr(doc, root, "files") : NULL;
    fine = files != NULL;
    for (size_t i = 0; fine && i < m->count; i++) {
        const manifest_file *f = &m->files[i];
        yyjson_mut_val *file = yyjson_mut_arr_add_obj(doc, files);
        fine = file != NULL && yyjson_mut_obj_add_str(doc, file, "name", f->name) &&
               yyjson_mut_obj_add_uint(doc, file, "num_rows", f->row_count) &&
               yyjson_mut_obj_add_uint(doc, file, "file_size", f->size_bytes) &&
               add_hex(doc, file, "blake3", f->blake3, sizeof(f->blake3));
    }
    return fine;
}

static int add_names(yyjson_mut_doc *doc, yyjson_mut_val *list, const shard_manifest *m)
{
    int fine = 1;
    for (size_t i = 0; fine && i < m->count; i++) {
        fine = yyjson_mut_arr_add_str(doc, list, m->files[i].name);
    }
    return fine;
}

/* A name of both is there twice, which does no harm. */
static int fill_half(yyjson_mut_doc *doc, const shard_manifest *before, const shard_manifest *now)
{
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_doc_set_root(doc, root);
    yyjson_mut_val *names = yyjson_mut_obj_add_uint(doc, root, KEY, VERSION)
                                ? yyjson_mut_obj_add_arr(doc, root, HALF_KEY)
                                : NULL;
    return names != NULL && add_names(doc, names, before) && add_names(doc, names, now);
}

/* Frees `doc`. */
static ald_status write_text(yyjson_mut_doc *doc, int is_full, const ald_sink *sink, ald_error *err)
{
    size_t size = 0;
    char *text = NULL;
    if (is_full) {
        text = yyjson_mut_write(doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END,
                                &size);
    }
    yyjson_mut_doc_free(doc);
    ald_status status = text != NULL ? sink->write(sink->ctx, text, size, err) : no_memory(err);
    free(text);
    return status;
}

ald_status shard_manifest_write(const shard_manifest *manifest, const ald_sink *sink,
                                ald_error *err)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    return write_text(doc, doc != NULL && fill(doc, manifest), sink, err);
}

ald_status shard_manifest_write_half(const shard_manifest *before, const shard_manifest *now,
                                     const ald_sink *sink, ald_error *err)
{
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    return write_text(doc, doc != NULL && fill_half(doc, before, now), sink, err);
}
