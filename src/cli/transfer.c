/* SPDX-License-Identifier: MIT */
#include "cli/transfer.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "ald/rewrite.h"
#include "ald/schema.h"
#include "ald/stream.h"
#include "cli/file_set.h"
#include "cli/license_use.h"
#include "cli/many_files.h"
#include "cli/tracked.h"
#include "cli/trust_facts.h"

typedef struct transfer_state {
    cli_env *env;
    const transfer *t;
    cli_input in;
    cli_output out;
    ald_value *metadata;        /* of a .ald output; NULL: none */
    metadata_patch *patch;      /* --metadata; NULL: none, or not read yet */
    ald_inspection *inspection; /* of a .ald input that becomes a .ald */
    cli_protection protection;
    ald_extras extras;
    struct ArrowSchema schema; /* with column documentation; release NULL: the stream's own */
    write_options write;
    file_set set;  /* of several parts … */
    uint32_t part; /* … of which this one is written */
    uint64_t part_rows[DIVISION_PARTS_MAX];
    uint8_t is_read; /* the input's rows, to their end or to an error */
} transfer_state;

static int has_dictionary(const struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (has_dictionary(schema->children[i])) {
            return 1;
        }
    }
    return schema->dictionary != NULL;
}

static void keep_layout(write_options *write, const ald_info *info, int may_align)
{
    if (write->compat != 0) {
        return; /* it has one layout */
    }
    if (!write->streaming && !write->no_streaming && write->chunk_rows == 0) {
        write->streaming = (info->flags & ALD_FLAG_STREAMING) != 0;
        write->no_streaming = !write->streaming;
        for (uint64_t i = 0; write->streaming && i < info->chunk_count; i++) {
            uint64_t rows = info->chunks[i].num_rows;
            write->chunk_rows = rows > write->chunk_rows ? rows : write->chunk_rows;
        }
    }
    if (may_align && !write->aligned && write->compression == 0 &&
        (info->flags & ALD_FLAG_TRUENO_NATIVE) != 0) {
        write->aligned = 1;
        if (write->backend_hint == 0 && info->array_count > 0) {
            write->backend_hint = (uint8_t)(info->arrays[0].backend_hint + 1);
        }
    }
}

/* What a .ald input hands on to a .ald output. Reads the prefix only; the load that follows checks it. */
static ald_status keep_from_input(transfer_state *s, ald_error *err)
{
    ald_status status = ald_inspect(&s->in.source, NULL, &s->env->host, &s->inspection, err);
    if (status != ALD_OK) {
        return status;
    }
    const ald_info *info = ald_inspection_info(s->inspection);
    status = cli_keep_check(s->env, s->t->keep, info, err);
    if (status != ALD_OK) {
        return status;
    }
    s->extras.dataset_type = info->dataset_type;
    s->extras.compression =
        info->flags & ALD_FLAG_TRUENO_NATIVE ? ALD_COMPRESSION_ZSTD_L3 : info->compression;
    if (ald_value_find(info->metadata, "sha256") != NULL && s->write.compat == 0 &&
        info->encryption_mode < 0) {
        s->write.sha256 = 1;
    }
    if (s->t->keep_layout) {
        keep_layout(&s->write, info, s->t->sale == NULL); /* what is encrypted is not aligned */
        if (s->t->append != NULL && !s->t->write->no_streaming) {
            /* It may have outgrown one piece; and dictionaries are not joined to one batch. */
            s->write.no_streaming = 0;
            s->write.streaming |= (uint8_t)(s->write.aligned && has_dictionary(info->schema));
        }
    }
    return ald_value_copy(&s->env->host.alloc, info->metadata, &s->metadata, err);
}

/* How a .ald output is protected; asks for what has to be asked for. */
static ald_status make_protection(transfer_state *s, ald_error *err)
{
    const transfer *t = s->t;
    const ald_info *info = s->inspection != NULL ? ald_inspection_info(s->inspection) : NULL;
    if (t->sale != NULL) {
        s->extras.protection = t->sale;
        s->extras.is_sold = 1;
        return ALD_OK;
    }
    ald_status status = info != NULL ? cli_input_trust(&s->in, &t->read->trust, err)
                                     : cli_keep_check(s->env, t->keep, NULL, err);
    if (status == ALD_OK) {
        status = cli_keep_open(s->env, t->keep, &t->read->trust.key_passphrase, info, &s->in.trust,
                               &s->protection, err);
    }
    s->extras.protection = &s->protection.protection;
    if (status == ALD_OK && info != NULL && trust_facts_is_bound(info) &&
        t->keep->sign.key == NULL) {
        cli_note(s->env, "the license is kept, but no signature binds it any more");
    }
    return status;
}

