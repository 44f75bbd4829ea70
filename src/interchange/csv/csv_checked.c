/* SPDX-License-Identifier: MIT */
/* Knows where samples are taken, and how what the batches say adds up to what the survey would have said: types, and for the
 * notes which columns have many texts in one block, though blocks and batches do not end at the same rows. */
#include "interchange/csv/csv_checked.h"

#include "interchange/csv/csv_shape.h"
#include "interchange/text/column.h"
#include "interchange/text/mem.h"

static uint64_t block_of(const ald__csv_reader *r, uint64_t at)
{
    return (at - r->data_begin) / r->dialect.block_bytes;
}

ald_status ald__csv_look_init(ald__csv_reader *reader, ald__csv_look *look, ald_error *err)
{
    const ald_allocator *alloc = &reader->alloc;
    size_t n = reader->column_count;
    look->infer.nulls = &reader->nulls;
    look->infer.columns = n;
    look->infer.bare = ald__text_alloc(alloc, n, sizeof(ald__profile), err);
    look->infer.done = ald__text_alloc(alloc, n, 1, err);
    look->base = ald__text_alloc(alloc, n, sizeof *look->base, err);
    look->head = ald__text_alloc(alloc, n, sizeof *look->head, err);
    if (look->infer.bare == NULL || look->infer.done == NULL || look->base == NULL ||
        look->head == NULL)
        return ALD_E_NOMEM;
    if (!reader->all_quoted)
        return ALD_OK;
    look->infer.quoted = ald__text_alloc(alloc, n, sizeof(ald__profile), err);
    return look->infer.quoted == NULL ? ALD_E_NOMEM : ALD_OK;
}

void ald__csv_look_clear(ald__csv_reader *reader, ald__csv_look *look)
{
    const ald_allocator *alloc = &reader->alloc;
    size_t n = reader->column_count;
    ald__text_free(alloc, look->infer.bare, n, sizeof(ald__profile));
    ald__text_free(alloc, look->infer.quoted, n, sizeof(ald__profile));
    ald__text_free(alloc, look->infer.done, n, 1);
    ald__text_free(alloc, look->base, n, sizeof *look->base);
    ald__text_free(alloc, look->head, n, sizeof *look->head);
}

void ald__csv_look_begin(const ald__csv_reader *reader, ald__csv_look *look, uint64_t at)
{
    const ald__csv_checked *checked = reader->checked;
    size_t n = reader->column_count;
    look->infer.bare_seen = 0;
    look->infer.empties = reader->empties;
    look->infer.base = look->base;
    memcpy(look->infer.done, checked->done, n);
    memset(look->base, 0, n * sizeof *look->base);
    look->first_block = look->block = block_of(reader, at);
    for (size_t c = 0; c < n; c++) {
        ald__profile_init(&look->infer.bare[c]);
        if (look->infer.quoted != NULL)
            ald__profile_init(&look->infer.quoted[c]);
    }
}

uint64_t ald__csv_look_block(const ald__csv_reader *reader, ald__csv_look *look, uint64_t at)
{
    uint64_t block = block_of(reader, at);
    if (block != look->block) {
        for (size_t c = 0; c < reader->column_count; c++)
            look->base[c] = ald__csv_infer_texts(&look->infer, c);
        if (look->block == look->first_block)
            memcpy(look->head, look->base, reader->column_count * sizeof *look->head);
        look->block = block;
    }
    return reader->data_begin + (block + 1) * reader->dialect.block_bytes;
}

/* Whether the type of the samples may still be that of the whole. The end decides; this only saves the way there. */
static int may_hold(const ald__csv_reader *r, size_t c)
{
    const ald__csv_column *column = &r->columns[c];
    ald__profile all = column->expected;
    ald__text_type type;
    char format[ALD__FORMAT_BYTES];
    ald__profile_merge(&all, r->all_quoted ? &column->quoted : &column->bare);
    type = ald__profile_resolve(&all);
    ald__text_type_format(&type, format);
    return strlen(format) == strlen(r->fields.children[c]->format) &&
           memcmp(format, r->fields.children[c]->format, strlen(format)) == 0;
}

