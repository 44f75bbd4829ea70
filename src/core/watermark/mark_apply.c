/* SPDX-License-Identifier: MIT */
/* Pass two: a stream of the same batches in which the numbers are marked. All but their values buffers is shared with the
 * batches that came in. */
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "core/arrow/array.h"
#include "core/arrow/validate.h"
#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/cells.h"
#include "core/watermark/marker.h"

#define PIECE 16384 /* values of a task */

/* A dictionary that was marked. What it was made from is kept alive, so that nothing else can have its address. */
typedef struct marked_dictionary {
    const void *values, *validity;
    int64_t offset, length;
    ald__shared *marked;
    struct ArrowArray kept;
} marked_dictionary;

typedef struct applier {
    ald_watermark *watermark;
    struct ArrowArrayStream batches;
    marked_dictionary *dictionaries; /* one for each leaf */
    /* Batches are marked together: those that are, from `next` on */
    struct ArrowArray marked[ALD__MARK_HELD_MOST];
    size_t next, count, held_most;
    uint8_t has_ended;
} applier;

typedef struct piece {
    const ald__mark_leaf *leaf;
    const ald__mark_plan *plan;
    ald__mark_slots slots;
    uint8_t *to;
    int64_t to_at;
} piece;

typedef struct piece_list {
    ald_watermark *watermark;
    applier *applier;
    ald__array_holder *holder; /* of the batch that came in */
    ald_buffer pieces;
    size_t count;
    ald_error *errors;
} piece_list;

/* Slots as they are in the buffer, counted from its start. */
static void copy_slots(const struct ArrowArray *array, size_t width, int64_t at, int64_t count,
                       uint8_t *to)
{
    const size_t begin = (size_t)at * width;
    if (count > 0)
        memcpy(to + begin, (const uint8_t *)array->buffers[1] + begin, (size_t)count * width);
}

static void mark_piece(void *arg, uint32_t index)
{
    piece_list *list = arg;
    const piece *p = (const piece *)(const void *)list->pieces.data + index;
    const ald_allocator *alloc = &list->watermark->host.alloc;
    const size_t width = p->leaf->type.bit_width / 8, bytes = ald__mark_scratch_bytes();
    void *scratch = ald__alloc_zero(alloc, bytes, &list->errors[index]);
    if (scratch == NULL)
        return;
    copy_slots(p->slots.array, width, p->to_at, p->slots.count, p->to);
    ald__mark_leaf_mark(p->leaf, &p->slots, p->plan, scratch, p->to, p->to_at);
    ald__wipe(scratch, bytes);
    ald__release(alloc, scratch, bytes);
}

