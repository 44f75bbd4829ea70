// SPDX-License-Identifier: MIT
// The package's functions. What each does, takes and gives is said in index.d.ts.

import { getCached, putCached } from './cache.js';
import { complete, EACH, SEVERAL } from './complete.js';
import { Dataset } from './dataset.js';
import { AldError, invalidArgument } from './error.js';
import { readInfo } from './info.js';
import { inputStream } from './input.js';
import { privatePem, publicPem } from './keys.js';
import { download, Remote } from './remote.js';
import { checkNames, Request, toBytes } from './request.js';
import { ready } from './runtime.js';
import { warmUp } from './warm.js';
import { detectIn, extractFrom, mark, saveOptions } from './watermark.js';

export { AldError } from './error.js';
export { init } from './runtime.js';
export { cachedKeys, removeCached } from './cache.js';
export { Batch, Dataset } from './dataset.js';
export { Column } from './column.js';

const SIGNING = { keep: 0, sign: 1, strip: 2 };
const KEY_BYTES = 32;

/** Runs body with a source over these bytes, which are freed unless `keep` (a call of it) says otherwise. */
async function withSource(m, at, size, body) {
    const source = m.pointer('ald_wasm_source_memory', at, size);
    let isKept = false;
    try {
        return await body(source, () => {
            isKept = true;
        });
    } finally {
        if (!isKept && !m.isDead) {
            m.call('ald_wasm_source_free', source);
        }
    }
}

async function loadRequest(options, ...more) {
    checkNames(options, 'load', ...more);
    return new Request().load(options);
}

/** Opens a source with one of the module's functions: the handle. */
function openWith(m, name, source, request, options) {
    return complete(m, () => request.run(m, (r) => m.open(name, source, m.call('ald_wasm_request_load', r), m.host)),
        { webCrypto: options.webCrypto, defer: name === 'ald_load' ? SEVERAL : EACH });
}

const asDataset = (m, source, handle, isStreaming, { webCrypto }) => new Dataset({ m, handle, source, isStreaming, webCrypto });

function loadAt(m, at, size, request, options) {
    return withSource(m, at, size, async (source, keep) => {
        const handle = await openWith(m, 'ald_load', source, request, options);
        keep();
        return asDataset(m, source, handle, false, options);
    });
}

export async function load(bytes, options = {}) {
    const request = await loadRequest(options);
    const m = await ready();
    try {
        const data = toBytes(bytes);
        warmUp(m, data.length);
        return await loadAt(m, m.put(data), data.length, request, options);
    } finally {
        request.wipe();
    }
}

export async function loadFromUrl(url, options = {}) {
    const request = await loadRequest(options, 'headers', 'fetch');
    const m = await ready();
    try {
        return await loadAt(m, ...await download(m, url, options), request, options);
    } finally {
        request.wipe();
    }
}

/** Opens chunk by chunk: the file's bytes are in memory, its rows are not. */
export async function open(bytes, options = {}) {
    const request = await loadRequest(options);
    const m = await ready();
    try {
        const data = toBytes(bytes);
        warmUp(m, data.length);
        return await openAt(m, m.put(data), data.length, request, options);
    } finally {
        request.wipe();
    }
}

function openAt(m, at, size, request, options) {
    return withSource(m, at, size, async (source, keep) => {
        const isStreaming = inspectSource(m, source, request).flags.streaming;
        const handle = await openWith(m, isStreaming ? 'ald_streaming_open' : 'ald_load', source, request, options);
        keep();
        return asDataset(m, source, handle, isStreaming, options);
    });
}

function inspectSource(m, source, request) {
    return request.run(m, (r) => {
        const handle = m.open('ald_inspect', source, m.call('ald_wasm_request_load', r), m.host);
        try {
            return readInfo(m, m.call('ald_inspection_info', handle) >>> 0);
        } finally {
            if (!m.isDead) {
                m.call('ald_inspection_free', handle);
            }
        }
    });
}

