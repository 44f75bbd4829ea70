/* SPDX-License-Identifier: MIT */
/* A .npz file: a zip archive of .npy members. All members that are read are open at once and are decompressed as their rows
 * are needed. What the archive says of sizes is compared with what deflate can do and with what the file has, so that a
 * small file cannot announce much. Names are names of columns; nothing is unpacked under them. */
#include <string.h>

#include "interchange/format/error_in.h"
#include "interchange/tensors/npy_header.h"
#include "interchange/tensors/zip_library.h"

#ifndef ALD__HAVE_ZIP

ald_status ald_npz_open(const ald_source *source, const ald_tensor_options *options,
                        const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    (void)source;
    (void)options;
    (void)host;
    memset(out, 0, sizeof *out);
    return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                         "this build reads no .npz\ninstall libzip-dev and build again");
}

#else

#define DIRECTORY_BYTES ((uint64_t)64 << 20) /* read while the archive is opened */
#define MOST_MEMBERS 4096u                   /* each that is open has buffers of its own */
#define MOST_RATIO 1032u                     /* of deflate */
#define ROW_BYTES ((size_t)1 << 30)
#define SPOOL_BYTES ((uint64_t)16 << 30)
#define PIECE_BYTES ((size_t)1 << 20)

typedef struct npz_file {
    const ald__zip_library *zip;
    ald_source source;
    uint64_t at, budget;
    zip_error_t zip_error;
    ald_error error; /* of the source; status 0: none */
    zip_t *archive;
    struct npz_member *members; /* the last one opened */
    uint64_t packed_bytes, spooled_bytes;
} npz_file;

typedef struct npz_member {
    npz_file *file;
    struct npz_member *before;
    zip_file_t *zip;
    uint64_t size, at; /* of the member's bytes */
    uint64_t start;    /* of the array in them */
    ald_spool spool;   /* close NULL: none */
} npz_member;

/* ---- the archive as libzip reads it */

static zip_int64_t fail_read(npz_file *f, int code)
{
    f->zip->zip_error_set(&f->zip_error, code, 0);
    return -1;
}

static zip_int64_t source_read(npz_file *f, void *data, zip_uint64_t size)
{
    uint64_t left = f->source.size_bytes - f->at;
    size_t n = size < left ? (size_t)size : (size_t)left;
    if (n > f->budget)
        return fail_read(f, ZIP_ER_MEMORY);
    if (n > 0 && f->source.read_at(f->source.ctx, f->at, data, n, &f->error) != ALD_OK)
        return fail_read(f, ZIP_ER_READ);
    f->at += n;
    f->budget -= n;
    return (zip_int64_t)n;
}

static zip_int64_t source_seek(npz_file *f, void *data, zip_uint64_t size)
{
    zip_int64_t at = f->zip->zip_source_seek_compute_offset(f->at, f->source.size_bytes, data, size,
                                                            &f->zip_error);
    if (at < 0)
        return -1;
    f->at = (uint64_t)at;
    return 0;
}

static zip_int64_t source_stat(npz_file *f, void *data, zip_uint64_t size)
{
    zip_stat_t st;
    if (size < sizeof st)
        return fail_read(f, ZIP_ER_INVAL);
    memset(&st, 0, sizeof st);
    st.valid = ZIP_STAT_SIZE;
    st.size = f->source.size_bytes;
    memcpy(data, &st, sizeof st);
    return (zip_int64_t)sizeof st;
}

static zip_int64_t source_call(void *ctx, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    npz_file *f = ctx;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        f->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return source_read(f, data, size);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
        return 0;
    case ZIP_SOURCE_STAT:
        return source_stat(f, data, size);
    case ZIP_SOURCE_SEEK:
        return source_seek(f, data, size);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)f->at;
    case ZIP_SOURCE_ERROR:
        return f->zip->zip_error_to_data(&f->zip_error, data, size);
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_SEEKABLE;
    default:
        return fail_read(f, ZIP_ER_OPNOTSUPP);
    }
}

