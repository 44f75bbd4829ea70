/* SPDX-License-Identifier: MIT */
/* Which filter for strings, and all of them but the one with numbers. */
#include <string.h>

#include "core/codec/packed/pack.h"

#define RUNS 8u
#define RUN_BYTES 8192u
#define RUN_ROWS 2048u
#define FRONT_GAIN 0.94
#define NUMBERS_GAIN 0.85 /* it decodes slowest */
#define DIGITS_PART 8u
#define INDEX_SAMPLE 4096u

/* ---- Lengths */

static ald_status put_lengths(ald__pack *pack, const uint32_t *lengths, size_t n,
                              ald__packed_ints *p, ald__streams *out)
{
    ald__numbers series = {(const uint8_t *)lengths, n, 4, 0};
    return ald__ints_put_best(pack, &series, ALD__MODES_ALL, p, out);
}

static uint32_t *lengths_of(ald__pack *pack, const ald__strings *v)
{
    uint32_t *lengths = ald__pack_room(pack, &pack->numbers, v->n * sizeof *lengths);
    for (size_t i = 0; lengths != NULL && i < v->n; i++)
        lengths[i] = v->offsets[i + 1] - v->offsets[i];
    return lengths;
}

/* ---- Filters */

ald_status ald__pack_str(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                         ald__streams *out, int *done)
{
    uint32_t *lengths = lengths_of(pack, v);
    if (lengths == NULL)
        return ALD_E_NOMEM;
    *done = 1;
    ALD_TRY(put_lengths(pack, lengths, v->n, &entry->ints, out));
    return ald__streams_put(out, v->data, ald__strings_size(v), 1, pack->err);
}

static ald_status pack_strfix(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                              ald__streams *out, int *done)
{
    size_t size = ald__strings_size(v), length = v->n > 0 ? v->offsets[1] : 0;
    uint8_t *planes;
    *done = 0;
    if (length == 0 || length > 255 || length * v->n != size)
        return ALD_OK;
    for (size_t i = 0; i < v->n; i++) {
        if (v->offsets[i + 1] - v->offsets[i] != length)
            return ALD_OK;
    }
    planes = ald__streams_room(out, size, pack->err);
    if (planes == NULL)
        return ALD_E_NOMEM;
    ald__bytes_split(v->data, v->n, length, planes);
    for (size_t j = 0; j < length; j++)
        ALD_TRY(ald__streams_end(out, v->n, 0, pack->err));
    entry->small = (uint8_t)length;
    *done = 1;
    return ALD_OK;
}

/* Bytes of a dictionary's words, its lengths in pack->numbers and text in `to` (or NULL: only counted). */
static size_t gather_words(const ald__pack *pack, const ald__strings *v, size_t count,
                           uint32_t *lengths, uint8_t *to)
{
    const uint32_t *words = (const uint32_t *)(const void *)pack->words.data;
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t begin = v->offsets[words[i]];
        lengths[i] = v->offsets[words[i] + 1] - begin;
        if (to != NULL && lengths[i] > 0)
            memcpy(to + size, v->data + begin, lengths[i]);
        size += lengths[i];
    }
    return size;
}

ald_status ald__pack_strdict(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                             ald__streams *out, int *done)
{
    size_t limit = pack->forced > 0 ? v->n : v->n / 2, count, size;
    uint32_t *lengths;
    uint8_t *text;
    *done = 0;
    if (limit > ALD__PACKED_WORDS_MAX - 1)
        limit = ALD__PACKED_WORDS_MAX - 1;
    ALD_TRY(ald__pack_words(pack, v, limit, &count));
    if (count == 0 && v->n > 0)
        return ALD_OK;
    lengths = ald__pack_room(pack, &pack->numbers, count * sizeof *lengths);
    if (lengths == NULL)
        return ALD_E_NOMEM;
    size = gather_words(pack, v, count, lengths, NULL);
    entry->count = (uint32_t)count;
    entry->word_bytes = (uint32_t)size;
    entry->index_bits = ald__pack_bits(pack, count > 0 ? count - 1 : 0);
    ALD_TRY(put_lengths(pack, lengths, count, &entry->ints, out));
    text = ald__streams_room(out, size, pack->err);
    if (text == NULL)
        return ALD_E_NOMEM;
    (void)gather_words(pack, v, count, lengths, text);
    ALD_TRY(ald__streams_end(out, size, 1, pack->err));
    *done = 1;
    return ald__indices_put(pack, (const uint16_t *)(const void *)pack->indices.data, v->n,
                            entry->index_bits, out);
}

/* A dictionary as a filter of its own says its words' bytes elsewhere than one of templates. */
static ald_status pack_dictionary(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                                  ald__streams *out, int *done)
{
    ALD_TRY(ald__pack_strdict(pack, v, entry, out, done));
    entry->bytes = entry->word_bytes;
    return ALD_OK;
}

