// SPDX-License-Identifier: MIT
// The viewer: opens what is dropped, chosen or named by a URL, and shows it.

import { renderMarkdown } from './markdown.js';
import { $, bars, definitions, element, RowTable } from './page.js';
import { call, whenFetching } from './worker_calls.js';

const TEXT_KEYS = ['description', 'card', 'readme'];
const FORMATS = { csv: 'csv', tsv: 'csv', jsonl: 'jsonl', ndjson: 'jsonl', json: 'json', arrow: 'arrow', arrows: 'arrow', feather: 'arrow' };

let shown = null; // what the worker said of the open file
let table = null;

function say(text, isBad = false) {
    $('status').textContent = text;
    $('status').className = isBad ? 'bad' : '';
}

function complain(error) {
    if (error.name === 'Superseded') {
        return;
    }
    const hint = typeof error.hint === 'string' ? `\n${error.hint}` : '';
    say(`${error.name}: ${error.message}${hint}`, true);
}

whenFetching(({ loaded, total }) => {
    if (document.body.ariaBusy === 'true') {
        say(total === null ? `${loaded} bytes` : `${loaded} of ${total} bytes`);
    }
});

function keys() {
    const trusted = $('trusted').value.trim(), own = $('private').value.trim(), keyPassphrase = $('passphrase').value;
    return {
        ...(trusted === '' ? { allowUntrusted: true } : { trustedKeys: trusted, allowUnsigned: true }),
        ...(own === '' ? {} : { privateKeys: own, allowPlain: true, ...(keyPassphrase === '' ? {} : { keyPassphrase }) }),
    };
}

/** Asks until the password is right; null: given up. */
async function askPassword(why) {
    $('ask-why').textContent = why;
    $('password').value = '';
    $('ask').showModal();
    await new Promise((resolve) => {
        $('ask').onclose = resolve;
    });
    const answer = $('ask').returnValue === 'open' ? $('password').value : null;
    $('password').value = '';
    return answer;
}

/** opening(options), with a password once the file turns out to need one. */
async function openWith(opening) {
    const options = keys();
    for (let why = ''; ; why = 'That was not the password, or the file was changed.') {
        try {
            return await opening(options);
        } catch (error) {
            if (error.name !== 'DecryptionFailed') {
                throw error;
            }
            const password = await askPassword(why);
            if (password === null) {
                throw error;
            }
            Object.assign(options, { password, allowPlain: true });
        }
    }
}

async function fingerprint(key) {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', key));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.match(/.{8}/g).join(':');
}

async function showTrust(info) {
    const isKnown = $('trusted').value.trim() !== '';
    if (info.signer === null) {
        $('signer').textContent = 'Not signed: nobody vouches for it.';
        $('signer').className = 'warn';
    } else {
        $('signer').textContent = `Signed, and the signature verifies. Key ${await fingerprint(info.signer)}${isKnown
            ? ', one of those that you trust.' : '; give its public key above to have it compared.'}`;
        $('signer').className = isKnown ? 'ok' : 'warn';
    }
    definitions($('license'), info.license === null ? [['License', 'none in the file']] : Object.entries(info.license)
        .filter(([, value]) => value !== false && value !== 0 && value !== null && value !== ''));
}

function showCard(info, name) {
    const metadata = info.metadata ?? {};
    $('card-title').textContent = typeof metadata.name === 'string' && metadata.name !== '' ? metadata.name : name;
    const texts = TEXT_KEYS.filter((key) => typeof metadata[key] === 'string');
    $('card').replaceChildren(...texts.flatMap((key) => renderMarkdown(metadata[key])));
    definitions($('metadata'), Object.entries(metadata).filter(([key, value]) => !texts.includes(key) && value !== null));
}

function showFacts({ info }) {
    definitions($('facts'), [['Rows', info.rowCount], ['Columns', info.schema.fields.length], ['Bytes', info.fileSize],
        ['Type', info.datasetType], ['Format', info.version], ['Compression', info.compression],
        ['Encryption', info.encryption === null ? 'none' : info.encryption.mode],
        ['Chunks', info.flags.streaming ? info.chunkCount : 'not in chunks'],
        ['Checksum', info.crc32 === 'unchecked' ? 'of the chunks that are read' : 'of the whole file']]);
}