/* The metadata that are kept, with what the options add; the input's dataset type unless they name one. */
static ald_status make_metadata(transfer_state *s, uint16_t input_type, ald_error *err)
{
    const describe_options *describe = s->t->describe;
    uint16_t dataset_type = 0;
    ald_status status = cli_dataset_type(s->env, describe->dataset_type, &dataset_type, err);
    if (status == ALD_OK && s->patch == NULL) {
        status = cli_metadata_read(s->env, describe, &s->patch, err);
    }
    if (status == ALD_OK && s->metadata == NULL && s->patch != NULL) {
        status = ald_value_new(&s->env->host.alloc, &s->metadata, err);
        if (status == ALD_OK) {
            ald_value_set_map(s->metadata);
        }
    }
    if (status == ALD_OK && s->patch != NULL) {
        status = cli_metadata_merge(s->patch, s->metadata, err);
    }
    s->extras.dataset_type = dataset_type != 0 ? dataset_type : input_type;
    s->extras.metadata = s->metadata;
    return status;
}

static ald_status make_extras(transfer_state *s, ald_error *err)
{
    s->extras.compression = ALD_COMPRESSION_ZSTD_L3;
    s->extras.dataset_type = s->in.dataset_type;
    ald_status status = s->in.format == FORMAT_ALD ? keep_from_input(s, err) : ALD_OK;
    return status == ALD_OK ? make_metadata(s, s->extras.dataset_type, err) : status;
}

/* A license that is kept says that the rows are marked. */
static void note_mark(transfer_state *s)
{
    cli_protection *p = &s->protection;
    if (s->t->mark == NULL || s->t->sale != NULL || p->protection.license == NULL) {
        return;
    }
    p->license = *p->protection.license;
    p->license.flags |= ALD_LICENSE_WATERMARKED;
    p->protection.license = &p->license;
}

/* What was looked at first is taken again from the file as it was checked, and what was decided on it has to hold: somebody
 * may have changed it in between. */
static ald_status take_checked(transfer_state *s, ald_error *err)
{
    const ald_info *info = s->inspection != NULL ? cli_input_info(&s->in) : NULL;
    if (info == NULL) {
        return ALD_OK;
    }
    if (s->t->sale == NULL) {
        s->protection.protection.license = info->license;
    }
    ald_value_free(s->metadata);
    s->metadata = NULL;
    ald_status status = trust_facts_compare(ald_inspection_info(s->inspection), info, err);
    if (status == ALD_OK) {
        status = ald_value_copy(&s->env->host.alloc, info->metadata, &s->metadata, err);
    }
    return status == ALD_OK ? make_metadata(s, info->dataset_type, err) : status;
}

static ald_status make_schema(transfer_state *s, ald_error *err)
{
    struct ArrowSchema found;
    if (s->t->describe->column_docs == NULL) {
        return ALD_OK;
    }
    memset(&found, 0, sizeof(found));
    ald_status status = ald_stream_schema(&s->in.stream, &found, err);
    if (status != ALD_OK) {
        return status;
    }
    status = ald_schema_copy(&s->env->host, &found, &s->schema, err);
    found.release(&found);
    return status != ALD_OK
               ? status
               : cli_column_docs_apply(s->env, s->t->describe->column_docs, &s->schema, err);
}

static void say_part(const transfer_state *s, const char *name, uint64_t row_count)
{
    cli_note(s->env, "%s: %" PRIu64 " of %" PRIu64 " rows", name, row_count,
             s->t->division->row_count);
}

