// SPDX-License-Identifier: MIT
// Private keys under a passphrase: PKCS#8 with PBES2 (RFC 8018), as `alimentar keygen` and OpenSSL write them. The key of the
// passphrase comes from scrypt, which is the module's, or PBKDF2; AES-CBC and PBKDF2 are WebCrypto's.

import { AldError, unsupported } from './error.js';
import { encodeText } from './module.js';
import { ready } from './runtime.js';

const ROUNDS_MOST = 10_000_000; // of PBKDF2: some seconds
const SEQUENCE = 0x30, OCTETS = 0x04, INTEGER = 0x02, OID = 0x06;
const NAMES = {
    '2a864886f70d01050d': 'PBES2', '2a864886f70d01050c': 'PBKDF2', '2b06010401da47040b': 'scrypt',
    '2a864886f70d0207': 'SHA-1', '2a864886f70d0209': 'SHA-256', '2a864886f70d020a': 'SHA-384', '2a864886f70d020b': 'SHA-512',
    '60864801650304012a': 'AES-256-CBC', '608648016503040116': 'AES-192-CBC', '608648016503040102': 'AES-128-CBC',
};
const KEY_BYTES = { 'AES-256-CBC': 32, 'AES-192-CBC': 24, 'AES-128-CBC': 16 };

const damaged = () => new AldError('InvalidFormat', "an encrypted key's bytes are damaged", { status: 1 });

/** Elements of DER one after the other. */
class Der {
    constructor(bytes) {
        this.bytes = bytes;
        this.at = 0;
    }

    get isAtEnd() {
        return this.at >= this.bytes.length;
    }

    /** The content of the next element, which has this tag. */
    take(tag) {
        const [found, short, ...rest] = this.bytes.subarray(this.at, this.at + 6);
        const extra = short < 0x80 ? 0 : short & 0x7f;
        const length = extra === 0 ? short : rest.slice(0, extra).reduce((sum, byte) => sum * 256 + byte, 0);
        const begin = this.at + 2 + extra;
        if (found !== tag || extra > 4 || short === 0x80 || !(begin + length <= this.bytes.length)) {
            throw damaged();
        }
        this.at = begin + length;
        return this.bytes.subarray(begin, this.at);
    }

    into(tag = SEQUENCE) {
        return new Der(this.take(tag));
    }

    /** An algorithm by name, and what its parameters are read from. */
    algorithm() {
        const inner = this.into();
        const id = Array.from(inner.take(OID), (byte) => byte.toString(16).padStart(2, '0')).join('');
        return [NAMES[id] ?? id, inner];
    }

    number() {
        const bytes = this.take(INTEGER);
        if (bytes.length === 0 || bytes.length > 6 || bytes[0] >= 0x80) {
            throw damaged();
        }
        return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    }
}

async function scryptKey(parameters, passphrase, size) {
    const salt = parameters.take(OCTETS), n = parameters.number(), r = parameters.number(), p = parameters.number();
    const m = await ready();
    const word = m.put(passphrase), put = m.put(salt), out = m.alloc(size);
    try {
        m.check('ald_wasm_scrypt', word, passphrase.length, put, salt.length, n, r, p, out, size);
        return m.copy(out, size);
    } finally {
        if (!m.isDead) {
            m.bytes.fill(0, word, word + passphrase.length);
            m.bytes.fill(0, out, out + size);
            [word, put, out].forEach((at) => m.free(at));
        }
    }
}

async function pbkdf2Key(parameters, passphrase, size) {
    const salt = parameters.take(OCTETS), iterations = parameters.number();
    if (!parameters.isAtEnd && parameters.bytes[parameters.at] === INTEGER) {
        parameters.number(); // length of the key, which the cipher tells, too
    }
    const hash = parameters.isAtEnd ? 'SHA-1' : parameters.algorithm()[0];
    if (iterations === 0 || iterations > ROUNDS_MOST) {
        throw new AldError('LimitExceeded', `PBKDF2 with ${iterations} rounds asks for too much`, { status: 10 });
    }
    if (!hash.startsWith('SHA-')) {
        throw unsupported(`a key whose passphrase goes through ${hash}`);
    }
    const { subtle } = globalThis.crypto;
    const base = await subtle.importKey('raw', passphrase, 'PBKDF2', false, ['deriveBits']);
    return new Uint8Array(await subtle.deriveBits({ name: 'PBKDF2', hash, salt, iterations }, base, 8 * size));
}

const DERIVES = { scrypt: scryptKey, PBKDF2: pbkdf2Key };

/** The PKCS#8 bytes in an EncryptedPrivateKeyInfo. @param passphrase text or bytes */
export async function decryptKey(der, passphrase) {
    if (globalThis.crypto?.subtle === undefined) {
        throw unsupported('a key under a passphrase needs WebCrypto, and there is none here\na page has it when it comes by https');
    }
    const whole = new Der(der).into();
    const [scheme, parameters] = whole.algorithm();
    if (scheme !== 'PBES2') {
        throw unsupported(`an encrypted key of the kind ${scheme}`);
    }
    const both = parameters.into();
    const [derivation, from] = both.algorithm(), [cipher, rest] = both.algorithm();
    const iv = rest.take(OCTETS), sealed = whole.take(OCTETS);
    if (DERIVES[derivation] === undefined || KEY_BYTES[cipher] === undefined || iv.length !== 16) {
        throw unsupported(`an encrypted key of the kind ${derivation}, ${cipher}`);
    }
    const word = typeof passphrase === 'string' ? encodeText(passphrase) : Uint8Array.from(passphrase);
    const bytes = await DERIVES[derivation](from.into(), word, KEY_BYTES[cipher]);
    try {
        const key = await globalThis.crypto.subtle.importKey('raw', bytes, 'AES-CBC', false, ['decrypt']);
        const clear = new Uint8Array(await globalThis.crypto.subtle.decrypt({ name: 'AES-CBC', iv }, key, sealed));
        new Der(clear).into(); // one wrong passphrase of 256 leaves padding that looks right, and no key
        return clear;
    } catch (cause) {
        throw new AldError('DecryptionFailed', 'the passphrase is wrong, or the key is damaged', { status: 4, cause });
    } finally {
        bytes.fill(0);
        word.fill(0);
    }
}