ald_status ald__csv_surprise(ald__csv_reader *reader, ald_error *err)
{
    reader->checked->surprised = 1;
    return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET,
                         "%s: a value changes a column's type: all is read again",
                         ald__csv_source_name(&reader->source));
}

ald_status ald__csv_look_merge(ald__csv_reader *reader, const ald__csv_look *look, ald_error *err)
{
    ald__csv_checked *checked = reader->checked;
    int one_block = look->first_block == look->block, holds = 1;
    checked->bare_seen |= look->infer.bare_seen;
    reader->empties |= look->infer.empties;
    for (size_t c = 0; c < reader->column_count; c++) {
        ald__csv_column *column = &reader->columns[c];
        uint64_t texts = ald__csv_infer_texts(&look->infer, c), open = 0;
        reader->empties |= look->infer.bare[c].count[ALD__TOKEN_NULL] > 0;
        if (checked->done[c] != 0)
            continue;
        ald__profile_merge(&column->bare, &look->infer.bare[c]);
        if (look->infer.quoted != NULL)
            ald__profile_merge(&column->quoted, &look->infer.quoted[c]);
        if (look->first_block == checked->open_block)
            open = checked->open_texts[c];
        open += one_block ? texts : look->head[c];
        checked->done[c] = look->infer.done[c];
        if (open >= ALD__CSV_MANY_TEXT)
            checked->done[c] = ALD__CSV_DONE_TEXT;
        checked->open_texts[c] = one_block ? open : texts - look->base[c];
        holds &= may_hold(reader, c);
    }
    checked->open_block = look->block;
    if (reader->all_quoted && checked->bare_seen)
        holds = 0;
    return holds ? ALD_OK : ald__csv_surprise(reader, err);
}

static void forget(ald__csv_reader *r)
{
    for (size_t c = 0; c < r->column_count; c++) {
        ald__profile_init(&r->columns[c].bare);
        ald__profile_init(&r->columns[c].quoted);
        r->columns[c].many_text = r->columns[c].quoted_many = 0;
    }
}

ald_status ald__csv_checked_end(ald__csv_reader *reader, ald_error *err)
{
    ald__csv_checked *checked = reader->checked;
    for (size_t c = 0; c < reader->column_count; c++)
        reader->columns[c].many_text = (checked->done[c] & ALD__CSV_DONE_TEXT) != 0;
    ald__csv_settle_quotes(reader, checked->bare_seen || !reader->all_quoted);
    for (size_t c = 0; c < reader->column_count; c++) {
        const char *guessed = reader->fields.children[c]->format;
        char format[ALD__FORMAT_BYTES];
        ald__text_type type;
        if (reader->columns[c].declared)
            continue;
        type = ald__profile_resolve(&reader->columns[c].bare);
        ald__text_type_format(&type, format);
        if (strlen(format) != strlen(guessed) || memcmp(format, guessed, strlen(format)) != 0)
            return ald__csv_surprise(reader, err);
    }
    return ald__csv_tell(reader, err);
}

/* One slab from a mark on. */
static ald_status look_at(ald__csv_walk *walk, ald__csv_infer *infer, uint64_t at, ald_error *err)
{
    ald_status st;
    walk->pos = at;
    walk->limit = UINT64_MAX;
    st = ald__csv_walk_next(walk, SIZE_MAX, err);
    if (st == ALD_OK)
        ald__csv_infer_slab(infer, walk, walk->rows.rows);
    return st;
}

/* The beginning, places that are equally far apart, and the last rows. */
static ald_status take_samples(const ald__csv_reader *r, ald__csv_walk *walk, ald__csv_infer *infer,
                               ald_error *err)
{
    const size_t spread = r->dialect.samples;
    ald_status st = ALD_OK;
    walk->pos = r->data_begin;
    for (size_t i = 0; i < spread / 4 && walk->pos < r->source.size_bytes && st == ALD_OK; i++)
        st = look_at(walk, infer, walk->pos, err);
    for (size_t i = 0; i < spread && st == ALD_OK; i++)
        st = look_at(walk, infer, r->marks[r->mark_count * i / spread].offset, err);
    return st == ALD_OK && spread > 1
               ? look_at(walk, infer, r->marks[r->mark_count - 1].offset, err)
               : st;
}

