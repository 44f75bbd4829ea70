/* SPDX-License-Identifier: MIT */
#include "cli/entropy_page.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define PIECE_BYTES 1024

static ald_status append(ald_buffer *out, const char *data, size_t size, ald_error *err)
{
    ald_sink sink = ald_buffer_sink(out);
    return sink.write(sink.ctx, data, size, err);
}

ald_status page_format(ald_buffer *out, ald_error *err, const char *fmt, ...)
{
    char piece[PIECE_BYTES];
    va_list args;
    va_start(args, fmt);
    int size = vsnprintf(piece, sizeof(piece), fmt, args);
    va_end(args);
    if (size < 0 || (size_t)size >= sizeof(piece)) {
        return ald_error_set(err, ALD_E_LIMIT_EXCEEDED, ALD_NO_OFFSET, "a line is too long");
    }
    return append(out, piece, (size_t)size, err);
}

ald_status page_text(ald_buffer *out, const char *text, ald_error *err)
{
    for (; *text != '\0'; text++) {
        const char *shown = *text == '<'   ? "&lt;"
                            : *text == '>' ? "&gt;"
                            : *text == '&' ? "&amp;"
                            : *text == '"' ? "&quot;"
                                           : NULL;
        CLI_TRY(shown != NULL ? append(out, shown, strlen(shown), err) : append(out, text, 1, err));
    }
    return ALD_OK;
}

