/* SPDX-License-Identifier: MIT */
/* A JSON text holds no raw newline inside a string, so every newline ends a line, wherever one starts to look. */
#include "interchange/jsonl/json_records.h"

#include <string.h>

#include "interchange/jsonl/json_element.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Read at a time: stays in the second-level cache with what is made of it. */
#define READ_BYTES ((size_t)256 << 10)
#define KEPT_BYTES ((size_t)2 << 20) /* a larger window shrinks when its record is done */

#if defined(__SSE2__)
static unsigned newline_mask(const uint8_t *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8('\n')));
}
#define STEP 16
#define FIRST_OF(mask) ((unsigned)__builtin_ctz(mask))
#else
/* One bit in the top of each of eight bytes that is a newline. */
static uint64_t newline_bits(const uint8_t *p)
{
    uint64_t v, low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    memcpy(&v, p, sizeof v);
    v ^= UINT64_C(0x0a0a0a0a0a0a0a0a);
    return ~(((v & low) + low) | v | low);
}
#define STEP 8
#define FIRST_OF(mask) ((unsigned)__builtin_ctzll(mask) >> 3)
#define newline_mask newline_bits
#endif

const uint8_t *ald__json_find_newline(const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i + 4 * STEP <= n && !(newline_mask(p + i) | newline_mask(p + i + STEP) |
                                  newline_mask(p + i + 2 * STEP) | newline_mask(p + i + 3 * STEP)))
        i += 4 * STEP;
    for (; i + STEP <= n; i += STEP) {
        if (newline_mask(p + i) != 0)
            return p + i + FIRST_OF(newline_mask(p + i));
    }
    for (; i < n; i++) {
        if (p[i] == '\n')
            return p + i;
    }
    return NULL;
}

uint64_t ald__json_count_newlines(const uint8_t *p, size_t n)
{
    uint64_t count = 0;
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        count += (uint64_t)__builtin_popcountll(newline_mask(p + i));
    for (; i < n; i++)
        count += p[i] == '\n';
    return count;
}

void ald__json_records_init(ald__json_records *records, const ald_source *source,
                            const ald_allocator *alloc, uint64_t max_bytes, int is_array)
{
    memset(records, 0, sizeof *records);
    records->source = source;
    records->alloc = alloc;
    records->max_bytes = max_bytes;
    records->is_array = is_array;
}

void ald__json_records_clear(ald__json_records *records)
{
    if (records->data)
        records->alloc->release(records->alloc->ctx, records->data, records->capacity);
    records->data = NULL;
    records->capacity = 0;
    records->size = records->pos = 0;
}

static ald_status no_memory(size_t size, ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "cannot allocate %zu bytes", size);
}

/* Moves what is unread into a block of `capacity` bytes, or to the front of the one there is. */
static ald_status make_room(ald__json_records *r, size_t capacity, ald_error *err)
{
    size_t unread = r->size - r->pos;
    const ald_allocator *alloc = r->alloc;
    uint8_t *data = r->data;
    if (r->pos && unread)
        memmove(data, data + r->pos, unread);
    r->start += r->pos;
    r->pos = 0;
    r->size = unread;
    if (capacity == r->capacity)
        return ALD_OK;
    data = data ? alloc->resize(alloc->ctx, data, r->capacity, capacity)
                : alloc->alloc(alloc->ctx, capacity);
    if (!data)
        return no_memory(capacity, err);
    r->data = data;
    r->capacity = capacity;
    return ALD_OK;
}

static ald_status read_source(const ald_source *source, uint64_t offset, uint8_t *buf, size_t size,
                              ald_error *err)
{
    const void *view = source->view ? source->view(source->ctx, offset, size) : NULL;
    if (!view)
        return source->read_at(source->ctx, offset, buf, size, err);
    memcpy(buf, view, size);
    return ALD_OK;
}

ald_status ald__json_records_more(ald__json_records *r, int *grew, ald_error *err)
{
    size_t unread = r->size - r->pos, room, capacity = r->capacity;
    uint64_t end = r->start + r->size, left = r->source->size_bytes - end;
    ald_status status;
    *grew = 0;
    if (left == 0)
        return ALD_OK;
    if (unread > r->max_bytes)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, r->start + r->pos, "longer than %llu bytes",
                             (unsigned long long)r->max_bytes);
    if (unread + ALD__JSON_PADDING + READ_BYTES / 2 > capacity) {
        capacity = unread < READ_BYTES ? 2 * READ_BYTES : unread + unread / 2 + READ_BYTES;
        if (capacity < unread)
            return no_memory(unread, err);
        if (capacity - ALD__JSON_PADDING > unread + left) /* all that is to come */
            capacity = unread + (size_t)left + ALD__JSON_PADDING;
    } else if (capacity > KEPT_BYTES && unread < READ_BYTES) {
        capacity = 2 * READ_BYTES;
    }
    status = make_room(r, capacity, err);
    if (status != ALD_OK)
        return status;
    room = r->capacity - r->size - ALD__JSON_PADDING;
    if (room > READ_BYTES)
        room = READ_BYTES;
    if (room > left)
        room = (size_t)left;
    status = read_source(r->source, end, r->data + r->size, room, err);
    if (status != ALD_OK)
        return status;
    r->size += room;
    *grew = 1;
    return ALD_OK;
}

