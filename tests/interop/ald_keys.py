# SPDX-License-Identifier: MIT
"""The part of ald_reader.py that uses keys: signature, seal, decryption. From docs/FORMAT.md, sections 14 to 16."""
from hashlib import sha256

from blake3 import blake3
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from ald_bytes import AldError, need, unpack

ENCRYPTED, SIGNED, STREAMING = 1, 2, 4
P = 2**255 - 19
SMALL_ORDER = {0, 1, P - 1, *(int.from_bytes(bytes.fromhex(h), "little") & (2**255 - 1) for h in (
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"))}  # F-256
WRONG_KEY = "the key or the file is wrong"  # F-217: the same words for all


# ---------------------------------------------------------------------------- signature and seal

def verifies(key, signature, text):  # F-255, F-256
    for point in (key, signature[:32]):
        if (int.from_bytes(point, "little") & (2**255 - 1)) % P in SMALL_ORDER:
            return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, text)
    except InvalidSignature:
        return False
    return True


def check_signer(f):  # F-257 to F-259, F-265 to F-268
    ask = f.ask
    if not f.has(SIGNED):
        need(not ask.trusted or ask.allow_unsigned, "not signed", "UntrustedSigner")
        return
    block = f.bytes_of("signature")
    signature, key = block[:64], block[64:]
    need(ask.any_signer or key in ask.trusted, f"signed by {key.hex()}", "UntrustedSigner")
    need(verifies(key, signature, f.data[:f.sections["payload"][1]]), "the signature", "SignatureInvalid")
    f.signature = {"sig": signature.hex(), "key": key.hex()}
    seal = f.facts.get("seal")
    if seal:
        text = b"ald-v1-seal" + blake3(f.prefix_without(("ald", "seal", "sig"), ("ald", "prefix_crc32"))).digest()
        need(seal["key"] == key and verifies(key, seal["sig"], text), "the seal", "SignatureInvalid")
        hashes = b"".join(blake3(piece).digest() for piece in f.pieces())
        need(hashes == seal["hashes"], "a piece that the seal does not cover", "SignatureInvalid")


# ---------------------------------------------------------------------------- encryption

def hkdf(ikm, info):  # F-008
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(ikm)


def public_of(private):
    return X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw()


def pub_hash(private):  # F-207
    return sha256(public_of(private)).digest()[:8]


def shared(private, public):
    try:  # an all-zero secret raises ValueError (F-208)
        return X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        raise AldError("DecryptionFailed", WRONG_KEY) from None


def gcm_open(key, nonce, text, aad=None):
    try:
        return AESGCM(key).decrypt(nonce, text, aad)
    except (InvalidTag, ValueError):
        raise AldError("DecryptionFailed", WRONG_KEY) from None


class Opener:
    def __init__(self, f):
        self.f, self.block, self.minor = f, f.bytes_of("encryption"), f.header["minor"]
        self.mode = self.block[0]
        self.nonce = {0: self.block[17:29], 1: self.block[-12:], 2: self.block[35:47]}[self.mode]

    def open_pieces(self):
        """The compressed pieces, or the payload as the only one."""
        commit = self.f.facts.get("key_commit")
        need(commit or (self.minor < 3 and not self.f.ask.require_commit), "no key_commit", "DecryptionFailed")  # F-219
        need(self.minor >= 3 or (self.mode != 2 and not self.f.has(STREAMING)), "1.3 in a 1.2 file", "DecryptionFailed")  # F-220
        key = self.file_key()
        need(commit is None or hkdf(key, b"ald-v1-commit") == commit, WRONG_KEY, "DecryptionFailed")  # F-218
        if self.f.has(STREAMING):
            return self.open_stream(key)
        aad = b"ald-v1-whole" + self.binding() if self.minor >= 3 else None  # F-225
        return [gcm_open(key, self.nonce, self.f.bytes_of("payload"), aad)]

    def file_key(self):
        if self.mode == 0:
            return self.from_password()
        finders = {1: self.as_recipient, 2: self.as_one_of_several}
        for private in self.f.ask.private_keys:
            key = finders[self.mode](private)
            if key:
                return key
        raise AldError("DecryptionFailed", WRONG_KEY)

    def from_password(self):  # F-210, F-211
        need(self.f.ask.password is not None, WRONG_KEY, "DecryptionFailed")
        kdf = self.f.facts.get("kdf", {"m": 19456, "t": 2, "p": 1})
        m, t, p = kdf["m"], kdf["t"], kdf["p"]
        need(m <= 1 << 20 and t <= 16 and p == 1 and m * t <= 1 << 22, "ald.kdf", "LimitExceeded")
        derive = Argon2id(salt=self.block[1:17], length=32, iterations=t, lanes=p, memory_cost=m)
        return derive.derive(self.f.ask.password.encode())

    def as_recipient(self, private):  # F-212, F-213
        if len(self.block) == 53 and self.block[33:41] != pub_hash(private):
            return None
        return hkdf(shared(private, self.block[1:33]), b"ald-v1-encrypt")

    def as_one_of_several(self, private):  # F-214, F-215
        count, ephemeral = unpack("H", self.block, 1), self.block[3:35]
        need(count <= 1024, "recipients", "LimitExceeded")
        for at in range(47, len(self.block), 56):
            if self.block[at:at + 8] == pub_hash(private):
                wrap = hkdf(shared(private, ephemeral), b"ald-v1-wrap" + ephemeral + public_of(private))
                try:
                    return gcm_open(wrap, bytes(12), self.block[at + 8:at + 56])
                except AldError:
                    continue
        return None

    def binding(self):  # F-221
        f, h = self.f, self.f.header
        numbers = h["type"].to_bytes(2, "little") + bytes((h["compression"], h["flags"] & 0x14))
        numbers += b"".join(n.to_bytes(8, "little") for n in (h["num_rows"], f.uncompressed_size, f.schema_size))
        return sha256(b"ald-v1-bind" + numbers + f.bytes_of("schema") + f.bytes_of("chunk_index") + self.block).digest()

    def open_stream(self, key):  # F-227, F-228
        def nonce(k):
            tail = int.from_bytes(self.nonce[4:], "little") ^ k
            return self.nonce[:4] + tail.to_bytes(8, "little")

        pieces = self.f.pieces()
        last = gcm_open(hkdf(key, b"ald-v1-last" + self.binding()), bytes(12), pieces[-1])
        out = [gcm_open(key, nonce(0), pieces[0], b"ald-v1-first")]
        for k, (c, piece) in enumerate(zip(self.f.chunks, pieces[1:]), 1):
            aad = b"ald-v1-chunk" + k.to_bytes(8, "little") + c.row_offset.to_bytes(8, "little")
            aad += c.num_rows.to_bytes(4, "little") + c.uncompressed_size.to_bytes(4, "little")
            out.append(gcm_open(key, nonce(k), piece, aad))
        return out + [last]


def open_envelope(private, envelope, info, aad=None):  # F-246, F-247
    ephemeral, nonce = envelope[:32], envelope[32:44]
    key = hkdf(shared(private, ephemeral), info + ephemeral + public_of(private))
    return gcm_open(key, nonce, envelope[44:], aad)
