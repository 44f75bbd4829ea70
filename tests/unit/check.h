/* SPDX-License-Identifier: MIT */
/* The whole test framework. A test file is one executable:
 *
 *     static void test_empty(void) { CHECK_INT(thing_count(NULL), 0); }
 *     int main(void) { RUN(test_empty); return check_done(); }
 *
 * CHECK* note a failure and go on; REQUIRE* leave the function (release nothing: the process ends soon, and under a
 * leak check a failed test fails anyway). Every failure prints file, line, and both values. The last line is
 * `N passed, N failed`, counting RUN functions; the exit status is 1 when one failed or none ran. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures; /* in the running function */
static int check_passed_count;
static int check_failed_count;

static inline int check_true(int ok, const char *file, int line, const char *text)
{
    if (!ok) {
        check_failures++;
        printf("%s:%d: not true: %s\n", file, line, text);
    }
    return ok;
}

static inline int check_int(int64_t got, int64_t want, const char *file, int line, const char *text)
{
    if (got != want) {
        check_failures++;
        printf("%s:%d: %s is %" PRId64 ", wanted %" PRId64 "\n", file, line, text, got, want);
    }
    return got == want;
}

static inline int check_uint(uint64_t got, uint64_t want, const char *file, int line,
                             const char *text)
{
    if (got != want) {
        check_failures++;
        printf("%s:%d: %s is %" PRIu64 ", wanted %" PRIu64 "\n", file, line, text, got, want);
    }
    return got == want;
}

static inline int check_str(const char *got, const char *want, const char *file, int line,
                            const char *text)
{
    int ok = got != NULL && want != NULL ? strcmp(got, want) == 0 : got == want;
    if (!ok) {
        check_failures++;
        printf("%s:%d: %s is '%s', wanted '%s'\n", file, line, text, got ? got : "(null)",
               want ? want : "(null)");
    }
    return ok;
}

static inline int check_contains(const char *got, const char *part, const char *file, int line,
                                 const char *text)
{
    int ok = got != NULL && strstr(got, part) != NULL;
    if (!ok) {
        check_failures++;
        printf("%s:%d: %s is '%s', wanted '%s' in it\n", file, line, text, got ? got : "(null)",
               part);
    }
    return ok;
}

static inline int check_mem(const void *got, const void *want, size_t size, const char *file,
                            int line, const char *text)
{
    const unsigned char *a = (const unsigned char *)got;
    const unsigned char *b = (const unsigned char *)want;
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            check_failures++;
            printf("%s:%d: %s differs at byte %zu of %zu: 0x%02x, wanted 0x%02x\n", file, line,
                   text, i, size, (unsigned)a[i], (unsigned)b[i]);
            return 0;
        }
    }
    return 1;
}

#define CHECK(x) check_true(!!(x), __FILE__, __LINE__, #x)
#define CHECK_INT(got, want) check_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got)
#define CHECK_UINT(got, want)                                                                      \
    check_uint((uint64_t)(got), (uint64_t)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) check_str((got), (want), __FILE__, __LINE__, #got)
#define CHECK_CONTAINS(got, part) check_contains((got), (part), __FILE__, __LINE__, #got)
#define CHECK_MEM(got, want, size) check_mem((got), (want), (size), __FILE__, __LINE__, #got)

#define REQUIRE(x)                                                                                 \
    do {                                                                                           \
        if (!CHECK(x))                                                                             \
            return;                                                                                \
    } while (0)
#define REQUIRE_INT(got, want)                                                                     \
    do {                                                                                           \
        if (!CHECK_INT(got, want))                                                                 \
            return;                                                                                \
    } while (0)

/* A status that must be ALD_OK; the error's message is printed when it is not. */
#define CHECK_OK(status, error)                                                                    \
    (check_int((int64_t)(status), 0, __FILE__, __LINE__, #status)                                  \
         ? 1                                                                                       \
         : (printf("    %s\n", (error)->msg), 0))
#define REQUIRE_OK(status, error)                                                                  \
    do {                                                                                           \
        if (!CHECK_OK(status, error))                                                              \
            return;                                                                                \
    } while (0)

static inline void check_run(const char *name, void (*test)(void))
{
    check_failures = 0;
    test();
    if (check_failures == 0) {
        check_passed_count++;
        return;
    }
    check_failed_count++;
    printf("FAILED %s (%d checks)\n", name, check_failures);
}

#define RUN(test) check_run(#test, test)

static inline int check_done(void)
{
    printf("%d passed, %d failed\n", check_passed_count, check_failed_count);
    return check_failed_count != 0 || check_passed_count == 0;
}

#endif
