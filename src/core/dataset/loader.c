/* SPDX-License-Identifier: MIT */
/* The order is computed for each position: a permutation of blocks, then one of the rows of a window. ald/loader.h has the
 * formula. Only the last block may be short, and its place in the order is known, so that positions are told apart by
 * division. */
#include "ald/loader.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"

#define GOLDEN 0x9E3779B97F4A7C15u
#define ROUNDS 8u
#define KNOWN_BLOCKS 16u
#define WINDOW_BLOCKS_DEFAULT 4u
#define BLOCK_ROWS_DEFAULT 65536u
#define ROWS_MAX (UINT64_C(1) << 62) /* sums of positions and blocks stay in range */

struct ald_loader {
    ald_allocator alloc;
    ald_streaming *streaming; /* or NULL */
    ald_loader_options options;
    uint64_t rows, block_rows, blocks, window;
    uint64_t first, count; /* of this shard */
    uint64_t epoch, position;
    uint8_t *columns; /* or NULL */
    size_t column_count;
};

/* ---- permutations */

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t make_key(uint64_t seed, uint64_t epoch, uint64_t level, uint64_t number)
{
    uint64_t h = mix(seed + GOLDEN);
    h = mix((h ^ epoch) + GOLDEN);
    h = mix((h ^ level) + GOLDEN);
    return mix((h ^ number) + GOLDEN);
}

/* Of 0 … count - 1, by Feistel rounds on halves of `bits` bits. */
typedef struct permutation {
    uint64_t key, count, mask;
    unsigned bits;
} permutation;

static permutation permutation_of(uint64_t key, uint64_t count)
{
    permutation p = {key, count, 0, 1};
    while (p.bits < 32 && (count - 1) >> (2 * p.bits) != 0)
        p.bits++;
    p.mask = (UINT64_C(1) << p.bits) - 1;
    return p;
}

static uint64_t permute(const permutation *p, uint64_t i)
{
    do {
        uint64_t l = i >> p->bits, r = i & p->mask;
        for (uint64_t j = 1; j <= ROUNDS; j++) {
            uint64_t next = l ^ (mix((p->key ^ r) + j * GOLDEN) & p->mask);
            l = r;
            r = next;
        }
        i = l << p->bits | r;
    } while (i >= p->count);
    return i;
}

/* Where permute puts i from. */
static uint64_t permute_back(const permutation *p, uint64_t i)
{
    do {
        uint64_t l = i >> p->bits, r = i & p->mask;
        for (uint64_t j = ROUNDS; j > 0; j--) {
            uint64_t before = r ^ (mix((p->key ^ l) + j * GOLDEN) & p->mask);
            r = l;
            l = before;
        }
        i = l << p->bits | r;
    } while (i >= p->count);
    return i;
}

/* ---- one epoch's order */

typedef struct order {
    const ald_loader *loader;
    uint64_t epoch;
    permutation blocks;
    uint64_t gap;      /* rows that the last block is short of */
    uint64_t short_at; /* its place in the order of blocks */
    /* The window that was looked at last, [begin, end) of the positions, and some of its blocks. */
    uint64_t window, begin, end;
    permutation rows;
    uint64_t known[KNOWN_BLOCKS]; /* UINT64_MAX: not yet */
} order;

static order order_of(const ald_loader *l, uint64_t epoch)
{
    order o;
    memset(&o, 0, sizeof o);
    o.loader = l;
    o.epoch = epoch;
    if (l->rows > 0) {
        o.blocks = permutation_of(make_key(l->options.seed, epoch, 1, 0), l->blocks);
        o.gap = l->blocks * l->block_rows - l->rows;
        o.short_at = permute_back(&o.blocks, l->blocks - 1);
    }
    return o;
}

/* The position at which the j-th block in order begins. */
static uint64_t block_begin(const order *o, uint64_t j)
{
    return j * o->loader->block_rows - (j > o->short_at ? o->gap : 0);
}

