/* SPDX-License-Identifier: MIT */
#include "cli/trust_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ald/schema.h"
#include "cli/file_format.h"
#include "cli/trust_facts.h"
#include "native/keys/secret_pages.h"

#define PRIVATE_KEYS_MAX 256u

typedef struct trust_secrets {
    char password[ALD_PASSPHRASE_BYTES];
    uint8_t keys[PRIVATE_KEYS_MAX][ALD_KEY_BYTES];
    size_t key_count;
} trust_secrets;

#define AT(member) .offset = offsetof(trust_options, member), .scope = SCOPE_ALD_IN
static const opt_spec trust_specs[] = {
    {.name = "password",
     .kind = OPT_FLAG,
     AT(ask_password),
     .help = "the file is encrypted with a password, which is asked for on the terminal unless one "
             "of the next two or ALIMENTAR_PASSPHRASE gives it"},
    {.name = "passphrase-file",
     .arg = "FILE",
     .kind = OPT_TEXT,
     AT(password.file),
     .help = "the password is in FILE; one line end at its end is dropped"},
    {.name = "passphrase-fd",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 65535,
     AT(password.fd),
     .help = "the password comes from the open file descriptor N"},
    {.name = "private-key",
     .arg = "FILE",
     .kind = OPT_LIST,
     AT(private_keys),
     .help = "a private key of one of the file's recipients. May be repeated"},
    {.name = "key-passphrase-file",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(trust_options, key_passphrase.file),
     .help = "the passphrase of private keys is in FILE; else it comes from --key-passphrase-fd, "
             "ALIMENTAR_KEY_PASSPHRASE or the terminal"},
    {.name = "key-passphrase-fd",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 65535,
     .offset = offsetof(trust_options, key_passphrase.fd),
     .help = "it comes from the open file descriptor N"},
    {.name = "trusted-keys",
     .arg = "FILE|FOLDER",
     .kind = OPT_LIST,
     AT(trusted_keys),
     .help = "public keys of the signers to trust, in place of the trust store; the file must then "
             "be signed by one of them. May be repeated"},
    {.name = "allow-untrusted",
     .kind = OPT_FLAG,
     AT(allow_untrusted),
     .help = "read it whoever signed it; the signature must still be right, and a note says whose "
             "it is"},
    {.name = "allow-unsigned",
     .kind = OPT_FLAG,
     AT(allow_unsigned),
     .help = "read a file that is not signed though --trusted-keys are given"},
    {.name = "allow-plain",
     .kind = OPT_FLAG,
     AT(allow_plain),
     .help = "read a file that is not encrypted though a password or private key is given"},
    {.name = "ignore-expiry",
     .kind = OPT_FLAG,
     AT(ignore_expiry),
     .help = "read it though its license has expired"},
    {.name = "revocations",
     .arg = "LIST",
     .kind = OPT_TEXT,
     AT(revocations),
     .help = "refuse a license that the seller's list (`license revoke`) revokes"},
};
const opt_group cli_group_trust = OPT_GROUP("Trust", trust_specs);

int cli_trust_is_asked_for(const cli_env *env)
{
    for (size_t i = 0; i < env->seen.count; i++) {
        const opt_spec *spec = env->seen.items[i];
        if ((uintptr_t)spec - (uintptr_t)trust_specs < sizeof(trust_specs)) {
            return 1;
        }
    }
    return 0;
}

/* What the file asks for. Of one that is broken, and yet encrypted, only the flags are known: its chunks may be saved. */
typedef struct trust_needs {
    uint8_t password, keys, signers, is_known;
} trust_needs;

static trust_needs needs_of(const cli_env *env, const ald_source *source)
{
    trust_needs all = {1, 1, 1, 0};
    trust_needs needs = {0, 0, 0, 1};
    ald_inspection *inspection = NULL;
    if (source == NULL) {
        return all;
    }
    const uint8_t flags = file_format_ald_flags(source);
    if ((flags & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED)) == 0) {
        return needs;
    }
    if (ald_inspect(source, NULL, &env->host, &inspection, NULL) == ALD_OK) {
        const ald_info *info = ald_inspection_info(inspection);
        needs.password = info->encryption_mode == 0;
        needs.keys = info->encryption_mode > 0;
        needs.signers = info->signer_public_key != NULL;
    } else if ((flags & ALD_FLAG_ENCRYPTED) != 0) {
        needs = all;
    }
    ald_inspection_free(inspection);
    return needs;
}

/* ---- secrets */

