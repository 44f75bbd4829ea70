/* SPDX-License-Identifier: MIT */
/* Rows matched by their key. Both tables are cut into parts by the hash of the key, and each part is sorted and merged in
 * memory; a part that is too large is cut again. So memory is bounded, whatever the size of the tables and the order of their
 * rows: but for rows of one key, which are an error. The hash begins with a random number, so that nobody can make files whose
 * keys all fall into one part. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/diff.h"
#include "cli/diff_spool.h"
#include "cli/escape.h"

#define JOIN_BYTES ((uint64_t)64 << 20) /* of both tables in memory at a time */
#define KEY_SHOWN 4096u
#define MOST_LEVELS 10 /* as often as 64 bits of hash can be cut */

typedef struct joiner {
    diff_run *run;
    uint64_t seed;
    ald_buffer record, scratch;
} joiner;

/* A row of a part in memory. */
typedef struct sorted_row {
    const uint8_t *at;
    uint64_t hash, key_size, row;
} sorted_row;

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare rows");
}

/* ---- cells as bytes: tag, then eight bytes of a number, or size and data */

static ald_status append(ald_buffer *out, const void *data, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    return size == 0 ? ALD_OK : sink.write(sink.ctx, data, size, err);
}

static ald_status append_cell(ald_buffer *out, const diff_cell *cell, ald_error *err)
{
    uint8_t head[9] = {(uint8_t)cell->tag};
    uint64_t number = cell->tag == DIFF_DATA ? cell->size : cell->bits;
    memcpy(head + 1, &number, sizeof(number));
    ald_status status = append(out, head, cell->tag == DIFF_NULL ? 1 : sizeof(head), err);
    return status == ALD_OK && cell->tag == DIFF_DATA ? append(out, cell->data, cell->size, err)
                                                      : status;
}

static const uint8_t *take_cell(const uint8_t *at, diff_cell *out)
{
    memset(out, 0, sizeof(*out));
    out->tag = (diff_tag)*at++;
    if (out->tag == DIFF_NULL) {
        return at;
    }
    memcpy(&out->bits, at, sizeof(out->bits));
    at += sizeof(out->bits);
    if (out->tag == DIFF_DATA) {
        out->data = at;
        out->size = (size_t)out->bits;
        at += out->size;
    }
    return at;
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ (h >> 32);
}

static uint64_t hash_key(uint64_t seed, const uint8_t *key, size_t size)
{
    uint64_t h = seed;
    size_t at = 0;
    for (; at + 8 <= size; at += 8) {
        uint64_t word;
        memcpy(&word, key + at, sizeof(word));
        h = mix(h ^ word) + seed;
    }
    for (; at < size; at++) {
        h = mix(h ^ key[at]) + seed;
    }
    return mix(h ^ size);
}

/* ---- from batches to parts */

static ald_status add_cells(joiner *j, const ald__view *view, int side, int64_t row, int keys,
                            ald_error *err)
{
    diff_run *run = j->run;
    size_t count = keys ? run->key_count : run->column_count;
    for (size_t i = 0; i < count; i++) {
        const diff_column *column = &run->columns[keys ? run->keys[i] : i];
        diff_cell cell;
        if (!keys && column->is_key) {
            continue;
        }
        ald_status status = diff_load(column, view->children + column->at[side], row + view->offset,
                                      &j->scratch, &cell, err);
        if (status == ALD_OK) {
            if (keys) {
                diff_normalise_key(&cell);
            }
            status = append_cell(&j->record, &cell, err);
        }
        if (status != ALD_OK) {
            return status;
        }
    }
    return ALD_OK;
}

