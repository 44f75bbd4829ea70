// SPDX-License-Identifier: MIT

/** Where `init` takes the module from. */
export type ModuleSource = string | URL | BufferSource | Response | WebAssembly.Module | Promise<Response>;

/**
 * Loads the WebAssembly module; without an argument, `ald.wasm` beside the package. The first call of another function does the
 * same. With `ald-reader.wasm`, what writes fails with "Unsupported".
 */
export function init(source?: ModuleSource): Promise<{ canWrite: boolean }>;

/** The names that the C library and the command give failures, and "ModuleTrapped". */
export type ErrorName =
    | 'InvalidFormat' | 'ChecksumMismatch' | 'SignatureInvalid' | 'DecryptionFailed' | 'UnsupportedVersion' | 'SchemaMismatch'
    | 'LicenseExpired' | 'Truncated' | 'UntrustedSigner' | 'LimitExceeded' | 'InvalidArgument' | 'OutOfMemory' | 'IoError'
    | 'Unsupported' | 'LicenseRevoked' | 'LicenseExhausted'
    /** The module stopped in the middle of a call. Data sets that were open are lost; the next call starts a new instance. */
    | 'ModuleTrapped';

export class AldError extends Error {
    readonly name: ErrorName;
    /** The C library's number of the failure; -1 for "ModuleTrapped". */
    readonly status: number;
    readonly detail: number;
    /** Byte of the file, where one is to blame. */
    readonly offset: number | null;
    /** What could help. */
    readonly hint: string | null;
}

/** Bytes; or text that is taken as UTF-8. */
export type Bytes = ArrayBuffer | ArrayBufferView;
export type Secret = string | Bytes;
/** PEM (PKCS#8 or SubjectPublicKeyInfo; its bytes, too; under a passphrase with `keyPassphrase`), a CryptoKey that can be exported, or the 32 bytes. */
export type Key = string | CryptoKey | Bytes;

export interface LoadOptions {
    /** Of an encrypted file. What is given is expected: a plain file is then "DecryptionFailed", unless `allowPlain`. */
    password?: Secret;
    /** X25519 private keys. */
    privateKeys?: Key | Key[];
    /** Of the private keys of this call, where they are encrypted. */
    keyPassphrase?: Secret;
    /** Ed25519 public keys. An unsigned file is then "UntrustedSigner", unless `allowUnsigned`. */
    trustedKeys?: Key | Key[];
    /** Any signer; the signature must still be right. */
    allowUntrusted?: boolean;
    allowUnsigned?: boolean;
    allowPlain?: boolean;
    /** Refuses encrypted files that do not commit to their key. */
    requireCommit?: boolean;
    /** Licensed and signed, and the license bound by the signature; else "SignatureInvalid". */
    commercial?: boolean;
    ignoreExpiry?: boolean;
    /** Licenses that a seller has revoked. */
    revocations?: { signer: Key; ids: string[] };
    limits?: { metadataBytes?: number; uncompressedBytes?: number };
    /** `open` and `openUrl`: also the checksum over the whole file. `load` and `verify` always check it. */
    checkAll?: boolean;
    cacheBytes?: number;
    /** false: AES-GCM is done by the module alone, also where the platform has a WebCrypto. */
    webCrypto?: boolean;
}

export interface Progress { loaded: number; /** null: not known */ total: number | null }

export interface FetchOptions {
    signal?: AbortSignal;
    onProgress?: (progress: Progress) => void;
    headers?: HeadersInit;
    /** Instead of the global one. */
    fetch?: typeof fetch;
}

/** Checks everything and loads the whole table. The bytes are copied. */
export function load(bytes: Bytes, options?: LoadOptions): Promise<Dataset>;
export function loadFromUrl(url: string | URL, options?: LoadOptions & FetchOptions): Promise<Dataset>;
/** Opens a file whose bytes are in memory; rows of one written in chunks are decoded as they are asked for. */
export function open(bytes: Bytes, options?: LoadOptions): Promise<Dataset>;
/**
 * Opens a remote file by HTTP Range: what describes it is fetched now, a chunk when its rows are asked for, and each is checked.
 * A server without ranges, and a file that is not written in chunks, mean a full download.
 */
