/* SPDX-License-Identifier: MIT */
#include "cli/card_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ald/schema.h"
#include "card/card_check.h"
#include "card/card_readme.h"
#include "card/card_value.h"
#include "cli/ald_facts.h"
#include "cli/escape.h"
#include "cli/table_print.h"

static const struct {
    const char *name, *key;
} docs[] = {{"description", ALD_COLUMN_DOC_DESCRIPTION},
            {"dtype", ALD_COLUMN_DOC_DTYPE},
            {"values", ALD_COLUMN_DOC_VALUES},
            {"missing", ALD_COLUMN_DOC_MISSING}};
#define DOC_COUNT (sizeof(docs) / sizeof(docs[0]))

/* ---- JSON */

static ald_status columns_json(cli_env *env, json_print *j, const struct ArrowSchema *schema,
                               ald_error *err)
{
    ald_buffer type = {NULL, 0, 0, &env->host.alloc};
    ald_status status = ALD_OK;
    json_open(j, "columns", '[');
    for (int64_t i = 0; i < schema->n_children && status == ALD_OK; i++) {
        const struct ArrowSchema *field = schema->children[i];
        type.size = 0;
        status = ald_type_format(field, &type, err);
        json_open(j, NULL, '{');
        json_text(j, "name", field->name != NULL ? field->name : "");
        json_bytes(j, "type", (const char *)type.data, type.size);
        for (size_t k = 0; k < DOC_COUNT; k++) {
            size_t size = 0;
            const char *text = ald_schema_get_metadata(field, docs[k].key, &size);
            if (text != NULL) {
                json_bytes(j, docs[k].name, text, size);
            }
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    ald_buffer_clear(&type);
    return status;
}

static ald_status show_json(cli_env *env, const char *name, const ald_info *info, ald_error *err)
{
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", name);
    json_uint(&j, "num_rows", info->num_rows);
    json_uint(&j, "num_columns", (uint64_t)info->schema->n_children);
    json_uint(&j, "file_size", info->file_size_bytes);
    json_open(&j, "card", '{');
    for (size_t i = 0; i < ald_value_get_count(info->metadata); i++) {
        size_t size = 0;
        const char *key = ald_value_get_key(info->metadata, i, &size);
        if (!card_is_fact(key) && strlen(key) == size) {
            json_value(&j, key, ald_value_get_item(info->metadata, i));
        }
    }
    json_close(&j, '}');
    ald_status status = columns_json(env, &j, info->schema, err);
    json_close(&j, '}');
    json_end(&j);
    return status;
}

/* ---- text */

/* Line by line, each escaped; `indent` blanks before all but the first. */
static void print_lines(const char *text, size_t size, int indent)
{
    char line[2048];
    for (int is_first = 1;; is_first = 0) {
        const char *end = size > 0 ? memchr(text, '\n', size) : NULL;
        size_t part = end != NULL ? (size_t)(end - text) : size;
        size_t kept = part > 0 && text[part - 1] == '\r' ? part - 1 : part;
        if (!is_first && kept > 0) {
            cli_printf("%*s", indent, "");
        }
        for (size_t at = 0; at < kept;) { /* long lines go in pieces, cut between characters */
            size_t piece = kept - at < 256 ? kept - at : 256;
            while (piece > 1 && at + piece < kept &&
                   ((unsigned char)text[at + piece] & 0xC0u) == 0x80) {
                piece--;
            }
            cli_print(line, cli_escape(line, sizeof(line), text + at, piece));
            at += piece;
        }
        cli_print("\n", 1);
        if (end == NULL) {
            return;
        }
        text += part + 1;
        size -= part + 1;
    }
}

static void print_label(const char *key, size_t size)
{
    char name[64];
    size_t used = cli_escape(name, sizeof(name), key, size);
    cli_printf("%-16s%s", name, used < 16 ? "" : " ");
}

static void print_value(const ald_value *value, int indent);

static void print_items(const ald_value *list, int indent)
{
    size_t count = ald_value_get_count(list);
    int is_short = count <= 64;
    for (size_t i = 0; i < count && is_short; i++) { /* words stand in one line */
        size_t size = 0;
        const char *text = card_string(ald_value_get_item(list, i), &size);
        is_short = text != NULL && size <= 40 && memchr(text, ' ', size) == NULL;
    }
    for (size_t i = 0; i < count; i++) {
        size_t size = 0;
        char text[256];
        const char *item = card_string(ald_value_get_item(list, i), &size);
        if (is_short) {
            cli_escape(text, sizeof(text), item, size);
            cli_printf("%s%s", i > 0 ? ", " : "", text);
            continue;
        }
        cli_printf("%*s- ", i > 0 ? indent : 0, "");
        print_value(ald_value_get_item(list, i), indent + 2);
    }
    cli_printf("%s", is_short || count == 0 ? "\n" : "");
}

static void print_entries(const ald_value *map, int indent)
{
    for (size_t i = 0; i < ald_value_get_count(map); i++) {
        size_t size = 0;
        char name[128];
        const char *key = ald_value_get_key(map, i, &size);
        cli_escape(name, sizeof(name), key, size);
        cli_printf("%*s%s: ", i > 0 ? indent : 0, "", name);
        const ald_value *item = ald_value_get_item(map, i);
        if ((card_is_map(item) || card_is_array(item)) && card_count(item) > 0) {
            cli_printf("\n%*s", indent + 2, "");
        }
        print_value(item, indent + 2);
    }
    cli_printf("%s", ald_value_get_count(map) == 0 ? "\n" : "");
}

/* Metadata nest no deeper than 32. */
static void print_value(const ald_value *value, int indent)
{
    size_t size = 0;
    const char *text = ald_value_get_bytes(value, &size);
    switch (ald_value_get_type(value)) {
    case ALD_VALUE_STRING:
        print_lines(text, size, indent);
        break;
    case ALD_VALUE_ARRAY:
        print_items(value, indent);
        break;
    case ALD_VALUE_MAP:
        print_entries(value, indent);
        break;
    case ALD_VALUE_BOOL:
        cli_printf("%s\n", ald_value_get_bool(value) ? "true" : "false");
        break;
    case ALD_VALUE_INT:
        cli_printf("%" PRId64 "\n", ald_value_get_int(value));
        break;
    case ALD_VALUE_UINT:
        cli_printf("%" PRIu64 "\n", ald_value_get_uint(value));
        break;
    case ALD_VALUE_FLOAT:
        cli_printf("%.15g\n", ald_value_get_float(value));
        break;
    case ALD_VALUE_BIN:
    case ALD_VALUE_EXT:
        cli_printf("%zu bytes\n", size);
        break;
    case ALD_VALUE_NIL:
    default:
        cli_printf("null\n");
    }
}

static ald_status print_columns(cli_env *env, const struct ArrowSchema *schema, ald_error *err)
{
    cli_table table;
    ald_buffer type = {NULL, 0, 0, &env->host.alloc};
    static const char *const titles[] = {"column", "type", "description", "values", "missing"};
    ald_status status = ALD_OK;
    memset(&table, 0, sizeof(table));
    for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
        cli_table_column(&table, titles[i], 0);
    }
    for (int64_t i = 0; i < schema->n_children && status == ALD_OK; i++) {
        const struct ArrowSchema *field = schema->children[i];
        type.size = 0;
        status = ald_type_format(field, &type, err);
        cli_table_text(&table, field->name != NULL ? field->name : "");
        cli_table_cell(&table, (const char *)type.data, type.size);
        for (size_t k = 0; k < DOC_COUNT; k++) {
            size_t size = 0;
            const char *text = ald_schema_get_metadata(field, docs[k].key, &size);
            if (k != 1) { /* what somebody calls the type is in the JSON */
                cli_table_cell(&table, text != NULL ? text : "", size);
            }
        }
    }
    if (status == ALD_OK) {
        cli_table_print(&table, isatty(STDOUT_FILENO) ? cli_terminal_width() : 0);
        status = cli_table_check(&table, err);
    }
    cli_table_clear(&table);
    ald_buffer_clear(&type);
    return status;
}

static ald_status show_text(cli_env *env, const char *name, const ald_info *info, ald_error *err)
{
    char text[64];
    size_t size = 0;
    print_label("file", 4);
    print_lines(name, strlen(name), 16);
    cli_printf("%-16s%s\n", "rows", ald_facts_grouped(info->num_rows, text, sizeof(text)));
    for (size_t i = 0; i < ald_value_get_count(info->metadata); i++) {
        const char *key = ald_value_get_key(info->metadata, i, &size);
        if (!card_is_fact(key) && strcmp(key, "description") != 0) {
            print_label(key, size);
            print_value(ald_value_get_item(info->metadata, i), 16);
        }
    }
    const char *description = card_find_string(info->metadata, "description", &size);
    if (size > 0) {
        cli_printf("\n");
        print_lines(description, size - (description[size - 1] == '\n'), 0);
    }
    cli_printf("\n");
    return print_columns(env, info->schema, err);
}

ald_status cli_card_show(cli_env *env, const char *name, const ald_info *info, int json,
                         ald_error *err)
{
    return json ? show_json(env, name, info, err) : show_text(env, name, info, err);
}

/* ---- checks */

typedef struct card_report {
    json_print *json; /* NULL: text */
    size_t counts[3];
} card_report;

static const char *const levels[] = {"wrong", "missing", "advice"};

static void print_finding(void *ctx, card_level level, const char *key, const char *text)
{
    char line[1024];
    card_report *report = ctx;
    report->counts[level]++;
    if (report->json != NULL) {
        json_open(report->json, NULL, '{');
        json_text(report->json, "level", levels[level]);
        json_text(report->json, "key", key);
        json_text(report->json, "text", text);
        json_close(report->json, '}');
        return;
    }
    cli_escape(line, sizeof(line), text, strlen(text));
    cli_printf("%-8s  %-16s  %s\n", levels[level], key, line);
}

void cli_card_check(const char *name, const ald_info *info, int json, int *failed)
{
    json_print j = {0};
    const card_facts facts = {info->num_rows, info->schema};
    card_report report = {json ? &j : NULL, {0, 0, 0}};
    if (json) {
        json_open(&j, NULL, '{');
        json_text(&j, "file", name);
        json_open(&j, "findings", '[');
    }
    card_check(info->metadata, &facts, print_finding, &report);
    *failed = report.counts[CARD_WRONG] + report.counts[CARD_MISSING] > 0;
    if (json) {
        json_close(&j, ']');
        json_bool(&j, "ok", !*failed);
        json_close(&j, '}');
        json_end(&j);
        return;
    }
    cli_printf("%zu wrong, %zu missing, %zu to improve\n", report.counts[CARD_WRONG],
               report.counts[CARD_MISSING], report.counts[CARD_ADVICE]);
}
