// SPDX-License-Identifier: MIT
// Options of a call, as src/wasm/request.c knows them. Secrets are wiped in the module when the request is freed; what the
// caller holds is the caller's to forget.

import { invalidArgument } from './error.js';
import { receiverKeys, recipientKeys, signerKeys, signingSeed } from './keys.js';
import { encodeText } from './module.js';
import { makeValue } from './value.js';

const LICENSE_FLAGS = {
    seatsEnforced: 0x01, expirationEnforced: 0x02, queryLimited: 0x04, watermarked: 0x08, revocable: 0x10, transferable: 0x20,
};
const LAYOUTS = ['auto', 'whole', 'streaming'];
const COMPRESSIONS = ['none', 'zstd-l3', 'zstd-l19', 'lz4', 'packed', 'packed-lz4'];
const EFFORTS = ['default', 'fast', 'best'];
const COMPATS = ['none', 'alimentar-0.2'];
const ENCODINGS = ['utf-8', 'latin1', 'windows-1252', 'utf-16', 'utf-16le', 'utf-16be'];
const RAGGED = ['error', 'pad', 'skip'];
const MIXED = ['error', 'string', 'json'];
const BINARIES = ['base64', 'hex'];

const KNOWN = {
    load: ['password', 'privateKeys', 'keyPassphrase', 'trustedKeys', 'allowUntrusted', 'allowUnsigned', 'allowPlain', 'requireCommit', 'commercial',
        'revocations', 'ignoreExpiry', 'limits', 'cacheBytes', 'checkAll', 'webCrypto', 'signal', 'onProgress'],
    save: ['datasetType', 'compression', 'effort', 'compat', 'sha256', 'layout', 'aligned', 'chunkRows', 'metadata', 'sign', 'encrypt',
        'license', 'keyPassphrase'],
    read: ['format', 'csv', 'json'],
    mark: ['sellerKey', 'buyer', 'datasetId', 'strength', 'redundancy', 'columns', 'hidden', 'strict', 'markKeys', 'memoryBytes'],
    look: ['sellerKey', 'keyPassphrase', 'datasetId', 'buyers', 'affine', 'memoryBytes'],
};

/** An option that is misspelt may not be passed over in silence. */
export function checkNames(options, ...groups) {
    const known = groups.flatMap((group) => KNOWN[group] ?? [group]);
    for (const name of Object.keys(options)) {
        if (!known.includes(name)) {
            throw invalidArgument(`there is no option '${name}'`);
        }
    }
}

function indexIn(list, value, what) {
    const index = list.indexOf(value);
    if (index < 0) {
        throw invalidArgument(`${what} '${value}' is none of ${list.join(', ')}`);
    }
    return index;
}

export const asBytes = (value) => (typeof value === 'string' ? encodeText(value) : toBytes(value));

