/* SPDX-License-Identifier: MIT */
/* Who it was: reading the buyer, confirming one, ranking a list of them.
 *
 * Whoever did not take part in making the copy has a codeword that is independent of the soft values, whatever the data look
 * like. So the agreement S = sum of y[j] c[j], c[j] = +-1, has P(S >= z sqrt(sum of y^2)) <= exp(-z^2 / 2) (Hoeffding). */
#include <string.h>

#include "core/base/buf.h"
#include "core/base/checked.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/reading.h"

#define LOG2_E 1.4426950408889634
#define LEAST_LOG2_P (-256.0)
#define MARKED_COHERENCE 6 /* of clean data and of those marked with other keys none had 4 */
#define UNSETTLED_LOG2_P (-10.0)
#define NOISE_COHERENCE 3 /* profiles of noise below that are not worth decoding */

static double log2_p_of(double sum, double power)
{
    double log2_p;
    if (!(sum > 0) || !(power > 0))
        return 0;
    log2_p = -(sum * sum / power / 2) * LOG2_E;
    return log2_p < LEAST_LOG2_P ? LEAST_LOG2_P : log2_p;
}

static double agreement_sum(const ald__mark_profile *p, const uint64_t *codeword)
{
    double sum = 0;
    for (size_t j = 0; j < ALD__POLAR_BITS; j++)
        sum += codeword[j / 64] >> (j % 64) & 1 ? -(double)p->y[j] : (double)p->y[j];
    return sum;
}

/* The best profile for this buyer, of those that are there. */
static void best_profile(ald_watermark_reading *r, const uint64_t *codeword,
                         ald_watermark_finding *out)
{
    double best = 1;
    r->best_variant = 0;
    for (size_t i = 0; i < r->profile_count; i++) {
        const ald__mark_profile *p = ald__mark_reading_profile(r, i);
        double sum = agreement_sum(p, codeword), log2_p = log2_p_of(sum, p->power);
        if (log2_p < best) {
            best = log2_p;
            out->log2_p = log2_p;
            out->agreement = p->size > 0 ? sum / p->size : 0;
            out->affine = p->affine;
            r->best_variant = p->variant;
            out->carriers = p->carriers;
        }
    }
    out->profiles = (uint32_t)r->profile_count;
    if (r->profile_count > 0) /* the best of so many */
        out->log2_p += ald__mark_log2_about((double)r->profile_count);
    out->log2_p = out->log2_p > 0 ? 0 : out->log2_p;
    out->evidence_bits = -out->log2_p;
}

static void set_common(const ald_watermark_reading *r, ald_watermark_finding *out)
{
    out->presence = r->presence;
    out->candidates = r->candidates;
    out->is_marked = out->found || r->presence > MARKED_COHERENCE;
}

ald_status ald_watermark_verify(ald_watermark_reading *reading,
                                const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
                                ald_watermark_finding *out, ald_error *err)
{
    uint64_t codeword[ALD__POLAR_WORDS];
    memset(out, 0, sizeof *out);
    out->affine = -1;
    ALD_TRY(ald__mark_codeword(&reading->keys, buyer_hash, codeword, err));
    for (unsigned stage = 0; stage < ALD__MARK_STAGES && !out->found; stage++) {
        for (size_t v = 0; v < reading->variant_count; v++)
            ALD_TRY(ald__mark_reading_stage(reading, v, stage, err));
        out->log2_p = 0;
        best_profile(reading, codeword, out);
        out->found = out->log2_p <= ALD_WATERMARK_VERIFIED_LOG2_P;
    }
    memcpy(out->buyer_hash, buyer_hash, ALD_WATERMARK_BUYER_BYTES);
    out->confidence = 1 - ald__mark_exp2_about(out->log2_p);
    set_common(reading, out);
    return ALD_OK;
}

/* Groups and last digits together, as the column's part of the first profile. */
ald_status ald__mark_reading_column(ald_watermark_reading *reading, size_t variant, size_t column,
                                    const uint8_t *buyer_hash, ald_column_evidence *out,
                                    ald_error *err)
{
    const ald_allocator *alloc = &reading->host.alloc;
    ald__mark_soft *soft;
    uint64_t codeword[ALD__POLAR_WORDS];
    double sum = 0, power = 0, size = 0;
    ald_status st;
    ALD_TRY(ald__mark_codeword(&reading->keys, buyer_hash, codeword, err));
    soft = ald__alloc_zero(alloc, sizeof *soft, err);
    if (soft == NULL)
        return ALD_E_NOMEM;
    st = ald__mark_reading_soft(reading, variant, column, soft, err);
    for (size_t j = 0; j < ALD__POLAR_BITS; j++) {
        sum += codeword[j / 64] >> (j % 64) & 1 ? -soft->y[j] : soft->y[j];
        power += soft->y[j] * soft->y[j];
        size += ald__mark_abs(soft->y[j]);
    }
    out->carriers = soft->carriers;
    out->log2_p = log2_p_of(sum, power);
    out->agreement = size > 0 ? sum / size : 0;
    ald__release(alloc, soft, sizeof *soft);
    return st;
}

