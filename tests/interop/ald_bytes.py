# SPDX-License-Identifier: MIT
"""The parts of ald_reader.py that know nothing of sections: errors, MessagePack, CRC32, frames, Arrow messages.

Written from docs/FORMAT.md alone; the numbers in comments are its rules.
"""
import struct
import zlib

import lz4.frame
import pyarrow as pa
import zstandard

END_OF_STREAM = bytes.fromhex("ffffffff00000000")  # F-118
WINDOW_MAX = 1 << 27  # F-102
SKIPPABLE = range(0x184D2A50, 0x184D2A60)  # F-099
ZSTD_MAGIC, LZ4_MAGIC = 0xFD2FB528, 0x184D2204  # F-102, F-103


class AldError(Exception):
    """A file that is refused; `name` is one of F-370."""

    def __init__(self, name, text):
        super().__init__(f"{name}: {text}")
        self.name = name


def need(condition, text, name="InvalidFormat"):
    if not condition:
        raise AldError(name, text)


def unpack(fmt, data, at=0):
    """The little-endian values of a struct format at an offset, whose bytes are known to be there."""
    values = struct.unpack_from("<" + fmt, data, at)
    return values[0] if len(values) == 1 else values


# ---------------------------------------------------------------------------- MessagePack (F-050 to F-057)

DEPTH_MAX, VALUES_MAX = 32, 1 << 20  # F-053


class Unpacker:
    """Decodes one value that fills `data`. `place` maps a path of keys to where the value begins, where its contents begin,
    and where it ends: the few rules that ask for a form or patch bytes need that."""

    LENGTHS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4,
               0xC7: 1, 0xC8: 2, 0xC9: 4}
    NUMBERS = {0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q", 0xCA: "f", 0xCB: "d"}
    CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}

    def __init__(self, data):
        self.data, self.at, self.count, self.place = data, 0, 0, {}

    def decode(self):
        value = self.value(1, ())
        need(self.at == len(self.data), "bytes behind the metadata's value")
        return value

    def take(self, n):
        need(n <= len(self.data) - self.at, "a MessagePack length past the section")
        self.at += n
        return self.data[self.at - n:self.at]

    def value(self, depth, path):
        need(depth <= DEPTH_MAX, "metadata nested too deeply", "LimitExceeded")
        self.count += 1
        need(self.count <= VALUES_MAX, "too many values in the metadata", "LimitExceeded")
        begin, first = self.at, self.take(1)[0]
        if first <= 0x7F or first >= 0xE0:
            return first if first <= 0x7F else first - 256
        if first in self.CONSTANTS:
            return self.CONSTANTS[first]
        need(first != 0xC1, "byte c1")
        if first in self.NUMBERS:
            fmt = ">" + self.NUMBERS[first]
            value = struct.unpack(fmt, self.take(struct.calcsize(fmt)))[0]
            self.place[path] = begin, begin + 1, self.at
            return value
        return self.sized(first, begin, depth, path)

    def sized(self, first, begin, depth, path):
        if 0xD4 <= first <= 0xD8:  # ext of 1, 2, 4, 8, 16 bytes
            return self.extension(1 << (first - 0xD4))
        if first in self.LENGTHS:
            n = int.from_bytes(self.take(self.LENGTHS[first]), "big")
        else:
            n = first & (0x1F if 0xA0 <= first <= 0xBF else 0x0F)
        if first <= 0x8F or first in (0xDE, 0xDF):
            return self.map(n, depth, path)
        if first <= 0x9F or first in (0xDC, 0xDD):
            need(n <= len(self.data) - self.at, "an array longer than the section")
            return [self.value(depth + 1, path + (i,)) for i in range(n)]
        if first in (0xC7, 0xC8, 0xC9):
            return self.extension(n)
        content = self.at
        raw = self.take(n)
        self.place[path] = begin, content, self.at
        return raw if first in (0xC4, 0xC5, 0xC6) else text(raw)

    def extension(self, n):
        return ("ext", self.take(1)[0], self.take(n))

    def map(self, n, depth, path):
        need(n <= (len(self.data) - self.at) // 2, "a map longer than the section")
        out = {}
        for _ in range(n):
            first = self.data[self.at] if self.at < len(self.data) else 0
            need(0xA0 <= first <= 0xBF or first in (0xD9, 0xDA, 0xDB), "a key that is no string")  # F-052
            key = self.sized(self.take(1)[0], self.at, depth, path + (None,))
            need(key not in out, f"key {key!r} twice")
            out[key] = self.value(depth + 1, path + (key,))
        return out


def text(raw):
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise AldError("InvalidFormat", "a string that is not UTF-8") from None


# ---------------------------------------------------------------------------- CRC32 (F-295 to F-299)

def _crate_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0xEDB88320 if i & 1 else 0)
        table.append(i)
    table[222], table[223] = 0x6169FFD3, 0x166ECF45
    return table


