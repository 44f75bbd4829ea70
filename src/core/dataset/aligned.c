/* SPDX-License-Identifier: MIT */
/* The array index, entry by entry. */
#include "core/dataset/aligned.h"

#include "core/arrow/type.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/dataset/whole.h"

static int dtype_of(ald__type_id id)
{
    switch (id) {
    case ALD__FLOAT32:
        return 0;
    case ALD__FLOAT64:
        return 1;
    case ALD__INT32:
        return 2;
    case ALD__INT64:
        return 3;
    case ALD__UINT8:
        return 4;
    case ALD__INT8:
        return 5;
    case ALD__INT16:
        return 6;
    case ALD__UINT16:
        return 7;
    case ALD__UINT32:
        return 8;
    case ALD__UINT64:
        return 9;
    case ALD__FLOAT16:
        return 10;
    case ALD__BOOL:
        return 11;
    default:
        return ALD__DTYPE_NONE;
    }
}

int ald__aligned_dtype(const struct ArrowSchema *field, uint64_t *per_row, uint32_t *bits)
{
    ald__type type;
    *per_row = 1;
    *bits = 0;
    if (field->dictionary != NULL || ald__type_of(field, &type, NULL) != ALD_OK)
        return ALD__DTYPE_NONE;
    if (type.id == ALD__FIXED_LIST) {
        *per_row = (uint64_t)type.list_size;
        field = field->children[0];
        if (field->dictionary != NULL || ald__type_of(field, &type, NULL) != ALD_OK)
            return ALD__DTYPE_NONE;
    }
    *bits = type.bit_width;
    return dtype_of(type.id);
}

void ald__aligned_check_init(ald__aligned_check *check, const ald__file *file,
                             const ald__ipc_schema *schema)
{
    check->file = file;
    check->schema = schema;
    check->next = 0;
    check->batches = 0;
}

static ald_status bad_entry(const ald__file *f, uint64_t index, const char *what, uint64_t found,
                            uint64_t expected, ald_error *err)
{
    return ald__fail(err, ALD_E_INVALID_FORMAT,
                     f->sections.array_index.begin + 4 + index * ALD__ARRAY_ENTRY_BYTES,
                     "array %llu: %s %llu, expected %llu", (unsigned long long)index, what,
                     (unsigned long long)found, (unsigned long long)expected);
}

/* ⌈length × bits / 8⌉ without overflow; 0 return: it overflows. */
static int bytes_of(uint64_t length, uint32_t bits, uint64_t *out)
{
    uint64_t whole;
    if (!ald__mul_u64(length / 8, bits, &whole))
        return 0;
    return ald__add_u64(whole, (length % 8 * bits + 7) / 8, out);
}

ald_status ald__aligned_check_entry(const ald__file *f, const ald__ipc_schema *schema,
                                    uint64_t index, uint32_t column, const ald__ipc_message *m,
                                    const ald__ipc_span *span, uint64_t rows, ald_error *err)
{
    uint64_t per_row, length, size, offset = m->body_offset + span->values_begin;
    uint32_t bits;
    int dtype = ald__aligned_dtype(ald__ipc_schema_get(schema)->children[column], &per_row, &bits);
    const ald_array_entry *e;
    if (index >= f->array_count)
        return bad_entry(f, index, "entries", f->array_count, index + 1, err);
    if (!ald__mul_u64(rows, per_row, &length) || !bytes_of(length, bits, &size))
        return bad_entry(f, index, "rows", rows, f->header.num_rows, err);
    e = &f->arrays[index];
    if (e->column_idx != column)
        return bad_entry(f, index, "column", e->column_idx, column, err);
    if (e->dtype != (uint8_t)dtype)
        return bad_entry(f, index, "dtype", e->dtype, (uint64_t)dtype, err);
    if (e->length != length)
        return bad_entry(f, index, "length", e->length, length, err);
    if (e->size_bytes != size)
        return bad_entry(f, index, "size_bytes", e->size_bytes, size, err);
    if (e->offset != offset)
        return bad_entry(f, index, "offset", e->offset, offset, err);
    if (span->values_size < size)
        return bad_entry(f, index, "values buffer", span->values_size, size, err);
    return ALD_OK;
}

