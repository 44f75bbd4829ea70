/* SPDX-License-Identifier: MIT */
/* Values of an array as text, by way of the C data interface alone: what a consumer would see. Integers, true, false and
 * null are themselves, bytes of strings and binaries 'hex', other fixed-width values =hex (as in memory), lists [a b],
 * structs, map entries and unions {a b}: a union shows its type id and its value. */
#ifndef SHOW_ARRAY_H
#define SHOW_ARRAY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/arrow.h"
#include "core/arrow/type.h"

typedef struct show_text {
    char *text; /* NUL-terminated once something was put */
    size_t size, cap;
} show_text;

static inline void show_put(show_text *out, const char *text)
{
    size_t n = strlen(text);
    if (out->size + n + 1 > out->cap) {
        out->cap = 2 * (out->size + n + 1);
        out->text = (char *)realloc(out->text, out->cap);
    }
    memcpy(out->text + out->size, text, n + 1);
    out->size += n;
}

static inline void show_hex(show_text *out, const char *before, const void *data, int64_t size)
{
    const uint8_t *p = (const uint8_t *)data;
    show_put(out, before);
    for (int64_t i = 0; i < size; i++) {
        char digits[3];
        snprintf(digits, sizeof digits, "%02x", p[i]);
        show_put(out, digits);
    }
}

static inline int64_t show_int(const void *buffer, unsigned bits, int64_t i)
{
    switch (bits) {
    case 8:
        return ((const int8_t *)buffer)[i];
    case 16:
        return ((const int16_t *)buffer)[i];
    case 32:
        return ((const int32_t *)buffer)[i];
    default:
        return ((const int64_t *)buffer)[i];
    }
}

static inline void show_value(show_text *out, const struct ArrowSchema *s,
                              const struct ArrowArray *a, int64_t i);

/* `end` - `begin` values of a child, between brackets. */
static inline void show_items(show_text *out, const struct ArrowSchema *s,
                              const struct ArrowArray *child, int64_t begin, int64_t end)
{
    show_put(out, "[");
    for (int64_t k = begin; k < end; k++) {
        if (k > begin)
            show_put(out, " ");
        show_value(out, s->children[0], child, k);
    }
    show_put(out, "]");
}

static inline void show_view(show_text *out, const struct ArrowArray *a, int64_t at)
{
    const uint8_t *view = (const uint8_t *)a->buffers[1] + 16 * at;
    int32_t head[4];
    memcpy(head, view, sizeof head);
    if (head[0] <= 12)
        show_hex(out, "'", view + 4, head[0]);
    else
        show_hex(out, "'", (const uint8_t *)a->buffers[2 + head[2]] + head[3], head[0]);
    show_put(out, "'");
}

static inline void show_union(show_text *out, const struct ArrowSchema *s,
                              const struct ArrowArray *a, int64_t at, int dense)
{
    int8_t ids[128], id = ((const int8_t *)a->buffers[0])[at];
    char text[16];
    if (ald__type_union_ids(s, ids, NULL) != ALD_OK)
        abort();
    snprintf(text, sizeof text, "{%d ", id);
    show_put(out, text);
    for (int64_t c = 0; c < a->n_children; c++) {
        if (ids[c] == id)
            show_value(out, s->children[c], a->children[c],
                       dense ? ((const int32_t *)a->buffers[1])[at] : at);
    }
    show_put(out, "}");
}

static inline void show_run(show_text *out, const struct ArrowSchema *s, const struct ArrowArray *a,
                            int64_t at)
{
    const struct ArrowArray *ends = a->children[0];
    unsigned bits = s->children[0]->format[0] == 's'   ? 16
                    : s->children[0]->format[0] == 'i' ? 32
                                                       : 64;
    int64_t run = 0;
    while (show_int(ends->buffers[1], bits, ends->offset + run) <= at)
        run++;
    show_value(out, s->children[1], a->children[1], run);
}

static inline void show_number(show_text *out, const ald__type *t, const void *buffer, int64_t at)
{
    char text[32];
    int64_t v = show_int(buffer, t->bit_width, at);
    if (t->id >= ALD__UINT8 && t->id <= ALD__UINT64 && t->bit_width < 64)
        v &= (INT64_C(1) << t->bit_width) - 1;
    if (t->id == ALD__UINT64)
        snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    else
        snprintf(text, sizeof text, "%lld", (long long)v);
    show_put(out, text);
}

