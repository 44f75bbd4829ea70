/* SPDX-License-Identifier: MIT */
/* The user's side of private queries: alimentar query seal FILE, alimentar query open ANSWER */
#include <string.h>

#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/command.h"
#include "cli/envelope.h"
#include "cli/input.h"
#include "cli/query_request.h"
#include "cli/rewriting.h"
#include "cli/verify_checks.h"

/* ---- seal */

typedef struct seal_args {
    cli_common common;
    const char *in, *user;
    query_options query;
    envelope_place place;
    trust_options trust;
} seal_args;

/* Whether the published key is the owner's: the metadata are as good as the signature over them. An encrypted file need not
 * be opened for that. */
static ald_status check_file(cli_env *env, const seal_args *args, cli_input *in,
                             const ald_info *info, ald_error *err)
{
    read_options read;
    memset(&read, 0, sizeof(read));
    read.trust = args->trust;
    in->has_trust = 1;
    in->some_rows = 1;
    ald_status status = cli_trust_open(env, &args->trust, NULL, NULL, &in->trust, err);
    if (status == ALD_OK) {
        status = cli_input_stream(in, &read, NULL, err);
    }
    if (verify_lacks_secret(&in->trust, info, status)) {
        env->hint[0] = '\0';
        status = ALD_OK;
    }
    if (status == ALD_OK && info->signer_public_key == NULL) {
        cli_note(env, "the file is not signed: whoever passed it on could have put their own key "
                      "there, and would read the question");
    }
    return status;
}

/* Asked here, what the file has not is told at once. */
static ald_status check_query(cli_env *env, const ald_info *info, const ald_buffer *question,
                              ald_error *err)
{
    query_request query;
    struct ArrowSchema schema;
    struct ArrowArrayStream none, chosen;
    memset(&schema, 0, sizeof(schema));
    ald_status status = cli_query_read(question->data, question->size, &query, err);
    if (status == ALD_OK) {
        status = ald_schema_copy(&env->host, info->schema, &schema, err);
    }
    if (status == ALD_OK) {
        status = ald_stream_from_batches(&schema, NULL, 0, &env->host, &none, err);
    }
    if (status == ALD_OK) {
        status = ald_select_stream(&none, &query.select, &env->host, &chosen, err);
        if (status == ALD_OK) {
            chosen.release(&chosen);
        } else {
            cli_hint_columns(env, info->schema);
        }
    }
    cli_query_clear(&query);
    return status;
}

static ald_status seal(cli_env *env, const seal_args *args, const ald_info *info,
                       ald_buffer *envelope, ald_error *err)
{
    ald_buffer question = {NULL, 0, 0, &env->host.alloc};
    ald_keys *keys = NULL;
    const ald_key *key = NULL;
    uint8_t owner[ALD_QUERY_KEY_BYTES];
    ald_status status = cli_query_key(env, info, owner, err);
    if (status == ALD_OK) {
        status = cli_query_write(env, &args->query, &question, err);
    }
    if (status == ALD_OK) {
        status = check_query(env, info, &question, err);
    }
    if (status == ALD_OK) {
        status =
            cli_receiver_key(env, args->user, 0, &args->trust.key_passphrase, &keys, &key, err);
    }
    if (status == ALD_OK) {
        status = ald_query_seal(owner, key->public_key, question.data, question.size, &env->host,
                                envelope, err);
    }
    ald_keys_free(keys);
    ald_buffer_clear(&question);
    return status;
}

static ald_status run_seal(cli_env *env, void *raw, ald_error *err)
{
    const seal_args *args = raw;
    cli_input in;
    cli_output out;
    ald_inspection *inspection = NULL;
    ald_buffer envelope = {NULL, 0, 0, &env->host.alloc};
    memset(&in, 0, sizeof(in));
    if (args->user == NULL) {
        cli_hint(env, "--private-key FILE is the key to which the answer is sealed");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "query seal: --private-key is missing");
    }
    ald_status status = cli_envelope_check(env, &args->place, args->in, &out, err);
    if (status == ALD_OK) {
        status = cli_input_open(env, args->in, "ald", &in, err);
    }
    if (status == ALD_OK) {
        status = ald_inspect(&in.source, NULL, &env->host, &inspection, err);
    }
    if (status == ALD_OK) {
        status = check_file(env, args, &in, ald_inspection_info(inspection), err);
    }
    if (status == ALD_OK) {
        status = seal(env, args, ald_inspection_info(inspection), &envelope, err);
    }
    if (status == ALD_OK) {
        status = cli_envelope_write(&out, &args->place, &envelope, err);
    }
    ald_buffer_clear(&envelope);
    ald_inspection_free(inspection);
    cli_input_close(&in);
    return status;
}

/* ---- open */

typedef struct open_answer_args {
    cli_common common;
    const char *in, *request, *user;
    envelope_place place;
    trust_options trust;
} open_answer_args;

