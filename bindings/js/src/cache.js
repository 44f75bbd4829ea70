// SPDX-License-Identifier: MIT
// Files kept in the browser's IndexedDB, as Blobs.

import { AldError, ioError, unsupported } from './error.js';

const DATABASE = 'alimentar', STORE = 'files', VERSION = 1;

const promised = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
});

async function openDatabase() {
    if (globalThis.indexedDB === undefined) {
        throw unsupported('there is no IndexedDB here');
    }
    const request = globalThis.indexedDB.open(DATABASE, VERSION);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    return promised(request);
}

/** Runs body(store) in a transaction and waits until it is on disk. */
async function withStore(mode, body) {
    const database = await openDatabase();
    try {
        const transaction = database.transaction(STORE, mode);
        const done = new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error);
            transaction.onerror = () => reject(transaction.error);
        });
        const [result] = await Promise.all([promised(body(transaction.objectStore(STORE))), done]);
        return result;
    } catch (cause) {
        throw asError(cause);
    } finally {
        database.close();
    }
}

function asError(cause) {
    if (cause instanceof AldError) {
        return cause;
    }
    if (cause?.name === 'QuotaExceededError') {
        return ioError('the browser gives no more room to this site\ndelete what is no longer needed: removeCached(key)', cause);
    }
    return ioError(`IndexedDB: ${cause?.message ?? cause}`, cause);
}

export const putCached = (key, bytes) => withStore('readwrite', (store) => store.put(new Blob([bytes]), key));
export const removeCached = (key) => withStore('readwrite', (store) => store.delete(key));
export const cachedKeys = () => withStore('readonly', (store) => store.getAllKeys());

/** The bytes, or null. */
export async function getCached(key) {
    const blob = await withStore('readonly', (store) => store.get(key));
    try {
        return blob === undefined ? null : new Uint8Array(await blob.arrayBuffer());
    } catch (cause) {
        throw asError(cause);
    }
}
