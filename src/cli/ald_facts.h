/* SPDX-License-Identifier: MIT */
/* What a .ald says of itself, for info and verify. */
#ifndef CLI_ALD_FACTS_H
#define CLI_ALD_FACTS_H

#include "ald/reader.h"
#include "cli/cli.h"
#include "cli/json_print.h"

/* "SIGNED, LICENSED", or "none". */
const char *ald_facts_flags(uint8_t flags, char *buf, size_t size);
/* "flags": ["SIGNED", …] */
void ald_facts_flags_json(json_print *j, uint8_t flags);
/* "password", "recipient", "recipients". */
const char *ald_facts_encryption(const ald_info *info);
/* 2026-01-31T12:00:00Z; "never" for 0. */
const char *ald_facts_time(uint64_t unix_seconds, char *buf, size_t size);

/* 1234567 as 1,234,567. */
const char *ald_facts_grouped(uint64_t value, char *buf, size_t size);

/* The members of one JSON object that is open. */
void ald_facts_json(json_print *j, cli_env *env, const ald_info *info);
/* Lines of `name: value`. */
void ald_facts_text(cli_env *env, const ald_info *info);
void ald_facts_line(const char *name, const char *value);

#endif
