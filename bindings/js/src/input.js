// SPDX-License-Identifier: MIT
// What save() takes, as a stream of batches in the module: a Dataset, Arrow IPC bytes, CSV, JSON, rows, columns.

import { columnStream } from './columns_in.js';
import { Dataset } from './dataset.js';
import { invalidArgument } from './error.js';
import { encodeText } from './module.js';
import { toBytes } from './request.js';

const CSV = 0, JSONL = 1, IPC = 2;
const ARROW_FILE = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];

function formatOf(bytes, wanted) {
    if (wanted !== undefined) {
        const format = { csv: CSV, jsonl: JSONL, json: JSONL, arrow: IPC }[wanted];
        if (format === undefined) {
            throw invalidArgument(`format '${wanted}' is none of arrow, csv, jsonl, json`);
        }
        return format;
    }
    const isIpc = ARROW_FILE.every((byte, i) => bytes[i] === byte) || (bytes[0] === 0xff && bytes[1] === 0xff);
    if (!isIpc) {
        throw invalidArgument('the bytes are no Arrow IPC\nfor text give format: "csv", "jsonl" or "json"');
    }
    return IPC;
}

/** JSON text. JSON.stringify refuses bigints, and turns what it does not know into nothing. */
function toJson(value, name) {
    if (typeof value === 'bigint') {
        return String(value);
    }
    if (Array.isArray(value)) {
        return `[${value.map((item) => toJson(item, name)).join(',')}]`;
    }
    if (value instanceof Date) {
        return JSON.stringify(value);
    }
    if (ArrayBuffer.isView(value) || typeof value === 'function' || typeof value === 'symbol') {
        throw invalidArgument(`'${name}': rows cannot hold this kind of value\ngive Arrow IPC bytes`);
    }
    if (typeof value === 'number' && !Number.isFinite(value)) {
        return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"Infinity"' : '"-Infinity"';
    }
    if (value !== null && typeof value === 'object') {
        const entries = Object.entries(value).filter(([, item]) => item !== undefined);
        return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${toJson(item, key)}`).join(',')}}`;
    }
    return JSON.stringify(value ?? null);
}

const rowsToJson = (rows) => encodeText(rows.map((row) => `${toJson(row, 'row')}\n`).join(''));

function bytesOf(data, options) {
    if (typeof data === 'string') {
        return [encodeText(data), formatOf([], options.format ?? 'csv')];
    }
    if (Array.isArray(data)) {
        return [rowsToJson(data), JSONL];
    }
    if (data instanceof ArrayBuffer || ArrayBuffer.isView(data)) {
        const bytes = toBytes(data);
        return [bytes, formatOf(bytes, options.format)];
    }
    throw invalidArgument('data are a Dataset, Arrow IPC bytes, text, an array of rows, or an object of columns');
}

/** Runs body(stream). */
export function inputStream(m, data, options, request, body) {
    if (data instanceof Dataset) {
        return data.withStream((_, stream) => body(stream));
    }
    if (data !== null && typeof data === 'object' && Object.getPrototypeOf(data) === Object.prototype) {
        return columnStream(m, data, body);
    }
    const [bytes, format] = bytesOf(data, options);
    if (format === CSV) {
        request.csvIn(options.csv);
    } else if (format === JSONL) {
        request.jsonIn(options.json);
    }
    const source = m.pointer('ald_wasm_source_memory', m.put(bytes), bytes.length);
    const stream = m.pointer('ald_wasm_stream_new');
    try {
        request.run(m, (r) => m.check('ald_wasm_read', source, format, r, stream));
        return body(stream);
    } finally {
        if (!m.isDead) {
            m.call('ald_wasm_stream_free', stream);
            m.call('ald_wasm_source_free', source);
        }
    }
}