CRATE_TABLE = _crate_table()


def crc32(*parts):
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc


def crc32_crate(data):
    crc = 0xFFFFFFFF
    for b in data:
        crc = crc >> 8 ^ CRATE_TABLE[(crc ^ b) & 0xFF]
    return crc ^ 0xFFFFFFFF


# ---------------------------------------------------------------------------- frames (F-098 to F-104)

def inflate(compression, data, size):
    """The `size` bytes that are compressed in `data`."""
    if compression == 0:
        need(len(data) == size, f"{len(data)} bytes stored, expected {size}")
        return data
    one = zstd_frame if compression in (1, 2, 4) else lz4_frame
    out, at, real = bytearray(), 0, 0
    while at < len(data):
        need(len(data) - at >= 4, "bytes that are no frame")
        if unpack("I", data, at) in SKIPPABLE:
            need(len(data) - at >= 8 and unpack("I", data, at + 4) <= len(data) - at - 8, "skippable frame past the end")
            at += 8 + unpack("I", data, at + 4)
        else:
            at += one(data[at:], size - len(out), out)
            real += 1
    need(real > 0, "no frame")
    need(len(out) == size, f"frames of {len(out)} bytes, expected {size}")
    return bytes(out)


def zstd_frame(data, room, out):
    """Appends a frame's contents to `out`, and gives its length."""
    need(unpack("I", data) == ZSTD_MAGIC, "no zstd frame")
    try:
        head = zstandard.get_frame_parameters(data[:32])
        need(head.window_size <= WINDOW_MAX, "zstd window", "LimitExceeded")
        need(head.dict_id == 0, "a zstd dictionary")
        frame = zstandard.ZstdDecompressor(max_window_size=WINDOW_MAX).decompressobj()
        limit, at = len(out) + room, 0
        while not frame.eof:
            need(at < len(data), "zstd frame cut short")
            out += frame.decompress(data[at:at + 512])  # little at a time: what it gives may be far larger
            at += 512
            need(len(out) <= limit, "frames hold more than they should")
    except zstandard.ZstdError as e:
        raise AldError("ChecksumMismatch" if "checksum" in str(e) else "InvalidFormat", f"zstd: {e}") from None
    return min(at, len(data)) - len(frame.unused_data)


def lz4_frame(data, room, out):
    need(unpack("I", data) == LZ4_MAGIC, "no LZ4 frame")
    need(len(data) >= 7 and not data[4] & 1, "an LZ4 dictionary")
    frame = lz4.frame.LZ4FrameDecompressor()
    try:
        got = frame.decompress(data, max_length=room + 1)
        need(len(got) <= room, "frames hold more than they should")
        if not frame.eof and not frame.needs_input:  # the contents are there, the frame's end is not read yet
            need(not frame.decompress(b"", max_length=1), "frames hold more than they should")
    except RuntimeError as e:
        raise AldError("ChecksumMismatch" if "hecksum" in str(e) else "InvalidFormat", f"LZ4: {e}") from None
    need(frame.eof, "LZ4 frame cut short")
    out += got
    return len(data) - len(frame.unused_data or b"")


