// SPDX-License-Identifier: MIT
// The viewer in Chromium: node viewer_page.mjs VIEWER_FOLDER TOOLS CHROMIUM
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { argv } from 'node:process';
import { pathToFileURL } from 'node:url';
import { finish, serve, test } from './harness.mjs';

const [, , folder, tools, chromiumPath] = argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');
const ald = await import(pathToFileURL(`${folder}/alimentar/src/index.js`));

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm' };
const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(await readFile(`${folder}/index.html`, 'utf8'))[1];
assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|\*/);
const site = createServer(async (request, response) => {
    const name = request.url === '/' ? '/index.html' : request.url;
    try {
        const data = await readFile(folder + name);
        const type = TYPES[name.split('.').pop()] ?? 'application/octet-stream';
        response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy }).end(data);
    } catch {
        response.writeHead(404).end();
    }
});
await new Promise((resolve) => site.listen(0, '127.0.0.1', resolve));
const address = `http://127.0.0.1:${site.address().port}/`;

const signer = await ald.generateKey('ed25519');
const card = '# Cities\n<img src=x onerror="window.bad = 1"> <script>window.bad = 1</script> [go](javascript:window.bad=1) **fine**';
const table = { city: Array.from({ length: 50000 }, (_, i) => `city <b>${i % 7}</b>`), x: Float64Array.from({ length: 50000 }, (_, i) => Math.sqrt(i)) };
const file = await ald.save(table, {
    metadata: { name: '<i>Cities</i>', description: card, tags: ['<u>a</u>'] }, layout: 'streaming', chunkRows: 5000,
    sign: signer.privateKey, encrypt: { password: 'secret' }, license: { licensee: 'Anna', terms: '<b>none</b>' },
});

const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });

/** A page, and what it complained of. */
async function open(how = {}) {
    const page = await browser.newPage(how);
    const complaints = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => (message.type() === 'error' ? complaints.push(message.text()) : null));
    await page.goto(address);
    return { page, complaints, says: (text) => page.waitForFunction((want) => document.getElementById('status').textContent.includes(want), text) };
}

async function drop(page, name, bytes) {
    await page.setInputFiles('#file', { name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });
}

await test('an encrypted, signed, licensed file with a hostile card', async () => {
    const { page, complaints, says } = await open();
    await page.click('#trust summary');
    await page.fill('#trusted', signer.publicKey);
    await drop(page, 'cities.ald', file);
    await page.fill('#password', 'wrong');
    await page.click('#ask button[value=open]');
    await page.waitForFunction(() => document.getElementById('ask-why').textContent.includes('not the password'));
    await page.fill('#password', 'secret');
    await page.click('#ask button[value=open]');
    await says('50000 rows');
    assert.equal(await page.textContent('#card-title'), '<i>Cities</i>');
    assert.match(await page.textContent('#signer'), /verifies.*you trust/);
    assert.match(await page.textContent('#license'), /<b>none<\/b>/);
    assert.match(await page.textContent('#card'), /onerror="window.bad = 1"/);
    assert.deepEqual(await page.$$eval('#card *', (all) => all.map((e) => e.localName)), ['h3', 'p', 'span', 'strong']);
    assert.equal(await page.$$eval('#view img, #view script, #view b, #view i, #view u', (all) => all.length), 0);
    assert.equal(await page.evaluate(() => window.bad), undefined);
    await page.fill('#row', '40000');
    await page.dispatchEvent('#row', 'change');
    await page.waitForFunction(() => [...document.querySelectorAll('#rows tbody th')].some((th) => th.textContent === '40000'));
    assert.ok(await page.$$eval('#rows tbody tr', (all) => all.length) < 200);
    await page.selectOption('#column', '1');
    await page.waitForFunction(() => document.getElementById('entropy-text').textContent.includes('Entropy'));
    assert.equal(await page.$$eval('#histogram rect', (all) => all.length), 32);
    assert.deepEqual(complaints, []);
    await page.close();
});

await test('the page itself runs no module, and stays awake', async () => {
    const { page, complaints, says } = await open();
    await says('Drop a file');
    const wide = await ald.save({ x: Float64Array.from({ length: 3e6 }, (_, i) => Math.sin(i)) }, { layout: 'whole', encrypt: { password: 'p' } });
    await drop(page, 'wide.ald', wide);
    await page.fill('#password', 'p');
    await page.evaluate(() => { // the longest pause between two turns of the page's own loop
        globalThis.slowest = 0;
        let before = performance.now();
        setInterval(() => {
            const now = performance.now();
            globalThis.slowest = Math.max(globalThis.slowest, now - before);
            before = now;
        }, 5);
    });
    await page.click('#ask button[value=open]');
    await says('3000000 rows');
    const started = performance.now();
    await (await ald.load(wide, { password: 'p' })).column('x').then((column) => column.toArray());
    const own = performance.now() - started;
    const [slowest, loaded] = await page.evaluate(() => [globalThis.slowest,
        performance.getEntriesByType('resource').map(({ name }) => name.split('/').pop())]);
    assert.equal(page.workers().length, 1);
    assert.ok(!loaded.includes('ald.wasm'), String(loaded));
    assert.ok(slowest < own, `a pause of ${slowest} ms`);
    console.log(`note: the page's longest pause: ${Math.round(slowest)} ms; the same work takes ${Math.round(own)} ms in one piece`);
    assert.deepEqual(complaints, []);
    await page.close();
});

