// SPDX-License-Identifier: MIT
// Calls that lack something: bytes of a remote file, or the text of an encrypted piece that the platform's own AES-GCM opens.
// The module cannot wait for either. The call fails at the place, what it lacks is got, and the whole call is made again: it
// changes nothing until it succeeds, and passes the same checks in the same order.

const PIECE_BYTES = 16384; // smaller ones are opened faster than handed over
const AT_ONCE = 4; // pieces that are on their way
const TAG_BYTES = 16;

/** Which pieces may be deferred: only those that a call opens together, or each. */
export const SEVERAL = 1, EACH = 2;

async function openPiece(m, at) {
    const bytesOf = (field, size) => m.bytes.subarray(m.u32(at + field), m.u32(at + field) + size);
    const size = m.u32(at + 4);
    const { subtle } = globalThis.crypto;
    let isOpened = 0;
    try {
        const key = await subtle.importKey('raw', bytesOf(8, 32), 'AES-GCM', false, ['decrypt']);
        const algorithm = { name: 'AES-GCM', iv: bytesOf(12, 12), additionalData: bytesOf(16, m.u32(at + 20)), tagLength: 8 * TAG_BYTES };
        const text = new Uint8Array(await subtle.decrypt(algorithm, key, bytesOf(0, size)));
        if (!m.isDead) {
            bytesOf(0, text.length).set(text);
            isOpened = 1;
        }
        text.fill(0);
    } catch {
        // Whatever it was, the module tries, too: what is wrong with a piece is said in one place.
    }
    if (!m.isDead) {
        m.call('ald_wasm_deferral_answer', at, isOpened);
    }
}

async function openPieces(m, pieces) {
    const rest = pieces.values();
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
        for (const at of rest) {
            await openPiece(m, at);
        }
    }));
}

/** Encrypted pieces of one call. */
class Deferral {
    constructor(m, which) {
        this.m = m;
        this.which = which;
        this.at = m.pointer('ald_wasm_deferral_new');
    }

    run(body) {
        this.m.call('ald_wasm_deferral_use', this.at, this.which, PIECE_BYTES);
        try {
            return body();
        } finally {
            if (!this.m.isDead) {
                this.m.call('ald_wasm_deferral_use', 0, 0, 0);
            }
        }
    }

    take() {
        const pieces = [];
        for (let at; !this.m.isDead && (at = this.m.call('ald_wasm_deferral_next', this.at) >>> 0) !== 0;) {
            pieces.push(at);
        }
        return pieces;
    }

    free() {
        if (!this.m.isDead) {
            this.m.call('ald_wasm_deferral_free', this.at);
        }
    }
}

/**
 * Runs body() until it lacks nothing.
 * @param options remote: where absent bytes come from; defer: SEVERAL or EACH; webCrypto: false keeps to the module's own AES
 */
export async function complete(m, body, { remote = null, defer = EACH, webCrypto = true, signal } = {}) {
    const isDeferring = webCrypto && globalThis.crypto?.subtle !== undefined;
    const deferral = isDeferring ? new Deferral(m, defer) : null;
    try {
        for (;;) {
            signal?.throwIfAborted();
            try {
                return deferral === null ? body() : deferral.run(body);
            } catch (error) { // nothing may come between the failure and these questions
                const missing = remote?.missing(error) ?? null;
                const pieces = deferral?.take() ?? [];
                if (missing === null && pieces.length === 0) {
                    throw error;
                }
                await Promise.all([missing === null ? null : remote.fetch(missing, signal), openPieces(m, pieces)]);
            }
        }
    } finally {
        deferral?.free();
    }
}
