/* SPDX-License-Identifier: MIT */
/* What was found, kept in little room, and printed: for people first what kind of difference there is, then examples. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "cli/ald_facts.h"
#include "cli/diff.h"
#include "cli/escape.h"
#include "cli/json_print.h"
#include "cli/table_print.h"

#define VALUE_SHOWN 60 /* bytes of a value in the table */

/* ---- examples */

void diff_example_clear(diff_example *example)
{
    free(example->key);
    free(example->values[0]);
    free(example->values[1]);
    memset(example, 0, sizeof(*example));
}

static void clear_examples(diff_examples *examples)
{
    for (size_t i = 0; i < examples->count; i++) {
        diff_example_clear(&examples->items[i]);
    }
    free(examples->items);
}

void diff_clear(diff_run *run)
{
    for (size_t i = 0; i < run->finding_count; i++) {
        free(run->findings[i].column);
        free(run->findings[i].name);
        free(run->findings[i].before);
        free(run->findings[i].after);
    }
    for (size_t i = 0; i < run->column_count; i++) {
        clear_examples(&run->columns[i].examples);
    }
    for (int k = 0; k < 2; k++) {
        clear_examples(&run->only_rows[k]);
        if (run->schemas[k].release != NULL) {
            run->schemas[k].release(&run->schemas[k]);
        }
        if (run->streams[k].release != NULL) {
            run->streams[k].release(&run->streams[k]);
        }
    }
    free(run->findings);
    free(run->columns);
    free(run->keys);
}

int diff_wants(const diff_run *run, const diff_examples *examples, uint64_t row)
{
    return examples->count < run->limit ||
           (run->limit > 0 && row < examples->items[examples->count - 1].rows[0]);
}

ald_status diff_keep(const diff_run *run, diff_examples *examples, const diff_example *example,
                     ald_error *err)
{
    diff_example kept = *example;
    if (!diff_wants(run, examples, kept.rows[0])) {
        diff_example_clear(&kept);
        return ALD_OK;
    }
    if (examples->count == run->limit) {
        diff_example_clear(&examples->items[--examples->count]);
    }
    if ((examples->count & (examples->count - 1)) == 0) { /* full, or nothing yet */
        size_t room = examples->count == 0 ? 1 : 2 * examples->count;
        diff_example *items = realloc(examples->items, room * sizeof(*items));
        if (items == NULL) {
            diff_example_clear(&kept);
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for examples");
        }
        examples->items = items;
    }
    size_t at = examples->count++;
    for (; at > 0 && examples->items[at - 1].rows[0] > kept.rows[0]; at--) {
        examples->items[at] = examples->items[at - 1];
    }
    examples->items[at] = kept;
    return ALD_OK;
}

static ald_status text_of(const diff_run *run, const diff_column *column, const diff_cell *cell,
                          char **out, size_t *size, ald_error *err)
{
    ald_buffer text = {NULL, 0, 0, &run->env->host.alloc};
    if (cell->tag == DIFF_NULL) {
        return ALD_OK;
    }
    ald_status status = diff_text(column, cell, &text, err);
    if (status == ALD_OK) {
        *out = malloc(text.size + 1);
        if (*out == NULL) {
            status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for examples");
        } else {
            memcpy(*out, text.data != NULL ? (const char *)text.data : "", text.size);
            (*out)[text.size] = '\0';
            *size = text.size;
        }
    }
    ald_buffer_clear(&text);
    return status;
}

ald_status diff_keep_pair(diff_run *run, diff_column *column, const diff_example *where,
                          const diff_cell *a, const diff_cell *b, ald_error *err)
{
    diff_example example = *where;
    ald_status status = ALD_OK;
    if (!diff_wants(run, &column->examples, example.rows[0])) {
        diff_example_clear(&example);
        return ALD_OK;
    }
    status = text_of(run, column, a, &example.values[0], &example.sizes[0], err);
    if (status == ALD_OK) {
        status = text_of(run, column, b, &example.values[1], &example.sizes[1], err);
    }
    if (status != ALD_OK) {
        diff_example_clear(&example);
        return status;
    }
    return diff_keep(run, &column->examples, &example, err);
}

int diff_key_next(const diff_example *example, size_t *at, const char **text, size_t *size)
{
    uint32_t length;
    if (*at == example->key_size) {
        return 0;
    }
    memcpy(&length, example->key + *at, sizeof(length));
    *text = (const char *)example->key + *at + sizeof(length);
    *size = length;
    *at += sizeof(length) + length;
    return 1;
}

int diff_is_same(const diff_run *run)
{
    return run->finding_count == 0 && run->changed_rows == 0 && run->only[0] == 0 &&
           run->only[1] == 0;
}

/* ---- for people */

static const char *grouped(uint64_t value)
{
    static char text[4][32];
    static unsigned turn;
    turn = (turn + 1) % 4;
    return ald_facts_grouped(value, text[turn], sizeof(text[turn]));
}

