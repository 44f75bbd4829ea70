/* SPDX-License-Identifier: MIT */
/* The one place that turns errors into words and exit codes, and that writes to stdout and stderr. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ald/arrow.h"
#include "cli/cli.h"
#include "cli/escape.h"

static int print_errno; /* of the first failed write to stdout */

int cli_exit_code(ald_status status)
{
    switch (status) {
    case ALD_E_OK:
        return CLI_EXIT_OK;
    case ALD_E_INVALID_ARG:
        return CLI_EXIT_USAGE;
    case ALD_E_IO:
    case ALD_E_NOMEM:
        return CLI_EXIT_IO;
    default:
        return CLI_EXIT_FAILED;
    }
}

/* What helps with most errors of a kind; a hint of the place where the error was found comes first. */
static const char *usual_hint(const ald_error *err)
{
    switch ((ald_status)err->status) {
    case ALD_E_CHECKSUM_MISMATCH:
        return "the file was changed or damaged after it was written; get a new copy";
    case ALD_E_TRUNCATED:
        return "the file was cut, perhaps by an interrupted copy; get it again";
    case ALD_E_UNSUPPORTED_VERSION:
        return "a newer version of this program may read it";
    case ALD_E_NOMEM:
        return "close other programs, or use a machine with more memory";
    case ALD_E_SIGNATURE_INVALID:
        return err->offset != ALD_NO_OFFSET
                   ? "the file was changed after it was signed; get a new copy from its signer"
                   : NULL;
    case ALD_E_LICENSE_EXPIRED:
        return "ask the seller for a new license";
    case ALD_E_LICENSE_REVOKED:
        return "the seller has taken it back; ask them why, or for a new license";
    case ALD_E_LICENSE_EXHAUSTED:
        return "`alimentar license show` says what was used; the seller can give more";
    case ALD_E_IO:
        if (err->detail == ENOSPC || err->detail == EDQUOT) {
            return strstr(err->msg, "temporary file") != NULL
                       ? "set TMPDIR to a folder with more room: what comes through a pipe waits "
                         "there"
                       : "the output was not written; free some space and try again";
        }
        if (err->detail == EEXIST) { /* it came while the input was read, or is a link to nowhere */
            return "--force replaces it";
        }
        return err->detail == EACCES ? "look at the permissions of the file and its folder" : NULL;
    default:
        return NULL;
    }
}

static const char *colour(const char *code)
{
    const char *off = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && (off == NULL || off[0] == '\0') ? code : "";
}

static void print_hint(const char *text)
{
    char line[2 * CLI_HINT_BYTES];
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        cli_escape(line, sizeof(line), text, size);
        fprintf(stderr, "%shint:%s %s\n", colour("\033[36m"), colour("\033[0m"), line);
        text += size + (text[size] == '\n');
    }
}

/* Whether the message names the file already, spelled as messages spell it. */
static int is_named(const ald_error *err, const char *subject)
{
    ald_error spelled;
    (void)ald_error_set(&spelled, ALD_E_IO, ALD_NO_OFFSET, "%s", subject);
    size_t size = strlen(spelled.msg);
    const char *at = size > 0 ? strstr(err->msg, spelled.msg) : NULL;
    while (at != NULL && ((at > err->msg && isalnum((unsigned char)at[-1])) ||
                          isalnum((unsigned char)at[size]))) { /* "a" is not named by "data" */
        at = strstr(at + 1, spelled.msg);
    }
    return at != NULL;
}

/* Where the signer or the license stands in a file helps nobody. */
static int has_place(ald_status status)
{
    return status != ALD_E_UNTRUSTED_SIGNER && status != ALD_E_LICENSE_REVOKED &&
           status != ALD_E_LICENSE_EXPIRED && status != ALD_E_LICENSE_EXHAUSTED;
}

