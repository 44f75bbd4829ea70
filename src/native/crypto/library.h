/* SPDX-License-Identifier: MIT */
/* Shared libraries that are opened when they are first needed. */
#ifndef NATIVE_CRYPTO_LIBRARY_H
#define NATIVE_CRYPTO_LIBRARY_H

/* By its name, or by the one it has on macOS. NULL: not installed. */
void *ald__library_open(const char *name, const char *name_on_macos);

/* Stores a function's address in the pointer at `slot`. 0: the library has no such function. */
int ald__library_bind(void *library, const char *function, void *slot);

#endif
