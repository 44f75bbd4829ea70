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
