/* SPDX-License-Identifier: MIT */
/* Knows how the positions of delimiters and line ends become rows of a fixed number of fields, and what happens to rows
 * that have another number. */
#include "interchange/csv/csv_rows.h"

#include <string.h>

#include "ald/csv.h"
#include "interchange/csv/quotes.h"
#include "interchange/text/mem.h"

#define MASK_WORDS 32 /* masks made ahead: 2 KiB of data, 1 KiB of masks */
#define ENDS_ROOM 32768

typedef struct cutter {
    ald__csv_rows *rows;
    const uint8_t *data;
    size_t size, row_limit, byte_limit;
    size_t count;     /* ends written */
    size_t row_first; /* of the row that is being collected */
    size_t surplus;   /* fields of that row that did not fit */
    uint32_t last_end;
    uint8_t any_end;
} cutter;

ald_status ald__csv_rows_init(ald__csv_rows *rows, const ald__csv_dialect *dialect, size_t columns,
                              const ald_allocator *alloc, ald_error *err)
{
    *rows = (ald__csv_rows){.dialect = dialect, .alloc = *alloc, .columns = columns};
    rows->ends_capacity = ENDS_ROOM + 2 * columns + 128;
    rows->starts_capacity = rows->ends_capacity / columns + 2;
    rows->ends = ald__text_alloc(alloc, rows->ends_capacity, sizeof *rows->ends, err);
    if (rows->ends != NULL)
        rows->starts = ald__text_alloc(alloc, rows->starts_capacity, sizeof *rows->starts, err);
    if (rows->starts != NULL)
        return ALD_OK;
    ald__csv_rows_clear(rows);
    return ALD_E_NOMEM;
}

void ald__csv_rows_clear(ald__csv_rows *rows)
{
    if (rows->alloc.release == NULL)
        return;
    ald__text_free(&rows->alloc, rows->ends, rows->ends_capacity, sizeof *rows->ends);
    ald__text_free(&rows->alloc, rows->starts, rows->starts_capacity, sizeof *rows->starts);
    rows->ends = rows->starts = NULL;
}

