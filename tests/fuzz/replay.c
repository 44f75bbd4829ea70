/* SPDX-License-Identifier: MIT */
/* Gives each file of the folders (or each file) on the command line to the fuzz target once, in the order of names, as
 * any build can do without libFuzzer. A bad input ends the process; no input at all is a failure too. */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz/fuzz.h"

static int replayed_count;

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    struct stat facts;
    uint8_t *data = NULL;
    int failed = 1;
    if (fstat(fileno(file), &facts) != 0) {
        goto done;
    }
    size_t size = (size_t)facts.st_size;
    /* Exactly the input's size, so that a sanitizer sees a read past its end. */
    data = malloc(size == 0 ? 1 : size);
    if (data == NULL || fread(data, 1, size, file) != size) {
        goto done;
    }
    printf("%s\n", path); /* the last line before a crash names the input */
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    replayed_count++;
    failed = 0;
done:
    if (failed) {
        perror(path);
    }
    free(data);
    fclose(file);
    return failed;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_folder(const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_visible, alphasort);
    if (count < 0) {
        perror(folder);
        return 1;
    }
    int failed = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        failed += replay_file(path);
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat facts;
        if (stat(argv[i], &facts) == 0 && S_ISDIR(facts.st_mode)) {
            failed += replay_folder(argv[i]);
        } else {
            failed += replay_file(argv[i]);
        }
    }
    printf("%d passed, %d failed\n", replayed_count, failed);
    return failed != 0 || replayed_count == 0;
}
