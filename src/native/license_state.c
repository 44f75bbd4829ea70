/* SPDX-License-Identifier: MIT */
/* The state's file: 8 bytes of magic, records of 32 bytes, and their seal, BLAKE3 keyed with the 32 bytes of `licenses.key`.
 * A record is license_id[16] ‖ u32 kind ‖ u32 user ‖ u64 value. The state is written before its key, so that a key tells
 * that there must be a state. */
#define _GNU_SOURCE
#include "ald/license_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ald/crypto.h"
#include "ald/native.h"
#include "native/fd.h"

#define MAGIC "ALDLIC1\n"
#define MAGIC_BYTES 8u
#define RECORD_BYTES 32u
#define FILE_BYTES_MAX ((uint64_t)16 << 20)

enum record_kind { RECORD_QUERIES = 1, RECORD_SEAT = 2 };

/* An open state; zeros but for `lock` -1 are none. */
typedef struct license_state {
    const ald_host *host;
    char *path, *key_path, *lock_path;
    int lock;
    mode_t mode; /* of the files */
    int is_new;  /* neither state nor key is there */
    uint8_t key[ALD_BLAKE3_BYTES];
    uint8_t *bytes; /* magic and records */
    size_t size;
} license_state;

static uint64_t load_le(const uint8_t *p, unsigned size)
{
    uint64_t v = 0;
    for (unsigned i = size; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static void store_le(uint8_t *p, uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static ald_status no_memory(ald_error *err)
{
    return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the license state");
}

static ald_status tampered(const license_state *s, const char *what, ald_error *err)
{
    return ald_error_set(err, ALD_E_CHECKSUM_MISMATCH, ALD_NO_OFFSET,
                         "license state '%s': %s\nput both files back from a backup, or remove "
                         "licenses and licenses.key to count anew from zero",
                         s->path, what);
}

/* ---- files */

static char *join(const char *folder, const char *name)
{
    char *path = NULL;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* All of a small file. *size 0 and NULL: there is none. The block is the caller's. */
static ald_status read_small(const char *path, uint8_t **out, size_t *size, ald_error *err)
{
    struct stat info;
    ald_status status = ALD_OK;
    *out = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK); /* a FIFO must not hang */
    if (fd < 0)
        return errno == ENOENT ? ALD_OK : ald__io_error(err, "cannot open", path, errno);
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || (uint64_t)info.st_size > FILE_BYTES_MAX)
        status = ald__io_error(err, "not a license state", path, EINVAL);
    if (status == ALD_OK) {
        *size = (size_t)info.st_size;
        *out = malloc(*size + 1);
        status = *out != NULL ? ald__fd_read_at(fd, path, 0, *out, *size, err) : no_memory(err);
    }
    close(fd);
    if (status != ALD_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

static ald_status write_small(const license_state *s, const char *path, const void *a,
                              size_t a_size, const void *b, size_t b_size, ald_error *err)
{
    ald_file_sink *file = NULL;
    ald_status status = ald_file_create(path, ALD_FILE_REPLACE | ALD_FILE_PRIVATE, &file, err);
    if (status != ALD_OK)
        return status;
    const ald_sink *sink = ald_file_sink_get(file);
    status = sink->write(sink->ctx, a, a_size, err);
    if (status == ALD_OK && b_size > 0)
        status = sink->write(sink->ctx, b, b_size, err);
    if (status == ALD_OK && chmod(ald_file_sink_temporary(file), s->mode) != 0)
        status = ald__io_error(err, "cannot set the mode of", path, errno);
    if (status != ALD_OK) {
        ald_file_abort(file);
        return status;
    }
    return ald_file_commit(file, err);
}

/* ---- opening */

static void state_close(license_state *s)
{
    if (s->lock >= 0)
        close(s->lock); /* gives up the lock */
    explicit_bzero(s->key, sizeof s->key);
    free(s->bytes);
    free(s->path);
    free(s->key_path);
    free(s->lock_path);
}

/* *found 0: there is no folder, and none is made. */
static ald_status state_folder(license_state *s, const char *folder, int make, int *found,
                               ald_error *err)
{
    struct stat info;
    *found = 0;
    if (make && mkdir(folder, 0700) != 0 && errno != EEXIST)
        return ald__io_error(err, "cannot make", folder, errno);
    if (stat(folder, &info) != 0)
        return errno == ENOENT && !make ? ALD_OK : ald__io_error(err, "cannot use", folder, errno);
    s->mode = (mode_t)(0600 | (info.st_mode & 0020 ? 0060 : 0));
    s->path = join(folder, "licenses");
    s->key_path = join(folder, "licenses.key");
    s->lock_path = join(folder, "licenses.lock");
    *found = 1;
    return s->path != NULL && s->key_path != NULL && s->lock_path != NULL ? ALD_OK : no_memory(err);
}

static ald_status state_lock(license_state *s, ald_error *err)
{
    s->lock = open(s->lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock < 0)
        return ald__io_error(err, "cannot open", s->lock_path, errno);
    (void)fchmod(s->lock, s->mode); /* fails where another user made it, with that mode */
    while (flock(s->lock, LOCK_EX) != 0) {
        if (errno != EINTR)
            return ald__io_error(err, "cannot lock", s->lock_path, errno);
    }
    return ALD_OK;
}

static ald_status make_seal(const license_state *s, uint8_t seal[ALD_BLAKE3_BYTES], ald_error *err)
{
    const ald_crypto *crypto = s->host->crypto;
    void *state = NULL;
    if (!ALD_CRYPTO_HAS(crypto, blake3_finish))
        return ald_error_set(err, ALD_E_UNSUPPORTED, ALD_NO_OFFSET, "the host has no BLAKE3");
    ald_status status = crypto->blake3_new(&s->host->alloc, s->key, &state, err);
    if (status == ALD_OK) {
        crypto->blake3_update(state, s->bytes, s->size);
        crypto->blake3_finish(state, seal);
    }
    return status;
}

/* What was read, taken apart; s->size leaves the seal out. */
static ald_status check_state(license_state *s, const uint8_t *key, size_t key_size, ald_error *err)
{
    uint8_t seal[ALD_BLAKE3_BYTES];
    unsigned difference = 0;
    if (key == NULL)
        return tampered(s, "its key is missing", err);
    if (s->bytes == NULL)
        return tampered(s, "it is missing, but its key is there", err);
    if (key_size != sizeof s->key)
        return tampered(s, "its key was changed", err);
    if (s->size < MAGIC_BYTES + sizeof seal ||
        (s->size - MAGIC_BYTES - sizeof seal) % RECORD_BYTES != 0 ||
        memcmp(s->bytes, MAGIC, MAGIC_BYTES) != 0)
        return tampered(s, "it was changed or damaged", err);
    memcpy(s->key, key, sizeof s->key);
    s->size -= sizeof seal;
    ald_status status = make_seal(s, seal, err);
    for (size_t i = 0; status == ALD_OK && i < sizeof seal; i++)
        difference |= (unsigned)(seal[i] ^ s->bytes[s->size + i]);
    return status == ALD_OK && difference != 0 ? tampered(s, "it was changed or damaged", err)
                                               : status;
}

static ald_status state_read(license_state *s, ald_error *err)
{
    uint8_t *key = NULL;
    size_t key_size = 0;
    ald_status status = read_small(s->key_path, &key, &key_size, err);
    if (status == ALD_OK)
        status = read_small(s->path, &s->bytes, &s->size, err);
    if (status == ALD_OK && key == NULL && s->bytes == NULL)
        s->is_new = 1;
    else if (status == ALD_OK)
        status = check_state(s, key, key_size, err);
    if (key != NULL)
        explicit_bzero(key, key_size);
    free(key);
    return status;
}

static ald_status state_save(license_state *s, ald_error *err)
{
    uint8_t seal[ALD_BLAKE3_BYTES];
    ald_status status = ALD_OK;
    if (s->is_new)
        status = s->host->random(s->host->ctx, s->key, sizeof s->key, err);
    if (status == ALD_OK)
        status = make_seal(s, seal, err);
    if (status == ALD_OK)
        status = write_small(s, s->path, s->bytes, s->size, seal, sizeof seal, err);
    if (status == ALD_OK && s->is_new)
        status = write_small(s, s->key_path, s->key, sizeof s->key, NULL, 0, err);
    return status;
}

/* ---- records */

static uint8_t *find(const license_state *s, const uint8_t *id, uint32_t kind, uint32_t user)
{
    for (size_t at = MAGIC_BYTES; at + RECORD_BYTES <= s->size; at += RECORD_BYTES) {
        uint8_t *r = s->bytes + at;
        if (memcmp(r, id, ALD_LICENSE_ID_BYTES) == 0 && load_le(r + 16, 4) == kind &&
            load_le(r + 20, 4) == user)
            return r;
    }
    return NULL;
}

static uint32_t count_seats(const license_state *s, const uint8_t *id)
{
    uint32_t count = 0;
    for (size_t at = MAGIC_BYTES; at + RECORD_BYTES <= s->size; at += RECORD_BYTES)
        count += memcmp(s->bytes + at, id, ALD_LICENSE_ID_BYTES) == 0 &&
                 load_le(s->bytes + at + 16, 4) == RECORD_SEAT;
    return count;
}

static ald_status put(license_state *s, const uint8_t *id, uint32_t kind, uint32_t user,
                      uint64_t value, ald_error *err)
{
    uint8_t *r = find(s, id, kind, user);
    if (r == NULL) {
        size_t start = s->size > 0 ? s->size : MAGIC_BYTES;
        uint8_t *bytes = realloc(s->bytes, start + RECORD_BYTES);
        if (bytes == NULL)
            return no_memory(err);
        s->bytes = bytes;
        memcpy(bytes, MAGIC, MAGIC_BYTES);
        s->size = start + RECORD_BYTES;
        r = bytes + start;
        memcpy(r, id, ALD_LICENSE_ID_BYTES);
        store_le(r + 16, kind, 4);
        store_le(r + 20, user, 4);
    }
    store_le(r + 24, value, 8);
    return ALD_OK;
}

static void usage_of(const license_state *s, const uint8_t *id, ald_license_usage *out)
{
    const uint8_t *queries = find(s, id, RECORD_QUERIES, 0);
    out->query_count = queries != NULL ? load_le(queries + 24, 8) : 0;
    out->seat_count = count_seats(s, id);
    out->has_seat = find(s, id, RECORD_SEAT, (uint32_t)geteuid()) != NULL;
}

/* ---- limits */

static ald_status take_seat(license_state *s, const ald_license *l, const ald_license_usage *usage,
                            ald_error *err)
{
    if (usage->has_seat)
        return ALD_OK;
    if (usage->seat_count >= l->seat_limit)
        return ald_error_set(err, ALD_E_LICENSE_EXHAUSTED, ALD_NO_OFFSET,
                             "the license has %u seats, and %u users of this machine have one\n"
                             "ask the seller for more seats",
                             l->seat_limit, usage->seat_count);
    int64_t now = s->host->now != NULL ? s->host->now(s->host->ctx) : INT64_MIN;
    return put(s, l->license_id, RECORD_SEAT, (uint32_t)geteuid(), now > 0 ? (uint64_t)now : 0,
               err);
}

static ald_status take_queries(license_state *s, const ald_license *l,
                               const ald_license_usage *usage, uint64_t count, ald_error *err)
{
    uint64_t left = usage->query_count < l->query_limit ? l->query_limit - usage->query_count : 0;
    if (count > left)
        return ald_error_set(err, ALD_E_LICENSE_EXHAUSTED, ALD_NO_OFFSET,
                             "all %u queries of the license were used on this machine\n"
                             "ask the seller for a new license",
                             l->query_limit);
    return put(s, l->license_id, RECORD_QUERIES, 0, usage->query_count + count, err);
}

static ald_status note_use(license_state *s, const ald_license *l, uint64_t count, ald_error *err)
{
    ald_license_usage usage;
    ald_status status = ALD_OK;
    usage_of(s, l->license_id, &usage);
    if ((l->flags & ALD_LICENSE_SEATS_ENFORCED) != 0)
        status = take_seat(s, l, &usage, err);
    if (status == ALD_OK && (l->flags & ALD_LICENSE_QUERY_LIMITED) != 0 && count > 0)
        status = take_queries(s, l, &usage, count, err);
    else if (status == ALD_OK && usage.has_seat)
        return ALD_OK; /* nothing is new */
    return status == ALD_OK && s->size > 0 ? state_save(s, err) : status;
}

ald_status ald_license_state_use(const char *folder, const ald_license *license,
                                 uint64_t query_count, const ald_host *host, ald_error *err)
{
    license_state s;
    int found = 0;
    memset(&s, 0, sizeof s);
    s.host = host;
    s.lock = -1;
    if ((license->flags & (ALD_LICENSE_SEATS_ENFORCED | ALD_LICENSE_QUERY_LIMITED)) == 0)
        return ALD_OK;
    ald_status status = state_folder(&s, folder, 1, &found, err);
    if (status == ALD_OK)
        status = state_lock(&s, err);
    if (status == ALD_OK)
        status = state_read(&s, err);
    if (status == ALD_OK)
        status = note_use(&s, license, query_count, err);
    state_close(&s);
    return status;
}

ald_status ald_license_state_get(const char *folder, const ald_license *license,
                                 const ald_host *host, ald_license_usage *out, ald_error *err)
{
    license_state s;
    int found = 0;
    memset(out, 0, sizeof *out);
    memset(&s, 0, sizeof s);
    s.host = host;
    s.lock = -1;
    ald_status status = state_folder(&s, folder, 0, &found, err);
    if (status == ALD_OK && found && (access(s.path, F_OK) == 0 || access(s.key_path, F_OK) == 0)) {
        status = state_lock(&s, err);
        if (status == ALD_OK)
            status = state_read(&s, err);
        if (status == ALD_OK)
            usage_of(&s, license->license_id, out);
    }
    state_close(&s);
    return status;
}
