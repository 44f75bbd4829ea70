/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cli/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/escape.h"
#include "native/keys/secret_pages.h"

const cli_secret_kind cli_secret_key = {"passphrase of the key", "passphrase",
                                        "key-passphrase-file", "key-passphrase-fd",
                                        "ALIMENTAR_KEY_PASSPHRASE"};
const cli_secret_kind cli_secret_password = {"password of the dataset", "password",
                                             "passphrase-file", "passphrase-fd",
                                             "ALIMENTAR_PASSPHRASE"};

static const opt_spec key_passphrase_specs[] = {
    {.name = "key-passphrase-file",
     .arg = "FILE",
     .kind = OPT_TEXT,
     .offset = offsetof(secret_options, file),
     .help = "the passphrase of the private key's file is in FILE; one line end at its end is "
             "dropped"},
    {.name = "key-passphrase-fd",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = 65535,
     .offset = offsetof(secret_options, fd),
     .help = "it comes from the open file descriptor N"},
};
const opt_group cli_group_key_passphrase = OPT_GROUP("Passphrase", key_passphrase_specs);

static ald_status io_failed(const char *what, const char *name, ald_error *err)
{
    ald_status status = ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "cannot read %s '%s': %s", what,
                                      name, strerror(errno));
    err->detail = errno;
    return status;
}

static ald_status check_size(size_t size, size_t capacity, ald_error *err)
{
    if (size <= capacity) {
        return ALD_OK;
    }
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         "the passphrase is longer than %zu bytes", capacity);
}

/* Reads to the end; the line end may be beyond the capacity. */
static ald_status read_fd(int fd, const char *name, char *out, size_t capacity, size_t *size,
                          ald_error *err)
{
    char rest[2];
    size_t used = 0;
    ssize_t n = 1;
    while (n != 0 && used < capacity + sizeof(rest)) {
        char *at = used < capacity ? out + used : rest + (used - capacity);
        n = read(fd, at, used < capacity ? capacity - used : sizeof(rest) - (used - capacity));
        if (n < 0 && errno != EINTR) {
            return io_failed("the passphrase from", name, err);
        }
        used += n > 0 ? (size_t)n : 0;
    }
    char last = used > capacity ? rest[used - capacity - 1] : used > 0 ? out[used - 1] : '\0';
    if (last == '\n') {
        used--;
        char before = used > capacity ? rest[used - capacity - 1] : used > 0 ? out[used - 1] : '\0';
        used -= before == '\r';
    }
    *size = used;
    return check_size(used, capacity, err);
}

static ald_status read_file(const char *path, char *out, size_t capacity, size_t *size,
                            ald_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return io_failed("the passphrase from", path, err);
    }
    ald_status status = read_fd(fd, path, out, capacity, size, err);
    close(fd);
    return status;
}

/* A pipe gives its bytes once, and two key files may share a passphrase; a person is asked once for a key that signs and
 * opens. */
typedef struct kept_secret {
    struct kept_secret *next;
    const cli_secret_kind *kind; /* asked for, of the file `subject`; else from `fd` */
    size_t size;
    int fd;
    char subject[512];
    char bytes[ALD_PASSPHRASE_BYTES];
} kept_secret;
static kept_secret *kept_secrets;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER; /* files are scanned side by side */

void cli_secret_forget(void)
{
    while (kept_secrets != NULL) {
        kept_secret *kept = kept_secrets;
        kept_secrets = kept->next;
        ald__secret_pages_free(kept, sizeof(*kept));
    }
}

static ald_status read_descriptor(int fd, char *out, size_t capacity, size_t *size, ald_error *err)
{
    char name[32];
    kept_secret *kept = kept_secrets;
    while (kept != NULL && (kept->kind != NULL || kept->fd != fd)) {
        kept = kept->next;
    }
    if (kept == NULL) {
        kept = ald__secret_pages_new(sizeof(*kept));
        if (kept == NULL) {
            return ald_error_set(err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for a passphrase");
        }
        snprintf(name, sizeof(name), "descriptor %d", fd);
        ald_status status = read_fd(fd, name, kept->bytes, sizeof(kept->bytes), &kept->size, err);
        if (status != ALD_OK) {
            ald__secret_pages_free(kept, sizeof(*kept));
            return status;
        }
        kept->fd = fd;
        kept->next = kept_secrets;
        kept_secrets = kept;
    }
    *size = kept->size;
    ald_status status = check_size(*size, capacity, err);
    if (status == ALD_OK) {
        memcpy(out, kept->bytes, *size);
    }
    return status;
}

static ald_status read_variable(const char *value, char *out, size_t capacity, size_t *size,
                                ald_error *err)
{
    *size = strlen(value);
    ald_status status = check_size(*size, capacity, err);
    if (status == ALD_OK) {
        memcpy(out, value, *size);
        if (*size > 0 && out[*size - 1] == '\n') {
            (*size)--;
            *size -= *size > 0 && out[*size - 1] == '\r';
        }
    }
    return status;
}

static ald_status no_source(cli_env *env, const cli_secret_kind *kind, ald_error *err)
{
    cli_hint(env, "there is no terminal to ask on: give it with --%s FILE, --%s N or %s",
             kind->file_option, kind->fd_option, kind->variable);
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the %s is needed", kind->what);
}

static ald_status ask(cli_env *env, const cli_secret_kind *kind, const char *subject, int twice,
                      char *out, size_t capacity, size_t *size, ald_error *err)
{
    char prompt[256], again[ALD_PASSPHRASE_BYTES];
    size_t again_size = 0;
    snprintf(prompt, sizeof(prompt), "%s%s (%.160s): ", twice ? "New " : "", kind->what, subject);
    if (!twice && prompt[0] >= 'a' && prompt[0] <= 'z') {
        prompt[0] = (char)(prompt[0] - 'a' + 'A');
    }
    ald_status status = cli_terminal_ask(prompt, out, capacity, size, err);
    if (status == ALD_E_UNSUPPORTED) {
        return no_source(env, kind, err);
    }
    if (status == ALD_OK && twice) {
        status = cli_terminal_ask("The same again: ", again, sizeof(again), &again_size, err);
    }
    if (status == ALD_OK && twice && (*size != again_size || memcmp(out, again, again_size) != 0)) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "the two %ss are not the same", kind->word);
    }
    explicit_bzero(again, sizeof(again));
    return status;
}

