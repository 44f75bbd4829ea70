// SPDX-License-Identifier: MIT
// A large streaming file that is nowhere: a chunk that was saved once, repeated, with a prefix that says so. The layout is that of
// docs/FORMAT.md, put together here by hand.
import { crc32 } from 'node:zlib';

const HEADER_BYTES = 32, ENTRY_BYTES = 28, TAIL_CRC_BYTES = 4;

const uint = (size, value) => {
    const out = Buffer.alloc(size);
    out[size === 8 ? 'writeBigUInt64LE' : `writeUInt${8 * size}LE`](size === 8 ? BigInt(value) : value);
    return out;
};
const text = (value) => Buffer.concat([Buffer.from([0xa0 + value.length]), Buffer.from(value)]);
const bin = (bytes) => Buffer.concat([Buffer.from([0xc6]), Buffer.from(uint(4, bytes.length)).reverse(), bytes]);

/** F-070: the sums of prefix and pieces, in MessagePack. */
function metadata(sums) {
    return Buffer.concat([Buffer.from([0x81]), text('ald'), Buffer.from([0x82]),
        text('prefix_crc32'), bin(Buffer.alloc(4)), text('frame_crc32'), bin(sums)]);
}

function chunkIndex({ begin, rows, size }, count) {
    const entries = Array.from({ length: count }, (_, i) => Buffer.concat([uint(8, i * rows), uint(4, rows), uint(8, begin + i * size),
        uint(4, size), uint(4, size)]));
    return Buffer.concat([uint(4, count), ...entries]);
}

/**
 * @param file an uncompressed streaming file of one chunk @param info what inspect() says of it
 * @param count how often the chunk comes
 */
export function virtualFile(file, info, count) {
    const { payload, schema } = info.sections, [first] = info.chunks;
    const at = (begin, end) => Buffer.from(file.subarray(begin, end));
    const prologue = at(payload.begin, payload.begin + first.begin);
    const chunk = at(payload.begin + first.begin, payload.begin + first.begin + first.compressedSize);
    const epilogue = at(payload.begin + first.begin + first.compressedSize, payload.end);
    const sums = Buffer.concat([prologue, ...Array(count).fill(chunk), epilogue].map((piece, i, all) => (
        i > 1 && piece === all[i - 1] ? null : uint(4, crc32(piece)))).map((sum, i, all) => sum ?? all[1]));
    const meta = metadata(sums);
    const payloadSize = prologue.length + count * chunk.length + epilogue.length;
    const header = at(0, HEADER_BYTES);
    header[5] = 3;
    header.writeUInt32LE(meta.length, 8);
    header.writeUInt32LE(payloadSize, 12);
    header.writeUInt32LE(schema.end - schema.begin + count * chunk.length, 16);
    header.writeBigUInt64LE(BigInt(count * first.rowCount), 24);
    const prefix = Buffer.concat([header, meta, at(schema.begin, schema.end),
        chunkIndex({ begin: first.begin, rows: first.rowCount, size: first.compressedSize }, count)]);
    const place = prefix.indexOf('prefix_crc32') + 'prefix_crc32'.length + 5;
    prefix.writeUInt32LE(crc32(prefix), place);
    const head = Buffer.concat([prefix, prologue]), tail = Buffer.concat([epilogue, Buffer.alloc(TAIL_CRC_BYTES)]);
    return { size: prefix.length + payloadSize + TAIL_CRC_BYTES, head, chunk, tail, count, prefixSize: prefix.length };
}

/** The bytes [begin, end), piece by piece. */
export function* read({ head, chunk, tail, count }, begin, end) {
    const cut = (piece, start) => piece.subarray(Math.max(0, begin - start), Math.max(0, Math.min(piece.length, end - start)));
    yield cut(head, 0);
    const first = Math.max(0, Math.floor((begin - head.length) / chunk.length));
    for (let i = first; i < count && head.length + i * chunk.length < end; i++) {
        yield cut(chunk, head.length + i * chunk.length);
    }
    yield cut(tail, head.length + count * chunk.length);
}
