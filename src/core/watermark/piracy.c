/* SPDX-License-Identifier: MIT */
/* The public face of looking for marks without a key, and of evidence with one. */
#include "ald/piracy.h"

#include <string.h>

#include "core/base/buf.h"
#include "core/base/endian.h"
#include "core/watermark/entropy.h"
#include "core/watermark/mark_math.h"
#include "core/watermark/reading.h"

const char *ald_entropy_class_text(uint8_t entropy_class)
{
    switch (entropy_class) {
#define ALD_X(constant, value, text)                                                               \
    case value:                                                                                    \
        return text;
        ALD_ENTROPY_CLASS_LIST(ALD_X)
#undef ALD_X
    default:
        return "";
    }
}

struct ald_entropy {
    ald_host host;
    ald__mark_survey survey;
    ald_column_entropy *columns; /* one for each leaf; those of numbers first */
    ald_error *errors;
    size_t count;
};

static void analyze_leaf(void *arg, uint32_t index)
{
    ald_entropy *e = arg;
    const ald__mark_leaf *leaf = &e->survey.leaves.list[index];
    ald_column_entropy *out = &e->columns[index];
    ald_error *err = &e->errors[index];
    if (e->survey.reasons[index] != ALD_WATERMARK_NONE)
        return;
    out->name = leaf->name;
    out->column = leaf->column;
    ald__row_bits_end(&e->survey.rows[index]);
    err->status = (int32_t)ald__mark_tally_sort(&e->survey.tallies[index], NULL, err);
    if (err->status == ALD_OK)
        err->status =
            (int32_t)ald__entropy_column(&e->survey.tallies[index], &e->survey.rows[index],
                                         leaf->type.id == ALD__FLOAT32, out, err);
    ald__mark_tally_clear(&e->survey.tallies[index]);
}

static ald_status analyze_all(ald_entropy *e, ald_error *err)
{
    size_t leaves = e->survey.leaves.count;
    if (leaves == 0)
        return ALD_OK;
    e->columns = ald__alloc_zero(&e->host.alloc, leaves * sizeof *e->columns, err);
    e->errors = ald__alloc_zero(&e->host.alloc, leaves * sizeof *e->errors, err);
    if (e->columns == NULL || e->errors == NULL)
        return ALD_E_NOMEM;
    ald__mark_run_tasks(&e->host, leaves, analyze_leaf, e);
    for (size_t i = 0; i < leaves; i++) {
        if (e->errors[i].status != ALD_OK) {
            if (err != NULL)
                *err = e->errors[i];
            return (ald_status)e->errors[i].status;
        }
        if (e->columns[i].name != NULL)
            e->columns[e->count++] = e->columns[i];
    }
    return ALD_OK;
}

ald_status ald_piracy_analyze_entropy(struct ArrowArrayStream *batches, uint64_t memory_bytes,
                                      const ald_host *host, ald_entropy **out, ald_error *err)
{
    ald_entropy *e = ald__alloc_zero(&host->alloc, sizeof *e, err);
    ald_status st = e == NULL ? ALD_E_NOMEM : ALD_OK;
    *out = NULL;
    if (st == ALD_OK) {
        e->host = *host;
        st = ald__mark_survey_read(&e->survey, &e->host, batches, memory_bytes, NULL, 0,
                                   ALD__MARK_FOR_ENTROPY, err);
    }
    batches->release(batches);
    if (st == ALD_OK)
        st = analyze_all(e, err);
    if (st != ALD_OK)
        ald_entropy_free(e);
    else
        *out = e;
    return st;
}

size_t ald_entropy_count(const ald_entropy *entropy)
{
    return entropy->count;
}

const ald_column_entropy *ald_entropy_get(const ald_entropy *entropy, size_t index)
{
    return &entropy->columns[index];
}

void ald_entropy_free(ald_entropy *entropy)
{
    ald_allocator alloc;
    size_t leaves;
    if (entropy == NULL)
        return;
    alloc = entropy->host.alloc;
    leaves = entropy->survey.leaves.count;
    if (entropy->columns != NULL)
        ald__release(&alloc, entropy->columns, leaves * sizeof *entropy->columns);
    if (entropy->errors != NULL)
        ald__release(&alloc, entropy->errors, leaves * sizeof *entropy->errors);
    ald__mark_survey_clear(&entropy->survey);
    ald__release(&alloc, entropy, sizeof *entropy);
}

ald_detection ald_entropy_verdict(const ald_entropy *entropy)
{
    ald_detection out = {0, {0}, 0, 0};
    double best = 1;
    for (size_t i = 0; i < entropy->count; i++) {
        const ald_column_entropy *c = &entropy->columns[i];
        if (c->signs == 0)
            continue;
        out.suspicious_count++;
        best = c->p < best ? c->p : best;
    }
    best *= (double)entropy->count;
    out.likely_watermarked = out.suspicious_count > 0;
    out.confidence = out.likely_watermarked && best < 1 ? 1 - best : 0;
    return out;
}

