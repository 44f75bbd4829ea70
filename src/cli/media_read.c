/* SPDX-License-Identifier: MIT */
/* Rows of a folder: bytes, name, and what its folders say. With metadata the rows are those of its tables, in their order, and
 * their other columns stand between name and class. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/csv.h"
#include "ald/jsonl.h"
#include "ald/native.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/media_folder.h"
#include "cli/select.h"
#include "interchange/format/error_in.h"
#include "interchange/text/column.h"

#define BATCH_BYTES ((uint64_t)16 << 20)
#define BATCH_ROWS 65536u
#define KEY "file_name"

typedef struct media_stream {
    const cli_media *media;
    cli_env *env;
    ald_host host;
    struct ArrowSchema schema;
    uint8_t has_label, has_split; /* as columns of their own */
    uint8_t no_bytes;             /* nobody will look at them */
    size_t own_count;             /* columns but those of the metadata */
    size_t next;                  /* file, without metadata */
    /* With metadata. */
    size_t table; /* that is read */
    ald_source source;
    struct ArrowArrayStream rows; /* release NULL: none */
    struct ArrowSchema row_schema;
    int64_t key;       /* the column of names */
    uint64_t row;      /* of the table */
    uint8_t *is_named; /* of each file */
} media_stream;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a folder's files");
}

/* ---- columns of one batch */

typedef struct media_batch {
    ald__column bytes, name, label, split;
} media_batch;

static ald_status batch_open(media_stream *s, media_batch *b, ald_error *err)
{
    const ald_allocator *alloc = &s->host.alloc;
    memset(b, 0, sizeof(*b));
    ald_status status = ald__column_init(&b->bytes, "z", alloc, err);
    if (status == ALD_OK) {
        status = ald__column_init(&b->name, "u", alloc, err);
    }
    if (status == ALD_OK) {
        status = ald__column_init(&b->label, "i", alloc, err);
    }
    return status == ALD_OK ? ald__column_init(&b->split, "u", alloc, err) : status;
}

static void batch_close(media_batch *b)
{
    ald__column_clear(&b->bytes);
    ald__column_clear(&b->name);
    ald__column_clear(&b->label);
    ald__column_clear(&b->split);
}

static ald_status add_bytes(media_stream *s, media_batch *b, const char *path, ald_error *err)
{
    ald_source source;
    void *bytes = NULL;
    memset(&source, 0, sizeof(source));
    ald_status status = ald_file_open(path, 0, &source, err);
    if (status != ALD_OK) {
        return status;
    }
    size_t size = (size_t)source.size_bytes;
    if (source.size_bytes > INT32_MAX) {
        status =
            ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "%s: more than 2 GiB", path);
    } else if (size > 0) {
        bytes = s->host.alloc.alloc(s->host.alloc.ctx, size);
        status = bytes != NULL ? source.read_at(source.ctx, 0, bytes, size, err) : no_memory(err);
    }
    if (status == ALD_OK && b->bytes.bytes_size + size > INT32_MAX) {
        status = ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                               "%s: files have grown while they were read", path);
    }
    if (status == ALD_OK) {
        status = ald__column_add_bytes(&b->bytes, bytes != NULL ? bytes : "", size, err);
    }
    if (bytes != NULL) {
        s->host.alloc.release(s->host.alloc.ctx, bytes, size);
    }
    ald_source_close(&source);
    return status;
}

static ald_status add_file(media_stream *s, media_batch *b, const media_file *f, ald_error *err)
{
    const cli_media *m = s->media;
    size_t root = strlen(m->root);
    size_t room = root + strlen(f->name) + 2;
    char *path = malloc(room);
    if (path == NULL) {
        return no_memory(err);
    }
    (void)snprintf(path, room, "%s%s%s", m->root, m->root[root - 1] == '/' ? "" : "/", f->name);
    ald_status status =
        s->no_bytes ? ald__column_add_bytes(&b->bytes, "", 0, err) : add_bytes(s, b, path, err);
    free(path);
    if (status == ALD_OK) {
        status = ald__column_add_bytes(&b->name, f->name, strlen(f->name), err);
    }
    if (status == ALD_OK) {
        status = f->label != MEDIA_NONE ? ald__column_add_int64(&b->label, f->label, err)
                                        : ald__column_add_null(&b->label, err);
    }
    if (status == ALD_OK) {
        const char *split = f->split != MEDIA_NONE ? m->splits.items[f->split] : NULL;
        status = split != NULL ? ald__column_add_bytes(&b->split, split, strlen(split), err)
                               : ald__column_add_null(&b->split, err);
    }
    return status;
}

/* ---- the classes as a dictionary */

typedef struct coded_array {
    struct ArrowArray codes, values;
} coded_array;

