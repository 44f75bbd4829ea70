/* SPDX-License-Identifier: MIT */
/* Memory for secrets: not swapped, not in core dumps, wiped when freed. */
#ifndef NATIVE_KEYS_SECRET_PAGES_H
#define NATIVE_KEYS_SECRET_PAGES_H

#include <stddef.h>

/* Zeros, or NULL. The system may refuse to lock memory (ulimit -l): the pages then are as any others. */
void *ald__secret_pages_new(size_t size);
void ald__secret_pages_free(void *pages, size_t size); /* NULL: nothing */

#endif
