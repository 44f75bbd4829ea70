/* SPDX-License-Identifier: MIT */
/* The owner's side of private queries: alimentar query publish FILE, alimentar query answer FILE REQUEST */
#include <string.h>

#include "ald/stream.h"
#include "ald/writer.h"
#include "cli/command.h"
#include "cli/envelope.h"
#include "cli/input.h"
#include "cli/license_use.h"
#include "cli/query_request.h"
#include "cli/rewriting.h"

/* ---- publish */

typedef struct publish_args {
    cli_common common;
    place_options place;
    sign_options sign;
    trust_options trust;
    const char *receiver;
} publish_args;

static ald_status published_key(cli_env *env, const publish_args *args,
                                uint8_t out[ALD_QUERY_KEY_BYTES], ald_error *err)
{
    ald_keys *keys = NULL;
    const ald_key *key = NULL;
    const char *path = args->receiver != NULL ? args->receiver : args->sign.key;
    if (path == NULL) {
        cli_hint(env, "--receiver FILE.pub names the key to which questions are sealed");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "query publish: --receiver is missing");
    }
    ald_status status =
        cli_receiver_key(env, path, 0, &args->trust.key_passphrase, &keys, &key, err);
    if (status == ALD_E_INVALID_FORMAT && args->receiver == NULL) {
        cli_hint(env, "--receiver FILE.pub names the key to which questions are sealed");
    }
    if (status == ALD_OK) {
        memcpy(out, key->public_key, ALD_QUERY_KEY_BYTES);
    }
    ald_keys_free(keys);
    return status;
}

typedef struct published {
    cli_env *env;
    uint8_t key[ALD_QUERY_KEY_BYTES];
} published;

static ald_status publish(void *ctx, ald_value *metadata, ald_error *err)
{
    const published *p = ctx;
    return cli_query_publish(p->env, metadata, p->key, err);
}

static ald_status run_publish(cli_env *env, void *raw, ald_error *err)
{
    const publish_args *args = raw;
    rewriting r;
    published p = {.env = env};
    char print[ALD_FINGERPRINT_BYTES];
    ald_status status = cli_rewriting_open(env, &args->place, &args->trust, 0, &r, err);
    if (status == ALD_OK) {
        status = cli_rewriting_sign(&r, &args->sign, &args->trust.key_passphrase, err);
    }
    if (status == ALD_OK) {
        status = published_key(env, args, p.key, err);
    }
    if (status == ALD_OK) {
        r.edit = publish;
        r.edit_ctx = &p;
        status = cli_rewriting_run(&r, err);
    }
    if (status == ALD_OK && r.options.signing != ALD_SIGNING_SIGN) {
        cli_note(env, "without a signature (--key) whoever passes the file on can put another key "
                      "there, and read the questions");
    }
    if (status == ALD_OK && ald_key_fingerprint(p.key, &env->host, print, NULL) == ALD_OK) {
        cli_note(env, "questions are sealed to the key %s", print);
    }
    cli_rewriting_close(&r);
    return status;
}

/* ---- answer */

typedef struct answer_args {
    cli_common common;
    const char *in, *request, *key;
    envelope_place place;
    trust_options trust;
} answer_args;

typedef struct answer_state {
    cli_env *env;
    const answer_args *args;
    cli_input in;
    cli_output out;
    cli_protection protection;
    query_request query;
    ald_buffer envelope, question, table, sealed;
    uint8_t user[ALD_QUERY_KEY_BYTES];
} answer_state;

/* With whichever of the owner's keys opens it. */
static ald_status unseal(answer_state *s, ald_error *err)
{
    const opt_list *files = &s->args->trust.private_keys;
    ald_status status = ALD_E_DECRYPTION_FAILED;
    if (files->count == 0) {
        cli_hint(s->env, "--private-key FILE is the key that the file publishes");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "query answer: --private-key is missing");
    }
    for (size_t i = 0; status == ALD_E_DECRYPTION_FAILED && i < files->count; i++) {
        ald_keys *keys = NULL;
        const ald_key *key = NULL;
        status = cli_receiver_key(s->env, files->items[i], 1, &s->args->trust.key_passphrase, &keys,
                                  &key, err);
        if (status != ALD_OK) {
            ald_keys_free(keys);
            return status;
        }
        s->env->subject = s->args->request;
        status = ald_query_unseal(key->private_key, s->envelope.data, s->envelope.size,
                                  &s->env->host, s->user, &s->question, err);
        ald_keys_free(keys);
    }
    if (status == ALD_E_DECRYPTION_FAILED) {
        cli_hint(s->env, "it is sealed to another key, or not a request");
    }
    return status;
}

static ald_status read_question(answer_state *s, ald_error *err)
{
    ald_status status = cli_read_up_to(s->env, s->args->request, SIZE_MAX / 2, &s->envelope, err);
    if (status == ALD_OK) {
        status = unseal(s, err);
    }
    if (status == ALD_OK) {
        s->env->subject = s->args->request;
        status = cli_query_read(s->question.data, s->question.size, &s->query, err);
    }
    return status;
}

static ald_status open_table(answer_state *s, ald_error *err)
{
    read_options read;
    memset(&read, 0, sizeof(read));
    read.trust = s->args->trust;
    ald_status status = cli_input_open(s->env, s->args->in, "ald", &s->in, err);
    if (status == ALD_OK) {
        status = cli_input_trust(&s->in, &read.trust, err);
    }
    if (status == ALD_OK) {
        s->in.trust.trust.allow_plain = 1; /* the private key is for the request */
        status = cli_input_stream(&s->in, &read, NULL, err);
    }
    return status;
}

