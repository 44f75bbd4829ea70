// SPDX-License-Identifier: MIT
// Marks that tell who bought a copy, and looking for them. docs/WATERMARK.md of the C library says what they promise.

import { invalidArgument } from './error.js';
import { inputStream } from './input.js';
import { signingSeed } from './keys.js';
import { encodeText } from './module.js';
import { Request } from './request.js';

const HASH_BYTES = 32, FINDING_BYTES = 96, RANK_BYTES = 24, EVIDENCE_BYTES = 40, COLUMN_BYTES = 80, RANKS_MAX = 16;
const TIME_UNITS = [null, 'days', 's', 'ms', 'us', 'ns'];
const FLAGS = { hidden: 1, strict: 2, markKeys: 4 };
const VERIFIED_LOG2_P = -40;
const SKIPPED = 0;
const SIGNS = ['island', 'lsb', 'correlation', 'period', 'phase'];
const RAW = ['lsbEntropy', 'ks', 'chiSquare', 'correlation'];
const PLANE = 8, PLANES = 17;

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const names = (list, bits) => list.filter((_, i) => (bits & (1 << i)) !== 0);

/** Runs body(address) with so many bytes of the module's memory, which are wiped afterwards. */
function withMemory(m, size, body) {
    const at = m.alloc(size);
    try {
        m.bytes.fill(0, at, at + size);
        return body(at);
    } finally {
        if (!m.isDead) {
            m.bytes.fill(0, at, at + size);
            m.free(at);
        }
    }
}

function withBytes(m, bytes, body) {
    return withMemory(m, Math.max(1, bytes.length), (at) => {
        m.bytes.set(bytes, at);
        return body(at);
    });
}

/** Runs body({ seller, mark }) with the addresses of the seller's watermark key, and of the one for this data set. */
function withKeys(m, seed, datasetId, body) {
    return withMemory(m, 3 * HASH_BYTES, (at) => {
        const keys = { seller: at + HASH_BYTES, mark: at + 2 * HASH_BYTES };
        m.bytes.set(seed, at);
        m.check('ald_watermark_key', at, m.host, keys.seller, m.error);
        if (datasetId === undefined) {
            m.bytes.copyWithin(keys.mark, keys.seller, keys.seller + HASH_BYTES);
        } else {
            const id = encodeText(datasetId);
            withBytes(m, id, (text) => m.check('ald_watermark_dataset_key', keys.seller, text, id.length, m.host, keys.mark, m.error));
        }
        return body(keys);
    });
}

/** What stands for a buyer. */
function buyerHash(m, sellerKey, buyer) {
    const name = encodeText(buyer);
    return withMemory(m, HASH_BYTES, (out) => withBytes(m, name, (text) => {
        m.check('ald_watermark_buyer', sellerKey, text, name.length, m.host, out, m.error);
        return m.copy(out, HASH_BYTES);
    }));
}

/** Columns of these names, as their places in the stream. */
function columnPlaces(m, stream, wanted) {
    const schema = m.pointer('ald_wasm_stream_schema', stream);
    try {
        const children = m.u32(schema + 32);
        const found = Array.from({ length: m.u64(schema + 24) }, (_, i) => m.cString(m.u32(m.u32(children + 4 * i) + 4)));
        const missing = wanted.find((name) => !found.includes(name));
        if (missing !== undefined) {
            throw invalidArgument(`there is no column '${missing}'`);
        }
        const places = found.flatMap((name, i) => (wanted.includes(name) ? [i] : []));
        return new Uint8Array(Uint32Array.from(places).buffer);
    } finally {
        if (!m.isDead) {
            m.call('ald_wasm_schema_free', schema);
        }
    }
}

