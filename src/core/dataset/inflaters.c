/* SPDX-License-Identifier: MIT */
/* Slots for pointers, changed by atomic exchange: nobody waits for anybody, also not for a thread that a fork left behind.
 * A decoder and an unpacker that were used together need not meet again. */
#include "core/dataset/inflaters.h"

#include <stdatomic.h>
#include <string.h>

#include "core/base/buf.h"

#define SLOTS 16u
#define UNPACKER_MOST ((size_t)2 << 20) /* one that grew beyond this is not kept */

struct ald__inflater_pool {
    ald_allocator alloc;
    _Atomic(ald__decoder *) decoders[SLOTS];
    _Atomic(ald__unpacker *) unpackers[SLOTS];
};

ald_status ald__inflate(ald__inflaters *inflaters, uint8_t compression, const ald_allocator *alloc,
                        const uint8_t *src, size_t src_size, uint8_t *dst, size_t dst_size,
                        uint64_t offset, ald_error *err)
{
    if (inflaters->decoder == NULL)
        ALD_TRY(ald__decoder_new(compression, alloc, &inflaters->decoder, err));
    return ald__decoder_run(inflaters->decoder, src, src_size, dst, dst_size, offset, err);
}

void ald__inflaters_clear(ald__inflaters *inflaters)
{
    ald__decoder_free(inflaters->decoder);
    ald__unpacker_free(inflaters->unpacker);
    memset(inflaters, 0, sizeof *inflaters);
}

ald_status ald__inflater_pool_new(const ald_allocator *alloc, ald__inflater_pool **out,
                                  ald_error *err)
{
    ald__inflater_pool *p = ald__alloc_zero(alloc, sizeof *p, err);
    *out = p;
    if (p == NULL)
        return ALD_E_NOMEM;
    p->alloc = *alloc;
    for (size_t i = 0; i < SLOTS; i++) {
        atomic_init(&p->decoders[i], NULL);
        atomic_init(&p->unpackers[i], NULL);
    }
    return ALD_OK;
}

void ald__inflater_pool_free(ald__inflater_pool *pool)
{
    ald_allocator alloc;
    if (pool == NULL)
        return;
    for (size_t i = 0; i < SLOTS; i++) {
        ald__decoder_free(atomic_load(&pool->decoders[i]));
        ald__unpacker_free(atomic_load(&pool->unpackers[i]));
    }
    alloc = pool->alloc;
    ald__release(&alloc, pool, sizeof *pool);
}

void ald__inflaters_take(ald__inflater_pool *pool, ald__inflaters *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < SLOTS && out->decoder == NULL; i++)
        out->decoder = atomic_exchange(&pool->decoders[i], NULL);
    for (size_t i = 0; i < SLOTS && out->unpacker == NULL; i++)
        out->unpacker = atomic_exchange(&pool->unpackers[i], NULL);
}

void ald__inflaters_give(ald__inflater_pool *pool, ald__inflaters *inflaters, ald_status st)
{
    if (st == ALD_OK) {
        /* Into an empty slot; what is left in hand in the end is freed. */
        for (size_t i = 0; i < SLOTS && inflaters->decoder != NULL; i++)
            inflaters->decoder = atomic_exchange(&pool->decoders[i], inflaters->decoder);
        for (size_t i = 0; i < SLOTS && inflaters->unpacker != NULL &&
                           ald__unpacker_bytes(inflaters->unpacker) <= UNPACKER_MOST;
             i++)
            inflaters->unpacker = atomic_exchange(&pool->unpackers[i], inflaters->unpacker);
    }
    ald__inflaters_clear(inflaters);
}
