/* SPDX-License-Identifier: MIT */
/* The questions are a table; each names the keys of the metadata that answer it, or a function that does. */
#include "card/datasheet.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ald/schema.h"
#include "card/card_text.h"
#include "card/card_value.h"
#include "card/datasheet_columns.h"

typedef struct datasheet {
    const ald_value *metadata;
    const card_file *file;
    const ald_stats *stats;
    ald_buffer *out;
    ald_error *err;
} datasheet;

/* Writes an answer; *answered stays 0 where there is none. */
typedef ald_status (*answer_fn)(const datasheet *d, int *answered);

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        ald_status try_ = (expr);                                                                  \
        if (try_ != ALD_OK) {                                                                      \
            return try_;                                                                           \
        }                                                                                          \
    } while (0)

static ald_status put(const datasheet *d, const char *text)
{
    return card_text_put(d->out, text, d->err);
}

static ald_status put_plain(const datasheet *d, const char *text, size_t size)
{
    return card_text_markdown(d->out, text, size, d->err);
}

/* ---- answers of their own */

static ald_status answer_rows(const datasheet *d, int *answered)
{
    char text[160];
    snprintf(text, sizeof(text), "%" PRIu64 " rows with %" PRId64 " columns.\n", d->file->row_count,
             d->file->schema->n_children);
    *answered = 1;
    return put(d, text);
}

static ald_status answer_columns(const datasheet *d, int *answered)
{
    *answered = d->file->schema->n_children > 0;
    return *answered ? card_datasheet_columns(d->file->schema, d->stats, d->out, d->err) : ALD_OK;
}

static ald_status answer_nulls(const datasheet *d, int *answered)
{
    char text[64];
    int count = 0;
    for (size_t i = 0; d->stats != NULL && i < d->stats->column_count; i++) {
        const ald_column_stats *c = &d->stats->columns[i];
        if (c->null_count == 0) {
            continue;
        }
        snprintf(text, sizeof(text), ": %" PRIu64 " of %" PRIu64, c->null_count,
                 d->stats->row_count);
        TRY(put(d, count++ > 0 ? ", " : "Missing values: "));
        TRY(put_plain(d, c->name, strlen(c->name)));
        TRY(put(d, text));
    }
    *answered = d->stats != NULL;
    return d->stats == NULL ? ALD_OK : put(d, count > 0 ? ".\n" : "No value is missing.\n");
}

static ald_status answer_file(const datasheet *d, int *answered)
{
    char text[200];
    snprintf(text, sizeof(text),
             "One file, %" PRIu64 " bytes, application/vnd.alimentar.ald, SHA-256 `%s`: ",
             d->file->size_bytes, d->file->sha256);
    *answered = 1;
    TRY(put(d, text));
    TRY(put_plain(d, d->file->name, strlen(d->file->name)));
    if (d->file->url != NULL) {
        TRY(put(d, ", at "));
        TRY(put_plain(d, d->file->url, strlen(d->file->url)));
    }
    return put(d, ".\n");
}

static ald_status answer_sources(const datasheet *d, int *answered)
{
    static const char *const keys[] = {"name", "url", "description", "license"};
    const ald_value *list = ald_value_find(d->metadata, "sources");
    *answered = card_is_array(list) && card_count(list) > 0;
    for (size_t i = 0; *answered && i < card_count(list); i++) {
        const ald_value *source = ald_value_get_item(list, i);
        int count = 0;
        TRY(put(d, "- "));
        for (size_t k = 0; card_is_map(source) && k < 4; k++) {
            size_t size = 0;
            const char *text = card_find_string(source, keys[k], &size);
            if (size > 0) {
                TRY(put(d, count++ > 0 ? "; " : ""));
                TRY(put_plain(d, text, size));
            }
        }
        TRY(put(d, "\n"));
    }
    return ALD_OK;
}