/* What libzip found is wrong, or what the source said. */
static ald_status zip_failure(npz_file *f, int code, ald_error *err)
{
    static const struct {
        int code;
        ald_status status;
        const char *text;
    } rows[] = {
        {ZIP_ER_MEMORY, ALD_E_NOMEM, "no memory for the archive"},
        {ZIP_ER_CRC, ALD_E_CHECKSUM_MISMATCH, "its checksum does not fit its bytes"},
        {ZIP_ER_EXISTS, ALD_E_INVALID_FORMAT, "two members of the archive have the same name"},
        {ZIP_ER_EOF, ALD_E_TRUNCATED, "the archive ends too early"},
        {ZIP_ER_NOZIP, ALD_E_TRUNCATED, "the archive has no directory at its end"},
        {ZIP_ER_COMPNOTSUPP, ALD_E_UNSUPPORTED, "its compression is not known"},
        {ZIP_ER_ENCRNOTSUPP, ALD_E_UNSUPPORTED, "it is encrypted"},
        {ZIP_ER_NOPASSWD, ALD_E_UNSUPPORTED, "it is encrypted"},
    };
    if (f->error.status != ALD_OK) {
        if (err != NULL)
            *err = f->error;
        return (ald_status)f->error.status;
    }
    if (code == ZIP_ER_MEMORY && f->budget < DIRECTORY_BYTES / 2 && f->archive == NULL)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "the archive's directory is too large");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].code == code)
            return ald_error_set(err, rows[i].status, ALD_NO_OFFSET, "%s", rows[i].text);
    }
    return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET, "the archive is broken (%d)",
                         code);
}

static ald_status open_archive(npz_file *f, ald_error *err)
{
    uint8_t head[4] = {0};
    zip_error_t why;
    zip_source_t *source;
    ald_status status = ALD_OK;
    size_t n = f->source.size_bytes < sizeof head ? (size_t)f->source.size_bytes : sizeof head;
    if (n > 0)
        status = f->source.read_at(f->source.ctx, 0, head, n, err);
    if (status != ALD_OK)
        return status;
    if (n == 0)
        return ald_error_set(err, ALD_E_TRUNCATED, 0, "the file is empty");
    if (memcmp(head, "PK", n < 2 ? n : 2) != 0)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, 0, "this is no .npz (no zip archive)");
    f->zip->zip_error_init(&why);
    source = f->zip->zip_source_function_create(source_call, f, &why);
    f->archive = source != NULL
                     ? f->zip->zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &why)
                     : NULL;
    if (f->archive == NULL) {
        status = zip_failure(f, f->zip->zip_error_code_zip(&why), err);
        if (source != NULL)
            f->zip->zip_source_free(source);
    }
    f->zip->zip_error_fini(&why);
    f->budget = UINT64_MAX;
    return status;
}

static void close_npz(void *ctx)
{
    npz_file *f = ctx;
    for (npz_member *m = f->members; m != NULL; m = m->before) {
        if (m->zip != NULL)
            (void)f->zip->zip_fclose(m->zip);
        if (m->spool.close != NULL)
            m->spool.close(m->spool.ctx);
    }
    if (f->archive != NULL)
        f->zip->zip_discard(f->archive);
    f->zip->zip_error_fini(&f->zip_error);
}

/* ---- a member */

static ald_status member_read(npz_member *m, void *buf, size_t size, ald_error *err)
{
    uint8_t *p = buf;
    while (size > 0) {
        size_t piece = size < PIECE_BYTES ? size : PIECE_BYTES;
        zip_int64_t n = m->file->zip->zip_fread(m->zip, p, piece);
        if (n < 0) {
            zip_error_t *why = m->file->zip->zip_file_get_error(m->zip);
            return zip_failure(m->file, m->file->zip->zip_error_code_zip(why), err);
        }
        if (n == 0)
            return ald_error_set(err, ALD_E_TRUNCATED, ALD_NO_OFFSET,
                                 "it has fewer bytes than the archive says");
        p += n;
        size -= (size_t)n;
        m->at += (uint64_t)n;
    }
    return ALD_OK;
}

static ald_status read_rows_of_member(void *ctx, uint64_t offset, void *buf, size_t size,
                                      ald_error *err)
{
    npz_member *m = ctx;
    if (m->spool.close != NULL)
        return m->spool.read_at(m->spool.ctx, offset, buf, size, err);
    if (m->start + offset != m->at)
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "rows are read in order");
    return member_read(m, buf, size, err);
}

/* The checksum is compared when the end is read. */
static ald_status check_end(void *ctx, ald_error *err)
{
    npz_member *m = ctx;
    uint8_t byte;
    zip_int64_t n = m->spool.close == NULL ? m->file->zip->zip_fread(m->zip, &byte, 1) : 0;
    if (n < 0) {
        zip_error_t *why = m->file->zip->zip_file_get_error(m->zip);
        return zip_failure(m->file, m->file->zip->zip_error_code_zip(why), err);
    }
    return n == 0 ? ALD_OK
                  : ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                  "it has more bytes than the archive says");
}

