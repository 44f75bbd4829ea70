/* SPDX-License-Identifier: MIT */
#include "interchange/tensors/zip_library.h"

#ifdef ALD__HAVE_ZIP

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static ald__zip_library zip_functions;
static int zip_is_bound;
static pthread_mutex_t zip_lock = PTHREAD_MUTEX_INITIALIZER;

/* Without a cast from object to function pointer, which ISO C forbids. */
static int bind_zip_function(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int bind_zip_functions(void *library)
{
#define ALD_X(name) bind_zip_function(library, #name, &zip_functions.name) &&
    return ALD__ZIP_FUNCTIONS(ALD_X) 1;
#undef ALD_X
}

static int bind_zip(void)
{
    /* What is called here is the same in both. */
    static const char *const names[] = {"libzip.so.4", "libzip.so.5", "libzip.5.dylib"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL && bind_zip_functions(library))
            return 1;
    }
    return 0;
}

ald_status ald__zip_library_get(const ald__zip_library **out, ald_error *err)
{
    ald_status status = ALD_OK;
    (void)pthread_mutex_lock(&zip_lock);
    zip_is_bound = zip_is_bound || bind_zip();
    if (!zip_is_bound)
        status = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                               ".npz needs libzip, which is not installed\n"
                               "on Debian: apt-get install libzip4");
    *out = status == ALD_OK ? &zip_functions : NULL;
    (void)pthread_mutex_unlock(&zip_lock);
    return status;
}

#endif
