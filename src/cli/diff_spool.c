/* SPDX-License-Identifier: MIT */
#include "cli/diff_spool.h"

#include <stdlib.h>
#include <string.h>

#define HELD_BYTES ((uint64_t)32 << 20) /* of one table, before it goes to a file */
#define PART_BITS 6                     /* DIFF_PARTS = 2^6 */

void diff_spool_init(diff_spool *spool, const ald_host *host, unsigned level)
{
    memset(spool, 0, sizeof(*spool));
    spool->host = host;
    spool->level = level;
    for (unsigned i = 0; i < DIFF_PARTS; i++) {
        spool->parts[i].held.alloc = &host->alloc;
    }
}

static void clear_part(diff_part *part)
{
    ald_buffer_clear(&part->held);
    free(part->segments);
    part->segments = NULL;
    part->segment_count = 0;
    part->bytes = 0;
}

void diff_spool_clear(diff_spool *spool)
{
    for (unsigned i = 0; i < DIFF_PARTS; i++) {
        clear_part(&spool->parts[i]);
    }
    if (spool->file.close != NULL) {
        spool->file.close(spool->file.ctx);
    }
    memset(&spool->file, 0, sizeof(spool->file));
}

static ald_status write_part(diff_spool *spool, diff_part *part, ald_error *err)
{
    if (part->held.size == 0) {
        return ALD_OK;
    }
    diff_segment *segments = realloc(part->segments, (part->segment_count + 1) * sizeof(*segments));
    if (segments == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare rows");
    }
    part->segments = segments;
    ald_status status = spool->file.append(spool->file.ctx, part->held.data, part->held.size, err);
    if (status == ALD_OK) {
        segments[part->segment_count++] = (diff_segment){spool->file_bytes, part->held.size};
        spool->file_bytes += part->held.size;
        ald_buffer_clear(&part->held);
    }
    return status;
}

static ald_status write_all(diff_spool *spool, ald_error *err)
{
    ald_status status = ALD_OK;
    if (spool->file.close == NULL) {
        status = spool->host->spool_open(spool->host->ctx, &spool->file, err);
    }
    for (unsigned i = 0; status == ALD_OK && i < DIFF_PARTS; i++) {
        status = write_part(spool, &spool->parts[i], err);
    }
    spool->held_bytes = 0;
    return status;
}

ald_status diff_spool_add(diff_spool *spool, const diff_record *record, ald_error *err)
{
    unsigned shift = spool->level * PART_BITS;
    diff_part *part = &spool->parts[(record->hash >> shift) % DIFF_PARTS];
    ald_sink sink = ald_buffer_sink(&part->held);
    ald_status status = sink.write(sink.ctx, record, (size_t)record->size, err);
    if (status != ALD_OK) {
        return status;
    }
    part->bytes += record->size;
    spool->held_bytes += record->size;
    return spool->held_bytes > HELD_BYTES ? write_all(spool, err) : ALD_OK;
}

static ald_status read_segment(const diff_spool *spool, const diff_segment *segment, uint8_t *out,
                               ald_error *err)
{
    return spool->file.read_at(spool->file.ctx, segment->at, out, (size_t)segment->size, err);
}

ald_status diff_spool_load(const diff_spool *spool, unsigned which, ald_buffer *out, ald_error *err)
{
    const diff_part *part = &spool->parts[which];
    const ald_allocator *alloc = &spool->host->alloc;
    ald_status status = ALD_OK;
    *out = (ald_buffer){NULL, 0, 0, alloc};
    if (part->bytes == 0) {
        return ALD_OK;
    }
    out->data = alloc->alloc(alloc->ctx, (size_t)part->bytes);
    if (out->data == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare rows");
    }
    out->capacity = (size_t)part->bytes;
    for (size_t i = 0; status == ALD_OK && i < part->segment_count; i++) {
        status = read_segment(spool, &part->segments[i], out->data + out->size, err);
        out->size += (size_t)part->segments[i].size;
    }
    if (part->held.size > 0) {
        memcpy(out->data + out->size, part->held.data, part->held.size);
        out->size += part->held.size;
    }
    return status;
}

/* Records lie at any address. */
static ald_status add_all(diff_spool *into, const uint8_t *data, size_t size, ald_error *err)
{
    unsigned shift = into->level * PART_BITS;
    for (size_t at = 0; at < size;) {
        diff_record record;
        memcpy(&record, data + at, sizeof(record));
        diff_part *part = &into->parts[(record.hash >> shift) % DIFF_PARTS];
        ald_sink sink = ald_buffer_sink(&part->held);
        ald_status status = sink.write(sink.ctx, data + at, (size_t)record.size, err);
        if (status != ALD_OK) {
            return status;
        }
        part->bytes += record.size;
        into->held_bytes += record.size;
        at += (size_t)record.size;
    }
    return into->held_bytes > HELD_BYTES ? write_all(into, err) : ALD_OK;
}

ald_status diff_spool_split(diff_spool *spool, unsigned which, diff_spool *into, ald_error *err)
{
    diff_part *part = &spool->parts[which];
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && i < part->segment_count; i++) {
        size_t size = (size_t)part->segments[i].size;
        uint8_t *data = malloc(size);
        status = data != NULL
                     ? read_segment(spool, &part->segments[i], data, err)
                     : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to compare rows");
        if (status == ALD_OK) {
            status = add_all(into, data, size, err);
        }
        free(data);
    }
    if (status == ALD_OK && part->held.size > 0) {
        status = add_all(into, part->held.data, part->held.size, err);
    }
    clear_part(part);
    return status;
}