/* ---- without knowing */

typedef struct opener {
    ald_watermark_reading *reading;
    ald_status status;
    ald_error *err;
} opener;

/* A failure to open one also ends the search. */
static int open_payload(void *ctx, const uint8_t *payload)
{
    opener *o = ctx;
    int is_valid = 0;
    o->status =
        ald__mark_open(&o->reading->keys, payload, o->reading->buyer_hash, &is_valid, o->err);
    return is_valid || o->status != ALD_OK;
}

/* Decodes the profiles that were not yet. */
static ald_status decode_new(ald_watermark_reading *r, ald_error *err)
{
    for (size_t i = 0; i < r->profile_count && r->extracted != 2; i++) {
        ald__mark_profile *p = ald__mark_reading_profile(r, i);
        opener o = {r, ALD_OK, err};
        int accepted = 0;
        if (p->was_decoded || p->positions < ALD__POLAR_INFO ||
            (p->is_noise && p->coherence < NOISE_COHERENCE))
            continue;
        p->was_decoded = 1;
        ALD_TRY(ald__polar_decode(&r->keys.code, &r->host.alloc, p->y, open_payload, &o, &accepted,
                                  &r->candidates, err));
        ALD_TRY(o.status);
        if (accepted) {
            r->extracted = 2;
            r->extracted_affine = p->affine;
        }
    }
    return ALD_OK;
}

static ald_status extract_once(ald_watermark_reading *r, ald_error *err)
{
    for (size_t v = 0; v < r->variant_count && r->extracted != 2; v++) {
        for (unsigned stage = 0; stage < ALD__MARK_STAGES && r->extracted != 2; stage++) {
            ALD_TRY(ald__mark_reading_stage(r, v, stage, err));
            ALD_TRY(decode_new(r, err));
        }
    }
    if (r->extracted == 0)
        r->extracted = 1;
    return ALD_OK;
}

ald_status ald_watermark_extract(ald_watermark_reading *reading, ald_watermark_finding *out,
                                 ald_error *err)
{
    uint64_t codeword[ALD__POLAR_WORDS];
    memset(out, 0, sizeof *out);
    out->affine = -1;
    if (reading->extracted == 0)
        ALD_TRY(extract_once(reading, err));
    if (reading->extracted == 2) {
        double chance;
        ALD_TRY(ald__mark_codeword(&reading->keys, reading->buyer_hash, codeword, err));
        best_profile(reading, codeword, out);
        memcpy(out->buyer_hash, reading->buyer_hash, sizeof out->buyer_hash);
        out->affine = reading->extracted_affine;
        out->found = 1;
        chance = (double)reading->candidates * 0x1p-64 + ald__mark_exp2_about(out->log2_p);
        out->confidence = chance < 1 ? 1 - chance : 0;
    } else {
        out->profiles = (uint32_t)reading->profile_count;
        out->carriers = reading->carriers;
    }
    set_common(reading, out);
    return ALD_OK;
}

/* ---- a list */

#define BYTE_VALUES 256
#define CODEWORD_BYTES (ALD__POLAR_BITS / 8)
#define CHUNK_BUYERS 4096

/* Sums of eight y[j] c[j] for every byte of a codeword. */
typedef struct byte_sums {
    float of[CODEWORD_BYTES][BYTE_VALUES];
} byte_sums;

static void fill_byte_sums(const ald__mark_profile *p, byte_sums *sums)
{
    for (size_t b = 0; b < CODEWORD_BYTES; b++) {
        float all = 0;
        for (size_t i = 0; i < 8; i++)
            all += p->y[b * 8 + i];
        sums->of[b][0] = all;
        for (unsigned v = 1; v < BYTE_VALUES; v++) { /* one bit less turned over, and that one */
            unsigned low = (unsigned)__builtin_ctz(v);
            sums->of[b][v] = sums->of[b][v & (v - 1)] - 2 * p->y[b * 8 + low];
        }
    }
}

static double sum_of(const byte_sums *sums, const uint64_t *codeword)
{
    float part[4] = {0, 0, 0, 0};
    for (size_t w = 0; w < ALD__POLAR_WORDS; w++) {
        uint64_t word = codeword[w];
        for (size_t i = 0; i < 8; i++)
            part[i % 4] += sums->of[w * 8 + i][word >> (8 * i) & 0xff];
    }
    return (double)part[0] + (double)part[1] + (double)part[2] + (double)part[3];
}

