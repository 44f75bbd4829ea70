/* SPDX-License-Identifier: MIT */
/* What a private query asks for, as JSON text and taken apart, and the key that a dataset publishes: F-245, F-249. */
#ifndef CLI_QUERY_REQUEST_H
#define CLI_QUERY_REQUEST_H

#include "ald/filter.h"
#include "ald/query.h"
#include "ald/reader.h"
#include "cli/cli.h"

typedef struct query_options {
    opt_list columns; /* each one name, or several with commas */
    const char *rows; /* a:b */
    const char *where;
    uint64_t limit;
} query_options;

extern const opt_group cli_group_query;

/* The request as JSON. `out` is zeros with `alloc`; the caller clears it. */
ALD_NODISCARD ald_status cli_query_write(cli_env *env, const query_options *options,
                                         ald_buffer *out, ald_error *err);

/* A request taken apart. Zeroed, it may be cleared. */
typedef struct query_request {
    ald_select_options select; /* points into `doc` and `columns` */
    struct yyjson_doc *doc;
    const char **columns;
} query_request;

/* Everything unknown, and every value of the wrong kind, is ALD_E_INVALID_FORMAT. */
ALD_NODISCARD ald_status cli_query_read(const void *json, size_t size, query_request *out,
                                        ald_error *err);
void cli_query_clear(query_request *request);

/* The published key, and its protocol, of a file's metadata. */
ALD_NODISCARD ald_status cli_query_key(cli_env *env, const ald_info *info,
                                       uint8_t out[ALD_QUERY_KEY_BYTES], ald_error *err);
/* Puts them into metadata. */
ALD_NODISCARD ald_status cli_query_publish(cli_env *env, ald_value *metadata,
                                           const uint8_t key[ALD_QUERY_KEY_BYTES], ald_error *err);

#endif
