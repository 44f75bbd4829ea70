// SPDX-License-Identifier: MIT
// Tasks of tests/js/test_round_trips.py in Node.js: node round_trips.mjs PACKAGE TASKS.json. Prints a JSON array.
import { readFile, writeFile } from 'node:fs/promises';
import { argv, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';
import { runTasks } from './round_trip_actions.mjs';

const ald = await import(pathToFileURL(`${argv[2]}/src/index.js`));
const tasks = JSON.parse(await readFile(argv[3], 'utf8'));
const io = { read: readFile, write: (path, data) => writeFile(path, data, { mode: 0o600 }) };
stdout.write(JSON.stringify(await runTasks(ald, tasks, io)));