static int password_was_given(const cli_env *env, const trust_options *options)
{
    return options->ask_password || options->password.file != NULL ||
           cli_option_given(env, cli_secret_password.fd_option);
}

static ald_status read_password(cli_env *env, const trust_options *options, const char *name,
                                cli_trust *out, ald_error *err)
{
    char *password = out->secrets->password;
    size_t size = 0;
    ald_status status = cli_secret_read(env, &cli_secret_password, &options->password,
                                        name != NULL ? name : "the input", 0, password,
                                        ALD_PASSPHRASE_BYTES - 1, &size, err);
    out->trust.password = password;
    out->trust.password_size = size;
    return status;
}

/* A terminal may be asked though nobody gave an option: the file needs it. */
static ald_status offer_password(const char *name, int may_lack, cli_trust *out, ald_error *err)
{
    char *password = out->secrets->password;
    char prompt[256];
    size_t size = 0;
    snprintf(prompt, sizeof(prompt), "Password of the dataset (%.160s)%s: ", name,
             may_lack ? ", empty for none" : "");
    ald_status status = cli_terminal_ask(prompt, password, ALD_PASSPHRASE_BYTES - 1, &size, err);
    if (status == ALD_OK && size > 0) {
        out->trust.password = password;
        out->trust.password_size = size;
    }
    return status == ALD_E_UNSUPPORTED ? ALD_OK : status; /* reading it then fails and says so */
}

static ald_status get_password(cli_env *env, const trust_options *options, trust_needs needs,
                               const char *name, cli_trust *out, ald_error *err)
{
    int has_source = cli_secret_has_source(env, &cli_secret_password, &options->password);
    if (needs.password && options->like != NULL &&
        options->like->trust.password == options->like->secrets->password) {
        memcpy(out->secrets->password, options->like->secrets->password,
               sizeof(out->secrets->password));
        out->trust.password = out->secrets->password;
        out->trust.password_size = options->like->trust.password_size;
        return ALD_OK;
    }
    if (password_was_given(env, options) && !needs.password && !has_source) {
        /* Nobody is asked for nothing, yet one was given: the library refuses a file that is not encrypted. */
        out->trust.password = "-";
        out->trust.password_size = 1;
        return ALD_OK;
    }
    if (password_was_given(env, options) || (has_source && needs.password)) {
        return read_password(env, options, name, out, err);
    }
    return needs.is_known && needs.password && name != NULL && options->private_keys.count == 0
               ? offer_password(name, options->may_lack_password, out, err)
               : ALD_OK;
}

static ald_status add_private_keys(cli_env *env, const trust_options *options, const char *path,
                                   trust_secrets *secrets, ald_error *err)
{
    cli_key_passphrase from = {env, &options->key_passphrase};
    ald_passphrase passphrase = cli_key_passphrase_source(&from);
    ald_keys *keys = NULL;
    ald_status status =
        ald_keys_open(path, ALD_KEYS_PRIVATE, ALD_KEY_RECEIVE, &passphrase, &env->host, &keys, err);
    for (size_t i = 0; status == ALD_OK && i < ald_keys_count(keys); i++) {
        const ald_key *key = ald_keys_get(keys, i);
        if (key->kind != ALD_KEY_RECEIVE || !key->is_private) {
            continue;
        }
        if (secrets->key_count == PRIVATE_KEYS_MAX) {
            status = ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                                   "more than %u private keys", PRIVATE_KEYS_MAX);
            break;
        }
        memcpy(secrets->keys[secrets->key_count++], key->private_key, ALD_KEY_BYTES);
    }
    ald_keys_free(keys);
    return status;
}

static ald_status get_private_keys(cli_env *env, const trust_options *options, trust_needs needs,
                                   cli_trust *out, ald_error *err)
{
    trust_secrets *secrets = out->secrets;
    ald_status status = ALD_OK;
    for (size_t i = 0; status == ALD_OK && needs.keys && i < options->private_keys.count; i++) {
        const char *subject = env->subject;
        env->subject = options->private_keys.items[i];
        status = add_private_keys(env, options, env->subject, secrets, err);
        env->subject = status == ALD_OK ? subject : env->subject;
    }
    if (options->private_keys.count > 0) {
        /* Where no key is needed none is decrypted: one of zeros stands for them, see get_password. */
        out->trust.private_keys = secrets->keys[0];
        out->trust.private_count = needs.keys ? secrets->key_count : 1;
    }
    return status;
}

/* ---- signers */