static uint32_t shared_bytes(const ald__strings *v, size_t i)
{
    const uint8_t *a = v->data + v->offsets[i - 1], *b = v->data + v->offsets[i];
    uint32_t most = v->offsets[i] - v->offsets[i - 1], size = v->offsets[i + 1] - v->offsets[i];
    uint32_t shared = 0;
    if (size < most)
        most = size;
    while (shared < most && a[shared] == b[shared])
        shared++;
    return shared;
}

static ald_status pack_strfront(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                                ald__streams *out, int *done)
{
    uint32_t *shared = ald__pack_room(pack, &pack->numbers, v->n * 2 * sizeof *shared);
    uint32_t *rests = shared + v->n;
    uint8_t *text;
    size_t size = 0;
    if (shared == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < v->n; i++) {
        shared[i] = i > 0 ? shared_bytes(v, i) : 0;
        rests[i] = v->offsets[i + 1] - v->offsets[i] - shared[i];
        size += rests[i];
    }
    ALD_TRY(put_lengths(pack, shared, v->n, &entry->ints, out));
    ALD_TRY(put_lengths(pack, rests, v->n, &entry->extra, out));
    text = ald__streams_room(out, size, pack->err);
    if (text == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < v->n; text += rests[i++]) {
        if (rests[i] > 0)
            memcpy(text, v->data + v->offsets[i] + shared[i], rests[i]);
    }
    entry->bytes = (uint32_t)size;
    *done = 1;
    return ald__streams_end(out, size, 1, pack->err);
}

/* ---- The choice */

typedef struct text_column {
    ald__pack *pack;
    const ald__strings *v;
    ald__strings sample;
    double scale; /* of the column to the sample, by bytes */
} text_column;

static ald__pack_text *const text_filters[ALD__FILTER_COUNT] = {
    [ALD__FILTER_STR] = ald__pack_str,       [ALD__FILTER_STRFIX] = pack_strfix,
    [ALD__FILTER_STRDICT] = pack_dictionary, [ALD__FILTER_STRNUM] = ald__pack_strnum,
    [ALD__FILTER_STRFRONT] = pack_strfront,
};

static ald_status build_text(ald__pack *pack, uint8_t filter, const ald__strings *v,
                             ald__packed_entry *entry, ald__streams *out, int *done)
{
    memset(entry, 0, offsetof(ald__packed_entry, slots));
    ald__streams_reset(out);
    entry->filter = filter;
    *done = 0;
    return text_filters[filter](pack, v, entry, out, done);
}

/* Runs of rows spread over the column; all of it when it is small. */
static ald_status sample_strings(text_column *c)
{
    const ald__strings *v = c->v;
    size_t room = RUNS * (RUN_ROWS + 1), used = 0, n = 0;
    uint32_t *offsets;
    uint8_t *data;
    c->sample = *v;
    c->scale = 1;
    if (ald__strings_size(v) <= RUNS * RUN_BYTES && v->n <= RUNS * RUN_ROWS)
        return ALD_OK;
    offsets = ald__pack_room(c->pack, &c->pack->sample_offsets, room * sizeof *offsets);
    data = ald__pack_room(c->pack, &c->pack->sample, RUNS * RUN_BYTES);
    if (offsets == NULL || data == NULL)
        return ALD_E_NOMEM;
    offsets[0] = 0;
    for (size_t r = 0; r < RUNS; r++) {
        size_t row = v->n / RUNS * r, end = row + (v->n / RUNS < RUN_ROWS ? v->n / RUNS : RUN_ROWS);
        for (; row < end; row++) {
            size_t size = v->offsets[row + 1] - v->offsets[row];
            if (used + size > (r + 1) * RUN_BYTES)
                break;
            if (size > 0)
                memcpy(data + used, v->data + v->offsets[row], size);
            used += size;
            offsets[++n] = (uint32_t)used;
        }
    }
    c->sample = (ald__strings){data, offsets, n};
    if (n == 0) /* strings larger than a run: they are the sample */
        c->sample = *v;
    else
        c->scale = (double)(ald__strings_size(v) + v->n) / (double)(used + n);
    return ALD_OK;
}

static ald_status sample_cost(text_column *c, uint8_t filter, double *cost, int *done)
{
    ald__packed_entry entry;
    ALD_TRY(build_text(c->pack, filter, &c->sample, &entry, &c->pack->trial, done));
    if (*done)
        *cost = ald__pack_cost(c->pack, &c->pack->trial);
    return ALD_OK;
}

