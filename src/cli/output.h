/* SPDX-License-Identifier: MIT */
/* A stream of record batches into any writable file, which appears whole or not at all. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include "ald/arrow.h"
#include "ald/native.h"
#include "ald/streaming.h"
#include "ald/trust.h"
#include "ald/value.h"
#include "cli/file_format.h"

/* Options of every command that writes rows. */
typedef struct write_options {
    const char *out; /* -o */
    const char *to;
    const char *null_text;
    uint8_t force;
    uint8_t compression; /* 1 + an ald_compression; 0: not given */
    uint8_t sha256, compat;
    uint8_t effort; /* 1 + the choice; 0: not given */
    uint8_t streaming, no_streaming, aligned;
    uint8_t backend_hint; /* 1 + the value; 0: not given */
    uint64_t chunk_rows;  /* 0: not given */
    uint8_t line_ending, binary, buffer_compression;
} write_options;

extern const opt_group cli_group_write;     /* all of them */
extern const opt_group cli_group_write_ald; /* of commands that write .ald alone */

/* What a .ald gets besides its rows. */
typedef struct ald_extras {
    uint16_t dataset_type;            /* 0: TABULAR */
    uint8_t compression;              /* where write_options does not say */
    const ald_value *metadata;        /* or NULL */
    const ald_protection *protection; /* or NULL */
    uint8_t is_sold;                  /* written by ald_package_commercial */
    ald_streaming *base; /* the rows go behind those of this one (ald_append); or NULL */
} ald_extras;

typedef struct cli_output {
    cli_env *env;
    const char *name; /* of the file, or "standard output" */
    file_format format;
    int fd; /* a descriptor that was opened here, or -1 */
    ald_file_sink *file;
    ald_fd_sink *stream;
    const ald_sink *target;
    ald_sink sink; /* passes on to target and notes whose fault an error is */
    uint64_t byte_count;
    char delimiter; /* of CSV; 0: by the format */
    uint8_t no_header;
    uint8_t may_replace;
    uint8_t
        is_one_of_set; /* a file that is written is left settled in `file`, and committed by whoever set this */
} cli_output;

/* OUT as operand or as -o: exactly one, or NULL. */
ALD_NODISCARD ald_status cli_output_path(const char *operand, const char *option, const char **out,
                                         ald_error *err);

/* Whether both paths are the same file. */
int cli_same_file(const char *a, const char *b);

/* Finds the format and refuses what must not be written: an existing file without `force`, the input itself, a folder,
 * binary to a terminal. `in_path` may be NULL: a command that is meant to replace its input. Nothing is opened yet. */
ALD_NODISCARD ald_status cli_output_init(cli_env *env, const char *path,
                                         const write_options *options, const char *in_path,
                                         cli_output *out, ald_error *err);

/* Whether nothing of the output is to be seen before it is whole, so that it can be written once more. */
int cli_output_is_held_back(const cli_output *out, const char *path);

/* Opens the output, reads `batches` to its end (released in any case), writes and commits. On failure the old file is as it
 * was and no new one is there. */
ALD_NODISCARD ald_status cli_output_write(cli_output *out, const char *path,
                                          struct ArrowArrayStream *batches,
                                          const write_options *options, const ald_extras *extras,
                                          ald_error *err);

/* What encryption that the crate can read is short of. */
void cli_note_crate_encryption(const cli_env *env);

/* The same for bytes that `fill` writes to the sink. */
typedef ald_status (*cli_output_filler)(void *ctx, const ald_sink *sink, ald_error *err);
ALD_NODISCARD ald_status cli_output_fill(cli_output *out, const char *path, cli_output_filler fill,
                                         void *ctx, ald_error *err);

#endif
