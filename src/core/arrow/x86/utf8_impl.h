/* SPDX-License-Identifier: MIT */
/* AVX2: what is wrong with a byte and the one before it is looked up by three halves of theirs, a bit for each rule; a bit
 * that all three tables have is a broken rule. Included by utf8.c alone. */
#include <immintrin.h>

#define UTF8_AVX2 __attribute__((target("avx2")))
#define UTF8_STEP 128u

enum {
    UTF8_SHORT = 1,       /* a lead byte without a continuation byte behind it */
    UTF8_STRAY = 2,       /* a continuation byte behind ASCII */
    UTF8_OVERLONG_3 = 4,  /* E0 80 to E0 9F */
    UTF8_LARGE = 8,       /* above U+10FFFF: F4 90 and more */
    UTF8_SURROGATE = 16,  /* ED A0 to ED BF */
    UTF8_OVERLONG_2 = 32, /* C0, C1 */
    UTF8_OVERLONG_4 = 64, /* F0 80 to F0 8F, and F5 80 to FF 8F */
    UTF8_TWO =
        (int8_t)(1
                 << 7) /* two continuation bytes: right where a lead two or three before says so */
};

#define UTF8_TABLE(...) _mm256_setr_epi8(__VA_ARGS__, __VA_ARGS__)

UTF8_AVX2 static inline __m256i utf8_high_half(__m256i v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(15));
}

/* By the upper half of the byte before. */
UTF8_AVX2 static inline __m256i utf8_lead_rules(__m256i before)
{
    const __m256i table = UTF8_TABLE(UTF8_STRAY, UTF8_STRAY, UTF8_STRAY, UTF8_STRAY, UTF8_STRAY,
                                     UTF8_STRAY, UTF8_STRAY, UTF8_STRAY, UTF8_TWO, UTF8_TWO,
                                     UTF8_TWO, UTF8_TWO, UTF8_SHORT | UTF8_OVERLONG_2, UTF8_SHORT,
                                     UTF8_SHORT | UTF8_OVERLONG_3 | UTF8_SURROGATE,
                                     UTF8_SHORT | UTF8_LARGE | UTF8_OVERLONG_4);
    return _mm256_shuffle_epi8(table, utf8_high_half(before));
}

#define UTF8_ANY (UTF8_SHORT | UTF8_STRAY | UTF8_TWO) /* rules that do not ask for the lower half */
#define UTF8_OVER (UTF8_ANY | UTF8_LARGE | UTF8_OVERLONG_4)

UTF8_AVX2 static inline __m256i utf8_low_rules(__m256i before)
{
    const __m256i table =
        UTF8_TABLE(UTF8_ANY | UTF8_OVERLONG_2 | UTF8_OVERLONG_3 | UTF8_OVERLONG_4,
                   UTF8_ANY | UTF8_OVERLONG_2, UTF8_ANY, UTF8_ANY, UTF8_ANY | UTF8_LARGE, UTF8_OVER,
                   UTF8_OVER, UTF8_OVER, UTF8_OVER, UTF8_OVER, UTF8_OVER, UTF8_OVER, UTF8_OVER,
                   UTF8_OVER | UTF8_SURROGATE, UTF8_OVER, UTF8_OVER);
    return _mm256_shuffle_epi8(table, _mm256_and_si256(before, _mm256_set1_epi8(15)));
}

/* By the upper half of the byte itself. */
UTF8_AVX2 static inline __m256i utf8_tail_rules(__m256i v)
{
    enum { TAIL = UTF8_STRAY | UTF8_OVERLONG_2 | UTF8_TWO };
    const __m256i table = UTF8_TABLE(
        UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT,
        UTF8_SHORT, TAIL | UTF8_OVERLONG_3 | UTF8_OVERLONG_4, TAIL | UTF8_OVERLONG_3 | UTF8_LARGE,
        TAIL | UTF8_SURROGATE | UTF8_LARGE, TAIL | UTF8_SURROGATE | UTF8_LARGE, UTF8_SHORT,
        UTF8_SHORT, UTF8_SHORT, UTF8_SHORT);
    return _mm256_shuffle_epi8(table, utf8_high_half(v));
}

UTF8_AVX2 static inline __m256i utf8_load(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

/* Not all zeros when one of the bytes is wrong. */
UTF8_AVX2 static inline __m256i utf8_broken(const uint8_t *p)
{
    __m256i v = utf8_load(p), before = utf8_load(p - 1);
    __m256i rules = _mm256_and_si256(
        _mm256_and_si256(utf8_lead_rules(before), utf8_low_rules(before)), utf8_tail_rules(v));
    __m256i third = _mm256_subs_epu8(utf8_load(p - 2), _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(utf8_load(p - 3), _mm256_set1_epi8(0xF0 - 0x80));
    __m256i wanted = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8(-128));
    return _mm256_xor_si256(rules, wanted);
}

/* The rules tell of such a byte when they look at the one behind it. */
static inline int utf8_never(uint8_t c)
{
    return (c & 0xFE) == 0xC0 || c >= 0xF5;
}

/* From `pos` on, which has three bytes before it, to the first block that may be wrong, or where less than one is left. */
UTF8_AVX2 static size_t skip_avx2(const uint8_t *data, size_t pos, size_t size, int *ascii,
                                  int *open)
{
    for (; size - pos >= UTF8_STEP; pos += UTF8_STEP) {
        const uint8_t *p = data + pos;
        __m256i all = _mm256_or_si256(_mm256_or_si256(utf8_load(p), utf8_load(p + 32)),
                                      _mm256_or_si256(utf8_load(p + 64), utf8_load(p + 96)));
        if (!*open && _mm256_movemask_epi8(all) == 0)
            continue;
        *ascii = 0;
        all = _mm256_or_si256(_mm256_or_si256(utf8_broken(p), utf8_broken(p + 32)),
                              _mm256_or_si256(utf8_broken(p + 64), utf8_broken(p + 96)));
        if (!_mm256_testz_si256(all, all) || utf8_never(p[UTF8_STEP - 1]))
            break;
        *open = !is_complete(p + UTF8_STEP);
    }
    return pos;
}

static size_t skip_blocks(const uint8_t *data, size_t pos, size_t size, int *ascii, int *open)
{
    return __builtin_cpu_supports("avx2") ? skip_avx2(data, pos, size, ascii, open) : pos;
}
