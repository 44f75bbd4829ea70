// SPDX-License-Identifier: MIT
// Columns of JavaScript arrays as a batch in the module. Typed arrays keep their type; other arrays hold one kind of value, and
// null or undefined for none.

import { invalidArgument } from './error.js';
import { encodeText } from './module.js';

const TYPED = new Map([[Int8Array, 'int8'], [Uint8Array, 'uint8'], [Uint8ClampedArray, 'uint8'], [Int16Array, 'int16'],
    [Uint16Array, 'uint16'], [Int32Array, 'int32'], [Uint32Array, 'uint32'], [Float32Array, 'float'], [Float64Array, 'double'],
    [BigInt64Array, 'int64'], [BigUint64Array, 'uint64']]);
const OFFSET_MAX = 0x7fffffff;

const isMissing = (value) => value === null || value === undefined;

/** Bits of the rows that have a value; null when all have. */
function validityOf(values) {
    let nullCount = 0;
    const bits = new Uint8Array((values.length + 7) >> 3);
    values.forEach((value, row) => {
        if (isMissing(value)) {
            nullCount++;
        } else {
            bits[row >> 3] |= 1 << (row & 7);
        }
    });
    return { nullCount, validity: nullCount === 0 ? null : bits };
}

function textBuffers(values) {
    const pieces = values.map((value) => (isMissing(value) ? new Uint8Array(0) : encodeText(value)));
    const offsets = new Int32Array(values.length + 1);
    let size = 0;
    pieces.forEach((piece, row) => {
        size += piece.length;
        if (size > OFFSET_MAX) {
            throw invalidArgument('a text column of more than 2 GiB');
        }
        offsets[row + 1] = size;
    });
    const bytes = new Uint8Array(size);
    pieces.forEach((piece, row) => bytes.set(piece, offsets[row]));
    return [offsets, bytes];
}

function boolBuffer(values) {
    const bits = new Uint8Array((values.length + 7) >> 3);
    values.forEach((value, row) => {
        bits[row >> 3] |= value === true ? 1 << (row & 7) : 0;
    });
    return bits;
}

function integers(name, values) {
    const isUnsigned = values.some((value) => !isMissing(value) && value >= 2n ** 63n);
    const [low, high] = isUnsigned ? [0n, 2n ** 64n] : [-(2n ** 63n), 2n ** 63n];
    const out = isUnsigned ? new BigUint64Array(values.length) : new BigInt64Array(values.length);
    values.forEach((value, row) => {
        if (!isMissing(value)) {
            if (value < low || value >= high) {
                throw invalidArgument(`column '${name}', row ${row}: an integer of more than 64 bits`);
            }
            out[row] = BigInt(value);
        }
    });
    return { type: isUnsigned ? 'uint64' : 'int64', buffers: [out] };
}

/** Type and buffers of an array with values of one kind. Numbers that are all safe integers are int64, as in JSON and CSV. */
function plainColumn(name, values) {
    const kinds = new Set(values.filter((value) => !isMissing(value)).map((value) => typeof value));
    const [kind] = kinds;
    if (kinds.has('bigint') && [...kinds].every((k) => k === 'bigint' || k === 'number')
        && values.every((value) => isMissing(value) || typeof value === 'bigint' || Number.isSafeInteger(value))) {
        return integers(name, values);
    }
    if (kinds.size > 1) {
        throw invalidArgument(`column '${name}' holds values of several kinds: ${[...kinds].join(', ')}`);
    }
    switch (kind) {
    case 'string':
        return { type: 'string', buffers: textBuffers(values) };
    case 'boolean':
        return { type: 'bool', buffers: [boolBuffer(values)] };
    case 'number':
        return values.every((value) => isMissing(value) || Number.isSafeInteger(value))
            ? integers(name, values)
            : { type: 'double', buffers: [Float64Array.from(values, (value) => (isMissing(value) ? 0 : value))] };
    case undefined: // nothing but nulls
        return { type: 'string', buffers: textBuffers(values) };
    default:
        throw invalidArgument(`column '${name}' holds values of kind ${kind}\ngive rows, or Arrow IPC bytes`);
    }
}

function columnOf(name, values) {
    const type = TYPED.get(values?.constructor);
    if (type !== undefined) {
        return { name, type, length: values.length, nullCount: 0, validity: null, buffers: [values] };
    }
    if (!Array.isArray(values)) {
        throw invalidArgument(`column '${name}' is no array`);
    }
    return { name, length: values.length, ...validityOf(values), ...plainColumn(name, values) };
}

const asBytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** The columns in the module's memory; what was made of them is freed when the rest does not fit. */
function makeTable(m, columns, length) {
    const table = m.pointer('ald_wasm_table_new', columns.length, length);
    try {
        for (const { nullCount, validity, buffers } of columns) {
            const placed = [];
            try {
                for (const array of [validity, buffers[0], buffers[1]]) {
                    placed.push(array === undefined || array === null ? 0 : m.put(asBytes(array)));
                }
            } catch (error) {
                placed.forEach((at) => m.free(at));
                throw error;
            }
            m.check('ald_wasm_table_column', table, nullCount, ...placed);
        }
        return table;
    } catch (error) {
        if (!m.isDead) {
            m.call('ald_wasm_table_free', table);
        }
        throw error;
    }
}

/** Runs body(stream) over one batch of these columns: {name: array}. */
export function columnStream(m, data, body) {
    const columns = Object.entries(data).map(([name, values]) => columnOf(name, values));
    const length = columns[0]?.length ?? 0;
    for (const column of columns) {
        if (column.length !== length) {
            throw invalidArgument(`column '${column.name}' has ${column.length} rows, '${columns[0].name}' ${length}`);
        }
    }
    const table = makeTable(m, columns, length);
    const fields = columns.map(({ name, type }) => ({ name, type, nullable: true }));
    const schema = encodeText(JSON.stringify({ fields }));
    const stream = m.pointer('ald_wasm_stream_new');
    const text = m.put(schema);
    try {
        m.check('ald_wasm_table_stream', table, text, schema.length, stream);
        return body(stream);
    } finally {
        if (!m.isDead) {
            m.free(text);
            m.call('ald_wasm_stream_free', stream);
        }
    }
}
