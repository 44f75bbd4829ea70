// SPDX-License-Identifier: MIT
// Marks against the command's: node watermark.mjs PACKAGE FOLDER, where tests/js/test_watermark_js.py has put the command's
// files and what it said of them.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { fails, finish, test } from './harness.mjs';

const [, , folder, tmp] = argv;
const ald = await import(pathToFileURL(`${folder}/src/index.js`));
const bytes = (name) => readFile(`${tmp}/${name}`);
const json = async (name) => JSON.parse(await readFile(`${tmp}/${name}`, 'utf8'));
const locked = { sellerKey: await readFile(`${tmp}/seller.key`, 'utf8'), keyPassphrase: await readFile(`${tmp}/passphrase`, 'utf8') };
const other = await ald.generateKey('ed25519');
const plain = await ald.load(await bytes('plain.ald'));
const CASES = { usual: {}, named: { datasetId: 'weather 2026' }, strong: { strength: 0.002, hidden: true, columns: ['price', 'temp'] } };

/** Names of the command in the words of JavaScript, and nothing else changed. */
function camel(value) {
    if (Array.isArray(value)) {
        return value.map(camel);
    }
    if (value === null || typeof value !== 'object') {
        return value;
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key
        .replace(/_([a-z0-9])/g, (_, c) => c.toUpperCase()).replace(/^log2p$/i, 'log2P'), camel(item)]));
}

const about = (found, wanted, what) => assert.ok(Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)), `${what}: ${found}, ${wanted}`);

await test('a marked copy is the command\'s, bit for bit, and so is what is said of it', async () => {
    for (const [name, options] of Object.entries(CASES)) {
        const { file, report } = await ald.watermark(plain, { ...locked, buyer: 'ACME Inc.', ...options });
        await writeFile(`${tmp}/${name}-js.ald`, file);
        const marked = await ald.load(file), native = await ald.load(await bytes(`${name}.ald`));
        assert.deepEqual(await marked.toArrowIPC(), await native.toArrowIPC(), name);
        assert.notDeepEqual(await marked.toArrowIPC(), await plain.toArrowIPC());
        const said = camel(await json(`${name}.json`));
        assert.equal(report.buyerHash, said.buyerHash);
        assert.equal(report.capacity, said.capacity);
        report.columns.forEach((column, i) => {
            for (const [key, value] of Object.entries(said.columns[i])) {
                if (typeof value === 'number') {
                    about(column[key], value, `${name}: ${column.name}: ${key}`);
                } else {
                    assert.deepEqual(column[key], value, `${name}: ${column.name}: ${key}`);
                }
            }
        });
        assert.equal(marked.metadata.title, 'Weather');
        marked.close();
        native.close();
    }
});

await test('the command\'s copies name their buyer, and other keys do not', async () => {
    for (const [name, options] of Object.entries(CASES)) {
        const copy = await ald.load(await bytes(`${name}.ald`));
        const looking = { ...locked, datasetId: options.datasetId };
        const said = camel(await json(`${name}-found.json`));
        const found = await ald.extract(copy, { ...looking, buyers: ['Nobody', 'ACME Inc.'] });
        assert.equal(found.found, true, name);
        assert.equal(found.buyer, 'ACME Inc.');
        for (const key of ['isMarked', 'buyerHash', 'method', 'carriers', 'affine']) {
            assert.deepEqual(found[key], said[key], `${name}: ${key}`);
        }
        for (const key of ['confidence', 'evidenceBits', 'log2P', 'agreement', 'presence']) {
            about(found[key], said[key], `${name}: ${key}`);
        }
        assert.deepEqual(found.confirmed.map(({ buyer }) => buyer), ['ACME Inc.']);
        assert.ok(found.columns.some(({ log2P }) => log2P < -40));
        const blind = await ald.extract(copy, looking);
        assert.equal(blind.buyerHash, said.buyerHash);
        assert.equal(blind.buyer, null);
        const wrong = await ald.extract(copy, { ...looking, sellerKey: other.privateKey, buyers: ['ACME Inc.'] });
        assert.deepEqual([wrong.found, wrong.isMarked, wrong.buyerHash], [false, false, null]);
        copy.close();
    }
    assert.equal((await ald.extract(plain, locked)).found, false);
});

