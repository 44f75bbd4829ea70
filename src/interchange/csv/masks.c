/* SPDX-License-Identifier: MIT */
/* Knows the portable form and which of the others may run here. */
#include "interchange/csv/masks.h"

#define LOW7 0x7F7F7F7F7F7F7F7Full
#define TOP 0x8080808080808080ull
#define ONES 0x0101010101010101ull

static uint64_t masks_load(const uint8_t *p)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << (8 * i);
    return v;
}

/* The top bit of each byte that is 0. No carry leaves a byte: 0x7F + 0x7F is below 0x100. */
static uint64_t zero_bytes(uint64_t v)
{
    return ~(((v & LOW7) + LOW7) | v) & TOP;
}

/* The top bits of 8 bytes side by side. */
static uint64_t gather_tops(uint64_t tops)
{
    return ((tops >> 7) * 0x0102040810204080ull) >> 56;
}

static unsigned masks_portable(const uint8_t *data, size_t words, ald__csv_chars chars,
                               ald__csv_word *out)
{
    const uint64_t quote = ONES * chars.quote, delimiter = ONES * chars.delimiter;
    uint64_t high = 0, nul = 0;
    for (size_t w = 0; w < words; w++) {
        ald__csv_word word = {0, 0, 0, 0};
        for (unsigned i = 0; i < 8; i++) {
            uint64_t v = masks_load(data + w * 64 + i * 8);
            word.quote |= gather_tops(zero_bytes(v ^ quote)) << (8 * i);
            word.delimiter |= gather_tops(zero_bytes(v ^ delimiter)) << (8 * i);
            word.cr |= gather_tops(zero_bytes(v ^ (ONES * '\r'))) << (8 * i);
            word.lf |= gather_tops(zero_bytes(v ^ (ONES * '\n'))) << (8 * i);
            high |= v & TOP;
            nul |= zero_bytes(v);
        }
        out[w] = word;
    }
    return (high != 0 ? ALD__CSV_HIGH : 0) | (nul != 0 ? ALD__CSV_NUL : 0);
}

#if defined(__x86_64__)
#include "interchange/csv/x86/masks_impl.h"
#elif defined(__aarch64__)
#include "interchange/csv/arm/masks_impl.h"
#elif defined(__wasm_simd128__)
#include "interchange/csv/wasm/masks_impl.h"
#else
static size_t masks_list(ald__csv_masks_fn list[4])
{
    (void)list;
    return 0;
}
#endif

ald__csv_masks_fn ald__csv_masks_variant(size_t index)
{
    ald__csv_masks_fn list[4];
    size_t count = masks_list(list);
    list[count++] = masks_portable;
    return index < count ? list[index] : NULL;
}

ald__csv_masks_fn ald__csv_masks_best(void)
{
    return ald__csv_masks_variant(0);
}
