// SPDX-License-Identifier: MIT
// The module that all calls of the package use.

import { Runtime } from './module.js';

let runtime = null;

/** Loads the module. Without an argument: ald.wasm beside the package. Calling another function first does the same. */
export async function init(input = new URL('../ald.wasm', import.meta.url)) {
    const starting = Runtime.start(input);
    runtime = starting;
    try {
        const instance = await (await starting).instance();
        return { canWrite: instance.canWrite };
    } catch (error) {
        if (runtime === starting) {
            runtime = null;
        }
        throw error;
    }
}

/** The instance for the next call. */
export async function ready() {
    if (runtime === null) {
        await init();
    }
    return (await runtime).instance();
}
