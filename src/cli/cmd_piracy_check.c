/* SPDX-License-Identifier: MIT */
/* alimentar piracy check-evidence EVIDENCE */
#include <stdlib.h>
#include <string.h>

#include "cli/canonical.h"
#include "cli/code_bits.h"
#include "cli/command.h"
#include "cli/piracy_look.h"
#include "cli/signers.h"

typedef struct check_args {
    cli_common common;
    const char *in, *signer, *data;
} check_args;

static int from_hex(const char *text, uint8_t *out, size_t size)
{
    char digits[3] = {0};
    if (text == NULL || strlen(text) != 2 * size || strspn(text, "0123456789abcdef") != 2 * size) {
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        memcpy(digits, text + 2 * i, 2);
        out[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return 1;
}

static ald_status check_signature(cli_env *env, yyjson_val *root, const signer_list *signers,
                                  ald_error *err)
{
    uint8_t signature[ALD_ED25519_SIGNATURE_BYTES], signer[32];
    yyjson_val *e = yyjson_obj_get(root, "evidence");
    ald_buffer bytes = {NULL, 0, 0, &env->host.alloc};
    if (!from_hex(yyjson_get_str(yyjson_obj_get(root, "signature")), signature,
                  sizeof(signature)) ||
        !from_hex(yyjson_get_str(yyjson_obj_get(e, "signer")), signer, sizeof(signer)) ||
        yyjson_get_uint(yyjson_obj_get(e, "version")) != 1 || yyjson_obj_size(root) != 2) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "not an evidence file of version 1");
    }
    ald_status status = canonical_evidence(e, &bytes, err);
    if (status == ALD_OK) {
        status = env->host.crypto->ed25519_verify(signature, signer, bytes.data, bytes.size, err);
    }
    if (status == ALD_OK && signers_find(signers, signer) == NULL) {
        status = ald_error_set(err, ALD_E_UNTRUSTED_SIGNER, ALD_NO_OFFSET,
                               "the evidence is signed by another key than that of --signer");
    }
    ald_buffer_clear(&bytes);
    return status;
}

static ald_status check_data(cli_env *env, const check_args *args, yyjson_val *root, ald_error *err)
{
    uint8_t hash[32];
    char text[65];
    if (args->data == NULL) {
        return ALD_OK;
    }
    ald_status status = cli_file_blake3(env, args->data, hash, err);
    if (status != ALD_OK) {
        return status;
    }
    cli_hash_text(hash, text);
    const char *said =
        yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "evidence"), "dataset_hash"));
    if (said == NULL || strcmp(said, text) != 0) {
        const char *file = yyjson_get_str(yyjson_obj_get(yyjson_obj_get(root, "evidence"), "file"));
        env->subject = args->data;
        cli_hint(env, "the evidence is about '%s' with the BLAKE3 %s; this one has %s",
                 file != NULL ? file : "", said != NULL ? said : "", text);
        return ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, ALD_NO_OFFSET,
                             "not the file that the evidence is about");
    }
    return ALD_OK;
}

static int says(yyjson_val *column, const char *key, unsigned number)
{
    yyjson_val *said = yyjson_obj_get(column, key);
    return yyjson_is_uint(said) && yyjson_get_uint(said) == number;
}

/* The bits of one column, and whether what is said about them is so. */
static ald_status check_column(yyjson_val *column, const uint8_t *code, code_votes *votes,
                               ald_error *err)
{
    uint8_t bits[ALD_WATERMARK_CODE_BYTES] = {0}, known[ALD_WATERMARK_CODE_BYTES] = {0};
    const char *text = yyjson_get_str(yyjson_obj_get(column, "extracted_bits"));
    const char *mask = yyjson_get_str(yyjson_obj_get(column, "extracted_mask"));
    int is_right = (text == NULL && mask == NULL) ||
                   (from_hex(text, bits, sizeof(bits)) && from_hex(mask, known, sizeof(known)));
    for (size_t i = 0; i < sizeof(bits); i++) {
        is_right = is_right && (bits[i] & ~(unsigned)known[i]) == 0;
    }
    const code_bits counted = code_bits_count(code, bits, known);
    if (!is_right || !says(column, "bits_read", counted.read) ||
        !says(column, "bits_agreeing", counted.agreeing)) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the bits of a column are not what the evidence says of them");
    }
    code_votes_add(votes, code, bits, known);
    return ALD_OK;
}

