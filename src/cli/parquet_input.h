/* SPDX-License-Identifier: MIT */
/* Parquet files as input. */
#ifndef CLI_PARQUET_INPUT_H
#define CLI_PARQUET_INPUT_H

#include "cli/input.h"

/* Opens in->stream. Of in->columns only the bytes of these are read, if each names one column; whoever chooses among the
 * columns says what is wrong with the others. */
ALD_NODISCARD ald_status cli_parquet_open(cli_input *in, ald_error *err);

#endif
