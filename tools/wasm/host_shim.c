/* SPDX-License-Identifier: MIT */
/* Stands between third-party objects and wasi-libc's heap in the linked module (-Wl,--wrap=malloc and so on), so that a
 * test can make the n-th allocation fail there as it can in our own code, where the caller's allocator decides. */
#include <stddef.h>
#include <stdint.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

/* How many more allocations succeed; negative: all of them. */
static int64_t allocations_left = -1;

__attribute__((export_name("ald_wasm_fail_after"))) void ald_wasm_fail_after(int64_t count)
{
    allocations_left = count;
}

static int refused(void)
{
    if (allocations_left < 0) {
        return 0;
    }
    if (allocations_left == 0) {
        return 1;
    }
    allocations_left--;
    return 0;
}

void *__wrap_malloc(size_t size)
{
    return refused() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refused() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *ptr, size_t size)
{
    return refused() ? NULL : __real_realloc(ptr, size);
}

void __wrap_free(void *ptr)
{
    __real_free(ptr);
}
