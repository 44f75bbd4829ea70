/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "native/crypto/library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *ald__library_open(const char *name, const char *name_on_macos)
{
#ifdef __APPLE__
    (void)name;
    return dlopen(name_on_macos, RTLD_LAZY | RTLD_LOCAL);
#else
    (void)name_on_macos;
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
#endif
}

/* A function pointer from dlsym without a cast that ISO C forbids. */
int ald__library_bind(void *library, const char *function, void *slot)
{
    void *symbol = dlsym(library, function);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}
