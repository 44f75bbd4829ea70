/* SPDX-License-Identifier: MIT */
/* Plans from declared Arrow types. */
#ifndef INTERCHANGE_JSONL_JSON_PLAN_DECLARED_H
#define INTERCHANGE_JSONL_JSON_PLAN_DECLARED_H

#include "interchange/jsonl/json_plan.h"

/* Children are set by the caller. NULL with err set. */
ald__plan *ald__plan_new(ald__plans *plans, ald__plan_op op, const char *format,
                         const ald__plan *parent, size_t child_count, ald_error *err);
ALD_NODISCARD ald_status ald__plan_set_name(ald__plans *plans, ald__plan *plan, const char *name,
                                            size_t size, ald_error *err);
/* When all children are named. */
ALD_NODISCARD ald_status ald__plan_hash_fields(ald__plans *plans, ald__plan *plan, ald_error *err);

/* ALD_E_UNSUPPORTED names the column whose type no JSON value can fill. */
ALD_NODISCARD ald_status ald__plan_from_schema(ald__plans *plans, const struct ArrowSchema *field,
                                               const ald__plan *parent, ald__plan **out,
                                               ald_error *err);

#endif
