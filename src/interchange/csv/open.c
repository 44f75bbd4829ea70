/* SPDX-License-Identifier: MIT */
/* ald_csv_open. Knows the options, the beginning of the file (byte order mark, header), and the order of the passes. */
#include "ald/schema.h"
#include "ald/stream.h"
#include "interchange/csv/csv_checked.h"
#include "interchange/csv/csv_header.h"
#include "interchange/csv/csv_numbers.h"
#include "interchange/csv/reader.h"
#include "interchange/csv/sniff.h"
#include "interchange/text/column.h"
#include "interchange/text/encoding.h"
#include "interchange/text/mem.h"
#include "interchange/text/text_utf8.h"

#define DEFAULT_FIELD_BYTES (256ull << 20)
#define DEFAULT_BLOCK_BYTES (1u << 20)
/* A slab, its positions and the columns' values stay in the second-level cache. */
#define DEFAULT_SLAB_BYTES (96u << 10)
/* Smaller files are gone through twice in no time. */
#define ONE_PASS_BYTES ((uint64_t)8 << 20)
#define SAMPLES 40
#define MOST_PROFILE_BYTES ((uint64_t)64 << 20)

static ald_status csv_arg(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "CSV options: %s", what);
}

/* The caller's options, which may be of another version of the header, as ours. */
static ald_status take_csv_options(const ald_csv_options *from, ald_csv_options *to, ald_error *err)
{
    static const ald_csv_options defaults = ALD_CSV_OPTIONS_INIT;
    const uint8_t *bytes = (const uint8_t *)from;
    *to = defaults;
    if (from == NULL)
        return ALD_OK;
    if (from->struct_size < sizeof *to)
        return csv_arg(err, "struct_size is too small");
    for (size_t i = sizeof *to; i < from->struct_size; i++) {
        if (bytes[i] != 0)
            return csv_arg(err, "an option that this version does not know");
    }
    *to = *from;
    return ALD_OK;
}

/* A character that is part of values cannot quote them. */
static int bad_quote(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.' || c == ':' || c == ' ';
}

static int bad_char(char c)
{
    return c == '\r' || c == '\n' || (uint8_t)c >= 0x80;
}

static ald_status take_dialect(ald__csv_reader *r, const ald_csv_options *o, ald_error *err)
{
    ald__csv_dialect *d = &r->dialect;
    d->delimiter = (uint8_t)o->delimiter;
    d->quote = o->quote != 0 ? (uint8_t)o->quote : '"';
    d->comment = (uint8_t)o->comment;
    d->ragged = o->ragged;
    d->max_field_bytes = o->max_field_bytes != 0 ? o->max_field_bytes : DEFAULT_FIELD_BYTES;
    if (d->masks == NULL)
        d->masks = ald__csv_masks_best();
    if (d->numbers == NULL)
        d->numbers = ald__csv_numbers_best();
    if (d->block_bytes == 0)
        d->block_bytes = DEFAULT_BLOCK_BYTES;
    if (d->slab_bytes == 0)
        d->slab_bytes = DEFAULT_SLAB_BYTES;
    if (bad_char(o->delimiter) || bad_char(o->quote) || bad_char(o->comment))
        return csv_arg(err, "delimiter, quote and comment are ASCII characters, not line ends");
    if (bad_quote((char)d->quote))
        return csv_arg(err, "the quote is a letter, digit, space or part of numbers");
    if (d->delimiter == d->quote || d->comment == d->quote ||
        (d->comment != 0 && d->comment == d->delimiter))
        return csv_arg(err, "delimiter, quote and comment are three characters");
    if (d->ragged > ALD_CSV_RAGGED_SKIP)
        return csv_arg(err, "no such ragged mode");
    if (o->text.schema != NULL && o->text.types != NULL)
        return csv_arg(err, "a schema declares all columns, so types have no place");
    return ALD_OK;
}

static ald_status take_nulls(ald__csv_reader *r, const ald_csv_options *o, ald_error *err)
{
    ald__csv_nulls *n = &r->nulls;
    size_t total = 0;
    char *p;
    n->empty = o->null_count == 0;
    if (o->null_count == 0)
        return ALD_OK;
    n->tokens = ald__text_alloc(&r->alloc, o->null_count, sizeof *n->tokens, err);
    if (n->tokens == NULL)
        return ALD_E_NOMEM;
    n->count = o->null_count;
    n->given = 1;
    for (size_t i = 0; i < n->count; i++)
        total += strlen(o->nulls[i]);
    r->null_bytes_size = total;
    p = r->null_bytes = ald__text_alloc(&r->alloc, total, 1, err);
    if (p == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < n->count; i++) {
        size_t size = strlen(o->nulls[i]);
        uint8_t lead = (uint8_t)o->nulls[i][0];
        memcpy(p, o->nulls[i], size);
        n->tokens[i] = (ald__csv_text){p, size};
        n->empty |= size == 0;
        n->lead[lead / 8] |= (uint8_t)(1u << (lead % 8));
        n->numeric |= (lead >= '0' && lead <= '9') || lead == '-' || lead == '.';
        p += size;
    }
    return ALD_OK;
}

