/* SPDX-License-Identifier: MIT */
/* Paths are written from the inside out, as the walk over a value returns. A long one loses its beginning. */
#include "interchange/jsonl/json_fault.h"

#include <string.h>

void ald__json_fault_clear(ald__json_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    fault->error.offset = ALD_NO_OFFSET;
    fault->record = fault->byte = ALD_NO_OFFSET;
}

/* The path ends at the array's last byte but one while it grows to the left. */
static size_t path_start(const ald__json_fault *fault)
{
    size_t i = sizeof fault->path - 1;
    while (i > 0 && fault->path[i - 1])
        i--;
    return i;
}

static void put_before(ald__json_fault *fault, const char *text, size_t size)
{
    size_t start = path_start(fault);
    if (size + 3 > start) { /* no more room: dots, and no more steps */
        memset(fault->path, '.', start);
        return;
    }
    memcpy(fault->path + start - size, text, size);
}

void ald__json_fault_step(ald__json_fault *fault, const char *name, size_t size)
{
    ald_error escaped;
    if (!name) {
        put_before(fault, "[]", 2);
        return;
    }
    /* Escaped here, where bytes and characters are still the key's own. */
    (void)ald_error_set(&escaped, ALD_E_OK, 0, ".%.*s", size < 40 ? (int)size : 40, name);
    put_before(fault, escaped.msg, strlen(escaped.msg));
}

void ald__json_fault_place(ald__json_fault *fault, const ald__place *place)
{
    for (; place->parent; place = place->parent)
        ald__json_fault_step(fault, place->name, place->name_size);
}
