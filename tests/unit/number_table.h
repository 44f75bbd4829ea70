/* SPDX-License-Identifier: MIT */
/* A table of 64-bit numbers that every test can compute again: column c of row r holds number_at(r, c). */
#ifndef NUMBER_TABLE_H
#define NUMBER_TABLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/ald.h"

#define NUMBER_COLUMNS_MAX 64

typedef struct number_table {
    int64_t rows, columns, batch_rows, next;
} number_table;

/* Half of the bits are noise, so that frames have a size that says something. */
static inline int64_t number_at(int64_t row, int64_t column)
{
    uint64_t z = (uint64_t)row * 0x9E3779B97F4A7C15u + (uint64_t)column;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    return (int64_t)((z ^ (z >> 27)) & 0xFFFFFFFFu);
}

static inline void *number_alloc(size_t size)
{
    void *p = calloc(1, size + 1);
    if (p == NULL)
        abort();
    return p;
}

static inline void number_schema_release(struct ArrowSchema *s)
{
    for (int64_t i = 0; i < s->n_children; i++) {
        free(s->children[i]->private_data);
        free(s->children[i]);
    }
    free(s->children);
    s->release = NULL;
}

static inline void number_field_release(struct ArrowSchema *s)
{
    s->release = NULL;
}

static inline int number_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    const number_table *t = (const number_table *)stream->private_data;
    memset(out, 0, sizeof *out);
    out->format = "+s";
    out->name = "";
    out->n_children = t->columns;
    out->children = (struct ArrowSchema **)number_alloc((size_t)t->columns * sizeof(void *));
    out->release = number_schema_release;
    for (int64_t i = 0; i < t->columns; i++) {
        struct ArrowSchema *field = (struct ArrowSchema *)number_alloc(sizeof *field);
        char *name = (char *)number_alloc(16);
        snprintf(name, 16, "c%d", (int)i);
        field->format = "l";
        field->name = name;
        field->private_data = name;
        field->release = number_field_release;
        out->children[i] = field;
    }
    return 0;
}

static inline void number_array_release(struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->n_children; i++) {
        free((void *)(uintptr_t)a->children[i]->buffers[1]);
        free((void *)(uintptr_t)a->children[i]->buffers);
        free(a->children[i]);
    }
    free(a->children);
    free((void *)(uintptr_t)a->buffers);
    a->release = NULL;
}

static inline void number_column_release(struct ArrowArray *a)
{
    a->release = NULL;
}

static inline struct ArrowArray *number_column(int64_t first, int64_t rows, int64_t column)
{
    struct ArrowArray *a = (struct ArrowArray *)number_alloc(sizeof *a);
    int64_t *values = (int64_t *)number_alloc((size_t)rows * sizeof *values);
    for (int64_t i = 0; i < rows; i++)
        values[i] = number_at(first + i, column);
    a->length = rows;
    a->n_buffers = 2;
    a->buffers = (const void **)number_alloc(2 * sizeof(void *));
    a->buffers[1] = values;
    a->release = number_column_release;
    return a;
}

static inline int number_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    number_table *t = (number_table *)stream->private_data;
    int64_t left = t->rows - t->next;
    memset(out, 0, sizeof *out);
    if (left == 0)
        return 0;
    out->length = left < t->batch_rows ? left : t->batch_rows;
    out->n_buffers = 1;
    out->buffers = (const void **)number_alloc(sizeof(void *));
    out->n_children = t->columns;
    out->children = (struct ArrowArray **)number_alloc((size_t)t->columns * sizeof(void *));
    out->release = number_array_release;
    for (int64_t i = 0; i < t->columns; i++)
        out->children[i] = number_column(t->next, out->length, i);
    t->next += out->length;
    return 0;
}

static inline const char *number_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return NULL;
}

static inline void number_release(struct ArrowArrayStream *stream)
{
    free(stream->private_data);
    stream->release = NULL;
}

static inline void number_open(int64_t rows, int64_t columns, int64_t batch_rows,
                               struct ArrowArrayStream *out)
{
    number_table *t = (number_table *)number_alloc(sizeof *t);
    *t = (number_table){rows, columns, batch_rows, 0};
    *out = (struct ArrowArrayStream){number_schema, number_next, number_error, number_release, t};
}

/* How many values of a struct array are not those of the rows and columns that are told. */
static inline int64_t number_wrong(const struct ArrowArray *a, const uint64_t *rows,
                                   const int64_t *columns)
{
    int64_t wrong = 0;
    for (int64_t c = 0; c < a->n_children; c++) {
        const int64_t *values = (const int64_t *)a->children[c]->buffers[1];
        for (int64_t i = 0; i < a->length; i++)
            wrong += values[a->offset + a->children[c]->offset + i] !=
                     number_at((int64_t)rows[i], columns != NULL ? columns[c] : c);
    }
    return wrong;
}

#endif
