/* SPDX-License-Identifier: MIT */
#include "cli/media_kind.h"

#include <string.h>
#include <strings.h>

typedef struct magic_row {
    const char *bytes;
    uint8_t size, at;
    uint8_t kind;
} magic_row;

static const magic_row magics[] = {
    {"\x89PNG\r\n\x1a\n", 8, 0, MEDIA_IMAGE},
    {"\xFF\xD8\xFF", 3, 0, MEDIA_IMAGE},
    {"GIF87a", 6, 0, MEDIA_IMAGE},
    {"GIF89a", 6, 0, MEDIA_IMAGE},
    {"II*\0", 4, 0, MEDIA_IMAGE},
    {"MM\0*", 4, 0, MEDIA_IMAGE},
    {"fLaC", 4, 0, MEDIA_AUDIO},
    {"OggS", 4, 0, MEDIA_AUDIO},
    {"ID3", 3, 0, MEDIA_AUDIO},
    {"ftypM4A ", 8, 4, MEDIA_AUDIO},
    {"ftypM4B ", 8, 4, MEDIA_AUDIO},
    {"ftypM4P ", 8, 4, MEDIA_AUDIO},
};

/* The frame header of MP3 without a tag: sync, layer III, and no reserved value. */
static int is_mp3_frame(const uint8_t *p)
{
    return p[0] == 0xFF && (p[1] & 0xE6) == 0xE2 && (p[1] & 0x18) != 0x08 &&
           (p[2] & 0xF0) != 0xF0 && (p[2] & 0x0C) != 0x0C;
}

/* "BM" alone begins many texts: the reserved fields are zero, and the second header has one of the known sizes. */
static int is_bmp(const uint8_t *p, size_t size)
{
    static const uint8_t sizes[] = {12, 40, 52, 56, 64, 108, 124};
    return size >= 18 && memcmp(p, "BM", 2) == 0 && memcmp(p + 6, "\0\0\0\0", 4) == 0 &&
           memchr(sizes, p[14], sizeof(sizes)) != NULL && memcmp(p + 15, "\0\0\0", 3) == 0;
}

media_kind media_kind_of(const uint8_t *head, size_t size)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        const magic_row *m = &magics[i];
        if (size >= (size_t)m->at + m->size && memcmp(head + m->at, m->bytes, m->size) == 0) {
            return (media_kind)m->kind;
        }
    }
    if (size >= 12 && memcmp(head, "RIFF", 4) == 0) {
        return memcmp(head + 8, "WEBP", 4) == 0   ? MEDIA_IMAGE
               : memcmp(head + 8, "WAVE", 4) == 0 ? MEDIA_AUDIO
                                                  : MEDIA_OTHER;
    }
    if (is_bmp(head, size)) {
        return MEDIA_IMAGE;
    }
    return size >= 4 && is_mp3_frame(head) ? MEDIA_AUDIO : MEDIA_OTHER;
}

media_kind media_kind_of_name(const char *name)
{
    static const char *const images[] = {"png", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff"};
    static const char *const audio[] = {"wav", "flac", "mp3", "ogg", "oga", "opus", "m4a"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot != NULL && i < sizeof(images) / sizeof(images[0]); i++) {
        if (strcasecmp(dot + 1, images[i]) == 0) {
            return MEDIA_IMAGE;
        }
    }
    for (size_t i = 0; dot != NULL && i < sizeof(audio) / sizeof(audio[0]); i++) {
        if (strcasecmp(dot + 1, audio[i]) == 0) {
            return MEDIA_AUDIO;
        }
    }
    return MEDIA_OTHER;
}
