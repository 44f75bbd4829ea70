/* SPDX-License-Identifier: MIT */
/* Cells have a fixed size in bytes, so the work on them and its result are the same whatever the number of threads. */
#include "interchange/jsonl/json_input.h"

#include <string.h>

#include "interchange/text/mem.h"

#define SHOWN_BYTES 24 /* of the text at a fault */

static ald_status read_some(const ald__json_input *input, uint64_t offset, void *buf, size_t *size,
                            ald_error *err)
{
    uint64_t left = offset < input->source.size_bytes ? input->source.size_bytes - offset : 0;
    if (*size > left)
        *size = (size_t)left;
    if (*size == 0)
        return ALD_OK;
    return input->source.read_at(input->source.ctx, offset, buf, *size, err);
}

/* Byte order mark, and what the first character says. */
static ald_status look_at_start(ald__json_input *input, ald_error *err)
{
    uint8_t head[64];
    size_t size = 3, i = 0;
    ald_status status = read_some(input, 0, head, &size, err);
    uint64_t at;
    if (status != ALD_OK)
        return status;
    at = size == 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    input->begin = at;
    for (;; i++) {
        if (i == size || at == input->begin) {
            size = sizeof head;
            i = 0;
            status = read_some(input, at, head, &size, err);
            if (status != ALD_OK || size == 0)
                return status;
        }
        at++;
        if (head[i] != ' ' && head[i] != '\t' && head[i] != '\n' && head[i] != '\r')
            break;
    }
    if (head[i] == '[') {
        input->is_array = 1;
        input->begin = at;
    }
    return ALD_OK;
}

/* Where the elements of an array begin. */
static ald_status index_array(ald__json_input *input, ald__json_fault *fault)
{
    ald__json_records records;
    ald__json_record record;
    ald_status status;
    ald__json_records_init(&records, &input->source, &input->host.alloc, input->max_bytes, 1);
    ald__json_records_seek(&records, input->begin);
    for (;;) {
        ald__json_cell *cell;
        status = ald__json_records_next(&records, UINT64_MAX, &record, &fault->error);
        if (status != ALD_OK || !record.data)
            break;
        cell = &input->cells[record.offset / ALD__JSON_CELL_BYTES];
        if (cell->rows++ == 0)
            cell->first = record.offset;
    }
    if (status != ALD_OK) {
        fault->record = fault->error.offset == ALD_NO_OFFSET ? record.offset : fault->error.offset;
        fault->byte = 0;
    }
    ald__json_records_clear(&records);
    return status;
}

ald_status ald__json_input_init(ald__json_input *input, const ald_source *source,
                                const ald_host *host, uint64_t max_bytes, ald__json_fault *fault,
                                ald_error *err)
{
    uint64_t cells = source->size_bytes / ALD__JSON_CELL_BYTES + 1;
    ald_status status;
    memset(input, 0, sizeof *input);
    input->source = *source;
    input->host = *host;
    input->max_bytes = max_bytes;
    if (cells > SIZE_MAX / 2)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "the input is too large");
    input->cells = ald__text_alloc(&host->alloc, (size_t)cells, sizeof *input->cells, err);
    if (!input->cells)
        return ALD_E_NOMEM;
    input->cell_count = (size_t)cells;
    status = look_at_start(input, err);
    if (status == ALD_OK && input->is_array)
        status = index_array(input, fault);
    if (status == ALD_E_INVALID_FORMAT || status == ALD_E_LIMIT_EXCEEDED)
        return ALD_OK;
    if (status != ALD_OK && fault->error.status == (int32_t)status && err)
        *err = fault->error;
    return status;
}

void ald__json_input_clear(ald__json_input *input)
{
    ald__text_free(&input->host.alloc, input->cells, input->cell_count, sizeof *input->cells);
    input->cells = NULL;
    input->cell_count = input->cells_known = 0;
}

uint64_t ald__json_cell_end(const ald__json_input *input, size_t cell)
{
    uint64_t end = ((uint64_t)cell + 1) * ALD__JSON_CELL_BYTES;
    return end < input->source.size_bytes ? end : input->source.size_bytes;
}

ald_status ald__json_input_seek(const ald__json_input *input, size_t cell,
                                ald__json_records *records, ald_error *err)
{
    if (!input->is_array && cell > 0)
        return ald__json_records_find(records, cell * ALD__JSON_CELL_BYTES,
                                      ald__json_cell_end(input, cell), err);
    ald__json_records_seek(records, input->is_array && input->cells[cell].rows
                                        ? input->cells[cell].first
                                        : input->begin);
    return ALD_OK;
}

