/* SPDX-License-Identifier: MIT */
/* Which files a folder has, and what the names of its folders say. The first folder is the split, if all first folders have
 * names of splits; the next one is the class. Links to folders are not followed: they may lead in circles. */
#define _GNU_SOURCE
#include "cli/media_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/schema.h"
#include "cli/escape.h"

#define DEEPEST 32
#define SHOWN_NAMES 3

typedef struct media_walk {
    cli_media *media;
    size_t root_size; /* of the path, with its slash */
    size_t counts[3]; /* of files, by kind */
    media_kind only;  /* MEDIA_OTHER: what there is */
    int has_data;     /* then: a file of a format that is read otherwise */
    uint8_t *kinds;   /* of media->files */
    size_t kinds_capacity;
} media_walk;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the names of files");
}

static void free_names(media_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i]);
    }
    free(names->items);
    memset(names, 0, sizeof(*names));
}

void cli_media_free(cli_media *media)
{
    if (media == NULL) {
        return;
    }
    for (size_t i = 0; i < media->count; i++) {
        free(media->files[i].name);
    }
    free_names(&media->labels);
    free_names(&media->splits);
    free_names(&media->left_out);
    for (size_t i = 0; i < media->table_count; i++) {
        free(media->tables[i].path);
    }
    free(media->files);
    free(media->tables);
    free(media->root);
    free(media);
}

static ald_status add_name(media_names *names, const char *name, size_t size, ald_error *err)
{
    char **items = realloc(names->items, (names->count + 1) * sizeof(*items));
    if (items == NULL) {
        return no_memory(err);
    }
    names->items = items;
    items[names->count] = strndup(name, size);
    if (items[names->count] == NULL) {
        return no_memory(err);
    }
    names->count++;
    return ALD_OK;
}

static ald_status leave_out(cli_media *media, const char *name, ald_error *err)
{
    media->left_count++;
    return media->left_out.count < SHOWN_NAMES ? add_name(&media->left_out, name, strlen(name), err)
                                               : ALD_OK;
}

/* ---- files */

static media_kind kind_of_file(int folder, const char *name)
{
    uint8_t head[MEDIA_HEAD_BYTES];
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t size = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
    if (fd >= 0) {
        (void)close(fd);
    }
    return size > 0 ? media_kind_of(head, (size_t)size) : MEDIA_OTHER;
}

static ald_status add_file(media_walk *w, const char *path, uint64_t size, media_kind kind,
                           ald_error *err)
{
    cli_media *m = w->media;
    if (m->count == m->capacity) {
        size_t capacity = m->capacity > 0 ? m->capacity * 2 : 64;
        media_file *files = realloc(m->files, capacity * sizeof(*files));
        uint8_t *kinds = files != NULL ? realloc(w->kinds, capacity) : NULL;
        m->files = files != NULL ? files : m->files;
        w->kinds = kinds != NULL ? kinds : w->kinds;
        if (files == NULL || kinds == NULL) {
            return no_memory(err);
        }
        m->capacity = capacity;
    }
    char *name = strdup(path + w->root_size);
    if (name == NULL) {
        return no_memory(err);
    }
    w->kinds[m->count] = (uint8_t)kind;
    m->files[m->count++] = (media_file){name, size, MEDIA_NONE, MEDIA_NONE};
    w->counts[kind]++;
    return ALD_OK;
}

static int is_table(const char *name, int depth)
{
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL ? slash + 1 : name;
    return depth <= 1 && (strcmp(last, "metadata.csv") == 0 || strcmp(last, "metadata.jsonl") == 0);
}

static ald_status add_table(media_walk *w, const char *path, ald_error *err)
{
    cli_media *m = w->media;
    media_table *tables = realloc(m->tables, (m->table_count + 1) * sizeof(*tables));
    char *copy = strdup(path);
    m->tables = tables != NULL ? tables : m->tables;
    if (tables == NULL || copy == NULL) {
        free(copy);
        return no_memory(err);
    }
    tables[m->table_count++] =
        (media_table){copy, copy + w->root_size, copy[strlen(copy) - 1] == 'v'};
    return ALD_OK;
}

static ald_status walk(media_walk *w, const char *folder, int depth, ald_error *err);

static ald_status visit(media_walk *w, int folder, const char *path, const char *name, int depth,
                        ald_error *err)
{
    struct stat st;
    int is_link = fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode);
    if (fstatat(folder, name, &st, 0) != 0) {
        return leave_out(w->media, path + w->root_size, err); /* a link to nothing */
    }
    if (S_ISDIR(st.st_mode)) {
        return is_link ? leave_out(w->media, path + w->root_size, err)
                       : walk(w, path, depth + 1, err);
    }
    if (S_ISREG(st.st_mode) && is_table(path + w->root_size, depth)) {
        return add_table(w, path, err);
    }
    if (w->only == MEDIA_OTHER && file_format_of_path(path) != FORMAT_UNKNOWN) {
        w->has_data = 1;
        return ALD_OK;
    }
    media_kind kind = S_ISREG(st.st_mode) ? kind_of_file(folder, name) : MEDIA_OTHER;
    if (kind == MEDIA_OTHER) {
        return leave_out(w->media, path + w->root_size, err);
    }
    return add_file(w, path, (uint64_t)st.st_size, kind, err);
}

