/* SPDX-License-Identifier: MIT */
/* A file on its way into another one with the same rows. */
#ifndef CORE_DATASET_REWRITE_H
#define CORE_DATASET_REWRITE_H

#include "ald/rewrite.h"
#include "ald/writer.h"
#include "core/dataset/protect.h"
#include "core/dataset/settings.h"

/* What happens to the payload. */
typedef enum ald__transit {
    ALD__TRANSIT_KEEP = 0, /* as stored */
    ALD__TRANSIT_RESEAL,   /* pieces are opened (of an encrypted file) and sealed (for one) */
    ALD__TRANSIT_LAST      /* only the epilogue, whose key has changed */
} ald__transit;

typedef struct ald__rewriting {
    const ald_host *host;
    ald_rewrite_options options; /* defaults filled in */
    ald_protection asked;
    ald__settings settings;
    ald_sink sink;
    ald_source source; /* the caller's, or a copy that nobody else can write to: */
    ald_spool copy;    /* in a spool */
    ald_buffer memory; /* or in memory */
    ald__file file;
    ald_value *edited;          /* the metadata that the caller made of the file's, or NULL */
    ald__protecting protecting; /* of the new file */
    ald__transit transit;
    ald__piece_keys from, to; /* where pieces are opened, sealed */
    ald_save_options header;  /* what the new prefix says of type, compression and metadata */
    ald_buffer section;       /* schema */
    ald_chunk_entry *chunks;  /* new sizes; NULL: not STREAMING */
    ald_array_entry *arrays;  /* offsets from the payload's start */
    uint64_t payload_size;    /* new */
    ald_buffer frame_crc32, seal_hashes;
    ald__output output;
} ald__rewriting;

/* rewrite_plan.c: the request against the file; then protection, keys and new sizes. */
ALD_NODISCARD ald_status ald__rewrite_take(ald__rewriting *r, const ald_rewrite_options *given,
                                           ald_error *err);
ALD_NODISCARD ald_status ald__rewrite_plan(ald__rewriting *r, ald_error *err);
/* rewrite_payload.c: passes the payload to the output, or leaves it where it is, and fills in the facts about it. */
ALD_NODISCARD ald_status ald__rewrite_payload(ald__rewriting *r, uint64_t room, ald_error *err);

/* Whether the new file has a seal; whether frame_crc32 counts. */
int ald__rewrite_seals(const ald__rewriting *r);
int ald__rewrite_sums(const ald__rewriting *r);

#endif
