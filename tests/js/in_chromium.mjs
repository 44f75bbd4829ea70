// SPDX-License-Identifier: MIT
// Runs tasks in a Web Worker of Chromium: node in_chromium.mjs TOOLS CHROMIUM SERVER TASKS.json. Prints a JSON array.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { argv, stdout } from 'node:process';

const [, , tools, chromiumPath, server, tasksPath] = argv;
const { chromium } = createRequire(`${tools}/`)('playwright-core');
const browser = await chromium.launch({ executablePath: chromiumPath, args: ['--no-sandbox'] });
try {
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(error));
    page.on('console', (message) => console.error(message.text()));
    await page.goto(`${server}/page.html`);
    const tasks = JSON.parse(await readFile(tasksPath, 'utf8'));
    stdout.write(JSON.stringify(await page.evaluate((message) => new Promise((resolve, reject) => {
        const worker = new Worker('/round_trip_worker.mjs', { type: 'module' });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message: why }) => reject(new Error(why));
        worker.postMessage(message);
    }), { server, tasks })));
} finally {
    await browser.close();
}
