/* SPDX-License-Identifier: MIT */
/* The round trips once more, read by the code as it is built for size: one way through everything. */
#define ALD__FOR_SPEED 0
/* NOLINTBEGIN(bugprone-suspicious-include): the definitions are the point */
#include "core/codec/packed/packed_ints.c"
#include "core/codec/packed/packed_sums.c"
#include "core/codec/packed/rebuild_digits.c"
#include "core/codec/packed/rebuild_strnum.c"
#include "core/codec/packed/rebuild_text.c"
#include "test_packed_roundtrip.c"
/* NOLINTEND(bugprone-suspicious-include) */
