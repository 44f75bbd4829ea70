// SPDX-License-Identifier: MIT
// The package's functions: node api.mjs PACKAGE
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { fails, finish, memoryDatabase, serve, test, withMemoryLimit } from './harness.mjs';

// Exports may be replaced for one call, to see what becomes of a trap.
const traps = new Set();
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
    const instance = await instantiate(...args);
    return {
        exports: Object.fromEntries(Object.entries(instance.exports).map(([name, value]) => [name,
            typeof value !== 'function' ? value : (...given) => {
                if (traps.delete(name)) {
                    throw new WebAssembly.RuntimeError('unreachable');
                }
                return value(...given);
            }])),
    };
};

const folder = argv[2];
const ald = await import(pathToFileURL(`${folder}/src/index.js`));
const modules = { whole: await readFile(`${folder}/ald.wasm`), reader: await readFile(`${folder}/ald-reader.wasm`) };
const rows = Array.from({ length: 1000 }, (_, i) => ({ id: i, x: i % 10 === 0 ? null : i / 4, name: `n ${i % 7} é` }));
const plain = (row) => ({ ...row, id: Number(row.id) });
const hostile = '__proto__';

await test('init takes bytes, a Module, a URL, a Response; others are refused', async () => {
    assert.deepEqual(await ald.init(modules.reader), { canWrite: false });
    assert.deepEqual(await ald.init(await WebAssembly.compile(modules.whole)), { canWrite: true });
    assert.deepEqual(await ald.init(new Response(modules.whole)), { canWrite: true });
    assert.deepEqual(await ald.init(new Response(modules.whole, { headers: { 'Content-Type': 'application/wasm' } })),
        { canWrite: true });
    const server = await serve({ '/ald.wasm': modules.whole });
    assert.deepEqual(await ald.init(server.url('/ald.wasm')), { canWrite: true });
    await assert.rejects(ald.init(server.url('/none')));
    await server.close();
    await assert.rejects(ald.init(new Uint8Array([0, 1, 2])), WebAssembly.CompileError);
    assert.deepEqual(await ald.init(), { canWrite: true });
});

await test('modules import the two host functions and nothing else', async () => {
    for (const bytes of Object.values(modules)) {
        const imports = WebAssembly.Module.imports(await WebAssembly.compile(bytes)).map(({ module, name }) => `${module}.${name}`);
        assert.deepEqual(imports.filter((name) => !['env.host_random', 'env.host_now_ms'].includes(name)), []);
    }
});

await test('rows, columns, batches', async () => {
    const data = await ald.load(await ald.save(rows));
    assert.equal(data.numRows, 1000);
    assert.deepEqual(data.schema.fields.map(({ name, type }) => [name, type]),
        [['id', 'int64'], ['x', 'double'], ['name', 'string']]);
    assert.deepEqual((await data.rows()).map(plain), rows);
    assert.deepEqual((await data.rows(990, 3)).map(plain), rows.slice(990, 993));
    const x = await data.column('x');
    assert.ok(x.values instanceof Float64Array);
    assert.equal(x.values[5], 1.25);
    assert.equal(x.chunks[0].get(10), null);
    assert.equal(x.chunks[0].nullCount, 100);
    assert.equal(x.chunks[0].get(1000), undefined);
    const ids = (await data.column('id')).values;
    assert.ok(ids instanceof BigInt64Array);
    assert.deepEqual(Number(ids[999]), 999);
    let count = 0;
    for await (const batch of data) {
        count += batch.length;
        assert.equal(batch.column('name').get(1), 'n 1 é');
        batch.release();
        assert.throws(() => batch.column('name').get(1), { name: 'InvalidArgument' });
        batch.release();
    }
    assert.equal(count, 1000);
    await fails(data.rows(0, 1001), 'InvalidArgument');
    await fails(data.column('none'), 'InvalidArgument');
    await fails(data.batch(7), 'InvalidArgument');
    data.close();
    data.close();
    await fails(data.rows(), 'InvalidArgument');
});

