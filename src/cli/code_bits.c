/* SPDX-License-Identifier: MIT */
#include "cli/code_bits.h"

#define LOG2_E 1.4426950408889634

code_bits code_bits_count(const uint8_t *code, const uint8_t *bits, const uint8_t *known)
{
    code_bits out = {0, 0};
    for (unsigned i = 0; i < ALD_WATERMARK_CODE_BYTES; i++) {
        out.read += (unsigned)__builtin_popcount(known[i]);
        out.agreeing +=
            (unsigned)__builtin_popcount(~(unsigned)(code[i] ^ bits[i]) & (unsigned)known[i]);
    }
    return out;
}

void code_votes_add(code_votes *votes, const uint8_t *code, const uint8_t *bits,
                    const uint8_t *known)
{
    const code_bits counted = code_bits_count(code, bits, known);
    votes->sum.read += counted.read;
    votes->sum.agreeing += counted.agreeing;
    for (unsigned j = 0; j < 8 * ALD_WATERMARK_CODE_BYTES; j++) {
        const unsigned bit = 1u << j % 8;
        if ((known[j / 8] & bit) != 0) {
            votes->of[j] += ((code[j / 8] ^ bits[j / 8]) & bit) != 0 ? -1 : 1;
        }
    }
}

double code_votes_log2_p(const code_votes *votes)
{
    double sum = 0, squares = 0;
    for (unsigned j = 0; j < 8 * ALD_WATERMARK_CODE_BYTES; j++) {
        sum += votes->of[j];
        squares += (double)votes->of[j] * votes->of[j];
    }
    return sum > 0 ? -(sum * sum / squares / 2) * LOG2_E : 0;
}
