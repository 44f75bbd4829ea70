/* SPDX-License-Identifier: MIT */
/* safetensors: the size of a header, the header in JSON, the bytes of all tensors. They fill the file to its end, without
 * gaps and without sharing a byte, so that nothing hides in it. */
#include <string.h>

#include <yyjson.h>

#include "interchange/tensors/tensor_set.h"
#include "interchange/text/json_alc.h"
#include "interchange/text/mem.h"

#define HEADER_BYTES ((uint64_t)100 << 20) /* as the format's own library has it */

typedef struct tensor_bytes {
    ald_source source;
    uint64_t start, end; /* in the file */
    const char *name;
    size_t name_size;
} tensor_bytes;

typedef struct safe_file {
    ald__tensor_set *set;
    ald_source source;
    uint64_t data; /* where the bytes of tensors begin */
    tensor_bytes **all;
    size_t count;
    ald_error *err;
} safe_file;

static ald_status bad(const safe_file *f, const char *name, const char *what)
{
    return ald_error_set(f->err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "'%.80s': %s", name, what);
}

static ald_status read_bytes(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    const tensor_bytes *b = ctx;
    return b->source.read_at(b->source.ctx, b->start + offset, buf, size, err);
}

/* ---- types */

typedef struct dtype_row {
    const char *name;
    uint8_t kind;
    uint8_t width;
    const char *format;
    const char *note;
} dtype_row;

static const char float8_note[] = "8-bit floats, read as uint8: their bits";

static const dtype_row dtypes[] = {
    {"BOOL", ALD__TENSOR_BOOL, 1, "b", NULL},
    {"U8", ALD__TENSOR_COPY, 1, "C", NULL},
    {"I8", ALD__TENSOR_COPY, 1, "c", NULL},
    {"U16", ALD__TENSOR_COPY, 2, "S", NULL},
    {"I16", ALD__TENSOR_COPY, 2, "s", NULL},
    {"U32", ALD__TENSOR_COPY, 4, "I", NULL},
    {"I32", ALD__TENSOR_COPY, 4, "i", NULL},
    {"U64", ALD__TENSOR_COPY, 8, "L", NULL},
    {"I64", ALD__TENSOR_COPY, 8, "l", NULL},
    {"F16", ALD__TENSOR_COPY, 2, "e", NULL},
    {"F32", ALD__TENSOR_COPY, 4, "f", NULL},
    {"F64", ALD__TENSOR_COPY, 8, "g", NULL},
    {"BF16", ALD__TENSOR_BFLOAT16, 2, "f", "bfloat16, read as float32: no value changes"},
    {"F8_E4M3", ALD__TENSOR_COPY, 1, "C", float8_note},
    {"F8_E5M2", ALD__TENSOR_COPY, 1, "C", float8_note},
    {"F8_E8M0", ALD__TENSOR_COPY, 1, "C", float8_note},
};

static ald_status find_dtype(const safe_file *f, const char *name, yyjson_val *value,
                             ald__tensor_node *node)
{
    const char *text = yyjson_get_str(value);
    if (text == NULL)
        return bad(f, name, "it has no dtype");
    if (strcmp(text, "C64") == 0)
        return ald__tensor_node_complex(&f->set->memory, 4, "f", 0, node, f->err);
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        if (strcmp(dtypes[i].name, text) == 0) {
            node->kind = dtypes[i].kind;
            node->width = dtypes[i].width;
            node->note = dtypes[i].note;
            memcpy(node->format, dtypes[i].format, strlen(dtypes[i].format) + 1);
            node->was = dtypes[i].note != NULL ? dtypes[i].name : NULL;
            return ALD_OK;
        }
    }
    return ald_error_set(f->err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "'%.80s': the dtype '%.40s' has no Arrow type", name, text);
}

/* ---- one tensor of the header */

