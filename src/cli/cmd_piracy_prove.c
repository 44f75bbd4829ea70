/* SPDX-License-Identifier: MIT */
/* alimentar piracy prove FILE: what was found, signed by the seller. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/canonical.h"
#include "cli/code_bits.h"
#include "cli/command.h"
#include "cli/entropy_page.h"
#include "cli/piracy_look.h"

#define METHOD "NWM1"
#define COLUMNS_MOST 1024

typedef struct prove_args {
    cli_common common;
    const char *in;
    read_options read;
    look_options look;
    const char *buyer_hash, *out, *html;
    uint8_t force;
} prove_args;

/* ---- whom */

/* The digits before and behind "..." of a shortened hash; all of them without one. */
static int matches(const char *hash, const char *given)
{
    const char *dots = strstr(given, "...");
    size_t head = dots != NULL ? (size_t)(dots - given) : strlen(given);
    size_t tail = dots != NULL ? strlen(dots + 3) : 0;
    return head + tail <= 64 && strncmp(hash, given, head) == 0 &&
           (tail == 0 || strcmp(hash + 64 - tail, dots + 3) == 0);
}

static int whole_hash(const char *given, uint8_t out[32])
{
    char digits[3] = {0};
    if (strlen(given) != 64 || strspn(given, "0123456789abcdef") != 64) {
        return 0;
    }
    for (size_t i = 0; i < 32; i++) {
        memcpy(digits, given + 2 * i, 2);
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return 1;
}

/* A whole hash is taken as it is; a part of one must fit exactly one buyer of the registry, or the one that was read blind. */
static ald_status find_hash(const prove_args *args, const piracy_key *key,
                            const ald_watermark_finding *blind, uint8_t out[32], ald_error *err)
{
    char text[65];
    size_t count = 0;
    if (whole_hash(args->buyer_hash, out)) {
        return ALD_OK;
    }
    for (size_t i = 0; i < key->buyers.count; i++) {
        cli_hash_text(key->buyers.items[i].hash, text);
        if (matches(text, args->buyer_hash)) {
            memcpy(out, key->buyers.items[i].hash, 32);
            count++;
        }
    }
    if (count == 0 && blind->found) {
        cli_hash_text(blind->buyer_hash, text);
        if (matches(text, args->buyer_hash)) {
            memcpy(out, blind->buyer_hash, 32);
            return ALD_OK;
        }
    }
    if (count == 1) {
        return ALD_OK;
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "--buyer-hash: %s '%s'\ngive all 64 digits, or a registry with --buyers",
                         count == 0 ? "no buyer is known as" : "several buyers begin with",
                         args->buyer_hash);
}

/* ---- the evidence */

typedef struct evidence {
    ald_proof proof;
    ald_column_evidence columns[COLUMNS_MOST];
    size_t column_count;
    ald_column_bits *bits; /* one for each column */
    uint8_t code[ALD_WATERMARK_CODE_BYTES];
    uint8_t buyer[32], file_hash[32];
    const char *buyer_name;
    const char *dataset_id;
} evidence;

/* Numbers that are not whole are text: so the form that is signed is the same everywhere. */
static void add_number(yyjson_mut_doc *doc, yyjson_mut_val *o, const char *key, int digits,
                       double v)
{
    char text[40];
    snprintf(text, sizeof(text), "%.*f", digits, v);
    (void)yyjson_mut_obj_add_strcpy(doc, o, key, text);
}

static void add_hash(yyjson_mut_doc *doc, yyjson_mut_val *o, const char *key, const uint8_t *hash)
{
    char text[65];
    cli_hash_text(hash, text);
    (void)yyjson_mut_obj_add_strcpy(doc, o, key, text);
}

static void add_hex(yyjson_mut_doc *doc, yyjson_mut_val *o, const char *key, const uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * ALD_WATERMARK_CODE_BYTES + 1];
    for (size_t i = 0; i < ALD_WATERMARK_CODE_BYTES; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[sizeof(text) - 1] = '\0';
    (void)yyjson_mut_obj_add_strcpy(doc, o, key, text);
}

/* What can be counted without a key: the bits that the column has, and how many are those of the buyer's code. */
static void add_bits(yyjson_mut_doc *doc, yyjson_mut_val *o, const ald_column_bits *bits,
                     const uint8_t *code)
{
    const code_bits counted = code_bits_count(code, bits->bits, bits->known);
    add_number(doc, o, "lsb_entropy", 6, bits->lsb_entropy);
    if (bits->expected_entropy > 0) {
        add_number(doc, o, "expected_entropy", 6, bits->expected_entropy);
    }
    (void)yyjson_mut_obj_add_uint(doc, o, "bits_read", counted.read);
    (void)yyjson_mut_obj_add_uint(doc, o, "bits_agreeing", counted.agreeing);
    if (counted.read > 0) {
        add_hex(doc, o, "extracted_bits", bits->bits);
        add_hex(doc, o, "extracted_mask", bits->known);
    }
}

static void add_date(const cli_env *env, yyjson_mut_doc *doc, yyjson_mut_val *o)
{
    char date[32] = "";
    time_t now = (time_t)(env->host.now != NULL ? env->host.now(env->host.ctx) : 0);
    struct tm utc;
    if (gmtime_r(&now, &utc) != NULL) {
        (void)strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &utc);
    }
    (void)yyjson_mut_obj_add_strcpy(doc, o, "analyzed_at", date);
}

