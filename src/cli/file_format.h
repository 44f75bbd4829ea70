/* SPDX-License-Identifier: MIT */
/* The file formats, their names and extensions. */
#ifndef CLI_FILE_FORMAT_H
#define CLI_FILE_FORMAT_H

#include <stdint.h>

#include "cli/cli.h"

typedef enum file_format {
    FORMAT_UNKNOWN = 0,
    FORMAT_ALD,
    FORMAT_CSV,
    FORMAT_TSV,
    FORMAT_JSONL,
    FORMAT_JSON,   /* one array */
    FORMAT_ARROW,  /* IPC file */
    FORMAT_ARROWS, /* IPC stream */
    FORMAT_PARQUET,
    FORMAT_NPY,
    FORMAT_NPZ,
    FORMAT_SAFETENSORS,
    FORMAT_SQLITE,
    FORMAT_IMAGES, /* a folder of them */
    FORMAT_AUDIO
} file_format;

/* A database is also named by this and its path, with ?table=NAME or ?query=SQL. */
#define CLI_SQLITE_PREFIX "sqlite:"

/* What an option can have an effect on. */
#define SCOPE_CSV_IN 0x01u
#define SCOPE_JSON_IN 0x02u
#define SCOPE_IPC_IN 0x04u
#define SCOPE_ALD_IN 0x08u
#define SCOPE_CSV_OUT 0x10u
#define SCOPE_JSON_OUT 0x20u
#define SCOPE_IPC_OUT 0x40u
#define SCOPE_ALD_OUT 0x80u
#define SCOPE_PARQUET_IN 0x100u
#define SCOPE_PARQUET_OUT 0x200u
#define SCOPE_NPY_IN 0x400u
#define SCOPE_TENSORS_IN 0x800u /* .npz and safetensors: arrays with names */
#define SCOPE_SQLITE_IN 0x1000u
#define SCOPE_FOLDER_IN 0x2000u
#define SCOPE_TEXT_IN (SCOPE_CSV_IN | SCOPE_JSON_IN)
#define SCOPE_TEXT_OUT (SCOPE_CSV_OUT | SCOPE_JSON_OUT)

/* "csv"; NULL-terminated lists for --from and --to. */
extern const char *const file_format_names[];
extern const char *const file_format_written_names[];

/* By extension, or by a name as --from takes it; FORMAT_UNKNOWN: neither tells. */
file_format file_format_of_path(const char *path);
file_format file_format_of_name(const char *name);

/* A short description: "Arrow IPC stream". */
const char *file_format_text(file_format format);
/* "csv" */
const char *file_format_name(file_format format);
int file_format_is_binary(file_format format);
/* Whether its stream knows how many rows come. */
int file_format_has_row_count(file_format format);
opt_scope file_format_scope_in(file_format format);
opt_scope file_format_scope_out(file_format format);

/* The format of a path by --from or --to (`name`, may be NULL), else by extension. ALD_E_INVALID_ARG with a hint when it is
 * unknown. `option` is "--from" or "--to". */
ALD_NODISCARD ald_status file_format_find(cli_env *env, const char *path, const char *name,
                                          const char *option, file_format *out, ald_error *err);

/* ALD_E_INVALID_FORMAT when a file's first bytes are those of another format; `is_chosen`: by --from or the command. */
ALD_NODISCARD ald_status file_format_check_beginning(cli_env *env, file_format format,
                                                     const ald_source *source, int is_chosen,
                                                     ald_error *err);

/* The flags of a .ald by its header alone; 0 where it has none, or is none. */
uint8_t file_format_ald_flags(const ald_source *source);

/* ALD_E_INVALID_ARG when an option was given that has no effect on any of `scopes`. */
ALD_NODISCARD ald_status file_format_check_options(cli_env *env, opt_scope scopes, ald_error *err);

#endif
