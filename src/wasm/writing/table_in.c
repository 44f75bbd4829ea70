/* SPDX-License-Identifier: MIT */
/* A table made of buffers that the other side filled: one batch of flat columns. */
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "ald/text.h"
#include "wasm/glue.h"

#define BUFFERS_MAX 3

typedef struct table_array {
    struct ArrowArray array;
    const void *buffers[BUFFERS_MAX];
    struct ArrowArray **children;
    size_t child_count; /* room in `children` */
} table_array;

/* The struct itself lies in its private part, and goes with it. */
static void table_array_release(struct ArrowArray *array)
{
    table_array *t = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
    }
    for (size_t i = 0; i < BUFFERS_MAX; i++)
        free((void *)(uintptr_t)t->buffers[i]);
    free(t->children);
    array->release = NULL;
    free(t);
}

static table_array *table_array_new(double length, int64_t buffer_count)
{
    table_array *t = calloc(1, sizeof *t);
    if (t == NULL)
        return NULL;
    t->array.length = (int64_t)length;
    t->array.n_buffers = buffer_count;
    t->array.buffers = t->buffers;
    t->array.release = table_array_release;
    t->array.private_data = t;
    return t;
}

struct ArrowArray *ald_wasm_table_new(uint32_t column_count, double row_count)
{
    table_array *t = table_array_new(row_count, 1);
    if (t == NULL)
        return NULL;
    t->children = calloc(column_count + 1, sizeof t->children[0]);
    t->child_count = column_count;
    t->array.children = t->children;
    if (t->children == NULL) {
        free(t);
        return NULL;
    }
    return &t->array;
}

ald_status ald_wasm_table_column(struct ArrowArray *table, double null_count, void *validity,
                                 void *first, void *second)
{
    table_array *t = table->private_data, *column = NULL;
    if ((size_t)table->n_children < t->child_count)
        column = table_array_new((double)table->length, second != NULL ? 3 : 2);
    if (column == NULL) {
        free(validity);
        free(first);
        free(second);
        return ald_wasm_no_memory();
    }
    column->array.null_count = (int64_t)null_count;
    column->buffers[0] = validity;
    column->buffers[1] = first;
    column->buffers[2] = second;
    t->children[table->n_children++] = &column->array;
    return ALD_OK;
}

void ald_wasm_table_free(struct ArrowArray *table)
{
    table->release(table);
}

ald_status ald_wasm_table_stream(struct ArrowArray *table, const char *schema_json, size_t size,
                                 struct ArrowArrayStream *out)
{
    struct ArrowSchema schema = {.release = NULL};
    struct ArrowArray batch = *table; /* moved: its private part stays where it is */
    ald_status st =
        ald_schema_from_json(schema_json, size, ald_wasm_host(), &schema, ald_wasm_error());
    if (st != ALD_OK) {
        batch.release(&batch);
        return st;
    }
    return ald_stream_from_batches(&schema, &batch, 1, ald_wasm_host(), out, ald_wasm_error());
}
