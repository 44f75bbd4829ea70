/* SPDX-License-Identifier: MIT */
/* libzip, opened when the first .npz is read: a program that reads none neither loads nor needs it. Where its header was not
 * there when this was compiled, or the library is not where this runs, reading says so. */
#ifndef INTERCHANGE_TENSORS_ZIP_LIBRARY_H
#define INTERCHANGE_TENSORS_ZIP_LIBRARY_H

#include "ald/error.h"

#if !defined(ALD_WITHOUT_ZIP) && defined(__has_include)
#if __has_include(<zip.h>)
#define ALD__HAVE_ZIP 1
#endif
#endif

#ifdef ALD__HAVE_ZIP
#include <zip.h>

/* X(name) */
#define ALD__ZIP_FUNCTIONS(X)                                                                      \
    X(zip_source_function_create)                                                                  \
    X(zip_source_free)                                                                             \
    X(zip_open_from_source)                                                                        \
    X(zip_discard)                                                                                 \
    X(zip_get_num_entries)                                                                         \
    X(zip_stat_index)                                                                              \
    X(zip_fopen_index)                                                                             \
    X(zip_fread)                                                                                   \
    X(zip_fclose)                                                                                  \
    X(zip_get_error)                                                                               \
    X(zip_file_get_error)                                                                          \
    X(zip_error_init)                                                                              \
    X(zip_error_fini)                                                                              \
    X(zip_error_set)                                                                               \
    X(zip_error_code_zip)                                                                          \
    X(zip_error_to_data)                                                                           \
    X(zip_source_seek_compute_offset)

typedef struct ald__zip_library {
#define ALD_X(name) __typeof__(&name) name;
    ALD__ZIP_FUNCTIONS(ALD_X)
#undef ALD_X
} ald__zip_library;

ALD_NODISCARD ald_status ald__zip_library_get(const ald__zip_library **out, ald_error *err);
#endif

#endif
