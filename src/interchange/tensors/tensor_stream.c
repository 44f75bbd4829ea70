/* SPDX-License-Identifier: MIT */
/* Batches of several arrays. One buffer holds the rows of one array at a time, in C order whatever the file has, until they
 * are decoded. */
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "interchange/format/error_in.h"
#include "interchange/tensors/tensor_set.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"

#define BATCH_BYTES ((uint64_t)16 << 20)
#define BATCH_ROWS 65536u
#define STRIP_BYTES ((uint64_t)1 << 20) /* of a whole array that is read in pieces */

typedef struct tensor_column {
    const ald__tensor *tensor;
    const ald__tensor_node *node; /* the tensor's, or one inside it */
    size_t offset;                /* of its bytes in the tensor's row */
    const char *name;
    size_t name_size;
} tensor_column;

typedef struct tensor_stream {
    ald__tensor_set set;
    tensor_column *columns; /* those of a tensor follow each other */
    size_t column_count;
    struct ArrowSchema schema;
    uint64_t rows, next_row;
    size_t batch_rows;
    uint8_t *buffer, *strip;
    size_t buffer_size, strip_size;
} tensor_stream;

/* ---- columns */

static ald_status add_column(tensor_stream *s, const ald__tensor *t, const ald__tensor_node *node,
                             size_t offset, const char *name, size_t name_size, ald_error *err)
{
    if (memchr(name, 0, name_size) != NULL)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "a name of %zu bytes has a NUL in it", name_size);
    s->columns[s->column_count++] = (tensor_column){t, node, offset, name, name_size};
    return ALD_OK;
}

/* f0, f1, … of the only array, else NAME_0, … */
static ald_status number_name(tensor_stream *s, const ald__tensor *t, int only, size_t index,
                              const char **out, size_t *size, ald_error *err)
{
    char digits[20];
    size_t n = 0, prefix = only ? 1 : t->name_size + 1;
    char *name = ald__tensor_alloc(&s->set.memory, prefix + sizeof digits + 1, 1, err);
    if (name == NULL)
        return ALD_E_NOMEM;
    if (only)
        name[0] = 'f';
    else
        memcpy(name, t->name, t->name_size);
    if (!only)
        name[t->name_size] = '_';
    do {
        digits[n++] = (char)('0' + index % 10);
        index /= 10;
    } while (index > 0);
    for (*size = prefix; n > 0;)
        name[(*size)++] = digits[--n];
    *out = name;
    return ALD_OK;
}

static int is_unpacked(const tensor_stream *s, const ald__tensor *t)
{
    return s->set.options.unpack && t->dimension_count == 2;
}

/* A table of records: its fields are the columns. */
static int is_record(const ald__tensor *t, int only)
{
    return only && t->node.kind == ALD__TENSOR_STRUCT;
}

static size_t count_columns(const tensor_stream *s, const ald__tensor *t, int only)
{
    return is_unpacked(s, t) ? (size_t)t->node.count : is_record(t, only) ? t->node.child_count : 1;
}

static ald_status add_columns(tensor_stream *s, const ald__tensor *t, int only, ald_error *err)
{
    size_t count = count_columns(s, t, only);
    ald_status status = ALD_OK;
    if (is_unpacked(s, t)) {
        const ald__tensor_node *node = &t->node.children[0];
        for (size_t i = 0; status == ALD_OK && i < count; i++) {
            const char *name = NULL;
            size_t size = 0;
            status = number_name(s, t, only, i, &name, &size, err);
            if (status == ALD_OK)
                status = add_column(s, t, node, i * node->width, name, size, err);
        }
        return status;
    }
    if (!is_record(t, only))
        return add_column(s, t, &t->node, 0, t->name, t->name_size, err);
    for (size_t i = 0; status == ALD_OK && i < count; i++) {
        const ald__tensor_node *node = &t->node.children[i];
        status = add_column(s, t, node, node->offset, node->name, node->name_size, err);
    }
    return status;
}

static ald_status make_columns(tensor_stream *s, int only, ald_error *err)
{
    size_t count = 0;
    ald_status status = ALD_OK;
    for (size_t i = 0; i < s->set.count && count <= ALD__TENSOR_COLUMNS; i++)
        count += count_columns(s, &s->set.tensors[i], only);
    if (count > ALD__TENSOR_COLUMNS)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more than %u columns are too many", ALD__TENSOR_COLUMNS);
    s->columns = ald__tensor_alloc(&s->set.memory, count, sizeof *s->columns, err);
    if (s->columns == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; status == ALD_OK && i < s->set.count; i++)
        status = add_columns(s, &s->set.tensors[i], only, err);
    return status;
}