function readReport(m, at, hash) {
    const columns = m.u32(at);
    const real = (place) => m.view.getFloat64(place, true);
    return {
        buyerHash: hex(hash),
        capacity: m.u64(at + 8),
        capacityIsLow: m.bytes[at + 16] !== 0,
        columns: Array.from({ length: m.u32(at + 4) }, (_, i) => {
            const place = columns + COLUMN_BYTES * i, mode = m.bytes[place + 8];
            return {
                name: m.cString(m.u32(place)),
                column: m.u32(place + 4),
                mode: m.cString(m.call('ald_watermark_mode_text', mode) >>> 0),
                reason: mode === SKIPPED ? m.cString(m.call('ald_watermark_reason_text', m.bytes[place + 9]) >>> 0) : null,
                planes: m.bytes[place + 10],
                isEstimate: m.bytes[place + 11] !== 0,
                values: m.u64(place + 16),
                marked: m.u64(place + 24),
                carriers: m.u64(place + 32),
                largestChange: real(place + 40),
                meanChange: real(place + 48),
                meanShift: real(place + 56),
                deviationShift: real(place + 64),
                largestMove: real(place + 72),
                unit: TIME_UNITS[m.bytes[place + 14]],
            };
        }),
    };
}

/** What a marked copy would lose in silence is refused. */
function checkKept({ info }, options) {
    const lost = [
        [info.signer !== null && !options.sign && !options.dropSignature, 'is signed, and marking ends that', 'sign, or dropSignature'],
        [info.encryption !== null && !options.encrypt && !options.plain, 'was encrypted', 'encrypt, or plain'],
        [info.license !== null && options.license === undefined, 'has a license', 'license: its terms, or null for none'],
    ].find(([is]) => is);
    if (lost !== undefined) {
        throw invalidArgument(`the data set ${lost[1]}\ngive ${lost[2]}`);
    }
}

/** Options of save(): what a Dataset says of itself stays, and a license says that the rows are marked. */
export function saveOptions(data, options) {
    const kept = data?.info === undefined ? {} : { metadata: data.metadata, datasetType: data.info.datasetType ?? undefined };
    if (data?.info !== undefined) {
        checkKept(data, options);
    }
    const { license } = options;
    return { ...kept, ...options, ...(license ? { license: { ...license, watermarked: true } } : {}) };
}

function markRequest(request, options) {
    let flags = 0;
    for (const [name, bit] of Object.entries(FLAGS)) {
        flags |= options[name] ? bit : 0;
    }
    request.number('mark.flags', flags);
    for (const [name, to] of [['strength', 'mark.strength'], ['redundancy', 'mark.redundancy'], ['memoryBytes', 'mark.memory_bytes']]) {
        if (options[name] !== undefined) {
            request.number(to, options[name]);
        }
    }
}

/** @param request of save() @returns {{ file: Uint8Array, report: object }} */
export async function mark(m, data, options, request) {
    if (typeof options.buyer !== 'string' || options.buyer === '') {
        throw invalidArgument('a buyer has a name');
    }
    markRequest(request, options);
    const seed = await signingSeed(options.sellerKey, options.keyPassphrase);
    try {
        return withKeys(m, seed, options.datasetId, (keys) => {
            const hash = buyerHash(m, keys.seller, options.buyer);
            request.bytes('mark.buyer_hash', hash);
            return markData(m, data, keys.mark, options, request, hash);
        });
    } finally {
        seed.fill(0);
    }
}

/** The watermark outlives the stream that reads through it. */
function markData(m, data, key, options, request, hash) {
    let watermark = 0;
    try {
        return inputStream(m, data, options, request, (stream) => {
            if (options.columns !== undefined) {
                request.bytes('mark.columns', columnPlaces(m, stream, options.columns));
            }
            const file = m.collect((out) => request.run(m, (r) => {
                watermark = m.open('ald_watermark_new', m.call('ald_wasm_request_mark', r), key, m.host);
                m.check('ald_watermark_embed', watermark, stream, m.error);
                m.check('ald_wasm_save', stream, r, out);
            }));
            return { file, report: readReport(m, m.call('ald_watermark_get_report', watermark) >>> 0, hash) };
        });
    } finally {
        if (!m.isDead && watermark !== 0) {
            m.call('ald_watermark_free', watermark);
        }
    }
}