export async function openUrl(url, options = {}) {
    const request = await loadRequest(options, 'headers', 'fetch');
    const m = await ready();
    try {
        const remote = await Remote.open(m, url, options);
        return remote instanceof Remote
            ? await openRemote(m, remote, request, options)
            : await openAt(m, remote.at, remote.size, request, options);
    } finally {
        request.wipe();
    }
}

async function openRemote(m, remote, request, { webCrypto }) {
    const { source } = remote;
    try {
        const info = await remote.run(() => inspectSource(m, source, request));
        if (!info.flags.streaming) {
            await remote.fetchAll();
        }
        const name = info.flags.streaming ? 'ald_streaming_open' : 'ald_load';
        const handle = await remote.run(() => request.run(m, (r) => m.open(name, source,
            m.call('ald_wasm_request_load', r), m.host)), { webCrypto, defer: info.flags.streaming ? EACH : SEVERAL });
        remote.keepPrefix(info.sections.payload?.begin ?? 0);
        return new Dataset({ m, handle, source, remote, isStreaming: info.flags.streaming, webCrypto });
    } catch (error) {
        if (!m.isDead) {
            m.call('ald_wasm_source_free', source);
        }
        throw error;
    }
}

export async function loadCached(key, options = {}) {
    const bytes = await getCached(key);
    return bytes === null ? null : load(bytes, options);
}

export async function cacheFromUrl(key, url, options = {}) {
    const request = await loadRequest(options, 'headers', 'fetch');
    const m = await ready();
    try {
        const [at, size] = await download(m, url, options);
        const bytes = m.copy(at, size);
        const dataset = await loadAt(m, at, size, request, options); // what does not load is not kept
        await putCached(key, bytes);
        return dataset;
    } finally {
        request.wipe();
    }
}

export async function inspect(bytes, options = {}) {
    const request = await loadRequest(options);
    const m = await ready();
    const data = toBytes(bytes);
    return withSource(m, m.put(data), data.length, (source) => inspectSource(m, source, request));
}

async function checkChunks(m, handle, count, { webCrypto }) {
    for (let index = 0; index < count; index++) {
        const array = m.pointer('ald_wasm_array_new');
        try {
            await complete(m, () => m.check('ald_streaming_chunk', handle, BigInt(index), 0, array, m.error), { webCrypto });
        } finally {
            if (!m.isDead) {
                m.call('ald_wasm_array_free', array);
            }
        }
    }
}

/** Checks everything; rows of a streaming file are in memory chunk by chunk only. */
export async function verify(bytes, options = {}) {
    const request = await loadRequest({ ...options, checkAll: true });
    const m = await ready();
    const data = toBytes(bytes);
    try {
        return await withSource(m, m.put(data), data.length, async (source) => {
            const isStreaming = inspectSource(m, source, request).flags.streaming;
            const [opening, info, closing] = isStreaming
                ? ['ald_streaming_open', 'ald_streaming_info', 'ald_streaming_close']
                : ['ald_load', 'ald_dataset_info', 'ald_dataset_free'];
            const handle = await openWith(m, opening, source, request, options);
            try {
                const facts = readInfo(m, m.call(info, handle) >>> 0);
                if (isStreaming) {
                    await checkChunks(m, handle, facts.chunkCount, options);
                }
                return facts;
            } finally {
                if (!m.isDead) {
                    m.call(closing, handle);
                }
            }
        });
    } finally {
        request.wipe();
    }
}

/** Data that are read from end to end are all there. */
async function fetched(data) {
    if (data instanceof Dataset) {
        await data.fetchAll();
    }
}

export async function save(data, options = {}) {
    checkNames(options, 'save', 'read');
    const request = await new Request().save(options);
    const m = await ready();
    await fetched(data);
    try {
        return inputStream(m, data, options, request, (stream) => m.collect(
            (out) => request.run(m, (r) => m.check('ald_wasm_save', stream, r, out))));
    } finally {
        request.wipe();
    }
}