/* Which block in order has a position. */
static uint64_t block_at(const order *o, uint64_t position)
{
    uint64_t short_end = (o->short_at + 1) * o->loader->block_rows - o->gap;
    return (position < short_end ? position : position + o->gap) / o->loader->block_rows;
}

static void open_window(order *o, uint64_t position)
{
    const ald_loader *l = o->loader;
    uint64_t first;
    o->window = block_at(o, position) / l->window;
    first = o->window * l->window;
    o->begin = block_begin(o, first);
    o->end = l->blocks - first > l->window ? block_begin(o, first + l->window) : l->rows;
    o->rows = permutation_of(make_key(l->options.seed, o->epoch, 2, o->window), o->end - o->begin);
    for (size_t i = 0; i < KNOWN_BLOCKS; i++)
        o->known[i] = UINT64_MAX;
}

/* The j-th block in order. */
static uint64_t block_number(order *o, uint64_t j)
{
    uint64_t *known = &o->known[j % KNOWN_BLOCKS];
    if (o->loader->window > KNOWN_BLOCKS)
        return permute(&o->blocks, j);
    if (*known == UINT64_MAX)
        *known = permute(&o->blocks, j);
    return *known;
}

static uint64_t row_at(order *o, uint64_t position)
{
    uint64_t j;
    if (o->loader->options.sequential)
        return position;
    if (position < o->begin || position >= o->end)
        open_window(o, position);
    position = o->begin + permute(&o->rows, position - o->begin);
    j = block_at(o, position);
    return block_number(o, j) * o->loader->block_rows + (position - block_begin(o, j));
}

/* ---- making */

static ald_status copy_options(const ald_loader_options *from, ald_loader_options *to,
                               ald_error *err)
{
    static const ald_loader_options defaults = ALD_LOADER_OPTIONS_INIT;
    *to = defaults;
    if (from == NULL)
        return ALD_OK;
    if (from->struct_size < sizeof *to)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "ald_loader_options: struct_size %u is too small", from->struct_size);
    for (size_t i = sizeof *to; i < from->struct_size; i++) {
        if (((const uint8_t *)from)[i] != 0)
            return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "ald_loader_options: a member that this version does not know is set");
    }
    *to = *from;
    return ALD_OK;
}

static uint64_t largest_chunk(const ald_info *info)
{
    uint64_t rows = 0;
    for (uint64_t i = 0; i < info->chunk_count; i++) {
        if (info->chunks[i].num_rows > rows)
            rows = info->chunks[i].num_rows;
    }
    return rows;
}

static ald_status set_rows(ald_loader *l, ald_error *err)
{
    const ald_loader_options *o = &l->options;
    if (l->streaming != NULL && o->row_count != 0)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "row_count is set, but the file says how many rows there are");
    l->rows = l->streaming != NULL ? ald_streaming_row_count(l->streaming) : o->row_count;
    if (l->rows > ROWS_MAX)
        return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "%llu rows",
                         (unsigned long long)l->rows);
    l->block_rows = o->block_rows;
    if (l->block_rows == 0)
        l->block_rows = l->streaming != NULL ? largest_chunk(ald_streaming_info(l->streaming))
                                             : BLOCK_ROWS_DEFAULT;
    if (l->block_rows > l->rows || l->block_rows == 0)
        l->block_rows = l->rows > 0 ? l->rows : 1;
    l->blocks = l->rows / l->block_rows + (l->rows % l->block_rows != 0);
    l->window = o->window_blocks != 0 ? o->window_blocks : WINDOW_BLOCKS_DEFAULT;
    return ALD_OK;
}

static ald_status set_shard(ald_loader *l, ald_error *err)
{
    uint64_t shards = l->options.shard_count != 0 ? l->options.shard_count : 1;
    uint64_t shard = l->options.shard, more = l->rows % shards;
    if (shard >= shards)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "shard %llu of %llu",
                         (unsigned long long)shard, (unsigned long long)shards);
    l->first = l->rows / shards * shard + (shard < more ? shard : more);
    l->count = l->rows / shards + (shard < more);
    return ALD_OK;
}

