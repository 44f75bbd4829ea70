/* SPDX-License-Identifier: MIT */
/* A payload, from stored bytes to checked batches. */
#ifndef CORE_DATASET_WHOLE_H
#define CORE_DATASET_WHOLE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/crypto.h"
#include "core/arrow/array.h"
#include "core/arrow/ipc_read.h"
#include "core/base/shared.h"
#include "core/container/file.h"

/* The rules for IPC messages inside .ald. */
extern const ald__ipc_rules ald__payload_rules;

/* Batches as they come out of a payload. */
typedef struct ald__batch_list {
    const ald_allocator *alloc;
    ald__array_holder **holders;
    size_t count, cap;
} ald__batch_list;

ALD_NODISCARD ald_status ald__batch_list_add(ald__batch_list *list, struct ArrowArray *batch,
                                             ald_error *err);
void ald__batch_list_clear(ald__batch_list *list);

/* The schema section: one schema message and the end marker, nothing else. `file` holds all bytes. */
ALD_NODISCARD ald_status ald__schema_section_read(const ald__file *file, const uint8_t *section,
                                                  ald__ipc_schema **out, ald_error *err);

/* Decompresses the whole payload into memory at a 64-byte boundary (or references `stored` where it can stay), all sizes
 * and pieces checked: without STREAMING one run of frames; with it prologue, chunks and epilogue, each by itself. The
 * payload begins in `stored` at `at`, opened (ald__payload_open). Packed chunks need the schema, others not. */
ALD_NODISCARD ald_status ald__payload_decode(const ald__file *file, const ald__ipc_schema *schema,
                                             const ald_host *host, ald__shared *stored, size_t at,
                                             ald__shared **out, ald_error *err);

/* Parses and validates the decompressed payload: schema equal to the section's, dictionaries, batches, end marker, rows;
 * with STREAMING the prologue against the schema section's bytes, each chunk against its entry (`stored`: the payload as
 * above); with TRUENO_NATIVE the array index against the batches. Both work on several chunks at once where the host has
 * threads. */
ALD_NODISCARD ald_status ald__payload_parse(const ald__file *file, const ald__ipc_schema *schema,
                                            const ald_host *host, const uint8_t *section,
                                            const uint8_t *stored, ald__shared *payload,
                                            ald__batch_list *out, ald_error *err);

/* The metadata's sha256, where there is one (`wanted`): over the decompressed payload, piece by piece or at once. end must
 * follow a begin that wanted it; it passes a `status` that is not ALD_OK on. */
typedef struct ald__sha256_check {
    const ald__file *file;
    const ald_host *host;
    void *state;
    int wanted;
} ald__sha256_check;

ALD_NODISCARD ald_status ald__sha256_check_begin(ald__sha256_check *check, const ald__file *file,
                                                 const ald_host *host, ald_error *err);
void ald__sha256_check_update(ald__sha256_check *check, const void *data, size_t size);
ALD_NODISCARD ald_status ald__sha256_check_end(ald__sha256_check *check, ald_status status,
                                               ald_error *err);
ALD_NODISCARD ald_status ald__check_sha256(const ald__file *file, const ald__shared *payload,
                                           const ald_host *host, ald_error *err);

/* What a file says of itself, pointing into `file` and `schema`. */
void ald__info_fill(const ald__file *file, const struct ArrowSchema *schema, ald_info *out);

#endif
