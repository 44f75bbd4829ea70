/* SPDX-License-Identifier: MIT */
/* What a twin or expected.json says to give to a reader (`read_with`, `open_with`), as load options and a host with that
 * clock; and rows as text, however they were read. */
#ifndef TRUST_CASE_H
#define TRUST_CASE_H

#include <yyjson.h>

#include "ald/ald.h"
#include "ald/native.h"
#include "fault/fault_host.h"
#include "show_array.h"

#define TRUST_KEYS_MAX 8

typedef struct trust_case {
    ald_host host;
    ald_load_options load; /* without trust: trust_options puts it there */
    ald_trust trust;
    uint8_t trusted[TRUST_KEYS_MAX * 32], private_keys[TRUST_KEYS_MAX * 32];
    uint8_t any_of[TRUST_KEYS_MAX * 32]; /* any_of_private_keys */
    size_t any_of_count;
    char password[256];
} trust_case;

static int64_t trust_now; /* of the host of the case that was made last */

static inline int64_t trust_clock(void *ctx)
{
    (void)ctx;
    return trust_now;
}

static inline uint8_t trust_digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

static inline void trust_hex(const char *hex, uint8_t *out, size_t size)
{
    if (strlen(hex) != 2 * size)
        abort();
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(trust_digit(hex[2 * i]) << 4 | trust_digit(hex[2 * i + 1]));
}

/* One key as a string, or an array of them. */
static inline size_t trust_keys(yyjson_val *v, uint8_t *out)
{
    size_t count = yyjson_is_arr(v) ? yyjson_arr_size(v) : yyjson_is_str(v) ? 1 : 0;
    if (count > TRUST_KEYS_MAX)
        abort();
    for (size_t i = 0; i < count; i++)
        trust_hex(yyjson_get_str(yyjson_is_arr(v) ? yyjson_arr_get(v, i) : v), out + 32 * i, 32);
    return count;
}

/* The options of a case, or of a copy that was changed. */
static inline ald_load_options trust_options(const trust_case *c)
{
    ald_load_options load = c->load;
    load.trust = &c->trust;
    return load;
}

/* `with` may be NULL: nothing is given. The keys stay in *c, which copies point to. */
static inline void trust_case_init(trust_case *c, yyjson_val *with)
{
    static const ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    static const ald_trust trust = ALD_TRUST_INIT;
    yyjson_val *now = yyjson_obj_get(with, "now");
    yyjson_val *password = yyjson_obj_get(with, "password");
    yyjson_val *private_keys = yyjson_obj_get(with, "private_keys");
    memset(c, 0, sizeof *c);
    c->host = ald_native_host(1);
    c->host.now = trust_clock;
    trust_now = yyjson_is_int(now) ? yyjson_get_sint(now) : 1750000000;
    if (yyjson_is_str(now)) /* "unknown" */
        c->host.now = NULL;
    c->load = load;
    c->trust = trust;
    c->trust.trusted_keys = c->trusted;
    c->trust.trusted_count = trust_keys(yyjson_obj_get(with, "trusted"), c->trusted);
    c->trust.private_keys = c->private_keys;
    if (private_keys == NULL)
        private_keys = yyjson_obj_get(with, "private_key");
    c->trust.private_count = trust_keys(private_keys, c->private_keys);
    c->any_of_count = trust_keys(yyjson_obj_get(with, "any_of_private_keys"), c->any_of);
    if (password != NULL) {
        c->trust.password_size = yyjson_get_len(password);
        if (c->trust.password_size > sizeof c->password)
            abort();
        memcpy(c->password, yyjson_get_str(password), c->trust.password_size);
        c->trust.password = c->password;
    }
    c->trust.allow_untrusted = yyjson_get_bool(yyjson_obj_get(with, "any_signer"));
    c->trust.commercial = yyjson_get_bool(yyjson_obj_get(with, "commercial"));
    c->trust.require_commit = yyjson_get_bool(yyjson_obj_get(with, "require_commit"));
}

/* ---- sources */

typedef struct trust_bytes {
    const uint8_t *data;
    size_t size;
    uint64_t read; /* bytes so far */
} trust_bytes;

static inline ald_status trust_read_at(void *ctx, uint64_t offset, void *buf, size_t size,
                                       ald_error *err)
{
    trust_bytes *b = (trust_bytes *)ctx;
    if (offset > b->size || size > b->size - offset)
        return ald_error_set(err, ALD_E_TRUNCATED, offset, "read past the end");
    if (size > 0)
        memcpy(buf, b->data + offset, size);
    b->read += size;
    return ALD_OK;
}

/* Without `view`, as a file is. */
static inline ald_source trust_source(trust_bytes *bytes)
{
    ald_source source = {0};
    source.size_bytes = bytes->size;
    source.read_at = trust_read_at;
    source.ctx = bytes;
    return source;
}

/* ---- rows as text; NULL and *st when they do not load. The caller frees it. */

static inline void trust_show_rows(show_text *out, const struct ArrowSchema *schema,
                                   const struct ArrowArray *batch)
{
    for (int64_t r = 0; r < batch->length; r++) {
        show_put(out, "\n");
        show_value(out, schema, batch, r);
    }
}

static inline char *trust_end(show_text *text, ald_status st)
{
    if (st == ALD_OK)
        return text->text;
    free(text->text);
    return NULL;
}

static inline char *trust_load(const trust_case *c, const ald_source *source, ald_status *st,
                               ald_error *err)
{
    ald_load_options load = trust_options(c);
    ald_dataset *d = NULL;
    show_text text = {NULL, 0, 0};
    show_put(&text, "");
    *st = ald_load(source, &load, &c->host, &d, err);
    for (size_t i = 0; *st == ALD_OK && i < ald_dataset_batch_count(d); i++) {
        struct ArrowArray batch;
        *st = ald_dataset_batch(d, i, &batch, err);
        if (*st == ALD_OK) {
            trust_show_rows(&text, ald_dataset_schema(d), &batch);
            batch.release(&batch);
        }
    }
    ald_dataset_free(d);
    return trust_end(&text, *st);
}

static inline char *trust_load_bytes(const trust_case *c, const uint8_t *data, size_t size,
                                     ald_status *st, ald_error *err)
{
    ald_source source = ald_source_memory(data, size);
    return trust_load(c, &source, st, err);
}

static inline char *trust_show_chunks(ald_streaming *s, ald_status *st, ald_error *err)
{
    show_text text = {NULL, 0, 0};
    show_put(&text, "");
    for (uint64_t i = 0; *st == ALD_OK && i < ald_streaming_chunk_count(s); i++) {
        struct ArrowArray batch;
        *st = ald_streaming_chunk(s, i, NULL, &batch, err);
        if (*st == ALD_OK) {
            trust_show_rows(&text, ald_streaming_schema(s), &batch);
            batch.release(&batch);
        }
    }
    return trust_end(&text, *st);
}

/* Chunk by chunk. */
static inline char *trust_stream(const trust_case *c, const ald_source *source, ald_status *st,
                                 ald_error *err)
{
    ald_load_options load = trust_options(c);
    ald_streaming *s = NULL;
    char *text = NULL;
    *st = ald_streaming_open(source, &load, &c->host, &s, err);
    if (*st == ALD_OK)
        text = trust_show_chunks(s, st, err);
    ald_streaming_close(s);
    return text;
}

#endif