/* What is known of privacy stands in `compliance`. */
static ald_status answer_compliance(const datasheet *d, const char *key, const char *before,
                                    int *answered)
{
    const ald_value *map = ald_value_find(d->metadata, "compliance");
    const ald_value *value = card_is_map(map) ? ald_value_find(map, key) : NULL;
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (value != NULL && ald_value_get_type(value) == ALD_VALUE_BOOL) {
        text = ald_value_get_bool(value) ? "yes" : "no";
        size = strlen(text);
    }
    if (size == 0) {
        return ALD_OK;
    }
    *answered = 1;
    TRY(put(d, before));
    TRY(put_plain(d, text, size));
    return put(d, ".\n");
}

static ald_status answer_privacy(const datasheet *d, int *answered)
{
    return answer_compliance(d, "pii_status", "Personal data: ", answered);
}

static ald_status answer_consent(const datasheet *d, int *answered)
{
    return answer_compliance(d, "gdpr_consent", "Consent as the GDPR asks for: ", answered);
}

static ald_status answer_retention(const datasheet *d, int *answered)
{
    return answer_compliance(d, "data_retention_policy", "", answered);
}

static ald_status answer_export(const datasheet *d, int *answered)
{
    return answer_compliance(d, "export_control", "", answered);
}

static ald_status answer_audit(const datasheet *d, int *answered)
{
    return answer_compliance(d, "bias_audit_date", "Bias was audited on ", answered);
}

/* ---- the questions */

typedef struct question {
    const char *text; /* a title when it begins with '#' */
    const char *key;  /* of metadata: text, or a list of texts */
    answer_fn answer;
} question;

static const question questions[] = {
    {"# Motivation", NULL, NULL},
    {"For what purpose was the dataset created? Which task, which gap?", "intended_uses", NULL},
    {"Who created it, and on behalf of whom?", "creator", NULL},
    {"Who paid for it?", NULL, NULL},
    {"# Composition", NULL, NULL},
    {"What do the instances (rows) stand for? Are there several kinds?", "description", NULL},
    {"How many instances are there?", NULL, answer_rows},
    {"Is it all possible instances, or a sample? How is it representative?", NULL, NULL},
    {"What data does each instance consist of?", NULL, answer_columns},
    {"Is there a label or target for each instance?", "task_categories", NULL},
    {"Is information missing from instances, and why?", NULL, answer_nulls},
    {"Are relations between instances made explicit?", NULL, NULL},
    {"Are there recommended splits?", NULL, NULL},
    {"Are there errors, noise or redundancies?", "limitations", NULL},
    {"Is it self-contained, or does it depend on outside resources?", NULL, NULL},
    {"Does it hold confidential data?", NULL, NULL},
    {"Does it hold data that might offend, threaten or cause anxiety?", NULL, NULL},
    {"Does it identify subpopulations, such as by age or gender?", NULL, NULL},
    {"Can individuals be identified, directly or indirectly?", NULL, answer_privacy},
    {"Does it hold data that are sensitive in any way?", NULL, NULL},
    {"# Collection process", NULL, NULL},
    {"How was each instance's data acquired? Were they validated?", NULL, answer_sources},
    {"Which mechanisms or procedures collected the data?", NULL, NULL},
    {"If it is a sample, what was the sampling strategy?", NULL, NULL},
    {"Who collected the data, and how were they paid?", NULL, NULL},
    {"Over what time were the data collected?", NULL, NULL},
    {"Was there an ethical review?", NULL, NULL},
    {"Were the individuals told of the collection?", NULL, NULL},
    {"Did the individuals consent, and can they revoke it?", NULL, answer_consent},
    {"Was the impact on data subjects analysed?", NULL, answer_audit},
    {"# Preprocessing, cleaning, labeling", NULL, NULL},
    {"Was any preprocessing, cleaning or labeling done?", NULL, NULL},
    {"Were the raw data saved too? Where?", NULL, NULL},
    {"Is the software that did it available?", NULL, NULL},
    {"# Uses", NULL, NULL},
    {"Has the dataset been used already?", NULL, NULL},
    {"Is there a place that lists papers or systems that use it?", NULL, NULL},
    {"What could it be used for?", "intended_uses", NULL},
    {"Does anything about its making bear on future uses?", "limitations", NULL},
    {"Are there tasks that it should not be used for?", NULL, NULL},
    {"# Distribution", NULL, NULL},
    {"Is it given to third parties?", NULL, NULL},
    {"How is it distributed? Does it have a DOI?", NULL, answer_file},
    {"When is it distributed?", "created_at", NULL},
    {"Under which license or terms?", "license", NULL},
    {"Have third parties put restrictions on the data?", NULL, NULL},
    {"Do export controls or other rules apply?", NULL, answer_export},
    {"How is it cited?", "citation", NULL},
    {"# Maintenance", NULL, NULL},
    {"Who maintains it, and how can they be reached?", NULL, NULL},
    {"Is there an erratum?", NULL, NULL},
    {"Will it be updated? Which version is this?", "version", NULL},
    {"Are there limits on how long the data may be kept?", NULL, answer_retention},
    {"Are older versions kept available?", NULL, NULL},
    {"How can others extend it or contribute?", NULL, NULL},
};

