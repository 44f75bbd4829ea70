// SPDX-License-Identifier: MIT
// ArrowSchema structs of the module as fields: name, type (parsed from the format string), nullability, metadata, children.

const NULLABLE = 2, SORTED = 1;

// format -> [kind, bits, array that holds its values]
const FIXED = {
    c: ['int', 8, Int8Array], C: ['uint', 8, Uint8Array], s: ['int', 16, Int16Array], S: ['uint', 16, Uint16Array],
    i: ['int', 32, Int32Array], I: ['uint', 32, Uint32Array], l: ['int', 64, BigInt64Array], L: ['uint', 64, BigUint64Array],
    e: ['float', 16, Uint16Array], f: ['float', 32, Float32Array], g: ['float', 64, Float64Array],
    tdD: ['date', 32, Int32Array], tdm: ['date', 64, BigInt64Array],
    tts: ['time', 32, Int32Array], ttm: ['time', 32, Int32Array], ttu: ['time', 64, BigInt64Array], ttn: ['time', 64, BigInt64Array],
    tDs: ['duration', 64, BigInt64Array], tDm: ['duration', 64, BigInt64Array], tDu: ['duration', 64, BigInt64Array],
    tDn: ['duration', 64, BigInt64Array],
};
const OTHERS = {
    n: 'null', b: 'bool', z: 'binary', Z: 'binary', vz: 'binaryView', u: 'text', U: 'text', vu: 'textView',
    tiM: 'months', tiD: 'dayTime', tin: 'monthDayNano',
    '+l': 'list', '+L': 'list', '+vl': 'listView', '+vL': 'listView', '+s': 'struct', '+m': 'map', '+r': 'runEnd',
};
const UNITS = { s: 's', m: 'ms', u: 'us', n: 'ns', D: 'day' };

function parseParameters(format) {
    const [head, rest = ''] = [format.slice(0, format.indexOf(':')), format.slice(format.indexOf(':') + 1)];
    if (head === 'd') {
        const [precision, scale, bits = 128] = rest.split(',').map(Number);
        return { kind: 'decimal', bits, precision, scale };
    }
    if (head === 'w') {
        return { kind: 'fixedBinary', width: Number(rest) };
    }
    if (head === '+w') {
        return { kind: 'fixedList', width: Number(rest) };
    }
    if (head === '+ud' || head === '+us') {
        return { kind: head === '+ud' ? 'denseUnion' : 'sparseUnion', codes: rest === '' ? [] : rest.split(',').map(Number) };
    }
    return { kind: 'timestamp', bits: 64, values: BigInt64Array, unit: UNITS[head[2]], timeZone: rest === '' ? null : rest };
}

/** What a format string says; `values` is the array type of a fixed-width type. */
export function parseFormat(format) {
    const fixed = FIXED[format];
    if (fixed !== undefined) {
        const [kind, bits, values] = fixed;
        return { kind, bits, values, ...(format[0] === 't' ? { unit: UNITS[format[2]] } : {}) };
    }
    const kind = OTHERS[format];
    if (kind !== undefined) {
        return { kind, isLarge: ['Z', 'U', '+L', '+vL'].includes(format) };
    }
    return parseParameters(format);
}

function readMetadata(m, at) {
    const out = Object.create(null);
    if (at === 0) {
        return out;
    }
    const next = () => {
        const size = m.u32(at);
        const text = m.text(at + 4, size);
        at += 4 + size;
        return text;
    };
    const count = m.u32(at);
    at += 4;
    for (let i = 0; i < count; i++) {
        const key = next();
        out[key] = next();
    }
    return out;
}

/** The type as native tools print it: "timestamp[us, tz=UTC]". */
function typeText(m, at) {
    return new TextDecoder().decode(m.collect((buffer) => m.check('ald_type_format', at, buffer, m.error)));
}

function readField(m, at) {
    const children = m.u32(at + 32);
    const dictionary = m.u32(at + 36);
    const flags = m.u64(at + 16);
    return {
        name: m.cString(m.u32(at + 4)) ?? '',
        format: m.cString(m.u32(at)),
        nullable: (flags & NULLABLE) !== 0,
        isOrdered: (flags & SORTED) !== 0,
        metadata: readMetadata(m, m.u32(at + 8)),
        children: Array.from({ length: m.u64(at + 24) }, (_, i) => readField(m, m.u32(children + 4 * i))),
        dictionary: dictionary === 0 ? null : readField(m, dictionary),
        at,
    };
}

/** Fields get their printed type and lose the address, which is not theirs to keep. */
function finish(m, field) {
    field.type = typeText(m, field.at);
    delete field.at;
    field.children.forEach((child) => finish(m, child));
    if (field.dictionary !== null) {
        finish(m, field.dictionary);
    }
    return field;
}

/** The fields of a table's schema, which is a struct, and its metadata. */
export function readSchema(m, at) {
    const root = readField(m, at);
    return { fields: root.children.map((field) => finish(m, field)), metadata: root.metadata };
}