static yyjson_mut_val *evidence_object(const cli_env *env, const char *file, const evidence *e,
                                       const uint8_t *signer, yyjson_mut_doc *doc)
{
    const ald_watermark_finding *f = &e->proof.finding;
    yyjson_mut_val *o = yyjson_mut_obj(doc), *list;
    (void)yyjson_mut_obj_add_uint(doc, o, "version", 1);
    (void)yyjson_mut_obj_add_str(doc, o, "file", file);
    add_hash(doc, o, "dataset_hash", e->file_hash);
    add_hash(doc, o, "buyer_hash", e->buyer);
    if (e->dataset_id != NULL) {
        (void)yyjson_mut_obj_add_str(doc, o, "dataset_id", e->dataset_id);
    }
    (void)yyjson_mut_obj_add_bool(doc, o, "match_confirmed", e->proof.match_confirmed);
    (void)yyjson_mut_obj_add_bool(doc, o, "read_blind", e->proof.is_blind);
    add_number(doc, o, "confidence", 9, f->confidence);
    add_number(doc, o, "log2_p", 3, f->log2_p);
    add_number(doc, o, "agreement", 6, f->agreement);
    (void)yyjson_mut_obj_add_uint(doc, o, "carriers", f->carriers);
    (void)yyjson_mut_obj_add_uint(doc, o, "profiles", f->profiles);
    add_date(env, doc, o);
    add_hex(doc, o, "code", e->code);
    list = yyjson_mut_obj_add_arr(doc, o, "columns");
    for (size_t i = 0; i < e->column_count; i++) {
        yyjson_mut_val *c = yyjson_mut_arr_add_obj(doc, list);
        (void)yyjson_mut_obj_add_str(doc, c, "name", e->columns[i].name);
        (void)yyjson_mut_obj_add_uint(doc, c, "carriers", e->columns[i].carriers);
        add_number(doc, c, "log2_p", 3, e->columns[i].log2_p);
        add_number(doc, c, "agreement", 6, e->columns[i].agreement);
        add_bits(doc, c, &e->bits[i], e->code);
    }
    (void)yyjson_mut_obj_add_str(doc, o, "method", METHOD);
    (void)yyjson_mut_obj_add_str(doc, o, "tool", "alimentar");
    (void)yyjson_mut_obj_add_str(doc, o, "tool_version", cli_version());
    add_hash(doc, o, "signer", signer);
    return o;
}

static ald_status sign_object(const cli_env *env, const uint8_t *seed, yyjson_mut_val *object,
                              char text[2 * ALD_ED25519_SIGNATURE_BYTES + 1], ald_error *err)
{
    uint8_t signature[ALD_ED25519_SIGNATURE_BYTES];
    ald_buffer bytes = {NULL, 0, 0, &env->host.alloc};
    yyjson_doc *still = yyjson_mut_val_imut_copy(object, NULL);
    ald_status status =
        still != NULL ? canonical_evidence(yyjson_doc_get_root(still), &bytes, err)
                      : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for evidence");
    if (status == ALD_OK) {
        status = env->host.crypto->ed25519_sign(seed, bytes.data, bytes.size, signature, err);
    }
    for (size_t i = 0; i < sizeof(signature) && status == ALD_OK; i++) {
        snprintf(text + 2 * i, 3, "%02x", signature[i]);
    }
    yyjson_doc_free(still);
    ald_buffer_clear(&bytes);
    return status;
}