// ---- looking for marks

function readFinding(m, at) {
    const real = (place) => m.view.getFloat64(at + place, true);
    const affine = m.view.getInt32(at + 12, true);
    return {
        found: m.bytes[at] !== 0,
        isMarked: m.bytes[at + 1] !== 0,
        buyer: null,
        buyerHash: m.bytes[at] !== 0 ? hex(m.copy(at + 16, HASH_BYTES)) : null,
        method: m.bytes[at] !== 0 ? 'blind' : null,
        confidence: real(48),
        evidenceBits: real(64),
        log2P: real(56),
        agreement: real(72),
        presence: real(80),
        carriers: m.u64(at + 88),
        profiles: m.u32(at + 4),
        candidates: m.u32(at + 8),
        affine: affine < 0 ? null : affine,
        confirmed: [],
        columns: [],
    };
}

function hashOf(m, keys, buyer) {
    const { buyer: name, buyer_hash: hash } = typeof buyer === 'string' ? { buyer } : buyer;
    if (hash === undefined) {
        return { name, hash: buyerHash(m, keys.seller, name) };
    }
    if (!/^[0-9a-f]{64}$/i.test(hash)) {
        throw invalidArgument(`'${hash}' is no hash of a buyer`);
    }
    return { name, hash: Uint8Array.from(hash.match(/../g), (pair) => parseInt(pair, 16)) };
}

/** Buyers of a list that are confirmed; the best one is the finding where none was read blind. */
function lookUp(m, reading, buyers, finding) {
    const hashes = new Uint8Array(buyers.length * HASH_BYTES);
    buyers.forEach(({ hash }, i) => hashes.set(hash, i * HASH_BYTES));
    return withBytes(m, hashes, (list) => withMemory(m, RANKS_MAX * RANK_BYTES, (ranks) => {
        m.check('ald_watermark_list', reading, list, buyers.length, ranks, RANKS_MAX, m.scratch, m.error);
        const count = Math.min(RANKS_MAX, m.u32(m.scratch));
        const all = Array.from({ length: count }, (_, i) => {
            const at = ranks + RANK_BYTES * i, { name, hash } = buyers[m.u32(at)];
            return { buyer: name, buyerHash: hex(hash), log2P: m.view.getFloat64(at + 8, true), agreement: m.view.getFloat64(at + 16, true) };
        });
        const confirmed = all.filter(({ log2P }) => log2P <= VERIFIED_LOG2_P);
        if (finding.found || confirmed.length === 0) {
            return { ...finding, confirmed };
        }
        const [best] = confirmed;
        const place = buyers.findIndex(({ hash }) => hex(hash) === best.buyerHash);
        return withMemory(m, FINDING_BYTES, (out) => {
            m.check('ald_watermark_verify', reading, list + HASH_BYTES * place, out, m.error);
            return {
                ...readFinding(m, out), found: true, isMarked: true, buyerHash: best.buyerHash, method: 'registry',
                log2P: best.log2P, evidenceBits: -best.log2P, confirmed,
            };
        });
    }));
}

/** What each column says about the buyer that was found. */
function readEvidence(m, reading, hash) {
    const bytes = Uint8Array.from(hash.match(/../g), (pair) => parseInt(pair, 16));
    return withBytes(m, bytes, (buyer) => {
        m.check('ald_piracy_evidence', reading, buyer, 0, 0, m.scratch, m.error);
        const count = m.u32(m.scratch);
        return withMemory(m, Math.max(1, count * EVIDENCE_BYTES), (out) => {
            m.check('ald_piracy_evidence', reading, buyer, out, count, m.scratch, m.error);
            return Array.from({ length: count }, (_, i) => {
                const at = out + EVIDENCE_BYTES * i;
                return {
                    name: m.cString(m.u32(at)), column: m.u32(at + 4), carriers: m.u64(at + 16),
                    log2P: m.view.getFloat64(at + 24, true), agreement: m.view.getFloat64(at + 32, true),
                };
            });
        });
    });
}

