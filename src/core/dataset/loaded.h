/* SPDX-License-Identifier: MIT */
/* The inside of an ald_dataset. */
#ifndef CORE_DATASET_LOADED_H
#define CORE_DATASET_LOADED_H

#include "core/dataset/whole.h"

struct ald_dataset {
    ald_host host;
    ald__file file;
    ald__ipc_schema *schema;
    ald__batch_list batches;
    ald_info info;
};

#endif
