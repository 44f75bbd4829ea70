/* SPDX-License-Identifier: MIT */
/* What values a file has at each place (`$.a[].b`): kinds, where each was first met, numbers, fields in order. */
#ifndef INTERCHANGE_JSONL_JSON_PLACE_H
#define INTERCHANGE_JSONL_JSON_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/error.h"
#include "interchange/jsonl/json_blocks.h"
#include "interchange/text/classify.h"

typedef enum ald__json_kind {
    ALD__JSON_BOOL,
    ALD__JSON_NUMBER,
    ALD__JSON_STRING,
    ALD__JSON_LIST,
    ALD__JSON_OBJECT,
    ALD__JSON_KINDS
} ald__json_kind;

/* Fields of all places together. */
#define ALD__JSON_MAX_FIELDS ((size_t)1 << 20)

typedef struct ald__place ald__place;
struct ald__place {
    const ald__place *parent; /* NULL: the record itself */
    const char *name;         /* NULL: the items of the parent */
    uint32_t name_size;
    uint32_t hash;
    uint64_t first[ALD__JSON_KINDS]; /* record offset where a kind first stood, or ALD__NEVER */
    ald__profile *numbers;           /* NULL: none */
    ald__place *item;
    ald__place **fields;
    uint32_t *slots; /* 1 + index of a field, by hash; NULL while there are few */
    uint32_t field_count, field_capacity, slot_count;
    uint32_t
        declared; /* 1 + index among the declared columns; what is below is then not looked at */
    uint32_t settled; /* bit for each yyjson type whose next value tells nothing new */
    uint64_t stamp;   /* the last object that had this field */
};

typedef struct ald__place_tree {
    ald__json_blocks blocks;
    size_t field_count;
    uint64_t seed; /* of the hash */
    ald__place *root;
} ald__place_tree;

ALD_NODISCARD ald_status ald__place_tree_init(ald__place_tree *tree, const ald_allocator *alloc,
                                              uint64_t seed, ald_error *err);
void ald__place_tree_clear(ald__place_tree *tree);
/* Empty again. */
ALD_NODISCARD ald_status ald__place_tree_reset(ald__place_tree *tree, ald_error *err);

uint32_t ald__json_hash(const char *data, size_t size, uint64_t seed);
/* The index of a field; field_count: none. */
uint32_t ald__place_find(const ald__place_tree *tree, const ald__place *place, const char *name,
                         size_t size);
/* Adds a field that is not there; the name is copied. */
ALD_NODISCARD ald_status ald__place_add(ald__place_tree *tree, ald__place *place, const char *name,
                                        size_t size, ald__place **out, ald_error *err);
/* The place of a list's items, made if need be. */
ALD_NODISCARD ald_status ald__place_item(ald__place_tree *tree, ald__place *place, ald__place **out,
                                         ald_error *err);
ALD_NODISCARD ald_status ald__place_numbers(ald__place_tree *tree, ald__place *place,
                                            ald_error *err);

/* Adds all that `from` knows; its fields come behind those that are there. Below a place of several kinds nothing more
 * is learned when `stop_at_clash` is set. */
ALD_NODISCARD ald_status ald__place_merge(ald__place_tree *into, const ald__place_tree *from,
                                          int stop_at_clash, ald_error *err);

/* Kinds that the place has, null not counted. */
int ald__place_kind_count(const ald__place *place);
/* Where the second kind of the place itself first stood (ALD__NEVER: it has one kind), and which it is. */
void ald__place_second_kind(const ald__place *place, uint64_t *where, ald__json_kind *kind);
/* The first place where a second kind came: the one whose second kind stands first in the input, ties by order of
 * fields. NULL: there is none. *where and *kind tell of the second kind. */
const ald__place *ald__place_clash(const ald__place *place, uint64_t *where, ald__json_kind *kind);

const char *ald__json_kind_name(ald__json_kind kind);

#endif
