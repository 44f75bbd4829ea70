/* SPDX-License-Identifier: MIT */
#include "card/datasheet_columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "card/card_text.h"

#define SHOWN_BYTES 40 /* of a least or greatest value */

typedef struct column_table {
    ald_buffer *out;
    ald_error *err;
    ald_status status; /* the first that failed */
} column_table;

static void put(column_table *t, const char *text)
{
    if (t->status == ALD_OK) {
        t->status = card_text_put(t->out, text, t->err);
    }
}

static void put_plain(column_table *t, const char *text, size_t size)
{
    if (t->status == ALD_OK) {
        t->status = card_text_markdown(t->out, text, size, t->err);
    }
}

/* Cut between characters. */
static void put_cut(column_table *t, const char *text, size_t size)
{
    size_t kept = size;
    if (size > SHOWN_BYTES) {
        for (kept = SHOWN_BYTES; kept > 0 && ((unsigned char)text[kept] & 0xC0u) == 0x80;) {
            kept--;
        }
    }
    put_plain(t, text, kept);
    put(t, kept < size ? "…" : "");
}

static void put_stats(column_table *t, const ald_column_stats *c)
{
    char text[64];
    snprintf(text, sizeof(text), " | %" PRIu64 " | %s%" PRIu64 " | ", c->null_count,
             c->distinct_is_estimate ? "about " : "", c->distinct_count);
    put(t, text);
    if (c->has_range) {
        put_cut(t, c->min, c->min_size);
        put(t, " to ");
        put_cut(t, c->max, c->max_size);
    }
    text[0] = '\0';
    if (c->has_mean) {
        snprintf(text, sizeof(text), "%.6g", c->mean);
    }
    put(t, " | ");
    put(t, text);
}

static void put_docs(column_table *t, const struct ArrowSchema *field)
{
    static const struct {
        const char *key, *before;
    } parts[] = {{ALD_COLUMN_DOC_DESCRIPTION, ""},
                 {ALD_COLUMN_DOC_VALUES, "values: "},
                 {ALD_COLUMN_DOC_MISSING, "missing: "}};
    int count = 0;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        size_t size = 0;
        const char *text = ald_schema_get_metadata(field, parts[i].key, &size);
        if (text != NULL && size > 0) {
            put(t, count++ > 0 ? "; " : "");
            put(t, parts[i].before);
            put_plain(t, text, size);
        }
    }
}

ald_status card_datasheet_columns(const struct ArrowSchema *schema, const ald_stats *stats,
                                  ald_buffer *out, ald_error *err)
{
    column_table t = {out, err, ALD_OK};
    ald_buffer type = {NULL, 0, 0, out->alloc};
    put(&t, stats != NULL ? "| column | type | nulls | distinct | range | mean | meaning |\n"
                            "|---|---|---|---|---|---|---|\n"
                          : "| column | type | meaning |\n|---|---|---|\n");
    for (int64_t i = 0; i < schema->n_children && t.status == ALD_OK; i++) {
        const struct ArrowSchema *field = schema->children[i];
        const char *name = field->name != NULL ? field->name : "";
        put(&t, "| ");
        put_plain(&t, name, strlen(name));
        put(&t, " | ");
        type.size = 0;
        t.status = t.status == ALD_OK ? ald_type_format(field, &type, err) : t.status;
        put_plain(&t, (const char *)type.data, type.size);
        if (stats != NULL && (size_t)i < stats->column_count) {
            put_stats(&t, &stats->columns[i]);
        }
        put(&t, " | ");
        put_docs(&t, field);
        put(&t, " |\n");
    }
    ald_buffer_clear(&type);
    return t.status;
}
