/* SPDX-License-Identifier: MIT */
/* The public calls: options checked, the module opened, its errors and its batches checked on their way out. */
#include "ald/parquet.h"

#include <string.h>

#include "ald/stream.h"
#include "interchange/format/options.h"
#include "interchange/parquet/parquet_library.h"

/* The module's text may hold names from the file. */
static ald_status pass_on(const ald_error *from, ald_error *err)
{
    ald_status status = from->status > 0 && from->status <= ALD_E_LICENSE_EXHAUSTED
                            ? (ald_status)from->status
                            : ALD_E_IO;
    (void)ald_error_set(err, status, from->offset, "%s", from->msg);
    if (err != NULL)
        err->detail = from->detail;
    return status;
}

/* ---- reading */

typedef struct parquet_input {
    ald_allocator alloc;
    struct ArrowArrayStream module;
} parquet_input;

static ald_status module_failure(const parquet_input *in, ald_error *err)
{
    return pass_on(&((const ald_parquet_state *)in->module.private_data)->error, err);
}

static ald_status input_schema(void *ctx, struct ArrowSchema *out, ald_error *err)
{
    parquet_input *in = ctx;
    return in->module.get_schema(&in->module, out) == 0 ? ALD_OK : module_failure(in, err);
}

static ald_status input_next(void *ctx, struct ArrowArray *out, ald_error *err)
{
    parquet_input *in = ctx;
    return in->module.get_next(&in->module, out) == 0 ? ALD_OK : module_failure(in, err);
}

static void input_free(void *ctx)
{
    parquet_input *in = ctx;
    ald_allocator alloc = in->alloc;
    in->module.release(&in->module);
    alloc.release(alloc.ctx, in, sizeof *in);
}

static ald_status wrap(struct ArrowArrayStream *module, const ald_host *host,
                       struct ArrowArrayStream *out, ald_error *err)
{
    struct ArrowArrayStream plain;
    parquet_input *in = host->alloc.alloc(host->alloc.ctx, sizeof *in);
    if (in == NULL) {
        module->release(module);
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to read Parquet");
    }
    in->alloc = host->alloc;
    in->module = *module;
    ald_stream_impl impl = {input_schema, input_next, input_free, in,
                            ((const ald_parquet_state *)module->private_data)->row_count};
    ald_status status = ald_stream_new(&impl, &host->alloc, &plain, err);
    return status != ALD_OK ? status : ald_stream_validated(&plain, host, out, err);
}

ald_status ald_parquet_open(const ald_source *source, const ald_parquet_options *options,
                            const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald_parquet_options complete = ALD_PARQUET_OPTIONS_INIT;
    const ald__parquet_library *library = NULL;
    struct ArrowArrayStream module;
    ald_error failure;
    memset(out, 0, sizeof *out);
    memset(&module, 0, sizeof module);
    memset(&failure, 0, sizeof failure);
    ald_status status =
        ald__options_copy(&complete, sizeof complete, sizeof complete, options, err);
    if (status == ALD_OK)
        status = ald__parquet_library_get(&library, err);
    if (status != ALD_OK)
        return status;
    if (library->open(ALD_PARQUET_MODULE_VERSION, source, &complete, host, &module, &failure) !=
        ALD_OK)
        return pass_on(&failure, err);
    return wrap(&module, host, out, err);
}

/* ---- writing */

/* The caller's stream as the module sees it: the error of the caller's stream is kept, since only a code passes through. */
typedef struct parquet_output {
    struct ArrowArrayStream batches;
    ald_error error;
} parquet_output;

static int output_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    parquet_output *o = s->private_data;
    return ald_stream_schema(&o->batches, out, &o->error) == ALD_OK ? 0 : 5;
}

static int output_get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    parquet_output *o = s->private_data;
    return ald_stream_next(&o->batches, out, &o->error) == ALD_OK ? 0 : 5;
}

static const char *output_get_last_error(struct ArrowArrayStream *s)
{
    return ((parquet_output *)s->private_data)->error.msg;
}

static void output_release(struct ArrowArrayStream *s)
{
    s->release = NULL; /* the owner is ald_parquet_write */
}

ald_status ald_parquet_write(struct ArrowArrayStream *batches, const ald_sink *sink,
                             const ald_parquet_write_options *options, const ald_host *host,
                             ald_error *err)
{
    ald_parquet_write_options complete = ALD_PARQUET_WRITE_OPTIONS_INIT;
    const ald__parquet_library *library = NULL;
    parquet_output output;
    ald_error failure;
    memset(&output, 0, sizeof output);
    memset(&failure, 0, sizeof failure);
    output.batches = *batches;
    ald_status status =
        ald__options_copy(&complete, sizeof complete, sizeof complete, options, err);
    if (status == ALD_OK && complete.codec > ALD_PARQUET_BROTLI)
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown Parquet codec %u",
                               complete.codec);
    if (status == ALD_OK)
        status = ald__parquet_library_get(&library, err);
    if (status == ALD_OK) {
        struct ArrowArrayStream seen = {output_get_schema, output_get_next, output_get_last_error,
                                        output_release, &output};
        status = library->write(ALD_PARQUET_MODULE_VERSION, &seen, sink, &complete, host, &failure);
        if (status != ALD_OK && output.error.status != ALD_OK) {
            status = (ald_status)output.error.status;
            if (err != NULL)
                *err = output.error;
        } else if (status != ALD_OK) {
            status = pass_on(&failure, err);
        }
    }
    output.batches.release(&output.batches);
    batches->release = NULL;
    return status;
}
