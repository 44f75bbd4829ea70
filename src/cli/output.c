/* SPDX-License-Identifier: MIT */
/* Where bytes go: a new file, a device or pipe, or standard output. */
#define _XOPEN_SOURCE 700
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__ /* a header tells */
#include <malloc.h>
#endif

#include "ald/append.h"
#include "ald/commercial.h"
#include "ald/csv.h"
#include "ald/ipc.h"
#include "ald/jsonl.h"
#include "ald/parquet.h"
#include "ald/schema.h"
#include "ald/writer.h"
#include "cli/cleanup.h"
#include "cli/same_names.h"

/* In the order of ald_compression. */
static const char *const compression_names[] = {"none",   "zstd-l3",    "zstd-l19", "lz4",
                                                "packed", "packed-lz4", NULL};
static const char *const effort_names[] = {"default", "fast", "best", NULL}; /* as ald_effort */
static const char *const compat_names[] = {"alimentar-0.2", NULL}; /* 1 + index is an ald_compat */
/* The values of the array index's backend_hint, in order. */
static const char *const backend_names[] = {"auto",   "scalar", "sse2",      "avx", "avx2",
                                            "avx512", "neon",   "wasm-simd", "gpu", NULL};
static const char *const line_names[] = {"lf", "crlf", NULL};
static const char *const binary_names[] = {"base64", "hex", NULL};
static const char *const buffer_names[] = {"none", "zstd", "lz4", NULL};

#define AT(member) .offset = offsetof(write_options, member)
#define OUT_SPEC                                                                                   \
    {.name = "output",                                                                             \
     .letter = 'o',                                                                                \
     .arg = "FILE",                                                                                \
     .kind = OPT_TEXT,                                                                             \
     AT(out),                                                                                      \
     .help = "the same as OUT"},                                                                   \
        {.name = "force",                                                                          \
         .letter = 'f',                                                                            \
         .kind = OPT_FLAG,                                                                         \
         AT(force),                                                                                \
         .help = "replace OUT if it exists"}
#define ALD_SPECS                                                                                  \
    {.name = "compression",                                                                        \
     .kind = OPT_CHOICE,                                                                           \
     .choices = compression_names,                                                                 \
     AT(compression),                                                                              \
     .scope = SCOPE_ALD_OUT,                                                                       \
     .help = "of a .ald; default: that of a .ald input, else zstd-l3. packed: smallest, and read " \
             "fast"},                                                                              \
        {.name = "effort",                                                                         \
         .kind = OPT_CHOICE,                                                                       \
         .choices = effort_names,                                                                  \
         AT(effort),                                                                               \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "how much packed compression and zstd-l3 try. best takes long: packed gets "      \
                 "smaller; zstd-l3 in chunks gets a little larger and is read faster than "        \
                 "without it, though not as fast as packed; default: default"},                    \
        {.name = "sha256",                                                                         \
         .kind = OPT_FLAG,                                                                         \
         AT(sha256),                                                                               \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "put the SHA-256 of the uncompressed data into the metadata"},                    \
        {.name = "compat",                                                                         \
         .kind = OPT_CHOICE,                                                                       \
         .choices = compat_names,                                                                  \
         AT(compat),                                                                               \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help =                                                                                   \
             "write what the Rust crate alimentar 0.2 reads; what it cannot hold is an error"},    \
        {.name = "streaming",                                                                      \
         .kind = OPT_FLAG,                                                                         \
         AT(streaming),                                                                            \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "write chunks that can be read one by one; default: above 100 MB"},               \
        {.name = "no-streaming",                                                                   \
         .kind = OPT_FLAG,                                                                         \
         AT(no_streaming),                                                                         \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "write one piece, whatever its size"},                                            \
        {.name = "chunk-rows",                                                                     \
         .arg = "N",                                                                               \
         .kind = OPT_COUNT,                                                                        \
         .min = 1,                                                                                 \
         .max = UINT32_MAX - 1,                                                                    \
         AT(chunk_rows),                                                                           \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "rows of a chunk, and chunks at any size; default: 65536 (--aligned: 1048576), "  \
                 "or as many as fit 16 MiB if they are fewer"},                                    \
        {.name = "aligned",                                                                        \
         .kind = OPT_FLAG,                                                                         \
         AT(aligned),                                                                              \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "no compression, every buffer at a multiple of 64 bytes: columns are used in "    \
                 "place. Without chunks it is built in memory, up to three times the table's "     \
                 "size"},                                                                          \
        {.name = "trueno-native",                                                                  \
         .kind = OPT_FLAG,                                                                         \
         AT(aligned),                                                                              \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "the same as --aligned"},                                                         \
        {.name = "backend-hint",                                                                   \
         .kind = OPT_CHOICE,                                                                       \
         .choices = backend_names,                                                                 \
         AT(backend_hint),                                                                         \
         .scope = SCOPE_ALD_OUT,                                                                   \
         .help = "what an aligned file's columns are meant for; default: auto"}