export function openUrl(url: string | URL, options?: LoadOptions & FetchOptions): Promise<Dataset>;

/** Loads a file from the browser's IndexedDB, checked as any other; null: it is not there. */
export function loadCached(key: string, options?: LoadOptions): Promise<Dataset | null>;
/** Downloads a file, loads it, and keeps it under `key`. No room is "IoError". */
export function cacheFromUrl(key: string, url: string | URL, options?: LoadOptions & FetchOptions): Promise<Dataset>;
export function removeCached(key: string): Promise<void>;
export function cachedKeys(): Promise<string[]>;

export interface License {
    licenseId: string;
    /** SHA-256 of the licensee's name, in hexadecimal. */
    licenseeHash: string;
    issuedAt: Date | null;
    expiresAt: Date | null;
    queryLimit: number;
    seatLimit: number;
    terms: string;
    seatsEnforced: boolean;
    expirationEnforced: boolean;
    queryLimited: boolean;
    watermarked: boolean;
    revocable: boolean;
    transferable: boolean;
}

export type MetadataValue =
    | null | boolean | number | bigint | string | Uint8Array | MetadataValue[] | { [key: string]: MetadataValue };

export interface Field {
    name: string;
    /** As pyarrow prints it: "timestamp[us, tz=UTC]". */
    type: string;
    /** The format string of Arrow's C data interface. */
    format: string;
    nullable: boolean;
    isOrdered: boolean;
    metadata: Record<string, string>;
    children: Field[];
    dictionary: Field | null;
}

export interface Schema { fields: Field[]; metadata: Record<string, string> }

export interface Info {
    fileSize: number;
    rowCount: number;
    payloadSize: number;
    uncompressedSize: number;
    datasetType: string | null;
    version: string;
    compression: Compression | null;
    flags: { encrypted: boolean; signed: boolean; streaming: boolean; licensed: boolean; aligned: boolean };
    crc32: 'unchecked' | 'ieee' | 'crate';
    encryption: { mode: 'password' | 'recipient' | 'several'; recipientCount: number } | null;
    /** The Ed25519 public key that the file names as its signer. `inspect` does not check the signature. */
    signer: Uint8Array | null;
    license: License | null;
    metadata: { [key: string]: MetadataValue } | null;
    schema: Schema | null;
    chunkCount: number;
    chunks: { firstRow: number; begin: number; rowCount: number; compressedSize: number; uncompressedSize: number }[];
    sections: Partial<Record<'header' | 'metadata' | 'schema' | 'chunkIndex' | 'arrayIndex' | 'encryption' | 'padding' | 'payload'
        | 'signature' | 'license' | 'crc32', { begin: number; end: number }>>;
}

/** What a file says of itself. Its structure is checked, its payload, signature and checksum are not. */
export function inspect(bytes: Bytes, options?: LoadOptions): Promise<Info>;
/** Checks everything, and throws what is wrong. */
export function verify(bytes: Bytes, options?: LoadOptions): Promise<Info>;

export type NumberArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array | Float64Array
    | BigInt64Array | BigUint64Array;

/** Integers of 64 bits, and dates and times of 64 bits in their unit, are bigints; decimals are strings; maps are pairs. */
export type Value = null | boolean | number | bigint | string | Uint8Array
    | { months: number; days: number; nanoseconds: bigint } | Value[] | { [name: string]: Value };

/**
 * One column of a batch, in the module's memory. The arrays of `values`, `validity`, `offsets` and `data` are views: they end when
 * a later call makes the memory grow, or with the batch. Asking again gives a view that is right; slice() makes a copy to keep.
 */
