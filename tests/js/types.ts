// SPDX-License-Identifier: MIT
// Compiled, not run: the types of the package fit how it is used.
import {
    AldError, Batch, Column, Dataset, Finding, Info, cacheFromUrl, decrypt, detect, encrypt, extract, generateKey, init, inspect, license, load, loadCached,
    loadFromUrl, open, openUrl, save, sign, verify, watermark,
} from 'alimentar';

export async function use(bytes: ArrayBuffer, module: WebAssembly.Module): Promise<number> {
    const { canWrite }: { canWrite: boolean } = await init(module);
    await init(fetch('ald.wasm'));
    const data: Dataset = await load(bytes, { password: 'p', limits: { uncompressedBytes: 1 } });
    for await (const batch of data) {
        const column: Column | undefined = batch.column('x');
        if (column?.values instanceof Float64Array) {
            const sum: number = column.values.reduce((a, b) => a + b, 0);
            console.log(sum, column.get(0), batch.rows(0, 1)[0].x);
        }
        batch.release();
    }
    const remote = await openUrl('https://example.org/x.ald', { signal: new AbortController().signal, onProgress: ({ loaded }) => loaded });
    const part: Batch = await remote.batch(0, { columns: ['x'] });
    const info: Info = await inspect(bytes);
    const { privateKey, publicKey } = await generateKey('ed25519');
    const file: Uint8Array = await save({ a: Float32Array.of(1), b: ['x', null] }, { sign: privateKey, layout: 'streaming' });
    await verify(await sign(file, privateKey), { trustedKeys: [publicKey] });
    await decrypt(await encrypt(file, { recipients: [publicKey], dropSignature: true }), { privateKeys: privateKey });
    await license(file, { licensee: 'Anna', expiresAt: new Date() });
    await (await open(bytes)).toArrowIPC({ format: 'file' });
    const cached: Dataset | null = await loadCached('k') ?? await cacheFromUrl('k', 'https://example.org/x.ald');
    const copy = await watermark(data, { sellerKey: privateKey, buyer: 'ACME', strength: 0.001, compression: 'lz4', license: null });
    const whose: Finding = await extract(copy.file, { sellerKey: privateKey, buyers: ['ACME', { buyer: 'B', buyer_hash: copy.report.buyerHash }] });
    console.log(whose.buyer, (await detect(data)).columns[0].signs, copy.report.columns[0].mode);
    await loadFromUrl(new URL('https://example.org/x.ald'), { fetch });
    try {
        await cached.rows(0, 1);
    } catch (error) {
        if (error instanceof AldError && error.name === 'LicenseExpired') {
            console.log(error.hint, info.license?.expiresAt?.getTime(), part.length, canWrite);
        }
    }
    // @ts-expect-error: no such option
    await load(bytes, { passwort: 'p' });
    // @ts-expect-error: no such name
    const wrong: AldError['name'] = 'Wrong';
    return wrong.length;
}