static void say_done(const transfer_state *s, const cli_tracked *tracked)
{
    if (s->t->append != NULL) {
        return;
    }
    if (s->t->parts != NULL) {
        return; /* it is said when all are in their places */
    }
    if (s->t->division != NULL) {
        say_part(s, s->out.name, tracked->row_count);
        return;
    }
    if (s->t->shards != NULL && s->t->shards->rows_per_shard > 0) {
        return; /* it was said of the set */
    }
    if (isatty(STDERR_FILENO) && s->out.fd < 0 && strcmp(s->out.name, "standard output") != 0) {
        cli_note(s->env, "%s: %" PRIu64 " rows, %zu columns, %" PRIu64 " bytes", s->out.name,
                 tracked->row_count, tracked->column_count, s->out.byte_count);
    }
}

/* An error in metadata that were given is of that file. */
static void name_metadata_file(const transfer_state *s, const ald_error *err)
{
    if (s->t->describe->metadata != NULL && err != NULL &&
        strncmp(err->msg, "metadata key ", 13) == 0) {
        s->env->subject = s->t->describe->metadata;
    }
}

/* Puts the choice behind *batches; `chosen` counts what comes out. */
static ald_status choose(transfer_state *s, struct ArrowArrayStream *batches, cli_tracked *chosen,
                         ald_error *err)
{
    const transfer *t = s->t;
    ald_status status =
        t->division != NULL
            ? division_choose(s->env, t->division, s->part, batches, s->in.name, t->choice,
                              &chosen->from, err)
            : cli_select(s->env, batches, s->in.name, t->choice, &chosen->from, err);
    return status == ALD_OK ? cli_tracked_open(chosen, batches, err) : status;
}

static void say_chosen(const transfer_state *s, const cli_tracked *read, const cli_tracked *chosen)
{
    if (s->t->division == NULL && s->t->choice != NULL && s->t->choice->where != NULL) {
        cli_note(s->env, "%s: %" PRIu64 " of %" PRIu64 " rows fit", s->in.name, chosen->row_count,
                 read->row_count);
    }
}

