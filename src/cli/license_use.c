/* SPDX-License-Identifier: MIT */
#include "cli/license_use.h"

#include <stdlib.h>
#include <string.h>

#include "cli/signers.h"

static ald_status state_folder_path(char **out, ald_error *err)
{
    ald_status status = cli_home_path("licenses", out, err);
    if (status == ALD_OK) {
        *strrchr(*out, '/') = '\0'; /* the folder that the state lies in */
    }
    return status;
}

ald_status cli_license_use(cli_env *env, const ald_info *info, uint64_t query_count, ald_error *err)
{
    char *folder = NULL;
    if (info->license == NULL ||
        (info->license->flags & (ALD_LICENSE_SEATS_ENFORCED | ALD_LICENSE_QUERY_LIMITED)) == 0) {
        return ALD_OK;
    }
    ald_status status = state_folder_path(&folder, err);
    if (status == ALD_OK) {
        status = ald_license_state_use(folder, info->license, query_count, &env->host, err);
    }
    free(folder);
    return status;
}

ald_status cli_license_usage(cli_env *env, const ald_license *license, ald_license_usage *out,
                             ald_error *err)
{
    char *folder = NULL;
    ald_status status = state_folder_path(&folder, err);
    if (status == ALD_OK) {
        status = ald_license_state_get(folder, license, &env->host, out, err);
    }
    free(folder);
    return status;
}

ald_status cli_license_is_left(cli_env *env, const ald_license *l, ald_error *err)
{
    ald_license_usage usage;
    const char *subject = env->subject;
    env->subject = NULL;
    ald_status status = cli_license_usage(env, l, &usage, err);
    if (status != ALD_OK) {
        return status;
    }
    env->subject = subject;
    if ((l->flags & ALD_LICENSE_SEATS_ENFORCED) != 0 && !usage.has_seat &&
        usage.seat_count >= l->seat_limit) {
        return ald_error_set(err, ALD_E_LICENSE_EXHAUSTED, ALD_NO_OFFSET,
                             "all %u seats of the license are taken by users of this machine",
                             l->seat_limit);
    }
    if ((l->flags & ALD_LICENSE_QUERY_LIMITED) != 0 && usage.query_count >= l->query_limit) {
        return ald_error_set(err, ALD_E_LICENSE_EXHAUSTED, ALD_NO_OFFSET,
                             "all %u queries of the license were used on this machine",
                             l->query_limit);
    }
    return ALD_OK;
}