static ald_status set_columns(ald_loader *l, ald_error *err)
{
    const uint8_t *columns = l->options.columns;
    l->options.columns = NULL;
    if (columns == NULL || l->streaming == NULL)
        return ALD_OK;
    l->column_count = (size_t)ald_streaming_schema(l->streaming)->n_children;
    l->columns = ald__alloc(&l->alloc, l->column_count, err);
    if (l->columns == NULL)
        return ALD_E_NOMEM;
    memcpy(l->columns, columns, l->column_count);
    return ALD_OK;
}

ald_status ald_loader_new(ald_streaming *streaming, const ald_loader_options *options,
                          const ald_host *host, ald_loader **out, ald_error *err)
{
    ald_loader *l = ald__alloc_zero(&host->alloc, sizeof *l, err);
    ald_status st;
    *out = NULL;
    if (l == NULL)
        return ALD_E_NOMEM;
    l->alloc = host->alloc;
    l->streaming = streaming;
    st = copy_options(options, &l->options, err);
    if (st == ALD_OK)
        st = set_rows(l, err);
    if (st == ALD_OK)
        st = set_shard(l, err);
    if (st == ALD_OK)
        st = set_columns(l, err);
    if (st != ALD_OK) {
        ald_loader_free(l);
        return st;
    }
    *out = l;
    return ALD_OK;
}

void ald_loader_free(ald_loader *loader)
{
    ald_allocator alloc;
    if (loader == NULL)
        return;
    alloc = loader->alloc;
    if (loader->columns != NULL)
        ald__release(&alloc, loader->columns, loader->column_count);
    ald__release(&alloc, loader, sizeof *loader);
}

/* ---- reading */

uint64_t ald_loader_count(const ald_loader *loader)
{
    return loader->count;
}

uint64_t ald_loader_epoch(const ald_loader *loader)
{
    return loader->epoch;
}

uint64_t ald_loader_position(const ald_loader *loader)
{
    return loader->position;
}

ald_status ald_loader_index(const ald_loader *l, uint64_t epoch, uint64_t position, uint64_t *row,
                            ald_error *err)
{
    order o;
    if (position >= l->count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "position %llu of %llu",
                         (unsigned long long)position, (unsigned long long)l->count);
    o = order_of(l, epoch);
    *row = row_at(&o, l->first + position);
    return ALD_OK;
}

ald_status ald_loader_read(const ald_loader *l, uint64_t epoch, uint64_t position, size_t count,
                           struct ArrowArray *out, ald_error *err)
{
    order o = order_of(l, epoch);
    uint64_t *rows;
    size_t size;
    ald_status st;
    out->release = NULL;
    if (l->streaming == NULL || position > l->count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         l->streaming == NULL ? "the loader has no file"
                                              : "a position behind the shard's last row");
    if (count > l->count - position)
        count = (size_t)(l->count - position);
    if (count == 0)
        return ALD_OK;
    if (!ald__mul_size(count, sizeof *rows, &size))
        return ald__no_memory(err, SIZE_MAX);
    rows = ald__alloc(&l->alloc, size, err);
    if (rows == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < count; i++)
        rows[i] = row_at(&o, l->first + position + i);
    st = ald_streaming_take(l->streaming, rows, count, l->columns, out, err);
    ald__release(&l->alloc, rows, size);
    return st;
}

ald_status ald_loader_seek(ald_loader *l, uint64_t epoch, uint64_t position, ald_error *err)
{
    if (position > l->count)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "position %llu of %llu",
                         (unsigned long long)position, (unsigned long long)l->count);
    l->epoch = epoch;
    l->position = position;
    return ALD_OK;
}

ald_status ald_loader_next(ald_loader *l, size_t count, struct ArrowArray *out, ald_error *err)
{
    ALD_TRY(ald_loader_read(l, l->epoch, l->position, count, out, err));
    if (out->release != NULL)
        l->position += (uint64_t)out->length;
    return ALD_OK;
}
