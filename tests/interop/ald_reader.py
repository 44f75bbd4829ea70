# SPDX-License-Identifier: MIT
"""A reader of .ald files, written from docs/FORMAT.md alone: slow, small, and independent of the C code.

    read(data, Ask(...)) -> File, with schema, batches, metadata and what else the file says; AldError names the fault.

The numbers in comments are rules of FORMAT.md; the steps of File.read are those of F-320. FlatBuffers and most of what
section 10 says of values are left to pyarrow.

    python ald_reader.py FILE...     prints what it found
"""
import sys
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate

import pyarrow as pa

import ald_keys as keys
import ald_packed
from ald_bytes import (BATCH, DICTIONARY, END_OF_STREAM, AldError, Message, Unpacker, arrow_stream, check_nulls, check_stream,
                       column_buffers, crc32, crc32_crate, inflate, may_refuse_nulls, messages, need, storage, unpack)

ENCRYPTED, SIGNED, STREAMING, LICENSED, TRUENO_NATIVE = 1, 2, 4, 8, 16  # F-034
TYPES = {*range(1, 5), *range(0x10, 0x17), *range(0x20, 0x25), *range(0x30, 0x33), *range(0x40, 0x43), *range(0x50, 0x53),
         0xFF}  # F-035
METADATA_MAX = 64 << 20  # F-053
POSITIONAL = ("name", "version", "license", "tags", "description", "citation", "created_at", "sha256")  # F-056


@dataclass
class Ask:
    """What the caller gives and allows."""
    password: str = None
    private_keys: tuple = ()  # X25519, 32 bytes each
    trusted: tuple = ()  # Ed25519 public keys, 32 bytes each
    any_signer: bool = False
    allow_unsigned: bool = False
    allow_plain: bool = False
    ignore_expiry: bool = False
    commercial: bool = False
    require_commit: bool = False
    now: int = None  # unix seconds; None: unknown


@dataclass
class Chunk:
    row_offset: int
    num_rows: int
    byte_offset: int
    compressed_size: int
    uncompressed_size: int
    column_frames: list = None  # F-171, F-403, once the chunk has been read
    filters: list = None  # of packed chunks, by body


