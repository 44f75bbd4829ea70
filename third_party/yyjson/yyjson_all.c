/* SPDX-License-Identifier: MIT */
/* yyjson, the one function of its header that the fetched yyjson.c leaves out, and one that it has only together with
 * others. They have to be in the same translation unit: what they call is static there. */
#include "yyjson.c"

/* The contract is in yyjson.h. `alc` is for builds without yyjson's own number reader, which this is not. */
const char *yyjson_read_number(const char *dat, yyjson_val *val, yyjson_read_flag flg,
                               const yyjson_alc *alc, yyjson_read_err *err)
{
    yyjson_read_err unwanted;
    u8 *start = (u8 *)(uintptr_t)dat, *cur = start;
    u8 unwanted_end = 0, *raw_end = &unwanted_end; /* where the raw value before this one ends: there is none */
    bool raw = (flg & (YYJSON_READ_NUMBER_AS_RAW | YYJSON_READ_BIGNUM_AS_RAW)) != 0;
    const char *msg = "input data or output value is NULL";
    (void)alc;
    if (!err) err = &unwanted;
    err->pos = 0;
    err->code = YYJSON_READ_ERROR_INVALID_PARAMETER;
    if (dat && val) {
        err->code = YYJSON_READ_ERROR_INVALID_NUMBER;
        if (read_num(&cur, raw ? &raw_end : NULL, flg, val, &msg)) {
            err->code = YYJSON_READ_SUCCESS;
            err->msg = NULL;
            return (const char *)cur;
        }
        err->pos = (size_t)(cur - start);
    }
    err->msg = msg;
    return NULL;
}

/* yyjson_write_number for a finite number, without the formats that a value may ask for: they are a fiftieth of the
 * WebAssembly module that reads. The contract is in interchange/text/number.h. */
char *ald__shortest_digits(double value, int is_float, char *buf);
char *ald__shortest_digits(double value, int is_float, char *buf)
{
    u8 *end = is_float ? write_f32_raw((u8 *)buf, f64_to_bits(value), 0) : write_f64_raw((u8 *)buf, f64_to_bits(value), 0);
    *end = 0;
    return (char *)end;
}

#if YYJSON_DISABLE_FAST_FP_CONV || YYJSON_DISABLE_READER
#error "yyjson_read_number needs yyjson's own number reader"
#endif
