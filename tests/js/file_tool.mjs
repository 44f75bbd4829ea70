// SPDX-License-Identifier: MIT
// Answers, through the package, the commands that tests/runners/check_files.py gives to `alimentar`:
//     node file_tool.mjs PACKAGE MODULE.wasm
// One JSON array of arguments a line on stdin; one {code, out (base64), err} a line on stdout.
import { readFile, writeFile } from 'node:fs/promises';
import { argv, stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const ald = await import(pathToFileURL(`${argv[2]}/src/index.js`));
await ald.init(await readFile(argv[3]));

const SWITCHES = {
    '--allow-untrusted': 'allowUntrusted', '--allow-unsigned': 'allowUnsigned', '--allow-plain': 'allowPlain',
    '--ignore-expiry': 'ignoreExpiry',
};

/** -> [operands, options of load()] */
async function parse(args) {
    const operands = [], options = {};
    for (let i = 0; i < args.length; i++) {
        if (SWITCHES[args[i]] !== undefined) {
            options[SWITCHES[args[i]]] = true;
        } else if (args[i] === '--passphrase-file') {
            options.password = new Uint8Array(await readFile(args[++i]));
        } else if (args[i] === '--private-key') {
            (options.privateKeys ??= []).push(await readFile(args[++i], 'utf8'));
        } else if (args[i] === '--trusted-keys') {
            options.trustedKeys = await readFile(args[++i], 'utf8');
        } else if (args[i] !== '--json') {
            operands.push(args[i]);
        }
    }
    return [operands, options];
}

const commands = {
    async convert([path, out], options) {
        const data = await ald.open(await readFile(path), { ...options, checkAll: true });
        try {
            await writeFile(out, await data.toArrowIPC());
        } finally {
            data.close();
        }
    },
    async cat([path], options) {
        const data = await ald.load(await readFile(path), options);
        try {
            return await data.toJSONL();
        } finally {
            data.close();
        }
    },
    async verify([path], options) {
        await ald.verify(await readFile(path), options);
    },
    async info([path]) {
        const { rowCount } = await ald.inspect(await readFile(path));
        return new TextEncoder().encode(JSON.stringify({ num_rows: rowCount }));
    },
};

async function answer([command, ...args]) {
    try {
        const out = await commands[command](...await parse(args));
        return { code: 0, out: out === undefined ? '' : Buffer.from(out).toString('base64'), err: '' };
    } catch (error) {
        const text = error instanceof ald.AldError && error.name !== 'ModuleTrapped' ? `${error.name}: ${error.message}` : null;
        return { code: text === null ? 99 : 1, out: '', err: text ?? `${error.stack}\n${error.cause?.stack ?? ''}` };
    }
}

for await (const line of createInterface({ input: stdin })) {
    stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