export class Column {
    readonly name: string;
    readonly field: Field;
    readonly length: number;
    /** null: not counted. */
    readonly nullCount: number | null;
    readonly children: Column[];
    readonly dictionary: Column | null;
    /** One element a row, whatever stands in null slots; null where rows have no fixed width. Indices of a dictionary; 16-bit
     * floats are their bits. */
    readonly values: NumberArray | null;
    /** Bits, the lowest first, 1 for a value; null: no nulls. Row 0 is bit `validityOffset`. */
    readonly validity: Uint8Array | null;
    readonly validityOffset: number;
    /** Of text, binary, lists and maps: length + 1 of them. */
    readonly offsets: Int32Array | BigInt64Array | null;
    readonly data: Uint8Array | null;
    isNull(row: number): boolean;
    /** undefined: there is no such row. */
    get(row: number): Value | undefined;
    /** Of a union. */
    typeCode(row: number): number | null;
    toArray(): Value[];
    [Symbol.iterator](): IterableIterator<Value>;
}

export type Row = { [name: string]: Value };

export class Batch {
    readonly length: number;
    readonly numRows: number;
    readonly columns: Column[];
    readonly isReleased: boolean;
    column(name: string): Column | undefined;
    row(index: number): Row;
    rows(begin?: number, end?: number): Row[];
    /** Frees the memory now; else it is freed some time after batch and columns are forgotten. */
    release(): void;
}

export interface WholeColumn extends Iterable<Value> {
    readonly name: string;
    readonly field: Field;
    readonly length: number;
    readonly chunks: Column[];
    /** As of a Column; a copy where the column lies in several pieces. */
    readonly values: NumberArray | null;
    toArray(): Value[];
}

export interface CsvOutOptions { delimiter?: string; header?: boolean; crlf?: boolean; binary?: 'base64' | 'hex' }
export interface JsonOutOptions { array?: boolean; plain?: boolean; binary?: 'base64' | 'hex' }

export class Dataset implements AsyncIterable<Batch> {
    readonly info: Info;
    readonly schema: Schema;
    readonly metadata: { [key: string]: MetadataValue };
    readonly license: License | null;
    readonly numRows: number;
    readonly batchCount: number;
    /** Of a remote file; else null. */
    readonly bytesFetched: number | null;
    batch(index: number, options?: { columns?: string[]; signal?: AbortSignal }): Promise<Batch>;
    [Symbol.asyncIterator](): AsyncIterator<Batch>;
    /** Rows [start, start + count). Only the chunks that have them are fetched and decoded. */
    rows(start?: number, count?: number, options?: { signal?: AbortSignal }): Promise<Row[]>;
    column(name: string, options?: { signal?: AbortSignal }): Promise<WholeColumn>;
    /** For tableFromIPC of apache-arrow or flechette. Needs ald.wasm. */
    toArrowIPC(options?: { format?: 'stream' | 'file' }): Promise<Uint8Array>;
    toCSV(options?: CsvOutOptions): Promise<Uint8Array>;
    toJSONL(options?: JsonOutOptions): Promise<Uint8Array>;
    /** Frees the memory now. Batches stay, save those of an uncompressed file. */
    close(): void;
}

export type Compression = 'none' | 'zstd-l3' | 'zstd-l19' | 'lz4' | 'packed' | 'packed-lz4';

export interface LicenseTerms {
    /** Name of who may use the data; the file holds its SHA-256. */
    licensee: string;
    licenseId?: string;
    issuedAt?: Date | number;
    expiresAt?: Date | number;
    seatLimit?: number;
    queryLimit?: number;
    terms?: string;
    seatsEnforced?: boolean;
    expirationEnforced?: boolean;
    queryLimited?: boolean;
    watermarked?: boolean;
    revocable?: boolean;
    transferable?: boolean;
}

