/* SPDX-License-Identifier: MIT */
/* What columns a stream will have, before it is read. */
#include <stdlib.h>

#include "ald/stream.h"
#include "wasm/glue.h"

struct ArrowSchema *ald_wasm_stream_schema(struct ArrowArrayStream *stream)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (schema == NULL) {
        (void)ald_wasm_no_memory();
        return NULL;
    }
    if (ald_stream_schema(stream, schema, ald_wasm_error()) != ALD_OK) {
        free(schema);
        return NULL;
    }
    return schema;
}

void ald_wasm_schema_free(struct ArrowSchema *schema)
{
    if (schema != NULL && schema->release != NULL)
        schema->release(schema);
    free(schema);
}