await test('a view is right again after memory has grown', async () => {
    const data = await ald.load(await ald.save(rows));
    const column = (await data.batch(0)).column('x');
    const before = column.values;
    const large = await ald.load(await ald.save('v\n' + '0.123456789,'.slice(0, 11).concat('\n').repeat(2e6), { format: 'csv' }));
    assert.equal(column.values[5], 1.25);
    assert.ok(before.length === 0 || before[5] === 1.25);
    large.close();
});

await test('data in: columns, CSV, JSON, Arrow IPC, a Dataset', async () => {
    const columns = { a: Float64Array.of(1.5, 2), b: ['x', null], c: [10n ** 18n, -1n] };
    const first = await ald.load(await ald.save(columns));
    assert.deepEqual((await first.rows()).map((row) => ({ ...row })), [{ a: 1.5, b: 'x', c: 10n ** 18n }, { a: 2, b: null, c: -1n }]);
    const again = await ald.load(await ald.save(first, { compression: 'lz4' }));
    assert.equal(again.info.compression, 'lz4');
    assert.deepEqual(await again.rows(), await first.rows());
    const noise = Float64Array.from({ length: 70000 }, (_, i) => (i * 7919 % 10007 < 8000 ? 0.5 : i * 104729 % 4));
    const [fast, best] = await Promise.all(['fast', 'best'].map((effort) => ald.save({ noise }, { effort, layout: 'streaming' })));
    assert.notDeepEqual(fast, best);
    assert.deepEqual((await (await ald.load(best)).column('noise')).values, noise);
    const ipc = await ald.load(await ald.save(await first.toArrowIPC({ format: 'file' })));
    assert.deepEqual(await ipc.rows(), await first.rows());
    const csv = await ald.load(await ald.save('a;b\n1;x\n', { csv: { delimiter: ';' } }));
    assert.deepEqual({ ...(await csv.rows())[0] }, { a: 1n, b: 'x' });
    assert.equal(new TextDecoder().decode(await csv.toCSV()), 'a,b\n1,x\n');
    assert.equal(new TextDecoder().decode(await csv.toJSONL()), '{"a":1,"b":"x"}\n');
    const json = await ald.load(await ald.save('[{"a":1}]', { format: 'json' }));
    assert.equal(json.numRows, 1);
    await fails(ald.save('a,b\n1\n'), 'InvalidFormat');
    await fails(ald.save({ a: [1], b: [1, 2] }), 'InvalidArgument');
    await fails(ald.save([{ a: new Uint8Array(3) }]), 'InvalidArgument');
    await fails(ald.save(new Uint8Array(10)), 'InvalidArgument');
});

await test('columns keep the types of their arrays', async () => {
    const columns = {
        i8: Int8Array.of(-1, 2, 3), u8: Uint8Array.of(255, 0, 1), i16: Int16Array.of(-300, 0, 1), u16: Uint16Array.of(65535, 0, 1),
        i32: Int32Array.of(-70000, 0, 1), u32: Uint32Array.of(4294967295, 0, 1), f32: Float32Array.of(0.1, NaN, -0),
        f64: Float64Array.of(0.1, Infinity, -0), i64: BigInt64Array.of(-(2n ** 63n), 0n, 1n), u64: BigUint64Array.of(2n ** 64n - 1n, 0n, 1n),
        text: ['é', null, ''], flag: [true, undefined, false], number: [1, null, 3], real: [1.5, null, 2], big: [2n ** 64n - 1n, null, 1],
        none: [null, null, null],
    };
    const data = await ald.load(await ald.save(columns));
    assert.deepEqual(data.schema.fields.map((field) => field.type), ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'float',
        'double', 'int64', 'uint64', 'string', 'bool', 'int64', 'double', 'uint64', 'string']);
    for (const [name, values] of Object.entries(columns)) {
        const column = await data.column(name);
        const asTyped = name === 'number' || name === 'big' ? (value) => (value == null ? null : BigInt(value)) : (value) => value ?? null;
        assert.deepEqual(column.toArray(), Array.from(values, asTyped), name);
        if (ArrayBuffer.isView(values)) {
            assert.deepEqual(column.values.slice(), values, name);
        }
    }
    assert.equal((await ald.load(await ald.save({}))).numRows, 0);
    await fails(ald.save({ a: [1, 'x'] }), 'InvalidArgument');
    await fails(ald.save({ a: [2n ** 64n] }), 'InvalidArgument');
    await fails(ald.save({ a: [{}] }), 'InvalidArgument');
    await fails(ald.save({ a: 5 }), 'InvalidArgument');
});

