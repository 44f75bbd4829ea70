/* SPDX-License-Identifier: MIT */
/* The tables are bit sets that tools/card_tables makes. */
#include "card/card_language.h"

#include <card_tables.h>
#include <string.h>

#include "card/card_value.h"

static int is_in(const uint8_t *bits, const char *code, size_t size)
{
    unsigned index = 0;
    for (size_t i = 0; i < size; i++) {
        if (code[i] < 'a' || code[i] > 'z') {
            return 0;
        }
        index = index * 26 + (unsigned)(code[i] - 'a');
    }
    return bits[index / 8] >> index % 8 & 1;
}

static int is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* -Latn-US-x-own: subtags of one to eight letters and digits. */
static int are_subtags(const char *text, size_t size)
{
    size_t run = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '-') {
            if (i > 0 && run == 0) {
                return 0;
            }
            run = 0;
        } else if (!is_alphanumeric(text[i]) || ++run > 8) {
            return 0;
        }
    }
    return run > 0;
}

int card_language_is_known(const char *text, size_t size)
{
    const char *hyphen = memchr(text, '-', size);
    size_t code_size = hyphen != NULL ? (size_t)(hyphen - text) : size;
    if (card_is_text(text, size, "code") || card_is_text(text, size, "multilingual")) {
        return 1;
    }
    if (hyphen != NULL && !are_subtags(hyphen, size - code_size)) {
        return 0;
    }
    return (code_size == 2 && is_in(language_two, text, 2)) ||
           (code_size == 3 && is_in(language_three, text, 3));
}
