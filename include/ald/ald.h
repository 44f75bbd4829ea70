/* SPDX-License-Identifier: MIT */
/* The whole public API. Shapes, units, ownership and errors are said where each thing is declared. */
#ifndef ALD_ALD_H
#define ALD_ALD_H

#include "ald/alloc.h"
#include "ald/arrow.h"
#include "ald/commercial.h"
#include "ald/crypto.h"
#include "ald/csv.h"
#include "ald/dlpack.h"
#include "ald/error.h"
#include "ald/filter.h"
#include "ald/io.h"
#include "ald/ipc.h"
#include "ald/jsonl.h"
#include "ald/keys.h"
#include "ald/license.h"
#include "ald/license_state.h"
#include "ald/loader.h"
#include "ald/mapped.h"
#include "ald/native.h"
#include "ald/parquet.h"
#include "ald/piracy.h"
#include "ald/query.h"
#include "ald/reader.h"
#include "ald/rewrite.h"
#include "ald/schema.h"
#include "ald/stats.h"
#include "ald/stream.h"
#include "ald/streaming.h"
#include "ald/text.h"
#include "ald/trust.h"
#include "ald/value.h"
#include "ald/version.h"
#include "ald/watermark.h"
#include "ald/writer.h"

#endif