/** One call of ald_rewrite. `steps`: numbers of its options. */
async function rewrite(bytes, steps, request, { webCrypto } = {}) {
    const m = await ready();
    const data = toBytes(bytes);
    for (const [name, value] of Object.entries(steps)) {
        request.number(`rewrite.${name}`, value);
    }
    try {
        return await withSource(m, m.put(data), data.length, (source) => complete(m, () => m.collect(
            (out) => request.run(m, (r) => m.check('ald_wasm_rewrite', source, r, out))), { webCrypto, defer: SEVERAL }));
    } finally {
        request.wipe();
    }
}

/** What becomes of the signature: signed anew, dropped, or refused where there is one. */
function signingOf({ sign: key, dropSignature }) {
    return key ? SIGNING.sign : dropSignature ? SIGNING.strip : SIGNING.keep;
}

export async function sign(bytes, key, options = {}) {
    const request = await loadRequest(options);
    await request.protect({ sign: key, keyPassphrase: options.keyPassphrase });
    return rewrite(bytes, { signing: SIGNING.sign }, request, options);
}

export async function encrypt(bytes, { password, recipients, kdf, read = {}, ...options }) {
    checkNames(options, 'sign', 'dropSignature', 'keyPassphrase');
    const request = await loadRequest(read);
    await request.protect({ ...options, encrypt: { password, recipients, kdf } });
    return rewrite(bytes, { signing: signingOf(options), encrypting: 1 }, request, read);
}

export async function decrypt(bytes, options) {
    const { sign: key, dropSignature, ...reading } = options;
    const request = await loadRequest(reading);
    await request.protect({ sign: key, keyPassphrase: options.keyPassphrase });
    return rewrite(bytes, { signing: signingOf(options), encrypting: 2 }, request, reading);
}

/** Puts a license into a file, or with null takes it out. */
export async function license(bytes, terms, options = {}) {
    const { sign: key, dropSignature, ...reading } = options;
    const request = await loadRequest(reading);
    await request.protect({ sign: key, license: terms, keyPassphrase: options.keyPassphrase });
    return rewrite(bytes, { signing: signingOf(options), licensing: terms === null ? 2 : 1 }, request, reading);
}

/** A copy for a buyer, whose numbers tell that it is this buyer's. */
export async function watermark(data, options) {
    checkNames(options, 'save', 'read', 'mark', 'dropSignature', 'plain');
    const saving = saveOptions(data, options);
    const request = await new Request().save(saving);
    const m = await ready();
    await fetched(data);
    try {
        return await mark(m, data, saving, request);
    } finally {
        request.wipe();
    }
}

/** Which buyer a suspect copy was made for. */
export async function extract(data, options) {
    checkNames(options, 'read', 'look');
    const m = await ready();
    await fetched(data);
    return extractFrom(m, data, options);
}

/** Whether numbers look marked, to somebody without a key. */
export async function detect(data, options = {}) {
    checkNames(options, 'read', 'memoryBytes');
    const m = await ready();
    await fetched(data);
    return detectIn(m, data, options);
}

/** A new pair of keys as PEM: "ed25519" signs, "x25519" receives. */
export async function generateKey(algorithm) {
    if (algorithm !== 'ed25519' && algorithm !== 'x25519') {
        throw invalidArgument("a key is 'ed25519' or 'x25519'");
    }
    const m = await ready();
    const secret = globalThis.crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    const at = m.put(secret), out = m.alloc(KEY_BYTES);
    try {
        m.check(algorithm === 'ed25519' ? 'ald_wasm_ed25519_public' : 'ald_wasm_x25519_public', at, out);
        return { privateKey: privatePem(algorithm, secret), publicKey: publicPem(algorithm, m.copy(out, KEY_BYTES)) };
    } finally {
        secret.fill(0);
        if (!m.isDead) {
            m.bytes.fill(0, at, at + KEY_BYTES);
            m.free(at);
            m.free(out);
        }
    }
}
