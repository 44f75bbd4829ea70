/* SPDX-License-Identifier: MIT */
/* The statistics of `piracy entropy` as a page of HTML with plots, without scripts or anything from elsewhere. */
#ifndef CLI_ENTROPY_PAGE_H
#define CLI_ENTROPY_PAGE_H

#include "ald/piracy.h"

ALD_NODISCARD ald_status entropy_page(const char *file, const ald_entropy *entropy, ald_buffer *out,
                                      ald_error *err);

/* Appends to a page. */
ALD_NODISCARD ald_status page_text(ald_buffer *out, const char *text, ald_error *err); /* escaped */
ALD_NODISCARD ald_status page_format(ald_buffer *out, ald_error *err, const char *fmt, ...)
    ALD_PRINTF(3, 4);

#endif
