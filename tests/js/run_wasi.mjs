// SPDX-License-Identifier: MIT
// Runs a C program that was compiled for wasm32-wasi: node run_wasi.mjs PROGRAM.wasm. It sees the tests as /tests.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { argv, exit } from 'node:process';
import { WASI } from 'node:wasi';

const tests = fileURLToPath(new URL('..', import.meta.url));
const wasi = new WASI({ version: 'preview1', args: argv.slice(2), env: {}, preopens: { '/tests': tests } });
const module = await WebAssembly.compile(await readFile(argv[2]));
const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport });
exit(wasi.start(instance));
