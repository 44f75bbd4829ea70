// SPDX-License-Identifier: MIT
// What a column of numbers looks like: a histogram of its values, and how random the lowest bits of its floats are.

const BINS = 32, BITS = 16, COMMON = 12;

const isNumber = (value) => typeof value === 'number' || typeof value === 'bigint';

/** Counts of the finite values in bins of one width; null when there are none. */
export function histogram(values) {
    const numbers = [];
    for (const value of values) {
        const number = Number(value);
        if (isNumber(value) && Number.isFinite(number)) {
            numbers.push(number);
        }
    }
    if (numbers.length === 0) {
        return null;
    }
    let low = Infinity, high = -Infinity, sum = 0;
    for (const number of numbers) {
        low = Math.min(low, number);
        high = Math.max(high, number);
        sum += number;
    }
    const width = (high - low) / BINS || 1;
    const counts = new Array(BINS).fill(0);
    for (const number of numbers) {
        counts[Math.min(BINS - 1, Math.floor((number - low) / width))]++;
    }
    return { low, high, mean: sum / numbers.length, counts, count: numbers.length };
}

/** The most frequent values, as text. */
export function common(values) {
    const counts = new Map();
    for (const value of values) {
        const text = value === null ? 'null' : String(value);
        counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1]).slice(0, COMMON);
}

/**
 * Shannon entropy of each of the lowest bits of floats, bit 0 first: 1 is as random as a coin. Measured values fill these bits;
 * rounded ones leave them alike, and a mark changes them.
 */
export function lowBitEntropy(array) {
    const words = array instanceof Float64Array
        ? new BigUint64Array(array.buffer, array.byteOffset, array.length)
        : new Uint32Array(array.buffer, array.byteOffset, array.length);
    const ones = new Array(BITS).fill(0);
    let count = 0;
    for (let i = 0; i < words.length; i++) {
        if (Number.isFinite(array[i]) && array[i] !== 0) {
            const low = Number(BigInt.asUintN(BITS, BigInt(words[i])));
            for (let bit = 0; bit < BITS; bit++) {
                ones[bit] += (low >> bit) & 1;
            }
            count++;
        }
    }
    if (count === 0) {
        return null;
    }
    return ones.map((n) => {
        const p = n / count;
        return p === 0 || p === 1 ? 0 : -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
    });
}
