/* SPDX-License-Identifier: MIT */
#define _POSIX_C_SOURCE 200809L
#include "cli/ald_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ald/schema.h"
#include "cli/escape.h"
#include "cli/trust_facts.h"

const char *ald_facts_flags(uint8_t flags, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = '\0';
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
        const char *name = (flags & bit) != 0 ? ald_flag_name((uint8_t)bit) : NULL;
        if (name != NULL && used + strlen(name) + 3 < size) {
            used += (size_t)snprintf(buf + used, size - used, "%s%s", used > 0 ? ", " : "", name);
        }
    }
    return used > 0 ? buf : "none";
}

const char *ald_facts_encryption(const ald_info *info)
{
    switch (info->encryption_mode) {
    case 0:
        return "password";
    case 1:
        return "recipient";
    case 2:
        return "recipients";
    default:
        return NULL;
    }
}

const char *ald_facts_time(uint64_t unix_seconds, char *buf, size_t size)
{
    struct tm parts;
    time_t when = (time_t)unix_seconds;
    if (unix_seconds == 0) {
        return "never";
    }
    if (unix_seconds > 253402300799u || gmtime_r(&when, &parts) == NULL ||
        strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
        snprintf(buf, size, "%" PRIu64 " seconds after 1970", unix_seconds); /* beyond year 9999 */
    }
    return buf;
}

/* ---- JSON */

static void range_json(json_print *j, const char *key, ald_range range)
{
    if (range.end > range.begin) {
        json_open(j, key, '{');
        json_uint(j, "begin", range.begin);
        json_uint(j, "end", range.end);
        json_close(j, '}');
    }
}

static void sections_json(json_print *j, const ald_sections *s)
{
    json_open(j, "sections", '{');
    range_json(j, "header", s->header);
    range_json(j, "metadata", s->metadata);
    range_json(j, "schema", s->schema);
    range_json(j, "chunk_index", s->chunk_index);
    range_json(j, "array_index", s->array_index);
    range_json(j, "encryption", s->encryption);
    range_json(j, "padding", s->padding);
    range_json(j, "payload", s->payload);
    range_json(j, "signature", s->signature);
    range_json(j, "license", s->license);
    range_json(j, "crc32", s->crc32);
    json_close(j, '}');
}

/* Keys, hashes and signatures are shown; padding and what has some bytes per chunk can be megabytes. */
static void facts_json(json_print *j, const ald_value *facts)
{
    j->longest_hex = 64;
    json_value(j, "ald", facts);
    j->longest_hex = 0;
}

void ald_facts_flags_json(json_print *j, uint8_t flags)
{
    json_open(j, "flags", '[');
    for (unsigned bit = 1; bit < 256; bit <<= 1) {
        if ((flags & bit) != 0 && ald_flag_name((uint8_t)bit) != NULL) {
            json_text(j, NULL, ald_flag_name((uint8_t)bit));
        }
    }
    json_close(j, ']');
}

void ald_facts_json(json_print *j, cli_env *env, const ald_info *info)
{
    char version[16];
    snprintf(version, sizeof(version), "%u.%u", info->version_major, info->version_minor);
    json_text(j, "version", version);
    json_text(j, "dataset_type", ald_dataset_type_name(info->dataset_type));
    json_uint(j, "num_rows", info->num_rows);
    json_uint(j, "num_columns", info->schema != NULL ? (uint64_t)info->schema->n_children : 0);
    json_uint(j, "file_size", info->file_size_bytes);
    json_uint(j, "payload_size", info->payload_size);
    json_uint(j, "uncompressed_size", info->uncompressed_size);
    json_uint(j, "schema_size", info->schema_size);
    json_text(j, "compression", ald_compression_name(info->compression));
    ald_facts_flags_json(j, info->flags);
    json_uint(j, "chunk_count", info->chunk_count);
    json_uint(j, "array_count", info->array_count);
    trust_facts_json(j, env, info);
    json_text(j, "metadata_form", info->metadata_is_array ? "array" : "map");
    json_value(j, "metadata", info->metadata);
    facts_json(j, info->facts);
    sections_json(j, &info->sections);
}

/* ---- text */

static void line(const char *name, const char *value, size_t size)
{
    char escaped[1024];
    cli_escape(escaped, sizeof(escaped), value, size);
    cli_printf("%-15s%s\n", name, escaped);
}