ald_status ald_piracy_detect(struct ArrowArrayStream *batches, uint64_t memory_bytes,
                             const ald_host *host, ald_detection *out, ald_error *err)
{
    ald_entropy *e;
    memset(out, 0, sizeof *out);
    ALD_TRY(ald_piracy_analyze_entropy(batches, memory_bytes, host, &e, err));
    *out = ald_entropy_verdict(e);
    ald_entropy_free(e);
    return ALD_OK;
}

/* ---- with a key */

ald_status ald_piracy_extract_buyer(ald_watermark_reading *reading, ald_watermark_finding *out,
                                    ald_error *err)
{
    return ald_watermark_extract(reading, out, err);
}

ald_status ald_piracy_prove_buyer(ald_watermark_reading *reading,
                                  const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
                                  ald_proof *out, ald_error *err)
{
    ald_watermark_finding blind;
    memset(out, 0, sizeof *out);
    ALD_TRY(ald_watermark_extract(reading, &blind, err));
    ALD_TRY(ald_watermark_verify(reading, buyer_hash, &out->finding, err));
    out->is_blind =
        blind.found && memcmp(blind.buyer_hash, buyer_hash, ALD_WATERMARK_BUYER_BYTES) == 0;
    out->match_confirmed = out->is_blind || out->finding.found;
    return ALD_OK;
}

ald_status ald_piracy_evidence(ald_watermark_reading *reading,
                               const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
                               ald_column_evidence *out, size_t capacity, size_t *count,
                               ald_error *err)
{
    ald_watermark_finding finding;
    *count = 0;
    ALD_TRY(ald_watermark_verify(reading, buyer_hash, &finding, err));
    for (size_t i = 0; i < reading->survey.leaves.count; i++) {
        ald_column_evidence e = {
            reading->survey.leaves.list[i].name, reading->survey.leaves.list[i].column, 0, 0, 0, 0};
        if (reading->survey.reasons[i] != ALD_WATERMARK_NONE)
            continue;
        ALD_TRY(ald__mark_reading_column(reading, reading->best_variant, i, buyer_hash, &e, err));
        if (*count < capacity)
            out[*count] = e;
        ++*count;
    }
    return ALD_OK;
}

/* The leaf of an entry of the evidence: those that cannot be looked at have none. */
static ald_status leaf_of_entry(const ald_watermark_reading *r, size_t index, size_t *leaf,
                                ald_error *err)
{
    for (size_t i = 0; i < r->survey.leaves.count; i++) {
        if (r->survey.reasons[i] != ALD_WATERMARK_NONE)
            continue;
        if (index-- == 0) {
            *leaf = i;
            return ALD_OK;
        }
    }
    return ald__fail(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "there is no such column of numbers");
}

static void set_bits(const ald__mark_soft *soft, ald_column_bits *out)
{
    for (size_t j = 0; j < ALD__POLAR_BITS; j++) {
        const uint8_t bit = (uint8_t)(1u << j % 8);
        if (soft->y[j] < 0)
            out->bits[j / 8] |= bit;
        if (soft->y[j] < 0 || soft->y[j] > 0)
            out->known[j / 8] |= bit;
    }
}

ald_status ald_piracy_evidence_bits(ald_watermark_reading *reading, size_t index,
                                    ald_column_bits *out, ald_error *err)
{
    const ald_allocator *alloc = &reading->host.alloc;
    uint8_t entropy_class = ALD_ENTROPY_NONE;
    ald__mark_soft *soft;
    size_t leaf = 0;
    ald_status st;
    memset(out, 0, sizeof *out);
    ALD_TRY(leaf_of_entry(reading, index, &leaf, err));
    ALD_TRY(ald__mark_ready_variant(reading, reading->best_variant, err));
    soft = ald__alloc_zero(alloc, sizeof *soft, err);
    if (soft == NULL)
        return ALD_E_NOMEM;
    st = ald__mark_reading_soft(reading, reading->best_variant, leaf, soft, err);
    set_bits(soft, out);
    ald__release(alloc, soft, sizeof *soft);
    if (st == ALD_OK)
        st = ald__entropy_lsb(&reading->survey.tallies[leaf],
                              reading->survey.leaves.list[leaf].type.id == ALD__FLOAT32,
                              &out->lsb_entropy, &entropy_class, err);
    out->expected_entropy = entropy_class == ALD_ENTROPY_FULL ? 1 : 0;
    return st;
}

ald_status ald_piracy_buyer_code(const ald_watermark_reading *reading,
                                 const uint8_t buyer_hash[ALD_WATERMARK_BUYER_BYTES],
                                 uint8_t out[ALD_WATERMARK_CODE_BYTES], ald_error *err)
{
    uint64_t codeword[ALD__POLAR_WORDS];
    ALD_TRY(ald__mark_codeword(&reading->keys, buyer_hash, codeword, err));
    for (size_t i = 0; i < ALD__POLAR_WORDS; i++)
        ald__store_le64(out + 8 * i, codeword[i]);
    return ALD_OK;
}
