/* SPDX-License-Identifier: MIT */
/* Included before every file by tools/tidy only. clang's analyzer looks at one file at a time: it would follow paths on
 * which ald_error_set, called with an error, returns ALD_OK, and find nothing but ghosts there. */
#ifndef TIDY_MODELS_H
#define TIDY_MODELS_H

/* The files that ask for it do so before their first include; this one comes before that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ald/error.h"

#define ald_error_set(err, status, ...) ((void)ald_error_set(err, status, __VA_ARGS__), (status))

#endif
