/* SPDX-License-Identifier: MIT */
/* How hard the writer looks for matches in a column, found out by trial: for speed on a sample, for readers on all of it. */
#include <string.h>

#include "core/base/buf.h"
#include "core/codec/codec.h"
#include "core/codec/frame.h"

/* Pieces from all over the frame: validity, offsets and values lie in different parts. Large frames find matches far away:
 * theirs are twice as long. */
#define SAMPLE_PIECES 4u
#define PIECE_BYTES ((size_t)16 << 10)
#define LARGE ((size_t)1 << 20)
#define WORTH_A_TRIAL 100u /* level 3 is fast where it leaves a hundredth */
#define SAMPLE_BYTES (SAMPLE_PIECES * PIECE_BYTES * 2)
#define SIZE_LEAST ((size_t)64 << 10) /* of frames that are tried */

/* In the order of speed where there are few matches; but the greedy one is fast only where there are many. */
static const uint8_t fastest_first[] = {1, 2, 3, 4, 5, 6, 7};
#define GREEDY 4u
#define GREEDY_SHARE 6u /* it is tried where level 3 leaves a sixth or less */

/* In the order of speed, level 3 first. What is slower to write must cost readers a twentieth less. */
static const uint8_t reading_choices[] = {0, 8, 9, 10};
#define WORTH_WRITING 20u
#define MORE_STORED 20u /* for readers: at most a twentieth of the data above level 3 */

static uint32_t stored_of_unit(size_t stored, size_t size)
{
    return (uint32_t)((uint64_t)stored * 65536 / size);
}

/* A frame, or pieces of it in memory of their own. */
typedef struct sample {
    const uint8_t *data;
    size_t size;
    uint8_t *owned;
} sample;

static ald_status take_sample(const ald_allocator *alloc, const uint8_t *data, size_t size,
                              sample *out, ald_error *err)
{
    size_t piece = size < LARGE ? PIECE_BYTES : 2 * PIECE_BYTES, step;
    *out = (sample){data, size, NULL};
    if (size <= SAMPLE_PIECES * piece)
        return ALD_OK;
    step = (size - piece) / (SAMPLE_PIECES - 1) & ~(size_t)63;
    out->owned = ald__alloc(alloc, SAMPLE_BYTES, err);
    if (out->owned == NULL)
        return ALD_E_NOMEM;
    for (size_t i = 0; i < SAMPLE_PIECES; i++)
        memcpy(out->owned + i * piece, data + i * step, piece);
    out->data = out->owned;
    out->size = SAMPLE_PIECES * piece;
    return ALD_OK;
}

static ald_status measure(ald__encoder *encoder, unsigned choice, const uint8_t *data, size_t size,
                          ald_buffer *spare, ald_error *err)
{
    spare->size = 0;
    ALD_TRY(ald__encoder_tune(encoder, choice, err));
    return ald__encoder_frame(encoder, data, size, spare, err);
}

/* The first of `count` choices that does almost as well as level 3, which is *out if none does. */
static ald_status choose(ald__encoder *encoder, const sample *s, const uint8_t *choices,
                         size_t count, ald_buffer *spare, uint8_t *out, ald_error *err)
{
    size_t level3, most;
    *out = 0;
    ALD_TRY(measure(encoder, 0, s->data, s->size, spare, err));
    level3 = spare->size;
    if (level3 < s->size / WORTH_A_TRIAL)
        return ALD_OK;
    most = level3 + level3 / 100;
    for (size_t i = 0; i < count && *out == 0; i++) {
        if (choices[i] == GREEDY && level3 > s->size / GREEDY_SHARE)
            continue;
        ALD_TRY(measure(encoder, choices[i], s->data, s->size, spare, err));
        if (spare->size <= most)
            *out = choices[i];
    }
    return ALD_OK;
}

static ald_status choose_among(ald__encoder *encoder, const uint8_t *data, size_t size,
                               const uint8_t *choices, size_t count, ald_buffer *spare,
                               uint8_t *out, ald_error *err)
{
    sample s;
    ald_status st;
    ALD_TRY(take_sample(spare->alloc, data, size, &s, err));
    st = choose(encoder, &s, choices, count, spare, out, err);
    ald__release(spare->alloc, s.owned, SAMPLE_BYTES);
    return st;
}

