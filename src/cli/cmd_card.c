/* SPDX-License-Identifier: MIT */
/* alimentar card FILE [OUT] */
#include <string.h>

#include "cli/card_editor.h"
#include "cli/card_export.h"
#include "cli/card_file.h"
#include "cli/card_set.h"
#include "cli/card_show.h"
#include "cli/command.h"
#include "cli/rewriting.h"

typedef struct card_args {
    cli_common common;
    place_options place;
    card_export_options export;
    opt_list set, unset;
    const char *from;
    uint8_t edit, check, json;
    sign_options sign;
    read_options read; /* of a .ald: its trust alone */
} card_args;

static int is_editing(const card_args *args)
{
    return args->set.count > 0 || args->unset.count > 0 || args->from != NULL || args->edit;
}

static ald_status refuse(ald_error *err, const char *what)
{
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "card: %s", what);
}

static ald_status check_args(cli_env *env, const card_args *args, ald_error *err)
{
    int places = args->place.to != NULL || args->place.out != NULL;
    if (is_editing(args) + (args->export.path != NULL) + args->check > 1) {
        return refuse(err, "--check, --export, and what changes the card exclude one another");
    }
    if (args->json && (is_editing(args) || args->export.path != NULL)) {
        return refuse(err, "--json is for showing the card and for --check");
    }
    if (args->edit && args->from != NULL) {
        return refuse(err, "--edit and --from exclude one another");
    }
    if (args->export.path == NULL && (args->export.kind != 0 || args->export.url != NULL)) {
        return refuse(err, "--as and --url go with --export");
    }
    if (!is_editing(args) && places) {
        cli_hint(env, "--set, --unset, --edit and --from change it; --export FILE writes a card");
        return refuse(err, "there is nothing to change, and so no OUT");
    }
    if (!is_editing(args) && (args->sign.key != NULL || args->sign.drop_signature)) {
        return refuse(err, "--key and --drop-signature are for changing the card");
    }
    return ALD_OK;
}

/* ---- changing it */

typedef struct card_editing {
    cli_env *env;
    const card_args *args;
    cli_card *from;     /* --from */
    ald_buffer before;  /* --edit: the card as it was */
    ald_buffer after;   /* … and as it was made */
    card_editor editor; /* … in this file */
    int is_told;        /* the notes of `after` */
} card_editing;

static ald_status write_card(cli_env *env, const ald_value *metadata, ald_buffer *out,
                             ald_error *err)
{
    return card_readme_write(metadata, &env->host, NULL, out, err);
}

static void drop_card(ald_value *metadata)
{
    for (size_t i = ald_value_get_count(metadata); i > 0; i--) {
        size_t size = 0;
        const char *key = ald_value_get_key(metadata, i - 1, &size);
        if (!card_is_fact(key)) {
            ald_value_remove(metadata, key);
        }
    }
}

/* What was edited is what the checked file has, or nobody saw what they changed. */
static ald_status take_edited(card_editing *e, ald_value *metadata, ald_error *err)
{
    ald_buffer now = {NULL, 0, 0, &e->env->host.alloc};
    const card_notes notes = cli_card_notes(e->env);
    ald_status status = write_card(e->env, metadata, &now, err);
    if (status == ALD_OK &&
        (now.size != e->before.size || memcmp(now.data, e->before.data, now.size) != 0)) {
        status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "the file changed while it was read");
    }
    ald_buffer_clear(&now);
    if (status == ALD_OK) {
        drop_card(metadata);
        status =
            card_readme_read(e->after.size > 0 ? (const char *)e->after.data : "", e->after.size,
                             &e->env->host, e->is_told ? NULL : &notes, metadata, err);
        e->is_told = 1;
    }
    return status;
}

static ald_status apply(void *ctx, ald_value *metadata, ald_error *err)
{
    card_editing *e = ctx;
    ald_status status = ALD_OK;
    if (e->from != NULL) {
        status = cli_card_apply(e->from, metadata, err);
    } else if (e->args->edit) {
        status = take_edited(e, metadata, err);
    }
    return status == ALD_OK ? cli_card_set(e->env, &e->args->set, &e->args->unset, metadata, err)
                            : status;
}

