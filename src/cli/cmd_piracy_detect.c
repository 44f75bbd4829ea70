/* SPDX-License-Identifier: MIT */
/* alimentar piracy detect FILE, piracy entropy FILE */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yyjson.h>

#include "cli/command.h"
#include "cli/entropy_page.h"
#include "cli/json_print.h"
#include "cli/piracy_look.h"

typedef struct detect_args {
    cli_common common;
    const char *in;
    read_options read;
    const char *out, *html; /* of entropy */
    uint8_t json, force;
} detect_args;

static ald_status analyze(cli_env *env, const detect_args *args, cli_input *in, left_out *left,
                          ald_entropy **out, ald_error *err)
{
    struct ArrowArrayStream stream;
    ald_status status = piracy_open(env, args->in, &args->read, in, left, err);
    if (status != ALD_OK) {
        return status;
    }
    env->subject = in->name;
    stream = in->stream;
    memset(&in->stream, 0, sizeof(in->stream));
    status = ald_piracy_analyze_entropy(&stream, 0, &env->host, out, err);
    if (status == ALD_OK) {
        env->subject = NULL;
    }
    return status;
}

/* ---- detect */

static void print_suspicious(const ald_entropy *e)
{
    int first = 1;
    for (size_t i = 0; i < ald_entropy_count(e); i++) {
        const ald_column_entropy *c = ald_entropy_get(e, i);
        if (c->signs != 0) {
            cli_printf("%s", first ? "Suspicious columns: " : ", ");
            cli_print(c->name, strlen(c->name));
            first = 0;
        }
    }
    cli_printf("\n");
}

static void print_detection(const detect_args *args, const char *file, const left_out *left,
                            const ald_entropy *e)
{
    ald_detection d = ald_entropy_verdict(e);
    json_print j = {0};
    if (!args->json) {
        if (d.likely_watermarked) {
            cli_printf("LIKELY WATERMARKED (confidence: %.1f%%)\n", 100 * d.confidence);
            print_suspicious(e);
        } else if (left->number_count == 0) {
            cli_printf("NOTHING LOOKED AT: no column has numbers\n");
        } else {
            cli_printf("NO WATERMARK FOUND\n");
        }
        return;
    }
    json_open(&j, NULL, '{');
    json_text(&j, "file", file);
    json_bool(&j, "likely_watermarked", d.likely_watermarked);
    json_double(&j, "confidence", d.confidence);
    json_open(&j, "suspicious_columns", '[');
    for (size_t i = 0; i < ald_entropy_count(e); i++) {
        if (ald_entropy_get(e, i)->signs != 0) {
            json_text(&j, NULL, ald_entropy_get(e, i)->name);
        }
    }
    json_close(&j, ']');
    left_out_json(left, &j);
    json_close(&j, '}');
    json_end(&j);
}

static ald_status run_detect(cli_env *env, void *raw, ald_error *err)
{
    const detect_args *args = raw;
    ald_entropy *e = NULL;
    cli_input in;
    left_out left;
    env->is_question = 1;
    memset(&in, 0, sizeof(in));
    memset(&left, 0, sizeof(left));
    ald_status status = analyze(env, args, &in, &left, &e, err);
    if (status == ALD_OK) {
        print_detection(args, in.name, &left, e);
        left_out_note(&left, env);
        env->answer = ald_entropy_verdict(e).likely_watermarked ? CLI_EXIT_FAILED
                      : left.number_count == 0                  ? CLI_EXIT_IO
                                                                : CLI_EXIT_OK;
    }
    ald_entropy_free(e);
    cli_input_close(&in);
    left_out_clear(&left);
    return status;
}

/* ---- entropy */

/* JSON has no infinities; there are none here but by accident. */
static void add_real(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, double v)
{
    if (isfinite(v)) {
        (void)yyjson_mut_obj_add_real(doc, to, key, v);
    } else {
        (void)yyjson_mut_obj_add_null(doc, to, key);
    }
}

typedef struct bit_name {
    uint8_t bit;
    const char *name;
} bit_name;

static void add_names(yyjson_mut_doc *doc, yyjson_mut_val *to, const char *key, uint8_t bits,
                      const bit_name *names, size_t count)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, key);
    for (size_t i = 0; i < count; i++) {
        if ((bits & names[i].bit) != 0) {
            (void)yyjson_mut_arr_add_str(doc, list, names[i].name);
        }
    }
}