await test('metadata keep their types, and a key is only a key', async () => {
    const metadata = new Map([['title', 'T'], ['n', 7], ['neg', -7], ['big', 2n ** 63n], ['f', 0.5], ['yes', true], ['no', null],
        ['bytes', Uint8Array.of(1, 2)], ['list', [1, 'a']], [hostile, { x: 1 }]]);
    const data = await ald.load(await ald.save(rows, { metadata, datasetType: 'TEXT_CORPUS' }));
    assert.equal(data.info.datasetType, 'TEXT_CORPUS');
    assert.equal(Object.getPrototypeOf(data.metadata), null);
    for (const [key, value] of metadata) {
        assert.deepEqual(JSON.stringify(data.metadata[key], (_, v) => (typeof v === 'bigint' ? `${v}n` : v)),
            JSON.stringify(value, (_, v) => (typeof v === 'bigint' ? `${v}n` : v)), key);
    }
    let deep = {};
    for (let i = 0; i < 200; i++) {
        deep = { deep };
    }
    await fails(ald.save(rows, { metadata: deep }), 'InvalidArgument');
    await fails(ald.save(rows, { datasetType: 'NONE_SUCH' }), 'InvalidArgument');
});

await test('options that are misspelt are refused', async () => {
    await fails(ald.load(new Uint8Array(4), { passwort: 'x' }), 'InvalidArgument');
    await fails(ald.save(rows, { compresion: 'lz4' }), 'InvalidArgument');
    await fails(ald.save(rows, { compression: 'gzip' }), 'InvalidArgument');
    await fails(ald.save(rows, { effort: 'more' }), 'InvalidArgument');
    await fails(ald.save(rows, { effort: 'best', layout: 'whole' }), 'InvalidArgument');
    await fails(ald.save(rows, { encrypt: {} }), 'InvalidArgument');
});

const signer = await ald.generateKey('ed25519'), receiver = await ald.generateKey('x25519'), other = await ald.generateKey('x25519');

await test('signing: with PEM, CryptoKey and raw keys', async () => {
    const file = await ald.save(rows);
    const signed = await ald.sign(file, signer.privateKey);
    assert.equal((await ald.verify(signed, { trustedKeys: signer.publicKey })).flags.signed, true);
    const der = Buffer.from(signer.privateKey.replace(/-----.*-----/g, ''), 'base64');
    const raw = new Uint8Array(der.subarray(-32));
    assert.deepEqual(await ald.sign(file, raw), signed);
    const cryptoKey = await crypto.subtle.importKey('pkcs8', der, { name: 'Ed25519' }, true, ['sign']);
    assert.deepEqual(await ald.sign(file, cryptoKey), signed);
    await fails(ald.load(signed), 'UntrustedSigner');
    await fails(ald.load(file, { trustedKeys: signer.publicKey }), 'UntrustedSigner');
    assert.equal((await ald.load(signed, { allowUntrusted: true })).numRows, 1000);
    const changed = signed.slice();
    changed[changed.length >> 1] ^= 1;
    await assert.rejects(ald.load(changed, { trustedKeys: signer.publicKey }), ald.AldError);
    await fails(ald.sign(file, receiver.privateKey), 'InvalidArgument');
    await fails(ald.sign(file, 'no key'), 'InvalidArgument');
    await fails(ald.encrypt(signed, { password: 'p', read: { allowUntrusted: true } }), 'InvalidArgument');
});

