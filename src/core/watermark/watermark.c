/* SPDX-License-Identifier: MIT */
/* The public face of marking: keys, options, and from the values of pass one to the plan and the report of each column. */
#include "ald/watermark.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/crypto/secret.h"
#include "core/watermark/mark_change.h"
#include "core/watermark/marker.h"

#define ID_HASH_BYTES 16

const char *ald_watermark_mode_text(uint8_t mode)
{
    switch (mode) {
#define ALD_X(constant, value, text)                                                               \
    case value:                                                                                    \
        return text;
        ALD_WATERMARK_MODE_LIST(ALD_X)
#undef ALD_X
    default:
        return "";
    }
}

const char *ald_watermark_reason_text(uint8_t reason)
{
    switch (reason) {
#define ALD_X(constant, value, text)                                                               \
    case value:                                                                                    \
        return text;
        ALD_WATERMARK_REASON_LIST(ALD_X)
#undef ALD_X
    default:
        return "";
    }
}

/* ---- keys */

ald_status ald_watermark_key(const uint8_t seed[32], const ald_host *host,
                             uint8_t out[ALD_WATERMARK_KEY_BYTES], ald_error *err)
{
    static const char info[] = "ald-v1-watermark";
    if (!ALD_CRYPTO_HAS(host->crypto, hkdf_sha256))
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "watermark keys need HKDF, which this host does not lend");
    return host->crypto->hkdf_sha256(seed, 32, info, sizeof info - 1, out, ALD_WATERMARK_KEY_BYTES,
                                     err);
}

ald_status ald_watermark_dataset_key(const uint8_t key[ALD_WATERMARK_KEY_BYTES], const char *id,
                                     size_t id_size, const ald_host *host,
                                     uint8_t out[ALD_WATERMARK_KEY_BYTES], ald_error *err)
{
    static const char label[] = "nwm1/dataset/";
    uint8_t hash[ALD_BLAKE3_BYTES];
    ALD_TRY(ald__mark_hash(host->crypto, &host->alloc, NULL, id, id_size, NULL, 0, hash, err));
    return ald__mark_hash(host->crypto, &host->alloc, key, label, sizeof label - 1, hash,
                          ID_HASH_BYTES, out, err);
}

ald_status ald_watermark_buyer(const uint8_t key[ALD_WATERMARK_KEY_BYTES], const char *name,
                               size_t name_size, const ald_host *host,
                               uint8_t out[ALD_WATERMARK_BUYER_BYTES], ald_error *err)
{
    static const char label[] = "ald-v1-buyer/";
    return ald__mark_hash(host->crypto, &host->alloc, key, label, sizeof label - 1, name, name_size,
                          out, err);
}

/* ---- options */

static ald_status take_options(ald_watermark *w, const ald_watermark_options *options,
                               ald_error *err)
{
    size_t bytes;
    if (options->struct_size < sizeof *options)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "watermark options are too short");
    if (!(options->strength >= ALD_WATERMARK_STRENGTH_LEAST &&
          options->strength <= ALD_WATERMARK_STRENGTH_MOST))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the strength of a watermark is between 0.00001 and 0.004");
    if (!(options->redundancy >= 0 && options->redundancy < 1))
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the redundancy of a watermark is 0 or more, and less than 1");
    w->options = *options;
    w->options.columns = NULL;
    if (options->columns == NULL)
        return ALD_OK;
    if (!ald__mul_size(options->column_count, sizeof *w->columns, &bytes))
        return ald__no_memory(err, SIZE_MAX);
    w->columns = ald__alloc(&w->host.alloc, bytes, err);
    if (w->columns == NULL)
        return ALD_E_NOMEM;
    memcpy(w->columns, options->columns, bytes);
    w->options.columns = w->columns;
    return ALD_OK;
}