/* A list is matched with so many profiles: the first one, and those in which carriers agree best among themselves. That is
 * known without any codeword, so the choice favours no buyer. */
#define LIST_PROFILES 128
#define LONG_LIST_PROFILES 8
#define LONG_LIST 16384 /* buyers */
#define SHORT_LIST 256  /* so few are summed up one by one */

typedef struct list_work {
    ald_watermark_reading *reading;
    const uint8_t *hashes;
    size_t buyer_count;
    const ald__mark_profile *profiles[LIST_PROFILES];
    size_t profile_count;
    byte_sums *sums;           /* one for each profile */
    float *log2_p, *agreement; /* of each buyer, the best profile's */
    ald_error *errors;         /* one for each chunk */
} list_work;

/* An allocator that keeps the last block that was released: a hash takes the same one again and again. */
typedef struct block_keeper {
    const ald_allocator *from;
    void *block;
    size_t size;
} block_keeper;

static void *keeper_alloc(void *ctx, size_t size)
{
    block_keeper *k = ctx;
    void *block = k->block;
    if (block == NULL || size != k->size)
        return k->from->alloc(k->from->ctx, size);
    k->block = NULL;
    return block;
}

static void *keeper_resize(void *ctx, void *ptr, size_t old_size, size_t new_size)
{
    block_keeper *k = ctx;
    return k->from->resize(k->from->ctx, ptr, old_size, new_size);
}

static void keeper_release(void *ctx, void *ptr, size_t size)
{
    block_keeper *k = ctx;
    if (k->block != NULL)
        k->from->release(k->from->ctx, k->block, k->size);
    k->block = ptr;
    k->size = size;
}

static ald_status rank_buyer(list_work *w, const ald_allocator *alloc, size_t buyer, ald_error *err)
{
    uint64_t codeword[ALD__POLAR_WORDS];
    double best = 1;
    ALD_TRY(ald__mark_codeword_with(&w->reading->keys, alloc,
                                    w->hashes + buyer * ALD_WATERMARK_BUYER_BYTES, codeword, err));
    for (size_t i = 0; i < w->profile_count; i++) {
        const ald__mark_profile *p = w->profiles[i];
        double sum = w->sums != NULL ? sum_of(&w->sums[i], codeword) : agreement_sum(p, codeword);
        double log2_p = log2_p_of(sum, p->power);
        if (log2_p < best) {
            best = log2_p;
            w->log2_p[buyer] = (float)log2_p;
            w->agreement[buyer] = p->size > 0 ? (float)(sum / p->size) : 0;
        }
    }
    return ALD_OK;
}

static void rank_chunk(void *arg, uint32_t index)
{
    list_work *w = arg;
    size_t first = (size_t)index * CHUNK_BUYERS;
    size_t last = w->buyer_count - first < CHUNK_BUYERS ? w->buyer_count : first + CHUNK_BUYERS;
    block_keeper keeper = {&w->reading->host.alloc, NULL, 0};
    const ald_allocator alloc = {keeper_alloc, keeper_resize, keeper_release, &keeper};
    for (size_t b = first; b < last && w->errors[index].status == ALD_OK; b++)
        w->errors[index].status = (int32_t)rank_buyer(w, &alloc, b, &w->errors[index]);
    if (keeper.block != NULL)
        keeper.from->release(keeper.from->ctx, keeper.block, keeper.size);
}

/* The best of all, by inserting into the list of the best so far. */
static size_t choose_ranks(const list_work *w, double penalty, ald_watermark_rank *ranks,
                           size_t room)
{
    size_t count = 0;
    for (size_t b = 0; b < w->buyer_count && room > 0; b++) {
        double log2_p = (double)w->log2_p[b] + penalty;
        size_t at = count;
        log2_p = log2_p > 0 ? 0 : log2_p;
        if (count == room && !(log2_p < ranks[count - 1].log2_p))
            continue;
        if (count < room)
            count++;
        else
            at--;
        for (; at > 0 && ranks[at - 1].log2_p > log2_p; at--)
            ranks[at] = ranks[at - 1];
        ranks[at] = (ald_watermark_rank){b, log2_p, (double)w->agreement[b]};
    }
    return count;
}