static const opt_spec write_specs[] = {
    OUT_SPEC,
    {.name = "to",
     .arg = "FORMAT",
     .kind = OPT_TEXT,
     .choices = file_format_written_names,
     AT(to),
     .help = "format of the output, when its name does not tell"},
    ALD_SPECS,
    {.name = "buffer-compression",
     .kind = OPT_CHOICE,
     .choices = buffer_names,
     AT(buffer_compression),
     .scope = SCOPE_IPC_OUT,
     .help = "compression of an Arrow output's buffers; default: none"},
    {.name = "line-ending",
     .kind = OPT_CHOICE,
     .choices = line_names,
     AT(line_ending),
     .scope = SCOPE_CSV_OUT,
     .help = "of a CSV output; default: lf"},
    {.name = "null-text",
     .arg = "TEXT",
     .kind = OPT_TEXT,
     AT(null_text),
     .scope = SCOPE_CSV_OUT,
     .help = "what a null is written as in CSV; default: nothing"},
    {.name = "binary",
     .kind = OPT_CHOICE,
     .choices = binary_names,
     AT(binary),
     .scope = SCOPE_TEXT_OUT,
     .help = "how binary values are written as text; default: base64"},
};
const opt_group cli_group_write = OPT_GROUP("Output", write_specs);

static const opt_spec write_ald_specs[] = {OUT_SPEC, ALD_SPECS};
const opt_group cli_group_write_ald = OPT_GROUP("Output", write_ald_specs);

/* ---- paths */

ald_status cli_output_path(const char *operand, const char *option, const char **out,
                           ald_error *err)
{
    *out = operand != NULL ? operand : option;
    if (operand != NULL && option != NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "two outputs are named: '%s' and '%s'", operand, option);
    }
    return ALD_OK;
}

int cli_same_file(const char *a, const char *b)
{
    struct stat x;
    struct stat y;
    int have_x = strcmp(a, "-") == 0 ? fstat(STDIN_FILENO, &x) : stat(a, &x);
    int have_y = strcmp(b, "-") == 0 ? fstat(STDOUT_FILENO, &y) : stat(b, &y);
    return have_x == 0 && have_y == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* A device or a pipe cannot be replaced by renaming: it is written in place. */
static int is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static ald_status io_error(ald_error *err, int number, const char *what)
{
    ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "%s", what);
    if (err != NULL) {
        err->detail = number;
    }
    return status;
}

/* Before the input is read, which may take a while. */
static ald_status check_folder(const char *path, ald_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? strdup(".")
                   : slash == path ? strdup("/")
                                   : strndup(path, (size_t)(slash - path));
    if (folder == NULL) {
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a path");
    }
    int number = access(folder, W_OK | X_OK) != 0 ? errno : 0;
    free(folder);
    if (number == 0) {
        return ALD_OK;
    }
    ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot write '%s': %s", path,
                                      strerror(number));
    if (err != NULL) {
        err->detail = number;
    }
    return status;
}

static ald_status check_target(cli_env *env, const char *path, int force, ald_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        return check_folder(path, err);
    }
    if (S_ISDIR(st.st_mode)) {
        return io_error(err, EISDIR, "is a folder");
    }
    if (S_ISREG(st.st_mode) && !force) {
        cli_hint(env, "--force replaces it");
        return io_error(err, EEXIST, "the file exists already");
    }
    return ALD_OK;
}