static void add_phases(yyjson_mut_doc *doc, yyjson_mut_val *to, const ald_column_entropy *c)
{
    yyjson_mut_val *list = yyjson_mut_obj_add_arr(doc, to, "phase");
    for (int i = 0; i < ALD_ENTROPY_PLANES; i++) {
        yyjson_mut_val *plane = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_int(doc, plane, "plane", ALD_ENTROPY_PLANE + i);
        add_real(doc, plane, "p", c->phase_p[i]);
        add_real(doc, plane, "strength", c->phase_strength[i]);
    }
}

static void add_column(yyjson_mut_doc *doc, yyjson_mut_val *list, const ald_column_entropy *c)
{
    static const bit_name signs[] = {{ALD_SIGN_ISLAND, "island"},
                                     {ALD_SIGN_LSB, "lsb"},
                                     {ALD_SIGN_CORRELATION, "correlation"},
                                     {ALD_SIGN_PERIOD, "period"},
                                     {ALD_SIGN_PHASE, "phase"}};
    static const bit_name raw[] = {{ALD_RAW_LSB_ENTROPY, "lsb_entropy < 0.97"},
                                   {ALD_RAW_KS, "ks_p < 0.05"},
                                   {ALD_RAW_CHI_SQUARE, "chi_square_p < 0.01"},
                                   {ALD_RAW_CORRELATION, "bit_correlation > 0.05"}};
    yyjson_mut_val *o = yyjson_mut_arr_add_obj(doc, list);
    (void)yyjson_mut_obj_add_str(doc, o, "name", c->name);
    (void)yyjson_mut_obj_add_uint(doc, o, "column", c->column);
    (void)yyjson_mut_obj_add_str(doc, o, "class", ald_entropy_class_text(c->entropy_class));
    (void)yyjson_mut_obj_add_bool(doc, o, "suspicious", c->signs != 0);
    add_names(doc, o, "signs", c->signs, signs, sizeof(signs) / sizeof(signs[0]));
    add_names(doc, o, "raw_thresholds_passed", c->raw, raw, sizeof(raw) / sizeof(raw[0]));
    (void)yyjson_mut_obj_add_uint(doc, o, "rows", c->row_count);
    (void)yyjson_mut_obj_add_uint(doc, o, "values", c->value_count);
    (void)yyjson_mut_obj_add_uint(doc, o, "distinct", c->distinct_count);
    (void)yyjson_mut_obj_add_uint(doc, o, "bits", c->bits);
    add_real(doc, o, "lsb_ones", c->lsb_ones);
    add_real(doc, o, "lsb_entropy", c->lsb_entropy);
    add_real(doc, o, "shannon_entropy", c->shannon_entropy);
    add_real(doc, o, "ks_distance", c->ks_distance);
    add_real(doc, o, "ks_p", c->ks_p);
    add_real(doc, o, "chi_square", c->chi_square);
    add_real(doc, o, "chi_square_p", c->chi_square_p);
    add_real(doc, o, "bit_correlation", c->bit_correlation);
    (void)yyjson_mut_obj_add_uint(doc, o, "bit_correlation_distance", c->bit_correlation_distance);
    add_real(doc, o, "centered_correlation", c->centered_correlation);
    add_real(doc, o, "centered_correlation_p", c->centered_correlation_p);
    add_real(doc, o, "peak_256", c->peak_256);
    add_real(doc, o, "p", c->p);
    add_phases(doc, o, c);
}

static char *report_json(const char *file, const ald_entropy *e, size_t *size)
{
    ald_detection d = ald_entropy_verdict(e);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc != NULL ? yyjson_mut_obj(doc) : NULL;
    yyjson_mut_val *list;
    char *text = NULL;
    if (root != NULL) {
        yyjson_mut_doc_set_root(doc, root);
        (void)yyjson_mut_obj_add_str(doc, root, "file", file);
        (void)yyjson_mut_obj_add_bool(doc, root, "likely_watermarked", d.likely_watermarked);
        add_real(doc, root, "confidence", d.confidence);
        list = yyjson_mut_obj_add_arr(doc, root, "columns");
        for (size_t i = 0; i < ald_entropy_count(e); i++) {
            add_column(doc, list, ald_entropy_get(e, i));
        }
        text = yyjson_mut_write(doc,
                                YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END |
                                    YYJSON_WRITE_ALLOW_INVALID_UNICODE,
                                size);
    }
    yyjson_mut_doc_free(doc);
    return text;
}

