/* SPDX-License-Identifier: MIT */
/* Knows how rows are counted without being cut: from the places where records begin, 64 bytes at a time.
 *
 * Nothing is said of what is in the records but that all delimiters together are as many as the rows want. Whatever is odd
 * is left to the survey; whatever this does not see, as a ragged record beside one that makes up for it, or bytes that are no
 * UTF-8, is found when the records are read, and the survey says what it is. With threads each block is counted from every
 * state that it may be entered in, as in states.h. */
#include "interchange/csv/csv_shape.h"

#include "interchange/csv/states.h"
#include "interchange/text/mem.h"

#define SHAPE_WORDS 32
#define MOST_SHAPES 64

/* A block gone through from one state. */
typedef struct shape_run {
    ald__csv_state state;
    uint64_t pending; /* the next byte is the LF of a CRLF outside quotes */
    uint64_t after;   /* the next byte stands behind a line end outside quotes */
    uint64_t rows, delimiters;
    uint32_t *marks; /* from the block's beginning */
    size_t mark_count;
    int broken;
} shape_run;

typedef struct shape_block {
    const ald__csv_reader *reader;
    ald__csv_walk walk;
    uint64_t begin, end;
    shape_run runs[ALD__CSV_ENTRIES];
    size_t run_count; /* 1: from the state that is known */
    uint32_t *marks;
    ald_status status;
    ald_error error;
} shape_block;

typedef struct shape_work {
    ald__csv_reader *reader;
    shape_block *blocks;
    uint32_t count;
    size_t run_marks; /* room of each run */
    uint64_t delimiters;
    ald__csv_entry entry; /* of the next block */
    int odd;
} shape_work;

static unsigned shape_bits(uint64_t v)
{
    v -= v >> 1 & 0x5555555555555555ull;
    v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Full;
    return (unsigned)(v * 0x0101010101010101ull >> 56);
}

_Static_assert(ALD__CSV_MARK_ROWS >= 64, "64 bytes, of a row each, have one mark at most");

/* Adds the rows that begin at the bits. */
static void shape_rows(shape_run *run, uint64_t begins, size_t base)
{
    unsigned count = shape_bits(begins);
    uint64_t skip = (0 - run->rows) % ALD__CSV_MARK_ROWS;
    run->rows += count;
    if (skip >= count)
        return;
    while (skip-- > 0)
        begins &= begins - 1;
    run->marks[run->mark_count++] = (uint32_t)(base + (unsigned)__builtin_ctzll(begins));
}

/* As ald__csv_step, where no quote has a part in it. */
static inline ald__csv_cut shape_bare(ald__csv_state *state, const ald__csv_word *word)
{
    ald__csv_cut cut;
    cut.newline = word->cr | (word->lf & ~(word->cr << 1 | state->cr));
    cut.structural = word->delimiter | cut.newline;
    cut.fault = -1;
    state->field_start = (uint8_t)((word->delimiter | word->cr | word->lf) >> 63);
    state->cr = (uint8_t)(word->cr >> 63);
    return cut;
}

/* `count` bytes of the word count; `lf_behind`, 0 or 1: an LF stands behind its 64 bytes. */
static void shape_word(shape_run *run, const ald__csv_reader *r, const ald__csv_word *word,
                       const uint8_t *data, size_t base, unsigned count, uint64_t lf_behind)
{
    ald__csv_state *s = &run->state;
    ald__csv_cut cut;
    uint64_t crlf, ends, begins;
    if (word->quote == 0 && s->in_quote != 0)
        return;
    if (count < 64)
        cut = ald__csv_step_slow(s, word, data, count, &r->dialect);
    else if (word->quote == 0 && !s->closed)
        cut = shape_bare(s, word);
    else
        cut = ald__csv_step(s, word, data, &r->dialect);
    run->broken |= cut.fault >= 0;
    crlf = cut.newline & word->cr & (word->lf >> 1 | lf_behind << 63);
    ends = (cut.newline & ~crlf) | crlf << 1 | run->pending;
    begins = ends << 1 | run->after;
    run->pending = crlf >> 63;
    run->after = ends >> 63;
    run->delimiters += shape_bits(cut.structural & ~cut.newline);
    if (count < 64)
        begins &= (1ull << count) - 1;
    if (r->column_count > 1)
        begins &= ~(word->cr | word->lf); /* blank lines */
    if (begins != 0)
        shape_rows(run, begins, base);
}

static void shape_enter(shape_run *run, ald__csv_entry entry, uint8_t before, uint8_t first,
                        const ald__csv_dialect *dialect)
{
    run->state = ald__csv_state_of_entry(entry, before, dialect);
    run->pending = run->after = 0;
    if (entry == ALD__CSV_ENTRY_OUTSIDE) {
        run->pending = before == '\r' && first == '\n';
        run->after = before == '\n' || (before == '\r' && first != '\n');
    }
}

/* The block has `size` bytes at `data`; `last`: the input ends with it. */
static void shape_count(shape_block *b, const uint8_t *data, size_t size, int last)
{
    const ald__csv_dialect *d = &b->reader->dialect;
    const ald__csv_chars chars = {d->quote, d->delimiter};
    ald__csv_word words[SHAPE_WORDS];
    size_t total = size / 64 + (size % 64 != 0);
    for (size_t w = 0; w < total; w += SHAPE_WORDS) {
        size_t count = total - w < SHAPE_WORDS ? total - w : SHAPE_WORDS;
        (void)d->masks(data + w * 64, count, chars, words);
        for (size_t i = 0; i < count; i++) {
            size_t base = (w + i) * 64, left = size - base;
            unsigned n = left < 64 ? (unsigned)left : 64;
            uint64_t lf = (left > 64 || (left == 64 && !last)) && data[base + 64] == '\n';
            for (size_t k = 0; k < b->run_count; k++) {
                if (!b->runs[k].broken)
                    shape_word(&b->runs[k], b->reader, &words[i], data + base, base, n, lf);
            }
        }
    }
}