function look(m, reading, buyers) {
    let finding = withMemory(m, FINDING_BYTES, (out) => {
        m.check('ald_watermark_extract', reading, out, m.error);
        return readFinding(m, out);
    });
    if (buyers.length > 0) {
        finding = lookUp(m, reading, buyers, finding);
    }
    if (finding.found) {
        finding.buyer = buyers.find(({ hash }) => hex(hash) === finding.buyerHash)?.name ?? null;
        finding.columns = readEvidence(m, reading, finding.buyerHash);
    }
    return finding;
}

/** Which buyer a suspect copy was made for. */
export async function extractFrom(m, data, options) {
    const { affine = [], buyers = [], datasetId, memoryBytes } = options;
    const request = new Request();
    if (affine.length > 0) {
        request.bytes('reading.affine', new Uint8Array(Float64Array.from(affine.flatMap(({ factor, offset = 0 }) => [factor, offset])).buffer));
    }
    if (memoryBytes !== undefined) {
        request.number('reading.memory_bytes', memoryBytes);
    }
    const seed = await signingSeed(options.sellerKey, options.keyPassphrase);
    try {
        return withKeys(m, seed, datasetId, (keys) => inputStream(m, data, options, request, (stream) => request.run(m, (r) => {
            const list = buyers.map((buyer) => hashOf(m, keys, buyer));
            const reading = m.open('ald_watermark_read', stream, keys.mark, m.call('ald_wasm_request_reading', r), m.host);
            try {
                return look(m, reading, list);
            } finally {
                if (!m.isDead) {
                    m.call('ald_watermark_reading_free', reading);
                }
            }
        })));
    } finally {
        seed.fill(0);
    }
}

// ---- without a key

function readEntropy(m, at) {
    const real = (place) => m.view.getFloat64(at + place, true);
    const signs = names(SIGNS, m.bytes[at + 9]);
    return {
        name: m.cString(m.u32(at)),
        column: m.u32(at + 4),
        class: m.cString(m.call('ald_entropy_class_text', m.bytes[at + 8]) >>> 0),
        suspicious: signs.length > 0,
        signs,
        rawThresholdsPassed: names(RAW, m.bytes[at + 10]),
        bits: m.bytes[at + 11],
        values: m.u64(at + 16),
        distinct: m.u64(at + 24),
        rows: m.u64(at + 32),
        lsbOnes: real(40),
        lsbEntropy: real(48),
        shannonEntropy: real(56),
        ksDistance: real(64),
        ksP: real(72),
        chiSquare: real(80),
        chiSquareP: real(88),
        bitCorrelation: real(96),
        bitCorrelationDistance: m.u32(at + 104),
        centeredCorrelation: real(112),
        centeredCorrelationP: real(120),
        peak256: real(128),
        phase: Array.from({ length: PLANES }, (_, i) => ({ plane: PLANE + i, p: real(136 + 8 * i), strength: real(136 + 8 * (PLANES + i)) })),
        p: real(408),
    };
}

/** Whether numbers look marked, to somebody without a key. */
export function detectIn(m, data, options) {
    return inputStream(m, data, options, new Request(), (stream) => {
        const entropy = m.open('ald_piracy_analyze_entropy', stream, BigInt(options.memoryBytes ?? 0), m.host);
        try {
            const columns = Array.from({ length: m.call('ald_entropy_count', entropy) },
                (_, i) => readEntropy(m, m.call('ald_entropy_get', entropy, i) >>> 0));
            m.call('ald_entropy_verdict', m.scratch, entropy);
            return {
                likelyWatermarked: m.bytes[m.scratch] !== 0,
                confidence: m.view.getFloat64(m.scratch + 8, true),
                suspiciousColumns: columns.filter(({ suspicious }) => suspicious).map(({ name }) => name),
                columns,
            };
        } finally {
            if (!m.isDead) {
                m.call('ald_entropy_free', entropy);
            }
        }
    });
}
