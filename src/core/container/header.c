/* SPDX-License-Identifier: MIT */
/* The 32-byte header, field by field. */
#include "core/container/header.h"

#include <string.h>

#include "ald/schema.h"
#include "core/base/endian.h"
#include "core/base/fail.h"

static const uint8_t magic[4] = {0x41, 0x4C, 0x44, 0x46};

#define KNOWN_FLAGS 0x1Fu
#define FLAGS_OFFSET 21u

ald_status ald__header_check_start(const uint8_t *data, size_t size, ald_error *err)
{
    size_t n = size < sizeof magic ? size : sizeof magic;
    uint8_t minor;
    if (memcmp(data, magic, n) != 0)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 0,
                         "not an .ald file: the magic is not 41 4c 44 46 (ALDF)");
    if (size > 4 && data[4] != ALD__VERSION_MAJOR)
        return ald__fail(err, ALD_E_UNSUPPORTED_VERSION, 4,
                         "format version %u, this library reads version 1", data[4]);
    if (size <= FLAGS_OFFSET || (data[FLAGS_OFFSET] & ~KNOWN_FLAGS) == 0)
        return ALD_OK;
    minor = data[5];
    return ald__fail(
        err, minor > ALD__VERSION_MINOR_KNOWN ? ALD_E_UNSUPPORTED_VERSION : ALD_E_INVALID_FORMAT,
        FLAGS_OFFSET, "reserved flag bits are set: %02x (format version 1.%u)", data[FLAGS_OFFSET],
        minor);
}

void ald__header_decode(const uint8_t data[ALD__HEADER_BYTES], ald__header *out)
{
    out->version_major = data[4];
    out->version_minor = data[5];
    out->dataset_type = ald__load_le16(data + 6);
    out->metadata_size = ald__load_le32(data + 8);
    out->payload_size = ald__load_le32(data + 12);
    out->uncompressed_size = ald__load_le32(data + 16);
    out->compression = data[20];
    out->flags = data[FLAGS_OFFSET];
    out->schema_size = ald__load_le16(data + 22);
    out->num_rows = ald__load_le64(data + 24);
}

void ald__header_encode(const ald__header *header, uint8_t data[ALD__HEADER_BYTES])
{
    memcpy(data, magic, sizeof magic);
    data[4] = header->version_major;
    data[5] = header->version_minor;
    ald__store_le16(data + 6, header->dataset_type);
    ald__store_le32(data + 8, header->metadata_size);
    ald__store_le32(data + 12, header->payload_size);
    ald__store_le32(data + 16, header->uncompressed_size);
    data[20] = header->compression;
    data[FLAGS_OFFSET] = header->flags;
    ald__store_le16(data + 22, header->schema_size);
    ald__store_le64(data + 24, header->num_rows);
}

ald_status ald__header_check_fields(const ald__header *header, ald_error *err)
{
    if (ald_dataset_type_name(header->dataset_type) == NULL)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 6, "unknown dataset type 0x%04x",
                         header->dataset_type);
    if (ald_compression_name(header->compression) == NULL)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 20, "unknown compression id %u",
                         header->compression);
    if (header->compression >= ALD_COMPRESSION_PACKED && !(header->flags & ALD_FLAG_STREAMING))
        return ald__fail(err, ALD_E_INVALID_FORMAT, 20, "compression id %u without STREAMING",
                         header->compression);
    if (!(header->flags & ALD_FLAG_TRUENO_NATIVE))
        return ALD_OK;
    if (header->compression != ALD_COMPRESSION_NONE)
        return ald__fail(err, ALD_E_INVALID_FORMAT, 20, "TRUENO_NATIVE with compression id %u",
                         header->compression);
    if (header->flags & ALD_FLAG_ENCRYPTED)
        return ald__fail(err, ALD_E_INVALID_FORMAT, FLAGS_OFFSET, "TRUENO_NATIVE with ENCRYPTED");
    return ALD_OK;
}
