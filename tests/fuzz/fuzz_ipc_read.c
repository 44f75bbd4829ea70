/* SPDX-License-Identifier: MIT */
/* A stream of Arrow IPC messages. The first byte chooses the rules; the rest is read to its end or first error. Batches
 * that come out must stand a second validation that knows nothing of the bytes, and outlive what they were read with. */
#include <string.h>

#include "core/arrow/array.h"
#include "core/arrow/ipc_read.h"
#include "core/arrow/validate.h"
#include "core/codec/codec.h"
#include "fuzz.h"

#define RULE_STRICT 1u
#define RULE_DELTA 2u
#define RULE_ONCE 4u
#define RULE_CODEC 8u
#define RULE_SHIFT 16u /* a body that is not aligned */
#define RULE_SKIP 32u  /* every other column is not wanted */
#define MAX_BATCHES 16
#define MAX_BLOCK ((size_t)256 << 20)

static void *fuzz_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return size > MAX_BLOCK ? NULL : malloc(size);
}

static void *fuzz_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    (void)ctx;
    (void)old_size;
    return new_size > MAX_BLOCK ? NULL : realloc(ptr, new_size);
}

static void fuzz_release(void *ctx, void *ptr, size_t size)
{
    (void)ctx;
    (void)size;
    free(ptr);
}

static const ald_allocator allocator = {fuzz_alloc, fuzz_resize, fuzz_release, NULL};

static ald_status fuzz_decode(void *ctx, int codec, const uint8_t *src, size_t src_size,
                              uint8_t *dst, size_t dst_size, ald_error *err)
{
    (void)ctx;
    return ald__codec_decode(codec == 0 ? 3 : 1, &allocator, src, src_size, dst, dst_size, 0, err);
}

typedef struct reading {
    ald__ipc_rules rules;
    ald__shared *backing;
    ald__ipc_schema *schema;
    ald__ipc_dictionaries *dictionaries;
    uint8_t *wanted;
    struct ArrowArray batches[MAX_BATCHES];
    size_t batch_count;
} reading;

static ald_status read_spans(reading *r, const ald__ipc_message *message,
                             const struct ArrowArray *batch, ald_error *err)
{
    size_t columns = (size_t)ald__ipc_schema_get(r->schema)->n_children;
    ald__ipc_span *spans = malloc((columns + 1) * sizeof *spans);
    uint64_t rows;
    ald_status status;
    FUZZ_CHECK(spans != NULL);
    status = ald__ipc_read_spans(r->schema, message, &r->rules, spans, &rows, err);
    if (r->wanted == NULL)
        FUZZ_CHECK(status == ALD_OK && rows == (uint64_t)batch->length);
    for (size_t i = 0; i < columns && status == ALD_OK; i++)
        FUZZ_CHECK(spans[i].begin <= spans[i].end && spans[i].end <= message->body_size);
    free(spans);
    return status;
}

static ald_status read_batch(reading *r, const ald__ipc_message *message, ald_error *err)
{
    struct ArrowArray *batch = &r->batches[r->batch_count];
    ald_status status =
        ald__ipc_read_batch(r->dictionaries, message, &r->rules, r->backing, r->wanted, batch, err);
    FUZZ_CHECK((status == ALD_OK) == (batch->release != NULL));
    if (status != ALD_OK)
        return status;
    r->batch_count++;
    if (ald__ipc_check_aligned(message, NULL) != ALD_OK)
        FUZZ_CHECK(ald__ipc_check_aligned(message, err) == ALD_E_INVALID_FORMAT);
    if (r->wanted == NULL)
        FUZZ_CHECK(ald__array_validate(&allocator, ald__ipc_schema_get(r->schema), batch, NULL,
                                       err) == ALD_OK);
    return read_spans(r, message, batch, err);
}

static ald_status read_stream(reading *r, ald__cursor *cursor, ald_error *err)
{
    ald__ipc_message message;
    ald_status status = ald__ipc_read_message(cursor, &r->rules, &message, err);
    if (status == ALD_OK)
        status = ald__ipc_schema_new(&allocator, &message, &r->rules, &r->schema, err);
    if (status == ALD_OK)
        status = ald__ipc_dictionaries_new(&allocator, r->schema, &r->dictionaries, err);
    if (status == ALD_OK && r->wanted != NULL) {
        size_t columns = (size_t)ald__ipc_schema_get(r->schema)->n_children;
        r->wanted = malloc(columns + 1);
        FUZZ_CHECK(r->wanted != NULL);
        for (size_t i = 0; i < columns; i++)
            r->wanted[i] = i % 2 == 0;
    } else {
        r->wanted = NULL;
    }
    while (status == ALD_OK && r->batch_count < MAX_BATCHES) {
        status = ald__ipc_read_message(cursor, &r->rules, &message, err);
        if (status != ALD_OK || message.type == ALD__IPC_END)
            break;
        if (message.type == ALD__IPC_DICTIONARY)
            status =
                ald__ipc_read_dictionary(r->dictionaries, &message, &r->rules, r->backing, err);
        else
            status = read_batch(r, &message, err);
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t wanted_mark;
    const ald__ipc_codec codec = {fuzz_decode, NULL};
    reading r = {.rules = {.strict = 0}};
    ald__cursor cursor = {NULL, 0, 0, 0};
    size_t shift;
    ald_error err;
    uint8_t *copy;
    if (size == 0)
        return 0;
    r.rules.strict = (data[0] & RULE_STRICT) != 0;
    r.rules.allow_delta = (data[0] & RULE_DELTA) != 0;
    r.rules.once = (data[0] & RULE_ONCE) != 0;
    r.rules.codec = data[0] & RULE_CODEC ? &codec : NULL;
    r.wanted = data[0] & RULE_SKIP ? &wanted_mark : NULL;
    shift = data[0] & RULE_SHIFT ? 1 : 0;
    /* Ends where the bytes end, so that a read behind them is seen. */
    copy = malloc(size - 1 + shift > 0 ? size - 1 + shift : 1);
    FUZZ_CHECK(copy != NULL);
    if (size > 1)
        memcpy(copy + shift, data + 1, size - 1);
    if (ald__shared_new(&allocator, copy, size - 1, NULL, NULL, &r.backing, &err) == ALD_OK) {
        cursor.data = copy + shift;
        cursor.size = size - 1;
        if (read_stream(&r, &cursor, &err) != ALD_OK)
            FUZZ_CHECK(err.status != ALD_OK && err.msg[0] != '\0');
    }
    ald__ipc_dictionaries_free(r.dictionaries);
    for (size_t i = 0; i < r.batch_count; i++) {
        FUZZ_CHECK(r.wanted != NULL ||
                   ald__array_validate(&allocator, ald__ipc_schema_get(r.schema), &r.batches[i],
                                       NULL, &err) == ALD_OK);
        r.batches[i].release(&r.batches[i]);
    }
    ald__ipc_schema_free(r.schema);
    if (r.wanted != NULL && r.wanted != &wanted_mark)
        free(r.wanted);
    ald__shared_unref(r.backing);
    free(copy);
    return 0;
}