@dataclass
class File:
    data: bytes
    ask: Ask
    header: dict = None
    metadata: dict = None  # a map in either form, without "ald"
    is_array: bool = False
    facts: dict = field(default_factory=dict)  # "ald"
    sections: dict = None  # name -> (begin, end)
    chunks: list = field(default_factory=list)
    arrays: list = field(default_factory=list)
    encryption: dict = None
    license: dict = None
    signature: dict = None
    crc32_variant: str = None
    schema: pa.Schema = None
    batches: list = field(default_factory=list)
    payload: bytes = None  # decrypted and inflated

    def has(self, flag):
        return bool(self.header["flags"] & flag)

    def bytes_of(self, name):
        begin, end = self.sections.get(name, (0, 0))
        return self.data[begin:end]

    def read(self):  # F-320
        self.start()
        walk = Walk(self).run()
        self.check_crc32()
        self.check_header()
        self.read_metadata(walk)
        self.layout()
        self.check_facts()
        self.read_chunks()
        self.read_arrays()
        self.check_prefix_crc32()
        keys.check_signer(self)
        self.check_frame_crc32()
        self.check_license()
        self.inflate_all(self.opened_pieces())
        self.read_schema()
        self.read_batches()
        return self

    # ------------------------------------------------------------------------ before the payload

    def start(self):
        d = self.data
        need(d[:4] == b"ALDF"[:len(d)], "not an .ald file")  # F-031
        need(len(d) < 5 or d[4] == 1, "major version", "UnsupportedVersion")  # F-032
        if len(d) > 21 and d[21] & 0xE0:  # F-033
            raise AldError("UnsupportedVersion" if d[5] > 3 else "InvalidFormat", "reserved flag bits")
        need(len(d) >= 36, f"{len(d)} bytes, at least 36 expected", "Truncated")  # F-026
        names = ("type", "metadata_size", "payload_size", "uncompressed_size", "compression", "flags", "schema_size", "num_rows")
        self.header = dict(zip(names, unpack("HIIIBBHQ", d, 6)), major=d[4], minor=d[5])

    def check_crc32(self):  # F-296, F-298
        stored, body = unpack("I", self.data, len(self.data) - 4), self.data[:-4]
        self.crc32_variant = "ieee"
        if crc32(body) == stored:
            return
        first = self.data[32]
        may_be = self.header["minor"] <= 2 and not self.header["flags"] & (STREAMING | TRUENO_NATIVE) and \
            (0x90 <= first <= 0x9F or first in (0xDC, 0xDD))
        need(may_be and crc32_crate(body) == stored, "CRC32", "ChecksumMismatch")
        self.crc32_variant = "crate"

    def check_header(self):  # F-035 to F-038
        h = self.header
        need(h["type"] in TYPES, "dataset type")
        need(h["compression"] <= 5, "compression id")
        need(h["compression"] <= 3 or self.has(STREAMING), "packed without STREAMING")  # F-400
        if self.has(TRUENO_NATIVE):
            need(h["compression"] == 0 and not self.has(ENCRYPTED), "TRUENO_NATIVE with compression or encryption")

    def read_metadata(self, walk):
        tree = walk.metadata or parse_metadata(self.data, self.header)
        self.metadata, self.facts, self.is_array, self.places = tree
        for name, ones in (("payload_size", 0xFFFFFFFF), ("uncompressed_size", 0xFFFFFFFF), ("schema_size", 0xFFFF)):  # F-047
            value = self.facts.get(name)
            need(value is not None or self.header[name] != ones, f"{name} is nowhere")
            need(self.header[name] == ones or value in (None, self.header[name]), f"two values of {name}")
            setattr(self, name, self.header[name] if value is None else value)

    def layout(self):  # F-010, F-213
        if not self.has(ENCRYPTED) or self.data_mode() != 1 or self.header["minor"] >= 3:
            self.sections = self.place(53)
            return
        fits = {}
        for size in (53, 45):
            try:
                fits[size] = self.place(size)
            except AldError as e:
                error = e
        if not fits:
            raise error
        size = 53 if 53 in fits else 45
        if len(fits) == 2 and self.ask.private_keys:
            begin = fits[53]["encryption"][0] + 33
            size = 53 if self.data[begin:begin + 8] in [keys.pub_hash(k) for k in self.ask.private_keys] else 45
        self.sections = fits[size]

    def data_mode(self):
        at = 32 + self.header["metadata_size"] + self.schema_size
        for flag, entry in ((STREAMING, 28), (TRUENO_NATIVE, 31)):
            if self.has(flag):
                at += 4 + entry * unpack("I", self.data, at)
        return self.data[at]

    def place(self, recipient_size):
        at, out, d = 0, {}, self.data

        def section(name, size):
            nonlocal at
            need(size <= len(d) - at, f"the {name} section runs past the end")
            out[name] = at, at + size
            at += size

        def number(fmt, offset, size):
            need(offset + size <= len(d), "sections run past the end")
            return unpack(fmt, d, offset)

        section("header", 32)
        section("metadata", self.header["metadata_size"])
        section("schema", self.schema_size)
        if self.has(STREAMING):
            section("chunk_index", 4 + 28 * number("I", at, 4))
        if self.has(TRUENO_NATIVE):
            section("array_index", 4 + 31 * number("I", at, 4))
        if self.has(ENCRYPTED):
            mode = number("B", at, 1)
            need(mode <= 2, "encryption mode")  # F-206
            count = number("H", at + 1, 2) if mode == 2 else 1
            need(count >= 1, "no recipients")  # F-215
            section("encryption", (29, recipient_size, 47 + 56 * count)[mode])
        if self.has(TRUENO_NATIVE):
            section("padding", -at % 64)
            need(not any(d[slice(*out["padding"])]), "padding that is not zero")  # F-013
        section("payload", self.payload_size)
        if self.has(SIGNED):
            section("signature", 96)
        if self.has(LICENSED):
            section("license", 75 + number("I", at + 71, 4))
        section("crc", 4)
        need(at == len(d), "bytes behind the sections")
        return out

    def check_facts(self):  # F-072, F-267, F-281, F-304
        facts, pieces = self.facts, unpack("I", self.bytes_of("chunk_index")) + 2 if self.has(STREAMING) else 0
        if self.has(LICENSED):
            self.read_license()
        need("license_sha256" not in facts or self.has(LICENSED), "license_sha256 without a license")
        if self.has(STREAMING) and self.header["compression"] == 0:
            need(len(facts.get("frame_crc32", bytes(4 * pieces))) == 4 * pieces, "length of frame_crc32")
        if "seal" in facts:
            need(self.has(STREAMING) and self.has(SIGNED), "a seal without STREAMING and SIGNED")
            need(pieces - 2 <= 1 << 20, "a seal over too many chunks", "LimitExceeded")
            need(len(facts["seal"]["hashes"]) == 32 * pieces, "length of the seal's hashes")

    def read_license(self):  # F-280
        block = self.bytes_of("license")
        issued, expires, flags, seats, queries = unpack("QQBHI", block, 48)
        need(not flags & 0xC0, "reserved license flags")
        try:
            terms = block[75:].decode()
        except UnicodeDecodeError:
            raise AldError("InvalidFormat", "terms that are not UTF-8") from None
        self.license = {"license_id": block[:16].hex(), "licensee_hash": block[16:48].hex(), "issued_at": issued,
                        "expires_at": expires, "flags": flags, "seat_limit": seats, "query_limit": queries, "terms": terms}

    def read_chunks(self):  # F-150 to F-153, F-159
        if not self.has(STREAMING):
            return
        index, h = self.bytes_of("chunk_index"), self.header
        self.chunks = [Chunk(*unpack("QIQII", index, at)) for at in range(4, len(index), 28)]
        need(self.chunks, "no chunks")
        rows, at, tag = 0, self.chunks[0].byte_offset, 16 if self.has(ENCRYPTED) else 0
        need(at > 0, "no prologue")
        for c in self.chunks:
            need(c.row_offset == rows and c.byte_offset == at and c.compressed_size > 0, "chunk index")
            need(h["compression"] != 0 or c.compressed_size == c.uncompressed_size + tag, "a chunk's sizes")
            need(h["compression"] <= 3 or c.uncompressed_size <= ald_packed.MOST, "a packed chunk's size", "LimitExceeded")  # F-402
            rows, at = rows + c.num_rows, at + c.compressed_size
        need(at < self.payload_size, "no epilogue")
        need(rows == h["num_rows"], "rows of the chunks")
        need(self.uncompressed_size == self.schema_size + sum(c.uncompressed_size for c in self.chunks), "sum of sizes")

    def read_arrays(self):  # F-188, F-192, F-193
        if not self.has(TRUENO_NATIVE):
            return
        index, (begin, end) = self.bytes_of("array_index"), self.sections["payload"]
        names = ("column_idx", "dtype", "length", "alignment", "backend_hint", "offset", "size_bytes")
        for at in range(4, len(index), 31):
            a = dict(zip(names, unpack("IBQBBQQ", index, at)))
            need(a["dtype"] <= 11 and a["alignment"] == 64 and a["backend_hint"] <= 8 and a["offset"] % 64 == 0, "array entry")
            need(begin <= a["offset"] <= end and a["size_bytes"] <= end - a["offset"], "an array outside the payload")
            self.arrays.append(a)

    def prefix_without(self, *paths):
        """The prefix, with the contents of these bins in the metadata as zeros (F-075)."""
        prefix = bytearray(self.data[:self.sections["payload"][0]])
        for path in paths:
            if path in self.places:
                _, begin, end = self.places[path]
                prefix[32 + begin:32 + end] = bytes(end - begin)
        return bytes(prefix)

    def check_prefix_crc32(self):  # F-302
        if "prefix_crc32" in self.facts:
            crc = crc32(self.prefix_without(("ald", "prefix_crc32")))
            need(crc == unpack("I", self.facts["prefix_crc32"]), "prefix_crc32", "ChecksumMismatch")

    def pieces(self):
        """The stored pieces (F-007), or the payload as the only one."""
        payload = self.bytes_of("payload")
        if not self.chunks:
            return [payload]
        cuts = [0] + [c.byte_offset for c in self.chunks]
        cuts += [self.chunks[-1].byte_offset + self.chunks[-1].compressed_size, len(payload)]
        return [payload[a:b] for a, b in zip(cuts, cuts[1:])]

    def check_frame_crc32(self):  # F-304
        if self.has(STREAMING) and self.header["compression"] == 0 and "frame_crc32" in self.facts:
            for i, piece in enumerate(self.pieces()):
                need(crc32(piece) == unpack("I", self.facts["frame_crc32"], 4 * i), "frame_crc32", "ChecksumMismatch")

    def check_license(self):  # F-282 to F-290
        bound = self.facts.get("license_sha256")
        if self.ask.commercial:
            need(self.license and self.signature and bound, "no license that a signature binds", "SignatureInvalid")
        if bound:
            need(sha256(self.bytes_of("license")).digest() == bound, "another license was signed", "SignatureInvalid")
        lic = self.license
        if lic and lic["flags"] & 2 and lic["expires_at"] and not self.ask.ignore_expiry:
            need(self.ask.now is not None and self.ask.now <= lic["expires_at"], "the license", "LicenseExpired")

    # ------------------------------------------------------------------------ the payload

    def opened_pieces(self):
        if self.has(ENCRYPTED):
            return keys.Opener(self).open_pieces()
        keyless = self.ask.password is None and not self.ask.private_keys
        need(keyless or self.ask.allow_plain, "not encrypted, though a key was given", "DecryptionFailed")  # F-231
        return self.pieces()

    def inflate_all(self, pieces):  # F-101, F-105, F-155 to F-159
        compression, out = self.header["compression"], []
        if not self.chunks:
            out = [inflate(compression, pieces[0], self.uncompressed_size)]
        else:
            need(self.schema_size >= 8, "a schema section without its end")
            out.append(inflate(compression, pieces[0], self.schema_size - 8))
            if compression > 3:  # F-409
                self.read_schema()
                out += [ald_packed.rebuild(compression, p, c, self.schema) for p, c in zip(pieces[1:], self.chunks)]
            else:
                out += [inflate_chunk(compression, p, c) for p, c in zip(pieces[1:], self.chunks)]
            out.append(inflate(compression, pieces[-1], 8))
        self.stored, self.inflated, self.payload = pieces, out, b"".join(out)
        if "sha256" in self.metadata:  # F-059
            need(sha256(self.payload).hexdigest() == self.metadata["sha256"].lower(), "sha256", "ChecksumMismatch")

    def read_schema(self):  # F-085
        need(len(check_stream(self.bytes_of("schema"))) == 1, "more than a schema in the schema section")
        self.schema, _ = arrow_stream(self.bytes_of("schema"))

    def read_batches(self):
        need(not self.chunks or self.inflated[0] == self.bytes_of("schema")[:-8], "the prologue", "SchemaMismatch")  # F-155
        found = check_stream(self.payload)
        head = self.payload[:found[0].end]
        schema, _ = arrow_stream(head + END_OF_STREAM)
        need(schema.equals(self.schema, check_metadata=True), "embedded schema", "SchemaMismatch")  # F-096
        if self.chunks:
            for chunk, body in zip(self.chunks, self.inflated[1:]):
                self.batches += self.read_chunk(chunk, body)
            need(self.inflated[-1] == END_OF_STREAM, "the epilogue")  # F-158
        else:
            _, self.batches = arrow_stream(self.payload)
        need(sum(b.num_rows for b in self.batches) == self.header["num_rows"], "rows of the batches")  # F-097
        if self.has(TRUENO_NATIVE):
            self.check_arrays(found)
        for i, f in enumerate(self.schema):
            if may_refuse_nulls(f):
                for scalar in (x for b in self.batches for x in b.column(i)):
                    check_nulls(f, scalar)

    def read_chunk(self, chunk, body, options=None):  # F-156, F-157
        found = list(messages(body))
        need(found and found[-1].kind == BATCH and all(m.kind == DICTIONARY for m in found[:-1]), "a chunk's messages")
        need(not any(m.is_delta() for m in found[:-1]), "a delta in a chunk")
        ids = [m.dictionary_id() for m in found[:-1]]
        need(len(set(ids)) == len(ids), "a dictionary twice")
        if chunk.column_frames and not chunk.filters and self.header["compression"] <= 3:
            self.check_frames(chunk.column_frames, found[-1])
        _, batches = arrow_stream(self.bytes_of("schema")[:-8] + body + END_OF_STREAM, options)
        need(len(batches) == 1 and batches[0].num_rows == chunk.num_rows, "a chunk's rows")
        return batches

    def check_frames(self, frames, batch):  # F-175, F-176
        need(frames[0][1] == batch.body, "the head's size")
        ends = list(accumulate(size for _, size in frames[1:]))
        frame = 0
        for column in column_buffers(self.schema, batch):
            used = [(o, o + n) for o, n in column if n]
            if used:
                begin, end = min(a for a, _ in used), max(b for _, b in used)
                while frame < len(ends) and begin >= ends[frame]:
                    frame += 1
                start = ends[frame - 1] if frame else 0
                need(frame < len(ends) and start <= begin and end <= ends[frame], "a column across frames")

    def read_column(self, number, column):
        """One column of a chunk, from its head and the body that holds it alone (F-178)."""
        chunk, piece = self.chunks[number], self.stored[1 + number]
        frames, at, wanted, batch, out = chunk.column_frames, directory_size(piece), (0, 0), None, b""
        for i, (stored, size) in enumerate(frames):
            begin = len(out) - frames[0][1]  # in the body
            take = i == 0 or (begin < wanted[1] and begin + size > wanted[0])
            out += inflate(self.header["compression"], piece[at:at + stored], size) if take else bytes(size)
            at += stored
            if i == 0:
                batch = last_message(out, chunk.uncompressed_size)
                used = [(o, o + n) for o, n in column_buffers(self.schema, batch)[column] if n]
                wanted = (min(a for a, _ in used), max(b for _, b in used)) if used else (0, 0)
        options = pa.ipc.IpcReadOptions(included_fields=[column])
        return arrow_stream(self.bytes_of("schema")[:-8] + out + END_OF_STREAM, options)[1][0].column(0)

    def check_arrays(self, found):  # F-186 to F-191, F-194
        base, want, batches = self.sections["payload"][0], [], [m for m in found if m.kind == BATCH]
        need(self.chunks or len(batches) == 1, "record batches of a TRUENO_NATIVE file")
        for message in found[1:]:
            need(all((base + message.body + o) % 64 == 0 for o, _ in message.batch()[2]), "a buffer that is not aligned")
        for message in batches:
            for i, (f, buffers) in enumerate(zip(self.schema, column_buffers(self.schema, message))):
                kind, per_row = storage(f.type), 1
                if pa.types.is_fixed_size_list(kind):
                    kind, per_row, buffers = storage(kind.value_type), kind.list_size, buffers[1:]
                if str(kind) in DTYPES:
                    length = message.batch()[0] * per_row
                    want.append({"column_idx": i, "dtype": DTYPES.index(str(kind)), "length": length,
                                 "size_bytes": (length * kind.bit_width + 7) // 8, "offset": base + message.body + buffers[1][0]})
        need([{k: a[k] for k in w} for a, w in zip(self.arrays, want)] == want and len(self.arrays) == len(want), "array index")


DTYPES = ["float", "double", "int32", "int64", "uint8", "int8", "int16", "uint16", "uint32", "uint64", "halffloat", "bool"]


# ---------------------------------------------------------------------------- length (section 3)

class Walk:
    def __init__(self, f):
        self.f, self.h, self.bound, self.metadata = f, f.header, 0, None

    def more(self, n):
        self.bound += n
        need(self.bound <= len(self.f.data), f"{len(self.f.data)} bytes, at least {self.bound} expected", "Truncated")  # F-020

    def run(self):
        h, f = self.h, self.f
        payload = 0 if h["payload_size"] == 0xFFFFFFFF else h["payload_size"]
        schema = 0 if h["schema_size"] == 0xFFFF else h["schema_size"]
        fixed = {STREAMING: 4, TRUENO_NATIVE: 4, ENCRYPTED: 29, SIGNED: 96, LICENSED: 75}
        self.more(36 + h["metadata_size"] + schema + payload + sum(n for flag, n in fixed.items() if f.has(flag)))  # F-021
        if h["payload_size"] == 0xFFFFFFFF or h["schema_size"] == 0xFFFF:  # F-022
            try:
                self.metadata = parse_metadata(f.data, h)
                facts = self.metadata[1]
                more_schema = facts["schema_size"] if h["schema_size"] == 0xFFFF else 0
                more_payload = facts["payload_size"] if h["payload_size"] == 0xFFFFFFFF else 0
            except (AldError, KeyError):
                return self
            schema, payload = schema + more_schema, payload + more_payload
            self.more(more_schema)
            self.more(more_payload)
        self.rest(32 + h["metadata_size"] + schema, payload)
        return self

    def rest(self, at, payload):  # F-023
        f, known = self.f, True
        for flag, entry in ((STREAMING, 28), (TRUENO_NATIVE, 31)):
            if f.has(flag):
                n = unpack("I", f.data, at)
                self.more(entry * n)
                at += 4 + entry * n
        if f.has(ENCRYPTED):  # F-024, F-025
            mode = f.data[at]
            if mode > 2:
                return
            known = mode != 1 or self.h["minor"] >= 3
            size = (29, 53 if known else 45, 47 + 56 * unpack("H", f.data, at + 1))[mode]
            self.more(size - 29)
            at += size
        if f.has(TRUENO_NATIVE):
            self.more(-at % 64)
            at += -at % 64
        if f.has(LICENSED) and known:
            at += payload + (96 if f.has(SIGNED) else 0)
            self.more(unpack("I", f.data, at + 71))


# ---------------------------------------------------------------------------- metadata (sections 6 and 7)

def is_strings(v):
    return isinstance(v, list) and all(isinstance(x, str) for x in v)


def is_source(v):
    return isinstance(v, dict) and all(v.get(k) is None or isinstance(v[k], str) for k in ("name", "url", "description", "license"))


def is_hex(v):
    return isinstance(v, str) and len(v) == 64 and all(c in "0123456789abcdefABCDEF" for c in v)


KNOWN = {**dict.fromkeys(("name", "version", "license", "description", "citation", "created_at", "query_pub_key",
                          "query_protocol"), lambda v: isinstance(v, str)),
         **dict.fromkeys(("tags", "intended_uses", "limitations"), is_strings),
         "sources": lambda v: isinstance(v, list) and all(is_source(x) for x in v),
         "sha256": is_hex, "compliance": lambda v: isinstance(v, dict), "ald": lambda v: isinstance(v, dict)}  # F-054


def is_bin(size=None):
    return lambda v: isinstance(v, bytes) and (size is None or len(v) == size)


def is_uint(v):
    return isinstance(v, int) and not isinstance(v, bool) and v >= 0


FACTS = {"payload_size": is_uint, "uncompressed_size": is_uint, "schema_size": is_uint, "prefix_crc32": is_bin(4),
         "frame_crc32": is_bin(), "license_sha256": is_bin(32), "key_commit": is_bin(32),
         "pad": lambda v: isinstance(v, bytes) and not any(v),
         "seal": lambda v: isinstance(v, dict) and is_bin()(v.get("hashes")) and is_bin(32)(v.get("key")) and is_bin(64)(v.get("sig")),
         "kdf": lambda v: isinstance(v, dict) and all(is_uint(v.get(k)) for k in "mtp") and v["t"] >= 1 and v["p"] >= 1
         and v["m"] >= 8 * v["p"]}  # F-070, F-073, F-211


def parse_metadata(data, header):
    """(metadata without "ald", facts, whether it is positional, places of values)"""
    need(header["metadata_size"] <= METADATA_MAX, "metadata", "LimitExceeded")
    raw = data[32:32 + header["metadata_size"]]
    unpacker = Unpacker(raw)
    tree = unpacker.decode()
    is_array = isinstance(tree, list)
    if is_array:  # F-056
        need(len(tree) in (7, 8), "positional metadata of another length")
        tree = dict(zip(POSITIONAL, tree))
    need(isinstance(tree, dict), "metadata that is no map")
    tree = {k: v for k, v in tree.items() if v is not None or k not in KNOWN}
    for key, value in tree.items():
        need(key not in KNOWN or KNOWN[key](value), f"type of metadata key {key}")
    facts = {k: v for k, v in tree.pop("ald", {}).items() if v is not None}  # F-071
    for key, value in facts.items():
        need(key not in FACTS or FACTS[key](value), f"type of ald.{key}")
        if key.endswith("_size") and key in FACTS:  # F-046
            begin = unpacker.place.get(("ald", key), (None,))[0]
            need(begin is not None and raw[begin] == 0xCF, f"form of ald.{key}")
    return tree, facts, is_array, unpacker.place


# ---------------------------------------------------------------------------- column frames (section 12)

def directory_size(piece):
    return 8 + unpack("I", piece, 4)


def read_directory(piece, chunk):  # F-171 to F-173
    if len(piece) < 12 or piece[:4] != b"\x5a\x2a\x4d\x18" or piece[8:12] != b"ALDC" or unpack("I", piece, 4) < 4:
        return None
    content = unpack("I", piece, 4)
    need(8 <= content <= len(piece) - 8, "a directory past its chunk")
    n = unpack("I", piece, 12)
    need(n >= 1 and content == 8 + 8 * n, "a directory's size")
    frames = [unpack("II", piece, 16 + 8 * i) for i in range(n)]
    need(sum(a for a, _ in frames) == len(piece) - 8 - content, "stored sizes of column frames")
    need(sum(b for _, b in frames) == chunk.uncompressed_size, "inflated sizes of column frames")
    return frames


def inflate_chunk(compression, piece, chunk):  # F-174
    chunk.column_frames = read_directory(piece, chunk) if compression else None
    if chunk.column_frames is None:
        return inflate(compression, piece, chunk.uncompressed_size)
    out, at = b"", directory_size(piece)
    for stored, size in chunk.column_frames:
        out += inflate(compression, piece[at:at + stored], size)
        at += stored
    return out


def last_message(head, size):
    """The record batch whose metadata ends a head; its body is yet to come."""
    padded, at = head + bytes(size - len(head)), 0
    while True:
        message = Message(padded, at)
        if message.body == len(head):
            return message
        at = message.end


def read(data, ask=None):
    return File(data, ask or Ask()).read()


def main(paths):
    for path in paths:
        with open(path, "rb") as f:
            try:
                found = read(f.read(), Ask(any_signer=True, ignore_expiry=True))
                print(f"{path}: {found.header['num_rows']} rows in {len(found.batches)} batches, {len(found.schema)} columns")
            except AldError as e:
                print(f"{path}: {e}")


if __name__ == "__main__":
    main(sys.argv[1:])
