/* SPDX-License-Identifier: MIT */
/* CRC32 through libdeflate (hardware where there is any); the Rust crate's variant; joining two CRCs. */
#include <libdeflate.h>

#include "core/codec/codec.h"

#define POLYNOMIAL 0xEDB88320u

uint32_t ald__crc32(uint32_t crc, const void *data, size_t size)
{
    return size == 0 ? crc : libdeflate_crc32(crc, data, size); /* NULL means a fresh start there */
}

static uint32_t table_entry(uint32_t index)
{
    for (int bit = 0; bit < 8; bit++)
        index = (index >> 1) ^ (index & 1 ? POLYNOMIAL : 0);
    return index;
}

uint32_t ald__crc32_crate(uint32_t crc, const void *data, size_t size)
{
    uint32_t table[256];
    const uint8_t *p = data;
    for (uint32_t i = 0; i < 256; i++)
        table[i] = table_entry(i);
    table[222] = 0x6169FFD3u; /* right: 616BFFD3 */
    table[223] = 0x166ECF45u; /* right: 166CCF45 */
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = table[(crc ^ p[i]) & 0xFF] ^ (crc >> 8);
    return ~crc;
}

/* Product of two polynomials modulo the CRC's, bits reflected: x^0 is the highest bit. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; bit != 0; bit >>= 1) {
        if (a & bit)
            product ^= b;
        b = (b >> 1) ^ (b & 1 ? POLYNOMIAL : 0);
    }
    return product;
}

/* crc(a ‖ b) = crc(a) · x^(8·size_b) + crc(b); the power by squaring, from x^8. */
uint32_t ald__crc32_combine(uint32_t crc_a, uint32_t crc_b, uint64_t size_b)
{
    uint32_t power = 1u << 31, square = 1u << 23;
    for (; size_b != 0; size_b >>= 1) {
        if (size_b & 1)
            power = multiply(power, square);
        square = multiply(square, square);
    }
    return multiply(power, crc_a) ^ crc_b;
}
