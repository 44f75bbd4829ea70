// SPDX-License-Identifier: MIT
// One instance of the WebAssembly module: its two imports, its memory, its calls.
//
// A trap leaves an instance in an unknown state, so nothing of it is used again: its handles fail with "ModuleTrapped", and the
// runtime makes a new instance of the same module for the next call.

import { AldError, invalidArgument } from './error.js';

const RANDOM_BYTES_AT_ONCE = 65536; // what getRandomValues takes
const ADDRESS_MAX = 0xffffffff;
const NO_OFFSET = 0xffffffffffffffffn;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export const encodeText = (text) => encoder.encode(text);
export const decodeText = (bytes) => decoder.decode(bytes);

export class Instance {
    #bytes = null;
    #view = null;

    /** @param {WebAssembly.Module} module */
    static async create(module) {
        const self = new Instance();
        self.module = module;
        const imports = {
            host_random: (at, size) => self.#random(at >>> 0, size >>> 0),
            host_now_ms: () => Date.now(),
        };
        self.exports = (await WebAssembly.instantiate(module, { env: imports })).exports;
        self.isDead = false;
        self.exports._initialize?.();
        self.error = self.exports.ald_wasm_error() >>> 0;
        self.host = self.exports.ald_wasm_host() >>> 0;
        self.scratch = self.alloc(64);
        return self;
    }

    get canWrite() {
        return this.exports.ald_wasm_save !== undefined;
    }

    #random(at, size) {
        try {
            for (let done = 0; done < size; done += RANDOM_BYTES_AT_ONCE) {
                const end = Math.min(size, done + RANDOM_BYTES_AT_ONCE);
                globalThis.crypto.getRandomValues(this.bytes.subarray(at + done, at + end));
            }
            return 0;
        } catch {
            return 1;
        }
    }

    // ---- memory: it is another buffer after it has grown

    get bytes() {
        if (this.#bytes === null || this.#bytes.buffer !== this.exports.memory.buffer) {
            this.#bytes = new Uint8Array(this.exports.memory.buffer);
        }
        return this.#bytes;
    }

    get view() {
        if (this.#view === null || this.#view.buffer !== this.exports.memory.buffer) {
            this.#view = new DataView(this.exports.memory.buffer);
        }
        return this.#view;
    }

    u32(at) {
        return this.view.getUint32(at, true);
    }

    /** A 64-bit count or position as a number; those of files stay below 2^53. */
    u64(at) {
        return Number(this.view.getBigUint64(at, true));
    }

    i64(at) {
        return Number(this.view.getBigInt64(at, true));
    }

    /** Bytes up to the first NUL as text; null for NULL. */
    cString(at) {
        if (at === 0) {
            return null;
        }
        const end = this.bytes.indexOf(0, at);
        return decodeText(this.bytes.subarray(at, end));
    }

    text(at, size) {
        return decodeText(this.bytes.subarray(at, at + size));
    }

    copy(at, size) {
        return this.bytes.slice(at, at + size);
    }

    // ---- calls

    /** Calls an export. Numbers come back as they are: pointers need `>>> 0`. */
    call(name, ...args) {
        if (this.isDead) {
            throw trapped();
        }
        const fn = this.exports[name];
        if (fn === undefined) {
            throw new AldError('Unsupported', 'this module only reads\nload ald.wasm instead of ald-reader.wasm', { status: 14 });
        }
        try {
            return fn(...args);
        } catch (cause) {
            if (cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError) {
                this.isDead = true;
                throw trapped(cause);
            }
            throw cause;
        }
    }

    /** An export that returns a pointer; NULL is the failure in `error`. */
    pointer(name, ...args) {
        const at = this.call(name, ...args) >>> 0;
        if (at === 0) {
            throw this.failure(this.u32(this.error) || 12);
        }
        return at;
    }

    /** An export that returns a status. */
    check(name, ...args) {
        const status = this.call(name, ...args);
        if (status !== 0) {
            throw this.failure(status);
        }
    }

    /** An export of the shape name(…args, T **out, ald_error *err). */
    open(name, ...args) {
        this.check(name, ...args, this.scratch, this.error);
        return this.u32(this.scratch);
    }

    failure(status) {
        const name = this.cString(this.call('ald_status_name', status) >>> 0);
        const isFilled = this.u32(this.error) === status;
        const offset = this.view.getBigUint64(this.error + 8, true);
        return new AldError(name, isFilled ? this.cString(this.error + 16) : name, {
            status,
            detail: isFilled ? this.view.getInt32(this.error + 4, true) : 0,
            offset: isFilled && offset !== NO_OFFSET ? Number(offset) : null,
        });
    }

    alloc(size) {
        const at = size > ADDRESS_MAX ? 0 : this.call('ald_wasm_alloc', size) >>> 0;
        if (at === 0) {
            throw new AldError('OutOfMemory', `no memory for ${size} bytes\nopenUrl reads a file piece by piece, where the server has ranges and the file is in chunks`, { status: 12 });
        }
        return at;
    }

    free(at) {
        this.call('ald_wasm_free', at);
    }

    /** A copy of these bytes in the module's memory, which the caller frees or gives away. */
    put(bytes) {
        const at = this.alloc(bytes.length);
        this.bytes.set(bytes, at);
        return at;
    }

    /** Runs body(pointer) with a NUL-terminated copy of `text`. */
    withText(text, body) {
        const at = this.put(encodeText(`${text}\0`));
        try {
            return body(at);
        } finally {
            if (!this.isDead) {
                this.free(at);
            }
        }
    }

    /** Runs body(buffer) and returns the bytes that it wrote. */
    collect(body) {
        const buffer = this.pointer('ald_wasm_buffer_new');
        try {
            body(buffer);
            return this.copy(this.u32(buffer), this.u32(buffer + 4));
        } finally {
            if (!this.isDead) {
                this.call('ald_wasm_buffer_free', buffer);
            }
        }
    }
}

function trapped(cause) {
    return new AldError('ModuleTrapped', 'the module stopped in the middle of a call and cannot be used any more\n'
        + 'open the data again: the next call starts a new instance', { cause });
}

/** @returns {Promise<WebAssembly.Module>} of a URL, bytes, a Response, or the module itself */
export async function compileModule(input) {
    const source = await input;
    if (source instanceof WebAssembly.Module) {
        return source;
    }
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) {
        return WebAssembly.compile(source);
    }
    if (typeof Response !== 'undefined' && source instanceof Response) {
        return compileResponse(source);
    }
    const url = source instanceof URL ? source : new URL(String(source), globalThis.location?.href);
    if (url.protocol === 'file:') {
        const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
        return WebAssembly.compile(await readFile(url));
    }
    return compileResponse(await fetch(url));
}

async function compileResponse(response) {
    if (!response.ok) {
        throw invalidArgument(`the module could not be fetched: ${response.status} ${response.statusText}`);
    }
    // Compiling while it arrives asks for this type; servers often send another.
    if (response.headers.get('Content-Type')?.split(';')[0] === 'application/wasm') {
        return WebAssembly.compileStreaming(response);
    }
    return WebAssembly.compile(await response.arrayBuffer());
}

/** The module and its present instance. */
export class Runtime {
    #module;
    #instance;

    constructor(module, instance) {
        this.#module = module;
        this.#instance = instance;
    }

    static async start(input) {
        const module = await compileModule(input);
        return new Runtime(module, await Instance.create(module));
    }

    async instance() {
        if (this.#instance.isDead) {
            this.#instance = await Instance.create(this.#module);
        }
        return this.#instance;
    }
}
