// SPDX-License-Identifier: MIT
// Loads FILE.ald so many times: node wasm_load.mjs PACKAGE FILE ROUNDS. Prints CPU and wall seconds of each as JSON, the first
// load of the process first.
import { readFile } from 'node:fs/promises';
import { argv, cpuUsage, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';

const ald = await import(pathToFileURL(`${argv[2]}/src/index.js`));
const bytes = new Uint8Array(await readFile(argv[3]));
await ald.init();
const rounds = [];
for (let i = 0; i < Number(argv[4]); i++) {
    const before = cpuUsage(), started = performance.now();
    const data = await ald.load(bytes);
    const { user, system } = cpuUsage(before);
    rounds.push({ cpu: (user + system) / 1e6, wall: (performance.now() - started) / 1e3, rows: data.numRows });
    data.close();
}
stdout.write(JSON.stringify(rounds));
