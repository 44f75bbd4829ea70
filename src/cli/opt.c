/* SPDX-License-Identifier: MIT */
/* The parser: `--name value`, `--name=value`, `-n value`, `-nvalue`, flags in one word (`-qf`), `--` ends the options,
 * `-` is an operand. Options and operands may be mixed. */
#include "cli/opt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

typedef struct parser {
    cli_env *env;
    const cli_command *command;
    char *args;
    int argc;
    char **argv;
    int next; /* index of the next word */
    ald_error *err;
} parser;

typedef struct found {
    const opt_spec *spec;
    size_t base;
} found;

static found find_long(const cli_command *command, const char *name, size_t size)
{
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        for (size_t i = 0; i < use->group->count; i++) {
            const opt_spec *spec = &use->group->specs[i];
            if (strlen(spec->name) == size && memcmp(spec->name, name, size) == 0) {
                return (found){spec, use->base};
            }
        }
    }
    return (found){NULL, 0};
}

static found find_short(const cli_command *command, char letter)
{
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        for (size_t i = 0; i < use->group->count; i++) {
            if (use->group->specs[i].letter == letter) {
                return (found){&use->group->specs[i], use->base};
            }
        }
    }
    return (found){NULL, 0};
}

/* ---- nearest name */

/* Edit distance, with a swap of neighbours as one step; words beyond 31 bytes are far from everything. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    unsigned rows[3][32];
    if (n > 31 || m > 31) {
        return 99;
    }
    unsigned *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) {
        last[j] = (unsigned)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= n; i++) {
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best) {
                best = before[j - 2] + 1;
            }
            row[j] = best;
        }
        unsigned *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[m];
}

const char *opt_nearest(const char *word, const char *const *names)
{
    const char *best = NULL;
    size_t size = strlen(word);
    unsigned limit = size <= 3   ? 1
                     : size <= 6 ? 2
                                 : 3; /* nearer than this, else a guess is noise */
    for (size_t i = 0; names[i] != NULL; i++) {
        unsigned d = distance(word, names[i]);
        if (size >= 3 && d > 1 && strncmp(word, names[i], size) == 0) {
            d = 1; /* a beginning of the name */
        }
        if (d <= limit) {
            best = names[i];
            limit = d > 0 ? d - 1 : 0;
            if (d == 0) {
                break;
            }
        }
    }
    return best;
}

static ald_status unknown_option(parser *p, const char *name, size_t size)
{
    char word[64];
    const char *names[128];
    size_t count = 0;
    for (const opt_use *use = p->command->options; use->group != NULL; use++) {
        for (size_t i = 0; i < use->group->count && count < 127; i++) {
            names[count++] = use->group->specs[i].name;
        }
    }
    names[count] = NULL;
    snprintf(word, sizeof(word), "%.*s", (int)(size < 60 ? size : 60), name);
    const char *nearest = size > 1 ? opt_nearest(word, names) : NULL;
    if (nearest != NULL) {
        cli_hint(p->env, "did you mean --%s?", nearest);
    } else {
        cli_hint(p->env, "`alimentar help %s` lists the options", p->command->verb);
    }
    return ald_error_set(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "unknown option '%s%.*s'",
                         size > 1 ? "--" : "-", (int)(size < 60 ? size : 60), name);
}

/* ---- values */

static ald_status bad_value(parser *p, const opt_spec *spec, const char *value, const char *wanted)
{
    return ald_error_set(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--%s: expected %s, found '%s'",
                         spec->name, wanted, value);
}

#define MEGA (1u << 20)

