/* SPDX-License-Identifier: MIT */
/* .npy, .npz and safetensors as input. */
#ifndef CLI_TENSOR_INPUT_H
#define CLI_TENSOR_INPUT_H

#include "cli/input.h"

/* Opens in->stream. `read` may be NULL. */
ALD_NODISCARD ald_status cli_tensors_open(cli_input *in, const read_options *read, ald_error *err);

#endif