static ald_status write_json(cli_env *env, const prove_args *args, const char *file,
                             const evidence *e, const cli_seller *seller, ald_error *err)
{
    char signature[2 * ALD_ED25519_SIGNATURE_BYTES + 1];
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = doc != NULL ? yyjson_mut_obj(doc) : NULL;
    char *text = NULL;
    size_t size = 0;
    ald_status status =
        root != NULL ? ALD_OK
                     : ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for evidence");
    if (status == ALD_OK) {
        yyjson_mut_val *o = evidence_object(env, file, e, seller->keys->public_key, doc);
        yyjson_mut_doc_set_root(doc, root);
        status = sign_object(env, seller->keys->seed, o, signature, err);
        if (status == ALD_OK) {
            (void)yyjson_mut_obj_add_val(doc, root, "evidence", o);
            (void)yyjson_mut_obj_add_str(doc, root, "signature", signature);
            text = yyjson_mut_write(
                doc, YYJSON_WRITE_PRETTY_TWO_SPACES | YYJSON_WRITE_NEWLINE_AT_END, &size);
            status = text != NULL ? piracy_write(env, args->out, args->force, text, size, err)
                                  : ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                                  "names of the file or its columns are no UTF-8");
        }
    }
    free(text);
    yyjson_mut_doc_free(doc);
    return status;
}

/* ---- a page for people */

static ald_status fill_page(const char *file, const evidence *e, ald_buffer *out, ald_error *err)
{
    const ald_watermark_finding *f = &e->proof.finding;
    char buyer[65], hash[65];
    cli_hash_text(e->buyer, buyer);
    cli_hash_text(e->file_hash, hash);
    CLI_TRY(page_format(
        out, err,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Evidence"
        "</title><style>body{font:14px/1.5 serif;max-width:46em;margin:2em auto}"
        "td{padding:.1em 1.2em .1em 0;vertical-align:top}code{font-size:.85em}"
        "</style></head><body><h1>Whose copy a file is</h1><table><tr><td>File</td><td>"));
    CLI_TRY(page_text(out, file, err));
    CLI_TRY(
        page_format(out, err, "</td></tr><tr><td>BLAKE3</td><td><code>%s</code></td></tr>", hash));
    CLI_TRY(page_format(out, err, "<tr><td>Buyer</td><td>"));
    CLI_TRY(page_text(out, e->buyer_name != NULL ? e->buyer_name : "", err));
    CLI_TRY(page_format(out, err, " <code>%s</code></td></tr>", buyer));
    CLI_TRY(
        page_format(out, err,
                    "<tr><td>Finding</td><td><b>%s</b></td></tr><tr><td>Chance</td><td>less than 1 "
                    "in 2<sup>%.0f</sup> that data of somebody else agree so well</td></tr><tr><td>"
                    "Marked numbers</td><td>%" PRIu64 "</td></tr></table>",
                    e->proof.match_confirmed ? "this buyer's copy" : "not shown to be this buyer's",
                    f->evidence_bits > 128 ? 128 : f->evidence_bits, f->carriers));
    CLI_TRY(
        page_format(out, err,
                    "<h2>By column</h2><table><tr><td>column</td><td>marked numbers</td><td>log2 p"
                    "</td><td>bits of the code read</td><td>that agree</td><td>entropy of lowest "
                    "bits</td></tr>"));
    for (size_t i = 0; i < e->column_count; i++) {
        const code_bits counted = code_bits_count(e->code, e->bits[i].bits, e->bits[i].known);
        CLI_TRY(page_format(out, err, "<tr><td>"));
        CLI_TRY(page_text(out, e->columns[i].name, err));
        CLI_TRY(page_format(out, err,
                            "</td><td>%" PRIu64 "</td><td>%.1f</td><td>%u</td><td>%u</td><td>%.3f%s"
                            "</td></tr>",
                            e->columns[i].carriers, e->columns[i].log2_p, counted.read,
                            counted.agreeing, e->bits[i].lsb_entropy,
                            e->bits[i].expected_entropy > 0 ? " (1 expected without a mark)" : ""));
    }
    return page_format(
        out, err,
        "</table><h2>What this means</h2><p>Before the sale numbers of the table were moved a "
        "little, each by no more than 0.4&nbsp;%% of itself, up or down as a code says that "
        "belongs to this buyer alone and that only the seller's key can compute. Not every number "
        "is "
        "moved, nor every column. The numbers of the file were compared with that code. "
        "The chance above holds whatever the data are: it is that of a code that had no part in "
        "making them. It does not say who passed the file on. The signed form of this page is the "
        "evidence file, which `alimentar piracy check-evidence` checks.</p></body></html>\n");
}