# ---------------------------------------------------------------------------- Arrow messages (F-115 to F-121)

SCHEMA, DICTIONARY, BATCH = 1, 2, 3  # Message.fbs, MessageHeader


class Table:
    """A FlatBuffers table: field i, or a default."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - unpack("i", data, at)
        self.size = unpack("H", data, self.vtable)

    def place(self, i):
        slot = 4 + 2 * i
        offset = unpack("H", self.data, self.vtable + slot) if slot + 2 <= self.size else 0
        return self.at + offset if offset else None

    def get(self, i, fmt, default=0):
        at = self.place(i)
        return default if at is None else unpack(fmt, self.data, at)

    def table(self, i):
        at = self.place(i)
        return None if at is None else Table(self.data, at + unpack("I", self.data, at))

    def vector(self, i, fmt):
        at = self.place(i)
        if at is None:
            return []
        at += unpack("I", self.data, at)
        n, width = unpack("I", self.data, at), struct.calcsize("<" + fmt)
        need(n <= (len(self.data) - at) // width, "a FlatBuffers vector past its message")
        return [unpack(fmt, self.data, at + 4 + k * width) for k in range(n)]


class Message:
    """One message: `begin` and `end` in the stream, `body` where its body begins, its kind and its header table."""

    def __init__(self, data, begin):
        need(len(data) - begin >= 8 and data[begin:begin + 4] == b"\xff" * 4, "no message")
        size = unpack("i", data, begin + 4)
        need(size > 0 and size % 8 == 0 and size <= len(data) - begin - 8, "a message's metadata length")
        self.begin, self.body = begin, begin + 8 + size
        try:
            meta = bytes(data[begin + 8:self.body])
            root = Table(meta, unpack("I", meta))
            length = root.get(3, "q")
            need(root.get(0, "h") == 4, "metadata version is not V5")  # F-116
            self.kind, self.header = root.get(1, "B"), root.table(2)
            need(self.header is not None, "a message without its header")
        except struct.error:
            raise AldError("InvalidFormat", "a broken FlatBuffer") from None
        need(length >= 0 and length % 8 == 0 and length <= len(data) - self.body, "a message's body length")
        self.end = self.body + length

    def batch(self):
        """(rows, number of field nodes, buffers as (offset, size), variadic counts) of a record batch or a dictionary's"""
        table = self.header if self.kind == BATCH else self.header.table(1)
        need(table is not None, "a dictionary without values")
        need(table.place(3) is None, "compressed buffers")  # F-119
        buffers = table.vector(2, "qq")
        for offset, size in buffers:  # F-121
            need(offset >= 0 and offset % 8 == 0 and size >= 0 and offset + size <= self.end - self.body, "a buffer's place")
        return table.get(0, "q"), len(table.vector(1, "qq")), buffers, table.vector(4, "q")

    def dictionary_id(self):
        return self.header.get(0, "q")

    def is_delta(self):
        return bool(self.header.get(2, "B"))


def messages(data, begin=0):
    """The messages up to the end of `data`; the end-of-stream marker is no message."""
    while begin < len(data):
        message = Message(data, begin)
        yield message
        begin = message.end


def check_stream(data):
    """The messages of a whole IPC stream (F-117, F-118)."""
    need(data[-8:] == END_OF_STREAM, "no end-of-stream marker")
    found = list(messages(data[:-8]))
    need(found and found[0].kind == SCHEMA, "no schema message first")
    for message in found[1:]:
        need(message.kind in (DICTIONARY, BATCH), "a message that is no batch")
        message.batch()
    return found