await test('private keys under a passphrase', async () => {
    const file = await ald.save(rows), keyPassphrase = 'drei Wörter hier';
    const locked = (type, cipher) => generateKeyPairSync(type, {
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher, passphrase: keyPassphrase },
    });
    for (const cipher of ['aes-256-cbc', 'aes-128-cbc']) {
        const { privateKey, publicKey } = locked('ed25519', cipher), reader = locked('x25519', cipher);
        const signed = await ald.sign(file, privateKey, { keyPassphrase });
        assert.equal((await ald.verify(signed, { trustedKeys: publicKey })).flags.signed, true);
        assert.deepEqual(await ald.sign(file, Buffer.from(privateKey), { keyPassphrase: Buffer.from(keyPassphrase) }), signed);
        const sealed = await ald.save(rows, { sign: privateKey, keyPassphrase, encrypt: { recipients: reader.publicKey } });
        const both = [await ald.generateKey('ed25519').then((key) => key.privateKey), reader.privateKey].join('');
        assert.equal((await ald.load(sealed, { trustedKeys: publicKey, privateKeys: both, keyPassphrase })).numRows, 1000);
        await fails(ald.sign(file, privateKey, { keyPassphrase: 'wrong' }), 'DecryptionFailed');
        assert.match((await fails(ald.sign(file, privateKey), 'InvalidArgument')).hint, /keyPassphrase/);
        const broken = privateKey.split('\n');
        broken.splice(2, 1);
        await assert.rejects(ald.sign(file, broken.join('\n'), { keyPassphrase }), ald.AldError);
    }
    const damaged = (base64) => `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${base64}\n-----END ENCRYPTED PRIVATE KEY-----`;
    await fails(ald.sign(file, damaged('AAAA'), { keyPassphrase }), 'InvalidFormat');
    await fails(ald.sign(file, damaged('MIQ='), { keyPassphrase }), 'InvalidFormat');
    await fails(ald.sign(file, locked('ed25519', 'des-ede3-cbc').privateKey, { keyPassphrase }), 'Unsupported');
});

await test('encryption: password, one recipient, several', async () => {
    const file = await ald.save(rows);
    const locked = await ald.encrypt(file, { password: 'pässword' });
    await fails(ald.load(locked), 'DecryptionFailed');
    await fails(ald.load(locked, { password: 'wrong' }), 'DecryptionFailed');
    assert.equal((await ald.load(locked, { password: 'pässword' })).numRows, 1000);
    assert.deepEqual((await ald.inspect(locked)).encryption, { mode: 'password', recipientCount: 0 });
    const open = await ald.load(await ald.decrypt(locked, { password: 'pässword' }));
    assert.deepEqual((await open.rows()).map(plain), rows);
    const one = await ald.encrypt(file, { recipients: receiver.publicKey });
    assert.equal((await ald.inspect(one)).encryption.mode, 'recipient');
    assert.equal((await ald.load(one, { privateKeys: receiver.privateKey })).numRows, 1000);
    await fails(ald.load(one, { privateKeys: other.privateKey }), 'DecryptionFailed');
    const several = await ald.save(rows, { encrypt: { recipients: [receiver.publicKey, other.publicKey] } });
    assert.equal((await ald.load(several, { privateKeys: other.privateKey })).numRows, 1000);
    await fails(ald.load(file, { password: 'p' }), 'DecryptionFailed');
    assert.equal((await ald.load(file, { password: 'p', allowPlain: true })).numRows, 1000);
});

await test('licenses: terms, expiry, revocation, removal', async () => {
    const terms = { licensee: 'Anna', terms: 'Only on Sundays', seatLimit: 3, revocable: true };
    const sold = await ald.save(rows, { license: terms, sign: signer.privateKey });
    const trusted = { trustedKeys: signer.publicKey };
    const { license } = await ald.load(sold, trusted);
    assert.equal(license.terms, terms.terms);
    assert.equal(license.seatLimit, 3);
    assert.match(license.licenseId, /^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('Anna'));
    assert.equal(license.licenseeHash, Buffer.from(digest).toString('hex'));
    const revocations = { signer: signer.publicKey, ids: [license.licenseId] };
    await fails(ald.load(sold, { ...trusted, revocations }), 'LicenseRevoked');
    const expired = await ald.license(await ald.save(rows), { licensee: 'A', expiresAt: new Date(1e12), expirationEnforced: true });
    await fails(ald.load(expired), 'LicenseExpired');
    assert.equal((await ald.load(expired, { ignoreExpiry: true })).license.expiresAt.getTime(), 1e12);
    const free = await ald.license(expired, null);
    assert.equal((await ald.load(free)).license, null);
});

