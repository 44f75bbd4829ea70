/* SPDX-License-Identifier: MIT */
/* Opening: options checked, the first pass, plans; then a stream of batches. */
#include <string.h>

#include "ald/jsonl.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "interchange/jsonl/json_batches.h"
#include "interchange/jsonl/json_notes.h"
#include "interchange/jsonl/json_survey.h"
#include "interchange/jsonl/jsonl_open.h"
#include "interchange/text/encoding.h"
#include "interchange/text/mem.h"

#define DEFAULT_RECORD_BYTES ((uint64_t)256 << 20)
/* Smaller inputs are gone through twice in no time. */
#define ONE_PASS_BYTES ((uint64_t)8 << 20)
#define SAMPLE_RECORDS 200

typedef struct jsonl_reader {
    ald_host host;
    ald_jsonl_options options; /* text.restart NULL: two passes */
    ald_source decoded;        /* the input as UTF-8, when it was something else */
    ald__json_input input;
    ald__plans plans;
    struct ArrowSchema schema;
    struct ArrowSchema types; /* the declared ones, where they are needed behind the opening */
    ald__json_checked checked;
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

static ald__plan_rules rules_of(const ald_jsonl_options *o)
{
    return (ald__plan_rules){o->text.schema, o->text.types, o->mixed, o->text.infer_rows != 0};
}

/* Types from the whole input, and their notes. */
static ald_status two_passes(jsonl_reader *reader, ald__json_fault *pending, ald_error *err)
{
    const ald_jsonl_options *o = &reader->options;
    ald__survey survey = {&reader->input, o, o->text.schema != NULL, pending};
    ald__plan_rules rules = rules_of(o);
    ald__place_tree tree;
    ald_status status =
        ald__place_tree_init(&tree, &reader->host.alloc, hash_seed(&reader->host), err);
    if (status == ALD_OK)
        status = ald__survey_run(&survey, &tree, err);
    if (status == ALD_OK)
        status = ald__json_notes(&reader->input, &tree, &o->text, err);
    if (status == ALD_OK)
        status = ald__plans_make(&reader->plans, &reader->host.alloc, &tree, &rules, err);
    if (status == ALD_OK)
        status = refuse_empty(reader, err);
    if (status == ALD_OK)
        status = ald__plans_schema(&reader->plans, &rules, &reader->host, &reader->schema, err);
    ald__place_tree_clear(&tree);
    return status;
}

/* Rows of the whole input, types from samples. *taken 0: two passes must say more. */
static ald_status one_pass(jsonl_reader *reader, size_t records, int *taken, ald_error *err)
{
    ald__json_fault none;
    ald__survey survey = {&reader->input, &reader->options, 1, &none};
    ald__plan_rules rules = rules_of(&reader->options);
    uint64_t seed = hash_seed(&reader->host);
    ald_status status;
    *taken = 0;
    ald__json_fault_clear(&none);
    status = ald__json_checked_init(&reader->checked, &reader->input, &rules, seed, err);
    if (status != ALD_OK)
        return status;
    /* What the search for lines or elements finds wrong may stand behind something else that is. */
    status = ald__survey_run(&survey, &reader->checked.actual, err);
    if (status == ALD_E_INVALID_FORMAT || status == ALD_E_LIMIT_EXCEEDED)
        return ALD_OK;
    if (status == ALD_OK)
        status = ald__json_checked_sample(&reader->checked, records, taken, err);
    reader->input.sampled = reader->checked.sampled;
    if (status != ALD_OK || !*taken)
        return status;
    status = ald__plans_make(&reader->plans, &reader->host.alloc, &reader->checked.expected, &rules,
                             err);
    if (status == ALD_OK)
        status = refuse_empty(reader, err);
    if (status == ALD_OK)
        status = ald__plans_schema(&reader->plans, &rules, &reader->host, &reader->schema, err);
    reader->checked.plans = &reader->plans;
    return status;
}

static ald_status study(jsonl_reader *reader, const ald_source *source,
                        const ald__jsonl_tuning *tuning, ald_error *err)
{
    const ald_jsonl_options *o = &reader->options;
    uint64_t most = o->max_line_bytes ? o->max_line_bytes : DEFAULT_RECORD_BYTES;
    ald__json_fault pending;
    int taken = 0;
    ald_status status = decode(reader, &source, o->text.encoding, err);
    ald__json_fault_clear(&pending);
    if (status == ALD_OK)
        status = ald__json_input_init(&reader->input, source, &reader->host, most, &pending, err);
    if (status != ALD_OK)
        return status;
    if (o->text.restart && !o->text.schema && !o->text.infer_rows &&
        pending.record == ALD_NO_OFFSET && source->size_bytes >= tuning->one_pass_bytes) {
        status = one_pass(reader, tuning->sample_records, &taken, err);
        if (!taken)
            ald__json_checked_clear(&reader->checked);
        if (status != ALD_OK || taken)
            return status;
    }
    reader->options.text.restart = NULL;
    return two_passes(reader, &pending, err);
}

static ald_status reader_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    jsonl_reader *reader = ctx;
    return ald_schema_copy(&reader->host, &reader->schema, out, err);
}