static const char style[] =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Entropy</title><style>"
    "body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "h2{margin:2em 0 .2em;border-top:1px solid "
    "#ccc;padding-top:.6em}table{border-collapse:collapse}"
    "td{padding:.1em 1em .1em "
    "0}.bad{color:#a00;font-weight:bold}figure{display:inline-block;margin:0 1.5em 0 "
    "0}svg{margin:.4em 0}"
    "small{color:#666}@media print{h2{page-break-after:avoid}}</style></head><body>";

/* A plot of bars that share one scale. `low` is the value of a bar without height. */
static ald_status bars(ald_buffer *out, const char *title, const double *values, size_t count,
                       double most, unsigned bar_width, ald_error *err)
{
    CLI_TRY(page_format(out, err,
                        "<figure><svg width=\"%zu\" "
                        "height=\"84\" role=\"img\" aria-label=\"%s\">",
                        count * bar_width, title));
    for (size_t i = 0; i < count; i++) {
        double share = most > 0 ? values[i] / most : 0;
        double height = 80 * (share < 0 ? 0 : share > 1 ? 1 : share);
        CLI_TRY(page_format(
            out, err, "<rect x=\"%zu\" y=\"%.1f\" width=\"%u\" height=\"%.1f\" fill=\"#47a\"/>",
            i * bar_width, 82 - height, bar_width > 2 ? bar_width - 1 : bar_width, height + 0.5));
    }
    return page_format(out, err, "</svg><figcaption><small>%s</small></figcaption></figure>",
                       title);
}

static ald_status row(ald_buffer *out, const char *name, double v, ald_error *err)
{
    return page_format(out, err, "<tr><td>%s</td><td>%.6g</td></tr>", name, v);
}

static ald_status numbers(const ald_column_entropy *c, ald_buffer *out, ald_error *err)
{
    CLI_TRY(page_format(out, err, "<table>"));
    CLI_TRY(row(out, "values", (double)c->value_count, err));
    CLI_TRY(row(out, "different values", (double)c->distinct_count, err));
    CLI_TRY(row(out, "share of lowest bits that are 1", c->lsb_ones, err));
    CLI_TRY(row(out, "entropy of the lowest bit (1 is most)", c->lsb_entropy, err));
    CLI_TRY(row(out, "entropy of the lowest byte (8 is most)", c->shannon_entropy, err));
    CLI_TRY(row(out, "low bits uniform: p", c->ks_p, err));
    CLI_TRY(row(out, "lowest bit even: p", c->chi_square_p, err));
    CLI_TRY(row(out, "bit correlation, raw", c->bit_correlation, err));
    CLI_TRY(row(out, "bit correlation, centered", c->centered_correlation, err));
    CLI_TRY(row(out, "peak at 256 rows", c->peak_256, err));
    CLI_TRY(row(out, "p of the strongest sign", c->p, err));
    return page_format(out, err, "</table>");
}

/* A line of the map: its bits that are 1 as strokes. */
static ald_status map_line(ald_buffer *out, uint64_t bits, unsigned y, ald_error *err)
{
    for (unsigned x = 0; x < 64;) {
        unsigned run = 0;
        while (x + run < 64 && (bits >> (x + run) & 1) != 0) {
            run++;
        }
        if (run > 0) {
            CLI_TRY(page_format(out, err, "M%u %u.5h%u", x, y, run));
        }
        x += run + 1;
    }
    return ALD_OK;
}

/* Rows as they lie, 64 to a line: a bit that follows a pattern shows as stripes. Grey: no number. */
static ald_status bit_map(ald_buffer *out, const ald_column_entropy *c, ald_error *err)
{
    uint64_t lines = (c->row_count + 63) / 64;
    unsigned height = lines < ALD_LSB_MAP_WORDS ? (unsigned)lines : ALD_LSB_MAP_WORDS;
    CLI_TRY(
        page_format(out, err,
                    "<figure><svg width=\"192\" "
                    "height=\"%u\" viewBox=\"0 0 64 %u\" role=\"img\" aria-label=\"lowest bits of "
                    "the first rows\"><rect width=\"64\" height=\"%u\" fill=\"#eef\"/><path "
                    "stroke=\"#47a\" d=\"",
                    3 * height, height, height));
    for (unsigned y = 0; y < height; y++) {
        CLI_TRY(map_line(out, c->lsb_map[y] & c->lsb_known[y], y, err));
    }
    CLI_TRY(page_format(out, err, "\"/><path stroke=\"#bbb\" d=\""));
    for (unsigned y = 0; y < height; y++) {
        CLI_TRY(map_line(out, ~c->lsb_known[y], y, err));
    }
    return page_format(out, err,
                       "\"/></svg><figcaption><small>lowest bits of the first %u rows, 64 to a "
                       "line</small></figcaption></figure>",
                       c->row_count < 64 * height ? (unsigned)c->row_count : 64 * height);
}

/* About -log10 of a probability. */
static double zeros_behind_point(double p)
{
    double digits = 0;
    while (p < 1 && digits < 40) {
        digits += 0.25;
        p *= 1.7782794100389228; /* the fourth root of 10 */
    }
    return digits;
}

static ald_status plots(const ald_column_entropy *c, ald_buffer *out, ald_error *err)
{
    double bytes[256], most = 0, phases[ALD_ENTROPY_PLANES];
    double ones[2] = {1 - c->lsb_ones, c->lsb_ones};
    for (size_t i = 0; i < 256; i++) {
        bytes[i] = (double)c->low_bytes[i];
        most = bytes[i] > most ? bytes[i] : most;
    }
    for (size_t i = 0; i < ALD_ENTROPY_PLANES; i++) {
        phases[i] = zeros_behind_point(c->phase_p[i]);
    }
    CLI_TRY(bit_map(out, c, err));
    CLI_TRY(bars(out, "lowest bit: 0, 1", ones, 2, 1, 40, err));
    CLI_TRY(bars(out, "lowest byte, 0 to 255", bytes, 256, most, 2, err));
    return bars(out, "phase, planes 8 to 24: digits of 1/p, to 40", phases, ALD_ENTROPY_PLANES, 40,
                14, err);
}

static ald_status column(const ald_column_entropy *c, ald_buffer *out, ald_error *err)
{
    CLI_TRY(page_format(out, err, "<h2>"));
    CLI_TRY(page_text(out, c->name, err));
    CLI_TRY(page_format(out, err, "</h2><p>%s: %s</p>", ald_entropy_class_text(c->entropy_class),
                        c->signs != 0 ? "<span class=\"bad\">suspicious</span>" : "nothing found"));
    if (c->entropy_class == ALD_ENTROPY_NONE) {
        return ALD_OK;
    }
    CLI_TRY(plots(c, out, err));
    return numbers(c, out, err);
}

ald_status entropy_page(const char *file, const ald_entropy *entropy, ald_buffer *out,
                        ald_error *err)
{
    ald_detection d = ald_entropy_verdict(entropy);
    CLI_TRY(append(out, style, sizeof(style) - 1, err));
    CLI_TRY(page_format(out, err, "<h1>"));
    CLI_TRY(page_text(out, file, err));
    CLI_TRY(page_format(out, err, "</h1><p>"));
    if (d.likely_watermarked) {
        CLI_TRY(page_format(out, err,
                            "<span class=\"bad\">Likely watermarked</span>, confidence %.1f %%",
                            100 * d.confidence));
    } else {
        CLI_TRY(page_format(out, err, "No watermark found"));
    }
    CLI_TRY(page_format(out, err, "</p>"));
    for (size_t i = 0; i < ald_entropy_count(entropy); i++) {
        CLI_TRY(column(ald_entropy_get(entropy, i), out, err));
    }
    return page_format(out, err, "</body></html>\n");
}
