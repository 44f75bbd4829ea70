/* SPDX-License-Identifier: MIT */
/* Rows by index out of vectors. */
#include <string.h>

#include "core/arrow/array.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/base/shared.h"
#include "core/dataset/aligned.h"
#include "core/dataset/mapping.h"

#define ALIGNMENT 64u

ald_status ald_mapped_find_batch(const ald_mapped *m, uint64_t row, uint64_t *batch,
                                 uint64_t *row_in_batch, ald_error *err)
{
    uint64_t low = 0, high = m->batch_count - 1;
    if (row >= m->file.header.num_rows)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "row %llu of %llu",
                         (unsigned long long)row, (unsigned long long)m->file.header.num_rows);
    while (low < high) { /* the last batch that does not begin behind the row */
        uint64_t middle = low + (high - low + 1) / 2;
        if (m->file.chunks[middle].row_offset <= row)
            low = middle;
        else
            high = middle - 1;
    }
    *batch = low;
    *row_in_batch = m->file.chunks != NULL ? row - m->file.chunks[low].row_offset : row;
    return ALD_OK;
}

/* Where a row is. */
typedef struct place {
    const ald_vector *vectors; /* of its batch */
    uint64_t row;              /* in it */
} place;

typedef struct taking {
    const ald_mapped *m;
    size_t rows;
    place *places;
    ald__shared *block; /* all columns' buffers */
    size_t used;
} taking;

static size_t padded(size_t size)
{
    return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static uint8_t *take_room(taking *t, size_t size)
{
    uint8_t *p = ald__shared_data(t->block) + t->used;
    t->used += padded(size);
    memset(p, 0, size);
    return p;
}

/* Bytes of a column of so many elements, with validity of rows and elements. */
static int column_room(size_t rows, uint64_t per_row, uint32_t bits, size_t *out)
{
    size_t elements, size;
    if (!ald__mul_size(rows, (size_t)per_row, &elements) || !ald__mul_size(elements, bits, &size) ||
        size > SIZE_MAX / 4)
        return 0;
    *out = padded(size / 8 + 1) + padded(rows / 8 + 1) + padded(elements / 8 + 1);
    return 1;
}

/* Rows lie far apart: the memory of a row some steps ahead is asked for before it is needed. */
#define AHEAD 16u

static const uint8_t *value_at(const place *p, uint32_t entry, size_t width)
{
    return (const uint8_t *)p->vectors[entry].data + p->row * width;
}

static void prefetch(const taking *t, size_t i, uint32_t entry, size_t width)
{
    if (i + AHEAD < t->rows)
        __builtin_prefetch(value_at(&t->places[i + AHEAD], entry, width));
}

static void gather_bytes(const taking *t, uint32_t entry, size_t width, uint8_t *out)
{
    if (width == 8) { /* a constant size makes the copy one load and one store */
        for (size_t i = 0; i < t->rows; i++) {
            prefetch(t, i, entry, 8);
            memcpy(out + i * 8, value_at(&t->places[i], entry, 8), 8);
        }
        return;
    }
    for (size_t i = 0; i < t->rows; i++) {
        prefetch(t, i, entry, width);
        memcpy(out + i * width, value_at(&t->places[i], entry, width), width);
    }
}

static void gather_bits(const taking *t, uint32_t entry, uint64_t per_row, uint8_t *out)
{
    for (size_t i = 0; i < t->rows * per_row; i++) {
        const place *p = &t->places[i / per_row];
        uint64_t bit = p->row * per_row + i % per_row;
        const uint8_t *from = p->vectors[entry].data;
        out[i / 8] |= (uint8_t)(((unsigned)from[bit / 8] >> bit % 8 & 1u) << i % 8);
    }
}

/* Whether a row's batch has nulls in the column (or its elements) at all. */
static int may_have_nulls(const taking *t, uint32_t entry, int of_elements)
{
    for (size_t i = 0; i < t->rows; i++) {
        const ald_vector *v = &t->places[i].vectors[entry];
        if ((of_elements ? v->element_validity : v->validity) != NULL)
            return 1;
    }
    return 0;
}

/* Validity of rows (`elements` = 1) or of a list's elements; *nulls counts the zeros. */
static void gather_validity(const taking *t, uint32_t entry, int of_elements, uint64_t elements,
                            uint8_t *out, int64_t *nulls)
{
    for (size_t i = 0; i < t->rows * elements; i++) {
        const place *p = &t->places[i / elements];
        const ald_vector *v = &p->vectors[entry];
        const uint8_t *from = of_elements ? v->element_validity : v->validity;
        uint64_t bit = p->row * elements + i % elements;
        unsigned set = from == NULL ? 1u : (unsigned)from[bit / 8] >> bit % 8 & 1u;
        out[i / 8] |= (uint8_t)(set << i % 8);
        *nulls += set == 0;
    }
}

static void fill_node(taking *t, struct ArrowArray *out, uint32_t entry, int of_elements,
                      uint64_t elements)
{
    size_t count = t->rows * (size_t)elements;
    uint8_t *validity = take_room(t, count / 8 + 1);
    out->length = (int64_t)count;
    out->null_count = 0;
    if (may_have_nulls(t, entry, of_elements))
        gather_validity(t, entry, of_elements, elements, validity, &out->null_count);
    out->buffers[0] = out->null_count > 0 ? validity : NULL;
}

static ald_status take_column(taking *t, uint32_t column, struct ArrowArray *out, ald_error *err)
{
    const struct ArrowSchema *field = t->m->info.schema->children[column];
    uint32_t entry = t->m->entry_of_column[column], bits;
    struct ArrowArray *values = out;
    int is_list = field->n_children == 1;
    uint64_t per_row;
    uint8_t *data;
    (void)ald__aligned_dtype(field, &per_row, &bits);
    ALD_TRY(ald__array_new(&t->m->host.alloc, is_list ? 1 : 2, is_list ? 1 : 0, 0, out, err));
    fill_node(t, out, entry, 0, 1);
    if (is_list) {
        values = out->children[0];
        ALD_TRY(ald__array_new(&t->m->host.alloc, 2, 0, 0, values, err));
        fill_node(t, values, entry, 1, per_row);
    }
    data = take_room(t, (size_t)values->length * bits / 8 + 1);
    if (bits < 8)
        gather_bits(t, entry, per_row, data);
    else
        gather_bytes(t, entry, (size_t)per_row * bits / 8, data);
    values->buffers[1] = data;
    ald__array_hold(values, t->block);
    if (is_list)
        ald__array_hold(out, t->block);
    return ALD_OK;
}

static ald_status find_places(taking *t, const uint64_t *rows, ald_error *err)
{
    for (size_t i = 0; i < t->rows; i++) {
        uint64_t batch;
        ALD_TRY(ald_mapped_find_batch(t->m, rows[i], &batch, &t->places[i].row, err));
        ALD_TRY(ald__mapped_vectors(t->m, batch, &t->places[i].vectors, err));
    }
    return ALD_OK;
}

static ald_status make_block(taking *t, const uint32_t *columns, size_t column_count,
                             ald_error *err)
{
    size_t total = 0;
    for (size_t i = 0; i < column_count; i++) {
        const struct ArrowSchema *schema = t->m->info.schema;
        uint64_t per_row;
        uint32_t bits;
        size_t room;
        if (columns[i] >= (uint64_t)schema->n_children)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "column %u of %lld", columns[i],
                             (long long)schema->n_children);
        if (ald__aligned_dtype(schema->children[columns[i]], &per_row, &bits) == ALD__DTYPE_NONE)
            return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "column '%s' is no plain numeric column",
                             schema->children[columns[i]]->name);
        if (!column_room(t->rows, per_row, bits, &room) || !ald__add_size(total, room, &total))
            return ald__no_memory(err, SIZE_MAX);
    }
    return ald__shared_alloc(&t->m->host.alloc, total, &t->block, err);
}

