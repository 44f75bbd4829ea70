/* SPDX-License-Identifier: MIT */
/* The header of a .npy: a magic, a version, and a dictionary in Python's notation. */
#ifndef INTERCHANGE_TENSORS_NPY_HEADER_H
#define INTERCHANGE_TENSORS_NPY_HEADER_H

#include "interchange/tensors/tensor_set.h"

#define ALD__NPY_PREFIX_BYTES 12u /* magic, version, and the longer of both forms of the size */

/* The bytes of the header behind the prefix's, from the first bytes of a file: in all *start bytes, of which the text is the
 * last *size. `given` are how many of ALD__NPY_PREFIX_BYTES there are. */
ALD_NODISCARD ald_status ald__npy_prefix(const uint8_t *prefix, size_t given, size_t *start,
                                         size_t *size, int *is_utf8, ald_error *err);

/* Fills type, order and dimensions from the header's text. */
ALD_NODISCARD ald_status ald__npy_header(ald__tensor_memory *memory, const char *text, size_t size,
                                         int is_utf8, ald__tensor *out, ald_error *err);

/* A type as "<f4" or "|S5" names it: `text` is quoted in messages. The name is left as it is. */
ALD_NODISCARD ald_status ald__npy_type(ald__tensor_memory *memory, const char *text, size_t size,
                                       ald__tensor_node *node, ald_error *err);

#endif