static ald_status write_page(cli_env *env, const prove_args *args, const char *file,
                             const evidence *e, ald_error *err)
{
    ald_buffer page = {NULL, 0, 0, &env->host.alloc};
    ald_status status = fill_page(file, e, &page, err);
    if (status == ALD_OK) {
        status =
            piracy_write(env, args->html, args->force, (const char *)page.data, page.size, err);
    }
    ald_buffer_clear(&page);
    return status;
}

/* ---- prove */

static ald_status gather_bits(ald_watermark_reading *reading, evidence *e, ald_error *err)
{
    ald_status status = ald_piracy_buyer_code(reading, e->buyer, e->code, err);
    e->bits = calloc(e->column_count + 1, sizeof(*e->bits));
    if (status == ALD_OK && e->bits == NULL) {
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for evidence");
    }
    for (size_t i = 0; i < e->column_count && status == ALD_OK; i++) {
        status = ald_piracy_evidence_bits(reading, i, &e->bits[i], err);
    }
    return status;
}

static ald_status gather(cli_env *env, const prove_args *args, const piracy_key *key, cli_input *in,
                         evidence *e, ald_watermark_reading **reading, ald_error *err)
{
    ald_watermark_read_options options = ALD_WATERMARK_READ_OPTIONS_INIT;
    struct ArrowArrayStream stream = in->stream;
    ald_watermark_finding blind;
    memset(&in->stream, 0, sizeof(in->stream));
    options.affine = key->affine;
    options.affine_count = key->affine_count;
    ald_status status =
        ald_watermark_read(&stream, key->seller.keys->mark, &options, &env->host, reading, err);
    if (status == ALD_OK) {
        status = ald_piracy_extract_buyer(*reading, &blind, err);
    }
    if (status == ALD_OK) {
        status = find_hash(args, key, &blind, e->buyer, err);
    }
    if (status == ALD_OK) {
        status = ald_piracy_prove_buyer(*reading, e->buyer, &e->proof, err);
    }
    if (status == ALD_OK) {
        size_t count = 0;
        status = ald_piracy_evidence(*reading, e->buyer, e->columns, COLUMNS_MOST, &count, err);
        e->column_count = count < COLUMNS_MOST ? count : COLUMNS_MOST;
    }
    if (status == ALD_OK) {
        status = gather_bits(*reading, e, err);
    }
    return status;
}

/* Evidence that nothing is shown is not signed where nothing could be looked at. */
static ald_status prove(cli_env *env, const prove_args *args, const piracy_key *key, cli_input *in,
                        const left_out *left, evidence *e, ald_error *err)
{
    ald_watermark_reading *reading = NULL; /* has the names of the columns */
    env->subject = in->name;
    ald_status status = gather(env, args, key, in, e, &reading, err);
    if (status == ALD_OK) {
        const known_buyer *known = buyers_find(&key->buyers, e->buyer);
        e->buyer_name = known != NULL ? known->name : NULL;
        e->dataset_id = args->look.seller.dataset_id;
        status = left->number_count > 0
                     ? cli_file_blake3(env, args->in, e->file_hash, err)
                     : ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, PIRACY_NO_NUMBERS);
    }
    if (status == ALD_OK) {
        env->subject = NULL;
        status = write_json(env, args, in->name, e, &key->seller, err);
    }
    if (status == ALD_OK && args->html != NULL) {
        status = write_page(env, args, in->name, e, err);
    }
    ald_watermark_reading_free(reading);
    return status;
}

