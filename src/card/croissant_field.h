/* SPDX-License-Identifier: MIT */
/* Columns as Croissant fields. */
#ifndef CARD_CROISSANT_FIELD_H
#define CARD_CROISSANT_FIELD_H

#include <yyjson.h>

#include "card/croissant.h"

/* An array of fields, or NULL with err set. */
yyjson_mut_val *card_croissant_fields(yyjson_mut_doc *doc, const card_file *file, ald_error *err);

#endif
