/* SPDX-License-Identifier: MIT */
/* The checks that opening a .ald makes, one by one: passed, failed, not done, or not there to be made. */
#ifndef CLI_VERIFY_CHECKS_H
#define CLI_VERIFY_CHECKS_H

#include "cli/json_print.h"
#include "cli/trust_options.h"

typedef struct verify_check {
    const char *name;
    const char *result; /* "ok", "failed", "unchecked", "absent" */
    char why[240];
} verify_check;

typedef struct verify_list {
    verify_check items[12];
    size_t count;
} verify_list;

void verify_add(verify_list *list, const char *name, const char *result, const char *why);

/* What a load that ended with `failure` (ALD_OK: none) has checked. `info` may be NULL: the head of the file is broken. */
void verify_list_checks(cli_env *env, verify_list *list, const cli_trust *trust,
                        const ald_info *info, const ald_error *failure);

/* Whether a load failed for want of a secret alone that nobody gave: all checks before it have passed. */
int verify_lacks_secret(const cli_trust *trust, const ald_info *info, ald_status status);

/* A line for each, on stdout; "checks": […]. */
void verify_print(const verify_list *list);
void verify_json(json_print *j, const verify_list *list);

#endif
