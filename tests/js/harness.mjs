// SPDX-License-Identifier: MIT
// What the tests of the package share: a runner that counts, a server with and without ranges, an IndexedDB in memory.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';

let passed = 0, failed = 0;

export async function test(name, body) {
    try {
        await body();
        passed++;
    } catch (error) {
        failed++;
        console.log(`FAIL ${name}: ${error.stack}`);
    }
}

export function finish() {
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed === 0 && passed > 0 ? 0 : 1);
}

/** The promise fails with an AldError of this name, which is returned. */
export async function fails(promise, name) {
    try {
        await promise;
    } catch (error) {
        assert.equal(error.name, name, error.stack);
        return error;
    }
    return assert.fail(`expected ${name}`);
}

/** Serves files ({path: bytes}); `rules` change how. */
export async function serve(files, rules = {}) {
    const requests = [];
    const server = createServer((request, response) => {
        const file = files[request.url];
        requests.push(request.headers.range ?? 'all');
        if (file === undefined) {
            response.writeHead(404).end();
            return;
        }
        const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
        if (range === null || rules.noRanges) {
            response.writeHead(200, { 'Content-Length': file.length });
            response.end(file);
            return;
        }
        const begin = Number(range[1]), end = Math.min(Number(range[2]) + 1, file.length);
        response.writeHead(206, {
            'Content-Range': `bytes ${begin}-${end - 1}/${file.length}`,
            'Content-Length': end - begin,
            ETag: rules.etag ?? '"1"',
        });
        const body = file.subarray(begin, end);
        if (rules.cutAfter !== undefined && requests.length > rules.cutAfter) {
            response.write(body.subarray(0, body.length / 2), () => request.socket.destroy());
        } else {
            response.end(body);
        }
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address();
    return {
        url: (path) => `http://127.0.0.1:${port}${path}`,
        requests,
        rules,
        close: () => new Promise((resolve) => {
            server.closeAllConnections();
            server.close(resolve);
        }),
    };
}

function request(compute) {
    const self = {};
    queueMicrotask(() => {
        try {
            self.result = compute();
            self.onsuccess?.();
        } catch (error) {
            self.error = error;
            self.onerror?.();
        }
    });
    return self;
}

/** As much of IndexedDB as the cache uses. With `quota`, a Blob larger than that is refused when the transaction ends. */
export function memoryDatabase({ quota = Infinity } = {}) {
    const values = new Map();
    const transaction = () => {
        const self = {};
        let error = null;
        self.objectStore = () => ({
            put: (value, key) => request(() => {
                if (value.size > quota) {
                    error = new DOMException('full', 'QuotaExceededError');
                } else {
                    values.set(key, value);
                }
            }),
            get: (key) => request(() => values.get(key)),
            delete: (key) => request(() => values.delete(key)),
            getAllKeys: () => request(() => [...values.keys()]),
        });
        setTimeout(() => {
            self.error = error;
            (error === null ? self.oncomplete : self.onabort)?.();
        });
        return self;
    };
    return {
        open: () => {
            const opening = request(() => ({ transaction, createObjectStore() {}, close() {} }));
            queueMicrotask(() => opening.onupgradeneeded?.());
            return opening;
        },
    };
}

function leb128(value) {
    const out = [];
    do {
        out.push((value & 127) | (value > 127 ? 128 : 0));
        value >>>= 7;
    } while (value > 0);
    return out;
}

function readLeb128(bytes, at) {
    let value = 0, shift = 0, byte;
    do {
        byte = bytes[at++];
        value |= (byte & 127) << shift;
        shift += 7;
    } while (byte > 127);
    return [value, at];
}

/** A module whose memory cannot grow beyond so many pages of 64 KiB. */
export function withMemoryLimit(bytes, pages) {
    const MEMORY = 5;
    for (let at = 8; at < bytes.length;) {
        const [size, begin] = readLeb128(bytes, at + 1);
        if (bytes[at] === MEMORY) {
            const [least] = readLeb128(bytes, begin + 2);
            const section = [1, 1, ...leb128(least), ...leb128(pages)]; // one memory, with a limit
            return Buffer.concat([bytes.subarray(0, at), Buffer.from([MEMORY, ...leb128(section.length), ...section]),
                bytes.subarray(begin + size)]);
        }
        at = begin + size;
    }
    throw new Error('no memory section');
}
