/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "native/keys/secret_pages.h"

#include <string.h>
#include <sys/mman.h>

void *ald__secret_pages_new(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    (void)mlock(pages, size);
#ifdef MADV_DONTDUMP
    (void)madvise(pages, size, MADV_DONTDUMP);
#endif
#ifdef MADV_WIPEONFORK
    (void)madvise(pages, size, MADV_WIPEONFORK);
#endif
    return pages;
}

void ald__secret_pages_free(void *pages, size_t size)
{
    if (pages == NULL)
        return;
    explicit_bzero(pages, size);
    (void)munmap(pages, size); /* unlocks, too */
}
