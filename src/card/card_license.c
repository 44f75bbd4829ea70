/* SPDX-License-Identifier: MIT */
/* The slugs are those of "Licenses" in the Hugging Face Hub documentation. Families ("cc", "gpl") name no license, and
 * some licenses are not in the SPDX list: they are references. The bare GNU slugs are read as SPDX reads its deprecated ids
 * of the same spelling: this version only. */
#include "card/card_license.h"

#include <string.h>

#include "card/card_value.h"

static const struct {
    const char *slug, *spdx;
} slugs[] = {
    {"apache-2.0", "Apache-2.0"},
    {"mit", "MIT"},
    {"openrail", "LicenseRef-openrail"},
    {"bigscience-openrail-m", "LicenseRef-bigscience-openrail-m"},
    {"creativeml-openrail-m", "LicenseRef-creativeml-openrail-m"},
    {"bigscience-bloom-rail-1.0", "LicenseRef-bigscience-bloom-rail-1.0"},
    {"bigcode-openrail-m", "LicenseRef-bigcode-openrail-m"},
    {"afl-3.0", "AFL-3.0"},
    {"artistic-2.0", "Artistic-2.0"},
    {"bsl-1.0", "BSL-1.0"},
    {"bsd", "LicenseRef-bsd"},
    {"bsd-2-clause", "BSD-2-Clause"},
    {"bsd-3-clause", "BSD-3-Clause"},
    {"bsd-3-clause-clear", "BSD-3-Clause-Clear"},
    {"c-uda", "C-UDA-1.0"},
    {"cc", "LicenseRef-cc"},
    {"cc0-1.0", "CC0-1.0"},
    {"cc-by-2.0", "CC-BY-2.0"},
    {"cc-by-2.5", "CC-BY-2.5"},
    {"cc-by-3.0", "CC-BY-3.0"},
    {"cc-by-4.0", "CC-BY-4.0"},
    {"cc-by-sa-3.0", "CC-BY-SA-3.0"},
    {"cc-by-sa-4.0", "CC-BY-SA-4.0"},
    {"cc-by-nc-2.0", "CC-BY-NC-2.0"},
    {"cc-by-nc-3.0", "CC-BY-NC-3.0"},
    {"cc-by-nc-4.0", "CC-BY-NC-4.0"},
    {"cc-by-nd-4.0", "CC-BY-ND-4.0"},
    {"cc-by-nc-nd-3.0", "CC-BY-NC-ND-3.0"},
    {"cc-by-nc-nd-4.0", "CC-BY-NC-ND-4.0"},
    {"cc-by-nc-sa-2.0", "CC-BY-NC-SA-2.0"},
    {"cc-by-nc-sa-3.0", "CC-BY-NC-SA-3.0"},
    {"cc-by-nc-sa-4.0", "CC-BY-NC-SA-4.0"},
    {"cdla-sharing-1.0", "CDLA-Sharing-1.0"},
    {"cdla-permissive-1.0", "CDLA-Permissive-1.0"},
    {"cdla-permissive-2.0", "CDLA-Permissive-2.0"},
    {"wtfpl", "WTFPL"},
    {"ecl-2.0", "ECL-2.0"},
    {"epl-1.0", "EPL-1.0"},
    {"epl-2.0", "EPL-2.0"},
    {"etalab-2.0", "etalab-2.0"},
    {"eupl-1.1", "EUPL-1.1"},
    {"eupl-1.2", "EUPL-1.2"},
    {"agpl-3.0", "AGPL-3.0-only"},
    {"gfdl", "LicenseRef-gfdl"},
    {"gpl", "LicenseRef-gpl"},
    {"gpl-2.0", "GPL-2.0-only"},
    {"gpl-3.0", "GPL-3.0-only"},
    {"lgpl", "LicenseRef-lgpl"},
    {"lgpl-2.1", "LGPL-2.1-only"},
    {"lgpl-3.0", "LGPL-3.0-only"},
    {"isc", "ISC"},
    {"lppl-1.3c", "LPPL-1.3c"},
    {"ms-pl", "MS-PL"},
    {"mpl-2.0", "MPL-2.0"},
    {"odc-by", "ODC-By-1.0"},
    {"odbl", "ODbL-1.0"},
    {"openrail++", "LicenseRef-openrail-plus-plus"},
    {"osl-3.0", "OSL-3.0"},
    {"postgresql", "PostgreSQL"},
    {"ofl-1.1", "OFL-1.1"},
    {"ncsa", "NCSA"},
    {"unlicense", "Unlicense"},
    {"zlib", "Zlib"},
    {"pddl", "PDDL-1.0"},
    {"lgpl-lr", "LGPLLR"},
    {"deepfloyd-if-license", "LicenseRef-deepfloyd-if-license"},
    {"llama2", "LicenseRef-llama2"},
    {"llama3", "LicenseRef-llama3"},
    {"llama3.1", "LicenseRef-llama3.1"},
    {"llama3.2", "LicenseRef-llama3.2"},
    {"llama3.3", "LicenseRef-llama3.3"},
    {"llama4", "LicenseRef-llama4"},
    {"grok2-community", "LicenseRef-grok2-community"},
    {"fair-noncommercial-research-license", "LicenseRef-fair-noncommercial-research-license"},
    {"h-research", "LicenseRef-h-research"},
    {"intel-research", "LicenseRef-intel-research"},
    {"apple-ascl", "LicenseRef-apple-ascl"},
    {"apple-amlr", "LicenseRef-apple-amlr"},
    {"openmdw-1.0", "LicenseRef-openmdw-1.0"},
    {"openmdw-1.1", "LicenseRef-openmdw-1.1"},
    {"gemma", "LicenseRef-gemma"},
    {"unknown", "NOASSERTION"},
    {"other", "LicenseRef-other"},
};
#define SLUG_COUNT (sizeof(slugs) / sizeof(slugs[0]))

