/* SPDX-License-Identifier: MIT */
/* Opening: options checked, the first pass, plans; then a stream of batches. */
#include <string.h>

#include "ald/jsonl.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "interchange/jsonl/json_batches.h"
#include "interchange/jsonl/json_notes.h"
#include "interchange/jsonl/json_survey.h"
#include "interchange/text/encoding.h"
#include "interchange/text/mem.h"

#define DEFAULT_RECORD_BYTES ((uint64_t)256 << 20)

typedef struct jsonl_reader {
    ald_host host;
    ald_source decoded; /* the input as UTF-8, when it was something else */
    ald__json_input input;
    ald__plans plans;
    struct ArrowSchema schema;
    ald__batches *batches;
} jsonl_reader;

static ald_status invalid(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s", what);
}

static int is_struct(const struct ArrowSchema *schema)
{
    return schema->release && schema->format && strlen(schema->format) == 2 &&
           memcmp(schema->format, "+s", 2) == 0 && schema->n_children >= 0;
}

/* Options of any size from the first version's up; a tail that this version does not know must be zero. */
static ald_status take_options(const ald_jsonl_options *given, ald_jsonl_options *out,
                               ald_error *err)
{
    static const ald_jsonl_options initial = ALD_JSONL_OPTIONS_INIT;
    *out = initial;
    if (!given)
        return ALD_OK;
    if (given->struct_size < sizeof *out)
        return invalid(err, "ald_jsonl_options: struct_size is too small");
    for (size_t i = sizeof *out; i < given->struct_size; i++) {
        if (((const uint8_t *)given)[i])
            return invalid(err, "ald_jsonl_options: a member that this version does not know");
    }
    *out = *given;
    if (out->mixed > ALD_JSON_MIXED_JSON || out->text.encoding > ALD_ENCODING_UTF16BE)
        return invalid(err, "ald_jsonl_options: no such value of mixed or encoding");
    if (out->text.schema && out->text.types)
        return invalid(err, "give either a schema or types of some columns, not both");
    return ALD_OK;
}

/* The plan of a whole schema finds names that are there twice; for types of some columns it is done here. */
static ald_status check_declared(const struct ArrowSchema *declared, int is_whole, ald_error *err)
{
    if (!declared)
        return ALD_OK;
    if (!is_struct(declared))
        return invalid(err, "the declared schema is not that of a table");
    for (int64_t i = 0; i < declared->n_children; i++) {
        const char *name = declared->children[i]->name;
        if (!name)
            return invalid(err, "a declared column has no name");
        for (int64_t j = 0; j < i && !is_whole; j++) {
            const char *other = declared->children[j]->name;
            if (strlen(name) == strlen(other) && memcmp(name, other, strlen(name)) == 0)
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "column '%.60s' is declared twice", name);
        }
    }
    return ALD_OK;
}

/* Makes colliding keys hard to find for who writes a file. Without randomness keys collide as they may. */
static uint64_t hash_seed(const ald_host *host)
{
    uint64_t seed = UINT64_C(0x2545F4914F6CDD1D);
    if (host->random && host->random(host->ctx, &seed, sizeof seed, NULL) != ALD_OK)
        seed = 1;
    return seed;
}

static ald_status decode(jsonl_reader *reader, const ald_source **source, uint8_t encoding,
                         ald_error *err)
{
    ald_status status;
    if (encoding == ALD_ENCODING_UTF8)
        return ALD_OK;
    status =
        ald__text_decode(*source, (ald_encoding)encoding, &reader->host, &reader->decoded, err);
    *source = &reader->decoded;
    return status;
}

/* Without a record nothing is known of the columns. */
static ald_status refuse_empty(const jsonl_reader *reader, ald_error *err)
{
    if (reader->plans.root->child_count)
        return ALD_OK;
    for (size_t i = 0; i < reader->input.cell_count; i++) {
        if (reader->input.cells[i].rows)
            return ALD_OK;
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, 0,
                         "the input has no record, so there are no columns\npass --schema to say "
                         "which columns an empty table has");
}

