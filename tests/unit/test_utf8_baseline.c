/* SPDX-License-Identifier: MIT */
/* The same, by the code for processors without AVX2. */
#define ALD__NO_AVX2
/* NOLINTBEGIN(bugprone-suspicious-include): the definitions are the point */
#include "core/arrow/utf8.c"
#include "test_utf8.c"
/* NOLINTEND(bugprone-suspicious-include) */