static ald_status add_row(joiner *j, const ald__view *view, int side, int64_t row,
                          diff_spool *spool, ald_error *err)
{
    diff_record head = {0, j->run->rows[side]++, 0, 0};
    j->record.size = 0;
    ald_status status = append(&j->record, &head, sizeof(head), err);
    if (status == ALD_OK) {
        status = add_cells(j, view, side, row, 1, err);
    }
    head.key_size = j->record.size - sizeof(head);
    if (status == ALD_OK) {
        head.hash = hash_key(j->seed, j->record.data + sizeof(head), (size_t)head.key_size);
        status = add_cells(j, view, side, row, 0, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    head.size = j->record.size;
    memcpy(j->record.data, &head, sizeof(head));
    return diff_spool_add(spool, (const diff_record *)(const void *)j->record.data, err);
}

static ald_status add_batches(joiner *j, int side, ald__view *view, diff_spool *spool,
                              ald_error *err)
{
    for (;;) {
        struct ArrowArray batch;
        memset(&batch, 0, sizeof(batch));
        j->run->env->subject = j->run->names[side];
        ald_status status = ald_stream_next(&j->run->streams[side], &batch, err);
        if (status != ALD_OK || batch.release == NULL) {
            return status;
        }
        status = ald__view_bind(view, &batch, err);
        j->run->env->subject = NULL;
        for (int64_t row = 0; status == ALD_OK && row < batch.length; row++) {
            status = add_row(j, view, side, row, spool, err);
        }
        batch.release(&batch);
        cli_progress_update(&j->run->progress, j->run->rows[0] + j->run->rows[1], 0);
        if (status != ALD_OK) {
            return status;
        }
    }
}

static ald_status add_table(joiner *j, int side, diff_spool *spool, ald_error *err)
{
    ald__view view;
    const ald_allocator *alloc = &j->run->env->host.alloc;
    ald_status status = ald__view_init(&view, &j->run->schemas[side], alloc, err);
    if (status == ALD_OK) {
        status = add_batches(j, side, &view, spool, err);
        ald__view_clear(&view, alloc);
    }
    return status;
}

/* ---- a part of both tables */

static int compare_keys(const sorted_row *x, const sorted_row *y)
{
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    if (x->key_size != y->key_size) {
        return x->key_size < y->key_size ? -1 : 1;
    }
    return memcmp(x->at + sizeof(diff_record), y->at + sizeof(diff_record), (size_t)x->key_size);
}

static int compare_rows(const void *a, const void *b)
{
    const sorted_row *x = a, *y = b;
    int order = compare_keys(x, y);
    return order != 0 ? order : (x->row > y->row) - (x->row < y->row);
}

static ald_status sort_rows(const ald_buffer *part, sorted_row **out, size_t *count, ald_error *err)
{
    diff_record record;
    size_t n = 0;
    for (size_t at = 0; at < part->size; at += (size_t)record.size, n++) {
        memcpy(&record, part->data + at, sizeof(record));
    }
    sorted_row *rows = malloc((n + 1) * sizeof(*rows));
    if (rows == NULL) {
        return no_memory(err);
    }
    n = 0;
    for (size_t at = 0; at < part->size; at += (size_t)record.size) {
        memcpy(&record, part->data + at, sizeof(record));
        rows[n++] = (sorted_row){part->data + at, record.hash, record.key_size, record.row};
    }
    qsort(rows, n, sizeof(*rows), compare_rows);
    *out = rows;
    *count = n;
    return ALD_OK;
}

/* The texts of a row's key, for an example. */
static ald_status key_texts(const joiner *j, const sorted_row *row, diff_example *out,
                            ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &j->run->env->host.alloc};
    const uint8_t *at = row->at + sizeof(diff_record);
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < j->run->key_count; i++) {
        size_t begin = text.size;
        uint32_t size = 0;
        diff_cell cell;
        at = take_cell(at, &cell);
        status = append(&text, &size, sizeof(size), err);
        if (status == ALD_OK) {
            status = diff_text(&j->run->columns[j->run->keys[i]], &cell, &text, err);
        }
        if (status == ALD_OK) {
            size_t length = text.size - begin - sizeof(size);
            size = length > KEY_SHOWN ? KEY_SHOWN : (uint32_t)length;
            text.size = begin + sizeof(size) + size;
            memcpy(text.data + begin, &size, sizeof(size));
        }
    }
    if (status == ALD_OK) {
        out->key = malloc(text.size + 1);
        status = out->key != NULL ? ALD_OK : no_memory(err);
    }
    if (status == ALD_OK) {
        memcpy(out->key, text.data, text.size);
        out->key_size = text.size;
    }
    ald_buffer_clear(&text);
    return status;
}

