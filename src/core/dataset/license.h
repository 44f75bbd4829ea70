/* SPDX-License-Identifier: MIT */
/* License blocks, for writers. */
#ifndef CORE_DATASET_LICENSE_H
#define CORE_DATASET_LICENSE_H

#include "ald/io.h"
#include "ald/license.h"

/* Appends the block: 75 bytes and the terms. ALD_E_INVALID_ARG for flags or terms that no reader accepts. */
ALD_NODISCARD ald_status ald__license_encode(const ald_license *license, ald_buffer *out,
                                             ald_error *err);

#endif
