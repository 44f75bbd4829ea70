/* SPDX-License-Identifier: MIT */
/* Framing of IPC messages: FF FF FF FF, metadata length, metadata, body. Streams before Arrow 0.15 have no FF FF FF FF. */
#include "core/arrow/flatbuf_read.h"
#include "core/arrow/ipc_format.h"
#include "core/arrow/ipc_read.h"
#include "core/base/checked.h"
#include "core/base/endian.h"

#define MARKER UINT32_C(0xFFFFFFFF)

static ald_status cut_short(const ald__cursor *cursor, const ald__ipc_rules *rules,
                            const char *what, uint64_t expected, ald_error *err)
{
    return ald__fail(err, rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_TRUNCATED,
                     ald__cursor_offset(cursor),
                     "the stream ends inside %s: %llu bytes expected, %zu found", what,
                     (unsigned long long)expected, ald__cursor_left(cursor));
}

/* Prefix of a message: *size is the metadata's length, 0 at the end of the stream. */
static ald_status read_prefix(ald__cursor *cursor, const ald__ipc_rules *rules, int *marked_end,
                              size_t *size, ald_error *err)
{
    uint64_t at = ald__cursor_offset(cursor);
    const uint8_t *p;
    uint32_t word;
    *size = 0;
    *marked_end = 0;
    if (ald__cursor_left(cursor) == 0 && !rules->strict)
        return ALD_OK;
    if (ald__cursor_left(cursor) == 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "the end-of-stream marker is missing");
    p = ald__cursor_take(cursor, 4);
    if (p == NULL)
        return cut_short(cursor, rules, "a message's prefix", 8, err);
    word = ald__load_le32(p);
    if (word != MARKER && rules->strict)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at,
                         "a message begins with FF FF FF FF, found %08x",
                         (unsigned)ald__load_be32(p));
    if (word == MARKER) {
        p = ald__cursor_take(cursor, 4);
        if (p == NULL)
            return cut_short(cursor, rules, "a message's prefix", 4, err);
        word = ald__load_le32(p);
    }
    if (word > INT32_MAX)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "a message's metadata length is %lld",
                         (long long)(int32_t)word);
    if (rules->strict && word % 8 != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, at,
                         "a message's metadata length is %u, expected a multiple of 8",
                         (unsigned)word);
    *marked_end = word == 0;
    *size = word;
    return ALD_OK;
}

static ald_status check_version(int16_t version, const ald__ipc_rules *rules, uint64_t at,
                                ald_error *err)
{
    if (version == FBS_VERSION_V5 || (version == FBS_VERSION_V4 && !rules->strict))
        return ALD_OK;
    return ald__fail(err, rules->strict ? ALD_E_INVALID_FORMAT : ALD_E_UNSUPPORTED, at,
                     "Arrow metadata version V%d, expected %s", version + 1,
                     rules->strict ? "V5" : "V4 or V5");
}

static ald_status check_header_type(uint8_t type, const ald__ipc_rules *rules, uint64_t at,
                                    ald_error *err)
{
    if (type >= FBS_HEADER_SCHEMA && type <= FBS_HEADER_BATCH)
        return ALD_OK;
    return ald__fail(err,
                     rules->strict || type == 0 || type > FBS_HEADER_SPARSE ? ALD_E_INVALID_FORMAT
                                                                            : ALD_E_UNSUPPORTED,
                     at, "message of type %u, expected a schema, dictionary or record batch",
                     (unsigned)type);
}

/* The Message table: what kind of message, and how long its body is. */
static ald_status read_table(const ald__ipc_rules *rules, ald__ipc_message *out, ald_error *err)
{
    uint64_t at = out->metadata_offset;
    ald__flat flat;
    ald__flat_table table;
    int16_t version;
    uint8_t type;
    int64_t body;
    ald__flat_init(&flat, out->metadata, out->metadata_size, at);
    ALD_TRY(ald__flat_root(&flat, &table, err));
    ALD_TRY(ald__flat_i16(&flat, &table, FBS_MESSAGE_VERSION, 0, &version, err));
    ALD_TRY(ald__flat_u8(&flat, &table, FBS_MESSAGE_HEADER_TYPE, 0, &type, err));
    ALD_TRY(ald__flat_i64(&flat, &table, FBS_MESSAGE_BODY_LENGTH, 0, &body, err));
    ALD_TRY(check_version(version, rules, at, err));
    ALD_TRY(check_header_type(type, rules, at, err));
    if (body < 0 || (rules->strict && body % 8 != 0))
        return ald__fail(err, ALD_E_INVALID_FORMAT, at, "a message's body length is %lld%s",
                         (long long)body, body < 0 ? "" : ", expected a multiple of 8");
    out->type = (ald__ipc_type)type;
    out->version = version;
    out->body_size = out->body_end = (uint64_t)body;
    return ALD_OK;
}

ald_status ald__ipc_read_head(ald__cursor *cursor, const ald__ipc_rules *rules,
                              ald__ipc_message *out, ald_error *err)
{
    size_t begin = cursor->pos;
    memset(out, 0, sizeof *out);
    ALD_TRY(read_prefix(cursor, rules, &out->marked_end, &out->metadata_size, err));
    out->metadata_offset = ald__cursor_offset(cursor);
    if (out->metadata_size > 0) {
        out->metadata = ald__cursor_take(cursor, out->metadata_size);
        if (out->metadata == NULL)
            return cut_short(cursor, rules, "a message's metadata", out->metadata_size, err);
        ALD_TRY(read_table(rules, out, err));
    }
    out->head_size = cursor->pos - begin;
    out->body_offset = ald__cursor_offset(cursor);
    return ALD_OK;
}

ald_status ald__ipc_read_message(ald__cursor *cursor, const ald__ipc_rules *rules,
                                 ald__ipc_message *out, ald_error *err)
{
    size_t size;
    ALD_TRY(ald__ipc_read_head(cursor, rules, out, err));
    if (out->type == ALD__IPC_END)
        return ALD_OK;
    if (!ald__to_size(out->body_size, &size) || size > ald__cursor_left(cursor))
        return cut_short(cursor, rules, "a message's body", out->body_size, err);
    out->body = ald__cursor_take(cursor, size);
    return ALD_OK;
}
