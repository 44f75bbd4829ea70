// SPDX-License-Identifier: MIT
// Does what tests/js/test_round_trips.py lists: node round_trips.mjs PACKAGE TASKS.json
// A task saves, changes or loads one file through the package. Prints a JSON array with null, or the failure's name, for each.
import { readFile, writeFile } from 'node:fs/promises';
import { argv, stdout } from 'node:process';
import { pathToFileURL } from 'node:url';

const ald = await import(pathToFileURL(`${argv[2]}/src/index.js`));

const actions = {
    async keys({ out }) {
        for (const [name, algorithm] of [['signer', 'ed25519'], ['anna', 'x25519'], ['bert', 'x25519']]) {
            const { privateKey, publicKey } = await ald.generateKey(algorithm);
            await writeFile(`${out}/${name}.key`, privateKey, { mode: 0o600 });
            await writeFile(`${out}/${name}.pub`, publicKey);
        }
    },
    async save({ input, out, options }) {
        await writeFile(out, await ald.save(await readFile(input), options));
    },
    async steps({ input, out, license, encrypt, sign }) {
        let bytes = await readFile(input);
        bytes = license ? await ald.license(bytes, license) : bytes;
        bytes = encrypt ? await ald.encrypt(bytes, encrypt) : bytes;
        bytes = sign ? await ald.sign(bytes, sign) : bytes;
        await writeFile(out, bytes);
    },
    async load({ input, out, options, opening }) {
        const data = await ald[opening](await readFile(input), options);
        await writeFile(out, await data.toArrowIPC());
        data.close();
    },
};

const results = [];
for (const { action, ...task } of JSON.parse(await readFile(argv[3], 'utf8'))) {
    try {
        await actions[action](task);
        results.push(null);
    } catch (error) {
        results.push(error instanceof ald.AldError ? `${error.name}: ${error.message}` : error.stack);
    }
}
stdout.write(JSON.stringify(results));
