/* SPDX-License-Identifier: MIT */
/* Sources of a module: bytes that are there as a whole, and a remote file whose bytes are asked for.
 *
 * The core reads when it needs to, and cannot wait; the other side fetches, and must wait. So a read of absent bytes fails and
 * leaves a note of what it wanted, and the whole call is made again: opening and loading change nothing until they succeed. */
#include <stdlib.h>
#include <string.h>

#include "wasm/glue.h"

typedef struct piece {
    struct piece *next;
    uint64_t offset;
    uint8_t *data;
    size_t size;
} piece;

typedef struct remote {
    ald_source source; /* first: the handle is its address */
    piece *pieces;
    uint64_t missing_offset;
    size_t missing_size; /* 0: nothing is */
    void *data;          /* of a source over memory */
} remote;

static const piece *find_piece(const remote *r, uint64_t offset)
{
    for (const piece *p = r->pieces; p != NULL; p = p->next) {
        if (offset >= p->offset && offset - p->offset < p->size)
            return p;
    }
    return NULL;
}

/* Pieces may join in the middle of what is read. */
static ald_status remote_read(void *ctx, uint64_t offset, void *buf, size_t size, ald_error *err)
{
    remote *r = ctx;
    uint8_t *out = buf;
    if (offset > r->source.size_bytes || size > r->source.size_bytes - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "%zu bytes past the end of the file",
                             size);
    while (size > 0) {
        const piece *p = find_piece(r, offset);
        size_t at, count;
        if (p == NULL) {
            r->missing_offset = offset;
            r->missing_size = size;
            return ald_error_set(err, ALD_E_IO, offset, "bytes that were not fetched yet");
        }
        at = (size_t)(offset - p->offset);
        count = p->size - at < size ? p->size - at : size;
        memcpy(out, p->data + at, count);
        out += count;
        offset += count;
        size -= count;
    }
    return ALD_OK;
}

ald_source *ald_wasm_source_memory(void *data, size_t size)
{
    remote *r = calloc(1, sizeof *r);
    if (r == NULL) {
        free(data);
        (void)ald_wasm_no_memory();
        return NULL;
    }
    r->source = ald_source_memory(data, size);
    r->data = data;
    return &r->source;
}

ald_source *ald_wasm_source_remote(double size)
{
    remote *r = calloc(1, sizeof *r);
    if (r == NULL) {
        (void)ald_wasm_no_memory();
        return NULL;
    }
    r->source.size_bytes = (uint64_t)size;
    r->source.read_at = remote_read;
    r->source.ctx = r;
    return &r->source;
}

ald_status ald_wasm_source_supply(ald_source *source, double offset, void *data, size_t size)
{
    remote *r = (remote *)source;
    piece *p = calloc(1, sizeof *p);
    if (p == NULL) {
        free(data);
        return ald_wasm_no_memory();
    }
    p->offset = (uint64_t)offset;
    p->data = data;
    p->size = size;
    p->next = r->pieces;
    r->pieces = p;
    return ALD_OK;
}

const double *ald_wasm_source_missing(ald_source *source)
{
    static double range[2];
    remote *r = (remote *)source;
    if (r->missing_size == 0)
        return NULL;
    range[0] = (double)r->missing_offset;
    range[1] = (double)r->missing_size;
    r->missing_size = 0;
    return range;
}

void ald_wasm_source_forget(ald_source *source, double begin)
{
    remote *r = (remote *)source;
    piece **link = &r->pieces;
    while (*link != NULL) {
        piece *p = *link;
        if ((double)p->offset >= begin) {
            *link = p->next;
            free(p->data);
            free(p);
        } else {
            link = &p->next;
        }
    }
}

void ald_wasm_source_free(ald_source *source)
{
    if (source == NULL)
        return;
    ald_wasm_source_forget(source, 0);
    free(((remote *)source)->data);
    free(source);
}