static ald_status write_reports(cli_env *env, const detect_args *args, const char *file,
                                const ald_entropy *e, ald_error *err)
{
    ald_buffer page = {NULL, 0, 0, &env->host.alloc};
    size_t size = 0;
    char *text = report_json(file, e, &size);
    ald_status status =
        text == NULL ? ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the report")
                     : ALD_OK;
    if (status == ALD_OK && (args->out != NULL || args->html == NULL)) {
        status = piracy_write(env, args->out, args->force, text, size, err);
    }
    if (status == ALD_OK && args->html != NULL) {
        status = entropy_page(file, e, &page, err);
    }
    if (status == ALD_OK && args->html != NULL) {
        status =
            piracy_write(env, args->html, args->force, (const char *)page.data, page.size, err);
    }
    ald_buffer_clear(&page);
    free(text);
    return status;
}

static ald_status run_entropy(cli_env *env, void *raw, ald_error *err)
{
    const detect_args *args = raw;
    ald_entropy *e = NULL;
    cli_input in;
    left_out left;
    memset(&in, 0, sizeof(in));
    memset(&left, 0, sizeof(left));
    ald_status status = analyze(env, args, &in, &left, &e, err);
    if (status == ALD_OK) {
        status = write_reports(env, args, in.name, e, err);
    }
    if (status == ALD_OK) {
        left_out_note(&left, env);
    }
    ald_entropy_free(e);
    cli_input_close(&in);
    left_out_clear(&left);
    return status;
}

/* ---- */

static const opt_operand operands[] = {
    {"FILE",
     "the suspect file, in any format that `convert` reads; - is standard input (with --from)",
     offsetof(detect_args, in), 0},
    {0},
};

static const opt_spec detect_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(detect_args, json),
     .help = "the verdict as JSON"},
};
static const opt_group group_detect = OPT_GROUP("Output", detect_specs);

static const opt_spec entropy_specs[] = {
    {.name = "output",
     .letter = 'o',
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(detect_args, out),
     .help = "the report as JSON; without it, and without --html, it goes to standard output"},
    {.name = "html",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(detect_args, html),
     .help = "the report as a page with plots"},
    {.name = "force",
     .letter = 'f',
     .kind = OPT_FLAG,
     .offset = offsetof(detect_args, force),
     .help = "replace files that are there"},
};
static const opt_group group_entropy = OPT_GROUP("Output", entropy_specs);

#define READING                                                                                    \
    {&cli_group_read, offsetof(detect_args, read)},                                                \
        {&cli_group_read_schema, offsetof(detect_args, read)},                                     \
        {&cli_group_trust, offsetof(detect_args, read.trust)}, {&cli_group_threads, 0},            \
        {&cli_group_common, 0}, {0}

static const opt_use detect_options[] = {{&group_detect, 0}, READING};
static const opt_use entropy_options[] = {{&group_entropy, 0}, READING};

static const char *const detect_examples[] = {
    "is this file marked?",
    "alimentar piracy detect suspected.ald",
    NULL,
};
static const char *const entropy_examples[] = {
    "all statistics, as JSON and as a page with plots",
    "alimentar piracy entropy data.ald --output report.json --html report.html",
    NULL,
};

const cli_command cli_cmd_piracy_detect = {
    .verb = "piracy detect",
    .brief = "whether numbers look marked, without a key",
    .details =
        "Looks at the lowest bits of the numbers and at where they lie on the line. Says which "
        "columns are suspicious, not whose mark it is. Decimals and columns of few values cannot "
        "be "
        "judged. Exits with 0 when no mark is found, with 1 when one is likely.",
    .examples = detect_examples,
    .exit_codes = piracy_exit_codes,
    .operands = operands,
    .options = detect_options,
    .args_size = sizeof(detect_args),
    .run = run_detect,
};

const cli_command cli_cmd_piracy_entropy = {
    .verb = "piracy entropy",
    .brief = "the statistics behind `piracy detect`, column by column",
    .details =
        "Clean data pass the usual thresholds (entropy of the lowest bit, uniformity, correlation) "
        "more often than not: those that a column passes are listed as raw_thresholds_passed. What "
        "decides are the signs, which marking alone leaves.",
    .examples = entropy_examples,
    .operands = operands,
    .options = entropy_options,
    .args_size = sizeof(detect_args),
    .run = run_entropy,
};