static ald_status make_answer(answer_state *s, ald_error *err)
{
    struct ArrowArrayStream batches = s->in.stream, chosen;
    ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    ald_sink sink = ald_buffer_sink(&s->table);
    s->in.stream.release = NULL;
    save.dataset_type = cli_input_info(&s->in)->dataset_type;
    save.protection = &s->protection.protection;
    ald_status status = ald_select_stream(&batches, &s->query.select, &s->env->host, &chosen, err);
    if (status != ALD_OK) {
        s->env->subject = s->args->request;
        return status;
    }
    status = ald_save(&chosen, &sink, &save, &s->env->host, err);
    return status == ALD_OK
               ? ald_query_answer(s->user, s->envelope.data, s->envelope.size, s->table.data,
                                  s->table.size, &s->env->host, &s->sealed, err)
               : status;
}

static ald_status answer(answer_state *s, ald_error *err)
{
    cli_env *env = s->env;
    ald_status status = cli_envelope_check(env, &s->args->place, s->args->request, &s->out, err);
    if (status == ALD_OK && cli_same_file(s->args->in, s->args->place.out)) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "input and output are the same file");
    }
    if (status == ALD_OK) {
        status = read_question(s, err);
    }
    if (status == ALD_OK) {
        status = cli_protection_open(&s->protection, err);
    }
    if (status == ALD_OK) {
        status = cli_protection_sign(env, &s->protection, s->args->key,
                                     &s->args->trust.key_passphrase, NULL, err);
    }
    if (status == ALD_OK) {
        status = open_table(s, err);
    }
    if (status == ALD_OK) {
        status = make_answer(s, err);
    }
    if (status == ALD_OK) {
        env->subject = s->in.name;
        status = cli_license_use(env, cli_input_info(&s->in), 1, err);
    }
    return status == ALD_OK ? cli_envelope_write(&s->out, &s->args->place, &s->sealed, err)
                            : status;
}

static ald_status run_answer(cli_env *env, void *raw, ald_error *err)
{
    answer_state s;
    memset(&s, 0, sizeof(s));
    s.env = env;
    s.args = raw;
    s.envelope.alloc = s.question.alloc = s.table.alloc = s.sealed.alloc = &env->host.alloc;
    ald_status status = answer(&s, err);
    cli_query_clear(&s.query);
    ald_buffer_clear(&s.envelope);
    ald_buffer_clear(&s.question);
    ald_buffer_clear(&s.table);
    ald_buffer_clear(&s.sealed);
    cli_protection_close(&s.protection);
    cli_input_close(&s.in);
    return status;
}

/* ---- rows */

static const opt_operand publish_operands[] = {
    CLI_PLACE_OPERANDS(publish_args, place, "the .ald; - is standard input (with OUT)"),
    {0},
};
static const opt_operand answer_operands[] = {
    {"FILE", "the .ald that is asked", offsetof(answer_args, in), 0},
    {"REQUEST", "what `query seal` wrote", offsetof(answer_args, request), 0},
    {0},
};

static const opt_spec publish_specs[] = {
    {.name = "receiver",
     .arg = "FILE.pub",
     .kind = OPT_TEXT,
     .offset = offsetof(publish_args, receiver),
     .help = "the public key to which questions are sealed; default: that of --key"},
};
static const opt_group group_publish = OPT_GROUP("Query", publish_specs);

static const opt_spec answer_specs[] = {
    {.name = "key",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(answer_args, key),
     .help = "sign the answer: who saw the request could make another"},
};
static const opt_group group_answer = OPT_GROUP("Signing", answer_specs);

static const opt_use publish_options[] = {
    {&group_publish, 0},
    {&cli_group_place, offsetof(publish_args, place)},
    {&cli_group_sign, offsetof(publish_args, sign)},
    {&cli_group_input_signers, offsetof(publish_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};
static const opt_use answer_options[] = {
    {&cli_group_envelope, offsetof(answer_args, place)},
    {&group_answer, 0},
    {&cli_group_trust, offsetof(answer_args, trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const publish_examples[] = {
    "take questions with the key that also signs",
    "alimentar query publish data.ald --key owner.key",
    NULL,
};
static const char *const answer_examples[] = {
    "answer one",
    "alimentar query answer data.ald question.req --private-key owner.key --key owner.key -o "
    "question.answer",
    NULL,
};

const cli_command cli_cmd_query_publish = {
    .verb = "query publish",
    .brief = "publish a key in a .ald, to which questions about it are sealed",
    .details =
        "The key goes into the metadata. A copy without the rows that others need, or an "
        "encrypted file, can be given to those who may ask: `query seal` needs the metadata and "
        "the schema only. --key signs the file, so that nobody on the way can put their own key "
        "there.",
    .examples = publish_examples,
    .operands = publish_operands,
    .options = publish_options,
    .args_size = sizeof(publish_args),
    .run = run_publish,
};

const cli_command cli_cmd_query_answer = {
    .verb = "query answer",
    .brief = "answer a private query from a .ald",
    .details =
        "Decides nothing: what the request asks for is given. The answer, a .ald of the chosen "
        "rows and columns, is made in memory and sealed to whoever asked. Where FILE has a "
        "license that limits queries, one is counted on this machine.",
    .examples = answer_examples,
    .operands = answer_operands,
    .options = answer_options,
    .args_size = sizeof(answer_args),
    .run = run_answer,
};
