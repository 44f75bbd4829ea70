/* SPDX-License-Identifier: MIT */
/* The table of libdeflate's CRC32, made when an instance starts instead of carried along: 8 KiB that no compression shrinks.
 * Row k holds the checksums of a byte that k zero bytes follow. */
#include <stdint.h>

#define ROWS 8
#define POLYNOMIAL 0xEDB88320u

extern uint32_t ald__wasm_crc32_table[];
uint32_t ald__wasm_crc32_table[ROWS * 256];

__attribute__((constructor)) static void crc32_table_fill(void)
{
    uint32_t *table = ald__wasm_crc32_table;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
        table[i] = crc;
    }
    for (uint32_t i = 256; i < ROWS * 256; i++)
        table[i] = (table[i - 256] >> 8) ^ table[table[i - 256] & 0xFF];
}