def arrow_stream(data, options=None):
    """(schema, batches) of an IPC stream, by pyarrow, which checks the values."""
    try:
        with pa.ipc.open_stream(pa.py_buffer(bytes(data)), options=options) as reader:
            batches = list(reader)
            for batch in batches:
                batch.validate(full=True)
            return reader.schema, batches
    except (pa.ArrowException, OSError, ValueError, KeyError) as e:
        raise AldError("InvalidFormat", f"Arrow: {e}") from None


def tree_of(kind):
    """The type and its children, in the order of field nodes."""
    if isinstance(kind, pa.BaseExtensionType):
        return tree_of(kind.storage_type)
    children = []
    if pa.types.is_map(kind):
        children = [pa.struct([kind.key_field, kind.item_field])]
    elif pa.types.is_run_end_encoded(kind):
        children = [kind.run_end_type, kind.value_type]
    elif pa.types.is_nested(kind):
        children = [kind.field(i).type for i in range(kind.num_fields)]
    return [kind] + [t for child in children for t in tree_of(child)]


def buffer_count(kind):
    """Buffers of a node of this type, without a view's data buffers."""
    if pa.types.is_null(kind) or pa.types.is_run_end_encoded(kind):
        return 0
    if pa.types.is_union(kind):
        return 2 if kind.mode == "dense" else 1
    if pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        return 1
    if pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return 3
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind.id in (pa.binary().id, pa.large_binary().id):
        return 3
    return 2


def column_buffers(schema, message):
    """For each top-level column the (offset, size) of its buffers in the body (F-120)."""
    _, nodes, buffers, variadic = message.batch()
    need(nodes == sum(len(tree_of(f.type)) for f in schema), "a batch with another number of field nodes")
    buffers, variadic, out = iter(buffers), iter(variadic), []
    try:
        for field in schema:
            mine = []
            for kind in tree_of(field.type):
                views = next(variadic) if kind.id in (pa.string_view().id, pa.binary_view().id) else 0
                mine += [next(buffers) for _ in range(buffer_count(kind) + views)]
            out.append(mine)
    except StopIteration:
        raise AldError("InvalidFormat", "a batch with too few buffers") from None
    need(next(buffers, None) is None, "a batch with too many buffers")
    return out


def check_nulls(field, scalar):
    """No null in a field that is not nullable (F-138), in one value and what is inside it."""
    scalar = logical(scalar)
    need(field.nullable or scalar is not None, f"a null in {field.name!r}, which is not nullable")
    kind = storage(field.type)
    if scalar is None or not pa.types.is_nested(kind):
        return
    if pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            check_nulls(kind.field(i), scalar[i])
    elif pa.types.is_map(kind):
        for i in range(len(scalar.values)):
            check_nulls(kind.key_field, scalar.values.field(0)[i])
            check_nulls(kind.item_field, scalar.values.field(1)[i])
    elif pa.types.is_union(kind):
        check_nulls(kind.field(kind.type_codes.index(scalar.type_code)), scalar.value)
    elif hasattr(scalar, "values"):
        for item in scalar.values:
            check_nulls(kind.value_field, item)


def logical(scalar):
    """The value behind extension, dictionary and run; None for a null."""
    while isinstance(scalar, (pa.ExtensionScalar, pa.DictionaryScalar, pa.RunEndEncodedScalar)):
        if isinstance(scalar, pa.DictionaryScalar) and not scalar.index.is_valid:
            return None
        if isinstance(scalar, pa.RunEndEncodedScalar):
            return scalar if scalar.as_py() is not None else None
        scalar = scalar.value
    return scalar if scalar is not None and scalar.is_valid else None


def may_refuse_nulls(field):
    """Whether check_nulls has anything to do."""
    kind = storage(field.type)
    if not field.nullable:
        return True
    if pa.types.is_map(kind):
        return True  # keys
    return pa.types.is_nested(kind) and any(may_refuse_nulls(kind.field(i)) for i in range(kind.num_fields))


def storage(kind):
    return storage(kind.storage_type) if isinstance(kind, pa.BaseExtensionType) else kind