/* ---- the document */

static ald_status put_list(const datasheet *d, const ald_value *list, int *answered)
{
    for (size_t i = 0; i < card_count(list); i++) {
        size_t size = 0;
        const char *text = card_string(ald_value_get_item(list, i), &size);
        if (size > 0) {
            *answered = 1;
            TRY(put(d, "- "));
            TRY(put_plain(d, text, size));
            TRY(put(d, "\n"));
        }
    }
    return ALD_OK;
}

static ald_status answer_key(const datasheet *d, const char *key, int *answered)
{
    const ald_value *value = ald_value_find(d->metadata, key);
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (card_is_array(value)) {
        return put_list(d, value, answered);
    }
    *answered = size > 0;
    if (size == 0) {
        return ALD_OK;
    }
    if (strcmp(key, "description") == 0) { /* the one text that is Markdown */
        return card_text_quote(d->out, text, size, d->err);
    }
    TRY(put_plain(d, text, size));
    return put(d, "\n");
}

static ald_status put_question(const datasheet *d, const question *q, size_t *open_count)
{
    int answered = 0;
    TRY(put(d, "\n**"));
    TRY(put(d, q->text));
    TRY(put(d, "**\n\n"));
    if (q->answer != NULL) {
        TRY(q->answer(d, &answered));
    } else if (q->key != NULL) {
        TRY(answer_key(d, q->key, &answered));
    }
    *open_count += !answered;
    return answered ? ALD_OK : put(d, "OPEN: not answered yet.\n");
}

static ald_status put_title(const datasheet *d)
{
    size_t size = 0;
    const char *name = card_find_string(d->metadata, "name", &size);
    TRY(put(d, "# Datasheet: "));
    TRY(size > 0 ? put_plain(d, name, size) : put_plain(d, d->file->name, strlen(d->file->name)));
    return put(d,
               "\n\nThe questions are those of Gebru et al., \"Datasheets for Datasets\" (2021), "
               "in short. Answers come from the file: its metadata, schema and values. What it "
               "does not say is marked OPEN, for a person to answer.\n");
}

ald_status card_datasheet_write(const ald_value *metadata, const card_file *file,
                                const ald_stats *stats, ald_buffer *out, ald_error *err)
{
    const datasheet d = {metadata, file, stats, out, err};
    const size_t count = sizeof(questions) / sizeof(questions[0]);
    size_t open_count = 0;
    size_t asked_count = 0;
    char text[80];
    TRY(put_title(&d));
    for (size_t i = 0; i < count; i++) {
        if (questions[i].text[0] == '#') {
            TRY(put(&d, "\n#"));
            TRY(put(&d, questions[i].text));
            TRY(put(&d, "\n"));
        } else {
            TRY(put_question(&d, &questions[i], &open_count));
            asked_count++;
        }
    }
    snprintf(text, sizeof(text), "\n---\n\n%zu of %zu questions are open.\n", open_count,
             asked_count);
    return put(&d, text);
}