static ald_status check_columns(ald__aligned_check *c, const ald__ipc_message *m,
                                const ald__ipc_span *spans, uint64_t rows, ald_error *err)
{
    const struct ArrowSchema *schema = ald__ipc_schema_get(c->schema);
    for (uint32_t i = 0; i < (uint32_t)schema->n_children; i++) {
        uint64_t per_row;
        uint32_t bits;
        if (ald__aligned_dtype(schema->children[i], &per_row, &bits) == ALD__DTYPE_NONE)
            continue;
        ALD_TRY(ald__aligned_check_entry(c->file, c->schema, c->next, i, m, &spans[i], rows, err));
        c->next++;
    }
    return ALD_OK;
}

ald_status ald__aligned_check_batch(ald__aligned_check *c, const ald__ipc_message *m,
                                    ald_error *err)
{
    size_t columns = (size_t)ald__ipc_schema_get(c->schema)->n_children;
    size_t size = columns * sizeof(ald__ipc_span);
    uint64_t rows;
    ald__ipc_span *spans;
    ald_status st;
    c->batches++;
    ALD_TRY(ald__ipc_check_aligned(m, err));
    spans = ald__alloc(&c->file->alloc, size, err);
    if (spans == NULL)
        return ALD_E_NOMEM;
    st = ald__ipc_read_spans(c->schema, m, &ald__payload_rules, spans, &rows, err);
    if (st == ALD_OK)
        st = check_columns(c, m, spans, rows, err);
    ald__release(&c->file->alloc, spans, size);
    return st;
}

static uint64_t entries_per_batch(const ald__ipc_schema *decoded)
{
    const struct ArrowSchema *schema = ald__ipc_schema_get(decoded);
    uint64_t count = 0, per_row;
    uint32_t bits;
    for (int64_t i = 0; i < schema->n_children; i++)
        count += ald__aligned_dtype(schema->children[i], &per_row, &bits) != ALD__DTYPE_NONE;
    return count;
}

ald_status ald__aligned_check_chunk(const ald__file *f, const ald__ipc_schema *schema,
                                    uint64_t index, const ald__ipc_message *m, ald_error *err)
{
    ald__aligned_check c;
    ald__aligned_check_init(&c, f, schema);
    c.next = index * entries_per_batch(schema); /* no overflow: the count was checked */
    return ald__aligned_check_batch(&c, m, err);
}

ald_status ald__aligned_check_count(const ald__file *f, const ald__ipc_schema *schema,
                                    uint64_t batches, ald_error *err)
{
    uint64_t wanted;
    if (ald__mul_u64(batches, entries_per_batch(schema), &wanted) && wanted == f->array_count)
        return ALD_OK;
    return ald__fail(err, ALD_E_INVALID_FORMAT, f->sections.array_index.begin,
                     "%llu entries for %llu batches of %llu numeric columns",
                     (unsigned long long)f->array_count, (unsigned long long)batches,
                     (unsigned long long)entries_per_batch(schema));
}

ald_status ald__aligned_check_end(const ald__aligned_check *c, ald_error *err)
{
    if (c->next != c->file->array_count)
        return bad_entry(c->file, c->next, "entries", c->file->array_count, c->next, err);
    if (!(c->file->header.flags & ALD_FLAG_STREAMING) && c->batches != 1)
        return ald__fail(err, ALD_E_INVALID_FORMAT, c->file->sections.payload.begin,
                         "TRUENO_NATIVE with %llu record batches, expected one",
                         (unsigned long long)c->batches);
    return ALD_OK;
}
