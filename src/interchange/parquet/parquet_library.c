/* SPDX-License-Identifier: MIT */
/* Where libald_parquet.so is: beside the program or library that this code is part of (as it is built), in the folder
 * `alimentar` of the library folder (as it is installed), else wherever the system's loader looks. */
#define _GNU_SOURCE
#include "interchange/parquet/parquet_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __APPLE__
#define MODULE_NAME "libald_parquet.dylib"
#else
#define MODULE_NAME "libald_parquet.so"
#endif

/* The library folder as seen from the folder of programs; the build says where it is (cmake/Parquet.cmake). */
#ifndef ALD_LIBRARY_FROM_PROGRAM
#define ALD_LIBRARY_FROM_PROGRAM "../lib"
#endif

static ald__parquet_library functions;
static int is_bound;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The folder of what this code is part of, ending with a slash; the caller frees it. For the main program the loader only
 * knows argv[0]. */
static char *own_folder(void)
{
    Dl_info info;
    static const char anchor;
    char *path, *slash;
    if (dladdr(&anchor, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    path = realpath(strchr(info.dli_fname, '/') != NULL ? info.dli_fname : "/proc/self/exe", NULL);
    slash = path != NULL ? strrchr(path, '/') : NULL;
    if (slash != NULL)
        slash[1] = '\0';
    return path;
}

static void *open_in(const char *folder, const char *below)
{
    size_t room = strlen(folder) + strlen(below) + sizeof MODULE_NAME;
    char *path = malloc(room);
    void *module = NULL;
    if (path != NULL) {
        (void)snprintf(path, room, "%s%s%s", folder, below, MODULE_NAME);
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    free(path);
    return module;
}

static void *open_module(void)
{
    static const char *const places[] = {"", "alimentar/", ALD_LIBRARY_FROM_PROGRAM "/alimentar/"};
    char *folder = own_folder();
    void *module = NULL;
    for (size_t i = 0; folder != NULL && module == NULL && i < sizeof places / sizeof places[0];
         i++)
        module = open_in(folder, places[i]);
    free(folder);
    return module != NULL ? module : dlopen(MODULE_NAME, RTLD_NOW | RTLD_LOCAL);
}

/* Without a cast from object to function pointer, which ISO C forbids. */
static int bind_function(void *module, const char *name, void *slot)
{
    void *symbol = dlsym(module, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

ald_status ald__parquet_library_get(const ald__parquet_library **out, ald_error *err)
{
    ald_status status = ALD_OK;
    (void)pthread_mutex_lock(&lock);
    if (!is_bound) {
        void *module = open_module();
        is_bound = module != NULL &&
                   bind_function(module, ALD_PARQUET_MODULE_OPEN, &functions.open) &&
                   bind_function(module, ALD_PARQUET_MODULE_WRITE, &functions.write);
    }
    if (!is_bound)
        status = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                               "Parquet needs the module %s, which is not installed\nbuild with "
                               "-DALD_PARQUET=ON (it gets Arrow's C++ library) and install again",
                               MODULE_NAME);
    *out = status == ALD_OK ? &functions : NULL;
    (void)pthread_mutex_unlock(&lock);
    return status;
}
