/* SPDX-License-Identifier: MIT */
/* What a machine remembers of licenses: limits hold, also between processes; a change by somebody else is seen. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ald/license_state.h"
#include "ald/native.h"
#include "check.h"

static ald_host host;
static ald_error err;
static char root[] = "license-state-XXXXXX";
static char folder[128];

static ald_license license_of(uint8_t id, uint8_t flags, uint16_t seats, uint32_t queries)
{
    ald_license l;
    memset(&l, 0, sizeof l);
    memset(l.license_id, id, sizeof l.license_id);
    l.flags = flags;
    l.seat_limit = seats;
    l.query_limit = queries;
    return l;
}

static void fresh(const char *name)
{
    snprintf(folder, sizeof folder, "%s/%s", root, name);
}

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (unsigned)info.st_mode & 07777 : 0;
}

static ald_status use(const ald_license *l, uint64_t count)
{
    return ald_license_state_use(folder, l, count, &host, &err);
}

static void check_usage(const ald_license *l, uint64_t queries, uint32_t seats)
{
    ald_license_usage usage;
    REQUIRE_OK(ald_license_state_get(folder, l, &host, &usage, &err), &err);
    CHECK_UINT(usage.query_count, queries);
    CHECK_UINT(usage.seat_count, seats);
    CHECK_INT(usage.has_seat, seats > 0);
}

static void test_queries(void)
{
    ald_license l = license_of(1, ALD_LICENSE_QUERY_LIMITED, 0, 5);
    ald_license other = license_of(2, ALD_LICENSE_QUERY_LIMITED, 0, 1);
    fresh("queries");
    check_usage(&l, 0, 0);
    CHECK(access(folder, F_OK) != 0); /* looking makes nothing */
    for (int i = 0; i < 4; i++)
        REQUIRE_OK(use(&l, 1), &err);
    CHECK_INT(use(&l, 2), ALD_E_LICENSE_EXHAUSTED);
    REQUIRE_OK(use(&other, 1), &err);
    REQUIRE_OK(use(&l, 1), &err);
    CHECK_INT(use(&l, 1), ALD_E_LICENSE_EXHAUSTED);
    CHECK_CONTAINS(err.msg, "all 5 queries");
    CHECK_INT(use(&other, 1), ALD_E_LICENSE_EXHAUSTED);
    check_usage(&l, 5, 0);
    check_usage(&other, 1, 0);
    CHECK_UINT(mode_of(folder), 0700);
    CHECK_UINT(mode_of(in_folder("licenses")), 0600);
    CHECK_UINT(mode_of(in_folder("licenses.key")), 0600);
    CHECK_UINT(mode_of(in_folder("licenses.lock")), 0600);
}

static void test_no_limits(void)
{
    ald_license l = license_of(1, ALD_LICENSE_EXPIRATION_ENFORCED, 0, 0);
    fresh("no-limits");
    REQUIRE_OK(use(&l, 1), &err);
    CHECK(access(folder, F_OK) != 0);
}

static void test_zero_limits(void)
{
    ald_license queries = license_of(1, ALD_LICENSE_QUERY_LIMITED, 0, 0);
    ald_license seats = license_of(2, ALD_LICENSE_SEATS_ENFORCED, 0, 0);
    fresh("zero");
    CHECK_INT(use(&queries, 1), ALD_E_LICENSE_EXHAUSTED);
    CHECK_INT(use(&seats, 1), ALD_E_LICENSE_EXHAUSTED);
    CHECK_CONTAINS(err.msg, "0 seats");
}

static void test_a_seat_is_taken_once(void)
{
    ald_license l =
        license_of(1, ALD_LICENSE_SEATS_ENFORCED | ALD_LICENSE_QUERY_LIMITED, 1, UINT32_MAX);
    fresh("seat");
    for (int i = 0; i < 3; i++)
        REQUIRE_OK(use(&l, 0), &err);
    check_usage(&l, 0, 1);
    REQUIRE_OK(use(&l, 7), &err);
    check_usage(&l, 7, 1);
}

/* Neither is noted when one of both is used up. */
static void test_both_or_nothing(void)
{
    ald_license l = license_of(1, ALD_LICENSE_SEATS_ENFORCED | ALD_LICENSE_QUERY_LIMITED, 1, 2);
    fresh("both");
    CHECK_INT(use(&l, 3), ALD_E_LICENSE_EXHAUSTED);
    check_usage(&l, 0, 0);
}