/* Newlines from `offset` up to `end`. */
static ald_status count_between(const ald__json_input *input, uint64_t offset, uint64_t end,
                                uint64_t *count, ald_error *err)
{
    size_t capacity = (size_t)64 << 10, size;
    uint8_t *buf = ald__text_alloc(&input->host.alloc, 1, capacity, err);
    ald_status status = buf ? ALD_OK : ALD_E_NOMEM;
    while (status == ALD_OK && offset < end) {
        size = end - offset < capacity ? (size_t)(end - offset) : capacity;
        status = read_some(input, offset, buf, &size, err);
        if (status == ALD_OK)
            *count += ald__json_count_newlines(buf, size);
        if (size == 0)
            break;
        offset += size;
    }
    ald__text_free(&input->host.alloc, buf, 1, capacity);
    return status;
}

ald_status ald__json_input_line(const ald__json_input *input, uint64_t offset, uint64_t *line,
                                ald_error *err)
{
    size_t cell = (size_t)(offset / ALD__JSON_CELL_BYTES), i = 0;
    uint64_t from = 0;
    *line = 1;
    if (input->is_array || cell > input->cells_known)
        cell = input->is_array ? 0 : input->cells_known;
    for (; i < cell; i++)
        *line += input->cells[i].lines;
    /* A line that begins with a cell counts for that cell, its newline stands before it. */
    if (cell > 0)
        from = cell * ALD__JSON_CELL_BYTES - 1;
    return count_between(input, from, offset, line, err);
}

/* The input's file name without its folders, and ": "; or nothing. */
static void put_name(const ald__json_input *input, char *out, size_t capacity)
{
    const char *name = input->source.name, *last;
    ald_error cut;
    *out = 0;
    if (!name || !*name)
        return;
    for (last = name; *name; name++) {
        if (*name == '/' && name[1])
            last = name + 1;
    }
    (void)ald_error_set(&cut, ALD_E_OK, 0, "%.40s: ", last);
    memcpy(out, cut.msg, strlen(cut.msg) + 1 < capacity ? strlen(cut.msg) + 1 : capacity);
    out[capacity - 1] = 0;
}

/* `: near '…'`, the input's own text from the fault on. */
static void put_near(const ald__json_input *input, const ald__json_fault *fault, char *out,
                     size_t capacity)
{
    uint8_t text[SHOWN_BYTES];
    size_t size = sizeof text, i = 0;
    ald_error cut;
    *out = 0;
    if (fault->byte == ALD_NO_OFFSET ||
        read_some(input, fault->record + fault->byte, text, &size, NULL) != ALD_OK)
        return;
    while (i < size && text[i] != '\n' && text[i] != '\r')
        i++;
    if (i == 0)
        return;
    (void)ald_error_set(&cut, ALD_E_OK, 0, ": '%.*s'", (int)i, (const char *)text);
    memcpy(out, cut.msg, strlen(cut.msg) + 1 < capacity ? strlen(cut.msg) + 1 : capacity);
    out[capacity - 1] = 0;
}

ald_status ald__json_input_report(const ald__json_input *input, const ald__json_fault *fault,
                                  ald_error *err)
{
    ald_status status = (ald_status)fault->error.status;
    const char *path = fault->path;
    char name[64], near_text[64], byte[32] = "";
    uint64_t line = 0, at;
    ald_error why;
    if (!err)
        return status;
    if (fault->record == ALD_NO_OFFSET || status == ALD_E_NOMEM || status == ALD_E_IO) {
        *err = fault->error;
        return status;
    }
    if (ald__json_input_line(input, fault->record, &line, &why) != ALD_OK) {
        *err = why;
        return (ald_status)why.status;
    }
    put_name(input, name, sizeof name);
    put_near(input, fault, near_text, sizeof near_text);
    while (path < fault->path + sizeof fault->path - 1 && !*path)
        path++;
    if (fault->byte != ALD_NO_OFFSET && fault->byte != 0 && !*path) {
        (void)ald_error_set(&why, ALD_E_OK, 0, ", byte %llu",
                            (unsigned long long)(fault->byte + 1));
        memcpy(byte, why.msg, sizeof byte - 1);
    }
    at = fault->record + (fault->byte == ALD_NO_OFFSET ? 0 : fault->byte);
    if (*fault->hint)
        return ald_error_set(err, status, at, "%sline %llu%s: %s%s%s%s%s\n%s", name,
                             (unsigned long long)line, byte, *path ? "$" : "", path,
                             *path ? ": " : "", fault->error.msg, near_text, fault->hint);
    return ald_error_set(err, status, at, "%sline %llu%s: %s%s%s%s%s", name,
                         (unsigned long long)line, byte, *path ? "$" : "", path, *path ? ": " : "",
                         fault->error.msg, near_text);
}
