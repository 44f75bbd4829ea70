// SPDX-License-Identifier: MIT
// What tests/js/test_round_trips.py has done, in whatever runs the package. `io` reads and writes files.

/** Runs body with every call of WebCrypto's decrypt counted, or with no WebCrypto at all. -> [result, calls] */
async function watched(body, isThere = true) {
    const { subtle } = globalThis.crypto;
    let calls = 0;
    const counting = {
        importKey: (...args) => subtle.importKey(...args),
        decrypt: (...args) => {
            calls++;
            return subtle.decrypt(...args);
        },
    };
    const platform = Object.getOwnPropertyDescriptor(globalThis, 'crypto');
    const { crypto } = globalThis;
    const other = { subtle: isThere ? counting : undefined, getRandomValues: (array) => crypto.getRandomValues(array) };
    Object.defineProperty(globalThis, 'crypto', { value: other, configurable: true, writable: true });
    try {
        return [await body(), calls];
    } finally {
        if (platform === undefined) {
            delete globalThis.crypto;
        } else {
            Object.defineProperty(globalThis, 'crypto', platform);
        }
    }
}

function same(what, found, wanted) {
    if (found !== wanted) {
        throw new Error(`${what}: ${found}, and not ${wanted}`);
    }
}

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

/** What a way of opening gives, as text: rows, or the failure. */
async function outcome(ald, opening, bytes, options) {
    try {
        const data = await ald[opening](bytes, options);
        if (data instanceof Uint8Array) {
            return hex(data);
        }
        if (opening === 'verify') {
            return String(data.rowCount);
        }
        const batches = [];
        for await (const batch of data) {
            batches.push(JSON.stringify(batch.rows(), (_, value) => (typeof value === 'bigint' ? String(value) : value)));
            batch.release();
        }
        data.close();
        return batches.join('\n');
    } catch (error) {
        return `${error.name} ${error.status}: ${error.message}`;
    }
}

const actions = (ald, io) => ({
    async keys({ out }) {
        for (const [name, algorithm] of [['signer', 'ed25519'], ['anna', 'x25519'], ['bert', 'x25519']]) {
            const { privateKey, publicKey } = await ald.generateKey(algorithm);
            await io.write(`${out}/${name}.key`, privateKey);
            await io.write(`${out}/${name}.pub`, publicKey);
        }
    },
    async save({ input, out, options }) {
        await io.write(out, await ald.save(await io.read(input), options));
    },
    async steps({ input, out, license, encrypt, sign }) {
        let bytes = await io.read(input);
        bytes = license ? await ald.license(bytes, license) : bytes;
        bytes = encrypt ? await ald.encrypt(bytes, encrypt) : bytes;
        bytes = sign ? await ald.sign(bytes, sign) : bytes;
        await io.write(out, bytes);
    },
    /** The same with WebCrypto, without, and where there is none; of the file, and of it with a changed byte in the payload. */
    async webCrypto({ input, options, pieces }) {
        const file = await io.read(input);
        const { payload } = (await ald.inspect(file)).sections;
        const changed = Uint8Array.from(file);
        changed[Math.floor((payload.begin + payload.end) / 2)] ^= 1;
        const wrong = { ...options, ...(options.password === undefined ? {} : { password: 'wrong' }) };
        for (const opening of ['load', 'open', 'verify', 'decrypt']) {
            const more = opening === 'decrypt' ? { dropSignature: true } : {};
            for (const [bytes, reading, isWhole] of [[file, options, true], [changed, options, false], [file, wrong, false]]) {
                const given = { ...reading, ...more };
                const [own, none] = await watched(() => outcome(ald, opening, bytes, { ...given, webCrypto: false }));
                const [fast, calls] = await watched(() => outcome(ald, opening, bytes, given));
                const [absent] = await watched(() => outcome(ald, opening, bytes, given), false);
                same(`${opening} with WebCrypto`, fast, own);
                same(`${opening} where there is none`, absent, own);
                same('calls that were not wanted', none, 0);
                if (isWhole) {
                    same(`${opening}: failed`, /^[A-Z][A-Za-z]+ \d+: /.test(own), false);
                    same(`${opening}: pieces`, calls, opening === 'decrypt' && pieces > 1 ? 0 : pieces);
                } else if (reading === options) {
                    same(`${opening}: refused`, /^(DecryptionFailed|ChecksumMismatch|SignatureInvalid)/.test(own), true);
                }
            }
        }
    },
    /** A marked copy of a file, with all that protects it. */
    async watermark({ input, inputOptions, out, options }) {
        const data = await ald.load(await io.read(input), inputOptions);
        const { file } = await ald.watermark(data, options);
        data.close();
        await io.write(out, file);
    },
    /** Whose copy it is; its license says that it is marked. */
    async extract({ input, options, seller, buyer }) {
        const data = await ald.load(await io.read(input), options);
        same('buyer', (await ald.extract(data, { sellerKey: seller, buyers: ['Nobody', buyer] })).buyer, buyer);
        same('license', data.license.watermarked, true);
        data.close();
    },
    async load({ input, out, options, opening }) {
        const data = await ald[opening](await io.read(input), options);
        await io.write(out, await data.toArrowIPC());
        data.close();
    },
});

/** Saves, changes or loads one file a task; -> null, or the failure, for each. */
export async function runTasks(ald, tasks, io) {
    const results = [];
    const does = actions(ald, io);
    for (const { action, ...task } of tasks) {
        try {
            await does[action](task);
            results.push(null);
        } catch (error) {
            results.push(error instanceof ald.AldError ? `${error.name}: ${error.message}` : error.stack);
        }
    }
    return results;
}
