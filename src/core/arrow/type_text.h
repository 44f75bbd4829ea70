/* SPDX-License-Identifier: MIT */
/* The words for types, shared by what prints and what reads them. */
#ifndef CORE_ARROW_TYPE_TEXT_H
#define CORE_ARROW_TYPE_TEXT_H

#include <stddef.h>

#include "ald/arrow.h"

/* How a type is written behind its word. */
typedef enum ald__type_syntax {
    ALD__SYNTAX_PLAIN,      /* int64 */
    ALD__SYNTAX_UNIT,       /* timestamp[us, tz=UTC], time32[s], duration[ms] */
    ALD__SYNTAX_WIDTH,      /* fixed_size_binary[5] */
    ALD__SYNTAX_DECIMAL,    /* decimal128(38, 10) */
    ALD__SYNTAX_LIST,       /* list<item: T> */
    ALD__SYNTAX_FIXED_LIST, /* fixed_size_list<item: T>[3] */
    ALD__SYNTAX_STRUCT,     /* struct<a: T, b: T> */
    ALD__SYNTAX_MAP,        /* map<K, V> */
    ALD__SYNTAX_UNION,      /* dense_union<a: T=0, b: T=1> */
    ALD__SYNTAX_RUN_END,    /* run_end_encoded<run_ends: int32, values: T> */
    ALD__SYNTAX_DICTIONARY  /* dictionary<values=T, indices=T, ordered=0> */
} ald__type_syntax;

typedef struct ald__type_word {
    const char *word;
    const char *format; /* of the C data interface, or its start */
    unsigned char syntax;
    unsigned char alias; /* is read, not printed */
} ald__type_word;

extern const ald__type_word ald__type_words[];
extern const size_t ald__type_word_count;

/* The type as ald_type_format prints it, cut to fit and NUL-terminated: for messages, where no allocator is at hand.
 * "?" when the schema is broken. */
void ald__type_print(const struct ArrowSchema *field, char *out, size_t cap);

#endif
