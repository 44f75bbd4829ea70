/* SPDX-License-Identifier: MIT */
/* The row of each command. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "cli/cli.h"

extern const cli_command cli_cmd_append;
extern const cli_command cli_cmd_card;
extern const cli_command cli_cmd_cat;
extern const cli_command cli_cmd_convert;
extern const cli_command cli_cmd_decrypt;
extern const cli_command cli_cmd_describe;
extern const cli_command cli_cmd_diff;
extern const cli_command cli_cmd_encrypt;
extern const cli_command cli_cmd_hash;
extern const cli_command cli_cmd_head;
extern const cli_command cli_cmd_help;
extern const cli_command cli_cmd_info;
extern const cli_command cli_cmd_key_show;
extern const cli_command cli_cmd_keygen;
extern const cli_command cli_cmd_license;
extern const cli_command cli_cmd_license_check;
extern const cli_command cli_cmd_license_revoke;
extern const cli_command cli_cmd_license_show;
extern const cli_command cli_cmd_open;
extern const cli_command cli_cmd_package;
extern const cli_command cli_cmd_piracy_check_evidence;
extern const cli_command cli_cmd_piracy_detect;
extern const cli_command cli_cmd_piracy_entropy;
extern const cli_command cli_cmd_piracy_extract;
extern const cli_command cli_cmd_piracy_prove;
extern const cli_command cli_cmd_piracy_scan;
extern const cli_command cli_cmd_query_answer;
extern const cli_command cli_cmd_query_open;
extern const cli_command cli_cmd_query_publish;
extern const cli_command cli_cmd_query_seal;
extern const cli_command cli_cmd_repair;
extern const cli_command cli_cmd_sample;
extern const cli_command cli_cmd_schema;
extern const cli_command cli_cmd_sign;
extern const cli_command cli_cmd_split;
extern const cli_command cli_cmd_stats;
extern const cli_command cli_cmd_tail;
extern const cli_command cli_cmd_trust_add;
extern const cli_command cli_cmd_trust_list;
extern const cli_command cli_cmd_trust_remove;
extern const cli_command cli_cmd_validate;
extern const cli_command cli_cmd_verify;
extern const cli_command cli_cmd_version;
extern const cli_command cli_cmd_watermark;

#endif
