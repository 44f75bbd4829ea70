// SPDX-License-Identifier: MIT
// Columns: Arrow arrays of the module's memory, read in place.
//
// A view ends when the module's memory grows (any later call may do that) or its batch is released. `values` makes a new one
// each time it is asked for, so `column.values[i]` is always right, and a view that is kept should be copied with slice().

import { AldError } from './error.js';
import { parseFormat } from './schema.js';

const INLINE_BYTES = 12; // of a view's value

const types = new WeakMap();

function typeOf(field) {
    if (!types.has(field)) {
        types.set(field, parseFormat(field.format));
    }
    return types.get(field);
}

function halfToNumber(bits) {
    const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
    if (exponent === 0x1f) {
        return fraction === 0 ? sign * Infinity : NaN;
    }
    return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function decimalText(unscaled, scale) {
    const digits = (unscaled < 0n ? -unscaled : unscaled).toString();
    const sign = unscaled < 0n ? '-' : '';
    if (scale <= 0) {
        return sign + (unscaled === 0n ? '0' : digits + '0'.repeat(-scale));
    }
    const padded = digits.padStart(scale + 1, '0');
    return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

export class Column {
    #m;
    #owner;
    #type;
    #offset;
    #buffers;

    /** @param at an ArrowArray @param owner what keeps it alive: its `at` is 0 when it was released @param parent the batch's
     * own offset and length, where it is a slice */
    constructor(m, field, at, owner, parent = { offset: 0, length: null }) {
        this.#m = m;
        this.#owner = owner;
        this.#type = typeOf(field);
        this.field = field;
        this.name = field.name;
        this.length = parent.length ?? m.i64(at);
        this.#offset = m.i64(at + 16) + parent.offset;
        const buffers = m.u32(at + 40), children = m.u32(at + 44), dictionary = m.u32(at + 48);
        this.#buffers = Array.from({ length: m.i64(at + 24) }, (_, i) => m.u32(buffers + 4 * i));
        const nullCount = m.i64(at + 8);
        this.nullCount = nullCount >= 0 ? nullCount : null; // null: not counted
        this.children = field.children.map((child, i) => new Column(m, child, m.u32(children + 4 * i), owner));
        this.dictionary = dictionary === 0 ? null : new Column(m, field.dictionary, dictionary, owner);
    }

    #memory() {
        if (this.#owner.at === 0) {
            throw new AldError('InvalidArgument', 'the batch of this column was released', { status: 11 });
        }
        if (this.#m.isDead) {
            throw new AldError('ModuleTrapped', 'the module that held this column has stopped');
        }
        return this.#m;
    }

    /** A view of `count` elements behind buffer `index`; copied where the bytes are not aligned for it. */
    #array(Type, index, start, count) {
        const m = this.#memory();
        const at = this.#buffers[index] + start * Type.BYTES_PER_ELEMENT;
        if (this.#buffers[index] === 0 || count === 0) {
            return new Type(0);
        }
        if (at % Type.BYTES_PER_ELEMENT === 0) {
            return new Type(m.exports.memory.buffer, at, count);
        }
        return new Type(m.copy(at, count * Type.BYTES_PER_ELEMENT).buffer);
    }

    /** The values of a fixed-width type (16-bit floats as their bits), one element a row, whatever stands in null slots; the
     * indices of a dictionary; else null. */
    get values() {
        const { values } = this.#type;
        return values === undefined ? null : this.#array(values, 1, this.#offset, this.length);
    }

    /** Bytes of the validity bitmap, with the bit of row 0 at `validityOffset`; null when no row is null. */
    get validity() {
        const m = this.#memory();
        const hasBitmap = !['null', 'denseUnion', 'sparseUnion', 'runEnd'].includes(this.#type.kind);
        if (!hasBitmap || this.#buffers[0] === 0) {
            return null;
        }
        const first = this.#offset >> 3;
        return m.bytes.subarray(this.#buffers[0] + first, this.#buffers[0] + ((this.#offset + this.length + 7) >> 3));
    }

    get validityOffset() {
        return this.#offset & 7;
    }

    /** Offsets of text, binary, lists and maps: length + 1 of them, into `data` or the child; else null. */
    get offsets() {
        const { kind, isLarge } = this.#type;
        if (!['text', 'binary', 'list', 'map'].includes(kind)) {
            return null;
        }
        return this.#array(isLarge ? BigInt64Array : Int32Array, 1, this.#offset, this.length + 1);
    }

    /** The bytes of text and binary that `offsets` point into; else null. */
    get data() {
        const { kind } = this.#type;
        if (kind !== 'text' && kind !== 'binary') {
            return null;
        }
        const offsets = this.offsets;
        return this.#array(Uint8Array, 2, 0, offsets.length === 0 ? 0 : Number(offsets[offsets.length - 1]));
    }

    isNull(row) {
        return this.#isNull(this.#memory(), this.#offset + row);
    }

    #isNull(m, at) {
        const { kind } = this.#type;
        if (kind === 'null') {
            return true;
        }
        if (kind === 'denseUnion' || kind === 'sparseUnion' || kind === 'runEnd' || this.#buffers[0] === 0) {
            return false;
        }
        return (m.bytes[this.#buffers[0] + (at >> 3)] & (1 << (at & 7))) === 0;
    }

    /** The value of a row as JavaScript: 64-bit integers, and times in their unit, are bigints; decimals are strings. */
    get(row) {
        if (!(row >= 0 && row < this.length)) {
            return undefined;
        }
        const m = this.#memory();
        const at = this.#offset + row;
        if (this.#isNull(m, at)) {
            return null;
        }
        return this.dictionary === null ? this.#value(m, at) : this.dictionary.get(Number(this.#value(m, at)));
    }

    #value(m, at) {
        const type = this.#type, data = this.#buffers[1];
        if (type.values !== undefined) {
            return this.#number(m.view, type, data, at);
        }
        switch (type.kind) {
        case 'bool':
            return (m.bytes[data + (at >> 3)] & (1 << (at & 7))) !== 0;
        case 'text':
            return m.text(...this.#span(m, at, this.#buffers[2]));
        case 'binary':
            return m.copy(...this.#span(m, at, this.#buffers[2]));
        case 'textView':
            return m.text(...this.#viewed(m, at));
        case 'binaryView':
            return m.copy(...this.#viewed(m, at));
        case 'fixedBinary':
            return m.copy(data + at * type.width, type.width);
        case 'decimal':
            return this.#decimal(m, data, at);
        case 'months':
            return { months: m.view.getInt32(data + 4 * at, true), days: 0, nanoseconds: 0n };
        case 'dayTime':
            return {
                months: 0,
                days: m.view.getInt32(data + 8 * at, true),
                nanoseconds: BigInt(m.view.getInt32(data + 8 * at + 4, true)) * 1000000n,
            };
        case 'monthDayNano':
            return {
                months: m.view.getInt32(data + 16 * at, true),
                days: m.view.getInt32(data + 16 * at + 4, true),
                nanoseconds: m.view.getBigInt64(data + 16 * at + 8, true),
            };
        default:
            return this.#nested(m, at);
        }
    }

    #number(view, type, data, at) {
        switch (type.values) {
        case Int8Array: return view.getInt8(data + at);
        case Uint8Array: return view.getUint8(data + at);
        case Int16Array: return view.getInt16(data + 2 * at, true);
        case Uint16Array: {
            const bits = view.getUint16(data + 2 * at, true);
            return type.kind === 'float' ? halfToNumber(bits) : bits;
        }
        case Int32Array: return view.getInt32(data + 4 * at, true);
        case Uint32Array: return view.getUint32(data + 4 * at, true);
        case Float32Array: return view.getFloat32(data + 4 * at, true);
        case Float64Array: return view.getFloat64(data + 8 * at, true);
        case BigInt64Array: return view.getBigInt64(data + 8 * at, true);
        default: return view.getBigUint64(data + 8 * at, true);
        }
    }

    #offsetAt(m, at) {
        return this.#type.isLarge ? m.i64(this.#buffers[1] + 8 * at) : m.view.getInt32(this.#buffers[1] + 4 * at, true);
    }

    #span(m, at, base) {
        const begin = this.#offsetAt(m, at);
        return [base + begin, this.#offsetAt(m, at + 1) - begin];
    }

    /** Short values lie in the view itself, others in one of the buffers behind it. */
    #viewed(m, at) {
        const view = this.#buffers[1] + 16 * at;
        const size = m.u32(view);
        return size <= INLINE_BYTES ? [view + 4, size] : [this.#buffers[2 + m.u32(view + 8)] + m.u32(view + 12), size];
    }

    #decimal(m, data, at) {
        const { bits, scale } = this.#type;
        let value = 0n;
        for (let i = bits / 32 - 1; i >= 0; i--) {
            value = (value << 32n) | BigInt(m.u32(data + (bits / 8) * at + 4 * i));
        }
        return decimalText(BigInt.asIntN(bits, value), scale);
    }

    #nested(m, at) {
        const { kind, width, isLarge, codes } = this.#type;
        const slice = (child, begin, count) => Array.from({ length: count }, (_, i) => child.get(begin + i));
        switch (kind) {
        case 'list': {
            const [begin, count] = this.#span(m, at, 0);
            return slice(this.children[0], begin, count);
        }
        case 'listView': {
            const read = (index) => (isLarge ? m.i64(this.#buffers[index] + 8 * at)
                : m.view.getInt32(this.#buffers[index] + 4 * at, true));
            return slice(this.children[0], read(1), read(2));
        }
        case 'fixedList':
            return slice(this.children[0], at * width, width);
        case 'map': {
            const [begin, count] = this.#span(m, at, 0);
            const [keys, items] = this.children[0].children;
            const from = this.children[0].#offset;
            return Array.from({ length: count }, (_, i) => [keys.get(from + begin + i), items.get(from + begin + i)]);
        }
        case 'struct': {
            const out = Object.create(null);
            this.children.forEach((child) => {
                out[child.name] = child.get(at);
            });
            return out;
        }
        case 'runEnd':
            return this.children[1].get(this.#runOf(at));
        default: {
            const child = this.children[codes.indexOf(m.view.getInt8(this.#buffers[0] + at))];
            return child.get(kind === 'denseUnion' ? m.view.getInt32(this.#buffers[1] + 4 * at, true) : at);
        }
        }
    }

    /** The run that has a row, by binary search for the first end behind it. */
    #runOf(at) {
        const ends = this.children[0];
        let low = 0, high = ends.length - 1;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (Number(ends.get(middle)) > at) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    /** The type code of a row of a union; else null. */
    typeCode(row) {
        const m = this.#memory();
        return this.#type.codes === undefined ? null : m.view.getInt8(this.#buffers[0] + this.#offset + row);
    }

    toArray() {
        return Array.from({ length: this.length }, (_, row) => this.get(row));
    }

    * [Symbol.iterator]() {
        for (let row = 0; row < this.length; row++) {
            yield this.get(row);
        }
    }
}
