/* SPDX-License-Identifier: MIT */
/* README.md cards: what is read, what is refused, and that what was written reads as the same. */
#include "ald/ald.h"
#include "card/card_readme.h"
#include "card/card_yaml.h"
#include "check.h"
#include "check_alloc.h"
#include "same_value.h"

static check_heap heap;

static ald_host test_host(int64_t calls)
{
    ald_host host;
    memset(&host, 0, sizeof host);
    host.struct_size = sizeof host;
    host.alloc = check_heap_init(&heap, calls);
    return host;
}

/* What a card says; NULL, with a failed check, when it is refused. */
static ald_value *read_card(const char *text, size_t size, const ald_host *host, ald_error *err,
                            ald_status *status)
{
    ald_value *map = NULL;
    *status = ald_value_new(&host->alloc, &map, err);
    if (*status == ALD_OK) {
        ald_value_set_map(map);
        *status = card_readme_read(text, size, host, NULL, map, err);
    }
    if (*status != ALD_OK) {
        ald_value_free(map);
        map = NULL;
    }
    return map;
}

static int is_text(const ald_value *map, const char *key, const char *wanted)
{
    size_t size = 0;
    const ald_value *value = ald_value_find(map, key);
    const char *text = value != NULL ? ald_value_get_bytes(value, &size) : NULL;
    if (text != NULL && strcmp(text, wanted) == 0)
        return 1;
    printf("    %s is '%s'\n", key, text != NULL ? text : "(not a text)");
    return 0;
}

static void check_round_trip(const ald_value *map, const ald_host *host)
{
    ald_error err = {0};
    ald_status status;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    if (CHECK_OK(card_readme_write(map, host, NULL, &text, &err), &err)) {
        ald_value *again = read_card((const char *)text.data, text.size, host, &err, &status);
        if (!CHECK_OK(status, &err) || !CHECK(same_value(map, again)))
            printf("    %.*s\n", (int)text.size, (const char *)text.data);
        ald_value_free(again);
    }
    ald_buffer_clear(&text);
}

