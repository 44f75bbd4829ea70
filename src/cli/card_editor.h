/* SPDX-License-Identifier: MIT */
/* A text in the editor of whoever runs this. */
#ifndef CLI_CARD_EDITOR_H
#define CLI_CARD_EDITOR_H

#include "ald/io.h"
#include "cli/cli.h"

/* A temporary file, which nobody else can read. */
typedef struct card_editor {
    cli_env *env;
    char folder[3584];
    char path[4096 - 256];
} card_editor;

/* Writes `text` into a file named README.md, and runs $VISUAL, $EDITOR or vi on it. `text` is then what the file says.
 * card_editor_close in any case. */
ALD_NODISCARD ald_status card_editor_run(cli_env *env, card_editor *editor, ald_buffer *text,
                                         ald_error *err);
/* Removes the file; with `keep` it stays, and a note says where. */
void card_editor_close(card_editor *editor, int keep);

#endif