static void release_coded(struct ArrowArray *array)
{
    coded_array *c = array->private_data;
    c->codes.release(&c->codes);
    c->values.release(&c->values);
    free(c);
    array->release = NULL;
}

static ald_status add_dictionary(media_stream *s, struct ArrowArray *array, ald_error *err)
{
    const media_names *labels = &s->media->labels;
    ald__column column;
    coded_array *c = calloc(1, sizeof(*c));
    memset(&column, 0, sizeof(column));
    ald_status status =
        c != NULL ? ald__column_init(&column, "u", &s->host.alloc, err) : no_memory(err);
    for (size_t i = 0; status == ALD_OK && i < labels->count; i++) {
        status = ald__column_add_bytes(&column, labels->items[i], strlen(labels->items[i]), err);
    }
    if (status == ALD_OK) {
        status = ald__column_finish(&column, &c->values, err);
    }
    ald__column_clear(&column);
    if (status != ALD_OK) {
        free(c);
        return status;
    }
    c->codes = *array;
    array->dictionary = &c->values;
    array->private_data = c;
    array->release = release_coded;
    return ALD_OK;
}

/* ---- batches */

/* Moves the columns into a batch; those of the metadata, if any, behind the name. */
static ald_status finish_batch(media_stream *s, media_batch *b, struct ArrowArray *rows,
                               struct ArrowArray *out, ald_error *err)
{
    void *blocks[1] = {NULL};
    size_t sizes[1] = {0}, at = 0;
    size_t count = s->own_count + (rows != NULL ? (size_t)rows->n_children - 1 : 0);
    ald_status status =
        ald__text_array_new(&s->host.alloc, b->name.length, 0, 1, blocks, sizes, count, out, err);
    if (status != ALD_OK) {
        return status;
    }
    status = ald__column_finish(&b->bytes, out->children[at++], err);
    if (status == ALD_OK) {
        status = ald__column_finish(&b->name, out->children[at++], err);
    }
    for (int64_t i = 0; status == ALD_OK && rows != NULL && i < rows->n_children; i++) {
        if (i != s->key) {
            *out->children[at++] = *rows->children[i];
            rows->children[i]->release = NULL;
        }
    }
    if (status == ALD_OK && s->has_label) {
        status = ald__column_finish(&b->label, out->children[at], err);
        if (status == ALD_OK) {
            status = add_dictionary(s, out->children[at++], err);
        }
    }
    if (status == ALD_OK && s->has_split) {
        status = ald__column_finish(&b->split, out->children[at++], err);
    }
    if (status != ALD_OK) {
        out->release(out);
    }
    return status;
}

static ald_status fill_files(media_stream *s, media_batch *b, ald_error *err)
{
    ald_status status = ALD_OK;
    size_t rows = 0;
    while (status == ALD_OK && s->next < s->media->count && rows < BATCH_ROWS &&
           (rows == 0 || s->no_bytes ||
            b->bytes.bytes_size + s->media->files[s->next].size <= BATCH_BYTES)) {
        status = add_file(s, b, &s->media->files[s->next++], err);
        rows++;
    }
    return status;
}