static ald_status ask_once(cli_env *env, const cli_secret_kind *kind, const char *subject,
                           char *out, size_t capacity, size_t *size, ald_error *err)
{
    kept_secret *kept = kept_secrets;
    while (kept != NULL && (kept->kind != kind || strcmp(kept->subject, subject) != 0)) {
        kept = kept->next;
    }
    if (kept != NULL && kept->size <= capacity) {
        *size = kept->size;
        memcpy(out, kept->bytes, kept->size);
        return ALD_OK;
    }
    ald_status status = ask(env, kind, subject, 0, out, capacity, size, err);
    kept =
        status == ALD_OK && strlen(subject) < sizeof(kept->subject) && *size <= sizeof(kept->bytes)
            ? ald__secret_pages_new(sizeof(*kept))
            : NULL;
    if (kept != NULL) { /* without the memory it is asked for again */
        kept->kind = kind;
        kept->size = *size;
        memcpy(kept->bytes, out, *size);
        snprintf(kept->subject, sizeof(kept->subject), "%s", subject);
        kept->next = kept_secrets;
        kept_secrets = kept;
    }
    return status;
}

/* A new password has to be one that every program can be given, on every keyboard: text. Old ones are the bytes they are. */
static ald_status check_new(cli_env *env, const cli_secret_kind *kind, const char *secret,
                            size_t size, ald_error *err)
{
    const unsigned char *at = (const unsigned char *)secret, *end = at + size;
    uint32_t code = 1;
    size_t step = 1;
    if (size == 0) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "the %s is empty", kind->word);
    }
    while (kind == &cli_secret_password && at < end && step > 0 && code != 0) {
        step = cli_utf8_next(at, end, &code);
        at += step;
    }
    if (step > 0 && code != 0) {
        return ALD_OK;
    }
    cli_hint(env, "give it as text; for random bytes take their Base64 or hexadecimal form");
    return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                         step == 0 ? "the new %s is not UTF-8" : "the new %s has a zero byte in it",
                         kind->word);
}

ald_status cli_secret_read(cli_env *env, const cli_secret_kind *kind, const secret_options *options,
                           const char *subject, int twice, char *out, size_t capacity, size_t *size,
                           ald_error *err)
{
    int has_fd = cli_option_given(env, kind->fd_option);
    const char *variable = getenv(kind->variable);
    ald_status status;
    *size = 0;
    if (options->file != NULL && has_fd) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--%s and --%s exclude each other", kind->file_option,
                             kind->fd_option);
    }
    if (options->file != NULL) {
        status = read_file(options->file, out, capacity, size, err);
    } else if (has_fd) {
        (void)pthread_mutex_lock(&kept_lock);
        status = read_descriptor((int)options->fd, out, capacity, size, err);
        (void)pthread_mutex_unlock(&kept_lock);
    } else if (variable != NULL) {
        status = read_variable(variable, out, capacity, size, err);
    } else if (twice) {
        status = ask(env, kind, subject, 1, out, capacity, size, err);
    } else {
        (void)pthread_mutex_lock(&kept_lock);
        status = ask_once(env, kind, subject, out, capacity, size, err);
        (void)pthread_mutex_unlock(&kept_lock);
    }
    return status == ALD_OK && twice ? check_new(env, kind, out, *size, err) : status;
}

int cli_secret_has_source(const cli_env *env, const cli_secret_kind *kind,
                          const secret_options *options)
{
    return options->file != NULL || cli_option_given(env, kind->fd_option) ||
           getenv(kind->variable) != NULL;
}

static ald_status get_key_passphrase(void *ctx, const char *file, char *out, size_t capacity,
                                     size_t *size, ald_error *err)
{
    cli_key_passphrase *from = ctx;
    return cli_secret_read(from->env, &cli_secret_key, from->options, file, 0, out, capacity, size,
                           err);
}

ald_passphrase cli_key_passphrase_source(cli_key_passphrase *from)
{
    ald_passphrase source = {get_key_passphrase, from};
    return source;
}
