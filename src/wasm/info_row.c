/* SPDX-License-Identifier: MIT */
/* An ald_info as a row of numbers, and proofs that structs lie in memory as the other side reads them. */
#include "ald/arrow.h"
#include "ald/piracy.h"
#include "wasm/crypto/deferral.h"
#include "wasm/glue.h"

#define LIES(type, member, at)                                                                     \
    _Static_assert(offsetof(type, member) == (at), #type "." #member " has moved")

LIES(struct ArrowArray, null_count, 8);
LIES(struct ArrowArray, offset, 16);
LIES(struct ArrowArray, n_buffers, 24);
LIES(struct ArrowArray, n_children, 32);
LIES(struct ArrowArray, buffers, 40);
LIES(struct ArrowArray, children, 44);
LIES(struct ArrowArray, dictionary, 48);
LIES(struct ArrowArray, release, 52);
LIES(struct ArrowSchema, name, 4);
LIES(struct ArrowSchema, metadata, 8);
LIES(struct ArrowSchema, flags, 16);
LIES(struct ArrowSchema, n_children, 24);
LIES(struct ArrowSchema, children, 32);
LIES(struct ArrowSchema, dictionary, 36);
LIES(ald_error, offset, 8);
LIES(ald_error, msg, 16);
LIES(ald_buffer, size, 4);
LIES(ald_host, alloc, 8);
LIES(ald_wasm_piece, size, 4);
LIES(ald_wasm_piece, key, 8);
LIES(ald_wasm_piece, nonce, 12);
LIES(ald_wasm_piece, aad, 16);
LIES(ald_wasm_piece, aad_size, 20);
LIES(ald_watermark_report, column_count, 4);
LIES(ald_watermark_report, capacity, 8);
LIES(ald_watermark_report, capacity_is_low, 16);
LIES(ald_watermark_column, column, 4);
LIES(ald_watermark_column, mode, 8);
LIES(ald_watermark_column, reason, 9);
LIES(ald_watermark_column, planes, 10);
LIES(ald_watermark_column, is_estimate, 11);
LIES(ald_watermark_column, unit, 14);
LIES(ald_watermark_column, value_count, 16);
LIES(ald_watermark_column, largest_change, 40);
LIES(ald_watermark_column, deviation_shift, 64);
LIES(ald_watermark_column, largest_move, 72);
_Static_assert(sizeof(ald_watermark_column) == 80, "ald_watermark_column has grown");
LIES(ald_watermark_finding, is_marked, 1);
LIES(ald_watermark_finding, profiles, 4);
LIES(ald_watermark_finding, affine, 12);
LIES(ald_watermark_finding, buyer_hash, 16);
LIES(ald_watermark_finding, confidence, 48);
LIES(ald_watermark_finding, carriers, 88);
_Static_assert(sizeof(ald_watermark_finding) == 96, "ald_watermark_finding has grown");
LIES(ald_watermark_rank, log2_p, 8);
LIES(ald_watermark_rank, agreement, 16);
_Static_assert(sizeof(ald_watermark_rank) == 24, "ald_watermark_rank has grown");
LIES(ald_column_evidence, carriers, 16);
LIES(ald_column_evidence, agreement, 32);
_Static_assert(sizeof(ald_column_evidence) == 40, "ald_column_evidence has grown");
LIES(ald_detection, confidence, 8);
LIES(ald_column_entropy, column, 4);
LIES(ald_column_entropy, entropy_class, 8);
LIES(ald_column_entropy, signs, 9);
LIES(ald_column_entropy, raw, 10);
LIES(ald_column_entropy, bits, 11);
LIES(ald_column_entropy, value_count, 16);
LIES(ald_column_entropy, lsb_ones, 40);
LIES(ald_column_entropy, bit_correlation, 96);
LIES(ald_column_entropy, bit_correlation_distance, 104);
LIES(ald_column_entropy, centered_correlation, 112);
LIES(ald_column_entropy, peak_256, 128);
LIES(ald_column_entropy, phase_p, 136);
LIES(ald_column_entropy, p, 408);
LIES(ald_column_entropy, low_bytes, 416);
LIES(ald_chunk_entry, byte_offset, 8);
LIES(ald_chunk_entry, num_rows, 16);
LIES(ald_chunk_entry, compressed_size, 20);
LIES(ald_chunk_entry, uncompressed_size, 24);
_Static_assert(sizeof(ald_chunk_entry) == 32, "ald_chunk_entry has grown");
LIES(ald_license, licensee_hash, 16);
LIES(ald_license, issued_at, 48);
LIES(ald_license, expires_at, 56);
LIES(ald_license, query_limit, 64);
LIES(ald_license, seat_limit, 68);
LIES(ald_license, flags, 70);
LIES(ald_license, terms, 72);
LIES(ald_license, terms_size, 76);

static double address(const void *pointer)
{
    return (double)(uintptr_t)pointer;
}

const double *ald_wasm_info(const ald_info *info)
{
    static double row[64];
    const ald_range *range = &info->sections.header;
    size_t n = 0;
    row[n++] = (double)info->file_size_bytes;
    row[n++] = (double)info->num_rows;
    row[n++] = (double)info->payload_size;
    row[n++] = (double)info->uncompressed_size;
    row[n++] = (double)info->schema_size;
    row[n++] = info->dataset_type;
    row[n++] = info->version_major;
    row[n++] = info->version_minor;
    row[n++] = info->compression;
    row[n++] = info->flags;
    row[n++] = info->crc32_variant;
    row[n++] = (double)info->chunk_count;
    row[n++] = (double)info->array_count;
    row[n++] = info->encryption_mode;
    row[n++] = info->recipient_count;
    row[n++] = address(info->metadata);
    row[n++] = address(info->facts);
    row[n++] = address(info->schema);
    row[n++] = address(info->chunks);
    row[n++] = address(info->signer_public_key);
    row[n++] = address(info->license);
    for (size_t i = 0; i < sizeof info->sections / sizeof *range; i++) {
        row[n++] = (double)range[i].begin;
        row[n++] = (double)range[i].end;
    }
    return row;
}