ald_status ald_watermark_new(const ald_watermark_options *options,
                             const uint8_t key[ALD_WATERMARK_KEY_BYTES], const ald_host *host,
                             ald_watermark **out, ald_error *err)
{
    ald_watermark *w = ald__alloc_zero(&host->alloc, sizeof *w, err);
    uint64_t codeword[ALD__POLAR_WORDS];
    ald_status st;
    *out = NULL;
    if (w == NULL)
        return ALD_E_NOMEM;
    w->host = *host;
    st = take_options(w, options, err);
    if (st == ALD_OK)
        st = ald__mark_keys_init(&w->keys, key, &w->host, ald__sip_level(2), err);
    if (st == ALD_OK)
        st = ald__mark_codeword(&w->keys, options->buyer_hash, codeword, err);
    if (st != ALD_OK) {
        ald_watermark_free(w);
        return st;
    }
    ald__mark_bits_init(w->bits, codeword);
    *out = w;
    return ALD_OK;
}

static void release_plans(ald_watermark *w)
{
    size_t count = w->leaves.count;
    if (w->plans != NULL) {
        ald__wipe(w->plans, count * sizeof *w->plans);
        ald__release(&w->host.alloc, w->plans, count * sizeof *w->plans);
    }
    if (w->reports != NULL)
        ald__release(&w->host.alloc, w->reports, count * sizeof *w->reports);
    w->plans = NULL;
    w->reports = NULL;
}

void ald_watermark_free(ald_watermark *watermark)
{
    ald_allocator alloc;
    if (watermark == NULL)
        return;
    alloc = watermark->host.alloc;
    release_plans(watermark);
    if (watermark->leaves.arena.alloc.alloc != NULL)
        ald__mark_leaves_clear(&watermark->leaves);
    if (watermark->schema.release != NULL)
        watermark->schema.release(&watermark->schema);
    if (watermark->columns != NULL)
        ald__release(&alloc, watermark->columns,
                     watermark->options.column_count * sizeof *watermark->columns);
    ald__wipe(watermark, sizeof *watermark);
    ald__release(&alloc, watermark, sizeof *watermark);
}

/* ---- from the values of a column to its plan */

/* What a column counts time in. */
static uint8_t unit_of(const ald__type *type)
{
    switch (type->id) {
    case ALD__DATE32:
    case ALD__DATE64:
        return ALD_WATERMARK_WHOLE_DAYS;
    case ALD__TIME32:
    case ALD__TIME64:
    case ALD__TIMESTAMP:
    case ALD__DURATION:
        return (uint8_t)(ALD_WATERMARK_SECONDS + (unsigned)type->unit);
    default:
        return ALD_WATERMARK_NO_TIME;
    }
}

typedef struct planner {
    ald_watermark *watermark;
    ald__mark_survey *survey;
    ald_error *errors;
} planner;

static void leave_alone(ald_watermark_column *report, uint8_t reason)
{
    report->mode = ALD_WATERMARK_SKIPPED;
    report->reason = reason;
    report->planes = 0;
    report->marked_count = report->carrier_count = 0;
}

/* With the threads of `host`; NULL: in this one. */
static ald_status plan_column(ald_watermark *w, const ald_host *host, const ald__mark_leaf *leaf,
                              ald__mark_tally *t, ald__mark_plan *plan,
                              ald_watermark_column *report, ald_error *err)
{
    ALD_TRY(ald__mark_tally_sort(t, host, err));
    ald__mark_plan_init(plan, &w->keys, w->bits, t, ald__mark_leaf_type(leaf), w->options.strength,
                        w->options.flags);
    report->value_count = t->total;
    report->decimals = (int8_t)plan->decimals;
    report->exponent = (int8_t)(plan->cap > 127 ? 127 : plan->cap < -128 ? -128 : plan->cap);
    report->mode = plan->mode;
    if (plan->reason != ALD_WATERMARK_NONE) {
        leave_alone(report, plan->reason);
        return ALD_OK;
    }
    ALD_TRY(ald__mark_measure_change(plan, t, host, report, err));
    if (report->carrier_count == 0)
        plan->reason = ALD_WATERMARK_COARSE;
    else if (ald__mark_is_distorted(report, 0))
        plan->reason = ALD_WATERMARK_DISTORTED;
    if (plan->reason != ALD_WATERMARK_NONE)
        leave_alone(report, plan->reason);
    return ALD_OK;
}

