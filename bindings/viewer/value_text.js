// SPDX-License-Identifier: MIT

/** A value of a file as one line of text. */
export function valueText(value) {
    if (value === null || value === undefined) {
        return 'null';
    }
    if (value instanceof Uint8Array) {
        const hex = Array.from(value.subarray(0, 32), (byte) => byte.toString(16).padStart(2, '0')).join('');
        return value.length > 32 ? `${hex}… (${value.length} bytes)` : hex;
    }
    if (value instanceof Date) {
        return value.toISOString();
    }
    if (Array.isArray(value)) {
        return `[${value.map(valueText).join(', ')}]`;
    }
    if (typeof value === 'object') {
        return `{${Object.entries(value).map(([key, item]) => `${key}: ${valueText(item)}`).join(', ')}}`;
    }
    return String(value);
}