static const media_file *find_file(const media_stream *s, const char *name, size_t size)
{
    size_t low = 0, high = s->media->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = s->media->files[middle].name;
        int order = strncmp(other, name, size);
        if (order == 0 && other[size] == '\0') {
            return &s->media->files[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* The file that a row names, beside the table that it is in. */
static ald_status named_file(media_stream *s, const struct ArrowArray *rows, int64_t row,
                             ald_buffer *name, const media_file **out, ald_error *err)
{
    const media_table *t = &s->media->tables[s->table];
    const char *slash = strrchr(t->name, '/');
    size_t folder = slash != NULL ? (size_t)(slash - t->name) + 1 : 0;
    ald_sink sink = ald_buffer_sink(name);
    name->size = 0;
    ald_status status = folder > 0 ? sink.write(sink.ctx, t->name, folder, err) : ALD_OK;
    if (status == ALD_OK) {
        status = ald_value_to_text(s->row_schema.children[s->key], rows->children[s->key], row, 0,
                                   NULL, name, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    const char *text = name->size > 0 ? (const char *)name->data : "";
    *out = memchr(text, 0, name->size) == NULL ? find_file(s, text, name->size) : NULL;
    if (*out == NULL) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "%s: row %" PRIu64 ": there is no %s '%.*s' in the folder", t->name,
                             s->row, s->media->kind == MEDIA_IMAGE ? "image" : "audio file",
                             name->size < 80 ? (int)name->size : 80, text);
    }
    return ALD_OK;
}

static ald_status fill_named(media_stream *s, const struct ArrowArray *rows, media_batch *b,
                             ald_error *err)
{
    ald_buffer name = {NULL, 0, 0, &s->host.alloc};
    ald_status status = ALD_OK;
    for (int64_t i = 0; status == ALD_OK && i < rows->length; i++) {
        const media_file *f = NULL;
        s->row++;
        status = named_file(s, rows, i, &name, &f, err);
        if (status == ALD_OK) {
            s->is_named[f - s->media->files] = 1;
            status = add_file(s, b, f, err);
        }
    }
    ald_buffer_clear(&name);
    return status;
}

static void note_unnamed(const media_stream *s)
{
    size_t count = 0, first = 0;
    for (size_t i = s->media->count; i > 0; i--) {
        if (!s->is_named[i - 1]) {
            count++;
            first = i - 1;
        }
    }
    if (count > 0) {
        cli_note(s->env, "%s: %zu files are not named in the metadata and left out, first '%s'",
                 s->media->root, count, s->media->files[first].name);
    }
}

static ald_status open_table(media_stream *s, ald_error *err);

/* The next rows of the tables; rows->release NULL: all are read. */
static ald_status next_rows(media_stream *s, struct ArrowArray *rows, ald_error *err)
{
    for (;;) {
        const char *name = s->media->tables[s->table].name;
        ald_status status = ald_stream_next(&s->rows, rows, err);
        status = ald__error_in("", name, strlen(name), status, err);
        if (status != ALD_OK || rows->release != NULL || s->table + 1 == s->media->table_count) {
            return status;
        }
        s->rows.release(&s->rows);
        s->rows.release = NULL;
        ald_source_close(&s->source);
        s->table++;
        status = open_table(s, err);
        if (status != ALD_OK) {
            return status;
        }
    }
}

static ald_status next_named(media_stream *s, struct ArrowArray *out, ald_error *err)
{
    struct ArrowArray rows;
    media_batch b;
    memset(&rows, 0, sizeof(rows));
    ald_status status = next_rows(s, &rows, err);
    if (status != ALD_OK) {
        return status;
    }
    if (rows.release == NULL) {
        note_unnamed(s);
        return ALD_OK;
    }
    status = batch_open(s, &b, err);
    if (status == ALD_OK && rows.offset != 0) {
        status = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "metadata with an offset");
    }
    if (status == ALD_OK) {
        status = fill_named(s, &rows, &b, err);
    }
    if (status == ALD_OK) {
        status = finish_batch(s, &b, &rows, out, err);
    }
    batch_close(&b);
    rows.release(&rows);
    return status;
}

static ald_status media_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    media_stream *s = ctx;
    media_batch b;
    if (s->media->table_count > 0) {
        return next_named(s, out, err);
    }
    if (s->next == s->media->count) {
        return ALD_OK;
    }
    ald_status status = batch_open(s, &b, err);
    if (status == ALD_OK) {
        status = fill_files(s, &b, err);
    }
    if (status == ALD_OK) {
        status = finish_batch(s, &b, NULL, out, err);
    }
    batch_close(&b);
    return status;
}

static ald_status media_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    media_stream *s = ctx;
    return ald_schema_copy(&s->host, &s->schema, out, err);
}

static void media_free(void *ctx)
{
    media_stream *s = ctx;
    if (s->rows.release != NULL) {
        s->rows.release(&s->rows);
    }
    if (s->row_schema.release != NULL) {
        s->row_schema.release(&s->row_schema);
    }
    if (s->schema.release != NULL) {
        s->schema.release(&s->schema);
    }
    ald_source_close(&s->source);
    free(s->is_named);
    free(s);
}

/* ---- opening */

static int has_column(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) == 0) {
            return 1;
        }
    }
    return 0;
}

static ald_status make_field(media_stream *s, const char *type, const char *name,
                             struct ArrowSchema *out, ald_error *err)
{
    return ald_type_parse(&s->host, type, strlen(type), name, 1, out, err);
}

