/* SPDX-License-Identifier: MIT */
/* Loads a .ald, everything checked, and adds up a column of 64-bit integers.
 * Run: {out}/penguins.ald year */
#include <ald/ald.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int64_t find(const struct ArrowSchema *schema, const char *name)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (strcmp(schema->children[i]->name, name) == 0 &&
            strcmp(schema->children[i]->format, "l") == 0) {
            return i;
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(0);
    ald_source source = {0};
    ald_dataset *dataset = NULL;
    ald_error err;
    int64_t sum = 0;
    if (argc < 3 || ald_file_open(argv[1], ALD_FILE_MAP, &source, &err) != ALD_OK ||
        ald_load(&source, NULL, &host, &dataset, &err) != ALD_OK) {
        fprintf(stderr, "%s\n", argc < 3 ? "usage: load FILE.ald COLUMN" : err.msg);
        ald_source_close(&source);
        return 1;
    }
    int64_t index = find(ald_dataset_schema(dataset), argv[2]);
    for (size_t i = 0; index >= 0 && i < ald_dataset_batch_count(dataset); i++) {
        struct ArrowArray batch;
        if (ald_dataset_batch(dataset, i, &batch, &err) != ALD_OK) {
            return 1;
        }
        const struct ArrowArray *column = batch.children[index];
        const int64_t *values = (const int64_t *)column->buffers[1] + column->offset;
        for (int64_t row = 0; row < column->length; row++) {
            const uint8_t *valid = column->buffers[0]; /* NULL: no nulls */
            int64_t bit = column->offset + row;
            sum += valid == NULL || (valid[bit / 8] >> (bit % 8) & 1) != 0 ? values[row] : 0;
        }
        batch.release(&batch);
    }
    if (index >= 0) {
        printf("%s: %" PRId64 "\n", argv[2], sum);
    } else {
        fprintf(stderr, "no column '%s' of 64-bit integers\n", argv[2]);
    }
    ald_dataset_free(dataset);
    ald_source_close(&source);
    return index < 0;
}
