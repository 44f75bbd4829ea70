/* SPDX-License-Identifier: MIT */
/* Columns of numbers of every length, sign and form: each value against strtod and strtoll, with every processor's loops, in one
 * pass and in two, with nulls among them. */
#include "interchange/csv/csv_numbers.h"
#include "unit/csv_fixture.h"

#define ROWS 400

static uint64_t seed_state;

static uint32_t pick(uint32_t n)
{
    seed_state = seed_state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed_state >> 33) % n;
}

static size_t put_digits(char *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = (char)('0' + (pick(5) == 0 ? 9 * pick(2) : pick(10)));
    return count;
}

/* An integer of at most 18 digits, now and then 19; no leading zero. */
static void make_integer(char *out)
{
    uint32_t count = 1 + pick(18);
    size_t n = 0;
    if (pick(3) == 0)
        out[n++] = '-';
    out[n++] = (char)('1' + pick(9));
    n += put_digits(out + n, count - 1);
    if (pick(40) == 0)
        n = (size_t)snprintf(out, 32, "%s", pick(2) ? "0" : "9223372036854775807");
    out[n] = '\0';
}

/* A decimal of any form that a reader of float64 takes; `exact`: its double gives the digits back. */
static void make_decimal(char *out, int exact)
{
    uint32_t whole = pick(3) == 0 ? pick(20) : pick(4), decimals = pick(3) ? pick(8) : pick(24);
    if (exact && whole + decimals > 15)
        decimals = 15 - (whole = pick(5));
    size_t n = 0;
    if (pick(3) == 0)
        out[n++] = '-';
    if (whole == 0 && pick(4))
        out[n++] = '0';
    else if (whole > 0) {
        out[n++] = (char)('1' + pick(9));
        n += put_digits(out + n, whole - 1);
    } else {
        decimals += decimals == 0;
    }
    if (decimals > 0 || pick(3) == 0) {
        out[n++] = '.';
        if (decimals > 3 && pick(4) == 0) {
            memset(out + n, '0', 3);
            n += 3;
            decimals -= 3;
        }
        n += put_digits(out + n, decimals);
    }
    out[n] = '\0';
    if (pick(6) == 0 && !exact)
        (void)snprintf(out + n, 16, "%c%s%u", pick(2) ? 'e' : 'E', pick(2) ? "-" : "+", pick(30));
    if (pick(12) == 0) { /* a double in full */
        double d = (double)pick(1u << 30) / (1 + pick(1u << 30));
        (void)snprintf(out, 40, "%.17g", pick(2) ? -d : d);
    }
}

typedef struct made {
    char ints[ROWS][48], floats[ROWS][48];
    char text[ROWS * 100];
    size_t size;
} made;

static made m;

static void make_table(int exact)
{
    uint32_t nulls = pick(3) == 0 ? 1 + pick(50) : 0;
    m.size = (size_t)snprintf(m.text, 32, "i,f,g\n");
    for (int row = 0; row < ROWS; row++) {
        make_integer(m.ints[row]);
        make_decimal(m.floats[row], exact);
        if (pick(100) < nulls)
            m.ints[row][0] = '\0';
        if (pick(100) < nulls)
            m.floats[row][0] = '\0';
        m.size +=
            (size_t)snprintf(m.text + m.size, 200, "%s,%s,%d.5\n", m.ints[row], m.floats[row], row);
    }
}

static int is_valid(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *bits = a->buffers[0];
    return bits == NULL || (bits[i / 8] >> (i % 8) & 1) != 0;
}

static int batch_is_right(const struct ArrowArray *batch, int64_t first)
{
    const struct ArrowArray *ints = batch->children[0], *floats = batch->children[1];
    for (int64_t i = 0; i < batch->length; i++) {
        const char *a = m.ints[first + i], *b = m.floats[first + i];
        int64_t whole = ((const int64_t *)ints->buffers[1])[i];
        double value = ((const double *)floats->buffers[1])[i], want = strtod(b, NULL);
        if (!CHECK_INT(is_valid(ints, i), a[0] != '\0') ||
            !CHECK_INT(is_valid(floats, i), b[0] != '\0') ||
            !CHECK_INT(whole, strtoll(a, NULL, 10)) || !CHECK_INT(memcmp(&value, &want, 8), 0)) {
            printf("    row %d: '%s' '%s' %.17g\n", (int)(first + i), a, b, value);
            return 0;
        }
    }
    return 1;
}

/* Types are declared, or found: integers of 64 bits and doubles that give their digits back are int64 and float64. */
static int reads_right(const ald__csv_tuning *tuning, int once, int declares)
{
    check_heap heap;
    ald_allocator alloc = check_heap_init(&heap, -1);
    ald_host host = csv_host(&alloc, 1);
    ald_source source = ald_source_memory(m.text, m.size);
    ald_csv_options o = ALD_CSV_OPTIONS_INIT;
    struct ArrowArrayStream stream, again;
    struct ArrowSchema types;
    struct ArrowArray batch;
    ald_error err = {0};
    int64_t rows = 0;
    int right = 1;
    static const char declared[] = "i:int64,f:float64";
    memset(&again, 0, sizeof again);
    if (!CHECK_INT(ald_schema_from_json(declared, sizeof declared - 1, &host, &types, NULL), 0))
        return 0;
    o.text.types = declares ? &types : NULL;
    o.text.restart = once ? &again : NULL;
    CHECK_OK(ald__csv_open_tuned(&source, &o, &host, tuning, &stream, &err), &err);
    while (right) {
        CHECK_OK(ald_stream_next(&stream, &batch, &err), &err);
        if (batch.release == NULL)
            break;
        right = batch_is_right(&batch, rows);
        rows += batch.length;
        batch.release(&batch);
    }
    right = right && CHECK_INT(rows, ROWS);
    stream.release(&stream);
    types.release(&types);
    CHECK_HEAP_EMPTY(&heap);
    return right;
}

static void test_values(void)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        seed_state = seed;
        make_table(seed % 2 == 0);
        for (size_t v = 0; ald__csv_numbers_variant(v) != NULL; v++) {
            ald__csv_tuning tuning = {.slab_bytes = 1 + pick(3000), .one_pass_bytes = 1};
            tuning.numbers = ald__csv_numbers_variant(v);
            if (!reads_right(&tuning, 0, seed % 4 != 0) ||
                !reads_right(&tuning, 1, seed % 2 != 0)) {
                printf("    seed %d, variant %d\n", (int)seed, (int)v);
                return;
            }
        }
    }
}

int main(void)
{
    RUN(test_values);
    return check_done();
}
