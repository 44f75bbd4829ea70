// SPDX-License-Identifier: MIT
// The package in a page that Vite builds, and that its development server serves, in Chromium:
//     node vite_page.mjs PACKAGE TOOLS CHROMIUM FOLDER
// FOLDER is an empty one, where the site of tests/js/vite_site is put with the package as its dependency.
import assert from 'node:assert/strict';
import { cp, readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { finish, test } from './harness.mjs';

const [, , pack, tools, chromiumPath, root] = argv;
const tool = createRequire(`${tools}/`);
const { chromium } = tool('playwright-core');
const vite = await import(pathToFileURL(`${tools}/node_modules/vite/dist/node/index.js`));
const WANTED = '[{"n":1.5,"s":"a"},{"n":2.5,"s":"b"}]';

await cp(fileURLToPath(new URL('vite_site', import.meta.url)), root, { recursive: true });
await cp(pack, `${root}/node_modules/alimentar`, { recursive: true });
const config = { root, configFile: false, logLevel: 'error', cacheDir: `${root}/cache` };
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });

async function look(address) {
    const page = await browser.newPage();
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => (message.type() === 'error' ? complaints.push(message.text()) : null));
    await page.goto(address);
    for (const id of ['page', 'worker']) {
        await page.waitForFunction((name) => document.getElementById(name)?.textContent !== '', id);
        assert.equal(await page.textContent(`#${id}`), WANTED, id);
    }
    assert.deepEqual(complaints, []);
    await page.close();
}

await test('built', async () => {
    await vite.build(config);
    const assets = await readdir(`${root}/dist/assets`);
    assert.ok(assets.some((name) => /^ald-.*\.wasm$/.test(name)), String(assets));
    const scripts = await Promise.all(assets.filter((name) => name.endsWith('.js')).map((name) => readFile(`${root}/dist/assets/${name}`, 'utf8')));
    assert.ok(!scripts.some((text) => text.includes('data:application/wasm')));
    const server = await vite.preview({ ...config, preview: { host: '127.0.0.1', port: 0 } });
    try {
        await look(server.resolvedUrls.local[0]);
        await look(`${server.resolvedUrls.local[0]}?auto`);
    } finally {
        await new Promise((resolve) => server.httpServer.close(resolve));
    }
});

await test('served for development', async () => {
    const server = await vite.createServer({ ...config, server: { host: '127.0.0.1', port: 0 } });
    try {
        await server.listen();
        await look(server.resolvedUrls.local[0]);
    } finally {
        await server.close();
    }
});

await test('served for development, with the package left as it is', async () => {
    const server = await vite.createServer({ ...config, cacheDir: `${root}/cache2`, optimizeDeps: { exclude: ['alimentar'] },
        server: { host: '127.0.0.1', port: 0 } });
    try {
        await server.listen();
        await look(`${server.resolvedUrls.local[0]}?auto`);
    } finally {
        await server.close();
    }
});

await browser.close();
finish();
