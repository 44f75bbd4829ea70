/* SPDX-License-Identifier: MIT */
/* Selling: packaged in one call, loaded in one call; what is no sale is refused; hooks are asked in time and cleaned up
 * after. */
#include "ald/commercial.h"
#include "protect_fixture.h"

static fault_host made;

typedef struct marker {
    int calls;
    ald_status fails;
} marker;

/* Another table with the same schema: rows 0 to 19. */
static ald_status mark(void *ctx, struct ArrowArrayStream *batches, const ald_host *host,
                       ald_error *err)
{
    marker *m = (marker *)ctx;
    (void)host;
    m->calls++;
    batches->release(batches);
    if (m->fails != ALD_OK)
        return ald_error_set(err, m->fails, ALD_NO_OFFSET, "no mark");
    number_open(20, PROTECT_COLUMNS, 7, batches);
    return ALD_OK;
}

static ald_status package(const ald_protection *p, const ald_watermark_hook *hook, ald_error *err)
{
    ald_save_options o = ALD_SAVE_OPTIONS_INIT;
    struct ArrowArrayStream stream;
    ald_status st;
    fault_init(&made, NULL, 0);
    made.host.random = protect_random;
    o.protection = p;
    o.layout = ALD_LAYOUT_STREAMING;
    number_open(300, PROTECT_COLUMNS, 100, &stream);
    st = ald_package_commercial(&stream, &made.sink, &o, hook, &made.host, err);
    CHECK(stream.release == NULL);
    fault_check_clean(&made);
    return st;
}

static ald_status load_sold(const ald_trust *trust, ald_license *license, uint64_t *rows,
                            ald_error *err)
{
    ald_source source = ald_source_memory(made.output.data, made.output.size);
    ald_load_options o = ALD_LOAD_OPTIONS_INIT;
    ald_host host = ald_native_host(1);
    ald_dataset *d = NULL;
    ald_status st;
    o.trust = trust;
    st = ald_load_commercial(&source, &o, &host, &d, err);
    if (st == ALD_OK) {
        *license = *ald_dataset_info(d)->license;
        license->terms = NULL;
        *rows = ald_dataset_info(d)->num_rows;
    }
    CHECK((st == ALD_OK) == (d != NULL));
    ald_dataset_free(d);
    return st;
}

static void test_sale(void)
{
    protect_way w = {.encryption = ALD_ENCRYPTION_RECIPIENT, .with_signer = 1, .with_license = 1};
    ald_license license, sold;
    ald_protection p = protect_protection(&w, &license);
    ald_trust trust = protect_trust(&w);
    marker m = {0, ALD_OK};
    ald_watermark_hook hook = {mark, &m};
    ald_error err = {0};
    uint64_t rows;
    REQUIRE_OK(package(&p, NULL, &err), &err);
    REQUIRE_OK(load_sold(&trust, &sold, &rows, &err), &err);
    CHECK_UINT(rows, 300);
    CHECK_INT(sold.flags, license.flags);
    CHECK_MEM(sold.license_id, license.license_id, 16);
    REQUIRE_OK(package(&p, &hook, &err), &err);
    REQUIRE_OK(load_sold(&trust, &sold, &rows, &err), &err);
    CHECK_INT(m.calls, 1);
    CHECK_UINT(rows, 20);
    CHECK_INT(sold.flags, license.flags | ALD_LICENSE_WATERMARKED);
    CHECK_INT(license.flags & ALD_LICENSE_WATERMARKED, 0); /* the caller's own is not touched */
    trust.trusted_count = 0;
    trust.allow_untrusted = 1;
    CHECK(load_sold(&trust, &sold, &rows, &err) != ALD_OK);
}

static void test_no_sale(void)
{
    protect_way w = {.with_signer = 1};
    ald_license license;
    ald_protection p = protect_protection(&w, &license);
    marker m = {0, ALD_OK};
    ald_watermark_hook hook = {mark, &m};
    ald_error err = {0};
    CHECK_INT(package(&p, &hook, &err), ALD_E_INVALID_ARG);
    p.license = &license;
    p.signer_seed = NULL;
    CHECK_INT(package(&p, &hook, &err), ALD_E_INVALID_ARG);
    CHECK_INT(package(NULL, &hook, &err), ALD_E_INVALID_ARG);
    CHECK_INT(m.calls, 0);
    p.signer_seed = protect_seed;
    m.fails = ALD_E_UNSUPPORTED;
    CHECK_INT(package(&p, &hook, &err), ALD_E_UNSUPPORTED);
    CHECK_STR(err.msg, "no mark");
    CHECK_UINT(made.output.size, 0);
}

int main(void)
{
    protect_keys();
    RUN(test_sale);
    RUN(test_no_sale);
    fault_clear(&made);
    return check_done();
}
