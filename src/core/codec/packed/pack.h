/* SPDX-License-Identifier: MIT */
/* Packed chunks being written: what drives the families of filters, and what they share.
 *
 * A filter is tried on a sample and then on the whole column with the same functions: a sample is a short column. Nothing is
 * kept from chunk to chunk, and hash tables number values as they come, so the bytes depend on the chunk alone. */
#ifndef CORE_CODEC_PACKED_PACK_H
#define CORE_CODEC_PACKED_PACK_H

#include "core/codec/packed/packed_table.h"

/* ---- Streams: the inflated bytes of a frame, and where each of them ends */

typedef struct ald__stream_end {
    size_t end;
    uint8_t text; /* matches count, not single bytes: text and raw buffers */
} ald__stream_end;

typedef struct ald__streams {
    ald_buffer bytes, ends;
} ald__streams;

/* Room for `size` bytes of the next stream; streams_end(size) makes them one. NULL: no memory. */
uint8_t *ald__streams_room(ald__streams *streams, size_t size, ald_error *err);
ALD_NODISCARD ald_status ald__streams_end(ald__streams *streams, size_t size, int text,
                                          ald_error *err);
ALD_NODISCARD ald_status ald__streams_put(ald__streams *streams, const void *data, size_t size,
                                          int text, ald_error *err);
/* All streams of `from` behind those of `to`. */
ALD_NODISCARD ald_status ald__streams_append(ald__streams *to, const ald__streams *from,
                                             ald_error *err);
void ald__streams_clear(ald__streams *streams);
void ald__streams_swap(ald__streams *a, ald__streams *b);
static inline void ald__streams_reset(ald__streams *streams)
{
    streams->bytes.size = streams->ends.size = 0;
}

/* ---- The compressor of frames */

typedef struct ald__squeezer ald__squeezer;
ALD_NODISCARD ald_status ald__squeezer_new(uint8_t compression, const ald_allocator *alloc,
                                           ald__squeezer **out, ald_error *err);
void ald__squeezer_free(ald__squeezer *squeezer);
/* One frame, appended; a block ends with each stream. */
ALD_NODISCARD ald_status ald__squeezer_frame(ald__squeezer *squeezer, const ald__streams *streams,
                                             ald_buffer *out, ald_error *err);
/* What zstd-1 makes of some bytes; the size itself where it makes nothing of them. */
size_t ald__squeezer_estimate(ald__squeezer *squeezer, const void *data, size_t size);

/* ---- Columns */

/* Values without gaps, of 1, 2, 4 or 8 bytes. */
typedef struct ald__numbers {
    const uint8_t *values;
    size_t n;
    uint32_t width;
    uint32_t run; /* a sample: pieces of so many, between which steps say nothing; 0: one piece */
} ald__numbers;

/* Strings without gaps: string i is data[offsets[i] .. offsets[i + 1]). */
typedef struct ald__strings {
    const uint8_t *data;
    const uint32_t *offsets; /* n + 1; chunks are below 2^27 bytes */
    size_t n;
} ald__strings;

typedef enum ald__ints_mode {
    ALD__MODE_PLAIN,
    ALD__MODE_DELTA,
    ALD__MODE_ZIGZAG, /* of deltas */
    ALD__MODE_STRIDE,
    ALD__MODE_COUNT
} ald__ints_mode;

/* A packer's memory, kept from column to column. */
struct ald__pack {
    ald_allocator alloc;
    uint8_t compression, effort,
        forced;          /* forced: 1 + the filter that tests ask for, where it suits */
    uint8_t forced_mode; /* 1 + the mode of numbers */
    uint8_t failed;      /* there was no memory */
    ald_error *err;
    ald__squeezer *squeezer;
    ald__streams frame;        /* of the frame at hand */
    ald__streams best, trial;  /* of the column at hand; of a filter that is tried */
    ald__streams probe;        /* of a mode of numbers that is tried */
    ald_buffer table, entries; /* filter table; entries of the frame at hand */
    ald_buffer dense;          /* values of slots that have one */
    ald_buffer sample, sample_offsets;
    ald_buffer numbers, more;                                           /* lengths and such */
    ald_buffer probed;                                                  /* sample of a series */
    ald_buffer indices;                                                 /* uint16_t */
    ald_buffer hash, words;                                             /* of a dictionary */
    ald_buffer templates, template_offsets, marks, walked, slot_values; /* of numbers in text */
    ald_buffer squeezed, bodies;
};
typedef struct ald__pack ald__pack;