static ald_status get_signers(cli_env *env, const trust_options *options, trust_needs needs,
                              cli_trust *out, ald_error *err)
{
    ald_status status = ALD_OK;
    const char *subject = env->subject;
    for (size_t i = 0; status == ALD_OK && i < options->trusted_keys.count; i++) {
        env->subject = options->trusted_keys.items[i];
        status = signers_add(env, env->subject, &out->signers, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    env->subject = subject;
    out->from_store = options->trusted_keys.count == 0;
    if (out->from_store && needs.signers) {
        status = signers_add_store(env, &out->signers, err);
    }
    if (status == ALD_OK && out->signers.count > 0) {
        out->trusted = malloc(out->signers.count * ALD_KEY_BYTES);
        if (out->trusted == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for trusted keys");
        }
        for (size_t i = 0; i < out->signers.count; i++) {
            memcpy(out->trusted + i * ALD_KEY_BYTES, out->signers.items[i].key, ALD_KEY_BYTES);
        }
        out->trust.trusted_keys = out->trusted;
        out->trust.trusted_count = out->signers.count;
    }
    return status;
}

static ald_status get_revocations(cli_env *env, const char *path, cli_trust *out, ald_error *err)
{
    out->revocations = calloc(1, sizeof(*out->revocations));
    if (out->revocations == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the revocation list");
    }
    out->trust.revocations = &out->revocations->revocations;
    return cli_revocations_load(env, path, out->revocations, err);
}

/* ---- */

ald_status cli_trust_open(cli_env *env, const trust_options *options, const ald_source *source,
                          const char *name, cli_trust *out, ald_error *err)
{
    static const ald_trust none = ALD_TRUST_INIT;
    memset(out, 0, sizeof(*out));
    out->trust = none;
    out->trust.allow_untrusted = options->allow_untrusted;
    out->trust.allow_unsigned = options->allow_unsigned || options->trusted_keys.count == 0;
    out->trust.allow_plain = options->allow_plain || (!password_was_given(env, options) &&
                                                      options->private_keys.count == 0);
    out->ignore_expiry = options->ignore_expiry;
    out->secrets = ald__secret_pages_new(sizeof(*out->secrets));
    if (out->secrets == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for secrets");
    }
    trust_needs needs = needs_of(env, source);
    ald_status status = get_signers(env, options, needs, out, err);
    if (status == ALD_OK && options->revocations != NULL) {
        status = get_revocations(env, options->revocations, out, err);
    }
    if (status == ALD_OK) {
        status = get_private_keys(env, options, needs, out, err);
    }
    return status != ALD_OK ? status : get_password(env, options, needs, name, out, err);
}

ald_status cli_trust_open_signers(cli_env *env, const trust_options *options, cli_trust *out,
                                  ald_error *err)
{
    trust_needs needs = {.signers = 1};
    memset(out, 0, sizeof(*out));
    return get_signers(env, options, needs, out, err);
}

void cli_trust_close(cli_trust *trust)
{
    signers_clear(&trust->signers);
    if (trust->revocations != NULL) {
        cli_revocations_clear(trust->revocations);
        free(trust->revocations);
    }
    free(trust->trusted);
    ald__secret_pages_free(trust->secrets, sizeof(*trust->secrets));
    memset(trust, 0, sizeof(*trust));
}

void cli_trust_load(const cli_trust *trust, ald_load_options *load)
{
    load->trust = &trust->trust;
    load->ignore_expiry = trust->ignore_expiry;
}

/* ---- what to do about a failure */

void cli_trust_explain_signer(cli_env *env, const cli_trust *trust, const uint8_t *signer)
{
    char print[ALD_FINGERPRINT_BYTES];
    if (ald_key_fingerprint(signer, &env->host, print, NULL) != ALD_OK) {
        return;
    }
    cli_hint(env,
             "the signer's fingerprint is %s\nif their public key has it, `alimentar trust add "
             "FILE.pub` trusts them from now on, --trusted-keys FILE.pub this time%s; "
             "--allow-untrusted reads it whoever signed it",
             print, trust->from_store ? "" : " (what was given does not have it)");
}

static void explain_signer(cli_env *env, const cli_trust *trust, const ald_info *info)
{
    if (info->signer_public_key != NULL) {
        cli_trust_explain_signer(env, trust, info->signer_public_key);
    } else {
        cli_hint(env,
                 "--trusted-keys asks for a signature; --allow-unsigned reads a file without one");
    }
}

static void explain_password(cli_env *env, const cli_trust *trust)
{
    if (trust->trust.password == NULL) {
        cli_hint(env,
                 "it is encrypted with a password: --password asks for it; --%s FILE, --%s N or %s "
                 "give it",
                 cli_secret_password.file_option, cli_secret_password.fd_option,
                 cli_secret_password.variable);
    } else {
        cli_hint(env, "is the password right? One line end at its end is dropped, all else counts");
    }
}

static void explain_recipients(cli_env *env, const ald_info *info)
{
    if (info->recipient_hashes == NULL) {
        cli_hint(env, "none of the keys that were given is the recipient's");
        return;
    }
    cli_hint(env, "`alimentar key show` prints a key's fingerprint; the file is for");
    for (uint32_t i = 0; i < info->recipient_count && i < 8; i++) {
        char name[RECIPIENT_NAME_BYTES];
        trust_facts_recipient(info->recipient_hashes + 8 * (size_t)i, name);
        cli_hint_add(env, i == 0 ? " " : ", ");
        cli_hint_add(env, name);
    }
    cli_hint_add(env, info->recipient_count > 8 ? ", ..." : "");
}

static void explain_decryption(cli_env *env, const cli_trust *trust, const ald_info *info)
{
    if (info->encryption_mode < 0) {
        cli_hint(env, "this may not be the file that was sent to you; --allow-plain reads it "
                      "nevertheless (`alimentar encrypt` encrypts one)");
    } else if (info->encryption_mode == 0) {
        explain_password(env, trust);
    } else if (trust->trust.private_count == 0) {
        cli_hint(env, "it is encrypted for %s: --private-key FILE gives %s",
                 info->recipient_count == 1 ? "one recipient" : "several recipients",
                 info->recipient_count == 1 ? "the recipient's key" : "the key of one of them");
    } else {
        explain_recipients(env, info);
    }
}

void cli_trust_explain(cli_env *env, const cli_trust *trust, const ald_source *source,
                       ald_status status)
{
    ald_inspection *inspection = NULL;
    if (env->hint[0] != '\0' ||
        (status != ALD_E_UNTRUSTED_SIGNER && status != ALD_E_DECRYPTION_FAILED &&
         status != ALD_E_LICENSE_EXPIRED)) {
        return;
    }
    if (ald_inspect(source, NULL, &env->host, &inspection, NULL) != ALD_OK) {
        if (status == ALD_E_DECRYPTION_FAILED && trust->trust.password == NULL &&
            trust->trust.private_count == 0) {
            cli_hint(env, "it is encrypted: --password, --%s FILE or --private-key FILE opens it",
                     cli_secret_password.file_option);
        }
        return;
    }
    const ald_info *info = ald_inspection_info(inspection);
    if (status == ALD_E_UNTRUSTED_SIGNER) {
        explain_signer(env, trust, info);
    } else if (status == ALD_E_DECRYPTION_FAILED) {
        explain_decryption(env, trust, info);
    } else {
        cli_hint(env, "ask the seller for a new license; --ignore-expiry reads it nevertheless");
    }
    ald_inspection_free(inspection);
}

void cli_trust_note_signer(cli_env *env, const cli_trust *trust, const uint8_t *signer,
                           const char *what)
{
    char print[ALD_FINGERPRINT_BYTES];
    int is_noted = env->has_noted_signer && memcmp(env->noted_signer, signer, ALD_KEY_BYTES) == 0;
    if (is_noted || signers_find(&trust->signers, signer) != NULL ||
        ald_key_fingerprint(signer, &env->host, print, NULL) != ALD_OK) {
        return;
    }
    memcpy(env->noted_signer, signer, ALD_KEY_BYTES);
    env->has_noted_signer = 1;
    cli_note(env, "%s signature is right, but nobody here trusts its signer: %s", what, print);
}

void cli_trust_note(cli_env *env, const cli_trust *trust, const ald_info *info)
{
    if (info->signer_public_key != NULL && !trust->is_own) {
        cli_trust_note_signer(env, trust, info->signer_public_key, "the");
    }
    const ald_revocations *list = trust->trust.revocations;
    if (list != NULL && info->license != NULL && !env->has_noted_revocations &&
        (info->signer_public_key == NULL ||
         memcmp(list->signer, info->signer_public_key, sizeof(list->signer)) != 0)) {
        env->has_noted_revocations = 1;
        cli_note(env, "the revocation list is not of the file's signer: it says nothing about it");
    }
}
