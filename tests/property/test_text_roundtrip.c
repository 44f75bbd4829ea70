/* SPDX-License-Identifier: MIT */
/* Random tables through CSV and JSON and back. A failure aborts and prints the text. */
#include "check.h"
#include "fuzz/text_table.h"

#define TABLES 1500

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static void test_random_tables(void)
{
    static uint8_t bytes[65536];
    uint64_t state = 2024;
    for (int i = 0; i < TABLES; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(next_random(&state) >> 56);
        bytes[1] = (uint8_t)(bytes[1] % (i % 10 == 0 ? TT_ROWS : 12)); /* mostly small tables */
        tt_round_trips(bytes, sizeof bytes);
    }
    CHECK_UINT(fuzz_live_bytes, 0);
}

int main(void)
{
    RUN(test_random_tables);
    return check_done();
}