static ald_status reader_next(void *ctx, struct ArrowArray *out, ald_error *err);

static void reader_free(void *ctx)
{
    jsonl_reader *reader = ctx;
    ald_allocator alloc = reader->host.alloc;
    ald__batches_free(reader->batches);
    ald__json_checked_clear(&reader->checked);
    if (reader->schema.release)
        reader->schema.release(&reader->schema);
    if (reader->types.release)
        reader->types.release(&reader->types);
    ald__plans_clear(&reader->plans);
    if (reader->input.cells)
        ald__json_input_clear(&reader->input);
    ald_source_close(&reader->decoded);
    ald__text_free(&alloc, reader, 1, sizeof *reader);
}

/* The reader is the stream's, also on failure. */
static ald_status make_stream(jsonl_reader *reader, struct ArrowArrayStream *out, ald_error *err)
{
    ald_stream_impl impl = {reader_schema, reader_next, reader_free, reader, 0};
    ald__json_checked *checked = reader->options.text.restart ? &reader->checked : NULL;
    ald_status status = ald__batches_new(&reader->input, &reader->plans, &reader->options.text,
                                         checked, &reader->batches, err);
    if (status != ALD_OK) {
        reader_free(reader);
        return status;
    }
    for (size_t i = 0; i < reader->input.cell_count; i++)
        impl.row_count += reader->input.cells[i].rows;
    return ald_stream_new(&impl, &reader->host.alloc, out, err);
}

/* The input, and what says how it is read, in a reader of its own. */
static jsonl_reader *take_over(jsonl_reader *from, ald_error *err)
{
    jsonl_reader *next = ald__text_alloc(&from->host.alloc, 1, sizeof *next, err);
    if (!next)
        return NULL;
    next->host = from->host;
    next->options = from->options;
    next->options.text.restart = NULL;
    next->input = from->input;
    next->decoded = from->decoded;
    next->types = from->types;
    if (next->options.text.types)
        next->options.text.types = &next->types;
    memset(&from->input, 0, sizeof from->input);
    memset(&from->decoded, 0, sizeof from->decoded);
    memset(&from->types, 0, sizeof from->types);
    return next;
}

/* What the types of the whole input are is found out as ever; what the failed stream had goes to the new one. */
static ald_status start_over(jsonl_reader *reader, ald_error *err)
{
    struct ArrowArrayStream *out = reader->options.text.restart;
    ald_error surprise = {.status = ALD_OK};
    ald__json_fault pending;
    jsonl_reader *next;
    ald_status status;
    (void)ald__json_surprise(&reader->checked, &surprise);
    ald__json_fault_clear(&pending);
    ald__batches_free(reader->batches);
    reader->batches = NULL;
    ald__json_checked_clear(&reader->checked);
    ald__plans_clear(&reader->plans);
    next = take_over(reader, err);
    if (!next)
        return ALD_E_NOMEM;
    status = two_passes(next, &pending, err);
    if (status != ALD_OK) {
        reader_free(next);
        return status;
    }
    status = make_stream(next, out, err);
    if (status == ALD_OK && err)
        *err = surprise;
    return status == ALD_OK ? ALD_E_SCHEMA_MISMATCH : status;
}

static ald_status reader_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    jsonl_reader *reader = ctx;
    ald_status status;
    if (!reader->batches)
        return ald_error_set(err, ALD_E_SCHEMA_MISMATCH, ALD_NO_OFFSET, "another stream goes on");
    status = ald__batches_next(reader->batches, out, err);
    if (!reader->options.text.restart)
        return status;
    if (status == ALD_OK && !out->release)
        return ald__json_notes(&reader->input, &reader->checked.actual, &reader->options.text, err);
    return status != ALD_OK && reader->checked.surprised ? start_over(reader, err) : status;
}

/* Types are needed as long as values are looked at. */
static ald_status keep_types(jsonl_reader *reader, ald_error *err)
{
    ald_text_options *text = &reader->options.text;
    ald_status status;
    if (!text->types || !text->restart)
        return ALD_OK;
    status = ald_schema_copy(&reader->host, text->types, &reader->types, err);
    text->types = &reader->types;
    return status;
}

ald_status ald__jsonl_open_tuned(const ald_source *source, const ald_jsonl_options *options,
                                 const ald_host *host, const ald__jsonl_tuning *tuning,
                                 struct ArrowArrayStream *out, ald_error *err)
{
    ald_jsonl_options chosen;
    jsonl_reader *reader;
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
    reader->host = *host;
    reader->options = chosen;
    status = keep_types(reader, err);
    if (status == ALD_OK)
        status = study(reader, source, tuning, err);
    if (status != ALD_OK) {
        reader_free(reader);
        return status;
    }
    return make_stream(reader, out, err);
}

ald_status ald_jsonl_open(const ald_source *source, const ald_jsonl_options *options,
                          const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    static const ald__jsonl_tuning usual = {ONE_PASS_BYTES, SAMPLE_RECORDS};
    return ald__jsonl_open_tuned(source, options, host, &usual, out, err);
}