/* Everything that can be refused is, before anything is written. */
static ald_status try_out(card_editing *e, const rewriting *r, ald_error *err)
{
    ald_value *copy = NULL;
    ald_status status = ald_value_copy(&e->env->host.alloc, r->info->metadata, &copy, err);
    if (status == ALD_OK) {
        status = apply(e, copy, err);
    }
    ald_value_free(copy);
    return status;
}

static ald_status edit_text(card_editing *e, const rewriting *r, int *is_same, ald_error *err)
{
    ald_status status = write_card(e->env, r->info->metadata, &e->before, err);
    if (status == ALD_OK) {
        status = write_card(e->env, r->info->metadata, &e->after, err);
    }
    if (status == ALD_OK) {
        status = card_editor_run(e->env, &e->editor, &e->after, err);
    }
    *is_same = status == ALD_OK && e->args->set.count == 0 && e->args->unset.count == 0 &&
               e->before.size == e->after.size &&
               memcmp(e->before.data, e->after.data, e->after.size) == 0;
    return status;
}

static ald_status change(card_editing *e, rewriting *r, ald_error *err)
{
    const card_args *args = e->args;
    int is_same = 0;
    ald_status status = cli_rewriting_open(e->env, &args->place, &args->read.trust, 0, r, err);
    if (status == ALD_OK) {
        status = cli_rewriting_sign(r, &args->sign, &args->read.trust.key_passphrase, err);
    }
    if (status == ALD_OK && args->from != NULL) {
        status = cli_card_read(e->env, args->from, &e->from, err);
    }
    if (status == ALD_OK && args->edit) {
        status = edit_text(e, r, &is_same, err);
    }
    if (status != ALD_OK || is_same) {
        if (is_same) {
            cli_note(e->env, "nothing was changed");
        }
        card_editor_close(&e->editor, 0);
        return status;
    }
    e->env->subject = args->edit ? NULL : e->env->subject;
    status = try_out(e, r, err);
    if (status == ALD_OK) {
        r->edit = apply;
        r->edit_ctx = e;
        status = cli_rewriting_run(r, err);
    }
    card_editor_close(&e->editor, status != ALD_OK);
    return status;
}

static ald_status change_card(cli_env *env, const card_args *args, ald_error *err)
{
    rewriting r;
    card_editing e;
    memset(&e, 0, sizeof(e));
    e.env = env;
    e.args = args;
    e.before.alloc = &env->host.alloc;
    e.after.alloc = &env->host.alloc;
    ald_status status = change(&e, &r, err);
    cli_rewriting_close(&r);
    cli_card_free(e.from);
    ald_buffer_clear(&e.before);
    ald_buffer_clear(&e.after);
    return status;
}

/* ---- looking at it */

static ald_status look(cli_env *env, const card_args *args, cli_input *in, ald_error *err)
{
    ald_inspection *inspection = NULL;
    int failed = 0;
    ald_status status = ald_inspect(&in->source, NULL, &env->host, &inspection, err);
    if (status != ALD_OK) {
        return status;
    }
    const ald_info *info = ald_inspection_info(inspection);
    if (args->export.path != NULL) {
        card_export_options export = args->export;
        export.force = args->place.force;
        status = cli_card_export(env, &export, in, info, &args->read, err);
    } else if (args->check) {
        cli_card_check(in->name, info, args->json, &failed);
        env->answer = failed ? CLI_EXIT_FAILED : env->answer;
    } else {
        status = cli_card_show(env, in->name, info, args->json, err);
    }
    ald_inspection_free(inspection);
    return status;
}

static ald_status run_card(cli_env *env, void *raw, ald_error *err)
{
    const card_args *args = raw;
    cli_input in;
    ald_status status = check_args(env, args, err);
    if (status != ALD_OK) {
        return status;
    }
    if (is_editing(args)) {
        return change_card(env, args, err);
    }
    status = cli_input_open(env, args->place.in, "ald", &in, err);
    if (status == ALD_OK) {
        env->subject = in.name;
        status = look(env, args, &in, err);
    }
    cli_input_close(&in);
    return status;
}

/* ---- the row */

static const opt_operand operands[] = {
    {"FILE", "the .ald whose card it is; - is standard input",
     offsetof(card_args, place) + offsetof(place_options, in), 0},
    {"OUT", "the .ald to write when the card is changed; without it FILE is replaced, in one step",
     offsetof(card_args, place) + offsetof(place_options, to), OPT_OPERAND_OPTIONAL},
    {0},
};