/* As another user; in a child, as there is no way back. */
static ald_status use_as(uid_t user, gid_t group, const ald_license *l)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(group) != 0 || setuid(user) != 0)
            _exit(99);
        _exit((int)use(l, 1));
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return (ald_status)WEXITSTATUS(status);
}

static void test_seats_of_several_users(void)
{
    ald_license l = license_of(1, ALD_LICENSE_SEATS_ENFORCED, 2, 0);
    fresh("shared");
    if (geteuid() != 0)
        return; /* becoming somebody else needs root; the rest holds for anybody */
    CHECK(chmod(root, 0755) == 0 && mkdir(folder, 0700) == 0);
    CHECK(chown(folder, 0, 12345) == 0 && chmod(folder, 02770) == 0);
    CHECK_INT(use_as(1001, 12345, &l), ALD_OK);
    CHECK_INT(use_as(1002, 12345, &l), ALD_OK);
    CHECK_INT(use_as(1003, 12345, &l), ALD_E_LICENSE_EXHAUSTED);
    CHECK_INT(use_as(1001, 12345, &l), ALD_OK);
    CHECK_INT(use_as(1004, 54321, &l), ALD_E_IO); /* not of the group */
    CHECK_UINT(mode_of(in_folder("licenses")), 0660);
    CHECK_UINT(mode_of(in_folder("licenses.key")), 0660);
}

static void test_processes_take_turns(void)
{
    enum { PROCESSES = 6, USES = 20 };
    ald_license l = license_of(9, ALD_LICENSE_QUERY_LIMITED, 0, PROCESSES * USES);
    pid_t children[PROCESSES];
    fresh("turns");
    fflush(stdout);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            int failed = 0;
            for (int k = 0; k < USES; k++)
                failed += use(&l, 1) != ALD_OK;
            _exit(failed != 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 1;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
    check_usage(&l, PROCESSES * USES, 0);
    CHECK_INT(use(&l, 1), ALD_E_LICENSE_EXHAUSTED);
}

static void flip(const char *path, off_t at)
{
    uint8_t byte = 0;
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 1;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static void refused(const ald_license *l, const char *why)
{
    ald_license_usage usage;
    CHECK_INT(use(l, 1), ALD_E_CHECKSUM_MISMATCH);
    CHECK_CONTAINS(err.msg, why);
    CHECK_CONTAINS(err.msg, "\nput both files back");
    CHECK_INT(ald_license_state_get(folder, l, &host, &usage, &err), ALD_E_CHECKSUM_MISMATCH);
}

static void test_changes_are_seen(void)
{
    static const char *const names[] = {"licenses", "licenses.key"};
    ald_license l = license_of(3, ALD_LICENSE_QUERY_LIMITED, 0, 100);
    fresh("changed");
    REQUIRE_OK(use(&l, 1), &err);
    for (size_t n = 0; n < 2; n++) {
        struct stat info;
        REQUIRE(stat(in_folder(names[n]), &info) == 0);
        for (off_t at = 0; at < info.st_size; at++) {
            flip(in_folder(names[n]), at);
            refused(&l, "was changed");
            flip(in_folder(names[n]), at);
        }
    }
    check_usage(&l, 1, 0);
    CHECK(truncate(in_folder("licenses"), 8) == 0);
    refused(&l, "was changed");
    CHECK(unlink(in_folder("licenses")) == 0);
    refused(&l, "it is missing");
    CHECK(unlink(in_folder("licenses.key")) == 0);
    check_usage(&l, 0, 0);
    REQUIRE_OK(use(&l, 1), &err);
    CHECK(unlink(in_folder("licenses.key")) == 0);
    refused(&l, "its key is missing");
}

static void test_folder_that_cannot_be(void)
{
    ald_license l = license_of(3, ALD_LICENSE_QUERY_LIMITED, 0, 100);
    snprintf(folder, sizeof folder, "%s/a/b", root);
    CHECK_INT(use(&l, 1), ALD_E_IO);
    CHECK_CONTAINS(err.msg, "a/b");
}

int main(void)
{
    char command[64];
    host = ald_native_host(1);
    if (mkdtemp(root) == NULL)
        return 1;
    umask(022);
    RUN(test_queries);
    RUN(test_no_limits);
    RUN(test_zero_limits);
    RUN(test_a_seat_is_taken_once);
    RUN(test_both_or_nothing);
    RUN(test_seats_of_several_users);
    RUN(test_processes_take_turns);
    RUN(test_changes_are_seen);
    RUN(test_folder_that_cannot_be);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command) != 0 || check_done();
}
