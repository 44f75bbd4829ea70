/* SPDX-License-Identifier: MIT */
/* How classes join: the table of docs/TEXT.md, in any order and merged from any parts. */
#include "check.h"
#include "interchange/text/classify.h"

static const char *format_of(const char *const *texts, size_t count, size_t first, size_t split)
{
    static char out[ALD__FORMAT_BYTES];
    ald__profile parts[2];
    ald__text_type type;
    ald__profile_init(&parts[0]);
    ald__profile_init(&parts[1]);
    for (size_t i = 0; i < count; i++) {
        size_t at = (first + i) % count;
        ald__token token = {.kind = ALD__TOKEN_NULL};
        if (texts[at][0] != '\0')
            ald__token_classify(texts[at], strlen(texts[at]), &token);
        ald__profile_add(&parts[i >= split], &token, at);
    }
    ald__profile_merge(&parts[split % 2], &parts[1 - split % 2]);
    type = ald__profile_resolve(&parts[split % 2]);
    ald__text_type_format(&type, out);
    return out;
}

/* The texts, separated by spaces (`_` is a space inside, "." alone a null). */
static void joins(const char *line, const char *want)
{
    char copy[512];
    const char *texts[16];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *p = strtok(copy, " "); p != NULL; p = strtok(NULL, " ")) {
        for (char *q = p; *q; q++)
            *q = *q == '_' ? ' ' : *q;
        texts[count++] = strcmp(p, "|") == 0 ? "" : p;
    }
    for (size_t first = 0; first < count; first++) {
        for (size_t split = 0; split <= count; split++) {
            if (!CHECK_STR(format_of(texts, count, first, split), want)) {
                printf("    %s from %zu split %zu\n", line, first, split);
                return;
            }
        }
    }
}

static void test_single_classes(void)
{
    joins("| |", "n");
    joins("true | False", "b");
    joins("1 -2 |", "l");
    joins("1 18446744073709551615", "L");
    joins("1.5 2e3 -0", "g");
    joins("2024-01-31 |", "tdD");
    joins("12:30:00 12:30:00.5", "ttu");
    joins("12:30:00 12:30:00.1234567", "ttn");
    joins("2024-01-31_10:00", "tsu:");
    joins("2024-01-31_10:00 2024-01-31T10:00:00.123456789", "tsn:");
    joins("abc |", "u");
}

static void test_numbers(void)
{
    joins("-1 9223372036854775807", "l");
    joins("-1 9223372036854775808", "d:19,0");
    joins("1 18446744073709551616", "d:20,0");
    joins("1 1.5", "g");
    joins("9007199254740992 1.5", "g");
    joins("9007199254740993 1.5", "d:17,1");
    joins("9007199254740993 1e5", "u");
    joins("5. 9223372036854775807", "d:20,1"); /* and not what is written as integers */
    joins("1234567890123456789. 1", "d:20,1");
    joins("100000000000000000000 1.5", "g");
    joins("0.1234567890123456789 1", "d:20,19");
    joins("0.1234567890123456789 123.5", "d:22,19");
    joins("0.1234567890123456789 1e5", "u");
    joins("0.1234567890123456789 nan", "u");
    joins("0.1234567890123456789 -0.0", "u");
    joins("0.1234567890123456789 -0", "u");
    joins("nan 1", "g");
    joins("nan 1.5 -inf", "g");
    joins("nan inf", "u");
    joins("nan 9007199254740993", "u");
    joins("0.12345678901234567890123456789012345678 12345678901234567890123456789012345678",
          "d:76,38,256");
    joins("0.12345678901234567890123456789012345678 123456789012345678901234567890123456789", "u");
    joins("99999999999999999999999999999999999999", "d:38,0");
    joins("999999999999999999999999999999999999999", "d:39,0,256");
}

static void test_moments(void)
{
    joins("2024-01-31 2024-01-31_10:00", "tsu:");
    joins("2024-01-31T10:00Z |", "tsu:UTC");
    joins("2024-01-31T10:00+02:00 2024-01-31T11:00+0200", "tsu:+02:00");
    joins("2024-01-31T10:00+02:00 2024-01-31T11:00-05:30", "tsu:UTC");
    joins("2024-01-31T10:00+02:00 2024-01-31T11:00Z", "tsu:UTC");
    joins("2024-01-31T10:00+02:00 2024-01-31T11:00-05:30 2024-01-31T11:00+02:00", "tsu:UTC");
    joins("2024-01-31T10:00Z 2024-01-31T10:00", "u");
    joins("2024-01-31 2024-01-31T10:00Z", "u");
    joins("12:30:00 2024-01-31", "u");
    joins("12:30:00 2024-01-31_10:00", "u");
    joins("0001-01-01_10:00 2024-01-31_10:00", "tsu:");
    joins("0001-01-01_10:00 2024-01-31_10:00:00.123456789", "u");
    joins("0001-01-01 2024-01-31_10:00:00.123456789", "u");
    joins("0001-01-01 2024-01-31", "tdD");
}

static void test_mixtures(void)
{
    joins("true 1", "u");
    joins("2024-01-31 1", "u");
    joins("1 abc", "u");
    joins("1.5 true", "u");
    joins("nan true", "u");
    joins("12:30:00 1.5", "u");
}

static void test_what_is_told(void)
{
    ald__profile p;
    ald__token t;
    ald__text_type type;
    ald__profile_init(&p);
    for (uint64_t i = 0; i < 100; i++) {
        ald__token_classify(i == 42 ? "NA" : "7", i == 42 ? 2 : 1, &t);
        ald__profile_add(&p, &t, i * 10);
    }
    type = ald__profile_resolve(&p);
    CHECK_INT(type.kind, ALD__KIND_STRING);
    CHECK_UINT(type.culprit, 420);
    CHECK_INT(type.few, 1);
    ald__profile_init(&p);
    for (uint64_t i = 0; i < 100; i++) {
        ald__token_classify(i % 2 ? "NA" : "7", i % 2 ? 2 : 1, &t);
        ald__profile_add(&p, &t, i);
    }
    CHECK_INT(ald__profile_resolve(&p).few, 0);
    ald__profile_init(&p);
    ald__token_classify("1", 1, &t);
    ald__profile_add(&p, &t, 0);
    CHECK_UINT(ald__profile_resolve(&p).culprit, ALD__NEVER);
}

int main(void)
{
    RUN(test_single_classes);
    RUN(test_numbers);
    RUN(test_moments);
    RUN(test_mixtures);
    RUN(test_what_is_told);
    return check_done();
}