static void shape_job(void *arg, uint32_t index)
{
    const shape_work *s = arg;
    shape_block *b = &s->blocks[index];
    size_t size = (size_t)(b->end - b->begin), got;
    size_t first = b->begin == s->reader->data_begin; /* nothing of records before it */
    const uint8_t *data;
    b->status =
        ald__csv_walk_peek(&b->walk, b->begin - 1 + first, size + 2, &data, &got, &b->error);
    if (b->status != ALD_OK)
        return;
    for (size_t k = 0; k < b->run_count; k++) {
        ald__csv_entry entry = b->run_count == 1 ? s->entry : (ald__csv_entry)k;
        b->runs[k] = (shape_run){.marks = b->marks + k * s->run_marks};
        shape_enter(&b->runs[k], entry, first ? '\n' : data[0], data[1 - first],
                    &s->reader->dialect);
    }
    shape_count(b, data + 1 - first, size, b->end == s->reader->source.size_bytes);
}

static ald__csv_entry shape_exit(const ald__csv_state *s)
{
    return s->in_quote ? ALD__CSV_ENTRY_QUOTED
           : s->closed ? ALD__CSV_ENTRY_CLOSED
                       : ALD__CSV_ENTRY_OUTSIDE;
}

/* The run of the state in which the block before ended. */
static ald_status shape_add(shape_work *s, const shape_block *b, ald_error *err)
{
    ald__csv_reader *r = s->reader;
    const shape_run *run = &b->runs[b->run_count == 1 ? 0 : s->entry];
    void *block = r->marks;
    ald_status st = ald__text_grow(&r->alloc, &block, &r->marks_capacity,
                                   (r->mark_count + run->mark_count) * sizeof *r->marks, err);
    r->marks = block;
    if (st != ALD_OK)
        return st;
    for (size_t i = 0; i < run->mark_count; i++)
        r->marks[r->mark_count++] =
            (ald__csv_mark){b->begin + run->marks[i], r->rows + i * ALD__CSV_MARK_ROWS};
    r->rows += run->rows;
    s->delimiters += run->delimiters;
    s->odd = run->broken;
    s->entry = shape_exit(&run->state);
    return ALD_OK;
}

/* Some blocks, side by side. */
static ald_status shape_wave(shape_work *s, uint64_t *begin, ald_error *err)
{
    const uint64_t size = s->reader->source.size_bytes, step = s->reader->dialect.block_bytes;
    uint32_t count = 0;
    for (; count < s->count && *begin < size; count++) {
        shape_block *b = &s->blocks[count];
        b->begin = *begin;
        b->end = size - *begin > step ? *begin + step : size;
        *begin = b->end;
    }
    ald__csv_run(s->reader, count, shape_job, s);
    for (uint32_t i = 0; i < count && !s->odd; i++) {
        const shape_block *b = &s->blocks[i];
        ald_status st = b->status;
        if (st != ALD_OK && err != NULL)
            *err = b->error;
        if (st == ALD_OK)
            st = shape_add(s, b, err);
        if (st != ALD_OK)
            return st;
    }
    return ald__csv_progress(s->reader, *begin, err);
}

static void shape_clear(shape_work *s)
{
    const ald_allocator *alloc = &s->reader->alloc;
    for (uint32_t i = 0; s->blocks != NULL && i < s->count; i++) {
        shape_block *b = &s->blocks[i];
        ald__csv_walk_clear(&b->walk);
        ald__text_free(alloc, b->marks, b->run_count * s->run_marks, sizeof *b->marks);
    }
    ald__text_free(alloc, s->blocks, s->count, sizeof *s->blocks);
}

static ald_status shape_init(shape_work *s, ald__csv_reader *r, ald_error *err)
{
    size_t runs = r->threads > 1 ? ALD__CSV_ENTRIES : 1;
    *s = (shape_work){.reader = r, .count = 1};
    if (r->threads > 1)
        s->count = 4 * r->threads < MOST_SHAPES ? 4 * r->threads : MOST_SHAPES;
    s->run_marks = r->dialect.block_bytes / ALD__CSV_MARK_ROWS + 2;
    s->blocks = ald__text_alloc(&r->alloc, s->count, sizeof *s->blocks, err);
    if (s->blocks == NULL)
        return ALD_E_NOMEM;
    for (uint32_t i = 0; i < s->count; i++) {
        shape_block *b = &s->blocks[i];
        b->reader = r;
        b->walk = (ald__csv_walk){
            .source = &r->source, .alloc = r->alloc, .fill = r->dialect.block_bytes + 2};
        b->run_count = runs;
        b->marks = ald__text_alloc(&r->alloc, runs * s->run_marks, sizeof *b->marks, err);
        if (b->marks == NULL)
            return ALD_E_NOMEM;
    }
    return ALD_OK;
}

ald_status ald__csv_shape(ald__csv_reader *reader, int *known, ald_error *err)
{
    const ald__csv_dialect *d = &reader->dialect;
    uint64_t begin = reader->data_begin;
    shape_work s;
    ald_status st;
    *known = 0;
    if (d->comment != 0 || d->ragged != ALD_CSV_RAGGED_ERROR)
        return ALD_OK;
    st = shape_init(&s, reader, err);
    while (st == ALD_OK && !s.odd && begin < reader->source.size_bytes)
        st = shape_wave(&s, &begin, err);
    *known = !s.odd && s.entry != ALD__CSV_ENTRY_QUOTED &&
             s.delimiters == reader->rows * (reader->column_count - 1);
    shape_clear(&s);
    return st;
}