static ald_status take_columns(taking *t, const uint64_t *rows, const uint32_t *columns,
                               size_t column_count, struct ArrowArray *out, ald_error *err)
{
    ald_status st;
    ALD_TRY(find_places(t, rows, err));
    ALD_TRY(make_block(t, columns, column_count, err));
    ALD_TRY(ald__array_new(&t->m->host.alloc, 1, column_count, 0, out, err));
    out->length = (int64_t)t->rows;
    out->null_count = 0;
    st = ALD_OK;
    for (size_t i = 0; st == ALD_OK && i < column_count; i++)
        st = take_column(t, columns[i], out->children[i], err);
    if (st != ALD_OK)
        out->release(out);
    return st;
}

ald_status ald_mapped_take(const ald_mapped *m, const uint64_t *rows, size_t row_count,
                           const uint32_t *columns, size_t column_count, struct ArrowArray *out,
                           ald_error *err)
{
    taking t = {m, row_count, NULL, NULL, 0};
    size_t size;
    ald_status st;
    out->release = NULL;
    if (!ald__mul_size(row_count, sizeof *t.places, &size))
        return ald__no_memory(err, SIZE_MAX);
    t.places = ald__alloc(&m->host.alloc, size, err);
    if (t.places == NULL)
        return ALD_E_NOMEM;
    st = take_columns(&t, rows, columns, column_count, out, err);
    ald__shared_unref(t.block);
    ald__release(&m->host.alloc, t.places, size);
    return st;
}
