// SPDX-License-Identifier: MIT
// Calls of work.js from the page.

let worker = null, count = 0, onProgress = () => {};
const waiting = new Map(); // id -> {resolve, reject}

function failAll(message) {
    const error = Object.assign(new Error(message), { name: 'WorkerStopped', hint: 'open the file again' });
    waiting.forEach(({ reject }) => reject(error));
    waiting.clear();
    worker?.terminate();
    worker = null; // the next call starts another
}

function receive({ id, result, error, progress }) {
    if (progress !== undefined) {
        onProgress(progress);
        return;
    }
    const { resolve, reject } = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) {
        resolve(result);
    } else {
        reject(Object.assign(new Error(error.message), { name: error.name, hint: error.hint }));
    }
}

function start() {
    worker = new Worker(new URL('work.js', import.meta.url), { type: 'module' });
    worker.onmessage = ({ data }) => receive(data);
    worker.onerror = ({ message }) => failAll(`the worker stopped: ${message ?? 'it could not be loaded'}`);
    worker.onmessageerror = () => failAll('the worker sent what cannot be read');
}

/** What a call of work.js gives, or its failure. */
export function call(name, ...args) {
    if (worker === null) {
        start();
    }
    count++;
    const id = count;
    return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, name, args });
    });
}

export function whenFetching(listener) {
    onProgress = listener;
}