/** The bytes of an ArrayBuffer or a view, without copying. */
export function toBytes(value) {
    if (value instanceof Uint8Array) {
        return value;
    }
    if (value instanceof ArrayBuffer || (typeof SharedArrayBuffer !== 'undefined' && value instanceof SharedArrayBuffer)) {
        return new Uint8Array(value);
    }
    if (ArrayBuffer.isView(value)) {
        return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
    throw invalidArgument('bytes are an ArrayBuffer or a view of one');
}

const seconds = (value) => (value instanceof Date ? Math.floor(value.getTime() / 1000) : Number(value ?? 0));

function licenseId(value) {
    const hex = value.replaceAll('-', '');
    if (!/^[0-9a-f]{32}$/i.test(hex)) {
        throw invalidArgument(`'${value}' is no license id`);
    }
    return Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
}

/** What is awaited is gathered first: afterwards nothing can interrupt. */
export class Request {
    #bytes = [];
    #numbers = [];
    #metadata = null;
    #licensee = null;

    bytes(name, value) {
        this.#bytes.push([name, value]);
    }

    number(name, value) {
        this.#numbers.push([name, value === true ? 1 : value === false ? 0 : value]);
    }

    /** Numbers of options that are there: [name in JavaScript, name in the module] … */
    #numbersOf(options, pairs) {
        for (const [from, to] of pairs) {
            if (options[from] !== undefined && options[from] !== null) {
                this.number(to, options[from]);
            }
        }
    }

    async load(options) {
        this.#numbersOf(options, [['ignoreExpiry', 'load.ignore_expiry'], ['checkAll', 'load.check_all'],
            ['cacheBytes', 'load.cache_bytes'], ['allowUntrusted', 'trust.allow_untrusted'],
            ['allowUnsigned', 'trust.allow_unsigned'], ['allowPlain', 'trust.allow_plain'],
            ['requireCommit', 'trust.require_commit'], ['commercial', 'trust.commercial']]);
        this.#numbersOf(options.limits ?? {}, [['metadataBytes', 'load.limits.metadata_bytes'],
            ['uncompressedBytes', 'load.limits.uncompressed_bytes']]);
        if (options.password !== undefined && options.password !== null) {
            this.bytes('trust.password', asBytes(options.password).slice());
        }
        if (options.privateKeys !== undefined) {
            this.bytes('trust.private_keys', await receiverKeys(options.privateKeys, options.keyPassphrase));
        }
        if (options.trustedKeys !== undefined) {
            this.bytes('trust.trusted_keys', await signerKeys(options.trustedKeys));
        }
        if (options.revocations !== undefined) {
            const { signer, ids } = options.revocations;
            this.bytes('revocations.signer', await signerKeys(signer));
            this.bytes('revocations.ids', Uint8Array.from(ids.flatMap((id) => [...licenseId(id)])));
            this.number('has_revocations', 1);
        }
        return this;
    }

    async save(options) {
        this.#numbersOf(options, [['sha256', 'save.write_sha256'], ['aligned', 'save.aligned'], ['chunkRows', 'save.chunk_rows']]);
        this.#metadata = options.metadata ?? null;
        if (options.compression !== undefined) {
            this.number('save.compression', indexIn(COMPRESSIONS, options.compression, 'compression'));
        }
        if (options.effort !== undefined) {
            this.number('save.effort', indexIn(EFFORTS, options.effort, 'effort'));
        }
        if (options.layout !== undefined) {
            this.number('save.layout', indexIn(LAYOUTS, options.layout, 'layout'));
        }
        if (options.compat !== undefined) {
            this.number('save.compat', indexIn(COMPATS, options.compat, 'compat'));
        }
        this.datasetType = options.datasetType;
        await this.protect(options);
        return this;
    }

    /** sign, encrypt and license of what is written */
    async protect({ sign, encrypt, license, keyPassphrase }) {
        if (sign) {
            this.bytes('protection.signer_seed', await signingSeed(sign, keyPassphrase));
        }
        if (encrypt) {
            await this.#encryption(encrypt);
        }
        if (license) {
            this.#license(license);
        }
    }

    async #encryption({ password, recipients, kdf = {} }) {
        if ((password === undefined) === (recipients === undefined)) {
            throw invalidArgument('encryption needs a password, or recipients');
        }
        if (password !== undefined) {
            this.number('protection.encryption', 1);
            this.bytes('protection.password', asBytes(password).slice());
            this.#numbersOf(kdf, [['memoryKiB', 'protection.kdf_m_kib'], ['passes', 'protection.kdf_t']]);
        } else {
            const keys = await recipientKeys(recipients);
            this.number('protection.encryption', keys.length === 32 && !Array.isArray(recipients) ? 2 : 3);
            this.bytes('protection.recipients', keys);
        }
    }

    #license(license) {
        let flags = 0;
        for (const [name, bit] of Object.entries(LICENSE_FLAGS)) {
            flags |= license[name] ? bit : 0;
        }
        this.#licensee = String(license.licensee);
        this.number('license.flags', flags);
        this.#numbersOf({ ...license, expiresAt: seconds(license.expiresAt) }, [['expiresAt', 'license.expires_at'],
            ['seatLimit', 'license.seat_limit'], ['queryLimit', 'license.query_limit']]);
        if (license.issuedAt !== undefined) {
            this.number('license.issued_at', seconds(license.issuedAt));
        }
        if (license.licenseId !== undefined) {
            this.bytes('license.license_id', licenseId(license.licenseId));
        }
        if (license.terms !== undefined) {
            this.bytes('license.terms', encodeText(license.terms));
        }
    }

    csvIn({ delimiter, quote, comment, header, ragged, encoding } = {}) {
        for (const [name, value] of Object.entries({ delimiter, quote, comment })) {
            if (value !== undefined) {
                this.number(`csv.${name}`, value.charCodeAt(0));
            }
        }
        this.number('csv.no_header', header === false);
        this.number('csv.ragged', indexIn(RAGGED, ragged ?? 'error', 'ragged'));
        this.number('csv.text.encoding', indexIn(ENCODINGS, encoding ?? 'utf-8', 'encoding'));
        return this;
    }

    jsonIn({ mixed } = {}) {
        this.number('jsonl.mixed', indexIn(MIXED, mixed ?? 'error', 'mixed'));
        return this;
    }

    csvOut({ delimiter, header, crlf, binary } = {}) {
        if (delimiter !== undefined) {
            this.number('csv_out.delimiter', delimiter.charCodeAt(0));
        }
        this.number('csv_out.no_header', header === false);
        this.number('csv_out.crlf', crlf === true);
        this.number('csv_out.text.binary', indexIn(BINARIES, binary ?? 'base64', 'binary'));
        return this;
    }

    jsonOut({ array, plain, binary } = {}) {
        this.number('jsonl_out.array', array === true);
        this.number('jsonl_out.text.plain_json', plain === true);
        this.number('jsonl_out.text.binary', indexIn(BINARIES, binary ?? 'base64', 'binary'));
        return this;
    }

    /** Runs body(request) with all of it in the module `m`, and takes it out again. */
    run(m, body) {
        const request = m.pointer('ald_wasm_request_new');
        let metadata = 0;
        try {
            for (const [name, value] of this.#bytes) {
                m.withText(name, (text) => m.check('ald_wasm_request_bytes', request, text, m.put(value), value.length));
            }
            this.#startLicense(m, request);
            const set = (name, value) => m.withText(name, (text) => m.check('ald_wasm_request_number', request, text, value));
            this.#numbers.forEach(([name, value]) => set(name, value));
            if (this.datasetType !== undefined) {
                set('save.dataset_type', datasetType(m, this.datasetType));
            }
            if (this.#metadata !== null) {
                metadata = makeValue(m, this.#metadata);
                set('save.metadata', metadata);
                set('rewrite.metadata', metadata);
            }
            return body(request);
        } finally {
            if (!m.isDead) {
                m.call('ald_wasm_request_free', request);
                if (metadata !== 0) {
                    m.call('ald_value_free', metadata);
                }
            }
        }
    }

    /** Id, time of issue and the licensee's hash; what was given replaces the first two. */
    #startLicense(m, request) {
        if (this.#licensee === null) {
            return;
        }
        const given = m.pointer('ald_wasm_request_license', request);
        const id = m.copy(given, 16);
        const terms = [m.u32(given + 72), m.u32(given + 76)];
        const name = encodeText(this.#licensee);
        const at = m.put(name);
        try {
            m.check('ald_license_init', given, at, name.length, m.host, m.error);
        } finally {
            if (!m.isDead) {
                m.free(at);
            }
        }
        if (this.#bytes.some(([option]) => option === 'license.license_id')) {
            m.bytes.set(id, given);
        }
        m.view.setUint32(given + 72, terms[0], true);
        m.view.setUint32(given + 76, terms[1], true);
    }

    /** Wipes the copies of secrets that were made here. */
    wipe() {
        this.#bytes.forEach(([, value]) => value.fill(0));
    }
}

function datasetType(m, name) {
    const type = m.withText(name, (text) => m.call('ald_dataset_type_from_name', text));
    if (type === 0) {
        throw invalidArgument(`there is no dataset type '${name}'`);
    }
    return type;
}

export { LICENSE_FLAGS };