static void plan_leaf(planner *p, const ald_host *host, size_t index)
{
    ald_watermark *w = p->watermark;
    const ald__mark_leaf *leaf = &p->survey->leaves.list[index];
    ald_watermark_column *report = &w->reports[index];
    memset(report, 0, sizeof *report);
    report->name = leaf->name;
    report->column = leaf->column;
    report->decimals = -1;
    report->unit = unit_of(&leaf->type);
    w->plans[index].reason = p->survey->reasons[index];
    if (w->plans[index].reason != ALD_WATERMARK_NONE) {
        leave_alone(report, w->plans[index].reason);
        return;
    }
    p->errors[index].status = (int32_t)plan_column(w, host, leaf, &p->survey->tallies[index],
                                                   &w->plans[index], report, &p->errors[index]);
    ald__mark_tally_clear(&p->survey->tallies[index]);
}

static void plan_task(void *arg, uint32_t index)
{
    planner *p = arg;
    if (p->watermark->reports[index].name == NULL)
        plan_leaf(p, NULL, index);
}

/* Long columns one after the other, each on all threads, if there are few; then the others side by side. */
static void plan_leaves(planner *p, size_t count)
{
    const ald_host *host = &p->watermark->host;
    for (size_t i = 0; i < count; i++) {
        if (ald__mark_is_shared_out(host, p->survey->tallies[i].count, count))
            plan_leaf(p, host, i);
    }
    ald__mark_run_tasks(host, count, plan_task, p);
}

static ald_status plan_all(ald_watermark *w, ald__mark_survey *s, ald_error *err)
{
    size_t count = s->leaves.count;
    planner p = {w, s, NULL};
    ald_status st = ALD_OK;
    if (count == 0)
        return ALD_OK;
    p.errors = ald__alloc_zero(&w->host.alloc, count * sizeof *p.errors, err);
    w->plans = ald__alloc_zero(&w->host.alloc, count * sizeof *w->plans, err);
    w->reports = ald__alloc_zero(&w->host.alloc, count * sizeof *w->reports, err);
    if (p.errors == NULL || w->plans == NULL || w->reports == NULL)
        st = ALD_E_NOMEM;
    else
        plan_leaves(&p, count);
    for (size_t i = 0; i < count && st == ALD_OK; i++) {
        st = (ald_status)p.errors[i].status;
        if (st != ALD_OK && err != NULL)
            *err = p.errors[i];
    }
    if (p.errors != NULL)
        ald__release(&w->host.alloc, p.errors, count * sizeof *p.errors);
    return st;
}

static void sum_up(ald_watermark *w)
{
    ald_watermark_report *r = &w->report;
    r->columns = w->reports;
    r->column_count = w->leaves.count;
    r->capacity = 0;
    for (size_t i = 0; i < w->leaves.count; i++)
        r->capacity += w->reports[i].carrier_count;
    r->capacity_is_low =
        (double)r->capacity * (1 - (double)w->options.redundancy) < ALD__MARK_CARRIERS_NEEDED;
}

static ald_status survey_stream(ald_watermark *w, struct ArrowArrayStream *batches, ald_error *err)
{
    ald__mark_survey s;
    ald_status st;
    if (w->is_surveyed)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "this watermark has surveyed a data set already");
    ALD_TRY(ald__mark_survey_read(&s, &w->host, batches, w->options.memory_bytes,
                                  w->options.columns, w->options.column_count,
                                  ALD__MARK_FOR_MARKING, err));
    w->is_surveyed = 1;
    w->leaves.count = s.leaves.count;
    st = plan_all(w, &s, err);
    w->leaves = s.leaves; /* names and all move */
    w->schema = s.schema;
    s.leaves.arena.alloc.alloc = NULL;
    s.schema.release = NULL;
    ald__mark_survey_clear(&s);
    if (st != ALD_OK)
        return st;
    sum_up(w);
    if (w->report.capacity == 0)
        return ald__fail(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "no column can carry a watermark\nthe report tells why for each");
    return ALD_OK;
}

ald_status ald_watermark_survey(ald_watermark *watermark, struct ArrowArrayStream *batches,
                                ald_error *err)
{
    ald_status st = survey_stream(watermark, batches, err);
    batches->release(batches);
    return st;
}

const ald_watermark_report *ald_watermark_get_report(const ald_watermark *watermark)
{
    return &watermark->report;
}