static ald_status read_shape(const safe_file *f, const char *name, yyjson_val *shape,
                             ald__tensor *t)
{
    yyjson_arr_iter iter;
    yyjson_val *item;
    if (!yyjson_arr_iter_init(shape, &iter))
        return bad(f, name, "it has no shape");
    if (yyjson_arr_size(shape) > ALD__TENSOR_DIMENSIONS)
        return bad(f, name, "it has too many dimensions");
    while ((item = yyjson_arr_iter_next(&iter)) != NULL) {
        if (!yyjson_is_uint(item))
            return bad(f, name, "a dimension is no number");
        t->dimensions[t->dimension_count++] = yyjson_get_uint(item);
    }
    return ALD_OK;
}

static ald_status read_offsets(const safe_file *f, const char *name, yyjson_val *offsets,
                               tensor_bytes *b)
{
    yyjson_val *first = yyjson_arr_get(offsets, 0), *last = yyjson_arr_get(offsets, 1);
    uint64_t data_bytes = f->source.size_bytes - f->data;
    if (yyjson_arr_size(offsets) != 2 || !yyjson_is_uint(first) || !yyjson_is_uint(last))
        return bad(f, name, "its data_offsets are not two numbers");
    if (yyjson_get_uint(first) > yyjson_get_uint(last))
        return bad(f, name, "it ends before it begins");
    if (yyjson_get_uint(last) > data_bytes)
        return ald_error_set(f->err, ALD_E_TRUNCATED, f->source.size_bytes,
                             "'%.80s' ends behind the end of the file", name);
    b->start = f->data + yyjson_get_uint(first);
    b->end = f->data + yyjson_get_uint(last);
    return ALD_OK;
}

static ald_status read_fields(const safe_file *f, const char *name, yyjson_val *object,
                              ald__tensor *t, tensor_bytes *b)
{
    yyjson_val *dtype = yyjson_obj_get(object, "dtype"), *shape = yyjson_obj_get(object, "shape"),
               *offsets = yyjson_obj_get(object, "data_offsets");
    uint64_t bytes = 0;
    if (yyjson_obj_size(object) != 3)
        return bad(f, name, "it is not described by dtype, shape and data_offsets");
    ald_status status = read_offsets(f, name, offsets, b);
    if (status == ALD_OK)
        status = find_dtype(f, name, dtype, &t->node);
    if (status == ALD_OK)
        status = read_shape(f, name, shape, t);
    if (status == ALD_OK)
        status = ald__tensor_bytes(t, &bytes, f->err);
    if (status == ALD_OK && bytes != b->end - b->start)
        return bad(f, name, "its bytes are not as many as its shape takes");
    return status;
}

static ald_status read_tensor(safe_file *f, yyjson_val *key, yyjson_val *object)
{
    ald__tensor tensor;
    ald__tensor_memory *memory = &f->set->memory;
    tensor_bytes *b = ald__tensor_alloc(memory, 1, sizeof *b, f->err);
    memset(&tensor, 0, sizeof tensor);
    tensor.name_size = yyjson_get_len(key);
    tensor.name = ald__tensor_text(memory, yyjson_get_str(key), tensor.name_size, f->err);
    if (b == NULL || tensor.name == NULL)
        return ALD_E_NOMEM;
    b->source = f->source;
    b->name = tensor.name;
    b->name_size = tensor.name_size;
    f->all[f->count++] = b;
    if (!ald__tensor_set_wants(f->set, tensor.name, tensor.name_size)) {
        ald_error why;
        safe_file quiet = *f; /* what is not read may have a type that is not known */
        quiet.err = &why;
        ald_status status = read_fields(&quiet, tensor.name, object, &tensor, b);
        if (status != ALD_OK && status != ALD_E_UNSUPPORTED && f->err != NULL)
            *f->err = why;
        return status == ALD_E_UNSUPPORTED ? ALD_OK : status;
    }
    ald_status status = read_fields(f, tensor.name, object, &tensor, b);
    tensor.read = read_bytes;
    tensor.ctx = b;
    return status == ALD_OK ? ald__tensor_set_add(f->set, &tensor, f->err) : status;
}

