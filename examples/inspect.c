/* SPDX-License-Identifier: MIT */
/* Says what a .ald is without reading its payload: the cost does not depend on the file's size.
 * Run: {out}/penguins.ald */
#include <ald/ald.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(1);
    ald_source source = {0};
    ald_inspection *inspection = NULL;
    ald_error err;
    if (argc < 2 || ald_file_open(argv[1], 0, &source, &err) != ALD_OK ||
        ald_inspect(&source, NULL, &host, &inspection, &err) != ALD_OK) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: inspect FILE.ald" : err.msg);
        ald_source_close(&source);
        return 1;
    }
    const ald_info *info = ald_inspection_info(inspection);
    const ald_value *name = ald_value_find(info->metadata, "name");
    printf("%s: %" PRIu64 " rows, %" PRId64 " columns, %s\n",
           name != NULL ? ald_value_get_bytes(name, NULL) : "unnamed", info->num_rows,
           info->schema->n_children, ald_compression_name(info->compression));
    ald_inspection_free(inspection);
    ald_source_close(&source);
    return 0;
}