static inline void show_nested(show_text *out, const struct ArrowSchema *s,
                               const struct ArrowArray *a, const ald__type *t, int64_t at)
{
    unsigned bits = t->id == ALD__LARGE_LIST || t->id == ALD__LARGE_LIST_VIEW ? 64 : 32;
    int64_t begin;
    switch (t->id) {
    case ALD__LIST:
    case ALD__LARGE_LIST:
    case ALD__MAP:
        show_items(out, s, a->children[0], show_int(a->buffers[1], bits, at),
                   show_int(a->buffers[1], bits, at + 1));
        return;
    case ALD__LIST_VIEW:
    case ALD__LARGE_LIST_VIEW:
        begin = show_int(a->buffers[1], bits, at);
        show_items(out, s, a->children[0], begin, begin + show_int(a->buffers[2], bits, at));
        return;
    case ALD__FIXED_LIST:
        show_items(out, s, a->children[0], at * t->list_size, (at + 1) * t->list_size);
        return;
    case ALD__STRUCT:
        show_put(out, "{");
        for (int64_t c = 0; c < a->n_children; c++) {
            if (c > 0)
                show_put(out, " ");
            show_value(out, s->children[c], a->children[c], at);
        }
        show_put(out, "}");
        return;
    case ALD__RUN_END:
        show_run(out, s, a, at);
        return;
    default:
        show_union(out, s, a, at, t->id == ALD__DENSE_UNION);
    }
}

static inline void show_value(show_text *out, const struct ArrowSchema *s,
                              const struct ArrowArray *a, int64_t i)
{
    int64_t at = a->offset + i;
    unsigned bits = 32;
    const uint8_t *p;
    ald__type t;
    if (ald__type_of(s, &t, NULL) != ALD_OK || i < 0 || i >= a->length)
        abort();
    p = a->n_buffers > 1 ? (const uint8_t *)a->buffers[1] : NULL;
    if (t.id == ALD__NULL || (t.has_validity && a->buffers[0] != NULL &&
                              !((((const uint8_t *)a->buffers[0])[at / 8] >> (at % 8)) & 1))) {
        show_put(out, "null");
        return;
    }
    if (a->dictionary != NULL) {
        int64_t index = show_int(p, t.bit_width, at);
        show_value(out, s->dictionary, a->dictionary, t.id == ALD__UINT8 ? (uint8_t)index : index);
        return;
    }
    switch (t.id) {
    case ALD__BOOL:
        show_put(out, (p[at / 8] >> (at % 8)) & 1 ? "true" : "false");
        return;
    case ALD__FLOAT16:
    case ALD__FLOAT32:
    case ALD__FLOAT64:
    case ALD__DECIMAL:
    case ALD__FIXED_BINARY:
    case ALD__INTERVAL_DAY_TIME:
    case ALD__INTERVAL_MONTH_DAY_NANO:
        show_hex(out, "=", p + at * (t.bit_width / 8), t.bit_width / 8);
        return;
    case ALD__LARGE_BINARY:
    case ALD__LARGE_UTF8:
        bits = 64; /* fall through */
    case ALD__BINARY:
    case ALD__UTF8:
        show_hex(out, "'", (const uint8_t *)a->buffers[2] + show_int(p, bits, at),
                 show_int(p, bits, at + 1) - show_int(p, bits, at));
        show_put(out, "'");
        return;
    case ALD__BINARY_VIEW:
    case ALD__UTF8_VIEW:
        show_view(out, a, at);
        return;
    default:
        if (t.bit_width > 0)
            show_number(out, &t, p, at);
        else
            show_nested(out, s, a, &t, at);
    }
}

/* Every value of a column, with spaces between them. The caller frees out->text. */
static inline void show_column(show_text *out, const struct ArrowSchema *s,
                               const struct ArrowArray *a)
{
    for (int64_t i = 0; i < a->length; i++) {
        if (i > 0)
            show_put(out, " ");
        show_value(out, s, a, i);
    }
}

#endif
