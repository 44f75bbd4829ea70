/* SPDX-License-Identifier: MIT */
/* Many like items on the host's threads, with the outcome that one thread would have. */
#ifndef CORE_DATASET_ITEMS_H
#define CORE_DATASET_ITEMS_H

#include "ald/io.h"

/* `worker` is below ald__items_workers; no two items have the same at the same time. */
typedef ald_status (*ald__item)(void *ctx, uint32_t worker, uint64_t index, ald_error *err);

/* How many items of `count` are run at once: 1 at least. */
uint32_t ald__items_workers(const ald_host *host, uint64_t count);

/* Calls the item with index 0 … count - 1, several at once where the host has threads; they must not touch each other's
 * results. The failure reported is that of the lowest index; items behind it may have run or not, all before it have. */
ALD_NODISCARD ald_status ald__items_run(const ald_host *host, uint64_t count, ald__item item,
                                        void *ctx, ald_error *err);

#endif
