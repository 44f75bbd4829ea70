/* SPDX-License-Identifier: MIT */
/* Sells a table and buys it: the seller packages it for one buyer, encrypted, licensed and signed in one call; the buyer
 * loads it with the license or not at all; what a stranger signed is refused.
 * Run: {data}/penguins.csv {out}/sold.ald */
#include <ald/ald.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define YEAR (365u * 24u * 3600u)

/* The seller knows the buyer's public key, and signs with their own. */
static ald_status sell(const char *csv_path, const char *out_path, const uint8_t buyer_public[32],
                       const uint8_t seller_seed[32], const ald_host *host, ald_error *err)
{
    static const char licensee[] = "ACME Inc.";
    ald_csv_options csv = ALD_CSV_OPTIONS_INIT;
    ald_save_options save = ALD_SAVE_OPTIONS_INIT;
    ald_protection protection = ALD_PROTECTION_INIT;
    ald_license license;
    ald_source source = {0};
    ald_file_sink *file = NULL;
    struct ArrowArrayStream batches = {0};

    ald_status status = ald_license_init(&license, licensee, strlen(licensee), host, err);
    license.flags = ALD_LICENSE_EXPIRATION_ENFORCED | ALD_LICENSE_REVOCABLE;
    license.expires_at = license.issued_at + YEAR;
    license.terms = "Not to be passed on.";
    license.terms_size = strlen(license.terms);
    protection.encryption = ALD_ENCRYPTION_RECIPIENT;
    protection.recipients = buyer_public;
    protection.recipient_count = 1;
    protection.license = &license;
    protection.signer_seed = seller_seed;
    save.protection = &protection;

    if (status == ALD_OK && (status = ald_file_open(csv_path, 0, &source, err)) == ALD_OK) {
        status = ald_csv_open(&source, &csv, host, &batches, err);
    }
    if (status == ALD_OK) {
        status = ald_file_create(out_path, ALD_FILE_REPLACE, &file, err);
    }
    if (status == ALD_OK) { /* NULL: the values are not marked for this buyer */
        status = ald_package_commercial(&batches, ald_file_sink_get(file), &save, NULL, host, err);
    }
    if (file != NULL && status == ALD_OK) {
        status = ald_file_commit(file, err);
    } else if (file != NULL) {
        ald_file_abort(file);
    }
    if (batches.release != NULL) {
        batches.release(&batches);
    }
    ald_source_close(&source);
    return status;
}

/* The buyer trusts one signer and has one key. Everything is checked before a row is seen. */
static ald_status buy(const char *path, const uint8_t trusted[32], const uint8_t buyer_private[32],
                      const ald_host *host, ald_error *err)
{
    ald_trust trust = ALD_TRUST_INIT;
    ald_load_options load = ALD_LOAD_OPTIONS_INIT;
    ald_source source = {0};
    ald_dataset *dataset = NULL;
    trust.trusted_keys = trusted;
    trust.trusted_count = 1;
    trust.private_keys = buyer_private;
    trust.private_count = 1;
    load.trust = &trust;
    ald_status status = ald_file_open(path, 0, &source, err);
    if (status == ALD_OK) {
        status = ald_load_commercial(&source, &load, host, &dataset, err);
    }
    if (status == ALD_OK) {
        const ald_info *info = ald_dataset_info(dataset);
        printf("bought: %" PRIu64 " rows, licensed for %" PRIu64 " days; terms: %s\n",
               info->num_rows, (info->license->expires_at - info->license->issued_at) / 86400,
               info->license->terms);
    }
    ald_dataset_free(dataset);
    ald_source_close(&source);
    return status;
}

int main(int argc, char **argv)
{
    ald_host host = ald_native_host(0);
    ald_keys *seller = NULL, *stranger = NULL, *buyer = NULL;
    ald_error err;
    ald_status status = argc < 3 ? ald_error_set(&err, ALD_E_INVALID_ARG, ALD_NO_OFFSET,
                                                 "usage: sell_dataset TABLE.csv OUT.ald")
                                 : ald_keys_generate(ALD_KEY_SIGN, &host, &seller, &err);
    if (status == ALD_OK) {
        status = ald_keys_generate(ALD_KEY_SIGN, &host, &stranger, &err);
    }
    if (status == ALD_OK) {
        status = ald_keys_generate(ALD_KEY_RECEIVE, &host, &buyer, &err);
    }
    const ald_key *sells = status == ALD_OK ? ald_keys_get(seller, 0) : NULL;
    const ald_key *buys = status == ALD_OK ? ald_keys_get(buyer, 0) : NULL;
    if (status == ALD_OK) {
        status = sell(argv[1], argv[2], buys->public_key, sells->private_key, &host, &err);
    }
    if (status == ALD_OK) {
        status = buy(argv[2], sells->public_key, buys->private_key, &host, &err);
    }
    if (status == ALD_OK) { /* who trusts somebody else gets nothing */
        ald_status refused =
            buy(argv[2], ald_keys_get(stranger, 0)->public_key, buys->private_key, &host, &err);
        printf("with another seller's key: %s\n", ald_status_name(refused));
        status = refused == ALD_E_UNTRUSTED_SIGNER ? ALD_OK : refused;
    }
    if (status != ALD_OK) {
        fprintf(stderr, "%s: %s\n", ald_status_name(status), err.msg);
    }
    ald_keys_free(buyer);
    ald_keys_free(stranger);
    ald_keys_free(seller);
    return status != ALD_OK;
}