/* Text is read compressed, not written so: the name would lie. */
static int names_compression(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".gz") == 0 || strcasecmp(dot, ".zst") == 0);
}

ald_status cli_output_init(cli_env *env, const char *path, const write_options *options,
                           const char *in_path, cli_output *out, ald_error *err)
{
    memset(out, 0, sizeof(*out));
    out->env = env;
    out->fd = -1;
    int is_stdout = strcmp(path, "-") == 0;
    ald_status status = file_format_find(env, path, options->to, "--to", &out->format, err);
    if (status != ALD_OK) {
        return status;
    }
    out->name = is_stdout ? "standard output" : path;
    env->subject = out->name;
    if (names_compression(path)) {
        cli_hint(env,
                 "write to standard output and compress it: alimentar convert IN - --to %s | "
                 "gzip > OUT",
                 file_format_name(out->format));
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "compressed text is read, not written");
    }
    if (in_path != NULL && cli_same_file(in_path, path)) {
        cli_hint(env, "write to another file, then rename it");
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "input and output are the same file");
    }
    if (is_stdout) {
        if (file_format_is_binary(out->format) && isatty(STDOUT_FILENO)) {
            cli_hint(env, "name a file, or redirect the output");
            return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                 "%s is binary and is not printed on a terminal",
                                 file_format_text(out->format));
        }
        return ALD_OK;
    }
    out->may_replace = options->force || in_path == NULL;
    return check_target(env, path, out->may_replace, err);
}

/* ---- sinks */

static ald_status sink_write(void *ctx, const void *buf, size_t size, ald_error *err)
{
    cli_output *out = ctx;
    ald_status status = out->target->write(out->target->ctx, buf, size, err);
    out->byte_count += size;
    if (status != ALD_OK) {
        out->env->subject = out->name;
    }
    return status;
}

static ald_status sink_write_at(void *ctx, uint64_t offset, const void *buf, size_t size,
                                ald_error *err)
{
    cli_output *out = ctx;
    ald_status status = out->target->write_at(out->target->ctx, offset, buf, size, err);
    if (status != ALD_OK) {
        out->env->subject = out->name;
    }
    return status;
}

/* A link stays a link: the file that it names is replaced. */
static ald_status create_file(cli_output *out, const char *path, ald_error *err)
{
    struct stat st;
    uint32_t flags =
        (out->may_replace ? ALD_FILE_REPLACE : 0) | (out->is_one_of_set ? ALD_FILE_LATER : 0);
    char *target = lstat(path, &st) == 0 && S_ISLNK(st.st_mode) ? realpath(path, NULL) : NULL;
    cli_cleanup_hold();
    ald_status status = ald_file_create(target != NULL ? target : path, flags, &out->file, err);
    cli_cleanup_file(status == ALD_OK ? ald_file_sink_temporary(out->file) : NULL);
    cli_cleanup_resume();
    free(target);
    return status;
}

int cli_output_is_held_back(const cli_output *out, const char *path)
{
    /* Notes on JSON are told while it is written. */
    return strcmp(path, "-") != 0 && !is_special(path) &&
           file_format_scope_out(out->format) != SCOPE_JSON_OUT;
}

static ald_status open_sink(cli_output *out, const char *path, ald_error *err)
{
    ald_status status;
    out->env->subject = out->name;
    if (strcmp(path, "-") == 0 || is_special(path)) {
        int fd = STDOUT_FILENO;
        if (strcmp(path, "-") != 0) {
            fd = out->fd = open(path, O_WRONLY | O_CLOEXEC);
            if (fd < 0) {
                return io_error(err, errno, strerror(errno));
            }
        }
        status = ald_fd_sink_new(fd, out->name, &out->stream, err);
        out->target = status == ALD_OK ? ald_fd_sink_get(out->stream) : NULL;
    } else {
        status = create_file(out, path, err);
        out->target = status == ALD_OK ? ald_file_sink_get(out->file) : NULL;
    }
    if (status == ALD_OK) {
        out->sink = *out->target;
        out->sink.write = sink_write;
        out->sink.write_at = out->target->write_at != NULL ? sink_write_at : NULL;
        out->sink.ctx = out;
    }
    return status;
}

