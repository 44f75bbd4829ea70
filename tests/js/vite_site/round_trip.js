// SPDX-License-Identifier: MIT
import { generateKey, load, save } from 'alimentar';

/** Signed, encrypted, and back. -> what came back, as text */
export async function roundTrip() {
    const { privateKey, publicKey } = await generateKey('ed25519');
    const file = await save({ n: Float64Array.of(1.5, 2.5), s: ['a', 'b'] }, { sign: privateKey, encrypt: { password: 'p' } });
    const data = await load(file, { trustedKeys: publicKey, password: 'p' });
    return JSON.stringify(await data.rows());
}
