/* SPDX-License-Identifier: MIT */
/* UTF-8 by blocks of 64 bytes that compilers turn into vector code, without one branch for each byte.
 *
 * Whether byte i is wrong depends on it and the three bytes before it alone: a continuation byte must stand exactly
 * where a lead byte one, two or three places before asks for one, some bytes never occur, and four leads narrow the byte
 * behind them (Unicode Standard, table 3-7). */
#include "core/arrow/utf8.h"

#include <string.h>

#include "core/base/utf8_step.h"

#define UTF8_BLOCK 64u
#define UTF8_HIGH_BITS UINT64_C(0x8080808080808080)

static int block_is_ascii(const uint8_t *p)
{
    uint64_t w[UTF8_BLOCK / 8];
    memcpy(w, p, sizeof w);
    return ((w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7]) & UTF8_HIGH_BITS) == 0;
}

/* Sixteen bytes; compilers without such registers do them one after the other. */
typedef uint8_t lanes __attribute__((vector_size(16)));

static inline lanes load_lanes(const uint8_t *p)
{
    lanes v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline lanes all_lanes(uint8_t x)
{
    return (lanes){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x};
}

static inline lanes at_least(lanes v, uint8_t x)
{
    return (lanes)(v >= all_lanes(x));
}

static inline lanes equals(lanes v, uint8_t x)
{
    return (lanes)(v == all_lanes(x));
}

/* Lanes of p[0 .. 16) that are wrong; p[-3] to p[-1] are readable. */
static inline lanes wrong_lanes(const uint8_t *p)
{
    const lanes c = load_lanes(p), one = load_lanes(p - 1);
    const lanes two = load_lanes(p - 2), three = load_lanes(p - 3);
    lanes is_tail = equals(c & all_lanes(0xC0), 0x80);
    lanes wants_tail = at_least(one, 0xC0) | at_least(two, 0xE0) | at_least(three, 0xF0);
    lanes wrong = is_tail ^ wants_tail;
    wrong |= equals(c & all_lanes(0xFE), 0xC0) | at_least(c, 0xF5);
    wrong |= equals(one, 0xE0) & ~at_least(c, 0xA0);
    wrong |= equals(one, 0xED) & at_least(c, 0xA0);
    wrong |= equals(one, 0xF0) & ~at_least(c, 0x90);
    wrong |= equals(one, 0xF4) & at_least(c, 0x90);
    return wrong;
}

/* Nonzero when a byte of p[0 .. UTF8_BLOCK) is wrong; p[-3] to p[-1] are readable. */
static int block_is_wrong(const uint8_t *p)
{
    lanes wrong = wrong_lanes(p) | wrong_lanes(p + 16) | wrong_lanes(p + 32) | wrong_lanes(p + 48);
    uint64_t w[2];
    memcpy(w, &wrong, sizeof w);
    return (w[0] | w[1]) != 0;
}

/* Nonzero when p[-3] to p[-1] leave no sequence open. */
static int is_complete(const uint8_t *p)
{
    return p[-1] < 0xC0 && p[-2] < 0xE0 && p[-3] < 0xF0;
}

/* The same answer one sequence at a time, from `pos`, which is a boundary. */
static size_t step_from(const uint8_t *data, size_t size, size_t pos)
{
    while (pos < size) {
        size_t n = ald__utf8_step(data + pos, size - pos);
        if (n == 0)
            break;
        pos += n;
    }
    return pos;
}

/* Start of the sequence that holds or precedes data[pos], when everything before pos is valid as far as it goes. */
static size_t boundary_before(const uint8_t *data, size_t pos)
{
    size_t back = 0;
    while (back < 3 && pos > 0 && (data[pos - 1] & 0xC0) == 0x80) {
        pos--;
        back++;
    }
    return pos > 0 && data[pos - 1] >= 0xC0 ? pos - 1 : pos;
}

/* For text that is shorter than a block. */
static size_t valid_short(const uint8_t *data, size_t size, int *ascii)
{
    uint8_t all = 0;
    for (size_t i = 0; i < size; i++)
        all |= data[i];
    if (ascii != NULL)
        *ascii = all < 0x80;
    return all < 0x80 ? size : step_from(data, size, 0);
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(ALD__NO_AVX2)
#include "core/arrow/x86/utf8_impl.h"
#else
static size_t skip_blocks(const uint8_t *data, size_t pos, size_t size, int *ascii, int *open)
{
    (void)data;
    (void)size;
    (void)ascii;
    (void)open;
    return pos;
}
#endif

size_t ald__utf8_valid_prefix(const uint8_t *data, size_t size, int *ascii)
{
    uint8_t edge[3 + UTF8_BLOCK] = {0};
    size_t pos = 0;
    int all_ascii = 1, open = 0;
    if (size < UTF8_BLOCK / 2)
        return valid_short(data, size, ascii);
    while (pos < size) {
        size_t n;
        const uint8_t *p;
        if (pos == UTF8_BLOCK)
            pos = skip_blocks(data, pos, size, &all_ascii, &open);
        if (pos == size)
            break;
        n = size - pos < UTF8_BLOCK ? size - pos : UTF8_BLOCK;
        p = data + pos;
        if (pos < 3 || n < UTF8_BLOCK) { /* the first and the last block, in a frame of zeros */
            size_t before = pos < 3 ? pos : 3;
            memset(edge, 0, sizeof edge);
            if (before > 0)
                memcpy(edge + 3 - before, p - before, before);
            memcpy(edge + 3, p, n);
            p = edge + 3;
        }
        if (open || !block_is_ascii(p)) {
            all_ascii = 0;
            if (block_is_wrong(p))
                break;
            open = !is_complete(p + UTF8_BLOCK);
        }
        pos += n;
    }
    if (ascii != NULL)
        *ascii = all_ascii;
    /* A zero behind the end is a wrong byte for an open sequence, so only a full last block can leave one open. */
    if (pos < size || open)
        return step_from(data, size, boundary_before(data, pos));
    return size;
}