/* Escaped text, cut. */
static void print_text(const char *text, size_t size)
{
    char shown[4 * VALUE_SHOWN + 8];
    size_t cut = size > VALUE_SHOWN ? VALUE_SHOWN : size;
    while (cut < size && cut > 0 && ((unsigned char)text[cut] & 0xC0U) == 0x80) {
        cut--;
    }
    size_t used = cli_escape(shown, sizeof(shown), text, cut);
    cli_print(shown, used);
    if (cut < size) {
        cli_print("…", strlen("…"));
    }
}

static void print_finding(const diff_finding *f)
{
    char column[160], name[160], before[400], after[400];
    (void)cli_escape(column, sizeof(column), f->column != NULL ? f->column : "",
                     f->column != NULL ? strlen(f->column) : 0);
    (void)cli_escape(name, sizeof(name), f->name != NULL ? f->name : "",
                     f->name != NULL ? strlen(f->name) : 0);
    (void)cli_escape(before, sizeof(before), f->before != NULL ? f->before : "",
                     f->before != NULL ? strlen(f->before) : 0);
    (void)cli_escape(after, sizeof(after), f->after != NULL ? f->after : "",
                     f->after != NULL ? strlen(f->after) : 0);
    if (strcmp(f->kind, "added") == 0) {
        cli_printf("  + %s: %s\n", column, after);
    } else if (strcmp(f->kind, "removed") == 0) {
        cli_printf("  - %s: %s\n", column, before);
    } else if (strcmp(f->kind, "order") == 0) {
        cli_printf("  ~ order: %s\n        -> %s\n", before, after);
    } else if (strcmp(f->kind, "metadata") == 0) {
        cli_printf("  ~ %s%smetadata %s: %s -> %s\n", column, f->column != NULL ? ": " : "", name,
                   f->before != NULL ? before : "none", f->after != NULL ? after : "none");
    } else {
        cli_printf("  ~ %s: %s -> %s\n", column, before, after);
    }
}

static void print_only(const diff_run *run, int side)
{
    char name[400];
    const diff_examples *rows = &run->only_rows[side];
    (void)cli_escape(name, sizeof(name), run->names[side], strlen(run->names[side]));
    if (run->only[side] == 0) {
        return;
    }
    cli_printf("  %c %s only in %s", side == 0 ? '-' : '+', grouped(run->only[side]), name);
    if (run->key_count == 0) {
        cli_printf(", from row %s on", grouped(run->rows[side] - run->only[side]));
    }
    cli_print("\n", 1);
    for (size_t i = 0; i < rows->count; i++) {
        const char *text = NULL;
        size_t at = 0, size = 0;
        cli_print("      ", 6);
        for (int n = 0; diff_key_next(&rows->items[i], &at, &text, &size); n++) {
            cli_print(", ", n > 0 ? 2 : 0);
            print_text(text, size);
        }
        cli_print("\n", 1);
    }
    if (rows->count > 0 && rows->count < run->only[side]) {
        cli_print("      …\n", strlen("      …\n"));
    }
}

static void print_rows(const diff_run *run)
{
    uint64_t compared = run->rows[0] - run->only[0];
    cli_printf("Rows: %s and %s", grouped(run->rows[0]), grouped(run->rows[1]));
    for (size_t i = 0; i < run->key_count; i++) {
        cli_print(i == 0 ? ", by " : ", ", i == 0 ? 5 : 2);
        print_text(run->columns[run->keys[i]].name, strlen(run->columns[run->keys[i]].name));
    }
    cli_print("\n", 1);
    print_only(run, 0);
    print_only(run, 1);
    if (run->changed_rows > 0) {
        cli_printf("  ~ %s of %s changed\n", grouped(run->changed_rows), grouped(compared));
        if (run->key_count == 0 && compared > 1 && run->changed_rows > compared / 2) {
            cli_note(run->env, "where rows were moved or put in between, --key finds them again");
        }
    } else if (run->only[0] == 0 && run->only[1] == 0) {
        cli_printf(run->column_count > 0 ? "  all the same\n" : "  no column to compare\n");
    }
}

/* A value, cut. */
static void text_cell(cli_table *table, const char *value, size_t size)
{
    char text[VALUE_SHOWN + 8];
    size_t cut = size > VALUE_SHOWN ? VALUE_SHOWN : size;
    while (cut < size && cut > 0 && ((unsigned char)value[cut] & 0xC0U) == 0x80) {
        cut--;
    }
    memcpy(text, value, cut);
    if (cut < size) {
        memcpy(text + cut, "…", strlen("…"));
        cut += strlen("…");
    }
    cli_table_cell(table, cut > 0 ? text : "\"\"", cut > 0 ? cut : 2);
}

static void value_cell(cli_table *table, const diff_example *e, int side)
{
    if (e->values[side] == NULL) {
        cli_table_text(table, "null");
    } else {
        text_cell(table, e->values[side], e->sizes[side]);
    }
}

/* Where an example is: its key, or its row. */
static void place_cells(cli_table *table, const diff_run *run, const diff_example *e)
{
    const char *text = NULL;
    size_t at = 0, size = 0;
    if (run->key_count == 0) {
        cli_table_text(table, grouped(e->rows[0]));
    }
    while (diff_key_next(e, &at, &text, &size)) {
        text_cell(table, text, size);
    }
}