await test('errors have the native names and facts', async () => {
    const file = await ald.save(rows);
    const magic = await fails(ald.load(new Uint8Array(100)), 'InvalidFormat');
    assert.ok(magic instanceof ald.AldError && magic instanceof Error);
    assert.equal(magic.status, 1);
    assert.equal(typeof magic.offset, 'number');
    const changed = file.slice();
    changed[file.length - 1] ^= 1;
    await fails(ald.load(changed), 'ChecksumMismatch');
    await fails(ald.load(file.subarray(0, 40)), 'Truncated');
    await fails(ald.load('text'), 'InvalidArgument');
    await fails(ald.load(file, { limits: { uncompressedBytes: 10 } }), 'LimitExceeded');
});

await test('a trap loses what was open, and nothing else', async () => {
    const file = await ald.save(rows);
    const data = await ald.load(file), batch = await data.batch(0);
    traps.add('ald_load');
    const error = await fails(ald.load(file), 'ModuleTrapped');
    assert.match(error.hint, /new instance/);
    await fails(data.rows(), 'ModuleTrapped');
    assert.throws(() => batch.column('id').get(0), { name: 'ModuleTrapped' });
    data.close();
    batch.release();
    assert.equal((await ald.load(file)).numRows, 1000);
    traps.add('ald_streaming_chunk');
    const streaming = await ald.open(await ald.save(rows, { layout: 'streaming', chunkRows: 100 }));
    await fails(streaming.rows(), 'ModuleTrapped');
    assert.equal((await ald.load(file)).numRows, 1000);
});

await test('a remote file: only what is needed is fetched', async () => {
    const file = await ald.save({ v: Float64Array.from({ length: 200000 }, (_, i) => Math.sqrt(i)) },
        { layout: 'streaming', chunkRows: 10000, sign: signer.privateKey, encrypt: { password: 'p' } });
    const server = await serve({ '/x.ald': file, '/whole.ald': await ald.save(rows, { layout: 'whole' }) });
    const seen = [];
    const options = { trustedKeys: signer.publicKey, password: 'p', onProgress: (progress) => seen.push(progress) };
    const data = await ald.openUrl(server.url('/x.ald'), options);
    const atFirst = data.bytesFetched;
    const { begin, end } = data.info.sections.payload;
    assert.ok(atFirst <= Math.max(begin, 1024) + 16384 + file.length - end, `${atFirst} bytes`); // the seal is read, too
    assert.equal((await data.rows(123456, 1))[0].v, Math.sqrt(123456));
    const { compressedSize } = data.info.chunks[12];
    assert.ok(data.bytesFetched - atFirst <= compressedSize + 100, `${data.bytesFetched - atFirst}, ${compressedSize}`);
    const requests = server.requests.length;
    await data.rows(123000, 1000);
    assert.equal(server.requests.length, requests);
    assert.deepEqual(seen.at(-1), { loaded: data.bytesFetched, total: file.length });
    assert.equal((await data.toCSV()).length > file.length / 2, true);
    assert.equal((await (await ald.openUrl(server.url('/whole.ald'))).rows(5, 1))[0].id, 5n);
    await fails(ald.openUrl(server.url('/none')), 'IoError');
    await fails(ald.openUrl(server.url('/x.ald'), { password: 'q', allowUntrusted: true }), 'DecryptionFailed');
    server.rules.etag = '"2"';
    const error = await fails(data.rows(0, 1), 'IoError');
    assert.match(error.message, /changed/);
    await server.close();
    await fails(ald.openUrl(server.url('/x.ald')), 'IoError');
});