static ald_status store_number(parser *p, const opt_spec *spec, const char *value, uint64_t *out)
{
    char wanted[80];
    uint64_t max = spec->max != 0 ? spec->max : UINT64_MAX;
    uint64_t n = 0;
    const char *s = value;
    int ok = *s != '\0';
    for (; ok && *s >= '0' && *s <= '9'; s++) {
        uint64_t digit = (uint64_t)(*s - '0');
        ok = n <= (UINT64_MAX - digit) / 10;
        n = n * 10 + digit;
    }
    if (ok && s > value && spec->kind == OPT_BYTES && *s != '\0') {
        static const char units[] = "KMG";
        const char *unit = strchr(units, *s & ~0x20);
        unsigned shift = unit != NULL ? 10u * (unsigned)(unit - units + 1) : 0;
        ok = unit != NULL && n <= UINT64_MAX >> shift;
        n = ok ? n << shift : n;
        s++;
    }
    if (!ok || *s != '\0' || s == value || n < spec->min || n > max) {
        int n_used = snprintf(wanted, sizeof(wanted), "a whole number");
        int is_mega = spec->kind == OPT_BYTES && spec->min % MEGA == 0 && spec->max % MEGA == 0;
        unsigned long long unit = is_mega ? MEGA : 1;
        const char *letter = is_mega ? "M" : "";
        if (spec->min != 0) {
            n_used += snprintf(wanted + n_used, sizeof(wanted) - (size_t)n_used, " from %llu%s",
                               (unsigned long long)spec->min / unit, letter);
        }
        if (spec->max != 0) {
            snprintf(wanted + n_used, sizeof(wanted) - (size_t)n_used, " %s %llu%s",
                     spec->min != 0 ? "to" : "up to", (unsigned long long)spec->max / unit, letter);
        }
        return bad_value(p, spec, value, wanted);
    }
    *out = n;
    return ALD_OK;
}

static ald_status store_choice(parser *p, const opt_spec *spec, const char *value, uint8_t *out)
{
    for (uint8_t i = 0; spec->choices[i] != NULL; i++) {
        if (strcmp(spec->choices[i], value) == 0) {
            *out = (uint8_t)(i + 1);
            return ALD_OK;
        }
    }
    char text[160];
    const char *nearest = opt_nearest(value, spec->choices);
    if (nearest != NULL) {
        cli_hint(p->env, "did you mean %s?", nearest);
    }
    return bad_value(p, spec, value, opt_arg_text(spec, text, sizeof(text)));
}

static ald_status store_char(parser *p, const opt_spec *spec, const char *value, char *out)
{
    if (strcmp(value, "tab") == 0 || strcmp(value, "\\t") == 0) {
        *out = '\t';
        return ALD_OK;
    }
    unsigned char c = (unsigned char)value[0];
    if (c == 0 || value[1] != '\0' || c >= 0x80 || c == '\n' || c == '\r') {
        return bad_value(p, spec, value, "one ASCII character or `tab`");
    }
    *out = value[0];
    return ALD_OK;
}

static ald_status store_item(parser *p, opt_list *list, const char *value)
{
    const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));
    if (items == NULL) {
        return ald_error_set(p->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the arguments");
    }
    list->items = items;
    list->items[list->count++] = value;
    return ALD_OK;
}

static ald_status store(parser *p, found option, const char *value)
{
    const opt_spec *spec = option.spec;
    char *at = p->args + option.base + spec->offset;
    opt_seen *seen = &p->env->seen;
    const opt_spec **items = realloc(seen->items, (seen->count + 1) * sizeof(*items));
    if (items == NULL) {
        return ald_error_set(p->err, ALD_E_NOMEM, ALD_NO_OFFSET, "no memory for the arguments");
    }
    seen->items = items;
    seen->items[seen->count++] = spec;
    if (value == NULL) { /* a flag */
        *(uint8_t *)(void *)at = 1;
        return ALD_OK;
    }
    switch ((opt_kind)spec->kind) {
    case OPT_FLAG:
        break;
    case OPT_TEXT:
        *(const char **)(void *)at = value;
        return ALD_OK;
    case OPT_LIST:
        return store_item(p, (opt_list *)(void *)at, value);
    case OPT_CHOICE:
        return store_choice(p, spec, value, (uint8_t *)(void *)at);
    case OPT_COUNT:
    case OPT_BYTES:
        return store_number(p, spec, value, (uint64_t *)(void *)at);
    case OPT_CHAR:
        return store_char(p, spec, value, at);
    }
    return ALD_OK;
}

/* ---- words */

static ald_status missing_value(parser *p, const opt_spec *spec)
{
    char text[160];
    cli_hint(p->env, "write --%s %s", spec->name, opt_arg_text(spec, text, sizeof(text)));
    return ald_error_set(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--%s needs a value",
                         spec->name);
}