/* ---- the schema */

static const char *note_of(const ald__tensor_node *node)
{
    const char *note = node->note;
    for (size_t i = 0; note == NULL && i < node->child_count; i++)
        note = note_of(&node->children[i]);
    return note;
}

static void put(char *line, size_t room, size_t *used, const char *text, size_t size)
{
    size = size < room - 1 - *used ? size : room - 1 - *used;
    memcpy(line + *used, text, size);
    *used += size;
    line[*used] = '\0';
}

static void tell(const tensor_stream *s, const tensor_column *c, const char *note)
{
    char line[256];
    size_t used = 0;
    if (s->set.options.note == NULL)
        return;
    put(line, sizeof line, &used, "column '", 8);
    put(line, sizeof line, &used, c->name, c->name_size < 80 ? c->name_size : 80);
    put(line, sizeof line, &used, "' has ", 6);
    put(line, sizeof line, &used, note, strlen(note));
    s->set.options.note(s->set.options.note_ctx, line);
}

static ald_status make_schema(tensor_stream *s, ald_error *err)
{
    const ald_host *host = &s->set.host;
    struct ArrowSchema root;
    ald_status status = ald__field_new(&host->alloc, "", 0, "+s", 0, s->column_count, &root, err);
    if (status == ALD_OK)
        root.metadata = s->set.metadata;
    for (size_t i = 0; status == ALD_OK && i < s->column_count; i++) {
        const tensor_column *c = &s->columns[i];
        status = ald__tensor_node_field(c->node, c->name, c->name_size, &host->alloc,
                                        root.children[i], err);
    }
    /* A copy by the library's own hand has room for metadata. */
    if (status == ALD_OK)
        status = ald_schema_copy(host, &root, &s->schema, err);
    if (root.release != NULL)
        root.release(&root);
    for (size_t i = 0; status == ALD_OK && i < s->column_count; i++) {
        const char *note = note_of(s->columns[i].node);
        /* One line for an array, however many columns it has. */
        if (note != NULL && (i == 0 || s->columns[i - 1].tensor != s->columns[i].tensor ||
                             s->columns[i - 1].node != s->columns[i].node))
            tell(s, &s->columns[i], note);
        if (s->columns[i].node->was != NULL)
            status = ald_schema_set_metadata(host, s->schema.children[i], "safetensors.dtype",
                                             s->columns[i].node->was,
                                             strlen(s->columns[i].node->was), err);
    }
    return status;
}

/* ---- rows */

/* Elements of one place of the row, of all rows of the batch, are side by side in the file: a strip. */
static ald_status read_fortran(tensor_stream *s, const ald__tensor *t, size_t rows, ald_error *err)
{
    size_t item = t->item_bytes, strips = item > 0 ? t->row_bytes / item : 0;
    size_t index[ALD__TENSOR_DIMENSIONS] = {0}, steps[ALD__TENSOR_DIMENSIONS] = {0}, at = 0;
    ald_status status = ALD_OK;
    for (size_t d = t->dimension_count, step = 1; d > 1; d--) {
        steps[d - 1] = step;
        step *= (size_t)t->dimensions[d - 1];
    }
    for (size_t strip = 0; status == ALD_OK && strip < strips; strip++) {
        uint64_t offset = ((uint64_t)strip * t->rows + s->next_row) * item;
        status = t->read(t->ctx, offset, s->strip, rows * item, err);
        for (size_t r = 0; status == ALD_OK && r < rows; r++)
            memcpy(s->buffer + r * t->row_bytes + at * item, s->strip + r * item, item);
        /* The next place: the second dimension runs fastest. */
        for (size_t d = 1; d < t->dimension_count; d++) {
            at += steps[d];
            if (++index[d] < t->dimensions[d])
                break;
            at -= steps[d] * index[d];
            index[d] = 0;
        }
    }
    return status;
}

static int is_strewn(const ald__tensor *t)
{
    return t->fortran && t->dimension_count > 1;
}

