/* SPDX-License-Identifier: MIT */
#include "cli/license_options.h"

#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "interchange/text/classify.h"

#define AT(member) .offset = offsetof(license_options, member)
static const opt_spec license_specs[] = {
    {.name = "licensee",
     .arg = "NAME",
     .kind = OPT_TEXT,
     AT(licensee),
     .help = "who gets it; the file has the SHA-256 of the name only"},
    {.name = "expires",
     .arg = "DATE",
     .kind = OPT_TEXT,
     AT(expires),
     .help = "the last day (2027-12-31, to its end in UTC) or moment (2027-12-31T12:00:00Z) at "
             "which it can be read; default: no end"},
    {.name = "issued",
     .arg = "DATE",
     .kind = OPT_TEXT,
     AT(issued),
     .help = "when the license was given; default: now"},
    {.name = "seats",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = UINT16_MAX,
     AT(seats),
     .help = "so many users of one machine, 0: nobody; default: not limited"},
    {.name = "queries",
     .arg = "N",
     .kind = OPT_COUNT,
     .max = UINT32_MAX,
     AT(queries),
     .help = "so many queries, 0: none; default: not limited"},
    {.name = "revocable",
     .kind = OPT_FLAG,
     AT(revocable),
     .help = "you may revoke it with a list: `alimentar license revoke`"},
    {.name = "transferable",
     .kind = OPT_FLAG,
     AT(transferable),
     .help = "the licensee may pass it on"},
    {.name = "terms",
     .arg = "FILE",
     .kind = OPT_TEXT,
     AT(terms),
     .help = "the terms, a text in UTF-8"},
};
const opt_group cli_group_license = OPT_GROUP("License", license_specs);

int cli_license_is_described(const cli_env *env)
{
    for (size_t i = 1; i < sizeof(license_specs) / sizeof(license_specs[0]); i++) {
        if (cli_option_given(env, license_specs[i].name)) {
            return 1;
        }
    }
    return 0;
}

ald_status cli_parse_date(const char *option, const char *text, int to_end, uint64_t *out,
                          ald_error *err)
{
    ald__moment m;
    int64_t seconds = -1;
    int ok = ald__text_to_moment(text, strlen(text), &m) &&
             (m.kind == ALD__TOKEN_DATE || m.kind == ALD__TOKEN_ZONED) &&
             ald__moment_to_ticks(&m, 0, &seconds) && seconds >= 0;
    if (!ok) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "--%s: expected a date from 1970 on as 2027-12-31 or "
                             "2027-12-31T12:00:00Z, found '%s'",
                             option, text);
    }
    *out = (uint64_t)seconds + (m.kind == ALD__TOKEN_DATE && to_end ? 86399u : 0u);
    return ALD_OK;
}

ald_status cli_parse_license_id(const char *text, uint8_t out[ALD_LICENSE_ID_BYTES], ald_error *err)
{
    size_t digits = 0;
    const char *p = text;
    for (; *p != '\0' && digits <= 2 * ALD_LICENSE_ID_BYTES; p++) {
        char lower = *p >= 'A' && *p <= 'F' ? (char)(*p + ('a' - 'A')) : *p;
        int is_digit = lower >= '0' && lower <= '9';
        if (*p == '-' && digits > 0) {
            continue;
        }
        if ((!is_digit && (lower < 'a' || lower > 'f')) || digits == 2 * ALD_LICENSE_ID_BYTES) {
            break;
        }
        uint8_t value = (uint8_t)(is_digit ? lower - '0' : lower - 'a' + 10);
        out[digits / 2] = (uint8_t)(digits % 2 == 0 ? value << 4 : out[digits / 2] | value);
        digits++;
    }
    if (digits != 2 * ALD_LICENSE_ID_BYTES || *p != '\0') {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%s' is no license id: expected 32 hexadecimal digits", text);
    }
    return ALD_OK;
}

void cli_license_id_text(const uint8_t id[ALD_LICENSE_ID_BYTES], char out[LICENSE_ID_TEXT_BYTES])
{
    size_t used = 0;
    for (size_t i = 0; i < ALD_LICENSE_ID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            out[used++] = '-';
        }
        snprintf(out + used, 3, "%02x", id[i]);
        used += 2;
    }
}

static ald_status read_terms(cli_env *env, const char *path, ald_license *out, ald_buffer *terms,
                             ald_error *err)
{
    const char *subject = env->subject;
    if (path == NULL) {
        return ALD_OK;
    }
    ald_status status = cli_read_file(env, path, terms, err);
    if (status == ALD_OK) {
        env->subject = subject;
        out->terms = (const char *)terms->data;
        out->terms_size = terms->size;
    }
    return status;
}

static ald_status set_times(const license_options *o, ald_license *out, ald_error *err)
{
    ald_status status = ALD_OK;
    if (o->issued != NULL) {
        status = cli_parse_date("issued", o->issued, 0, &out->issued_at, err);
    }
    if (status == ALD_OK && o->expires != NULL) {
        status = cli_parse_date("expires", o->expires, 1, &out->expires_at, err);
        out->flags |= ALD_LICENSE_EXPIRATION_ENFORCED;
    }
    if (status == ALD_OK && o->expires != NULL && out->expires_at <= out->issued_at) {
        status = ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                               "the license would expire before it is issued");
    }
    return status;
}

ald_status cli_license_make(cli_env *env, const license_options *options, ald_license *out,
                            ald_buffer *terms, ald_error *err)
{
    const license_options *o = options;
    if (o->licensee == NULL) {
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--licensee is missing");
    }
    ald_status status = ald_license_init(out, o->licensee, strlen(o->licensee), &env->host, err);
    if (status == ALD_OK) {
        status = set_times(o, out, err);
    }
    if (status == ALD_OK && cli_option_given(env, "seats")) {
        out->flags |= ALD_LICENSE_SEATS_ENFORCED;
        out->seat_limit = (uint16_t)o->seats;
    }
    if (status == ALD_OK && cli_option_given(env, "queries")) {
        out->flags |= ALD_LICENSE_QUERY_LIMITED;
        out->query_limit = (uint32_t)o->queries;
    }
    out->flags |= (uint8_t)(o->revocable ? ALD_LICENSE_REVOCABLE : 0u);
    out->flags |= (uint8_t)(o->transferable ? ALD_LICENSE_TRANSFERABLE : 0u);
    return status == ALD_OK ? read_terms(env, o->terms, out, terms, err) : status;
}