function showSchema(fields) {
    const head = ['Name', 'Type', 'Nulls', 'Description', 'Values', 'Missing'];
    const cells = (field) => [field.name, field.type, field.nullable ? 'allowed' : 'no',
        ...['description', 'values', 'missing'].map((key) => field.metadata[`ald.${key}`] ?? '')];
    $('schema').replaceChildren(
        element('thead', {}, element('tr', {}, ...head.map((text) => element('th', { scope: 'col' }, text)))),
        element('tbody', {}, ...fields.map((field) => element('tr', {}, ...cells(field).map((text) => element('td', {}, text))))),
    );
    $('column').replaceChildren(...fields.map((field, i) => element('option', { value: i }, field.name)));
}

async function showColumn() {
    const { name } = shown.info.schema.fields[$('column').value];
    const { rows, isAll, nullCount, histogram, common, bits } = await call('column', shown.turn, Number($('column').value));
    $('column-text').textContent = `${isAll ? 'all' : 'the first'} ${rows} rows, ${nullCount} of them null`;
    if (histogram === null) {
        bars($('histogram'), common.map(([, count]) => count), `most frequent values of ${name}`);
        $('histogram-text').textContent = common.map(([text, count]) => `${text}: ${count}`).join(' · ');
    } else {
        bars($('histogram'), histogram.counts, `histogram of ${name}`);
        $('histogram-text').textContent = `${histogram.low} to ${histogram.high}, mean ${histogram.mean}`;
    }
    $('entropy').replaceChildren();
    $('entropy-text').textContent = '';
    if (bits !== null) {
        bars($('entropy'), bits, `entropy of the lowest bits of ${name}`);
        $('entropy-text').textContent = `Entropy of the lowest ${bits.length} bits, bit 0 on the left: ${bits
            .map((value) => value.toFixed(2)).join(' ')}`;
    }
}

async function show(file, name) {
    shown = file;
    const { info, numRows, turn } = file, { fields } = info.schema;
    $('view').hidden = false;
    $('download').replaceChildren();
    showCard(info, name);
    await showTrust(info);
    showFacts(file);
    showSchema(fields);
    $('row').max = String(Math.max(0, numRows - 1));
    table = new RowTable($('rows'), fields.map((field) => field.name), numRows,
        (start, count) => call('rows', turn, start, count), complain);
    await table.draw();
    if (fields.length > 0 && numRows > 0) {
        await showColumn();
    }
    say(`${name}: ${numRows} rows`);
}

function offerDownload(bytes, name) {
    const link = element('a', { download: name }, `Save as ${name} (${bytes.length} bytes)`);
    link.href = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
    $('download').replaceChildren(link);
}

async function openFile(file) {
    say(`reading ${file.name}`);
    const format = FORMATS[file.name.split('.').pop().toLowerCase()];
    if (format === undefined) {
        await show(await openWith((options) => call('openFile', file, options)), file.name);
        return;
    }
    const name = `${file.name.replace(/\.[^.]*$/, '')}.ald`;
    const { converted, ...opened } = await call('convert', file, format);
    await show(opened, name);
    offerDownload(converted, name);
}

const openUrl = async (url) => show(await openWith((options) => call('openUrl', url, options)), new URL(url).pathname.split('/').pop());

function attempt(work) {
    return async (...args) => {
        document.body.ariaBusy = 'true';
        try {
            await work(...args);
        } catch (error) {
            complain(error);
        } finally {
            document.body.ariaBusy = 'false';
        }
    };
}

$('file').addEventListener('change', attempt(async () => {
    if ($('file').files.length > 0) {
        await openFile($('file').files[0]);
    }
}));
$('open-url').addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(openUrl)($('url').value);
});
$('keys').addEventListener('submit', (event) => event.preventDefault()); // they are used when a file is opened
$('column').addEventListener('change', attempt(showColumn));
$('row').addEventListener('change', attempt(() => table.go(Number($('row').value))));
document.body.addEventListener('dragover', (event) => {
    event.preventDefault();
    document.body.classList.add('over');
});
document.body.addEventListener('dragleave', () => document.body.classList.remove('over'));
document.body.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    if (event.dataTransfer.files.length > 0) {
        void attempt(openFile)(event.dataTransfer.files[0]);
    }
});
// viewer#https://example.org/data.ald opens that file.
const linked = decodeURIComponent(location.hash.slice(1));
if (/^https?:\/\//i.test(linked)) {
    $('url').value = linked;
    void attempt(openUrl)(linked);
} else {
    void attempt(() => call('start'))();
}
