/* SPDX-License-Identifier: MIT */
/* What a file is by its first bytes. */
#ifndef CLI_MEDIA_KIND_H
#define CLI_MEDIA_KIND_H

#include <stddef.h>
#include <stdint.h>

#define MEDIA_HEAD_BYTES 32

typedef enum media_kind { MEDIA_OTHER = 0, MEDIA_IMAGE, MEDIA_AUDIO } media_kind;

/* PNG, JPEG, GIF, WebP, BMP, TIFF; WAV, FLAC, MP3, Ogg, M4A. `head` holds the first bytes, as many as there are up to
 * MEDIA_HEAD_BYTES. */
media_kind media_kind_of(const uint8_t *head, size_t size);

/* Whether a name ends as those of such files do. */
media_kind media_kind_of_name(const char *name);

#endif