static const opt_spec show_specs[] = {
    {.name = "json",
     .kind = OPT_FLAG,
     .offset = offsetof(card_args, json),
     .help = "the card, or what --check finds, as JSON"},
    {.name = "check",
     .kind = OPT_FLAG,
     .offset = offsetof(card_args, check),
     .help = "say what is wrong (license, language codes, version, sizes that are not the file's), "
             "what is missing, and what would help; exit code 1 when something is wrong or "
             "missing"},
};
static const opt_group group_show = OPT_GROUP("Looking", show_specs);

static const opt_spec edit_specs[] = {
    {.name = "set",
     .arg = "KEY=TEXT",
     .kind = OPT_LIST,
     .offset = offsetof(card_args, set),
     .help = "set a key. tags, language and other lists of words take several with commas; lists "
             "(intended_uses, limitations, …) one for each --set; a dot goes into a map: "
             "compliance.pii_status=none. May be repeated"},
    {.name = "unset",
     .arg = "KEY",
     .kind = OPT_LIST,
     .offset = offsetof(card_args, unset),
     .help = "drop a key. May be repeated"},
    {.name = "from",
     .arg = "README.md",
     .kind = OPT_TEXT,
     .offset = offsetof(card_args, from),
     .help = "set what a Hugging Face card says: YAML front matter, and Markdown, which is the "
             "description. Keys that it does not have stay"},
    {.name = "edit",
     .kind = OPT_FLAG,
     .offset = offsetof(card_args, edit),
     .help = "open the card as README.md in $VISUAL or $EDITOR; what is gone from it is dropped"},
};
static const opt_group group_edit = OPT_GROUP("Changing", edit_specs);

static const opt_spec export_specs[] = {
    {.name = "export",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(card_args, export) + offsetof(card_export_options, path),
     .help = "write README.md for Hugging Face, croissant.json (Croissant 1.1), or datasheet.md "
             "(the questions of Datasheets for Datasets, answered where the file does); - is "
             "standard output"},
    {.name = "as",
     .kind = OPT_CHOICE,
     .choices = card_export_kinds,
     .offset = offsetof(card_args, export) + offsetof(card_export_options, kind),
     .help = "which of them, where the name does not tell"},
    {.name = "url",
     .arg = "URL",
     .kind = OPT_TEXT,
     .offset = offsetof(card_args, export) + offsetof(card_export_options, url),
     .help = "where FILE can be had, for croissant.json and datasheet.md"},
};
static const opt_group group_export = OPT_GROUP("Exporting", export_specs);

static const opt_use options[] = {
    {&group_show, 0},
    {&group_edit, 0},
    {&group_export, 0},
    {&cli_group_place, offsetof(card_args, place)},
    {&cli_group_sign, offsetof(card_args, sign)},
    {&cli_group_trust, offsetof(card_args, read.trust)},
    {&cli_group_threads, 0},
    {&cli_group_common, 0},
    {0},
};

static const char *const examples[] = {
    "read it, and see what it lacks",
    "alimentar card data.ald; alimentar card --check data.ald",
    "set some of it",
    "alimentar card data.ald --set license=CC-BY-4.0 --set tags=birds,antarctica",
    "take a card from a Hugging Face repository, and write one",
    "alimentar card data.ald --from README.md; alimentar card data.ald --export README.md",
    "metadata for search engines",
    "alimentar card data.ald --export croissant.json --url https://example.org/data.ald",
    NULL,
};

const cli_command cli_cmd_card = {
    .verb = "card",
    .brief = "show, check, change, import and export the dataset card of a .ald",
    .details =
        "The card is the metadata that people read: name, license, tags, description, and any "
        "other "
        "key. `card` works with it as people write it, a key or a README.md at a time; `alimentar "
        "describe` sets metadata from JSON, and is the one that documents columns and sets the "
        "dataset type. Both keep rows, license and encryption, and neither needs the key of an "
        "encrypted file.\n"
        "Licenses are SPDX expressions (MIT, Apache-2.0 OR MIT, LicenseRef-NAME for others). A "
        "signed file needs --key, which signs it anew, or --drop-signature. What is shown and "
        "exported is what the file says: `alimentar verify` checks who says it.",
    .examples = examples,
    .operands = operands,
    .options = options,
    .args_size = sizeof(card_args),
    .run = run_card,
};
