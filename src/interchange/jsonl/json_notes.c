/* SPDX-License-Identifier: MIT */
/* Notes name the place, the first line that made the type, and the option that overrides it. */
#include "interchange/jsonl/json_notes.h"

#include <string.h>

#include "interchange/jsonl/json_fault.h"

#define MOST_NOTES 20 /* a table of thousands of columns is not told column by column */

typedef struct teller {
    const ald__json_input *input;
    const ald_text_options *options;
    size_t count;
    ald_error *err;
} teller;

static const ald__place *column_of(const ald__place *place)
{
    while (place->parent && place->parent->parent)
        place = place->parent;
    return place;
}

static int shown(size_t size)
{
    return size < 40 ? (int)size : 40;
}

static void tell(teller *t, const ald_error *text)
{
    if (t->count++ < MOST_NOTES)
        t->options->note(t->options->note_ctx, text->msg);
}

static ald_status tell_place(teller *t, const ald__place *place, uint64_t where, const char *what,
                             const char *type)
{
    const ald__place *column = column_of(place);
    ald__json_fault path;
    const char *start;
    ald_error text;
    uint64_t line;
    ald_status status = ald__json_input_line(t->input, where, &line, t->err);
    if (status != ALD_OK)
        return status;
    ald__json_fault_clear(&path);
    ald__json_fault_place(&path, place);
    for (start = path.path; start < path.path + sizeof path.path - 1 && !*start; start++)
        ;
    if (place == column && *type)
        (void)ald_error_set(&text, ALD_E_OK, 0,
                            "$%s %s, first on line %llu; --types %.*s:%s reads it so", start, what,
                            (unsigned long long)line, shown(column->name_size), column->name, type);
    else
        (void)ald_error_set(&text, ALD_E_OK, 0, "$%s %s, first on line %llu", start, what,
                            (unsigned long long)line);
    tell(t, &text);
    return ALD_OK;
}

static ald_status visit(teller *t, const ald__place *place)
{
    ald_status status = ALD_OK;
    int kinds = ald__place_kind_count(place);
    uint64_t where;
    ald__json_kind kind;
    if (place->declared || t->count > MOST_NOTES)
        return ALD_OK;
    if (kinds > 1) {
        ald__place_second_kind(place, &where, &kind);
        return tell_place(t, place, where, "is text: it has values of several kinds", "");
    }
    if (place->numbers) {
        ald__text_type type = ald__profile_resolve(place->numbers);
        if (type.culprit != ALD__NEVER && type.kind == ALD__KIND_DECIMAL)
            status = tell_place(t, place, type.culprit, "is decimal: float64 would lose digits",
                                "float64");
        else if (type.culprit != ALD__NEVER && type.kind == ALD__KIND_STRING)
            status = tell_place(t, place, type.culprit,
                                "is text: no number type holds all of its numbers", "float64");
    }
    if (status == ALD_OK && place->item)
        status = visit(t, place->item);
    for (uint32_t i = 0; i < place->field_count && status == ALD_OK; i++)
        status = visit(t, place->fields[i]);
    return status;
}

static void visit_missing(teller *t, const ald__place_tree *tree)
{
    const struct ArrowSchema *types = t->options->types;
    for (int64_t i = 0; types && i < types->n_children; i++) {
        const char *name = types->children[i]->name;
        ald_error text;
        if (ald__place_find(tree, tree->root, name, strlen(name)) < tree->root->field_count)
            continue;
        (void)ald_error_set(&text, ALD_E_OK, 0, "no record has the key %.60s; its column is null",
                            name);
        tell(t, &text);
    }
}

ald_status ald__json_notes(const ald__json_input *input, const ald__place_tree *tree,
                           const ald_text_options *options, ald_error *err)
{
    teller t = {input, options, 0, err};
    ald_status status;
    if (!options->note)
        return ALD_OK;
    status = visit(&t, tree->root);
    if (status == ALD_OK)
        visit_missing(&t, tree);
    return status;
}