static ald_status walk_entries(media_walk *w, DIR *dir, int fd, const char *folder, int depth,
                               ald_error *err)
{
    ald_status status = ALD_OK;
    for (;;) {
        const struct dirent *entry = readdir(dir);
        if (entry == NULL || status != ALD_OK || w->has_data) {
            return status;
        }
        /* Hidden files are those of programs: thumbnails, the state of a version control. */
        if (entry->d_name[0] == '.') {
            continue;
        }
        size_t size = strlen(folder) + strlen(entry->d_name) + 2;
        char *path = malloc(size);
        if (path == NULL) {
            return no_memory(err);
        }
        (void)snprintf(path, size, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/",
                       entry->d_name);
        status = visit(w, fd, path, entry->d_name, depth, err);
        free(path);
    }
}

static ald_status walk(media_walk *w, const char *folder, int depth, ald_error *err)
{
    DIR *dir = depth < DEEPEST ? opendir(folder) : NULL;
    if (dir == NULL) {
        ald_status status =
            ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read the folder '%s'%s", folder,
                          depth < DEEPEST ? "" : ": folders are nested too deep");
        if (err != NULL) {
            err->detail = depth < DEEPEST ? errno : 0;
        }
        return status;
    }
    int fd = dirfd(dir);
    ald_status status = fd >= 0 ? walk_entries(w, dir, fd, folder, depth, err)
                                : ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET,
                                                "cannot read the folder '%s'", folder);
    (void)closedir(dir);
    return status;
}

/* ---- what folders say */

static int is_split(const char *name, size_t size)
{
    static const char *const names[] = {"train", "training", "test",       "testing", "val",
                                        "valid", "dev",      "validation", "eval",    "evaluation"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == size && strncasecmp(name, names[i], size) == 0) {
            return 1;
        }
    }
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const media_file *)a)->name, ((const media_file *)b)->name);
}

static void sort_names(media_names *names)
{
    size_t kept = 0;
    if (names->count > 0) {
        qsort(names->items, names->count, sizeof(*names->items), compare_names);
    }
    for (size_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->items[kept - 1], names->items[i]) == 0) {
            free(names->items[i]);
        } else {
            names->items[kept++] = names->items[i];
        }
    }
    names->count = kept;
}

static uint32_t find_name(const media_names *names, const char *name, size_t size)
{
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(names->items[middle], name, size);
        if (order == 0 && names->items[middle][size] == '\0') {
            return (uint32_t)middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return MEDIA_NONE;
}

/* The folder of a path that begins at *name, which moves behind it; 0: none. */
static size_t next_folder(const char **name)
{
    const char *slash = strchr(*name, '/');
    size_t size = slash != NULL ? (size_t)(slash - *name) : 0;
    *name = slash != NULL ? slash + 1 : *name;
    return size;
}

static int has_splits(const cli_media *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const char *name = m->files[i].name, *folder = name;
        size_t size = next_folder(&name);
        if (size == 0 || !is_split(folder, size)) {
            return 0;
        }
    }
    return m->count > 0;
}

/* The folders of a file's name that say its split and its class; sizes of 0: none. */
typedef struct folder_names {
    const char *split, *label;
    size_t split_size, label_size;
} folder_names;

static folder_names folders_of(const media_file *file, int splits)
{
    folder_names f;
    const char *name = file->name;
    f.split = name;
    f.split_size = splits ? next_folder(&name) : 0;
    f.label = name;
    f.label_size = next_folder(&name);
    return f;
}

static int is_same(const char *a, size_t a_size, const char *b, size_t b_size)
{
    return a_size == b_size && memcmp(a, b, a_size) == 0;
}

/* Files of a folder follow each other, so that most repeats are seen at once. */
static ald_status name_folders(cli_media *m, ald_error *err)
{
    int splits = has_splits(m);
    folder_names before = {"", "", 0, 0};
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < m->count; i++) {
        folder_names f = folders_of(&m->files[i], splits);
        if (!is_same(f.split, f.split_size, before.split, before.split_size)) {
            status = add_name(&m->splits, f.split, f.split_size, err);
        }
        if (status == ALD_OK && f.label_size > 0 &&
            !is_same(f.label, f.label_size, before.label, before.label_size)) {
            status = add_name(&m->labels, f.label, f.label_size, err);
        }
        before = f;
    }
    sort_names(&m->splits);
    sort_names(&m->labels);
    for (size_t i = 0; i < m->count; i++) {
        folder_names f = folders_of(&m->files[i], splits);
        m->files[i].split =
            f.split_size > 0 ? find_name(&m->splits, f.split, f.split_size) : MEDIA_NONE;
        m->files[i].label =
            f.label_size > 0 ? find_name(&m->labels, f.label, f.label_size) : MEDIA_NONE;
    }
    return status;
}

