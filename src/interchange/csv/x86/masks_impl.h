/* SPDX-License-Identifier: MIT */
/* SSE2, which every x86-64 has, and AVX2 where processor and system have it. Included by masks.c alone. */
#include <immintrin.h>

static uint64_t sse2_equal(const __m128i v[4], __m128i c)
{
    uint64_t m = 0;
    for (unsigned i = 0; i < 4; i++)
        m |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], c)) << (16 * i);
    return m;
}

static unsigned masks_sse2(const uint8_t *data, size_t words, ald__csv_chars chars,
                           ald__csv_word *out)
{
    const __m128i quote = _mm_set1_epi8((char)chars.quote), cr = _mm_set1_epi8('\r');
    const __m128i delimiter = _mm_set1_epi8((char)chars.delimiter), lf = _mm_set1_epi8('\n');
    __m128i high = _mm_setzero_si128(), low = _mm_set1_epi8(-1);
    for (size_t w = 0; w < words; w++) {
        __m128i v[4];
        for (unsigned i = 0; i < 4; i++) {
            v[i] = _mm_loadu_si128((const __m128i *)(const void *)(data + w * 64 + i * 16));
            high = _mm_or_si128(high, v[i]);
            low = _mm_min_epu8(low, v[i]);
        }
        out[w].quote = sse2_equal(v, quote);
        out[w].delimiter = sse2_equal(v, delimiter);
        out[w].cr = sse2_equal(v, cr);
        out[w].lf = sse2_equal(v, lf);
    }
    return (_mm_movemask_epi8(high) != 0 ? ALD__CSV_HIGH : 0) |
           (_mm_movemask_epi8(_mm_cmpeq_epi8(low, _mm_setzero_si128())) != 0 ? ALD__CSV_NUL : 0);
}

#define MASKS_AVX2 __attribute__((target("avx2")))

MASKS_AVX2 static inline uint64_t avx2_equal(__m256i a, __m256i b, __m256i c)
{
    uint64_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, c));
    uint64_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, c));
    return low | high << 32;
}

MASKS_AVX2 static unsigned masks_avx2(const uint8_t *data, size_t words, ald__csv_chars chars,
                                      ald__csv_word *out)
{
    const __m256i quote = _mm256_set1_epi8((char)chars.quote), cr = _mm256_set1_epi8('\r');
    const __m256i delimiter = _mm256_set1_epi8((char)chars.delimiter), lf = _mm256_set1_epi8('\n');
    __m256i high = _mm256_setzero_si256(), low = _mm256_set1_epi8(-1);
    for (size_t w = 0; w < words; w++) {
        const __m256i *p = (const __m256i *)(const void *)(data + w * 64);
        __m256i a = _mm256_loadu_si256(p), b = _mm256_loadu_si256(p + 1);
        high = _mm256_or_si256(high, _mm256_or_si256(a, b));
        low = _mm256_min_epu8(low, _mm256_min_epu8(a, b));
        out[w].quote = avx2_equal(a, b, quote);
        out[w].delimiter = avx2_equal(a, b, delimiter);
        out[w].cr = avx2_equal(a, b, cr);
        out[w].lf = avx2_equal(a, b, lf);
    }
    return (_mm256_movemask_epi8(high) != 0 ? ALD__CSV_HIGH : 0) |
           (_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, _mm256_setzero_si256())) != 0 ? ALD__CSV_NUL
                                                                                      : 0);
}

static size_t masks_list(ald__csv_masks_fn list[4])
{
    size_t count = 0;
    if (__builtin_cpu_supports("avx2"))
        list[count++] = masks_avx2;
    list[count++] = masks_sse2;
    return count;
}
