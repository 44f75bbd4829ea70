/* SPDX-License-Identifier: MIT */
/* A card as a file for others. */
#ifndef CLI_CARD_EXPORT_H
#define CLI_CARD_EXPORT_H

#include "cli/input.h"

typedef struct card_export_options {
    const char *path; /* --export */
    const char *url;  /* --url */
    uint8_t kind;     /* --as: 1 + a card_kind; 0: by the name of the file */
    uint8_t force;
} card_export_options;

extern const char *const card_export_kinds[];

/* Writes it. `in` is open, `info` is what it says; its rows are read for a datasheet, where that can be. */
ALD_NODISCARD ald_status cli_card_export(cli_env *env, const card_export_options *options,
                                         cli_input *in, const ald_info *info,
                                         const read_options *read, ald_error *err);

#endif
