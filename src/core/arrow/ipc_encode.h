/* SPDX-License-Identifier: MIT */
/* Arrays into plans: buffers cut to the rows, moved to offset 0, and zeroed where there is no value.
 *
 * What is zeroed: a slot that is null itself, or lies under a null of a struct or fixed-size list above it. Such a slot of a
 * list or text has length 0, and the rows or bytes that it pointed at are dropped. Left as they are: union type ids (0
 * need not be one), run ends, and rows that a list view's or dense union's neighbours use. */
#ifndef CORE_ARROW_IPC_ENCODE_H
#define CORE_ARROW_IPC_ENCODE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/arrow.h"
#include "ald/error.h"
#include "core/arrow/ipc_plan.h"
#include "core/arrow/ipc_tree.h"

/* Rows of an array, counted without its own offset. */
typedef struct ald__ipc_range {
    int64_t start, length;
} ald__ipc_range;

/* The rows to write, in order. `live` (or NULL: all) has a zero bit where a parent is null; slot i is under bit
 * i / live_repeat, so that a mask costs nothing for each row of a huge fixed-size list. */
typedef struct ald__ipc_rows {
    const ald__ipc_range *ranges;
    size_t count;
    int64_t total;
    const uint8_t *live;
    int64_t live_repeat;
} ald__ipc_rows;

/* New indices for those of a dictionary; `map` NULL: unchanged. */
typedef struct ald__ipc_remap {
    const uint32_t *map;
    size_t count;
} ald__ipc_remap;

typedef struct ald__ipc_encoder {
    const ald__ipc_tree *tree;
    ald__ipc_plan *plan;
    const ald__ipc_remap *remaps; /* one for each dictionary */
    ald_error *err;
    uint32_t values_node; /* whose values buffer is asked for */
    size_t values_piece;  /* its number; SIZE_MAX: has none */
} ald__ipc_encoder;

/* Fails with ALD_E_INVALID_ARG when the array has not the form of its node. */
ALD_NODISCARD ald_status ald__ipc_check_form(const ald__ipc_node *node,
                                             const struct ArrowArray *array, ald_error *err);
/* Appends a node with its children to the plan. */
ALD_NODISCARD ald_status ald__ipc_encode(ald__ipc_encoder *enc, uint32_t node,
                                         const struct ArrowArray *array, const ald__ipc_rows *rows);

/* What the kinds of layout share. */
ALD_NODISCARD ald_status ald__ipc_bad_array(const ald__ipc_node *node, const char *what,
                                            ald_error *err);
/* A zero bit for each slot without a value, from the node's own validity (or NULL) and the parents'; NULL: none. */
ALD_NODISCARD ald_status ald__ipc_slot_mask(ald__ipc_encoder *enc, const ald__ipc_rows *rows,
                                            const uint8_t *validity, const uint8_t **out);
/* The same for children of which each slot has `repeat`; nothing is allocated but for a validity. */
ALD_NODISCARD ald_status ald__ipc_child_mask(ald__ipc_encoder *enc, const ald__ipc_rows *rows,
                                             const uint8_t *validity, int64_t repeat,
                                             ald__ipc_rows *child);
/* The ranges moved by the array's offset, times `factor`, as rows of a child. */
ALD_NODISCARD ald_status ald__ipc_child_rows(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                             const struct ArrowArray *array,
                                             const ald__ipc_rows *rows, int64_t factor,
                                             ald__ipc_rows *child);
/* Bytes for `count` items of `width`, until the plan is reset; *out is never NULL. */
ALD_NODISCARD ald_status ald__ipc_scratch(ald__ipc_encoder *enc, uint64_t count, size_t width,
                                          int zero, void *out);
/* The rows' values of `width` bytes in one place: where they are (*copy stays NULL), or copied there. */
ALD_NODISCARD ald_status ald__ipc_gather(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                         const void *values, int64_t offset,
                                         const ald__ipc_rows *rows, size_t width, uint8_t **copy,
                                         const uint8_t **out);

/* Layouts; validity and field node are in the plan already. */
ALD_NODISCARD ald_status ald__ipc_encode_text(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                              const struct ArrowArray *array,
                                              const ald__ipc_rows *rows, const uint8_t *mask);
ALD_NODISCARD ald_status ald__ipc_encode_list(ald__ipc_encoder *enc, uint32_t index,
                                              const struct ArrowArray *array,
                                              const ald__ipc_rows *rows, const uint8_t *mask);
ALD_NODISCARD ald_status ald__ipc_encode_views(ald__ipc_encoder *enc, const ald__ipc_node *node,
                                               const struct ArrowArray *array,
                                               const ald__ipc_rows *rows, const uint8_t *mask);
ALD_NODISCARD ald_status ald__ipc_encode_list_view(ald__ipc_encoder *enc, uint32_t index,
                                                   const struct ArrowArray *array,
                                                   const ald__ipc_rows *rows, const uint8_t *mask);
ALD_NODISCARD ald_status ald__ipc_encode_union(ald__ipc_encoder *enc, uint32_t index,
                                               const struct ArrowArray *array,
                                               const ald__ipc_rows *rows);
ALD_NODISCARD ald_status ald__ipc_encode_run_end(ald__ipc_encoder *enc, uint32_t index,
                                                 const struct ArrowArray *array,
                                                 const ald__ipc_rows *rows);

#endif
