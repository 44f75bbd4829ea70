/* SPDX-License-Identifier: MIT */
/* NEON, which every AArch64 has. Included by masks.c alone. */
#include <arm_neon.h>

/* Each byte is 0 or 0xFF; three pairwise additions of one bit per place put 64 of them side by side. */
static uint64_t neon_gather(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vld1q_u8(places);
    uint8x16_t ab = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
    uint8x16_t cd = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
    uint8x16_t all = vpaddq_u8(ab, cd);
    all = vpaddq_u8(all, all);
    return vgetq_lane_u64(vreinterpretq_u64_u8(all), 0);
}

static uint64_t neon_equal(const uint8x16_t v[4], uint8_t c)
{
    const uint8x16_t x = vdupq_n_u8(c);
    return neon_gather(vceqq_u8(v[0], x), vceqq_u8(v[1], x), vceqq_u8(v[2], x), vceqq_u8(v[3], x));
}

static unsigned masks_neon(const uint8_t *data, size_t words, ald__csv_chars chars,
                           ald__csv_word *out)
{
    uint8x16_t high = vdupq_n_u8(0), low = vdupq_n_u8(255);
    for (size_t w = 0; w < words; w++) {
        uint8x16_t v[4];
        for (unsigned i = 0; i < 4; i++) {
            v[i] = vld1q_u8(data + w * 64 + i * 16);
            high = vmaxq_u8(high, v[i]);
            low = vminq_u8(low, v[i]);
        }
        out[w].quote = neon_equal(v, chars.quote);
        out[w].delimiter = neon_equal(v, chars.delimiter);
        out[w].cr = neon_equal(v, '\r');
        out[w].lf = neon_equal(v, '\n');
    }
    return (vmaxvq_u8(high) >= 0x80 ? ALD__CSV_HIGH : 0) | (vminvq_u8(low) == 0 ? ALD__CSV_NUL : 0);
}

static size_t masks_list(ald__csv_masks_fn list[4])
{
    list[0] = masks_neon;
    return 1;
}
