/* SPDX-License-Identifier: MIT */
/* What a reader pays for a zstd frame, from its headers alone (RFC 8878, 3.1.1.2 and 3.1.1.3): the same on every machine,
 * as a clock is not. */
#include "core/base/endian.h"
#include "core/codec/frame.h"

/* Tenths of nanoseconds, fitted to libzstd 1.5 on frames of numbers; for a stored byte those of a disk or network that
 * gives 500 MB/s. Copying literals and matches costs little beside them, and the same for every frame of the data. */
#define SEQUENCE_COST 60u
#define HUFFMAN_COST 7u
#define STORED_COST 20u

enum { RAW, RLE, COMPRESSED };

typedef struct costs {
    uint64_t sequences, huffman;
} costs;

/* Bytes of the frame header; more than `size` may have. */
static size_t frame_header(const uint8_t *p)
{
    static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    size_t single = p[4] >> 5 & 1, content_size = content[p[4] >> 6];
    if (content_size == 0)
        content_size = single;
    return 6 - single + dictionary[p[4] & 3] + content_size;
}

static uint64_t little_endian(const uint8_t *p, size_t left)
{
    uint64_t v = 0;
    for (size_t i = 0; i < 8 && i < left; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* Bytes of the literals section of a compressed block; counts those that are Huffman codes. */
static size_t literals_section(const uint8_t *p, size_t left, costs *c)
{
    static const uint8_t bits[] = {10, 10, 14, 18}, plain_head[] = {1, 2, 1, 3};
    uint64_t head = little_endian(p, left), size;
    unsigned type = head & 3, format = head >> 2 & 3;
    if (type < COMPRESSED) {
        size_t bytes = plain_head[format];
        size = (head & (((uint64_t)1 << 8 * bytes) - 1)) >> (bytes == 1 ? 3 : 4);
        return bytes + (type == RLE ? 1 : (size_t)size);
    }
    c->huffman += head >> 4 & ((1u << bits[format]) - 1);
    size = head >> (4 + bits[format]) & ((1u << bits[format]) - 1);
    return (4 + 2 * (size_t)bits[format] + 7) / 8 + (size_t)size;
}

static void count_block(const uint8_t *p, size_t size, costs *c)
{
    size_t at = literals_section(p, size, c);
    if (at + 3 > size) /* a section without sequences is shorter */
        return;
    if (p[at] < 128)
        c->sequences += p[at];
    else if (p[at] < 255)
        c->sequences += (((uint64_t)p[at] - 128) << 8) + p[at + 1];
    else
        c->sequences += ald__load_le16(p + at + 1) + 0x7F00u;
}

uint64_t ald__zstd_cost(const uint8_t *frame, size_t size)
{
    costs c = {0, 0};
    size_t at = size > 5 ? frame_header(frame) : size;
    unsigned last = 0;
    while (!last && at + 3 <= size) {
        uint32_t head = (uint32_t)little_endian(frame + at, 3);
        size_t block = (head >> 1 & 3) == RLE ? 1 : head >> 3;
        last = head & 1;
        at += 3;
        if (block > size - at)
            break;
        if ((head >> 1 & 3) == COMPRESSED)
            count_block(frame + at, block, &c);
        at += block;
    }
    return SEQUENCE_COST * c.sequences + HUFFMAN_COST * c.huffman + STORED_COST * (uint64_t)size;
}
