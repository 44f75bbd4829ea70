/* SPDX-License-Identifier: MIT */
/* Reading a whole IPC stream in memory, for tests. */
#ifndef IPC_STREAM_H
#define IPC_STREAM_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arrow/ipc_read.h"
#include "core/codec/codec.h"

#define STREAM_BATCHES 64

typedef struct stream {
    ald__ipc_schema *schema;
    ald__ipc_dictionaries *dictionaries;
    struct ArrowArray batches[STREAM_BATCHES];
    size_t batch_count, dictionary_count; /* messages read */
    int marked_end;
} stream;

static inline ald_status stream_decode(void *ctx, int codec, const uint8_t *src, size_t src_size,
                                       uint8_t *dst, size_t dst_size, ald_error *err)
{
    return ald__codec_decode(codec == 0 ? 3 : 1, (const ald_allocator *)ctx, src, src_size, dst,
                             dst_size, 0, err);
}

static inline void stream_clear(stream *s)
{
    for (size_t i = 0; i < s->batch_count; i++) {
        if (s->batches[i].release != NULL)
            s->batches[i].release(&s->batches[i]);
    }
    ald__ipc_dictionaries_free(s->dictionaries);
    ald__ipc_schema_free(s->schema);
    memset(s, 0, sizeof *s);
}

static inline ald_status stream_message(stream *s, const ald__ipc_message *message,
                                        const ald__ipc_rules *rules, ald__shared *backing,
                                        const uint8_t *wanted, ald_error *err)
{
    ald_status status;
    if (message->type == ALD__IPC_DICTIONARY) {
        status = ald__ipc_read_dictionary(s->dictionaries, message, rules, backing, err);
        s->dictionary_count += status == ALD_OK;
        return status;
    }
    status = ald__ipc_read_batch(s->dictionaries, message, rules, backing, wanted,
                                 &s->batches[s->batch_count], err);
    s->batch_count += status == ALD_OK;
    return status;
}

/* `data` at any address; batches point into a copy at a 64-byte boundary plus `shift`. Clear *s, also on failure. */
static inline ald_status stream_read(stream *s, const ald_allocator *alloc, const uint8_t *data,
                                     size_t size, size_t shift, const ald__ipc_rules *rules,
                                     const uint8_t *wanted, ald_error *err)
{
    ald__shared *backing = NULL;
    ald__ipc_message message;
    ald__cursor cursor;
    ald_status status;
    memset(s, 0, sizeof *s);
    status = ald__shared_alloc(alloc, size + shift, &backing, err);
    if (status != ALD_OK)
        return status;
    cursor.data = ald__shared_data(backing) + shift;
    cursor.size = size;
    cursor.pos = 0;
    cursor.base = 0;
    if (size > 0)
        memcpy(ald__shared_data(backing) + shift, data, size);
    status = ald__ipc_read_message(&cursor, rules, &message, err);
    if (status == ALD_OK)
        status = ald__ipc_schema_new(alloc, &message, rules, &s->schema, err);
    if (status == ALD_OK)
        status = ald__ipc_dictionaries_new(alloc, s->schema, &s->dictionaries, err);
    while (status == ALD_OK && s->batch_count < STREAM_BATCHES) {
        status = ald__ipc_read_message(&cursor, rules, &message, err);
        if (status != ALD_OK || message.type == ALD__IPC_END)
            break;
        status = stream_message(s, &message, rules, backing, wanted, err);
    }
    s->marked_end = status == ALD_OK && message.marked_end;
    ald__shared_unref(backing);
    return status;
}

/* The file as malloced bytes, NUL-terminated; NULL: it cannot be read. */
static inline uint8_t *stream_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    size_t cap = 0, n = 0, got;
    if (file == NULL)
        return NULL;
    do {
        cap = 2 * cap + 65536;
        data = (uint8_t *)realloc(data, cap);
        got = fread(data + n, 1, cap - 1 - n, file);
        n += got;
    } while (got > 0);
    fclose(file);
    data[n] = 0;
    *size = n;
    return data;
}

#endif