static ald_status run_prove(cli_env *env, void *raw, ald_error *err)
{
    const prove_args *args = raw;
    evidence *e = calloc(1, sizeof(*e));
    piracy_key key;
    cli_input in;
    left_out left;
    ald_status status = ALD_OK;
    env->is_question = 1;
    memset(&left, 0, sizeof(left));
    memset(&key, 0, sizeof(key));
    memset(&in, 0, sizeof(in));
    if (e == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for evidence");
    }
    if (args->buyer_hash == NULL || strcmp(args->in, "-") == 0) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               args->buyer_hash == NULL
                                   ? "piracy prove: --buyer-hash is missing"
                                   : "piracy prove: evidence is about a file, not about a pipe");
    }
    if (status == ALD_OK) {
        status = piracy_key_open(env, &args->look, &args->read.trust.key_passphrase, &key, err);
    }
    if (status == ALD_OK) {
        status = piracy_open(env, args->in, &args->read, &in, &left, err);
    }
    if (status == ALD_OK) {
        status = prove(env, args, &key, &in, &left, e, err);
        left_out_note(&left, env);
    }
    if (status == ALD_OK) {
        env->answer = e->proof.match_confirmed ? CLI_EXIT_FAILED : CLI_EXIT_OK;
        cli_note(env, "%s (log2 p %.1f)",
                 e->proof.match_confirmed ? "it is this buyer's copy"
                                          : "it is not shown to be this buyer's copy",
                 e->proof.finding.log2_p);
    }
    cli_input_close(&in);
    left_out_clear(&left);
    piracy_key_close(&key);
    free(e->bits);
    free(e);
    return status;
}

/* ---- */

static const opt_operand prove_operands[] = {
    {"FILE", "the suspect file, in any format that `convert` reads", offsetof(prove_args, in), 0},
    {0},
};

static const opt_spec prove_specs[] = {
    {.name = "buyer-hash",
     .arg = "HASH",
     .kind = OPT_TEXT,
     .offset = offsetof(prove_args, buyer_hash),
     .help = "whose copy it is said to be: 64 digits, or with --buyers the first ones, or some of "
             "both ends, as a3f2...c891"},
    {.name = "output",
     .letter = 'o',
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(prove_args, out),
     .help = "the evidence file; without it standard output"},
    {.name = "html",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(prove_args, html),
     .help = "a page for people beside it"},
    {.name = "force",
     .letter = 'f',
     .kind = OPT_FLAG,
     .offset = offsetof(prove_args, force),
     .help = "replace files that are there"},
};
static const opt_group group_prove = OPT_GROUP("Evidence", prove_specs);

static const opt_use prove_options[] = {
    {&group_prove, 0},
    {&cli_group_seller, offsetof(prove_args, look.seller)},
    {&cli_group_look, offsetof(prove_args, look)},
    {&cli_group_read, offsetof(prove_args, read)},
    {&cli_group_read_schema, offsetof(prove_args, read)},
    {&cli_group_trust, offsetof(prove_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const prove_examples[] = {
    "evidence against one buyer",
    "alimentar piracy prove leaked.csv --buyer-hash a3f2...c891 --buyers buyers.jsonl --seller-key "
    "seller.key --output evidence.json --html evidence.html",
    NULL,
};
static const char *const prove_exit_codes[] = {
    "0  it is not shown to be this buyer's copy",
    "1  the match is confirmed",
    PIRACY_USAGE,
    PIRACY_NO_ANSWER,
    NULL,
};

const cli_command cli_cmd_piracy_prove = {
    .verb = "piracy prove",
    .brief = "signed evidence that a file is one buyer's copy",
    .details = "Compares the file with the buyer's code, and writes what was found, column by "
               "column, signed with the seller's key. Exits with 1 when the match is confirmed, "
               "with 0 when it is not; the evidence says so in both cases.",
    .examples = prove_examples,
    .exit_codes = prove_exit_codes,
    .operands = prove_operands,
    .options = prove_options,
    .args_size = sizeof(prove_args),
    .run = run_prove,
};
