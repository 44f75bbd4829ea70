/* SPDX-License-Identifier: MIT */
/* Names and numbers of the .ald format, and text forms of Arrow types. */
#ifndef ALD_SCHEMA_H
#define ALD_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/error.h"
#include "ald/export.h"
#include "ald/io.h"

ALD_BEGIN_DECLS

/* X(constant, value in the header) */
#define ALD_DATASET_TYPE_LIST(X)                                                                   \
    X(TABULAR, 0x0001)                                                                             \
    X(TIME_SERIES, 0x0002)                                                                         \
    X(GRAPH, 0x0003)                                                                               \
    X(SPATIAL, 0x0004)                                                                             \
    X(TEXT_CORPUS, 0x0010)                                                                         \
    X(TEXT_CLASSIFICATION, 0x0011)                                                                 \
    X(TEXT_PAIRS, 0x0012)                                                                          \
    X(SEQUENCE_LABELING, 0x0013)                                                                   \
    X(QUESTION_ANSWERING, 0x0014)                                                                  \
    X(SUMMARIZATION, 0x0015)                                                                       \
    X(TRANSLATION, 0x0016)                                                                         \
    X(IMAGE_CLASSIFICATION, 0x0020)                                                                \
    X(OBJECT_DETECTION, 0x0021)                                                                    \
    X(SEGMENTATION, 0x0022)                                                                        \
    X(IMAGE_PAIRS, 0x0023)                                                                         \
    X(VIDEO, 0x0024)                                                                               \
    X(AUDIO_CLASSIFICATION, 0x0030)                                                                \
    X(SPEECH_RECOGNITION, 0x0031)                                                                  \
    X(SPEAKER_IDENTIFICATION, 0x0032)                                                              \
    X(USER_ITEM_RATINGS, 0x0040)                                                                   \
    X(IMPLICIT_FEEDBACK, 0x0041)                                                                   \
    X(SEQUENTIAL_RECS, 0x0042)                                                                     \
    X(IMAGE_TEXT, 0x0050)                                                                          \
    X(AUDIO_TEXT, 0x0051)                                                                          \
    X(VIDEO_TEXT, 0x0052)                                                                          \
    X(CUSTOM, 0x00FF)

typedef enum ald_dataset_type {
#define ALD_X(constant, value) ALD_DATASET_##constant = value,
    ALD_DATASET_TYPE_LIST(ALD_X)
#undef ALD_X
} ald_dataset_type;

/* "TABULAR" …, or NULL for a value that is none. Static storage. */
ALD_API const char *ald_dataset_type_name(uint16_t type);
/* The type of a name in any case, `-` and `_` alike; 0: no such name. */
ALD_API uint16_t ald_dataset_type_from_name(const char *name);

typedef enum ald_compression {
    ALD_COMPRESSION_NONE = 0,
    ALD_COMPRESSION_ZSTD_L3 = 1,
    ALD_COMPRESSION_ZSTD_L19 = 2,
    ALD_COMPRESSION_LZ4 = 3,
    ALD_COMPRESSION_PACKED = 4,    /* format 1.3 */
    ALD_COMPRESSION_PACKED_LZ4 = 5 /* format 1.3 */
} ald_compression;

/* "none", "zstd-l3", "zstd-l19", "lz4", "packed", "packed-lz4", or NULL. Static storage. */
ALD_API const char *ald_compression_name(uint8_t compression);
/* The id of such a name, or -1. */
ALD_API int ald_compression_from_name(const char *name);

#define ALD_FLAG_ENCRYPTED 0x01u
#define ALD_FLAG_SIGNED 0x02u
#define ALD_FLAG_STREAMING 0x04u
#define ALD_FLAG_LICENSED 0x08u
#define ALD_FLAG_TRUENO_NATIVE 0x10u

/* "ENCRYPTED" … for one flag bit, or NULL. Static storage. */
ALD_API const char *ald_flag_name(uint8_t bit);

/* Field metadata keys of column documentation. */
#define ALD_COLUMN_DOC_DESCRIPTION "ald.description"
#define ALD_COLUMN_DOC_DTYPE "ald.dtype"
#define ALD_COLUMN_DOC_VALUES "ald.values"
#define ALD_COLUMN_DOC_MISSING "ald.missing"

/* The type of a field as pyarrow prints it ("list<item: int64>", "timestamp[us, tz=UTC]"), appended to `out` without a
 * NUL. A nested field that is not nullable ends in " not null". */
ALD_API ALD_NODISCARD ald_status ald_type_format(const struct ArrowSchema *field, ald_buffer *out,
                                                 ald_error *err);

/* Makes *out a field of this name and of a type that ald_type_format prints (also utf8, float64, float32, float16,
 * int, date32, timestamp[us], list<T>, struct<a: T, b: T>, dictionary<values=T, indices=T, ordered=0>). The caller
 * releases it. */
ALD_API ALD_NODISCARD ald_status ald_type_parse(const ald_host *host, const char *text,
                                                size_t text_size, const char *name, int nullable,
                                                struct ArrowSchema *out, ald_error *err);

/* A deep copy, released independently. */
ALD_API ALD_NODISCARD ald_status ald_schema_copy(const ald_host *host,
                                                 const struct ArrowSchema *from,
                                                 struct ArrowSchema *out, ald_error *err);

/* ALD_OK when both schemas are equal: the same fields in order, recursively (names, types with all parameters,
 * nullability, dictionary index type and order) and, with `with_metadata`, the same metadata as a multiset of pairs.
 * Otherwise ALD_E_SCHEMA_MISMATCH with the first difference, written "expected …, found …". */
ALD_API ALD_NODISCARD ald_status ald_schema_compare(const struct ArrowSchema *expected,
                                                    const struct ArrowSchema *found,
                                                    int with_metadata, ald_error *err);

/* Sets one key of a field's (or schema's) metadata; `value` NULL drops it. The schema must come from this library. */
ALD_API ALD_NODISCARD ald_status ald_schema_set_metadata(const ald_host *host,
                                                         struct ArrowSchema *schema,
                                                         const char *key, const char *value,
                                                         size_t value_size, ald_error *err);
/* The value of a key (borrowed, not NUL-terminated) and its size; NULL when there is none. */
ALD_API const char *ald_schema_get_metadata(const struct ArrowSchema *schema, const char *key,
                                            size_t *size);

ALD_END_DECLS
#endif
