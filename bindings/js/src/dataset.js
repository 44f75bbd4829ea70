// SPDX-License-Identifier: MIT
// A loaded or opened data set, and its batches.
//
// Whatever lives in the module's memory has an owner, an object with its address. close() and release() free at once; what is
// forgotten is freed when JavaScript collects the owner.

import { complete } from './complete.js';
import { invalidArgument } from './error.js';
import { Column } from './column.js';
import { readInfo } from './info.js';
import { Request } from './request.js';

const CSV = 0, JSONL = 1;
const BATCHES_KEPT = 4; // of a streaming file, for rows() in a scrolled table

const forgotten = new FinalizationRegistry(({ m, free, at }) => {
    if (!m.isDead) {
        m.call(free, at);
    }
});

function own(m, free, at) {
    const owner = { m, free, at };
    forgotten.register(owner, { m, free, at }, owner);
    return owner;
}

function disown(owner) {
    if (owner.at !== 0) {
        forgotten.unregister(owner);
        if (!owner.m.isDead) {
            owner.m.call(owner.free, owner.at);
        }
        owner.at = 0;
    }
}

/** Rows of a data set that lie together in memory: the whole table, or a chunk. */
export class Batch {
    #owner;

    constructor(m, fields, at) {
        this.#owner = own(m, 'ald_wasm_array_free', at);
        const slice = { offset: m.i64(at + 16), length: m.i64(at) };
        const children = m.u32(at + 44);
        this.length = slice.length;
        this.columns = fields.map((field, i) => new Column(m, field, m.u32(children + 4 * i), this.#owner, slice));
    }

    get numRows() {
        return this.length;
    }

    /** The first column of this name, or undefined. */
    column(name) {
        return this.columns.find((column) => column.name === name);
    }

    /** A row as an object without prototype; of columns with one name the last counts. */
    row(index) {
        const out = Object.create(null);
        for (const column of this.columns) {
            out[column.name] = column.get(index);
        }
        return out;
    }

    rows(begin = 0, end = this.length) {
        const last = Math.min(end, this.length);
        return Array.from({ length: Math.max(0, last - begin) }, (_, i) => this.row(begin + i));
    }

    /** Frees the memory now. Columns and views of the batch end. */
    release() {
        disown(this.#owner);
    }

    get isReleased() {
        return this.#owner.at === 0;
    }
}

/** All values of one column. */
class WholeColumn {
    constructor(chunks, field) {
        this.chunks = chunks;
        this.field = field;
        this.name = field.name;
        this.length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    }

    /** As Column.values: a view where the column lies in one piece, else a copy. */
    get values() {
        if (this.chunks.length === 1) {
            return this.chunks[0].values;
        }
        const parts = this.chunks.map((chunk) => chunk.values);
        if (parts.length === 0 || parts[0] === null) {
            return null;
        }
        const out = new parts[0].constructor(this.length);
        let at = 0;
        for (const chunk of this.chunks) { // asked for anew: memory may have grown
            out.set(chunk.values, at);
            at += chunk.length;
        }
        return out;
    }

    toArray() {
        return this.chunks.flatMap((chunk) => chunk.toArray());
    }

    * [Symbol.iterator]() {
        for (const chunk of this.chunks) {
            yield* chunk;
        }
    }
}

export class Dataset {
    #m;
    #handle; // of an ald_dataset or ald_streaming
    #source;
    #remote; // fetches what a call is missing, or null
    #webCrypto;
    #isStreaming;
    #kept = new Map(); // chunk index -> Batch
    #first = []; // the first row of each batch of a file without chunks

    constructor({ m, handle, source, remote = null, isStreaming, webCrypto = true }) {
        this.#m = m;
        this.#webCrypto = webCrypto;
        this.#isStreaming = isStreaming;
        this.#handle = own(m, isStreaming ? 'ald_streaming_close' : 'ald_dataset_free', handle);
        this.#source = own(m, 'ald_wasm_source_free', source);
        this.#remote = remote;
        this.info = readInfo(m, m.call(isStreaming ? 'ald_streaming_info' : 'ald_dataset_info', handle) >>> 0);
    }

    get schema() {
        return this.info.schema;
    }

    get metadata() {
        return this.info.metadata;
    }

    get license() {
        return this.info.license;
    }

    get numRows() {
        return this.info.rowCount;
    }

    get batchCount() {
        return this.#isStreaming ? this.info.chunkCount : this.#m.call('ald_dataset_batch_count', this.#open());
    }

    /** Bytes that were fetched so far, where the file is remote; else null. */
    get bytesFetched() {
        return this.#remote === null ? null : this.#remote.bytesFetched;
    }

    #open() {
        if (this.#handle.at === 0) {
            throw invalidArgument('the data set was closed');
        }
        return this.#handle.at;
    }

    /** Runs a call, again and again while it lacks bytes of a remote file, or text that WebCrypto is to find. */
    async #run(body, options) {
        this.#open();
        const all = { webCrypto: this.#webCrypto, ...options };
        return this.#remote === null ? complete(this.#m, body, all) : this.#remote.run(body, all);
    }

    #mask(columns) {
        if (columns === undefined) {
            return 0;
        }
        const mask = Uint8Array.from(this.schema.fields, (field) => (columns.includes(field.name) ? 1 : 0));
        for (const name of columns) {
            if (!this.schema.fields.some((field) => field.name === name)) {
                throw invalidArgument(`there is no column '${name}'`);
            }
        }
        return this.#m.put(mask);
    }

    #take(index, mask, columns) {
        const m = this.#m;
        const array = m.pointer('ald_wasm_array_new');
        try {
            if (this.#isStreaming) {
                m.check('ald_streaming_chunk', this.#open(), BigInt(index), mask, array, m.error);
            } else {
                m.check('ald_dataset_batch', this.#open(), index, array, m.error);
            }
        } catch (error) {
            if (!m.isDead) {
                m.call('ald_wasm_array_free', array);
            }
            throw error;
        }
        const isPart = this.#isStreaming && columns !== undefined;
        const fields = this.schema.fields.filter((field) => !isPart || columns.includes(field.name));
        return new Batch(m, fields, array);
    }

    /**
     * Batch `index`: a chunk of a streaming file, fetched and checked now, or a part of the table.
     * @param options columns: only these; signal
     */
    async batch(index, { columns, signal } = {}) {
        if (!Number.isInteger(index) || index < 0 || index >= this.batchCount) {
            throw invalidArgument(`batch ${index} of ${this.batchCount}`);
        }
        const mask = this.#isStreaming ? this.#mask(columns) : 0;
        try {
            return await this.#run(() => this.#take(index, mask, columns), { signal });
        } finally {
            if (mask !== 0 && !this.#m.isDead) {
                this.#m.free(mask);
            }
        }
    }

    async* [Symbol.asyncIterator]() {
        for (let index = 0; index < this.batchCount; index++) {
            yield await this.batch(index);
        }
    }

    /** @returns {Promise<[number, number]>} first row and row count of a batch */
    async #rangeOf(index) {
        if (this.#isStreaming) {
            const { firstRow, rowCount } = this.info.chunks[index];
            return [firstRow, rowCount];
        }
        while (this.#first.length <= index + 1) {
            const known = this.#first.length;
            this.#first.push(known === 0 ? 0 : this.#first[known - 1] + (await this.#keep(known - 1)).length);
        }
        return [this.#first[index], this.#first[index + 1] - this.#first[index]];
    }

    async #keep(index, options) {
        let batch = this.#kept.get(index);
        if (batch === undefined || batch.isReleased) {
            batch = await this.batch(index, options);
            if (this.#isStreaming && this.#kept.size >= BATCHES_KEPT) {
                this.#kept.delete(this.#kept.keys().next().value);
            }
        } else {
            this.#kept.delete(index);
        }
        this.#kept.set(index, batch);
        return batch;
    }

    /** Rows [start, start + count) as objects. Only the chunks that have them are loaded. */
    async rows(start = 0, count = this.numRows - start, { signal } = {}) {
        if (!(start >= 0 && count >= 0 && start + count <= this.numRows)) {
            throw invalidArgument(`rows ${start} to ${start + count} of ${this.numRows}`);
        }
        const out = [];
        for (let index = 0; index < this.batchCount && out.length < count; index++) {
            const [first, length] = await this.#rangeOf(index);
            if (first + length > start) {
                const batch = await this.#keep(index, { signal });
                const begin = Math.max(0, start - first);
                out.push(...batch.rows(begin, Math.min(length, start + count - first)));
            }
        }
        return out;
    }

    /** All of one column; its chunks stay in memory as long as it is held. */
    async column(name, { signal } = {}) {
        const field = this.schema.fields.find((candidate) => candidate.name === name);
        if (field === undefined) {
            throw invalidArgument(`there is no column '${name}'`);
        }
        const chunks = [];
        for (let index = 0; index < this.batchCount; index++) {
            chunks.push((await this.batch(index, { columns: [name], signal })).column(name));
        }
        return new WholeColumn(chunks, field);
    }

    /** Has all bytes of a remote file fetched, for a call that reads them from end to end. */
    async fetchAll() {
        this.#open();
        await this.#remote?.fetchAll();
    }

    /** Runs body(stream) over all batches. The stream is in the module and is used up. */
    withStream(body) {
        const m = this.#m;
        const stream = m.pointer('ald_wasm_stream_new');
        try {
            if (this.#isStreaming) {
                m.check('ald_streaming_stream', this.#open(), 0, stream, m.error);
            } else {
                m.check('ald_dataset_stream', this.#open(), stream, m.error);
            }
            return body(m, stream);
        } finally {
            if (!m.isDead) {
                m.call('ald_wasm_stream_free', stream);
            }
        }
    }

    async #write(request, name, ...format) {
        await this.fetchAll();
        const body = () => this.#m.collect((out) => request.run(this.#m, (options) => this.withStream(
            (m, stream) => m.check(name, stream, ...format, options, out))));
        return this.#run(body, { webCrypto: false }); // all chunks are one call, which shall not begin again for each
    }

    /** Arrow IPC bytes for apache-arrow's tableFromIPC and others. `format`: "stream" (default) or "file". */
    async toArrowIPC({ format = 'stream' } = {}) {
        const request = new Request();
        request.number('ipc_out.kind', format === 'file' ? 1 : 2);
        return this.#write(request, 'ald_wasm_write_ipc');
    }

    /** CSV as UTF-8 bytes. */
    async toCSV(options = {}) {
        return this.#write(new Request().csvOut(options), 'ald_wasm_write', CSV);
    }

    /** JSON lines, or with `array` one JSON array, as UTF-8 bytes. */
    async toJSONL(options = {}) {
        return this.#write(new Request().jsonOut(options), 'ald_wasm_write', JSONL);
    }

    /** Frees the memory now. Batches that were handed out stay, save those of an uncompressed file. */
    close() {
        this.#kept.forEach((batch) => batch.release());
        this.#kept.clear();
        this.#remote?.close();
        disown(this.#handle);
        disown(this.#source);
    }
}
