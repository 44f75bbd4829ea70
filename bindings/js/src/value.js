// SPDX-License-Identifier: MIT
// Metadata: trees of values in the module, and plain JavaScript values. Maps have no prototype, so that a key of a file's is
// never anything but a key.

import { invalidArgument } from './error.js';
import { encodeText } from './module.js';

const NIL = 0, BOOL = 1, INT = 2, UINT = 3, FLOAT = 4, STRING = 5, BIN = 6, ARRAY = 7, MAP = 8;
const DEPTH_MAX = 100;
const HOST_ALLOCATOR = 8; // where the allocator lies in the host

const asNumber = (big) => (big >= Number.MIN_SAFE_INTEGER && big <= Number.MAX_SAFE_INTEGER ? Number(big) : big);

function readBytes(m, at) {
    const data = m.call('ald_value_get_bytes', at, m.scratch) >>> 0;
    return [data, m.u32(m.scratch)];
}

function readMap(m, at) {
    const out = Object.create(null);
    const count = m.call('ald_value_get_count', at);
    for (let i = 0; i < count; i++) {
        const key = m.call('ald_value_get_key', at, i, m.scratch) >>> 0;
        const name = m.text(key, m.u32(m.scratch));
        out[name] = readValue(m, m.call('ald_value_get_item', at, i) >>> 0);
    }
    return out;
}

/** A node of a tree as a JavaScript value; integers that a number cannot hold are bigints. */
export function readValue(m, at) {
    if (at === 0) {
        return null;
    }
    switch (m.call('ald_value_get_type', at)) {
    case NIL:
        return null;
    case BOOL:
        return m.call('ald_value_get_bool', at) !== 0;
    case INT:
        return asNumber(m.call('ald_value_get_int', at));
    case UINT:
        return asNumber(BigInt.asUintN(64, m.call('ald_value_get_uint', at)));
    case FLOAT:
        return m.call('ald_value_get_float', at);
    case STRING:
        return m.text(...readBytes(m, at));
    case BIN:
        return m.copy(...readBytes(m, at));
    case ARRAY:
        return Array.from({ length: m.call('ald_value_get_count', at) },
            (_, i) => readValue(m, m.call('ald_value_get_item', at, i) >>> 0));
    case MAP:
        return readMap(m, at);
    default:
        return { extType: m.call('ald_value_get_ext_type', at), data: m.copy(...readBytes(m, at)) };
    }
}

function withBytes(m, bytes, body) {
    const data = m.put(bytes);
    try {
        return body(data, bytes.length);
    } finally {
        if (!m.isDead) {
            m.free(data);
        }
    }
}

function writeNumber(m, at, value) {
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
        m.call('ald_value_set_float', at, value);
    } else if (value < 0) {
        m.call('ald_value_set_int', at, BigInt(value));
    } else {
        m.call('ald_value_set_uint', at, BigInt(value));
    }
}

function writeValue(m, at, value, depth) {
    if (depth > DEPTH_MAX) {
        throw invalidArgument('the metadata are nested too deeply');
    }
    if (value === null || value === undefined) {
        m.call('ald_value_set_nil', at);
    } else if (typeof value === 'boolean') {
        m.call('ald_value_set_bool', at, value ? 1 : 0);
    } else if (typeof value === 'number' || typeof value === 'bigint') {
        writeNumber(m, at, value);
    } else if (typeof value === 'string') {
        withBytes(m, encodeText(value), (data, size) => m.check('ald_value_set_string', at, data, size, m.error));
    } else if (value instanceof Uint8Array) {
        withBytes(m, value, (data, size) => m.check('ald_value_set_bin', at, data, size, m.error));
    } else if (Array.isArray(value)) {
        m.call('ald_value_set_array', at);
        value.forEach((item) => writeValue(m, m.pointer('ald_value_append', at), item, depth + 1));
    } else if (typeof value === 'object') {
        m.call('ald_value_set_map', at);
        for (const [key, item] of value instanceof Map ? value : Object.entries(value)) {
            const child = withBytes(m, encodeText(key), (data, size) => m.pointer('ald_value_put', at, data, size));
            writeValue(m, child, item, depth + 1);
        }
    } else {
        throw invalidArgument(`metadata cannot hold a ${typeof value}`);
    }
}

/** A new tree, which the caller frees with ald_value_free. */
export function makeValue(m, value) {
    const root = m.open('ald_value_new', m.host + HOST_ALLOCATOR);
    try {
        writeValue(m, root, value, 0);
        return root;
    } catch (error) {
        if (!m.isDead) {
            m.call('ald_value_free', root);
        }
        throw error;
    }
}
