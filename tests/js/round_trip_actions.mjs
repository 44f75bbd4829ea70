// SPDX-License-Identifier: MIT
// What tests/js/test_round_trips.py has done, in whatever runs the package. `io` reads and writes files.

const actions = (ald, io) => ({
    async keys({ out }) {
        for (const [name, algorithm] of [['signer', 'ed25519'], ['anna', 'x25519'], ['bert', 'x25519']]) {
            const { privateKey, publicKey } = await ald.generateKey(algorithm);
            await io.write(`${out}/${name}.key`, privateKey);
            await io.write(`${out}/${name}.pub`, publicKey);
        }
    },
    async save({ input, out, options }) {
        await io.write(out, await ald.save(await io.read(input), options));
    },
    async steps({ input, out, license, encrypt, sign }) {
        let bytes = await io.read(input);
        bytes = license ? await ald.license(bytes, license) : bytes;
        bytes = encrypt ? await ald.encrypt(bytes, encrypt) : bytes;
        bytes = sign ? await ald.sign(bytes, sign) : bytes;
        await io.write(out, bytes);
    },
    async load({ input, out, options, opening }) {
        const data = await ald[opening](await io.read(input), options);
        await io.write(out, await data.toArrowIPC());
        data.close();
    },
});

/** Saves, changes or loads one file a task; -> null, or the failure, for each. */
export async function runTasks(ald, tasks, io) {
    const results = [];
    const does = actions(ald, io);
    for (const { action, ...task } of tasks) {
        try {
            await does[action](task);
            results.push(null);
        } catch (error) {
            results.push(error instanceof ald.AldError ? `${error.name}: ${error.message}` : error.stack);
        }
    }
    return results;
}
