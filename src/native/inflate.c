/* SPDX-License-Identifier: MIT */
/* gzip and zstd inputs, decompressed into an unlinked temporary file. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "ald/native.h"
#include "native/fd.h"

#define IN_BYTES ((size_t)256 << 10)
#define OUT_BYTES ((size_t)1 << 20)

typedef struct inflating {
    const ald_source *from;
    uint64_t in_pos, out_size;
    int fd; /* of the temporary file */
    uint8_t *in, *out;
    size_t in_size; /* bytes in `in` */
} inflating;

static ald_status refill(inflating *f, ald_error *err)
{
    uint64_t left = f->from->size_bytes - f->in_pos;
    ald_status st;
    f->in_size = left < IN_BYTES ? (size_t)left : IN_BYTES;
    if (f->in_size == 0)
        return ALD_OK;
    st = f->from->read_at(f->from->ctx, f->in_pos, f->in, f->in_size, err);
    f->in_pos += f->in_size;
    return st;
}

static ald_status put(inflating *f, size_t size, ald_error *err)
{
    ald_status st = ald__fd_write_at(f->fd, "temporary file", f->out_size, f->out, size, err);
    f->out_size += size;
    return st;
}

static ald_status cut_short(const inflating *f, const char *what, ald_error *err)
{
    return ald_error_set(err, ALD_E_TRUNCATED, f->in_pos, "the %s data end too early", what);
}

/* ---- gzip: several members may follow each other */

static ald_status gzip_step(inflating *f, z_stream *z, int *code, ald_error *err)
{
    if (z->avail_in == 0) {
        ald_status st = refill(f, err);
        if (st != ALD_OK)
            return st;
        if (f->in_size == 0)
            return cut_short(f, "gzip", err);
        z->next_in = f->in;
        z->avail_in = (uInt)f->in_size;
    }
    z->next_out = f->out;
    z->avail_out = (uInt)OUT_BYTES;
    *code = inflate(z, Z_NO_FLUSH);
    if (*code == Z_MEM_ERROR)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for gzip");
    if (*code == Z_DATA_ERROR && z->total_in < 10 &&
        f->out_size > 0) /* no header of one more member */
        return ald_error_set(err, ALD_E_INVALID_FORMAT, f->in_pos - z->avail_in,
                             "something follows the gzip data that is none");
    if (*code == Z_DATA_ERROR && z->msg != NULL && strstr(z->msg, "header") == NULL &&
        strstr(z->msg, "check") != NULL)
        return ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, f->in_pos - z->avail_in,
                             "the gzip data's checksum does not fit");
    if (*code != Z_OK && *code != Z_STREAM_END && *code != Z_BUF_ERROR)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, f->in_pos - z->avail_in,
                             "broken gzip data: %s", z->msg != NULL ? z->msg : "no reason given");
    return put(f, OUT_BYTES - z->avail_out, err);
}

static ald_status gzip_all(inflating *f, z_stream *z, ald_error *err)
{
    for (;;) {
        int code = Z_OK;
        while (code != Z_STREAM_END) {
            ald_status st = gzip_step(f, z, &code, err);
            if (st != ALD_OK)
                return st;
        }
        if (z->avail_in == 0 && f->in_pos == f->from->size_bytes)
            return ALD_OK;
        if (inflateReset(z) != Z_OK)
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for gzip");
    }
}

static ald_status inflate_gzip(inflating *f, ald_error *err)
{
    z_stream z;
    ald_status st;
    memset(&z, 0, sizeof z);
    if (inflateInit2(&z, 15 + 16) != Z_OK) /* the largest window; gzip's header and trailer */
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for gzip");
    st = gzip_all(f, &z, err);
    (void)inflateEnd(&z);
    return st;
}

/* ---- zstd: frames may follow each other */

static ald_status zstd_all(inflating *f, ZSTD_DStream *d, ald_error *err)
{
    size_t hint = 1;
    for (;;) {
        ZSTD_inBuffer in;
        ald_status st = refill(f, err);
        if (st != ALD_OK)
            return st;
        if (f->in_size == 0)
            return hint == 0 ? ALD_OK : cut_short(f, "zstd", err);
        in = (ZSTD_inBuffer){f->in, f->in_size, 0};
        for (int more = 1; more || in.pos < in.size;) {
            ZSTD_outBuffer out = {f->out, OUT_BYTES, 0};
            hint = ZSTD_decompressStream(d, &out, &in);
            if (ZSTD_isError(hint))
                return ald_error_set(err, ALD_E_INVALID_FORMAT, f->in_pos - (in.size - in.pos),
                                     "broken zstd data: %s", ZSTD_getErrorName(hint));
            st = put(f, out.pos, err);
            if (st != ALD_OK)
                return st;
            more = out.pos == OUT_BYTES;
        }
    }
}

static ald_status inflate_zstd(inflating *f, ald_error *err)
{
    ZSTD_DStream *d = ZSTD_createDStream();
    ald_status st;
    if (d == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for zstd");
    st = zstd_all(f, d, err);
    (void)ZSTD_freeDStream(d);
    return st;
}

/* ---- which, and where to */

typedef ald_status (*inflate_fn)(inflating *f, ald_error *err);

static ald_status find_codec(const ald_source *source, inflate_fn *out, ald_error *err)
{
    static const uint8_t zstd_magic[4] = {0x28, 0xB5, 0x2F, 0xFD};
    uint8_t start[4] = {0};
    size_t n = source->size_bytes < sizeof start ? (size_t)source->size_bytes : sizeof start;
    ald_status st = n > 0 ? source->read_at(source->ctx, 0, start, n, err) : ALD_OK;
    *out = NULL;
    if (st == ALD_OK && start[0] == 0x1F && start[1] == 0x8B)
        *out = inflate_gzip;
    else if (st == ALD_OK && memcmp(start, zstd_magic, sizeof zstd_magic) == 0)
        *out = inflate_zstd;
    return st;
}

static ald_status inflate_to(const ald_source *source, inflate_fn codec, int fd, uint64_t *size,
                             ald_error *err)
{
    inflating f = {source, 0, 0, fd, malloc(IN_BYTES), malloc(OUT_BYTES), 0};
    ald_status st = f.in == NULL || f.out == NULL
                        ? ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory to decompress")
                        : codec(&f, err);
    *size = f.out_size;
    free(f.in);
    free(f.out);
    return st;
}

ald_status ald_file_inflate(ald_source *source, ald_error *err)
{
    inflate_fn codec;
    uint64_t size;
    ald_source out;
    int fd;
    ald_status st = find_codec(source, &codec, err);
    if (st != ALD_OK || codec == NULL)
        return st;
    fd = ald__temporary_file(err);
    if (fd < 0)
        return ALD_E_IO;
    st = inflate_to(source, codec, fd, &size, err);
    if (st != ALD_OK) {
        (void)close(fd);
        return st;
    }
    st = ald__fd_source(fd, source->name != NULL ? source->name : "input", size, &out, err);
    if (st == ALD_OK) {
        ald_source_close(source);
        *source = out;
    }
    return st;
}
