// SPDX-License-Identifier: MIT
// Keys as callers have them (PEM, CryptoKey, 32 raw bytes), as the 32 bytes that the module takes.

import { invalidArgument } from './error.js';
import { decryptKey } from './pbes2.js';

const KEY_BYTES = 32;
// RFC 8410: everything before the 32 bytes of a key; `x` is the last byte of the algorithm's name.
const ALGORITHMS = { ed25519: 0x70, x25519: 0x6e };
const publicHead = (x) => [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, x, 0x03, 0x21, 0x00];
const privateMiddle = (x) => [0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, x, 0x04, 0x22, 0x04, 0x20];

const PEM_BLOCK = /-----BEGIN ([A-Z ]+)-----([^-]*)-----END \1-----/g;

function fromBase64(text) {
    const binary = atob(text.replace(/\s+/g, ''));
    return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

function startsWith(bytes, head, at = 0) {
    return bytes.length >= at + head.length && head.every((byte, i) => bytes[at + i] === byte);
}

/** The key in a DER structure of this kind and algorithm, or null. */
function fromDer(der, isPrivate, algorithm) {
    const x = ALGORITHMS[algorithm];
    if (!isPrivate) {
        const head = publicHead(x);
        return startsWith(der, head) && der.length === head.length + KEY_BYTES ? der.slice(head.length) : null;
    }
    // SEQUENCE, its length (short form), version 0 or 1: 5 bytes.
    const middle = privateMiddle(x);
    const isPkcs8 = der[0] === 0x30 && der[1] < 0x80 && der[2] === 0x02 && der[3] === 0x01 && der[4] <= 1;
    return isPkcs8 && startsWith(der, middle, 5) && der.length >= 5 + middle.length + KEY_BYTES
        ? der.slice(5 + middle.length, 5 + middle.length + KEY_BYTES)
        : null;
}

async function fromPem(text, isPrivate, algorithm, passphrase) {
    const label = isPrivate ? 'PRIVATE KEY' : 'PUBLIC KEY';
    const keys = [];
    for (const [, found, body] of text.matchAll(PEM_BLOCK)) {
        const isLocked = found === 'ENCRYPTED PRIVATE KEY' && isPrivate;
        if (isLocked && passphrase === undefined) {
            throw invalidArgument('the passphrase of the key is needed\ngive it as keyPassphrase');
        }
        const der = isLocked ? await decryptKey(fromBase64(body), passphrase) : found === label ? fromBase64(body) : null;
        const key = der === null ? null : fromDer(der, isPrivate, algorithm);
        if (isLocked) {
            der.fill(0);
        }
        if (key !== null) {
            keys.push(key);
        }
    }
    return keys;
}

async function fromCryptoKey(key, isPrivate, algorithm) {
    if (key.type !== (isPrivate ? 'private' : 'public') || key.algorithm.name.toLowerCase() !== algorithm) {
        return [];
    }
    const format = isPrivate ? 'pkcs8' : 'spki';
    const der = new Uint8Array(await globalThis.crypto.subtle.exportKey(format, key));
    return [fromDer(der, isPrivate, algorithm)].filter((found) => found !== null);
}

async function keysOf(input, isPrivate, algorithm, passphrase) {
    if (typeof input === 'string') {
        return fromPem(input, isPrivate, algorithm, passphrase);
    }
    if (typeof CryptoKey !== 'undefined' && input instanceof CryptoKey) {
        return fromCryptoKey(input, isPrivate, algorithm);
    }
    const bytes = input instanceof ArrayBuffer ? new Uint8Array(input) : input;
    if (bytes instanceof Uint8Array) {
        if (bytes.length === KEY_BYTES) {
            return [bytes.slice()];
        }
        return fromPem(new TextDecoder().decode(bytes), isPrivate, algorithm, passphrase);
    }
    return [];
}

/** All keys of one or several inputs, one behind the other. An input without a fitting key is an error. */
async function gather(inputs, isPrivate, algorithm, passphrase) {
    const list = Array.isArray(inputs) ? inputs : [inputs];
    const found = [];
    for (const input of list) {
        const keys = await keysOf(input, isPrivate, algorithm, passphrase);
        if (keys.length === 0) {
            const kind = isPrivate ? 'private' : 'public';
            throw invalidArgument(`no ${kind} ${algorithm === 'ed25519' ? 'Ed25519' : 'X25519'} key was found\n`
                + `a key is PEM, a CryptoKey, or ${KEY_BYTES} bytes`);
        }
        found.push(...keys);
    }
    const out = new Uint8Array(found.length * KEY_BYTES);
    found.forEach((key, i) => out.set(key, i * KEY_BYTES));
    return out;
}

export const signingSeed = async (input, passphrase) => (await gather(input, true, 'ed25519', passphrase)).slice(0, KEY_BYTES);
export const signerKeys = (inputs) => gather(inputs, false, 'ed25519');
export const receiverKeys = (inputs, passphrase) => gather(inputs, true, 'x25519', passphrase);
export const recipientKeys = (inputs) => gather(inputs, false, 'x25519');

function toPem(label, der) {
    const text = btoa(String.fromCharCode(...der));
    return `-----BEGIN ${label}-----\n${text.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END ${label}-----\n`;
}

export function privatePem(algorithm, key) {
    const middle = privateMiddle(ALGORITHMS[algorithm]);
    return toPem('PRIVATE KEY', [0x30, 0x2e, 0x02, 0x01, 0x00, ...middle, ...key]);
}

export function publicPem(algorithm, key) {
    return toPem('PUBLIC KEY', [...publicHead(ALGORITHMS[algorithm]), ...key]);
}
