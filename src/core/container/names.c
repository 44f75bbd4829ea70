/* SPDX-License-Identifier: MIT */
/* Names of the format's numbers. */
#include <stddef.h>
#include <string.h>

#include "ald/schema.h"

static const struct {
    const char *name;
    uint16_t type;
} types[] = {
#define ALD_X(constant, value) {#constant, value},
    ALD_DATASET_TYPE_LIST(ALD_X)
#undef ALD_X
};

static const char *const compressions[] = {"none", "zstd-l3", "zstd-l19",
                                           "lz4",  "packed",  "packed-lz4"};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const char *ald_dataset_type_name(uint16_t type)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (types[i].type == type)
            return types[i].name;
    }
    return NULL;
}

static char folded(char c)
{
    if (c == '-')
        return '_';
    return (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}

static int same_name(const char *a, const char *b)
{
    while (*a != '\0' && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

uint16_t ald_dataset_type_from_name(const char *name)
{
    for (size_t i = 0; i < COUNT(types); i++) {
        if (same_name(types[i].name, name))
            return types[i].type;
    }
    return 0;
}

const char *ald_compression_name(uint8_t compression)
{
    return compression < COUNT(compressions) ? compressions[compression] : NULL;
}

int ald_compression_from_name(const char *name)
{
    for (size_t i = 0; i < COUNT(compressions); i++) {
        if (strlen(compressions[i]) == strlen(name) &&
            memcmp(compressions[i], name, strlen(name)) == 0)
            return (int)i;
    }
    return -1;
}

const char *ald_flag_name(uint8_t bit)
{
    switch (bit) {
    case ALD_FLAG_ENCRYPTED:
        return "ENCRYPTED";
    case ALD_FLAG_SIGNED:
        return "SIGNED";
    case ALD_FLAG_STREAMING:
        return "STREAMING";
    case ALD_FLAG_LICENSED:
        return "LICENSED";
    case ALD_FLAG_TRUENO_NATIVE:
        return "TRUENO_NATIVE";
    default:
        return NULL;
    }
}