await test('a leak: as CSV, cut, shuffled, in other units', async () => {
    const copy = await ald.load(await bytes('usual.ald'));
    const rows = (await copy.rows()).filter((_, i) => i % 3 === 0).reverse();
    const leaked = await ald.load(await ald.save(rows.map(({ temp, price }) => ({ temp, price }))));
    const csv = new TextDecoder().decode(await leaked.toCSV());
    const { buyer_hash: hash } = await json('usual.json');
    assert.equal((await ald.extract(csv, locked)).buyerHash, hash);
    const inPounds = { temp: Float64Array.from(rows, ({ temp }) => 1.8 * temp + 32) };
    const converted = await ald.extract(inPounds, { ...locked, affine: [{ factor: 7 }, { factor: 1.8, offset: 32 }], buyers: [{ buyer: 'A', buyer_hash: hash }] });
    assert.deepEqual([converted.found, converted.buyer, converted.affine], [true, 'A', 1]);
});

await test('detect says what the command says', async () => {
    for (const name of ['plain', 'usual']) {
        const data = await ald.load(await bytes(`${name}.ald`));
        const { columns, ...verdict } = await ald.detect(data);
        const said = camel(await json(`${name}-entropy.json`));
        assert.equal(verdict.likelyWatermarked, said.likelyWatermarked);
        assert.equal(verdict.likelyWatermarked, name === 'usual');
        about(verdict.confidence, said.confidence, 'confidence');
        assert.equal(columns.length, said.columns.length);
        columns.forEach((column, i) => {
            const { rawThresholdsPassed, phase, ...rest } = said.columns[i];
            assert.equal(column.rawThresholdsPassed.length, rawThresholdsPassed.length);
            phase.forEach(({ p, strength, plane }, k) => {
                assert.equal(column.phase[k].plane, plane);
                about(column.phase[k].p, p, 'phase p');
                about(column.phase[k].strength, strength, 'phase strength');
            });
            for (const [key, value] of Object.entries(rest)) {
                if (typeof value === 'number') {
                    about(column[key], value, `${column.name}: ${key}`);
                } else {
                    assert.deepEqual(column[key], value, `${column.name}: ${key}`);
                }
            }
        });
        data.close();
    }
});

await test('a key that asks for too much', async () => {
    const pem = locked.sellerKey.match(/-----BEGIN ENCRYPTED PRIVATE KEY-----[^-]*-----END ENCRYPTED PRIVATE KEY-----/)[0];
    const der = Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64');
    const at = der.indexOf(Buffer.from([0x02, 0x02, 0x40, 0x00, 0x02, 0x01, 0x08, 0x02, 0x01, 0x05])); // N = 2^14, r = 8, p = 5
    assert.ok(at > 0);
    for (const [place, value] of [[at + 2, 0x7f], [at + 3, 0x01], [at + 6, 0x7f], [at + 6, 0x00], [at + 9, 0x7f]]) {
        const changed = Buffer.from(der);
        changed[place] = value;
        const text = `-----BEGIN ENCRYPTED PRIVATE KEY-----\n${changed.toString('base64')}\n-----END ENCRYPTED PRIVATE KEY-----\n`;
        await fails(ald.extract(plain, { ...locked, sellerKey: text }), 'LimitExceeded');
    }
});

await test('what cannot be is said, and nothing comes out', async () => {
    const options = { ...locked, buyer: 'ACME Inc.' };
    await fails(ald.watermark(plain, { ...options, columns: ['none'] }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, strength: 0.1 }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, strength: -1 }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, buyer: '' }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, sellerKey: undefined }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, keyPassphrase: 'wrong' }), 'DecryptionFailed');
    await fails(ald.watermark(plain, { ...options, keyPassphrase: undefined }), 'InvalidArgument');
    await fails(ald.watermark(plain, { ...options, bayer: 'x' }), 'InvalidArgument');
    await fails(ald.watermark({ word: ['a', 'b'] }, options), 'Unsupported');
    await fails(ald.extract(plain, { ...locked, buyers: [{ buyer: 'x', buyer_hash: 'no hash' }] }), 'InvalidArgument');
    const signing = { sign: locked.sellerKey, keyPassphrase: locked.keyPassphrase };
    const signed = await ald.load(await ald.save(plain, { ...signing, license: { licensee: 'A' } }), { allowUntrusted: true });
    await fails(ald.watermark(signed, options), 'InvalidArgument');
    await fails(ald.watermark(signed, { ...options, sign: locked.sellerKey }), 'InvalidArgument');
    const { file } = await ald.watermark(signed, { ...options, sign: locked.sellerKey, license: { licensee: 'ACME Inc.' } });
    const copy = await ald.load(file, { allowUntrusted: true });
    assert.equal(copy.license.watermarked, true);
    assert.equal((await ald.extract(copy, { ...locked, buyers: ['ACME Inc.'] })).buyer, 'ACME Inc.');
    await ald.init(await readFile(`${folder}/ald-reader.wasm`));
    await fails(ald.watermark({ x: Float64Array.of(1, 2) }, options), 'Unsupported');
    await ald.init();
});

finish();
