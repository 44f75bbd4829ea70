/* SPDX-License-Identifier: MIT */
/* ald_stream_validated: what another producer gives is handed on only when it is valid. */
#include "ald/stream.h"

#include <string.h>

#include "ald/native.h"
#include "check.h"

static int release_count;

static void release_schema(struct ArrowSchema *schema)
{
    schema->release = NULL;
}

static void release_array(struct ArrowArray *array)
{
    array->release = NULL;
    release_count++;
}

/* A producer of one batch with one column of text; `bytes` of its two values are the test's. */
typedef struct producer {
    const char *name;
    const char *bytes;
    int32_t offsets[3];
    int batch_count;
    struct ArrowSchema column, *columns[1];
    struct ArrowArray text, *texts[1];
    const void *text_buffers[3], *batch_buffers[1];
} producer;

static int get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out)
{
    producer *p = s->private_data;
    p->column = (struct ArrowSchema){
        .format = "u", .name = p->name, .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    p->columns[0] = &p->column;
    *out = (struct ArrowSchema){.format = "+s",
                                .name = "",
                                .n_children = 1,
                                .children = p->columns,
                                .release = release_schema};
    return 0;
}

static int get_next(struct ArrowArrayStream *s, struct ArrowArray *out)
{
    producer *p = s->private_data;
    memset(out, 0, sizeof *out);
    if (p->batch_count-- <= 0)
        return 0;
    p->text_buffers[1] = p->offsets;
    p->text_buffers[2] = p->bytes;
    p->text = (struct ArrowArray){
        .length = 2, .n_buffers = 3, .buffers = p->text_buffers, .release = release_array};
    p->texts[0] = &p->text;
    *out = (struct ArrowArray){.length = 2,
                               .n_buffers = 1,
                               .n_children = 1,
                               .buffers = p->batch_buffers,
                               .children = p->texts,
                               .release = release_array};
    return 0;
}

static const char *get_last_error(struct ArrowArrayStream *s)
{
    (void)s;
    return "none";
}

static void release_stream(struct ArrowArrayStream *s)
{
    s->release = NULL;
}

static ald_status read_all(producer *p, int *batches, ald_error *err)
{
    ald_host host = ald_native_host(1);
    struct ArrowArrayStream from = {get_schema, get_next, get_last_error, release_stream, p};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    *batches = 0;
    release_count = 0;
    CHECK_INT(ald_stream_validated(&from, &host, &stream, err), ALD_OK);
    CHECK(from.release == NULL);
    ald_status status;
    for (;;) {
        status = ald_stream_next(&stream, &batch, err);
        if (status != ALD_OK || batch.release == NULL)
            break;
        batch.release(&batch);
        ++*batches;
    }
    stream.release(&stream);
    return status;
}

static void test_valid(void)
{
    producer p = {.name = "s", .bytes = "ab\xC3\xA4", .offsets = {0, 2, 4}, .batch_count = 3};
    ald_error err;
    int batches;
    CHECK_INT(read_all(&p, &batches, &err), ALD_OK);
    CHECK_INT(batches, 3);
}

static void test_bad_values(void)
{
    producer text = {.name = "s", .bytes = "ab\xC3(", .offsets = {0, 2, 4}, .batch_count = 1};
    producer order = {.name = "s", .bytes = "abcd", .offsets = {0, 4, 2}, .batch_count = 1};
    ald_error err;
    int batches;
    CHECK_INT(read_all(&text, &batches, &err), ALD_E_INVALID_FORMAT);
    CHECK_INT(batches, 0);
    CHECK_INT(release_count, 1);
    CHECK(strstr(err.msg, "UTF-8") != NULL);
    CHECK_INT(read_all(&order, &batches, &err), ALD_E_INVALID_FORMAT);
    CHECK_INT(release_count, 1);
}

static void test_bad_names(void)
{
    producer p = {.name = "\xFF", .bytes = "abcd", .offsets = {0, 2, 4}, .batch_count = 1};
    ald_error err;
    int batches;
    CHECK_INT(read_all(&p, &batches, &err), ALD_E_INVALID_FORMAT);
    CHECK(strstr(err.msg, "not UTF-8") != NULL);
}

int main(void)
{
    RUN(test_valid);
    RUN(test_bad_values);
    RUN(test_bad_names);
    return check_done();
}
