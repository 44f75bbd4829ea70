/* SPDX-License-Identifier: MIT */
/* Parsing in place needs zeros behind the text: the bytes there belong to the next record and are put back. */
#include "interchange/jsonl/json_parse.h"

#include <string.h>

static int is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static ald_status refuse(ald__json_fault *fault, const ald__json_record *record, size_t at,
                         ald_status code, const char *why)
{
    fault->record = record->offset;
    fault->byte = at;
    return ald_error_set(&fault->error, code, record->offset + at, "%s", why);
}

static ald_status refuse_syntax(ald__json_fault *fault, const ald__json_record *record,
                                const yyjson_read_err *why)
{
    static const char hint[] = "each line must be a whole JSON object";
    static const char encoding[] = "pass --encoding latin-1, windows-1252 or utf-16";
    ald_status code = ALD_E_INVALID_FORMAT;
    if (why->code == YYJSON_READ_ERROR_MEMORY_ALLOCATION)
        code = ALD_E_NOMEM;
    else if (why->code == YYJSON_READ_ERROR_DEPTH)
        code = ALD_E_LIMIT_EXCEEDED;
    else if (why->code == YYJSON_READ_ERROR_UNEXPECTED_END && record->size == 1)
        memcpy(fault->hint, hint, sizeof hint); /* the first line of a pretty-printed object */
    else if (why->pos < record->size && record->data[why->pos] >= 0x80)
        memcpy(fault->hint, encoding, sizeof encoding);
    return refuse(fault, record, why->pos, code, why->msg);
}

/* What a record is that is no object. */
static const char *wrong_root(yyjson_val *root)
{
    if (yyjson_is_arr(root))
        return "a list, not an object";
    if (yyjson_is_str(root))
        return "a string, not an object";
    if (yyjson_is_null(root))
        return "null, not an object";
    return yyjson_is_bool(root) ? "true or false, not an object" : "a number, not an object";
}

ald_status ald__json_parse(ald__json_pool *pool, const ald__json_record *record, int raw_numbers,
                           yyjson_val **out, ald__json_fault *fault)
{
    yyjson_read_flag flags = YYJSON_READ_INSITU | YYJSON_READ_STOP_WHEN_DONE;
    uint8_t behind[YYJSON_PADDING_SIZE];
    yyjson_read_err why;
    yyjson_alc alc = ald__json_pool_alc(pool);
    yyjson_doc *doc;
    size_t end;
    if (raw_numbers)
        flags |= YYJSON_READ_NUMBER_AS_RAW;
    ald__json_pool_reset(pool);
    memcpy(behind, record->data + record->size, sizeof behind);
    doc = yyjson_read_opts((char *)record->data, record->size, flags, &alc, &why);
    memcpy(record->data + record->size, behind, sizeof behind);
    if (!doc)
        return refuse_syntax(fault, record, &why);
    for (end = yyjson_doc_get_read_size(doc); end < record->size; end++) {
        if (!is_space(record->data[end]))
            return refuse(fault, record, end, ALD_E_INVALID_FORMAT, "text after the object");
    }
    *out = yyjson_doc_get_root(doc);
    if (!unsafe_yyjson_is_obj(*out))
        return refuse(fault, record, 0, ALD_E_INVALID_FORMAT, wrong_root(*out));
    return ALD_OK;
}
