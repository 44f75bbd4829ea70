/* SPDX-License-Identifier: MIT */
#include "cli/envelope.h"

#include <string.h>

#include "cli/input.h"

static const opt_spec envelope_specs[] = {
    {.name = "output",
     .letter = 'o',
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(envelope_place, out),
     .help = "the file to write; - is standard output"},
    {.name = "force",
     .letter = 'f',
     .kind = OPT_FLAG,
     .offset = offsetof(envelope_place, force),
     .help = "replace it if it exists"},
};
const opt_group cli_group_envelope = OPT_GROUP("Output", envelope_specs);

ald_status cli_envelope_check(cli_env *env, const envelope_place *place, const char *in_path,
                              cli_output *out, ald_error *err)
{
    write_options write;
    memset(&write, 0, sizeof(write));
    write.to = "ald"; /* as binary as that */
    write.force = place->force;
    if (place->out == NULL) {
        cli_hint(env, "-o FILE names it");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the output is missing");
    }
    return cli_output_init(env, place->out, &write, in_path, out, err);
}

static ald_status fill_bytes(void *ctx, const ald_sink *sink, ald_error *err)
{
    const ald_buffer *bytes = ctx;
    return sink->write(sink->ctx, bytes->data, bytes->size, err);
}

ald_status cli_envelope_write(cli_output *out, const envelope_place *place, const ald_buffer *bytes,
                              ald_error *err)
{
    ald_buffer borrowed = *bytes;
    return cli_output_fill(out, place->out, fill_bytes, &borrowed, err);
}

ald_status cli_receiver_key(cli_env *env, const char *path, int needs_private,
                            const secret_options *passphrase, ald_keys **keys, const ald_key **key,
                            ald_error *err)
{
    cli_key_passphrase from = {env, passphrase};
    ald_passphrase source = cli_key_passphrase_source(&from);
    const char *subject = env->subject;
    env->subject = path;
    ald_status status = ald_keys_open(path, needs_private ? ALD_KEYS_PRIVATE : ALD_KEYS_ANY,
                                      ALD_KEY_RECEIVE, &source, &env->host, keys, err);
    *key = status == ALD_OK ? ald_keys_find(*keys, ALD_KEY_RECEIVE) : NULL;
    env->subject = status == ALD_OK ? subject : path;
    return status;
}