export interface Encryption {
    password?: Secret;
    /** Argon2id; 19 MiB and 2 passes without it. */
    kdf?: { memoryKiB?: number; passes?: number };
    /** X25519 public keys. One that is not in an array makes a file for this recipient alone. */
    recipients?: Key | Key[];
}

export interface SaveOptions {
    datasetType?: string;
    compression?: Compression;
    /** How much is tried for 'packed', or 'zstd-l3' in chunks: 'best' packs smallest, or is read fastest. */
    effort?: 'default' | 'fast' | 'best';
    compat?: 'none' | 'alimentar-0.2';
    sha256?: boolean;
    layout?: 'auto' | 'whole' | 'streaming';
    aligned?: boolean;
    chunkRows?: number;
    metadata?: { [key: string]: MetadataValue } | Map<string, MetadataValue>;
    /** Ed25519 private key. */
    sign?: Key;
    keyPassphrase?: Secret;
    encrypt?: Encryption;
    license?: LicenseTerms | null;
    /** What the bytes or text are; Arrow IPC is found out, text without it is CSV. */
    format?: 'arrow' | 'csv' | 'jsonl' | 'json';
    csv?: {
        delimiter?: string; quote?: string; comment?: string; header?: boolean; ragged?: 'error' | 'pad' | 'skip';
        encoding?: 'utf-8' | 'latin1' | 'windows-1252' | 'utf-16' | 'utf-16le' | 'utf-16be';
    };
    json?: { mixed?: 'error' | 'string' | 'json' };
}

/** A data set, Arrow IPC bytes, CSV or JSON, rows, or columns, as the bytes of an .ald file. */
export function save(
    data: Dataset | Bytes | string | object[] | { [column: string]: NumberArray | unknown[] }, options?: SaveOptions,
): Promise<Uint8Array>;

/** What becomes of a signature when a file is changed: anew with `sign`, gone with `dropSignature`; else a signed file is refused. */
export interface Resign { sign?: Key; keyPassphrase?: Secret; dropSignature?: boolean }

export function sign(bytes: Bytes, key: Key, options?: LoadOptions): Promise<Uint8Array>;
/** `read`: how the input is checked, and opened if it is encrypted already. */
export function encrypt(bytes: Bytes, options: Encryption & Resign & { read?: LoadOptions }): Promise<Uint8Array>;
export function decrypt(bytes: Bytes, options: LoadOptions & Resign): Promise<Uint8Array>;
/** Sets the license, or takes it out with null. */
export function license(bytes: Bytes, terms: LicenseTerms | null, options?: LoadOptions & Resign): Promise<Uint8Array>;

/** What a mark belongs to. */
export interface Seller {
    /** The seller's Ed25519 private key. */
    sellerKey: Key;
    keyPassphrase?: Secret;
    /** A name of the data set: its marks then have a key of their own. The same one is given when they are looked for. */
    datasetId?: string;
    /** What statistics may take; 512 MiB without it. */
    memoryBytes?: number;
}

export interface WatermarkOptions extends Seller, SaveOptions {
    /** Who gets the copy. The name is not in the file. */
    buyer: string;
    /** Largest relative change of a value, 0.00001 to 0.004; 0.0005 without it. */
    strength?: number;
    /** Share of rows that may be deleted before the buyer cannot be read any more; 0.5 without it. */
    redundancy?: number;
    columns?: string[];
    /** Without the lowest bits that show everybody that there is a mark. */
    hidden?: boolean;
    /** No decimal changes by more than the strength either. */
    strict?: boolean;
    /** Also columns that look like keys. */
    markKeys?: boolean;
    /** Of a Dataset that is signed: the copy may be unsigned. */
    dropSignature?: boolean;
    /** Of a Dataset that was encrypted: the copy may be plain. */
    plain?: boolean;
}