void card_license_reference(const char *name, size_t size, card_spdx *out)
{
    static const char prefix[] = "LicenseRef-";
    memset(out, 0, sizeof(*out));
    memcpy(out->text, prefix, sizeof(prefix) - 1);
    out->size = sizeof(prefix) - 1;
    for (size_t i = 0; i < size && out->size < 100; i++) {
        char c = name[i];
        int ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                 c == '.' || c == '-';
        out->text[out->size++] = ok ? c : '-';
    }
    if (out->size == sizeof(prefix) - 1) {
        out->text[out->size++] = '-';
    }
}

const char *card_license_slug_at(size_t index)
{
    return index < SLUG_COUNT ? slugs[index].slug : NULL;
}

int card_license_from_slug(const char *slug, size_t size, card_spdx *out)
{
    for (size_t i = 0; i < SLUG_COUNT; i++) {
        if (card_is_text(slug, size, slugs[i].slug)) {
            return card_spdx_read(slugs[i].spdx, strlen(slugs[i].spdx), out, NULL) == ALD_OK;
        }
    }
    if (card_spdx_read(slug, size, out, NULL) == ALD_OK) {
        return 1;
    }
    card_license_reference(slug, size, out);
    return 0;
}

const char *card_license_slug(const char *expression, size_t size)
{
    for (size_t i = 0; i < SLUG_COUNT; i++) {
        if (card_is_text(expression, size, slugs[i].spdx)) {
            return slugs[i].slug;
        }
    }
    return NULL;
}

/* ---- checking metadata */

static ald_status check_at(ald_value *value, const char *where, ald_error *err)
{
    card_spdx found;
    ald_error why = {0};
    size_t size = 0;
    const char *text = card_string(value, &size);
    if (text == NULL) {
        return ALD_OK; /* whoever writes it refuses another type */
    }
    ald_status status = card_spdx_read(text, size, &found, &why);
    if (status != ALD_OK) {
        size_t line = strcspn(why.msg, "\n"); /* a hint follows */
        return ald_error_set(err, status, ALD_NO_OFFSET, "%s: %.*s\n%s", where, (int)line, why.msg,
                             why.msg + line + (why.msg[line] == '\n'));
    }
    if (found.size == size && memcmp(found.text, text, size) == 0) {
        return ALD_OK;
    }
    return ald_value_set_string(value, found.text, found.size, err);
}

/* The tree is the caller's to change; the getters hand it out as constant. */
static ald_value *find(ald_value *map, const char *key)
{
    return ald_value_find(map, key) != NULL ? ald_value_put(map, key, strlen(key)) : NULL;
}

ald_status card_license_check(ald_value *metadata, const char *key, ald_error *err)
{
    ald_value *value = find(metadata, key);
    ald_status status = ALD_OK;
    if (value != NULL && strcmp(key, "license") == 0) {
        return check_at(value, "license", err);
    }
    if (strcmp(key, "sources") != 0 || !card_is_array(value)) {
        return ALD_OK;
    }
    for (size_t i = 0; i < card_count(value) && status == ALD_OK; i++) {
        /* Items are reached as constants only: the list is its owner's, and so are they. */
        ald_value *item = (ald_value *)(uintptr_t)ald_value_get_item(value, i);
        ald_value *license = card_is_map(item) ? find(item, "license") : NULL;
        status = license != NULL ? check_at(license, "sources: license", err) : ALD_OK;
    }
    return status;
}