/* The whole array as one value: its elements in the order of the file, each to its place. */
static ald_status read_fortran_whole(tensor_stream *s, const ald__tensor *t, ald_error *err)
{
    size_t item = t->item_bytes, per_strip = s->strip_size / item, left = t->row_bytes / item;
    size_t index[ALD__TENSOR_DIMENSIONS] = {0}, steps[ALD__TENSOR_DIMENSIONS] = {0}, at = 0;
    uint64_t offset = 0;
    ald_status status = ALD_OK;
    for (size_t d = t->dimension_count, step = 1; d > 0; d--) {
        steps[d - 1] = step;
        step *= (size_t)t->dimensions[d - 1];
    }
    while (status == ALD_OK && left > 0) {
        size_t count = left < per_strip ? left : per_strip;
        status = t->read(t->ctx, offset, s->strip, count * item, err);
        for (size_t i = 0; status == ALD_OK && i < count; i++) {
            memcpy(s->buffer + at * item, s->strip + i * item, item);
            for (size_t d = 0; d < t->dimension_count; d++) {
                at += steps[d];
                if (++index[d] < t->dimensions[d])
                    break;
                at -= steps[d] * index[d];
                index[d] = 0;
            }
        }
        offset += (uint64_t)count * item;
        left -= count;
    }
    return status;
}

static ald_status read_rows(tensor_stream *s, const ald__tensor *t, size_t rows, ald_error *err)
{
    if (t->row_bytes == 0)
        return ALD_OK;
    if (is_strewn(t))
        return s->set.options.one_row ? read_fortran_whole(s, t, err)
                                      : read_fortran(s, t, rows, err);
    return t->read(t->ctx, s->next_row * t->row_bytes, s->buffer, rows * t->row_bytes, err);
}

static ald_status read_end(const tensor_stream *s, ald_error *err)
{
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < s->set.count; i++) {
        const ald__tensor *t = &s->set.tensors[i];
        status = t->end != NULL ? t->end(t->ctx, err) : ALD_OK;
    }
    return status;
}

static ald_status fill(tensor_stream *s, size_t rows, struct ArrowArray *out, ald_error *err)
{
    const ald__tensor *held = NULL;
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < s->column_count; i++) {
        const tensor_column *c = &s->columns[i];
        if (c->tensor != held)
            status = read_rows(s, c->tensor, rows, err);
        held = c->tensor;
        if (status == ALD_OK)
            status =
                ald__tensor_node_decode(c->node, s->buffer + c->offset, rows, c->tensor->row_bytes,
                                        s->next_row, &s->set.host.alloc, out->children[i], err);
        status = ald__error_in("column ", c->name, c->name_size, status, err);
    }
    return status;
}

static ald_status stream_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    tensor_stream *s = ctx;
    uint64_t left = s->rows - s->next_row;
    size_t rows = left < s->batch_rows ? (size_t)left : s->batch_rows;
    void *blocks[1] = {NULL};
    size_t sizes[1] = {0};
    if (rows == 0)
        return read_end(s, err);
    ald_status status = ald__text_array_new(&s->set.host.alloc, (int64_t)rows, 0, 1, blocks, sizes,
                                            s->column_count, out, err);
    if (status != ALD_OK)
        return status;
    status = fill(s, rows, out, err);
    if (status != ALD_OK)
        out->release(out);
    s->next_row += rows;
    return status;
}

static ald_status stream_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    tensor_stream *s = ctx;
    return ald_schema_copy(&s->set.host, &s->schema, out, err);
}

static void stream_free(void *ctx)
{
    tensor_stream *s = ctx;
    ald_allocator alloc = s->set.host.alloc;
    ald__text_free(&alloc, s->buffer, s->buffer_size, 1);
    ald__text_free(&alloc, s->strip, s->strip_size, 1);
    if (s->schema.release != NULL)
        s->schema.release(&s->schema);
    ald__tensor_set_close(&s->set);
    alloc.release(alloc.ctx, s, sizeof *s);
}

/* ---- opening */

static ald_status check_rows(tensor_stream *s, ald_error *err)
{
    const ald__tensor *first = s->set.tensors;
    for (size_t i = 1; i < s->set.count; i++) {
        const ald__tensor *t = &s->set.tensors[i];
        if (t->rows != first->rows)
            return ald_error_set(
                err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                "'%.*s' has %llu rows, '%.*s' has %llu\npass --tensor NAME for those that go "
                "together, or --one-row: each array is then one value",
                first->name_size < 30 ? (int)first->name_size : 30, first->name,
                (unsigned long long)first->rows, t->name_size < 30 ? (int)t->name_size : 30,
                t->name, (unsigned long long)t->rows);
    }
    s->rows = s->set.count > 0 ? first->rows : 0;
    return ALD_OK;
}