static ald_status check_stat(npz_file *f, const zip_stat_t *st, ald_error *err)
{
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if ((st->valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && st->encryption_method != ZIP_EM_NONE)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "it is encrypted");
    if ((st->valid & wanted) != wanted ||
        (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE))
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "its compression is not known");
    if (__builtin_add_overflow(f->packed_bytes, st->comp_size, &f->packed_bytes) ||
        f->packed_bytes > f->source.size_bytes)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "members overlap, or are larger than the file");
    if (st->comp_method == ZIP_CM_STORE ? st->size != st->comp_size
                                        : st->size / MOST_RATIO > st->comp_size)
        return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                             "it cannot hold as many bytes as the archive says");
    return ALD_OK;
}

static ald_status read_member_header(ald__tensor_set *set, npz_member *m, ald__tensor *t,
                                     ald_error *err)
{
    uint8_t prefix[ALD__NPY_PREFIX_BYTES] = {0};
    size_t start = 0, size = 0, given = 10;
    uint64_t bytes = 0;
    int is_utf8 = 0;
    char *text;
    if (m->size < given)
        return ald_error_set(err, ALD_E_TRUNCATED, ALD_NO_OFFSET,
                             "the .npy ends within its header");
    ald_status status = member_read(m, prefix, given, err);
    if (status == ALD_OK && prefix[6] > 1 && m->size >= sizeof prefix) {
        status = member_read(m, prefix + given, sizeof prefix - given, err);
        given = sizeof prefix;
    }
    if (status == ALD_OK)
        status = ald__npy_prefix(prefix, given, &start, &size, &is_utf8, err);
    if (status != ALD_OK)
        return status;
    if (size > m->size - start)
        return ald_error_set(err, ALD_E_TRUNCATED, ALD_NO_OFFSET,
                             "the .npy ends within its header");
    text = ald__tensor_alloc(&set->memory, size, 1, err);
    if (text == NULL)
        return ALD_E_NOMEM;
    status = member_read(m, text, size, err);
    m->start = start + size;
    if (status == ALD_OK)
        status = ald__npy_header(&set->memory, text, size, is_utf8, t, err);
    if (status == ALD_OK)
        status = ald__tensor_bytes(t, &bytes, err);
    if (status == ALD_OK && bytes != m->size - m->start)
        return ald_error_set(err,
                             bytes > m->size - m->start ? ALD_E_TRUNCATED : ALD_E_INVALID_FORMAT,
                             ALD_NO_OFFSET, "the array has %llu bytes, but %llu are there",
                             (unsigned long long)bytes, (unsigned long long)(m->size - m->start));
    return status;
}

/* Rows in Fortran order are spread over the member, which is read from its beginning only: so it is kept first. */
static ald_status spool_member(ald__tensor_set *set, npz_member *m, ald_error *err)
{
    uint64_t left = m->size - m->start;
    const ald_host *host = &set->host;
    uint8_t *piece;
    ald_status status;
    if (__builtin_add_overflow(m->file->spooled_bytes, left, &m->file->spooled_bytes) ||
        m->file->spooled_bytes > SPOOL_BYTES)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "arrays in Fortran order are too large");
    if (host->spool_open == NULL)
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET,
                             "Fortran order needs a place for temporary bytes");
    piece = host->alloc.alloc(host->alloc.ctx, PIECE_BYTES);
    if (piece == NULL)
        return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for an array");
    status = host->spool_open(host->ctx, &m->spool, err);
    while (status == ALD_OK && left > 0) {
        size_t n = left < PIECE_BYTES ? (size_t)left : PIECE_BYTES;
        status = member_read(m, piece, n, err);
        if (status == ALD_OK)
            status = m->spool.append(m->spool.ctx, piece, n, err);
        left -= n;
    }
    host->alloc.release(host->alloc.ctx, piece, PIECE_BYTES);
    if (status == ALD_OK) {
        ald_spool kept = m->spool;
        m->spool.close = NULL; /* the end is that of the archive's bytes */
        status = check_end(m, err);
        m->spool = kept;
    }
    return status;
}

static ald_status open_member(ald__tensor_set *set, npz_file *f, zip_uint64_t index,
                              const zip_stat_t *st, ald__tensor *t, ald_error *err)
{
    ald_status status = check_stat(f, st, err);
    npz_member *m = status == ALD_OK ? ald__tensor_alloc(&set->memory, 1, sizeof *m, err) : NULL;
    if (m == NULL)
        return status != ALD_OK ? status : ALD_E_NOMEM;
    m->file = f;
    m->before = f->members;
    m->size = st->size;
    f->members = m;
    m->zip = f->zip->zip_fopen_index(f->archive, index, 0);
    if (m->zip == NULL)
        return zip_failure(f, f->zip->zip_error_code_zip(f->zip->zip_get_error(f->archive)), err);
    status = read_member_header(set, m, t, err);
    if (status == ALD_OK && t->fortran && t->dimension_count > 1)
        status = spool_member(set, m, err);
    t->read = read_rows_of_member;
    t->end = check_end;
    t->ctx = m;
    return status;
}