static ald_status survey_shape(ald__csv_reader *r, ald_error *err)
{
    r->rows = r->padded = r->skipped = 0;
    r->mark_count = 0;
    return ald__csv_survey_shape(r, err);
}

static ald_status sample(ald__csv_reader *r, ald__csv_look *look, ald_error *err)
{
    ald__csv_walk walk;
    ald_status st;
    r->all_quoted = r->header_quoted; /* both profiles, as long as it may be so */
    st = ald__csv_look_init(r, look, err);
    if (st != ALD_OK)
        return st;
    for (size_t c = 0; c < r->column_count; c++) {
        look->infer.done[c] = r->columns[c].declared ? ALD__CSV_DONE_DECLARED : 0;
        ald__profile_init(&look->infer.bare[c]);
        if (look->infer.quoted != NULL)
            ald__profile_init(&look->infer.quoted[c]);
    }
    st = ald__csv_walk_init(&walk, &r->source, &r->dialect, r->column_count,
                            r->dialect.slab_bytes + ALD__CSV_OVERHANG_BYTES, &r->alloc, err);
    if (st == ALD_OK && r->mark_count > 0)
        st = take_samples(r, &walk, &look->infer, err);
    if (st == ALD_OK && walk.fault.kind != ALD__CSV_FINE)
        st = survey_shape(r, err); /* an error, but for a file that was changed meanwhile */
    ald__csv_walk_clear(&walk);
    return st;
}

/* The samples' types into the fields. */
static ald_status guess_types(ald__csv_reader *r, const ald__csv_look *look, ald_error *err)
{
    ald_status st;
    for (size_t c = 0; c < r->column_count; c++) {
        r->columns[c].bare = look->infer.bare[c];
        if (look->infer.quoted != NULL)
            r->columns[c].quoted = look->infer.quoted[c];
    }
    ald__csv_settle_quotes(r, look->infer.bare_seen || !r->header_quoted);
    st = ald__csv_resolve_types(r, err);
    for (size_t c = 0; c < r->column_count; c++)
        r->columns[c].expected = r->columns[c].bare;
    forget(r);
    return st;
}

static ald_status checked_new(ald__csv_reader *r, ald_error *err)
{
    ald__csv_checked *checked = ald__text_alloc(&r->alloc, 1, sizeof *checked, err);
    if (checked == NULL)
        return ALD_E_NOMEM;
    r->checked = checked;
    checked->open_block = UINT64_MAX;
    checked->done = ald__text_alloc(&r->alloc, r->column_count, 1, err);
    checked->open_texts =
        ald__text_alloc(&r->alloc, r->column_count, sizeof *checked->open_texts, err);
    if (checked->done == NULL || checked->open_texts == NULL)
        return ALD_E_NOMEM;
    for (size_t c = 0; c < r->column_count; c++)
        checked->done[c] = r->columns[c].declared ? ALD__CSV_DONE_DECLARED : 0;
    return ALD_OK;
}

void ald__csv_checked_free(ald__csv_reader *reader)
{
    ald__csv_checked *checked = reader->checked;
    if (checked == NULL)
        return;
    ald__text_free(&reader->alloc, checked->done, reader->column_count, 1);
    ald__text_free(&reader->alloc, checked->open_texts, reader->column_count,
                   sizeof *checked->open_texts);
    ald__text_free(&reader->alloc, checked, 1, sizeof *checked);
    reader->checked = NULL;
}

ald_status ald__csv_guess(ald__csv_reader *reader, ald_error *err)
{
    ald__csv_look look;
    ald_status st;
    int known;
    memset(&look, 0, sizeof look);
    forget(reader);
    st = ald__csv_shape(reader, &known, err);
    if (st == ALD_OK && !known)
        st = survey_shape(reader, err);
    if (st == ALD_OK)
        st = checked_new(reader, err);
    if (st == ALD_OK)
        st = sample(reader, &look, err);
    if (st == ALD_OK)
        st = guess_types(reader, &look, err);
    ald__csv_look_clear(reader, &look);
    return st;
}