/* ---- the whole header */

static void put_bytes(char *out, size_t *used, const char *text, size_t size)
{
    int32_t count = (int32_t)size; /* the header is shorter than that */
    memcpy(out + *used, &count, sizeof count);
    memcpy(out + *used + sizeof count, text, size);
    *used += sizeof count + size;
}

/* In the form that schemas have them. */
static ald_status read_metadata(safe_file *f, yyjson_val *object)
{
    size_t size = sizeof(int32_t), used = sizeof(int32_t);
    int32_t count = (int32_t)yyjson_obj_size(object);
    yyjson_obj_iter iter;
    yyjson_val *key, *value;
    char *out;
    if (!yyjson_obj_iter_init(object, &iter))
        return bad(f, "__metadata__", "it is no object");
    if (f->set->metadata != NULL)
        return bad(f, "__metadata__", "it stands twice");
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        value = yyjson_obj_iter_get_val(key);
        if (!yyjson_is_str(value) || strlen(yyjson_get_str(key)) != yyjson_get_len(key))
            return bad(f, "__metadata__", "a value is no string, or a key has a NUL");
        size += 2 * sizeof(int32_t) + yyjson_get_len(key) + yyjson_get_len(value);
    }
    out = ald__tensor_alloc(&f->set->memory, size, 1, f->err);
    if (out == NULL)
        return ALD_E_NOMEM;
    memcpy(out, &count, sizeof count);
    (void)yyjson_obj_iter_init(object, &iter);
    while ((key = yyjson_obj_iter_next(&iter)) != NULL) {
        value = yyjson_obj_iter_get_val(key);
        put_bytes(out, &used, yyjson_get_str(key), yyjson_get_len(key));
        put_bytes(out, &used, yyjson_get_str(value), yyjson_get_len(value));
    }
    f->set->metadata = count > 0 ? out : NULL;
    return ALD_OK;
}

/* ---- order: heap sort, since a header may name a million tensors in any order */

typedef int (*less_fn)(const tensor_bytes *a, const tensor_bytes *b);

static int begins_before(const tensor_bytes *a, const tensor_bytes *b)
{
    return a->start < b->start || (a->start == b->start && a->end < b->end);
}

static int is_named_before(const tensor_bytes *a, const tensor_bytes *b)
{
    size_t size = a->name_size < b->name_size ? a->name_size : b->name_size;
    int order = memcmp(a->name, b->name, size);
    return order < 0 || (order == 0 && a->name_size < b->name_size);
}

static void sink(tensor_bytes **all, size_t at, size_t count, less_fn is_less)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        tensor_bytes *held = all[at];
        if (child + 1 < count && is_less(all[child], all[child + 1]))
            child++;
        if (!is_less(held, all[child]))
            return;
        all[at] = all[child];
        all[child] = held;
    }
}

static void sort_bytes(tensor_bytes **all, size_t count, less_fn is_less)
{
    for (size_t i = count / 2; i > 0; i--)
        sink(all, i - 1, count, is_less);
    for (size_t n = count; n > 1; n--) {
        tensor_bytes *last = all[0];
        all[0] = all[n - 1];
        all[n - 1] = last;
        sink(all, 0, n - 1, is_less);
    }
}

static ald_status check_cover(safe_file *f)
{
    uint64_t at = f->data;
    sort_bytes(f->all, f->count, begins_before);
    for (size_t i = 0; i < f->count; i++) {
        if (f->all[i]->start != at)
            return ald_error_set(f->err, ALD_E_INVALID_FORMAT,
                                 at < f->all[i]->start ? at : f->all[i]->start, "tensors %s",
                                 f->all[i]->start < at ? "overlap" : "have a gap");
        at = f->all[i]->end;
    }
    if (at != f->source.size_bytes)
        return ald_error_set(f->err, ALD_E_INVALID_FORMAT, at,
                             "bytes follow that belong to no tensor");
    return ALD_OK;
}

