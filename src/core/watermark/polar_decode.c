/* SPDX-License-Identifier: MIT */
/* Successive-cancellation list decoding. A node of size n halves into a left and a right child of n / 2; soft values go down,
 * decided bits come up. All paths pass a node together, so what a node writes into its layer replaces what no path needs any
 * more, and a path that forks copies only which slot of each layer it reads. */
#include "core/watermark/polar.h"

#include <string.h>

#include "core/base/buf.h"

#define LAYERS 12 /* sizes 1, 2, ... 2,048 */

typedef struct decoder {
    const ald__polar *code;
    unsigned limit, count;                    /* paths: at most, now */
    float *soft[LAYERS];                      /* ALD__POLAR_LIST times the layer's size */
    uint8_t *left[LAYERS], *right[LAYERS];    /* decided bits of the children of a node above */
    uint8_t soft_at[ALD__POLAR_LIST][LAYERS]; /* which slot a path reads */
    uint8_t left_at[ALD__POLAR_LIST][LAYERS];
    float metric[ALD__POLAR_LIST];
} decoder;

static const float *soft_of(const decoder *d, unsigned path, unsigned layer)
{
    return d->soft[layer] + ((size_t)d->soft_at[path][layer] << layer);
}

static float least(float a, float b)
{
    return a < b ? a : b;
}

static void go_left(decoder *d, unsigned layer)
{
    size_t half = (size_t)1 << (layer - 1);
    for (unsigned p = 0; p < d->count; p++) {
        const float *from = soft_of(d, p, layer);
        float *to = d->soft[layer - 1] + p * half;
        for (size_t i = 0; i < half; i++) {
            float a = from[i], b = from[i + half];
            float size = least(a < 0 ? -a : a, b < 0 ? -b : b);
            to[i] = (a < 0) != (b < 0) ? -size : size;
        }
        d->soft_at[p][layer - 1] = (uint8_t)p;
    }
}

static void go_right(decoder *d, unsigned layer)
{
    size_t half = (size_t)1 << (layer - 1);
    for (unsigned p = 0; p < d->count; p++) {
        const float *from = soft_of(d, p, layer);
        const uint8_t *bits = d->left[layer - 1] + d->left_at[p][layer - 1] * half;
        float *to = d->soft[layer - 1] + p * half;
        for (size_t i = 0; i < half; i++)
            to[i] = bits[i] ? from[i + half] - from[i] : from[i + half] + from[i];
        d->soft_at[p][layer - 1] = (uint8_t)p;
    }
}

/* The decided bits of a node of this layer, from those of its children. `right` tells which child it is itself. */
static void combine(decoder *d, unsigned layer, int right)
{
    size_t half = (size_t)1 << (layer - 1);
    for (unsigned p = 0; p < d->count; p++) {
        const uint8_t *a = d->left[layer - 1] + d->left_at[p][layer - 1] * half;
        const uint8_t *b = d->right[layer - 1] + p * half;
        uint8_t *to = (right ? d->right[layer] : d->left[layer]) + p * 2 * half;
        for (size_t i = 0; i < half; i++)
            to[i] = a[i] ^ b[i];
        memcpy(to + half, b, half);
        if (!right)
            d->left_at[p][layer] = (uint8_t)p;
    }
}

/* A node whose bits are all known to be 0. */
static void frozen_node(decoder *d, unsigned layer, int right)
{
    size_t size = (size_t)1 << layer;
    for (unsigned p = 0; p < d->count; p++) {
        const float *soft = soft_of(d, p, layer);
        float penalty = 0;
        for (size_t i = 0; i < size; i++)
            penalty += soft[i] < 0 ? -soft[i] : 0;
        d->metric[p] += penalty;
        if (!right)
            d->left_at[p][layer] = (uint8_t)p;
    }
    memset(right ? d->right[layer] : d->left[layer], 0, d->count * size);
}

typedef struct way {
    float metric;
    uint8_t path, bit;
} way;

/* The best `limit` continuations of all paths, sorted. */
static unsigned choose(const decoder *d, way best[ALD__POLAR_LIST])
{
    unsigned count = 0;
    for (unsigned i = 0; i < 2 * d->count; i++) {
        unsigned path = i / 2, at;
        float soft = soft_of(d, path, 0)[0];
        way f = {d->metric[path], (uint8_t)path, (uint8_t)(soft < 0)};
        if (i % 2 == 1) { /* against the soft value */
            f.bit ^= 1;
            f.metric += soft < 0 ? -soft : soft;
        }
        if (count == d->limit && best[count - 1].metric <= f.metric)
            continue;
        at = count < d->limit ? count++ : count - 1;
        for (; at > 0 && best[at - 1].metric > f.metric; at--)
            best[at] = best[at - 1];
        best[at] = f;
    }
    return count;
}