/* From the file that a signal removes to one of those. */
static ald_status settle(cli_output *out, ald_error *err)
{
    ald_status status = ald_file_settle(out->file, err);
    cli_cleanup_hold();
    if (status == ALD_OK && !cli_cleanup_add(ald_file_sink_temporary(out->file))) {
        status = ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a path");
    }
    cli_cleanup_resume();
    return status;
}

static ald_status finish(cli_output *out, ald_status status, ald_error *err)
{
    if (status == ALD_OK && out->stream != NULL) {
        status = ald_fd_sink_flush(out->stream, err);
    }
    ald_fd_sink_free(out->stream);
    if (out->fd >= 0 && close(out->fd) != 0 && status == ALD_OK) {
        status = io_error(err, errno, strerror(errno));
    }
    if (out->file != NULL && status == ALD_OK && out->is_one_of_set) {
        status = settle(out, err);
    } else if (out->file != NULL && status == ALD_OK) {
        status = ald_file_commit(out->file, err);
        out->file = NULL;
    }
    if (out->file != NULL && (status != ALD_OK || !out->is_one_of_set)) {
        ald_file_abort(out->file);
        out->file = NULL;
    }
    cli_cleanup_file(NULL);
    out->stream = NULL;
    out->fd = -1;
    return status;
}

/* ---- formats */

static void text_options(const write_options *options, ald_text_write_options *text)
{
    text->binary = options->binary > 0 ? (uint8_t)(options->binary - 1) : 0;
    text->null_text = options->null_text;
}

static ald_status write_csv(cli_output *out, struct ArrowArrayStream *batches,
                            const write_options *options, ald_error *err)
{
    ald_csv_write_options csv = ALD_CSV_WRITE_OPTIONS_INIT;
    csv.delimiter = out->delimiter != 0 ? out->delimiter : out->format == FORMAT_TSV ? '\t' : ',';
    csv.no_header = out->no_header;
    csv.crlf = options->line_ending == 2;
    text_options(options, &csv.text);
    return ald_csv_write(batches, &out->sink, &csv, &out->env->host, err);
}

static ald_status write_json(cli_output *out, struct ArrowArrayStream *batches,
                             const write_options *options, ald_error *err)
{
    ald_jsonl_write_options json = ALD_JSONL_WRITE_OPTIONS_INIT;
    json.array = out->format == FORMAT_JSON;
    text_options(options, &json.text);
    cli_note_same_names(out->env, batches);
    return ald_jsonl_write(batches, &out->sink, &json, &out->env->host, err);
}

static ald_status write_ipc(cli_output *out, struct ArrowArrayStream *batches,
                            const write_options *options, ald_error *err)
{
    static const uint8_t compressions[] = {ALD_COMPRESSION_NONE, ALD_COMPRESSION_NONE,
                                           ALD_COMPRESSION_ZSTD_L3, ALD_COMPRESSION_LZ4};
    ald_ipc_options ipc = ALD_IPC_OPTIONS_INIT;
    ipc.kind = out->format == FORMAT_ARROW ? ALD_IPC_FILE : ALD_IPC_STREAM;
    ipc.compression = compressions[options->buffer_compression];
    return ald_ipc_write(batches, &out->sink, &ipc, &out->env->host, err);
}