static ald_status add_pieces(piece_list *list, size_t leaf, const ald__mark_slots *slots,
                             uint8_t *to, ald_error *err)
{
    piece p = {&list->watermark->leaves.list[leaf], &list->watermark->plans[leaf], *slots, to, 0};
    for (int64_t at = 0; at < slots->count; at += PIECE) {
        p.slots.begin = slots->begin + at;
        p.slots.count = slots->count - at < PIECE ? slots->count - at : PIECE;
        p.slots.mask = slots->mask != NULL ? slots->mask + at / 8 : NULL;
        p.to_at = slots->array->offset + p.slots.begin;
        if (list->count == UINT32_MAX)
            return ald__fail(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a batch is too large");
        ALD_TRY(ald__buffer_append(&list->pieces, &p, sizeof p, err));
        list->count++;
    }
    return ALD_OK;
}

/* Gives `twin` a values buffer of its own, and adds the work to be done on it: what is marked is copied piece by piece. */
static ald_status mark_values(piece_list *list, size_t leaf, const ald__mark_slots *slots,
                              ald__shared **made, ald_error *err)
{
    const struct ArrowArray *array = slots->array;
    const size_t width = list->watermark->leaves.list[leaf].type.bit_width / 8;
    ald__shared *copy = NULL;
    size_t slot_count, bytes;
    int64_t begin, end;
    ald_status st;
    if (slots->count == 0 || array->buffers[1] == NULL)
        return ALD_OK;
    if (!ald__to_size((uint64_t)array->offset + (uint64_t)array->length, &slot_count) ||
        !ald__mul_size(slot_count, width, &bytes))
        return ald__no_memory(err, SIZE_MAX);
    ALD_TRY(ald__shared_alloc(&list->watermark->host.alloc, bytes, &copy, err));
    begin = array->offset + slots->begin;
    end = begin + slots->count;
    copy_slots(array, width, 0, begin, ald__shared_data(copy));
    copy_slots(array, width, end, (int64_t)slot_count - end, ald__shared_data(copy));
    slots->twin->buffers[1] = ald__shared_data(copy);
    ald__array_hold(slots->twin, copy);
    st = add_pieces(list, leaf, slots, ald__shared_data(copy), err);
    if (made != NULL && st == ALD_OK)
        *made = ald__shared_ref(copy);
    ald__shared_unref(copy);
    return st;
}

static void forget_dictionary(marked_dictionary *d)
{
    ald__shared_unref(d->marked);
    if (d->kept.release != NULL)
        d->kept.release(&d->kept);
    memset(d, 0, sizeof *d);
}

/* All values of a dictionary, whether rows have them or not: the next batch may. */
static ald_status mark_dictionary(piece_list *list, size_t leaf, const struct ArrowArray *array,
                                  struct ArrowArray *twin, ald_error *err)
{
    marked_dictionary *d = &list->applier->dictionaries[leaf];
    const void *validity = array->null_count != 0 ? array->buffers[0] : NULL;
    ald__mark_slots slots = {array, twin, 0, array->length, NULL};
    if (d->marked != NULL && d->values == array->buffers[1] && d->validity == validity &&
        d->offset == array->offset && d->length == array->length) {
        twin->buffers[1] = ald__shared_data(d->marked);
        ald__array_hold(twin, d->marked);
        return ALD_OK;
    }
    forget_dictionary(d);
    ALD_TRY(ald__array_holder_share(list->holder, &d->kept, err));
    d->values = array->buffers[1];
    d->validity = validity;
    d->offset = array->offset;
    d->length = array->length;
    return mark_values(list, leaf, &slots, &d->marked, err);
}

static ald_status mark_slots(void *ctx, size_t index, const ald__mark_slots *slots, ald_error *err)
{
    piece_list *list = ctx;
    const ald__mark_leaf *leaf = &list->watermark->leaves.list[index];
    ald__mark_slots values = *slots;
    if (list->watermark->plans[index].reason != ALD_WATERMARK_NONE)
        return ALD_OK;
    if (leaf->has_runs) {
        values.array = slots->array->children[1];
        values.twin = slots->twin->children[1];
        values.begin = 0;
        values.count = values.array->length;
        values.mask = NULL;
    }
    if (leaf->index_width > 0)
        return mark_dictionary(list, index, values.array->dictionary, values.twin->dictionary, err);
    return mark_values(list, index, &values, NULL, err);
}

static ald_status run_pieces(piece_list *list, ald_error *err)
{
    const ald_allocator *alloc = &list->watermark->host.alloc;
    size_t bytes = list->count * sizeof *list->errors;
    ald_status st = ALD_OK;
    if (list->count == 0)
        return ALD_OK;
    list->errors = ald__alloc_zero(alloc, bytes, err);
    if (list->errors == NULL)
        return ALD_E_NOMEM;
    ald__mark_run_tasks(&list->watermark->host, list->count, mark_piece, list);
    for (size_t i = 0; i < list->count && st == ALD_OK; i++) {
        st = (ald_status)list->errors[i].status;
        if (st != ALD_OK && err != NULL)
            *err = list->errors[i];
    }
    ald__release(alloc, list->errors, bytes);
    return st;
}

static void forget_all(applier *a)
{
    for (size_t i = 0; i < a->watermark->leaves.count; i++)
        forget_dictionary(&a->dictionaries[i]);
}

/* A batch, which is taken over, as one whose values will be marked by the pieces that are added. */
static ald_status add_batch_pieces(piece_list *list, ald__arena *arena, struct ArrowArray *batch,
                                   struct ArrowArray *out, ald_error *err)
{
    ald_watermark *w = list->watermark;
    const ald_allocator *alloc = &w->host.alloc;
    ald_status st = ald__array_validate(alloc, &w->schema, batch, NULL, err);
    if (st == ALD_OK)
        st = ald__array_holder_new(alloc, batch, &list->holder, err);
    if (st == ALD_OK)
        st = ald__array_holder_share(list->holder, out, err);
    if (st == ALD_OK)
        st = ald__mark_walk(&w->leaves, &w->schema, ald__array_holder_get(list->holder), out, arena,
                            mark_slots, list, err);
    ald__array_holder_free(list->holder);
    list->holder = NULL;
    return st;
}

/* Takes batches until there is work enough for all threads. */
static ald_status take_batches(applier *a, piece_list *list, ald__arena *arena, ald_error *err)
{
    const size_t enough = ALD__MARK_HELD_VALUES / PIECE;
    while (a->count < a->held_most && list->count < enough && !a->has_ended) {
        struct ArrowArray batch;
        ald_status st;
        ALD_TRY(ald_stream_next(&a->batches, &batch, err));
        a->has_ended = batch.release == NULL;
        if (a->has_ended)
            break;
        st = add_batch_pieces(list, arena, &batch, &a->marked[a->count], err);
        if (batch.release != NULL)
            batch.release(&batch);
        ALD_TRY(st);
        a->count++;
    }
    return ALD_OK;
}

static void release_marked(applier *a)
{
    for (; a->next < ALD__MARK_HELD_MOST; a->next++) {
        if (a->marked[a->next].release != NULL)
            a->marked[a->next].release(&a->marked[a->next]);
    }
}

static ald_status mark_batches(applier *a, ald_error *err)
{
    piece_list list = {a->watermark, a, NULL, {0}, 0, NULL};
    ald__arena arena;
    ald_status st;
    list.pieces.alloc = &a->watermark->host.alloc;
    ald__arena_init(&arena, list.pieces.alloc);
    a->next = a->count = 0;
    st = take_batches(a, &list, &arena, err);
    if (st == ALD_OK)
        st = run_pieces(&list, err);
    if (st != ALD_OK) {
        release_marked(a);
        forget_all(a); /* a dictionary may be half done */
        a->next = a->count = 0;
    }
    ald_buffer_clear(&list.pieces);
    ald__arena_clear(&arena);
    return st;
}

static ald_status next_batch(void *ctx, struct ArrowArray *out, ald_error *err)
{
    applier *a = ctx;
    if (a->next == a->count)
        ALD_TRY(mark_batches(a, err));
    if (a->next < a->count) {
        *out = a->marked[a->next];
        a->marked[a->next++].release = NULL;
    }
    return ALD_OK;
}

static ald_status marked_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    const applier *a = ctx;
    return ald_schema_copy(&a->watermark->host, &a->watermark->schema, out, err);
}