/* A path's right child keeps its bits in the slot of the path itself, so those of the nodes above that are right children
 * move along; they are never read before they are written: a right child is followed by its parent at once. */
static void info_leaf(decoder *d, int right)
{
    way best[ALD__POLAR_LIST];
    uint8_t soft_at[ALD__POLAR_LIST][LAYERS], left_at[ALD__POLAR_LIST][LAYERS];
    unsigned count = choose(d, best);
    memcpy(soft_at, d->soft_at, sizeof soft_at);
    memcpy(left_at, d->left_at, sizeof left_at);
    for (unsigned p = 0; p < count; p++) {
        memcpy(d->soft_at[p], soft_at[best[p].path], LAYERS);
        memcpy(d->left_at[p], left_at[best[p].path], LAYERS);
        d->metric[p] = best[p].metric;
        (right ? d->right[0] : d->left[0])[p] = best[p].bit;
        if (!right)
            d->left_at[p][0] = (uint8_t)p;
    }
    d->count = count;
}

/* Depth is LAYERS. */
static void decode_node(decoder *d, unsigned layer, size_t first, int right)
{
    size_t size = (size_t)1 << layer;
    if (d->code->before[first + size] == d->code->before[first]) {
        frozen_node(d, layer, right);
        return;
    }
    if (layer == 0) {
        info_leaf(d, right);
        return;
    }
    go_left(d, layer);
    decode_node(d, layer - 1, first, 0);
    go_right(d, layer);
    decode_node(d, layer - 1, first + size / 2, 1);
    combine(d, layer, right);
}

/* The payload of a path: encoding undoes itself. */
static void payload_of(const decoder *d, unsigned path, uint8_t payload[ALD__POLAR_PAYLOAD])
{
    const uint8_t *bits = d->left[LAYERS - 1] + (size_t)path * ALD__POLAR_BITS;
    uint8_t u[ALD__POLAR_BITS];
    memcpy(u, bits, sizeof u);
    for (size_t h = 1; h < ALD__POLAR_BITS; h *= 2) {
        for (size_t i = 0; i < ALD__POLAR_BITS; i++)
            u[i] ^= (i & h) == 0 ? u[i + h] : 0;
    }
    memset(payload, 0, ALD__POLAR_PAYLOAD);
    for (unsigned t = 0; t < ALD__POLAR_INFO; t++)
        payload[t / 8] = (uint8_t)(payload[t / 8] | u[d->code->info[t]] << (t % 8));
}

/* Offers the paths by metric; 1 when one was accepted. */
static int offer(decoder *d, int (*accept)(void *ctx, const uint8_t *payload), void *ctx,
                 uint32_t *offered)
{
    for (unsigned n = 0; n < d->count; n++) {
        uint8_t payload[ALD__POLAR_PAYLOAD];
        unsigned best = 0;
        for (unsigned p = 1; p < d->count; p++)
            best = d->metric[p] < d->metric[best] ? p : best;
        payload_of(d, best, payload);
        d->metric[best] = 3e38f;
        ++*offered;
        if (accept(ctx, payload))
            return 1;
    }
    return 0;
}

static size_t layer_bytes(unsigned layer)
{
    return ((size_t)ALD__POLAR_LIST << layer) * (sizeof(float) + 2);
}

ald_status ald__polar_decode(const ald__polar *code, const ald_allocator *alloc,
                             const float soft[ALD__POLAR_BITS],
                             int (*accept)(void *ctx, const uint8_t *payload), void *ctx,
                             int *accepted, uint32_t *offered, ald_error *err)
{
    size_t size = sizeof(decoder);
    uint8_t *at;
    decoder *d;
    *accepted = 0;
    for (unsigned i = 0; i < LAYERS; i++)
        size += layer_bytes(i);
    d = ald__alloc(alloc, size, err);
    if (d == NULL)
        return ALD_E_NOMEM;
    at = (uint8_t *)(d + 1);
    for (unsigned i = 0; i < LAYERS; i++) {
        d->soft[i] = (float *)(void *)at;
        d->left[i] = at + ((size_t)ALD__POLAR_LIST << i) * sizeof(float);
        d->right[i] = d->left[i] + ((size_t)ALD__POLAR_LIST << i);
        at += layer_bytes(i);
    }
    d->code = code;
    for (unsigned limit = 4; limit <= ALD__POLAR_LIST && !*accepted; limit *= 8) {
        d->limit = limit;
        d->count = 1;
        memset(d->soft_at, 0, sizeof d->soft_at);
        memset(d->left_at, 0, sizeof d->left_at);
        memset(d->metric, 0, sizeof d->metric);
        memcpy(d->soft[LAYERS - 1], soft, ALD__POLAR_BITS * sizeof *soft);
        decode_node(d, LAYERS - 1, 0, 0);
        *accepted = offer(d, accept, ctx, offered);
    }
    ald__release(alloc, d, size);
    return ALD_OK;
}