static unsigned bit_count(uint64_t v)
{
#if defined(__POPCNT__) || defined(__aarch64__) || defined(__wasm__)
    return (unsigned)__builtin_popcountll(v);
#else
    v -= v >> 1 & 0x5555555555555555ull;
    v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
    v = (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0Full;
    return (unsigned)(v * 0x0101010101010101ull >> 56);
#endif
}

/* Writes the positions of the set bits; up to 7 more places are overwritten. */
static void put_positions(uint32_t *out, uint64_t bits, uint32_t base, unsigned count)
{
    const uint64_t stop = 1ull << 63;
    for (unsigned done = 0; done < count; done += 8) {
        for (unsigned i = 0; i < 8; i++) {
            out[done + i] = base + (uint32_t)__builtin_ctzll(bits | stop);
            bits &= bits - 1;
        }
    }
}

static void rows_fault(cutter *c, uint8_t kind, uint32_t at, size_t fields)
{
    c->rows->fault = (ald__csv_fault){at, fields, 0, kind};
}

static void drop_ends(cutter *c, size_t from, size_t count)
{
    uint32_t *ends = c->rows->ends;
    memmove(ends + from, ends + from + count, (c->count - from - count) * sizeof *ends);
    c->count -= count;
}

/* Brings the row that ends with entry `index` to the right number of fields by repeating its end or dropping some.
 * 0: no room. */
static int pad_row(cutter *c, size_t index)
{
    ald__csv_rows *r = c->rows;
    size_t fields = index + 1 - c->row_first;
    size_t missing;
    if (fields >= r->columns) {
        drop_ends(c, c->row_first + r->columns, fields - r->columns);
        return 1;
    }
    missing = r->columns - fields;
    if (c->count + missing + 64 > r->ends_capacity)
        return 0;
    memmove(r->ends + index + 1 + missing, r->ends + index + 1,
            (c->count - index - 1) * sizeof *r->ends);
    for (size_t i = 0; i < missing; i++)
        r->ends[index + 1 + i] = r->ends[index];
    c->count += missing;
    return 1;
}

typedef enum row_fate { ROW_KEPT, ROW_DROPPED, ROW_STOP } row_fate;

/* A row that has not as many fields as there are columns, or that may be a comment. */
static row_fate odd_row(cutter *c, size_t index)
{
    ald__csv_rows *r = c->rows;
    const ald__csv_dialect *d = r->dialect;
    uint32_t start = r->starts[r->rows], end = r->ends[index];
    size_t fields = index + 1 - c->row_first + c->surplus;
    int blank = fields == 1 && start == end && r->columns > 1;
    int comment = fields == 1 && start < end && d->comment != 0 && c->data[start] == d->comment;
    if (fields == r->columns && !comment)
        return ROW_KEPT;
    if (!blank && !comment && d->ragged == ALD_CSV_RAGGED_ERROR) {
        rows_fault(c, ALD__CSV_FAULT_RAGGED, start, fields);
        return ROW_STOP;
    }
    if (!blank && !comment && d->ragged == ALD_CSV_RAGGED_PAD) {
        if (!pad_row(c, index))
            return ROW_STOP;
        r->padded++;
        return ROW_KEPT;
    }
    if (!blank && !comment)
        r->skipped++;
    drop_ends(c, c->row_first, index + 1 - c->row_first);
    return ROW_DROPPED;
}

/* Ends the row whose last field is entry `index`; the next one begins at `next`. 0: the slab is done. */
static int end_row(cutter *c, size_t index, uint32_t next)
{
    ald__csv_rows *r = c->rows;
    row_fate fate = ROW_KEPT;
    if (index + 1 - c->row_first != r->columns || c->surplus != 0 || r->dialect->comment != 0)
        fate = odd_row(c, index);
    if (fate == ROW_STOP)
        return 0;
    if (fate == ROW_KEPT)
        r->rows++;
    r->starts[r->rows] = next;
    c->row_first = r->rows * r->columns;
    c->surplus = 0;
    return r->rows < c->row_limit && next < c->byte_limit && r->rows + 1 < r->starts_capacity;
}

/* Takes the breaks of one word. 0: the slab is done. */
static int take_word(cutter *c, ald__csv_cut cut, uint32_t base)
{
    ald__csv_rows *r = c->rows;
    unsigned count = bit_count(cut.structural);
    size_t from = c->count;
    put_positions(r->ends + from, cut.structural, base, count);
    c->count += count;
    if (count > 0) {
        c->last_end = r->ends[c->count - 1];
        c->any_end = 1;
    }
    for (uint64_t left = cut.newline; left != 0; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        /* Entries that odd rows dropped or added stand before the ones that follow: count from the back. */
        size_t index = c->count - 1 - bit_count(cut.structural >> bit >> 1);
        uint32_t next = base + bit + 1;
        if (c->data[next - 1] == '\r' && next < c->size && c->data[next] == '\n')
            next++;
        if (!end_row(c, index, next))
            return 0;
    }
    return 1;
}

/* Room for the breaks of one word. 0: the slab is done. */
static int make_ends_room(cutter *c)
{
    ald__csv_rows *r = c->rows;
    size_t fields = c->count - c->row_first;
    if (c->count + 72 <= r->ends_capacity)
        return 1;
    if (r->rows > 0 || fields <= r->columns + 1)
        return 0;
    /* One record with far too many fields: they are only counted. */
    c->surplus += fields - r->columns - 1;
    c->count = c->row_first + r->columns + 1;
    return 1;
}

/* Behind the last break; of a CRLF behind the LF, where the next row begins. */
static void set_open_field(cutter *c)
{
    uint32_t behind = c->any_end ? c->last_end + 1 : 0, row = c->rows->starts[c->rows->rows];
    c->rows->open_field = behind > row ? behind : row;
}

/* The input ends: what is open is the last record. */
static void end_input(cutter *c, const ald__csv_state *state)
{
    ald__csv_rows *r = c->rows;
    uint32_t start = r->starts[r->rows];
    if (state->in_quote) {
        rows_fault(c, ALD__CSV_FAULT_UNCLOSED, r->open_field, 0);
        return;
    }
    if (start >= c->size || !make_ends_room(c))
        return;
    r->ends[c->count++] = (uint32_t)c->size;
    (void)end_row(c, c->count - 1, (uint32_t)c->size);
}

/* All words of the slab. 0: it is done before its bytes end. */
static int cut_words(cutter *c, ald__csv_state *state)
{
    const ald__csv_dialect *d = c->rows->dialect;
    const ald__csv_chars chars = {d->quote, d->delimiter};
    ald__csv_word words[MASK_WORDS];
    size_t total = c->size / 64 + (c->size % 64 != 0);
    for (size_t w = 0; w < total; w += MASK_WORDS) {
        size_t count = total - w < MASK_WORDS ? total - w : MASK_WORDS;
        c->rows->seen |= d->masks(c->data + w * 64, count, chars, words);
        for (size_t i = 0; i < count; i++) {
            size_t base = (w + i) * 64;
            ald__csv_cut cut;
            if (!make_ends_room(c))
                return 0;
            cut = c->size - base >= 64 ? ald__csv_step(state, &words[i], c->data + base, d)
                                       : ald__csv_step_slow(state, &words[i], c->data + base,
                                                            (unsigned)(c->size - base), d);
            if (cut.structural != 0 && !take_word(c, cut, (uint32_t)base))
                return 0;
            if (cut.fault >= 0) {
                rows_fault(c, ALD__CSV_FAULT_AFTER_QUOTE, (uint32_t)(base + (unsigned)cut.fault),
                           0);
                return 0;
            }
        }
    }
    return 1;
}

void ald__csv_rows_cut(ald__csv_rows *rows, const uint8_t *data, size_t size, int last,
                       size_t row_limit, size_t byte_limit)
{
    ald__csv_state state = ALD__CSV_STATE_RECORD;
    cutter c = {.rows = rows, .data = data, .size = size, .row_limit = row_limit};
    c.byte_limit = byte_limit;
    rows->rows = 0;
    rows->starts[0] = 0;
    rows->seen = 0;
    rows->padded = rows->skipped = 0;
    rows->fault = (ald__csv_fault){0, 0, 0, ALD__CSV_FINE};
    /* Whether an LF follows is not known yet. */
    if (!last && size > 0 && data[size - 1] == '\r')
        c.size--;
    if (row_limit > 0 && byte_limit > 0 && cut_words(&c, &state)) {
        set_open_field(&c);
        if (last)
            end_input(&c, &state);
    }
    set_open_field(&c);
    rows->consumed = rows->starts[rows->rows];
}