static void free_applier(void *ctx)
{
    applier *a = ctx;
    ald_allocator alloc = a->watermark->host.alloc;
    size_t count = a->watermark->leaves.count;
    release_marked(a);
    if (a->dictionaries != NULL) {
        forget_all(a);
        ald__release(&alloc, a->dictionaries, count * sizeof *a->dictionaries);
    }
    if (a->batches.release != NULL)
        a->batches.release(&a->batches);
    ald__release(&alloc, a, sizeof *a);
}

static ald_status check_schema(ald_watermark *w, struct ArrowArrayStream *batches, ald_error *err)
{
    struct ArrowSchema schema;
    ald_status st;
    if (!w->is_surveyed || w->schema.release == NULL)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "this watermark has not surveyed a data set");
    ALD_TRY(ald_stream_schema(batches, &schema, err));
    st = ald_schema_compare(&w->schema, &schema, 0, err);
    schema.release(&schema);
    return st;
}

ald_status ald_watermark_apply(ald_watermark *watermark, struct ArrowArrayStream *batches,
                               ald_error *err)
{
    ald_stream_impl impl = {marked_schema, next_batch, free_applier, NULL,
                            ald_stream_row_count(batches)};
    size_t count = watermark->leaves.count > 0 ? watermark->leaves.count : 1;
    ald_status st = check_schema(watermark, batches, err);
    applier *a = NULL;
    if (st == ALD_OK) {
        a = ald__alloc_zero(&watermark->host.alloc, sizeof *a, err);
        st = a == NULL ? ALD_E_NOMEM : ALD_OK;
    }
    if (st != ALD_OK) {
        batches->release(batches);
        return st;
    }
    a->watermark = watermark;
    a->held_most = ald__mark_batches_held(&watermark->host, &watermark->leaves);
    a->batches = *batches;
    batches->release = NULL;
    impl.ctx = a;
    if (watermark->leaves.count > 0) {
        a->dictionaries =
            ald__alloc_zero(&watermark->host.alloc, count * sizeof *a->dictionaries, err);
        if (a->dictionaries == NULL) {
            free_applier(a);
            return ALD_E_NOMEM;
        }
    }
    return ald_stream_new(&impl, &watermark->host.alloc, batches, err);
}