/* ---- */

static int compare_tables(const void *a, const void *b)
{
    return strcmp(((const media_table *)a)->name, ((const media_table *)b)->name);
}

/* Of both tables of one folder the CSV is read; it is in front of the other one. */
static ald_status choose_tables(cli_media *m, ald_error *err)
{
    size_t kept = 0;
    ald_status status = ALD_OK;
    if (m->table_count > 0) {
        qsort(m->tables, m->table_count, sizeof(*m->tables), compare_tables);
    }
    for (size_t i = 0; i < m->table_count; i++) {
        size_t size = kept > 0 ? strlen(m->tables[kept - 1].name) - 3 : 0; /* without "csv" */
        if (kept > 0 && !m->tables[i].is_csv &&
            strncmp(m->tables[kept - 1].name, m->tables[i].name, size) == 0) {
            if (status == ALD_OK) {
                status = leave_out(m, m->tables[i].name, err);
            }
            free(m->tables[i].path);
        } else {
            m->tables[kept++] = m->tables[i];
        }
    }
    m->table_count = kept;
    return status;
}

/* Keeps files of one kind. */
static ald_status choose_kind(media_walk *w, ald_error *err)
{
    cli_media *m = w->media;
    size_t kept = 0;
    ald_status status = ALD_OK;
    m->kind = w->only != MEDIA_OTHER                            ? w->only
              : w->counts[MEDIA_AUDIO] > w->counts[MEDIA_IMAGE] ? MEDIA_AUDIO
                                                                : MEDIA_IMAGE;
    for (size_t i = 0; i < m->count; i++) {
        if (w->kinds[i] == m->kind) {
            m->files[kept++] = m->files[i];
            continue;
        }
        if (status == ALD_OK) {
            status = leave_out(m, m->files[i].name, err);
        }
        free(m->files[i].name);
    }
    m->count = kept;
    for (size_t i = 0; i < kept; i++) {
        m->bytes += m->files[i].size;
    }
    if (kept > 0) {
        qsort(m->files, kept, sizeof(*m->files), compare_files);
    }
    return status == ALD_OK ? name_folders(m, err) : status;
}

static ald_status look_through(media_walk *w, const char *path, ald_error *err)
{
    size_t size = strlen(path);
    w->media = calloc(1, sizeof(*w->media));
    if (w->media == NULL) {
        return no_memory(err);
    }
    w->media->root = strdup(path);
    if (w->media->root == NULL) {
        return no_memory(err);
    }
    w->root_size = size + (path[size - 1] != '/');
    ald_status status = walk(w, path, 0, err);
    if (status == ALD_OK) {
        status = choose_tables(w->media, err);
    }
    return status == ALD_OK ? choose_kind(w, err) : status;
}

/* Names become values of columns. */
static ald_status check_names(const cli_media *m, ald_error *err)
{
    for (size_t i = 0; i < m->count; i++) {
        if (!cli_is_utf8(m->files[i].name)) {
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "%s: a file's name is to be a value, and is not UTF-8",
                                 m->files[i].name);
        }
    }
    return ALD_OK;
}

ald_status cli_media_find(cli_env *env, const char *path, const char *from, cli_media **out,
                          ald_error *err)
{
    file_format format = from != NULL ? file_format_of_name(from) : FORMAT_UNKNOWN;
    media_walk w;
    struct stat st;
    *out = NULL;
    if (path[0] == '\0' || stat(path, &st) != 0 || !S_ISDIR(st.st_mode) ||
        (from != NULL && format != FORMAT_IMAGES && format != FORMAT_AUDIO)) {
        return ALD_OK;
    }
    memset(&w, 0, sizeof(w));
    w.only = format == FORMAT_IMAGES  ? MEDIA_IMAGE
             : format == FORMAT_AUDIO ? MEDIA_AUDIO
                                      : MEDIA_OTHER;
    ald_status status = look_through(&w, path, err);
    free(w.kinds);
    if (status == ALD_OK && w.media->count == 0 && from != NULL) {
        cli_hint(env, "known by their first bytes are %s",
                 w.only == MEDIA_IMAGE ? "PNG, JPEG, GIF, WebP, BMP and TIFF"
                                       : "WAV, FLAC, MP3, Ogg and M4A");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s: no %s in this folder",
                               path, w.only == MEDIA_IMAGE ? "image" : "audio file");
    }
    /* What else reads the folder says what is wrong with it. */
    if (status != ALD_OK || w.media->count == 0 || w.has_data) {
        cli_media_free(w.media);
        return from != NULL ? status : ALD_OK;
    }
    status = check_names(w.media, err);
    if (status != ALD_OK) {
        cli_media_free(w.media);
        return status;
    }
    *out = w.media;
    return ALD_OK;
}

uint16_t cli_media_dataset_type(const cli_media *media)
{
    if (media->labels.count == 0) {
        return 0;
    }
    return media->kind == MEDIA_IMAGE ? ALD_DATASET_IMAGE_CLASSIFICATION
                                      : ALD_DATASET_AUDIO_CLASSIFICATION;
}
