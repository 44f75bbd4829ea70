// SPDX-License-Identifier: MIT
// A remote file of more than 1.5 GB in Chromium, and what does not fit into memory:
//     node large_page.mjs PACKAGE TOOLS CHROMIUM [FILE.ald]
// Without FILE the server makes the file up as it is read. With one, all of its rows are read, too.
import assert from 'node:assert/strict';
import { createReadStream, readdirSync, readFileSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { finish, test } from './harness.mjs';
import { read, virtualFile } from './virtual_file.mjs';

const [, , folder, tools, chromiumPath, given] = argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');
const ald = await import(pathToFileURL(`${folder}/src/index.js`));
const CHUNKS = 1000, CHUNK_ROWS = 100_000, MEMORY_MOST = 64 << 20, HUGE = 6e9;
const TYPES = { js: 'text/javascript', wasm: 'application/wasm', html: 'text/html' };

const values = Float64Array.from({ length: CHUNK_ROWS }, (_, i) => Math.sqrt(i));
const row = BigInt64Array.from({ length: CHUNK_ROWS }, (_, i) => BigInt(i));
const small = await ald.save({ row, values }, { layout: 'streaming', compression: 'none', chunkRows: CHUNK_ROWS });
const made = virtualFile(small, await ald.inspect(small), CHUNKS);
const large = given === undefined
    ? { size: made.size, stream: (begin, end) => Readable.from(read(made, begin, end)) }
    : { size: statSync(given).size, stream: (begin, end) => createReadStream(given, { start: begin, end: end - 1 }) };

function answerRange(request, response) {
    const [, begin, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '').map(Number);
    const end = Math.min(last + 1, large.size);
    response.writeHead(206, { 'Content-Range': `bytes ${begin}-${end - 1}/${large.size}`, 'Content-Length': end - begin, ETag: '"1"' });
    large.stream(begin, end).pipe(response);
}

const site = createServer(async (request, response) => {
    const name = request.url;
    if (name === '/large.ald') {
        answerRange(request, response);
    } else if (name === '/huge.ald') { // longer than any memory, and no ranges
        response.writeHead(200, { 'Content-Length': HUGE });
        response.write(Buffer.alloc(1 << 20));
    } else if (name === '/page.html') {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>test</title>');
    } else if (name === '/small.ald') {
        response.writeHead(200).end(small);
    } else {
        const data = await readFile(folder + name.replace('/package', '')).catch(() => null);
        response.writeHead(data === null ? 404 : 200, { 'Content-Type': TYPES[name.split('.').pop()] ?? 'text/plain' }).end(data);
    }
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${site.address().port}`;

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
const page = await browser.newPage();
await page.goto(`${address}/page.html`);
await page.evaluate(() => { // the module's memory, to be looked at
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (...args) => {
        const instance = await instantiate.call(WebAssembly, ...args);
        globalThis.moduleMemory = instance.exports.memory;
        return instance;
    };
});

/** The largest resident set of the browser's processes so far, in bytes. */
function largestProcess() {
    const sizes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((pid) => {
        try {
            const isOurs = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--type=renderer');
            return isOurs ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024 : 0;
        } catch {
            return 0;
        }
    });
    return Math.max(...sizes);
}

await test('rows of a file that is larger than what may be held', async () => {
    assert.ok(large.size > 1.5e9, `${large.size} bytes`);
    const found = await page.evaluate(async (url) => {
        const { openUrl } = await import('/package/src/index.js');
        const data = await openUrl(url);
        const opened = data.bytesFetched;
        const start = Math.floor(data.numRows * 0.77), rows = await data.rows(start, 1000);
        const touched = data.info.chunks.filter(({ firstRow, rowCount }) => firstRow < start + 1000 && firstRow + rowCount > start);
        const out = {
            start, opened, fetched: data.bytesFetched, prefix: data.info.sections.payload.begin,
            touched: touched.reduce((sum, chunk) => sum + chunk.compressedSize, 0),
            last: String((await data.rows(data.numRows - 1, 1))[0].row),
            first: rows.slice(0, 2).map((each) => [String(each.row), each.values]),
            memory: globalThis.moduleMemory.buffer.byteLength, numRows: data.numRows,
        };
        data.close();
        return out;
    }, `${address}/large.ald`);
    if (given === undefined) {
        const at = found.start % CHUNK_ROWS;
        assert.deepEqual(found.first, [[String(at), Math.sqrt(at)], [String(at + 1), Math.sqrt(at + 1)]]);
        assert.equal(found.last, String(CHUNK_ROWS - 1));
    }
    assert.ok(found.fetched <= Math.max(found.prefix, 1024) + found.touched + 1024, JSON.stringify(found));
    assert.ok(found.memory < MEMORY_MOST, JSON.stringify(found));
    console.log(`note: ${large.size} bytes: ${found.fetched} fetched for a window of 1,000 rows; the module's memory has ${found.memory}`);
});

await test('all of its chunks, one after the other', async () => {
    const count = given === undefined ? 60 : Infinity;
    const found = await page.evaluate(async ([url, most]) => {
        const { openUrl } = await import('/package/src/index.js');
        const data = await openUrl(url);
        let rows = 0;
        for (let i = 0; i < Math.min(most, data.batchCount); i++) {
            const batch = await data.batch(i);
            rows += batch.length;
            batch.release();
        }
        data.close();
        return { rows, fetched: data.bytesFetched, memory: globalThis.moduleMemory.buffer.byteLength };
    }, [`${address}/large.ald`, count === Infinity ? 1e9 : count]);
    assert.ok(found.memory < MEMORY_MOST, JSON.stringify(found));
    assert.ok(largestProcess() < 600e6, `${largestProcess()} bytes`);
    console.log(`note: ${found.rows} rows, ${found.fetched} bytes read through; the module's memory has ${found.memory}, `
        + `the largest page process had ${largestProcess()}`);
});

await test('a file that does not fit into memory is OutOfMemory, and the page goes on', async () => {
    const found = await page.evaluate(async ([at, isReal]) => {
        const ald = await import('/package/src/index.js');
        const nameOf = (promise) => promise.then(() => 'none', (error) => `${error.name}: ${error.hint}`);
        const out = [await nameOf(ald.openUrl(`${at}/huge.ald`)), await nameOf(ald.loadFromUrl(`${at}/huge.ald`))];
        const data = await ald.openUrl(`${at}/large.ald`);
        if (isReal) {
            out.push(await nameOf(data.toCSV())); // all of it, at once
        }
        out.push((await ald.loadFromUrl(`${at}/small.ald`)).numRows);
        return out;
    }, [address, given !== undefined]);
    assert.match(found[0], /^OutOfMemory: openUrl/);
    assert.match(found[1], /^OutOfMemory: openUrl/);
    assert.equal(found.pop(), CHUNK_ROWS);
    assert.ok(found.slice(2).every((each) => each.startsWith('OutOfMemory')), found[2]);
});

await test('the cache of a real browser', async () => {
    const result = await page.evaluate(async (at) => {
        const ald = await import('/package/src/index.js');
        const kept = await ald.cacheFromUrl('small', `${at}/small.ald`);
        const again = await ald.loadCached('small');
        return [kept.numRows, again.numRows, await ald.loadCached('none'), await ald.cachedKeys(), await ald.removeCached('small'), await ald.cachedKeys()];
    }, address);
    assert.deepEqual(result, [CHUNK_ROWS, CHUNK_ROWS, null, ['small'], undefined, []]);
});

await browser.close();
site.closeAllConnections();
site.close();
finish();
