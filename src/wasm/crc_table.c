/* SPDX-License-Identifier: MIT */
/* The table of libdeflate's CRC32, made instead of carried along: 8 KiB that no compression shrinks. Row k holds the checksums
 * of a byte that k zero bytes follow. */
#include <stdint.h>

#define ROWS 8
#define POLYNOMIAL 0xEDB88320u

__attribute__((const)) const uint32_t *ald__wasm_crc32_table(void);

const uint32_t *ald__wasm_crc32_table(void)
{
    static uint32_t table[ROWS * 256];
    if (table[1] != 0)
        return table;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[i] = crc;
    }
    for (uint32_t i = 256; i < ROWS * 256; i++)
        table[i] = (table[i - 256] >> 8) ^ table[table[i - 256] & 0xFF];
    return table;
}
