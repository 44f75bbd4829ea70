/* SPDX-License-Identifier: MIT */
/* SPDX expressions, and the slugs of Hugging Face. */
#include "ald/ald.h"
#include "card/card_license.h"
#include "check.h"
#include "check_alloc.h"

/* `text` is an expression, spelled `canonical`. */
static void good(const char *text, const char *canonical)
{
    card_spdx found;
    ald_error err = {0};
    if (CHECK_OK(card_spdx_read(text, strlen(text), &found, &err), &err))
        CHECK_STR(found.text, canonical);
}

static void bad(const char *text, const char *words)
{
    card_spdx found;
    ald_error err = {0};
    CHECK(card_spdx_read(text, strlen(text), &found, &err) != ALD_OK);
    if (!CHECK_CONTAINS(err.msg, words))
        printf("    %s\n", text);
}

static void test_ids(void)
{
    good("MIT", "MIT");
    good("mit", "MIT");
    good(" apache-2.0 ", "Apache-2.0");
    good("cc-by-sa-4.0", "CC-BY-SA-4.0");
    good("ETALAB-2.0", "etalab-2.0");
    good("GPL-2.0+", "GPL-2.0+");       /* an id of the list */
    good("Apache-2.0+", "Apache-2.0+"); /* an id, and later versions */
    good("LicenseRef-my-own.1", "LicenseRef-my-own.1");
    good("DocumentRef-spdx-tool-1.2:LicenseRef-MIT-Style-2",
         "DocumentRef-spdx-tool-1.2:LicenseRef-MIT-Style-2");
    good("NONE", "NONE");
    good("NOASSERTION", "NOASSERTION");
}

static void test_expressions(void)
{
    good("MIT OR Apache-2.0", "MIT OR Apache-2.0");
    good("mit or apache-2.0", "MIT OR Apache-2.0");
    good("(MIT)AND(ISC)", "(MIT) AND (ISC)");
    good("GPL-2.0-only with classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0");
    good("MIT AND (LGPL-2.1-or-later OR BSD-3-Clause)",
         "MIT AND (LGPL-2.1-or-later OR BSD-3-Clause)");
}

static void test_refused(void)
{
    bad("", "ends where a license id is expected");
    bad("Apache2", "'Apache2' is no SPDX license id\nthe nearest is Apache-2.0");
    bad("Apache 2.0", "'Apache' is no SPDX license id");
    bad("proprietary", "LicenseRef-NAME");
    bad("MIT OR", "ends where a license id");
    bad("MIT ISC", "has 'ISC' where AND, OR or the end");
    bad("(MIT", "ends where a closing parenthesis");
    bad("MIT)", "has ')'");
    bad("MIT Or ISC", "has 'Or'"); /* in capitals, or all in small letters */
    bad("MIT WITH MIT", "'MIT' is no SPDX exception id");
    bad("NONE OR MIT", "has 'OR' where the end");
    bad("MIT OR NONE", "'NONE' is no SPDX license id");
    bad("LicenseRef-", "is no SPDX license id");
    bad("LicenseRef-a_b", "is no SPDX license id");
    bad("DocumentRef-:LicenseRef-a", "is no SPDX license id");
    bad("((((((((((((((((((MIT))))))))))))))))))", "nests deeper than 16");
}

static void test_facts(void)
{
    card_spdx found;
    CHECK_INT(card_spdx_read("GPL-3.0", 7, &found, NULL), ALD_OK);
    CHECK_STR(found.deprecated, "GPL-3.0");
    CHECK(found.is_listed_id);
    CHECK_INT(card_spdx_read("MIT OR ISC", 10, &found, NULL), ALD_OK);
    CHECK(found.deprecated == NULL && !found.is_listed_id);
    CHECK_INT(card_spdx_read("LicenseRef-x", 12, &found, NULL), ALD_OK);
    CHECK(!found.is_listed_id);
    CHECK_INT(card_spdx_read("Apache-2.0+", 11, &found, NULL), ALD_OK);
    CHECK(!found.is_listed_id);
    CHECK(strlen(card_spdx_version()) >= 3);
}

static void test_long(void)
{
    char text[3000];
    size_t used = 0;
    card_spdx found;
    ald_error err = {0};
    while (used + 10 < sizeof text) {
        memcpy(text + used, "MIT AND ", 8);
        used += 8;
    }
    memcpy(text + used, "MIT", 3);
    CHECK_INT(card_spdx_read(text, used + 3, &found, &err), ALD_E_LIMIT_EXCEEDED);
}

/* Every slug is an expression that gives it back. */
static void test_slugs(void)
{
    static const struct {
        const char *slug, *spdx;
    } some[] = {{"mit", "MIT"},          {"cc-by-nc-sa-4.0", "CC-BY-NC-SA-4.0"},
                {"odbl", "ODbL-1.0"},    {"gpl-3.0", "GPL-3.0-only"},
                {"cc", "LicenseRef-cc"}, {"openrail++", "LicenseRef-openrail-plus-plus"},
                {"c-uda", "C-UDA-1.0"},  {"unknown", "NOASSERTION"},
                {"pddl", "PDDL-1.0"},    {"other", "LicenseRef-other"},
                {"lgpl-lr", "LGPLLR"},   {"llama2", "LicenseRef-llama2"}};
    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        card_spdx found;
        CHECK(card_license_from_slug(some[i].slug, strlen(some[i].slug), &found));
        CHECK_STR(found.text, some[i].spdx);
        CHECK_STR(card_license_slug(found.text, found.size), some[i].slug);
    }
    for (size_t i = 0; card_license_slug_at(i) != NULL; i++) {
        card_spdx found;
        const char *slug = card_license_slug_at(i);
        if (!CHECK(card_license_from_slug(slug, strlen(slug), &found)))
            printf("    %s\n", slug);
        CHECK_STR(card_license_slug(found.text, found.size), slug);
    }
    card_spdx found;
    CHECK(card_license_slug("GPL-3.0-or-later", 16) == NULL);
    CHECK(!card_license_from_slug("My license, v1", 14, &found));
    CHECK_STR(found.text, "LicenseRef-My-license--v1");
}

static void test_metadata(void)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_value *map = NULL;
    ald_error err = {0};
    size_t size = 0;
    REQUIRE_OK(ald_value_new(&alloc, &map, &err), &err);
    ald_value_set_map(map);
    REQUIRE_OK(ald_value_set_string(ald_value_put(map, "license", 7), "mit or isc", 10, &err),
               &err);
    CHECK_OK(card_license_check(map, "license", &err), &err);
    CHECK_STR(ald_value_get_bytes(ald_value_find(map, "license"), &size), "MIT OR ISC");
    ald_value *list = ald_value_put(map, "sources", 7);
    ald_value_set_array(list);
    ald_value *source = ald_value_append(list);
    ald_value_set_map(source);
    REQUIRE_OK(ald_value_set_string(ald_value_put(source, "license", 7), "nonsense", 8, &err),
               &err);
    CHECK_INT(card_license_check(map, "sources", &err), ALD_E_INVALID_FORMAT);
    CHECK_CONTAINS(err.msg, "sources: license: 'nonsense' is no SPDX license id\n");
    CHECK_OK(card_license_check(map, "license", &err), &err); /* the other key is another matter */
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

int main(void)
{
    RUN(test_ids);
    RUN(test_expressions);
    RUN(test_refused);
    RUN(test_facts);
    RUN(test_long);
    RUN(test_slugs);
    RUN(test_metadata);
    return check_done();
}