/* How the file is laid out; contradictions are usage errors. */
static ald_status layout_options(const write_options *options, ald_save_options *save,
                                 ald_error *err)
{
    if (options->streaming && options->no_streaming)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--streaming and --no-streaming exclude each other");
    if (options->chunk_rows != 0 && options->no_streaming)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--chunk-rows and --no-streaming exclude each other");
    if (options->aligned && options->compression > 1)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--aligned and --compression exclude each other");
    if (options->effort > 0 && (options->aligned || (save->compression < ALD_COMPRESSION_PACKED &&
                                                     save->compression != ALD_COMPRESSION_ZSTD_L3)))
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--effort is for packed compression and zstd-l3\npass one of them as "
                             "--compression, or leave it out");
    save->layout = options->no_streaming                            ? ALD_LAYOUT_WHOLE
                   : options->streaming || options->chunk_rows != 0 ? ALD_LAYOUT_STREAMING
                                                                    : ALD_LAYOUT_AUTO;
    save->chunk_rows = options->chunk_rows;
    save->aligned = options->aligned;
    if (options->aligned)
        save->compression = ALD_COMPRESSION_NONE;
    if (options->backend_hint > 0)
        save->backend_hint = (uint8_t)(options->backend_hint - 1);
    return ALD_OK;
}

void cli_note_crate_encryption(const cli_env *env)
{
    cli_note(env, "for the crate: a wrong key is not told from damage, and neither type nor schema "
                  "are bound to what is encrypted");
}

static ald_status write_ald(cli_output *out, struct ArrowArrayStream *batches,
                            const write_options *options, const ald_extras *extras, ald_error *err)
{
    ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    save.dataset_type = extras->dataset_type;
    save.compression =
        options->compression > 0 ? (uint8_t)(options->compression - 1) : extras->compression;
    save.compat = options->compat;
    save.effort = options->effort > 0 ? (uint8_t)(options->effort - 1) : ALD_EFFORT_DEFAULT;
    save.write_sha256 = options->sha256;
    save.metadata = extras->metadata;
    save.protection = extras->protection;
    ald_status status = layout_options(options, &save, err);
    if (status != ALD_OK) {
        batches->release(batches);
        return status;
    }
    if (options->compat != 0 && extras->protection != NULL &&
        extras->protection->encryption != ALD_ENCRYPTION_NONE) {
        cli_note_crate_encryption(out->env);
    }
    if (extras->base != NULL) {
        return ald_append(extras->base, batches, &out->sink, &save, &out->env->host, err);
    }
    return extras->is_sold
               ? ald_package_commercial(batches, &out->sink, &save, NULL, &out->env->host, err)
               : ald_save(batches, &out->sink, &save, &out->env->host, err);
}

/* Arrow's encoders have many blocks that are smaller than what main gives back, so that a third of the memory was holes;
 * without them it is no slower. */
#define LARGE_BLOCK (4 << 20)

static ald_status write_parquet(cli_output *out, struct ArrowArrayStream *batches, ald_error *err)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
    (void)mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK);
#endif
    return ald_parquet_write(batches, &out->sink, NULL, &out->env->host, err);
}

static ald_status write_batches(cli_output *out, struct ArrowArrayStream *batches,
                                const write_options *options, const ald_extras *extras,
                                ald_error *err)
{
    switch (file_format_scope_out(out->format)) {
    case SCOPE_ALD_OUT:
        return write_ald(out, batches, options, extras, err);
    case SCOPE_CSV_OUT:
        return write_csv(out, batches, options, err);
    case SCOPE_JSON_OUT:
        return write_json(out, batches, options, err);
    case SCOPE_PARQUET_OUT:
        return write_parquet(out, batches, err);
    default:
        return write_ipc(out, batches, options, err);
    }
}

ald_status cli_output_write(cli_output *out, const char *path, struct ArrowArrayStream *batches,
                            const write_options *options, const ald_extras *extras, ald_error *err)
{
    ald_status status = open_sink(out, path, err);
    if (status == ALD_OK) {
        status = write_batches(out, batches, options, extras, err);
    } else {
        batches->release(batches);
    }
    if (status == ALD_OK) {
        out->env->subject = out->name;
    }
    return finish(out, status, err);
}

ald_status cli_output_fill(cli_output *out, const char *path, cli_output_filler fill, void *ctx,
                           ald_error *err)
{
    ald_status status = open_sink(out, path, err);
    if (status == ALD_OK) {
        status = fill(ctx, &out->sink, err);
    }
    if (status == ALD_OK) {
        out->env->subject = out->name;
    }
    return finish(out, status, err);
}
