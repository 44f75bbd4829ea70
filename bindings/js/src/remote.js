// SPDX-License-Identifier: MIT
// Files behind a URL: all of it at once, or the parts that are asked for by HTTP Range.

import { complete } from './complete.js';
import { AldError, invalidArgument, ioError } from './error.js';
import { warmUp } from './warm.js';

const FIRST_BYTES = 1024; // header and metadata of most files: no more than what has to be read anyway

async function get(url, { signal, headers, fetch: fetchWith = globalThis.fetch }, range) {
    const wanted = new Headers(headers);
    if (range !== undefined) {
        wanted.set('Range', `bytes=${range.begin}-${range.end - 1}`);
    }
    let response;
    try {
        response = await fetchWith(url, { signal, headers: wanted });
    } catch (cause) {
        if (signal?.aborted) {
            throw signal.reason;
        }
        throw ioError(`${url} could not be fetched: ${cause.message}`, cause);
    }
    if (!response.ok && response.status !== 416) {
        throw ioError(`${url}: the server answers ${response.status} ${response.statusText}`.trimEnd());
    }
    return response;
}

/** Body pieces with progress; a connection that breaks is an IoError. */
async function* pieces(response, { signal, onProgress }, progress) {
    const reader = response.body.getReader();
    try {
        for (;;) {
            let piece;
            try {
                piece = await reader.read();
            } catch (cause) {
                throw signal?.aborted ? signal.reason : ioError(`the connection broke: ${cause.message}`, cause);
            }
            if (piece.done) {
                return;
            }
            progress.loaded += piece.value.length;
            onProgress?.({ ...progress });
            yield piece.value;
        }
    } finally {
        await reader.cancel().catch(() => {});
    }
}

/** The whole body in the module's memory: [address, size]. The size may be known beforehand, or not. */
async function receive(m, response, options) {
    const total = Number(response.headers.get('Content-Length') ?? 0);
    const isEncoded = response.headers.get('Content-Encoding') !== null;
    const progress = { loaded: 0, total: isEncoded || total === 0 ? null : total };
    warmUp(m, progress.total ?? 0);
    let capacity = progress.total ?? 1 << 20, at = m.alloc(capacity), size = 0;
    try {
        for await (const piece of pieces(response, options, progress)) {
            if (size + piece.length > capacity) {
                const larger = Math.max(size + piece.length, capacity * 2);
                const moved = m.alloc(larger);
                m.bytes.copyWithin(moved, at, at + size);
                m.free(at);
                [at, capacity] = [moved, larger];
            }
            m.bytes.set(piece, at + size);
            size += piece.length;
        }
    } catch (error) {
        if (!m.isDead) {
            m.free(at);
        }
        throw error;
    }
    return [at, size];
}

/** A file of a URL as [address, size] in the module's memory. */
export async function download(m, url, options) {
    return receive(m, await get(url, options), options);
}

/** A body of this size in the module's memory: its address. */
async function receivePart(m, response, options, size) {
    const begin = m.alloc(size);
    let at = 0;
    try {
        for await (const piece of pieces(response, options, { loaded: 0, total: size })) {
            if (at + piece.length > size) {
                throw ioError('the server sends more than it was asked for');
            }
            m.bytes.set(piece, begin + at);
            at += piece.length;
        }
        if (at !== size) {
            throw ioError(`the server sent ${at} bytes of ${size}`);
        }
        return begin;
    } catch (error) {
        if (!m.isDead) {
            m.free(begin);
        }
        throw error;
    }
}

/** Content-Range: bytes begin-end/total */
function contentRange(response) {
    const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get('Content-Range') ?? '');
    return match === null ? null : { begin: Number(match[1]), end: Number(match[2]) + 1, total: Number(match[3]) };
}

/** A source of the module that is filled as calls ask for bytes. */
export class Remote {
    #m;
    #url;
    #options;
    #etag;
    #prefixEnd = Infinity; // pieces behind it are dropped after each call

    constructor(m, url, options) {
        this.#m = m;
        this.#url = url;
        this.#options = options;
        this.bytesFetched = 0;
        this.source = 0;
        this.size = 0;
    }

    /** A Remote; or, where the server has no ranges, {at, size} of the whole file in the module's memory. */
    static async open(m, url, options) {
        const self = new Remote(m, url, options);
        const response = await get(url, options, { begin: 0, end: FIRST_BYTES });
        const range = response.status === 206 ? contentRange(response) : null;
        if (range === null || range.begin !== 0) {
            const whole = response.status === 200 ? response : await get(url, options);
            const [at, size] = await receive(m, whole, options);
            return { at, size };
        }
        self.#etag = response.headers.get('ETag');
        self.size = range.total;
        const first = await receivePart(m, response, options, range.end);
        self.source = m.pointer('ald_wasm_source_remote', range.total);
        self.#supply(0, first, range.end);
        return self;
    }

    #supply(offset, at, size) {
        if (this.source === 0) {
            this.#m.free(at);
            throw invalidArgument('the data set was closed');
        }
        this.bytesFetched += size;
        this.#m.check('ald_wasm_source_supply', this.source, offset, at, size);
        this.#options.onProgress?.({ loaded: this.bytesFetched, total: this.size });
    }

    async #fetch(begin, end, options) {
        const response = await get(this.#url, options, { begin, end });
        const range = response.status === 206 ? contentRange(response) : null;
        if (range === null || range.begin !== begin || range.end !== end) {
            await response.body?.cancel();
            throw ioError(`${this.#url}: the server does not give the range that it was asked for`);
        }
        if (range.total !== this.size || response.headers.get('ETag') !== this.#etag) {
            await response.body?.cancel();
            throw ioError(`${this.#url}: the file has changed while it was read\nopen it again`);
        }
        const quiet = { ...options, onProgress: undefined };
        this.#supply(begin, await receivePart(this.#m, response, quiet, end - begin), end - begin);
    }

    /** The range that a call lacked, when that is why it failed; else null. */
    missing(error) {
        if (!(error instanceof AldError) || error.name !== 'IoError' || this.#m.isDead || this.source === 0) {
            return null;
        }
        const at = this.#m.call('ald_wasm_source_missing', this.source) >>> 0;
        if (at === 0) {
            return null;
        }
        const begin = this.#m.view.getFloat64(at, true);
        return { begin, end: begin + this.#m.view.getFloat64(at + 8, true) };
    }

    async fetch({ begin, end }, signal) {
        await this.#fetch(begin, end, { ...this.#options, signal: signal ?? this.#options.signal });
    }

    /** Runs a call of the module until it has all that it needs. */
    async run(body, { signal = this.#options.signal, ...options } = {}) {
        const result = await complete(this.#m, body, { ...options, remote: this, signal });
        if (!this.#m.isDead && this.source !== 0) {
            this.#m.call('ald_wasm_source_forget', this.source, this.#prefixEnd);
        }
        return result;
    }

    /** The source is freed: what is on its way comes to nothing. */
    close() {
        this.source = 0;
    }

    /** From now on only bytes before `end` are kept between calls. */
    keepPrefix(end) {
        this.#prefixEnd = end;
    }

    /** Fetches all of the file for a call that reads it from end to end. */
    async fetchAll() {
        const begin = Number.isFinite(this.#prefixEnd) ? this.#prefixEnd : 0;
        await this.#fetch(begin, this.size, this.#options);
    }
}