/* Rows of a batch: as many as keep what is read and what comes of it near BATCH_BYTES. */
static ald_status make_room(tensor_stream *s, ald_error *err)
{
    uint64_t row = 1, widest = 0, strewn = 0;
    size_t most = s->set.options.batch_rows > 0 ? s->set.options.batch_rows : BATCH_ROWS;
    for (size_t i = 0; i < s->set.count; i++) {
        const ald__tensor *t = &s->set.tensors[i];
        uint64_t memory = ald__tensor_node_memory(&t->node);
        row = __builtin_add_overflow(row, memory, &row) ? UINT64_MAX : row;
        row = __builtin_add_overflow(row, t->row_bytes, &row) ? UINT64_MAX : row;
        widest = t->row_bytes > widest ? t->row_bytes : widest;
        if (is_strewn(t) && t->item_bytes > strewn)
            strewn = t->item_bytes;
    }
    s->batch_rows = row >= BATCH_BYTES ? 1 : (size_t)(BATCH_BYTES / row);
    s->batch_rows = s->batch_rows < most ? s->batch_rows : most;
    if (s->rows < s->batch_rows)
        s->batch_rows = s->rows > 0 ? (size_t)s->rows : 1;
    s->buffer_size = (size_t)widest * s->batch_rows;
    s->strip_size = (size_t)strewn * s->batch_rows;
    if (s->set.options.one_row && strewn > 0)
        s->strip_size = (size_t)strewn * (size_t)(STRIP_BYTES / strewn + 1);
    s->buffer = ald__text_alloc(&s->set.host.alloc, s->buffer_size, 1, err);
    s->strip =
        s->buffer != NULL ? ald__text_alloc(&s->set.host.alloc, s->strip_size, 1, err) : NULL;
    return s->strip != NULL ? ALD_OK : ALD_E_NOMEM;
}

static ald_status check_names(const ald__tensor_set *set, ald_error *err)
{
    for (uint32_t i = 0; i < set->options.name_count; i++) {
        int found = 0;
        for (size_t k = 0; k < set->count && !found; k++)
            found =
                strlen(set->options.names[i]) == set->tensors[k].name_size &&
                memcmp(set->options.names[i], set->tensors[k].name, set->tensors[k].name_size) == 0;
        if (!found)
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "there is no array '%s' in the file", set->options.names[i]);
    }
    return ALD_OK;
}

/* In the order of the options. */
static ald_status sort_tensors(ald__tensor_set *set, ald_error *err)
{
    size_t count = set->options.name_count;
    ald__tensor *tensors;
    if (count == 0)
        return ALD_OK;
    tensors = ald__tensor_alloc(&set->memory, count, sizeof *tensors, err);
    if (tensors == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < set->count; k++) {
            const ald__tensor *t = &set->tensors[k];
            if (strlen(set->options.names[i]) == t->name_size &&
                memcmp(set->options.names[i], t->name, t->name_size) == 0)
                tensors[i] = *t;
        }
        for (size_t k = 0; k < i; k++) {
            if (tensors[k].name == tensors[i].name)
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "the array '%s' is asked for twice", set->options.names[i]);
        }
    }
    set->tensors = tensors;
    set->count = set->capacity = count;
    return ALD_OK;
}

static ald_status prepare(tensor_stream *s, int only, ald_error *err)
{
    ald_status status = check_names(&s->set, err);
    if (status == ALD_OK && s->set.count == 0)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the file holds no array");
    if (status == ALD_OK)
        status = sort_tensors(&s->set, err);
    if (status == ALD_OK)
        status = check_rows(s, err);
    if (status == ALD_OK)
        status = make_columns(s, only, err);
    if (status == ALD_OK)
        status = make_schema(s, err);
    return status == ALD_OK ? make_room(s, err) : status;
}

ald_status ald__tensor_set_stream(ald__tensor_set *set, int only, struct ArrowArrayStream *out,
                                  ald_error *err)
{
    ald_allocator alloc = set->host.alloc;
    tensor_stream *s = ald__text_alloc(&alloc, 1, sizeof *s, err);
    if (s == NULL) {
        ald__tensor_set_close(set);
        return ALD_E_NOMEM;
    }
    s->set = *set;
    memset(set, 0, sizeof *set);
    ald_status status = prepare(s, only, err);
    if (status != ALD_OK) {
        stream_free(s);
        return status;
    }
    s->set.options.names = NULL; /* borrowed until here */
    ald_stream_impl impl = {stream_schema, stream_next, stream_free, s, s->rows};
    return ald_stream_new(&impl, &alloc, out, err);
}
