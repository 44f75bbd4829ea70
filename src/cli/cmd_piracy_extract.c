/* SPDX-License-Identifier: MIT */
/* alimentar piracy extract FILE */
#include <inttypes.h>
#include <string.h>

#include "cli/command.h"
#include "cli/json_print.h"
#include "cli/piracy_look.h"

typedef struct extract_args {
    cli_common common;
    const char *in;
    read_options read;
    look_options look;
    uint8_t json;
} extract_args;

static const char *name_of(const piracy_key *key, const uint8_t *hash)
{
    const known_buyer *b = buyers_find(&key->buyers, hash);
    return b != NULL ? b->name : NULL;
}

static void print_json(const char *file, const piracy_key *key, const left_out *left,
                       const piracy_result *r)
{
    const ald_watermark_finding *f = &r->finding;
    json_print j = {0};
    json_open(&j, NULL, '{');
    json_text(&j, "file", file);
    json_bool(&j, "found", f->found);
    json_bool(&j, "is_marked", f->is_marked);
    json_text(&j, "buyer", f->found ? name_of(key, f->buyer_hash) : NULL);
    if (f->found) {
        json_hex(&j, "buyer_hash", f->buyer_hash, sizeof(f->buyer_hash));
    } else {
        json_null(&j, "buyer_hash");
    }
    json_text(&j, "method", !f->found ? NULL : r->is_listed ? "registry" : "blind");
    json_double(&j, "confidence", f->confidence);
    json_double(&j, "evidence_bits", f->evidence_bits);
    json_double(&j, "log2_p", f->log2_p);
    json_double(&j, "agreement", f->agreement);
    json_double(&j, "presence", f->presence);
    json_uint(&j, "carriers", f->carriers);
    json_uint(&j, "profiles", f->profiles);
    json_uint(&j, "candidates", f->candidates);
    if (f->affine >= 0) {
        json_uint(&j, "affine", (uint64_t)f->affine);
    } else {
        json_null(&j, "affine");
    }
    json_open(&j, "confirmed", '[');
    for (size_t i = 0; i < r->rank_count; i++) {
        const known_buyer *b = &key->buyers.items[r->ranks[i].buyer];
        json_open(&j, NULL, '{');
        json_text(&j, "buyer", b->name);
        json_hex(&j, "buyer_hash", b->hash, sizeof(b->hash));
        json_double(&j, "log2_p", r->ranks[i].log2_p);
        json_double(&j, "agreement", r->ranks[i].agreement);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    left_out_json(left, &j);
    json_close(&j, '}');
    json_end(&j);
}

static void print_buyer(const piracy_key *key, const uint8_t *hash, const char *what)
{
    char text[65];
    const char *name = name_of(key, hash);
    cli_hash_text(hash, text);
    cli_printf("%s", what);
    if (name != NULL) {
        cli_print(name, strlen(name));
        cli_printf(" ");
    }
    cli_printf("hash=%s", text);
}

static void print_text(const piracy_key *key, const left_out *left, const piracy_result *r)
{
    const ald_watermark_finding *f = &r->finding;
    if (!f->found) {
        cli_printf("%s\n", f->is_marked ? "A mark of yours is present, the buyer is not readable"
                           : left->number_count == 0 ? "Nothing looked at: no column has numbers"
                                                     : "No mark of yours found");
        return;
    }
    print_buyer(key, f->buyer_hash, "Buyer: ");
    cli_printf(" (confidence: %.1f%%, %.0f bits of evidence)\n", 100 * f->confidence,
               f->evidence_bits);
    for (size_t i = 0; i < r->rank_count; i++) {
        const known_buyer *b = &key->buyers.items[r->ranks[i].buyer];
        if (memcmp(b->hash, f->buyer_hash, sizeof(b->hash)) != 0) {
            print_buyer(key, b->hash, "also:  ");
            cli_printf(" (%.0f bits of evidence)\n", -r->ranks[i].log2_p);
        }
    }
}

static ald_status run_extract(cli_env *env, void *raw, ald_error *err)
{
    const extract_args *args = raw;
    piracy_key key;
    piracy_result result;
    cli_input in;
    left_out left;
    env->is_question = 1;
    memset(&left, 0, sizeof(left));
    memset(&key, 0, sizeof(key));
    memset(&in, 0, sizeof(in));
    ald_status status =
        piracy_key_open(env, &args->look, &args->read.trust.key_passphrase, &key, err);
    if (status == ALD_OK) {
        status = piracy_open(env, args->in, &args->read, &in, &left, err);
    }
    if (status == ALD_OK) {
        env->subject = in.name;
        status = piracy_look(env, &key, &in, &result, err);
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        env->answer = result.finding.is_marked ? CLI_EXIT_FAILED
                      : left.number_count == 0 ? CLI_EXIT_IO
                                               : CLI_EXIT_OK;
        if (args->json) {
            print_json(in.name, &key, &left, &result);
        } else {
            print_text(&key, &left, &result);
        }
        left_out_note(&left, env);
    }
    cli_input_close(&in);
    left_out_clear(&left);
    piracy_key_close(&key);
    return status;
}

static const opt_operand operands[] = {
    {"FILE",
     "the suspect file, in any format that `convert` reads; - is standard input (with --from)",
     offsetof(extract_args, in), 0},
    {0},
};

static const opt_spec output_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(extract_args, json),
     .help = "everything as JSON"},
};
static const opt_group group_output = OPT_GROUP("Output", output_specs);

static const opt_use options[] = {
    {&cli_group_seller, offsetof(extract_args, look.seller)},
    {&cli_group_look, offsetof(extract_args, look)},
    {&group_output, 0},
    {&cli_group_read, offsetof(extract_args, read)},
    {&cli_group_read_schema, offsetof(extract_args, read)},
    {&cli_group_trust, offsetof(extract_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "whose copy is this?",
    "alimentar piracy extract leaked.csv --seller-key seller.key --buyers buyers.jsonl",
    "a copy in pounds instead of kilograms",
    "alimentar piracy extract leaked.csv --seller-key seller.key --affine 2.20462262",
    NULL,
};

const cli_command cli_cmd_piracy_extract = {
    .verb = "piracy extract",
    .brief = "which buyer a leaked copy was made for",
    .details =
        "Reads the mark with your key. About 450 marked numbers tell the buyer without knowing who "
        "it may be; with --buyers about 80 are enough, and several buyers who mixed their copies "
        "are all named. Exits with 0 when there is no mark of yours, with 1 when there is one.",
    .examples = examples,
    .exit_codes = piracy_exit_codes,
    .operands = operands,
    .options = options,
    .args_size = sizeof(extract_args),
    .run = run_extract,
};
