// SPDX-License-Identifier: MIT
// The viewer's work, in a worker of its own: the page goes on while a file is read, checked, decrypted, or looked through. It
// holds one file at a time. Messages in: {id, name, args}; out: {id, result}, {id, error}, or {progress}.

import * as ald from './alimentar/src/index.js';
import { common, histogram, lowBitEntropy } from './columns.js';
import { valueText } from './value_text.js';

const COLUMN_ROWS_MAX = 1_000_000, TEXT_MAX = 1000, COMMON_TEXT_MAX = 40;

let data = null; // the open Dataset
let turn = 0; // which one it is

/** What the page shows of a file; rows and columns it asks for. */
function opened(next) {
    data?.close();
    data = next;
    turn++;
    return { turn, info: data.info, numRows: data.numRows, isRemote: data.bytesFetched !== null };
}

/** The page may ask for rows of a file when another one was opened already. */
function checkTurn(asked) {
    if (asked !== turn) {
        throw Object.assign(new Error('another file was opened'), { name: 'Superseded' });
    }
}

const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/** The first batches of a column, a million rows at most: a remote file is not fetched for it as a whole. */
async function columnStart(name) {
    const parts = [];
    let rows = 0;
    for (let i = 0; i < data.batchCount && rows < COLUMN_ROWS_MAX && (i === 0 || data.bytesFetched === null); i++) {
        const part = (await data.batch(i, { columns: [name] })).column(name);
        parts.push(part);
        rows += part.length;
    }
    return { parts, rows };
}

const actions = {
    start: async () => {
        await ald.init();
    },
    openFile: async (file, options) => opened(await ald.open(await bytesOf(file), { ...options, checkAll: true })),
    openUrl: async (url, options) => opened(await ald.openUrl(url, { ...options, onProgress: (progress) => postMessage({ progress }) })),
    /** Text or Arrow IPC as a file of its own, which is shown, too. */
    convert: async (file, format) => {
        const bytes = await bytesOf(file);
        const input = format === 'arrow' ? bytes : new TextDecoder('utf-8', { fatal: true }).decode(bytes);
        const converted = await ald.save(input, { format });
        return { ...opened(await ald.open(converted)), converted };
    },
    /** Cells as text, null for none. */
    rows: async (asked, start, count) => {
        checkTurn(asked);
        const names = data.schema.fields.map((field) => field.name);
        return (await data.rows(start, count)).map((row) => names.map((name) => (row[name] === null
            ? null : valueText(row[name]).slice(0, TEXT_MAX))));
    },
    column: async (asked, index) => {
        checkTurn(asked);
        const { parts, rows } = await columnStart(data.schema.fields[index].name);
        const values = parts.flatMap((part) => part.toArray());
        const counts = histogram(values);
        const list = counts === null ? common(values.map((value) => (value === null ? null : valueText(value)))) : [];
        const [array] = parts.map((part) => part.values);
        return {
            rows,
            isAll: rows === data.numRows,
            nullCount: values.filter((value) => value === null).length,
            histogram: counts,
            common: list.map(([text, count]) => [text.slice(0, COMMON_TEXT_MAX), count]),
            bits: array instanceof Float64Array || array instanceof Float32Array ? lowBitEntropy(array) : null,
        };
    },
};

globalThis.onmessage = async ({ data: { id, name, args } }) => {
    try {
        postMessage({ id, result: await actions[name](...args) });
    } catch (error) {
        postMessage({ id, error: { name: error.name, message: error.message, hint: error.hint ?? null } });
    }
};
