/* SPDX-License-Identifier: MIT */
#include "cli/marking.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/stream.h"
#include "cli/buyers.h"

#define COLUMNS_MAX 65536u
#define READ_NEEDS 450   /* carriers, to read a buyer without knowing who it may be */
#define CONFIRM_NEEDS 80 /* to confirm one of a registry */
#define TIMES_NOTED 8    /* columns */

static const opt_spec mark_specs[] = {
    {.name = "buyer",
     .arg = "NAME",
     .kind = OPT_TEXT,
     .offset = offsetof(mark_options, buyer),
     .help = "mark the values for this buyer. The name stays in the registry; what is in the data "
             "means nothing without your key"},
    {.name = "strength",
     .arg = "S",
     .kind = OPT_TEXT,
     .offset = offsetof(mark_options, strength),
     .help = "largest relative change of a value, 0.00001 to 0.004; default: 0.0005"},
    {.name = "columns",
     .letter = 'c',
     .arg = "A,B,...",
     .kind = OPT_LIST,
     .offset = offsetof(mark_options, columns),
     .help =
         "mark only these columns, so that ids, codes, post codes and times of others stay what "
         "they are. May be repeated"},
    {.name = "redundancy",
     .arg = "R",
     .kind = OPT_TEXT,
     .offset = offsetof(mark_options, redundancy),
     .help = "share of rows that may be deleted before the buyer cannot be read any more; a note "
             "says when the data are too few for that; default: 0.5"},
    {.name = "hidden",
     .kind = OPT_FLAG,
     .offset = offsetof(mark_options, hidden),
     .help = "without the lowest bits that show everybody that there is a mark"},
    {.name = "strict",
     .kind = OPT_FLAG,
     .offset = offsetof(mark_options, strict),
     .help = "no decimal changes by more than the strength either; fewer of them are marked"},
    {.name = "mark-keys",
     .kind = OPT_FLAG,
     .offset = offsetof(mark_options, keys),
     .help = "mark columns that look like keys, too"},
    {.name = "registry",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(mark_options, registry),
     .help = "where the buyer is noted; default: buyers.jsonl in ~/.alimentar"},
    {.name = "no-registry",
     .kind = OPT_FLAG,
     .offset = offsetof(mark_options, no_registry),
     .help = "note the buyer nowhere"},
};
const opt_group cli_group_mark = OPT_GROUP("Watermark", mark_specs);

static ald_status read_number(const char *option, const char *text, float *out, ald_error *err)
{
    char *end = NULL;
    double v;
    if (text == NULL) {
        return ALD_OK;
    }
    v = strtod(text, &end);
    if (end == text || *end != '\0' || !(v >= 0 && v < 1e9)) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--%s: expected a number, found '%s'", option, text);
    }
    *out = (float)v;
    return ALD_OK;
}

ald_status marking_open(cli_env *env, const mark_options *options, const secret_options *passphrase,
                        marking *out, ald_error *err)
{
    static const ald_watermark_options usual = ALD_WATERMARK_OPTIONS_INIT;
    out->env = env;
    out->options = options;
    out->watermark = usual;
    out->watermark.flags = (options->hidden ? ALD_WATERMARK_HIDDEN : 0) |
                           (options->strict ? ALD_WATERMARK_STRICT : 0) |
                           (options->keys ? ALD_WATERMARK_KEYS : 0);
    ald_status status = read_number("strength", options->strength, &out->watermark.strength, err);
    if (status == ALD_OK) {
        status = read_number("redundancy", options->redundancy, &out->watermark.redundancy, err);
    }
    if (status == ALD_OK) {
        status = cli_seller_open(env, &options->seller, passphrase, &out->seller, err);
    }
    return status == ALD_OK && !options->no_registry
               ? buyers_prepare(env, options->registry, &out->registry, err)
               : status;
}

/* ---- columns by name */

static int is_named(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, size) == 0 && (at[size] == ',' || at[size] == '\0')) {
            return 1;
        }
    }
    return 0;
}

