/* SPDX-License-Identifier: MIT */
/* Load options as all of the reader sees them: whole, whatever size the caller's struct has. */
#ifndef CORE_DATASET_SETTINGS_H
#define CORE_DATASET_SETTINGS_H

#include "ald/reader.h"
#include "core/container/file.h"

/* load.trust points to `trust`, always. Everything else is borrowed from the caller. */
typedef struct ald__settings {
    ald_load_options load;
    ald_trust trust;
} ald__settings;

/* `given` NULL: the defaults. ALD_E_INVALID_ARG for sizes that no version had, and for counts without their bytes. */
ALD_NODISCARD ald_status ald__settings_take(ald__settings *out, const ald_load_options *given,
                                            ald_error *err);
/* ald__file_open, with the private keys that decide about a recipient block's length. */
ALD_NODISCARD ald_status ald__settings_open(const ald__settings *settings, const ald_source *source,
                                            ald__file_checks checks, const ald_host *host,
                                            ald__file *file, ald_error *err);

#endif