/* "17", or "17, Berlin", escaped and cut. */
static ald_status key_line(const joiner *j, const sorted_row *row, char *out, size_t room,
                           ald_error *err)
{
    diff_example example = {.key = NULL};
    const char *text = NULL;
    size_t at = 0, size = 0, used = 0;
    ald_status status = key_texts(j, row, &example, err);
    out[0] = '\0';
    while (status == ALD_OK && used + 3 < room && diff_key_next(&example, &at, &text, &size)) {
        if (used > 0) {
            memcpy(out + used, ", ", 3);
            used += 2;
        }
        used += cli_escape(out + used, room - used, text, size);
    }
    diff_example_clear(&example);
    return status;
}

static ald_status check_unique(const joiner *j, int side, const sorted_row *rows, size_t count,
                               ald_error *err)
{
    char shown[100];
    for (size_t i = 1; i < count; i++) {
        if (compare_keys(&rows[i - 1], &rows[i]) != 0) {
            continue;
        }
        ald_status status = key_line(j, &rows[i], shown, sizeof(shown), err);
        if (status != ALD_OK) {
            return status;
        }
        j->run->env->subject = j->run->names[side];
        cli_hint(j->run->env, "name columns with --key that together are different in every row");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "rows %" PRIu64 " and %" PRIu64 " have the same key: %s",
                             rows[i - 1].row, rows[i].row, shown);
    }
    return ALD_OK;
}

static ald_status note_only(joiner *j, int side, const sorted_row *row, ald_error *err)
{
    diff_run *run = j->run;
    diff_example example = {.rows = {row->row, row->row}};
    run->only[side]++;
    if (!diff_wants(run, &run->only_rows[side], row->row)) {
        return ALD_OK;
    }
    ald_status status = key_texts(j, row, &example, err);
    return status == ALD_OK ? diff_keep(run, &run->only_rows[side], &example, err) : status;
}

static ald_status compare_values(joiner *j, const sorted_row *a, const sorted_row *b,
                                 ald_error *err)
{
    diff_run *run = j->run;
    const uint8_t *x = a->at + sizeof(diff_record) + a->key_size;
    const uint8_t *y = b->at + sizeof(diff_record) + b->key_size;
    int changed = 0;
    for (size_t i = 0; i < run->column_count; i++) {
        diff_column *column = &run->columns[i];
        diff_cell cells[2];
        if (column->is_key) {
            continue;
        }
        x = take_cell(x, &cells[0]);
        y = take_cell(y, &cells[1]);
        if (diff_same(run, column, &cells[0], &cells[1])) {
            continue;
        }
        changed = 1;
        column->changed++;
        diff_example where = {.rows = {a->row, b->row}};
        ald_status status =
            diff_wants(run, &column->examples, a->row) ? key_texts(j, a, &where, err) : ALD_OK;
        if (status == ALD_OK) {
            status = diff_keep_pair(run, column, &where, &cells[0], &cells[1], err);
        }
        if (status != ALD_OK) {
            return status;
        }
    }
    run->changed_rows += (uint64_t)changed;
    return ALD_OK;
}

