/* SPDX-License-Identifier: MIT */
/* Knows what speaks for a delimiter: records that all have as many fields as the first one, and more than one. */
#include "interchange/csv/sniff.h"

#include <string.h>

#include "interchange/text/mem.h"

#define FIELD_BINS 2048
#define SAMPLE_RECORDS 20000

typedef struct verdict {
    uint32_t records, agreeing;  /* with the most frequent number of fields */
    uint32_t fields;             /* that number */
    uint32_t first;              /* fields of the first record */
    uint32_t breaks, in_numbers; /* delimiters; those between two digits */
} verdict;

typedef enum sniff_place {
    SNIFF_START,
    SNIFF_BARE,
    SNIFF_QUOTED,
    SNIFF_CLOSED,
    SNIFF_BROKEN
} sniff_place;

typedef struct sniffer {
    const uint8_t *p, *end;
    uint8_t delimiter, quote, comment;
    uint32_t *bins;
    verdict *v;
} sniffer;

static int is_digit_at(const sniffer *s, const uint8_t *p)
{
    return p >= s->p && p < s->end && *p >= '0' && *p <= '9';
}

static void count_record(sniffer *s, uint32_t fields)
{
    verdict *v = s->v;
    uint32_t bin = fields < FIELD_BINS ? fields : FIELD_BINS - 1;
    if (v->records == 0)
        v->first = fields;
    v->records++;
    if (bin == 0) /* quotes that make no sense: agrees with nothing */
        return;
    s->bins[bin]++;
    if (s->bins[bin] > v->agreeing) {
        v->agreeing = s->bins[bin];
        v->fields = bin;
    }
}

static sniff_place sniff_step(const sniffer *s, sniff_place place, uint8_t c)
{
    switch (place) {
    case SNIFF_START:
        return c == s->quote ? SNIFF_QUOTED : SNIFF_BARE;
    case SNIFF_QUOTED:
        return c == s->quote ? SNIFF_CLOSED : SNIFF_QUOTED;
    case SNIFF_CLOSED:
        return c == s->quote ? SNIFF_QUOTED : SNIFF_BROKEN;
    default:
        return place;
    }
}

static const uint8_t *skip_line(const uint8_t *p, const uint8_t *end)
{
    while (p < end && *p != '\n' && *p != '\r')
        p++;
    return p;
}

static void sniff_records(sniffer *s, int whole)
{
    const uint8_t *p = s->p, *record = p;
    sniff_place place = SNIFF_START;
    uint32_t fields = 1;
    int broken = 0;
    for (; p < s->end && s->v->records < SAMPLE_RECORDS; p++) {
        uint8_t c = *p;
        if (p == record && s->comment != 0 && c == s->comment) {
            p = skip_line(p, s->end);
            record = p + 1;
            continue;
        }
        if (place != SNIFF_QUOTED && (c == '\n' || c == '\r')) {
            if (p > record)
                count_record(s, broken || place == SNIFF_BROKEN ? 0 : fields);
            record = p + 1;
            fields = 1;
            broken = 0;
            place = SNIFF_START;
        } else if (place != SNIFF_QUOTED && c == s->delimiter) {
            broken |= place == SNIFF_BROKEN;
            fields++;
            s->v->breaks++;
            s->v->in_numbers += is_digit_at(s, p - 1) && is_digit_at(s, p + 1);
            place = SNIFF_START;
        } else {
            place = sniff_step(s, place, c);
        }
    }
    if ((whole && p == s->end && p > record) || s->v->records == 0)
        count_record(s, broken || place == SNIFF_BROKEN || place == SNIFF_QUOTED ? 0 : fields);
}

/* a is better than b. Records that agree count first, then how many columns they have. */
static int better(const verdict *a, const verdict *b)
{
    uint64_t left = (uint64_t)a->agreeing * b->records, right = (uint64_t)b->agreeing * a->records;
    if (a->fields < 2 || a->first < 2)
        return 0;
    if (b->fields < 2 || b->first < 2)
        return 1;
    if (left != right)
        return left > right;
    return a->fields > b->fields;
}

