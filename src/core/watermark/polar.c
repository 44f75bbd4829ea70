/* SPDX-License-Identifier: MIT */
#include "core/watermark/polar.h"

#include <string.h>

/* Polarization weights: the sum of 2^(b/4) over the set bits b of an index. */
static double polar_weight(unsigned index)
{
    static const double quarter[4] = {1.0, 1.189207115002721, 1.4142135623730951,
                                      1.681792830507429};
    double weight = 0;
    for (unsigned b = 0; b < 11; b++) {
        if (index >> b & 1)
            weight += quarter[b % 4] * (double)(1u << b / 4);
    }
    return weight;
}

/* The 320 heaviest, half of them at a time (frames stay small), each half found by inserting every index into a list of the
 * heaviest so far. */
void ald__polar_init(ald__polar *code)
{
    struct {
        double weight;
        unsigned index;
    } best[ALD__POLAR_INFO / 2];
    double limit = 1e9;
    memset(code->before, 0, sizeof code->before);
    for (unsigned half = 0; half < 2; half++) {
        size_t count = 0;
        for (unsigned i = 0; i < ALD__POLAR_BITS; i++) {
            double weight = polar_weight(i);
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
}

void ald__polar_encode(const ald__polar *code, const uint8_t payload[ALD__POLAR_PAYLOAD],
                       uint64_t codeword[ALD__POLAR_WORDS])
{
    static const uint64_t lower[6] = {UINT64_C(0x5555555555555555), UINT64_C(0x3333333333333333),
                                      UINT64_C(0x0f0f0f0f0f0f0f0f), UINT64_C(0x00ff00ff00ff00ff),
                                      UINT64_C(0x0000ffff0000ffff), UINT64_C(0x00000000ffffffff)};
    for (unsigned w = 0, t = 0; w < ALD__POLAR_WORDS; w++) {
        uint64_t word = 0;
        for (unsigned end = code->before[(w + 1) * 64]; t < end; t++)
            word |= (uint64_t)(payload[t / 8] >> (t % 8) & 1) << (code->info[t] % 64);
        codeword[w] = word;
    }
    for (unsigned h = 0; h < 6; h++) {
        for (unsigned w = 0; w < ALD__POLAR_WORDS; w++)
            codeword[w] ^= codeword[w] >> (1u << h) & lower[h];
    }
    for (unsigned h = 1; h < ALD__POLAR_WORDS; h *= 2) {
        for (unsigned w = 0; w < ALD__POLAR_WORDS; w++)
            codeword[w] ^= (w & h) == 0 ? codeword[w + h] : 0;
    }
}
