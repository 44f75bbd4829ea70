/* SPDX-License-Identifier: MIT */
/* Broken files with the keys that expected.json gives: each is refused with one of its names, by a plain load and by a lazy
 * one. Among them is what no command can say: commercial loading, a demanded commitment, a host without a clock. */
#include "trust_case.h"

static ald_error err;

static int names_status(yyjson_val *names, ald_status st)
{
    size_t i, count;
    yyjson_val *name;
    const char *got = st == ALD_OK ? "ok" : ald_status_name(st);
    yyjson_arr_foreach(names, i, count, name)
    {
        if (strcmp(yyjson_get_str(name), got) == 0)
            return 1;
    }
    return 0;
}

static void check_outcome(const char *file, const char *what, yyjson_val *names, ald_status st)
{
    if (!CHECK(names_status(names, st)))
        printf("    %s, %s: %s %s\n", file, what, ald_status_name(st), st != ALD_OK ? err.msg : "");
}

static void check_load(const char *file, const trust_case *c, yyjson_val *entry,
                       const uint8_t *data, size_t size)
{
    trust_bytes bytes = {data, size, 0};
    ald_source source = ald_source_memory(data, size);
    ald_status st;
    free(trust_load(c, &source, &st, &err));
    check_outcome(file, "load", yyjson_obj_get(entry, "errors"), st);
    source = trust_source(&bytes);
    free(trust_load(c, &source, &st, &err));
    check_outcome(file, "load through read_at", yyjson_obj_get(entry, "errors"), st);
}

static void check_lazy(const char *file, const trust_case *c, yyjson_val *lazy,
                       const ald_source *source)
{
    yyjson_val *chunks = yyjson_obj_get(lazy, "chunks");
    ald_load_options load = trust_options(c);
    ald_streaming *s = NULL;
    ald_status st = ald_streaming_open(source, &load, &c->host, &s, &err);
    check_outcome(file, "open", yyjson_obj_get(lazy, "open"), st);
    CHECK((st == ALD_OK) == (s != NULL));
    for (size_t i = 0; st == ALD_OK && i < yyjson_arr_size(chunks); i++) {
        struct ArrowArray chunk;
        ald_status got = ald_streaming_chunk(s, i, NULL, &chunk, &err);
        check_outcome(file, "chunk", yyjson_arr_get(chunks, i), got);
        CHECK((got == ALD_OK) == (chunk.release != NULL));
        if (got == ALD_OK)
            chunk.release(&chunk);
    }
    ald_streaming_close(s);
}

/* A fault that a load refuses as one of trust is refused lazily, too: when the file is opened, or with the chunk. */
static int is_about_trust(yyjson_val *names)
{
    return names_status(names, ALD_E_SIGNATURE_INVALID) ||
           names_status(names, ALD_E_UNTRUSTED_SIGNER) ||
           names_status(names, ALD_E_DECRYPTION_FAILED) ||
           names_status(names, ALD_E_LICENSE_EXPIRED);
}

static void check_lazily_refused(const char *file, const trust_case *c, yyjson_val *names,
                                 const ald_source *source)
{
    trust_bytes bytes = {NULL, (size_t)source->size_bytes, 0};
    ald_source slow;
    ald_status st;
    free(trust_stream(c, source, &st, &err));
    check_outcome(file, "chunk by chunk", names, st);
    bytes.data = (const uint8_t *)source->view(source->ctx, 0, bytes.size);
    slow = trust_source(&bytes);
    free(trust_stream(c, &slow, &st, &err));
    check_outcome(file, "chunk by chunk through read_at", names, st);
}

typedef struct tally {
    size_t loaded, lazy, trust, unsayable;
} tally;

static void check_entry(const char *file, yyjson_val *entry, tally *t)
{
    yyjson_val *with = yyjson_obj_get(entry, "read_with"), *lazy = yyjson_obj_get(entry, "lazy");
    yyjson_val *names = yyjson_obj_get(entry, "errors");
    char name[256];
    trust_case c;
    size_t size;
    uint8_t *data;
    ald_source source;
    snprintf(name, sizeof name, "hostile/%s", file);
    data = fault_file(name, &size);
    source = ald_source_memory(data, size);
    trust_case_init(&c, with);
    check_load(name, &c, entry, data, size);
    t->loaded++;
    t->unsayable += c.trust.commercial || c.trust.require_commit || c.host.now == NULL;
    if (lazy != NULL) {
        check_lazy(name, &c, lazy, &source);
        t->lazy++;
    }
    if (is_about_trust(names) && size >= 32) {
        t->trust++;
        if (data[21] & ALD_FLAG_STREAMING)
            check_lazily_refused(name, &c, names, &source);
    }
    free(data);
}

static void test_all(void)
{
    size_t size, i, count;
    uint8_t *json = fault_file("hostile/expected.json", &size);
    yyjson_doc *doc = yyjson_read_opts((char *)json, size, 0, NULL, NULL);
    yyjson_val *key, *entry;
    tally t = {0, 0, 0, 0};
    REQUIRE(doc != NULL);
    yyjson_obj_foreach(yyjson_doc_get_root(doc), i, count, key, entry)
    {
        check_entry(yyjson_get_str(key), entry, &t);
    }
    yyjson_doc_free(doc);
    free(json);
    CHECK(t.loaded >= 617); /* as many as there were when this was written */
    CHECK(t.lazy >= 38);
    CHECK(t.trust >= 44);
    CHECK(t.unsayable >= 4);
}

int main(void)
{
    RUN(test_all);
    return check_done();
}
