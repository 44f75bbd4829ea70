/* SPDX-License-Identifier: MIT */
/* Folders of images or audio files: class/name.png, or train/class/name.png. */
#ifndef CLI_MEDIA_FOLDER_H
#define CLI_MEDIA_FOLDER_H

#include "cli/input.h"
#include "cli/media_kind.h"

#define MEDIA_NONE UINT32_MAX

typedef struct media_file {
    char *name; /* the path below the folder */
    uint64_t size;
    uint32_t label, split; /* in the lists of names; MEDIA_NONE: none */
} media_file;

typedef struct media_names {
    char **items; /* sorted */
    size_t count;
} media_names;

/* metadata.csv or metadata.jsonl of the folder, or of a folder in it. */
typedef struct media_table {
    char *path;
    const char *
        name; /* of the file below the folder; what is in front of its last part is that of its files, too */
    uint8_t is_csv;
} media_table;

typedef struct cli_media {
    char *root;
    media_kind kind;
    media_file *files; /* in the order of their names */
    size_t count, capacity;
    media_names labels, splits;
    uint64_t bytes;      /* of all files */
    media_table *tables; /* in the order of their names */
    size_t table_count;
    media_names left_out; /* some of the files that are none of the kind … */
    size_t left_count;    /* … of so many */
} cli_media;

/* Looks through a folder. *out stays NULL when the path is none, or when `from` is NULL and it holds data of another format,
 * or no media at all. With `from`, a folder without media is ALD_E_INVALID_ARG. */
ALD_NODISCARD ald_status cli_media_find(cli_env *env, const char *path, const char *from,
                                        cli_media **out, ald_error *err);
void cli_media_free(cli_media *media);

/* The dataset type of what is in it; 0: it says nothing. */
uint16_t cli_media_dataset_type(const cli_media *media);

/* Opens in->stream over in->media, and tells what is left out. */
ALD_NODISCARD ald_status cli_media_open(cli_input *in, ald_error *err);

#endif