static ald_status study(jsonl_reader *reader, const ald_source *source,
                        const ald_jsonl_options *options, ald__place_tree *tree, ald_error *err)
{
    uint64_t most = options->max_line_bytes ? options->max_line_bytes : DEFAULT_RECORD_BYTES;
    ald__plan_rules rules = {options->text.schema, options->text.types, options->mixed,
                             options->text.infer_rows != 0};
    ald__json_fault pending;
    ald__survey survey = {&reader->input, options, options->text.schema != NULL, &pending};
    ald_status status;
    ald__json_fault_clear(&pending);
    status = decode(reader, &source, options->text.encoding, err);
    if (status != ALD_OK)
        return status;
    status = ald__json_input_init(&reader->input, source, &reader->host, most, &pending, err);
    if (status == ALD_OK)
        status = ald__place_tree_init(tree, &reader->host.alloc, hash_seed(&reader->host), err);
    if (status == ALD_OK)
        status = ald__survey_run(&survey, tree, err);
    if (status == ALD_OK)
        status = ald__json_notes(&reader->input, tree, &options->text, err);
    if (status == ALD_OK)
        status = ald__plans_make(&reader->plans, &reader->host.alloc, tree, &rules, err);
    if (status == ALD_OK)
        status = refuse_empty(reader, err);
    if (status == ALD_OK)
        status = ald__plans_schema(&reader->plans, &rules, &reader->host, &reader->schema, err);
    return status;
}

static ald_status reader_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    jsonl_reader *reader = ctx;
    return ald_schema_copy(&reader->host, &reader->schema, out, err);
}

static ald_status reader_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    jsonl_reader *reader = ctx;
    return ald__batches_next(reader->batches, out, err);
}

static void reader_free(void *ctx)
{
    jsonl_reader *reader = ctx;
    ald_allocator alloc = reader->host.alloc;
    ald__batches_free(reader->batches);
    if (reader->schema.release)
        reader->schema.release(&reader->schema);
    ald__plans_clear(&reader->plans);
    if (reader->input.cells)
        ald__json_input_clear(&reader->input);
    ald_source_close(&reader->decoded);
    ald__text_free(&alloc, reader, 1, sizeof *reader);
}

ald_status ald_jsonl_open(const ald_source *source, const ald_jsonl_options *options,
                          const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald_jsonl_options chosen;
    ald__place_tree tree;
    jsonl_reader *reader;
    ald_stream_impl impl;
    ald_status status;
    if (out)
        memset(out, 0, sizeof *out);
    if (!source || !source->read_at || !host || !out)
        return invalid(err, "ald_jsonl_open: source, host and out are required");
    status = take_options(options, &chosen, err);
    if (status == ALD_OK)
        status = check_declared(chosen.text.schema, 1, err);
    if (status == ALD_OK)
        status = check_declared(chosen.text.types, 0, err);
    if (status != ALD_OK)
        return status;
    reader = ald__text_alloc(&host->alloc, 1, sizeof *reader, err);
    if (!reader)
        return ALD_E_NOMEM;
    memset(&tree, 0, sizeof tree);
    reader->host = *host;
    status = study(reader, source, &chosen, &tree, err);
    ald__place_tree_clear(&tree);
    if (status == ALD_OK)
        status =
            ald__batches_new(&reader->input, &reader->plans, &chosen.text, &reader->batches, err);
    if (status != ALD_OK) {
        reader_free(reader);
        return status;
    }
    memset(&impl, 0, sizeof impl);
    impl.schema = reader_schema;
    impl.next = reader_next;
    impl.free = reader_free;
    impl.ctx = reader;
    for (size_t i = 0; i < reader->input.cell_count; i++)
        impl.row_count += reader->input.cells[i].rows;
    return ald_stream_new(&impl, &host->alloc, out, err);
}