/* What is expected is what the whole frame takes: a sample finds fewer matches. */
ald_status ald__tuning_choose(ald__encoder *encoder, const uint8_t *data, size_t size,
                              ald_buffer *spare, ald__tuning *out, ald_error *err)
{
    *out = (ald__tuning){0, 0, 0};
    if (size < SIZE_LEAST)
        return ALD_OK;
    ALD_TRY(choose_among(encoder, data, size, fastest_first, sizeof fastest_first, spare,
                         &out->choice, err));
    if (out->choice == 0)
        return ALD_OK;
    ALD_TRY(measure(encoder, out->choice, data, size, spare, err));
    out->expected = stored_of_unit(spare->size, size);
    return ALD_OK;
}

ald_status ald__tuning_choose_reading(ald__encoder *encoder, const uint8_t *data, size_t size,
                                      ald_buffer *spare, ald__tuning *out, ald_error *err)
{
    uint64_t least = 0;
    size_t most = 0;
    *out = (ald__tuning){0, 1, 0};
    if (size < SIZE_LEAST)
        return ALD_OK;
    for (size_t i = 0; i < sizeof reading_choices; i++) {
        uint64_t cost;
        ALD_TRY(measure(encoder, reading_choices[i], data, size, spare, err));
        cost = ald__zstd_cost(spare->data, spare->size);
        if (i > 0 && (cost >= least - least / WORTH_WRITING || spare->size > most))
            continue;
        if (i == 0)
            most = spare->size + size / MORE_STORED;
        least = cost;
        *out = (ald__tuning){reading_choices[i], 1, stored_of_unit(spare->size, size)};
    }
    return ALD_OK;
}

static int is_expected(const ald__tuning *tuning, size_t stored, size_t size)
{
    uint32_t unit = stored_of_unit(stored, size), spread = tuning->expected / 16;
    return unit >= tuning->expected - spread && unit <= tuning->expected + spread;
}

/* The smaller one of the frame at out->data + before, and that of level 3. */
static ald_status keep_smaller(ald__encoder *encoder, const uint8_t *data, size_t size,
                               ald_buffer *spare, ald_buffer *out, size_t before, ald_error *err)
{
    ALD_TRY(measure(encoder, 0, data, size, spare, err));
    if (spare->size >= out->size - before)
        return ALD_OK;
    out->size = before;
    return ald__buffer_append(out, spare->data, spare->size, err);
}

/* The frame at out->data + before, which `choice` made, becomes that of what is chosen for readers now. */
static ald_status choose_again(ald__encoder *encoder, unsigned choice, const uint8_t *data,
                               size_t size, ald_buffer *spare, ald_buffer *out, size_t before,
                               ald_error *err)
{
    ald__tuning now;
    ALD_TRY(ald__tuning_choose_reading(encoder, data, size, spare, &now, err));
    if (now.choice == choice)
        return ALD_OK;
    out->size = before;
    ALD_TRY(ald__encoder_tune(encoder, now.choice, err));
    return ald__encoder_frame(encoder, data, size, out, err);
}

ald_status ald__tuned_frame(ald__encoder *encoder, const ald__tuning *tuning, const uint8_t *data,
                            size_t size, ald_buffer *spare, ald_buffer *out, ald_error *err)
{
    size_t before = out->size;
    uint8_t choice = tuning != NULL ? tuning->choice : 0, again = 0;
    int for_readers = tuning != NULL && tuning->for_readers;
    ALD_TRY(ald__encoder_tune(encoder, choice, err));
    ALD_TRY(ald__encoder_frame(encoder, data, size, out, err));
    if ((choice == 0 && !for_readers) || size == 0 || is_expected(tuning, out->size - before, size))
        return ALD_OK;
    if (for_readers)
        return choose_again(encoder, choice, data, size, spare, out, before, err);
    if (size >= SIZE_LEAST)
        ALD_TRY(choose_among(encoder, data, size, &choice, 1, spare, &again, err));
    return again == choice ? ALD_OK : keep_smaller(encoder, data, size, spare, out, before, err);
}