static ald_status merge(joiner *j, sorted_row *const rows[2], const size_t counts[2],
                        ald_error *err)
{
    size_t i = 0, k = 0;
    ald_status status = check_unique(j, 0, rows[0], counts[0], err);
    if (status == ALD_OK) {
        status = check_unique(j, 1, rows[1], counts[1], err);
    }
    while (status == ALD_OK && (i < counts[0] || k < counts[1])) {
        int order = i == counts[0]   ? 1
                    : k == counts[1] ? -1
                                     : compare_keys(&rows[0][i], &rows[1][k]);
        if (order == 0) {
            status = compare_values(j, &rows[0][i++], &rows[1][k++], err);
        } else {
            status = order < 0 ? note_only(j, 0, &rows[0][i++], err)
                               : note_only(j, 1, &rows[1][k++], err);
        }
    }
    return status;
}

static ald_status join_part(joiner *j, diff_spool spools[2], unsigned part, ald_error *err)
{
    ald_buffer data[2] = {{0}};
    sorted_row *rows[2] = {NULL, NULL};
    size_t counts[2] = {0, 0};
    ald_status status = ALD_OK;
    for (int k = 0; status == ALD_OK && k < 2; k++) {
        status = diff_spool_load(&spools[k], part, &data[k], err);
        if (status == ALD_OK) {
            status = sort_rows(&data[k], &rows[k], &counts[k], err);
        }
    }
    if (status == ALD_OK) {
        status = merge(j, rows, counts, err);
    }
    for (int k = 0; k < 2; k++) {
        free(rows[k]);
        if (data[k].alloc != NULL) {
            ald_buffer_clear(&data[k]);
        }
    }
    return status;
}

static ald_status join_parts(joiner *j, diff_spool spools[2], ald_error *err);

/* The recursion ends when the hash's bits do. */
static ald_status join_again(joiner *j, diff_spool spools[2], unsigned part, ald_error *err)
{
    unsigned level = spools[0].level + 1;
    diff_spool *parted = malloc(2 * sizeof(*parted));
    if (parted == NULL) {
        return no_memory(err);
    }
    ald_status status = ALD_OK;
    for (int k = 0; k < 2; k++) {
        diff_spool_init(&parted[k], spools[k].host, level);
    }
    for (int k = 0; status == ALD_OK && k < 2; k++) {
        status = diff_spool_split(&spools[k], part, &parted[k], err);
    }
    if (status == ALD_OK) {
        status = join_parts(j, parted, err);
    }
    for (int k = 0; k < 2; k++) {
        diff_spool_clear(&parted[k]);
    }
    free(parted);
    return status;
}

static ald_status join_parts(joiner *j, diff_spool spools[2], ald_error *err)
{
    ald_status status = ALD_OK;
    for (unsigned part = 0; status == ALD_OK && part < DIFF_PARTS; part++) {
        uint64_t bytes = spools[0].parts[part].bytes + spools[1].parts[part].bytes;
        int again = bytes > JOIN_BYTES && spools[0].level < MOST_LEVELS;
        status = again ? join_again(j, spools, part, err) : join_part(j, spools, part, err);
    }
    return status;
}

ald_status diff_by_key(diff_run *run, ald_error *err)
{
    const ald_host *host = &run->env->host;
    joiner j = {.run = run};
    diff_spool *spools = malloc(2 * sizeof(*spools));
    if (spools == NULL) {
        return no_memory(err);
    }
    j.record.alloc = j.scratch.alloc = &host->alloc;
    for (int k = 0; k < 2; k++) {
        diff_spool_init(&spools[k], host, 0);
    }
    ald_status status = host->random(host->ctx, &j.seed, sizeof(j.seed), err);
    for (int k = 0; status == ALD_OK && k < 2; k++) {
        status = add_table(&j, k, &spools[k], err);
    }
    if (status == ALD_OK) {
        status = join_parts(&j, spools, err);
    }
    for (int k = 0; k < 2; k++) {
        diff_spool_clear(&spools[k]);
    }
    free(spools);
    ald_buffer_clear(&j.record);
    ald_buffer_clear(&j.scratch);
    return status;
}
