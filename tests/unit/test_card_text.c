/* SPDX-License-Identifier: MIT */
/* Versions, times, language codes, what may stand in Markdown and in plain YAML; what a check of a card finds. */
#include "ald/ald.h"
#include "card/card_check.h"
#include "card/card_language.h"
#include "card/card_readme.h"
#include "card/card_scalar.h"
#include "card/card_text.h"
#include "check.h"
#include "check_alloc.h"

static void test_semver(void)
{
    static const char *const good[] = {"0.0.1", "1.2.3", "10.20.30-rc.1+build.5", "1.0.0-0a.-"};
    static const char *const bad[] = {"",       "1",      "1.2",      "1.2.3.4",    "01.2.3",
                                      "1.2.3-", "1.2.3+", "v1.2.3",   "1.2.3-a..b", "1.2.03",
                                      "1.2.3 ", "1..3",   "1.2.3+a+b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(card_text_is_semver(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK(!card_text_is_semver(bad[i], strlen(bad[i]))))
            printf("    %s\n", bad[i]);
    }
}

static void test_times(void)
{
    static const char *const good[] = {"2024-02-29", "2026-11-30T08:00:00Z",
                                       "2026-11-30 08:00:00.123+01:00", "2016-12-31t23:59:60z"};
    static const char *const bad[] = {"2023-02-29",
                                      "2026-13-01",
                                      "2026-11-30T",
                                      "2026-11-30T24:00:00Z",
                                      "2026-11-30T08:00:00",
                                      "yesterday",
                                      "2026-11-30T08:00:00.Z",
                                      "2026-11-30T08:00:00+1",
                                      "2026-1-1"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(card_text_is_time(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK(!card_text_is_time(bad[i], strlen(bad[i]))))
            printf("    %s\n", bad[i]);
    }
}

static void test_languages(void)
{
    static const char *const good[] = {"en",   "no",           "deu",        "ger",     "gsw",
                                       "code", "multilingual", "zh-Hant-TW", "en-x-own"};
    static const char *const bad[] = {
        "", "e", "xx", "EN", "english", "en-", "en--US", "en_US", "zzzz", "en-toolongsubtag", "12"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(card_language_is_known(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK(!card_language_is_known(bad[i], strlen(bad[i]))))
            printf("    %s\n", bad[i]);
    }
}

static void test_plain(void)
{
    static const char *const good[] = {"abc", "10K<n<100K", "en", "no way", "v1.2"};
    static const char *const bad[] = {"",           "no",   "Yes",   "null", "~",  "1.10",
                                      "2024-01-01", "0x1F", "0o7",   "1e3",  "-1", ".inf",
                                      "=",          "<<",   "12:30", "N"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(card_scalar_is_plain(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK(!card_scalar_is_plain(bad[i], strlen(bad[i]))))
            printf("    %s\n", bad[i]);
    }
}

static void expect_markdown(const char *text, const char *wanted, int quote)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_buffer out = {NULL, 0, 0, &alloc};
    ald_error err = {0};
    ald_status status = quote ? card_text_quote(&out, text, strlen(text), &err)
                              : card_text_markdown(&out, text, strlen(text), &err);
    if (CHECK_OK(status, &err) && CHECK_OK(card_text_put(&out, "", &err), &err)) {
        CHECK(out.size == strlen(wanted) && memcmp(out.data, wanted, out.size) == 0);
        if (out.size != strlen(wanted) || memcmp(out.data, wanted, out.size) != 0)
            printf("    %.*s\n", (int)out.size, (const char *)out.data);
    }
    ald_buffer_clear(&out);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_markdown(void)
{
    expect_markdown("body_mass 1.5 2024-01-01", "body_mass 1.5 2024-01-01", 0);
    expect_markdown("<script>&\n# *x* | [a](b)",
                    "&lt;script\\>&amp; \\# \\*x\\* \\| \\[a\\]\\(b\\)", 0);
    expect_markdown("# A\n\n<b>x</b>\r\ny\n", "> # A\n> \n> &lt;b>x&lt;/b>\n> y\n", 1);
}

/* ---- findings */

typedef struct findings {
    char text[4000];
    size_t used;
} findings;

static void note(void *ctx, card_level level, const char *key, const char *text)
{
    findings *f = ctx;
    if (level == CARD_WRONG)
        f->used +=
            (size_t)snprintf(f->text + f->used, sizeof f->text - f->used, "%s: %s\n", key, text);
}

static void expect_wrong(const char *readme, uint64_t rows, const char *wanted)
{
    check_heap heap;
    ald_host host;
    ald_error err = {0};
    ald_value *map = NULL;
    struct ArrowSchema schema;
    findings f = {"", 0};
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, -1);
    REQUIRE_OK(ald_schema_from_json("a:int64,b:string", 16, &host, &schema, &err), &err);
    REQUIRE_OK(ald_value_new(&host.alloc, &map, &err), &err);
    ald_value_set_map(map);
    if (CHECK_OK(card_readme_read(readme, strlen(readme), &host, NULL, map, &err), &err)) {
        const card_facts facts = {rows, &schema};
        card_check(map, &facts, note, &f);
        CHECK_STR(f.text, wanted);
    }
    ald_value_free(map);
    schema.release(&schema);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_check(void)
{
    expect_wrong("---\nlanguage: [en, klingon]\nversion: '1'\n---\n", 1,
                 "language: 'klingon' is no ISO 639 code of a language\n"
                 "version: '1' is not MAJOR.MINOR.PATCH\n");
    expect_wrong("---\nlanguage: [x,x,x,x,x,x,x,x,x,x,x,x,x,x]\nsources: [{license: '('}]\n---\n",
                 1,
                 "sources: a license expression ends where a license id is expected\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n"
                 "language: 'x' is no ISO 639 code of a language\n");
    expect_wrong("---\nsize_categories: 1K<n<10K\n---\n", 999,
                 "size_categories: it says 1K<n<10K, and the file has 999 rows\n");
    expect_wrong("---\nsize_categories: [n<1K, 1K<n<10K]\n---\n", 1000, "");
    expect_wrong("---\nsize_categories: n>1T\n---\n", 1000,
                 "size_categories: it says n>1T, and the file has 1000 rows\n");
    expect_wrong("---\nsize_categories: huge\n---\n", 1000,
                 "size_categories: 'huge' is no size category such as 1K<n<10K\n");
    expect_wrong("---\ndataset_info:\n  splits:\n  - {name: a, num_examples: 3}\n  - {name: b, "
                 "num_examples: 4}\n---\n",
                 8, "dataset_info: its splits have 7 rows, and the file has 8\n");
    expect_wrong("---\ndataset_info:\n  splits:\n  - {name: a, num_examples: 3}\n  - {name: b, "
                 "num_examples: 4}\n---\n",
                 4, "");
    expect_wrong("---\ndataset_info:\n  features:\n  - {name: a, dtype: int64}\n---\n", 1,
                 "dataset_info: column 'b' of the file is not in it\n");
    expect_wrong(
        "---\ndataset_info:\n  features:\n  - {name: a}\n  - {name: b}\n  - {name: c}\n---\n", 1,
        "dataset_info: the file has no column 'c'\n");
}

int main(void)
{
    RUN(test_semver);
    RUN(test_times);
    RUN(test_languages);
    RUN(test_plain);
    RUN(test_markdown);
    RUN(test_check);
    return check_done();
}
