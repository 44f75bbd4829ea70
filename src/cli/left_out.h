/* SPDX-License-Identifier: MIT */
/* Columns that a search for marks cannot look at, and why: a table whose numbers were read as text must not pass for a clean
 * one. */
#ifndef CLI_LEFT_OUT_H
#define CLI_LEFT_OUT_H

#include "ald/arrow.h"
#include "cli/cli.h"
#include "cli/json_print.h"

typedef struct left_out_column {
    char *name;
    const char *why;         /* of its type; static */
    size_t at;               /* top-level column */
    uint32_t seen;           /* texts that were looked at */
    uint32_t points, commas; /* of them, numbers as they are; with decimal commas */
} left_out_column;

/* Zeroed, it may be cleared. */
typedef struct left_out {
    left_out_column *items;
    size_t count;
    size_t number_count; /* top-level columns that have numbers */
} left_out;

/* Replaces `stream` by one that notes what its texts are like while it is read; `list` must outlive it. On failure the stream
 * is as it was. */
ALD_NODISCARD ald_status left_out_watch(left_out *list, const ald_host *host,
                                        struct ArrowArrayStream *stream, ald_error *err);
void left_out_clear(left_out *list);

/* Behind the stream's end: notes for people, a list "not_looked_at" for JSON. */
void left_out_note(const left_out *list, const cli_env *env);
void left_out_json(const left_out *list, json_print *j);
/* Whether texts look like numbers. */
int left_out_has_numbers(const left_out *list);

#endif