/* Every name of the options must be one of the table's. */
static ald_status check_names(marking *m, const struct ArrowSchema *schema, ald_error *err)
{
    for (size_t i = 0; i < m->options->columns.count; i++) {
        const char *at = m->options->columns.items[i];
        while (*at != '\0') {
            size_t size = strcspn(at, ",");
            int found = 0;
            for (int64_t c = 0; c < schema->n_children && !found; c++) {
                const char *name = schema->children[c]->name;
                found = name != NULL && strlen(name) == size && memcmp(name, at, size) == 0;
            }
            if (!found) {
                cli_hint_columns(m->env, schema);
                return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                     "there is no column '%.*s'", (int)size, at);
            }
            at += size + (at[size] == ',');
        }
    }
    return ALD_OK;
}

static ald_status choose_columns(marking *m, const struct ArrowSchema *schema, uint32_t **out,
                                 ald_error *err)
{
    ald_status status = check_names(m, schema, err);
    if (status != ALD_OK || m->options->columns.count == 0) {
        return status;
    }
    *out = calloc((size_t)schema->n_children + 1, sizeof(**out));
    if (*out == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the columns");
    }
    for (int64_t c = 0; c < schema->n_children; c++) {
        const char *name = schema->children[c]->name;
        for (size_t i = 0; i < m->options->columns.count; i++) {
            if (name != NULL && is_named(m->options->columns.items[i], name)) {
                (*out)[m->watermark.column_count++] = (uint32_t)c;
                break;
            }
        }
    }
    m->watermark.columns = *out;
    return ALD_OK;
}

/* ---- marking */

static ald_status mark_rows(void *ctx, struct ArrowArrayStream *batches, const ald_host *host,
                            ald_error *err)
{
    marking *m = ctx;
    struct ArrowSchema schema;
    uint32_t *columns = NULL;
    memset(&schema, 0, sizeof(schema));
    ald_watermark_free(m->mark); /* of a stream that had to be read once more */
    m->mark = NULL;
    m->watermark.columns = NULL;
    m->watermark.column_count = 0;
    ald_status status = ald_stream_schema(batches, &schema, err);
    if (status == ALD_OK) {
        status = choose_columns(m, &schema, &columns, err);
        schema.release(&schema);
    }
    if (status == ALD_OK) {
        status = ald_watermark_new(&m->watermark, m->seller.keys->mark, host, &m->mark, err);
    }
    free(columns);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    return ald_watermark_embed(m->mark, batches, err);
}

ald_status marking_begin(marking *m, const char *buyer, ald_error *err)
{
    ald_watermark_free(m->mark);
    m->mark = NULL;
    m->buyer = buyer;
    m->hook.mark = mark_rows;
    m->hook.ctx = m;
    if (buyer[0] == '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "a buyer has a name");
    }
    return ald_watermark_buyer(m->seller.keys->key, buyer, strlen(buyer), &m->env->host,
                               m->watermark.buyer_hash, err);
}

/* ---- what a seller should know of it */

static const char *what_is_left(double carriers)
{
    return carriers >= READ_NEEDS      ? "for both"
           : carriers >= CONFIRM_NEEDS ? "for a registry"
                                       : "for neither";
}

static void note_capacity(const marking *m, const ald_watermark_report *report)
{
    const double gone = (double)m->watermark.redundancy, all = (double)report->capacity;
    if (report->capacity_is_low) {
        cli_note(
            m->env,
            "the capacity, %.0f, is low: reading the buyer needs about %d, confirming one of a "
            "registry about %d. It is enough %s now, and %s with %.0f %% of the rows gone",
            all, READ_NEEDS, CONFIRM_NEEDS, what_is_left(all), what_is_left(all * (1 - gone)),
            100 * gone);
    }
}

static uint64_t rounded_up(double v)
{
    const uint64_t whole = (uint64_t)v; /* numbers of 2^53 and more are not marked */
    return whole + (v > (double)whole);
}

