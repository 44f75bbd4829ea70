// SPDX-License-Identifier: MIT
// What a file says of itself: the row of numbers of src/wasm/info_row.c as an object.

import { readSchema } from './schema.js';
import { LICENSE_FLAGS } from './request.js';
import { readValue } from './value.js';

const FIELDS = ['fileSize', 'rowCount', 'payloadSize', 'uncompressedSize', 'schemaSize', 'datasetType', 'versionMajor',
    'versionMinor', 'compression', 'flags', 'crc32', 'chunkCount', 'arrayCount', 'encryptionMode', 'recipientCount', 'metadata',
    'facts', 'schema', 'chunks', 'signer', 'license'];
const SECTIONS = ['header', 'metadata', 'schema', 'chunkIndex', 'arrayIndex', 'encryption', 'padding', 'payload', 'signature',
    'license', 'crc32'];
const FLAGS = { encrypted: 0x01, signed: 0x02, streaming: 0x04, licensed: 0x08, aligned: 0x10 };
const CRC32 = ['unchecked', 'ieee', 'crate'];
const ENCRYPTION = ['password', 'recipient', 'several'];
const CHUNK_BYTES = 32;

const hex = (bytes) => Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');

export function uuid(bytes) {
    return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const date = (secondsOf) => (secondsOf === 0 ? null : new Date(secondsOf * 1000));

function readLicense(m, at) {
    const flags = m.bytes[at + 70];
    const terms = m.u32(at + 72);
    const out = {
        licenseId: uuid(m.copy(at, 16)),
        licenseeHash: hex(m.copy(at + 16, 32)),
        issuedAt: date(m.u64(at + 48)),
        expiresAt: date(m.u64(at + 56)),
        queryLimit: m.u32(at + 64),
        seatLimit: m.view.getUint16(at + 68, true),
        terms: terms === 0 ? '' : m.text(terms, m.u32(at + 76)),
    };
    for (const [name, bit] of Object.entries(LICENSE_FLAGS)) {
        out[name] = (flags & bit) !== 0;
    }
    return out;
}

function readSections(m, row) {
    const out = {};
    SECTIONS.forEach((name, i) => {
        const at = row + 8 * (FIELDS.length + 2 * i);
        const begin = m.view.getFloat64(at, true), end = m.view.getFloat64(at + 8, true);
        if (end > begin) {
            out[name] = { begin, end };
        }
    });
    return out;
}

/** Positions and sizes of chunks; `begin` counts from the start of the payload. */
export function readChunks(m, at, count) {
    return Array.from({ length: count }, (_, i) => {
        const entry = at + i * CHUNK_BYTES;
        return {
            firstRow: m.u64(entry),
            begin: m.u64(entry + 8),
            rowCount: m.u32(entry + 16),
            compressedSize: m.u32(entry + 20),
            uncompressedSize: m.u32(entry + 24),
        };
    });
}

/** @param at an ald_info */
export function readInfo(m, at) {
    const row = m.pointer('ald_wasm_info', at);
    const v = {};
    FIELDS.forEach((name, i) => {
        v[name] = m.view.getFloat64(row + 8 * i, true);
    });
    const sections = readSections(m, row);
    const flags = {};
    for (const [name, bit] of Object.entries(FLAGS)) {
        flags[name] = (v.flags & bit) !== 0;
    }
    return {
        fileSize: v.fileSize,
        rowCount: v.rowCount,
        payloadSize: v.payloadSize,
        uncompressedSize: v.uncompressedSize,
        datasetType: m.cString(m.call('ald_dataset_type_name', v.datasetType) >>> 0),
        version: `${v.versionMajor}.${v.versionMinor}`,
        compression: m.cString(m.call('ald_compression_name', v.compression) >>> 0),
        flags,
        crc32: CRC32[v.crc32],
        encryption: v.encryptionMode < 0 ? null : { mode: ENCRYPTION[v.encryptionMode], recipientCount: v.recipientCount },
        signer: v.signer === 0 ? null : m.copy(v.signer, 32),
        license: v.license === 0 ? null : readLicense(m, v.license),
        metadata: readValue(m, v.metadata),
        schema: v.schema === 0 ? null : readSchema(m, v.schema),
        chunkCount: v.chunkCount,
        chunks: v.chunks === 0 ? [] : readChunks(m, v.chunks, v.chunkCount),
        sections,
    };
}