/* Bytes that `buffer` has room for, uninitialised; NULL: no memory, *err is set. */
void *ald__pack_room(ald__pack *pack, ald_buffer *buffer, size_t size);

/* What streams will take, in bytes: by their symbols, or (text) by zstd-1. */
double ald__pack_cost(ald__pack *pack, const ald__streams *streams);
/* By their symbols alone. */
double ald__pack_plane_cost(const uint8_t *bytes, size_t size);

/* Parameters for numbers in a mode; put writes them with any parameters that a reader would restore them from. */
void ald__ints_fit(const ald__pack *pack, const ald__numbers *v, ald__ints_mode mode,
                   uint32_t stride, ald__packed_ints *out);
ALD_NODISCARD ald_status ald__ints_put(ald__pack *pack, const ald__numbers *v,
                                       const ald__packed_ints *p, ald__streams *out);
/* Some of the numbers, as a short series in `buffer`: all, or runs spread over them. */
ALD_NODISCARD ald_status ald__numbers_sample(ald__pack *pack, const ald__numbers *v,
                                             uint32_t whole_rows, ald_buffer *buffer,
                                             ald__numbers *out);
/* The cheapest mode for a sample, of those in `modes` (bits), and what it costs there. */
ALD_NODISCARD ald_status ald__ints_choose(ald__pack *pack, const ald__numbers *sample,
                                          uint32_t modes, uint32_t stride, ald__ints_mode *mode,
                                          double *cost);
#define ALD__MODES_PLAIN 1u
#define ALD__MODES_ALL 7u /* but strides */
/* A series in the mode that suits a sample of it. */
ALD_NODISCARD ald_status ald__ints_put_best(ald__pack *pack, const ald__numbers *v, uint32_t modes,
                                            ald__packed_ints *p, ald__streams *out);
/* Numbers each distinct value as it comes, up to `limit`, into pack->indices and pack->words (uint64_t); *count = 0: there
 * are more. */
ALD_NODISCARD ald_status ald__pack_distinct(ald__pack *pack, const ald__numbers *v, size_t limit,
                                            size_t *count);
/* Bytes of the frame that streams make. */
ALD_NODISCARD ald_status ald__pack_real_cost(ald__pack *pack, const ald__streams *streams,
                                             size_t *bytes);
/* n values of `width` bytes into a plane for each byte. */
void ald__bytes_split(const uint8_t *values, size_t n, size_t width, uint8_t *planes);
/* Planes of `bits` of n indices. */
ALD_NODISCARD ald_status ald__indices_put(ald__pack *pack, const uint16_t *indices, size_t n,
                                          uint32_t bits, ald__streams *out);
/* Bits of the largest of `count` numbers from 0 on, as the writer rounds them up. */
uint8_t ald__pack_bits(const ald__pack *pack, uint64_t largest);

/* Chooses a filter, and writes entry and streams (without validity) to pack->best. `stride`: 0, or of a list. */
ALD_NODISCARD ald_status ald__pack_numbers(ald__pack *pack, const ald__numbers *v, int is_float,
                                           uint32_t stride, ald__packed_entry *entry);
ALD_NODISCARD ald_status ald__pack_strings(ald__pack *pack, const ald__strings *v,
                                           ald__packed_entry *entry);

/* Strings: a filter's entry and streams, appended to `out`; *done = 0: they cannot be said so. */
typedef ald_status ald__pack_text(ald__pack *pack, const ald__strings *v, ald__packed_entry *entry,
                                  ald__streams *out, int *done);
ald__pack_text ald__pack_str, ald__pack_strdict, ald__pack_strnum;
/* The words of a dictionary of strings, numbered as they come, and indices in pack->indices; *count = 0: too many. The
 * numbers of the strings that came first are in pack->words (uint32_t). */
ALD_NODISCARD ald_status ald__pack_words(ald__pack *pack, const ald__strings *v, size_t limit,
                                         size_t *count);

static inline size_t ald__strings_size(const ald__strings *v)
{
    return v->offsets[v->n];
}

#endif