void ald_facts_line(const char *name, const char *value)
{
    line(name, value, strlen(value));
}

const char *ald_facts_grouped(uint64_t value, char *buf, size_t size)
{
    char digits[24];
    size_t used = 0;
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    for (int i = 0; i < n && used + 2 < size; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            buf[used++] = ',';
        }
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

static void sizes_text(const ald_info *info)
{
    char text[160];
    char a[32];
    char b[32];
    snprintf(text, sizeof(text), "%s bytes",
             ald_facts_grouped(info->file_size_bytes, a, sizeof(a)));
    ald_facts_line("size", text);
    const char *name = ald_compression_name(info->compression);
    int n = snprintf(text, sizeof(text), "%s, %s bytes for %s", name != NULL ? name : "unknown",
                     ald_facts_grouped(info->payload_size, a, sizeof(a)),
                     ald_facts_grouped(info->uncompressed_size, b, sizeof(b)));
    if (n > 0 && info->payload_size > 0 && info->uncompressed_size > info->payload_size) {
        snprintf(text + n, sizeof(text) - (size_t)n, " (%.1f to 1)",
                 (double)info->uncompressed_size / (double)info->payload_size);
    }
    ald_facts_line("compression", text);
}

static void value_text(const char *name, const ald_value *value)
{
    char text[768] = "";
    size_t used = 0;
    size_t size = 0;
    const char *bytes = ald_value_get_bytes(value, &size);
    switch (ald_value_get_type(value)) {
    case ALD_VALUE_STRING:
        line(name, bytes, size);
        return;
    case ALD_VALUE_ARRAY:
        for (size_t i = 0; i < ald_value_get_count(value); i++) {
            const char *item = ald_value_get_bytes(ald_value_get_item(value, i), &size);
            if (item == NULL || used + size + 3 > sizeof(text)) {
                snprintf(text, sizeof(text), "%zu items", ald_value_get_count(value));
                break;
            }
            used +=
                (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? ", " : "", item);
        }
        break;
    case ALD_VALUE_MAP:
        snprintf(text, sizeof(text), "%zu entries", ald_value_get_count(value));
        break;
    case ALD_VALUE_BOOL:
        snprintf(text, sizeof(text), "%s", ald_value_get_bool(value) ? "true" : "false");
        break;
    case ALD_VALUE_INT:
        snprintf(text, sizeof(text), "%" PRId64, ald_value_get_int(value));
        break;
    case ALD_VALUE_UINT:
        snprintf(text, sizeof(text), "%" PRIu64, ald_value_get_uint(value));
        break;
    case ALD_VALUE_FLOAT:
        snprintf(text, sizeof(text), "%.15g", ald_value_get_float(value));
        break;
    default:
        snprintf(text, sizeof(text), "%zu bytes", size);
    }
    ald_facts_line(name, text);
}

static void metadata_text(const ald_value *metadata)
{
    for (size_t i = 0; i < ald_value_get_count(metadata); i++) {
        char name[64];
        size_t size = 0;
        const char *key = ald_value_get_key(metadata, i, &size);
        size_t used = cli_escape(name, sizeof(name) - 16, key, size);
        snprintf(name + used, sizeof(name) - used, "%s", used < 15 ? "" : " ");
        value_text(name, ald_value_get_item(metadata, i));
    }
}

void ald_facts_text(cli_env *env, const ald_info *info)
{
    char text[160];
    snprintf(text, sizeof(text), ".ald %u.%u", info->version_major, info->version_minor);
    ald_facts_line("format", text);
    const char *type = ald_dataset_type_name(info->dataset_type);
    ald_facts_line("dataset type", type != NULL ? type : "unknown");
    ald_facts_line("rows", ald_facts_grouped(info->num_rows, text, sizeof(text)));
    ald_facts_line("columns",
                   ald_facts_grouped(info->schema != NULL ? (uint64_t)info->schema->n_children : 0,
                                     text, sizeof(text)));
    sizes_text(info);
    ald_facts_line("flags", ald_facts_flags(info->flags, text, sizeof(text)));
    if (info->chunk_count > 0) {
        ald_facts_line("chunks", ald_facts_grouped(info->chunk_count, text, sizeof(text)));
    }
    trust_facts_text(env, info);
    if (ald_value_get_count(info->metadata) > 0) {
        cli_printf("\n");
        metadata_text(info->metadata);
    }
}