/* The answer is a .ald like any other: it is checked as such before anybody gets it. */
static ald_status check_table(cli_env *env, const open_answer_args *args, const ald_buffer *table,
                              ald_error *err)
{
    ald_source source = ald_source_memory(table->data, table->size);
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_dataset *dataset = NULL;
    cli_trust trust;
    ald_status status = cli_trust_open(env, &args->trust, &source, NULL, &trust, err);
    if (status == ALD_OK) {
        cli_trust_load(&trust, &load);
        status = ald_load(&source, &load, &env->host, &dataset, err);
        cli_trust_explain(env, &trust, &source, status);
    }
    if (status == ALD_OK && ald_dataset_info(dataset)->signer_public_key == NULL) {
        cli_note(env, "the answer is not signed: whoever saw the request could have made it");
    } else if (status == ALD_OK) {
        cli_trust_note(env, &trust, ald_dataset_info(dataset));
    }
    ald_dataset_free(dataset);
    cli_trust_close(&trust);
    return status;
}

static ald_status unseal_answer(cli_env *env, const open_answer_args *args, ald_buffer *table,
                                ald_error *err)
{
    ald_buffer request = {NULL, 0, 0, &env->host.alloc};
    ald_buffer answer = request;
    ald_keys *keys = NULL;
    const ald_key *key = NULL;
    ald_status status = cli_read_up_to(env, args->request, SIZE_MAX / 2, &request, err);
    if (status == ALD_OK) {
        status = cli_read_up_to(env, args->in, SIZE_MAX / 2, &answer, err);
    }
    if (status == ALD_OK) {
        status =
            cli_receiver_key(env, args->user, 1, &args->trust.key_passphrase, &keys, &key, err);
    }
    if (status == ALD_OK) {
        status = ald_query_open(key->private_key, request.data, request.size, answer.data,
                                answer.size, &env->host, table, err);
        if (status == ALD_E_DECRYPTION_FAILED) {
            cli_hint(env, "an answer opens with the key that asked and with its very request only");
        }
    }
    ald_keys_free(keys);
    ald_buffer_clear(&request);
    ald_buffer_clear(&answer);
    return status;
}

static ald_status run_open_answer(cli_env *env, void *raw, ald_error *err)
{
    const open_answer_args *args = raw;
    cli_output out;
    ald_buffer table = {NULL, 0, 0, &env->host.alloc};
    const char *missing = args->request == NULL ? "--request"
                          : args->user == NULL  ? "--private-key"
                                                : NULL;
    if (missing != NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "query open: %s is missing",
                             missing);
    }
    ald_status status = cli_envelope_check(env, &args->place, args->in, &out, err);
    if (status == ALD_OK) {
        status = unseal_answer(env, args, &table, err);
    }
    if (status == ALD_OK) {
        status = check_table(env, args, &table, err);
    }
    if (status == ALD_OK) {
        status = cli_envelope_write(&out, &args->place, &table, err);
    }
    ald_buffer_clear(&table);
    return status;
}

/* ---- rows */

static const opt_operand seal_operands[] = {
    {"FILE", "the .ald that is asked: the owner's, or a copy of it that need not be readable",
     offsetof(seal_args, in), 0},
    {0},
};
static const opt_operand open_operands[] = {
    {"ANSWER", "what `query answer` wrote", offsetof(open_answer_args, in), 0},
    {0},
};

static const opt_spec seal_specs[] = {
    {.name = "private-key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(seal_args, user),
     .help = "your key, to which the answer is sealed; the file with its public part will do"},
};
static const opt_group group_seal = OPT_GROUP("Your key", seal_specs);

static const opt_spec open_specs[] = {
    {.name = "request",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(open_answer_args, request),
     .help = "the request, as it was sent"},
    {.name = "private-key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(open_answer_args, user),
     .help = "the key that asked"},
};
static const opt_group group_open = OPT_GROUP("Query", open_specs);

static const opt_use seal_options[] = {
    {&cli_group_query, offsetof(seal_args, query)},
    {&group_seal, 0},
    {&cli_group_envelope, offsetof(seal_args, place)},
    {&cli_group_input_signers, offsetof(seal_args, trust)},
    {&cli_group_common, 0},
    {0},
};
static const opt_use open_options[] = {
    {&group_open, 0},
    {&cli_group_envelope, offsetof(open_answer_args, place)},
    {&cli_group_input_signers, offsetof(open_answer_args, trust)},
    {&cli_group_common, 0},
    {0},
};

static const char *const seal_examples[] = {
    "two columns of the first hundred rows of one town",
    "alimentar query seal data.ald --columns id,price --where \"town = 'New York' and price < "
    "9.5\" "
    "--limit 100 --private-key me.key -o question.req",
    NULL,
};
static const char *const open_examples[] = {
    "read the answer",
    "alimentar query open question.answer --request question.req --private-key me.key "
    "--trusted-keys owner.key.pub -o answer.ald",
    NULL,
};

const cli_command cli_cmd_query_seal = {
    .verb = "query seal",
    .brief = "ask the owner of a .ald something that nobody else can read",
    .details =
        "The request is sealed to the key that FILE publishes; who carries it sees its size "
        "alone. Rows are chosen by --rows first, then by --where, then --limit counts. Without "
        "any of them the whole table is asked for.",
    .examples = seal_examples,
    .operands = seal_operands,
    .options = seal_options,
    .args_size = sizeof(seal_args),
    .run = run_seal,
};

const cli_command cli_cmd_query_open = {
    .verb = "query open",
    .brief = "open the answer to a private query",
    .details =
        "The answer opens with the key that asked and the request that was sent. The .ald in it "
        "is checked like any other: signed by a trusted signer, if it is signed.",
    .examples = open_examples,
    .operands = open_operands,
    .options = open_options,
    .args_size = sizeof(open_answer_args),
    .run = run_open_answer,
};