/* The end of the line at pos: the window then holds it. *size is without the newline, *step with it. */
static ald_status find_line(ald__json_records *r, size_t *size, size_t *step, ald_error *err)
{
    size_t seen = 0;
    for (;;) {
        size_t n = r->size - r->pos - seen;
        const uint8_t *from = n ? r->data + r->pos + seen : NULL; /* there may be no data yet */
        const uint8_t *newline = n ? ald__json_find_newline(from, n) : NULL;
        int grew;
        ald_status status;
        if (newline) {
            *size = seen + (size_t)(newline - from);
            *step = *size + 1;
            return ALD_OK;
        }
        seen += n;
        status = ald__json_records_more(r, &grew, err);
        if (status != ALD_OK)
            return status;
        if (!grew) {
            *size = *step = seen;
            return ALD_OK;
        }
    }
}

/* Records are parsed in place: what was read once is not what the source holds, so nothing of the window is kept. */
void ald__json_records_seek(ald__json_records *r, uint64_t offset)
{
    r->lines = 0;
    r->state = 0;
    r->reached = 0;
    r->is_lost = 0;
    r->start = offset;
    r->size = r->pos = 0;
}

ald_status ald__json_records_find(ald__json_records *r, uint64_t offset, uint64_t limit,
                                  ald_error *err)
{
    r->lines = 0;
    if (offset == r->reached && offset > 0)
        return ALD_OK; /* the last search ended on the first line there */
    ald__json_records_seek(r, offset > 0 ? offset - 1 : 0);
    while (offset > 0 && r->start + r->pos < limit) {
        const uint8_t *newline = NULL;
        int grew;
        ald_status status;
        if (r->size > r->pos)
            newline = ald__json_find_newline(r->data + r->pos, r->size - r->pos);
        if (newline) {
            r->pos = (size_t)(newline - r->data) + 1;
            return ALD_OK;
        }
        r->pos = r->size;
        status = ald__json_records_more(r, &grew, err);
        if (status != ALD_OK)
            return status;
        if (!grew)
            break;
    }
    r->is_lost = offset > 0;
    return ALD_OK;
}

static int is_blank(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return 0;
    }
    return 1;
}

ald_status ald__json_records_next(ald__json_records *r, uint64_t limit, ald__json_record *out,
                                  ald_error *err)
{
    out->data = NULL;
    if (r->is_lost)
        return ALD_OK;
    r->reached = limit;
    if (r->is_array)
        return ald__json_element_next(r, limit, out, err);
    while (r->start + r->pos < limit && r->start + r->pos < r->source->size_bytes) {
        size_t size, step;
        ald_status status = find_line(r, &size, &step, err);
        uint8_t *line = r->data + r->pos;
        if (status == ALD_OK && size > r->max_bytes)
            status = ald_error_set(err, ALD_E_LIMIT_EXCEEDED, r->start + r->pos,
                                   "longer than %llu bytes", (unsigned long long)r->max_bytes);
        if (status != ALD_OK) {
            out->offset = r->start + r->pos;
            return status;
        }
        out->offset = r->start + r->pos;
        r->pos += step;
        r->lines++;
        if (size && (line[0] == '{' || !is_blank(line, size))) {
            out->data = line;
            out->size = size;
            return ALD_OK;
        }
    }
    return ALD_OK;
}

#if defined(__SSE2__)
#define BLOCK 64u
/* A bit for each of BLOCK bytes that is `c`. */
static uint64_t block_mask(const uint8_t *p, char c)
{
    const __m128i wanted = _mm_set1_epi8(c);
    uint64_t mask = 0;
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        mask |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, wanted)) << i;
    }
    return mask;
}
#else
#define BLOCK 8u
static uint64_t block_mask(const uint8_t *p, char c)
{
    uint64_t v, low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    memcpy(&v, p, sizeof v);
    v ^= UINT64_C(0x0101010101010101) * (uint8_t)c;
    v = ~(((v & low) + low) | v | low) >> 7;
    return v * UINT64_C(0x0102040810204080) >> 56; /* the lowest bits of the bytes, side by side */
}
#endif

/* Counts lines of n bytes at p, where one begins, as long as each begins with an object and ends before n. Returns how many
 * bytes they take. */
static size_t count_plain(const uint8_t *p, size_t n, uint64_t *lines)
{
    size_t end = 0;
    uint64_t begins = 1; /* bit 0: a line begins with the next block */
    for (size_t i = 0; i + BLOCK <= n; i += BLOCK) {
        uint64_t newlines = block_mask(p + i, '\n'), last = newlines >> (BLOCK - 1);
        begins |= newlines << 1;
        if (BLOCK < 64)
            begins &= (UINT64_C(1) << (BLOCK % 64)) - 1;
        if (begins && (begins & ~block_mask(p + i, '{')))
            break;
        begins = last;
        for (; newlines; newlines &= newlines - 1) {
            end = i + (size_t)__builtin_ctzll(newlines) + 1;
            ++*lines;
        }
    }
    return end;
}

ald_status ald__json_records_count(ald__json_records *r, uint64_t limit, uint64_t *count,
                                   ald__json_record *last, ald_error *err)
{
    for (;;) {
        ald_status status;
        if (!r->is_array && !r->is_lost && r->max_bytes >= r->size && r->start + r->pos < limit) {
            uint64_t left = limit - (r->start + r->pos), lines = 0;
            size_t n = r->size - r->pos;
            if (n > left)
                n = (size_t)left;
            if (n > 0)
                r->pos += count_plain(r->data + r->pos, n, &lines);
            r->lines += lines;
            *count += lines;
        }
        status = ald__json_records_next(r, limit, last, err);
        if (status != ALD_OK || !last->data)
            return status;
        ++*count;
    }
}