static ald_status parse_long(parser *p, const char *word)
{
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t size = equals != NULL ? (size_t)(equals - name) : strlen(name);
    found option = find_long(p->command, name, size);
    if (option.spec == NULL) {
        return unknown_option(p, name, size);
    }
    if (option.spec->kind == OPT_FLAG) {
        if (equals != NULL) {
            return ald_error_set(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "--%s takes no value",
                                 option.spec->name);
        }
        return store(p, option, NULL);
    }
    if (equals != NULL) {
        return store(p, option, equals + 1);
    }
    if (p->next >= p->argc) {
        return missing_value(p, option.spec);
    }
    return store(p, option, p->argv[p->next++]);
}

static ald_status parse_short(parser *p, const char *word)
{
    for (const char *s = word + 1; *s != '\0'; s++) {
        found option = find_short(p->command, *s);
        if (option.spec == NULL) {
            return unknown_option(p, s, 1);
        }
        if (option.spec->kind == OPT_FLAG) {
            ald_status status = store(p, option, NULL);
            if (status != ALD_OK) {
                return status;
            }
            continue;
        }
        if (s[1] != '\0') {
            return store(p, option, s + 1);
        }
        if (p->next >= p->argc) {
            return missing_value(p, option.spec);
        }
        return store(p, option, p->argv[p->next++]);
    }
    return ALD_OK;
}

static ald_status parse_operand(parser *p, const opt_operand **operand, const char *word)
{
    if ((*operand)->name == NULL) {
        cli_hint(p->env, "`alimentar help %s` shows how it is used", p->command->verb);
        return ald_error_set(p->err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                             "'%s' is one argument too many", word);
    }
    char *at = p->args + (*operand)->offset;
    if (((*operand)->flags & OPT_OPERAND_MANY) != 0) {
        return store_item(p, (opt_list *)(void *)at, word);
    }
    *(const char **)(void *)at = word;
    (*operand)++;
    return ALD_OK;
}

ald_status opt_parse(cli_env *env, const cli_command *command, int argc, char **argv, void *args,
                     ald_error *err)
{
    parser p = {env, command, args, argc, argv, 0, err};
    const opt_operand *operand = command->operands;
    int options_ended = 0;
    while (p.next < argc) {
        const char *word = argv[p.next++];
        ald_status status = ALD_OK;
        if (options_ended || word[0] != '-' || word[1] == '\0') {
            status = parse_operand(&p, &operand, word);
        } else if (strcmp(word, "--") == 0) {
            options_ended = 1;
        } else {
            status = word[1] == '-' ? parse_long(&p, word) : parse_short(&p, word);
        }
        if (status != ALD_OK) {
            return status;
        }
    }
    const cli_common *common = args;
    if ((operand->flags & OPT_OPERAND_MANY) != 0 && operand->name != NULL &&
        ((const opt_list *)(const void *)((char *)args + operand->offset))->count > 0) {
        operand++;
    }
    if (operand->name != NULL && (operand->flags & OPT_OPERAND_OPTIONAL) == 0 && !common->help) {
        cli_hint(env, "`alimentar help %s` shows how it is used", command->verb);
        return ald_error_set(err, ALD_E_INVALID_ARG, ALD_NO_OFFSET, "%s: %s is missing",
                             command->verb, operand->name);
    }
    return ALD_OK;
}

const opt_spec *opt_without_effect(const opt_seen *seen, opt_scope scopes)
{
    for (size_t i = 0; i < seen->count; i++) {
        opt_scope scope = seen->items[i]->scope;
        if (scope != 0 && (scope & scopes) == 0) {
            return seen->items[i];
        }
    }
    return NULL;
}

void opt_release(const cli_command *command, void *args)
{
    char *base = args;
    for (const opt_use *use = command->options; use->group != NULL; use++) {
        for (size_t i = 0; i < use->group->count; i++) {
            const opt_spec *spec = &use->group->specs[i];
            if (spec->kind == OPT_LIST) {
                free(((opt_list *)(void *)(base + use->base + spec->offset))->items);
            }
        }
    }
    for (const opt_operand *operand = command->operands; operand->name != NULL; operand++) {
        if ((operand->flags & OPT_OPERAND_MANY) != 0) {
            free(((opt_list *)(void *)(base + operand->offset))->items);
        }
    }
}

const char *opt_arg_text(const opt_spec *spec, char *buf, size_t size)
{
    if (spec->kind != OPT_CHOICE) {
        return spec->arg;
    }
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; spec->choices[i] != NULL && used < size; i++) {
        int n = snprintf(buf + used, size - used, "%s%s", i > 0 ? "|" : "", spec->choices[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return buf;
}
