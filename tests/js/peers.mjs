// SPDX-License-Identifier: MIT
// What toArrowIPC gives, read by others, and what others write, saved: node peers.mjs PACKAGE TOOLS
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { finish, test } from './harness.mjs';

const require = createRequire(`${argv[3]}/`);
const ald = await import(pathToFileURL(`${argv[2]}/src/index.js`));
const arrow = require('apache-arrow');
const flechette = await import(pathToFileURL(require.resolve('@uwdata/flechette')));

const columns = {
    f32: Float32Array.of(0.5, -1, 3), i8: Int8Array.of(-1, 0, 1), i64: BigInt64Array.of(-(2n ** 63n), 0n, 5n), u32: Uint32Array.of(1, 2, 2 ** 32 - 1),
    text: ['é', null, 'x'.repeat(20)], flag: [true, null, false],
};
const data = await ald.load(await ald.save(columns));
const wanted = Object.fromEntries(await Promise.all(Object.keys(columns).map(async (name) => [name, (await data.column(name)).toArray()])));

await test('apache-arrow reads streams and files', async () => {
    for (const format of ['stream', 'file']) {
        const table = arrow.tableFromIPC(await data.toArrowIPC({ format }));
        assert.equal(table.numRows, 3);
        for (const [name, values] of Object.entries(wanted)) {
            assert.deepEqual([...table.getChild(name)], values, name);
        }
    }
});

await test('flechette reads streams', async () => {
    const table = flechette.tableFromIPC(await data.toArrowIPC(), { useBigInt: true });
    for (const [name, values] of Object.entries(wanted)) {
        assert.deepEqual([...table.getChild(name)], values, name);
    }
});

await test('what apache-arrow and flechette write is saved', async () => {
    const table = arrow.tableFromArrays({ a: Float64Array.of(1.5, 2), b: ['x', 'y'] });
    for (const format of ['stream', 'file']) {
        const saved = await ald.load(await ald.save(arrow.tableToIPC(table, format)));
        assert.deepEqual((await saved.rows()).map((row) => ({ ...row })), [{ a: 1.5, b: 'x' }, { a: 2, b: 'y' }]);
    }
    const other = flechette.tableToIPC(flechette.tableFromArrays({ n: Int32Array.of(7, 8), when: [new Date(0), new Date(1e12)] }), { format: 'stream' });
    const saved = await ald.load(await ald.save(other));
    assert.deepEqual((await saved.column('n')).toArray(), [7, 8]);
    assert.equal(saved.numRows, 2);
});

finish();