void cli_report(const cli_env *env, const ald_error *err)
{
    char message[1024];
    char subject[1024] = "";
    char place[48] = "";
    size_t size = strcspn(err->msg, "\n");
    cli_escape(message, sizeof(message), err->msg, size);
    if (env->subject != NULL) {
        cli_escape(subject, sizeof(subject), env->subject, strlen(env->subject));
    }
    int named = subject[0] == '\0' || is_named(err, env->subject);
    if (err->offset != ALD_NO_OFFSET && has_place((ald_status)err->status)) {
        snprintf(place, sizeof(place), " (at byte %llu)", (unsigned long long)err->offset);
    }
    fflush(stdout);
    fprintf(stderr, "alimentar: %serror:%s %s: %s%s%s%s\n", colour("\033[1;31m"), colour("\033[0m"),
            ald_status_name((ald_status)err->status), named ? "" : subject, named ? "" : ": ",
            message, place);
    if (err->msg[size] == '\n') {
        print_hint(err->msg + size + 1);
    } else if (env->hint[0] != '\0') {
        print_hint(env->hint);
    } else if (usual_hint(err) != NULL) {
        print_hint(usual_hint(err));
    }
}

void cli_note(const cli_env *env, const char *fmt, ...)
{
    char text[1024];
    char line[2048];
    va_list args;
    if (env->quiet) {
        return;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    cli_escape(line, sizeof(line), text, strlen(text));
    fprintf(stderr, "alimentar: note: %s\n", line);
}

void cli_keep_subject(cli_env *env, const char *name)
{
    if (name != NULL && env->subject == name) {
        (void)snprintf(env->subject_text, sizeof(env->subject_text), "%s", name);
        env->subject = env->subject_text;
    }
}

void cli_hint(cli_env *env, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(env->hint, sizeof(env->hint), fmt, args);
    va_end(args);
}

void cli_hint_add(cli_env *env, const char *text)
{
    size_t used = strlen(env->hint);
    snprintf(env->hint + used, sizeof(env->hint) - used, "%s", text);
}

void cli_hint_columns(cli_env *env, const struct ArrowSchema *schema)
{
    cli_hint(env, "the columns are");
    for (int64_t i = 0; i < schema->n_children; i++) {
        const char *name = schema->children[i]->name != NULL ? schema->children[i]->name : "";
        if (strlen(env->hint) + strlen(name) + 8 > sizeof(env->hint)) {
            cli_hint_add(env, ", ...");
            return;
        }
        cli_hint_add(env, i > 0 ? ", " : " ");
        cli_hint_add(env, name);
    }
}

/* ---- stdout */

void cli_print(const char *data, size_t size)
{
    if (print_errno == 0 && size > 0 && fwrite(data, 1, size, stdout) != size) {
        print_errno = errno != 0 ? errno : EIO;
    }
}

void cli_printf(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (print_errno == 0 && vfprintf(stdout, fmt, args) < 0) {
        print_errno = errno != 0 ? errno : EIO;
    }
    va_end(args);
}

ald_status cli_print_flush(ald_error *err)
{
    if (fflush(stdout) != 0 && print_errno == 0) {
        print_errno = errno != 0 ? errno : EIO;
    }
    if (print_errno == 0) {
        return ALD_OK;
    }
    ald_status status =
        ald_error_set(err, ALD_E_IO, ALD_NO_OFFSET, "standard output: %s", strerror(print_errno));
    if (err != NULL) {
        err->detail = print_errno;
    }
    return status;
}

/* ---- the words for exit codes */

const char *cli_exit_code_text(const cli_command *command, size_t index)
{
    static const char *const texts[] = {
        "0  success",
        "1  a check failed or the data are invalid: InvalidFormat, ChecksumMismatch, "
        "SignatureInvalid, DecryptionFailed, UnsupportedVersion, SchemaMismatch, LicenseExpired, "
        "LicenseRevoked, LicenseExhausted, Truncated, UntrustedSigner, LimitExceeded, "
        "Unsupported",
        "2  the command line is wrong: InvalidArgument",
        "3  reading, writing or memory failed: IoError, OutOfMemory",
    };
    if (command != NULL && command->exit_codes != NULL) {
        return command->exit_codes[index];
    }
    return index < sizeof(texts) / sizeof(texts[0]) ? texts[index] : NULL;
}