await test('a remote file: no ranges, broken connections, abort', async () => {
    const file = await ald.save(rows, { layout: 'streaming', chunkRows: 100 });
    const server = await serve({ '/x.ald': file }, { noRanges: true });
    const data = await ald.openUrl(server.url('/x.ald'));
    assert.equal(data.bytesFetched, null);
    assert.equal((await data.rows(500, 1))[0].id, 500n);
    assert.equal((await ald.loadFromUrl(server.url('/x.ald'))).numRows, 1000);
    server.rules.noRanges = false;
    const cut = await serve({ '/x.ald': file }, { cutAfter: 1 });
    await fails(ald.openUrl(cut.url('/x.ald')).then((opened) => opened.rows()), 'IoError');
    const stop = new AbortController();
    const remote = await ald.openUrl(server.url('/x.ald'), { signal: stop.signal });
    stop.abort();
    await fails(remote.rows(900, 10), 'AbortError');
    await fails(ald.openUrl(server.url('/x.ald'), { signal: stop.signal }), 'AbortError');
    const huge = () => Promise.resolve(new Response('', { headers: { 'Content-Length': '6000000000' } }));
    await fails(ald.loadFromUrl('http://x/', { fetch: huge }), 'OutOfMemory');
    await server.close();
    await cut.close();
});

await test('the cache', async () => {
    const file = await ald.save(rows);
    const server = await serve({ '/x.ald': file, '/bad.ald': file.subarray(0, 500) });
    await fails(ald.loadCached('k'), 'Unsupported');
    globalThis.indexedDB = memoryDatabase();
    assert.equal(await ald.loadCached('k'), null);
    assert.equal((await ald.cacheFromUrl('k', server.url('/x.ald'))).numRows, 1000);
    assert.equal((await ald.loadCached('k')).numRows, 1000);
    await assert.rejects(ald.cacheFromUrl('bad', server.url('/bad.ald')), ald.AldError);
    assert.deepEqual(await ald.cachedKeys(), ['k']);
    await ald.removeCached('k');
    assert.equal(await ald.loadCached('k'), null);
    globalThis.indexedDB = memoryDatabase({ quota: 10 });
    assert.match((await fails(ald.cacheFromUrl('k', server.url('/x.ald')), 'IoError')).hint, /removeCached/);
    delete globalThis.indexedDB;
    await server.close();
});

await test('what does not fit into memory is OutOfMemory, and the instance goes on', async () => {
    const noise = Float64Array.from({ length: 1e6 }, (_, i) => Math.sin(i));
    const small = await ald.save(rows);
    const files = {};
    for (const compression of ['none', 'zstd-l3', 'lz4']) {
        files[compression] = await ald.save({ noise }, { compression });
    }
    for (const [compression, file] of Object.entries(files)) {
        for (const pages of [100, 150, 200, 260]) { // 8 MB of values and about as many of file do not fit
            await ald.init(withMemoryLimit(modules.whole, pages));
            const toText = (data) => data.toCSV().finally(() => data.close());
            const error = await ald.load(file).then(toText).then(() => null, (thrown) => thrown);
            assert.equal(error?.name, 'OutOfMemory', `${compression}, ${pages}: ${error?.stack}`);
            assert.equal((await ald.load(small)).numRows, 1000, `${compression}, ${pages}`);
        }
    }
    await fails(ald.save({ noise: Float64Array.from({ length: 4e6 }, Math.random) }), 'OutOfMemory');
    assert.equal((await ald.load(await ald.save(rows))).numRows, 1000);
    await ald.init();
});

await test('the reader: same data, no writing', async () => {
    const file = await ald.save(rows, { encrypt: { password: 'p' }, sign: signer.privateKey });
    await ald.init(modules.reader);
    const data = await ald.load(file, { password: 'p', trustedKeys: signer.publicKey });
    assert.deepEqual((await data.rows()).map(plain), rows);
    assert.equal(new TextDecoder().decode(await data.toJSONL()).split('\n').length, 1001);
    await fails(data.toArrowIPC(), 'Unsupported');
    await fails(ald.save(rows), 'Unsupported');
    await fails(ald.sign(file, signer.privateKey, { allowUntrusted: true }), 'Unsupported');
    await ald.init();
});

finish();