/* Says what the file is when it cannot be CSV; *skip is the byte order mark's size. */
static ald_status check_beginning(ald__csv_reader *r, const uint8_t *head, size_t size,
                                  size_t *skip, ald_error *err)
{
    const char *name = ald__csv_source_name(&r->source);
    const char *what = ald__csv_foreign(head, size);
    ald__csv_fault nul = {0, 0, 0, ALD__CSV_FAULT_NUL};
    *skip = size >= 3 && memcmp(head, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (what != NULL)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "%s: this is %s, not CSV", name, what);
    what = ald__csv_other_encoding(head, size);
    if (what != NULL)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, 0,
                             "%s: this looks like %s, not UTF-8\npass --encoding %s", name,
                             what[6] == '\0' ? "UTF-16" : "UTF-16 without a byte order mark", what);
    if (size > 4096)
        size = 4096;
    nul.offset = ald__text_nul_check(head, size);
    return nul.offset < size ? ald__csv_fault_error(r, &nul, err) : ALD_OK;
}

/* The size of a first line `sep=;`, by which spreadsheets tell each other the delimiter, and that delimiter; else 0. */
static size_t separator_line(const ald__csv_dialect *dialect, const uint8_t *p, size_t size,
                             uint8_t *delimiter)
{
    uint8_t given = dialect->delimiter;
    if (size <= 5 || (memcmp(p, "sep=", 4) != 0 && memcmp(p, "SEP=", 4) != 0))
        return 0;
    if (given != 0 ? p[4] != given : p[4] != ',' && p[4] != ';' && p[4] != '\t' && p[4] != '|')
        return 0;
    *delimiter = p[4];
    if (p[5] == '\n')
        return 6;
    return p[5] != '\r' ? 0 : size > 6 && p[6] == '\n' ? 7 : 6;
}

/* Reads the beginning: mark, delimiter, header. */
static ald_status read_beginning(ald__csv_reader *r, const ald_csv_options *o, ald_error *err)
{
    ald__csv_walk walk = {.source = &r->source, .alloc = r->alloc};
    const uint8_t *sample;
    size_t size, skip = 0;
    ald_status st;
    walk.fill = ALD__CSV_SAMPLE_BYTES;
    st = ald__csv_walk_peek(&walk, 0, ALD__CSV_SAMPLE_BYTES, &sample, &size, err);
    if (st == ALD_OK)
        st = check_beginning(r, sample, size, &skip, err);
    if (st == ALD_OK) {
        uint8_t delimiter = 0;
        size_t line = separator_line(&r->dialect, sample + skip, size - skip, &delimiter);
        r->dialect.delimiter = line > 0 ? delimiter : r->dialect.delimiter;
        skip += line;
    }
    if (st == ALD_OK && r->dialect.delimiter == 0) {
        r->dialect.delimiter = ald__csv_sniff(
            sample + skip, size - skip, size == r->source.size_bytes, &r->dialect, &r->alloc, err);
        st = r->dialect.delimiter == 0 ? ALD_E_NOMEM : ALD_OK;
    }
    r->data_begin = skip;
    if (st == ALD_OK)
        st = ald__csv_read_header(r, &walk, o->text.schema, err);
    ald__csv_walk_clear(&walk);
    return st;
}

static ald_status csv_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    ald__csv_reader *r = ctx;
    return ald_schema_copy(&r->host, &r->fields, out, err);
}

static ald_status csv_next(void *ctx, struct ArrowArray *out, ald_error *err);

static void csv_free(void *ctx)
{
    ald__csv_reader *r = ctx;
    ald_allocator alloc = r->alloc;
    ald__csv_batches_free(r);
    ald__csv_checked_free(r);
    if (r->fields.release != NULL)
        r->fields.release(&r->fields);
    if (r->marks != NULL)
        alloc.release(alloc.ctx, r->marks, r->marks_capacity);
    ald__text_free(&alloc, r->columns, r->column_count, sizeof *r->columns);
    ald__text_free(&alloc, r->names, r->names_size, 1);
    ald__text_free(&alloc, r->nulls.tokens, r->nulls.count, sizeof *r->nulls.tokens);
    ald__text_free(&alloc, r->null_bytes, r->null_bytes_size, 1);
    if (r->owns_source)
        ald_source_close(&r->source);
    ald__text_free(&alloc, r, 1, sizeof *r);
}

static ald_status open_source(ald__csv_reader *r, const ald_source *source,
                              const ald_csv_options *o, ald_error *err)
{
    ald_status st;
    r->source = *source;
    if (source->size_bytes == 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "%s: the file is empty",
                             ald__csv_source_name(source));
    if (o->text.encoding == ALD_ENCODING_UTF8)
        return ALD_OK;
    st = ald__text_decode(source, (ald_encoding)o->text.encoding, &r->host, &r->source, err);
    r->owns_source = st == ALD_OK;
    return st;
}

