/* SPDX-License-Identifier: MIT */
/* One parsed record into a tree of places. */
#ifndef INTERCHANGE_JSONL_JSON_INFER_H
#define INTERCHANGE_JSONL_JSON_INFER_H

#include <stdint.h>
#include <yyjson.h>

#include "ald/arrow.h"
#include "interchange/jsonl/json_fault.h"
#include "interchange/jsonl/json_place.h"

typedef struct ald__infer {
    ald__place_tree *tree;
    const struct ArrowSchema *types; /* declared columns, or NULL */
    uint64_t serial;                 /* of objects; never reset */
    uint64_t where;                  /* offset of the record */
    ald__json_fault *fault;
    int keeps_doubles; /* long numbers become doubles in the record: for who builds doubles of it anyway */
} ald__infer;

/* `record` was parsed with numbers as raw text. On failure *fault tells all but the record's offset. */
ALD_NODISCARD ald_status ald__infer_record(ald__infer *infer, yyjson_val *record);
/* Bytes of the strings in a record that inference took; keys are not counted. */
uint64_t ald__infer_text_bytes(yyjson_val *record);

/* The steps of it, for who walks the record and sees that no key comes twice: an object begins; the field of one of its
 * keys, which may be new; what the value is. `depth` is that of what holds the value, 1 for the record. */
void ald__infer_object(const ald__infer *infer, ald__place *place);
ALD_NODISCARD ald_status ald__infer_field(ald__infer *infer, ald__place *place, yyjson_val *key,
                                          ald__place **out);
ALD_NODISCARD ald_status ald__infer_value(ald__infer *infer, ald__place *field, yyjson_val *value,
                                          unsigned depth);

#endif