await test('a second file while the first is looked at; a worker that stops', async () => {
    const { page, complaints, says } = await open();
    await drop(page, 'a.csv', Buffer.from(`n\n${'1\n'.repeat(200000)}`));
    await drop(page, 'b.csv', Buffer.from('m\n5\n'));
    await says('b.ald: 1 rows');
    await page.waitForTimeout(200);
    assert.equal(await page.textContent('#rows thead'), '#m');
    assert.equal(await page.textContent('#rows tbody td:not(.space td)'), '5');
    await page.workers()[0].evaluate(() => setTimeout(() => {
        throw new Error('broken on purpose');
    }));
    await page.waitForFunction(() => true);
    await page.waitForTimeout(200);
    await drop(page, 'c.csv', Buffer.from('m\n6\n7\n'));
    await says('c.ald: 2 rows');
    assert.equal(complaints.filter((text) => !text.includes('broken on purpose')).length, 0, String(complaints));
    await page.close();
});

await test('a private key under a passphrase', async () => {
    const keys = generateKeyPairSync('x25519', {
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open up' },
    });
    const { page, says } = await open();
    await page.click('#trust summary');
    await page.fill('#private', keys.privateKey);
    await drop(page, 'sealed.ald', await ald.save({ x: [1, 2] }, { encrypt: { recipients: keys.publicKey } }));
    await says('passphrase of the key is needed');
    await page.fill('#passphrase', 'open up');
    await drop(page, 'sealed.ald', await ald.save({ x: [1, 2, 3] }, { encrypt: { recipients: keys.publicKey } }));
    await says('3 rows');
    await page.close();
});

await test('what a screen reader and weak eyes need', async () => {
    for (const colorScheme of ['light', 'dark']) {
        const { page, says } = await open({ bypassCSP: true, colorScheme }); // for the checker's script
        await page.click('#trust summary');
        await page.fill('#trusted', signer.publicKey);
        await drop(page, 'a.ald', await ald.save({ x: [1.5, null], word: ['a', 'b'] }, { metadata: { description: card }, sign: signer.privateKey,
            license: { licensee: 'Anna' } }));
        await says('a.ald: 2 rows');
        await page.evaluate(await readFile(`${tools}/node_modules/axe-core/axe.min.js`, 'utf8'));
        const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
        assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], colorScheme);
        assert.ok(passes.length > 20);
        await page.close();
    }
});

await test('without a network', async () => {
    const { page, complaints, says } = await open();
    await page.waitForFunction(() => document.body.ariaBusy === 'false');
    await page.context().setOffline(true);
    await drop(page, 'a.ald', await ald.save({ x: [1, 2] }));
    await says('a.ald: 2 rows');
    assert.deepEqual(complaints, []);
    await page.close();
});

await test('a remote file', async () => {
    const server = await serve({ '/x.ald': await ald.save(table, { layout: 'streaming', chunkRows: 5000 }) });
    const { page, says } = await open();
    await page.route(server.url('/x.ald'), async (route) => { // the test's server has no CORS headers
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), 'Access-Control-Allow-Origin': '*',
            'Access-Control-Expose-Headers': 'Content-Range, ETag' } });
    });
    await page.fill('#url', server.url('/x.ald'));
    await page.click('#open-url button');
    await says('50000 rows');
    assert.match(await page.textContent('#signer'), /Not signed/);
    assert.ok(server.requests.length < 10, String(server.requests));
    await page.close();
    await server.close();
});

await test('CSV is converted and can be saved; what is broken is said', async () => {
    const { page, says } = await open();
    await drop(page, 'a.csv', Buffer.from('n,s\n1,x\n2,y\n'));
    await says('2 rows');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download a')]);
    assert.equal(download.suggestedFilename(), 'a.ald');
    assert.equal((await ald.load(await readFile(await download.path()))).numRows, 2);
    await drop(page, 'b.ald', Buffer.from('nothing that could be read'));
    await says('InvalidFormat');
    await drop(page, 'c.csv', Buffer.from('n,s\n1\n'));
    await says('InvalidFormat');
    await page.close();
});

await browser.close();
site.close();
finish();