export interface WatermarkColumn {
    name: string;
    column: number;
    mode: string;
    /** Why it was not marked; else null. */
    reason: string | null;
    planes: number;
    isEstimate: boolean;
    values: number;
    marked: number;
    carriers: number;
    largestChange: number;
    meanChange: number;
    meanShift: number;
    deviationShift: number;
    /** In the column's own unit. Times move by a share of their spread: minutes where it is a year. */
    largestMove: number;
    /** Of dates, times, timestamps, durations; else null. */
    unit: 'days' | 's' | 'ms' | 'us' | 'ns' | null;
}

/**
 * A copy whose numbers tell which buyer it was made for. Metadata of a Dataset stay; a license then says `watermarked`. Keep the
 * report's `buyerHash` with the buyer's name: `extract` needs one of them to name the buyer.
 */
export function watermark(
    data: Dataset | Bytes | string | object[] | { [column: string]: NumberArray | unknown[] }, options: WatermarkOptions,
): Promise<{ file: Uint8Array; report: { buyerHash: string; capacity: number; capacityIsLow: boolean; columns: WatermarkColumn[] } }>;

/** A name, or a line of the command's registry. */
export type Buyer = string | { buyer: string; buyer_hash: string };

export interface ExtractOptions extends Seller, Pick<SaveOptions, 'format' | 'csv' | 'json'> {
    /** Each is tried, which needs far less data than reading one blind. */
    buyers?: Buyer[];
    /** Unit conversions that the data may have gone through: the numbers are factor times yours, plus offset. */
    affine?: { factor: number; offset?: number }[];
}

export interface Finding {
    found: boolean;
    /** A mark of the seller's is there; the buyer may not be readable. */
    isMarked: boolean;
    /** Where `buyers` has the name. */
    buyer: string | null;
    buyerHash: string | null;
    method: 'blind' | 'registry' | null;
    /** 0 to 1. */
    confidence: number;
    evidenceBits: number;
    log2P: number;
    agreement: number;
    presence: number;
    carriers: number;
    profiles: number;
    candidates: number;
    /** Index of the conversion that it was found with. */
    affine: number | null;
    /** All of `buyers` that are confirmed: several, when they mixed their copies. */
    confirmed: { buyer: string; buyerHash: string; log2P: number; agreement: number }[];
    columns: { name: string; column: number; carriers: number; log2P: number; agreement: number }[];
}

/** Which buyer a suspect copy was made for, in any form that `save` takes. */
export function extract(
    data: Dataset | Bytes | string | object[] | { [column: string]: NumberArray | unknown[] }, options: ExtractOptions,
): Promise<Finding>;

export interface ColumnEntropy {
    name: string;
    column: number;
    class: string;
    suspicious: boolean;
    signs: ('island' | 'lsb' | 'correlation' | 'period' | 'phase')[];
    /** Thresholds that clean data pass often, given for comparison. */
    rawThresholdsPassed: ('lsbEntropy' | 'ks' | 'chiSquare' | 'correlation')[];
    bits: number;
    values: number;
    distinct: number;
    rows: number;
    lsbOnes: number;
    lsbEntropy: number;
    shannonEntropy: number;
    ksDistance: number;
    ksP: number;
    chiSquare: number;
    chiSquareP: number;
    bitCorrelation: number;
    bitCorrelationDistance: number;
    centeredCorrelation: number;
    centeredCorrelationP: number;
    peak256: number;
    phase: { plane: number; p: number; strength: number }[];
    p: number;
}

/** Whether numbers look marked, to somebody without a key. */
export function detect(
    data: Dataset | Bytes | string | object[] | { [column: string]: NumberArray | unknown[] },
    options?: Pick<SaveOptions, 'format' | 'csv' | 'json'> & { memoryBytes?: number },
): Promise<{ likelyWatermarked: boolean; confidence: number; suspiciousColumns: string[]; columns: ColumnEntropy[] }>;

/** A new pair as PEM: "ed25519" signs, "x25519" receives encrypted files. */
export function generateKey(algorithm: 'ed25519' | 'x25519'): Promise<{ privateKey: string; publicKey: string }>;
