// SPDX-License-Identifier: MIT
// Every failure of the library. `name` is the name that the C library and the command give it.

export class AldError extends Error {
    /**
     * @param {string} name "InvalidFormat", "DecryptionFailed" …
     * @param {string} message what a line says; what follows a newline is the hint
     */
    constructor(name, message, { status = -1, detail = 0, offset = null, cause } = {}) {
        const [text, ...hint] = message.split('\n');
        super(text, cause === undefined ? undefined : { cause });
        this.name = name;
        this.status = status;
        this.detail = detail;
        this.offset = offset;
        this.hint = hint.length > 0 ? hint.join('\n') : null;
    }
}

export const invalidArgument = (message) => new AldError('InvalidArgument', message, { status: 11 });
export const ioError = (message, cause) => new AldError('IoError', message, { status: 13, cause });
export const unsupported = (message) => new AldError('Unsupported', message, { status: 14 });
