/* SPDX-License-Identifier: MIT */
/* Trials run on the host's threads, each slot's encoder taking every n-th column. */
#include "core/dataset/chunk_tunings.h"

#include "ald/writer.h"
#include "core/base/buf.h"

#define FIRST_TRIED                                                                                \
    2u /* chunk, so that tables of one chunk are spared; unless the effort is best */

ald_status ald__chunk_tunings_init(ald__chunk_tunings *tunings, const ald_host *host,
                                   const ald__chunk_slot *slot, size_t columns, uint8_t effort,
                                   ald_error *err)
{
    *tunings = (ald__chunk_tunings){.host = host, .bytes = columns * sizeof(ald__tuning)};
    tunings->for_readers = effort == ALD_EFFORT_BEST;
    tunings->first = tunings->for_readers ? 1 : FIRST_TRIED;
    if (!ald__chunk_slot_tunable(slot) || effort == ALD_EFFORT_FAST)
        return ALD_OK;
    for (size_t i = 0; i < 2; i++) {
        tunings->groups[i] = ald__alloc_zero(&host->alloc, tunings->bytes, err);
        if (tunings->groups[i] == NULL)
            return ALD_E_NOMEM;
    }
    return ALD_OK;
}

void ald__chunk_tunings_clear(ald__chunk_tunings *tunings)
{
    for (size_t i = 0; i < 2 && tunings->host != NULL; i++)
        ald__release(&tunings->host->alloc, tunings->groups[i], tunings->bytes);
}

typedef struct trial {
    ald__chunk_slot *leader, *slots;
    ald__tuning *tunings;
    uint32_t tasks;
} trial;

static void run_trial(void *arg, uint32_t index)
{
    const trial *t = arg;
    ald__chunk_slot *worker = &t->slots[index];
    worker->status =
        ald__chunk_slot_try(t->leader, worker, index, t->tasks, t->tunings, &worker->error);
}

static ald_status try_columns(const ald_host *host, trial *t, ald_error *err)
{
    ALD_TRY(ald__chunk_slot_prepare(t->leader, err));
    if (t->tasks > 1)
        host->run_tasks(host->ctx, t->tasks, run_trial, t);
    else
        run_trial(t, 0);
    for (uint32_t i = 0; i < t->tasks; i++) {
        if (t->slots[i].status != ALD_OK) {
            if (err != NULL)
                *err = t->slots[i].error;
            return t->slots[i].status;
        }
    }
    return ALD_OK;
}

ald_status ald__chunk_tunings_set(ald__chunk_tunings *tunings, ald__chunk_slot *slots,
                                  uint32_t count, uint32_t filled, ald_error *err)
{
    for (uint32_t i = 0; i < filled && tunings->groups[0] != NULL; i++) {
        ald__chunk_slot *slot = &slots[i];
        uint64_t number = slot->k - tunings->first; /* within all groups */
        ald__tuning *group = tunings->groups[number / ALD__TUNED_GROUP % 2];
        trial t = {slot, slots, group, count};
        slot->tunings = slot->k < tunings->first ? NULL : group;
        if (slot->k < tunings->first || number % ALD__TUNED_GROUP != 0)
            continue;
        for (size_t k = 0; k < tunings->bytes / sizeof *group; k++)
            group[k] = (ald__tuning){.for_readers = tunings->for_readers};
        ALD_TRY(try_columns(tunings->host, &t, err));
    }
    return ALD_OK;
}
