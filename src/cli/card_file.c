/* SPDX-License-Identifier: MIT */
#include "cli/card_file.h"

#include <stdlib.h>

#include "cli/input.h"

struct cli_card {
    cli_env *env;
    const char *path;
    ald_buffer text;
    int is_told; /* its notes */
};

static void tell(void *ctx, const char *text)
{
    cli_note(ctx, "%s", text);
}

card_notes cli_card_notes(cli_env *env)
{
    const card_notes notes = {tell, env};
    return notes;
}

ald_status cli_card_read(cli_env *env, const char *path, cli_card **out, ald_error *err)
{
    cli_card *card = calloc(1, sizeof(*card));
    *out = NULL;
    if (card == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the card");
    }
    card->env = env;
    card->path = path;
    card->text.alloc = &env->host.alloc;
    ald_status status = cli_read_file(env, path, &card->text, err);
    if (status != ALD_OK) {
        cli_card_free(card);
        return status;
    }
    *out = card;
    return ALD_OK;
}

void cli_card_free(cli_card *card)
{
    if (card != NULL) {
        ald_buffer_clear(&card->text);
        free(card);
    }
}

ald_status cli_card_apply(cli_card *card, ald_value *metadata, ald_error *err)
{
    const card_notes notes = cli_card_notes(card->env);
    const char *text = card->text.size > 0 ? (const char *)card->text.data : "";
    ald_status status = card_readme_read(text, card->text.size, &card->env->host,
                                         card->is_told ? NULL : &notes, metadata, err);
    card->is_told = 1;
    card->env->subject = status == ALD_OK ? card->env->subject : card->path;
    return status;
}