static void choose_profiles(list_work *w)
{
    const ald_watermark_reading *r = w->reading;
    const size_t room = w->buyer_count > LONG_LIST ? LONG_LIST_PROFILES : LIST_PROFILES;
    for (size_t i = 0; i < r->profile_count; i++) {
        const ald__mark_profile *p = ald__mark_reading_profile(r, i);
        size_t at = w->profile_count;
        if (at == room && w->profiles[at - 1]->coherence >= p->coherence)
            continue;
        if (at == room)
            at--;
        else
            w->profile_count++;
        for (; at > 1 && w->profiles[at - 1]->coherence < p->coherence; at--)
            w->profiles[at] = w->profiles[at - 1];
        w->profiles[at] = p;
    }
}

static ald_status rank_all(list_work *w, ald_watermark_rank *ranks, size_t rank_count,
                           size_t *found_count, ald_error *err)
{
    ald_watermark_reading *r = w->reading;
    size_t chunks = (w->buyer_count + CHUNK_BUYERS - 1) / CHUNK_BUYERS;
    double tests = (double)w->buyer_count * (double)(w->profile_count > 0 ? w->profile_count : 1);
    for (size_t i = 0; i < w->profile_count && w->sums != NULL; i++)
        fill_byte_sums(w->profiles[i], &w->sums[i]);
    ald__mark_run_tasks(&r->host, chunks, rank_chunk, w);
    for (size_t i = 0; i < chunks; i++) {
        if (w->errors[i].status != ALD_OK) {
            if (err != NULL)
                *err = w->errors[i];
            return (ald_status)w->errors[i].status;
        }
    }
    *found_count = choose_ranks(w, ald__mark_log2_about(tests), ranks, rank_count);
    return ALD_OK;
}

/* With the profiles of so many stages. */
static ald_status list_stages(ald_watermark_reading *r, unsigned stages, const uint8_t *hashes,
                              size_t buyer_count, ald_watermark_rank *ranks, size_t rank_count,
                              size_t *found_count, ald_error *err)
{
    list_work w = {r, hashes, buyer_count, {NULL}, 0, NULL, NULL, NULL, NULL};
    const ald_allocator *alloc = &r->host.alloc;
    size_t chunks = (buyer_count + CHUNK_BUYERS - 1) / CHUNK_BUYERS;
    size_t bytes = buyer_count * sizeof(float), sums;
    ald_status st = ALD_E_NOMEM;
    for (size_t v = 0; v < r->variant_count; v++) {
        for (unsigned s = 0; s < stages; s++)
            ALD_TRY(ald__mark_reading_stage(r, v, s, err));
    }
    choose_profiles(&w);
    sums = buyer_count > SHORT_LIST ? w.profile_count * sizeof *w.sums : 0;
    w.sums = sums > 0 ? ald__alloc(alloc, sums, err) : NULL;
    w.log2_p = ald__alloc_zero(alloc, bytes, err);
    w.agreement = ald__alloc_zero(alloc, bytes, err);
    w.errors = ald__alloc_zero(alloc, chunks * sizeof *w.errors, err);
    if ((w.sums != NULL || sums == 0) && w.log2_p != NULL && w.agreement != NULL &&
        w.errors != NULL)
        st = rank_all(&w, ranks, rank_count, found_count, err);
    if (w.sums != NULL)
        ald__release(alloc, w.sums, sums);
    if (w.log2_p != NULL)
        ald__release(alloc, w.log2_p, bytes);
    if (w.agreement != NULL)
        ald__release(alloc, w.agreement, bytes);
    if (w.errors != NULL)
        ald__release(alloc, w.errors, chunks * sizeof *w.errors);
    return st;
}

/* Whether somebody is confirmed, and nobody else is close to it: of several who mixed their copies. */
static int is_settled(const ald_watermark_rank *ranks, size_t count)
{
    size_t confirmed = 0;
    while (confirmed < count && ranks[confirmed].log2_p <= ALD_WATERMARK_VERIFIED_LOG2_P)
        confirmed++;
    return confirmed > 0 && (confirmed == count || ranks[confirmed].log2_p > UNSETTLED_LOG2_P);
}

ald_status ald_watermark_list(ald_watermark_reading *reading, const uint8_t *buyer_hashes,
                              size_t buyer_count, ald_watermark_rank *ranks, size_t rank_count,
                              size_t *found_count, ald_error *err)
{
    *found_count = 0;
    if (buyer_count > UINT32_MAX)
        return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "too many buyers");
    if (buyer_count == 0 || rank_count == 0)
        return ALD_OK;
    for (unsigned stages = 1; stages <= ALD__MARK_STAGES; stages += ALD__MARK_STAGES - 1) {
        ALD_TRY(list_stages(reading, stages, buyer_hashes, buyer_count, ranks, rank_count,
                            found_count, err));
        if (is_settled(ranks, *found_count))
            break;
    }
    return ALD_OK;
}
