/* SPDX-License-Identifier: MIT */
/* A card: what is read is written, and reads as the same. The text is tried as a license expression, too. */
#include "card/card_license.h"
#include "card/card_readme.h"
#include "fuzz/fuzz_host.h"
#include "same_value.h"

static void check_license(const uint8_t *data, size_t size)
{
    ald_error err = {0};
    card_spdx first, second;
    ald_status status = card_spdx_read((const char *)data, size, &first, &err);
    fuzz_check_error(status, &err);
    if (status != ALD_OK)
        return;
    FUZZ_CHECK(card_spdx_read(first.text, first.size, &second, &err) == ALD_OK);
    FUZZ_CHECK(strcmp(first.text, second.text) == 0);
}

static void check_round_trip(const ald_value *card, const ald_host *host)
{
    ald_error err = {0};
    ald_value *again = NULL;
    ald_buffer text = {NULL, 0, 0, &host->alloc};
    ald_status status = card_readme_write(card, host, NULL, &text, &err);
    FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM);
    if (status == ALD_OK && ald_value_new(&host->alloc, &again, NULL) == ALD_OK) {
        ald_value_set_map(again);
        status = card_readme_read((const char *)text.data, text.size, host, NULL, again, &err);
        /* Quotes and indents may take a text over what is read. */
        FUZZ_CHECK(status == ALD_OK || status == ALD_E_NOMEM || status == ALD_E_LIMIT_EXCEEDED);
        FUZZ_CHECK(status != ALD_OK || same_value(card, again));
    }
    ald_value_free(again);
    ald_buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ald_host host = fuzz_host();
    ald_error err = {0};
    ald_value *card = NULL;
    if (ald_value_new(&host.alloc, &card, NULL) != ALD_OK)
        return 0;
    ald_value_set_map(card);
    ald_status status = card_readme_read((const char *)data, size, &host, NULL, card, &err);
    fuzz_check_error(status, &err);
    if (status == ALD_OK)
        check_round_trip(card, &host);
    ald_value_free(card);
    check_license(data, size);
    FUZZ_CHECK_EMPTY();
    return 0;
}
