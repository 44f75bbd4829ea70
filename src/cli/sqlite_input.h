/* SPDX-License-Identifier: MIT */
/* SQLite databases as input: by name, or as sqlite:PATH?table=NAME and sqlite:PATH?query=SQL. */
#ifndef CLI_SQLITE_INPUT_H
#define CLI_SQLITE_INPUT_H

#include "cli/input.h"

/* Takes such an address apart, into *in; *path becomes the file's. Other paths stay as they are. */
ALD_NODISCARD ald_status cli_sqlite_address(cli_input *in, const char **path, ald_error *err);

/* Opens in->stream. `read` may be NULL. */
ALD_NODISCARD ald_status cli_sqlite_open(cli_input *in, const read_options *read, ald_error *err);

void cli_sqlite_close(cli_input *in);

#endif
