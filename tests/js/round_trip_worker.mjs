// SPDX-License-Identifier: MIT
// Tasks of tests/js/test_round_trips.py in a Web Worker, or as a worker of workerd. Files are those of the test's server.
import { runTasks } from './round_trip_actions.mjs';

const ioOf = (server) => ({
    async read(path) {
        const response = await fetch(`${server}/file${path}`);
        if (!response.ok) {
            throw new Error(`${path}: ${response.status}`);
        }
        return new Uint8Array(await response.arrayBuffer());
    },
    async write(path, data) {
        const response = await fetch(`${server}/file${path}`, { method: 'POST', body: data });
        if (!response.ok) {
            throw new Error(`${path}: ${response.status}`);
        }
    },
});

// In a page: the tasks come as a message, with the package's address.
if (typeof WorkerGlobalScope !== 'undefined' && globalThis.self instanceof WorkerGlobalScope && globalThis.onmessage === null) {
    globalThis.onmessage = async ({ data: { server, tasks } }) => {
        const ald = await import(`${server}/package/src/index.js`);
        globalThis.postMessage(await runTasks(ald, tasks, ioOf(server)));
    };
}

export default {
    async fetch(request) {
        const ald = await import('package/src/index.js');
        const { default: wasm } = await import('package/ald.wasm');
        const { server, tasks } = await request.json();
        await ald.init(wasm);
        return Response.json(await runTasks(ald, tasks, ioOf(server)));
    },
};
