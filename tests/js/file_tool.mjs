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

// ---- values in the notation of the golden files' twins, through Column.get

function floatText(value) {
    const text = Object.is(value, -0) ? '-0' : String(value);
    return Number.isFinite(value) ? (/[.e]/.test(text) ? text : `${text}.0`) : JSON.stringify(text);
}

const UNITS = { tdD: 'day', tdm: 'ms', s: 's', m: 'ms', u: 'us', n: 'ns' };
const list = (items) => `[${items.join(',')}]`;
const object = (entries) => `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;

function nestedText(field, value) {
    const [child] = field.children;
    if (field.format === '+m') {
        return list(value.map(([key, item]) => list([wireText(child.children[0], key), wireText(child.children[1], item)])));
    }
    if (field.format === '+s') {
        return object(field.children.map((member) => [member.name, wireText(member, value[member.name])]));
    }
    return field.format === '+r' ? wireText(field.children[1], value) : list(value.map((item) => wireText(child, item)));
}

function wireText(field, value) {
    if (value === null) {
        return 'null';
    }
    const { format } = field;
    if (field.dictionary !== null) {
        return wireText(field.dictionary, value);
    }
    if ('efg'.includes(format)) {
        return floatText(value);
    }
    if (format.startsWith('ti')) {
        return object([['months', value.months], ['days', value.days], ['nanos', value.nanoseconds]]);
    }
    if (format.startsWith('t')) {
        return object([['int', value], ['unit', JSON.stringify(UNITS[format] ?? UNITS[format[2]])]]);
    }
    if (value instanceof Uint8Array) {
        return JSON.stringify(Buffer.from(value).toString('base64'));
    }
    return format.startsWith('+') ? nestedText(field, value) : typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

function columnText(column, row) {
    const code = column.typeCode(row);
    if (code === null) {
        return wireText(column.field, column.get(row));
    }
    const codes = column.field.format.split(':')[1].split(',').map(Number);
    if (column.get(row) === null) { // the twins give every null the first code, as pyarrow's scalars do
        return object([['type_code', codes[0]], ['value', 'null']]);
    }
    return object([['type_code', code], ['value', wireText(column.field.children[codes.indexOf(code)], column.get(row))]]);
}

async function* rowTexts(data) {
    for await (const batch of data) {
        for (let row = 0; row < batch.length; row++) {
            yield list(batch.columns.map((column) => columnText(column, row)));
        }
        batch.release();
    }
}

const commands = {
    async values([path], options) {
        const data = await ald.load(await readFile(path), options);
        const rows = [];
        for await (const text of rowTexts(data)) {
            rows.push(text);
        }
        data.close();
        return new TextEncoder().encode(list(rows));
    },
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
