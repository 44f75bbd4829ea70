/* SPDX-License-Identifier: MIT */
/* yyjson's allocator over the host's, and what both sides of JSON text need. */
#ifndef INTERCHANGE_TEXT_JSON_ALC_H
#define INTERCHANGE_TEXT_JSON_ALC_H

#include <yyjson.h>

#include "ald/alloc.h"

/* `alloc` is borrowed and must outlive all that is allocated. */
yyjson_alc ald__json_alc(const ald_allocator *alloc);

#endif
