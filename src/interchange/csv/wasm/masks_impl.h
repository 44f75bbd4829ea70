/* SPDX-License-Identifier: MIT */
/* WebAssembly's 128-bit vectors: the whole module has them or it does not load. Included by masks.c alone. */
#include <wasm_simd128.h>

static uint64_t simd128_equal(const v128_t v[4], uint8_t c)
{
    const v128_t x = wasm_u8x16_splat(c);
    uint64_t m = 0;
    for (unsigned i = 0; i < 4; i++)
        m |= (uint64_t)wasm_i8x16_bitmask(wasm_i8x16_eq(v[i], x)) << (16 * i);
    return m;
}

static unsigned masks_simd128(const uint8_t *data, size_t words, ald__csv_chars chars,
                              ald__csv_word *out)
{
    v128_t high = wasm_u8x16_splat(0), low = wasm_u8x16_splat(255);
    for (size_t w = 0; w < words; w++) {
        v128_t v[4];
        for (unsigned i = 0; i < 4; i++) {
            v[i] = wasm_v128_load(data + w * 64 + i * 16);
            high = wasm_v128_or(high, v[i]);
            low = wasm_u8x16_min(low, v[i]);
        }
        out[w].quote = simd128_equal(v, chars.quote);
        out[w].delimiter = simd128_equal(v, chars.delimiter);
        out[w].cr = simd128_equal(v, '\r');
        out[w].lf = simd128_equal(v, '\n');
    }
    return (wasm_i8x16_bitmask(high) != 0 ? ALD__CSV_HIGH : 0) |
           (wasm_i8x16_all_true(low) ? 0 : ALD__CSV_NUL);
}

static size_t masks_list(ald__csv_masks_fn list[4])
{
    list[0] = masks_simd128;
    return 1;
}
