/* SPDX-License-Identifier: MIT */
/* Any readable file as a stream of record batches. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "ald/arrow.h"
#include "ald/io.h"
#include "ald/reader.h"
#include "ald/streaming.h"
#include "ald/text.h"
#include "cli/file_format.h"
#include "cli/progress.h"
#include "cli/trust_options.h"

/* Options of every command that reads rows. */
typedef struct read_options {
    const char *from;
    const char *schema; /* declared types (text), or the expected schema (.ald, Arrow) */
    opt_list nulls, types;
    uint64_t max_field_bytes, infer_rows;
    char delimiter, quote, comment;
    uint8_t no_header, ragged, encoding, mixed;
    opt_list tensors; /* of .npz and safetensors: only these arrays */
    uint8_t one_row, unpack;
    const char *table, *query; /* of a database */
    trust_options trust;       /* of a .ald; its group is cli_group_trust */
} read_options;

extern const opt_group cli_group_read; /* --from and the options of text */
extern const opt_group
    cli_group_read_schema;             /* --schema, of commands that give it its usual meaning */
extern const opt_group cli_group_from; /* --from alone */

struct cli_many;  /* cli/many_files.h */
struct cli_media; /* cli/media_folder.h */

typedef struct cli_input {
    cli_env *env;
    const char *name;      /* of the file, the pattern of several, or "standard input" */
    struct cli_many *many; /* the files of a pattern, of which the first is open; NULL: one file */
    ald_source source;
    uint64_t file_size;       /* source.size_bytes, or, of compressed text, less */
    ald_dataset *dataset;     /* .ald, once loaded … */
    ald_streaming *streaming; /* … or opened, when it has chunks */
    /* Set before the stream is opened, all that follow: the columns that will be chosen, and by which condition. Formats that
     * can read only the columns that are needed for it. */
    const opt_list *columns;
    const char *where;
    /* Of several .ald files the others must be signed, encrypted and licensed as this one is; NULL: they need not. */
    const ald_info *like;
    const struct ArrowSchema *text_schema; /* what text is read as, without --schema */
    uint64_t last_rows; /* with some_rows: only the chunks that hold so many last rows; 0: all */
    file_format format;
    uint16_t dataset_type; /* of a folder of images or audio; 0: not known */
    uint8_t some_rows;     /* of a .ald in chunks only those that are read are checked */
    uint8_t may_restart;   /* whoever reads the stream can begin again, with `restart` */
    uint8_t is_again;      /* notes were told when it was read before */
    uint8_t is_dropped;    /* the rows of `dataset` */
    /* Found while it is open: */
    uint8_t has_trust;
    uint8_t has_notes; /* of text: some were told, so its types are known */
    cli_trust trust;   /* of a .ald, once cli_input_trust was called */
    struct ArrowArrayStream stream;
    struct ArrowArrayStream restart; /* when `stream` failed and there is another one */
    struct ArrowSchema schema;       /* of --schema; release NULL: none */
    struct ArrowSchema types;        /* of --types */
    char *sqlite_path, *sqlite_table, *sqlite_query; /* of sqlite:PATH?table=NAME; NULL: none */
    struct cli_media *media; /* the files of a folder of images or audio; NULL: none */
    cli_progress progress;
} cli_input;

/* The help of an operand that is given to cli_input_open_all. */
#define CLI_FILES_TEXT                                                                             \
    "the file to read; - is standard input (with --from). Several files, a quoted pattern "        \
    "('data/*.ald'), a folder or a manifest are read as one table"

/* Opens the bytes and finds the format. A path with *, ? or [ that is no file stands for all that fit, a folder for what
 * is in it, a manifest for what it lists; they are read one behind the other (not .ald). cli_input_close in any case. */
ALD_NODISCARD ald_status cli_input_open(cli_env *env, const char *path, const char *from,
                                        cli_input *in, ald_error *err);
/* The same of all operands (one at least), and .ald files too: for commands that know what to do with several. */
ALD_NODISCARD ald_status cli_input_open_all(cli_env *env, const opt_list *paths, const char *from,
                                            cli_input *in, ald_error *err);

/* Opens the stream of batches: in->stream, which the caller may move out (then release it before cli_input_close).
 * `expected` (or NULL) is compared with the schema found. `read` may be NULL. */
ALD_NODISCARD ald_status cli_input_stream(cli_input *in, const read_options *read,
                                          const struct ArrowSchema *expected, ald_error *err);

/* Text once more, from its beginning, with types that are known before the first row. */
ALD_NODISCARD ald_status cli_input_again(cli_input *in, const read_options *read, ald_error *err);

/* Gathers what is trusted and known for a .ald; cli_input_stream does it, where it was not done before. The first call
 * counts. `options` may be NULL. */
ALD_NODISCARD ald_status cli_input_trust(cli_input *in, const trust_options *options,
                                         ald_error *err);

/* For whoever reads a format: a line that a person should know; the types that --types declares, if any. */
void cli_input_note(void *in, const char *text);
ALD_NODISCARD ald_status cli_input_types(cli_input *in, const read_options *read, ald_error *err);

/* The stream once more, from the first row; a .ald is not checked anew, and no note is told twice. */
ALD_NODISCARD ald_status cli_input_rewind(cli_input *in, const read_options *read, ald_error *err);

/* Lets go of the rows of a .ald that is in memory as a whole: its stream has ended. */
void cli_input_drop_rows(cli_input *in);

/* Facts of a .ald whose stream is open; else NULL. */
const ald_info *cli_input_info(const cli_input *in);

/* Whether a .ald has chunks, by its header; what else may be wrong, opening finds. */
int cli_input_has_chunks(const cli_input *in);

/* Whether the stream, once open, knows how many rows come. */
int cli_input_knows_rows(const cli_input *in);

void cli_input_close(cli_input *in);

/* A schema from --schema's value: the content of a file of this name, else `name:type,…`. */
ALD_NODISCARD ald_status cli_schema_from_argument(cli_env *env, const char *value,
                                                  struct ArrowSchema *out, ald_error *err);

/* All bytes of a small file (up to 64 MiB). The caller clears `out`. */
ALD_NODISCARD ald_status cli_read_file(cli_env *env, const char *path, ald_buffer *out,
                                       ald_error *err);
/* The same of a file of any size that is to be held in memory. */
ALD_NODISCARD ald_status cli_read_up_to(cli_env *env, const char *path, uint64_t limit_bytes,
                                        ald_buffer *out, ald_error *err);

#endif