uint8_t ald__csv_sniff(const uint8_t *sample, size_t size, int whole,
                       const ald__csv_dialect *dialect, const ald_allocator *alloc, ald_error *err)
{
    /* On a tie the earlier one wins. */
    static const uint8_t candidates[] = {'\t', ';', ',', '|'};
    verdict verdicts[4] = {{0, 0, 0, 0, 0, 0}}, *semicolon = &verdicts[1], *comma = &verdicts[2];
    uint32_t *bins = ald__text_alloc(alloc, FIELD_BINS, sizeof *bins, err);
    size_t best = 0;
    if (bins == NULL)
        return 0;
    for (size_t i = 0; i < 4; i++) {
        sniffer s = {sample,           sample + size, candidates[i], dialect->quote,
                     dialect->comment, bins,          &verdicts[i]};
        memset(bins, 0, FIELD_BINS * sizeof *bins);
        if (candidates[i] != dialect->quote)
            sniff_records(&s, whole);
    }
    ald__text_free(alloc, bins, FIELD_BINS, sizeof *bins);
    for (size_t i = 1; i < 4; i++) {
        if (better(&verdicts[i], &verdicts[best]))
            best = i;
    }
    if (verdicts[best].fields < 2 || verdicts[best].first < 2)
        return ',';
    /* 1,5;2,5: commas inside of numbers alone, and semicolons that are right in each record */
    if (best == 2 && comma->in_numbers == comma->breaks && semicolon->fields > 1 &&
        semicolon->agreeing == semicolon->records)
        best = 1;
    return candidates[best];
}

typedef struct magic {
    uint8_t size;
    uint8_t is_text; /* a column could be named so: a control character must be there too */
    char bytes[8];
    const char *what;
} magic;

static int has_control(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < size && i < 256; i++) {
        if (head[i] < 9)
            return 1;
    }
    return 0;
}

const char *ald__csv_foreign(const uint8_t *head, size_t size)
{
    static const magic magics[] = {
        {4, 0, "PK\x03\x04", "a ZIP file (or .xlsx, .ods)"},
        {2, 0, "\x1F\x8B", "a gzip file"},
        {4, 0, "\x28\xB5\x2F\xFD", "a zstd file"},
        {4, 0, "\x04\x22\x4D\x18", "an LZ4 file"},
        {3, 1, "BZh", "a bzip2 file"},
        {6, 0,
         "\xFD"
         "7zXZ",
         "an xz file"},
        {4, 1, "PAR1", "a Parquet file"},
        {6, 1, "ARROW1", "an Arrow file"},
        {4, 1, "ALDF", "an .ald file"},
        {5, 0, "%PDF-", "a PDF file"},
        {8, 0, "\x89PNG\r\n\x1A\n", "a PNG image"},
        {3, 0, "\xFF\xD8\xFF", "a JPEG image"},
        {4, 0,
         "\x7F"
         "ELF",
         "a program"},
        {8, 0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "an old Office file (.xls)"},
        {6, 1, "SQLite", "an SQLite database"},
    };
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (size >= magics[i].size && memcmp(head, magics[i].bytes, magics[i].size) == 0 &&
            (!magics[i].is_text || has_control(head, size)))
            return magics[i].what;
    }
    return NULL;
}

const char *ald__csv_other_encoding(const uint8_t *head, size_t size)
{
    size_t even = 0, odd = 0, n = size < 1024 ? size : 1024;
    if (n >= 2 && ((head[0] == 0xFF && head[1] == 0xFE) || (head[0] == 0xFE && head[1] == 0xFF)))
        return "utf-16";
    for (size_t i = 0; i + 1 < n; i += 2) {
        even += head[i] == 0;
        odd += head[i + 1] == 0;
    }
    /* Latin letters have NUL as every other byte. */
    if (odd > n / 4 && even == 0)
        return "utf-16le";
    if (even > n / 4 && odd == 0)
        return "utf-16be";
    return NULL;
}