static void test_example(void)
{
    static const char text[] =
        "---\nlicense: cc-by-4.0\nlanguage:\n- en\n- no\npretty_name: Birds\ntags: birds\n"
        "version: 1.10\nrows: 1_000\nratio: 1.5\nflag: yes\nnone: ~\nday: 2024-01-01\n---\n\n# "
        "Birds\n";
    ald_host host = test_host(-1);
    ald_error err = {0};
    ald_status status;
    ald_value *map = read_card(text, sizeof text - 1, &host, &err, &status);
    REQUIRE_OK(status, &err);
    CHECK(is_text(map, "license", "CC-BY-4.0"));
    CHECK(is_text(map, "name", "Birds"));
    CHECK(is_text(map, "version", "1.10"));
    CHECK(is_text(map, "day", "2024-01-01"));
    CHECK(is_text(map, "description", "# Birds"));
    CHECK(ald_value_find(map, "pretty_name") == NULL);
    CHECK_UINT(ald_value_get_count(ald_value_find(map, "tags")), 1);
    CHECK_UINT(ald_value_get_uint(ald_value_find(map, "rows")), 1000);
    CHECK(ald_value_get_float(ald_value_find(map, "ratio")) == 1.5);
    CHECK_INT(ald_value_get_bool(ald_value_find(map, "flag")), 1);
    CHECK_INT(ald_value_get_type(ald_value_find(map, "none")), ALD_VALUE_NIL);
    size_t size = 0;
    CHECK_STR(ald_value_get_bytes(ald_value_get_item(ald_value_find(map, "language"), 1), &size),
              "no");
    check_round_trip(map, &host);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

static void expect(const char *text, const char *key, const char *wanted)
{
    ald_host host = test_host(-1);
    ald_error err = {0};
    ald_status status;
    ald_value *map = read_card(text, strlen(text), &host, &err, &status);
    if (!CHECK_OK(status, &err) ||
        !CHECK(wanted != NULL ? is_text(map, key, wanted) : ald_value_find(map, key) == NULL))
        printf("    %s\n", text);
    if (map != NULL)
        check_round_trip(map, &host);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_parts(void)
{
    expect("no front matter\n", "description", "no front matter");
    expect("\xEF\xBB\xBF---\nname: a\n---\n", "name", "a");
    expect("---\r\nname: a\r\n---\r\n\r\nb\r\nc\r\n", "description", "b\r\nc");
    expect("---\nname: a\n---", "description", NULL);
    expect("---\nname: a\n---\n\n", "description", NULL);
    expect("---\nname: a\n---\n\n\n\n", "description", "\n");
    expect("---\n---\nb", "description", "b");
    expect("---\n# a comment\n---\nb", "description", "b");
    expect("---\ndescription: short\n---\n", "description", "short");
    expect("---\ndescription: short\n---\nlong\n", "description", "long");
    expect("---\nx: |\n  ---\n---\nb\n", "x", "---\n");
    expect("---\nlicense:\n---\n", "license", NULL);
}

static void test_names(void)
{
    expect("---\npretty_name: a\n---\n", "name", "a");
    expect("---\nname: a\n---\n", "name", "a");
    expect("---\nname: a\npretty_name: b\n---\n", "pretty_name", "b");
    expect("---\nname:\npretty_name: b\n---\n", "name", NULL);
    expect("---\nsha256: 00\nald: {seal: 1}\nquery_pub_key: x\n---\n", "ald", NULL);
    expect("---\nsha256: 00\n---\n", "sha256", NULL);
}

static void test_licenses(void)
{
    expect("---\nlicense: [mit, apache-2.0]\n---\n", "license", "MIT AND Apache-2.0");
    expect("---\nlicense: [mit, 'isc or 0bsd']\n---\n", "license", "MIT AND (ISC OR 0BSD)");
    expect("---\nlicense: other\n---\n", "license", "LicenseRef-other");
    expect("---\nlicense: other\nlicense_name: GPL-3.0-or-later\n---\n", "license",
           "GPL-3.0-or-later");
    expect("---\nlicense_name: gpl-3.0-or-later\nlicense: other\n---\n", "license_name", NULL);
    expect("---\nlicense: other\nlicense_name: my own 1\n---\n", "license", "LicenseRef-my-own-1");
    expect("---\nlicense: other\nlicense_name: my own 1\n---\n", "license_name", "my own 1");
    expect("---\nlicense: LicenseRef-other\nlicense_name: x\n---\n", "license_name", "x");
    expect("---\nlicense: see below!\n---\n", "license", "LicenseRef-see-below-");
    expect("---\nlicense: unknown\n---\n", "license", "NOASSERTION");
    expect("---\nlicense: GPL-2.0-only WITH Classpath-exception-2.0\n---\n", "license",
           "GPL-2.0-only WITH Classpath-exception-2.0");
}

static void refuse_bytes(const char *text, size_t size, ald_status wanted, const char *words)
{
    ald_host host = test_host(-1);
    ald_error err = {0};
    ald_status status;
    ald_value *map = read_card(text, size, &host, &err, &status);
    CHECK_INT(status, wanted);
    if (!CHECK_CONTAINS(err.msg, words))
        printf("    %.*s\n", size < 200 ? (int)size : 200, text);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

static void refuse(const char *text, ald_status wanted, const char *words)
{
    refuse_bytes(text, strlen(text), wanted, words);
}

static void test_refused(void)
{
    refuse("---\nname: a\n", ALD_E_INVALID_FORMAT, "begins in line 1 and does not end");
    refuse("---\nname: [a\n---\n", ALD_E_INVALID_FORMAT, "YAML: ");
    refuse("---\nname: a\nname: b\n---\n", ALD_E_INVALID_FORMAT, "second time in line 3, column 1");
    refuse("---\n- a\n---\n", ALD_E_INVALID_FORMAT, "something else than a map");
    refuse("---\n? [a]\n: b\n---\n", ALD_E_UNSUPPORTED, "a key that is no scalar");
    refuse("---\na: &x {b: 1}\nc: {<<: *x}\n---\n", ALD_E_UNSUPPORTED, "a merge key");
    refuse("---\na: !!python/object/apply:os.system [ls]\n---\n", ALD_E_UNSUPPORTED, "a tag");
    refuse("---\na: !own 1\n---\n", ALD_E_UNSUPPORTED, "a tag");
    refuse("---\na: !!int x\n---\n", ALD_E_INVALID_FORMAT, "not what its tag says");
    refuse("---\na: !!binary '*'\n---\n", ALD_E_INVALID_FORMAT, "base64");
    refuse("---\na: *x\n---\n", ALD_E_INVALID_FORMAT, "anchor that is not complete");
    refuse("---\na: &x [*x]\n---\n", ALD_E_INVALID_FORMAT, "anchor that is not complete");
    refuse("---\nname: {a: 1}\n---\n", ALD_E_INVALID_FORMAT, "'name' of the front matter must be");
    refuse("---\nlicense: {a: 1}\n---\n", ALD_E_INVALID_FORMAT, "'license' of the front matter");
    refuse("---\na: 1\n...\nb: 2\n---\n", ALD_E_INVALID_FORMAT, "YAML: ");
    refuse("---\na: \xff\n---\n", ALD_E_INVALID_FORMAT, "UTF-8");
    refuse_bytes("---\na: b\n---\nx\0y", 16, ALD_E_INVALID_FORMAT, "no NUL");
}

/* ---- bombs */

static char *repeat(char *at, const char *text, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        memcpy(at, text, strlen(text));
        at += strlen(text);
    }
    return at;
}

static void test_bombs(void)
{
    size_t size = (size_t)9 << 20;
    char *text = malloc(size + 64);
    char *at;
    REQUIRE(text != NULL);
    at = repeat(repeat(repeat(text, "---\na: ", 1), "[", 40), "]", 40);
    at = repeat(at, "\n---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "more than 32 levels");
    at = repeat(repeat(text, "---\na: ", 1), "[", 200000); /* it is left long before its end */
    at = repeat(at, "\n---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "more than 32 levels");
    at = repeat(repeat(text, "---\na:\n", 1), "- x\n", 70000);
    at = repeat(at, "---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "65,536 values");
    at = repeat(repeat(text, "---\na: ", 1), "x", size - 64);
    at = repeat(at, "\n---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "8 MiB");
    /* A text of 1 MiB, and ten aliases of it. */
    at = repeat(repeat(text, "---\na: &a ", 1), "x", (size_t)1 << 20);
    at = repeat(at, "\nb: [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "8 MiB of text");
    at = repeat(text, "---\n", 1);
    for (int i = 0; i < 33000; i++)
        at += sprintf(at, "k%d: 1\n", i);
    at = repeat(at, "---\n", 1);
    refuse_bytes(text, (size_t)(at - text), ALD_E_LIMIT_EXCEEDED, "32,768 keys");
    free(text);
}

static void test_laughs(void)
{
    refuse("---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
           "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
           "e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\n---\n",
           ALD_E_LIMIT_EXCEEDED, "65,536 values in line");
    /* Aliases nest, too: 12 levels in 12 levels in 12 levels. */
    refuse("---\na: &a [[[[[[[[[[[x]]]]]]]]]]]\nb: &b [[[[[[[[[[[*a]]]]]]]]]]]\n"
           "c: &c [[[[[[[[[[[*b]]]]]]]]]]]\n---\n",
           ALD_E_LIMIT_EXCEEDED, "32 levels in line 4");
    expect("---\na: &a {b: 1}\nc: [*a, *a]\n---\n", "name", NULL); /* as they are meant */
}

/* ---- metadata of any kind */

static void put_string(ald_value *map, const char *key, const char *text, size_t size)
{
    ald_value *value = ald_value_put(map, key, strlen(key));
    if (CHECK(value != NULL))
        CHECK_INT(ald_value_set_string(value, text, size, NULL), ALD_OK);
}

static void test_any_metadata(void)
{
    static const char *const texts[] = {"no",
                                        "1.10",
                                        "",
                                        " x",
                                        "x ",
                                        "a\nb",
                                        "a\n",
                                        "\n",
                                        "a\n\n",
                                        "a \nb",
                                        "# x",
                                        "- x",
                                        "x: y",
                                        "'\"",
                                        "\ttab",
                                        "a\r\nb",
                                        "\xC2\x85",
                                        "\xE2\x80\xA8",
                                        "\xF0\x9F\x90\xA6",
                                        "---",
                                        "...",
                                        "%x",
                                        "@x",
                                        "`x",
                                        "&a *b",
                                        "{a}",
                                        "!x",
                                        "\x01\x7F",
                                        "\xEF\xBB\xBF",
                                        "2024-01-01",
                                        "0x10",
                                        "1e5",
                                        "null"};
    ald_host host = test_host(-1);
    ald_value *map = NULL;
    REQUIRE_INT(ald_value_new(&host.alloc, &map, NULL), ALD_OK);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ald_value_set_map(map);
        put_string(map, "description", texts[i], strlen(texts[i]));
        put_string(map, "citation", texts[i], strlen(texts[i]));
        put_string(map, "own", texts[i], strlen(texts[i]));
        put_string(map, texts[i], "value", 5);
        if (texts[i][0] != '\0')
            put_string(map, "name", texts[i], strlen(texts[i]));
        check_round_trip(map, &host);
    }
    ald_value_set_map(map);
    put_string(map, "description", "a\0b", 3);
    ald_value_set_float(ald_value_put(map, "f", 1), 1e300);
    ald_value_set_float(ald_value_put(map, "g", 1), 3.0);
    ald_value_set_int(ald_value_put(map, "h", 1), INT64_MIN);
    ald_value_set_uint(ald_value_put(map, "i", 1), UINT64_MAX);
    CHECK_INT(ald_value_set_bin(ald_value_put(map, "j", 1), "\0\1\2\3", 4, NULL), ALD_OK);
    ald_value_set_map(ald_value_put(map, "k", 1));
    ald_value_set_array(ald_value_put(map, "l", 1));
    check_round_trip(map, &host);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_no_extensions(void)
{
    ald_host host = test_host(-1);
    ald_value *map = NULL;
    ald_error err = {0};
    ald_buffer text = {NULL, 0, 0, &host.alloc};
    REQUIRE_INT(ald_value_new(&host.alloc, &map, NULL), ALD_OK);
    ald_value_set_map(map);
    CHECK_INT(ald_value_set_ext(ald_value_put(map, "x", 1), 5, "ab", 2, NULL), ALD_OK);
    CHECK_INT(card_readme_write(map, &host, NULL, &text, &err), ALD_E_UNSUPPORTED);
    CHECK_CONTAINS(err.msg, "extension");
    ald_buffer_clear(&text);
    ald_value_free(map);
    CHECK_HEAP_EMPTY(&heap);
}

static void test_no_memory(void)
{
    static const char text[] =
        "---\nlicense: [mit, other]\nlicense_name: x\nsources: [a, 'https://b']\n"
        "tags: t\na: &a {b: [1]}\nc: *a\n---\nbody\n";
    for (int64_t n = 0;; n++) {
        ald_host host = test_host(n);
        ald_error err = {0};
        ald_status status;
        ald_buffer out = {NULL, 0, 0, &host.alloc};
        ald_value *map = read_card(text, sizeof text - 1, &host, &err, &status);
        if (status == ALD_OK)
            status = card_readme_write(map, &host, NULL, &out, &err);
        ald_buffer_clear(&out);
        ald_value_free(map);
        CHECK_HEAP_EMPTY(&heap);
        if (status == ALD_OK)
            break;
        CHECK_INT(status, ALD_E_NOMEM);
    }
}

int main(void)
{
    RUN(test_example);
    RUN(test_parts);
    RUN(test_names);
    RUN(test_licenses);
    RUN(test_refused);
    RUN(test_bombs);
    RUN(test_laughs);
    RUN(test_any_metadata);
    RUN(test_no_extensions);
    RUN(test_no_memory);
    return check_done();
}
