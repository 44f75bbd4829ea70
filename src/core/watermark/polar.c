/* SPDX-License-Identifier: MIT */
#include "core/watermark/polar.h"

#include <string.h>

#include "core/base/endian.h"

#define SPREAD_STEP(s) (x = (x & ~code->spread[s][i]) | (x << (1u << (s)) & code->spread[s][i]))

/* Polarization weights: the sum of 2^(b/4) over the set bits b of an index. No two are nearly the same. */
typedef struct polar_weights {
    double low[64], high[ALD__POLAR_BITS / 64]; /* of the six lowest bits, and of the others */
} polar_weights;

static void add_bit(double *weight, unsigned bit, double of_bit)
{
    for (unsigned i = 0; i < 1u << bit; i++)
        weight[i + (1u << bit)] = weight[i] + of_bit;
}

static void set_weights(polar_weights *w)
{
    static const double quarter[4] = {1.0, 1.189207115002721, 1.4142135623730951,
                                      1.681792830507429};
    w->low[0] = w->high[0] = 0;
    for (unsigned b = 0; b < 11; b++)
        add_bit(b < 6 ? w->low : w->high, b < 6 ? b : b - 6,
                quarter[b % 4] * (double)(1u << b / 4));
}

/* How the lowest bits of a word spread to the places of `mask`: those of moves[s] move up by 2^s, the longest way first (Warren,
 * Hacker's Delight, 7-5). */
static void plan_spread(ald__polar *code, unsigned at)
{
    uint64_t mask = code->is_info[at], gaps = ~mask << 1;
    for (unsigned s = 0; s < ALD__POLAR_SPREAD; s++) {
        uint64_t odd = gaps, moves; /* places with an odd number of gaps below */
        for (unsigned i = 1; i < 64; i *= 2)
            odd ^= odd << i;
        moves = odd & mask;
        code->spread[s][at] = moves;
        mask = (mask ^ moves) | moves >> (1u << s);
        gaps &= ~odd;
    }
}

static void plan_words(ald__polar *code)
{
    unsigned count = 0;
    memset(code->word, 0, sizeof code->word); /* word 0 has none */
    memset(code->is_info, 0, sizeof code->is_info);
    for (unsigned i = 0; i < ALD__POLAR_INFO; i++) {
        unsigned word = code->info[i] / 64;
        if (count == 0 || code->word[count - 1] != word)
            code->word[count++] = (uint8_t)word;
        code->is_info[count - 1] |= UINT64_C(1) << code->info[i] % 64;
    }
    for (unsigned i = 0; i < ALD__POLAR_DENSE; i++)
        plan_spread(code, i);
}

/* The 320 heaviest, half of them at a time (frames stay small), each half found by inserting every index into a list of the
 * heaviest so far: high ones first, which tend to be heavy. */
void ald__polar_init(ald__polar *code)
{
    struct {
        double weight;
        unsigned index;
    } best[ALD__POLAR_INFO / 2];
    polar_weights weights;
    double limit = 1e9;
    set_weights(&weights);
    memset(code->before, 0, sizeof code->before);
    for (unsigned half = 0; half < 2; half++) {
        size_t count = 0;
        for (unsigned i = ALD__POLAR_BITS; i-- > 0;) {
            double weight = weights.high[i / 64] + weights.low[i % 64];
            size_t at = count;
            if (weight >= limit)
                continue;
            if (count == ALD__POLAR_INFO / 2) {
                if (weight <= best[count - 1].weight)
                    continue;
                at = count - 1;
            } else {
                count++;
            }
            for (; at > 0 && best[at - 1].weight < weight; at--)
                best[at] = best[at - 1];
            best[at].weight = weight;
            best[at].index = i;
        }
        for (size_t i = 0; i < count; i++)
            code->before[best[i].index + 1] = 1;
        limit = best[count - 1].weight;
    }
    for (unsigned i = 0, at = 0; i < ALD__POLAR_BITS; i++) {
        if (code->before[i + 1])
            code->info[at++] = (uint16_t)i;
        code->before[i + 1] = (uint16_t)at;
    }
    plan_words(code);
}

/* The payload's bits in their places of the words that have any, and the six steps within them. Loops over words, for vectors:
 * shifts are by constants. */
static void encode_words(const ald__polar *code, const uint8_t *payload, uint64_t *words)
{
    uint8_t padded[ALD__POLAR_PAYLOAD + 16] = {0};
    memcpy(padded, payload, ALD__POLAR_PAYLOAD);
    for (unsigned i = 0; i < ALD__POLAR_DENSE; i++) {
        unsigned first = code->before[code->word[i] * 64], shift = first % 8;
        const uint8_t *from = padded + first / 8;
        words[i] = ald__load_le64(from) >> shift | (uint64_t)from[8] << 1 << (63 - shift);
    }
    for (unsigned i = 0; i < ALD__POLAR_DENSE; i++) {
        uint64_t x = words[i];
        SPREAD_STEP(5);
        SPREAD_STEP(4);
        SPREAD_STEP(3);
        SPREAD_STEP(2);
        SPREAD_STEP(1);
        SPREAD_STEP(0);
        x &= code->is_info[i];
        x ^= x >> 1 & UINT64_C(0x5555555555555555);
        x ^= x >> 2 & UINT64_C(0x3333333333333333);
        x ^= x >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f);
        x ^= x >> 8 & UINT64_C(0x00ff00ff00ff00ff);
        x ^= x >> 16 & UINT64_C(0x0000ffff0000ffff);
        x ^= x >> 32;
        words[i] = x;
    }
}

void ald__polar_encode(const ald__polar *code, const uint8_t payload[ALD__POLAR_PAYLOAD],
                       uint64_t codeword[ALD__POLAR_WORDS])
{
    uint64_t words[ALD__POLAR_DENSE];
    encode_words(code, payload, words);
    memset(codeword, 0, ALD__POLAR_WORDS * sizeof *codeword);
    for (unsigned i = 0; i < ALD__POLAR_DENSE; i++)
        codeword[code->word[i]] = words[i];
    for (unsigned h = 1; h < ALD__POLAR_WORDS; h *= 2) {
        for (unsigned block = 0; block < ALD__POLAR_WORDS; block += 2 * h) {
            for (unsigned w = block; w < block + h; w++)
                codeword[w] ^= codeword[w + h];
        }
    }
}