/* F-444. Older evidence has no code, and no bits to count. */
static ald_status check_bits(yyjson_val *root, code_votes *votes, ald_error *err)
{
    yyjson_val *e = yyjson_obj_get(root, "evidence"), *column;
    yyjson_val *code_text = yyjson_obj_get(e, "code");
    uint8_t code[ALD_WATERMARK_CODE_BYTES];
    ald_status status = ALD_OK;
    size_t at, max;
    if (code_text == NULL) {
        return ALD_OK;
    }
    if (!from_hex(yyjson_get_str(code_text), code, sizeof(code))) {
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "the code in the evidence is not of %d bytes",
                             ALD_WATERMARK_CODE_BYTES);
    }
    yyjson_arr_foreach(yyjson_obj_get(e, "columns"), at, max, column)
    {
        if (status == ALD_OK) {
            status = check_column(column, code, votes, err);
        }
    }
    return status;
}

static void print_bits(const code_votes *votes)
{
    const double log2_p = code_votes_log2_p(votes);
    if (votes->sum.read > 0) {
        cli_printf("bits          %u of %u are those of the buyer's code (by chance: less than 1 "
                   "in 2^%u)\n",
                   votes->sum.agreeing, votes->sum.read, log2_p < -128 ? 128 : (unsigned)-log2_p);
    }
}

static void print_checked(const check_args *args, yyjson_val *root, const code_votes *votes)
{
    static const char keys[][13] = {"file",   "dataset_hash", "buyer_hash", "confidence",
                                    "log2_p", "analyzed_at",  "method"};
    yyjson_val *e = yyjson_obj_get(root, "evidence");
    cli_printf("signature     right\n");
    if (args->data != NULL) {
        cli_printf("data          the file that it is about\n");
    }
    cli_printf("match         %s\n",
               yyjson_get_bool(yyjson_obj_get(e, "match_confirmed")) ? "confirmed" : "no");
    print_bits(votes);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *text = yyjson_get_str(yyjson_obj_get(e, keys[i]));
        cli_printf("%-13s ", keys[i]);
        if (text != NULL) {
            cli_print(text, strlen(text));
        }
        cli_printf("\n");
    }
}

static ald_status run_check(cli_env *env, void *raw, ald_error *err)
{
    const check_args *args = raw;
    ald_buffer text = {NULL, 0, 0, &env->host.alloc};
    signer_list signers;
    code_votes votes;
    yyjson_doc *doc = NULL;
    memset(&signers, 0, sizeof(signers));
    memset(&votes, 0, sizeof(votes));
    if (args->signer == NULL) {
        cli_hint(env, "evidence that anybody may have signed proves nothing");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "piracy check-evidence: --signer is missing");
    }
    ald_status status = signers_add(env, args->signer, &signers, err);
    if (status == ALD_OK) {
        status = cli_read_file(env, args->in, &text, err);
    }
    if (status == ALD_OK) {
        env->subject = args->in;
        doc = yyjson_read_opts((char *)text.data, text.size, 0, NULL, NULL);
        status = doc != NULL ? check_signature(env, yyjson_doc_get_root(doc), &signers, err)
                             : ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                             "not an evidence file: no JSON");
    }
    if (status == ALD_OK) {
        status = check_data(env, args, yyjson_doc_get_root(doc), err);
    }
    if (status == ALD_OK) {
        status = check_bits(yyjson_doc_get_root(doc), &votes, err);
    }
    if (status == ALD_OK) {
        print_checked(args, yyjson_doc_get_root(doc), &votes);
    }
    yyjson_doc_free(doc);
    signers_clear(&signers);
    ald_buffer_clear(&text);
    return status;
}

static const opt_operand check_operands[] = {
    {"EVIDENCE", "the evidence file", offsetof(check_args, in), 0},
    {0},
};

static const opt_spec check_specs[] = {
    {.name = "signer",
     .arg = "FILE.pub",
     .kind = OPT_TEXT,
     .offset = offsetof(check_args, signer),
     .help = "the seller's public key"},
    {.name = "data",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(check_args, data),
     .help = "the suspect file: whether the evidence is about it"},
};
static const opt_group group_check = OPT_GROUP("Checks", check_specs);

static const opt_use check_options[] = {{&group_check, 0}, {&cli_group_common, 0}, {0}};

static const char *const check_examples[] = {
    "is it what the seller signed, and about this file?",
    "alimentar piracy check-evidence evidence.json --signer seller.key.pub --data leaked.csv",
    NULL,
};

const cli_command cli_cmd_piracy_check_evidence = {
    .verb = "piracy check-evidence",
    .brief = "whether an evidence file is what the seller signed",
    .details =
        "Needs the seller's public key alone. It checks the signature, counts again how many "
        "of the bits that were read are those of the buyer's code and, with --data, checks "
        "that the evidence is about this file. That the bits are in the file can be "
        "repeated with the seller's key alone (`alimentar piracy prove`).",
    .examples = check_examples,
    .operands = check_operands,
    .options = check_options,
    .args_size = sizeof(check_args),
    .run = run_check,
};