/* Of a built dictionary: text by its beginning, indices by a part of them. */
static double dictionary_cost(text_column *c, const ald__packed_entry *e)
{
    ald__pack *pack = c->pack;
    const uint8_t *bytes = pack->best.bytes.data;
    size_t lengths = (size_t)ald__planes_bytes(e->count, e->ints.bits), text = e->bytes;
    size_t indices = pack->best.bytes.size - lengths - text;
    size_t part = text < RUNS * RUN_BYTES ? text : RUNS * RUN_BYTES;
    size_t some = indices < INDEX_SAMPLE ? indices : INDEX_SAMPLE;
    double cost = ald__pack_plane_cost(bytes, lengths), symbols, matched;
    if (part > 0)
        cost += (double)ald__squeezer_estimate(pack->squeezer, bytes + lengths, part) /
                (double)part * (double)text;
    if (indices == 0)
        return cost;
    bytes += lengths + text;
    symbols = ald__pack_plane_cost(bytes, indices);
    matched = (double)ald__squeezer_estimate(pack->squeezer, bytes + (indices - some) / 2, some) /
              (double)some * (double)indices;
    return cost + (matched < symbols ? matched : symbols);
}

/* An eighth of the text is digits. */
static int has_digits(const ald__strings *v)
{
    size_t size = ald__strings_size(v), digits = 0;
    for (size_t i = 0; i < size; i++)
        digits += (uint8_t)(v->data[i] - '0') < 10;
    return size > 0 && digits * DIGITS_PART >= size;
}

static ald_status choose_text(text_column *c, uint8_t *filter, double *cost)
{
    double other;
    int done;
    *filter = ALD__FILTER_STR;
    ALD_TRY(sample_cost(c, ALD__FILTER_STR, cost, &done));
    ALD_TRY(sample_cost(c, ALD__FILTER_STRFIX, &other, &done));
    if (done && other < *cost) {
        *filter = ALD__FILTER_STRFIX;
        *cost = other;
    }
    ALD_TRY(sample_cost(c, ALD__FILTER_STRFRONT, &other, &done));
    if (done && other < FRONT_GAIN * *cost) {
        *filter = ALD__FILTER_STRFRONT;
        *cost = other;
    }
    return ALD_OK;
}

static ald_status pack_text_default(text_column *c, ald__packed_entry *entry)
{
    ald__pack *pack = c->pack;
    uint8_t filter;
    double cost, other;
    int done, built;
    ALD_TRY(choose_text(c, &filter, &cost));
    cost *= c->scale;
    ALD_TRY(build_text(pack, ALD__FILTER_STRDICT, c->v, entry, &pack->best, &built));
    if (built) {
        other = dictionary_cost(c, entry);
        built = other < cost;
        if (built)
            cost = other;
    }
    if (pack->effort != ALD__PACK_FAST && has_digits(&c->sample)) {
        ALD_TRY(sample_cost(c, ALD__FILTER_STRNUM, &other, &done));
        if (done && other * c->scale < NUMBERS_GAIN * cost) {
            ALD_TRY(build_text(pack, ALD__FILTER_STRNUM, c->v, entry, &pack->best, &done));
            if (done)
                return ALD_OK;
            built = 0;
            filter = filter == ALD__FILTER_STRFIX ? ALD__FILTER_STR : filter;
        }
    }
    if (built)
        return ALD_OK;
    ALD_TRY(build_text(pack, filter, c->v, entry, &pack->best, &done));
    return done ? ALD_OK : build_text(pack, ALD__FILTER_STR, c->v, entry, &pack->best, &done);
}

/* Every filter over the whole column, really compressed. */
static ald_status pack_text_best(text_column *c, ald__packed_entry *entry)
{
    ald__pack *pack = c->pack;
    size_t best = SIZE_MAX, bytes;
    ald__packed_entry tried;
    int done;
    for (uint32_t f = ALD__FILTER_STR; f <= ALD__FILTER_STRFRONT; f++) {
        ALD_TRY(build_text(pack, (uint8_t)f, c->v, &tried, &pack->trial, &done));
        if (!done)
            continue;
        ALD_TRY(ald__pack_real_cost(pack, &pack->trial, &bytes));
        if (bytes >= best)
            continue;
        best = bytes;
        *entry = tried;
        ald__streams_swap(&pack->best, &pack->trial);
    }
    return ALD_OK;
}

ald_status ald__pack_strings(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry)
{
    text_column c = {pack, v, {NULL, NULL, 0}, 1};
    int done = 0;
    if (pack->forced > 0) {
        uint8_t filter = (uint8_t)(pack->forced - 1);
        if (filter < ALD__FILTER_COUNT && text_filters[filter] != NULL)
            ALD_TRY(build_text(pack, filter, v, entry, &pack->best, &done));
        return done ? ALD_OK : build_text(pack, ALD__FILTER_STR, v, entry, &pack->best, &done);
    }
    if (pack->effort == ALD__PACK_BEST)
        return pack_text_best(&c, entry);
    ALD_TRY(sample_strings(&c));
    return pack_text_default(&c, entry);
}