static ald_status make_schema(media_stream *s, ald_error *err)
{
    const struct ArrowSchema *rows = s->media->table_count > 0 ? &s->row_schema : NULL;
    s->has_label = s->media->labels.count > 0 && (rows == NULL || !has_column(rows, "label"));
    s->has_split = s->media->splits.count > 0 && (rows == NULL || !has_column(rows, "split"));
    s->own_count = 2u + s->has_label + s->has_split;
    size_t count = s->own_count + (rows != NULL ? (size_t)rows->n_children - 1 : 0), at = 0;
    struct ArrowSchema root;
    ald_status status = ald__field_new(&s->host.alloc, "", 0, "+s", 0, count, &root, err);
    if (status != ALD_OK) {
        return status;
    }
    status = make_field(s, "binary", "bytes", root.children[at++], err);
    if (status == ALD_OK) {
        status = make_field(s, "string", "name", root.children[at++], err);
    }
    for (int64_t i = 0; status == ALD_OK && rows != NULL && i < rows->n_children; i++) {
        if (i != s->key) {
            status = ald_schema_copy(&s->host, rows->children[i], root.children[at++], err);
        }
    }
    if (status == ALD_OK && s->has_label) {
        status = make_field(s, "dictionary<values=string, indices=int32, ordered=0>", "label",
                            root.children[at++], err);
    }
    if (status == ALD_OK && s->has_split) {
        status = make_field(s, "string", "split", root.children[at++], err);
    }
    if (status == ALD_OK) {
        status = ald_schema_copy(&s->host, &root, &s->schema, err);
    }
    root.release(&root);
    return status;
}

/* Those behind the first have its columns and types. */
static ald_status open_table(media_stream *s, ald_error *err)
{
    const cli_media *m = s->media;
    const media_table *t = &m->tables[s->table];
    uint64_t usual = m->bytes / m->count + 1, rows = BATCH_BYTES / usual;
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    ald_jsonl_options jsonl = ALD_JSONL_OPTIONS_INIT;
    rows = rows < 1 ? 1 : rows < BATCH_ROWS ? rows : BATCH_ROWS;
    csv.text.batch_rows = jsonl.text.batch_rows = (uint32_t)rows;
    csv.text.schema = jsonl.text.schema = s->table > 0 ? &s->row_schema : NULL;
    s->row = 0;
    ald_status status = ald_file_open(t->path, 0, &s->source, err);
    if (status == ALD_OK) {
        status = t->is_csv ? ald_csv_open(&s->source, &csv, &s->host, &s->rows, err)
                           : ald_jsonl_open(&s->source, &jsonl, &s->host, &s->rows, err);
    }
    return ald__error_in("", t->name, strlen(t->name), status, err);
}

static ald_status open_rows(media_stream *s, ald_error *err)
{
    ald_status status = open_table(s, err);
    if (status == ALD_OK) {
        status = ald_stream_schema(&s->rows, &s->row_schema, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    for (s->key = 0; s->key < s->row_schema.n_children; s->key++) {
        if (strcmp(s->row_schema.children[s->key]->name, KEY) == 0) {
            break;
        }
    }
    if (s->key == s->row_schema.n_children || has_column(&s->row_schema, "bytes") ||
        has_column(&s->row_schema, "name")) {
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                             s->key == s->row_schema.n_children
                                 ? "%s: metadata has no column " KEY
                                 : "%s: metadata may not have columns bytes and name",
                             s->media->tables[0].name);
    }
    s->is_named = calloc(s->media->count, 1);
    return s->is_named != NULL ? ALD_OK : no_memory(err);
}

/* Whether the files need not be read. */
static ald_status look_at_needs(media_stream *s, const cli_input *in, ald_error *err)
{
    uint8_t *keep = calloc((size_t)s->schema.n_children + 1, 1);
    if (keep == NULL) {
        return no_memory(err);
    }
    s->no_bytes = in->columns != NULL &&
                  cli_select_needs(in->env, &s->schema, in->columns, in->where, keep) && !keep[0];
    free(keep);
    return ALD_OK;
}

static void note_left_out(const cli_input *in)
{
    const cli_media *m = in->media;
    char names[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < m->left_out.count && used < sizeof(names); i++) {
        int n = snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                         m->left_out.items[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    if (m->left_count > 0) {
        cli_note(in->env, "%s: %zu %s no %s and left out: %s%s", in->name, m->left_count,
                 m->left_count == 1 ? "file is" : "files are",
                 m->kind == MEDIA_IMAGE ? "image" : "audio file", names,
                 m->left_count > m->left_out.count ? ", ..." : "");
    }
}

ald_status cli_media_open(cli_input *in, ald_error *err)
{
    media_stream *s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return no_memory(err);
    }
    s->media = in->media;
    s->env = in->env;
    s->host = in->env->host;
    ald_status status = in->media->table_count > 0 ? open_rows(s, err) : ALD_OK;
    if (status == ALD_OK) {
        status = make_schema(s, err);
    }
    if (status == ALD_OK) {
        status = look_at_needs(s, in, err);
    }
    if (status != ALD_OK) {
        media_free(s);
        return status;
    }
    note_left_out(in);
    uint64_t rows = in->media->table_count == 0 ? in->media->count : 0;
    ald_stream_impl impl = {media_schema, media_next, media_free, s, rows};
    return ald_stream_new(&impl, &in->env->host.alloc, &in->stream, err);
}