/* The JSON library keeps both of two keys alike. */
static ald_status check_twice(safe_file *f)
{
    sort_bytes(f->all, f->count, is_named_before);
    for (size_t i = 1; i < f->count; i++) {
        if (!is_named_before(f->all[i - 1], f->all[i]))
            return bad(f, f->all[i]->name, "it stands twice");
    }
    return ALD_OK;
}

static ald_status read_entries(safe_file *f, yyjson_val *root)
{
    yyjson_obj_iter iter;
    yyjson_val *key;
    ald_status status = ALD_OK;
    if (!yyjson_obj_iter_init(root, &iter))
        return ald_error_set(f->err, ALD_E_INVALID_FORMAT, 8, "the header is no JSON object");
    f->all = ald__tensor_alloc(&f->set->memory, yyjson_obj_size(root), sizeof *f->all, f->err);
    if (f->all == NULL)
        return ALD_E_NOMEM;
    while (status == ALD_OK && (key = yyjson_obj_iter_next(&iter)) != NULL) {
        yyjson_val *value = yyjson_obj_iter_get_val(key);
        status = yyjson_equals_str(key, "__metadata__") ? read_metadata(f, value)
                                                        : read_tensor(f, key, value);
    }
    if (status == ALD_OK)
        status = check_twice(f);
    return status == ALD_OK ? check_cover(f) : status;
}

static ald_status parse_header(safe_file *f, char *text, size_t size)
{
    yyjson_alc alc = ald__json_alc(&f->set->host.alloc);
    yyjson_read_err why;
    yyjson_doc *doc = yyjson_read_opts(text, size, 0, &alc, &why);
    ald_status status;
    if (doc == NULL && why.code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        return ald_error_set(f->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the header");
    if (doc == NULL)
        return ald_error_set(f->err, ALD_E_INVALID_FORMAT, 8 + (uint64_t)why.pos,
                             "the header is not JSON: %s", why.msg);
    status = read_entries(f, yyjson_doc_get_root(doc));
    yyjson_doc_free(doc);
    return status;
}

static ald_status read_header(safe_file *f)
{
    uint8_t prefix[8];
    uint64_t size = 0, all = f->source.size_bytes;
    if (all < sizeof prefix)
        return ald_error_set(f->err, ALD_E_TRUNCATED, all, "the file ends within its first number");
    ald_status status = f->source.read_at(f->source.ctx, 0, prefix, sizeof prefix, f->err);
    if (status != ALD_OK)
        return status;
    for (size_t i = 8; i > 0; i--)
        size = size << 8 | prefix[i - 1];
    if (size > all - 8)
        return ald_error_set(f->err, ALD_E_TRUNCATED, all,
                             "a header of %llu bytes does not fit the file",
                             (unsigned long long)size);
    if (size > HEADER_BYTES)
        return ald_error_set(f->err, ALD_E_LIMIT_EXCEEDED, 0, "a header of %llu bytes is too long",
                             (unsigned long long)size);
    f->data = 8 + size;
    const ald_allocator *alloc = &f->set->host.alloc;
    char *text = ald__text_alloc(alloc, (size_t)size + 1, 1, f->err);
    if (text == NULL)
        return ALD_E_NOMEM;
    if (size > 0)
        status = f->source.read_at(f->source.ctx, 8, text, (size_t)size, f->err);
    if (status == ALD_OK)
        status = parse_header(f, text, (size_t)size);
    ald__text_free(alloc, text, (size_t)size + 1, 1);
    return status;
}

ald_status ald_safetensors_open(const ald_source *source, const ald_tensor_options *options,
                                const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald__tensor_set set;
    memset(out, 0, sizeof *out);
    ald_status status = ald__tensor_set_open(&set, options, host, err);
    safe_file f = {.set = &set, .source = *source, .err = err};
    if (status == ALD_OK)
        status = read_header(&f);
    if (status == ALD_OK)
        return ald__tensor_set_stream(&set, 0, out, err);
    ald__tensor_set_close(&set);
    return status;
}
