// SPDX-License-Identifier: MIT
// The examples of the package's README, as they stand there, in Chromium and in Node.js where they need no server:
//     node readme_page.mjs PACKAGE TOOLS CHROMIUM
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { finish, test } from './harness.mjs';
import { read, virtualFile } from './virtual_file.mjs';

const [, , folder, tools, chromiumPath] = argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');
const ald = await import(pathToFileURL(`${folder}/src/index.js`));
const text = await readFile(`${folder}/README.md`, 'utf8');
const blocks = [...text.matchAll(/^```(js|html)( \w+)?\n(.*?)^```$/gms)].map(([, kind, where, body]) => ({ kind, where, body }));
const MAP = '<script type="importmap">{ "imports": { "alimentar": "/alimentar/src/index.js" } }</script>';
const TYPES = { js: 'text/javascript', wasm: 'application/wasm' };

const iris = await ald.save({ petal_length: Float64Array.of(1.4, 4.7, 6), species: ['setosa', 'versicolor', 'virginica'] });
const rows = 100_000, values = Float64Array.from({ length: rows }, (_, i) => i);
const chunk = await ald.save({ values }, { layout: 'streaming', compression: 'none', chunkRows: rows });
const large = virtualFile(chunk, await ald.inspect(chunk), 50);
const pages = blocks.map(({ kind, body }) => (kind === 'html' ? body
    : `${MAP}<script type="module">window.done = false;\n${body}\nwindow.done = true;</script>`));

const site = createServer(async (request, response) => {
    const { url } = request, page = /^\/(\d+)\.html$/.exec(url);
    if (page !== null) {
        response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<!doctype html><link rel="icon" href="data:,">${pages[page[1]]}`);
    } else if (url === '/iris.ald') {
        response.writeHead(200).end(iris);
    } else if (url === '/large.ald') {
        const [begin, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range).slice(1).map(Number);
        const end = Math.min(last + 1, large.size);
        response.writeHead(206, { 'Content-Range': `bytes ${begin}-${end - 1}/${large.size}`, 'Content-Length': end - begin });
        Readable.from(read(large, begin, end)).pipe(response);
    } else {
        const data = await readFile(folder + url.replace(/^\/alimentar/, '')).catch(() => null);
        response.writeHead(data === null ? 404 : 200, { 'Content-Type': TYPES[url.split('.').pop()] ?? 'text/plain' }).end(data);
    }
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });

assert.ok(blocks.filter(({ where }) => where === undefined).length > 7);
for (const [i, { kind, where, body }] of blocks.entries()) {
    if (where !== undefined) { // needs a tool that has a test of its own
        continue;
    }
    await test(body.split('\n')[0], async () => {
        const page = await browser.newPage();
        const said = [], complaints = [];
        page.on('pageerror', (error) => complaints.push(error.message));
        page.on('console', (message) => (message.type() === 'error' ? complaints : said).push(message.text()));
        await page.goto(`http://127.0.0.1:${site.address().port}/${i}.html`);
        await Promise.race([
            page.waitForFunction(kind === 'html' ? () => document.title !== '' : () => window.done === true),
            page.waitForEvent('pageerror').then((error) => Promise.reject(error)),
        ]);
        assert.deepEqual(complaints, []);
        assert.ok(kind === 'html' ? await page.title() === '3 rows' : said.length > 0, said.join('\n'));
        await page.close();
    });
}

await test('types of all that is exported', async () => {
    const types = await readFile(`${folder}/index.d.ts`, 'utf8');
    for (const name of Object.keys(ald)) {
        assert.match(types, new RegExp(`export (function|class) ${name}\\b`));
        assert.ok(text.includes(name) || ['Batch', 'Column', 'Dataset', 'loadFromUrl'].includes(name), `README: ${name}`);
    }
});

await browser.close();
site.closeAllConnections();
site.close();
finish();