static void note_other(const ald__tensor_set *set, const char *name)
{
    char line[200];
    size_t size = strlen(name) < 100 ? strlen(name) : 100;
    if (set->options.note == NULL)
        return;
    line[0] = '\'';
    memcpy(line + 1, name, size);
    memcpy(line + 1 + size, "' is no array (.npy): left out", 31);
    set->options.note(set->options.note_ctx, line);
}

static ald_status check_name(const ald__tensor_set *set, const ald__tensor *t, ald_error *err)
{
    for (size_t i = 0; i < set->count; i++) {
        if (set->tensors[i].name_size == t->name_size &&
            memcmp(set->tensors[i].name, t->name, t->name_size) == 0)
            return ald_error_set(err, ALD_E_INVALID_FORMAT, ALD_NO_OFFSET,
                                 "'%.80s' stands twice in the archive", t->name);
    }
    return ALD_OK;
}

/* A member whose name ends in .npy is the array of the name without it. */
static ald_status add_member(ald__tensor_set *set, npz_file *f, zip_uint64_t index, ald_error *err)
{
    zip_stat_t st;
    ald__tensor t;
    size_t size;
    ald_status status;
    memset(&t, 0, sizeof t);
    if (f->zip->zip_stat_index(f->archive, index, 0, &st) != 0 || (st.valid & ZIP_STAT_NAME) == 0)
        return zip_failure(f, ZIP_ER_INCONS, err);
    size = strlen(st.name);
    if (size < 4 || memcmp(st.name + size - 4, ".npy", 4) != 0) {
        note_other(set, st.name);
        return ALD_OK;
    }
    t.name_size = size - 4;
    if (!ald__tensor_set_wants(set, st.name, t.name_size))
        return ALD_OK;
    t.name = ald__tensor_text(&set->memory, st.name, t.name_size, err);
    if (t.name == NULL)
        return ALD_E_NOMEM;
    status = check_name(set, &t, err);
    if (status != ALD_OK)
        return status;
    if (set->count == MOST_MEMBERS)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "more than %u arrays\npass --tensor NAME for some of them",
                             MOST_MEMBERS);
    status = ald__error_in("", t.name, t.name_size, open_member(set, f, index, &st, &t, err), err);
    if (status == ALD_OK)
        status = ald__tensor_set_add(set, &t, err);
    if (status == ALD_OK && set->tensors[set->count - 1].row_bytes > ROW_BYTES)
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET,
                             "'%.80s': a row of more than 1 GiB", t.name);
    return status;
}

static ald_status add_members(ald__tensor_set *set, npz_file *f, ald_error *err)
{
    zip_int64_t count = f->zip->zip_get_num_entries(f->archive, 0);
    ald_status status = ALD_OK;
    for (zip_int64_t i = 0; status == ALD_OK && i < count; i++)
        status = add_member(set, f, (zip_uint64_t)i, err);
    return status;
}

static ald_status open_npz(ald__tensor_set *set, const ald_source *source, ald_error *err)
{
    const ald__zip_library *zip = NULL;
    ald_status status = ald__zip_library_get(&zip, err);
    npz_file *f = status == ALD_OK ? ald__tensor_alloc(&set->memory, 1, sizeof *f, err) : NULL;
    if (f == NULL)
        return status != ALD_OK ? status : ALD_E_NOMEM;
    f->zip = zip;
    f->source = *source;
    f->budget = DIRECTORY_BYTES;
    zip->zip_error_init(&f->zip_error);
    set->close = close_npz;
    set->close_ctx = f;
    status = open_archive(f, err);
    return status == ALD_OK ? add_members(set, f, err) : status;
}

ald_status ald_npz_open(const ald_source *source, const ald_tensor_options *options,
                        const ald_host *host, struct ArrowArrayStream *out, ald_error *err)
{
    ald__tensor_set set;
    memset(out, 0, sizeof *out);
    ald_status status = ald__tensor_set_open(&set, options, host, err);
    if (status == ALD_OK)
        status = open_npz(&set, source, err);
    if (status == ALD_OK)
        return ald__tensor_set_stream(&set, 0, out, err);
    ald__tensor_set_close(&set);
    return status;
}

#endif