/* Types from the whole file, and their notes. */
static ald_status first_pass(ald__csv_reader *r, ald_error *err)
{
    ald_status st = ald__csv_survey(r, err);
    if (st == ALD_OK)
        st = ald__csv_resolve_types(r, err);
    return st == ALD_OK ? ald__csv_tell(r, err) : st;
}

/* One pass is for who can start over, and for files where it is worth it. */
static int wants_one_pass(const ald__csv_reader *r, const ald_csv_options *o, uint64_t least)
{
    uint64_t profiles = (uint64_t)r->column_count * r->threads * sizeof(ald__profile) * 3;
    return o->text.restart != NULL && o->text.infer_rows == 0 && r->source.size_bytes >= least &&
           profiles <= MOST_PROFILE_BYTES;
}

static ald_status open_reader(ald__csv_reader *r, const ald_source *source,
                              const ald_csv_options *o, uint64_t one_pass_bytes, ald_error *err)
{
    ald_status st = take_dialect(r, o, err);
    if (st == ALD_OK)
        st = take_nulls(r, o, err);
    if (st == ALD_OK)
        st = open_source(r, source, o, err);
    if (st == ALD_OK)
        st = read_beginning(r, o, err);
    if (st == ALD_OK)
        st = ald__csv_declare(r, o->text.schema, o->text.types, err);
    if (st != ALD_OK)
        return st;
    r->restart = wants_one_pass(r, o, one_pass_bytes) ? o->text.restart : NULL;
    st = r->restart != NULL ? ald__csv_guess(r, err) : first_pass(r, err);
    return st == ALD_OK ? ald__csv_batches_new(r, err) : st;
}

static ald_status make_stream(ald__csv_reader *r, struct ArrowArrayStream *out, ald_error *err)
{
    ald_stream_impl impl = {csv_schema, csv_next, csv_free, r, r->rows};
    return ald_stream_new(&impl, &r->alloc, out, err);
}

/* What the types of the whole file are is found out as ever; what the failed stream had goes to the new one. */
static ald_status start_over(ald__csv_reader *r, ald_error *err)
{
    struct ArrowArrayStream *out = r->restart;
    ald__csv_reader *next;
    ald_error surprise = {.status = ALD_OK};
    ald_status st;
    (void)ald__csv_surprise(r, &surprise);
    ald__csv_batches_free(r);
    ald__csv_checked_free(r);
    r->restart = NULL;
    r->rows = r->padded = r->skipped = 0;
    r->mark_count = 0;
    r->all_quoted = 0;
    st = first_pass(r, err);
    if (st != ALD_OK)
        return st;
    next = ald__text_alloc(&r->alloc, 1, sizeof *next, err);
    if (next == NULL)
        return ALD_E_NOMEM;
    *next = *r;
    *r = (ald__csv_reader){.alloc = next->alloc};
    st = ald__csv_batches_new(next, err);
    if (st != ALD_OK) {
        csv_free(next);
        return st;
    }
    st = make_stream(next, out, err);
    if (st == ALD_OK && err != NULL)
        *err = surprise;
    return st == ALD_OK ? ALD_E_SCHEMA_MISMATCH : st;
}

static ald_status csv_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    ald__csv_reader *r = ctx;
    ald_status st;
    if (r->batches == NULL)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET, "another stream goes on");
    st = ald__csv_batches_next(r, out, err);
    return st != ALD_OK && r->checked != NULL && r->checked->surprised ? start_over(r, err) : st;
}

ald_status ald__csv_open_tuned(const ald_source *source, const ald_csv_options *options,
                               const ald_host *host, const ald__csv_tuning *tuning,
                               struct ArrowArrayStream *out, ald_error *err)
{
    uint64_t one_pass_bytes = ONE_PASS_BYTES;
    ald_csv_options o;
    ald__csv_reader *r;
    ald_status st = take_csv_options(options, &o, err);
    out->release = NULL;
    if (st != ALD_OK)
        return st;
    r = ald__text_alloc(&host->alloc, 1, sizeof *r, err);
    if (r == NULL)
        return ALD_E_NOMEM;
    r->alloc = host->alloc;
    r->host = *host;
    r->threads = host->run_tasks != NULL && host->thread_count > 1 ? host->thread_count : 1;
    r->no_header = o.no_header != 0;
    r->text = o.text;
    r->text.schema = r->text.types = NULL;
    r->dialect.samples = SAMPLES;
    if (tuning != NULL) {
        r->dialect.masks = tuning->masks;
        r->dialect.numbers = tuning->numbers;
        r->dialect.block_bytes = tuning->block_bytes;
        r->dialect.slab_bytes = tuning->slab_bytes;
        if (tuning->samples != 0)
            r->dialect.samples = tuning->samples;
        if (tuning->one_pass_bytes != 0)
            one_pass_bytes = tuning->one_pass_bytes;
    }
    st = open_reader(r, source, &o, one_pass_bytes, err);
    if (st != ALD_OK) {
        csv_free(r);
        return st;
    }
    return make_stream(r, out, err);
}

ald_status ald_csv_open(const ald_source *source, const ald_csv_options *options,
                        const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    return ald__csv_open_tuned(source, options, host, NULL, out, err);
}
