/* SPDX-License-Identifier: MIT */
#include "interchange/sqlite/sqlite_library.h"

#ifdef ALD__HAVE_SQLITE

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static ald__sqlite_library sqlite_functions;
static int sqlite_is_bound;
static pthread_mutex_t sqlite_lock = PTHREAD_MUTEX_INITIALIZER;

/* Without a cast from object to function pointer, which ISO C forbids. */
static int bind_sqlite_function(void *library, const char *name, void *slot)
{
    void *symbol = dlsym(library, name);
    memcpy(slot, &symbol, sizeof symbol);
    return symbol != NULL;
}

static int bind_sqlite_functions(void *library)
{
#define ALD_X(name) bind_sqlite_function(library, #name, &sqlite_functions.name) &&
    return ALD__SQLITE_FUNCTIONS(ALD_X) 1;
#undef ALD_X
}

static int bind_sqlite(void)
{
    static const char *const names[] = {"libsqlite3.so.0", "libsqlite3.dylib"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library != NULL && bind_sqlite_functions(library))
            return 1;
    }
    return 0;
}

ald_status ald__sqlite_library_get(const ald__sqlite_library **out, ald_error *err)
{
    ald_status status = ALD_OK;
    (void)pthread_mutex_lock(&sqlite_lock);
    sqlite_is_bound = sqlite_is_bound || bind_sqlite();
    if (!sqlite_is_bound)
        status = ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                               "databases need SQLite 3.31 or later, which is not installed\n"
                               "on Debian: apt-get install libsqlite3-0");
    *out = status == ALD_OK ? &sqlite_functions : NULL;
    (void)pthread_mutex_unlock(&sqlite_lock);
    return status;
}

#endif