/* A time of so many units, rounded up, as people say it. */
static void time_text(char *out, size_t size, double move, uint8_t unit)
{
    static const char *const small[] = {"ms", "us", "ns"};
    double seconds = move;
    for (unsigned u = ALD_WATERMARK_SECONDS; u < unit; u++) {
        seconds /= 1000;
    }
    const uint64_t whole = rounded_up(seconds), minutes = rounded_up(seconds / 60);
    if (unit == ALD_WATERMARK_WHOLE_DAYS) {
        snprintf(out, size, "%" PRIu64 " day%s", rounded_up(move), move > 1 ? "s" : "");
    } else if (minutes >= 60) {
        snprintf(out, size, "%" PRIu64 " h %" PRIu64 " min", minutes / 60, minutes % 60);
    } else if (whole >= 60) {
        snprintf(out, size, "%" PRIu64 " min %" PRIu64 " s", whole / 60, whole % 60);
    } else if (seconds >= 1 || unit == ALD_WATERMARK_SECONDS) {
        snprintf(out, size, "%" PRIu64 " s", whole);
    } else {
        unsigned u = 0;
        double part = seconds * 1000;
        for (; part < 1 && u < 2; u++) {
            part *= 1000;
        }
        snprintf(out, size, "%" PRIu64 " %s", rounded_up(part), small[u]);
    }
}

/* A relative change tells nothing of times: they count from 1970. */
static void note_times(const marking *m, const ald_watermark_report *report)
{
    size_t noted = 0;
    for (size_t i = 0; i < report->column_count; i++) {
        const ald_watermark_column *c = &report->columns[i];
        char text[64];
        if (c->mode == ALD_WATERMARK_SKIPPED || c->unit == ALD_WATERMARK_NO_TIME) {
            continue;
        }
        if (noted++ == TIMES_NOTED) {
            cli_note(m->env, "and other columns of times; --json has them all");
            return;
        }
        time_text(text, sizeof(text), c->largest_move, c->unit);
        cli_note(m->env,
                 "%s: %s move by up to %s%s%s; name the others with --columns to leave it out",
                 c->name, c->unit == ALD_WATERMARK_WHOLE_DAYS ? "dates" : "times",
                 c->is_estimate ? "about " : "", text,
                 c->unit > ALD_WATERMARK_SECONDS ? ", whole seconds do not stay whole" : "");
    }
}

/* Once for all copies of a run: they are of the same rows. */
static void note_changes(marking *m, const ald_watermark_report *report)
{
    if (!m->is_noted) {
        note_capacity(m, report);
        note_times(m, report);
        m->is_noted = 1;
    }
}

ald_status marking_note(marking *m, const char *path, ald_error *err)
{
    const ald_watermark_report *report = ald_watermark_get_report(m->mark);
    uint8_t file_hash[32];
    buyer_entry entry = {m->buyer,
                         m->options->seller.dataset_id,
                         path,
                         m->watermark.buyer_hash,
                         NULL,
                         (double)m->watermark.strength,
                         report->capacity};
    ald_status status = ALD_OK;
    note_changes(m, report);
    if (m->registry == NULL) {
        return ALD_OK;
    }
    if (strcmp(path, "-") == 0) {
        entry.file = NULL;
    } else {
        status = cli_file_blake3(m->env, path, file_hash, err);
        entry.file_hash = file_hash;
    }
    if (status == ALD_OK) {
        status = buyers_append(m->env, m->registry, &entry, err);
    }
    if (status != ALD_OK) {
        m->env->subject = m->options->registry; /* the message says which */
        cli_hint(m->env, "%s is written, and marked; only the registry does not know of it", path);
    }
    return status;
}

void marking_close(marking *m)
{
    ald_watermark_free(m->mark);
    m->mark = NULL;
    free(m->registry);
    m->registry = NULL;
    cli_seller_close(&m->seller);
}