static void print_column(const diff_run *run, const diff_column *column)
{
    cli_table table;
    memset(&table, 0, sizeof(table));
    cli_print("\n", 1);
    print_text(column->name, strlen(column->name));
    cli_printf(": %s changed\n", grouped(column->changed));
    for (size_t i = 0; i < run->key_count; i++) {
        cli_table_column(&table, run->columns[run->keys[i]].name, 0);
    }
    if (run->key_count == 0) {
        cli_table_column(&table, "row", 1);
    }
    cli_table_column(&table, run->names[0], 0);
    cli_table_column(&table, run->names[1], 0);
    for (size_t i = 0; i < column->examples.count; i++) {
        const diff_example *e = &column->examples.items[i];
        place_cells(&table, run, e);
        value_cell(&table, e, 0);
        value_cell(&table, e, 1);
    }
    if (column->examples.count > 0) {
        cli_table_print(&table, 0);
    }
    if (column->examples.count < column->changed && column->examples.count > 0) {
        cli_printf("… %s more\n", grouped(column->changed - column->examples.count));
    }
    cli_table_clear(&table);
}

void diff_print(const diff_run *run)
{
    if (diff_is_same(run)) {
        cli_printf("no differences: %s row%s, %zu column%s\n", grouped(run->rows[0]),
                   run->rows[0] == 1 ? "" : "s", run->column_count,
                   run->column_count == 1 ? "" : "s");
        return;
    }
    if (run->finding_count > 0) {
        cli_printf("Columns:\n");
    }
    for (size_t i = 0; i < run->finding_count; i++) {
        print_finding(&run->findings[i]);
    }
    print_rows(run);
    for (size_t i = 0; i < run->column_count; i++) {
        if (run->columns[i].changed > 0) {
            print_column(run, &run->columns[i]);
        }
    }
}

/* ---- JSON */

static void key_json(json_print *j, const diff_example *e)
{
    const char *text = NULL;
    size_t at = 0, size = 0;
    if (e->key == NULL) {
        return;
    }
    json_open(j, "key", '[');
    while (diff_key_next(e, &at, &text, &size)) {
        json_bytes(j, NULL, text, size);
    }
    json_close(j, ']');
}

static void examples_json(json_print *j, const diff_run *run, const diff_examples *examples,
                          int with_values, int side)
{
    for (size_t i = 0; i < examples->count; i++) {
        const diff_example *e = &examples->items[i];
        json_open(j, NULL, '{');
        if (with_values && run->key_count > 0) {
            json_uint(j, "a_row", e->rows[0]);
            json_uint(j, "b_row", e->rows[1]);
        } else {
            json_uint(j, "row", e->rows[side]);
        }
        key_json(j, e);
        for (int k = 0; with_values && k < 2; k++) {
            const char *name = k == 0 ? "a" : "b";
            if (e->values[k] == NULL) {
                json_null(j, name);
            } else {
                json_bytes(j, name, e->values[k], e->sizes[k]);
            }
        }
        json_close(j, '}');
    }
}

static void findings_json(json_print *j, const diff_run *run)
{
    json_open(j, "schema", '[');
    for (size_t i = 0; i < run->finding_count; i++) {
        const diff_finding *f = &run->findings[i];
        json_open(j, NULL, '{');
        json_text(j, "kind", f->kind);
        json_text(j, "column", f->column);
        if (f->name != NULL) {
            json_text(j, "key", f->name);
        }
        json_text(j, "a", f->before);
        json_text(j, "b", f->after);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void rows_json(json_print *j, const diff_run *run)
{
    static const char *const names[] = {"removed", "added"};
    json_open(j, "rows", '{');
    json_uint(j, "a", run->rows[0]);
    json_uint(j, "b", run->rows[1]);
    json_uint(j, "changed", run->changed_rows);
    json_uint(j, "removed", run->only[0]);
    json_uint(j, "added", run->only[1]);
    json_close(j, '}');
    for (int k = 0; run->key_count > 0 && k < 2; k++) {
        json_open(j, names[k], '[');
        examples_json(j, run, &run->only_rows[k], 0, 0);
        json_close(j, ']');
    }
}

void diff_print_json(const diff_run *run)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "a", run->names[0]);
    json_text(&j, "b", run->names[1]);
    json_bool(&j, "same", diff_is_same(run));
    findings_json(&j, run);
    rows_json(&j, run);
    json_open(&j, "columns", '[');
    for (size_t i = 0; i < run->column_count; i++) {
        const diff_column *column = &run->columns[i];
        if (column->changed == 0) {
            continue;
        }
        json_open(&j, NULL, '{');
        json_text(&j, "name", column->name);
        json_uint(&j, "changed", column->changed);
        json_open(&j, "examples", '[');
        examples_json(&j, run, &column->examples, 1, 0);
        json_close(&j, ']');
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    json_end(&j);
}