/* Rows to add, behind those that are there: of a file in chunks these go a way of their own. */
static ald_status append_rows(transfer_state *s, struct ArrowArrayStream *batches, ald_error *err)
{
    struct ArrowArrayStream more, both;
    ald_status status = cli_appending_rows(s->env, s->t->append, &more, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    s->extras.base = s->in.streaming;
    if (s->in.streaming != NULL) {
        batches->release(batches);
        *batches = more;
        return ALD_OK;
    }
    status = cli_chain(s->env, batches, &more, &both, err);
    if (status == ALD_OK) {
        *batches = both;
    }
    return status;
}

static void say_appended(const transfer_state *s)
{
    const appending *more = s->t->append;
    if (more != NULL) {
        cli_note(s->env, "%s: %" PRIu64 " rows added, %" PRIu64 " in all", s->out.name,
                 more->row_count, more->row_count + cli_input_info(&s->in)->num_rows);
    }
}

/* Before the output is begun: what is wrong with them is said of them. */
static ald_status open_more(transfer_state *s, ald_error *err)
{
    struct ArrowSchema schema;
    memset(&schema, 0, sizeof(schema));
    ald_status status = ald_stream_schema(&s->in.stream, &schema, err);
    if (status == ALD_OK) {
        status =
            cli_appending_open(s->env, s->t->append, SCOPE_ALD_IN | SCOPE_ALD_OUT, &schema, err);
        schema.release(&schema);
    }
    return status;
}

static ald_status write_rows(transfer_state *s, const char *path, struct ArrowArrayStream *batches,
                             ald_error *err)
{
    const shard_options *shards = s->t->shards;
    if (s->t->parts != NULL) {
        return file_set_write(&s->set, &s->out, s->t->parts[s->part], s->t->in, batches, &s->write,
                              &s->extras, err);
    }
    return shards != NULL && shards->rows_per_shard > 0
               ? cli_shards_write(s->env, &s->out, shards, path, s->t->in, batches, &s->write,
                                  &s->extras, err)
               : cli_output_write(&s->out, path, batches, &s->write, &s->extras, err);
}

static ald_status copy_rows(transfer_state *s, const char *path, ald_error *err)
{
    struct ArrowArrayStream batches;
    cli_tracked tracked = {s->env, s->in.name, s->in.stream, NULL, NULL, 0, 0, 0, 0};
    cli_tracked chosen = {s->env, s->in.name, {0}, NULL, NULL, 0, 0, 0, 0};
    memset(&batches, 0, sizeof(batches));
    s->in.stream.release = NULL;
    tracked.schema = s->schema.release != NULL ? &s->schema : NULL;
    if (s->in.format == FORMAT_ALD && s->in.many == NULL) {
        tracked.total_rows = cli_input_info(&s->in)->num_rows;
    }
    if ((file_format_scope_in(s->in.format) & SCOPE_TEXT_IN) == 0) {
        cli_progress_start(&s->in.progress, s->env, "writing", "rows");
        tracked.progress = &s->in.progress;
    }
    ald_status status = cli_tracked_open(&tracked, &batches, err);
    if (status == ALD_OK && s->t->mark != NULL) {
        status = s->t->mark->mark(s->t->mark->ctx, &batches, &s->env->host, err);
    }
    if (status == ALD_OK && s->t->append != NULL) {
        status = append_rows(s, &batches, err);
    }
    if (status == ALD_OK && s->t->choice != NULL) {
        status = choose(s, &batches, &chosen, err);
    }
    if (status == ALD_OK) {
        status = write_rows(s, path, &batches, err);
    }
    cli_progress_end(&s->in.progress);
    s->is_read = tracked.is_over;
    if (status == ALD_OK) {
        say_chosen(s, &tracked, &chosen);
        say_appended(s);
        say_done(s, s->t->choice != NULL ? &chosen : &tracked);
        s->part_rows[s->part] = s->t->choice != NULL ? chosen.row_count : tracked.row_count;
    } else {
        name_metadata_file(s, err);
    }
    return status;
}

/* ---- new metadata without the rows */

/* Whether a file that is encrypted, signed or licensed gets nothing but metadata: that needs none of its secrets. */
static int is_described_alone(const transfer_state *s)
{
    const write_options *w = s->t->write;
    const describe_options *d = s->t->describe;
    uint8_t flags = s->inspection != NULL ? ald_inspection_info(s->inspection)->flags : 0;
    return s->t->keep_layout && s->t->append == NULL && s->t->sale == NULL && s->t->mark == NULL &&
           (flags & (ALD_FLAG_ENCRYPTED | ALD_FLAG_SIGNED | ALD_FLAG_LICENSED)) != 0 &&
           d->column_docs == NULL && d->dataset_type == NULL && s->t->keep->recipients.count == 0 &&
           !s->t->keep->plain && w->compression == 0 && !w->sha256 && w->compat == 0 &&
           !w->streaming && !w->no_streaming && !w->aligned && w->backend_hint == 0 &&
           w->chunk_rows == 0;
}

/* The file as it was checked gets what options say of its metadata. */
static ald_status edit_checked(void *ctx, const ald_info *checked, ald_value *metadata,
                               ald_error *err)
{
    const transfer_state *s = ctx;
    s->env->subject = s->in.name;
    ald_status status = trust_facts_compare(ald_inspection_info(s->inspection), checked, err);
    return status == ALD_OK && s->patch != NULL ? cli_metadata_merge(s->patch, metadata, err)
                                                : status;
}

static ald_status fill_described(void *ctx, const ald_sink *sink, ald_error *err)
{
    transfer_state *s = ctx;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_rewrite_options options = ALD_REWRITE_OPTIONS_INIT;
    cli_trust_load(&s->in.trust, &load);
    options.load = &load;
    options.edit = edit_checked;
    options.edit_ctx = s;
    options.protection.signer_seed = s->protection.protection.signer_seed;
    options.signing = s->t->keep->sign.key != NULL      ? ALD_SIGNING_SIGN
                      : s->t->keep->sign.drop_signature ? ALD_SIGNING_STRIP
                                                        : ALD_SIGNING_REFUSE;
    return ald_rewrite(&s->in.source, sink, &options, &s->env->host, err);
}

static ald_status describe_alone(transfer_state *s, const char *path, ald_error *err)
{
    const secret_options *passphrase = &s->t->read->trust.key_passphrase;
    ald_status status =
        cli_trust_open(s->env, &s->t->read->trust, &s->in.source, NULL, &s->in.trust, err);
    if (status == ALD_OK) {
        status = cli_protection_open(&s->protection, err);
    }
    if (status == ALD_OK) {
        status = cli_keep_sign(s->env, s->t->keep, passphrase, ald_inspection_info(s->inspection),
                               &s->in.trust, &s->protection, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    s->env->subject = s->in.name;
    status = cli_output_fill(&s->out, path, fill_described, s, err);
    cli_trust_explain(s->env, &s->in.trust, &s->in.source, status);
    if (status == ALD_OK) {
        cli_trust_note(s->env, &s->in.trust, ald_inspection_info(s->inspection));
    } else {
        name_metadata_file(s, err);
    }
    return status;
}

/* ---- */

/* CSV options that speak of the input where there is one, else of the output. */
static void apply_csv_options(transfer_state *s)
{
    if (file_format_scope_in(s->in.format) != SCOPE_CSV_IN) {
        s->out.delimiter = s->t->read->delimiter;
        s->out.no_header = s->t->read->no_header;
    }
}

/* A use is counted when all else is well, and before anything is written. */
static ald_status open_bought(transfer_state *s, ald_error *err)
{
    ald_status status = cli_input_trust(&s->in, &s->t->read->trust, err);
    if (status == ALD_OK) {
        s->in.trust.trust.commercial = 1;
        status = cli_input_stream(&s->in, s->t->read, NULL, err);
    }
    return status == ALD_OK ? cli_license_use(s->env, cli_input_info(&s->in), 1, err) : status;
}

/* Whether what samples of a text gave was refused, and may not be what the text has: a column that comes later is not there
 * yet. Notes are told when types are known. */
static int is_refused_early(const transfer_state *s, ald_status status)
{
    return status != ALD_OK && status != ALD_E_IO && status != ALD_E_NOMEM && s->in.may_restart &&
           (file_format_scope_in(s->in.format) & SCOPE_TEXT_IN) != 0 && !s->in.has_notes &&
           !s->is_read;
}

/* What samples of a text gave did not hold: the output that was begun is gone, and another one is written. */
static ald_status copy_again(transfer_state *s, const char *path, ald_error *err)
{
    s->env->hint[0] = '\0';
    if (s->in.restart.release != NULL) {
        s->in.stream = s->in.restart;
        memset(&s->in.restart, 0, sizeof(s->in.restart));
    } else {
        ald_status status = cli_input_again(&s->in, s->t->read, err);
        if (status != ALD_OK) {
            return status;
        }
    }
    if (s->schema.release != NULL) {
        s->schema.release(&s->schema);
    }
    s->out.byte_count = 0;
    s->env->subject = s->in.name;
    ald_status status = make_schema(s, err);
    return status != ALD_OK ? status : copy_rows(s, path, err);
}

/* The input is read once for each part, and all files appear at the end. */
static ald_status copy_parts(transfer_state *s, const char *path, ald_error *err)
{
    const transfer *t = s->t;
    ald_status status = division_count(s->env, t->division, &s->in, t->read,
                                       t->choice != NULL ? t->choice->where : NULL, err);
    uint32_t count = t->parts != NULL ? t->division->part_count : 1;
    for (s->part = 0; status == ALD_OK && s->part < count; s->part++) {
        if (s->part > 0) {
            status = cli_input_rewind(&s->in, t->read, err);
        }
        if (status == ALD_OK) {
            status = copy_rows(s, path, err);
        }
    }
    if (status == ALD_OK && t->parts != NULL) {
        status = file_set_commit(&s->set, err);
    }
    for (uint32_t i = 0; status == ALD_OK && t->parts != NULL && i < count; i++) {
        say_part(s, t->parts[i], s->part_rows[i]);
    }
    return status;
}

static ald_status copy(transfer_state *s, const char *path, ald_error *err)
{
    ald_status status = make_schema(s, err);
    if (status == ALD_OK && s->t->division != NULL) {
        return copy_parts(s, path, err);
    }
    if (status == ALD_OK) {
        status = copy_rows(s, path, err);
    }
    return s->in.restart.release != NULL || is_refused_early(s, status) ? copy_again(s, path, err)
                                                                        : status;
}

static ald_status open_input(transfer_state *s, ald_error *err)
{
    const transfer *t = s->t;
    ald_status status = t->inputs != NULL
                            ? cli_input_open_all(s->env, t->inputs, t->read->from, &s->in, err)
                            : cli_input_open(s->env, t->in, t->read->from, &s->in, err);
    if (status == ALD_OK && s->in.many != NULL && t->out == NULL) {
        s->env->subject = NULL;
        cli_hint(s->env, "name the output; only one .ald can be replaced by itself");
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "OUT is missing");
    }
    for (size_t i = 0; status == ALD_OK && s->in.many != NULL && i < s->in.many->count; i++) {
        if (cli_same_file(s->in.many->paths[i], t->out)) {
            s->env->subject = t->out;
            status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                   "input and output are the same file");
        }
    }
    return status;
}

static ald_status run(transfer_state *s, ald_error *err)
{
    const transfer *t = s->t;
    const char *path = t->out != NULL ? t->out : t->in;
    ald_status status = t->shards != NULL ? cli_shards_check(s->env, t->shards, path, err) : ALD_OK;
    if (status == ALD_OK) {
        status =
            cli_output_init(s->env, path, &s->write, t->out != NULL ? t->in : NULL, &s->out, err);
    }
    if (status == ALD_OK) {
        status = open_input(s, err);
    }
    if (status == ALD_OK && t->append == NULL) {
        s->env->subject = NULL;
        status = file_format_check_options(
            s->env, file_format_scope_in(s->in.format) | file_format_scope_out(s->out.format), err);
    }
    if (status == ALD_OK && s->out.format == FORMAT_ALD) {
        s->env->subject = s->in.name;
        status = make_extras(s, err);
    }
    if (status == ALD_OK && is_described_alone(s)) {
        return describe_alone(s, path, err);
    }
    if (status == ALD_OK && s->out.format == FORMAT_ALD) {
        status = make_protection(s, err);
    }
    s->in.like = s->inspection != NULL ? ald_inspection_info(s->inspection) : NULL;
    if (t->choice != NULL && t->division == NULL) {
        s->in.columns = t->choice->columns;
        s->in.where = t->choice->where;
    }
    s->in.may_restart = t->division == NULL && cli_output_is_held_back(&s->out, path) != 0;
    if (status == ALD_OK) {
        status = t->is_bought ? open_bought(s, err) : cli_input_stream(&s->in, t->read, NULL, err);
    }
    if (status == ALD_OK) {
        status = take_checked(s, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    if (t->append != NULL) {
        status = open_more(s, err);
    }
    if (status != ALD_OK) {
        return status;
    }
    note_mark(s);
    apply_csv_options(s);
    return copy(s, path, err);
}

static int is_seller(const transfer_state *s, const ald_info *info)
{
    uint8_t own[ALD_KEY_BYTES];
    return s->env->host.crypto->ed25519_public(s->t->sale->signer_seed, own, NULL) == ALD_OK &&
           memcmp(own, info->signer_public_key, sizeof(own)) == 0;
}

/* What of the input's trust is gone now, though options said so. */
static void note_replaced(const transfer_state *s)
{
    const ald_info *info = s->inspection != NULL ? ald_inspection_info(s->inspection) : NULL;
    if (s->t->sale != NULL) {
        cli_keep_note_license(s->env, info);
        if (info != NULL && info->signer_public_key != NULL && !is_seller(s, info)) {
            cli_keep_note_signer(s->env, info);
        }
    } else if (s->out.format == FORMAT_ALD && s->t->keep->sign.key != NULL && !s->in.trust.is_own) {
        cli_keep_note_signer(s->env, info);
    }
}

ald_status cli_transfer(cli_env *env, const transfer *t, ald_error *err)
{
    transfer_state s;
    memset(&s, 0, sizeof(s));
    s.env = s.set.env = env;
    s.t = t;
    s.write = *t->write;
    ald_status status = run(&s, err);
    if (status == ALD_OK) {
        note_replaced(&s);
    }
    if (s.schema.release != NULL) {
        s.schema.release(&s.schema);
    }
    file_set_clear(&s.set);
    ald_value_free(s.metadata);
    cli_metadata_free(s.patch);
    cli_protection_close(&s.protection);
    ald_inspection_free(s.inspection);
    cli_input_close(&s.in);
    return status;
}
